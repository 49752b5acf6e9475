// A matrix of a file -> triplets -> compressed columns. Compressed by columns (rows), p holds the
// n + 1 (m + 1) starts and i the rows (columns) of the entries; i and x may be longer than needed,
// as they have FCLIB's capacity nzmax.
#include "problems/store/unpack.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

enum { BY_COLUMNS = -1, BY_ROWS = -2 }; // values of nz

// A matrix as it stands in the file.
typedef struct raw {
    const char *path; // of its group
    int m, n, nz;
    const ss_array *p, *i, *x; // NULL where missing or unreadable
} raw;

typedef struct name {
    char text[64];
} name;

static name member(const raw *a, const char *dataset)
{
    name full;
    snprintf(full.text, sizeof full.text, "%s/%s", a->path, dataset);
    return full;
}

static bool read_sizes(ss_unpacking *l, raw *a)
{
    const bool m = ss_unpack_int(l, member(a, "m").text, &a->m);
    const bool n = ss_unpack_int(l, member(a, "n").text, &a->n);
    const bool nz = ss_unpack_int(l, member(a, "nz").text, &a->nz);
    if (m && a->m < 0) {
        ss_report_add(l->report, SS_DEFECT, "/%s/m is negative (%d)", a->path, a->m);
    }
    if (n && a->n < 0) {
        ss_report_add(l->report, SS_DEFECT, "/%s/n is negative (%d)", a->path, a->n);
    }
    if (nz && a->nz < BY_ROWS) {
        ss_report_add(
            l->report, SS_DEFECT,
            "/%s/nz is %d, neither -1 (by columns), -2 (by rows) nor a number of triplets", a->path,
            a->nz);
    }
    return m && n && nz && a->m >= 0 && a->n >= 0 && a->nz >= BY_ROWS;
}

static bool sizes_agree(ss_unpacking *l, const raw *a, int nrows, int ncols, const char *why)
{
    if (nrows >= 0 && ncols >= 0 && (a->m != nrows || a->n != ncols)) {
        ss_report_add(l->report, SS_DEFECT, "/%s is %d x %d, %s", a->path, a->m, a->n, why);
        return false;
    }
    return true;
}

static void report_short(ss_unpacking *l, const raw *a, const char *dataset, const ss_array *array,
                         const char *why, int64_t needed)
{
    ss_report_add(l->report, SS_DEFECT, "/%s/%s has %zu %s, %s needs %lld", a->path, dataset,
                  array->count, ss_unpack_entries(array->count), why, (long long)needed);
}

// Both hold at least `needed` entries; false with a defect for each that does not.
static bool entries_suffice(ss_unpacking *l, const raw *a, const char *why, int64_t needed)
{
    const bool i = a->i->count >= (size_t)needed, x = a->x->count >= (size_t)needed;
    if (!i) {
        report_short(l, a, "i", a->i, why, needed);
    }
    if (!x) {
        report_short(l, a, "x", a->x, why, needed);
    }
    return i && x;
}

static bool starts_are_sound(ss_unpacking *l, const raw *a)
{
    const int64_t *p = a->p->integers;
    if (p[0] != 0) {
        ss_report_add(l->report, SS_DEFECT, "/%s/p[0] is %lld, it must be 0", a->path,
                      (long long)p[0]);
        return false;
    }
    for (size_t k = 1; k < a->p->count; k++) {
        if (p[k] < p[k - 1]) {
            ss_report_add(l->report, SS_DEFECT, "/%s/p[%zu] is %lld, less than p[%zu] = %lld",
                          a->path, k, (long long)p[k], k - 1, (long long)p[k - 1]);
            return false;
        }
    }
    return true;
}

// Number of entries of a matrix whose p, i and x have the lengths they need; -1 with a defect.
static int64_t count_entries(ss_unpacking *l, const raw *a)
{
    char why[96];
    if (a->nz >= 0) {
        snprintf(why, sizeof why, "nz = %d", a->nz);
        const bool p = a->p->count >= (size_t)a->nz;
        if (!p) {
            report_short(l, a, "p", a->p, why, a->nz);
        }
        return entries_suffice(l, a, why, a->nz) && p ? a->nz : -1;
    }
    const bool columns = a->nz == BY_COLUMNS;
    const int64_t outer = columns ? a->n : a->m;
    if (a->p->count != (size_t)outer + 1) {
        snprintf(why, sizeof why, "storage by %s with %s = %d", columns ? "columns" : "rows",
                 columns ? "n" : "m", (int)outer);
        report_short(l, a, "p", a->p, why, outer + 1);
        return -1;
    }
    if (!starts_are_sound(l, a)) {
        return -1;
    }
    const int64_t last = a->p->integers[outer];
    snprintf(why, sizeof why, "p[%d] = %lld", (int)outer, (long long)last);
    return entries_suffice(l, a, why, last) ? last : -1;
}

// The first `count` indices are in 0 .. limit - 1; else one sentence for all of them.
static bool indices_are_in_range(ss_unpacking *l, const raw *a, const char *dataset,
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
    ss_report_add(l->report, SS_DEFECT, "/%s/%s[%lld] is %lld, it must be in 0 .. %d%s", a->path,
                  dataset, (long long)first, (long long)index->integers[first], limit - 1, others);
    return false;
}

static bool entries_are_sound(ss_unpacking *l, const raw *a, int64_t *count)
{
    *count = count_entries(l, a);
    if (*count < 0) {
        return false;
    }
    if (*count > INT_MAX - 1) {
        ss_report_add(l->report, SS_DEFECT, "/%s has %lld entries, more than %d are not supported",
                      a->path, (long long)*count, INT_MAX - 1);
        return false;
    }
    if (a->nz >= 0) {
        const bool rows = indices_are_in_range(l, a, "i", a->i, *count, a->m);
        return indices_are_in_range(l, a, "p", a->p, *count, a->n) && rows;
    }
    return indices_are_in_range(l, a, "i", a->i, *count, a->nz == BY_COLUMNS ? a->m : a->n);
}

// outer[k] of entry k of compressed storage: the column (row) that holds it.
static void unfold_starts(const raw *a, int *outer)
{
    for (size_t j = 0; j + 1 < a->p->count; j++) {
        for (int64_t k = a->p->integers[j]; k < a->p->integers[j + 1]; k++) {
            outer[k] = (int)j;
        }
    }
}

static void build(ss_unpacking *l, const raw *a, int count, ss_sparse *A)
{
    int *i = malloc(((size_t)count + 1) * sizeof *i);
    int *p = malloc(((size_t)count + 1) * sizeof *p);
    if (i == NULL || p == NULL) {
        l->status = ss_fail_memory(l->e, a->path);
    } else {
        for (int k = 0; k < count; k++) {
            i[k] = (int)a->i->integers[k];
        }
        if (a->nz < 0) {
            unfold_starts(a, p);
        }
        for (int k = 0; a->nz >= 0 && k < count; k++) {
            p[k] = (int)a->p->integers[k];
        }
        const bool by_rows = a->nz == BY_ROWS;
        l->status = ss_sparse_from_triplets(A, a->m, a->n, count, by_rows ? p : i, by_rows ? i : p,
                                            a->x->reals, l->e);
    }
    free(i);
    free(p);
}

// libfclib allocates nzmax entries and reads all that are stored.
static void remark_capacity(ss_unpacking *l, const raw *a, int64_t count)
{
    const ss_array *nzmax = ss_unpack_find(l, member(a, "nzmax").text, SS_ARRAY_INTEGERS, false);
    if (nzmax != NULL && nzmax->count == 1 && nzmax->integers[0] < count) {
        ss_report_add(l->report, SS_REMARK, "/%s/nzmax is %lld, fewer than the %lld entries stored",
                      a->path, (long long)nzmax->integers[0], (long long)count);
    }
}

// x alone may be longer, as libfclib writes its whole capacity.
static void remark_unread_triplets(ss_unpacking *l, const raw *a)
{
    size_t stored = a->p->count < a->i->count ? a->p->count : a->i->count;
    stored = a->x->count < stored ? a->x->count : stored;
    if (a->nz >= 0 && stored > (size_t)a->nz) {
        ss_report_add(l->report, SS_REMARK,
                      "/%s/nz is %d, and the rest of the %zu triplets is not read", a->path, a->nz,
                      stored);
    }
}

void ss_unpack_matrix(ss_unpacking *l, const char *path, int nrows, int ncols, const char *why,
                      ss_sparse *A)
{
    raw a = {.path = path};
    const bool sized = read_sizes(l, &a);
    a.p = ss_unpack_find(l, member(&a, "p").text, SS_ARRAY_INTEGERS, true);
    a.i = ss_unpack_find(l, member(&a, "i").text, SS_ARRAY_INTEGERS, true);
    a.x = ss_unpack_find(l, member(&a, "x").text, SS_ARRAY_REALS, true);
    if (!sized || !sizes_agree(l, &a, nrows, ncols, why)) {
        return;
    }
    int64_t count = 0;
    if (a.p == NULL || a.i == NULL || a.x == NULL || !entries_are_sound(l, &a, &count)) {
        return;
    }
    remark_capacity(l, &a, count);
    remark_unread_triplets(l, &a);
    if (nrows >= 0 && ncols >= 0 && l->status == SS_OK) {
        build(l, &a, (int)count, A);
    }
}
