// solvers/global/gradient.c -- projected gradients with De Saxce's shift s = mu |u_T| e, which
// factor nothing: apgd and spg. Both step in the metric of p_i = 1 / (tr W_ii / d).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "solvers/global/drive.h"
#include "solvers/global/global.h"
#include "solvers/small.h"
#include "solvers/sweep/sweep.h"
#include "solvers/vectors.h"

#define JUDGE_EVERY 10 // iterations: an evaluation costs about one

typedef struct settings {
    int form; // ss_coupling_form
} settings;

static const settings DEFAULTS = {0};

static const ss_key KEYS[] = {SS_FORM_KEY, {.name = NULL}};

// ---- apgd
//
// Accelerated projected gradient (Nesterov 1983; Mazhar, Heyn, Negrut and Tasora 2015). With
// g(y) = W y + b + s(y),
//
//     r+ = P_K(y - p g(y) / L),     L = lambda_max(p^1/2 W p^1/2)
//     y  = r+ + beta (r+ - r),      beta = theta (1 - theta) / (theta^2 + theta+)
//                                   theta+ = (-theta^2 + theta sqrt(theta^2 + 4)) / 2
//
// theta starts at 1 and again wherever g.(r+ - r) > 0. L is found by power iteration, times 1.05.
// Above mu = 1 it need not converge.

#define POWER_STEPS  30
#define POWER_MARGIN 1.05

typedef struct apgd_state {
    size_t size;
    double *p;                // [n]
    double *r, *next, *y, *g; // [4 n]
    double *z;                // scratch of the velocity
    double L, theta;
} apgd_state;

static void apgd_release(void *of)
{
    apgd_state *state = of;
    free(state->p);
    free(state->r);
    free(state->z);
}

// Finds out = W x, by differences of velocities: those at 0 are `still`.
static void apgd_multiply(const ss_drive *d, apgd_state *state, const double *still, double *x,
                          double *out)
{
    ss_drive_velocity(d, x, state->z, out);
    for (size_t k = 0; k < state->size; k++) {
        out[k] -= still[k];
    }
}

// Finds L from a start without symmetry: x_k = 1 + k mod 7 / 10.
static void find_largest(const ss_drive *d, apgd_state *state)
{
    double *x = state->y, *Wx = state->g, *still = state->next;
    memset(x, 0, state->size * sizeof *x);
    ss_drive_velocity(d, x, state->z, still);
    for (size_t k = 0; k < state->size; k++) {
        x[k] = k % 4 < (size_t)d->c->dim ? 1.0 + (double)(k % 7) / 10.0 : 0.0;
    }
    state->L = 1.0;
    const ss_stop stop = ss_limits_stopper(&d->limits);
    for (int step = 0; step < POWER_STEPS && !ss_stop_asked(&stop); step++) {
        double norm = 0.0; // of x in p^-1
        for (size_t k = 0; k < state->size; k++) {
            norm += x[k] * x[k] / state->p[k / 4];
        }
        ss_vector_add(state->size, 1.0 / sqrt(norm) - 1.0, x, x);
        apgd_multiply(d, state, still, x, Wx);
        const double rayleigh = ss_vector_dot(state->size, x, Wx);
        if (!(rayleigh > 0.0)) {
            break;
        }
        state->L = rayleigh;
        for (size_t k = 0; k < state->size; k++) {
            x[k] = state->p[k / 4] * Wx[k];
        }
    }
    state->L *= POWER_MARGIN;
    ss_assert(state->L > 0.0);
}

static ss_status apgd_make(void *of, ss_drive *d, ss_error *e)
{
    apgd_state *state = of;
    state->size = 4 * (size_t)d->c->n;
    state->p = malloc((size_t)d->c->n * sizeof *state->p);
    state->r = malloc(4 * state->size * sizeof *state->r);
    state->z = malloc(ss_drive_room(d) * sizeof *state->z);
    if (state->p == NULL || state->r == NULL || state->z == NULL) {
        return ss_fail_memory(e, "a projected gradient");
    }
    state->next = state->r + state->size;
    state->y = state->next + state->size;
    state->g = state->y + state->size;
    ss_drive_weights(d, state->p);
    find_largest(d, state);
    memcpy(state->r, d->c->r, state->size * sizeof *state->r);
    memcpy(state->y, state->r, state->size * sizeof *state->y);
    state->theta = 1.0;
    return SS_OK;
}

// Finds g at y and the projected step from there.
static void descend(apgd_state *state, const ss_drive *d)
{
    ss_drive_velocity(d, state->y, state->z, state->g);
    for (int i = 0; i < d->c->n; i++) {
        const size_t at = 4 * (size_t)i;
        double *g = state->g + at, x[3];
        g[0] += d->c->mu[i] * ss_length2(g[1], g[2]);
        for (size_t k = 0; k < 3; k++) {
            x[k] = state->y[at + k] - state->p[i] / state->L * g[k];
        }
        ss_cone_project(d->c->mu[i], x, state->next + at);
        state->next[at + 3] = 0.0;
    }
}

static ss_outcome apgd_step(void *of, ss_drive *d)
{
    apgd_state *state = of;
    descend(state, d);
    double uphill = 0.0;
    for (size_t k = 0; k < state->size; k++) {
        uphill += state->g[k] * (state->next[k] - state->r[k]);
    }
    double beta = 0.0;
    if (uphill > 0.0) {
        state->theta = 1.0;
    } else {
        const double square = state->theta * state->theta;
        const double next = 0.5 * (state->theta * sqrt(square + 4.0) - square);
        beta = state->theta * (1.0 - state->theta) / (square + next);
        state->theta = next;
    }
    for (size_t k = 0; k < state->size; k++) {
        state->y[k] = state->next[k] + beta * (state->next[k] - state->r[k]);
        state->r[k] = state->next[k];
    }
    if (++d->iterations % JUDGE_EVERY == 0) {
        ss_drive_judge(d, state->r);
    }
    return SS_UNSOLVED;
}

static const ss_steps APGD_STEPS = {.moves = SS_MOVES_COUPLING,
                                    .whole = true,
                                    .state_size = sizeof(apgd_state),
                                    .make = apgd_make,
                                    .step = apgd_step,
                                    .release = apgd_release};

const ss_global_solver ss_apgd = {
    .card = {.name = "apgd",
             .law = SS_EXACT,
             .reference = "N83 MHNT15",
             .about = "Accelerated projected gradients after Nesterov on the convex problem "
                      "with De Saxce's shift, which follows the iterates. It factors nothing "
                      "and each iteration costs one product by W. Above mu = 1 it may not "
                      "converge.",
             SS_OPTIONS(KEYS, DEFAULTS)},
    SS_DRIVEN(APGD_STEPS),
};

// ---- spg
//
// Spectral projected gradient (Birgin, Martinez and Raydan 2000) on
//
//     min over K of  q(r) = r'W r / 2 + (b + s)' r,     s frozen
//
// With g = W r + b + s and d = P_K(r - a p g) - r the step is t = 1 where q(r + d) is not above the
// largest of the last 10 values, else the minimum of q along d (q is quadratic: no trial
// evaluations); then a = |d|^2_{1/p} / d'W d (Barzilai and Borwein). s is renewed after 50 steps or
// when |d| has fallen to a tenth.

#define INNER_STEPS   50
#define INNER_SHARE   0.1
#define REFRESH_EVERY 50   // steps: u is summed up in between
#define MEMORY        10   // values of q
#define DECREASE      1e-4 // of the slope
#define LENGTH_LEAST  1e-6 // of a
#define LENGTH_MOST   1e6

typedef struct spg_state {
    size_t size;
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

// Numbers of q along d.
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
    if (state->inner >= INNER_STEPS || length <= INNER_SHARE * state->first) {
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

static const ss_steps SPG_STEPS = {.moves = SS_MOVES_COUPLING,
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
    SS_DRIVEN(SPG_STEPS),
};
