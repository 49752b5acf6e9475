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
