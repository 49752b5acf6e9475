// tests/support/thesis_world.h -- worlds of rods that the scheme thesis steps, and the judge's error of a step.
// Included once by each file.
#pragma once

#include <stdlib.h>
#include <string.h>

#include "problems/response.h"
#include "strands/models/der.h"
#include "tests/support/one_stepper.h"

static double dt; // s, of all steps

static inline void begin_again(void)
{
    begin_world();
    world->radius = 5e-4;
    options.explosion = options.reach = 0.0;
    options.dt = options.dt_min = dt;
}

static inline void set_up(void)
{
    dt = 1e-3;
    begin_again();
}

static inline void again(void)
{
    tear_down();
    begin_again();
}

// A straight rod of 0.1 m that begins at `place` and points to `turn` from x, with lengths a hundred
// times softer than those of hair, as in the scenes of [J20].
static inline int rod(const char *model, ss_vec3 place, ss_vec3 turn, ss_clamp clamp)
{
    ss_strand_design design = {
        .length = 0.1, .material = ss_material_hair(), .nsegments = 9, .clamp = clamp};
    design.material.stretch = 0.01;
    design.material.relaxation = 0.0;
    const ss_pose root = pose_at(place, turn);
    ss_model_choice choice;
    int number = -1;
    CHECK_OK(ss_model_parse(model, &choice, &error));
    CHECK_OK(ss_world_add_strand(world, &choice, &design, 0, &root, &number, &error));
    ss_model_choice_free(&choice);
    return number;
}

// Every vertex of strand k gets this velocity.
static inline void throw(int k, ss_vec3 v)
{
    const ss_strand *s = &world->strands[k];
    for (int i = 0; i < s->size.npoints; i++) {
        double *at = world->now.v + s->v + SS_DER_STRIDE * i;
        at[0] = v.x;
        at[1] = v.y;
        at[2] = v.z;
    }
}

// Three rods along x that are clamped at both ends, and five across them that fall on them and are held at
// one end; 1 mm between the axes, which is where they touch.
static inline void lattice(const char *model, double relaxation)
{
    const ss_vec3 along = {0.0, 0.0, 0.0}, across = {0.0, 0.5 * M_PI, 0.0};
    for (int k = 0; k < 3; k++) {
        rod(model, ss_vec(0.0, 0.0, -0.03 - 0.01 * k), along, SS_CLAMP_BOTH);
    }
    for (int k = 0; k < 5; k++) {
        rod(model, ss_vec(0.03 + 0.011 * k, 1.2e-3 + 1e-5 * k, -0.002 * k), across, SS_CLAMP_ROOT);
    }
    for (int k = 0; k < world->nstrands; k++) {
        ((ss_der *)world->strands[k].self)->relaxation = relaxation;
    }
}

// Curls of two sizes and bendings, clamped at no end, one or both, in the air; some touch. Without internal
// damping alike ones go side by side, with the least of it each goes alone.
static inline void mixed_strands(bool alone, double stretch)
{
    const ss_clamp clamps[] = {SS_CLAMP_ROOT, SS_CLAMP_NONE, SS_CLAMP_BOTH};
    for (int k = 0; k < 36; k++) {
        const double style[3][3] = {{3.0, 20.0 + k, -9.0}, {-2.0, 5.0, 15.0}, {1.0, -4.0, 6.0}};
        ss_strand_design design = {.length = 0.1,
                                   .material = ss_material_hair(),
                                   .npieces = 3,
                                   .style = style,
                                   .nsegments = k < 24 ? 9 : 6,
                                   .clamp = clamps[k / 12]};
        design.material.stretch = stretch;
        design.material.relaxation = alone ? 1e-30 : 0.0;
        const ss_pose root =
            pose_at(ss_vec(0.0, 1.01e-3 * (k % 12), 0.01 * (k % 5)), ss_vec(0.0, 0.3 * k, 0.0));
        ss_model_choice choice;
        int number = -1;
        CHECK_OK(ss_model_parse(k % 12 < 6 ? "der" : "der:bending=two-frame", &choice, &error));
        CHECK_OK(ss_world_add_strand(world, &choice, &design, 0, &root, &number, &error));
        ss_model_choice_free(&choice);
    }
    world->drag = 1e-4;
}

static inline double judged(double *normal)
{
    const double *r, *v;
    const ss_problem *p = ss_stepper_problem(stepper, &r, &v);
    ss_response *response;
    double *u = malloc(3 * (size_t)p->ncontacts * sizeof *u);
    CHECK_OK(ss_response_new(p, &response, &error));
    const ss_measures m = ss_response_judge(response, r, u);
    ss_response_free(response);
    free(u);
    if (normal != NULL) {
        *normal = m.normal;
    }
    return m.fb;
}
