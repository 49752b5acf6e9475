// apgd: accelerated projected gradient (Nesterov 1983; Mazhar, Heyn, Negrut and Tasora 2015) with
// De Saxce's shift. With p_i = 1 / (tr W_ii / d), g(y) = W y + b + s(y), s = mu |u_T| e,
//
//     r+ = P_K(y - p g(y) / L),     L = lambda_max(p^1/2 W p^1/2)
//     y  = r+ + beta (r+ - r),      beta = theta (1 - theta) / (theta^2 + theta+)
//                                   theta+ = (-theta^2 + theta sqrt(theta^2 + 4)) / 2
//
// theta starts at 1 and again wherever g.(r+ - r) > 0. L is found by power iteration, times 1.05.
// Above mu = 1 it need not converge.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/global/global.h"
#include "solvers/global/drive.h"
#include "solvers/sweep/sweep_keys.h"
#include "solvers/small.h"
#include "solvers/vectors.h"

#define JUDGE_EVERY  10 // iterations: an evaluation costs about one
#define POWER_STEPS  30
#define POWER_MARGIN 1.05

typedef struct settings {
    int form; // ss_coupling_form
} settings;

static const settings DEFAULTS = {0};

static const ss_key KEYS[] = {
    SS_FORM_KEY,
    {.name = NULL},
};

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

// x <- W x, by differences of velocities: those at 0 are `still`.
static void apgd_multiply(const ss_drive *d, apgd_state *state, const double *still, double *x,
                          double *out)
{
    ss_drive_velocity(d, x, state->z, out);
    for (size_t k = 0; k < state->size; k++) {
        out[k] -= still[k];
    }
}

// The largest eigenvalue of p^1/2 W p^1/2 from a start without symmetry: x_k = 1 + k mod 7 / 10.
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

// g at y and the projected step from there.
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

static const ss_steps STEPS = {.moves = SS_MOVES_COUPLING,
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
    SS_DRIVEN(STEPS),
};
