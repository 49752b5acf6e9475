// prox: the proximal point method around Gauss-Seidel (Rockafellar 1976; the most robust family in
// Siconos). Around a centre l, with a_i = alpha tr(W_ii)/d, sweeps solve
//
//     u = (W + a) r + (b - a l)
//
// to a tenth of its first residual, then l <- r. alpha falls where that takes few sweeps and grows
// where it takes too many: a large one makes every inner problem easy and the outer steps short.
// Fixed points are the solutions of the problem itself. Explicit form only: a is added to the
// blocks of W. The answer is judged with W and b as they are.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/global/global.h"
#include "solvers/global/drive.h"
#include "solvers/sweep/sweep_keys.h"

#define INNER_SHARE 0.1
#define INNER_MOST  200 // sweeps of an inner problem
#define INNER_FEW   20
#define ALPHA_LEAST 1e-8
#define ALPHA_MOST  1e3

typedef struct settings {
    ss_sweep_settings sweep; // first: its keys are shared
    double alpha;
} settings;

static const settings DEFAULTS = {.sweep = {.form = SS_FORM_EXPLICIT, .skip = 10}, .alpha = 0.1};

static const ss_key KEYS[] = {
    SS_REAL_KEY("ltol", sweep.ltol, 0, 1,
                .about = "local tolerance over the velocity scale; 0: a tenth of --tol"),
    SS_REAL_KEY("alpha", alpha, ALPHA_LEAST, ALPHA_MOST,
                .about = "first addition to the diagonal, over tr(W_ii)/d"),
    {.name = NULL},
};

typedef struct prox_state {
    double alpha;
    int sweeps;       // of the present inner problem
    double first;     // its first residual
    size_t *diagonal; // [n] first number of W_ii in W.x
    double *own;      // [dim n] diagonal of W_ii, as it is
    double *b;        // [dim n], as it is
    double *centre;   // [4 n] l
} prox_state;

// W + a and b - a l for alpha; W and b themselves for 0.
static void set_alpha(const prox_state *state, ss_coupling *c, double alpha)
{
    const size_t d = (size_t)c->dim;
    for (int i = 0; i < c->n; i++) {
        const double ai = alpha * c->compliance[i];
        for (size_t k = 0; k < d; k++) {
            const size_t at = d * (size_t)i + k;
            const double W = state->own[at] + ai;
            c->W.x[state->diagonal[i] + k * (d + 1)] = W;
            c->contact[i].W[4 * k] = W;
            c->b[at] = state->b[at] - ai * state->centre[4 * (size_t)i + k];
        }
        if (d == 2) {
            c->contact[i].W[8] = 0.5 * (c->contact[i].W[0] + c->contact[i].W[4]);
        }
    }
}

static void begin_inner(prox_state *state, ss_coupling *c)
{
    memcpy(state->centre, c->r, 4 * (size_t)c->n * sizeof *state->centre);
    for (int i = 0; i < c->n; i++) {
        c->memo[i] = 0.0; // it remembers something of W_ii
    }
}

static void end_inner(prox_state *state, ss_drive *d, bool reached)
{
    ss_drive_judge(d, d->c->r);
    if (!reached) {
        state->alpha = fmin(2.0 * state->alpha, ALPHA_MOST);
    } else if (state->sweeps <= INNER_FEW) {
        state->alpha = fmax(0.5 * state->alpha, ALPHA_LEAST);
    }
    state->sweeps = 0;
}

// A sweep of the inner problem. Outside it the coupling is that of the problem itself.
static ss_outcome prox_step(void *of, ss_drive *d)
{
    prox_state *state = of;
    if (state->sweeps == 0) {
        begin_inner(state, d->c);
    }
    set_alpha(state, d->c, state->alpha);
    ss_sweep(d->sweeper);
    set_alpha(state, d->c, 0.0);
    d->iterations++;
    d->unjudged = true;
    const double estimate = d->sweeper->last.estimate;
    state->first = state->sweeps++ == 0 ? estimate : state->first;
    const bool reached = state->sweeps > 1 && estimate <= INNER_SHARE * state->first;
    if (reached || state->sweeps == INNER_MOST) {
        end_inner(state, d, reached);
    }
    return SS_UNSOLVED;
}

static bool prox_allocate(prox_state *state, const ss_coupling *c)
{
    const size_t n = (size_t)c->n, d = (size_t)c->dim;
    state->diagonal = malloc(n * sizeof *state->diagonal);
    state->own = malloc(n * d * sizeof *state->own);
    state->b = malloc(n * d * sizeof *state->b);
    state->centre = calloc(4 * n, sizeof *state->centre);
    return state->diagonal != NULL && state->own != NULL && state->b != NULL &&
           state->centre != NULL;
}

static ss_status prox_make(void *of, ss_drive *d, ss_error *e)
{
    prox_state *state = of;
    const ss_coupling *c = d->c;
    if (!prox_allocate(state, c)) {
        return ss_fail_memory(e, "a proximal method");
    }
    const size_t dim = (size_t)c->dim;
    memcpy(state->b, c->b, (size_t)c->n * dim * sizeof *state->b);
    for (size_t i = 0; i < (size_t)c->n; i++) {
        size_t k = c->W.start[i];
        while (c->W.col[k] != (int)i) {
            k++;
        }
        state->diagonal[i] = k * dim * dim;
        for (size_t j = 0; j < dim; j++) {
            state->own[dim * i + j] = c->W.x[state->diagonal[i] + j * (dim + 1)];
        }
    }
    state->alpha = ((const settings *)d->settings)->alpha;
    ss_drive_judge(d, c->r);
    return SS_OK;
}

static void prox_release(void *of)
{
    prox_state *state = of;
    free(state->diagonal);
    free(state->own);
    free(state->b);
    free(state->centre);
}

static const ss_steps STEPS = {.moves = SS_MOVES_SWEEPER,
                               .whole = true,
                               .state_size = sizeof(prox_state),
                               .make = prox_make,
                               .step = prox_step,
                               .release = prox_release};

const ss_global_solver ss_prox_sweeps = {
    .card = {.name = "prox",
             .law = SS_EXACT,
             .reference = "R76",
             .about = "The proximal point method around Gauss-Seidel: sweeps solve a problem "
                      "with a heavier diagonal to a tenth of its residual, then its centre "
                      "moves to the answer. It helps where contacts are strongly coupled. "
                      "Explicit form only.",
             SS_OPTIONS(KEYS, DEFAULTS)},
    SS_DRIVEN(STEPS),
    .takes_local = true,
    .key_needs = ss_sweep_key_needs,
    .takes_threads = ss_sweep_takes_threads,
};
