#include "harness/specs.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "harness/complain.h"

#define BLANKS     "; \t\n\r"
#define SEPARATORS "," BLANKS

// Whether what follows a comma goes on with the options before it: key=value, and no ':' in the
// key.
static bool is_option(const char *piece)
{
    const size_t key = strcspn(piece, "=:" SEPARATORS);
    return piece[key] == '=';
}

size_t ss_spec_length(const char *spec)
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

size_t ss_spec_gap(const char *list)
{
    return strspn(list, SEPARATORS);
}

// The place of a solver that does the same; -1 for none.
static int find_same(const ss_specs *specs, const ss_method *method)
{
    for (int k = 0; k < specs->count; k++) {
        if (ss_method_same(specs->method[k], method)) {
            return k;
        }
    }
    return -1;
}

// Takes both over where it succeeds.
static ss_status append(ss_specs *specs, char *text, ss_method *method, ss_error *e)
{
    const size_t room = (size_t)specs->count + 1;
    char **texts = realloc(specs->text, room * sizeof *texts);
    specs->text = texts != NULL ? texts : specs->text;
    ss_method **methods = realloc(specs->method, room * sizeof(ss_method *));
    specs->method = methods != NULL ? methods : specs->method;
    if (texts == NULL || methods == NULL) {
        return ss_fail_memory(e, "the list of solvers");
    }
    specs->text[specs->count] = text;
    specs->method[specs->count++] = method;
    return SS_OK;
}

// spec: as it was given.
static ss_status add(const char *verb, const char *spec, ss_specs *specs, ss_error *e)
{
    ss_method *method = NULL;
    ss_error why;
    ss_status status = ss_method_parse(spec, &method, &why);
    if (status != SS_OK) {
        return ss_fail(e, status, "%.160s: %.400s", spec, why.text);
    }
    const int same = find_same(specs, method);
    char *text = same < 0 ? strdup(ss_spec_bare(spec)) : NULL;
    if (text != NULL) {
        status = append(specs, text, method, e);
    } else if (same < 0) {
        status = ss_fail_memory(e, "the list of solvers");
    } else if (strcmp(specs->method[same]->spec, spec) != 0) {
        ss_complain(verb, "%s is the same solver as %s: it is run once", spec,
                    specs->method[same]->spec);
    }
    if (status != SS_OK || same >= 0) {
        free(text);
        ss_method_free(method);
    }
    return status;
}

ss_status ss_specs_split(const char *verb, const char *list, ss_specs *specs, ss_error *e)
{
    ss_status status = SS_OK;
    *specs = (ss_specs){0};
    for (list += ss_spec_gap(list); status == SS_OK && *list != '\0'; list += ss_spec_gap(list)) {
        const size_t length = ss_spec_length(list);
        char *spec = strndup(list, length);
        status =
            spec != NULL ? add(verb, spec, specs, e) : ss_fail_memory(e, "the list of solvers");
        free(spec);
        list += length;
    }
    if (status == SS_OK && specs->count == 0) {
        status =
            ss_fail(e, SS_BAD_INPUT, "the list of solvers is empty; write one, as mfb+enum,enum");
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
        ss_method_free(specs->method[k]);
    }
    free(specs->text);
    free(specs->method);
    *specs = (ss_specs){0};
}

// ---- Tolerances

static bool is_among(double value, const double *values, int count)
{
    for (int k = 0; k < count; k++) {
        if (values[k] == value) {
            return true;
        }
    }
    return false;
}

int ss_tolerances_split(const char *verb, const char *list, double tolerances[SS_MOST_TOLERANCES])
{
    int count = 0;
    for (list += ss_spec_gap(list); *list != '\0'; list += ss_spec_gap(list)) {
        char word[40], takes[80];
        const size_t length = strcspn(list, SEPARATORS);
        snprintf(word, sizeof word, "%.*s", (int)length, list);
        list += length;
        double value;
        if (length >= sizeof word || !ss_number_real(word, 0.0, 1.0, &value)) {
            ss_number_describe(false, 0.0, 1.0, takes, sizeof takes);
            ss_complain(verb, "--tol takes %s, or several with commas, not '%s'", takes, word);
            return 0;
        }
        if (is_among(value, tolerances, count)) {
            continue;
        }
        if (count == SS_MOST_TOLERANCES) {
            ss_complain(verb, "--tol takes at most %d numbers", SS_MOST_TOLERANCES);
            return 0;
        }
        tolerances[count++] = value;
    }
    if (count == 0) {
        ss_complain(verb, "--tol is an empty list; write one as 1e-4,1e-8");
    }
    return count;
}
