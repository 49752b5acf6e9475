// strands/lanes_math.h -- sine, cosine and the angle of a vector, on the lanes of lanes.h side by
// side (internal).
//
// A template as lanes.h: LANE is a GNU vector of doubles, and LANE_BITS one of as many 64-bit integers. The
// lanes are near 1 ulp for angles up to 1e5; a NaN stays one.
#pragma once

#include <string.h>

static inline LANE lanes_from_bits(LANE_BITS a)
{
    LANE x;
    memcpy(&x, &a, sizeof x);
    return x;
}

static inline LANE_BITS lanes_bits(LANE x)
{
    LANE_BITS a;
    memcpy(&a, &x, sizeof a);
    return a;
}

// a where the mask is all ones, b where it is 0.
static inline LANE lanes_chosen(LANE_BITS mask, LANE a, LANE b)
{
    return lanes_from_bits((mask & lanes_bits(a)) | (~mask & lanes_bits(b)));
}

static inline LANE lanes_all(double x)
{
    return x - (LANE){0.0};
}

static inline LANE lanes_absolute(LANE x)
{
    return lanes_chosen(x < 0.0, -x, x);
}

// 1.5 2^52: adding it rounds to whole numbers, which are then the last bits.
#define LANES_ROUND 6755399441055744.0

// The nearest whole number, |x| < 2^51.
static inline LANE lanes_rounded(LANE x)
{
    return (x + LANES_ROUND) - LANES_ROUND;
}

// x = k pi/2 + y, |y| <= pi/4, pi/2 in three parts of which the first two have 33 bits; then the series of
// both functions to the order 17, and the quadrant k.
static inline void lanes_sine_cosine(LANE x, LANE *sine, LANE *cosine)
{
    const LANE shifted = x * 0.63661977236758134308 + LANES_ROUND, k = shifted - LANES_ROUND;
    const LANE_BITS quadrant = lanes_bits(shifted) & 3;
    LANE y = x - k * 1.57079632673412561417e+00;
    y = y - k * 6.07710050630396597660e-11;
    y = y - k * 2.02226624879595063154e-21;
    const LANE z = y * y;
    LANE s = lanes_all(1.0 / 355687428096000.0), c = lanes_all(-1.0 / 6402373705728000.0);
    s = s * z - 1.0 / 1307674368000.0;
    s = s * z + 1.0 / 6227020800.0;
    s = s * z - 1.0 / 39916800.0;
    s = s * z + 1.0 / 362880.0;
    s = s * z - 1.0 / 5040.0;
    s = s * z + 1.0 / 120.0;
    s = s * z - 1.0 / 6.0;
    s = y + y * z * s;
    c = c * z + 1.0 / 20922789888000.0;
    c = c * z - 1.0 / 87178291200.0;
    c = c * z + 1.0 / 479001600.0;
    c = c * z - 1.0 / 3628800.0;
    c = c * z + 1.0 / 40320.0;
    c = c * z - 1.0 / 720.0;
    c = c * z + 1.0 / 24.0;
    c = 1.0 - (0.5 * z - z * z * c);
    const LANE_BITS odd = -(quadrant & 1), low = quadrant & 2, next = (quadrant + 1) & 2;
    const LANE first = lanes_chosen(odd, c, s), second = lanes_chosen(odd, s, c);
    *sine = lanes_chosen(-(low >> 1), -first, first);
    *cosine = lanes_chosen(-(next >> 1), -second, second);
}

// The angle of (x, y) against the first axis, in [-pi, pi]; (0, 0): 0. With a = min / max of |x| and |y| and
// the nearest b = k/8, atan a = atan b + atan t, t = (a - b)/(1 + a b), |t| <= 1/16, by its series.
static inline LANE lanes_angle(LANE y, LANE x)
{
    static const double ATAN[9] = {0.0,
                                   0.12435499454676143503,
                                   0.24497866312686415417,
                                   0.35877067027057222040,
                                   0.46364760900080611621,
                                   0.55859931534356243597,
                                   0.64350110879328438680,
                                   0.71882999962162450542,
                                   0.78539816339744830962};
    const LANE ax = lanes_absolute(x), ay = lanes_absolute(y);
    const LANE_BITS steep = ay > ax;
    const LANE low = lanes_chosen(steep, ax, ay), high = lanes_chosen(steep, ay, ax);
    const LANE a = low / lanes_chosen(high == 0.0, lanes_all(1.0), high);
    const LANE shifted = 8.0 * a + LANES_ROUND, b = 0.125 * (shifted - LANES_ROUND);
    const LANE_BITS k = lanes_bits(shifted) & 15;
    const LANE t = (a - b) / (1.0 + a * b), z = t * t;
    LANE s = lanes_all(1.0 / 13.0);
    s = s * z - 1.0 / 11.0;
    s = s * z + 1.0 / 9.0;
    s = s * z - 1.0 / 7.0;
    s = s * z + 1.0 / 5.0;
    s = s * z - 1.0 / 3.0;
    LANE angle = t + t * z * s;
    for (int l = 0; l < (int)(sizeof angle / sizeof angle[0]); l++) {
        angle[l] += ATAN[k[l] < 9 ? k[l] : 0];
    }
    angle = lanes_chosen(steep, 1.57079632679489661923 - angle, angle);
    angle = lanes_chosen(x < 0.0, 3.14159265358979323846 - angle, angle);
    return lanes_chosen(y < 0.0, -angle, angle);
}
