// nncg: Gauss-Seidel as a nonsmooth nonlinear conjugate gradient (Silcowitz-Hansen, Niebe and
// Erleben 2010). With d = g - x the step of a sweep and beta = |d_k|^2 / |d_k-1|^2 (Fletcher and
// Reeves), in the norm sum_i tr(W_ii)/d |d_i|^2,
//
//     beta > 1:   x <- g,            p <- d
//     else:       x <- g + beta p,   p <- beta p + d
#include "solvers/global/accelerated.h"
#include "solvers/global/global.h"
#include "solvers/sweep/sweep_keys.h"

#include <stdlib.h>
#include <string.h>

#include "solvers/vectors.h"

typedef struct settings {
    ss_sweep_settings sweep; // first: its keys are shared
} settings;

static const settings DEFAULTS = {.sweep = {.skip = 10}};

static const ss_key KEYS[] = {SS_SWEEP_KEYS, {.name = NULL}};

typedef struct directions {
    size_t size, more;
    double *p, *p_more;     // directions of r and of z
    double *old, *old_more; // x
    double square;          // |d|^2 of the last step; 0: none
} directions;

static void nncg_release(void *rule)
{
    directions *state = rule;
    free(state->p);
    free(state);
}

static void *nncg_make(const void *settings_, size_t size, size_t more)
{
    (void)settings_;
    directions *state = calloc(1, sizeof *state);
    if (state == NULL) {
        return NULL;
    }
    state->size = size;
    state->more = more;
    state->p = calloc(2 * (size + more), sizeof *state->p);
    if (state->p == NULL) {
        nncg_release(state);
        return NULL;
    }
    state->p_more = state->p + size;
    state->old = state->p_more + more;
    state->old_more = state->old + size;
    return state;
}

static void nncg_forget(void *rule)
{
    ((directions *)rule)->square = 0.0;
}

// p <- beta p + (g - x), x <- g + beta p with the p of before.
static void nncg_move(size_t n, double beta, double *p, double *x, double *g)
{
    for (size_t k = 0; k < n; k++) {
        const double d = g[k] - x[k], along = beta * p[k];
        p[k] = along + d;
        x[k] = g[k] += along;
    }
}

static void nncg_step(void *rule, const double *f, double *g, double *h)
{
    directions *state = rule;
    const double square = ss_vector_dot(state->size, f, f);
    const double ratio = state->square > 0.0 ? square / state->square : 0.0;
    const double beta = ratio <= 1.0 ? ratio : 0.0;
    if (state->square == 0.0) { // x is not known yet: p is 0 until the next step
        memset(state->p, 0, (state->size + state->more) * sizeof *state->p);
        memcpy(state->old, g, state->size * sizeof *g);
        if (state->more > 0) {
            memcpy(state->old_more, h, state->more * sizeof *h);
        }
    } else {
        nncg_move(state->size, beta, state->p, state->old, g);
        nncg_move(state->more, beta, state->p_more, state->old_more, h);
    }
    state->square = square;
}

static const ss_rule RULE = {
    .make = nncg_make, .free = nncg_release, .step = nncg_step, .forget = nncg_forget};

static const ss_steps STEPS = SS_ACCELERATED_STEPS(&RULE);

const ss_global_solver ss_nncg = {
    .card = {.name = "nncg",
             .law = SS_EXACT,
             .reference = "SNE10",
             .about = "Gauss-Seidel as a nonsmooth, nonlinear method of conjugate gradients "
                      "after Fletcher and Reeves. A step that grows restarts the direction. "
                      "Iterations are sweeps.",
             SS_OPTIONS(KEYS, DEFAULTS)},
    SS_DRIVEN(STEPS),
    .takes_local = true,
    .key_needs = ss_sweep_key_needs,
    .takes_threads = ss_sweep_takes_threads,
};
