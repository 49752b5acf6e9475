// strands/models/polyline.h -- models whose dofs hold the vertices of their polyline share this
// (internal). n is the number of edges.
#pragma once

#include "strands/model.h"

// Finds the number of edges for a design: as many vertices as the settings ask for, or its own
// segments (0). SS_BAD_INPUT for a design that is none, and for fewer edges than `least`, or
// `least_both` between two clamps.
ss_status ss_polyline_edges(const char *model, const ss_strand_design *design, int vertices,
                            int least, int least_both, int *n, ss_error *e);

// False if an edge is too short to be more than rounding: the strand closes between two vertices.
bool ss_polyline_has_edges(int n, const double *edge, double length);
// Finds the share of the whole that each edge has.
void ss_polyline_shares(int n, const double *edge, double *share);

// Finds the inverses of the lengths by which differences are divided: 1 / edge, and 2 / (sum of
// both edges) of joint j, between the edges j - 1 and j; 0 of joint 0, which does not exist.
void ss_polyline_inverses(int n, const double *edge, double *inverse_edge, double *inverse_length);

// Adds the dofs first .. first + count - 1 to the list.
void ss_polyline_hold(int *held, int *nheld, int first, int count);

// Returns the size of a strand of n edges with nv dofs, whose vertices are its points and its
// samples. q has nv numbers, too.
ss_strand_size ss_polyline_size(int n, int nv, int half_bandwidth, const int *held, int nheld);

// Gives the edges of a start the natural lengths edge [n]. If a shape is given by curvatures, its
// chords are shorter than their arcs by (curvature l)^2 / 24; two shapes of one strand differ in
// that, and the strand would begin compressed by a force of EA times as much, which buckles hair.
void ss_polyline_take_lengths(int n, const double *edge, ss_vec3 *x);

// Puts half of each edge at its ends, as parts of a whole; share [n] sums to 1.
void ss_polyline_halves(int n, const double *share, double whole, double *part);
// Puts length and mass likewise; share [n] is the share of both that an edge has.
void ss_polyline_lumps(int n, const double *share, double length, double line_density, double *mass,
                       double *lengths);

// Places points and samples at the vertices: vertex i is at q + place i, and its three dofs begin
// at dofs i.
void ss_polyline_place(int n, const double *q, int place, int dofs, ss_strand_point *points,
                       ss_strand_point *samples);
