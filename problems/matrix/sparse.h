// problems/matrix/sparse.h -- a sparse matrix of numbers, compressed by columns.
//
// Entries of one column have strictly increasing rows, so that two matrices with the same entries
// are the same bytes whatever layout a file had. An entry that is stored may be zero: the pattern
// is data, as it tells the bodies of a problem.
#pragma once

#include <stdbool.h>
#include "base/status.h"

#pragma GCC visibility push(default)

typedef struct ss_sparse {
    int nrows, ncols;
    int *start; // [ncols + 1] first entry of each column; owned
    int *row;   // [start[ncols]] owned
    double *x;  // [start[ncols]] owned
} ss_sparse;

// Makes A from triplets in any order; entries that name the same place are added, in the order
// given. Every row[k] and col[k] is in range. On failure A is empty: 0 x 0, with arrays that are
// NULL. Every function here takes an empty matrix.
ss_status ss_sparse_from_triplets(ss_sparse *A, int nrows, int ncols, int count, const int *row,
                                  const int *col, const double *x, ss_error *e);
ss_status ss_sparse_transpose(const ss_sparse *A, ss_sparse *transposed, ss_error *e);
void ss_sparse_free(ss_sparse *A); // leaves an empty matrix; takes NULL

int ss_sparse_count(const ss_sparse *A); // stored entries; 0 for an empty matrix and NULL

void ss_sparse_add_product(const ss_sparse *A, const double *x, double *y);            // y += A x
void ss_sparse_add_transposed_product(const ss_sparse *A, const double *x, double *y); // y += A' x

// Returns max |A - A'| / max |A| of a square matrix with finite entries, or 0 for a zero matrix.
// `transposed` is A'.
double ss_sparse_unsymmetry(const ss_sparse *A, const ss_sparse *transposed);
// Does the same without A', which is made only where A is not symmetric.
ss_status ss_sparse_find_unsymmetry(const ss_sparse *A, double *unsymmetry, ss_error *e);
// Finds whether a square matrix is its transpose, in pattern and values.
ss_status ss_sparse_find_symmetric(const ss_sparse *A, bool *symmetric, ss_error *e);

#pragma GCC visibility pop
