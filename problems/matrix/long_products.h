// problems/matrix/long_products.h -- products with more digits, for residuals (internal).
//
// Products of sparse matrices and vectors are in long double, which is slow to load and to store.
// Columns side by side, such as those of a body in M and those of a contact in H, mostly have the
// same rows, or rows that follow each other: they are taken together, so that a number of the
// vector is loaded once for all. Each sum still runs in the order of its own terms.
#pragma once

#include "problems/matrix/sparse.h"

#include <math.h>

// Adds sign A x to y, the terms of y_i in the order of the columns. Columns with x_j = 0 are passed
// over.
void ss_long_add_product(const ss_sparse *A, double sign, const double *x, long double *y);
// Does the same for columns first .. end - 1.
void ss_long_add_columns(const ss_sparse *A, int first, int end, double sign, const double *x,
                         long double *y);

// Writes u_c = w_c + sum_j A_jc x_j for columns first .. end - 1, in the order of the rows, rounded
// once. Returns max_c sum_j |A_jc| shares_j of them, found in the same pass as A is larger than
// caches.
double ss_long_transposed_bounded(const ss_sparse *A, int first, int end, const long double *x,
                                  const double *w, const double *shares, double *u);

// ---- Sums of products of two doubles
//
// s = high + x has the error e = (high - (s - t)) + (x - t), t = s - high, whatever the two are,
// and a product p = a b has e = fma(a, b, -p), or Dekker's where that is no instruction: both are
// exact, so that the bits do not depend on the CPU. Errors are added to low. A sum of n products is
// off by n^2 2^-106 of the sum of their sizes [ORO05], and costs a tenth of one in the 113 bits
// that compilers make of integers.

typedef struct ss_twofold {
    double high, low;
} ss_twofold;

// Returns a b - p, where p is a b rounded.
static inline double ss_product_error(double a, double b, double p)
{
#ifdef FP_FAST_FMA
    return fma(a, b, -p);
#else
    const double split = 0x1p27 + 1.0, as = split * a, bs = split * b;
    const double a1 = as - (as - a), a0 = a - a1, b1 = bs - (bs - b), b0 = b - b1;
    return a0 * b0 - (((p - a1 * b1) - a0 * b1) - a1 * b0);
#endif
}

static inline void ss_twofold_add(ss_twofold *sum, double x)
{
    const double s = sum->high + x, t = s - sum->high;
    sum->low += (sum->high - (s - t)) + (x - t);
    sum->high = s;
}

static inline void ss_twofold_add_product(ss_twofold *sum, double a, double b)
{
    const double p = a * b, error = ss_product_error(a, b, p);
    ss_twofold_add(sum, p);
    sum->low += error;
}

// Adds a b, where b has two parts.
static inline void ss_twofold_add_twofold(ss_twofold *sum, double a, ss_twofold b)
{
    ss_twofold_add_product(sum, a, b.high);
    sum->low += a * b.low;
}

// Returns the double nearest to x.
static inline double ss_twofold_rounded(ss_twofold x)
{
    return x.high + x.low;
}

// ---- For tests

// Writes u_c = w_c + sum_j A_jc x_j for all columns.
void ss_long_transposed_product(const ss_sparse *A, const long double *x, const double *w,
                                double *u);

// ---- Numbers of two doubles, of which the high one is the nearest double
//
// What follows keeps 2^-102 of the larger operand.

static inline ss_twofold ss_twofold_sum(ss_twofold a, ss_twofold b)
{
    ss_twofold_add(&a, b.high);
    a.low += b.low;
    const double high = a.high + a.low;
    return (ss_twofold){high, a.low - (high - a.high)};
}

static inline ss_twofold ss_twofold_product(ss_twofold a, ss_twofold b)
{
    const double p = a.high * b.high;
    const double low = ss_product_error(a.high, b.high, p) + (a.high * b.low + a.low * b.high);
    const double high = p + low;
    return (ss_twofold){high, low - (high - p)};
}

static inline ss_twofold ss_twofold_times(double a, ss_twofold b)
{
    return ss_twofold_product((ss_twofold){a, 0.0}, b);
}

// Returns a/b, where b is not 0.
static inline ss_twofold ss_twofold_quotient(ss_twofold a, ss_twofold b)
{
    const double q = a.high / b.high;
    const ss_twofold rest = ss_twofold_sum(a, ss_twofold_times(-q, b));
    return ss_twofold_sum((ss_twofold){q, 0.0}, (ss_twofold){rest.high / b.high, 0.0});
}

// Returns the root of x >= 0.
static inline ss_twofold ss_twofold_root(ss_twofold x)
{
    const double q = sqrt(x.high);
    if (q == 0.0) {
        return (ss_twofold){0.0, 0.0};
    }
    const ss_twofold rest = ss_twofold_sum(x, ss_twofold_times(-q, (ss_twofold){q, 0.0}));
    return ss_twofold_sum((ss_twofold){q, 0.0}, (ss_twofold){0.5 * rest.high / q, 0.0});
}
