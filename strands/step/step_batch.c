// strands/step/step_batch.c -- one try of a step whose strands are stepped side by side.
#include "strands/schemes/schemes.h"
#include "strands/step/stepper.h"

// Whether a model's batch takes the strands of a world (batch.h).
static bool is_batch(const ss_world *w)
{
    const ss_strand *one = &w->strands[0];
    bool alike = w->nstrands > 1 && w->nwinds == 0 && one->model->batch != NULL;
    for (int k = 0; alike && k < w->nstrands; k++) {
        const ss_strand *s = &w->strands[k];
        alike = s->model == one->model && s->body == one->body &&
                ss_dot(s->pull_root, s->pull_root) == 0.0 &&
                ss_dot(s->pull_tip, s->pull_tip) == 0.0 &&
                one->model->batch->alike(one->self, s->self);
    }
    return alike;
}

ss_status ss_step_batch_new(ss_stepper *s, ss_error *e)
{
    s->batch = NULL;
    if (s->options.contacts || s->scheme != &ss_scheme_linear || !is_batch(s->world)) {
        return SS_OK;
    }
    const ss_batch_model *batch = s->world->strands[0].model->batch;
    const int threads = s->options.threads > 1 ? s->options.threads : 1;
    const ss_status status = batch->make(s->world, threads, &s->members, e);
    if (status == SS_OK) {
        s->batch = batch;
    }
    return status;
}

void ss_step_batch_try(ss_stepper *s, double h, ss_step_report *report, ss_step_reason *reason)
{
    const ss_world *w = s->world;
    const ss_motion *body = &w->bodies[w->strands[0].body];
    ss_motion_state from, to;
    ss_batch_report end;
    s->trial.time = w->now.time + h;
    ss_motion_at(body, w->now.time, &from);
    ss_motion_at(body, s->trial.time, &to);
    s->batch->step(s->members, w, &from, &to, h, &s->trial, &end);
    report->time = s->trial.time;
    report->dt = h;
    report->iterates = 1;
    report->energy = end.to.energy;
    report->length = end.length;
    report->max_speed = end.speed;
    *reason =
        ss_step_batch_exploded(w, &s->options, &from, &to, &end) ? SS_STEP_EXPLOSION : SS_STEP_DONE;
}

void ss_step_batch_accept(ss_stepper *s)
{
    const ss_world_state behind = s->world->now;
    s->world->now = s->trial;
    s->trial = behind;
}
