// strands/contact/swept.h -- when moving segments first come within reach (internal).
//
// Every vertex moves straight from x, at time 0, to `moved`, at time 1. The distance of two
// segments changes at most as fast as the fastest pair of their vertices, V; so from a time with
// distance D nothing comes within reach before (D - reach) / V has passed (Mirtich's conservative
// advancement). Unlike the roots of the coplanarity cubic this finds ends that pass each other,
// parallel segments and a motion that stops within reach, and the two lines are still apart then,
// so that the normal has its sign. coplanar.h has the cubic.
//
// doc/strands.md, "Detection".
#pragma once

#include <stdbool.h>
#include "strands/contact/obstacle.h"

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
