// tests/support/strand_run.h -- a world with one strand that nothing touches, and its steps.
#pragma once

#include "problems/strands/step/step.h"
#include "problems/strands/step/system.h"
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
