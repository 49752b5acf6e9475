// tests/support/landing.h -- strands that meet a wall or the ground, for schemes with contacts. Included once by each
// file, after tests/support/one_stepper.h, whose world they are in.
#pragma once

#include "tests/support/one_stepper.h"

// Another empty world in place of what there is.
static inline void begin_again(void)
{
    tear_down();
    begin_world();
}

// Steps of dt by the scheme of a spec, never halved.
static inline void start_by(const char *scheme, double dt)
{
    options.dt = options.dt_min = dt;
    begin_scheme(scheme);
}

static inline void add_strand(const char *model, const ss_strand_design *design,
                              const ss_pose *root)
{
    ss_model_choice choice;
    int number;
    CHECK_OK(ss_model_parse(model, &choice, &error));
    CHECK_OK(ss_world_add_strand(world, &choice, design, 0, root, &number, &error));
    ss_model_choice_free(&choice);
}

// ---- One link: a rod that turns about its end, without a spring

#define PENDULUM_LENGTH 0.1 // m

// At `angle` to the vertical in the plane of x and y.
static inline void add_pendulum(double angle, double relaxation, double young)
{
    ss_strand_design design = {
        .length = PENDULUM_LENGTH, .material = ss_material_hair(), .nsegments = 1};
    const ss_vec3 along = ss_vec(sin(angle), -cos(angle), 0.0), side = ss_vec(0.0, 0.0, 1.0);
    const ss_pose root = {.turn = {{along, ss_cross(side, along), side}}};
    design.material.relaxation = relaxation;
    design.material.young *= young;
    add_strand("oriented-strands", &design, &root);
}

// A wall whose surface is the plane x = at and that keeps what is left of it; a body carries it that no root is on.
static inline void add_wall(double at, double mu, double restitution)
{
    const ss_vec3 x = ss_vec(-1.0, 0.0, 0.0), y = ss_vec(0.0, 1.0, 0.0);
    ss_obstacle wall = {.kind = SS_OBSTACLE_PLANE,
                        .pose = {{{y, ss_cross(x, y), x}}, {at, 0.0, 0.0}},
                        .mu = mu,
                        .restitution = restitution};
    const ss_motion still = ss_motion_still();
    CHECK_OK(ss_world_add_body(world, &still, &wall.body, &error));
    CHECK_OK(ss_world_add_obstacle(world, &wall, &error));
}

// A pendulum without weight and spring swings at 1 rad/s against a wall of restitution e: only the impact acts.
static inline void swing_against_wall(const char *scheme, double e)
{
    begin_again();
    world->gravity = ss_vec(0.0, 0.0, 0.0);
    add_pendulum(0.0, 0.0, 1e-12);
    add_wall(0.02, 0.3, e);
    world->now.v[0] = 1.0; // about x of the link, which is z of the world
    options.margin = 1e-3;
    start_by(scheme, 1e-3);
}

// ---- The ground

// Held level at its root, 3 cm above the ground.
static inline void add_falling_strand(void)
{
    const ss_strand_design design = {
        .length = 0.1, .material = ss_material_hair(), .nsegments = 10};
    const ss_pose root = pose_at(ss_vec(0.0, 0.03, 0.0), ss_vec(0.0, 0.0, 0.0));
    const ss_vec3 x = ss_vec(1.0, 0.0, 0.0), y = ss_vec(0.0, 1.0, 0.0);
    ss_obstacle floor = {
        .kind = SS_OBSTACLE_PLANE, .pose = {{{x, ss_cross(y, x), y}}, {0.0, 0.0, 0.0}}, .mu = 0.3};
    const ss_motion still = ss_motion_still();
    world->radius = 1e-3;
    add_strand("oriented-strands", &design, &root);
    CHECK_OK(ss_world_add_body(world, &still, &floor.body, &error));
    CHECK_OK(ss_world_add_obstacle(world, &floor, &error));
}
