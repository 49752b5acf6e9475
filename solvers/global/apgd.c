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
    int form; // first, as ss_drive_solve wants it
} settings;

static const settings DEFAULTS = {0};

static const ss_key KEYS[] = {
    SS_FORM_KEY(settings),
    {.name = NULL},
};

typedef struct state {
    size_t size;
    double *p;                // [n]
    double *r, *next, *y, *g; // [4 n]
    double *z;                // scratch of the velocity
    double L, theta;
} state;

static void release(void *of)
{
    state *a = of;
    free(a->p);
    free(a->r);
    free(a->z);
    free(a);
}

// x <- W x, by differences of velocities: those at 0 are `still`.
static void multiply(const ss_drive *q, state *a, const double *still, double *x, double *out)
{
    ss_drive_velocity(q, x, a->z, out);
    for (size_t k = 0; k < a->size; k++) {
        out[k] -= still[k];
    }
}

// The largest eigenvalue of p^1/2 W p^1/2 from a start without symmetry: x_k = 1 + k mod 7 / 10.
static void find_largest(const ss_drive *q, state *a)
{
    double *x = a->y, *Wx = a->g, *still = a->next;
    memset(x, 0, a->size * sizeof *x);
    ss_drive_velocity(q, x, a->z, still);
    for (size_t k = 0; k < a->size; k++) {
        x[k] = k % 4 < (size_t)q->c->dim ? 1.0 + (double)(k % 7) / 10.0 : 0.0;
    }
    a->L = 1.0;
    const ss_stop stop = ss_limits_stopper(&q->limits);
    for (int step = 0; step < POWER_STEPS && !ss_stop_asked(&stop); step++) {
        double norm = 0.0; // of x in p^-1
        for (size_t k = 0; k < a->size; k++) {
            norm += x[k] * x[k] / a->p[k / 4];
        }
        ss_vector_add(a->size, 1.0 / sqrt(norm) - 1.0, x, x);
        multiply(q, a, still, x, Wx);
        const double rayleigh = ss_vector_dot(a->size, x, Wx);
        if (!(rayleigh > 0.0)) {
            break;
        }
        a->L = rayleigh;
        for (size_t k = 0; k < a->size; k++) {
            x[k] = a->p[k / 4] * Wx[k];
        }
    }
    a->L *= POWER_MARGIN;
}

static void *make(const ss_drive *q, const void *of_method, ss_error *e)
{
    (void)of_method;
    state *a = calloc(1, sizeof *a);
    if (a == NULL) {
        ss_fail_memory(e, "a projected gradient");
        return NULL;
    }
    a->size = 4 * (size_t)q->c->n;
    a->p = malloc((size_t)q->c->n * sizeof *a->p);
    a->r = malloc(4 * a->size * sizeof *a->r);
    a->z = malloc(ss_drive_room(q) * sizeof *a->z);
    if (a->p == NULL || a->r == NULL || a->z == NULL) {
        release(a);
        ss_fail_memory(e, "a projected gradient");
        return NULL;
    }
    a->next = a->r + a->size;
    a->y = a->next + a->size;
    a->g = a->y + a->size;
    ss_drive_weights(q, a->p);
    find_largest(q, a);
    memcpy(a->r, q->c->r, a->size * sizeof *a->r);
    memcpy(a->y, a->r, a->size * sizeof *a->y);
    a->theta = 1.0;
    return a;
}

// g at y and the projected step from there.
static void descend(state *a, const ss_drive *q)
{
    ss_drive_velocity(q, a->y, a->z, a->g);
    for (int i = 0; i < q->c->n; i++) {
        const size_t at = 4 * (size_t)i;
        double *g = a->g + at, x[3];
        g[0] += q->c->mu[i] * ss_length2(g[1], g[2]);
        for (size_t k = 0; k < 3; k++) {
            x[k] = a->y[at + k] - a->p[i] / a->L * g[k];
        }
        ss_cone_project(q->c->mu[i], x, a->next + at);
        a->next[at + 3] = 0.0;
    }
}

static ss_outcome step(void *of, ss_drive *q)
{
    state *a = of;
    descend(a, q);
    double uphill = 0.0;
    for (size_t k = 0; k < a->size; k++) {
        uphill += a->g[k] * (a->next[k] - a->r[k]);
    }
    double beta = 0.0;
    if (uphill > 0.0) {
        a->theta = 1.0;
    } else {
        const double square = a->theta * a->theta;
        const double next = 0.5 * (a->theta * sqrt(square + 4.0) - square);
        beta = a->theta * (1.0 - a->theta) / (square + next);
        a->theta = next;
    }
    for (size_t k = 0; k < a->size; k++) {
        a->y[k] = a->next[k] + beta * (a->next[k] - a->r[k]);
        a->r[k] = a->next[k];
    }
    if (++q->iterations % JUDGE_EVERY == 0) {
        ss_drive_judge(q, a->r);
    }
    return SS_UNSOLVED;
}

static const ss_steps STEPS = {.make = make, .free = release, .step = step, .whole = true};

static ss_status solve(const ss_task *task, double *r, ss_result *result, ss_error *e)
{
    return ss_drive_solve(&STEPS, task, r, result, e);
}

const ss_global_solver ss_apgd = {
    .card = {.name = "apgd",
             .law = SS_EXACT,
             .reference = "N83,MHNT15",
             .keys = KEYS,
             .defaults = &DEFAULTS,
             .settings_size = sizeof(settings)},
    .solve = solve,
};
