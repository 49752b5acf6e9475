// solvers/global/drive.c -- the loop that all methods share, and gs, which is sweeps alone.
#include "solvers/global/drive.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "solvers/global/global.h"
#include "solvers/registry.h"
#include "solvers/residual.h"
#include "solvers/sweep/block_step.h"
#include "solvers/sweep/sweep.h"

// ---- The best answer

// A kept iterate is replaced by one whose estimate is this much better: copies stay rare.
#define KEEP_RATIO 0.5

// Takes r from `packed`, which is in the order of the coupling, to the order of the problem.
static void put_back(const ss_drive *d, const double *packed, double *r)
{
    if (d->sweeper != NULL) {
        ss_ordered_give(&d->sweeper->ordered, d->c->dim, packed, r);
    } else {
        memcpy(r, packed, (size_t)d->c->dim * (size_t)d->c->n * sizeof *r);
    }
}

// Keeps the present impulses.
static void keep(ss_drive *d, double estimate)
{
    ss_coupling_get(d->c, d->c->packed);
    put_back(d, d->c->packed, d->kept);
    d->kept_estimate = estimate;
}

// Returns the kept impulses in the order of the coupling.
static const double *take_kept(const ss_drive *d)
{
    if (d->sweeper == NULL) {
        return d->kept;
    }
    ss_ordered_take(&d->sweeper->ordered, d->c->dim, d->kept, d->c->packed);
    return d->c->packed;
}

// Takes the present impulses, whose measures are m, as the best answer if they are.
static void keep_if_better(ss_drive *d, ss_measures m)
{
    d->residual = ss_measures_error(&m);
    d->idle++;
    if (d->residual < d->best_residual) {
        d->best_residual = d->residual;
        d->floor = NAN;
        d->idle = 0;
        ss_coupling_get(d->c, d->best);
    }
}

void ss_drive_judge(ss_drive *d, const double *r)
{
    if (r != d->c->r) {
        memcpy(d->c->r, r, 4 * (size_t)d->c->n * sizeof *r);
    }
    keep_if_better(d, ss_coupling_measure(d->c));
    d->start_judged |= d->iterations == 0;
    d->unjudged = false;
    d->estimate = d->residual;
}

void ss_drive_pass(ss_drive *d, const double *r, double estimate)
{
    ss_assert(r != d->c->r);
    memcpy(d->c->r, r, 4 * (size_t)d->c->n * sizeof *r);
    d->unjudged = true;
    d->estimate = estimate;
    if (estimate < KEEP_RATIO * d->kept_estimate) {
        keep(d, estimate);
    }
}

// Measures r, or the present impulses if r is NULL; z of r is given if it is kept.
static ss_measures measure_one(ss_drive *d, const double *r, const double *z)
{
    if (r != NULL) {
        ss_coupling_put(d->c, r);
    }
    if (d->start_z == NULL) {
        return ss_coupling_measure(d->c);
    }
    if (r != NULL) {
        memcpy(d->c->z, z, ss_drive_room(d) * sizeof *z);
    }
    return ss_coupling_measure_present(d->c);
}

// Judges the last iterate of sweeps, the one kept and the start, unless they were judged: sweeps
// may lead away from an answer. Under a rule of its own the last is the answer.
static void choose_answer(ss_drive *d)
{
    const bool own_rule = d->rule != SS_STOP_JUDGED;
    if (own_rule) {
        d->best_residual = INFINITY;
    }
    if (d->unjudged) {
        keep_if_better(d, measure_one(d, NULL, NULL));
    }
    if (!own_rule && d->kept_estimate < INFINITY) {
        keep_if_better(d, measure_one(d, take_kept(d), d->kept_z));
    }
    if (!own_rule && !d->start_judged && d->iterations > 0) {
        keep_if_better(d, measure_one(d, d->start, d->start_z));
    }
}

// ---- When to stop

// A residual below so many E of drive.h (1) is rounding.
#define FLOOR_FACTOR 64.0
#define FLOOR_IDLE   8 // evaluations there without a better answer before it is `stalled`

// Sweeps that move nothing before it is `stalled`: velocities computed afresh may yet move some.
#define STILL_SWEEPS 3

// Returns the rounding of |f| and of the normal parts at the present impulses.
static double find_floor(const ss_coupling *c)
{
    return FLOOR_FACTOR * ss_coupling_rounding(c);
}

bool ss_drive_at_floor(const ss_coupling *c, double residual)
{
    return residual * c->V <= find_floor(c);
}

static bool is_at_floor(ss_drive *d)
{
    if (d->idle < FLOOR_IDLE) {
        return false;
    }
    if (isnan(d->floor)) {
        d->floor = find_floor(d->c) / d->c->V;
    }
    return d->best_residual <= d->floor;
}

static ss_outcome drive_test(ss_drive *d)
{
    if (d->best_residual <= d->task->tolerance && d->rule == SS_STOP_JUDGED) {
        return SS_CONVERGED;
    }
    if (d->still >= STILL_SWEEPS || is_at_floor(d)) {
        return SS_STALLED;
    }
    return d->steps->whole ? ss_limits_next(&d->limits, d->iterations)
                           : ss_limits_test(&d->limits, d->iterations);
}

ss_outcome ss_drive_stopped(const ss_drive *d)
{
    const ss_outcome limit = ss_limits_test(&d->limits, -1);
    return limit != SS_UNSOLVED ? limit : SS_STALLED;
}

bool ss_drive_takes_threads(const ss_method *method)
{
    (void)method;
    return true;
}

int ss_drive_left(const ss_drive *d, int most)
{
    ss_assert(most >= 0);
    const int left = d->task->max_iterations - d->iterations;
    return left < most ? left : most;
}

// ---- Sweeps

// E costs about a sweep. Sweeps ask for it where their estimate is below this share of V or of
// max |s r|, and again when there are twice as many.
#define FLOOR_NEAR 1e-10

static bool is_near_floor(ss_drive *d, const ss_tally *t)
{
    const ss_coupling *c = d->c;
    if (!(t->estimate <= FLOOR_NEAR * fmax(c->V, c->s * t->largest))) {
        return false;
    }
    if (d->iterations >= d->near_until) {
        d->near = find_floor(d->c);
        d->near_until = 2 * d->iterations;
    }
    return t->estimate <= d->near;
}

static void keep_by_estimate(ss_drive *d, const ss_tally *t)
{
    if (t->frozen == 0 && t->estimate < KEEP_RATIO * d->kept_estimate) { // it has seen all
        keep(d, t->estimate);
        if (d->kept_z != NULL) {
            memcpy(d->kept_z, d->c->z, ss_drive_room(d) * sizeof *d->kept_z);
        }
    }
}

// True if the present impulses obey SS_STOP_SQUARED.
static bool drive_meets_squared(const ss_drive *d)
{
    const ss_coupling *c = d->c;
    const double least = SS_D11_VELOCITY * sqrt(d->squared);
    bool met = true;
    for (int i = 0; met && i < c->n; i++) {
        double u[3], f[3];
        ss_coupling_velocity(c, i, u);
        ss_coulomb_residual(c->mu[i], d->sweeper->goal.scale, c->r + 4 * (size_t)i, u, f);
        met = ss_norm_inf3(f) <= least;
    }
    return met;
}

static ss_outcome test_own_rule(const ss_drive *d)
{
    const ss_tally *t = &d->sweeper->last;
    const bool met = d->rule == SS_STOP_STEP ? t->step <= d->least_step * d->least_step * t->size
                                             : drive_meets_squared(d);
    return met ? SS_CONVERGED : SS_UNSOLVED;
}

ss_outcome ss_drive_sweep(ss_drive *d, bool look)
{
    ss_sweeper *s = d->sweeper;
    ss_assert(s != NULL);
    ss_sweep(s);
    d->iterations++;
    d->unjudged = true;
    const ss_tally *t = &s->last;
    d->estimate = s->estimates ? t->estimate / d->c->V : NAN;
    if (d->rule != SS_STOP_JUDGED) {
        return test_own_rule(d);
    }
    if (!s->estimates) {
        return SS_UNSOLVED;
    }
    keep_by_estimate(d, t);
    const bool still = t->moved == 0;
    const bool reached = t->estimate <= d->task->tolerance * d->c->V;
    const bool finished = still || is_near_floor(d, t);
    if (finished && !reached && t->frozen > 0) { // nothing is known of contacts that rest
        ss_sweep_thaw(s);
    } else if (reached || finished || look) {
        const double estimate = d->estimate;
        ss_drive_judge(d, d->c->r);
        d->estimate = estimate;
        d->still += still && t->frozen == 0;
        ss_sweep_thaw(s);
    }
    return SS_UNSOLVED;
}

// ---- The loop

// Returns the present impulses in the order of the problem, in scratch of the coupling: methods
// that sweep do not ask for the velocities of its last measures.
static const double *present(const ss_drive *d)
{
    ss_coupling_get(d->c, d->c->packed);
    if (d->sweeper == NULL) {
        return d->c->packed;
    }
    put_back(d, d->c->packed, d->c->u);
    return d->c->u;
}

static void drive_tell(ss_drive *d)
{
    if (!ss_limits_listened(&d->limits, d->iterations)) {
        return;
    }
    const ss_sweeper *s = d->sweeper;
    ss_limits_tell(&d->limits, (ss_progress){.iteration = d->iterations,
                                             .local_solves = s != NULL ? s->counters.solves : 0,
                                             .visits = (s != NULL ? s->visits : 0) + d->more_visits,
                                             .estimate = d->estimate,
                                             .r = present(d),
                                             .note = d->note});
}

static ss_outcome drive_iterate(ss_drive *d, void *state)
{
    if (d->sweeper == NULL) { // the first sweep judges its start for nothing
        ss_drive_judge(d, d->c->r);
    }
    drive_tell(d);
    ss_outcome outcome = drive_test(d);
    while (outcome == SS_UNSOLVED) {
        const int before = d->iterations;
        outcome = d->steps->step(state, d);
        if (d->failed != SS_OK) {
            break;
        }
        ss_assert(outcome != SS_UNSOLVED || d->iterations > before);
        drive_tell(d);
        if (outcome == SS_UNSOLVED) {
            outcome = drive_test(d);
        }
    }
    return outcome;
}

static void give(ss_drive *d, ss_outcome outcome, double *r, ss_result *result)
{
    if (outcome != SS_CONVERGED) {
        choose_answer(d);
    } else if (d->rule != SS_STOP_JUDGED) {
        ss_coupling_get(d->c, d->best);
    }
    if (outcome != SS_CONVERGED || d->rule != SS_STOP_JUDGED) {
        memcpy(result->why, d->why, sizeof result->why);
    }
    put_back(d, d->best, r);
    if (d->sweeper != NULL) {
        ss_sweep_count(d->sweeper, result);
    }
    result->outcome = outcome;
    result->iterations = d->iterations;
    result->own_error = d->best_residual < INFINITY ? d->best_residual : NAN;
    ss_limits_stop(&d->limits, result);
}

// ---- Making one

// Makes the threads that share loops over all contacts, where no others share sweeps.
static ss_status make_team(ss_drive *d, ss_error *e)
{
    if (d->task->threads > 1 && ss_method_takes_threads(d->task->method)) {
        d->team = ss_team_new(d->task->threads);
        if (d->team == NULL) {
            return ss_fail_memory(e, "the threads of a solver");
        }
    }
    return SS_OK;
}

// Makes the coupling of the form that the settings begin with.
static ss_status make_plain(ss_drive *d, const double *r, const ss_stop *stop, ss_error *e)
{
    int form;
    memcpy(&form, d->settings, sizeof form);
    ss_assert(form >= SS_FORM_AUTO && form <= SS_FORM_SWEEPS);
    ss_status status = make_team(d, e);
    if (status == SS_OK) {
        status = ss_coupling_with(d->task->problem, d->task->factor, d->team,
                                  (ss_coupling_form)form, false, stop, &d->c, e);
    }
    if (d->c != NULL) {
        ss_coupling_set(d->c, r);
    }
    return status;
}

// Makes what the method moves impulses in. d->halted says that it was stopped.
static ss_status make_coupling(ss_drive *d, void *state, const double *r, ss_error *e)
{
    const ss_stop stop = ss_limits_stopper(&d->limits);
    ss_status status = SS_OK;
    switch (d->steps->moves) {
    case SS_MOVES_COUPLING:
        status = make_plain(d, r, &stop, e);
        break;
    case SS_MOVES_SWEEPER:
        status = ss_sweeper_new(d->task, d->settings, r, &stop, &d->sweeper, e);
        break;
    case SS_MOVES_OWN:
        status = d->steps->couple(state, d, r, &stop, e);
        break;
    }
    if (d->sweeper != NULL) {
        d->c = d->sweeper->coupling;
    }
    d->halted = d->c == NULL;
    if (status == SS_OK && !d->halted && d->c->team == NULL) {
        status = make_team(d, e);
        d->c->team = d->team;
    }
    return status;
}

static ss_status drive_prepare(ss_drive *d, double *r, void **state, ss_error *e)
{
    *state = calloc(1, d->steps->state_size);
    if (*state == NULL) {
        return ss_fail_memory(e, "a solver");
    }
    const ss_status status = make_coupling(d, *state, r, e);
    if (status != SS_OK || d->halted) {
        return status;
    }
    const size_t size = (size_t)d->c->dim * (size_t)d->c->n;
    d->best = malloc(2 * size * sizeof *d->best);
    if (d->best == NULL) {
        return ss_fail_memory(e, "a solver");
    }
    d->start = d->best + size;
    d->kept = r;
    ss_coupling_get(d->c, d->best);
    memcpy(d->start, d->best, size * sizeof *d->start);
    if (d->sweeper != NULL && ss_coupling_fetches(d->c)) {
        const size_t room = ss_drive_room(d);
        d->start_z = malloc((2 * room + 1) * sizeof *d->start_z);
        if (d->start_z == NULL) {
            return ss_fail_memory(e, "a solver");
        }
        d->kept_z = d->start_z + room;
        memcpy(d->start_z, d->c->z, room * sizeof *d->start_z);
    }
    return d->steps->make(*state, d, e);
}

static void drive_release(ss_drive *d, void *state)
{
    if (state != NULL && d->steps->release != NULL) {
        d->steps->release(state);
    }
    free(state);
    free(d->best);
    free(d->start_z);
    if (d->sweeper != NULL) {
        ss_sweeper_free(d->sweeper);
    } else {
        ss_coupling_free(d->c);
    }
    ss_team_free(d->team);
}

// Ends before anything was tried: a limit stopped the set-up, or the method refuses the problem
// with a sentence. r is the start.
static void give_up(ss_drive *d, const ss_error *why, ss_result *result)
{
    if (why->text[0] == '\0') {
        ss_limits_give_up(&d->limits, result);
        return;
    }
    ss_limits_ready(&d->limits);
    ss_limits_stop(&d->limits, result);
    result->outcome = SS_NOT_COVERED;
    snprintf(result->why, sizeof result->why, "%.*s", (int)sizeof result->why - 1, why->text);
}

// Relative step |dr|/|r| on which another law than Coulomb's stops ([D11] 7.2).
#define APPROXIMATE_STEP 5e-2

ss_status ss_drive_solve(const ss_task *task, double *r, ss_result *result, ss_error *e)
{
    const ss_method *m = task->method;
    ss_assert(m->global->steps != NULL);
    ss_assert((m->global->steps->moves == SS_MOVES_OWN) == (m->global->steps->couple != NULL));
    ss_drive d = {.task = task,
                  .steps = m->global->steps,
                  .settings = m->global_settings,
                  .limits = ss_limits_start(task),
                  .estimate = NAN,
                  .residual = INFINITY,
                  .best_residual = INFINITY,
                  .floor = NAN,
                  .rule = ss_method_is_exact(m) ? SS_STOP_JUDGED : SS_STOP_STEP,
                  .least_step = APPROXIMATE_STEP,
                  .kept_estimate = INFINITY,
                  .unjudged = true};
    void *state = NULL;
    d.failed = drive_prepare(&d, r, &state, &d.error);
    if (d.failed == SS_OK && d.halted) {
        give_up(&d, &d.error, result);
    } else if (d.failed == SS_OK) {
        ss_limits_ready(&d.limits);
        const ss_outcome outcome = drive_iterate(&d, state);
        if (d.failed == SS_OK) {
            give(&d, outcome, r, result);
        }
    }
    drive_release(&d, state);
    return d.failed == SS_OK ? SS_OK : ss_fail(e, d.failed, "%s", d.error.text);
}

// ---- Tools of several methods

size_t ss_drive_room(const ss_drive *d)
{
    return d->c->is_explicit ? 1 : (size_t)d->c->white->body_start[d->c->white->nbodies];
}

void ss_drive_velocity(const ss_drive *d, const double *r, double *z, double *u)
{
    const ss_coupling *c = d->c;
    if (!c->is_explicit) {
        memcpy(z, c->white->z0, ss_drive_room(d) * sizeof *z);
        ss_coupling_push_all(c, r, z);
    }
    for (int i = 0; i < c->n; i++) {
        double *ui = u + 4 * (size_t)i;
        if (c->is_explicit) {
            ss_coupling_row(c, i, r, ui);
        } else {
            ss_coupling_see(c, i, z, ui);
        }
        ui[3] = 0.0;
    }
}

void ss_drive_weights(const ss_drive *d, double *weights)
{
    for (int i = 0; i < d->c->n; i++) {
        const double own = d->c->compliance[i];
        weights[i] = 1.0 / (own > 0.0 ? own : d->c->s > 0.0 ? d->c->s : 1.0);
    }
}

// ---- gs
//
// Sweeps (solvers/sweep/sweep.h) until the answer is good enough. A sweep brings a free estimate of
// the residual, max |f(s r_i, u_i)| just before the local solves, with the judge's s. When it is at
// most tol V, one evaluation of all measures at rest decides. A local solver with another law than
// Coulomb's stops on the relative step |dr|/|r| instead ([D11] 7.2), and the judge tells what its
// answer is worth. stop=step has all solvers do so, and stop=squared is [D11]'s test of all
// contacts after each sweep, and of the start; neither calls frozen contacts back, nor ends where
// nothing moves any more.
//
// as=printed is [D11]'s experiment (doc/formulation.md, "The experiment of [D11]").
//
// With focus=on the few contacts that still move are solved together (solvers/sweep/block_step.h).

// Sweeps between two computations of z from r: rounding adds up in between.
#define REFRESH_SWEEPS 200

// Sweeps from one estimate to the next where a visit is one step of a local solver: there the
// estimate costs as much as the step. focus=on wants every one.
#define ONE_STEP_CHECK 8

// Progress is a best estimate that has become a tenth less. In hair it may take a thousand sweeps
// over a few contacts, which all the others together would slow down.
#define PROGRESS 0.9
#define ROUSE    100

typedef struct settings {
    ss_sweep_settings sweep; // first: its keys are shared
    int stop;                // ss_stop_rule that ends an exact law
    double step;             // relative step on which an approximate law stops, or stop=step
    double tol;              // of stop=squared, in the units of [D11]
    int focus;               // off, on
} settings;

static const settings DEFAULTS = {.sweep = {.skip = 10, .eps = 1e-5}, .step = 5e-2, .tol = 1e-6};

const char *const ss_form_names[] = {"auto", "explicit", "matrix-free", NULL};
const char *const ss_order_names[] = {"natural", "reverse", "random:", "stripes", NULL};
const char *const ss_visit_names[] = {"needed", "all", NULL};
static const char *const ASSEMBLIES[] = {"blocks", "naive", NULL};
static const char *const FREEZES[] = {"off", "on", "paper", "absolute", NULL};
static const char *const STOPS[] = {"fb", "step", "squared", NULL};
static const char *const FOCI[] = {"off", "on", NULL};
static const char *const WAKES[] = {"time", "neighbour", NULL};

static const ss_key KEYS[] = {
    SS_SWEEP_KEYS,
    SS_CHOICE_KEY("assembly", sweep.assembly, ASSEMBLIES,
                  .about = "how W is computed; naive: the products of whole matrices"),
    SS_CHOICE_KEY(
        "freeze", sweep.freeze, FREEZES,
        .about =
            "contacts that change little are not visited; paper: the rule of [D11] relative to the "
            "largest impulse, absolute: to eps"),
    SS_INTEGER_KEY("skip", sweep.skip, 1, 1e6, .about = "sweeps for which a contact is frozen"),
    SS_REAL_KEY("share", sweep.share, 0, 1, .about = "how little is little; 0: the rule's own"),
    SS_CHOICE_KEY("wake", sweep.wake, WAKES, .about = "what ends the rest of a frozen contact"),
    SS_REAL_KEY("eps", sweep.eps, 0, 1,
                .about = "how little is little for freeze=absolute, in the units of [D11]"),
    SS_REAL_KEY(
        "rho", sweep.rho, 0, 1,
        .about =
            "kg; the unit of f, of Newton's methods and of ltol, eps and tol as in [D11]; 0: own "
            "scales"),
    SS_CHOICE_KEY(
        "stop", stop, STOPS,
        .about =
            "what ends it: the verdict (fb), the relative step, or the largest |f|^2 as in [D11]"),
    SS_REAL_KEY("step", step, 0, 1,
                .about = "relative step on which an approximate law, or stop=step, stops"),
    SS_REAL_KEY("tol", tol, 0, 1, .about = "|f|^2 on which stop=squared stops, in [D11]'s units"),
    SS_CHOICE_KEY("focus", focus, FOCI,
                  .about = "solve the contacts that still move by Newton's method"),
    {.name = NULL},
};

static bool is_one_of(const char *key, const char *const *keys)
{
    while (*keys != NULL && strcmp(key, *keys) != 0) {
        keys++;
    }
    return *keys != NULL;
}

// Answers for the keys of freezing.
static const char *freezing_needs(const settings *s, const char *key)
{
    static const char *const OF_FREEZING[] = {"skip", "wake", NULL};
    static const char *const WITHOUT_FREEZING[] = {"visit", "focus", NULL};
    const bool shares = s->sweep.freeze == SS_FREEZE_ON || s->sweep.freeze == SS_FREEZE_PAPER;
    if (s->sweep.freeze == SS_FREEZE_OFF && is_one_of(key, OF_FREEZING)) {
        return "freeze=on, paper or absolute";
    }
    if (s->sweep.freeze != SS_FREEZE_OFF && is_one_of(key, WITHOUT_FREEZING)) {
        return "freeze=off";
    }
    if (!shares && strcmp(key, "share") == 0) {
        return "freeze=on or freeze=paper";
    }
    return s->sweep.freeze != SS_FREEZE_ABSOLUTE && strcmp(key, "eps") == 0 ? "freeze=absolute"
                                                                            : NULL;
}

// Answers for the keys that say when it ends.
static const char *stopping_needs(const settings *s, bool exact, const char *key)
{
    if (!exact && strcmp(key, "stop") == 0) {
        return "a local solver of Coulomb's law";
    }
    if (exact && s->stop != SS_STOP_STEP && strcmp(key, "step") == 0) {
        return "stop=step or a local solver of another law than Coulomb's";
    }
    if ((!exact || s->stop != SS_STOP_SQUARED) && strcmp(key, "tol") == 0) {
        return exact ? "stop=squared" : "a local solver of Coulomb's law";
    }
    if (exact && s->stop != SS_STOP_JUDGED && strcmp(key, "focus") == 0) {
        return "stop=fb";
    }
    return !exact && strcmp(key, "focus") == 0 ? "a local solver of Coulomb's law" : NULL;
}

static const char *key_needs(const ss_method *m, const char *key)
{
    const settings *s = m->global_settings;
    const char *needed = freezing_needs(s, key);
    if (needed == NULL) {
        needed = stopping_needs(s, ss_method_is_exact(m), key);
    }
    if (needed != NULL) {
        return needed;
    }
    const bool in_units = s->sweep.freeze == SS_FREEZE_ABSOLUTE && strcmp(key, "freeze") == 0;
    const bool squared = s->stop == SS_STOP_SQUARED && strcmp(key, "stop") == 0;
    if (s->sweep.rho == 0.0 && (in_units || squared)) {
        return "rho=KG, which tells the units of [D11]";
    }
    if (s->sweep.rho == 0.0 && strcmp(key, "rho") == 0 && s->stop == SS_STOP_SQUARED) {
        return "a value above 0";
    }
    if (s->sweep.form == SS_FORM_MATRIX_FREE && strcmp(key, "assembly") == 0) {
        return "form=explicit";
    }
    return ss_sweep_key_needs(m, key);
}

static bool own_rule(const ss_method *m)
{
    return ((const settings *)m->global_settings)->stop != SS_STOP_JUDGED;
}

typedef struct gs_state {
    ss_block_steps *blocks; // NULL: off
    bool stepped;           // a block step came before this sweep
    int check;              // sweeps from one estimate to the next
    double mark;            // the best estimate when there was PROGRESS last
    int marked;             // the sweep when there was
    double rest;            // rest of the sweeper, without ROUSE
} gs_state;

static ss_status gs_make(void *of, ss_drive *d, ss_error *e)
{
    gs_state *state = of;
    const settings *s = d->settings;
    const ss_method *m = d->task->method;
    const bool one_step = m->failsafe == NULL && m->local->one_step;
    d->least_step = s->step;
    d->squared = s->tol;
    d->rule = d->rule == SS_STOP_JUDGED ? (ss_stop_rule)s->stop : d->rule;
    state->check = one_step && !s->focus ? ONE_STEP_CHECK : 1;
    state->mark = INFINITY;
    state->rest = d->sweeper->rest;
    return s->focus ? ss_block_steps_new(d->sweeper, &d->limits, &state->blocks, e) : SS_OK;
}

static void gs_release(void *of)
{
    ss_block_steps_free(((gs_state *)of)->blocks);
}

// Freezing by rule `on` needs the residuals of every sweep, whatever the law.
static bool wants_estimate(const gs_state *state, const ss_drive *d)
{
    if (((const settings *)d->settings)->sweep.freeze == SS_FREEZE_ON) {
        return true;
    }
    return d->rule == SS_STOP_JUDGED && d->iterations % state->check == state->check - 1;
}

// Many contacts that rest with a little each can hold the others where they are: without progress
// one sweep of ROUSE visits all.
static void rouse(gs_state *state, ss_sweeper *s)
{
    if (s->estimates && s->last.estimate < PROGRESS * state->mark) {
        state->mark = s->last.estimate;
        state->marked = s->sweeps;
    }
    s->rest = (s->sweeps - state->marked) % ROUSE == ROUSE - 1 ? 0.0 : state->rest;
}

static void step_block(gs_state *state, ss_drive *d)
{
    state->stepped =
        state->blocks != NULL && d->iterations > 0 && ss_block_steps_try(state->blocks);
    d->note = state->stepped ? "after a block step" : NULL;
    if (state->stepped) { // progress is counted afresh
        state->mark = INFINITY;
    }
    d->more_visits = state->blocks != NULL ? (long)ss_block_steps_work(state->blocks) : 0;
}

// Ends by a rule of its own, and says so if the spec asked for one.
static ss_outcome gs_end(ss_drive *d)
{
    const settings *s = d->settings;
    if (s->stop != SS_STOP_JUDGED) {
        snprintf(d->why, sizeof d->why, "ended by its own rule, %s",
                 d->rule == SS_STOP_STEP ? "the relative step" : "stop=squared");
    }
    return SS_CONVERGED;
}

static ss_outcome gs_step(void *of, ss_drive *d)
{
    gs_state *state = of;
    if (d->iterations == 0 && d->rule == SS_STOP_SQUARED && drive_meets_squared(d)) {
        return gs_end(d);
    }
    step_block(state, d);
    if (d->iterations % REFRESH_SWEEPS == REFRESH_SWEEPS - 1) {
        ss_coupling_refresh(d->c);
    }
    d->sweeper->estimates = wants_estimate(state, d);
    const ss_outcome outcome = ss_drive_sweep(d, false);
    rouse(state, d->sweeper);
    return outcome == SS_CONVERGED ? gs_end(d) : outcome;
}

static const ss_steps STEPS = {.moves = SS_MOVES_SWEEPER,
                               .whole = true,
                               .state_size = sizeof(gs_state),
                               .make = gs_make,
                               .step = gs_step,
                               .release = gs_release};

const ss_global_solver ss_gauss_seidel = {
    .card = {.name = "gs",
             .law = SS_EXACT,
             .reference = "D11",
             .about = "Gauss-Seidel: visits the contacts in turn and solves each with the "
                      "newest impulses of the others ([D11], Algorithm 1). It stops when the "
                      "residual of all contacts is small enough and the judge agrees. A spec "
                      "without a global solver means gs; all local solvers run under it.",
             SS_OPTIONS(KEYS, DEFAULTS),
             .printed = "rho=8e-6,ltol=1e-7,stop=squared,tol=1e-6,freeze=absolute,"
                        "eps=1e-5,skip=10"},
    SS_DRIVEN(STEPS),
    .takes_local = true,
    .key_needs = key_needs,
    .own_rule = own_rule,
    .takes_threads = ss_sweep_takes_threads,
};
