// strands/contact/coplanar.h -- when the centre lines of moving segments cross (internal).
//
// Every vertex moves straight from x, at time 0, to `moved`, at time 1. With d and e along the two
// segments, r from the first's begin to the second's, and ' for their rates, the four points are in
// one plane at the roots of the cubic
//     V(t) = (d + d' t) x (e + e' t) . (r + r' t) = c0 + c1 t + c2 t^2 + c3 t^3.
// Segments whose lines cross are nearest, at distance 0, at a root. Ends that pass each other and a
// motion that stops within reach need not have one: swept.h finds these too.
//
// doc/strands.md, "Detection".
#pragma once

#include <stdbool.h>
#include "strands/geometry.h"

// Roots of a cubic that are reported at most: the 4 ends and 3 insides of its monotone parts.
enum { SS_CUBIC_ROOTS_MAX = 7 };

// c of the cubic V. Returned: how far rounding moves V in [0, 1], for the coordinates as they are.
double ss_coplanar_cubic(const ss_vec3 x[4], const ss_vec3 moved[4], double c[4]);

// The times in [0, 1], in order, at which c0 + c1 t + c2 t^2 + c3 t^3 changes its sign, and those of
// its extrema and ends where it is `rounding` at most; the number of them. A root may be there twice.
int ss_cubic_roots(const double c[4], double rounding, double roots[SS_CUBIC_ROOTS_MAX]);

// *time: the first root at which the two centre lines are within reach. Points that are in one
// plane all the time, such as those of parallel segments that approach each other, have
// ss_swept_segments.
bool ss_coplanar_segments(const ss_vec3 x[4], const ss_vec3 moved[4], double reach, double *time);
