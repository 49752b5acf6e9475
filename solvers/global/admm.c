// admm: alternating directions on the velocities (Boyd et al. 2011), with De Saxce's shift. With
// p_i = 1 / (tr W_ii / d), R_i = rho p_i, s = mu |y_T| e:
//
//     (I + G' R G) z = z0 + G' (l + R (y - s - w)),   q = G z + w + s
//     l+ = P_K(l - R q),    y = (l+ - (l - R q)) / R
//
// (implicit.h with D = R; in explicit form (I + W R) u = b + W (l + R (y - s)), q = u + s.) Every
// 10 iterations k = |q - y|_p / (rho |y - y_old|_p), |x|_p^2 = sum p_i |x_i|^2, is looked at:
// outside 0.1 .. 10 rho is multiplied by sqrt k, at most ten and at least a tenth, and the matrix
// is factorised afresh. l is the answer.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/global/global.h"
#include "solvers/linear/implicit.h"
#include "solvers/global/drive.h"
#include "solvers/sweep/sweep_keys.h"
#include "solvers/small.h"

#define BALANCE_EVERY 10
#define BALANCE_RATIO 10.0
#define JUDGE_EVERY   5

typedef struct settings {
    int form; // ss_coupling_form
    double rho;
    double memory; // GB
} settings;

static const settings DEFAULTS = {.rho = 1.0, .memory = SS_MEMORY_DEFAULT};

static const ss_key KEYS[] = {
    SS_FORM_KEY,
    SS_REAL_KEY("rho", rho, 1e-9, 1e9, .about = "first weight, over tr(W_ii)/d; it is balanced"),
    SS_MEMORY_KEY,
    {.name = NULL},
};

typedef struct admm_state {
    ss_implicit *system;
    double rho;
    bool factored;
    double *p;           // [n]
    double *l, *y, *q;   // [4 n]
    double *rhs;         // [system->size]; the solution too
    double primal, dual; // squares of the two sides of k, of the last iteration
} admm_state;

static void admm_release(void *of)
{
    admm_state *state = of;
    ss_implicit_free(state->system);
    free(state->p);
    free(state->l);
    free(state->rhs);
}

static bool admm_factor(admm_state *state)
{
    for (int i = 0; i < state->system->c->n; i++) {
        double *D = state->system->D + 9 * (size_t)i;
        D[0] = D[4] = D[8] = state->rho * state->p[i];
    }
    state->factored = ss_implicit_factor(state->system);
    return state->factored;
}

static ss_status admm_make(void *of, ss_drive *d, ss_error *e)
{
    admm_state *state = of;
    const settings *s = d->settings;
    const size_t n = (size_t)d->c->n;
    const ss_status status = ss_implicit_new(d->c, s->memory, &d->limits, &state->system, e);
    if (state->system == NULL) {
        d->halted = true;
        return status;
    }
    state->p = malloc(n * sizeof *state->p);
    state->l = calloc(12 * n, sizeof *state->l);
    state->rhs = malloc((state->system->size + 1) * sizeof *state->rhs);
    if (state->p == NULL || state->l == NULL || state->rhs == NULL) {
        return ss_fail_memory(e, "alternating directions");
    }
    state->y = state->l + 4 * n;
    state->q = state->y + 4 * n;
    state->rho = s->rho;
    ss_drive_weights(d, state->p);
    memcpy(state->l, d->c->r, 4 * n * sizeof *state->l);
    return SS_OK;
}

// q = u + s of the linear step; r of it is l + R (y - s - u).
static void step_linearly(admm_state *state)
{
    const ss_coupling *c = state->system->c;
    double *given = state->q; // l + R (y - s [- w])
    for (int i = 0; i < c->n; i++) {
        const size_t at = 4 * (size_t)i;
        const double *y = state->y + at;
        const double shift = c->mu[i] * ss_length2(y[1], y[2]), R = state->rho * state->p[i];
        for (size_t k = 0; k < 3; k++) {
            const double w = c->is_explicit || k >= (size_t)c->dim
                                 ? 0.0
                                 : c->white->w[(size_t)c->dim * (size_t)i + k];
            given[at + k] = state->l[at + k] + R * (y[k] - (k == 0 ? shift : 0.0) - w);
        }
        given[at + 3] = 0.0;
    }
    if (!c->is_explicit) {
        memcpy(state->rhs, c->white->z0, state->system->size * sizeof *state->rhs);
        ss_coupling_push_all(c, given, state->rhs);
    }
    for (int i = 0; c->is_explicit && i < c->n; i++) {
        ss_coupling_row(c, i, given, state->rhs + 4 * (size_t)i);
        state->rhs[4 * (size_t)i + 3] = 0.0;
    }
    ss_block_lu_solve(state->system->lu, state->rhs);
}

static void step_contact(admm_state *state, int i)
{
    const ss_coupling *c = state->system->c;
    const size_t at = 4 * (size_t)i;
    double *y = state->y + at, *l = state->l + at, *q = state->q + at, x[3], u[3];
    const double R = state->rho * state->p[i], shift = c->mu[i] * ss_length2(y[1], y[2]);
    if (c->is_explicit) {
        memcpy(u, state->rhs + at, sizeof u);
    } else {
        ss_coupling_see(c, i, state->rhs, u);
    }
    for (size_t k = 0; k < 3; k++) {
        q[k] = u[k] + (k == 0 ? shift : 0.0);
        x[k] = l[k] - R * q[k];
    }
    ss_cone_project(c->mu[i], x, l);
    for (size_t k = 0; k < 3; k++) {
        const double next = (l[k] - x[k]) / R;
        state->primal += state->p[i] * (q[k] - next) * (q[k] - next);
        state->dual += state->p[i] * (next - y[k]) * (next - y[k]);
        y[k] = next;
    }
}

// False where the matrix of the new rho is singular.
static bool admm_balance(admm_state *state)
{
    const double k = sqrt(state->primal) / (state->rho * sqrt(state->dual));
    if (!(k > 0.0) || (k <= BALANCE_RATIO && k >= 1.0 / BALANCE_RATIO)) {
        return true;
    }
    state->rho *= fmax(fmin(sqrt(k), BALANCE_RATIO), 1.0 / BALANCE_RATIO);
    return admm_factor(state);
}

static ss_outcome admm_step(void *of, ss_drive *d)
{
    admm_state *state = of;
    if (!state->factored && !admm_factor(state)) { // singular to rounding, where time is not up
        return ss_drive_stopped(d);
    }
    step_linearly(state);
    state->primal = state->dual = 0.0;
    for (int i = 0; i < d->c->n; i++) {
        step_contact(state, i);
    }
    d->iterations++;
    if (d->iterations % JUDGE_EVERY == 0) {
        ss_drive_judge(d, state->l);
    }
    return d->iterations % BALANCE_EVERY != 0 || admm_balance(state) ? SS_UNSOLVED
                                                                     : ss_drive_stopped(d);
}

static const ss_steps STEPS = {.moves = SS_MOVES_COUPLING,
                               .whole = true,
                               .state_size = sizeof(admm_state),
                               .make = admm_make,
                               .step = admm_step,
                               .release = admm_release};

const ss_global_solver ss_admm = {
    .card = {.name = "admm",
             .law = SS_EXACT,
             .reference = "BPCPE11",
             .about = "Alternating directions: a linear solve with a fixed matrix, then a "
                      "projection on the cones, with De Saxce's shift. The weight rho is "
                      "balanced, and the matrix is factorised again when it changes. Fast "
                      "where the shift matters little: small mu |u_T|.",
             SS_OPTIONS(KEYS, DEFAULTS)},
    SS_DRIVEN(STEPS),
    .takes_threads = ss_drive_takes_threads,
};
