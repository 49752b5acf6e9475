// strands/scenes/props.h -- what several scenes use: a head, a ball, bundles of rods (internal).
#pragma once

#include "base/random.h"
#include "strands/scenes/scene.h"

#define SS_GOLDEN_ANGLE 2.399963229728653 // rad

// Returns the motion of a body that turns to and fro about an axis through the origin.
ss_motion ss_motion_swaying(ss_vec3 axis, double size, double period);

// Adds a strand of the request's model that a body carries.
ss_status ss_scene_add_strand(const ss_scene_request *request, const ss_strand_design *design,
                              int body, const ss_pose *root, ss_world *w, ss_error *e);

// ---- A head, with neck and shoulders
//
// The head is an ellipsoid about the origin that a motion carries; y is up and z where the face is.
// Neck and shoulders are capsules that rest.

// kg/(m s), of a hair against the air: it is slowed in a third of a second.
#define SS_HEAD_DRAG 3e-5

// m, from the middle to an ear and to the crown.
#define SS_HEAD_WIDTH  0.075
#define SS_HEAD_HEIGHT 0.110

// Adds the head, and the body that carries it and all its hair. mu: of strands against all of it.
ss_status ss_head_add(ss_world *w, const ss_motion *motion, double mu, int *body, ss_error *e);

// A place on the scalp: azimuth 0 is the face, pi/2 the ear at +x, pi the back; polar 0 is the
// crown and pi/2 the ellipsoid's equator. Both are those of the sphere that the ellipsoid
// stretches.
typedef struct ss_scalp_place {
    ss_vec3 x, normal; // m
    ss_vec3 out;       // horizontal, away from the head, in a plane with normal and vertical
    double reach;      // m that the head extends in this direction
    double fall;       // rad between the vertical and the way down the scalp: 0 at the equator
} ss_scalp_place;

ss_scalp_place ss_head_scalp(double polar, double azimuth);

// Returns a frame whose tangent falls away from the head, `angle` off the vertical, and whose n1 is
// above the tangent.
ss_mat3 ss_head_falling(const ss_scalp_place *at, double angle);

// ---- A ball about the origin that turns about the vertical

// Adds the ball, and the body that carries it and all that is clamped to it. angle: rad over time.
// mu: of strands against the ball.
ss_status ss_ball_add(ss_world *w, double radius, const ss_profile *angle, double mu, int *body,
                      ss_error *e);

// ---- Bundles: wisps and ponytails, many rods around one centre line
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

typedef struct ss_bundle {
    int rods; // 0 or more; a layer may have fewer strands than places
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

// Returns a bound of how far rods are from the centre line of the bundle, along n1 or n2, in m.
double ss_bundle_reach(const ss_bundle *bundle, int axis);
// Finds the same by looking at every place: along n1 and n2.
ss_status ss_bundle_extent(const ss_bundle *bundle, double extent[2], ss_error *e);

// Returns the least number of segments whose chords stay within half the collision radius of arcs
// of this curvature: (length / K)^2 |curvature| / 8 < radius / 2.
int ss_bundle_segments(double length, double curvature, double radius);
