#include "solvers/global/ppa_start.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/global/ipm_step.h"

#define LEAST_DELTA  1e-6 // the cap of rho is 1e6, too
#define MOST_DELTA   1e-3 // beyond it steps lead nowhere
#define DELTA_GROWTH 3.0  // at a fold, at least, and at most
#define MOST_GROWTH  5.0  // so much; by 10, many more steps follow
#define DELTA_DECAY  0.5  // after a step of
#define GOOD_STEP    0.5  // at least this length
#define HOPELESS     0.05 // a first direction as short: a centring one is shorter than 0.1 then
#define NEAR         1e-6 // estimate from which on exact steps are cheaper
#define NEAR_JUDGED  3.0  // times the tolerance: answers with such an estimate are judged
#define IDLE_MOST    20   // steps without a better estimate

void ss_ppa_start_free(ss_ppa_start *start)
{
    if (start != NULL) {
        start->newton.system = NULL;
        ss_ipm_release(&start->newton);
        free(start->shorter.q);
        free(start);
    }
}

ss_ppa_start *ss_ppa_start_new(ss_implicit *system, const ss_drive *d)
{
    ss_ppa_start *start = calloc(1, sizeof *start);
    if (start == NULL) {
        return NULL;
    }
    ss_interior *state = &start->newton;
    state->system = system;
    state->size = system->size;
    const bool made = ss_ipm_allocate(state);
    start->shorter = made ? ss_ipm_point_new(state) : (ss_ipm_point){0};
    if (start->shorter.q == NULL) {
        ss_ppa_start_free(start);
        return NULL;
    }
    start->is_short = state->is_short;
    start->least = INFINITY;
    state->delta = LEAST_DELTA;
    ss_ipm_step_start(state, d);
    return start;
}

// Less weight. False where there is as little as there may be.
static bool start_soften(ss_ppa_start *start, double growth)
{
    ss_interior *state = &start->newton;
    if (state->delta >= MOST_DELTA) {
        return false;
    }
    state->delta = fmin(growth * state->delta, MOST_DELTA);
    state->is_short = start->is_short;
    return true;
}

static ss_ppa_start_state start_look(ss_ppa_start *start, ss_drive *d)
{
    ss_interior *state = &start->newton;
    const double estimate = ss_ipm_estimate(state);
    start->idle++;
    if (estimate < start->least) {
        start->least = estimate;
        start->idle = 0;
    }
    if (estimate <= NEAR_JUDGED * d->task->tolerance) {
        ss_drive_judge(d, state->r);
    } else {
        ss_drive_pass(d, state->r, estimate);
    }
    return estimate <= NEAR ? SS_PPA_START_NEAR : SS_PPA_START_GOES_ON;
}

ss_ppa_start_state ss_ppa_start_step(ss_ppa_start *start, ss_drive *d)
{
    ss_interior *state = &start->newton;
    d->iterations++;
    state->gap = ss_ipm_gap(state, 0.0);
    if (!ss_ipm_factor(state)) {
        return SS_PPA_START_STUCK;
    }
    if (ss_block_lu_is_negative(state->system->lu) && start_soften(start, DELTA_GROWTH)) {
        return SS_PPA_START_GOES_ON;
    }
    const double hopeless = state->delta < MOST_DELTA ? HOPELESS : 0.0;
    double plain;
    const double a = ss_ipm_step_find(state, start->shorter, hopeless, &plain);
    if (a < SS_IPM_SHORT &&
        start_soften(start, fmin(fmax(SS_IPM_SHORT / a, DELTA_GROWTH), MOST_GROWTH))) {
        return SS_PPA_START_GOES_ON;
    }
    if (!(a > 0.0) || !isfinite(a) || start->idle >= IDLE_MOST) {
        return SS_PPA_START_STUCK;
    }
    if (a >= GOOD_STEP) {
        state->delta = fmax(DELTA_DECAY * state->delta, LEAST_DELTA);
    }
    ss_ipm_move(state, a);
    return start_look(start, d);
}
