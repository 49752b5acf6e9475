// strands/shape.h -- the shape that a design asks for (model.h), however it is given: as vertices
// with material frames, or as curvatures (internal).
//
// Curvatures give a curve of pieces of helix that begins at the origin along x, with n1 along y.
// Its vertices are equal steps of arclength apart, the frame of an edge is that in the middle of
// its arc, turned to its chord. Vertices are as given; the frame of edge j is the space-parallel
// one, d1 being carried from edge to edge by the smallest rotations, turned about the edge by
// theta_j. Curvatures of vertices are log(F_{i-1}' F_i) / l_i at vertex i, F the frames and l_i
// half the length of both edges, which hold from the middle of the one edge to that of the other.
#pragma once

#include "strands/model.h"

typedef enum ss_shape { SS_SHAPE_START, SS_SHAPE_NATURAL } ss_shape;

double ss_shape_length(const ss_strand_design *d); // m, of the start
// m, of the natural shape where it has vertices of its own; else the same. The mass is of this
// length.
double ss_shape_natural_length(const ss_strand_design *d);
int ss_shape_segments(const ss_strand_design *d); // of the collision polyline
// Returns the length that a clamp at the root holds of vertices, m: half of the first edge, in
// whose middle the free length begins, as that of models of vertices does. It is 0 for curvatures,
// and if nothing is clamped.
double ss_shape_held(const ss_strand_design *d, bool clamped);
// Place and material frame of the start behind that; the identity where curvatures are given.
ss_pose ss_shape_root(const ss_strand_design *d, bool clamped);

// x [n], n >= 2. Of vertices with another n than theirs: equal steps along them.
void ss_shape_vertices(const ss_strand_design *d, ss_shape which, int n, ss_vec3 *x);
// The frames of the n - 1 edges between these: columns tangent, m1, m2. Of a tree n is its own,
// here and above.
void ss_shape_frames(const ss_strand_design *d, ss_shape which, int n, const ss_vec3 *x,
                     ss_mat3 *frames);
// Means over n equal pieces of what is not held: of the start, and what the natural shape has more.
void ss_shape_curvatures(const ss_strand_design *d, bool clamped, int n, double (*style)[3],
                         double (*unrest)[3]);
