// strands/schemes/schemes.c -- the schemes by name, and their specs.
#include "strands/schemes/schemes.h"

#include <stdlib.h>
#include <string.h>

#include "strands/spec.h"

const ss_scheme *const ss_schemes[] = {SS_LISTED_SCHEMES, NULL};

static ss_entry scheme_entry(int k)
{
    const ss_scheme *s = ss_schemes[k];
    return s == NULL ? (ss_entry){0}
                     : (ss_entry){s->name, s->keys, s->defaults, s->settings_size, s->key_needs};
}

// Whether a spec names the scheme that a build may leave out, and this one did.
static bool is_left_out(const char *spec)
{
    static const char IDA[] = "ida";
    const size_t length = strcspn(spec, ":");
    int k = 0;
    while (ss_schemes[k] != NULL && strcmp(ss_schemes[k]->name, IDA) != 0) {
        k++;
    }
    return ss_schemes[k] == NULL && length == strlen(IDA) && strncmp(spec, IDA, length) == 0;
}

ss_status ss_scheme_parse(const char *spec, ss_scheme_choice *choice, ss_error *e)
{
    const ss_catalogue schemes = {"scheme", scheme_entry};
    int which;
    *choice = (ss_scheme_choice){0};
    if (is_left_out(spec)) {
        return ss_fail(e, SS_BAD_INPUT,
                       "this program was built without the scheme ida, which takes SUNDIALS 6 "
                       "(Debian: libsundials-dev)");
    }
    const ss_status status = ss_spec_parse(&schemes, spec, &which, &choice->settings, e);
    if (status == SS_OK) {
        choice->scheme = ss_schemes[which];
        strcpy(choice->spec, spec);
    }
    return status;
}

void ss_scheme_choice_free(ss_scheme_choice *choice)
{
    free(choice->settings);
    *choice = (ss_scheme_choice){0};
}
