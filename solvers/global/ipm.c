// solvers/global/ipm.c -- ipm: a primal-dual interior point method with De Saxce's shift inside
// Newton's equations (the family of Acary, Armand, Nguyen and Shpakovych 2023; doc/formulation.md,
// "Interior points").
//
// In x = P r, P = diag(mu, 1, 1), and v = (u_N / mu + |u_T|, u_T) both cones of Coulomb's law are
// the Lorentz cone L = {x : x_0 >= |x_1|}. With q = z (matrix-free form: B = G', q0 = z0) or q = u
// (explicit form: B = W, q0 = b) it asks for
//
//     q = q0 + B r,     y = v(u) + C (x - x'),     x o y = t e,     x and y inside L    (1)
//
// where t > 0, and t -> 0. C = delta tr(W_ii)/d P^-2, a compliance, with the impulse x' before the
// step makes Newton's system regular where W is not (hyperstatic problems); it is no part of the
// solution. |u_T| is (|u_T|^2 + m^2)^1/2 with m^2 = 1e-8 s x.y, the mean of x.y: it has a
// derivative at rest.
#include "solvers/global/ipm.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "problems/matrix/mass.h"
#include "solvers/global/global.h"
#include "solvers/residual.h"
#include "solvers/small.h"
#include "solvers/sweep/sweep.h"
#include "solvers/vectors.h"

// ---- The cone
//
// Each contact has its cone, with the scaling of Nesterov and Todd (1997). Without friction the
// cone is the half line x_0 >= 0, and components 1 and 2 are 0.
//
//     x o y = (x.y, x_0 y_1 + y_0 x_1),   det x = x_0^2 - |x_1|^2,   e = (1, 0, 0)
//
// The scaling of x and y inside L is the symmetric positive definite T with T x = T^-1 y = l:
//
//     w = (y / det(y)^1/2 + J x / det(x)^1/2) / (2 g),   J = diag(1, -1, -1)
//     T = b (2 v v' - J),   v = (w + e) / (2 (w_0 + 1))^1/2,   b = (det y / det x)^1/4    (2)
//
// with g such that det w = 1, and T^2 = b^2 (2 w w' - J).

#define INSIDE (4.0 * DBL_EPSILON) // the least distance to the boundary, over |x_1|

static double determinant(const double x[3])
{
    const double size = ss_length2(x[1], x[2]);
    return (x[0] - size) * (x[0] + size);
}

// Divides x, which is inside the cone, by the square root of its determinant. False if it is not
// inside.
static bool normalise(const double x[3], double unit[3], double *root)
{
    const double det = determinant(x);
    if (!(det > 0.0 && x[0] > 0.0 && det < INFINITY)) {
        return false;
    }
    *root = sqrt(det);
    for (int k = 0; k < 3; k++) {
        unit[k] = x[k] / *root;
    }
    return true;
}

static bool scale_line(const double x[3], const double y[3], ss_scaling *s)
{
    memset(s, 0, sizeof *s);
    s->line = true;
    s->b = sqrt(y[0] / x[0]);
    s->l[0] = sqrt(y[0] * x[0]);
    return x[0] > 0.0 && s->l[0] > 0.0 && s->b > 0.0 && s->b < INFINITY && s->l[0] < INFINITY;
}

bool ss_scaling_find(bool line, const double x[3], const double y[3], ss_scaling *s)
{
    if (line) {
        return scale_line(x, y, s);
    }
    double ux[3], uy[3], root_x, root_y;
    if (!normalise(x, ux, &root_x) || !normalise(y, uy, &root_y)) {
        return false;
    }
    const double g = sqrt(0.5 + 0.5 * ss_dot3(ux, uy));
    s->line = false;
    s->b = sqrt(root_y / root_x);
    s->w[0] = (uy[0] + ux[0]) / (2.0 * g);
    for (int k = 1; k < 3; k++) {
        s->w[k] = (uy[k] - ux[k]) / (2.0 * g);
    }
    const double size = sqrt(2.0 * (s->w[0] + 1.0));
    for (int k = 0; k < 3; k++) {
        s->v[k] = (s->w[k] + (k == 0 ? 1.0 : 0.0)) / size;
    }
    ss_scaling_apply(s, x, s->l);
    return s->b > 0.0 && s->b < INFINITY && determinant(s->l) > 0.0;
}

void ss_scaling_apply(const ss_scaling *s, const double x[3], double y[3])
{
    const double part = 2.0 * ss_dot3(s->v, x);
    y[0] = s->b * (s->line ? x[0] : part * s->v[0] - x[0]);
    y[1] = s->b * (part * s->v[1] + x[1]);
    y[2] = s->b * (part * s->v[2] + x[2]);
}

void ss_scaling_remove(const ss_scaling *s, const double x[3], double y[3])
{
    const double part = 2.0 * (s->v[0] * x[0] - s->v[1] * x[1] - s->v[2] * x[2]);
    y[0] = (s->line ? x[0] : part * s->v[0] - x[0]) / s->b;
    y[1] = (x[1] - part * s->v[1]) / s->b;
    y[2] = (x[2] - part * s->v[2]) / s->b;
}

void ss_scaling_weight(const ss_scaling *s, const double c[2], double D[9])
{
    const double b2 = s->b * s->b, size = ss_length2(s->w[1], s->w[2]);
    memset(D, 0, 9 * sizeof *D);
    if (s->line) {
        D[0] = 1.0 / (b2 + c[0]);
        return;
    }
    const double t1 = size > 0.0 ? s->w[1] / size : 1.0, t2 = size > 0.0 ? s->w[2] / size : 0.0;
    const double same = b2 * (s->w[0] * s->w[0] + size * size), mixed = 2.0 * b2 * s->w[0] * size;
    const double det = b2 * b2 + same * (c[0] + c[1]) + c[0] * c[1];
    const double along = (same + c[0]) / det, across = 1.0 / (b2 + c[1]);
    D[0] = (same + c[1]) / det;
    D[1] = D[3] = -mixed / det * t1;
    D[2] = D[6] = -mixed / det * t2;
    D[4] = along * t1 * t1 + across * t2 * t2;
    D[5] = D[7] = (along - across) * t1 * t2;
    D[8] = along * t2 * t2 + across * t1 * t1;
}

void ss_scaling_divide(const ss_scaling *s, const double c[3], double z[3])
{
    const double *l = s->l;
    z[0] = s->line ? c[0] / l[0] : (l[0] * c[0] - l[1] * c[1] - l[2] * c[2]) / determinant(l);
    z[1] = (c[1] - z[0] * l[1]) / l[0];
    z[2] = (c[2] - z[0] * l[2]) / l[0];
}

static double clamp(double value, double least, double most)
{
    const double to = value < least ? least : value > most ? most : value;
    return fmax(to - value, -most);
}

bool ss_cone_clamp(const double w[3], double least, double most, double change[3])
{
    ss_assert(least <= most);
    const double size = ss_length2(w[1], w[2]);
    const double low = clamp(w[0] - size, least, most), high = clamp(w[0] + size, least, most);
    const double along = size > 0.0 ? 0.5 * (high - low) / size : 0.0;
    change[0] = 0.5 * (low + high);
    change[1] = along * w[1];
    change[2] = along * w[2];
    return low != 0.0 || high != 0.0;
}

void ss_cone_approach(const double w[3], double t, double most, double z[3])
{
    const double size = ss_length2(w[1], w[2]), low = w[0] - size, high = w[0] + size;
    const double to_low = fmin(fmax(t, low / most), low * most);
    const double to_high = fmin(fmax(t, high / most), high * most);
    const double along = size > 0.0 ? 0.5 * (to_high - to_low) / size : 0.0;
    z[0] = 0.5 * (to_low + to_high);
    z[1] = along * w[1];
    z[2] = along * w[2];
}

void ss_cone_keep(double x[3])
{
    const double least = ss_length2(x[1], x[2]) * (1.0 + INSIDE) + DBL_MIN;
    x[0] = x[0] < least ? least : x[0];
}

double ss_cone_step(bool line, const double x[3], const double dx[3], double most)
{
    ss_assert(most > 0.0);
    if (line) {
        return dx[0] < 0.0 ? fmin(most, -x[0] / dx[0]) : most;
    }
    const double end[3] = {x[0] + most * dx[0], x[1] + most * dx[1], x[2] + most * dx[2]};
    if (end[0] > 0.0 && end[0] * end[0] > end[1] * end[1] + end[2] * end[2]) {
        return most; // the cone is convex
    }
    // det(x + a dx) = A a^2 + 2 B a + C; its least positive root, where it has one.
    const double A = determinant(dx), C = determinant(x);
    const double B = x[0] * dx[0] - x[1] * dx[1] - x[2] * dx[2];
    const double under = B * B - A * C, root = sqrt(fmax(under, 0.0));
    if (A < 0.0 && B > 0.0) {
        return fmin(most, (B + root) / -A);
    }
    return under >= 0.0 && root > B ? fmin(most, C / (root - B)) : most;
}

// ---- The state
//
// Loops over all contacts are shared by threads. Sums and extremes are those of blocks of so many
// contacts, one after another, whoever finds a block.

#define BLOCK      512 // contacts
#define SHORT_WORK 3e6 // multiplications of a factorisation, below which floats gain no time

// q is NULL without memory; free(q).
static ss_ipm_point point_new(const ss_interior *state)
{
    const size_t contacts = 4 * (size_t)state->system->c->n;
    double *q = malloc((state->size + 2 * contacts) * sizeof *q);
    return q == NULL ? (ss_ipm_point){0}
                     : (ss_ipm_point){q, q + state->size, q + state->size + contacts};
}

static int count_blocks(int n)
{
    return (n + BLOCK - 1) / BLOCK;
}

bool ss_ipm_allocate(ss_interior *state, ss_implicit *system)
{
    const size_t n = (size_t)system->c->n, blocks = (size_t)count_blocks(system->c->n);
    ss_assert(state->q == NULL && state->x == NULL);
    state->system = system;
    state->size = system->size;
    state->q = calloc(4 * state->size + 1, sizeof *state->q);
    state->x = calloc(37 * n, sizeof *state->x);
    state->weight = calloc(9 * n, sizeof *state->weight);
    state->scaling = calloc(n, sizeof *state->scaling);
    state->parts = malloc((blocks + 1) * sizeof *state->parts);
    state->shorter = point_new(state);
    if (state->q == NULL || state->x == NULL || state->weight == NULL || state->scaling == NULL ||
        state->parts == NULL || state->shorter.q == NULL) {
        return false;
    }
    state->dq = state->q + state->size;
    state->left = state->dq + state->size;
    state->more = state->left + state->size;
    double **const parts[] = {&state->y,      &state->dx, &state->dy,
                              &state->v,      &state->h,  &state->slope,
                              &state->change, &state->r,  &state->compliance};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        *parts[k] = state->x + 4 * n * (k + 1);
    }
    state->is_short = ss_block_lu_work(system->lu) > SHORT_WORK;
    return true;
}

void ss_ipm_release(ss_interior *state)
{
    free(state->q);
    free(state->x);
    free(state->weight);
    free(state->scaling);
    free(state->parts);
    free(state->shorter.q);
}

static ss_ipm_point present(const ss_interior *state)
{
    return (ss_ipm_point){state->q, state->x, state->y};
}

static ss_ipm_point direction(const ss_interior *state)
{
    return (ss_ipm_point){state->dq, state->dx, state->dy};
}

// True if contact i has no friction: its cone is the half line.
static bool is_line(const ss_interior *state, int i)
{
    return !(state->system->c->mu[i] > 0.0);
}

// r = P^-1 x of contact i; without friction P = I, and x_1 = x_2 = 0.
static void find_impulse(const ss_interior *state, int i, const double x[3], double r[3])
{
    r[0] = is_line(state, i) ? x[0] : x[0] / state->system->c->mu[i];
    r[1] = x[1];
    r[2] = x[2];
}

// Shares a loop over the contacts, each of which takes so many nanoseconds.
static void share(const ss_interior *state, double ns, ss_team_range *work, void *context)
{
    ss_team_divide(state->system->c->team, state->system->c->n, ns, work, context);
}

// ---- Measures and moves

// Nanoseconds of a contact that is moved, or whose numbers are summed; and of one whose error is
// found.
#define LIGHT_NS 5.0
#define ERROR_NS 20.0

static int block_end(const ss_interior *state, int block)
{
    const int n = state->system->c->n, end = (block + 1) * BLOCK;
    return end < n ? end : n;
}

// Shares a loop over the blocks, whose results are parts[0] and so on. Returns their number.
static int find_parts(ss_interior *state, double ns, ss_team_range *work, void *context)
{
    const int blocks = count_blocks(state->system->c->n);
    ss_team_divide(state->system->c->team, blocks, ns * BLOCK, work, context);
    return blocks;
}

typedef struct trial {
    ss_interior *state;
    double a; // length of a step
} trial;

static void sum_products(void *of, int first, int end)
{
    const trial *t = of;
    const ss_interior *state = t->state;
    for (int b = first; b < end; b++) {
        double sum = 0.0;
        for (size_t k = 4 * BLOCK * (size_t)b; k < 4 * (size_t)block_end(state, b); k++) {
            sum += (state->x[k] + t->a * state->dx[k]) * (state->y[k] + t->a * state->dy[k]);
        }
        state->parts[b] = sum;
    }
}

double ss_ipm_gap(ss_interior *state, double a)
{
    trial t = {state, a};
    const int blocks = find_parts(state, LIGHT_NS, sum_products, &t);
    double sum = 0.0;
    for (int b = 0; b < blocks; b++) {
        sum += state->parts[b];
    }
    return sum / state->system->c->n;
}

#define KEPT_WAY 0.99 // share of the way to the boundary of the cones

static void find_ways(void *of, int first, int end)
{
    const ss_interior *state = of;
    for (int b = first; b < end; b++) {
        double a = 1.0 / KEPT_WAY;
        for (int i = b * BLOCK; i < block_end(state, b); i++) {
            const size_t at = 4 * (size_t)i;
            const bool line = is_line(state, i);
            a = ss_cone_step(line, state->x + at, state->dx + at, a);
            a = ss_cone_step(line, state->y + at, state->dy + at, a);
        }
        state->parts[b] = a;
    }
}

// Returns the length to which the direction stays in the cones, at most 1 / KEPT_WAY.
static double find_way(ss_interior *state)
{
    const int blocks = find_parts(state, LIGHT_NS, find_ways, state);
    double a = 1.0 / KEPT_WAY;
    for (int b = 0; b < blocks; b++) {
        a = fmin(state->parts[b], a);
    }
    return a;
}

// Returns the error of contact i as ss_measures_error combines it, at the velocity that y would
// have. r = P^-1 x.
static double find_error(const ss_interior *state, int i, double r[3])
{
    const ss_coupling *c = state->system->c;
    const double *y = state->y + 4 * (size_t)i, mu = c->mu[i];
    find_impulse(state, i, state->x + 4 * (size_t)i, r);
    if (is_line(state, i)) {
        return ss_normal_size(c->s, r[0], y[0]);
    }
    const double u[3] = {mu * (y[0] - ss_length2(y[1], y[2])), y[1], y[2]};
    return fmax(ss_fb_size(mu, c->s, r, u), SS_NORMAL_WEIGHT * ss_normal_size(c->s, r[0], u[0]));
}

static void find_errors(void *of, int first, int end)
{
    const ss_interior *state = of;
    for (int b = first; b < end; b++) {
        double worst = 0.0;
        for (int i = b * BLOCK; i < block_end(state, b); i++) {
            const double error = find_error(state, i, state->r + 4 * (size_t)i);
            worst = error <= worst ? worst : error;
        }
        state->parts[b] = worst;
    }
}

double ss_ipm_estimate(ss_interior *state)
{
    const int blocks = find_parts(state, ERROR_NS, find_errors, state);
    double worst = 0.0;
    for (int b = 0; b < blocks; b++) {
        worst = state->parts[b] <= worst ? worst : state->parts[b];
    }
    return worst / state->system->c->V;
}

// Returns contact i's part of T a.x . T b.x + T^-1 a.y . T^-1 b.y, for two directions a and b.
static double find_part(const ss_interior *state, int i, ss_ipm_point a, ss_ipm_point b)
{
    const size_t at = 4 * (size_t)i;
    const ss_scaling *s = &state->scaling[i];
    double p[3], q[3];
    ss_scaling_apply(s, a.x + at, p);
    ss_scaling_apply(s, b.x + at, q);
    const double of_x = ss_dot3(p, q);
    ss_scaling_remove(s, a.y + at, p);
    ss_scaling_remove(s, b.y + at, q);
    return of_x + ss_dot3(p, q);
}

void ss_ipm_find_parts(const ss_interior *state, double *part)
{
    const ss_ipm_point d = direction(state);
    for (int i = 0; i < state->system->c->n; i++) {
        part[i] = find_part(state, i, d, d);
    }
}

static void move_contacts(void *of, int first, int end)
{
    const trial *t = of;
    const ss_interior *state = t->state;
    const size_t from = 4 * (size_t)first, numbers = 4 * (size_t)(end - first);
    ss_vector_add(numbers, t->a, state->dx + from, state->x + from);
    ss_vector_add(numbers, t->a, state->dy + from, state->y + from);
    for (int i = first; i < end; i++) {
        ss_cone_keep(state->x + 4 * (size_t)i);
        ss_cone_keep(state->y + 4 * (size_t)i);
    }
}

void ss_ipm_move(ss_interior *state, double a)
{
    trial t = {state, a};
    ss_vector_add(state->size, a, state->dq, state->q);
    share(state, LIGHT_NS, move_contacts, &t);
}

typedef struct copying {
    ss_ipm_point from, to;
} copying;

static void copy_contacts(void *of, int first, int end)
{
    const copying *two = of;
    const size_t from = 4 * (size_t)first, bytes = 4 * (size_t)(end - first) * sizeof *two->to.x;
    memcpy(two->to.x + from, two->from.x + from, bytes);
    memcpy(two->to.y + from, two->from.y + from, bytes);
}

static void copy_point(const ss_interior *state, ss_ipm_point from, ss_ipm_point to)
{
    copying two = {from, to};
    memcpy(to.q, from.q, state->size * sizeof *to.q);
    share(state, LIGHT_NS, copy_contacts, &two);
}

// ---- One Newton step
//
// With the scaling T of x and y, l = T x = T^-1 y, and A = dv/du:
//
//     T^2 dx + dy = h - y,   h = T (l \ (t e - T dx' o T^-1 dy')),   dy = A du + v - y + C dx   (3)
//     dx = D (h - v - A du),   D = (T^2 + C)^-1
//     (I + B P^-1 D A [G]) dq = q0 + B (r + P^-1 D (h - v)) - q    (4)
//
// which is implicit.h with D_i = P^-1 D A. dx', dy' are of an earlier direction, or 0. D is large
// where contacts push, and rounding in J spoils dq: it is refined by the residual of (1) at r + dr,
// which does not contain J. |left|^2 is an energy, as x.y is: 0.1 (x.y)^1/2 are few enough to be
// left to the next step, which meets them in its right-hand side. So J may be factored in floats
// until D has grown.

#define SMOOTHING 1e-4 // m over (s x.y)^1/2

// A direction is refined at most REFINEMENTS times, while each leaves at most a share REFINING of
// the residual, until |left| is ENOUGH times (x.y)^1/2, or ROUGHLY times that for a first
// direction, which only tells the target. If more than a share ROUGH of the residual is left,
// rounding has spoilt it.
#define REFINEMENTS 3
#define REFINING    0.5
#define ENOUGH      0.1
#define ROUGHLY     10.0
#define ROUGH       1e-5

#define OUTLIER 10.0 // products between t and 10 times less or more are let be

// Nanoseconds of a contact in a loop that sees, in one that looks for outliers, and in others.
#define CONTACT_NS 60.0
#define CENTRE_NS  30.0
#define CONE_NS    10.0

// Finds u of contact i at this q; for a change of q, without the velocity at q = 0.
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

// Sets q = q0, as without impulses.
static void set_free(ss_interior *state)
{
    const ss_coupling *c = state->system->c;
    if (!c->is_explicit) {
        memcpy(state->q, c->white->z0, state->size * sizeof *state->q);
    }
    for (int i = 0; c->is_explicit && i < c->n; i++) {
        memcpy(state->q + 4 * (size_t)i, c->b + c->dim * i, (size_t)c->dim * sizeof *state->q);
    }
}

// Finds v of contact i and its slope at u.
static void find_shifted(ss_interior *state, int i)
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
        slope[k - 1] = length > 0.0 ? u[k] / length : 0.0;
    }
}

// Finds J = P^-1 D A of (4).
static void find_block(const ss_interior *state, int i, double J[9])
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

// Finds C of (1), its first component and the others.
static void find_added(const ss_interior *state, int i, double added[2])
{
    const double mu = is_line(state, i) ? 1.0 : state->system->c->mu[i];
    added[1] = state->delta * state->compliance[i];
    added[0] = added[1] / (mu * mu);
}

typedef struct scaled {
    ss_interior *state;
    atomic_bool failed; // some x or y has no scaling
} scaled;

static void scale_contacts(void *of, int first, int end)
{
    scaled *all = of;
    ss_interior *state = all->state;
    for (int i = first; i < end; i++) {
        const size_t at = 4 * (size_t)i;
        ss_scaling *s = &state->scaling[i];
        if (!ss_scaling_find(is_line(state, i), state->x + at, state->y + at, s)) {
            atomic_store(&all->failed, true);
            return;
        }
        double added[2];
        find_added(state, i, added);
        ss_scaling_weight(s, added, state->weight + 9 * (size_t)i);
        find_shifted(state, i);
        find_block(state, i, state->system->D + 9 * (size_t)i);
    }
}

bool ss_ipm_factor(ss_interior *state)
{
    ss_implicit *system = state->system;
    scaled all = {.state = state};
    share(state, CONTACT_NS, scale_contacts, &all);
    if (atomic_load(&all.failed)) {
        return false;
    }
    if (state->is_short && ss_implicit_factor_short(system) &&
        !ss_block_lu_is_negative(system->lu)) {
        return true;
    }
    const bool assembled = state->is_short && !ss_stop_asked(system->stop);
    state->is_short = false;
    return assembled ? ss_block_lu_factor(system->lu) : ss_implicit_factor(system);
}

// The target of all contacts: t, or the way to it in several steps if `near`: no spectral value of
// x o y changes by more than a factor of OUTLIER then. `more` is added to it. dx' and dy' are those
// of the present direction if `correct`, otherwise 0.
typedef struct aiming {
    ss_interior *state;
    double t, more;
    bool near, correct;
} aiming;

// Sets h = T (l \ (c - correction)) of contact i, whose correction is that of the present
// direction.
static void aim_at(ss_interior *state, int i, double c[3], bool correct)
{
    const size_t at = 4 * (size_t)i;
    const ss_scaling *s = &state->scaling[i];
    double a[3], b[3];
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

static void aim_contacts(void *of, int first, int end)
{
    const aiming *all = of;
    for (int i = first; i < end; i++) {
        const double *l = all->state->scaling[i].l;
        double c[3] = {all->t, 0.0, 0.0};
        if (all->near) {
            const double product[3] = {ss_dot3(l, l), 2.0 * l[0] * l[1], 2.0 * l[0] * l[2]};
            ss_cone_approach(product, all->t, OUTLIER, c);
        }
        c[0] += all->more;
        aim_at(all->state, i, c, all->correct);
    }
}

// Sets h of (3) for this target.
static void aim(ss_interior *state, double t, bool correct)
{
    aiming all = {.state = state, .t = t, .correct = correct};
    share(state, CONE_NS, aim_contacts, &all);
}

// Adds A G more to `change`, `more` being a change of dq, and finds dx by (3) after all changes.
static void expand(ss_interior *state, int i, const double *more)
{
    const size_t at = 4 * (size_t)i;
    double *change = state->change + at, rest[3];
    if (more != NULL) {
        const double *slope = state->slope + at;
        double du[3];
        find_velocity(state, i, more, true, du);
        if (is_line(state, i)) {
            change[0] += du[0];
        } else {
            change[0] += du[0] / state->system->c->mu[i] + slope[0] * du[1] + slope[1] * du[2];
            change[1] += du[1];
            change[2] += du[2];
        }
    }
    for (size_t k = 0; k < 3; k++) {
        rest[k] = state->h[at + k] - state->v[at + k] - change[k];
    }
    ss_multiply3(state->weight + 9 * (size_t)i, rest, state->dx + at);
}

typedef struct visit {
    ss_interior *state;
    const double *more; // the last change of dq; NULL: none
    bool pushes;
} visit;

static void visit_contacts(void *of, int first, int end)
{
    const visit *all = of;
    ss_interior *state = all->state;
    for (int i = first; i < end; i++) {
        const size_t at = 4 * (size_t)i;
        double x[3];
        expand(state, i, all->more);
        for (size_t k = 0; k < 3; k++) {
            x[k] = state->x[at + k] + state->dx[at + k];
        }
        find_impulse(state, i, x, state->r + at);
        if (all->pushes) {
            ss_coupling_push(state->system->c, i, state->r + at, state->left);
        }
    }
}

// Finds left = q0 + B (r + dr) - q - dq, dx being that of dq after the change `more` (NULL: there
// is none). On one thread a contact sees and pushes in one visit, so that G is read once.
static void find_left(ss_interior *state, const double *more)
{
    const ss_coupling *c = state->system->c;
    const bool shared = ss_team_pays(c->team, CONTACT_NS * c->n);
    if (!c->is_explicit) {
        memcpy(state->left, c->white->z0, state->size * sizeof *state->left);
    }
    visit all = {.state = state, .more = more, .pushes = !c->is_explicit && !shared};
    if (shared) {
        share(state, CONTACT_NS, visit_contacts, &all);
    } else {
        visit_contacts(&all, 0, c->n);
    }
    if (shared && !c->is_explicit) {
        ss_coupling_push_all(c, state->r, state->left);
    }
    for (int i = 0; c->is_explicit && i < c->n; i++) {
        const size_t at = 4 * (size_t)i;
        ss_coupling_row(c, i, state->r, state->left + at);
        state->left[at + 3] = 0.0;
    }
    for (size_t k = 0; k < state->size; k++) {
        state->left[k] -= state->q[k] + state->dq[k];
    }
}

static double find_size(const ss_interior *state)
{
    return sqrt(ss_vector_dot(state->size, state->left, state->left));
}

// Solves with the present factor until no more than `enough` is left, and returns the rest.
static double refine(ss_interior *state, double enough)
{
    double size = find_size(state), old = INFINITY;
    for (int k = 0; k <= REFINEMENTS; k++) {
        if (k > 0 && (size <= enough || (k > 1 && !(size <= REFINING * old)))) {
            break;
        }
        double *more = state->left;
        state->left = state->more;
        state->more = more;
        ss_block_lu_solve(state->system->lu, more);
        ss_vector_add(state->size, 1.0, more, state->dq);
        find_left(state, more);
        old = size;
        size = find_size(state);
    }
    return size;
}

// Finds dy of (3).
static void expand_contacts(void *of, int first, int end)
{
    const ss_interior *state = of;
    for (int i = first; i < end; i++) {
        const size_t at = 4 * (size_t)i;
        double added[2];
        find_added(state, i, added);
        for (size_t k = 0; k < 3; k++) {
            state->dy[at + k] = state->change[at + k] + state->v[at + k] - state->y[at + k] +
                                added[k > 0] * state->dx[at + k];
        }
    }
}

// Finds dq, dx and dy from `left` at the present dq, in doubles where floats do not get there.
// False as in ss_ipm_factor.
static bool solve(ss_interior *state, double rest)
{
    const double first = find_size(state), enough = rest * sqrt(state->gap);
    double size = refine(state, enough);
    if (state->is_short && !(size <= enough)) {
        state->is_short = false;
        if (!ss_block_lu_factor(state->system->lu)) {
            return false;
        }
        size = refine(state, enough);
    }
    state->is_rough = !(size <= enough) && !(size <= ROUGH * first);
    share(state, CONE_NS, expand_contacts, state);
    return true;
}

// Finds dq, dx and dy of (3) and (4), until this share of (x.y)^1/2 is left. False as in
// ss_ipm_factor.
static bool direct(ss_interior *state, double enough)
{
    memset(state->dq, 0, state->size * sizeof *state->dq);
    memset(state->change, 0, 4 * (size_t)state->system->c->n * sizeof *state->change);
    find_left(state, NULL);
    return solve(state, enough);
}

static bool find_direction(ss_interior *state)
{
    return direct(state, ENOUGH);
}

// Begins with the present dq, for another h.
static bool find_direction_again(ss_interior *state)
{
    find_left(state, NULL);
    return solve(state, ENOUGH);
}

// Finds c of h = T (l \ c), which brings the products of contact i after a step a near t. False if
// they are.
static bool find_outlier(const ss_interior *state, int i, double a, double t, double c[3])
{
    const ss_scaling *s = &state->scaling[i];
    double x[3], y[3];
    ss_scaling_apply(s, state->dx + 4 * (size_t)i, x);
    ss_scaling_remove(s, state->dy + 4 * (size_t)i, y);
    for (int k = 0; k < 3; k++) {
        x[k] = s->l[k] + a * x[k];
        y[k] = s->l[k] + a * y[k];
    }
    const double product[3] = {ss_dot3(x, y), x[0] * y[1] + y[0] * x[1], x[0] * y[2] + y[0] * x[2]};
    return ss_cone_clamp(product, t / OUTLIER, t * OUTLIER, c);
}

typedef struct centring {
    ss_interior *state;
    double a, t;
} centring;

// Changes h of the outliers, and sets r to the change of impulses that follows.
static void centre_contacts(void *of, int first, int end)
{
    const centring *all = of;
    ss_interior *state = all->state;
    for (int i = first; i < end; i++) {
        const size_t at = 4 * (size_t)i;
        double missing[3], z[3], h[3], dx[3];
        if (!find_outlier(state, i, all->a, all->t, missing)) {
            memset(state->r + at, 0, 3 * sizeof *state->r);
            continue;
        }
        ss_scaling_divide(&state->scaling[i], missing, z);
        ss_scaling_apply(&state->scaling[i], z, h);
        for (size_t k = 0; k < 3; k++) {
            state->h[at + k] += h[k];
        }
        ss_multiply3(state->weight + 9 * (size_t)i, h, dx);
        find_impulse(state, i, dx, state->r + at);
    }
}

// Finds the direction of Gondzio's (1996) corrector, for another h. After a step a some spectral
// values of (x + a dx) o (y + a dy) would be more than a factor of 10 from t; this h brings them to
// that bound.
static bool centre(ss_interior *state, double a, double t)
{
    const ss_coupling *c = state->system->c;
    centring all = {state, a, t};
    share(state, CENTRE_NS, centre_contacts, &all);
    if (c->is_explicit) {
        find_left(state, NULL);
    } else {
        ss_coupling_push_all(c, state->r, state->left);
    }
    return solve(state, ENOUGH);
}

// ---- The compliance

#define DELTA_MOST   1e-5
#define DELTA_GROWTH 10.0
#define DELTA_DECAY  0.5

// Adds compliance, after a step that rounding has spoilt.
static void soften(ss_interior *state)
{
    state->delta = fmin(state->delta * DELTA_GROWTH, fmax(state->delta, DELTA_MOST));
}

void ss_ipm_harden(ss_interior *state, double least)
{
    ss_assert(least >= 0.0);
    state->delta = fmax(DELTA_DECAY * state->delta, least);
}

// ---- A step at falling t
//
// The direction is that of Mehrotra (1992) with the correctors of Gondzio (1996), or a centring
// direction where those leave the cones at once.
//
//     first direction    t = 0: it leaves the share k of x.y
//     second             t = k^3 x.y, with the first one's correction of second order
//     correctors         while each makes the step longer
//     centring           t = x.y / 2, without correction

#define START_IMPULSE 0.1 // r_N of the start over V / (tr W_ii / d)

// A step shorter than LONG_STEP has at most so many CORRECTORS, each of which looks REACH farther,
// while each makes it longer by GAIN.
#define LONG_STEP  0.9
#define CORRECTORS 2
#define GAIN       0.03
#define REACH      0.3

#define CENTRED 0.5 // share of x.y that a centring step aims at

void ss_ipm_start(ss_interior *state, const ss_drive *d)
{
    const size_t n = (size_t)d->c->n;
    memset(state->x, 0, 4 * n * sizeof *state->x);
    memset(state->y, 0, 4 * n * sizeof *state->y);
    ss_drive_weights(d, state->compliance);
    set_free(state);
    for (size_t i = 0; i < n; i++) {
        const double unit = is_line(state, (int)i) ? 1.0 : fmin(3.0 * d->c->mu[i], 1.0); // about P
        state->x[4 * i] = START_IMPULSE * d->c->V * unit * state->compliance[i];
        state->y[4 * i] = d->c->V / unit;
        state->compliance[i] = 1.0 / state->compliance[i];
    }
}

static double step_length(ss_interior *state)
{
    return KEPT_WAY * find_way(state);
}

// Finds Mehrotra's second direction, and its t, from his first one. Returns the length of the step.
static double step_predict(ss_interior *state, double *t)
{
    const double after = ss_ipm_gap(state, fmin(find_way(state), 1.0)) / state->gap;
    const double share = fmin(fmax(after, 0.0), 1.0);
    *t = share * share * share * state->gap;
    aim(state, *t, true);
    return find_direction_again(state) ? step_length(state) : NAN;
}

// Makes Gondzio's correctors of a step of length a, and returns its new length. One that makes it
// shorter is undone.
static double step_correct(ss_interior *state, double t, double a)
{
    for (int k = 0; k < CORRECTORS && a < LONG_STEP; k++) {
        copy_point(state, direction(state), state->shorter);
        if (!centre(state, fmin(a + REACH, 1.0), t)) {
            return NAN;
        }
        const double longer = step_length(state);
        if (!(longer >= a)) {
            copy_point(state, state->shorter, direction(state));
            return a;
        }
        if (longer < a + GAIN) {
            return longer;
        }
        a = longer;
    }
    return a;
}

double ss_ipm_find_step(ss_interior *state, bool correct, double hopeless, double *plain)
{
    ss_assert(hopeless < SS_IPM_SHORT);
    *plain = NAN;
    aim(state, 0.0, false);
    if (!direct(state, ROUGHLY)) {
        return NAN;
    }
    if (state->is_rough) {
        soften(state);
    }
    *plain = step_length(state);
    if (*plain < hopeless) {
        return *plain;
    }
    double t = 0.0;
    *plain = step_predict(state, &t);
    const double a = correct ? step_correct(state, t, *plain) : *plain;
    if (a >= SS_IPM_SHORT || !isfinite(a)) {
        return a;
    }
    aim(state, CENTRED * state->gap, false);
    return find_direction(state) ? step_length(state) : NAN;
}

// ---- The path
//
// The path of the solutions of (1), with t as an unknown. Where friction is high the problem is not
// convex, and the path of t -> 0 has folds: at a fold t is least, det J = 0, and the path goes on
// with growing t to the next fold, where t falls again. Newton's method at falling t stops before a
// fold, whatever the length of its steps.
//
// Let n be Newton's direction at t, and s = d(q, x, y)/d(log t) along the path, both with one
// factor; s is the difference of Newton's directions at 2 t and at t. In the metric of the scaling,
//
//     <a, b> = sum_i (T a_x . T b_x + T^-1 a_y . T^-1 b_y) / t  +  contacts a_t b_t
//
// with a_t the change of log t, a step is
//
//     n + (k_0 - sign(det J) k) s,      <n + k_0 s, s> = 0,      k >= 0    (5)
//
// a correction across the path and a move along it: forward, since along a path dt changes its sign
// where det J does. k is the largest with which (5) stays in the cones: a move so long may leave
// the path for a branch nearer to its end, or lose it. Then the method goes back to the last point
// near the path, where no contact has more than 1 of |n + k_0 s|^2, and is careful for a while:
// shorter moves, from such points only, and targets that no contact has to reach in one step.

typedef struct ipm_path {
    double t; // where it is; 0: not on a path
    ss_ipm_point newton, along;
    double least_delta;
    ss_ipm_point near; // the last point near the path
    double near_t;     // t at that point; 0: there is none
    int since;         // steps since that point
    int returns;       // number of returns to that point
    int careful;       // steps to come in which moves begin near the path only
    int stuck;         // steps in a row that hardly moved
    double reach;      // share of k that is moved
} ipm_path;

#define MOST_FALL     0.95 // of t in a step
#define MOST_GROWTH   3.0  // of t in a step
#define HALVINGS      12   // in the search for k far from the path
#define MOST_HALVINGS 50   // in the search for k near the path
#define KEPT          0.95 // share of the way to the boundary; with 0.99 fewer paths end
#define ROUNDING      0.1  // a step below it is spoilt by rounding: delta grows

// A step is made again without the correction of second order if it is shorter than SHORT, or if
// the correction leaves no more than a share AT_REST.
#define SHORT   0.3
#define AT_REST 0.01

// At a point near the path no contact has more than NEAR of |n + k_0 s|^2. The path is lost LOST
// steps after the last such point, or after STUCK_IN steps in a row below STUCK. The method goes
// back to that point then, at most RETURNS times.
#define NEAR     1.0
#define LOST     25
#define STUCK    0.02
#define STUCK_IN 3
#define RETURNS  8

// After a return, or on a round, moves along the path are multiplied by SHORTER, and by LONGER
// after each step since. For CAREFUL steps, times the returns, a move begins only where each
// contact has at most CLOSE of |n + k_0 s|^2.
#define SHORTER 0.4
#define LONGER  1.2
#define CAREFUL 15
#define CLOSE   2.0

// False without memory.
static bool path_allocate(const ss_interior *state, ipm_path *path)
{
    path->newton = point_new(state);
    path->along = point_new(state);
    path->near = point_new(state);
    path->least_delta = state->delta;
    return path->newton.q != NULL && path->along.q != NULL && path->near.q != NULL;
}

static void path_release(ipm_path *path)
{
    free(path->newton.q);
    free(path->along.q);
    free(path->near.q);
}

// Begins a path at the present point.
static void path_begin(ipm_path *path, double t)
{
    path->t = t;
    path->near_t = 0.0;
    path->reach = 1.0;
    path->returns = path->careful = path->since = path->stuck = 0;
}

static double multiply(const ss_interior *state, double t, ss_ipm_point a, ss_ipm_point b)
{
    double sum = 0.0;
    for (int i = 0; i < state->system->c->n; i++) {
        sum += find_part(state, i, a, b);
    }
    return sum / t;
}

// Returns the largest part of |direction|^2 that is one contact's.
static double find_largest(const ss_interior *state, double t)
{
    const ss_ipm_point d = direction(state);
    double largest = 0.0;
    for (int i = 0; i < state->system->c->n; i++) {
        const double part = find_part(state, i, d, d);
        largest = part <= largest ? largest : part;
    }
    return largest / t;
}

// b <- b + factor a.
static void add(const ss_interior *state, double factor, ss_ipm_point a, ss_ipm_point b)
{
    const size_t contacts = 4 * (size_t)state->system->c->n;
    ss_vector_add(state->size, factor, a.q, b.q);
    ss_vector_add(contacts, factor, a.x, b.x);
    ss_vector_add(contacts, factor, a.y, b.y);
}

// Sets the direction to n + k s.
static void set_direction(ss_interior *state, const ipm_path *path, double k)
{
    copy_point(state, path->newton, direction(state));
    add(state, k, path->along, direction(state));
}

// Sets h for t, with `more` added to all: where the path was lost, no contact is to come to it in
// one step.
static void path_aim(ss_interior *state, const ipm_path *path, double t, double more, bool correct)
{
    aiming all = {state, t, more, path->careful > 0, correct};
    share(state, CONE_NS, aim_contacts, &all);
}

// Finds n and s. True if rounding has spoilt n.
static bool find_both(ss_interior *state, ipm_path *path)
{
    path_aim(state, path, path->t, 0.0, false);
    find_direction(state);
    const bool is_rough = state->is_rough;
    copy_point(state, direction(state), path->newton);
    path_aim(state, path, path->t, path->t, false);
    find_direction(state);
    copy_point(state, direction(state), path->along);
    add(state, -1.0, path->newton, path->along);
    return is_rough;
}

static bool is_inside(bool line, const double x[3], const double dx[3], double k, const double s[3])
{
    const double p[3] = {x[0] + dx[0] + k * s[0], x[1] + dx[1] + k * s[1], x[2] + dx[2] + k * s[2]};
    return p[0] > 0.0 && (line || p[0] * p[0] > p[1] * p[1] + p[2] * p[2]);
}

// True if a whole step of the direction, n + k_0 s, and k s stays in the cones.
static bool stays(const ss_interior *state, const ipm_path *path, double k)
{
    for (int i = 0; i < state->system->c->n; i++) {
        const size_t at = 4 * (size_t)i;
        const bool line = is_line(state, i);
        if (!is_inside(line, state->x + at, state->dx + at, k, path->along.x + at) ||
            !is_inside(line, state->y + at, state->dy + at, k, path->along.y + at)) {
            return false;
        }
    }
    return true;
}

// Returns the largest k <= most with n + (k_0 + sign k) s in the cones, by bisection; 0 where there
// is none. At a fold s is unbounded, and a k too small for some halvings may be a long move: near
// the path it is looked for.
static double find_move(const ss_interior *state, const ipm_path *path, double sign, double most,
                        bool near)
{
    double low = 0.0, high = most, k = most;
    for (int j = 0; low < most && (j < HALVINGS || (near && low == 0.0 && j < MOST_HALVINGS));
         j++) {
        if (stays(state, path, sign * k)) {
            low = k;
        } else {
            high = k;
        }
        k = 0.5 * (low + high);
    }
    return low;
}

// Returns the factor of s in (5). *far is the largest part of |n + k_0 s|^2.
static double find_factor(ss_interior *state, const ipm_path *path, double *far)
{
    const double n = state->system->c->n;
    const double both = multiply(state, path->t, path->newton, path->along);
    const double along = multiply(state, path->t, path->along, path->along);
    const double k0 = -both / (along + n);
    set_direction(state, path, k0);
    *far = find_largest(state, path->t);
    if (path->careful > 0 && !(*far <= CLOSE)) {
        return k0;
    }
    const bool grows = ss_block_lu_is_negative(state->system->lu);
    const double sign = grows ? 1.0 : -1.0;
    const double most = grows ? MOST_GROWTH : fmax(MOST_FALL + k0, 0.0);
    return k0 + sign * path->reach * find_move(state, path, sign, most, *far <= CLOSE);
}

// Finds the direction n + k s with its correction of second order, or without where that is too
// short. Returns the length of the step, which takes at most 0.95 of t away.
//
// The corrected direction is 0 at each point with x o y + T dx o T^-1 dy = t e, where (dx, dy) is
// the direction before the correction. That is no point of the path unless (dx, dy) is 0, too:
// without it the step leads on.
static double find_step(ss_interior *state, const ipm_path *path, double k, double far)
{
    set_direction(state, path, k);
    if (k >= -MOST_FALL) {
        path_aim(state, path, (1.0 + k) * path->t, 0.0, true);
        find_direction(state);
        const double a = fmin(1.0, KEPT * find_way(state));
        if (a >= SHORT && find_largest(state, path->t) >= AT_REST * far) {
            return a;
        }
        set_direction(state, path, k);
    }
    return fmin(fmin(1.0, KEPT * find_way(state)), MOST_FALL / fmax(-k, MOST_FALL));
}

// Keeps the point if it is near the path.
static void keep_near(const ss_interior *state, ipm_path *path, double far)
{
    path->since++;
    path->careful -= path->careful > 0;
    if (far <= NEAR) {
        copy_point(state, present(state), path->near);
        path->near_t = path->t;
        path->returns = path->careful > 0 ? path->returns : 0;
        path->since = 0;
    }
}

// Shortens the moves of some steps. Long ones may have led to a branch of the path that is closed,
// and go round on it.
static void path_shorten(ipm_path *path)
{
    path->reach *= SHORTER;
}

// True if the path was lost. The point is again the last near it then.
static bool go_back(ss_interior *state, ipm_path *path, double a)
{
    path->stuck = a >= STUCK ? 0 : path->stuck + 1;
    if ((path->stuck < STUCK_IN && path->since <= LOST) || path->near_t == 0.0 ||
        path->returns == RETURNS) {
        return false;
    }
    copy_point(state, path->near, present(state));
    path->t = path->near_t;
    path_shorten(path);
    path->returns++;
    path->careful = CAREFUL * path->returns;
    path->since = path->stuck = 0;
    return true;
}

// Makes one step of (5), or a return. False if J is singular to rounding, time is up, or no step is
// possible.
static bool path_step(ss_interior *state, ipm_path *path)
{
    state->gap = path->t;
    if (!ss_ipm_factor(state)) {
        return false;
    }
    const bool is_rough = find_both(state, path);
    double far;
    const double k = find_factor(state, path, &far);
    keep_near(state, path, far);
    const double a = find_step(state, path, k, far);
    if (go_back(state, path, a)) {
        return true;
    }
    if (!(a > 0.0) || !isfinite(a)) {
        return false;
    }
    path->reach = fmin(1.0, LONGER * path->reach);
    ss_ipm_move(state, a);
    path->t *= 1.0 + a * k;
    if (a < ROUNDING || is_rough) {
        soften(state);
    } else {
        ss_ipm_harden(state, path->least_delta);
    }
    return true;
}

// ---- Where interior points come first

#define LOOKED_AT   64    // contacts
#define WHITENED    8     // columns of a contact at most
#define MOST_SPREAD 100.0 // of tr W_ii

// True if bodies have fewer than d n / 2 dofs: W has at most half its full rank then.
static bool is_dense(const ss_problem *p)
{
    return p->form == SS_GLOBAL && p->ndofs < 0.5 * p->dim * p->ncontacts;
}

// False, too, where a contact has tr W_ii = 0.
bool ss_ipm_suits(const ss_problem *p, const ss_coupling *c)
{
    if (!is_dense(p) || c->is_explicit || !ss_implicit_prefers_bodies(c->white)) {
        return false;
    }
    double least = INFINITY, most = 0.0;
    for (int i = 0; i < c->n; i++) {
        least = fmin(least, c->compliance[i]);
        most = fmax(most, c->compliance[i]);
    }
    return least > 0.0 && most <= MOST_SPREAD * least;
}

// Returns the least body of contact i above `body`; INT_MAX if there is none.
static int next_body(const ss_problem *p, const ss_mass *mass, int i, int body)
{
    int next = INT_MAX;
    for (int k = p->H.start[p->dim * i]; k < p->H.start[p->dim * (i + 1)]; k++) {
        const int other = ss_mass_body_of(mass, p->H.row[k]);
        next = other > body && other < next ? other : next;
    }
    return next;
}

// Returns tr W_ii; NAN if a body is too large.
static double find_trace(const ss_problem *p, const ss_mass *mass, int i)
{
    double X[SS_IMPLICIT_ROOM * WHITENED], trace = 0.0;
    for (int body = next_body(p, mass, i, -1); body < INT_MAX; body = next_body(p, mass, i, body)) {
        const int size = ss_mass_size(mass, body), columns = ss_mass_columns(mass, body, p->dim);
        if (size > SS_IMPLICIT_ROOM || columns > WHITENED) {
            return NAN;
        }
        memset(X, 0, (size_t)(size * columns) * sizeof *X);
        for (int c = 0; c < p->dim; c++) {
            for (int k = p->H.start[p->dim * i + c]; k < p->H.start[p->dim * i + c + 1]; k++) {
                if (ss_mass_body_of(mass, p->H.row[k]) == body) {
                    X[ss_mass_place(mass, p->H.row[k]) * columns + c] = p->H.x[k];
                }
            }
        }
        ss_mass_whiten(mass, body, X, columns);
        trace += ss_vector_dot((size_t)(size * columns), X, X);
    }
    return trace;
}

bool ss_ipm_leads(const ss_problem *p, ss_mass **factor)
{
    ss_mass *mass = NULL;
    ss_error ignored;
    if (!is_dense(p) || ss_mass_find(p, factor, &mass, &ignored) != SS_OK) {
        return false;
    }
    const bool rigid = ss_bodies_are_rigid(p, ss_mass_bodies(mass));
    double least = rigid ? 0.0 : INFINITY, most = 0.0;
    const int looks = p->ncontacts < LOOKED_AT ? p->ncontacts : LOOKED_AT;
    for (int k = 0; k < looks && least > 0.0; k++) {
        const double trace = find_trace(p, mass, (int)((double)p->ncontacts * k / looks));
        least = trace < least || isnan(trace) ? trace : least;
        most = fmax(most, trace);
    }
    ss_mass_free(mass);
    return least > 0.0 && most <= MOST_SPREAD * least;
}

// ---- The method
//
// If a step at falling t is short, or det J < 0, the path of the solutions has a fold between
// the last good point and here: from that point on the path is followed.

#define GOOD_STEP  0.5  // least length of a good step: a path may begin there, and delta falls
#define GOOD_PLAIN 0.3  // the same without correctors
#define SETTLED    1e-5 // error below which short steps are due to rounding, and folds are few
#define LEAST_HARD 1e-9 // error below which delta does not fall again: rounding needs it
#define PASSED     0.1  // share of its first x.y at which a path without folds ahead is left
#define PATH_TRIED 40   // idle steps on a path that correctors have led to, before it begins anew
#define PATH_ROUND 60   // idle steps on a path that may go round: other moves are tried
#define NEAR_JUDGED                                                                                \
    3.0 // times the tolerance, or LEAST_JUDGED: answers with such an estimate are judged
#define LEAST_JUDGED 1e-10 // below it rounding counts, of which the estimate knows nothing
#define BETTER       0.999 // times the least error so far: an answer above it is no better
#define IDLE_FEW     5     // steps without a better answer, or a multiple, after which delta grows
#define IDLE_MOST    60    // steps without a better answer before it gives up
#define IDLE_PATH    300   // the same on a path, which may climb far

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

typedef struct ipm_run {
    ss_interior newton;
    ipm_path path;
    ss_ipm_point good; // the last good step began there
    double good_gap;   // x.y there; 0: there is none
    int along;         // steps on the path that is followed
    bool is_plain;     // no correctors
    double least;      // least estimate so far
    int idle;          // steps since that estimate
} ipm_run;

static void ipm_release(void *of)
{
    ipm_run *run = of;
    path_release(&run->path);
    ss_ipm_release(&run->newton);
    ss_implicit_free(run->newton.system);
    free(run->good.q);
}

// Begins anew. The start that is given is ignored, as most of its impulses are on the boundary of
// the cones.
static void ipm_start(ipm_run *run, const ss_drive *d)
{
    ss_interior *state = &run->newton;
    const settings *s = d->settings;
    state->delta = s->delta;
    run->least = INFINITY;
    run->idle = 0;
    run->good_gap = 0.0;
    run->path.t = 0.0;
    ss_ipm_start(state, d);
}

// Begins a path at the last good point. False if there is none.
static bool follow_path(ipm_run *run)
{
    if (!(run->good_gap > 0.0)) {
        return false;
    }
    copy_point(&run->newton, run->good, present(&run->newton));
    path_begin(&run->path, run->good_gap);
    run->along = 0;
    run->newton.is_short = false; // the sign of det J counts there
    return true;
}

static bool is_settled(const ipm_run *run)
{
    return run->least < SETTLED;
}

static ss_outcome step_down(ipm_run *run, ss_drive *d)
{
    ss_interior *state = &run->newton;
    state->gap = ss_ipm_gap(state, 0.0);
    if (!ss_ipm_factor(state)) {
        return ss_drive_stopped(d);
    }
    if (ss_block_lu_is_negative(state->system->lu) && follow_path(run)) {
        return SS_UNSOLVED;
    }
    double plain;
    const double a = ss_ipm_find_step(state, !run->is_plain, 0.0, &plain);
    if (a < SS_IPM_SHORT && is_settled(run) && state->delta < DELTA_MOST) {
        soften(state);
        return SS_UNSOLVED;
    }
    if (a < SS_IPM_SHORT && follow_path(run)) {
        return SS_UNSOLVED;
    }
    if (!(a > 0.0) || !isfinite(a)) {
        return ss_drive_stopped(d);
    }
    if (plain >= (run->is_plain ? GOOD_PLAIN : GOOD_STEP)) {
        copy_point(state, present(state), run->good);
        run->good_gap = state->gap;
    }
    if (a >= GOOD_STEP && !state->is_rough && run->least > LEAST_HARD) {
        ss_ipm_harden(state, run->path.least_delta);
    }
    ss_ipm_move(state, a);
    return SS_UNSOLVED;
}

// Makes a step along the path. One that leads nowhere may be another than that from the start, on
// which correctors have led: then the method begins anew without them. False as in path_step.
static bool step_along(ipm_run *run, const ss_drive *d)
{
    if (!path_step(&run->newton, &run->path)) {
        return false;
    }
    run->along++;
    if (run->idle % PATH_ROUND == PATH_ROUND - 1) {
        path_shorten(&run->path);
    }
    if (is_settled(run) && run->path.t < PASSED * run->good_gap &&
        !ss_block_lu_is_negative(run->newton.system->lu)) {
        run->path.t = 0.0;
        run->good_gap = 0.0;
    } else if (!run->is_plain && run->along > PATH_TRIED && run->idle > PATH_TRIED) {
        run->is_plain = true;
        ipm_start(run, d);
    }
    return true;
}

// Judges the answer if its estimate is near the tolerance, and now and then.
static void look(ipm_run *run, ss_drive *d)
{
    ss_interior *state = &run->newton;
    const double estimate = ss_ipm_estimate(state);
    run->idle++;
    if (estimate < BETTER * run->least) {
        run->idle = 0;
    }
    run->least = fmin(estimate, run->least);
    const double near = fmax(NEAR_JUDGED * d->task->tolerance, LEAST_JUDGED);
    if (estimate > near && run->idle % IDLE_FEW != IDLE_FEW - 1) {
        ss_drive_pass(d, state->r, estimate);
    } else {
        ss_drive_judge(d, state->r);
    }
}

static ss_outcome ipm_step(void *of, ss_drive *d)
{
    ipm_run *run = of;
    ss_interior *state = &run->newton;
    d->iterations++;
    if (run->path.t > 0.0) {
        if (!step_along(run, d)) {
            return ss_drive_stopped(d);
        }
    } else {
        const ss_outcome outcome = step_down(run, d);
        if (outcome != SS_UNSOLVED || run->path.t > 0.0) {
            return outcome;
        }
    }
    look(run, d);
    const int idle = run->idle > d->idle ? run->idle : d->idle;
    if (run->path.t == 0.0 && idle > 0 && idle % IDLE_FEW == 0) {
        soften(state);
    }
    return idle < (run->path.t > 0.0 ? IDLE_PATH : IDLE_MOST) ? SS_UNSOLVED : SS_STALLED;
}

static ss_status ipm_make(void *of, ss_drive *d, ss_error *e)
{
    ipm_run *run = of;
    ss_interior *state = &run->newton;
    const settings *s = d->settings;
    const ss_status status = ss_implicit_new(d->c, s->memory, &d->limits, &state->system, e);
    if (state->system == NULL) {
        d->halted = true;
        return status;
    }
    state->delta = s->delta; // the least of a path
    if (!ss_ipm_allocate(state, state->system) || !path_allocate(state, &run->path)) {
        return ss_fail_memory(e, "an interior point method");
    }
    run->good = point_new(state);
    if (run->good.q == NULL) {
        return ss_fail_memory(e, "an interior point method");
    }
    ipm_start(run, d);
    return SS_OK;
}

static const ss_steps STEPS = {.moves = SS_MOVES_COUPLING,
                               .whole = true,
                               .state_size = sizeof(ipm_run),
                               .make = ipm_make,
                               .step = ipm_step,
                               .release = ipm_release};

const ss_global_solver ss_ipm = {
    .card = {.name = "ipm",
             .law = SS_EXACT,
             .reference = "AANS23",
             .about = "A primal-dual interior point method: predictor and corrector of Mehrotra "
                      "and correctors of Gondzio in the scaling of Nesterov and Todd, one "
                      "factorisation a step, with De Saxce's shift inside Newton's equations. "
                      "Some 15 to 30 steps whatever the mass ratios and the condition: for "
                      "dense hair, hyperstatic problems and towers. If friction is high, it "
                      "follows the path of its answers through folds. It ignores the start that "
                      "it is given.",
             SS_OPTIONS(KEYS, DEFAULTS)},
    SS_DRIVEN(STEPS),
    .takes_threads = ss_drive_takes_threads,
};
