// strands/scenes/head.c -- an ellipsoid, a neck and two shoulders.
#include "strands/scenes/head.h"

// Semi-axes of an adult's head in m.
#define HEAD_WIDTH  SS_HEAD_WIDTH
#define HEAD_HEIGHT SS_HEAD_HEIGHT
#define HEAD_DEPTH  0.095

#define NECK_RADIUS     0.050 // m
#define NECK_HALF       0.070
#define NECK_DOWN       0.160 // m from the head's centre to the middle of the neck
#define SHOULDER_RADIUS 0.055
#define SHOULDER_HALF   0.110
#define SHOULDER_DOWN   0.275
#define SHOULDER_SLOPE  0.2 // rad, they fall to both sides

// The capsule of this radius along `axis`.
static ss_status add_capsule(ss_world *w, ss_vec3 middle, ss_vec3 axis, double radius, double half,
                             double mu, ss_error *e)
{
    const ss_vec3 z = ss_unit(axis);
    const ss_vec3 x = ss_transported(ss_vec(0.0, 0.0, 1.0), z, ss_vec(1.0, 0.0, 0.0));
    const ss_obstacle capsule = {
        .kind = SS_OBSTACLE_CAPSULE,
        .size = {radius, radius, half},
        .pose = {{{x, ss_cross(z, x), z}}, middle},
        .mu = mu,
    };
    return ss_world_add_obstacle(w, &capsule, e);
}

static ss_status add_torso(ss_world *w, double mu, ss_error *e)
{
    ss_status status = add_capsule(w, ss_vec(0.0, -NECK_DOWN, 0.0), ss_vec(0.0, 1.0, 0.0),
                                   NECK_RADIUS, NECK_HALF, mu, e);
    for (int side = -1; side <= 1 && status == SS_OK; side += 2) {
        const double s = (double)side;
        const ss_vec3 middle = ss_vec(0.8 * s * SHOULDER_HALF, -SHOULDER_DOWN, 0.0);
        const ss_vec3 axis = ss_vec(s * cos(SHOULDER_SLOPE), -sin(SHOULDER_SLOPE), 0.0);
        status = add_capsule(w, middle, axis, SHOULDER_RADIUS, SHOULDER_HALF, mu, e);
    }
    return status;
}

ss_status ss_head_add(ss_world *w, const ss_motion *motion, double mu, int *body, ss_error *e)
{
    ss_status status = ss_world_add_body(w, motion, body, e);
    if (status == SS_OK) {
        const ss_obstacle head = {
            .kind = SS_OBSTACLE_ELLIPSOID,
            .size = {HEAD_WIDTH, HEAD_HEIGHT, HEAD_DEPTH},
            .pose = ss_pose_identity(),
            .body = *body,
            .mu = mu,
        };
        status = ss_world_add_obstacle(w, &head, e);
    }
    return status == SS_OK ? add_torso(w, mu, e) : status;
}

// The equator is (W sin a, 0, D cos a), and its normal (sin a / W, 0, cos a / D) is the horizontal
// part of all normals at this azimuth.
ss_scalp_place ss_head_scalp(double polar, double azimuth)
{
    const ss_vec3 side = ss_vec(sin(azimuth) / HEAD_WIDTH, 0.0, cos(azimuth) / HEAD_DEPTH);
    ss_scalp_place place = {.out = ss_unit(side), .reach = 1.0 / ss_length(side)};
    place.x = ss_vec(sin(polar) * sin(azimuth) * HEAD_WIDTH, cos(polar) * HEAD_HEIGHT,
                     sin(polar) * cos(azimuth) * HEAD_DEPTH);
    place.normal = ss_unit(ss_vec(place.x.x / (HEAD_WIDTH * HEAD_WIDTH),
                                  place.x.y / (HEAD_HEIGHT * HEAD_HEIGHT),
                                  place.x.z / (HEAD_DEPTH * HEAD_DEPTH)));
    place.fall = atan2(cos(polar) * place.reach, sin(polar) * HEAD_HEIGHT);
    return place;
}

ss_mat3 ss_head_falling(const ss_scalp_place *at, double angle)
{
    const ss_vec3 up = ss_vec(0.0, 1.0, 0.0);
    const ss_vec3 n0 = ss_along(ss_scaled(sin(angle), at->out), -cos(angle), up);
    const ss_vec3 n1 = ss_along(ss_scaled(cos(angle), at->out), sin(angle), up);
    return (ss_mat3){{n0, n1, ss_cross(n0, n1)}};
}
