// solvers/small.h -- vectors and matrices of three, row-major; no law is known here.
//
// A NaN in an argument gives NaN in every sum, maximum and solution.
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

// Marks functions of loops that are worth the size of their code.
#define SS_INLINE static inline __attribute__((always_inline))

static inline double ss_dot3(const double x[3], const double y[3])
{
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
}

static inline double ss_length2(double x, double y)
{
    return sqrt(x * x + y * y);
}

// Returns max |x_i|.
static inline double ss_norm_inf3(const double x[3])
{
    double worst = fabs(x[0]);
    worst = worst != worst || fabs(x[1]) <= worst ? worst : fabs(x[1]);
    return worst != worst || fabs(x[2]) <= worst ? worst : fabs(x[2]);
}

// Returns whether all numbers of a vector of any length are 0.
static inline bool ss_all_zero(const double *x, size_t count)
{
    size_t k = 0;
    while (k < count && x[k] == 0.0) {
        k++;
    }
    return k == count;
}

// Writes y = A x.
static inline void ss_multiply3(const double A[9], const double x[3], double y[3])
{
    for (int i = 0; i < 3; i++) {
        y[i] = ss_dot3(A + 3 * i, x);
    }
}

// Writes y = A' x.
static inline void ss_multiply3_transposed(const double A[9], const double x[3], double y[3])
{
    for (int i = 0; i < 3; i++) {
        y[i] = A[i] * x[0] + A[3 + i] * x[1] + A[6 + i] * x[2];
    }
}

// Solves A x = b by elimination with row pivots. Returns false where a pivot is 0 or the answer is
// not finite; x is useless then.
static inline bool ss_solve3(const double A[9], const double b[3], double x[3])
{
    int k = fabs(A[3]) > fabs(A[0]) ? 1 : 0;
    k = fabs(A[6]) > fabs(A[3 * k]) ? 2 : k;
    const int i = k == 0 ? 1 : 0, j = k == 2 ? 1 : 2;
    const double *top = A + 3 * k;
    const double fi = A[3 * i] / top[0], fj = A[3 * j] / top[0];
    const double ci = b[i] - fi * b[k], cj = b[j] - fj * b[k];
    const double i1 = A[3 * i + 1] - fi * top[1], i2 = A[3 * i + 2] - fi * top[2];
    const double j1 = A[3 * j + 1] - fj * top[1], j2 = A[3 * j + 2] - fj * top[2];
    if (fabs(i1) >= fabs(j1)) {
        const double f = j1 / i1;
        x[2] = (cj - f * ci) / (j2 - f * i2);
        x[1] = (ci - i2 * x[2]) / i1;
    } else {
        const double f = i1 / j1;
        x[2] = (ci - f * cj) / (i2 - f * j2);
        x[1] = (cj - j2 * x[2]) / j1;
    }
    x[0] = (b[k] - top[1] * x[1] - top[2] * x[2]) / top[0];
    return isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]);
}

// Solves A x = b by the adjugate: one division and no branch, twice as fast as elimination, at the
// price of digits where A is nearly singular. x is not finite where det A is 0.
static inline void ss_solve3_adjugate(const double A[9], const double b[3], double x[3])
{
    const double c00 = A[4] * A[8] - A[5] * A[7];
    const double c01 = A[5] * A[6] - A[3] * A[8];
    const double c02 = A[3] * A[7] - A[4] * A[6];
    const double c10 = A[2] * A[7] - A[1] * A[8];
    const double c11 = A[0] * A[8] - A[2] * A[6];
    const double c12 = A[1] * A[6] - A[0] * A[7];
    const double c20 = A[1] * A[5] - A[2] * A[4];
    const double c21 = A[2] * A[3] - A[0] * A[5];
    const double c22 = A[0] * A[4] - A[1] * A[3];
    const double inverse = 1.0 / (A[0] * c00 + A[1] * c01 + A[2] * c02);
    x[0] = (c00 * b[0] + c10 * b[1] + c20 * b[2]) * inverse;
    x[1] = (c01 * b[0] + c11 * b[1] + c21 * b[2]) * inverse;
    x[2] = (c02 * b[0] + c12 * b[1] + c22 * b[2]) * inverse;
}
