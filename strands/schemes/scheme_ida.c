// ida: the equations of motion as they are, by a formula of variable order and step.
//
// Every strand has an integrator of its own, which goes on from step to step of the world as long as nothing else
// moves it, and interpolates where the world's step ends. Contacts, limits and goals are those of `phases.h` before
// every step of the world, whose impulses r are forces r/h at points of the strands all through it, and whose
// impacts are a jump of the velocity, M0^-1 H p: the integrator of a strand that they act on, or acted on in
// the step before, begins anew.
#include <stdlib.h>
#include <string.h>

#include "strands/schemes/ida.h"
#include "strands/schemes/phases.h"
#include "strands/schemes/schemes.h"

typedef struct settings {
    ss_ida_settings ida;
    ss_phases_settings phases;
    int contacts; // 0: strands and obstacles pass through each other
} settings;

static const settings DEFAULTS = {
    .ida = {1e-6, 5, SS_IDA_OWN, 20000}, .phases = SS_PHASES_DEFAULTS, .contacts = 1};
static const char *const JACOBIANS[] = {"own", "dense", NULL};
static const char *const CONTACTS[] = {"off", "on", NULL};
static const ss_key KEYS[] = {
    SS_REAL_KEY("rtol", ida.rtol, 1e-12, 0.1),
    SS_INTEGER_KEY("order", ida.order, 1, 5),
    SS_CHOICE_KEY("jacobian", ida.jacobian, JACOBIANS),
    SS_INTEGER_KEY("steps", ida.steps, 1, 1000000),
    SS_CHOICE_KEY("contacts", contacts, CONTACTS),
    SS_PHASES_KEYS(phases),
    {.name = NULL},
};

static const char *ida_key_needs(const void *settings_, const char *key)
{
    const settings *set = settings_;
    return ss_phases_key_needs(&set->phases, set->contacts != 0, key);
}

typedef struct scheme {
    int n;
    ss_ida **strands; // [n]
    ss_ida_effort *effort;
    bool *good;            // [n] whether IDA came to the end of the step
    bool *pushed, *before; // [n] whether contacts act on it in this step; in the one before
    ss_phases *phases;
    double *gained, *held; // [nv] by impacts; forces of goals and limits in this step
    ss_vec3 *push;         // [npoints] N, of contacts
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
    free(a->gained);
    free(a->push);
    ss_phases_free(a->phases);
    free(a->room.past);
    ss_world_state_free(&a->room.state);
    ss_world_state_free(&a->last);
    free(a);
}

static bool make_strands(scheme *a, const ss_world *w, const ss_ida_settings *set)
{
    const size_t n = (size_t)w->nstrands;
    a->strands = calloc(n, sizeof(ss_ida *));
    a->effort = calloc(n, sizeof *a->effort);
    a->good = calloc(3 * n, sizeof *a->good);
    a->gained = calloc(2 * (size_t)w->nv + 1, sizeof *a->gained);
    a->push = malloc(((size_t)w->npoints + 1) * sizeof *a->push);
    a->room.past = malloc(((size_t)w->nv + 1) * sizeof *a->room.past);
    const bool state = ss_world_state_init(&a->room.state, w);
    bool ok = ss_world_state_init(&a->last, w) && state && a->strands != NULL &&
              a->effort != NULL && a->good != NULL && a->gained != NULL && a->push != NULL &&
              a->room.past != NULL;
    a->n = w->nstrands;
    a->pushed = a->good + n;
    a->before = a->pushed + n;
    a->held = a->gained + w->nv;
    for (int k = 0; ok && k < w->nstrands; k++) {
        a->strands[k] = ss_ida_new(w, k, set, &a->room);
        ok = a->strands[k] != NULL;
    }
    return ok;
}

static ss_status ida_make(ss_stepper *s, const void *settings_, void **own, ss_error *e)
{
    const settings *set = settings_;
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
    if (a == NULL || !make_strands(a, s->world, &set->ida)) {
        return ss_fail_memory(e, "the scheme of a world");
    }
    s->options.contacts = s->options.contacts && set->contacts != 0;
    return ss_phases_new(s, &set->phases, true, &a->phases, e);
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

// ---- Contacts

// What acts on strand k, from the impulses of its phases.
static void take_impulses(const scheme *a, const ss_stepper *s, int k, double h)
{
    const ss_strand *strand = &s->world->strands[k];
    ss_phases_impulses of;
    a->pushed[k] = ss_phases_act(a->phases, s->world, k, &of);
    for (int j = 0; a->pushed[k] && j < strand->size.nv; j++) {
        a->gained[strand->v + j] = of.gained[j];
        a->held[strand->v + j] = of.extra[j] / h;
    }
    for (int i = 0; a->pushed[k] && i < strand->size.npoints; i++) {
        a->push[strand->point + i] = ss_scaled(1.0 / h, of.pushes[i]);
    }
}

static ss_status find_forces(scheme *a, ss_stepper *s, double h, ss_step_report *report,
                             ss_step_reason *reason, ss_error *e)
{
    const ss_iterate it = ss_iterate_first(&s->world->now, h);
    if (!ss_step_form(s, &it, &s->here, report)) {
        *reason = SS_STEP_MATRIX;
        return SS_OK;
    }
    ss_status status = ss_step_find_contacts(s, h, report, e);
    if (status == SS_OK) {
        status = ss_phases_answer(a->phases, s, h, report, e);
    }
    if (status != SS_OK) {
        return status;
    }
    ss_step_find_velocities(s); // those of the problem, which it is stored with
    ss_step_keep_answer(s);
    for (int k = 0; k < a->n; k++) {
        take_impulses(a, s, k, h);
    }
    return SS_OK;
}

// ---- Steps

typedef struct task {
    ss_stepper *s;
    scheme *a;
    double h;
    bool begins;
} task;

static void advance(void *context, int k, int thread)
{
    const task *t = context;
    const scheme *a = t->a;
    const ss_strand *strand = &t->s->world->strands[k];
    const bool pushed = a->pushed[k];
    const ss_ida_interval interval = {.h = t->h,
                                      .begins = t->begins || pushed || a->before[k],
                                      .gained = pushed ? a->gained + strand->v : NULL,
                                      .held = pushed ? a->held + strand->v : NULL,
                                      .push = pushed ? a->push + strand->point : NULL};
    a->good[k] =
        ss_ida_advance(a->strands[k], &interval, t->s->systems.rooms[thread].scratch,
                       t->s->trial.q + strand->q, t->s->trial.v + strand->v, &a->effort[k]);
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
    memcpy(a->before, a->pushed, (size_t)a->n * sizeof *a->pushed);
    const ss_status status = find_forces(a, s, h, report, reason, e);
    if (status != SS_OK || *reason != SS_STEP_DONE) {
        a->going = false;
        return status;
    }
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
    .summary = "the equations of motion by SUNDIALS IDA, orders 1 to 5; contacts as in phases",
    .reference = "H06, H05",
    .keys = KEYS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .key_needs = ida_key_needs,
    .alone = true,
    .impacts = true,
    .make = ida_make,
    .free = ida_free,
    .step = ida_step,
};
