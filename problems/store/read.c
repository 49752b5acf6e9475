// problems/store/read.c -- problems from HDF5 files.
//
// The decoder sends arrays, from which a problem is made (read.h); the reader at the end puts the
// file's name into sentences, and starts a new decoder after a death.

#include "problems/store/read.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "problems/store/decode.h"
#include "problems/store/store.h"

// ---- Arrays, and what is said about them

// This is a conversion under way. Wrong data become a defect in the report; a failure of the
// machine turns `status`.
typedef struct unpacking {
    ss_arrays *arrays;
    ss_report *report;
    ss_error *e;
    ss_status status;
    const char *optional; // NULL, or what becomes of the present data if they are wrong
} unpacking;

// Returns "entry" for one, "entries" for another number.
static const char *entries_word(size_t count)
{
    return count == 1 ? "entry" : "entries";
}

// Reports data that are wrong: a defect, or a remark where l->optional is set.
__attribute__((format(printf, 2, 3))) static void say(unpacking *l, const char *format, ...)
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

// Returns the array if it is present, readable and of the kind wanted; else NULL, with a sentence
// if it is needed or cannot be read: a defect, or a remark where l->optional is set.
static const ss_array *find_array(unpacking *l, const char *path, ss_array_kind kind, bool needed)
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

static bool is_present(const unpacking *l, const char *path)
{
    return ss_arrays_find(l->arrays, path) != NULL;
}

// Reads one int; false with a sentence.
static bool read_int(unpacking *l, const char *path, int *value)
{
    const ss_array *array = find_array(l, path, SS_ARRAY_INTEGERS, true);
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

// Returns a copy of a vector of `length` numbers; NULL with a sentence, or if it is absent and not
// needed. A length of -1 is not known, which is a defect reported elsewhere: NULL.
static double *read_vector(unpacking *l, const char *path, int64_t length, bool needed)
{
    const ss_array *array = find_array(l, path, SS_ARRAY_REALS, needed);
    if (array == NULL || length < 0) {
        return NULL;
    }
    if (array->count != (size_t)length) {
        say(l, "/%s has %zu %s, it needs %lld", path, array->count, entries_word(array->count),
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

// Returns the length of a vector that may have any; -1 with a defect.
static int read_length(unpacking *l, const char *path)
{
    const ss_array *array = find_array(l, path, SS_ARRAY_REALS, true);
    if (array == NULL) {
        return -1;
    }
    if (array->count > INT_MAX - 1) {
        ss_report_add(l->report, SS_DEFECT, "/%s has %zu entries, too many", path, array->count);
        return -1;
    }
    return (int)array->count;
}

static bool is_group(const unpacking *l, const char *path)
{
    const ss_array *array = ss_arrays_find(l->arrays, path);
    return array != NULL && array->kind == SS_ARRAY_GROUP;
}

// ---- Matrices
//
// A matrix of a file becomes triplets and then compressed columns. Compressed by columns (rows), p
// holds the n + 1 (m + 1) starts and i the rows (columns) of the entries; i and x may be longer
// than needed, as they have FCLIB's capacity nzmax.

enum { BY_COLUMNS = -1, BY_ROWS = -2 }; // values of nz

// This is a matrix as it stands in the file.
typedef struct raw {
    const char *path; // its group
    int m, n, nz;
    const ss_array *p, *i, *x; // NULL if missing or unreadable
} raw;

typedef struct member_path {
    char text[64];
} member_path;

static member_path member(const raw *given, const char *dataset)
{
    member_path full;
    snprintf(full.text, sizeof full.text, "%s/%s", given->path, dataset);
    return full;
}

static bool read_matrix_sizes(unpacking *l, raw *given)
{
    const bool m = read_int(l, member(given, "m").text, &given->m);
    const bool n = read_int(l, member(given, "n").text, &given->n);
    const bool nz = read_int(l, member(given, "nz").text, &given->nz);
    if (m && given->m < 0) {
        ss_report_add(l->report, SS_DEFECT, "/%s/m is negative (%d)", given->path, given->m);
    }
    if (n && given->n < 0) {
        ss_report_add(l->report, SS_DEFECT, "/%s/n is negative (%d)", given->path, given->n);
    }
    if (nz && given->nz < BY_ROWS) {
        ss_report_add(
            l->report, SS_DEFECT,
            "/%s/nz is %d, neither -1 (by columns), -2 (by rows) nor a number of triplets",
            given->path, given->nz);
    }
    return m && n && nz && given->m >= 0 && given->n >= 0 && given->nz >= BY_ROWS;
}

static bool sizes_agree(unpacking *l, const raw *given, int nrows, int ncols, const char *why)
{
    if (nrows >= 0 && ncols >= 0 && (given->m != nrows || given->n != ncols)) {
        ss_report_add(l->report, SS_DEFECT, "/%s is %d x %d, %s", given->path, given->m, given->n,
                      why);
        return false;
    }
    return true;
}

static void report_short(unpacking *l, const raw *given, const char *dataset, const ss_array *array,
                         const char *why, int64_t needed)
{
    ss_report_add(l->report, SS_DEFECT, "/%s/%s has %zu %s, %s needs %lld", given->path, dataset,
                  array->count, entries_word(array->count), why, (long long)needed);
}

// True if i and x hold at least `needed` entries; else a defect for each that does not.
static bool entries_suffice(unpacking *l, const raw *given, const char *why, int64_t needed)
{
    const bool i = given->i->count >= (size_t)needed, x = given->x->count >= (size_t)needed;
    if (!i) {
        report_short(l, given, "i", given->i, why, needed);
    }
    if (!x) {
        report_short(l, given, "x", given->x, why, needed);
    }
    return i && x;
}

static bool starts_are_sound(unpacking *l, const raw *given)
{
    const int64_t *p = given->p->integers;
    if (p[0] != 0) {
        ss_report_add(l->report, SS_DEFECT, "/%s/p[0] is %lld, it must be 0", given->path,
                      (long long)p[0]);
        return false;
    }
    for (size_t k = 1; k < given->p->count; k++) {
        if (p[k] < p[k - 1]) {
            ss_report_add(l->report, SS_DEFECT, "/%s/p[%zu] is %lld, less than p[%zu] = %lld",
                          given->path, k, (long long)p[k], k - 1, (long long)p[k - 1]);
            return false;
        }
    }
    return true;
}

// Returns the number of entries of a matrix whose p, i and x have the lengths they need; -1 with a
// defect.
static int64_t count_entries(unpacking *l, const raw *given)
{
    char why[96];
    if (given->nz >= 0) {
        snprintf(why, sizeof why, "nz = %d", given->nz);
        const bool p = given->p->count >= (size_t)given->nz;
        if (!p) {
            report_short(l, given, "p", given->p, why, given->nz);
        }
        return entries_suffice(l, given, why, given->nz) && p ? given->nz : -1;
    }
    const bool columns = given->nz == BY_COLUMNS;
    const int64_t outer = columns ? given->n : given->m;
    if (given->p->count != (size_t)outer + 1) {
        snprintf(why, sizeof why, "storage by %s with %s = %d", columns ? "columns" : "rows",
                 columns ? "n" : "m", (int)outer);
        report_short(l, given, "p", given->p, why, outer + 1);
        return -1;
    }
    if (!starts_are_sound(l, given)) {
        return -1;
    }
    const int64_t last = given->p->integers[outer];
    snprintf(why, sizeof why, "p[%d] = %lld", (int)outer, (long long)last);
    return entries_suffice(l, given, why, last) ? last : -1;
}

// True if the first `count` indices are in 0 .. limit - 1; else one defect for all of them.
static bool indices_are_in_range(unpacking *l, const raw *given, const char *dataset,
                                 const ss_array *index, int64_t count, int limit)
{
    int64_t first = -1, wrong = 0;
    for (int64_t k = 0; k < count; k++) {
        if (index->integers[k] < 0 || index->integers[k] >= limit) {
            first = wrong == 0 ? k : first;
            wrong++;
        }
    }
    if (wrong == 0) {
        return true;
    }
    char others[64] = "";
    if (wrong > 1) {
        snprintf(others, sizeof others, " (%lld such entries)", (long long)wrong);
    }
    ss_report_add(l->report, SS_DEFECT, "/%s/%s[%lld] is %lld, it must be in 0 .. %d%s",
                  given->path, dataset, (long long)first, (long long)index->integers[first],
                  limit - 1, others);
    return false;
}

static bool entries_are_sound(unpacking *l, const raw *given, int64_t *count)
{
    *count = count_entries(l, given);
    if (*count < 0) {
        return false;
    }
    if (*count > INT_MAX - 1) {
        ss_report_add(l->report, SS_DEFECT, "/%s has %lld entries, more than %d are not supported",
                      given->path, (long long)*count, INT_MAX - 1);
        return false;
    }
    if (given->nz >= 0) {
        const bool rows = indices_are_in_range(l, given, "i", given->i, *count, given->m);
        return indices_are_in_range(l, given, "p", given->p, *count, given->n) && rows;
    }
    return indices_are_in_range(l, given, "i", given->i, *count,
                                given->nz == BY_COLUMNS ? given->m : given->n);
}

// Fills outer[k] with the column (row) that holds entry k of compressed storage.
static void unfold_starts(const raw *given, int *outer)
{
    for (size_t j = 0; j + 1 < given->p->count; j++) {
        for (int64_t k = given->p->integers[j]; k < given->p->integers[j + 1]; k++) {
            outer[k] = (int)j;
        }
    }
}

static void build_matrix(unpacking *l, const raw *given, int count, ss_sparse *A)
{
    int *i = malloc(((size_t)count + 1) * sizeof *i);
    int *p = malloc(((size_t)count + 1) * sizeof *p);
    if (i == NULL || p == NULL) {
        l->status = ss_fail_memory(l->e, given->path);
    } else {
        for (int k = 0; k < count; k++) {
            i[k] = (int)given->i->integers[k];
        }
        if (given->nz < 0) {
            unfold_starts(given, p);
        }
        for (int k = 0; given->nz >= 0 && k < count; k++) {
            p[k] = (int)given->p->integers[k];
        }
        const bool by_rows = given->nz == BY_ROWS;
        l->status = ss_sparse_from_triplets(A, given->m, given->n, count, by_rows ? p : i,
                                            by_rows ? i : p, given->x->reals, l->e);
    }
    free(i);
    free(p);
}

// ---- Entries that stand in the file as they do in memory
//
// They are most of a large problem: the arrays become the matrix, so that it is never held twice.

static bool is_as_in_memory(const raw *given, int count)
{
    const int64_t *start = given->p->integers, *row = given->i->integers;
    bool ascending = given->nz == BY_COLUMNS && count > 0;
    for (int j = 0; j < given->n && ascending; j++) {
        for (int64_t k = start[j] + 1; k < start[j + 1] && ascending; k++) {
            ascending = row[k - 1] < row[k];
        }
    }
    return ascending;
}

// Takes the numbers of an array, which has none any more.
static void *take(unpacking *l, const ss_array *array)
{
    ss_array *own = &l->arrays->list[array - l->arrays->list];
    ss_assert(array >= l->arrays->list && own < l->arrays->list + l->arrays->count);
    void *data = own->data;
    own->data = NULL;
    own->count = 0;
    return data;
}

// Gives back the memory beyond `size`.
static void *shrunk(unpacking *l, void *data, size_t size)
{
    void *less = realloc(data, size);
    if (less == NULL) {
        l->status = ss_fail_memory(l->e, "a matrix");
    }
    return less != NULL ? less : data;
}

// Makes ints of the first `count` integers, at the beginning of their memory.
static int *narrowed(unpacking *l, void *integers, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        int64_t wide;
        memcpy(&wide, (char *)integers + k * sizeof wide, sizeof wide);
        const int narrow = (int)wide;
        memcpy((char *)integers + k * sizeof narrow, &narrow, sizeof narrow);
    }
    return shrunk(l, integers, count * sizeof(int));
}

static void take_matrix(unpacking *l, const raw *given, int count, ss_sparse *A)
{
    const size_t n = (size_t)count;
    *A = (ss_sparse){.nrows = given->m,
                     .ncols = given->n,
                     .start = narrowed(l, take(l, given->p), (size_t)given->n + 1),
                     .row = narrowed(l, take(l, given->i), n),
                     .x = shrunk(l, take(l, given->x), n * sizeof(double))};
}

// libfclib allocates nzmax entries and reads all that are stored.
static void remark_capacity(unpacking *l, const raw *given, int64_t count)
{
    const ss_array *nzmax = find_array(l, member(given, "nzmax").text, SS_ARRAY_INTEGERS, false);
    if (nzmax != NULL && nzmax->count == 1 && nzmax->integers[0] < count) {
        ss_report_add(l->report, SS_REMARK, "/%s/nzmax is %lld, fewer than the %lld entries stored",
                      given->path, (long long)nzmax->integers[0], (long long)count);
    }
}

// x alone may be longer, as libfclib writes its whole capacity.
static void remark_unread_triplets(unpacking *l, const raw *given)
{
    size_t stored = given->p->count < given->i->count ? given->p->count : given->i->count;
    stored = given->x->count < stored ? given->x->count : stored;
    if (given->nz >= 0 && stored > (size_t)given->nz) {
        ss_report_add(l->report, SS_REMARK,
                      "/%s/nz is %d, and the rest of the %zu triplets is not read", given->path,
                      given->nz, stored);
    }
}

// Zeros of a dense matrix are no entries.
static void read_dense(unpacking *l, const char *path, const ss_array *dense, int nrows, int ncols,
                       const char *why, ss_sparse *A)
{
    const raw given = {.path = path, .m = (int)dense->reals[0], .n = (int)dense->reals[1]};
    if (nrows < 0 || ncols < 0 || !sizes_agree(l, &given, nrows, ncols, why)) {
        return;
    }
    const double *entries = dense->reals + 2;
    const size_t size = (size_t)nrows * (size_t)ncols;
    int *row = malloc(size * sizeof *row), *col = malloc(size * sizeof *col), count = 0;
    double *x = malloc(size * sizeof *x);
    if (row == NULL || col == NULL || x == NULL) {
        l->status = ss_fail_memory(l->e, path);
    }
    for (size_t k = 0; l->status == SS_OK && k < size; k++) {
        if (entries[k] != 0) {
            row[count] = (int)(k / (size_t)ncols);
            col[count] = (int)(k % (size_t)ncols);
            x[count++] = entries[k];
        }
    }
    if (l->status == SS_OK) {
        l->status = ss_sparse_from_triplets(A, nrows, ncols, count, row, col, x, l->e);
    }
    free(row);
    free(col);
    free(x);
}

// True if as many entries arrived as the sizes say, and no more than an int counts.
static bool dense_is_sound(unpacking *l, const char *path, const ss_array *dense)
{
    const double m = dense->count < 2 ? 0 : dense->reals[0], n = m > 0 ? dense->reals[1] : 0;
    if (!(m >= 1) || !(n >= 1) || m * n > INT_MAX - 1 || (double)dense->count != 2 + m * n) {
        ss_report_add(l->report, SS_DEFECT, "/%s is too large, or empty", path);
        return false;
    }
    return true;
}

// Reads the matrix in the group or dataset `path`, which must be nrows x ncols because of `why`;
// where one of them is -1 (not known, a defect reported elsewhere) the rest is checked. Where
// anything is wrong A stays empty.
static void read_matrix(unpacking *l, const char *path, int nrows, int ncols, const char *why,
                        ss_sparse *A)
{
    const ss_array *dense = find_array(l, path, SS_ARRAY_MATRIX, false);
    if (dense != NULL || ss_arrays_find(l->arrays, path) != NULL) {
        if (dense != NULL && dense_is_sound(l, path, dense)) {
            read_dense(l, path, dense, nrows, ncols, why, A);
        }
        return;
    }
    raw given = {.path = path};
    const bool sized = read_matrix_sizes(l, &given);
    given.p = find_array(l, member(&given, "p").text, SS_ARRAY_INTEGERS, true);
    given.i = find_array(l, member(&given, "i").text, SS_ARRAY_INTEGERS, true);
    given.x = find_array(l, member(&given, "x").text, SS_ARRAY_REALS, true);
    if (!sized || !sizes_agree(l, &given, nrows, ncols, why)) {
        return;
    }
    int64_t count = 0;
    if (given.p == NULL || given.i == NULL || given.x == NULL ||
        !entries_are_sound(l, &given, &count)) {
        return;
    }
    remark_capacity(l, &given, count);
    remark_unread_triplets(l, &given);
    if (nrows >= 0 && ncols >= 0 && l->status == SS_OK && is_as_in_memory(&given, (int)count)) {
        take_matrix(l, &given, (int)count, A);
    } else if (nrows >= 0 && ncols >= 0 && l->status == SS_OK) {
        build_matrix(l, &given, (int)count, A);
        free(take(l, given.p));
        free(take(l, given.i));
        free(take(l, given.x));
    }
}
// ---- Equations

static void refuse_unsupported(unpacking *l)
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
static bool find_form(unpacking *l, ss_form *form)
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

// Reads dim and ncontacts; returns their product, -1 if one is not known.
static int read_sizes(unpacking *l, const char *spacedim, const char *mu, ss_problem *p)
{
    bool known = read_int(l, spacedim, &p->dim);
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

static void read_local(unpacking *l, ss_problem *p, int components)
{
    char shape[64], why[160];
    snprintf(shape, sizeof shape, "%d x %d", components, components);
    explain_components(why, sizeof why, p, shape);
    read_matrix(l, "fclib_local/W", components, components, why, &p->W);
    p->b = read_vector(l, "fclib_local/vectors/q", components, true);
}

static int read_dofs(unpacking *l)
{
    const int ndofs = read_length(l, "fclib_global/vectors/f");
    if (ndofs == 0) {
        ss_report_add(l->report, SS_DEFECT,
                      "/fclib_global/vectors/f is empty, a problem has at least one dof");
    }
    return ndofs > 0 ? ndofs : -1;
}

static void read_global(unpacking *l, ss_problem *p, int components)
{
    char shape[64], why[160];
    const int ndofs = read_dofs(l);
    snprintf(why, sizeof why, "the %d %s of /fclib_global/vectors/f need%s %d x %d", ndofs,
             entries_word((size_t)ndofs), ndofs == 1 ? "s" : "", ndofs, ndofs);
    read_matrix(l, "fclib_global/M", ndofs, ndofs, why, &p->M);
    snprintf(shape, sizeof shape, "%d columns (and %d dof%s as many rows)", components, ndofs,
             ndofs == 1 ? "" : "s");
    explain_components(why, sizeof why, p, shape);
    read_matrix(l, "fclib_global/H", ndofs, components, why, &p->H);
    p->f = read_vector(l, "fclib_global/vectors/f", ndofs, true);
    p->w = read_vector(l, "fclib_global/vectors/w", components, true);
    p->ndofs = ndofs;
}

// ---- Guesses and answers

// After so many remarks about guesses the rest is left out unread.
#define GUESS_REMARKS_MAX 20

// Reads r, u and (global form) v of a guess or solution, as far as they are there.
static void read_state(unpacking *l, const ss_problem *p, const char *group, ss_state *state)
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

static bool guesses_are_present(unpacking *l, int count)
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

// A guess that cannot be used stays empty, so that the others keep their numbers.
static void read_each_guess(unpacking *l, ss_problem *p)
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

static void read_guesses(unpacking *l, ss_problem *p)
{
    int count = 0;
    l->optional = "the guesses are left out";
    if (!is_present(l, "guesses") || !read_int(l, "guesses/number_of_guesses", &count) ||
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

// ---- Texts and attributes
//
// One that cannot be read is a remark, as no solver needs them.

static const ss_array *find_extra(unpacking *l, const char *path, ss_array_kind kind)
{
    const ss_array *array = ss_arrays_find(l->arrays, path);
    if (array != NULL && array->kind == SS_ARRAY_UNREADABLE) {
        ss_report_add(l->report, SS_REMARK, "/%s cannot be read: %s", path, array->text);
    }
    return array != NULL && array->kind == kind && (kind == SS_ARRAY_TEXT || array->count == 1)
               ? array
               : NULL;
}

static char *read_text(unpacking *l, const char *form, const char *name)
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

// Reads a text into a field of fixed size, on one line: it will stand in tables.
static void read_word(unpacking *l, const char *path, char *field, size_t size)
{
    const ss_array *array = find_extra(l, path, SS_ARRAY_TEXT);
    if (array != NULL) {
        snprintf(field, size, "%s", array->text);
        for (char *c = field; *c != '\0'; c++) {
            *c = iscntrl((unsigned char)*c) ? ' ' : *c;
        }
    }
}

static double read_real(unpacking *l, const char *path)
{
    const ss_array *array = find_extra(l, path, SS_ARRAY_REALS);
    return array != NULL ? array->reals[0] : NAN;
}

// Returns -1 if it is not known.
static int read_natural(unpacking *l, const char *path)
{
    const ss_array *array = find_extra(l, path, SS_ARRAY_INTEGERS);
    const bool good = array != NULL && array->integers[0] >= 0 && array->integers[0] <= INT_MAX;
    return good ? (int)array->integers[0] : -1;
}

static void read_claim(unpacking *l, ss_claim *claim)
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
static void read_solution(unpacking *l, ss_problem *p)
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

static void read_provenance(unpacking *l, ss_provenance *from)
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

static void read_extras(unpacking *l, ss_problem *p, const char *form)
{
    p->title = read_text(l, form, "title");
    p->description = read_text(l, form, "description");
    p->math_info = read_text(l, form, "math_info");
    read_provenance(l, &p->provenance);
}

// ---- The whole problem

static void read_problem(unpacking *l, ss_problem *p)
{
    if (!find_form(l, &p->form)) {
        return;
    }
    const bool global = p->form == SS_GLOBAL;
    const int components =
        read_sizes(l, global ? "fclib_global/spacedim" : "fclib_local/spacedim",
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

static ss_status conclude(const unpacking *l, ss_problem *p)
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
    ss_assert(report != NULL && report->count == 0);
    unpacking l = {.arrays = arrays, .report = report, .e = e};
    ss_problem *p = ss_problem_new();
    *problem = NULL;
    if (p == NULL) {
        return ss_fail_memory(e, "a problem");
    }
    read_problem(&l, p);
    const ss_status status = conclude(&l, p);
    if (status != SS_OK) {
        ss_problem_free(p);
        return status;
    }
    *problem = p;
    return SS_OK;
}

// ---- The reader: sentences that name the file

// The end of a long path is shown: the sentence must fit into an ss_error.
#define PATH_SHOWN 200

static const char *shown_path(const char *path)
{
    const size_t length = strlen(path);
    return length == 0 ? "''" : length <= PATH_SHOWN ? path : path + length - PATH_SHOWN;
}

// Makes it "FILE: what", or "FILE: problem NAME: what".
static ss_status prefix_error(ss_error *e, ss_status status, const char *path, const char *name)
{
    const ss_error plain = *e;
    if (name[0] == '\0') {
        return ss_fail(e, status, "%s: %s", shown_path(path), plain.text);
    }
    return ss_fail(e, status, "%s: problem %s: %s", shown_path(path), shown_path(name), plain.text);
}

// ---- The reader

// Names of so many objects that a writer would not write again are shown.
#define FOREIGN_SHOWN 3

struct ss_reader {
    char *path; // owned
    int file;   // open for reading: what was looked at is what is decoded, and decoded again
    ss_decoder decoder;
    ss_arrays list; // the problems by name
};

static ss_status open_file(const char *path, int *file, ss_error *e)
{
    if (path == NULL) {
        return ss_fail(e, SS_BAD_INPUT, "no file is named");
    }
    const ss_status status = ss_decoder_open_file(path, file, e);
    return status == SS_OK ? SS_OK : prefix_error(e, status, path, "");
}

ss_status ss_reader_look(const char *path, ss_error *e)
{
    int file;
    ss_error own;
    const ss_status status = open_file(path, &file, e != NULL ? e : &own);
    if (status == SS_OK) {
        close(file);
    }
    return status;
}

static ss_status start(ss_reader *reader, ss_arrays *list, ss_error *e)
{
    ss_status status = ss_decoder_start(&reader->decoder, reader->file, list, e);
    if (status == SS_OK && (list->count == 0 || list->list[0].kind == SS_ARRAY_UNREADABLE)) {
        status = ss_fail(e, SS_BAD_INPUT, "%s",
                         list->count > 0 ? list->list[0].text : "damaged file: it lists nothing");
    }
    return status;
}

ss_status ss_reader_open(const char *path, ss_reader **reader, ss_error *e)
{
    *reader = NULL;
    ss_error own;
    e = e != NULL ? e : &own;
    int file;
    ss_status status = open_file(path, &file, e);
    if (status != SS_OK) {
        return status;
    }
    ss_reader *made = calloc(1, sizeof *made);
    char *own_path = malloc(strlen(path) + 1);
    if (made == NULL || own_path == NULL) {
        free(made);
        free(own_path);
        close(file);
        return ss_fail_memory(e, shown_path(path));
    }
    made->path = strcpy(own_path, path);
    made->file = file;
    status = start(made, &made->list, e);
    if (status != SS_OK) {
        status = prefix_error(e, status, path, "");
        ss_reader_close(made);
        return status;
    }
    *reader = made;
    return SS_OK;
}

void ss_reader_close(ss_reader *reader)
{
    if (reader != NULL) {
        ss_decoder_stop(&reader->decoder);
        ss_arrays_free(&reader->list);
        close(reader->file);
        free(reader->path);
        free(reader);
    }
}

int ss_reader_count(const ss_reader *reader)
{
    return reader != NULL ? (int)reader->list.count : 0;
}

const char *ss_reader_name(const ss_reader *reader, int k)
{
    return k >= 0 && k < ss_reader_count(reader) ? reader->list.list[k].path : "";
}

int ss_reader_find(const ss_reader *reader, const char *name)
{
    if (reader == NULL || name == NULL) {
        return -1;
    }
    const ss_array *found = ss_arrays_find(&reader->list, name);
    return found != NULL ? (int)(found - reader->list.list) : -1;
}

static bool same_names(const ss_arrays *a, const ss_arrays *b)
{
    bool same = a->count == b->count;
    for (size_t k = 0; same && k < a->count; k++) {
        same = strcmp(a->list[k].path, b->list[k].path) == 0;
    }
    return same;
}

// A decoder that died on another problem is replaced: the rest of a collection may be sound.
static ss_status restart(ss_reader *reader, ss_error *e)
{
    ss_arrays list = {0};
    ss_status status = start(reader, &list, e);
    if (status == SS_OK && !same_names(&reader->list, &list)) {
        status = ss_fail(e, SS_BAD_INPUT, "the file was changed while it was read");
    }
    if (status != SS_OK) {
        ss_decoder_stop(&reader->decoder);
    }
    ss_arrays_free(&list);
    return status;
}

static ss_status request(ss_reader *reader, int k, ss_arrays *arrays, ss_error *e)
{
    ss_status status = reader->decoder.child.pid == 0 ? restart(reader, e) : SS_OK;
    if (status == SS_OK) {
        status = ss_decoder_request(&reader->decoder, k, arrays, e);
    }
    return status;
}

static ss_status load(ss_reader *reader, int k, ss_problem **problem, ss_report *report,
                      ss_error *e)
{
    ss_arrays arrays = {0};
    ss_status status = request(reader, k, &arrays, e);
    if (status == SS_BAD_INPUT) {
        ss_report_add(report, SS_DEFECT, "%s", e->text);
    } else if (status == SS_OK) {
        status = ss_problem_from_arrays(&arrays, report, problem, e);
    }
    ss_arrays_free(&arrays);
    return status;
}

ss_status ss_reader_load(ss_reader *reader, int k, ss_problem **problem, ss_report *report,
                         ss_error *e)
{
    ss_report own_report = {0};
    ss_error own;
    e = e != NULL ? e : &own;
    report = report != NULL ? report : &own_report;
    *problem = NULL;
    if (k < 0 || k >= ss_reader_count(reader)) {
        return ss_fail(e, SS_BAD_INPUT, "there is no problem %d among %d", k,
                       ss_reader_count(reader));
    }
    ss_status status = load(reader, k, problem, report, e);
    if (status != SS_OK) {
        const int others = report->ndefects - 1;
        if (status == SS_BAD_INPUT && others > 0) {
            const ss_error first = *e;
            ss_fail(e, status, "%s (and %d more)", first.text, others);
        }
        prefix_error(e, status, reader->path, ss_reader_name(reader, k));
    }
    ss_report_free(&own_report);
    return status;
}

ss_status ss_reader_foreign(ss_reader *reader, char *names, size_t room, ss_error *e)
{
    ss_error own;
    e = e != NULL ? e : &own;
    ss_arrays found = {0};
    if (room > 0) {
        names[0] = '\0';
    }
    if (reader == NULL || room == 0) {
        return ss_fail(e, SS_BAD_INPUT, "there is no file, or no room for names");
    }
    const ss_status status = request(reader, SS_DECODE_FOREIGN, &found, e);
    int shown = 0;
    for (size_t k = 0; status == SS_OK && k < found.count; k++) {
        const size_t used = strlen(names);
        if (found.list[k].kind != SS_ARRAY_GROUP) {
            continue; // a problem that cannot be opened: loading it says so
        }
        if (shown++ == FOREIGN_SHOWN) {
            snprintf(names + used, room - used, " and more");
            break;
        }
        snprintf(names + used, room - used, "%s%s", used > 0 ? ", " : "", found.list[k].path);
    }
    ss_arrays_free(&found);
    return status == SS_OK ? SS_OK : prefix_error(e, status, reader->path, "");
}

static ss_status find_problem(const ss_reader *reader, const char *name, int *k, ss_error *e)
{
    const int count = ss_reader_count(reader);
    *k = name != NULL ? ss_reader_find(reader, name) : 0;
    if (name == NULL && count > 1) {
        return ss_fail(e, SS_BAD_INPUT, "%s: contains %d problems; choose one by its name",
                       shown_path(reader->path), count);
    }
    return *k >= 0 ? SS_OK
                   : ss_fail(e, SS_BAD_INPUT, "%s: contains no problem named %s",
                             shown_path(reader->path), shown_path(name));
}

ss_status ss_store_read(const char *path, const char *name, ss_problem **problem, ss_error *e)
{
    ss_reader *reader = NULL;
    int k = 0;
    *problem = NULL;
    ss_status status = ss_reader_open(path, &reader, e);
    if (status == SS_OK) {
        status = find_problem(reader, name, &k, e);
    }
    if (status == SS_OK) {
        status = ss_reader_load(reader, k, problem, NULL, e);
    }
    ss_reader_close(reader);
    return status;
}
