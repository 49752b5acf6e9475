// strands/scenes/bundle.h -- wisps and ponytails: many rods around one centre line.
//
// The rods cross the root's plane at the places (y, z) along (n1, n2) of a hexagonal lattice, those
// nearest to the centre, and no two of them come nearer anywhere than there:
//
// A planar centre line turns about n2 with curvature `bend` over the first `bent` of `pieces` equal
// pieces and with `tail` over the rest. The rod at (y, z) is its parallel curve: it turns by the
// same angles, so that curvature kappa -> kappa / (1 - y kappa) and length -> length (1 - y bend).
// All pieces of a rod are equal again; those of the tail are longer or shorter than the centre's,
// which shows at the tips only. With more than these two curvatures the pieces of a parallel curve
// are unequal, and a model with equal elements could not follow it.
//
// A helical centre line has `twist` about n0 and `bend` about n2 everywhere. Its rods are copies,
// moved across the axis of the helix: copies at the distance d of a curve whose tangents make the
// angle psi with the axis come as near as d cos psi, so that the lattice is spacing / cos psi wide.
#pragma once

#include "base/random.h"
#include "strands/world.h"

typedef struct ss_bundle {
    int rods;
    ss_material material;
    double length;  // m, of the centre line
    int pieces;     // 1 .. SS_BUNDLE_PIECES
    int bent;       // pieces of curvature `bend`; all of them with a twist
    double bend;    // 1/m
    double tail;    // 1/m
    double twist;   // 1/m; 0: planar
    double flat;    // times wider along n2 than along n1; 1: round
    double spacing; // m between the centre lines of neighbours
    double jitter;  // share of the spacing by which two neighbours may be nearer than that
    double unrest;  // 1/m: standard deviation of what each piece's natural curvatures differ by
    double gather;  // 1/m: natural curvature of the outermost rods towards the centre line
    int nsegments;
    ss_clamp clamp; // of every rod
} ss_bundle;

#define SS_BUNDLE_PIECES 16

// Adds the rods to the world, their roots in the plane of n1 and n2 of `root`. SS_BAD_INPUT where
// the bundle is wider than its bend.
ss_status ss_bundle_add(ss_world *w, const ss_model_choice *model, const ss_bundle *bundle,
                        int body, const ss_pose *root, ss_random *g, ss_error *e);

// No rod's centre line is farther than this from that of the bundle: along n1 or n2, in m.
double ss_bundle_reach(const ss_bundle *bundle, int axis);
// The same by looking at every place: along n1 and n2.
ss_status ss_bundle_extent(const ss_bundle *bundle, double extent[2], ss_error *e);

// The least number of segments whose chords stay within half the collision radius of arcs of this
// curvature: (length / K)^2 |curvature| / 8 < radius / 2.
int ss_bundle_segments(double length, double curvature, double radius);
