// ppa: the proximal point method for Coulomb's law with an exact proximal step (prox_step.h).
//
//     outer:  l <- phi(l)      its fixed points are the solutions
//     inner:  semismooth Newton to 0.3 of its first residual
//
// rho, the weight R_i tr(W_ii)/d, grows while the inner steps are few and falls when they fail;
// once it has reached its cap the outer iteration is mixed (mixing.h) in the norm (phi - l) /
// sqrt(p_i), p_i = 1 / (tr W_ii / d). The fixed numbers are measured ones: of the values tried (a
// fixed rho, caps from 1e4 to 1e8, mixing before the cap, inner shares from 0.03 to 0.5, rho
// growing by other factors) these solve most of the dense ponytails, in the fewest steps. phi is
// judged, never l. It starts from a few sweeps of Gauss and Seidel.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/global/global.h"
#include "solvers/linear/mixing.h"
#include "solvers/global/prox_step.h"
#include "solvers/sweep/sweep_keys.h"
#include "solvers/global/drive.h"
#include "solvers/registry.h"

#define RHO_CAP       1e6
#define RHO_AFTER     1.5 // growth at most, once a step has been rejected
#define RHO_BACK      0.25
#define INNER_SHARE   0.3
#define INNER_STEPS   20
#define REJECT        0.3  // of the first residual: an inner loop that failed above it is undone
#define INNER_FLOOR   1e-8 // over the scale of y: an inner loop that failed below it is at rounding
#define RHO_LEAST     1e-12
#define MIXING_CUTOFF 1e-8

typedef struct settings {
    ss_sweep_settings sweep; // of the start
    int sweeps;
    double rho;
    int depth;
    double memory; // GB
} settings;

static const settings DEFAULTS = {
    .sweep = {.skip = 10}, .sweeps = 50, .rho = 10.0, .depth = 10, .memory = SS_MEMORY_DEFAULT};

static const ss_key KEYS[] = {
    {.name = "form",
     .kind = SS_KEY_CHOICE,
     .place = offsetof(settings, sweep.form),
     .choices = ss_form_names},
    {.name = "sweeps",
     .kind = SS_KEY_INTEGER,
     .place = offsetof(settings, sweeps),
     .low = 0,
     .high = 1e6},
    {.name = "rho",
     .kind = SS_KEY_REAL,
     .place = offsetof(settings, rho),
     .low = 1e-6,
     .high = RHO_CAP},
    {.name = "depth",
     .kind = SS_KEY_INTEGER,
     .place = offsetof(settings, depth),
     .low = 1,
     .high = 60},
    SS_MEMORY_KEY(settings),
    {.name = NULL},
};

typedef struct run {
    const settings *settings;
    ss_drive drive;
    ss_method *start_method; // of the first sweeps
    ss_sweeper *sweeper;
    ss_prox *prox;
    ss_mixing *mixing;
    double *old_y;    // [prox->size]
    double *f, *root; // [4 n] residual of the outer iteration; 1 / sqrt(p_i)
    double rho, cap, growth;
} run;

// ---- Weights

static void set_weights(run *a)
{
    ss_drive_weights(&a->drive, a->prox->R);
    for (int i = 0; i < a->drive.c->n; i++) {
        a->prox->R[i] *= a->rho;
    }
}

static void grow(run *a, int steps)
{
    const double wanted = steps <= 4 ? 2.0 : steps <= 8 ? 1.5 : steps <= 14 ? 1.2 : 1.0;
    a->rho = fmin(a->rho * fmin(wanted, a->growth), a->cap);
}

// ---- One outer step

static void accept(run *a, const ss_prox_info *info)
{
    ss_prox *p = a->prox;
    const size_t size = 4 * (size_t)a->drive.c->n;
    if (a->rho >= a->cap) {
        for (size_t k = 0; k < size; k++) {
            a->f[k] = a->root[k / 4] * (p->phi[k] - p->l[k]);
        }
        memcpy(p->l, p->phi, size * sizeof *p->l);
        ss_mixing_step(a->mixing, a->f, p->l, p->y);
    } else {
        memcpy(p->l, p->phi, size * sizeof *p->l);
    }
    grow(a, info->steps);
}

static void reject(run *a)
{
    memcpy(a->prox->y, a->old_y, a->prox->size * sizeof *a->old_y);
    a->rho *= RHO_BACK;
    a->growth = RHO_AFTER;
    ss_mixing_forget(a->mixing);
}

static void outer_step(run *a)
{
    ss_prox *p = a->prox;
    set_weights(a);
    memcpy(a->old_y, p->y, p->size * sizeof *p->y);
    const ss_prox_info info = ss_prox_solve(p, INNER_SHARE, ss_drive_left(&a->drive, INNER_STEPS));
    a->drive.iterations += info.steps > 0 ? info.steps : 1;
    ss_drive_judge(&a->drive, p->phi);
    const bool failed = !info.reached;
    if (failed && !(info.last <= REJECT * info.first) && !(info.last <= INNER_FLOOR * p->scale)) {
        reject(a);
        return;
    }
    if (failed && info.last <= INNER_FLOOR * p->scale && a->rho > 1.0) {
        a->rho *= RHO_BACK;
        a->cap = a->rho;
    }
    accept(a, &info);
}

// rho falls for ever where no step can be taken.
static ss_outcome test(run *a)
{
    return a->rho > RHO_LEAST ? ss_drive_test(&a->drive) : SS_STALLED;
}

static ss_outcome sweep(run *a, double *r)
{
    ss_drive *p = &a->drive;
    ss_outcome outcome = test(a);
    while (outcome == SS_UNSOLVED && a->sweeper->sweeps < a->settings->sweeps) {
        ss_sweep(a->sweeper);
        p->iterations++;
        if (a->sweeper->last.estimate <= p->limits.task->tolerance * p->c->V) {
            ss_drive_judge(p, p->c->r);
        }
        ss_drive_tell(p, r);
        outcome = test(a);
    }
    return outcome;
}

static ss_outcome iterate(run *a, double *r)
{
    ss_drive *p = &a->drive;
    ss_drive_tell(p, r);
    ss_outcome outcome = sweep(a, r);
    if (outcome != SS_UNSOLVED) {
        return outcome;
    }
    ss_drive_judge(p, p->c->r);
    ss_prox_start(a->prox);
    memcpy(a->prox->l, a->prox->phi, 4 * (size_t)p->c->n * sizeof *a->prox->l);
    for (outcome = test(a); outcome == SS_UNSOLVED; outcome = test(a)) {
        outer_step(a);
        ss_drive_tell(p, r);
    }
    return outcome;
}

// ---- Making one

static ss_status make_sweeper(run *a, const ss_task *task, ss_sweep_settings *sweep,
                              const double *r, ss_error *e)
{
    const bool open = sweep->form == SS_FORM_AUTO && task->problem->form == SS_GLOBAL;
    if (open) {
        sweep->form = SS_FORM_MATRIX_FREE;
    }
    const ss_stop stop = ss_limits_stopper(&a->drive.limits);
    ss_status status = ss_sweeper_new(task, sweep, r, &stop, &a->sweeper, e);
    if (a->sweeper != NULL && open && !ss_implicit_prefers_bodies(a->sweeper->coupling->white)) {
        ss_sweeper_free(a->sweeper);
        a->sweeper = NULL;
        sweep->form = SS_FORM_EXPLICIT;
        status = ss_sweeper_new(task, sweep, r, &stop, &a->sweeper, e);
    }
    return status;
}

static bool allocate(run *a)
{
    const ss_coupling *c = a->sweeper->coupling;
    const size_t n = (size_t)c->n;
    a->old_y = malloc((a->prox->size + 1) * sizeof *a->old_y);
    a->f = malloc(4 * n * sizeof *a->f);
    a->root = malloc(n * sizeof *a->root);
    a->mixing = ss_mixing_new(4 * n, a->prox->size, a->settings->depth, MIXING_CUTOFF);
    return a->old_y != NULL && a->f != NULL && a->root != NULL && a->mixing != NULL;
}

// SS_OK with a->prox NULL where the problem is refused, with a sentence, or time is up.
static ss_status prepare(run *a, ss_task *start, ss_sweep_settings *sweep, const double *r,
                         ss_error *e)
{
    ss_status status = ss_method_parse("secular", &a->start_method, e);
    if (status == SS_OK) {
        start->method = a->start_method;
        status = make_sweeper(a, start, sweep, r, e);
    }
    if (a->sweeper != NULL) {
        status =
            ss_prox_new(a->sweeper->coupling, a->settings->memory, &a->drive.limits, &a->prox, e);
    }
    if (status == SS_OK && a->prox == NULL) {
        return SS_OK;
    }
    if (status == SS_OK) {
        a->drive.ordered = &a->sweeper->ordered;
        status = ss_drive_begin(&a->drive, a->sweeper->coupling, e);
    }
    if (status != SS_OK) {
        return status;
    }
    if (!allocate(a)) {
        return ss_fail_memory(e, "a proximal method");
    }
    const ss_coupling *c = a->sweeper->coupling;
    for (int i = 0; i < c->n; i++) {
        a->root[i] = sqrt(c->compliance[i]);
    }
    a->rho = a->settings->rho;
    a->cap = RHO_CAP;
    a->growth = INFINITY;
    ss_drive_judge(&a->drive, c->r);
    return SS_OK;
}

static void release(run *a)
{
    ss_method_free(a->start_method);
    ss_prox_free(a->prox);
    ss_mixing_free(a->mixing);
    ss_drive_end(&a->drive);
    free(a->old_y);
    free(a->f);
    free(a->root);
    ss_sweeper_free(a->sweeper);
}

static ss_status solve(const ss_task *task, double *r, ss_result *result, ss_error *e)
{
    run a = {.settings = task->method->global_settings, .drive = {.limits = ss_limits_start(task)}};
    ss_task start = *task;
    start.threads = a.settings->sweeps > 0 ? task->threads : 0;
    ss_sweep_settings sweep = a.settings->sweep;
    ss_error why = {0};
    const ss_status status = prepare(&a, &start, &sweep, r, &why);
    if (status != SS_OK) {
        ss_fail(e, status, "%s", why.text);
    } else if (a.prox == NULL && why.text[0] == '\0') {
        ss_limits_give_up(&a.drive.limits, result);
    } else if (a.prox == NULL) {
        ss_drive_refuse(&a.drive.limits, &why, result);
    } else {
        ss_limits_ready(&a.drive.limits);
        const ss_outcome outcome = iterate(&a, r);
        ss_sweep_count(a.sweeper, result);
        ss_drive_give(&a.drive, outcome, r, result);
    }
    release(&a);
    return status;
}

// Its first sweeps do; what follows does not.
static bool takes_threads(const ss_method *m)
{
    const settings *s = m->global_settings;
    return s->sweeps > 0;
}

const ss_global_solver ss_ppa = {
    .card = {.name = "ppa",
             .law = SS_EXACT,
             .reference = "R76",
             .keys = KEYS,
             .defaults = &DEFAULTS,
             .settings_size = sizeof(settings)},
    .takes_threads = takes_threads,
    .solve = solve,
};
