// ida: the equations of motion as they are, by a formula of variable order and step.
//
// Every strand has an integrator of its own, which goes on from step to step of the world as long as nobody else
// moves it, and interpolates where the world's step ends. Contacts are not looked for: a formula of several
// steps knows no impulses.
#include <stdlib.h>
#include <string.h>

#include "problems/strands/schemes/ida.h"
#include "problems/strands/schemes/schemes.h"
#include "problems/strands/step/stepper.h"

typedef ss_ida_settings settings;

static const settings DEFAULTS = {1e-6, 5, SS_IDA_OWN, 20000};
static const char *const JACOBIANS[] = {"own", "dense", NULL};
static const ss_key KEYS[] = {
    SS_REAL_KEY("rtol", rtol, 1e-12, 0.1),
    SS_INTEGER_KEY("order", order, 1, 5),
    SS_CHOICE_KEY("jacobian", jacobian, JACOBIANS),
    SS_INTEGER_KEY("steps", steps, 1, 1000000),
    {.name = NULL},
};

typedef struct scheme {
    int n;
    ss_ida **strands; // [n]
    ss_ida_effort *effort;
    bool *good; // [n] whether the integrator found a way
    ss_ida_room room;
    ss_world_state last; // where the integrators are
    bool going;
} scheme;

static void ida_free(void *own)
{
    scheme *a = own;
    if (a == NULL) {
        return;
    }
    for (int k = 0; a->strands != NULL && k < a->n; k++) {
        ss_ida_free(a->strands[k]);
    }
    free(a->strands);
    free(a->effort);
    free(a->good);
    free(a->room.past);
    ss_world_state_free(&a->room.state);
    ss_world_state_free(&a->last);
    free(a);
}

static bool make_strands(scheme *a, const ss_world *w, const settings *set)
{
    const size_t n = (size_t)w->nstrands;
    a->strands = calloc(n, sizeof(ss_ida *));
    a->effort = calloc(n, sizeof *a->effort);
    a->good = calloc(n, sizeof *a->good);
    a->room.past = malloc(((size_t)w->nv + 1) * sizeof *a->room.past);
    const bool state = ss_world_state_init(&a->room.state, w);
    bool ok = ss_world_state_init(&a->last, w) && state && a->strands != NULL &&
              a->effort != NULL && a->good != NULL && a->room.past != NULL;
    a->n = w->nstrands;
    for (int k = 0; ok && k < w->nstrands; k++) {
        a->strands[k] = ss_ida_new(w, k, set, &a->room);
        ok = a->strands[k] != NULL;
    }
    return ok;
}

static ss_status ida_make(ss_stepper *s, const void *settings_, void **own, ss_error *e)
{
    ss_status status = SS_OK;
    *own = NULL;
    for (int k = 0; status == SS_OK && k < s->world->nstrands; k++) {
        status = ss_ida_check(s->world, k, e);
    }
    if (status != SS_OK) {
        return status;
    }
    scheme *a = calloc(1, sizeof *a);
    *own = a;
    return a != NULL && make_strands(a, s->world, settings_)
               ? SS_OK
               : ss_fail_memory(e, "the scheme of a world");
}

static bool same(const double *a, const double *b, int count)
{
    return memcmp(a, b, (size_t)count * sizeof *a) == 0;
}

// Whether the world is where the integrators are.
static bool goes_on(const scheme *a, const ss_world *w)
{
    return a->going && a->last.time == w->now.time && same(a->last.q, w->now.q, w->nq) &&
           same(a->last.v, w->now.v, w->nv);
}

typedef struct task {
    ss_stepper *s;
    scheme *a;
    double h;
    bool begin;
} task;

static void advance(void *context, int k, int thread)
{
    const task *t = context;
    const ss_strand *strand = &t->s->world->strands[k];
    t->a->good[k] =
        ss_ida_advance(t->a->strands[k], t->begin, t->h, t->s->systems.rooms[thread].scratch,
                       t->s->trial.q + strand->q, t->s->trial.v + strand->v, &t->a->effort[k]);
}

// Whether all have come through.
static bool sum_up(const scheme *a, ss_step_report *report)
{
    bool good = true;
    double sum = 0.0;
    report->nonlinear_least = a->effort[0].iterations;
    report->nonlinear_most = report->formula_steps = 0;
    for (int k = 0; k < a->n; k++) {
        const int count = a->effort[k].iterations;
        good = good && a->good[k];
        sum += count;
        report->formula_steps += a->effort[k].steps;
        report->nonlinear_least = count < report->nonlinear_least ? count : report->nonlinear_least;
        report->nonlinear_most = count > report->nonlinear_most ? count : report->nonlinear_most;
    }
    report->nonlinear_mean = sum / a->n;
    report->iterates = report->nonlinear_most;
    return good;
}

static ss_status ida_step(ss_stepper *s, void *own, double h, ss_step_report *report,
                          ss_step_reason *reason, ss_error *e)
{
    scheme *a = own;
    const ss_world *w = s->world;
    task t = {s, a, h, !goes_on(a, w)};
    ss_step_begin(s, h, 1.0, NULL);
    ss_systems_each(&s->systems, w->nstrands, advance, &t);
    a->going = sum_up(a, report);
    if (!a->going) {
        *reason = SS_STEP_INTEGRATOR;
        return SS_OK;
    }
    a->last.time = w->now.time + h;
    memcpy(a->last.q, s->trial.q, (size_t)w->nq * sizeof *a->last.q);
    memcpy(a->last.v, s->trial.v, (size_t)w->nv * sizeof *a->last.v);
    return ss_step_end(s, h, report, reason, e);
}

const ss_scheme ss_scheme_ida = {
    .name = "ida",
    .summary = "the equations of motion by SUNDIALS IDA, orders 1 to 5, without contacts",
    .reference = "H06, H05",
    .keys = KEYS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .passes = true,
    .make = ida_make,
    .free = ida_free,
    .step = ida_step,
};
