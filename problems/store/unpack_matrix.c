// A matrix of a file -> triplets -> compressed columns. Compressed by columns (rows), p holds the
// n + 1 (m + 1) starts and i the rows (columns) of the entries; i and x may be longer than needed,
// as they have FCLIB's capacity nzmax.
#include "problems/store/unpack.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BY_COLUMNS = -1, BY_ROWS = -2 }; // values of nz

// A matrix as it stands in the file.
typedef struct raw {
    const char *path; // of its group
    int m, n, nz;
    const ss_array *p, *i, *x; // NULL if missing or unreadable
} raw;

typedef struct name {
    char text[64];
} name;

static name member(const raw *given, const char *dataset)
{
    name full;
    snprintf(full.text, sizeof full.text, "%s/%s", given->path, dataset);
    return full;
}

static bool matrix_read_sizes(ss_unpacking *l, raw *given)
{
    const bool m = ss_unpack_int(l, member(given, "m").text, &given->m);
    const bool n = ss_unpack_int(l, member(given, "n").text, &given->n);
    const bool nz = ss_unpack_int(l, member(given, "nz").text, &given->nz);
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

static bool sizes_agree(ss_unpacking *l, const raw *given, int nrows, int ncols, const char *why)
{
    if (nrows >= 0 && ncols >= 0 && (given->m != nrows || given->n != ncols)) {
        ss_report_add(l->report, SS_DEFECT, "/%s is %d x %d, %s", given->path, given->m, given->n,
                      why);
        return false;
    }
    return true;
}

static void report_short(ss_unpacking *l, const raw *given, const char *dataset,
                         const ss_array *array, const char *why, int64_t needed)
{
    ss_report_add(l->report, SS_DEFECT, "/%s/%s has %zu %s, %s needs %lld", given->path, dataset,
                  array->count, ss_unpack_entries(array->count), why, (long long)needed);
}

// Both hold at least `needed` entries; false with a defect for each that does not.
static bool entries_suffice(ss_unpacking *l, const raw *given, const char *why, int64_t needed)
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

static bool starts_are_sound(ss_unpacking *l, const raw *given)
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

// Number of entries of a matrix whose p, i and x have the lengths they need; -1 with a defect.
static int64_t count_entries(ss_unpacking *l, const raw *given)
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

// The first `count` indices are in 0 .. limit - 1; else one sentence for all of them.
static bool indices_are_in_range(ss_unpacking *l, const raw *given, const char *dataset,
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

static bool entries_are_sound(ss_unpacking *l, const raw *given, int64_t *count)
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

// outer[k] of entry k of compressed storage: the column (row) that holds it.
static void unfold_starts(const raw *given, int *outer)
{
    for (size_t j = 0; j + 1 < given->p->count; j++) {
        for (int64_t k = given->p->integers[j]; k < given->p->integers[j + 1]; k++) {
            outer[k] = (int)j;
        }
    }
}

static void matrix_build(ss_unpacking *l, const raw *given, int count, ss_sparse *A)
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

// The numbers of an array, which has none any more.
static void *take(ss_unpacking *l, const ss_array *array)
{
    ss_array *own = &l->arrays->list[array - l->arrays->list];
    void *data = own->data;
    own->data = NULL;
    own->count = 0;
    return data;
}

// The rest of its memory is given back.
static void *shrunk(ss_unpacking *l, void *data, size_t size)
{
    void *less = realloc(data, size);
    if (less == NULL) {
        l->status = ss_fail_memory(l->e, "a matrix");
    }
    return less != NULL ? less : data;
}

// The first `count` integers as ints at the beginning of their memory.
static int *narrowed(ss_unpacking *l, void *integers, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        int64_t wide;
        memcpy(&wide, (char *)integers + k * sizeof wide, sizeof wide);
        const int narrow = (int)wide;
        memcpy((char *)integers + k * sizeof narrow, &narrow, sizeof narrow);
    }
    return shrunk(l, integers, count * sizeof(int));
}

static void matrix_take(ss_unpacking *l, const raw *given, int count, ss_sparse *A)
{
    const size_t n = (size_t)count;
    *A = (ss_sparse){.nrows = given->m,
                     .ncols = given->n,
                     .start = narrowed(l, take(l, given->p), (size_t)given->n + 1),
                     .row = narrowed(l, take(l, given->i), n),
                     .x = shrunk(l, take(l, given->x), n * sizeof(double))};
}

// libfclib allocates nzmax entries and reads all that are stored.
static void remark_capacity(ss_unpacking *l, const raw *given, int64_t count)
{
    const ss_array *nzmax =
        ss_unpack_find(l, member(given, "nzmax").text, SS_ARRAY_INTEGERS, false);
    if (nzmax != NULL && nzmax->count == 1 && nzmax->integers[0] < count) {
        ss_report_add(l->report, SS_REMARK, "/%s/nzmax is %lld, fewer than the %lld entries stored",
                      given->path, (long long)nzmax->integers[0], (long long)count);
    }
}

// x alone may be longer, as libfclib writes its whole capacity.
static void remark_unread_triplets(ss_unpacking *l, const raw *given)
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
static void unpack_dense(ss_unpacking *l, const char *path, const ss_array *dense, int nrows,
                         int ncols, const char *why, ss_sparse *A)
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

// What arrived is a matrix: as many entries as its sizes say, and no more than an int counts.
static bool dense_is_sound(ss_unpacking *l, const char *path, const ss_array *dense)
{
    const double m = dense->count < 2 ? 0 : dense->reals[0], n = m > 0 ? dense->reals[1] : 0;
    if (!(m >= 1) || !(n >= 1) || m * n > INT_MAX - 1 || (double)dense->count != 2 + m * n) {
        ss_report_add(l->report, SS_DEFECT, "/%s is too large, or empty", path);
        return false;
    }
    return true;
}

void ss_unpack_matrix(ss_unpacking *l, const char *path, int nrows, int ncols, const char *why,
                      ss_sparse *A)
{
    const ss_array *dense = ss_unpack_find(l, path, SS_ARRAY_MATRIX, false);
    if (dense != NULL || ss_arrays_find(l->arrays, path) != NULL) {
        if (dense != NULL && dense_is_sound(l, path, dense)) {
            unpack_dense(l, path, dense, nrows, ncols, why, A);
        }
        return;
    }
    raw given = {.path = path};
    const bool sized = matrix_read_sizes(l, &given);
    given.p = ss_unpack_find(l, member(&given, "p").text, SS_ARRAY_INTEGERS, true);
    given.i = ss_unpack_find(l, member(&given, "i").text, SS_ARRAY_INTEGERS, true);
    given.x = ss_unpack_find(l, member(&given, "x").text, SS_ARRAY_REALS, true);
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
        matrix_take(l, &given, (int)count, A);
    } else if (nrows >= 0 && ncols >= 0 && l->status == SS_OK) {
        matrix_build(l, &given, (int)count, A);
        free(take(l, given.p));
        free(take(l, given.i));
        free(take(l, given.x));
    }
}
