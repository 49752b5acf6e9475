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
    int form; // first, as ss_drive_solve wants it
    int shift;
} settings;

static const settings DEFAULTS = {.shift = SHIFT_OUTER};
static const char *const SHIFTS[] = {"outer", "step", NULL};

static const ss_key KEYS[] = {
    SS_FORM_KEY(settings),
    {.name = "shift", .kind = SS_KEY_CHOICE, .place = offsetof(settings, shift), .choices = SHIFTS},
    {.name = NULL},
};

typedef struct state {
    size_t size;
    shift_rule rule;
    double *p, *s;                       // [n]
    double *r, *u, *d, *trial, *trial_u; // [4 n]; trial is r + d
    double *z;
    double a;              // step length
    double values[MEMORY]; // of q, in a ring
    int inner;             // steps since s was renewed
    double first;          // |d| of the first of them
} state;

static void release(void *of)
{
    state *a = of;
    free(a->p);
    free(a->r);
    free(a->z);
    free(a);
}

static void renew_shift(state *a, const ss_drive *q)
{
    for (int i = 0; i < q->c->n; i++) {
        const double *u = a->u + 4 * (size_t)i;
        a->s[i] = q->c->mu[i] * ss_length2(u[1], u[2]);
    }
    a->inner = 0;
    for (int k = 0; k < MEMORY; k++) {
        a->values[k] = -INFINITY;
    }
}

static void *make(const ss_drive *q, const void *of_method, ss_error *e)
{
    state *a = calloc(1, sizeof *a);
    if (a == NULL) {
        ss_fail_memory(e, "a projected gradient");
        return NULL;
    }
    const size_t n = (size_t)q->c->n;
    a->size = 4 * n;
    a->rule = (shift_rule)((const settings *)of_method)->shift;
    a->p = malloc(2 * n * sizeof *a->p);
    a->r = calloc(5 * a->size, sizeof *a->r);
    a->z = malloc(ss_drive_room(q) * sizeof *a->z);
    if (a->p == NULL || a->r == NULL || a->z == NULL) {
        release(a);
        ss_fail_memory(e, "a projected gradient");
        return NULL;
    }
    a->s = a->p + n;
    a->u = a->r + a->size;
    a->d = a->u + a->size;
    a->trial = a->d + a->size;
    a->trial_u = a->trial + a->size;
    a->a = 1.0;
    ss_drive_weights(q, a->p);
    memcpy(a->r, q->c->r, a->size * sizeof *a->r);
    ss_drive_velocity(q, a->r, a->z, a->u);
    renew_shift(a, q);
    return a;
}

// What is known of q along d.
typedef struct line {
    double square; // |d|^2 in 1/p
    double slope;  // g.d
    double curve;  // d'W d
    double value;  // q(r), up to a constant
} line;

static line look_along(state *a, const ss_drive *q)
{
    line l = {0};
    for (int i = 0; i < q->c->n; i++) {
        const size_t at = 4 * (size_t)i;
        const double *r = a->r + at;
        double x[3], g[3], *d = a->d + at;
        for (size_t k = 0; k < 3; k++) {
            g[k] = a->u[at + k] + (k == 0 ? a->s[i] : 0.0);
            x[k] = r[k] - a->a * a->p[i] * g[k];
        }
        ss_cone_project(q->c->mu[i], x, d);
        for (size_t k = 0; k < 3; k++) {
            const double b = k < (size_t)q->c->dim ? q->c->b[(size_t)q->c->dim * (size_t)i + k] : 0;
            d[k] -= r[k];
            a->trial[at + k] = r[k] + d[k];
            l.square += d[k] * d[k] / a->p[i];
            l.slope += g[k] * d[k];
            l.value += 0.5 * r[k] * (g[k] + b + (k == 0 ? a->s[i] : 0.0));
        }
    }
    ss_drive_velocity(q, a->trial, a->z, a->trial_u);
    for (size_t k = 0; k < a->size; k++) {
        l.curve += a->d[k] * (a->trial_u[k] - a->u[k]);
    }
    return l;
}

static double choose_step(state *a, const line *l)
{
    if (a->rule == SHIFT_STEP) {
        return 1.0;
    }
    a->values[a->inner % MEMORY] = l->value;
    double most = -INFINITY;
    for (int k = 0; k < MEMORY; k++) {
        most = fmax(most, a->values[k]);
    }
    const double full = l->value + l->slope + 0.5 * l->curve;
    return full <= most + DECREASE * l->slope || !(l->curve > 0.0)
               ? 1.0
               : fmin(1.0, -l->slope / l->curve);
}

static ss_outcome step(void *of, ss_drive *q)
{
    state *a = of;
    const line l = look_along(a, q);
    const double t = choose_step(a, &l);
    for (size_t k = 0; k < a->size; k++) {
        a->r[k] += t * a->d[k];
        a->u[k] += t * (a->trial_u[k] - a->u[k]);
    }
    if (l.curve > 0.0) {
        a->a = fmax(LENGTH_LEAST, fmin(l.square / l.curve, LENGTH_MOST));
    }
    const double length = sqrt(l.square);
    if (a->inner++ == 0) {
        a->first = length;
    }
    if (a->rule == SHIFT_STEP || a->inner >= INNER_STEPS || length <= INNER_SHARE * a->first) {
        renew_shift(a, q);
    }
    q->iterations++;
    if (q->iterations % JUDGE_EVERY == 0) {
        ss_drive_judge(q, a->r);
    }
    if (q->iterations % REFRESH_EVERY == 0) {
        ss_drive_velocity(q, a->r, a->z, a->u);
    }
    return SS_UNSOLVED;
}

static const ss_steps STEPS = {.make = make, .free = release, .step = step, .whole = true};

static ss_status solve(const ss_task *task, double *r, ss_result *result, ss_error *e)
{
    return ss_drive_solve(&STEPS, task, r, result, e);
}

const ss_global_solver ss_spg = {
    .card = {.name = "spg",
             .law = SS_EXACT,
             .reference = "BMR00",
             .keys = KEYS,
             .defaults = &DEFAULTS,
             .settings_size = sizeof(settings)},
    .solve = solve,
};
