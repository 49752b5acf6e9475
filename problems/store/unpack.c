#include "problems/store/unpack.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Remarks about guesses before the rest is left out unread.
#define GUESS_REMARKS_MAX 20

// About data that are wrong.
__attribute__((format(printf, 2, 3))) static void say(ss_unpacking *l, const char *format, ...)
{
    char text[sizeof((ss_finding *)0)->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (l->optional != NULL) {
        ss_report_add(l->report, SS_REMARK, "%s; %s", text, l->optional);
    } else {
        ss_report_add(l->report, SS_DEFECT, "%s", text);
    }
}

const ss_array *ss_unpack_find(ss_unpacking *l, const char *path, ss_array_kind kind, bool needed)
{
    const ss_array *array = ss_arrays_find(l->arrays, path);
    if (array == NULL) {
        if (needed) {
            say(l, "/%s is missing", path);
        }
        return NULL;
    }
    if (array->kind == kind) {
        return array;
    }
    const char *reason =
        array->kind == SS_ARRAY_UNREADABLE ? array->text : "it contains another kind of data";
    say(l, "/%s cannot be read: %s", path, reason);
    return NULL;
}

static bool is_present(const ss_unpacking *l, const char *path)
{
    return ss_arrays_find(l->arrays, path) != NULL;
}

bool ss_unpack_int(ss_unpacking *l, const char *path, int *value)
{
    const ss_array *array = ss_unpack_find(l, path, SS_ARRAY_INTEGERS, true);
    if (array == NULL) {
        return false;
    }
    if (array->count != 1) {
        say(l, "/%s has %zu entries, it must be one number", path, array->count);
        return false;
    }
    if (array->integers[0] < INT_MIN || array->integers[0] > INT_MAX) {
        say(l, "/%s is %lld, out of range", path, (long long)array->integers[0]);
        return false;
    }
    *value = (int)array->integers[0];
    return true;
}

// A vector of `length` numbers (-1: any, a defect reported elsewhere), copied; NULL with a
// sentence, or if it is absent and not needed.
static double *read_vector(ss_unpacking *l, const char *path, int64_t length, bool needed)
{
    const ss_array *array = ss_unpack_find(l, path, SS_ARRAY_REALS, needed);
    if (array == NULL || length < 0) {
        return NULL;
    }
    if (array->count != (size_t)length) {
        say(l, "/%s has %zu %s, it needs %lld", path, array->count, ss_unpack_entries(array->count),
            (long long)length);
        return NULL;
    }
    double *copy = malloc((array->count + 1) * sizeof *copy);
    if (copy == NULL) {
        l->status = ss_fail_memory(l->e, path);
        return NULL;
    }
    memcpy(copy, array->reals, array->count * sizeof *copy);
    return copy;
}

// Entries of a vector that may be as long as it likes; -1 with a defect.
static int read_length(ss_unpacking *l, const char *path)
{
    const ss_array *array = ss_unpack_find(l, path, SS_ARRAY_REALS, true);
    if (array == NULL) {
        return -1;
    }
    if (array->count > INT_MAX - 1) {
        ss_report_add(l->report, SS_DEFECT, "/%s has %zu entries, too many", path, array->count);
        return -1;
    }
    return (int)array->count;
}

static bool is_group(const ss_unpacking *l, const char *path)
{
    const ss_array *array = ss_arrays_find(l->arrays, path);
    return array != NULL && array->kind == SS_ARRAY_GROUP;
}

static void refuse_unsupported(ss_unpacking *l)
{
    static const char *const EQUALITY[] = {"fclib_global/G", "fclib_local/V", "fclib_local/R"};
    for (size_t k = 0; k < sizeof EQUALITY / sizeof EQUALITY[0]; k++) {
        if (is_group(l, EQUALITY[k])) {
            ss_report_add(l->report, SS_DEFECT, "equality constraints (/%s) are not supported yet",
                          EQUALITY[k]);
        }
    }
    for (size_t k = 0; k < l->arrays->count; k++) {
        const char *path = l->arrays->list[k].path;
        if (strncmp(path, "fclib_", 6) == 0 && strchr(path, '/') == NULL &&
            strstr(path, "rolling") != NULL) {
            ss_report_add(l->report, SS_DEFECT, "rolling friction (/%s) is not supported yet",
                          path);
        }
    }
}

// False if there is no form, or nothing that could be read in it.
static bool find_form(ss_unpacking *l, ss_form *form)
{
    static const char *const WHOLE[] = {"fclib_local", "fclib_global"};
    const ss_array *place = ss_arrays_find(l->arrays, ""); // where a problem should be
    if (place != NULL && place->kind == SS_ARRAY_UNREADABLE) {
        ss_report_add(l->report, SS_DEFECT, "%s", place->text);
        return false;
    }
    for (size_t k = 0; k < sizeof WHOLE / sizeof WHOLE[0]; k++) {
        const ss_array *whole = ss_arrays_find(l->arrays, WHOLE[k]);
        if (whole != NULL && whole->kind == SS_ARRAY_UNREADABLE) {
            ss_report_add(l->report, SS_DEFECT, "/%s cannot be read: %s", WHOLE[k], whole->text);
            return false;
        }
    }
    refuse_unsupported(l);
    const bool local = is_present(l, "fclib_local"), global = is_present(l, "fclib_global");
    if (local && global) {
        ss_report_add(l->report, SS_DEFECT,
                      "contains both /fclib_local and /fclib_global; a problem has one of them");
    } else if (!local && !global && l->report->ndefects == 0) {
        ss_report_add(l->report, SS_DEFECT, "contains no /fclib_local or /fclib_global group");
    }
    *form = global ? SS_GLOBAL : SS_LOCAL;
    return l->report->ndefects == 0;
}

// dim and ncontacts; answers their product, -1 if one is not known.
static int unpack_read_sizes(ss_unpacking *l, const char *spacedim, const char *mu, ss_problem *p)
{
    bool known = ss_unpack_int(l, spacedim, &p->dim);
    if (known && p->dim != 2 && p->dim != 3) {
        ss_report_add(l->report, SS_DEFECT, "/%s is %d, it must be 2 or 3", spacedim, p->dim);
        known = false;
    }
    p->ncontacts = read_length(l, mu);
    if (p->ncontacts == 0) {
        ss_report_add(l->report, SS_DEFECT, "/%s is empty, a problem has at least one contact", mu);
    }
    if (!known || p->ncontacts < 1) {
        return -1;
    }
    const int64_t components = (int64_t)p->dim * p->ncontacts;
    if (components > INT_MAX - 1) {
        ss_report_add(l->report, SS_DEFECT, "/%s has %d entries, too many", mu, p->ncontacts);
        return -1;
    }
    p->mu = read_vector(l, mu, p->ncontacts, true);
    return (int)components;
}

static void explain_components(char *text, size_t size, const ss_problem *p, const char *shape)
{
    snprintf(text, size, "%d contact%s in %d dimensions need %s", p->ncontacts,
             p->ncontacts == 1 ? "" : "s", p->dim, shape);
}

static void read_local(ss_unpacking *l, ss_problem *p, int components)
{
    char shape[64], why[160];
    snprintf(shape, sizeof shape, "%d x %d", components, components);
    explain_components(why, sizeof why, p, shape);
    ss_unpack_matrix(l, "fclib_local/W", components, components, why, &p->W);
    p->b = read_vector(l, "fclib_local/vectors/q", components, true);
}

static int read_dofs(ss_unpacking *l)
{
    const int ndofs = read_length(l, "fclib_global/vectors/f");
    if (ndofs == 0) {
        ss_report_add(l->report, SS_DEFECT,
                      "/fclib_global/vectors/f is empty, a problem has at least one dof");
    }
    return ndofs > 0 ? ndofs : -1;
}

static void read_global(ss_unpacking *l, ss_problem *p, int components)
{
    char shape[64], why[160];
    const int ndofs = read_dofs(l);
    snprintf(why, sizeof why, "the %d %s of /fclib_global/vectors/f need%s %d x %d", ndofs,
             ss_unpack_entries((size_t)ndofs), ndofs == 1 ? "s" : "", ndofs, ndofs);
    ss_unpack_matrix(l, "fclib_global/M", ndofs, ndofs, why, &p->M);
    snprintf(shape, sizeof shape, "%d columns (and %d dof%s as many rows)", components, ndofs,
             ndofs == 1 ? "" : "s");
    explain_components(why, sizeof why, p, shape);
    ss_unpack_matrix(l, "fclib_global/H", ndofs, components, why, &p->H);
    p->f = read_vector(l, "fclib_global/vectors/f", ndofs, true);
    p->w = read_vector(l, "fclib_global/vectors/w", components, true);
    p->ndofs = ndofs;
}

// r, u and (global form) v of a guess or solution, as far as they are there.
static void read_state(ss_unpacking *l, const ss_problem *p, const char *group, ss_state *state)
{
    char path[64];
    const int64_t components = (int64_t)p->dim * p->ncontacts;
    snprintf(path, sizeof path, "%s/r", group);
    state->r = read_vector(l, path, components, false);
    snprintf(path, sizeof path, "%s/u", group);
    state->u = read_vector(l, path, components, false);
    snprintf(path, sizeof path, "%s/v", group);
    if (p->form == SS_GLOBAL) {
        state->v = read_vector(l, path, p->ndofs, false);
    }
}

static bool guesses_are_present(ss_unpacking *l, int count)
{
    if (count < 0) {
        say(l, "/guesses/number_of_guesses is negative (%d)", count);
    }
    for (int k = 1; k <= count; k++) {
        char path[32];
        snprintf(path, sizeof path, "guesses/%d", k);
        if (!is_present(l, path)) {
            say(l, "/guesses/number_of_guesses is %d, but /%s is missing", count, path);
            return false;
        }
    }
    char next[32];
    snprintf(next, sizeof next, "guesses/%d", count + 1);
    if (count >= 0 && count < INT_MAX && is_present(l, next)) {
        ss_report_add(l->report, SS_REMARK, "/guesses/number_of_guesses is %d, and /%s is not read",
                      count, next);
    }
    return count > 0;
}

// One that cannot be used stays empty, so that the others keep their numbers.
static void read_each_guess(ss_unpacking *l, ss_problem *p)
{
    const int before = l->report->count;
    for (int k = 0; k < p->nguesses && l->status == SS_OK; k++) {
        char path[32];
        const int said = l->report->count;
        snprintf(path, sizeof path, "guesses/%d", k + 1);
        read_state(l, p, path, &p->guesses[k]);
        if (l->report->count > said) {
            ss_state_free(&p->guesses[k]);
        }
        if (l->report->count - before >= GUESS_REMARKS_MAX) {
            ss_report_add(l->report, SS_REMARK, "the guesses after /%s are left out unread", path);
            return;
        }
    }
}

static void read_guesses(ss_unpacking *l, ss_problem *p)
{
    int count = 0;
    l->optional = "the guesses are left out";
    if (!is_present(l, "guesses") || !ss_unpack_int(l, "guesses/number_of_guesses", &count) ||
        !guesses_are_present(l, count)) {
        return;
    }
    p->guesses = calloc((size_t)count, sizeof *p->guesses);
    if (p->guesses == NULL) {
        l->status = ss_fail_memory(l->e, "guesses");
        return;
    }
    p->nguesses = count;
    l->optional = "the guess is left out";
    read_each_guess(l, p);
}

// ---- Texts and attributes: what cannot be read of them is a remark, as no solver needs them.

static const ss_array *find_extra(ss_unpacking *l, const char *path, ss_array_kind kind)
{
    const ss_array *array = ss_arrays_find(l->arrays, path);
    if (array != NULL && array->kind == SS_ARRAY_UNREADABLE) {
        ss_report_add(l->report, SS_REMARK, "/%s cannot be read: %s", path, array->text);
    }
    return array != NULL && array->kind == kind && (kind == SS_ARRAY_TEXT || array->count == 1)
               ? array
               : NULL;
}

static char *unpack_read_text(ss_unpacking *l, const char *form, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "%s/info/%s", form, name);
    const ss_array *array = find_extra(l, path, SS_ARRAY_TEXT);
    if (array == NULL) {
        return NULL;
    }
    char *copy = malloc(array->count + 1);
    if (copy == NULL) {
        l->status = ss_fail_memory(l->e, path);
        return NULL;
    }
    memcpy(copy, array->text, array->count + 1);
    return copy;
}

// Into a field of fixed size, on one line: it will stand in tables.
static void read_word(ss_unpacking *l, const char *path, char *field, size_t size)
{
    const ss_array *array = find_extra(l, path, SS_ARRAY_TEXT);
    if (array != NULL) {
        snprintf(field, size, "%s", array->text);
        for (char *c = field; *c != '\0'; c++) {
            *c = iscntrl((unsigned char)*c) ? ' ' : *c;
        }
    }
}

static double read_real(ss_unpacking *l, const char *path)
{
    const ss_array *array = find_extra(l, path, SS_ARRAY_REALS);
    return array != NULL ? array->reals[0] : NAN;
}

// -1 if it is not known.
static int read_natural(ss_unpacking *l, const char *path)
{
    const ss_array *array = find_extra(l, path, SS_ARRAY_INTEGERS);
    const bool good = array != NULL && array->integers[0] >= 0 && array->integers[0] <= INT_MAX;
    return good ? (int)array->integers[0] : -1;
}

static void read_claim(ss_unpacking *l, ss_claim *claim)
{
    ss_field field;
    for (ss_fields walk = ss_fields_of(ss_claim_fields); ss_fields_next(&walk, &field);) {
        char path[64];
        snprintf(path, sizeof path, "solution@%s", field.name);
        if (field.kind == SS_FIELD_TEXT) {
            read_word(l, path, (char *)claim + field.offset, field.width);
        } else if (field.kind == SS_FIELD_REAL) {
            ss_field_set(&field, claim, read_real(l, path));
        } else {
            ss_field_set(&field, claim, read_natural(l, path));
        }
    }
}

// An empty /solution is none.
static void read_solution(ss_unpacking *l, ss_problem *p)
{
    const bool r = is_present(l, "solution/r");
    if (!r && !is_present(l, "solution/u") && !is_present(l, "solution/v")) {
        return;
    }
    const int said = l->report->count;
    l->optional = "the answer is left out";
    if (!r) {
        say(l, "/solution/r is missing");
    }
    read_state(l, p, "solution", &p->solution);
    if (l->report->count > said) {
        ss_state_free(&p->solution);
    } else {
        p->has_solution = true;
        read_claim(l, &p->claim);
    }
}

static void read_provenance(ss_unpacking *l, ss_provenance *from)
{
    read_word(l, "stickslip@scene", from->scene, sizeof from->scene);
    read_word(l, "stickslip@units", from->units, sizeof from->units);
    read_word(l, "stickslip@frame", from->frame, sizeof from->frame);
    read_word(l, "stickslip@producer", from->producer, sizeof from->producer);
    read_word(l, "stickslip@commit", from->commit, sizeof from->commit);
    from->step = read_natural(l, "stickslip@step");
    from->time = read_real(l, "stickslip@time");
    from->dt = read_real(l, "stickslip@dt");
    const ss_array *seed = find_extra(l, "stickslip@seed", SS_ARRAY_INTEGERS);
    from->has_seed = seed != NULL;
    from->seed = seed != NULL ? (uint64_t)seed->integers[0] : 0;
}

static void read_extras(ss_unpacking *l, ss_problem *p, const char *form)
{
    p->title = unpack_read_text(l, form, "title");
    p->description = unpack_read_text(l, form, "description");
    p->math_info = unpack_read_text(l, form, "math_info");
    read_provenance(l, &p->provenance);
}

// ---- The whole.

static void read_problem(ss_unpacking *l, ss_problem *p)
{
    if (!find_form(l, &p->form)) {
        return;
    }
    const bool global = p->form == SS_GLOBAL;
    const int components =
        unpack_read_sizes(l, global ? "fclib_global/spacedim" : "fclib_local/spacedim",
                          global ? "fclib_global/vectors/mu" : "fclib_local/vectors/mu", p);
    if (global) {
        read_global(l, p, components);
    } else {
        read_local(l, p, components);
    }
    if (components > 0 && p->ndofs >= 0) {
        read_guesses(l, p);
        read_solution(l, p);
        l->optional = NULL;
    }
    read_extras(l, p, global ? "fclib_global" : "fclib_local");
}

static ss_status unpack_conclude(const ss_unpacking *l, ss_problem *p)
{
    if (l->status != SS_OK) {
        return l->status;
    }
    if (l->report->ndefects == 0) {
        return ss_check_values(p, l->report, l->e);
    }
    if (l->report->out_of_memory) {
        return ss_fail_memory(l->e, "a report");
    }
    return ss_fail(l->e, SS_BAD_INPUT, "%s", ss_report_first_defect(l->report));
}

ss_status ss_problem_from_arrays(ss_arrays *arrays, ss_report *report, ss_problem **problem,
                                 ss_error *e)
{
    ss_unpacking l = {.arrays = arrays, .report = report, .e = e};
    ss_problem *p = ss_problem_new();
    *problem = NULL;
    if (p == NULL) {
        return ss_fail_memory(e, "a problem");
    }
    read_problem(&l, p);
    const ss_status status = unpack_conclude(&l, p);
    if (status != SS_OK) {
        ss_problem_free(p);
        return status;
    }
    *problem = p;
    return SS_OK;
}
