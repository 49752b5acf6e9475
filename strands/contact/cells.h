// strands/contact/cells.h -- which boxes overlap: the broad phase (internal).
//
// Space is cut into cubic cells, the smallest of a sequence of powers of two that hold the largest
// box, so that a box lies in at most eight. Cell (i, j, k) goes into bucket
//     (i p1 xor j p2 xor k p3) mod n,   p = 73856093, 19349663, 83492791      (Teschner 2003)
// In each bucket the boxes stand in the order of their lower ends along the axis on which they
// overlap least, so that a box is compared only with those whose shadows on it overlap its own. A
// pair that meets in several cells is reported by the one that holds the lower corner of the
// intersection of the two boxes.
#pragma once

#include "base/status.h"
#include "strands/buffer.h"
#include "strands/contact/collide.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct ss_box {
    double lo[3], hi[3]; // m
} ss_box;

typedef struct ss_pair {
    int a, b; // a < b
} ss_pair;

typedef struct ss_cells {
    ss_buffer sorted, swapped, slots, start, entries;
    int shift;    // a cell is 2^shift points of the lattice wide
    int nbuckets; // 0: fewer than two boxes
} ss_cells;

// The boxes go into their cells.
ss_status ss_cells_fill(ss_cells *c, const ss_box *boxes, int nboxes, ss_error *e);
// The pairs that part 0 .. nparts - 1 of the buckets holds, into `pairs`; their number in *npairs.
// All parts together have every pair of boxes that have a point in common, once, in no particular
// order, with perhaps some that come within 1e-9 of the extent of all. False without memory. Parts
// may be asked for at the same time, each with pairs of its own.
bool ss_cells_pairs(const ss_cells *c, int part, int nparts, ss_buffer *pairs, size_t *npairs);
void ss_cells_free(ss_cells *c);

// ---- segments

// the segments of polylines, and the boxes about them (internal).

typedef struct ss_segment {
    int strand, number; // of the segment in its strand
    int vertex;         // where it begins
} ss_segment;

// Whether a polyline that is not its strand's first begins at vertex v.
static inline bool ss_begins_branch(const ss_polylines *lines, int v)
{
    return lines->branch != NULL && lines->branch[v] >= 0;
}

// SS_BAD_INPUT for a vertex that is no place, or a radius or margin below 0. *largest: the largest
// coordinate.
ss_status ss_segments_check(const ss_polylines *lines, double margin, double *largest, ss_error *e);

size_t ss_segments_room(const ss_polylines *lines);                // at least as many as there are
int ss_segments_list(const ss_polylines *lines, ss_segment *list); // how many there are

// boxes [n]: two of them overlap where their segments come within both radii and the margin.
void ss_segments_boxes(const ss_polylines *lines, double margin, double largest,
                       const ss_segment *segments, int n, ss_box *boxes);
