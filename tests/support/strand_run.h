// tests/support/strand_run.h -- a world with one strand that nothing touches, and its steps.
#pragma once

#include "strands/step/step.h"
#include "strands/system.h"
#include "tests/support/support.h"

typedef struct run {
    ss_world *w;
    ss_stepper *s;
    ss_step_report report;
} run;

static inline void free_run(run *r)
{
    ss_stepper_free(r->s);
    ss_world_free(r->w);
}

// A strand of `model` stepped by `scheme` in steps of dt, halved down to dt_min.
static inline run new_run_down_to(const char *model, const char *scheme,
                                  const ss_strand_design *design, const ss_pose *root,
                                  ss_vec3 gravity, double dt, double dt_min)
{
    ss_model_choice choice;
    ss_scheme_choice steps;
    ss_step_options options = ss_step_defaults();
    run r = {.w = ss_world_new()};
    ss_error error;
    int number;
    r.w->gravity = gravity;
    CHECK_OK(ss_model_parse(model, &choice, &error));
    CHECK_OK(ss_world_add_strand(r.w, &choice, design, 0, root, &number, &error));
    CHECK_OK(ss_scheme_parse(scheme, &steps, &error));
    options.scheme = &steps;
    options.contacts = false;
    options.dt = dt;
    options.dt_min = dt_min;
    r.s = ss_stepper_new(r.w, &options, (ss_step_solver){.solve = NULL}, &error);
    CHECK(r.s != NULL);
    ss_model_choice_free(&choice);
    ss_scheme_choice_free(&steps);
    return r;
}

static inline run new_run(const char *model, const char *scheme, const ss_strand_design *design,
                          const ss_pose *root, ss_vec3 gravity, double dt)
{
    return new_run_down_to(model, scheme, design, root, gravity, dt, dt);
}

static inline void go_to(run *r, double time)
{
    ss_error error;
    while (r->w->now.time < time - 1e-9) {
        CHECK_OK(ss_stepper_step(r->s, &r->report, &error));
    }
}

// The last point of the polyline.
static inline ss_vec3 tip_of(const run *r)
{
    const ss_strand *s = &r->w->strands[0];
    ss_placed at;
    CHECK(ss_placed_init(&at, &s->size));
    ss_strand_place(r->w, 0, &r->w->now, &at);
    const ss_vec3 tip = at.points[s->size.npoints - 1].x;
    ss_placed_free(&at);
    return tip;
}

// Straight and level, n edges, `length` from the middle of the first to the tip: that is at the origin.
static inline run level_rod(const char *model, const char *scheme, int n, double length,
                            double relaxation, ss_vec3 gravity, double dt)
{
    const double l = length / (n - 0.5);
    ss_strand_design design = {.length = n * l, .material = ss_material_hair(), .nsegments = n};
    ss_pose root = ss_pose_identity();
    root.place.x = -0.5 * l;
    design.material.relaxation = relaxation;
    return new_run(model, scheme, &design, &root, gravity, dt);
}

static inline double energy_of(const run *r)
{
    const ss_energy *e = &r->report.energy;
    return e->kinetic + e->elastic + e->potential;
}

// What a rod without damping, let go level, has lost 0.1 s later. It begins with no energy, as its
// weight does not yet hang below it.
static inline double energy_lost(const char *model, const char *scheme, int n, double length,
                                 double dt)
{
    run r = level_rod(model, scheme, n, length, 0.0, ss_vec(0.0, -9.81, 0.0), dt);
    go_to(&r, 0.1);
    const double gone = -energy_of(&r);
    free_run(&r);
    return gone;
}
