#include "solvers/global/drive.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/registry.h"
#include "solvers/residual.h"

// A residual below so many E of drive.h (1) is rounding.
#define FLOOR_FACTOR 64.0
#define FLOOR_IDLE   8 // evaluations there without a better answer before it is `stalled`

// Sweeps that move nothing before it is `stalled`: velocities computed afresh may yet move some.
#define STILL_SWEEPS 3

// E costs about a sweep. Sweeps ask for it where their estimate is below this share of V or of
// max |s r|, and again when there are twice as many.
#define FLOOR_NEAR 1e-10

// A kept iterate is replaced by one whose estimate is this much better: copies stay rare.
#define KEEP_RATIO 0.5

// Relative step |dr|/|r| on which another law than Coulomb's stops ([D11] 7.2).
#define APPROXIMATE_STEP 5e-2

// ---- The best answer

// packed: in the order of the coupling, r: in the problem's.
static void put_back(const ss_drive *d, const double *packed, double *r)
{
    if (d->sweeper != NULL) {
        ss_ordered_give(&d->sweeper->ordered, d->c->dim, packed, r);
    } else {
        memcpy(r, packed, (size_t)d->c->dim * (size_t)d->c->n * sizeof *r);
    }
}

// Of the present impulses.
static void keep(ss_drive *d, double estimate)
{
    ss_coupling_get(d->c, d->c->packed);
    put_back(d, d->c->packed, d->kept);
    d->kept_estimate = estimate;
}

// In the order of the coupling.
static const double *take_kept(const ss_drive *d)
{
    if (d->sweeper == NULL) {
        return d->kept;
    }
    ss_ordered_take(&d->sweeper->ordered, d->c->dim, d->kept, d->c->packed);
    return d->c->packed;
}

// The present impulses, whose measures are m.
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
    memcpy(d->c->r, r, 4 * (size_t)d->c->n * sizeof *r);
    d->unjudged = true;
    d->estimate = estimate;
    if (estimate < KEEP_RATIO * d->kept_estimate) {
        keep(d, estimate);
    }
}

// The measures of r, or of the present impulses; z of r where it is kept.
static ss_measures measure_one(ss_drive *d, const double *r, const double *z)
{
    if (d->start_z == NULL) {
        if (r != NULL) {
            ss_coupling_put(d->c, r);
        }
        return ss_coupling_measure(d->c);
    }
    if (r != NULL) {
        ss_coupling_put(d->c, r);
        memcpy(d->c->z, z, ss_drive_room(d) * sizeof *z);
    }
    return ss_coupling_measure_present(d->c);
}

// The last iterate of sweeps, the one kept and the start, unless they were judged: sweeps may lead
// away from an answer. Under a rule of its own there is no better than the last.
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

// Of |f| and of the normal parts, at the present impulses.
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
    const int left = d->task->max_iterations - d->iterations;
    return left < most ? left : most;
}

// ---- Sweeps

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

bool ss_drive_meets_squared(const ss_drive *d)
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
                                             : ss_drive_meets_squared(d);
    return met ? SS_CONVERGED : SS_UNSOLVED;
}

ss_outcome ss_drive_sweep(ss_drive *d, bool look)
{
    ss_sweeper *s = d->sweeper;
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
    if (finished && !reached && t->frozen > 0) { // of those that rest nothing is known
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

// The present impulses in the order of the problem, in scratch of the coupling: methods that sweep do not ask for
// the velocities of its last measures.
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
        outcome = d->steps->step(state, d);
        if (d->failed != SS_OK) {
            break;
        }
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

// The threads that share loops over all contacts, where no others share sweeps.
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

static ss_status make_coupling(ss_drive *d, void *state, const double *r, ss_error *e)
{
    const ss_task *t = d->task;
    const ss_stop stop = ss_limits_stopper(&d->limits);
    ss_status status;
    if (d->steps->couple != NULL) {
        status = d->steps->couple(state, d, r, &stop, e);
    } else if (d->steps->sweeps) {
        status = ss_sweeper_new(t, d->settings, r, &stop, &d->sweeper, e);
    } else {
        int form;
        memcpy(&form, (const char *)d->settings + d->steps->form, sizeof form);
        status = make_team(d, e);
        if (status == SS_OK) {
            status = ss_coupling_with(t->problem, t->factor, d->team, (ss_coupling_form)form, false,
                                      &stop, &d->c, e);
        }
        if (d->c != NULL) {
            ss_coupling_set(d->c, r);
        }
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

// Nothing has been tried: r is the start.
static void give_up(ss_drive *d, const ss_error *why, ss_result *result)
{
    ss_limits_give_up(&d->limits, result);
    if (why->text[0] != '\0') {
        result->outcome = SS_NOT_COVERED;
        snprintf(result->why, sizeof result->why, "%.*s", (int)sizeof result->why - 1, why->text);
    }
}

ss_status ss_drive_solve(const ss_task *task, double *r, ss_result *result, ss_error *e)
{
    const ss_method *m = task->method;
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

// ---- What several methods need

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
