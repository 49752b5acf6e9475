// strands/lanes.h -- the same number of many things side by side, and vectors of space made of such
// numbers (internal).
//
// A template: whoever includes it has defined LANES, how many things there are; with 1 a number is
// a double. Every operation is done on each lane alone, so that its bits do not depend on its
// neighbours or on how many there are, and a NaN stays in its lane. Sine, cosine and angle are near
// 1 ulp for angles up to 1e5.
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

#if LANES == 1
typedef double lanes;

static inline lanes lanes_all(double x)
{
    return x;
}

static inline lanes lanes_root(lanes a)
{
    return sqrt(a);
}
#else
// Vectors are not passed to other files, and 8 bytes are all that malloc and neighbours in a struct
// promise.
typedef double lanes __attribute__((vector_size(8 * LANES), aligned(8)));
typedef int64_t lane_mask __attribute__((vector_size(8 * LANES), aligned(8)));

static inline lanes lanes_all(double x)
{
    return x - (lanes){0.0};
}

static inline lanes lanes_root(lanes a)
{
    for (int l = 0; l < LANES; l++) {
        a[l] = sqrt(a[l]);
    }
    return a;
}

static inline lanes lanes_of(const double *x)
{
    lanes a;
    memcpy(&a, x, sizeof a);
    return a;
}

// Returns a where the mask is all ones and b where it is 0.
static inline lanes lanes_where(lane_mask mask, lanes a, lanes b)
{
    return (lanes)(((lane_mask)a & mask) | ((lane_mask)b & ~mask));
}

static inline lanes lanes_absolute(lanes a)
{
    return lanes_where(a < 0.0, -a, a);
}

// Returns 0 for numbers below it; NaN stays.
static inline lanes lanes_above_zero(lanes a)
{
    return lanes_where(a < 0.0, lanes_all(0.0), a);
}
#endif

// ---- Vectors

typedef struct lane3 {
    lanes x, y, z;
} lane3;

static inline lane3 lane3_plus(lane3 a, lane3 b)
{
    return (lane3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline lane3 lane3_minus(lane3 a, lane3 b)
{
    return (lane3){a.x - b.x, a.y - b.y, a.z - b.z};
}

// a + k b
static inline lane3 lane3_along(lane3 a, lanes k, lane3 b)
{
    return (lane3){a.x + k * b.x, a.y + k * b.y, a.z + k * b.z};
}

static inline lane3 lane3_scaled(lanes k, lane3 a)
{
    return (lane3){k * a.x, k * a.y, k * a.z};
}

static inline lanes lane3_dot(lane3 a, lane3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline lane3 lane3_cross(lane3 a, lane3 b)
{
    return (lane3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

#if LANES > 1
// ---- Angles

// 1.5 2^52: adding it rounds to whole numbers, which are then the last bits.
#define LANES_ROUND 6755399441055744.0

// Returns the nearest whole number, for |x| < 2^51.
static inline lanes lanes_rounded(lanes x)
{
    return (x + LANES_ROUND) - LANES_ROUND;
}

// With x = k pi/2 + y, |y| <= pi/4, and pi/2 in three parts, two of 33 bits: both series at y to
// the order 17, turned by the quadrant k.
static inline void lanes_sine_cosine(lanes x, lanes *sine, lanes *cosine)
{
    const lanes shifted = x * 0.63661977236758134308 + LANES_ROUND, k = shifted - LANES_ROUND;
    const lane_mask quadrant = (lane_mask)shifted & 3;
    lanes y = x - k * 1.57079632673412561417e+00;
    y = y - k * 6.07710050630396597660e-11;
    y = y - k * 2.02226624879595063154e-21;
    const lanes z = y * y;
    lanes s = lanes_all(1.0 / 355687428096000.0), c = lanes_all(-1.0 / 6402373705728000.0);
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
    const lane_mask odd = -(quadrant & 1), low = quadrant & 2, next = (quadrant + 1) & 2;
    const lanes first = lanes_where(odd, c, s), second = lanes_where(odd, s, c);
    *sine = lanes_where(-(low >> 1), -first, first);
    *cosine = lanes_where(-(next >> 1), -second, second);
}

// Returns the angle of (x, y) against the first axis, in [-pi, pi], and 0 for (0, 0). With a = min
// / max of |x| and |y| and the nearest b = k/8, atan a = atan b + atan t, t = (a - b)/(1 + a b),
// |t| <= 1/16, by its series.
static inline lanes lanes_angle(lanes y, lanes x)
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
    const lanes ax = lanes_absolute(x), ay = lanes_absolute(y);
    const lane_mask steep = ay > ax;
    const lanes low = lanes_where(steep, ax, ay), high = lanes_where(steep, ay, ax);
    const lanes a = low / lanes_where(high == 0.0, lanes_all(1.0), high);
    const lanes shifted = 8.0 * a + LANES_ROUND, b = 0.125 * (shifted - LANES_ROUND);
    const lane_mask k = (lane_mask)shifted & 15;
    const lanes t = (a - b) / (1.0 + a * b), z = t * t;
    lanes s = lanes_all(1.0 / 13.0);
    s = s * z - 1.0 / 11.0;
    s = s * z + 1.0 / 9.0;
    s = s * z - 1.0 / 7.0;
    s = s * z + 1.0 / 5.0;
    s = s * z - 1.0 / 3.0;
    lanes angle = t + t * z * s;
    for (int l = 0; l < LANES; l++) {
        angle[l] += ATAN[k[l] < 9 ? k[l] : 0];
    }
    angle = lanes_where(steep, 1.57079632679489661923 - angle, angle);
    angle = lanes_where(x < 0.0, 3.14159265358979323846 - angle, angle);
    return lanes_where(y < 0.0, -angle, angle);
}
#endif
