#include "solvers/global/accelerated.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REFRESH_SWEEPS 50   // z is computed afresh from r: extrapolation adds to its rounding
#define LOOK_SWEEPS    8    // sweeps from one evaluation of g to the next
#define PATIENCE       24   // sweeps in which the best residual falls by
#define PROGRESS       0.9  // this factor
#define FAR            3.0  // times the best residual: a restart goes back to it
#define PLAIN_FIRST    20   // plain sweeps of the first restart,
#define PLAIN_MOST     640  // doubled up to these
#define REST_SHARE     2e-3 // of what may rest in plain sweeps: it does not accelerate

// Plainly: from the best g, unless the present one is nearly as good. On a slow path the residual
// may rise for a thousand sweeps, and going back each time would never get past that.
static void accelerated_restart(ss_accelerated *state, const ss_drive *d)
{
    if (!(d->residual <= FAR * d->best_residual)) {
        ss_coupling_set(d->c, d->best);
    }
    state->rule->forget(state->memory);
    state->plain = state->next_plain;
    state->next_plain = state->next_plain < PLAIN_MOST ? 2 * state->next_plain : PLAIN_MOST;
    state->mark = d->best_residual;
    state->marked = d->iterations + state->plain;
}

// f = (g - x) weighted.
static void take_residual(ss_accelerated *state, const double *g)
{
    for (size_t k = 0; k < state->size; k++) {
        state->f[k] = state->weight[k] * (g[k] - state->x[k]);
    }
}

// x from g by the rule.
static void extrapolate(ss_accelerated *state, ss_coupling *c)
{
    take_residual(state, c->r);
    memcpy(state->g, c->r, state->size * sizeof *state->g);
    if (state->more > 0) {
        memcpy(state->z, c->z, state->more * sizeof *state->z);
    }
    state->rule->step(state->memory, state->f, c->r, c->z);
    ss_coupling_leapt(c, state->g, state->z);
}

// To the x of the next sweep.
static void accelerated_advance(ss_accelerated *state, ss_drive *d)
{
    if (d->best_residual <= PROGRESS * state->mark) {
        state->mark = d->best_residual;
        state->marked = d->iterations;
    }
    if (state->plain > 0) {
        state->plain--;
    } else if (d->iterations - state->marked >= PATIENCE || isnan(d->sweeper->last.estimate)) {
        accelerated_restart(state, d);
    } else {
        extrapolate(state, d->c);
    }
    if (d->iterations % REFRESH_SWEEPS == 0) {
        ss_coupling_refresh(d->c);
    }
}

ss_outcome ss_accelerated_step(void *of, ss_drive *d)
{
    ss_accelerated *state = of;
    if (d->iterations > 0) {
        accelerated_advance(state, d);
    }
    memcpy(state->x, d->c->r, state->size * sizeof *state->x);
    return ss_drive_sweep(d, (d->iterations + 1) % LOOK_SWEEPS == 0);
}

static bool accelerated_allocate(ss_accelerated *state, const void *settings)
{
    state->x = malloc(4 * state->size * sizeof *state->x);
    state->z = malloc((state->more + 1) * sizeof *state->z);
    state->memory = state->rule->make(settings, state->size, state->more);
    if (state->x == NULL || state->z == NULL || state->memory == NULL) {
        return false;
    }
    state->f = state->x + state->size;
    state->weight = state->f + state->size;
    state->g = state->weight + state->size;
    return true;
}

ss_status ss_accelerated_make(void *of, ss_drive *d, ss_error *e)
{
    ss_accelerated *state = of;
    const ss_coupling *c = d->c;
    state->rule = d->steps->kind;
    state->size = 4 * (size_t)c->n;
    state->more = c->is_explicit ? 0 : (size_t)c->white->body_start[c->white->nbodies];
    if (!accelerated_allocate(state, d->settings)) {
        return ss_fail_memory(e, "an accelerated iteration");
    }
    for (size_t k = 0; k < state->size; k++) {
        state->weight[k] = sqrt(c->compliance[k / 4]);
    }
    state->mark = INFINITY;
    state->next_plain = PLAIN_FIRST;
    d->sweeper->rest *= REST_SHARE;
    return SS_OK;
}

void ss_accelerated_release(void *of)
{
    ss_accelerated *state = of;
    if (state->memory != NULL) {
        state->rule->free(state->memory);
    }
    free(state->x);
    free(state->z);
}
