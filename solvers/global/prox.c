// solvers/global/prox.c -- proximal methods: prox around sweeps, alm and admm by linear solves, and
// the exact proximal step by a semismooth Newton method, which alm and ppa take.
#include "solvers/global/prox.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "solvers/global/drive.h"
#include "solvers/global/global.h"
#include "solvers/small.h"
#include "solvers/sweep/sweep.h"
#include "solvers/vectors.h"

// ---- The proximal step
//
// phi of prox.h (1) solves the one-contact problem of W_ii = I / R_i in closed form (the
// bipotential's s = mu |u_T| e drops out because the weight is isotropic): of x = l - R u
//
//     x_N <= 0:           phi = 0,             D = 0
//     |x_T| <= mu x_N:    phi = x,             D = R I
//     else:               phi = x_N (1, mu t), D = R [[1, 0], [mu t, mu x_N / |x_T| (I - t t')]]
//
// with t = x_T / |x_T| and D = -dphi/du (row N has no tangential entry, so D is unsymmetric).
// Unknowns y are z (matrix-free form) or u (explicit form):
//
//     F(z) = z - z0 - G' phi,    J = I + G' D G
//     F(u) = u - b - W phi,      J_ij = I + W_ij D_j     (implicit.h)    (2)
//
// With the shift frozen the step is that of the convex problem instead: phi is P_K(l - R (u + s)),
// s = mu |u_T| e of earlier velocities, and D = R dP_K/dx.

#define PROJECTION_NS 10.0 // nanoseconds of a contact that is projected
#define HALVINGS      10
#define ARMIJO        0.01  // a step a must bring |F| below (1 - 0.01 a) |F|
#define FLOOR         1e-13 // rms F over the scale of y that is rounding
#define NEAR_FLOOR    1e-9  // below it a step that does not halve F is the last

// Share of F that a step may leave for linear algebra: F over the scale of y, between these.
#define LEAST_SHARE 1e-10
#define MOST_SHARE  1e-4

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

static void project_coulomb(double mu, double R, const double x[3], double phi[3], double D[9])
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

// Finds P_K(x) and D = R dP_K/dx.
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
        project_coulomb(p->c->mu[i], p->R[i], x, phi, D);
    } else {
        x[0] -= p->R[i] * p->shift[i];
        project_convex(p->c->mu[i], p->R[i], x, phi, D);
    }
}

static void see_contacts(void *of, int first, int end)
{
    const ss_prox *p = of;
    for (int i = first; i < end; i++) {
        ss_coupling_see(p->c, i, p->y, p->u + 4 * (size_t)i);
    }
}

// Finds the velocities at y. In explicit form u is y.
static void find_velocities(ss_prox *p)
{
    if (!p->c->is_explicit) {
        ss_team_divide(p->c->team, p->c->n, SS_COUPLING_NS, see_contacts, p);
    }
}

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

// Finds phi, D and F at y, where the velocities are u. Returns the rms of F.
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

// Finds step = -J^-1 F, the better the smaller the rms of F. False if J is singular to rounding.
static bool find_step(ss_prox *p, double size)
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

// Finds G step: u is affine in y, so that a trial needs no product with G.
static void find_direction(ss_prox *p)
{
    if (!p->c->is_explicit) {
        ss_team_divide(p->c->team, p->c->n, SS_COUPLING_NS, see_direction, p);
    }
}

static double try_step(ss_prox *p, double a)
{
    for (size_t k = 0; k < p->size; k++) {
        p->trial_y[k] = p->y[k] + a * p->step[k];
    }
    for (size_t k = 0; !p->c->is_explicit && k < 4 * (size_t)p->c->n; k++) {
        p->trial_u[k] = p->u[k] + a * p->du[k];
    }
    return residual(p, p->trial_y, p->trial_u, p->trial_F);
}

// Takes y and F of the first trial that is good enough, else of the best one. Returns the rms of F
// there.
static double search(ss_prox *p, double old)
{
    double best = INFINITY, best_a = 0.0, a = 1.0, last = 0.0, last_a = -1.0;
    find_direction(p);
    for (int k = 0; k <= HALVINGS; k++, a *= 0.5) {
        const double size = try_step(p, a);
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
    const double size = last_a == best_a ? last : try_step(p, best_a);
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
    ss_assert(p->scale > 0.0); // ss_prox_start came before
    find_velocities(p);
    ss_prox_info info = {.first = residual(p, p->y, p->u, p->F)};
    info.last = info.first;
    while (info.steps < steps && info.last > FLOOR * p->scale && !time_is_up(p)) {
        const double old = info.last;
        if (!find_step(p, old)) {
            break;
        }
        info.last = search(p, old);
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

static bool allocate_step(ss_prox *p)
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
        status = allocate_step(p) ? SS_OK : ss_fail_memory(e, "a proximal method");
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

// Freezes the shift at the velocities at y.
static ss_status freeze_shift(ss_prox *p, ss_error *e)
{
    if (p->shift == NULL) {
        p->shift = malloc((size_t)p->c->n * sizeof *p->shift);
    }
    if (p->shift == NULL) {
        return ss_fail_memory(e, "a proximal method");
    }
    find_velocities(p);
    for (int i = 0; i < p->c->n; i++) {
        const double *u = p->u + 4 * (size_t)i;
        p->shift[i] = p->c->mu[i] * ss_length2(u[1], u[2]);
    }
    return SS_OK;
}

// ---- The options
//
// prox has those of sweeps, alm and admm have the form, the weight and the memory.

typedef struct settings {
    ss_sweep_settings sweep; // first (ss_moves)
    double rho;
    double memory; // GB
} settings;

// ---- prox
//
// The proximal point method around Gauss-Seidel (Rockafellar 1976; the most robust family in
// Siconos). Around a centre l, with a_i = alpha tr(W_ii)/d, sweeps solve
//
//     u = (W + a) r + (b - a l)
//
// to a tenth of its first residual, then l <- r. alpha falls where that takes few sweeps and grows
// where it takes too many: a large one makes every inner problem easy and the outer steps short.
// Fixed points are the solutions of the problem itself. Explicit form only: a is added to the
// blocks of W. The answer is judged with W and b as they are.

#define SWEPT_SHARE 0.1
#define SWEPT_MOST  200 // sweeps of an inner problem
#define SWEPT_FEW   20
#define ALPHA_FIRST 0.1
#define ALPHA_LEAST 1e-8
#define ALPHA_MOST  1e3

static const settings PROX_DEFAULTS = {.sweep = {.form = SS_FORM_EXPLICIT, .skip = 10}};

static const ss_key PROX_KEYS[] = {
    SS_REAL_KEY("ltol", sweep.ltol, 0, 1,
                .about = "local tolerance over the velocity scale; 0: a tenth of --tol"),
    {.name = NULL},
};

typedef struct prox_state {
    double alpha;
    int sweeps;       // sweeps of the present inner problem
    double first;     // first residual of the present inner problem
    size_t *diagonal; // [n] first number of W_ii in W.x
    double *own;      // [dim n] diagonal of W_ii, as it is
    double *b;        // [dim n], as it is
    double *centre;   // [4 n] l
} prox_state;

// Makes the coupling that of W + a and b - a l; for alpha = 0 that of W and b.
static void set_alpha(const prox_state *state, ss_coupling *c, double alpha)
{
    const size_t d = (size_t)c->dim;
    for (int i = 0; i < c->n; i++) {
        const double ai = alpha * c->compliance[i];
        for (size_t k = 0; k < d; k++) {
            const size_t at = d * (size_t)i + k;
            const double W = state->own[at] + ai;
            c->W.x[state->diagonal[i] + k * (d + 1)] = W;
            c->contact[i].W[4 * k] = W;
            c->b[at] = state->b[at] - ai * state->centre[4 * (size_t)i + k];
        }
        if (d == 2) {
            c->contact[i].W[8] = 0.5 * (c->contact[i].W[0] + c->contact[i].W[4]);
        }
    }
}

static void begin_inner(prox_state *state, ss_coupling *c)
{
    memcpy(state->centre, c->r, 4 * (size_t)c->n * sizeof *state->centre);
    for (int i = 0; i < c->n; i++) {
        c->memo[i] = 0.0; // it remembers something of W_ii
    }
}

static void end_inner(prox_state *state, ss_drive *d, bool reached)
{
    ss_drive_judge(d, d->c->r);
    if (!reached) {
        state->alpha = fmin(2.0 * state->alpha, ALPHA_MOST);
    } else if (state->sweeps <= SWEPT_FEW) {
        state->alpha = fmax(0.5 * state->alpha, ALPHA_LEAST);
    }
    state->sweeps = 0;
}

// Makes a sweep of the inner problem. Outside it the coupling is that of the problem itself.
static ss_outcome prox_step(void *of, ss_drive *d)
{
    prox_state *state = of;
    if (state->sweeps == 0) {
        begin_inner(state, d->c);
    }
    set_alpha(state, d->c, state->alpha);
    ss_sweep(d->sweeper);
    set_alpha(state, d->c, 0.0);
    d->iterations++;
    d->unjudged = true;
    const double estimate = d->sweeper->last.estimate;
    state->first = state->sweeps++ == 0 ? estimate : state->first;
    const bool reached = state->sweeps > 1 && estimate <= SWEPT_SHARE * state->first;
    if (reached || state->sweeps == SWEPT_MOST) {
        end_inner(state, d, reached);
    }
    return SS_UNSOLVED;
}

static bool prox_allocate(prox_state *state, const ss_coupling *c)
{
    const size_t n = (size_t)c->n, d = (size_t)c->dim;
    state->diagonal = malloc(n * sizeof *state->diagonal);
    state->own = malloc(n * d * sizeof *state->own);
    state->b = malloc(n * d * sizeof *state->b);
    state->centre = calloc(4 * n, sizeof *state->centre);
    return state->diagonal != NULL && state->own != NULL && state->b != NULL &&
           state->centre != NULL;
}

static ss_status prox_make(void *of, ss_drive *d, ss_error *e)
{
    prox_state *state = of;
    const ss_coupling *c = d->c;
    ss_assert(c->is_explicit); // a is added to the blocks of W
    if (!prox_allocate(state, c)) {
        return ss_fail_memory(e, "a proximal method");
    }
    const size_t dim = (size_t)c->dim;
    memcpy(state->b, c->b, (size_t)c->n * dim * sizeof *state->b);
    for (size_t i = 0; i < (size_t)c->n; i++) {
        size_t k = c->W.start[i];
        while (c->W.col[k] != (int)i) {
            k++;
        }
        state->diagonal[i] = k * dim * dim;
        for (size_t j = 0; j < dim; j++) {
            state->own[dim * i + j] = c->W.x[state->diagonal[i] + j * (dim + 1)];
        }
    }
    state->alpha = ALPHA_FIRST;
    ss_drive_judge(d, c->r);
    return SS_OK;
}

static void prox_release(void *of)
{
    prox_state *state = of;
    free(state->diagonal);
    free(state->own);
    free(state->b);
    free(state->centre);
}

static const ss_steps PROX_STEPS = {.moves = SS_MOVES_SWEEPER,
                                    .whole = true,
                                    .state_size = sizeof(prox_state),
                                    .make = prox_make,
                                    .step = prox_step,
                                    .release = prox_release};

const ss_global_solver ss_prox_sweeps = {
    .card = {.name = "prox",
             .law = SS_EXACT,
             .reference = "R76",
             .about = "The proximal point method around Gauss-Seidel: sweeps solve a problem "
                      "with a heavier diagonal to a tenth of its residual, then its centre "
                      "moves to the answer. It helps where contacts are strongly coupled. "
                      "Explicit form only.",
             SS_OPTIONS(PROX_KEYS, PROX_DEFAULTS)},
    SS_DRIVEN(PROX_STEPS),
    .takes_local = true,
    .key_needs = ss_sweep_key_needs,
    .takes_threads = ss_sweep_takes_threads,
};

// ---- alm
//
// Augmented Lagrangian with a semismooth Newton method inside (Rockafellar 1976b; Alart and
// Curnier 1991), with De Saxce's shift frozen in each outer step:
//
//     inner:  F(z) = z - z0 - G' P_K(l - R (G z + w + s)) = 0   to 1e-3 of its first residual
//     outer:  l <- P_K(l - R (G z + w + s)),   s <- mu |u_T| e of u = G z + w
//
// R_i = rho / (tr W_ii / d). rho = 1 does not get there; rho = 1000 takes some ten outer steps.

#define INNER_SHARE 1e-3
#define INNER_STEPS 50

static const settings ALM_DEFAULTS = {.rho = 1000.0, .memory = SS_MEMORY_DEFAULT};

static const ss_key ALM_KEYS[] = {
    SS_CHOICE_KEY("form", sweep.form, ss_form_names, .about = SS_FORM_ABOUT),
    SS_REAL_KEY("rho", rho, 1e-6, 1e9, .about = "weight of the augmentation, over tr(W_ii)/d"),
    SS_MEMORY_KEY,
    {.name = NULL},
};

typedef struct alm_state {
    ss_prox *prox;
} alm_state;

static void alm_release(void *of)
{
    ss_prox_free(((alm_state *)of)->prox);
}

static ss_status alm_make(void *of, ss_drive *d, ss_error *e)
{
    alm_state *state = of;
    const settings *s = d->settings;
    const ss_status status = ss_prox_new(d->c, s->memory, &d->limits, &state->prox, e);
    ss_prox *p = state->prox;
    if (p == NULL) {
        d->halted = true;
        return status;
    }
    ss_drive_weights(d, p->R);
    for (int i = 0; i < d->c->n; i++) {
        p->R[i] *= s->rho;
    }
    ss_prox_start(p);
    memcpy(p->l, p->phi, 4 * (size_t)d->c->n * sizeof *p->l);
    return freeze_shift(p, e);
}

static ss_outcome alm_step(void *of, ss_drive *d)
{
    ss_prox *p = ((alm_state *)of)->prox;
    const ss_prox_info info = ss_prox_solve(p, INNER_SHARE, ss_drive_left(d, INNER_STEPS));
    d->iterations += info.steps > 0 ? info.steps : 1;
    memcpy(p->l, p->phi, 4 * (size_t)d->c->n * sizeof *p->l);
    ss_drive_judge(d, p->phi);
    freeze_shift(p, NULL); // its memory is there
    return info.steps > 0 || info.reached ? SS_UNSOLVED : ss_drive_stopped(d);
}

static const ss_steps ALM_STEPS = {.moves = SS_MOVES_COUPLING,
                                   .state_size = sizeof(alm_state),
                                   .make = alm_make,
                                   .step = alm_step,
                                   .release = alm_release};

const ss_global_solver ss_alm = {
    .card = {.name = "alm",
             .law = SS_EXACT,
             .reference = "R76 AC91",
             .about = "Augmented Lagrangian: each outer step solves a smooth convex problem "
                      "by a semismooth Newton method, with De Saxce's shift frozen. A large "
                      "weight takes some ten outer steps, each of some linear solves. The "
                      "matrix is sparse and factorised by blocks.",
             SS_OPTIONS(ALM_KEYS, ALM_DEFAULTS)},
    SS_DRIVEN(ALM_STEPS),
    .takes_threads = ss_drive_takes_threads,
};

// ---- admm
//
// Alternating directions on the velocities (Boyd et al. 2011), with De Saxce's shift. With
// p_i = 1 / (tr W_ii / d), R_i = rho p_i, s = mu |y_T| e:
//
//     (I + G' R G) z = z0 + G' (l + R (y - s - w)),   q = G z + w + s
//     l+ = P_K(l - R q),    y = (l+ - (l - R q)) / R
//
// (implicit.h with D = R; in explicit form (I + W R) u = b + W (l + R (y - s)), q = u + s.) Every
// 10 iterations k = |q - y|_p / (rho |y - y_old|_p), |x|_p^2 = sum p_i |x_i|^2, is looked at:
// outside 0.1 .. 10 rho is multiplied by sqrt k, at most ten and at least a tenth, and the matrix
// is factorised afresh. l is the answer.

#define BALANCE_EVERY 10
#define BALANCE_RATIO 10.0
#define JUDGE_EVERY   5

static const settings ADMM_DEFAULTS = {.rho = 1.0, .memory = SS_MEMORY_DEFAULT};

static const ss_key ADMM_KEYS[] = {
    SS_CHOICE_KEY("form", sweep.form, ss_form_names, .about = SS_FORM_ABOUT),
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

// Solves the linear step for z (u in explicit form), in rhs; r of it is l + R (y - s - u).
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

// Balances rho. False if the matrix of the new one is singular.
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

static const ss_steps ADMM_STEPS = {.moves = SS_MOVES_COUPLING,
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
             SS_OPTIONS(ADMM_KEYS, ADMM_DEFAULTS)},
    SS_DRIVEN(ADMM_STEPS),
    .takes_threads = ss_drive_takes_threads,
};
