// Nearest points of two segments x0 + a d and y0 + b e, a and b in [0, 1]; r = y0 - x0, c = d x e.
//
// The squared distance is a convex quadratic form of (a, b). Where the lines cross (c != 0) it is
// least at
//     a = (r x e) . c / |c|^2
// for lines; a is moved into [0, 1], then b is the best one for this a, and where that one had to
// be moved too, a is the best one for b. By convexity this ends at the least value in the square.
// The cross products, unlike the determinant |d|^2 |e|^2 - (d . e)^2 of the usual form, lose no
// digits where the lines are nearly parallel. Parallel ones: the middle of the overlap of their
// shadows on d, or the ends that face each other.
#include "strands/contact/proximity.h"

#include "strands/contact/collide.h"
#include "strands/contact/obstacle.h"
#include "strands/geometry.h"

#include <float.h>
#include <stdbool.h>
#include <stddef.h>

// ---- Nearest points

// sin^2 of the angle below which the cross products no longer tell a.
#define PARALLEL 1e-20
// Share of the lengths below which the direction between two points is rounding.
#define COINCIDENT 1e-12

static double clamped(double t)
{
    return t > 0.0 ? (t < 1.0 ? t : 1.0) : 0.0;
}

// The abscissa nearest to a point that lies `part` along a segment with squared length `whole`;
// 0 on one without length.
static double abscissa(double part, double whole)
{
    return whole > 0.0 ? clamped(part / whole) : 0.0;
}

typedef struct pair {
    ss_vec3 d, e, r;
    double dd, ee, de;
} pair;

static void crossing(const pair *p, ss_vec3 c, double cc, double *a, double *b)
{
    *a = clamped(ss_dot(ss_cross(p->r, p->e), c) / cc);
    const double free_b = (*a * p->de - ss_dot(p->r, p->e)) / p->ee;
    *b = clamped(free_b);
    if (*b != free_b) {
        *a = abscissa(ss_dot(p->r, p->d) + *b * p->de, p->dd);
    }
}

static void parallel(const pair *p, double *a, double *b)
{
    const double first = p->dd > 0.0 ? ss_dot(p->r, p->d) / p->dd : 0.0;
    const double second = p->dd > 0.0 ? first + p->de / p->dd : 0.0;
    const double low = ss_larger(0.0, ss_smaller(first, second)),
                 high = ss_smaller(1.0, ss_larger(first, second));
    *a = low <= high ? 0.5 * (low + high) : clamped(first);
    *b = abscissa(*a * p->de - ss_dot(p->r, p->e), p->ee);
    if (!(low <= high)) {
        *a = abscissa(ss_dot(p->r, p->d) + *b * p->de, p->dd);
    }
}

static double nearest(ss_vec3 x0, ss_vec3 x1, ss_vec3 y0, ss_vec3 y1, double parallel_below,
                      double *a, double *b)
{
    pair p = {.d = ss_minus(x1, x0), .e = ss_minus(y1, y0), .r = ss_minus(y0, x0)};
    p.dd = ss_dot(p.d, p.d);
    p.ee = ss_dot(p.e, p.e);
    p.de = ss_dot(p.d, p.e);
    const ss_vec3 c = ss_cross(p.d, p.e);
    const double cc = ss_dot(c, c);
    if (cc > parallel_below * p.dd * p.ee) {
        crossing(&p, c, cc, a, b);
    } else {
        parallel(&p, a, b);
    }
    return ss_length(ss_along(ss_along(p.r, -*a, p.d), *b, p.e));
}

double ss_segments_nearest(ss_vec3 x0, ss_vec3 x1, ss_vec3 y0, ss_vec3 y1, double *a, double *b)
{
    return nearest(x0, x1, y0, y1, SS_NEARLY_PARALLEL, a, b);
}

double ss_segments_exact(ss_vec3 x0, ss_vec3 x1, ss_vec3 y0, ss_vec3 y1, double *a, double *b)
{
    return nearest(x0, x1, y0, y1, PARALLEL, a, b);
}

// A unit vector orthogonal to d; for d = 0 any.
static ss_vec3 orthogonal(ss_vec3 d)
{
    const double x = fabs(d.x), y = fabs(d.y), z = fabs(d.z);
    const ss_vec3 least = x <= y && x <= z ? ss_vec(1.0, 0.0, 0.0)
                          : y <= z         ? ss_vec(0.0, 1.0, 0.0)
                                           : ss_vec(0.0, 0.0, 1.0);
    const ss_vec3 n = ss_cross(d, least);
    const double length = ss_length(n);
    return length > 0.0 ? ss_scaled(1.0 / length, n) : ss_vec(0.0, 0.0, 1.0);
}

ss_vec3 ss_normal_between(ss_vec3 w, ss_vec3 d, ss_vec3 e)
{
    const double length = ss_length(w), d_length = ss_length(d), e_length = ss_length(e);
    if (length > COINCIDENT * (d_length + e_length)) {
        return ss_scaled(1.0 / length, w);
    }
    const ss_vec3 c = ss_cross(d, e);
    const double c_length = ss_length(c);
    if (c_length > sqrt(PARALLEL) * d_length * e_length) {
        return ss_scaled((ss_dot(w, c) < 0.0 ? -1.0 : 1.0) / c_length, c);
    }
    return orthogonal(d_length > e_length ? d : e);
}

// ---- Times at which axes cross
//
// The cubic of four points is 0 where they lie in one plane (proximity.h).
//
// The derivative c1 + 2 c2 t + 3 c3 t^2 has the roots q/(3 c3) and c1/q with
//     q = -(c2 + sign(c2) sqrt(c2^2 - 3 c3 c1)),
// which subtracts no numbers of one sign outside the square root. Between 0, these and 1 the cubic
// is monotone, and has at most one change of sign, which Newton's method in a bracket finds: a step
// that leaves the bracket, or is more than half of the one before, is replaced by bisection. Where
// c3, or c2 too, is 0, a quotient is no number in (0, 1) and is left out. Where the square root is
// of less than 0 the cubic is monotone, and any other place to divide does no harm.

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

// Returns where the cubic changes its sign between low and high, which it does once.
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

static double axes_distance_at(const ss_vec3 x[4], const ss_vec3 moved[4], double t)
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
        if (axes_distance_at(x, moved, roots[k]) <= reach) {
            *time = roots[k];
            return true;
        }
    }
    return false;
}

// ---- First meetings of moving segments
//
// The times come from conservative advancement (proximity.h).

// If a pair passes just outside reach, steps of the safe length shrink to nothing. They are at
// least this share of reach, or of the whole motion: what stays unseen is a shallower graze.
#define GRAZE         0.01
#define TIME_STEP_MIN 1e-5

typedef struct scene {
    const ss_vec3 *x, *moved;
    const ss_obstacle *obstacle; // NULL: the second segment
    const ss_pose *pose;
} scene;

static double obstacle_distance_at(const scene *s, double t)
{
    const ss_vec3 x0 = ss_between(s->x[0], s->moved[0], t);
    const ss_vec3 x1 = ss_between(s->x[1], s->moved[1], t);
    if (s->obstacle != NULL) {
        ss_obstacle_near near;
        ss_obstacle_nearest(s->obstacle, s->pose, x0, x1, &near);
        return near.distance;
    }
    double a, b;
    return ss_segments_exact(x0, x1, ss_between(s->x[2], s->moved[2], t),
                             ss_between(s->x[3], s->moved[3], t), &a, &b);
}

static bool advance(const scene *s, double speed, double reach, double *time)
{
    double t = 0.0;
    for (;;) {
        const double distance = obstacle_distance_at(s, t);
        if (distance <= reach) {
            *time = t;
            return true;
        }
        if (!(distance - reach < speed * (1.0 - t))) {
            return false;
        }
        const double safe = ss_larger(distance - reach, GRAZE * reach) / speed;
        t = ss_smaller(1.0, t + ss_larger(safe, TIME_STEP_MIN));
    }
}

double ss_swept_speed(const ss_vec3 x[4], const ss_vec3 moved[4])
{
    double square = 0.0;
    for (int i = 0; i < 2; i++) {
        for (int j = 2; j < 4; j++) {
            const ss_vec3 apart = ss_minus(ss_minus(moved[i], x[i]), ss_minus(moved[j], x[j]));
            square = ss_larger(square, ss_dot(apart, apart));
        }
    }
    return sqrt(square);
}

bool ss_swept_segments(const ss_vec3 x[4], const ss_vec3 moved[4], double reach, double *time)
{
    return advance(&(scene){.x = x, .moved = moved}, ss_swept_speed(x, moved), reach, time);
}

bool ss_swept_obstacle(const ss_obstacle *o, const ss_pose *pose, const ss_vec3 x[2],
                       const ss_vec3 moved[2], double reach, double *time)
{
    const double speed =
        ss_larger(ss_length(ss_minus(moved[0], x[0])), ss_length(ss_minus(moved[1], x[1])));
    return advance(&(scene){x, moved, o, pose}, speed, reach, time);
}
