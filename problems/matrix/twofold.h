// problems/matrix/twofold.h -- sums of products with about 104 bits of mantissa: two doubles, high + low (internal).
//
// s = high + x has the error e = (high - (s - t)) + (x - t), t = s - high, whatever the two are, and a product
// p = a b has e = fma(a, b, -p), or Dekker's where that is no instruction: both are exact, so that the bits
// do not depend on the CPU. Errors are added to low. A sum of n products is off by n^2 2^-106 of the sum of
// their sizes [ORO05], and costs a tenth of one in the 113 bits that compilers make of integers.
#pragma once

#include <math.h>

typedef struct ss_twofold {
    double high, low;
} ss_twofold;

// a b - p, p being a b rounded.
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

// a b, b having two parts.
static inline void ss_twofold_add_twofold(ss_twofold *sum, double a, ss_twofold b)
{
    ss_twofold_add_product(sum, a, b.high);
    sum->low += a * b.low;
}

// The double nearest to it.
static inline double ss_twofold_rounded(ss_twofold x)
{
    return x.high + x.low;
}
