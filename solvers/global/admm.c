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
    int form; // first, as ss_drive_solve wants it
    double rho;
    double memory; // GB
} settings;

static const settings DEFAULTS = {.rho = 1.0, .memory = SS_MEMORY_DEFAULT};

static const ss_key KEYS[] = {
    SS_FORM_KEY(settings),
    {.name = "rho",
     .kind = SS_KEY_REAL,
     .place = offsetof(settings, rho),
     .low = 1e-9,
     .high = 1e9},
    SS_MEMORY_KEY(settings),
    {.name = NULL},
};

typedef struct state {
    ss_implicit *system;
    double rho;
    bool factored;
    double *p;           // [n]
    double *l, *y, *q;   // [4 n]
    double *rhs;         // [system->size]; the solution too
    double primal, dual; // squares of the two sides of k, of the last iteration
} state;

static void release(void *of)
{
    state *a = of;
    ss_implicit_free(a->system);
    free(a->p);
    free(a->l);
    free(a->rhs);
    free(a);
}

static bool factor(state *a)
{
    for (int i = 0; i < a->system->c->n; i++) {
        double *D = a->system->D + 9 * (size_t)i;
        D[0] = D[4] = D[8] = a->rho * a->p[i];
    }
    a->factored = ss_implicit_factor(a->system);
    return a->factored;
}

static void *make(const ss_drive *q, const void *of_method, ss_error *e)
{
    const settings *s = of_method;
    state *a = calloc(1, sizeof *a);
    if (a == NULL) {
        ss_fail_memory(e, "alternating directions");
        return NULL;
    }
    const size_t n = (size_t)q->c->n;
    if (ss_implicit_new(q->c, s->memory, &q->limits, &a->system, e) != SS_OK || a->system == NULL) {
        release(a);
        return NULL;
    }
    a->p = malloc(n * sizeof *a->p);
    a->l = calloc(12 * n, sizeof *a->l);
    a->rhs = malloc((a->system->size + 1) * sizeof *a->rhs);
    if (a->p == NULL || a->l == NULL || a->rhs == NULL) {
        release(a);
        ss_fail_memory(e, "alternating directions");
        return NULL;
    }
    a->y = a->l + 4 * n;
    a->q = a->y + 4 * n;
    a->rho = s->rho;
    ss_drive_weights(q, a->p);
    memcpy(a->l, q->c->r, 4 * n * sizeof *a->l);
    return a;
}

// q = u + s of the linear step; r of it is l + R (y - s - u).
static void step_linearly(state *a)
{
    const ss_coupling *c = a->system->c;
    double *given = a->q; // l + R (y - s [- w])
    for (int i = 0; i < c->n; i++) {
        const size_t at = 4 * (size_t)i;
        const double *y = a->y + at;
        const double shift = c->mu[i] * ss_length2(y[1], y[2]), R = a->rho * a->p[i];
        for (size_t k = 0; k < 3; k++) {
            const double w = c->is_explicit || k >= (size_t)c->dim
                                 ? 0.0
                                 : c->white->w[(size_t)c->dim * (size_t)i + k];
            given[at + k] = a->l[at + k] + R * (y[k] - (k == 0 ? shift : 0.0) - w);
        }
        given[at + 3] = 0.0;
    }
    if (!c->is_explicit) {
        memcpy(a->rhs, c->white->z0, a->system->size * sizeof *a->rhs);
    }
    for (int i = 0; i < c->n; i++) {
        if (c->is_explicit) {
            ss_coupling_row(c, i, given, a->rhs + 4 * (size_t)i);
            a->rhs[4 * (size_t)i + 3] = 0.0;
        } else {
            ss_coupling_push(c, i, given + 4 * (size_t)i, a->rhs);
        }
    }
    ss_block_lu_solve(a->system->lu, a->rhs);
}

static void step_contact(state *a, int i)
{
    const ss_coupling *c = a->system->c;
    const size_t at = 4 * (size_t)i;
    double *y = a->y + at, *l = a->l + at, *q = a->q + at, x[3], u[3];
    const double R = a->rho * a->p[i], shift = c->mu[i] * ss_length2(y[1], y[2]);
    if (c->is_explicit) {
        memcpy(u, a->rhs + at, sizeof u);
    } else {
        ss_coupling_see(c, i, a->rhs, u);
    }
    for (size_t k = 0; k < 3; k++) {
        q[k] = u[k] + (k == 0 ? shift : 0.0);
        x[k] = l[k] - R * q[k];
    }
    ss_cone_project(c->mu[i], x, l);
    for (size_t k = 0; k < 3; k++) {
        const double next = (l[k] - x[k]) / R;
        a->primal += a->p[i] * (q[k] - next) * (q[k] - next);
        a->dual += a->p[i] * (next - y[k]) * (next - y[k]);
        y[k] = next;
    }
}

// False where the matrix of the new rho is singular.
static bool balance(state *a)
{
    const double k = sqrt(a->primal) / (a->rho * sqrt(a->dual));
    if (!(k > 0.0) || (k <= BALANCE_RATIO && k >= 1.0 / BALANCE_RATIO)) {
        return true;
    }
    a->rho *= fmax(fmin(sqrt(k), BALANCE_RATIO), 1.0 / BALANCE_RATIO);
    return factor(a);
}

// Why there is no factor.
static ss_outcome stopped(const ss_drive *p)
{
    const ss_outcome limit = ss_limits_test(&p->limits, -1);
    return limit != SS_UNSOLVED ? limit : SS_STALLED;
}

static ss_outcome step(void *of, ss_drive *p)
{
    state *a = of;
    if (!a->factored && !factor(a)) { // singular to rounding, where time is not up
        return stopped(p);
    }
    step_linearly(a);
    a->primal = a->dual = 0.0;
    for (int i = 0; i < p->c->n; i++) {
        step_contact(a, i);
    }
    p->iterations++;
    if (p->iterations % JUDGE_EVERY == 0) {
        ss_drive_judge(p, a->l);
    }
    return p->iterations % BALANCE_EVERY != 0 || balance(a) ? SS_UNSOLVED : stopped(p);
}

static const ss_steps STEPS = {.make = make, .free = release, .step = step, .whole = true};

static ss_status solve(const ss_task *task, double *r, ss_result *result, ss_error *e)
{
    return ss_drive_solve(&STEPS, task, r, result, e);
}

const ss_global_solver ss_admm = {
    .card = {.name = "admm",
             .law = SS_EXACT,
             .reference = "BPCPE11",
             .keys = KEYS,
             .defaults = &DEFAULTS,
             .settings_size = sizeof(settings)},
    .solve = solve,
};
