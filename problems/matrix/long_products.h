// problems/matrix/long_products.h -- products of sparse matrices and vectors in long double, for residuals (internal).
//
// A long double is slow to load and to store. Columns side by side, such as those of a body in M and those of
// a contact in H, mostly have the same rows, or rows that follow each other: they are taken together, so that
// a number of the vector is loaded once for all. Each sum still runs in the order of its own terms.
#pragma once

#include "problems/matrix/sparse.h"

// y += sign A x, the terms of y_i in the order of the columns. Columns with x_j = 0 are passed over.
void ss_long_add_product(const ss_sparse *A, double sign, const double *x, long double *y);
// The same of the columns first .. end - 1.
void ss_long_add_columns(const ss_sparse *A, int first, int end, double sign, const double *x,
                         long double *y);

// u_c = w_c + sum_j A_jc x_j in the order of the rows, rounded once.
void ss_long_transposed_product(const ss_sparse *A, const long double *x, const double *w,
                                double *u);
// The same of the columns first .. end - 1, and max_c sum_j |A_jc| shares_j of them in the same pass: A is more than
// caches hold.
double ss_long_transposed_bounded(const ss_sparse *A, int first, int end, const long double *x,
                                  const double *w, const double *shares, double *u);
