// The cubic of four points in one plane, and its roots: see coplanar.h.
//
// The derivative c1 + 2 c2 t + 3 c3 t^2 has the roots q/(3 c3) and c1/q with
//     q = -(c2 + sign(c2) sqrt(c2^2 - 3 c3 c1)),
// which subtracts no numbers of one sign outside the square root. Between 0, these and 1 the cubic
// is monotone, and has at most one change of sign, which Newton's method in a bracket finds: a step
// that leaves the bracket, or is more than half of the one before, is replaced by bisection. Where
// c3, or c2 too, is 0, a quotient is no number in (0, 1) and is left out. Where the square root is
// of less than 0 the cubic is monotone, and any other place to divide does no harm.
#include "strands/contact/coplanar.h"

#include <float.h>

#include "strands/contact/proximity.h"
#include "strands/contact/swept.h"

// Roundings of the cubic, in units of the products of its sizes: each of the 8 triple products has
// 6 terms of 3 factors.
#define ROUNDINGS 32.0
// Twice the bits of a double: a bisection for each, and a step of Newton's between.
#define STEPS_MAX 120

static double size_of(ss_vec3 v)
{
    return ss_larger(fabs(v.x), ss_larger(fabs(v.y), fabs(v.z)));
}

static double triple(ss_vec3 a, ss_vec3 b, ss_vec3 c)
{
    return ss_dot(ss_cross(a, b), c);
}

double ss_coplanar_cubic(const ss_vec3 x[4], const ss_vec3 moved[4], double c[4])
{
    ss_vec3 rate[4];
    double place = 0.0;
    for (int i = 0; i < 4; i++) {
        rate[i] = ss_minus(moved[i], x[i]);
        place = ss_larger(place, ss_larger(size_of(x[i]), size_of(moved[i])));
    }
    const ss_vec3 d = ss_minus(x[1], x[0]), e = ss_minus(x[3], x[2]), r = ss_minus(x[2], x[0]);
    const ss_vec3 dd = ss_minus(rate[1], rate[0]), ee = ss_minus(rate[3], rate[2]),
                  rr = ss_minus(rate[2], rate[0]);
    c[0] = triple(d, e, r);
    c[1] = triple(dd, e, r) + triple(d, ee, r) + triple(d, e, rr);
    c[2] = triple(dd, ee, r) + triple(dd, e, rr) + triple(d, ee, rr);
    c[3] = triple(dd, ee, rr);
    const double sd = size_of(d) + size_of(dd), se = size_of(e) + size_of(ee),
                 sr = size_of(r) + size_of(rr);
    return ROUNDINGS * DBL_EPSILON * (sd * se * sr + place * (sd * se + se * sr + sr * sd));
}

static double value(const double c[4], double t)
{
    return ((c[3] * t + c[2]) * t + c[1]) * t + c[0];
}

// Where the cubic changes its sign between low and high, of which it does so once.
static double bracketed(const double c[4], double low, double high)
{
    const bool rises = value(c, low) < 0.0;
    double t = 0.5 * (low + high), before = high - low;
    for (int k = 0; k < STEPS_MAX && t > low && t < high; k++) {
        const double v = value(c, t);
        *((v < 0.0) == rises ? &low : &high) = t;
        const double newton = v / ((3.0 * c[3] * t + 2.0 * c[2]) * t + c[1]);
        const bool keeps = t - newton > low && t - newton < high && fabs(newton) < 0.5 * before;
        const double next = keeps ? t - newton : 0.5 * (low + high);
        before = fabs(next - t);
        if (before <= DBL_EPSILON * t || v == 0.0) {
            break;
        }
        t = next;
    }
    return t;
}

// 0, the extrema inside, 1.
static int divide(const double c[4], double at[4])
{
    const double a = 3.0 * c[3];
    const double q = -(c[2] + copysign(sqrt(ss_larger(c[2] * c[2] - a * c[1], 0.0)), c[2]));
    const double one = q / a, other = c[1] / q;
    const double order[2] = {one < other ? one : other, one < other ? other : one};
    int n = 0;
    at[n++] = 0.0;
    for (int k = 0; k < 2; k++) {
        if (order[k] > at[n - 1] && order[k] < 1.0) {
            at[n++] = order[k];
        }
    }
    at[n++] = 1.0;
    return n;
}

int ss_cubic_roots(const double c[4], double rounding, double roots[SS_CUBIC_ROOTS_MAX])
{
    double at[4];
    const int n = divide(c, at);
    int count = 0;
    for (int k = 0; k < n; k++) {
        const double v = value(c, at[k]);
        if (fabs(v) <= rounding) {
            roots[count++] = at[k];
        }
        if (k + 1 < n && (v < 0.0) != (value(c, at[k + 1]) < 0.0)) {
            roots[count++] = bracketed(c, at[k], at[k + 1]);
        }
    }
    return count;
}

static double distance_at(const ss_vec3 x[4], const ss_vec3 moved[4], double t)
{
    double a, b;
    return ss_segments_exact(ss_between(x[0], moved[0], t), ss_between(x[1], moved[1], t),
                             ss_between(x[2], moved[2], t), ss_between(x[3], moved[3], t), &a, &b);
}

bool ss_coplanar_segments(const ss_vec3 x[4], const ss_vec3 moved[4], double reach, double *time)
{
    double c[4], roots[SS_CUBIC_ROOTS_MAX];
    const double rounding = ss_coplanar_cubic(x, moved, c);
    if (fabs(c[0]) <= rounding && fabs(c[1]) <= rounding && fabs(c[2]) <= rounding &&
        fabs(c[3]) <= rounding) {
        return ss_swept_segments(x, moved, reach, time);
    }
    const int n = ss_cubic_roots(c, rounding, roots);
    for (int k = 0; k < n; k++) {
        if (distance_at(x, moved, roots[k]) <= reach) {
            *time = roots[k];
            return true;
        }
    }
    return false;
}
