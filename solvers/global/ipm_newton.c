#include "solvers/global/ipm_newton.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/small.h"
#include "solvers/vectors.h"

#define SMOOTHING    1e-4 // m over (s x.y)^1/2
#define REFINEMENTS  3    // of a direction, while each leaves at most
#define REFINING     0.5  // this share of the residual
#define ENOUGH       0.1  // of a direction, |left| over (x.y)^1/2: it is refined no further
#define ROUGHLY      10.0 // the same of a first direction, for the target alone
#define ROUGH        1e-5 // share of its residual, of a direction that rounding has spoilt
#define SHORT_WORK   3e6  // multiplications of a factorisation, below which floats gain no time
#define OUTLIER      10.0 // products between t and 10 times less or more are let be
#define DELTA_GROWTH 10.0
#define DELTA_DECAY  0.5
#define CONTACT_NS   60.0 // of a contact in a loop that sees, for those who share it,
#define CENTRE_NS    30.0 // where outliers are looked for,
#define CONE_NS      10.0 // and elsewhere

// ---- Velocities

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

void ss_ipm_set_free(ss_interior *state)
{
    const ss_coupling *c = state->system->c;
    if (!c->is_explicit) {
        memcpy(state->q, c->white->z0, state->size * sizeof *state->q);
    }
    for (int i = 0; c->is_explicit && i < c->n; i++) {
        memcpy(state->q + 4 * (size_t)i, c->b + c->dim * i, (size_t)c->dim * sizeof *state->q);
    }
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
        if (!ss_scaling_find(ss_ipm_is_line(state, i), state->x + at, state->y + at, s)) {
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
    ss_team_divide(system->c->team, system->c->n, CONTACT_NS, scale_contacts, &all);
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

// A target of all contacts.
typedef struct aiming {
    ss_interior *state;
    double t, more;
    bool near; // as ss_ipm_aim_near
    bool correct;
} aiming;

// h = T (l \ (c - correction)) of contact i, whose correction is that of the direction that there is.
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

void ss_ipm_aim(ss_interior *state, double t, bool correct)
{
    aiming all = {.state = state, .t = t, .correct = correct};
    ss_team_divide(state->system->c->team, state->system->c->n, CONE_NS, aim_contacts, &all);
}

void ss_ipm_aim_near(ss_interior *state, double t, double more, bool correct)
{
    aiming all = {state, t, more, true, correct};
    ss_team_divide(state->system->c->team, state->system->c->n, CONE_NS, aim_contacts, &all);
}

// The change `more` of dq is seen: change += A G more. dx by (2) after all changes.
static void expand(ss_interior *state, int i, const double *more)
{
    const size_t at = 4 * (size_t)i;
    double *change = state->change + at, rest[3];
    if (more != NULL) {
        const double *slope = state->slope + at;
        double du[3];
        find_velocity(state, i, more, true, du);
        if (ss_ipm_is_line(state, i)) {
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
        ss_ipm_impulse(state, i, x, state->r + at);
        if (all->pushes) {
            ss_coupling_push(state->system->c, i, state->r + at, state->left);
        }
    }
}

// left = q0 + B (r + dr) - q - dq, dx being that of dq after the change `more` (NULL: there is none). On one
// thread a contact sees and pushes in one visit, so that G is read once.
static void find_left(ss_interior *state, const double *more)
{
    const ss_coupling *c = state->system->c;
    const bool shared = ss_team_pays(c->team, CONTACT_NS * c->n);
    if (!c->is_explicit) {
        memcpy(state->left, c->white->z0, state->size * sizeof *state->left);
    }
    visit all = {.state = state, .more = more, .pushes = !c->is_explicit && !shared};
    if (shared) {
        ss_team_divide(c->team, c->n, CONTACT_NS, visit_contacts, &all);
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

// Solutions with the factor that there is, until no more than `enough` is left. What is left.
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

// dy of (2).
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

// dq, dx and dy from what is left at the present dq; in doubles where floats do not get there. False as in
// ss_ipm_factor.
static bool solve(ss_interior *state, double share)
{
    const double first = find_size(state), enough = share * sqrt(state->gap);
    double size = refine(state, enough);
    if (state->is_short && !(size <= enough)) {
        state->is_short = false;
        if (!ss_block_lu_factor(state->system->lu)) {
            return false;
        }
        size = refine(state, enough);
    }
    state->is_rough = !(size <= enough) && !(size <= ROUGH * first);
    ss_team_divide(state->system->c->team, state->system->c->n, CONE_NS, expand_contacts, state);
    return true;
}

static bool direct(ss_interior *state, double share)
{
    memset(state->dq, 0, state->size * sizeof *state->dq);
    memset(state->change, 0, 4 * (size_t)state->system->c->n * sizeof *state->change);
    find_left(state, NULL);
    return solve(state, share);
}

bool ss_ipm_direction(ss_interior *state)
{
    return direct(state, ENOUGH);
}

bool ss_ipm_direction_roughly(ss_interior *state)
{
    return direct(state, ROUGHLY);
}

bool ss_ipm_direction_again(ss_interior *state)
{
    find_left(state, NULL);
    return solve(state, ENOUGH);
}

// c of h = T (l \ c): what brings the products of the contact after a step a to t.
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

// Their change of h, and of r, in which left is pushed.
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
        ss_ipm_impulse(state, i, dx, state->r + at);
    }
}

bool ss_ipm_centre(ss_interior *state, double a, double t)
{
    const ss_coupling *c = state->system->c;
    centring all = {state, a, t};
    ss_team_divide(c->team, c->n, CENTRE_NS, centre_contacts, &all);
    if (c->is_explicit) {
        find_left(state, NULL);
    } else {
        ss_coupling_push_all(c, state->r, state->left);
    }
    return solve(state, ENOUGH);
}

void ss_ipm_soften(ss_interior *state)
{
    state->delta = fmin(state->delta * DELTA_GROWTH, fmax(state->delta, SS_IPM_DELTA_MOST));
}

void ss_ipm_harden(ss_interior *state, double least)
{
    state->delta = fmax(DELTA_DECAY * state->delta, least);
}

// ---- Making one

bool ss_ipm_allocate(ss_interior *state)
{
    const size_t n = (size_t)state->system->c->n;
    state->q = calloc(4 * state->size + 1, sizeof *state->q);
    state->x = calloc(37 * n, sizeof *state->x);
    state->weight = calloc(9 * n, sizeof *state->weight);
    state->scaling = calloc(n, sizeof *state->scaling);
    if (state->q == NULL || state->x == NULL || state->weight == NULL || state->scaling == NULL ||
        !ss_ipm_parts_new(state)) {
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
    state->is_short = ss_block_lu_work(state->system->lu) > SHORT_WORK;
    return true;
}

void ss_ipm_release(ss_interior *state)
{
    ss_implicit_free(state->system);
    free(state->q);
    free(state->x);
    free(state->weight);
    free(state->scaling);
    free(state->parts);
}
