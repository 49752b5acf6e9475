// strands/contact/proximity.h -- nearest points of two segments, and the normal there
// (internal).
#pragma once

#include "strands/contact/collide.h"
#include "strands/geometry.h"
#include "strands/contact/obstacle.h"

#include <stdbool.h>

// fmax and fmin are calls, for the sake of NaN and of the sign of 0.
static inline double ss_larger(double a, double b)
{
    return a > b ? a : b;
}

static inline double ss_smaller(double a, double b)
{
    return a < b ? a : b;
}

// Does the same as ss_segments_nearest, but finds the nearest points without exception: only
// segments that are parallel to 1e-10 touch at the middle of their overlap.
double ss_segments_exact(ss_vec3 x0, ss_vec3 x1, ss_vec3 y0, ss_vec3 y1, double *a, double *b);

// The unit vector along w, which leads from a point of a segment along e to the nearest one of a
// segment along d. Where the two points coincide: one orthogonal to both, the same every time.
ss_vec3 ss_normal_between(ss_vec3 w, ss_vec3 d, ss_vec3 e);

// sin^2 of the angle below which the touch of two cylinders is long, and one of its ends, which
// the exact points would jump between, stands for it badly.
#define SS_NEARLY_PARALLEL 1e-4

// Data of a segment for the test below; a cache line.
typedef struct ss_segment_bar {
    ss_vec3 d, sum; // from its first end to its second, and their sum
    double dd, length;
} ss_segment_bar;

static inline ss_segment_bar ss_segment_bar_of(const ss_vec3 x[2])
{
    ss_segment_bar bar = {.d = ss_minus(x[1], x[0]), .sum = ss_plus(x[0], x[1])};
    bar.dd = ss_dot(bar.d, bar.d);
    bar.length = sqrt(bar.dd);
    return bar;
}

// True only where the segments are farther than `reach` from each other, and true for most that
// are; costs less than their distance. With w from the middle of one to the middle of the other and
// c = d x e, the lines are |w . c| / |c| apart, and no point of the second is nearer to the line of
// the first than |d x w| / |d| - |c| / (2 |d|). Without branches, for of boxes that overlap the
// outcome is not to be foreseen.
static inline bool ss_bars_are_beyond(const ss_segment_bar *a, const ss_segment_bar *b,
                                      double reach)
{
    const double above_rounding = 1.0 + 1e-6;
    const ss_vec3 w = ss_scaled(0.5, ss_minus(b->sum, a->sum));
    const ss_vec3 c = ss_cross(a->d, b->d), side = ss_cross(a->d, w);
    const double cc = ss_dot(c, c), wc = ss_dot(w, c);
    const double apart = above_rounding * reach;
    const double far = apart * a->length + above_rounding * 0.5 * sqrt(cc);
    return (ss_dot(side, side) > far * far) |
           ((wc * wc > apart * apart * cc) & (cc > SS_NEARLY_PARALLEL * a->dd * b->dd));
}

// True only where the segment is farther than `reach` from x.
static inline bool ss_bar_is_beyond(const ss_segment_bar *a, ss_vec3 x, double reach)
{
    const ss_vec3 w = ss_along(a->sum, -2.0, x); // from x to its middle, twice
    const double far = (1.0 + 1e-6) * (2.0 * reach + a->length);
    return ss_dot(w, w) > far * far;
}

static inline bool ss_segments_are_beyond(const ss_vec3 x[2], const ss_vec3 y[2], double reach)
{
    const ss_segment_bar a = ss_segment_bar_of(x), b = ss_segment_bar_of(y);
    return ss_bars_are_beyond(&a, &b, reach);
}

// ---- coplanar

// when the centre lines of moving segments cross (internal).
//
// Every vertex moves straight from x, at time 0, to `moved`, at time 1. With d and e along the two
// segments, r from the first's begin to the second's, and ' for their rates, the four points are in
// one plane at the roots of the cubic
//     V(t) = (d + d' t) x (e + e' t) . (r + r' t) = c0 + c1 t + c2 t^2 + c3 t^3.
// Segments whose lines cross are nearest, at distance 0, at a root. Ends that pass each other and a
// motion that stops within reach need not have one: the sweep finds these too.
//
// doc/strands.md, "Detection".

// Roots of a cubic that are reported at most: the 4 ends and 3 insides of its monotone parts.
enum { SS_CUBIC_ROOTS_MAX = 7 };

// *time: the first root at which the two centre lines are within reach. Points that are in one
// plane all the time, such as those of parallel segments that approach each other, have
// ss_swept_segments.
bool ss_coplanar_segments(const ss_vec3 x[4], const ss_vec3 moved[4], double reach, double *time);

// ---- swept

// when moving segments first come within reach (internal).
//
// Every vertex moves straight from x, at time 0, to `moved`, at time 1. The distance of two
// segments changes at most as fast as the fastest pair of their vertices, V; so from a time with
// distance D nothing comes within reach before (D - reach) / V has passed (Mirtich's conservative
// advancement). Unlike the roots of the coplanarity cubic this finds ends that pass each other,
// parallel segments and a motion that stops within reach, and the two lines are still apart then,
// so that the normal has its sign. The cubic is above.
//
// doc/strands.md, "Detection".

// x[0] x[1] is one segment, x[2] x[3] the other. *time: the first in [0, 1] at which their centre
// lines are within reach. False where they never are, or by less than a percent of reach (or than
// 1e-5 of the motion).
bool ss_swept_segments(const ss_vec3 x[4], const ss_vec3 moved[4], double reach, double *time);

// The speed V of two segments, in m per step.
double ss_swept_speed(const ss_vec3 x[4], const ss_vec3 moved[4]);

// Likewise for the segment x[0] x[1] and an obstacle that rests.
bool ss_swept_obstacle(const ss_obstacle *o, const ss_pose *pose, const ss_vec3 x[2],
                       const ss_vec3 moved[2], double reach, double *time);

static inline ss_vec3 ss_between(ss_vec3 x, ss_vec3 moved, double time)
{
    return ss_along(x, time, ss_minus(moved, x));
}

// ---- For tests

// c of the cubic V. Returned: how far rounding moves V in [0, 1], for the coordinates as they are.
double ss_coplanar_cubic(const ss_vec3 x[4], const ss_vec3 moved[4], double c[4]);

// The times in [0, 1], in order, at which c0 + c1 t + c2 t^2 + c3 t^3 changes its sign, and those
// of its extrema and ends where it is `rounding` at most; the number of them. A root may be there
// twice.
int ss_cubic_roots(const double c[4], double rounding, double roots[SS_CUBIC_ROOTS_MAX]);
