#include "harness/bench_specs.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/registry.h"

#define BLANKS     "; \t\n\r"
#define SEPARATORS "," BLANKS

// Whether what follows a comma goes on with the options before it: key=value, and no ':' in the
// key.
static bool is_option(const char *piece)
{
    const size_t key = strcspn(piece, "=:" SEPARATORS);
    return piece[key] == '=';
}

// Characters of the spec that begins here.
static size_t spec_length(const char *spec)
{
    bool open = false;
    size_t k = 0;
    for (; spec[k] != '\0' && strchr(BLANKS, spec[k]) == NULL; k++) {
        if (spec[k] == ',' && !(open && is_option(spec + k + 1))) {
            break;
        }
        open = open || spec[k] == ':';
    }
    return k;
}

static bool is_known(const ss_specs *specs, const char *spec)
{
    for (int k = 0; k < specs->count; k++) {
        if (strcmp(specs->text[k], spec) == 0) {
            return true;
        }
    }
    return false;
}

static ss_status check(const char *spec, ss_error *e)
{
    ss_method *method = NULL;
    ss_error why;
    const ss_status status = ss_method_parse(spec, &method, &why);
    ss_method_free(method);
    return status == SS_OK ? SS_OK : ss_fail(e, status, "%.160s: %.400s", spec, why.text);
}

// Takes the spec over.
static ss_status add(ss_specs *specs, char *spec, ss_error *e)
{
    const ss_status status = check(spec, e);
    if (status != SS_OK || is_known(specs, spec)) {
        free(spec);
        return status;
    }
    char **text = realloc(specs->text, ((size_t)specs->count + 1) * sizeof *text);
    if (text == NULL) {
        free(spec);
        return ss_fail_memory(e, "the list of solvers");
    }
    specs->text = text;
    specs->text[specs->count++] = spec;
    return SS_OK;
}

ss_status ss_specs_split(const char *list, ss_specs *specs, ss_error *e)
{
    ss_status status = SS_OK;
    *specs = (ss_specs){0};
    for (list += strspn(list, SEPARATORS); status == SS_OK && *list != '\0';
         list += strspn(list, SEPARATORS)) {
        const size_t length = spec_length(list);
        char *spec = strndup(list, length);
        status = spec != NULL ? add(specs, spec, e) : ss_fail_memory(e, "the list of solvers");
        list += length;
    }
    if (status == SS_OK && specs->count == 0) {
        status = ss_fail(e, SS_BAD_INPUT, "the list of solvers is empty");
    }
    if (status != SS_OK) {
        ss_specs_free(specs);
    }
    return status;
}

void ss_specs_free(ss_specs *specs)
{
    for (int k = 0; k < specs->count; k++) {
        free(specs->text[k]);
    }
    free(specs->text);
    *specs = (ss_specs){0};
}
