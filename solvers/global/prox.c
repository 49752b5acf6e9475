// prox: the proximal point method around Gauss-Seidel (Rockafellar 1976; the most robust family in
// Siconos). Around a centre l, with a_i = alpha tr(W_ii)/d, sweeps solve
//
//     u = (W + a) r + (b - a l)
//
// to a tenth of its first residual, then l <- r. alpha falls where that takes few sweeps and grows
// where it takes too many: a large one makes every inner problem easy and the outer steps short.
// Fixed points are the solutions of the problem itself. Explicit form only: a is added to the
// blocks of W. The answer is judged with W and b as they are.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/global/global.h"
#include "solvers/global/drive.h"
#include "solvers/sweep/sweep_keys.h"

#define INNER_SHARE 0.1
#define INNER_MOST  200 // sweeps of an inner problem
#define INNER_FEW   20
#define ALPHA_LEAST 1e-8
#define ALPHA_MOST  1e3

typedef struct settings {
    ss_sweep_settings sweep; // first: its keys are shared
    double alpha;
} settings;

static const settings DEFAULTS = {.sweep = {.form = SS_FORM_EXPLICIT, .skip = 10}, .alpha = 0.1};

static const ss_key KEYS[] = {
    {.name = "ltol",
     .kind = SS_KEY_REAL,
     .place = offsetof(settings, sweep.ltol),
     .low = 0,
     .high = 1},
    {.name = "alpha",
     .kind = SS_KEY_REAL,
     .place = offsetof(settings, alpha),
     .low = ALPHA_LEAST,
     .high = ALPHA_MOST},
    {.name = NULL},
};

typedef struct prox_run {
    ss_drive drive;
    ss_sweeper *sweeper;
    double alpha;
    size_t *diagonal; // [n] first number of W_ii in W.x
    double *own;      // [dim n] diagonal of W_ii, as it is
    double *b;        // [dim n], as it is
    double *centre;   // [4 n] l
} prox_run;

// W + a and b - a l for alpha; W and b themselves for 0.
static void set_alpha(prox_run *run, double alpha)
{
    ss_coupling *c = run->drive.c;
    const size_t d = (size_t)c->dim;
    for (int i = 0; i < c->n; i++) {
        const double ai = alpha * c->compliance[i];
        for (size_t k = 0; k < d; k++) {
            const size_t at = d * (size_t)i + k;
            const double W = run->own[at] + ai;
            c->W.x[run->diagonal[i] + k * (d + 1)] = W;
            c->contact[i].W[4 * k] = W;
            c->b[at] = run->b[at] - ai * run->centre[4 * (size_t)i + k];
        }
        c->memo[i] = 0.0; // it remembers something of W_ii
        if (d == 2) {
            c->contact[i].W[8] = 0.5 * (c->contact[i].W[0] + c->contact[i].W[4]);
        }
    }
}

static void prox_judge(prox_run *run)
{
    set_alpha(run, 0.0);
    ss_drive_judge(&run->drive, run->drive.c->r);
}

// Sweeps until the residual has fallen to its share.
static ss_outcome solve_inner(prox_run *run, double *r, bool *reached)
{
    ss_drive *p = &run->drive;
    double first = INFINITY;
    for (int sweep = 0; sweep < INNER_MOST; sweep++) {
        ss_sweep(run->sweeper);
        p->iterations++;
        const double estimate = run->sweeper->last.estimate;
        first = sweep == 0 ? estimate : first;
        ss_drive_tell(p, r);
        *reached = sweep > 0 && estimate <= INNER_SHARE * first;
        if (*reached) {
            return SS_UNSOLVED;
        }
        const ss_outcome limit = ss_limits_next(&p->limits, p->iterations);
        if (limit != SS_UNSOLVED) {
            return limit;
        }
    }
    return SS_UNSOLVED;
}

static ss_outcome prox_outer_step(prox_run *run, double *r)
{
    ss_drive *p = &run->drive;
    memcpy(run->centre, p->c->r, 4 * (size_t)p->c->n * sizeof *run->centre);
    set_alpha(run, run->alpha);
    const int before = p->iterations;
    bool reached;
    const ss_outcome limit = solve_inner(run, r, &reached);
    prox_judge(run);
    if (!reached) {
        run->alpha = fmin(2.0 * run->alpha, ALPHA_MOST);
    } else if (p->iterations - before <= INNER_FEW) {
        run->alpha = fmax(0.5 * run->alpha, ALPHA_LEAST);
    }
    return limit != SS_UNSOLVED ? limit : ss_drive_test(p);
}

static bool prox_allocate(prox_run *run)
{
    const ss_coupling *c = run->drive.c;
    const size_t n = (size_t)c->n, d = (size_t)c->dim;
    run->diagonal = malloc(n * sizeof *run->diagonal);
    run->own = malloc(n * d * sizeof *run->own);
    run->b = malloc(n * d * sizeof *run->b);
    run->centre = calloc(4 * n, sizeof *run->centre);
    if (run->diagonal == NULL || run->own == NULL || run->b == NULL || run->centre == NULL) {
        return false;
    }
    memcpy(run->b, c->b, n * d * sizeof *run->b);
    for (size_t i = 0; i < n; i++) {
        size_t k = c->W.start[i];
        while (c->W.col[k] != (int)i) {
            k++;
        }
        run->diagonal[i] = k * d * d;
        for (size_t j = 0; j < d; j++) {
            run->own[d * i + j] = c->W.x[run->diagonal[i] + j * (d + 1)];
        }
    }
    return true;
}

static ss_status prox_prepare(prox_run *run, const ss_task *task, const double *r, ss_error *e)
{
    const settings *s = task->method->global_settings;
    const ss_stop stop = ss_limits_stopper(&run->drive.limits);
    ss_status status = ss_sweeper_new(task, &s->sweep, r, &stop, &run->sweeper, e);
    if (status != SS_OK || run->sweeper == NULL) {
        return status;
    }
    run->drive.ordered = &run->sweeper->ordered;
    status = ss_drive_begin(&run->drive, run->sweeper->coupling, e);
    if (status == SS_OK && !prox_allocate(run)) {
        status = ss_fail_memory(e, "a proximal method");
    }
    run->alpha = s->alpha;
    return status;
}

static ss_status prox_solve(const ss_task *task, double *r, ss_result *result, ss_error *e)
{
    prox_run run = {.drive = {.limits = ss_limits_start(task)}};
    const ss_status status = prox_prepare(&run, task, r, e);
    if (status == SS_OK && run.sweeper == NULL) {
        ss_limits_give_up(&run.drive.limits, result);
    } else if (status == SS_OK) {
        ss_limits_ready(&run.drive.limits);
        prox_judge(&run);
        ss_drive_tell(&run.drive, r);
        ss_outcome outcome = ss_drive_test(&run.drive);
        while (outcome == SS_UNSOLVED) {
            outcome = prox_outer_step(&run, r);
        }
        ss_sweep_count(run.sweeper, result);
        ss_drive_give(&run.drive, outcome, r, result);
    }
    free(run.diagonal);
    free(run.own);
    free(run.b);
    free(run.centre);
    ss_drive_end(&run.drive);
    ss_sweeper_free(run.sweeper);
    return status;
}

const ss_global_solver ss_prox_sweeps = {
    .card = {.name = "prox",
             .law = SS_EXACT,
             .reference = "R76",
             .keys = KEYS,
             .defaults = &DEFAULTS,
             .settings_size = sizeof(settings)},
    .takes_local = true,
    .key_needs = ss_sweep_key_needs,
    .takes_threads = ss_sweep_takes_threads,
    .solve = prox_solve,
};
