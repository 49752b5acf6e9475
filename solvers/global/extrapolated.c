// solvers/global/extrapolated.c -- anderson and nncg: Gauss-Seidel as a fixed-point iteration g
// that a rule extrapolates.
//
//     x -> g = sweep(x)          one pass of solvers/sweep/sweep.h
//     x <- rule(x, g)            extrapolated; it may leave the cone
//
// Only g, which the local solvers have put into the cone, is ever judged or kept. Where the best g
// has not become a tenth better in 24 sweeps, the iteration starts again with P plain sweeps and no
// memory, P = 20, 40, .. 640: from the present g, or from the best one where that is far better.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "solvers/global/drive.h"
#include "solvers/global/global.h"
#include "solvers/linear/mixing.h"
#include "solvers/sweep/sweep.h"
#include "solvers/vectors.h"

typedef struct settings {
    ss_sweep_settings sweep; // first: its keys are shared
    int depth;               // of anderson
} settings;

static const settings DEFAULTS = {.sweep = {.skip = 10}, .depth = 10};

// ---- Sweeps under a rule

// A rule keeps what it needs of earlier iterates. Vectors are those of ss_coupling: r [4 n], and z
// in matrix-free form, which depends on r affinely and is extrapolated with it.
typedef struct rule_table {
    void *(*make)(const settings *s, size_t size, size_t more); // NULL without memory
    void (*free)(void *rule);
    // f [size]: (g - x) times the roots of tr(W_ii)/d. g, h: in r and z of g, out those of the
    // next x.
    void (*step)(void *rule, const double *f, double *g, double *h);
    void (*forget)(void *rule);
} rule_table;

typedef struct extrapolation {
    const rule_table *rule;
    void *memory;           // of the rule
    size_t size, more;      // of r and z
    double *x, *f, *weight; // [size]
    double *g, *z;          // [size], [more] before the rule
    double mark;            // best_residual when patience was last renewed
    int marked;             // sweep when patience was last renewed
    int plain, next_plain;  // plain sweeps left; of the next restart
} extrapolation;

#define REFRESH_SWEEPS 50  // z is computed afresh from r: extrapolation adds to its rounding
#define LOOK_SWEEPS    8   // sweeps from one evaluation of g to the next
#define PATIENCE       24  // sweeps before a restart
#define PROGRESS       0.9 // a best residual that falls by this factor renews patience
#define FAR            3.0 // times the best residual: a restart goes back to that
#define PLAIN_FIRST    20  // plain sweeps of the first restart
#define PLAIN_MOST     640 // the number is doubled at each restart, up to this
#define REST_SHARE                                                                                 \
    2e-3 // share of the residual at which contacts rest in plain sweeps: rest is no gain

// Begins plain sweeps from the best g, unless the present one is nearly as good. On a slow path the
// residual may rise for a thousand sweeps, and going back each time would never get past that.
static void restart(extrapolation *state, const ss_drive *d)
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

// Finds f = (g - x) weighted.
static void take_residual(extrapolation *state, const double *g)
{
    for (size_t k = 0; k < state->size; k++) {
        state->f[k] = state->weight[k] * (g[k] - state->x[k]);
    }
}

// Makes x from g by the rule.
static void extrapolate(extrapolation *state, ss_coupling *c)
{
    take_residual(state, c->r);
    memcpy(state->g, c->r, state->size * sizeof *state->g);
    if (state->more > 0) {
        memcpy(state->z, c->z, state->more * sizeof *state->z);
    }
    state->rule->step(state->memory, state->f, c->r, c->z);
    ss_coupling_leapt(c, state->g, state->z);
}

// Goes to the x of the next sweep.
static void advance(extrapolation *state, ss_drive *d)
{
    if (d->best_residual <= PROGRESS * state->mark) {
        state->mark = d->best_residual;
        state->marked = d->iterations;
    }
    if (state->plain > 0) {
        state->plain--;
    } else if (d->iterations - state->marked >= PATIENCE || isnan(d->sweeper->last.estimate)) {
        restart(state, d);
    } else {
        extrapolate(state, d->c);
    }
    if (d->iterations % REFRESH_SWEEPS == 0) {
        ss_coupling_refresh(d->c);
    }
}

static ss_outcome extrapolation_step(void *of, ss_drive *d)
{
    extrapolation *state = of;
    if (d->iterations > 0) {
        advance(state, d);
    }
    memcpy(state->x, d->c->r, state->size * sizeof *state->x);
    return ss_drive_sweep(d, (d->iterations + 1) % LOOK_SWEEPS == 0);
}

static bool extrapolation_allocate(extrapolation *state, const settings *s)
{
    state->x = malloc(4 * state->size * sizeof *state->x);
    state->z = malloc((state->more + 1) * sizeof *state->z);
    state->memory = state->rule->make(s, state->size, state->more);
    if (state->x == NULL || state->z == NULL || state->memory == NULL) {
        return false;
    }
    state->f = state->x + state->size;
    state->weight = state->f + state->size;
    state->g = state->weight + state->size;
    return true;
}

static ss_status extrapolation_make(void *of, ss_drive *d, ss_error *e)
{
    extrapolation *state = of;
    const ss_coupling *c = d->c;
    ss_assert(d->steps->kind != NULL && d->sweeper != NULL);
    state->rule = d->steps->kind;
    state->size = 4 * (size_t)c->n;
    state->more = c->is_explicit ? 0 : (size_t)c->white->body_start[c->white->nbodies];
    if (!extrapolation_allocate(state, d->settings)) {
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

static void extrapolation_release(void *of)
{
    extrapolation *state = of;
    if (state->memory != NULL) {
        state->rule->free(state->memory);
    }
    free(state->x);
    free(state->z);
}

#define EXTRAPOLATION_STEPS(rule)                                                                  \
    {                                                                                              \
        .kind = &rule, .moves = SS_MOVES_SWEEPER, .whole = true,                                   \
        .state_size = sizeof(extrapolation), .make = extrapolation_make,                           \
        .step = extrapolation_step, .release = extrapolation_release                               \
    }

// ---- anderson
//
// Anderson mixing (solvers/linear/mixing.h), in the norm sum_i tr(W_ii)/d |f_i|^2. No projection of
// x and no rejection of steps: a rejection rule made it up to 1.9 times slower and kept it busy for
// ever at the rounding floor.

#define CUTOFF 1e-12

static const ss_key ANDERSON_KEYS[] = {
    SS_SWEEP_KEYS,
    SS_INTEGER_KEY("depth", depth, 1, 60, .about = "sweeps that are mixed"),
    {.name = NULL},
};

static void *anderson_make(const settings *s, size_t size, size_t more)
{
    return ss_mixing_new(size, more, s->depth, CUTOFF);
}

static void anderson_release(void *rule)
{
    ss_mixing_free(rule);
}

static void anderson_step(void *rule, const double *f, double *g, double *h)
{
    ss_mixing_step(rule, f, g, h);
}

static void anderson_forget(void *rule)
{
    ss_mixing_forget(rule);
}

static const rule_table ANDERSON_RULE = {.make = anderson_make,
                                         .free = anderson_release,
                                         .step = anderson_step,
                                         .forget = anderson_forget};

static const ss_steps ANDERSON_STEPS = EXTRAPOLATION_STEPS(ANDERSON_RULE);

const ss_global_solver ss_anderson = {
    .card = {.name = "anderson",
             .law = SS_EXACT,
             .reference = "A65 WN11",
             .about = "Gauss-Seidel under Anderson mixing: the next start of a sweep is a "
                      "combination of the last sweeps that makes their residual small. It "
                      "helps where plain sweeps are slow but steady: stacks of rigid bodies, "
                      "high accuracy. Iterations are sweeps.",
             SS_OPTIONS(ANDERSON_KEYS, DEFAULTS)},
    SS_DRIVEN(ANDERSON_STEPS),
    .takes_local = true,
    .key_needs = ss_sweep_key_needs,
    .takes_threads = ss_sweep_takes_threads,
};

// ---- nncg
//
// A nonsmooth nonlinear conjugate gradient (Silcowitz-Hansen, Niebe and Erleben 2010). With
// d = g - x the step of a sweep and beta = |d_k|^2 / |d_k-1|^2 (Fletcher and Reeves), in the norm
// sum_i tr(W_ii)/d |d_i|^2,
//
//     beta > 1:   x <- g,            p <- d
//     else:       x <- g + beta p,   p <- beta p + d

static const ss_key NNCG_KEYS[] = {SS_SWEEP_KEYS, {.name = NULL}};

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

static void *nncg_make(const settings *s, size_t size, size_t more)
{
    (void)s;
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

// Sets p <- beta p + (g - x) and x <- g + beta p with the p of before.
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

static const rule_table NNCG_RULE = {
    .make = nncg_make, .free = nncg_release, .step = nncg_step, .forget = nncg_forget};

static const ss_steps NNCG_STEPS = EXTRAPOLATION_STEPS(NNCG_RULE);

const ss_global_solver ss_nncg = {
    .card = {.name = "nncg",
             .law = SS_EXACT,
             .reference = "SNE10",
             .about = "Gauss-Seidel as a nonsmooth, nonlinear method of conjugate gradients "
                      "after Fletcher and Reeves. A step that grows restarts the direction. "
                      "Iterations are sweeps.",
             SS_OPTIONS(NNCG_KEYS, DEFAULTS)},
    SS_DRIVEN(NNCG_STEPS),
    .takes_local = true,
    .key_needs = ss_sweep_key_needs,
    .takes_threads = ss_sweep_takes_threads,
};
