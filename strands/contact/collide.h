// strands/contact/collide.h -- which segments of which strands touch what.
//
// Every strand is a polyline of cylinders of one radius. A touch is a pair of segments, or a
// segment and an obstacle, whose gap = distance - (sum of radii) is below the margin. A touch whose
// abscissa is 1 on a segment that is not its polyline's last belongs to the next segment. A segment
// has the number of its first vertex in its strand. Nearly parallel segments (sin^2 < 1e-4) touch
// at the middle of their overlap.
//
// These never touch: segments of one strand that share a vertex; the first segments of two strands
// whose roots are held, for hairs are planted closer than they are thick; and what is held by a
// body inside an obstacle of this body, as roots are inside a head, for no impulse gets it out:
// such a vertex, and segments that end in it.
//
// Planes are touched by vertices: over a segment the distance from a plane is least at its ends,
// and keeping these outside keeps all of it outside, however it is turned within the step.
//
// Broad phase: a hash of space with cells that hold the longest cylinder's box (Teschner 2003).
//
// doc/strands.md, "Detection".
#pragma once

#include "base/status.h"
#include "base/team.h"
#include "strands/geometry.h"
#include "strands/contact/obstacle.h"

#include <stddef.h>
#include <stdbool.h>

// ---- overlap

// what keeps segments from where a step would leave them overlapping (internal).
//
// Every vertex moves straight from x, at time 0, to `moved`, at time 1. Two segments overlap at the
// end where their centre lines come within the sum of radii there; or one has passed the other,
// where it ends on the other side of the place at which they first came within it. With n, from b
// to a, and abscissae of such a place,
//
//     n . (x_a - x_b)(end) - radii >= min(0, gap of the start)
//
// is what the step must hold there. The points move straight, so that this is a bound on their
// velocity along n, from their distance along n at the start: gap + ahead of the touch, gap being
// the right side of the bound.
//
// n is that of the end, on the side from which the segments came, or of their first touch where it
// leans from that by more than 30 degrees; abscissae are those of the nearest points and, where the
// segments are so nearly parallel that they overlap along all of their common part, of its two
// ends.
//
// doc/strands.md, "Looks".

enum { SS_OVERLAPS_MOST = 3 };

// Touches are sorted by (strand_a, segment_a, strand_b, segment_b), a before b where both are
// strands; a pair of segments has one, but of places that overlap up to three. strand_b is -1 for
// an obstacle, and segment_b then its number.
typedef struct ss_touch {
    int strand_a, segment_a;
    int strand_b, segment_b;
    double a, b; // abscissae in [0, 1]; b is 0 on an obstacle
    ss_vec3 n;   // unit, from b to a
    ss_vec3 y;   // the obstacle's point, or the one of b's centre line
    double gap;  // m
    // m: how much farther apart the points are along n when the step begins than gap says; 0 except
    // for places that are to be kept from overlapping at its end
    double ahead;
} ss_touch;

// Overlap that a step may leave: so many m, or all but a share of the overlap when it began.
typedef struct ss_slack {
    double overlap, taken_back;
} ss_slack;

typedef struct ss_polylines {
    int nstrands;
    const int *first; // [nstrands + 1] into x: vertices of strand k are first[k] .. first[k+1]-1
    const ss_vec3 *x; // m
    const ss_vec3 *moved; // the same vertices at the end of the step, for swept tests; NULL without
    double radius;        // m
    const int *holder;    // [vertices] the body that holds each, or -1; NULL: nothing is held
    const int *branch; // [vertices] of a strand with several polylines: at the first vertex of each
        // but its first, the vertex that it branches from; -1 else. NULL: no branches
    // with `moved`: two segments meet where their axes cross, not where they come near
    bool coplanar;
    bool exact;     // nearly parallel segments touch where they are nearest, not in the middle
    bool overlaps;  // with `moved`: touches are the places that keep segments apart, and no others
    ss_slack slack; // for `overlaps`
    bool vertices;  // all obstacles are touched by vertices: a is 0, or 1 at the end of a polyline
} ss_polylines;

typedef struct ss_collider ss_collider; // memory that is kept from step to step

// team (team.h): the caller's, whose threads share a search; NULL: one thread. The touches are the
// same. NULL without memory.
ss_collider *ss_collider_new(ss_team *team);
void ss_collider_free(ss_collider *c);

// touches: owned by the collider, until its next call. poses: of the obstacles in the world. With
// lines->moved, pairs whose centre lines come within the sum of radii anywhere during the straight
// motion from x to moved are found too (continuous detection). a, b and n of these are as at the
// first such time, y is at x, and gap is that between the points at x, measured along n: what may
// close during the step. Where centre lines cross (lines->coplanar), n is orthogonal to both,
// towards the side where a begins. Obstacles rest at `poses` meanwhile. SS_BAD_INPUT for a vertex
// that is not finite, or a radius or margin below 0.
ss_status ss_collide(ss_collider *c, const ss_polylines *lines, const ss_obstacle *obstacles,
                     const ss_pose *poses, int nobstacles, double margin, const ss_touch **touches,
                     int *count, ss_error *e);

// How deep vertices and segments overlapped in the last search, whatever touched: the deepest of
// all, against all obstacles and all segments of all strands, m; 0 where none did. NaN after a
// search with `moved`, or one that failed. Three kinds of overlap do not count. What is held where
// it overlaps is where its scripts put it. Segments of one polyline whose nearest points are less
// than pi radii apart along it are near each other in any bend of one radius, and so are segments
// of one strand that share a vertex.
double ss_collider_depth(const ss_collider *c);

// Closest points of the segments x0 x1 and y0 y1: abscissae and distance. Nearly parallel ones: the
// middle of the overlap.
double ss_segments_nearest(ss_vec3 x0, ss_vec3 x1, ss_vec3 y0, ss_vec3 y1, double *a, double *b);

// ---- For tests

// x[0] x[1] is one segment, x[2] x[3] the other. Fills a, b, n, y, gap and ahead of the places, and
// returns their number: 0 where they end on their side and overlap by no more than the slack says.
int ss_overlap_segments(const ss_vec3 x[4], const ss_vec3 moved[4], double radii, ss_slack slack,
                        ss_touch t[SS_OVERLAPS_MOST]);

// Likewise for the segment x[0] x[1] and an obstacle that rests, with its point and its normal.
bool ss_overlap_obstacle(const ss_obstacle *o, const ss_pose *pose, const ss_vec3 x[2],
                         const ss_vec3 moved[2], double radius, ss_slack slack, ss_touch *t);
