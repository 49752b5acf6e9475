// strands/contact/overlap.h -- what keeps segments from where a step would leave them overlapping (internal).
//
// Every vertex moves straight from x, at time 0, to `moved`, at time 1. Two segments overlap at the end where their
// centre lines come within the sum of radii there; or one has passed the other, where it ends on the other side of
// the place at which they first came within it. With n, from b to a, and abscissae of such a place,
//
//     n . (x_a - x_b)(end) - radii >= min(0, gap of the start)
//
// is what the step must hold there. The points move straight, so that this is a bound on their velocity along n,
// from their distance along n at the start: gap + ahead of the touch, gap being the right side of the bound.
//
// n is that of the end, on the side from which the segments came, or of their first touch where it leans from that by
// more than 30 degrees; abscissae are those of the nearest points and, where the segments are so nearly parallel that
// they overlap along all of their common part, of its two ends.
//
// doc/strands.md, "Looks".
#pragma once

#include "strands/contact/collide.h"

enum { SS_OVERLAPS_MOST = 3 };

// x[0] x[1] is one segment, x[2] x[3] the other. Fills a, b, n, y, gap and ahead of the places, and returns their
// number: 0 where they end on their side and overlap by no more than the slack says.
int ss_overlap_segments(const ss_vec3 x[4], const ss_vec3 moved[4], double radii, ss_slack slack,
                        ss_touch t[SS_OVERLAPS_MOST]);

// Likewise for the segment x[0] x[1] and an obstacle that rests, with its point and its normal.
bool ss_overlap_obstacle(const ss_obstacle *o, const ss_pose *pose, const ss_vec3 x[2],
                         const ss_vec3 moved[2], double radius, ss_slack slack, ss_touch *t);
