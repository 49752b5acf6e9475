// ipm: a primal-dual interior point method with De Saxce's shift inside Newton's equations (the
// family of Acary, Armand, Nguyen and Shpakovych 2023; doc/formulation.md, "Interior points").
//
// In x = P r, P = diag(mu, 1, 1), and v = (u_N / mu + |u_T|, u_T) both cones of Coulomb's law are
// the Lorentz cone L (ipm_cone.h). With q = z (matrix-free form: B = G', q0 = z0) or q = u (explicit
// form: B = W, q0 = b) it asks for
//
//     q = q0 + B r,     y = v(u) + C (x - x'),     x o y = t e,     x and y inside L             (1)
//
// while t -> 0. C = delta tr(W_ii)/d P^-2, a compliance, with the impulse x' before the step makes
// Newton's system regular where W is not (hyperstatic problems); it is no part of the solution.
// |u_T| is (|u_T|^2 + m^2)^1/2 with m^2 = 1e-6 s x.y, the mean of x.y: it has a derivative at rest.
// With the scaling T of x and y, l = T x = T^-1 y, and A = dv/du:
//
//     T^2 dx + dy = h - y,   h = T (l \ (t e - T dx' o T^-1 dy')),   dy = A du + v - y + C dx    (2)
//     dx = D (h - v - A du),   D = (T^2 + C)^-1
//     (I + B P^-1 D A [G]) dq = q0 + B (r + P^-1 D (h - v)) - q                                  (3)
//
// which is implicit.h with D_i = P^-1 D A. dx', dy' are of a first solution with t = 0 and without
// them (Mehrotra); t is x.y times the third power of the share of it that this one leaves. D is
// large where contacts push, and rounding in J spoils dq: it is refined by the residual of (1) at
// r + dr, which does not contain J.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/global/global.h"
#include "solvers/global/drive.h"
#include "solvers/global/ipm_cone.h"
#include "solvers/linear/implicit.h"
#include "solvers/sweep/sweep_keys.h"
#include "solvers/small.h"
#include "solvers/vectors.h"

#define START_IMPULSE 0.1  // r_N of the start over V / (tr W_ii / d)
#define SMOOTHING     1e-3 // m over (s x.y)^1/2
#define KEPT          0.99 // share of the way to the boundary of the cones
#define REFINEMENTS   3    // of a direction, while each leaves at most
#define REFINING      0.5  // this share of the residual
#define SHORT_STEP    0.1  // a step below it is made again without correction
#define CENTRED       0.5  // and with this share of x.y
#define FROZEN_STEPS  4    // steps without dv_N/du_T after one that was short even so
#define DELTA_GROWTH  10.0 // after a step that rounding has spoilt
#define DELTA_MOST    1e-5
#define ROUGH         1e-5 // share of its residual, of a direction that rounding has spoilt
#define IDLE_FEW      5    // as many, or a multiple, without a better answer: delta grows
#define IDLE_MOST     60   // steps without a better answer before it gives up

typedef struct settings {
    int form; // ss_coupling_form
    double delta;
    double memory; // GB
} settings;

static const settings DEFAULTS = {.delta = 1e-8, .memory = SS_MEMORY_DEFAULT};

static const ss_key KEYS[] = {
    SS_FORM_KEY,
    SS_REAL_KEY("delta", delta, 0, DELTA_MOST,
                .about = "compliance added in each step, over tr(W_ii)/d"),
    SS_MEMORY_KEY,
    {.name = NULL},
};

typedef struct ipm_state {
    ss_implicit *system;
    size_t size;             // of q
    double *q, *dq, *left;   // [size]; left: right-hand sides and residuals
    double *x, *y, *dx, *dy; // [4 n]
    double *v, *h, *slope;   // [4 n]; slope: dv_N/du_T, two numbers
    double *r;               // [4 n] P^-1 x, and scratch
    double *weight;          // [9 n] D of (2)
    double *compliance;      // [n] that delta multiplies
    ss_scaling *scaling;     // [n]
    double gap;              // mean of x.y
    double delta;
    int frozen; // steps to come without the slope
} ipm_state;

static void ipm_release(void *of)
{
    ipm_state *state = of;
    ss_implicit_free(state->system);
    free(state->q);
    free(state->x);
    free(state->weight);
    free(state->scaling);
}

// ---- Contacts

static bool is_line(const ipm_state *state, int i)
{
    return !(state->system->c->mu[i] > 0.0);
}

// r = P^-1 (x + a dx); without friction P = I, and x_1 = x_2 = 0.
static void find_impulses(ipm_state *state, double a)
{
    const ss_coupling *c = state->system->c;
    for (int i = 0; i < c->n; i++) {
        const size_t at = 4 * (size_t)i;
        for (size_t k = 0; k < 4; k++) {
            state->r[at + k] = state->x[at + k] + a * state->dx[at + k];
        }
        if (!is_line(state, i)) {
            state->r[at] /= c->mu[i];
        }
    }
}

// u where q is this; without the velocity at q = 0 for a change of q.
static void find_velocity(const ipm_state *state, int i, const double *q, bool change, double u[3])
{
    const ss_coupling *c = state->system->c;
    if (c->is_explicit) {
        memcpy(u, q + 4 * (size_t)i, 3 * sizeof *u);
        return;
    }
    ss_coupling_see(c, i, q, u);
    for (int k = 0; change && k < c->dim; k++) {
        u[k] -= c->white->w[c->dim * i + k];
    }
}

// left = q0 + B r - q.
static void find_residual(ipm_state *state)
{
    const ss_coupling *c = state->system->c;
    if (!c->is_explicit) {
        memcpy(state->left, c->white->z0, state->size * sizeof *state->left);
    }
    for (int i = 0; i < c->n; i++) {
        const size_t at = 4 * (size_t)i;
        if (c->is_explicit) {
            ss_coupling_row(c, i, state->r, state->left + at);
            state->left[at + 3] = 0.0;
        } else {
            ss_coupling_push(c, i, state->r + at, state->left);
        }
    }
    ss_vector_add(state->size, -1.0, state->q, state->left);
}

static double find_gap(const ipm_state *state, double a)
{
    double sum = 0.0;
    for (size_t k = 0; k < 4 * (size_t)state->system->c->n; k++) {
        sum += (state->x[k] + a * state->dx[k]) * (state->y[k] + a * state->dy[k]);
    }
    return sum / state->system->c->n;
}

// ---- One Newton system

// v and its slope at u.
static void find_shifted(ipm_state *state, int i)
{
    const ss_coupling *c = state->system->c;
    double u[3], *v = state->v + 4 * (size_t)i, *slope = state->slope + 4 * (size_t)i;
    find_velocity(state, i, state->q, false, u);
    if (is_line(state, i)) {
        v[0] = u[0];
        return;
    }
    const double m2 = SMOOTHING * SMOOTHING * state->gap * c->s;
    const double length = sqrt(u[1] * u[1] + u[2] * u[2] + m2);
    v[0] = u[0] / c->mu[i] + length;
    for (int k = 1; k < 3; k++) {
        v[k] = u[k];
        slope[k - 1] = state->frozen == 0 && length > 0.0 ? u[k] / length : 0.0;
    }
}

// J = P^-1 D A of (3).
static void find_block(const ipm_state *state, int i, double J[9])
{
    const double *D = state->weight + 9 * (size_t)i, *slope = state->slope + 4 * (size_t)i;
    const double mu = state->system->c->mu[i];
    if (is_line(state, i)) {
        memcpy(J, D, 9 * sizeof *J);
        return;
    }
    for (int k = 0; k < 3; k++) {
        const double first = k == 0 ? 1.0 / mu : 1.0;
        J[3 * k] = first * D[3 * k] / mu;
        J[3 * k + 1] = first * (D[3 * k + 1] + D[3 * k] * slope[0]);
        J[3 * k + 2] = first * (D[3 * k + 2] + D[3 * k] * slope[1]);
    }
}

// C of (1), first and other components.
static void find_added(const ipm_state *state, int i, double added[2])
{
    const double mu = is_line(state, i) ? 1.0 : state->system->c->mu[i];
    added[1] = state->delta * state->compliance[i];
    added[0] = added[1] / (mu * mu);
}

// T, v, D and J factored. False where x or y has no scaling, or J is singular to rounding.
static bool ipm_factor(ipm_state *state)
{
    for (int i = 0; i < state->system->c->n; i++) {
        const size_t at = 4 * (size_t)i;
        ss_scaling *s = &state->scaling[i];
        if (!ss_scaling_find(is_line(state, i), state->x + at, state->y + at, s)) {
            return false;
        }
        double added[2];
        find_added(state, i, added);
        ss_scaling_weight(s, added, state->weight + 9 * (size_t)i);
        find_shifted(state, i);
        find_block(state, i, state->system->D + 9 * (size_t)i);
    }
    return ss_implicit_factor(state->system);
}

// h of (2) for this t, without the correction or with that of the direction that there is.
static void ipm_aim(ipm_state *state, double t, bool correct)
{
    for (int i = 0; i < state->system->c->n; i++) {
        const size_t at = 4 * (size_t)i;
        const ss_scaling *s = &state->scaling[i];
        double c[3] = {t, 0.0, 0.0}, a[3], b[3];
        if (correct) {
            ss_scaling_apply(s, state->dx + at, a);
            ss_scaling_remove(s, state->dy + at, b);
            c[0] -= ss_dot3(a, b);
            c[1] -= a[0] * b[1] + b[0] * a[1];
            c[2] -= a[0] * b[2] + b[0] * a[2];
        }
        ss_scaling_divide(s, c, a);
        ss_scaling_apply(s, a, state->h + at);
    }
}

// dx and dy of dq by (2).
static void expand(ipm_state *state)
{
    for (int i = 0; i < state->system->c->n; i++) {
        const size_t at = 4 * (size_t)i;
        const double *slope = state->slope + at;
        double added[2], du[3], change[3] = {0.0, 0.0, 0.0}, rest[3];
        find_added(state, i, added);
        find_velocity(state, i, state->dq, true, du);
        if (is_line(state, i)) {
            change[0] = du[0];
        } else {
            change[0] = du[0] / state->system->c->mu[i] + slope[0] * du[1] + slope[1] * du[2];
            change[1] = du[1];
            change[2] = du[2];
        }
        for (size_t k = 0; k < 3; k++) {
            rest[k] = state->h[at + k] - state->v[at + k] - change[k];
        }
        double *dx = state->dx + at;
        ss_multiply3(state->weight + 9 * (size_t)i, rest, dx);
        for (size_t k = 0; k < 3; k++) {
            state->dy[at + k] =
                change[k] + state->v[at + k] - state->y[at + k] + added[k > 0] * dx[k];
        }
    }
}

// dq, dx and dy of (2) and (3), refined. The share of its residual that is left.
static double find_direction(ipm_state *state)
{
    double old = INFINITY, first = 0.0;
    memset(state->dq, 0, state->size * sizeof *state->dq);
    for (int k = 0; k <= REFINEMENTS; k++) {
        expand(state);
        find_impulses(state, 1.0);
        find_residual(state);
        ss_vector_add(state->size, -1.0, state->dq, state->left);
        const double size = sqrt(ss_vector_dot(state->size, state->left, state->left));
        first = k == 0 ? size : first;
        if (k > 1 && !(size <= REFINING * old)) {
            break;
        }
        old = size;
        ss_block_lu_solve(state->system->lu, state->left);
        ss_vector_add(state->size, 1.0, state->left, state->dq);
    }
    expand(state);
    return first > 0.0 ? old / first : 0.0;
}

// ---- One step

// How far the direction stays in the cones, at most 1 / KEPT.
static double find_way(const ipm_state *state)
{
    double a = 1.0 / KEPT;
    for (int i = 0; i < state->system->c->n; i++) {
        const size_t at = 4 * (size_t)i;
        a = ss_cone_step(is_line(state, i), state->x + at, state->dx + at, a);
        a = ss_cone_step(is_line(state, i), state->y + at, state->dy + at, a);
    }
    return a;
}

static void soften(ipm_state *state)
{
    state->delta = fmin(state->delta * DELTA_GROWTH, fmax(state->delta, DELTA_MOST));
}

// Mehrotra's direction, or a centring one where his leads out of the cones at once.
static double find_step(ipm_state *state)
{
    ipm_aim(state, 0.0, false);
    if (!(find_direction(state) <= ROUGH)) {
        soften(state);
    }
    const double after = find_gap(state, fmin(find_way(state), 1.0)) / state->gap;
    const double share = fmin(fmax(after, 0.0), 1.0);
    ipm_aim(state, share * share * share * state->gap, true);
    find_direction(state);
    const double a = KEPT * find_way(state);
    if (a >= SHORT_STEP) {
        return a;
    }
    ipm_aim(state, CENTRED * state->gap, false);
    find_direction(state);
    return KEPT * find_way(state);
}

static void ipm_move(ipm_state *state, double a)
{
    const int n = state->system->c->n;
    const size_t contacts = 4 * (size_t)n;
    ss_vector_add(state->size, a, state->dq, state->q);
    ss_vector_add(contacts, a, state->dx, state->x);
    ss_vector_add(contacts, a, state->dy, state->y);
    for (int i = 0; i < n; i++) {
        ss_cone_keep(state->x + 4 * (size_t)i);
        ss_cone_keep(state->y + 4 * (size_t)i);
    }
    if (a >= SHORT_STEP) {
        state->frozen -= state->frozen > 0;
    } else {
        state->frozen = FROZEN_STEPS;
    }
}

static ss_outcome ipm_step(void *of, ss_drive *d)
{
    ipm_state *state = of;
    state->gap = find_gap(state, 0.0);
    d->iterations++;
    if (!ipm_factor(state)) {
        return ss_drive_stopped(d);
    }
    const double a = find_step(state);
    if (!(a > 0.0) || !isfinite(a)) {
        return SS_STALLED;
    }
    ipm_move(state, a);
    find_impulses(state, 0.0);
    ss_drive_judge(d, state->r);
    if (d->idle > 0 && d->idle % IDLE_FEW == 0) {
        soften(state);
    }
    return d->idle < IDLE_MOST ? SS_UNSOLVED : SS_STALLED;
}

// ---- Making one

static bool ipm_allocate(ipm_state *state, size_t n)
{
    state->q = calloc(3 * state->size + 1, sizeof *state->q);
    state->x = calloc(33 * n, sizeof *state->x);
    state->weight = calloc(9 * n, sizeof *state->weight);
    state->scaling = calloc(n, sizeof *state->scaling);
    if (state->q == NULL || state->x == NULL || state->weight == NULL || state->scaling == NULL) {
        return false;
    }
    state->dq = state->q + state->size;
    state->left = state->dq + state->size;
    double **const parts[] = {&state->y, &state->dx,    &state->dy, &state->v,
                              &state->h, &state->slope, &state->r,  &state->compliance};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        *parts[k] = state->x + 4 * n * (k + 1);
    }
    return true;
}

// x and y on the axis of the cones, q at no impulse: the start that is handed in has no use, as it
// lies on the boundary of the cones mostly.
static void ipm_start(ipm_state *state, const ss_drive *d)
{
    ss_drive_weights(d, state->compliance);
    find_residual(state);
    memcpy(state->q, state->left, state->size * sizeof *state->q);
    for (size_t i = 0; i < (size_t)d->c->n; i++) {
        const double unit = is_line(state, (int)i) ? 1.0 : fmin(3.0 * d->c->mu[i], 1.0); // about P
        state->x[4 * i] = START_IMPULSE * d->c->V * unit * state->compliance[i];
        state->y[4 * i] = d->c->V / unit;
        state->compliance[i] = 1.0 / state->compliance[i];
    }
}

static ss_status ipm_make(void *of, ss_drive *d, ss_error *e)
{
    ipm_state *state = of;
    const settings *s = d->settings;
    const ss_status status = ss_implicit_new(d->c, s->memory, &d->limits, &state->system, e);
    if (state->system == NULL) {
        d->halted = true;
        return status;
    }
    state->size = state->system->size;
    state->delta = s->delta;
    if (!ipm_allocate(state, (size_t)d->c->n)) {
        return ss_fail_memory(e, "an interior point method");
    }
    ipm_start(state, d);
    return SS_OK;
}

static const ss_steps STEPS = {.form = offsetof(settings, form),
                               .whole = true,
                               .state_size = sizeof(ipm_state),
                               .make = ipm_make,
                               .step = ipm_step,
                               .release = ipm_release};

const ss_global_solver ss_ipm = {
    .card = {.name = "ipm",
             .law = SS_EXACT,
             .reference = "AANS23",
             .about = "A primal-dual interior point method: predictor and corrector of Mehrotra "
                      "in the scaling of Nesterov and Todd, one factorisation a step, with De "
                      "Saxce's shift inside Newton's equations. Some 20 to 30 steps whatever "
                      "the mass ratios and the condition: for dense hair, hyperstatic "
                      "problems and towers. It always starts at the axis of the cones.",
             .keys = KEYS,
             .defaults = &DEFAULTS,
             .settings_size = sizeof(settings)},
    .steps = &STEPS,
    .solve = ss_drive_solve,
};
