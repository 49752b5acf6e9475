#include "solvers/global/ipm_newton.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/small.h"
#include "solvers/vectors.h"

#define SMOOTHING    1e-4 // m over (s x.y)^1/2
#define REFINEMENTS  3    // of a direction, while each leaves at most
#define REFINING     0.5  // this share of the residual
#define DELTA_GROWTH 10.0

// ---- Contacts

bool ss_ipm_is_line(const ss_interior *state, int i)
{
    return !(state->system->c->mu[i] > 0.0);
}

// r = P^-1 (x + a dx); without friction P = I, and x_1 = x_2 = 0.
void ss_ipm_impulses(ss_interior *state, double a)
{
    const ss_coupling *c = state->system->c;
    for (int i = 0; i < c->n; i++) {
        const size_t at = 4 * (size_t)i;
        for (size_t k = 0; k < 4; k++) {
            state->r[at + k] = state->x[at + k] + a * state->dx[at + k];
        }
        if (!ss_ipm_is_line(state, i)) {
            state->r[at] /= c->mu[i];
        }
    }
}

// u where q is this; without the velocity at q = 0 for a change of q.
static void find_velocity(const ss_interior *state, int i, const double *q, bool change,
                          double u[3])
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
void ss_ipm_residual(ss_interior *state)
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

double ss_ipm_gap(const ss_interior *state, double a)
{
    double sum = 0.0;
    for (size_t k = 0; k < 4 * (size_t)state->system->c->n; k++) {
        sum += (state->x[k] + a * state->dx[k]) * (state->y[k] + a * state->dy[k]);
    }
    return sum / state->system->c->n;
}

// ---- One Newton system

// v and its slope at u.
static void find_shifted(ss_interior *state, int i)
{
    const ss_coupling *c = state->system->c;
    double u[3], *v = state->v + 4 * (size_t)i, *slope = state->slope + 4 * (size_t)i;
    find_velocity(state, i, state->q, false, u);
    if (ss_ipm_is_line(state, i)) {
        v[0] = u[0];
        return;
    }
    const double m2 = SMOOTHING * SMOOTHING * state->gap * c->s;
    const double length = sqrt(u[1] * u[1] + u[2] * u[2] + m2);
    v[0] = u[0] / c->mu[i] + length;
    for (int k = 1; k < 3; k++) {
        v[k] = u[k];
        slope[k - 1] = length > 0.0 ? u[k] / length : 0.0;
    }
}

// J = P^-1 D A of (3).
static void find_block(const ss_interior *state, int i, double J[9])
{
    const double *D = state->weight + 9 * (size_t)i, *slope = state->slope + 4 * (size_t)i;
    const double mu = state->system->c->mu[i];
    if (ss_ipm_is_line(state, i)) {
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
static void find_added(const ss_interior *state, int i, double added[2])
{
    const double mu = ss_ipm_is_line(state, i) ? 1.0 : state->system->c->mu[i];
    added[1] = state->delta * state->compliance[i];
    added[0] = added[1] / (mu * mu);
}

// T, v, D and J factored. False where x or y has no scaling, or J is singular to rounding.
bool ss_ipm_factor(ss_interior *state)
{
    for (int i = 0; i < state->system->c->n; i++) {
        const size_t at = 4 * (size_t)i;
        ss_scaling *s = &state->scaling[i];
        if (!ss_scaling_find(ss_ipm_is_line(state, i), state->x + at, state->y + at, s)) {
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
void ss_ipm_aim(ss_interior *state, double t, bool correct)
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
static void expand(ss_interior *state)
{
    for (int i = 0; i < state->system->c->n; i++) {
        const size_t at = 4 * (size_t)i;
        const double *slope = state->slope + at;
        double added[2], du[3], change[3] = {0.0, 0.0, 0.0}, rest[3];
        find_added(state, i, added);
        find_velocity(state, i, state->dq, true, du);
        if (ss_ipm_is_line(state, i)) {
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
double ss_ipm_direction(ss_interior *state)
{
    double old = INFINITY, first = 0.0;
    memset(state->dq, 0, state->size * sizeof *state->dq);
    for (int k = 0; k <= REFINEMENTS; k++) {
        expand(state);
        ss_ipm_impulses(state, 1.0);
        ss_ipm_residual(state);
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

// How far the direction stays in the cones, at most 1 / SS_IPM_KEPT.
double ss_ipm_way(const ss_interior *state)
{
    double a = 1.0 / SS_IPM_KEPT;
    for (int i = 0; i < state->system->c->n; i++) {
        const size_t at = 4 * (size_t)i;
        a = ss_cone_step(ss_ipm_is_line(state, i), state->x + at, state->dx + at, a);
        a = ss_cone_step(ss_ipm_is_line(state, i), state->y + at, state->dy + at, a);
    }
    return a;
}

void ss_ipm_move(ss_interior *state, double a)
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
}

void ss_ipm_soften(ss_interior *state)
{
    state->delta = fmin(state->delta * DELTA_GROWTH, fmax(state->delta, SS_IPM_DELTA_MOST));
}

// ---- Making one

ss_ipm_point ss_ipm_point_new(const ss_interior *state)
{
    const size_t contacts = 4 * (size_t)state->system->c->n;
    double *q = malloc((state->size + 2 * contacts) * sizeof *q);
    return q == NULL ? (ss_ipm_point){0}
                     : (ss_ipm_point){q, q + state->size, q + state->size + contacts};
}

void ss_ipm_copy(const ss_interior *state, ss_ipm_point from, ss_ipm_point to)
{
    const size_t contacts = 4 * (size_t)state->system->c->n;
    memcpy(to.q, from.q, state->size * sizeof *to.q);
    memcpy(to.x, from.x, contacts * sizeof *to.x);
    memcpy(to.y, from.y, contacts * sizeof *to.y);
}

bool ss_ipm_allocate(ss_interior *state)
{
    const size_t n = (size_t)state->system->c->n;
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

void ss_ipm_release(ss_interior *state)
{
    ss_implicit_free(state->system);
    free(state->q);
    free(state->x);
    free(state->weight);
    free(state->scaling);
}
