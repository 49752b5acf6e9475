#include "problems/matrix/sparse.h"

#include "base/assert.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int ss_sparse_count(const ss_sparse *A)
{
    return A != NULL && A->start != NULL ? A->start[A->ncols] : 0;
}

void ss_sparse_free(ss_sparse *A)
{
    if (A == NULL) {
        return;
    }
    free(A->start);
    free(A->row);
    free(A->x);
    *A = (ss_sparse){0};
}

static bool sparse_allocate(ss_sparse *A, int nrows, int ncols, int count)
{
    const size_t room = (size_t)count + 1; // never zero bytes
    *A = (ss_sparse){
        .nrows = nrows,
        .ncols = ncols,
        .start = calloc((size_t)ncols + 1, sizeof *A->start),
        .row = malloc(room * sizeof *A->row),
        .x = malloc(room * sizeof *A->x),
    };
    if (A->start == NULL || A->row == NULL || A->x == NULL) {
        ss_sparse_free(A);
        return false;
    }
    return true;
}

// Turns counts per column into the places where columns start; the last one is the total.
static void accumulate(int *start, int ncols)
{
    int total = 0;
    for (int j = 0; j <= ncols; j++) {
        const int here = start[j];
        start[j] = total;
        total += here;
    }
}

// Shifts starts back: filling column j has advanced start[j] to the start of column j + 1.
static void rewind_starts(int *start, int ncols)
{
    for (int j = ncols; j > 0; j--) {
        start[j] = start[j - 1];
    }
    start[0] = 0;
}

// Adds up entries that name the same place; rows of a column are in ascending order already.
static void merge_equal_rows(ss_sparse *A)
{
    int kept = 0;
    for (int j = 0; j < A->ncols; j++) {
        const int begin = A->start[j], end = A->start[j + 1];
        A->start[j] = kept;
        for (int k = begin; k < end; k++) {
            if (kept > A->start[j] && A->row[kept - 1] == A->row[k]) {
                A->x[kept - 1] += A->x[k];
            } else {
                A->row[kept] = A->row[k];
                A->x[kept++] = A->x[k];
            }
        }
    }
    A->start[A->ncols] = kept;
}

// Sorts twice by counting, by row and then by column, which leaves each column sorted by row and
// equal places in the order given.
ss_status ss_sparse_from_triplets(ss_sparse *A, int nrows, int ncols, int count, const int *row,
                                  const int *col, const double *x, ss_error *e)
{
    if (nrows < 0 || ncols < 0 || count < 0 ||
        (count > 0 && (row == NULL || col == NULL || x == NULL))) {
        *A = (ss_sparse){0};
        return ss_fail(e, SS_BAD_INPUT, "a %d x %d matrix cannot be made of %d %s", nrows, ncols,
                       count, count < 0 ? "entries" : "entries that are not there");
    }
    int *row_start = calloc((size_t)nrows + 1, sizeof *row_start);
    int *by_row = malloc(((size_t)count + 1) * sizeof *by_row);
    const bool allocated = sparse_allocate(A, nrows, ncols, count);
    if (row_start == NULL || by_row == NULL || !allocated) {
        free(row_start);
        free(by_row);
        ss_sparse_free(A);
        return ss_fail_memory(e, "a sparse matrix");
    }
    for (int k = 0; k < count; k++) {
        ss_assert(0 <= row[k] && row[k] < nrows && 0 <= col[k] && col[k] < ncols);
        row_start[row[k]]++;
        A->start[col[k]]++;
    }
    accumulate(row_start, nrows);
    accumulate(A->start, ncols);
    for (int k = 0; k < count; k++) {
        by_row[row_start[row[k]]++] = k;
    }
    for (int s = 0; s < count; s++) {
        const int k = by_row[s];
        const int place = A->start[col[k]]++;
        A->row[place] = row[k];
        A->x[place] = x[k];
    }
    rewind_starts(A->start, ncols);
    merge_equal_rows(A);
    free(row_start);
    free(by_row);
    return SS_OK;
}

ss_status ss_sparse_transpose(const ss_sparse *A, ss_sparse *transposed, ss_error *e)
{
    if (!sparse_allocate(transposed, A->ncols, A->nrows, ss_sparse_count(A))) {
        return ss_fail_memory(e, "a transposed matrix");
    }
    int *start = transposed->start;
    for (int k = 0; k < ss_sparse_count(A); k++) {
        start[A->row[k]]++;
    }
    accumulate(start, transposed->ncols);
    for (int j = 0; j < A->ncols; j++) {
        for (int k = A->start[j]; k < A->start[j + 1]; k++) {
            const int place = start[A->row[k]]++;
            transposed->row[place] = j;
            transposed->x[place] = A->x[k];
        }
    }
    rewind_starts(start, transposed->ncols);
    return SS_OK;
}

void ss_sparse_add_product(const ss_sparse *A, const double *x, double *y)
{
    for (int j = 0; j < A->ncols; j++) {
        for (int k = A->start[j]; k < A->start[j + 1]; k++) {
            y[A->row[k]] += A->x[k] * x[j];
        }
    }
}

void ss_sparse_add_transposed_product(const ss_sparse *A, const double *x, double *y)
{
    for (int j = 0; j < A->ncols; j++) {
        double sum = 0.0;
        for (int k = A->start[j]; k < A->start[j + 1]; k++) {
            sum += A->x[k] * x[A->row[k]];
        }
        y[j] += sum;
    }
}

double ss_sparse_unsymmetry(const ss_sparse *A, const ss_sparse *transposed)
{
    ss_assert(A->nrows == A->ncols && A->ncols == transposed->ncols);
    double largest = 0.0, difference = 0.0;
    for (int j = 0; j < A->ncols; j++) {
        int k = A->start[j], t = transposed->start[j];
        const int k_end = A->start[j + 1], t_end = transposed->start[j + 1];
        while (k < k_end || t < t_end) {
            const bool here = t == t_end || (k < k_end && A->row[k] <= transposed->row[t]);
            const bool there = k == k_end || (t < t_end && transposed->row[t] <= A->row[k]);
            const double a = here ? A->x[k++] : 0.0;
            const double b = there ? transposed->x[t++] : 0.0;
            largest = fmax(largest, fabs(a));
            difference = fmax(difference, fabs(a - b));
        }
    }
    return largest > 0.0 ? difference / largest : 0.0;
}

// Column by column, the entries of row i come in the order of their columns, which is that of the
// rows of column i: each must be the next one there.
ss_status ss_sparse_find_symmetric(const ss_sparse *A, bool *symmetric, ss_error *e)
{
    int *next = malloc(((size_t)A->ncols + 1) * sizeof *next);
    if (next == NULL) {
        return ss_fail_memory(e, "the symmetry of a matrix");
    }
    if (A->ncols > 0) {
        memcpy(next, A->start, (size_t)A->ncols * sizeof *next);
    }
    bool same = true;
    for (int j = 0; same && j < A->ncols; j++) {
        for (int k = A->start[j]; same && k < A->start[j + 1]; k++) {
            const int i = A->row[k], t = next[i]++;
            same = t < A->start[i + 1] && A->row[t] == j && A->x[t] == A->x[k];
        }
    }
    free(next);
    *symmetric = same;
    return SS_OK;
}

ss_status ss_sparse_find_unsymmetry(const ss_sparse *A, double *unsymmetry, ss_error *e)
{
    bool symmetric;
    ss_sparse transposed;
    *unsymmetry = 0.0;
    ss_status status = ss_sparse_find_symmetric(A, &symmetric, e);
    if (status != SS_OK || symmetric) {
        return status;
    }
    status = ss_sparse_transpose(A, &transposed, e);
    if (status == SS_OK) {
        *unsymmetry = ss_sparse_unsymmetry(A, &transposed);
        ss_sparse_free(&transposed);
    }
    return status;
}
