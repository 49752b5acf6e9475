// solvers/global/psor.c -- psor: projected over-relaxation on the box law of [H06], sections 4 and
// 5, repaired. A contact has a normal n and a tangent that is frozen for the solve, against the
// motion that there is without impulses,
//
//     t = -unit(b_T),   r = x_n n + x_t t                                                     (1)
//     x_n >= 0 complementary to u_N,   0 <= x_t <= mu x_n, a box, with u.t
//
// (accelerations times h and velocities are one here: u = h a + v, b = h a^0 + v, and a_t^d =
// -v.t/h asks for u.t = 0). Algorithm 2, with W + eps for the matrix, contact by contact, the
// normal first:
//
//     x_k <- clip(x_k - omega (u_k + eps x_k)/(W_kk + eps)),   eps = `eps` times the largest W_kk
//
// It makes a fixed number of sweeps, and ends before if a sweep moves x by less than 1e-12 of it.
// tangents=2 has the two fixed tangents of the contact's frame, |x_k| <= mu x_n each. If W couples
// n and T, (1) is not Coulomb's law in space, and the judge says how far off it is. doc/strands.md,
// "Contact by LCP".
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "solvers/global/drive.h"
#include "solvers/global/global.h"
#include "solvers/small.h"
#include "solvers/sweep/sweep.h"

// A contact that slides more slowly (m/s) without impulses takes its tangent from the impulse at
// the start.
#define LEAST_SLIDE 1e-12
#define LEAST_STEP  1e-12 // |dx| over |x| at the end

typedef struct settings {
    int form; // ss_coupling_form
    int sweeps, tangents;
    double omega, eps;
} settings;

static const settings DEFAULTS = {
    .form = SS_FORM_SWEEPS, .sweeps = 50, .tangents = 1, .omega = 1.0, .eps = 1e-6};

static const ss_key KEYS[] = {
    SS_INTEGER_KEY("sweeps", sweeps, 1, 1e9, .about = "after which it ends, whatever is left"),
    SS_REAL_KEY("omega", omega, 0.01, 1.99, .about = "over-relaxation"),
    SS_REAL_KEY("eps", eps, 0.0, 1.0,
                .about = "added to the diagonal, as a share of its largest entry"),
    SS_INTEGER_KEY("tangents", tangents, 1, 2,
                   .about = "1: against the motion; 2: those of the contact's frame"),
    {.name = NULL},
};

typedef struct psor_state {
    double *x;  // [3 n] x_n and x_t of both tangents
    double *t;  // [4 n] the tangents
    double eps; // 1/kg
} psor_state;

static void psor_release(void *of)
{
    psor_state *state = of;
    free(state->x);
    free(state->t);
}

// Returns x'W y with the tangential part of W.
static double tangential(const double W[9], const double x[2], const double y[2])
{
    return x[0] * (W[4] * y[0] + W[5] * y[1]) + x[1] * (W[7] * y[0] + W[8] * y[1]);
}

static void freeze_tangent(const ss_coupling *c, int i, double t[2])
{
    const double *b = c->b + (size_t)c->dim * (size_t)i, *r = c->r + 4 * (size_t)i;
    const double slide[2] = {b[1], c->dim > 2 ? b[2] : 0.0};
    const double speed = ss_length2(slide[0], slide[1]), held = ss_length2(r[1], r[2]);
    t[0] = 1.0;
    t[1] = 0.0;
    if (speed >= LEAST_SLIDE) {
        t[0] = -slide[0] / speed;
        t[1] = -slide[1] / speed;
    } else if (held > 0.0) {
        t[0] = r[1] / held;
        t[1] = r[2] / held;
    }
}

static double clip(double x, double low, double high)
{
    return fmin(fmax(x, low), high);
}

// Begins contact i with the part of its start that (1) allows.
static void start(psor_state *state, const ss_drive *d, int i)
{
    const settings *set = d->settings;
    const ss_coupling *c = d->c;
    const bool fixed = set->tangents == 2;
    double *x = state->x + 3 * (size_t)i, *t = state->t + 4 * (size_t)i, r[3];
    memcpy(r, c->r + 4 * (size_t)i, sizeof r);
    if (fixed) {
        t[0] = t[3] = 1.0;
    } else {
        freeze_tangent(c, i, t);
    }
    x[0] = fmax(r[0], 0.0);
    for (size_t k = 0; k < 2; k++) {
        const double most = c->mu[i] * x[0], along = r[1] * t[2 * k] + r[2] * t[2 * k + 1];
        x[1 + k] = clip(along, fixed ? -most : 0.0, most);
    }
    const double allowed[3] = {x[0], x[1] * t[0] + x[2] * t[2], x[1] * t[1] + x[2] * t[3]};
    ss_coupling_move(d->c, i, allowed);
}

static ss_status psor_make(void *of, ss_drive *d, ss_error *e)
{
    psor_state *state = of;
    const ss_coupling *c = d->c;
    const settings *set = d->settings;
    ss_assert(set->tangents == 1 || set->tangents == 2);
    const size_t n = (size_t)c->n;
    double largest = 0.0;
    state->x = calloc(3 * n, sizeof *state->x);
    state->t = calloc(4 * n, sizeof *state->t);
    if (state->x == NULL || state->t == NULL) {
        return ss_fail_memory(e, "a projected relaxation");
    }
    for (int i = 0; i < c->n; i++) {
        const double *W = c->contact[i].W;
        start(state, d, i);
        largest = fmax(largest, fmax(W[0], fmax(W[4], c->dim > 2 ? W[8] : 0.0)));
    }
    state->eps = set->eps * largest;
    d->rule = SS_STOP_STEP;
    return SS_OK;
}

// Returns x_k after a step from x at the velocity u_k; x if W_kk is 0 and nothing is added to it.
static double relax(const psor_state *state, const settings *set, double x, double u, double W)
{
    const double diagonal = W + state->eps;
    return diagonal > 0.0 ? x - set->omega * (u + state->eps * x) / diagonal : x;
}

static void visit(psor_state *state, const ss_drive *d, int i, double *step, double *size)
{
    const settings *set = d->settings;
    const ss_coupling *c = d->c;
    const double *W = c->contact[i].W, *t = state->t + 4 * (size_t)i;
    const int tangents = c->dim > 2 ? set->tangents : 1;
    double *x = state->x + 3 * (size_t)i, u[3];
    const double before[3] = {x[0], x[1], x[2]};
    ss_coupling_velocity(c, i, u);
    x[0] = fmax(relax(state, set, x[0], u[0], W[0]), 0.0);
    double moved = x[0] - before[0];
    u[1] += W[3] * moved;
    u[2] += W[6] * moved;
    for (int k = 0; k < tangents; k++) {
        const double *along = t + 2 * k, most = c->mu[i] * x[0];
        const double slide = u[1] * along[0] + u[2] * along[1];
        const double next = relax(state, set, x[1 + k], slide, tangential(W, along, along));
        x[1 + k] = clip(next, set->tangents == 2 ? -most : 0.0, most);
        moved = x[1 + k] - before[1 + k];
        u[1] += (W[4] * along[0] + W[5] * along[1]) * moved;
        u[2] += (W[7] * along[0] + W[8] * along[1]) * moved;
    }
    const double r[3] = {x[0], x[1] * t[0] + x[2] * t[2], x[1] * t[1] + x[2] * t[3]};
    for (int k = 0; k < 3; k++) {
        *step += (x[k] - before[k]) * (x[k] - before[k]);
        *size += x[k] * x[k];
    }
    ss_coupling_move(d->c, i, r);
}

static ss_outcome psor_step(void *of, ss_drive *d)
{
    psor_state *state = of;
    const settings *set = d->settings;
    double step = 0.0, size = 0.0;
    for (int i = 0; i < d->c->n; i++) {
        visit(state, d, i, &step, &size);
    }
    ss_coupling_refresh(d->c);
    d->iterations++;
    d->unjudged = true;
    if (step <= LEAST_STEP * LEAST_STEP * size) {
        return SS_CONVERGED;
    }
    return d->iterations >= set->sweeps ? SS_MAX_ITER : SS_UNSOLVED;
}

static bool psor_own_rule(const ss_method *m)
{
    (void)m;
    return true;
}

static const ss_steps STEPS = {.moves = SS_MOVES_COUPLING,
                               .whole = true,
                               .state_size = sizeof(psor_state),
                               .make = psor_make,
                               .step = psor_step,
                               .release = psor_release};

const ss_global_solver ss_psor = {
    .card = {.name = "psor",
             .law = SS_APPROXIMATE,
             .reference = "H06",
             .about = "Projected over-relaxation on the box law of [H06] with its signs repaired: "
                      "one tangent per contact, against the motion without impulses, and a fixed "
                      "number of sweeps. In space its answers are not Coulomb's where W couples "
                      "the normal and the tangents.",
             SS_OPTIONS(KEYS, DEFAULTS)},
    SS_DRIVEN(STEPS),
    .own_rule = psor_own_rule,
};
