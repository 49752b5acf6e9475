// problems/strands/models/polyline.h -- what the models share whose dofs hold the vertices of their polyline
// (internal). n is the number of edges.
#pragma once

#include "problems/strands/model.h"

// SS_BAD_INPUT for fewer edges than `least`, which a clamp asks for.
ss_status ss_polyline_check(const char *model, int n, int least, ss_clamp clamp, ss_error *e);

// Edges of a start get the natural lengths edge [n]. Where a shape is given by curvatures, its chords are
// shorter than their arcs by (curvature l)^2 / 24; two shapes of one strand differ in that, and the strand
// would begin compressed by a force of EA times as much, which buckles hair.
void ss_polyline_take_lengths(int n, const double *edge, ss_vec3 *x);

// Half of each edge at its ends, as parts of a whole; share [n] sums to 1.
void ss_polyline_halves(int n, const double *share, double whole, double *part);
// Likewise of length and mass; share [n] is that of both that an edge has.
void ss_polyline_lumps(int n, const double *share, double length, double line_density, double *mass,
                       double *lengths);

// Vertex i is at q + place i, and its three dofs begin at dofs i.
void ss_polyline_place(int n, const double *q, int place, int dofs, ss_strand_point *points,
                       ss_strand_point *samples);
