// The shared Gauss-Seidel driver: sweeps (solvers/sweep/sweep.h) until the answer is good enough.
//
// A sweep brings a free estimate of the residual, max |f(s r_i, u_i)| just before the local
// solves, with the judge's s. When it is at most tol V, one evaluation of all measures at rest
// decides. A local solver with another law than Coulomb's stops on the relative step |dr|/|r|
// instead ([D11] 7.2), and the judge tells what its answer is worth.
//
// focus=on: where a few contacts alone still move, they are solved together
// (solvers/sweep/block_step.h).
#include "solvers/global/global.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/sweep/block_step.h"
#include "solvers/sweep/sweep_keys.h"
#include "solvers/limits.h"
#include "solvers/sweep/sweep.h"

// Sweeps between two computations of z from r: rounding adds up in between.
#define REFRESH_SWEEPS 200

// The estimate cannot fall below about eps max|s r|; this near to it nothing more is gained.
#define FLOOR_FACTOR 4.0

// Full evaluations at the rounding floor, or where nothing moves any more, before the answer is
// `stalled`.
#define FLOOR_TRIES 3

// Sweeps from one estimate to the next where a visit is one step of a local solver: there the
// estimate costs as much as the step. focus=on wants every one.
#define ONE_STEP_CHECK 8

// A kept iterate is replaced by one whose estimate is this much better: copies stay rare.
#define KEEP_RATIO 0.5

// Progress is a best estimate that has become a tenth less. In hair it may take a thousand sweeps
// over a few contacts, which all the others together would slow down.
#define PROGRESS 0.9
#define ROUSE    100

typedef struct settings {
    ss_sweep_settings sweep; // first: its keys are shared
    double step;             // relative step on which an approximate law stops
    int check;               // sweeps from one estimate to the next; 0: 1, or ONE_STEP_CHECK
    int focus;               // off, on
} settings;

static const settings DEFAULTS = {.sweep = {.skip = 10}, .step = 5e-2};

const char *const ss_form_names[] = {"auto", "explicit", "matrix-free", NULL};
const char *const ss_order_names[] = {"natural", "reverse", "random:", "stripes", NULL};
const char *const ss_visit_names[] = {"needed", "all", NULL};
static const char *const ASSEMBLIES[] = {"blocks", "naive", NULL};
static const char *const FREEZES[] = {"off", "on", "paper", NULL};
static const char *const FOCI[] = {"off", "on", NULL};
static const char *const WAKES[] = {"time", "neighbour", NULL};

#define CHOICE(key, field, list)                                                                   \
    {                                                                                              \
        .name = key, .kind = SS_KEY_CHOICE, .place = offsetof(settings, field), .choices = list    \
    }
#define NUMBER(key, type, field, from, to)                                                         \
    {                                                                                              \
        .name = key, .kind = type, .place = offsetof(settings, field), .low = from, .high = to     \
    }

static const ss_key KEYS[] = {
    SS_SWEEP_KEYS,
    CHOICE("assembly", sweep.assembly, ASSEMBLIES),
    CHOICE("freeze", sweep.freeze, FREEZES),
    NUMBER("skip", SS_KEY_INTEGER, sweep.skip, 1, 1e6),
    NUMBER("share", SS_KEY_REAL, sweep.share, 0, 1),
    CHOICE("wake", sweep.wake, WAKES),
    NUMBER("step", SS_KEY_REAL, step, 0, 1),
    NUMBER("check", SS_KEY_INTEGER, check, 0, 1000),
    CHOICE("focus", focus, FOCI),
    {.name = NULL},
};

static bool is_one_of(const char *key, const char *const *keys)
{
    while (*keys != NULL && strcmp(key, *keys) != 0) {
        keys++;
    }
    return *keys != NULL;
}

static const char *key_needs(const ss_method *m, const char *key)
{
    static const char *const OF_FREEZING[] = {"skip", "share", "wake", NULL};
    static const char *const WITHOUT_FREEZING[] = {"visit", "focus", NULL};
    static const char *const OF_THE_LAW[] = {"check", "focus", NULL};
    const settings *s = m->global_settings;
    if (s->sweep.freeze == SS_FREEZE_OFF && is_one_of(key, OF_FREEZING)) {
        return "freeze=on or freeze=paper";
    }
    if (s->sweep.freeze != SS_FREEZE_OFF && is_one_of(key, WITHOUT_FREEZING)) {
        return "freeze=off";
    }
    if (s->sweep.form == SS_FORM_MATRIX_FREE && strcmp(key, "assembly") == 0) {
        return "form=explicit";
    }
    if (ss_method_is_exact(m) && strcmp(key, "step") == 0) {
        return "a local solver of another law than Coulomb's, alone";
    }
    if (!ss_method_is_exact(m) && is_one_of(key, OF_THE_LAW)) {
        return "a local solver of Coulomb's law";
    }
    if (s->focus && strcmp(key, "check") == 0) {
        return "focus=off";
    }
    return s->sweep.freeze == SS_FREEZE_ON && strcmp(key, "check") == 0
               ? "freeze=off or freeze=paper"
               : ss_sweep_key_needs(m, key);
}

// One run of the driver.
typedef struct gs_run {
    const ss_task *task;
    const settings *settings;
    ss_sweeper *sweeper;
    ss_block_steps *blocks; // NULL: off
    bool stepped;           // a block step came before this sweep
    bool approximate;       // the law is not Coulomb's: stop on the relative step
    double *kept;           // [dim n] best iterate but for KEEP_RATIO, in the order of the visits
    double *first;          // [dim n] the start
    double *spare;          // [dim n]
    double kept_estimate;
    double mark; // the best estimate when there was PROGRESS last,
    int marked;  // and the sweep
    double rest; // of the sweeper, as it is mostly
    int check;   // sweeps from one estimate to the next
    int floor_tries;
    ss_limits limits;
} gs_run;

// ---- When to stop

static void keep_iterate(gs_run *run)
{
    const double estimate = run->sweeper->last.estimate;
    const bool complete = run->sweeper->last.frozen == 0; // else the estimate has not seen all
    if (!run->approximate && run->sweeper->estimates && complete &&
        estimate < KEEP_RATIO * run->kept_estimate) {
        ss_coupling_get(run->sweeper->coupling, run->kept);
        run->kept_estimate = estimate;
    }
}

// Many contacts that rest with a little each can hold the others where they are: without progress
// one sweep of ROUSE visits all.
static void rouse(gs_run *run)
{
    ss_sweeper *s = run->sweeper;
    if (s->estimates && s->last.estimate < PROGRESS * run->mark) {
        run->mark = s->last.estimate;
        run->marked = s->sweeps;
    }
    s->rest = (s->sweeps - run->marked) % ROUSE == ROUSE - 1 ? 0.0 : run->rest;
}

// The last word on an estimate that is small enough, or as small as it can get.
static ss_outcome gs_evaluate(gs_run *run, bool at_floor, ss_result *result)
{
    const ss_measures m = ss_coupling_measure(run->sweeper->coupling);
    result->own_error = m.fb;
    if (ss_measures_pass(&m, run->task->tolerance)) {
        return SS_CONVERGED;
    }
    ss_sweep_thaw(run->sweeper);
    run->floor_tries += at_floor;
    return run->floor_tries >= FLOOR_TRIES ? SS_STALLED : SS_UNSOLVED;
}

static ss_outcome test_step(const gs_run *run)
{
    const ss_tally *t = &run->sweeper->last;
    const double step = run->settings->step;
    return t->step <= step * step * t->size ? SS_CONVERGED : SS_UNSOLVED;
}

static ss_outcome gs_test(gs_run *run, ss_result *result)
{
    if (run->approximate) {
        return test_step(run);
    }
    if (!run->sweeper->estimates) {
        return SS_UNSOLVED;
    }
    const ss_coupling *c = run->sweeper->coupling;
    const ss_tally *t = &run->sweeper->last;
    const bool reached = t->estimate <= run->task->tolerance * c->V;
    const double floor = FLOOR_FACTOR * DBL_EPSILON * c->s * t->largest;
    const bool finished = t->moved == 0 || t->estimate <= floor;
    if (finished && !reached && t->frozen > 0) { // of those that rest nothing is known
        ss_sweep_thaw(run->sweeper);
        return SS_UNSOLVED;
    }
    return reached || finished ? gs_evaluate(run, finished && t->frozen == 0, result) : SS_UNSOLVED;
}

static void gs_tell(gs_run *run, double *r)
{
    if (!ss_limits_listened(&run->limits, run->sweeper->sweeps)) {
        return;
    }
    const ss_sweeper *s = run->sweeper;
    ss_sweep_get(s, r);
    ss_limits_tell(
        &run->limits,
        (ss_progress){
            .iteration = s->sweeps,
            .local_solves = s->counters.solves,
            .visits =
                s->visits + (run->blocks != NULL ? (long)ss_block_steps_work(run->blocks) : 0),
            .estimate = s->sweeps > 0 && s->estimates ? s->last.estimate / s->coupling->V : NAN,
            .r = r,
            .note = run->stepped ? "after a block step" : NULL,
        });
}

// Freezing by rule `on` needs the residuals of every sweep, whatever the law.
static bool wants_estimate(const gs_run *run, int sweep)
{
    if (run->settings->sweep.freeze == SS_FREEZE_ON) {
        return true;
    }
    return !run->approximate && sweep % run->check == run->check - 1;
}

static ss_outcome gs_iterate(gs_run *run, double *r, ss_result *result)
{
    gs_tell(run, r);
    for (int sweep = 0;; sweep++) {
        const ss_outcome limit = ss_limits_next(&run->limits, sweep);
        if (limit != SS_UNSOLVED) {
            return limit;
        }
        if (sweep % REFRESH_SWEEPS == REFRESH_SWEEPS - 1) {
            ss_coupling_refresh(run->sweeper->coupling);
        }
        run->sweeper->estimates = wants_estimate(run, sweep);
        ss_sweep(run->sweeper);
        gs_tell(run, r);
        keep_iterate(run);
        rouse(run);
        const ss_outcome outcome = gs_test(run, result);
        if (outcome != SS_UNSOLVED) {
            return outcome;
        }
        run->stepped = run->blocks != NULL && ss_block_steps_try(run->blocks);
        if (run->stepped) { // progress is counted afresh
            run->mark = INFINITY;
        }
    }
}

// The last iterate, the kept one or the start, whichever is best: sweeps may lead away from an
// answer. Under another law there is no better here.
static void gs_choose_answer(gs_run *run, ss_result *result)
{
    ss_coupling *c = run->sweeper->coupling;
    result->own_error = ss_coupling_measure(c).fb;
    if (run->approximate) {
        return;
    }
    const double *others[] = {run->kept, run->first};
    ss_coupling_get(c, run->spare);
    const double *best = run->spare;
    for (int k = 0; k < 2; k++) {
        ss_coupling_put(c, others[k]);
        const double fb = ss_coupling_measure(c).fb;
        if (fb < result->own_error || isnan(result->own_error)) {
            result->own_error = fb;
            best = others[k];
        }
    }
    ss_coupling_put(c, best);
}

// ---- The solver

static ss_status gs_prepare(gs_run *run, const double *r, ss_error *e)
{
    const ss_task *t = run->task;
    const size_t size = (size_t)t->problem->dim * (size_t)t->problem->ncontacts;
    const ss_stop stop = ss_limits_stopper(&run->limits);
    const ss_status status = ss_sweeper_new(t, &run->settings->sweep, r, &stop, &run->sweeper, e);
    if (status != SS_OK || run->sweeper == NULL) {
        return status;
    }
    run->kept = malloc(size * sizeof *run->kept);
    run->first = malloc(size * sizeof *run->first);
    run->spare = malloc(size * sizeof *run->spare);
    if (run->kept == NULL || run->first == NULL || run->spare == NULL) {
        return ss_fail_memory(e, "the Gauss-Seidel driver");
    }
    run->approximate = !ss_method_is_exact(t->method);
    const bool one_step = t->method->failsafe == NULL && t->method->local->one_step;
    const int check = one_step && !run->settings->focus ? ONE_STEP_CHECK : 1;
    run->check = run->settings->check > 0 ? run->settings->check : check;
    run->kept_estimate = run->mark = INFINITY;
    run->rest = run->sweeper->rest;
    ss_coupling_get(run->sweeper->coupling, run->kept);
    ss_coupling_get(run->sweeper->coupling, run->first);
    return run->settings->focus ? ss_block_steps_new(run->sweeper, &run->limits, &run->blocks, e)
                                : SS_OK;
}

static void gs_release(gs_run *run)
{
    free(run->kept);
    free(run->first);
    free(run->spare);
    ss_block_steps_free(run->blocks);
    ss_sweeper_free(run->sweeper);
}

static ss_status gs_solve(const ss_task *task, double *r, ss_result *result, ss_error *e)
{
    gs_run run = {
        .task = task, .settings = task->method->global_settings, .limits = ss_limits_start(task)};
    const ss_status status = gs_prepare(&run, r, e);
    if (status == SS_OK && run.sweeper == NULL) {
        ss_limits_give_up(&run.limits, result);
    } else if (status == SS_OK) {
        ss_limits_ready(&run.limits);
        result->outcome = gs_iterate(&run, r, result);
        if (result->outcome != SS_CONVERGED) {
            gs_choose_answer(&run, result);
        }
        ss_sweep_get(run.sweeper, r);
        ss_sweep_count(run.sweeper, result);
        ss_limits_stop(&run.limits, result);
    }
    gs_release(&run);
    return status;
}

const ss_global_solver ss_gauss_seidel = {
    .card = {.name = "gs",
             .law = SS_EXACT,
             .reference = "D11",
             .keys = KEYS,
             .defaults = &DEFAULTS,
             .settings_size = sizeof(settings)},
    .takes_local = true,
    .key_needs = key_needs,
    .takes_threads = ss_sweep_takes_threads,
    .solve = gs_solve,
};
