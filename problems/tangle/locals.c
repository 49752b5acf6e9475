// problems/tangle/locals.c -- one contact with a known answer: the answer first, the problem from
// it.
//
//     take-off  r = 0, u_N > 0       stick  u = 0, r in K_mu       slide  |r_T| = mu r_N,
//     b = u - W r                                                  u = (0, -a r_T), a > 0      (1)
//
// Both answers of SEVERAL: r = 0 with u = b, and u = 0 with b = -W r, ask for (W r)_N < 0, that is
// W_NN < c mu |w| for r_T = -c mu r_N w/|w|, w = W_NT, c < 1. Shrinking row and column N by a
// factor takes W_NN down faster than w and so leads there from any W.
#include "problems/tangle/locals.h"

#include "base/assert.h"
#include "base/spectrum.h"

#include <math.h>
#include <string.h>

// Bounds of tr W / d, 1/kg.
#define COMPLIANCE_LOW  1e-3
#define COMPLIANCE_HIGH 1e3

// Distance of NEAR_BOUNDARY from the other case, relative to the quantity that tells them apart.
#define NEAR 1e-9

// The largest share of tr W / d in the skew part of UNSYMMETRIC.
#define SKEW_SHARE 0.5

static double length(double x, double y)
{
    return sqrt(x * x + y * y);
}

// Returns tr W / d.
static double compliance(const ss_local *p)
{
    return (p->W[0] + p->W[4] + p->W[8]) / p->dim;
}

// Draws W = A A' with normal A of `rank` columns; where `blind`, one random component of W is 0.
static void draw_gram(ss_random *g, int rank, bool blind, ss_local *p)
{
    double A[3][3] = {{0.0}};
    const int unseen = blind ? ss_random_below(g, p->dim) : -1;
    for (int i = 0; i < p->dim; i++) {
        for (int k = 0; k < rank; k++) {
            const double x = ss_random_normal(g);
            A[i][k] = i == unseen ? 0.0 : x;
        }
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            p->W[3 * i + j] = A[i][0] * A[j][0] + A[i][1] * A[j][1] + A[i][2] * A[j][2];
        }
    }
}

static void cap_condition(ss_local *p, double condition)
{
    double A[9] = {0.0};
    const int d = p->dim;
    for (int i = 0; i < d; i++) {
        for (int j = 0; j < d; j++) {
            A[i * d + j] = p->W[3 * i + j];
        }
    }
    const ss_spectrum s = ss_spectrum_of(d, A);
    const double shift = ss_spectrum_shift(&s, condition);
    for (int i = 0; i < d && shift > 0.0; i++) {
        p->W[4 * i] += shift;
    }
}

static void scale_compliance(ss_random *g, ss_local *p)
{
    const double wanted = ss_random_log_between(g, COMPLIANCE_LOW, COMPLIANCE_HIGH);
    const double factor = wanted / compliance(p);
    for (int k = 0; k < 9; k++) {
        p->W[k] *= factor;
    }
}

// Makes W_NN < mu |w|, as the head of this file says.
static void shrink_normal(ss_random *g, ss_local *p)
{
    const double ratio = p->mu * length(p->W[1], p->W[2]) / p->W[0];
    const double factor = (ratio < 1.0 ? ratio : 1.0) * ss_random_between(g, 0.3, 0.9);
    for (int k = 0; k < 3; k++) {
        p->W[k] *= factor;
        p->W[3 * k] *= factor;
    }
}

static void clear_normal(ss_local *p)
{
    for (int k = 0; k < 3; k++) {
        p->W[k] = p->W[3 * k] = 0.0;
    }
}

static void add_skew(ss_random *g, ss_local *p)
{
    const double size = SKEW_SHARE * compliance(p);
    for (int i = 0; i < p->dim; i++) {
        for (int j = i + 1; j < p->dim; j++) {
            const double skew = size * ss_random_between(g, -1.0, 1.0);
            p->W[3 * i + j] += skew;
            p->W[3 * j + i] -= skew;
        }
    }
}

static void draw_W(ss_random *g, ss_local_kind kind, double condition, ss_local *p)
{
    if (kind == SS_LOCAL_SINGULAR) {
        const int rank = 1 + ss_random_below(g, p->dim - 1);
        const bool blind = ss_random_below(g, 4) == 0;
        draw_gram(g, rank, blind, p);
    } else {
        draw_gram(g, p->dim, false, p);
        cap_condition(p, condition);
    }
    if (kind == SS_LOCAL_SEVERAL) {
        shrink_normal(g, p);
    } else if (kind == SS_LOCAL_NO_SOLUTION) {
        clear_normal(p);
    }
    scale_compliance(g, p);
    if (kind == SS_LOCAL_UNSYMMETRIC) {
        add_skew(g, p);
    }
}

// Draws an impulse whose velocity is of order 1.
static double draw_impulse(ss_random *g, const ss_local *p)
{
    return ss_random_log_between(g, 0.1, 10.0) / compliance(p);
}

static void draw_take_off(ss_random *g, const ss_local *p, bool near, ss_local_answer *answer)
{
    for (int k = 0; k < p->dim; k++) {
        answer->u[k] = ss_random_normal(g);
    }
    answer->u[0] = near ? NEAR : fabs(answer->u[0]);
}

// Draws r with |r_T| = share mu r_N.
static void draw_cone_impulse(ss_random *g, const ss_local *p, double share, double r[3])
{
    double direction[3];
    ss_random_direction(g, p->dim - 1, direction);
    r[0] = draw_impulse(g, p);
    for (int k = 1; k < p->dim; k++) {
        r[k] = share * p->mu * r[0] * direction[k - 1];
    }
}

static void draw_stick(ss_random *g, const ss_local *p, bool near, ss_local_answer *answer)
{
    const double share = near ? 1.0 - NEAR : 0.99 * ss_random_uniform(g);
    draw_cone_impulse(g, p, share, answer->r);
}

static void draw_slide(ss_random *g, const ss_local *p, bool near, ss_local_answer *answer)
{
    draw_cone_impulse(g, p, 1.0, answer->r);
    const double tangential = length(answer->r[1], answer->r[2]);
    const double speed = near ? NEAR : ss_random_log_between(g, 0.01, 10.0);
    for (int k = 1; k < p->dim; k++) {
        answer->u[k] = -speed * (answer->r[k] / tangential);
    }
}

// Draws an answer without friction: a contact that does not take off slides freely.
static void draw_frictionless(ss_random *g, const ss_local *p, ss_local_answer *answer)
{
    draw_take_off(g, p, false, answer);
    if (ss_random_below(g, 2) == 0) {
        answer->u[0] = 0.0;
        answer->r[0] = draw_impulse(g, p);
    }
}

static void draw_either(ss_random *g, const ss_local *p, int first, bool near,
                        ss_local_answer *answer)
{
    switch (first + ss_random_below(g, 3 - first)) {
    case 0:
        draw_take_off(g, p, near, answer);
        break;
    case 1:
        draw_stick(g, p, near, answer);
        break;
    default:
        draw_slide(g, p, near, answer);
        break;
    }
}

// Sets b = u - W r; the components beyond dim are zero.
static void set_b(ss_local *p, const double r[3], const double u[3])
{
    for (int i = 0; i < 3; i++) {
        const double *row = p->W + 3 * i;
        p->b[i] = u[i] - (row[0] * r[0] + row[1] * r[1] + row[2] * r[2]);
    }
}

// Draws both answers: the sticking one is the other one, r = 0 with u = b is the first.
static void draw_several(ss_random *g, ss_local *p, ss_local_answer *answer)
{
    const double w = length(p->W[1], p->W[2]);
    const double least = p->W[0] / (p->mu * w);
    const double share = least + (1.0 - least) * ss_random_between(g, 0.2, 0.9);
    const double *row = p->W;
    double *r = answer->other_r;
    r[0] = draw_impulse(g, p);
    for (int k = 1; k < p->dim; k++) {
        r[k] = -share * p->mu * r[0] * (row[k] / w);
    }
    set_b(p, r, answer->u); // u is still zero
    memcpy(answer->u, p->b, sizeof answer->u);
    answer->has_other = true;
}

static void draw_b(ss_random *g, ss_local *p)
{
    for (int k = 0; k < p->dim; k++) {
        p->b[k] = ss_random_normal(g);
    }
}

static void draw_answer(ss_random *g, ss_local_kind kind, const ss_local *p,
                        ss_local_answer *answer)
{
    switch (kind) {
    case SS_LOCAL_TAKE_OFF:
        draw_take_off(g, p, false, answer);
        break;
    case SS_LOCAL_STICK:
        draw_stick(g, p, false, answer);
        break;
    case SS_LOCAL_SLIDE:
        draw_slide(g, p, false, answer);
        break;
    case SS_LOCAL_FRICTIONLESS:
        draw_frictionless(g, p, answer);
        break;
    case SS_LOCAL_UNSYMMETRIC:
        draw_either(g, p, 1, false, answer);
        break;
    case SS_LOCAL_NEAR_BOUNDARY:
    case SS_LOCAL_SINGULAR:
        draw_either(g, p, 0, kind == SS_LOCAL_NEAR_BOUNDARY, answer);
        break;
    case SS_LOCAL_RANDOM:
    case SS_LOCAL_SEVERAL:
    case SS_LOCAL_NO_SOLUTION:
    case SS_LOCAL_KINDS:
        break;
    }
}

ss_local ss_local_draw(ss_random *g, ss_local_kind kind, int dim, double condition, double mu_low,
                       double mu_high, ss_local_answer *answer)
{
    ss_assert(dim == 2 || dim == 3);
    ss_assert(condition > 1.0 && 0.0 < mu_low && mu_low <= mu_high);
    ss_local p = {.dim = dim};
    const double mu = ss_random_log_between(g, mu_low, mu_high);
    p.mu = kind == SS_LOCAL_FRICTIONLESS ? 0.0 : mu;
    draw_W(g, kind, condition, &p);
    *answer = (ss_local_answer){.known = true, .solvable = true};
    if (kind == SS_LOCAL_RANDOM) {
        draw_b(g, &p);
        answer->known = false;
    } else if (kind == SS_LOCAL_NO_SOLUTION) {
        draw_b(g, &p);
        p.b[0] = -fabs(p.b[0]);
        answer->known = answer->solvable = false;
    } else if (kind == SS_LOCAL_SEVERAL) {
        draw_several(g, &p, answer);
    } else {
        draw_answer(g, kind, &p, answer);
        set_b(&p, answer->r, answer->u);
    }
    return p;
}
