// solvers/vectors.h -- sums over long vectors, in one order whatever the vectors of the CPU.
#pragma once

#include <stddef.h>

typedef double ss_eight __attribute__((vector_size(64), aligned(8)));

// Returns a.b.
static inline double ss_vector_dot(size_t n, const double *a, const double *b)
{
    ss_eight sum = {0};
    size_t k = 0;
    for (; k + 8 <= n; k += 8) {
        sum += *(const ss_eight *)(a + k) * *(const ss_eight *)(b + k);
    }
    double rest = 0.0;
    for (; k < n; k++) {
        rest += a[k] * b[k];
    }
    return (((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]))) +
           rest;
}

// Adds k x to y.
static inline void ss_vector_add(size_t n, double k, const double *x, double *y)
{
    for (size_t j = 0; j < n; j++) {
        y[j] += k * x[j];
    }
}
