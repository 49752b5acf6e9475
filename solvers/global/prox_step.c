#include "solvers/global/prox_step.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/small.h"
#include "solvers/vectors.h"

#define PROJECTION_NS 10.0 // of a contact
#define HALVINGS      10
#define ARMIJO        0.01  // a step a must bring |F| below (1 - 0.01 a) of what it was
#define FLOOR         1e-13 // rms F over the scale of y: rounding
// Share of F that a step may leave for linear algebra: F over the scale of y, between these.
#define LEAST_SHARE 1e-10
#define MOST_SHARE  1e-4
#define NEAR_FLOOR  1e-9 // below this a step that does not halve F is the last

void ss_prox_free(ss_prox *p)
{
    if (p != NULL) {
        free(p->u != p->y ? p->u : NULL); // in explicit form they are the same
        free(p->du != p->step ? p->du : NULL);
        free(p->trial_u != p->trial_y ? p->trial_u : NULL);
        free(p->y);
        free(p->phi);
        free(p->l);
        free(p->R);
        free(p->shift);
        free(p->F);
        free(p->step);
        free(p->rhs);
        free(p->trial_y);
        free(p->trial_F);
        ss_implicit_free(p->system);
        free(p);
    }
}

// ---- The closed form

static void prox_step_project(double mu, double R, const double x[3], double phi[3], double D[9])
{
    memset(D, 0, 9 * sizeof *D);
    phi[0] = phi[1] = phi[2] = 0.0;
    if (!(x[0] > 0.0)) {
        return;
    }
    const double size = ss_length2(x[1], x[2]);
    if (mu > 0.0 && size <= mu * x[0]) {
        memcpy(phi, x, 3 * sizeof *phi);
        D[0] = D[4] = D[8] = R;
        return;
    }
    const double t1 = size > 0.0 ? x[1] / size : 0.0, t2 = size > 0.0 ? x[2] / size : 0.0;
    const double turn = size > 0.0 ? R * mu * x[0] / size : 0.0;
    phi[0] = x[0];
    phi[1] = mu * x[0] * t1;
    phi[2] = mu * x[0] * t2;
    D[0] = R;
    D[3] = R * mu * t1;
    D[6] = R * mu * t2;
    D[4] = turn * (1.0 - t1 * t1);
    D[5] = D[7] = -turn * t1 * t2;
    D[8] = turn * (1.0 - t2 * t2);
}

// P_K(x) and R dP_K/dx.
static void project_convex(double mu, double R, const double x[3], double phi[3], double D[9])
{
    memset(D, 0, 9 * sizeof *D);
    ss_cone_project(mu, x, phi);
    const double size = ss_length2(x[1], x[2]);
    if (size <= mu * x[0]) {
        D[0] = D[4] = D[8] = R;
        return;
    }
    if (!(phi[0] > 0.0)) {
        return;
    }
    const double t[2] = {x[1] / size, x[2] / size}, face = R / (1.0 + mu * mu);
    const double turn = R * mu * phi[0] / size;
    D[0] = face;
    for (int k = 0; k < 2; k++) {
        D[1 + k] = D[3 * (k + 1)] = face * mu * t[k];
        for (int j = 0; j < 2; j++) {
            D[3 * (k + 1) + j + 1] = (face * mu * mu - turn) * t[k] * t[j] + (k == j ? turn : 0.0);
        }
    }
}

static void project_contact(ss_prox *p, int i, const double u[3])
{
    const double *l = p->l + 4 * (size_t)i;
    double x[3];
    for (int k = 0; k < 3; k++) {
        x[k] = l[k] - p->R[i] * u[k];
    }
    double *phi = p->phi + 4 * (size_t)i, *D = p->system->D + 9 * (size_t)i;
    if (p->shift == NULL) {
        prox_step_project(p->c->mu[i], p->R[i], x, phi, D);
    } else {
        x[0] -= p->R[i] * p->shift[i];
        project_convex(p->c->mu[i], p->R[i], x, phi, D);
    }
}

// ---- F and J

static void see_contacts(void *of, int first, int end)
{
    const ss_prox *p = of;
    for (int i = first; i < end; i++) {
        ss_coupling_see(p->c, i, p->y, p->u + 4 * (size_t)i);
    }
}

// In explicit form u is y.
static void prox_step_find_velocities(ss_prox *p)
{
    if (!p->c->is_explicit) {
        ss_team_divide(p->c->team, p->c->n, SS_COUPLING_NS, see_contacts, p);
    }
}

// What the contacts of a residual share.
typedef struct prox_trial {
    ss_prox *p;
    const double *u;
    double *F;
} prox_trial;

static void project_contacts(void *of, int first, int end)
{
    const prox_trial *t = of;
    for (int i = first; i < end; i++) {
        project_contact(t->p, i, t->u + 4 * (size_t)i);
    }
}

static void residual_contacts(void *of, int first, int end)
{
    const prox_trial *t = of;
    for (int i = first; i < end; i++) {
        const size_t at = 4 * (size_t)i;
        double v[3];
        ss_coupling_row(t->p->c, i, t->p->phi, v);
        for (size_t k = 0; k < 3; k++) {
            t->F[at + k] = t->u[at + k] - v[k];
        }
        t->F[at + 3] = 0.0;
    }
}

static void residual_bodies(ss_prox *p, const double *z, double *F)
{
    for (size_t k = 0; k < p->size; k++) {
        F[k] = p->c->white->z0[k] - z[k];
    }
    ss_coupling_push_all(p->c, p->phi, F);
    for (size_t k = 0; k < p->size; k++) {
        F[k] = -F[k];
    }
}

// phi, D and F at y, where the velocities are u. The rms of F.
static double residual(ss_prox *p, const double *y, const double *u, double *F)
{
    const ss_coupling *c = p->c;
    prox_trial t = {p, u, F};
    ss_team_divide(c->team, c->n, PROJECTION_NS, project_contacts, &t);
    if (c->is_explicit) {
        ss_team_divide(c->team, c->n, SS_COUPLING_NS, residual_contacts, &t);
    } else {
        residual_bodies(p, y, F);
    }
    return sqrt(ss_vector_dot(p->size, F, F) / (double)p->size);
}

// ---- Newton

// step = -J^-1 F, the better the smaller the rms of F. False for a J that is singular to rounding.
static bool prox_step_find_step(ss_prox *p, double size)
{
    for (size_t k = 0; k < p->size; k++) {
        p->rhs[k] = -p->F[k];
    }
    const double share = fmin(fmax(size / p->scale, LEAST_SHARE), MOST_SHARE);
    return ss_implicit_solve(p->system, p->rhs, share, p->step);
}

static void see_direction(void *of, int first, int end)
{
    ss_prox *p = of;
    const ss_coupling *c = p->c;
    for (int i = first; i < end; i++) {
        double *du = p->du + 4 * (size_t)i;
        ss_coupling_see(c, i, p->step, du);
        for (int k = 0; k < c->dim; k++) {
            du[k] -= c->white->w[c->dim * i + k];
        }
    }
}

// G step: u is affine in y, so that a trial needs no product with G.
static void prox_step_find_direction(ss_prox *p)
{
    if (!p->c->is_explicit) {
        ss_team_divide(p->c->team, p->c->n, SS_COUPLING_NS, see_direction, p);
    }
}

static double prox_step_try_step(ss_prox *p, double a)
{
    for (size_t k = 0; k < p->size; k++) {
        p->trial_y[k] = p->y[k] + a * p->step[k];
    }
    for (size_t k = 0; !p->c->is_explicit && k < 4 * (size_t)p->c->n; k++) {
        p->trial_u[k] = p->u[k] + a * p->du[k];
    }
    return residual(p, p->trial_y, p->trial_u, p->trial_F);
}

// y and F of the first trial that is good enough, else of the best one. The rms of F there.
static double prox_step_search(ss_prox *p, double old)
{
    double best = INFINITY, best_a = 0.0, a = 1.0, last = 0.0, last_a = -1.0;
    prox_step_find_direction(p);
    for (int k = 0; k <= HALVINGS; k++, a *= 0.5) {
        const double size = prox_step_try_step(p, a);
        if (size < best) {
            best = size;
            best_a = a;
        }
        last_a = a;
        last = size;
        if (size <= (1.0 - ARMIJO * a) * old) {
            break;
        }
    }
    const double size = last_a == best_a ? last : prox_step_try_step(p, best_a);
    memcpy(p->y, p->trial_y, p->size * sizeof *p->y);
    memcpy(p->F, p->trial_F, p->size * sizeof *p->F);
    if (!p->c->is_explicit) {
        memcpy(p->u, p->trial_u, 4 * (size_t)p->c->n * sizeof *p->u);
    }
    return size;
}

static bool time_is_up(const ss_prox *p)
{
    return p->limits != NULL && ss_limits_test(p->limits, -1) != SS_UNSOLVED;
}

ss_prox_info ss_prox_solve(ss_prox *p, double share, int steps)
{
    prox_step_find_velocities(p);
    ss_prox_info info = {.first = residual(p, p->y, p->u, p->F)};
    info.last = info.first;
    while (info.steps < steps && info.last > FLOOR * p->scale && !time_is_up(p)) {
        const double old = info.last;
        if (!prox_step_find_step(p, old)) {
            break;
        }
        info.last = prox_step_search(p, old);
        info.steps++;
        info.reached = info.last <= share * info.first || info.last <= FLOOR * p->scale;
        if (info.reached || !(info.last < old) ||
            (info.last < NEAR_FLOOR * p->scale && info.last > 0.5 * old)) {
            break;
        }
    }
    info.reached |= info.last <= FLOOR * p->scale;
    return info;
}

// ---- Making one

static bool prox_step_allocate(ss_prox *p)
{
    const size_t n = (size_t)p->c->n, size = p->size + 1;
    p->y = calloc(size, sizeof *p->y);
    p->phi = calloc(4 * n, sizeof *p->phi);
    p->l = calloc(4 * n, sizeof *p->l);
    p->R = calloc(n, sizeof *p->R);
    p->F = calloc(size, sizeof *p->F);
    p->step = calloc(size, sizeof *p->step);
    p->rhs = calloc(size, sizeof *p->rhs);
    p->trial_y = calloc(size, sizeof *p->trial_y);
    p->trial_F = calloc(size, sizeof *p->trial_F);
    const bool own = !p->c->is_explicit;
    p->u = own ? calloc(4 * n, sizeof *p->u) : p->y;
    p->du = own ? calloc(4 * n, sizeof *p->du) : p->step;
    p->trial_u = own ? calloc(4 * n, sizeof *p->trial_u) : p->trial_y;
    return p->u != NULL && p->du != NULL && p->trial_u != NULL && p->y != NULL && p->phi != NULL &&
           p->l != NULL && p->R != NULL && p->F != NULL && p->step != NULL && p->rhs != NULL &&
           p->trial_y != NULL && p->trial_F != NULL;
}

ss_status ss_prox_new(ss_coupling *c, double memory, const ss_limits *limits, ss_prox **prox,
                      ss_error *e)
{
    *prox = NULL;
    ss_prox *p = calloc(1, sizeof *p);
    if (p == NULL) {
        return ss_fail_memory(e, "a proximal method");
    }
    p->c = c;
    p->limits = limits;
    ss_status status = ss_implicit_new(c, memory, limits, &p->system, e);
    if (status == SS_OK && p->system == NULL) {
        ss_prox_free(p);
        return SS_OK;
    }
    if (status == SS_OK) {
        p->size = p->system->size;
        status = prox_step_allocate(p) ? SS_OK : ss_fail_memory(e, "a proximal method");
    }
    if (status != SS_OK) {
        ss_prox_free(p);
        return status;
    }
    *prox = p;
    return SS_OK;
}

void ss_prox_start(ss_prox *p)
{
    const ss_coupling *c = p->c;
    memcpy(p->phi, c->r, 4 * (size_t)c->n * sizeof *p->phi);
    if (!c->is_explicit) {
        memcpy(p->y, c->z, p->size * sizeof *p->y);
    }
    for (int i = 0; c->is_explicit && i < c->n; i++) {
        double u[3];
        ss_coupling_velocity(c, i, u);
        memcpy(p->y + 4 * (size_t)i, u, sizeof u);
        p->y[4 * (size_t)i + 3] = 0.0;
    }
    const double size = sqrt(ss_vector_dot(p->size, p->y, p->y) / (double)p->size);
    p->scale = size > 0.0 ? size : 1.0;
}

ss_status ss_prox_freeze_shift(ss_prox *p, ss_error *e)
{
    if (p->shift == NULL) {
        p->shift = malloc((size_t)p->c->n * sizeof *p->shift);
    }
    if (p->shift == NULL) {
        return ss_fail_memory(e, "a proximal method");
    }
    prox_step_find_velocities(p);
    for (int i = 0; i < p->c->n; i++) {
        const double *u = p->u + 4 * (size_t)i;
        p->shift[i] = p->c->mu[i] * ss_length2(u[1], u[2]);
    }
    return SS_OK;
}
