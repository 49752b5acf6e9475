// problems/matrix/dense.h -- M = L L' of a body with few dofs, row-major (internal).
#pragma once

#include <float.h>
#include <stdbool.h>

// A pivot must keep more than its rounding: below that share of its diagonal entry the matrix is
// singular to working precision. m is the number of subtractions that left it, at most. False for a
// NaN.
static inline bool ss_dense_pivot_is_sound(double pivot, int m, double diagonal)
{
    return pivot > m * DBL_EPSILON * diagonal;
}

// target -= a * source, over k numbers.
static inline void ss_dense_subtract(double *restrict target, double a,
                                     const double *restrict source, int k)
{
    for (int c = 0; c < k; c++) {
        target[c] -= a * source[c];
    }
}

static inline void ss_dense_divide(double *x, double a, int k)
{
    for (int c = 0; c < k; c++) {
        x[c] /= a;
    }
}

// A = L L' in place, lower triangle, from the upper one; m at most SS_DENSE_BODY. Returns the failing row, or -1.
int ss_dense_factor(double *A, int m);

// So many columns are whitened at once: a number of columns that is a multiple of it is whitened quickest.
enum { SS_DENSE_LANES = 8 };

// X <- L^-1 X and X <- L^-T X of X [m][k], a dof a row.
void ss_dense_whiten(const double *L, int m, double *X, int k);
void ss_dense_unwhiten(const double *L, int m, double *X, int k);

// X[b] <- M_b^-1 X[b], a vector for each of four bodies of m dofs. `next` are the factors of four bodies of m
// dofs that will be needed then, or L.
void ss_dense_solve_four(const double *const L[4], const double *const next[4], int m,
                         double *const X[4]);
