// nncg: Gauss-Seidel as a nonsmooth nonlinear conjugate gradient (Silcowitz-Hansen, Niebe and
// Erleben 2010). With d = g - x the step of a sweep and beta = |d_k|^2 / |d_k-1|^2 (Fletcher and
// Reeves), in the norm sum_i tr(W_ii)/d |d_i|^2,
//
//     beta > 1:   x <- g,            p <- d
//     else:       x <- g + beta p,   p <- beta p + d
#include "solvers/global/accelerated.h"
#include "solvers/global/global.h"

#include <stdlib.h>
#include <string.h>

#include "solvers/vectors.h"

static const ss_sweep_settings DEFAULTS = {.skip = 10};

static const ss_key KEYS[] = {SS_SWEEP_KEYS, {.name = NULL}};

typedef struct directions {
    size_t size, more;
    double *p, *p_more;     // directions of r and of z
    double *old, *old_more; // x
    double square;          // |d|^2 of the last step; 0: none
} directions;

static void release(void *rule)
{
    directions *a = rule;
    free(a->p);
    free(a);
}

static void *make(const void *settings, size_t size, size_t more)
{
    (void)settings;
    directions *a = calloc(1, sizeof *a);
    if (a == NULL) {
        return NULL;
    }
    a->size = size;
    a->more = more;
    a->p = calloc(2 * (size + more), sizeof *a->p);
    if (a->p == NULL) {
        release(a);
        return NULL;
    }
    a->p_more = a->p + size;
    a->old = a->p_more + more;
    a->old_more = a->old + size;
    return a;
}

static void forget(void *rule)
{
    ((directions *)rule)->square = 0.0;
}

// p <- beta p + (g - x), x <- g + beta p with the p of before.
static void move(size_t n, double beta, double *p, double *x, double *g)
{
    for (size_t k = 0; k < n; k++) {
        const double d = g[k] - x[k], along = beta * p[k];
        p[k] = along + d;
        x[k] = g[k] += along;
    }
}

static void step(void *rule, const double *f, double *g, double *h)
{
    directions *a = rule;
    const double square = ss_vector_dot(a->size, f, f);
    const double ratio = a->square > 0.0 ? square / a->square : 0.0;
    const double beta = ratio <= 1.0 ? ratio : 0.0;
    if (a->square == 0.0) { // x is not known yet: p is 0 until the next step
        memset(a->p, 0, (a->size + a->more) * sizeof *a->p);
        memcpy(a->old, g, a->size * sizeof *g);
        if (a->more > 0) {
            memcpy(a->old_more, h, a->more * sizeof *h);
        }
    } else {
        move(a->size, beta, a->p, a->old, g);
        move(a->more, beta, a->p_more, a->old_more, h);
    }
    a->square = square;
}

static const ss_rule RULE = {.make = make, .free = release, .step = step, .forget = forget};

static ss_status solve(const ss_task *task, double *r, ss_result *result, ss_error *e)
{
    return ss_accelerated_solve(&RULE, task, r, result, e);
}

const ss_global_solver ss_nncg = {
    .card = {.name = "nncg",
             .law = SS_EXACT,
             .reference = "SNE10",
             .keys = KEYS,
             .defaults = &DEFAULTS,
             .settings_size = sizeof(ss_sweep_settings)},
    .takes_local = true,
    .key_needs = ss_sweep_key_needs,
    .takes_threads = ss_sweep_takes_threads,
    .solve = solve,
};
