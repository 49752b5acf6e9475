#include "solvers/global/ppa_start.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/global/ipm.h"

#define LEAST_DELTA  1e-6 // the cap of rho is 1e6, too
#define MOST_DELTA   3e-4 // beyond it only the contacts of a fold get more compliance
#define DELTA_GROWTH 3.0  // least factor by which delta grows at a fold,
#define MOST_GROWTH  5.0  // and largest; with 10, many more steps follow
#define GOOD_STEP    0.5  // compliance decays after a step of at least this length
#define HOPELESS     0.05 // a first direction as short: a centring one is shorter than 0.1 then
#define NEAR         1e-6 // estimate from which on exact steps are cheaper
#define NEAR_JUDGED  3.0  // times the tolerance: answers with such an estimate are judged
#define IDLE_MOST    20   // steps without a better estimate

// The contacts of a fold have a large part of |direction|^2 (ss_ipm_find_parts).
#define FOLD_SHARE  0.01 // least share of the largest part,
#define FOLD_LEAST  4.0  // and least multiple of x.y
#define FOLD_GROWTH 10.0 // factor of their compliance where a step is refused,
#define FOLD_TRIES  2    // so often in a row at most,
#define FOLD_MORE   2.0  // and where a step is taken
#define FOLD_STEP   0.3  // that is shorter than this
#define FOLD_DECAY  0.5  // factor after a good step
#define FOLD_MOST   1e9  // largest multiple of the compliance at the start

void ss_ppa_start_free(ss_ppa_start *start)
{
    if (start != NULL) {
        ss_ipm_release(&start->newton);
        free(start->plain);
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
    const size_t n = (size_t)d->c->n;
    start->plain = malloc((2 * n + 1) * sizeof *start->plain);
    if (!ss_ipm_allocate(state, system) || start->plain == NULL) {
        ss_ppa_start_free(start);
        return NULL;
    }
    start->is_short = state->is_short;
    start->least = INFINITY;
    state->delta = LEAST_DELTA;
    ss_ipm_start(state, d);
    start->part = start->plain + n;
    memcpy(start->plain, state->compliance, n * sizeof *start->plain);
    return start;
}

// Less weight: delta grows. If it may grow no more it is least again, and from now on only the
// contacts of folds get more compliance.
static void start_soften(ss_ppa_start *start, double growth)
{
    ss_interior *state = &start->newton;
    start->by_contact = state->delta >= MOST_DELTA;
    state->delta = start->by_contact ? LEAST_DELTA : fmin(growth * state->delta, MOST_DELTA);
    state->is_short = start->is_short;
}

// More compliance for the contacts of the fold that the direction meets.
static void start_soften_fold(ss_ppa_start *start, double growth)
{
    ss_interior *state = &start->newton;
    const int n = state->system->c->n;
    double *part = start->part, largest = 0.0;
    ss_ipm_find_parts(state, part);
    for (int i = 0; i < n; i++) {
        largest = fmax(part[i], largest);
    }
    const double least = fmax(FOLD_LEAST * state->gap, FOLD_SHARE * largest);
    for (int i = 0; i < n; i++) {
        if (part[i] >= least) {
            state->compliance[i] = fmin(growth * state->compliance[i], FOLD_MOST * start->plain[i]);
        }
    }
}

// Whether no step is taken, as it would be short or det J < 0: the problem is softened instead.
// Contacts of a fold are softened at most FOLD_TRIES times in a row before a step is taken all the
// same.
static bool start_refuses(ss_ppa_start *start, bool folded, double a)
{
    if ((!folded && !(a < SS_IPM_SHORT)) || start->tries == FOLD_TRIES) {
        start->tries = 0;
        return false;
    }
    if (start->by_contact) {
        start->tries++;
        start_soften_fold(start, FOLD_GROWTH);
    } else {
        start_soften(start, fmin(fmax(SS_IPM_SHORT / a, DELTA_GROWTH), MOST_GROWTH));
    }
    return true;
}

// After a step of length a.
static void start_adapt(ss_ppa_start *start, double a)
{
    ss_interior *state = &start->newton;
    if (start->by_contact && a < FOLD_STEP) {
        start_soften_fold(start, FOLD_MORE);
    }
    if (a < GOOD_STEP) {
        return;
    }
    ss_ipm_harden(state, LEAST_DELTA);
    for (int i = 0; start->by_contact && i < state->system->c->n; i++) {
        state->compliance[i] = fmax(FOLD_DECAY * state->compliance[i], start->plain[i]);
    }
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
    const bool folded = ss_block_lu_is_negative(state->system->lu);
    if (folded && !start->by_contact) {
        start_soften(start, DELTA_GROWTH);
        return SS_PPA_START_GOES_ON;
    }
    double plain;
    const double a = ss_ipm_find_step(state, true, start->by_contact ? 0.0 : HOPELESS, &plain);
    if (start_refuses(start, folded, a)) {
        return SS_PPA_START_GOES_ON;
    }
    if (!(a > 0.0) || !isfinite(a) || start->idle >= IDLE_MOST) {
        return SS_PPA_START_STUCK;
    }
    start_adapt(start, a);
    ss_ipm_move(state, a);
    return start_look(start, d);
}
