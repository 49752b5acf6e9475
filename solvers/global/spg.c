// spg: spectral projected gradient (Birgin, Martinez and Raydan 2000) on
//
//     min over K of  q(r) = r'W r / 2 + (b + s)' r,     s = mu |u_T| e frozen
//
// in the metric of p_i = 1 / (tr W_ii / d). With g = W r + b + s and d = P_K(r - a p g) - r the
// step is t = 1 where q(r + d) is not above the largest of the last 10 values, else the minimum of
// q along d (q is quadratic: no trial evaluations); then a = |d|^2_{1/p} / d'W d (Barzilai and
// Borwein). `shift=outer` (the default) renews s after 50 steps or when |d| has fallen to a tenth.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/global/global.h"
#include "solvers/global/drive.h"
#include "solvers/sweep/sweep_keys.h"
#include "solvers/small.h"

#define INNER_STEPS   50
#define INNER_SHARE   0.1
#define JUDGE_EVERY   10
#define REFRESH_EVERY 50   // steps: u is summed up in between
#define MEMORY        10   // values of q
#define DECREASE      1e-4 // of the slope
#define LENGTH_LEAST  1e-6 // of a
#define LENGTH_MOST   1e6

typedef enum shift_rule { SHIFT_OUTER, SHIFT_STEP } shift_rule;

typedef struct settings {
    int form; // ss_coupling_form
    int shift;
} settings;

static const settings DEFAULTS = {.shift = SHIFT_OUTER};
static const char *const SHIFTS[] = {"outer", "step", NULL};

static const ss_key KEYS[] = {
    SS_FORM_KEY,
    SS_CHOICE_KEY("shift", shift, SHIFTS, .about = "when De Saxce's shift is renewed"),
    {.name = NULL},
};

typedef struct spg_state {
    size_t size;
    shift_rule rule;
    double *p, *s;                       // [n]
    double *r, *u, *d, *trial, *trial_u; // [4 n]; trial is r + d
    double *z;
    double a;              // step length
    double values[MEMORY]; // of q, in a ring
    int inner;             // steps since s was renewed
    double first;          // |d| of the first of them
} spg_state;

static void spg_release(void *of)
{
    spg_state *state = of;
    free(state->p);
    free(state->r);
    free(state->z);
}

static void renew_shift(spg_state *state, const ss_drive *d)
{
    for (int i = 0; i < d->c->n; i++) {
        const double *u = state->u + 4 * (size_t)i;
        state->s[i] = d->c->mu[i] * ss_length2(u[1], u[2]);
    }
    state->inner = 0;
    for (int k = 0; k < MEMORY; k++) {
        state->values[k] = -INFINITY;
    }
}

static ss_status spg_make(void *of, ss_drive *d, ss_error *e)
{
    spg_state *state = of;
    const size_t n = (size_t)d->c->n;
    state->size = 4 * n;
    state->rule = (shift_rule)((const settings *)d->settings)->shift;
    state->p = malloc(2 * n * sizeof *state->p);
    state->r = calloc(5 * state->size, sizeof *state->r);
    state->z = malloc(ss_drive_room(d) * sizeof *state->z);
    if (state->p == NULL || state->r == NULL || state->z == NULL) {
        return ss_fail_memory(e, "a projected gradient");
    }
    state->s = state->p + n;
    state->u = state->r + state->size;
    state->d = state->u + state->size;
    state->trial = state->d + state->size;
    state->trial_u = state->trial + state->size;
    state->a = 1.0;
    ss_drive_weights(d, state->p);
    memcpy(state->r, d->c->r, state->size * sizeof *state->r);
    ss_drive_velocity(d, state->r, state->z, state->u);
    renew_shift(state, d);
    return SS_OK;
}

// What is known of q along d.
typedef struct line {
    double square; // |d|^2 in 1/p
    double slope;  // g.d
    double curve;  // d'W d
    double value;  // q(r), up to a constant
} line;

static line look_along(spg_state *state, const ss_drive *d)
{
    line l = {0};
    for (int i = 0; i < d->c->n; i++) {
        const size_t at = 4 * (size_t)i;
        const double *r = state->r + at;
        double x[3], g[3], *step = state->d + at;
        for (size_t k = 0; k < 3; k++) {
            g[k] = state->u[at + k] + (k == 0 ? state->s[i] : 0.0);
            x[k] = r[k] - state->a * state->p[i] * g[k];
        }
        ss_cone_project(d->c->mu[i], x, step);
        for (size_t k = 0; k < 3; k++) {
            const double b = k < (size_t)d->c->dim ? d->c->b[(size_t)d->c->dim * (size_t)i + k] : 0;
            step[k] -= r[k];
            state->trial[at + k] = r[k] + step[k];
            l.square += step[k] * step[k] / state->p[i];
            l.slope += g[k] * step[k];
            l.value += 0.5 * r[k] * (g[k] + b + (k == 0 ? state->s[i] : 0.0));
        }
    }
    ss_drive_velocity(d, state->trial, state->z, state->trial_u);
    for (size_t k = 0; k < state->size; k++) {
        l.curve += state->d[k] * (state->trial_u[k] - state->u[k]);
    }
    return l;
}

static double choose_step(spg_state *state, const line *l)
{
    if (state->rule == SHIFT_STEP) {
        return 1.0;
    }
    state->values[state->inner % MEMORY] = l->value;
    double most = -INFINITY;
    for (int k = 0; k < MEMORY; k++) {
        most = fmax(most, state->values[k]);
    }
    const double full = l->value + l->slope + 0.5 * l->curve;
    return full <= most + DECREASE * l->slope || !(l->curve > 0.0)
               ? 1.0
               : fmin(1.0, -l->slope / l->curve);
}

static ss_outcome spg_step(void *of, ss_drive *d)
{
    spg_state *state = of;
    const line l = look_along(state, d);
    const double t = choose_step(state, &l);
    for (size_t k = 0; k < state->size; k++) {
        state->r[k] += t * state->d[k];
        state->u[k] += t * (state->trial_u[k] - state->u[k]);
    }
    if (l.curve > 0.0) {
        state->a = fmax(LENGTH_LEAST, fmin(l.square / l.curve, LENGTH_MOST));
    }
    const double length = sqrt(l.square);
    if (state->inner++ == 0) {
        state->first = length;
    }
    if (state->rule == SHIFT_STEP || state->inner >= INNER_STEPS ||
        length <= INNER_SHARE * state->first) {
        renew_shift(state, d);
    }
    d->iterations++;
    if (d->iterations % JUDGE_EVERY == 0) {
        ss_drive_judge(d, state->r);
    }
    if (d->iterations % REFRESH_EVERY == 0) {
        ss_drive_velocity(d, state->r, state->z, state->u);
    }
    return SS_UNSOLVED;
}

static const ss_steps STEPS = {.moves = SS_MOVES_COUPLING,
                               .whole = true,
                               .state_size = sizeof(spg_state),
                               .make = spg_make,
                               .step = spg_step,
                               .release = spg_release};

const ss_global_solver ss_spg = {
    .card = {.name = "spg",
             .law = SS_EXACT,
             .reference = "BMR00",
             .about = "Spectral projected gradients: steps of Barzilai and Borwein with a "
                      "non-monotone line search on the convex problem with a frozen shift. "
                      "The shift of De Saxce is renewed in an outer loop. It factors nothing.",
             SS_OPTIONS(KEYS, DEFAULTS)},
    SS_DRIVEN(STEPS),
};
