// strands/models/der/der_band.h -- M = L D L' of rods that are alike, strand by strand in the lanes (internal).
//
// M is that of `nfree` dofs from `first` on, a band by columns of HALF + 1 from their diagonals on. A file that
// includes this has LANES (lanes.h).
#pragma once

#include <float.h>

#define HALF (2 * SS_DER_STRIDE + 2)

// Rows that column j of M has below its diagonal: joints couple three vertices and the angles between, so
// that the four columns from a vertex on end in the same row.
static inline int band_depth(int first, int nfree, int j)
{
    const int most = HALF - (first + j) % SS_DER_STRIDE, left = nfree - 1 - j;
    return left < most ? left : most;
}

// L D in the place of M, and 1/D. The bits of the strands that have a factor: their pivots exceed the rounding of what
// was taken off.
static inline unsigned band_factor(int first, int nfree, lanes *M, lanes *D)
{
    lane_mask good = {0};
    good = ~good;
    for (int j = 0; j < nfree; j++) {
        D[j] = M[(HALF + 1) * j];
    }
    for (int j = 0; j < nfree; j++) {
        const lanes *left = M + (HALF + 1) * j;
        const int below = band_depth(first, nfree, j);
        const lanes pivot = left[0], inverse = 1.0 / pivot;
        good &= pivot > (HALF + 1) * DBL_EPSILON * D[j];
        D[j] = inverse;
        for (int k = 1; k <= below; k++) {
            lanes *restrict right = M + (HALF + 1) * (j + k) - k;
            const lanes share = left[k] * inverse;
            for (int i = k; i <= below; i++) {
                right[i] -= share * left[i];
            }
        }
    }
    unsigned bits = 0;
    for (int l = 0; l < LANES; l++) {
        bits |= good[l] != 0 ? 1u << l : 0u;
    }
    return bits;
}

// x <- (L D L')^-1 x; column j of M holds that of L D.
static inline void band_solve(int first, int nfree, const lanes *M, const lanes *D, lanes *x)
{
    for (int j = 0; j < nfree; j++) {
        const lanes *c = M + (HALF + 1) * j, scaled = x[j] * D[j];
        const int below = band_depth(first, nfree, j);
        for (int i = 1; i <= below; i++) {
            x[j + i] -= c[i] * scaled;
        }
        x[j] = scaled;
    }
    for (int j = nfree - 1; j >= 0; j--) {
        const lanes *c = M + (HALF + 1) * j;
        const int below = band_depth(first, nfree, j);
        lanes sum = {0.0};
        for (int i = 1; i <= below; i++) {
            sum += c[i] * x[j + i];
        }
        x[j] -= sum * D[j];
    }
}
