// linear: one linearised step about its start, by the theta scheme (system.h).
#include "strands/schemes/schemes.h"
#include "strands/step/stepper.h"

#include <math.h>
#include <stdlib.h>

// ---- The scheme projection
//
// projection: explicit forces, and a method of the model that keeps lengths (model.h).
//
//     M0 v = M0 v_n + h F(q_n, v_n),   v <- project(q_n, v),   contacts,   q = q_n (+) h v
//
// Of an elastic model M holds neither C nor K, and damping is left out: a step is no longer than
// its bending allows, h < (l^2/2) sqrt(rhoA/EI) for a rod.

static ss_status projection_make(ss_stepper *s, const void *settings, void **own, ss_error *e)
{
    const ss_world *w = s->world;
    (void)settings;
    *own = NULL;
    for (int k = 0; k < w->nstrands; k++) {
        if (w->strands[k].model->project == NULL) {
            return ss_fail(
                e, SS_BAD_INPUT,
                "strands of the model %s have no method that keeps their length, which the "
                "scheme projection asks for: take another scheme",
                w->strands[k].model->name);
        }
    }
    return SS_OK;
}

static ss_status projection_step(ss_stepper *s, void *own, double h, ss_step_report *report,
                                 ss_step_reason *reason, ss_error *e)
{
    (void)own;
    ss_iterate it = ss_iterate_first(&s->world->now, h);
    it.particles = true;
    return ss_step_once(s, &it, NULL, h, report, reason, e);
}

const ss_scheme ss_scheme_projection = {
    .name = "projection",
    .summary = "explicit forces, lengths kept by the model's own method",
    .reference = "D11, G07",
    .projects = true,
    .make = projection_make,
    .step = projection_step,
};

// ---- The scheme linear

typedef struct settings {
    double theta; // 1/2 .. 1; 1: backward Euler
    int stiffness;
} settings;

static const settings DEFAULTS = {.theta = 1.0, .stiffness = SS_STIFFNESS_OWN};
static const ss_key KEYS[] = {
    SS_REAL_KEY("theta", theta, 0.5, 1.0),
    SS_CHOICE_KEY("stiffness", stiffness, ss_stiffness_names),
    {.name = NULL},
};

typedef struct linear {
    settings set;
    double *known, *ahead, *offset; // [nv] of theta < 1 (system.h), in one array; else NULL
} linear;

static void linear_free(void *own)
{
    linear *l = own;
    if (l != NULL) {
        free(l->known);
        free(l);
    }
}

// A method that projects says where q goes with the velocity at the end of the step.
static ss_status check_theta(const ss_world *w, double theta, ss_error *e)
{
    for (int k = 0; theta != 1.0 && k < w->nstrands; k++) {
        if (w->strands[k].model->project != NULL && w->strands[k].model->energy == NULL) {
            return ss_fail(e, SS_BAD_INPUT, "theta is %g; strands of the model %s take 1 only",
                           theta, w->strands[k].model->name);
        }
    }
    return SS_OK;
}

static ss_status linear_make(ss_stepper *s, const void *settings_, void **own, ss_error *e)
{
    const settings *set = settings_;
    const ss_status status = check_theta(s->world, set->theta, e);
    *own = NULL;
    if (status != SS_OK) {
        return status;
    }
    linear *l = malloc(sizeof *l);
    if (l == NULL) {
        return ss_fail_memory(e, "the scheme of a world");
    }
    *l = (linear){.set = *set};
    if (set->theta < 1.0) {
        const size_t n = (size_t)s->world->nv;
        l->known = malloc((3 * n + 1) * sizeof *l->known);
        if (l->known == NULL) {
            linear_free(l);
            return ss_fail_memory(e, "the scheme of a world");
        }
        l->ahead = l->known + n;
        l->offset = l->ahead + n;
    }
    *own = l;
    return SS_OK;
}

// Finds the part of the step that its start alone decides.
static void find_known(ss_stepper *s, const linear *l)
{
    const ss_world *w = s->world;
    const double rest = 1.0 - l->set.theta;
    for (int k = 0; k < w->nstrands; k++) {
        const ss_placed at = ss_snapshot_strand(&s->here, w, k);
        ss_strand_forces(w, k, &w->now, &at, s->systems.rooms[0].scratch,
                         l->known + w->strands[k].v);
    }
    for (int j = 0; j < w->nv; j++) {
        l->known[j] *= rest;
        l->offset[j] = rest * w->now.v[j];
        l->ahead[j] = -l->offset[j];
    }
}

static ss_status linear_step(ss_stepper *s, void *own, double h, ss_step_report *report,
                             ss_step_reason *reason, ss_error *e)
{
    const linear *l = own;
    ss_iterate it = ss_iterate_first(&s->world->now, h);
    it.share = it.way = l->set.theta;
    it.kind = (ss_stiffness)l->set.stiffness;
    if (l->set.theta < 1.0) {
        find_known(s, l);
        it.known = l->known;
        it.ahead = l->ahead;
    }
    return ss_step_once(s, &it, l->offset, h, report, reason, e);
}

const ss_scheme ss_scheme_linear = {
    .name = "linear",
    .summary = "one linearised step: M and f about the start",
    .reference = "D11",
    .keys = KEYS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .projects = true,
    .make = linear_make,
    .free = linear_free,
    .step = linear_step,
};
