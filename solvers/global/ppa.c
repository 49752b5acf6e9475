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

typedef struct ppa_run {
    const settings *settings;
    ss_drive drive;
    ss_method *start_method; // of the first sweeps
    ss_sweeper *sweeper;
    ss_prox *prox;
    ss_mixing *mixing;
    double *old_y;    // [prox->size]
    double *f, *root; // [4 n] residual of the outer iteration; 1 / sqrt(p_i)
    double rho, cap, growth;
} ppa_run;

// ---- Weights

static void set_weights(ppa_run *run)
{
    ss_drive_weights(&run->drive, run->prox->R);
    for (int i = 0; i < run->drive.c->n; i++) {
        run->prox->R[i] *= run->rho;
    }
}

static void ppa_grow(ppa_run *run, int steps)
{
    const double wanted = steps <= 4 ? 2.0 : steps <= 8 ? 1.5 : steps <= 14 ? 1.2 : 1.0;
    run->rho = fmin(run->rho * fmin(wanted, run->growth), run->cap);
}

// ---- One outer step

static void ppa_accept(ppa_run *run, const ss_prox_info *info)
{
    ss_prox *p = run->prox;
    const size_t size = 4 * (size_t)run->drive.c->n;
    if (run->rho >= run->cap) {
        for (size_t k = 0; k < size; k++) {
            run->f[k] = run->root[k / 4] * (p->phi[k] - p->l[k]);
        }
        memcpy(p->l, p->phi, size * sizeof *p->l);
        ss_mixing_step(run->mixing, run->f, p->l, p->y);
    } else {
        memcpy(p->l, p->phi, size * sizeof *p->l);
    }
    ppa_grow(run, info->steps);
}

static void reject(ppa_run *run)
{
    memcpy(run->prox->y, run->old_y, run->prox->size * sizeof *run->old_y);
    run->rho *= RHO_BACK;
    run->growth = RHO_AFTER;
    ss_mixing_forget(run->mixing);
}

static void ppa_outer_step(ppa_run *run)
{
    ss_prox *p = run->prox;
    set_weights(run);
    memcpy(run->old_y, p->y, p->size * sizeof *p->y);
    const ss_prox_info info =
        ss_prox_solve(p, INNER_SHARE, ss_drive_left(&run->drive, INNER_STEPS));
    run->drive.iterations += info.steps > 0 ? info.steps : 1;
    ss_drive_judge(&run->drive, p->phi);
    const bool failed = !info.reached;
    if (failed && !(info.last <= REJECT * info.first) && !(info.last <= INNER_FLOOR * p->scale)) {
        reject(run);
        return;
    }
    if (failed && info.last <= INNER_FLOOR * p->scale && run->rho > 1.0) {
        run->rho *= RHO_BACK;
        run->cap = run->rho;
    }
    ppa_accept(run, &info);
}

// rho falls for ever where no step can be taken.
static ss_outcome ppa_test(ppa_run *run)
{
    return run->rho > RHO_LEAST ? ss_drive_test(&run->drive) : SS_STALLED;
}

static ss_outcome ppa_sweep(ppa_run *run, double *r)
{
    ss_drive *p = &run->drive;
    ss_outcome outcome = ppa_test(run);
    while (outcome == SS_UNSOLVED && run->sweeper->sweeps < run->settings->sweeps) {
        ss_sweep(run->sweeper);
        p->iterations++;
        if (run->sweeper->last.estimate <= p->limits.task->tolerance * p->c->V) {
            ss_drive_judge(p, p->c->r);
        }
        ss_drive_tell(p, r);
        outcome = ppa_test(run);
    }
    return outcome;
}

static ss_outcome ppa_iterate(ppa_run *run, double *r)
{
    ss_drive *p = &run->drive;
    ss_drive_tell(p, r);
    ss_outcome outcome = ppa_sweep(run, r);
    if (outcome != SS_UNSOLVED) {
        return outcome;
    }
    ss_drive_judge(p, p->c->r);
    ss_prox_start(run->prox);
    memcpy(run->prox->l, run->prox->phi, 4 * (size_t)p->c->n * sizeof *run->prox->l);
    for (outcome = ppa_test(run); outcome == SS_UNSOLVED; outcome = ppa_test(run)) {
        ppa_outer_step(run);
        ss_drive_tell(p, r);
    }
    return outcome;
}

// ---- Making one

static ss_status make_sweeper(ppa_run *run, const ss_task *task, ss_sweep_settings *sweep,
                              const double *r, ss_error *e)
{
    const bool open = sweep->form == SS_FORM_AUTO && task->problem->form == SS_GLOBAL;
    if (open) {
        sweep->form = SS_FORM_MATRIX_FREE;
    }
    const ss_stop stop = ss_limits_stopper(&run->drive.limits);
    ss_status status = ss_sweeper_new(task, sweep, r, &stop, &run->sweeper, e);
    if (run->sweeper != NULL && open &&
        !ss_implicit_prefers_bodies(run->sweeper->coupling->white)) {
        ss_sweeper_free(run->sweeper);
        run->sweeper = NULL;
        sweep->form = SS_FORM_EXPLICIT;
        status = ss_sweeper_new(task, sweep, r, &stop, &run->sweeper, e);
    }
    return status;
}

static bool ppa_allocate(ppa_run *run)
{
    const ss_coupling *c = run->sweeper->coupling;
    const size_t n = (size_t)c->n;
    run->old_y = malloc((run->prox->size + 1) * sizeof *run->old_y);
    run->f = malloc(4 * n * sizeof *run->f);
    run->root = malloc(n * sizeof *run->root);
    run->mixing = ss_mixing_new(4 * n, run->prox->size, run->settings->depth, MIXING_CUTOFF);
    return run->old_y != NULL && run->f != NULL && run->root != NULL && run->mixing != NULL;
}

// SS_OK with a->prox NULL where the problem is refused, with a sentence, or time is up.
static ss_status ppa_prepare(ppa_run *run, ss_task *start, ss_sweep_settings *sweep,
                             const double *r, ss_error *e)
{
    ss_status status = ss_method_parse("secular", &run->start_method, e);
    if (status == SS_OK) {
        start->method = run->start_method;
        status = make_sweeper(run, start, sweep, r, e);
    }
    if (run->sweeper != NULL) {
        status = ss_prox_new(run->sweeper->coupling, run->settings->memory, &run->drive.limits,
                             &run->prox, e);
    }
    if (status == SS_OK && run->prox == NULL) {
        return SS_OK;
    }
    if (status == SS_OK) {
        run->drive.ordered = &run->sweeper->ordered;
        status = ss_drive_begin(&run->drive, run->sweeper->coupling, e);
    }
    if (status != SS_OK) {
        return status;
    }
    if (!ppa_allocate(run)) {
        return ss_fail_memory(e, "a proximal method");
    }
    const ss_coupling *c = run->sweeper->coupling;
    for (int i = 0; i < c->n; i++) {
        run->root[i] = sqrt(c->compliance[i]);
    }
    run->rho = run->settings->rho;
    run->cap = RHO_CAP;
    run->growth = INFINITY;
    ss_drive_judge(&run->drive, c->r);
    return SS_OK;
}

static void ppa_release(ppa_run *run)
{
    ss_method_free(run->start_method);
    ss_prox_free(run->prox);
    ss_mixing_free(run->mixing);
    ss_drive_end(&run->drive);
    free(run->old_y);
    free(run->f);
    free(run->root);
    ss_sweeper_free(run->sweeper);
}

static ss_status ppa_solve(const ss_task *task, double *r, ss_result *result, ss_error *e)
{
    ppa_run run = {.settings = task->method->global_settings,
                   .drive = {.limits = ss_limits_start(task)}};
    ss_task start = *task;
    start.threads = run.settings->sweeps > 0 ? task->threads : 0;
    ss_sweep_settings sweep = run.settings->sweep;
    ss_error why = {0};
    const ss_status status = ppa_prepare(&run, &start, &sweep, r, &why);
    if (status != SS_OK) {
        ss_fail(e, status, "%s", why.text);
    } else if (run.prox == NULL && why.text[0] == '\0') {
        ss_limits_give_up(&run.drive.limits, result);
    } else if (run.prox == NULL) {
        ss_drive_refuse(&run.drive.limits, &why, result);
    } else {
        ss_limits_ready(&run.drive.limits);
        const ss_outcome outcome = ppa_iterate(&run, r);
        ss_sweep_count(run.sweeper, result);
        ss_drive_give(&run.drive, outcome, r, result);
    }
    ppa_release(&run);
    return status;
}

// Its first sweeps do; what follows does not.
static bool ppa_takes_threads(const ss_method *m)
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
    .takes_threads = ppa_takes_threads,
    .solve = ppa_solve,
};
