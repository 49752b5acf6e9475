// strands/contact/segments.h -- the segments of polylines, and the boxes about them (internal).
#pragma once

#include <stddef.h>

#include "strands/contact/cells.h"
#include "strands/contact/collide.h"

typedef struct ss_segment {
    int strand, number; // of the segment in its strand
    int vertex;         // where it begins
} ss_segment;

// Whether a polyline that is not its strand's first begins at vertex v.
static inline bool ss_begins_branch(const ss_polylines *lines, int v)
{
    return lines->branch != NULL && lines->branch[v] >= 0;
}

// SS_BAD_INPUT for a vertex that is no place, or a radius or margin below 0. *largest: the largest coordinate.
ss_status ss_segments_check(const ss_polylines *lines, double margin, double *largest, ss_error *e);

size_t ss_segments_room(const ss_polylines *lines);                // at least as many as there are
int ss_segments_list(const ss_polylines *lines, ss_segment *list); // how many there are

// boxes [n]: two of them overlap where their segments come within both radii and the margin.
void ss_segments_boxes(const ss_polylines *lines, double margin, double largest,
                       const ss_segment *segments, int n, ss_box *boxes);
