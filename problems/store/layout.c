#include "problems/store/layout.h"

#include <stdio.h>
#include <string.h>

#include "problems/problem.h"

const ss_layout_entry ss_layout[] = {
    {"fclib_local/spacedim", SS_ARRAY_INTEGERS},
    {"fclib_local/W", SS_ARRAY_MATRIX},
    {"fclib_local/W/m", SS_ARRAY_INTEGERS},
    {"fclib_local/W/n", SS_ARRAY_INTEGERS},
    {"fclib_local/W/nz", SS_ARRAY_INTEGERS},
    {"fclib_local/W/nzmax", SS_ARRAY_INTEGERS},
    {"fclib_local/W/p", SS_ARRAY_INTEGERS},
    {"fclib_local/W/i", SS_ARRAY_INTEGERS},
    {"fclib_local/W/x", SS_ARRAY_REALS},
    {"fclib_local/vectors/mu", SS_ARRAY_REALS},
    {"fclib_local/vectors/q", SS_ARRAY_REALS},
    {"fclib_local/info/title", SS_ARRAY_TEXT},
    {"fclib_local/info/description", SS_ARRAY_TEXT},
    {"fclib_local/info/math_info", SS_ARRAY_TEXT},
    {"fclib_global/spacedim", SS_ARRAY_INTEGERS},
    {"fclib_global/M", SS_ARRAY_MATRIX},
    {"fclib_global/M/m", SS_ARRAY_INTEGERS},
    {"fclib_global/M/n", SS_ARRAY_INTEGERS},
    {"fclib_global/M/nz", SS_ARRAY_INTEGERS},
    {"fclib_global/M/nzmax", SS_ARRAY_INTEGERS},
    {"fclib_global/M/p", SS_ARRAY_INTEGERS},
    {"fclib_global/M/i", SS_ARRAY_INTEGERS},
    {"fclib_global/M/x", SS_ARRAY_REALS},
    {"fclib_global/H", SS_ARRAY_MATRIX},
    {"fclib_global/H/m", SS_ARRAY_INTEGERS},
    {"fclib_global/H/n", SS_ARRAY_INTEGERS},
    {"fclib_global/H/nz", SS_ARRAY_INTEGERS},
    {"fclib_global/H/nzmax", SS_ARRAY_INTEGERS},
    {"fclib_global/H/p", SS_ARRAY_INTEGERS},
    {"fclib_global/H/i", SS_ARRAY_INTEGERS},
    {"fclib_global/H/x", SS_ARRAY_REALS},
    {"fclib_global/vectors/mu", SS_ARRAY_REALS},
    {"fclib_global/vectors/f", SS_ARRAY_REALS},
    {"fclib_global/vectors/w", SS_ARRAY_REALS},
    {"fclib_global/info/title", SS_ARRAY_TEXT},
    {"fclib_global/info/description", SS_ARRAY_TEXT},
    {"fclib_global/info/math_info", SS_ARRAY_TEXT},
    {"guesses/number_of_guesses", SS_ARRAY_INTEGERS},
    {"solution/r", SS_ARRAY_REALS},
    {"solution/u", SS_ARRAY_REALS},
    {"solution/v", SS_ARRAY_REALS},
    {"stickslip@scene", SS_ARRAY_TEXT},
    {"stickslip@seed", SS_ARRAY_INTEGERS},
    {"stickslip@step", SS_ARRAY_INTEGERS},
    {"stickslip@time", SS_ARRAY_REALS},
    {"stickslip@dt", SS_ARRAY_REALS},
    {"stickslip@units", SS_ARRAY_TEXT},
    {"stickslip@frame", SS_ARRAY_TEXT},
    {"stickslip@producer", SS_ARRAY_TEXT},
    {"stickslip@commit", SS_ARRAY_TEXT},
    {.path = NULL},
};

// Written and never read.
static const char *const WRITTEN[] = {"stickslip@format_version", "stickslip@body_sizes"};

// guesses/N, or guesses/N/r and so on.
static bool is_guess(const char *path)
{
    int length = 0;
    (void)sscanf(path, "guesses/%*[0-9]%n", &length);
    const char *end = path + length;
    return length > 0 && (*end == '\0' || strcmp(end, "/r") == 0 || strcmp(end, "/u") == 0 ||
                          strcmp(end, "/v") == 0);
}

static bool is_claim(const char *path)
{
    static const char SOLUTION[] = "solution@";
    ss_field field;
    if (strncmp(path, SOLUTION, strlen(SOLUTION)) != 0) {
        return false;
    }
    for (ss_fields walk = ss_fields_of(ss_claim_fields); ss_fields_next(&walk, &field);) {
        if (strcmp(path + strlen(SOLUTION), field.name) == 0) {
            return true;
        }
    }
    return false;
}

bool ss_layout_knows(const char *path)
{
    const size_t length = strlen(path);
    for (const ss_layout_entry *entry = ss_layout; entry->path != NULL; entry++) {
        const char *rest = strncmp(entry->path, path, length) == 0 ? entry->path + length : "?";
        if (*rest == '\0' || *rest == '/' || *rest == '@') {
            return true;
        }
    }
    for (size_t k = 0; k < sizeof WRITTEN / sizeof WRITTEN[0]; k++) {
        if (strcmp(path, WRITTEN[k]) == 0) {
            return true;
        }
    }
    return is_guess(path) || is_claim(path);
}
