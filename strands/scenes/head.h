// strands/scenes/head.h -- the head of the hair scenes, with neck and shoulders.
//
// An ellipsoid about the origin that a motion carries; y is up and z where the face is. Neck and
// shoulders are capsules that rest.
#pragma once

#include "strands/world.h"

// kg/(m s), of a hair against the air: it is slowed in a third of a second.
#define SS_HEAD_DRAG 3e-5

// m, from the middle to an ear and to the crown.
#define SS_HEAD_WIDTH  0.075
#define SS_HEAD_HEIGHT 0.110

// The body that carries the head and all its hair. mu: of strands against all of it.
ss_status ss_head_add(ss_world *w, const ss_motion *motion, double mu, int *body, ss_error *e);

// A place on the scalp: azimuth 0 is the face, pi/2 the ear at +x, pi the back; polar 0 is the
// crown and pi/2 the ellipsoid's equator. Both are those of the sphere that the ellipsoid
// stretches.
typedef struct ss_scalp_place {
    ss_vec3 x, normal; // m
    ss_vec3 out;  // horizontal, away from the head: the normal is in its plane with the vertical
    double reach; // m that the head extends in this direction
    double fall;  // rad between the vertical and the way down the scalp: 0 at the equator
} ss_scalp_place;

ss_scalp_place ss_head_scalp(double polar, double azimuth);

// A frame whose tangent falls away from the head, `angle` off the vertical, and whose n1 is above
// the tangent.
ss_mat3 ss_head_falling(const ss_scalp_place *at, double angle);
