// solvers/local/candidate.c -- Newton's method on the equations of sticking and of sliding.
#include "solvers/local/candidate.h"

// Quadratic from an error of cond(Wb) eps: the second step is at the rounding level.
#define MOST_STEPS 4

// Sticking: W dr = -u.
static bool stick_step(const ss_slip *k, const double u[3], ss_candidate *c)
{
    const double g1 = k->v[0] * k->share * u[0] - u[1];
    const double g2 = k->v[1] * k->share * u[0] - u[2];
    const double inverse = 1.0 / k->det;
    const double d1 = (k->Wb[3] * g1 - k->Wb[1] * g2) * inverse;
    const double d2 = (k->Wb[0] * g2 - k->Wb[2] * g1) * inverse;
    c->r[0] -= (u[0] + k->w[0] * d1 + k->w[1] * d2) * k->share;
    c->r[1] += d1;
    c->r[2] += d2;
    return true;
}

// Sliding. With M = Wb + a I, t = r_T/|r_T| and dr_N eliminated by the row u_N + W_N dr = 0:
//
//     M d + da r_T = g,                 g = -rho + v u_N/W_NN                                 (2)
//     (t + mu w/W_NN).d = e,            e = gap - mu u_N/W_NN,  gap = mu r_N - |r_T|          (3)
//
// (3) leaves d = e k/|k|^2 + x k_ with k = t + mu w/W_NN and k_ normal to it; (2) in the direction
// normal to t gives x, and along t gives da. M is not inverted, so that it may be singular.
static bool slide_step(const ss_slip *k, const double u[3], ss_candidate *c)
{
    double *r = c->r;
    const double mu = k->p->mu, length = ss_length2(r[1], r[2]);
    const double t1 = r[1] / length, t2 = r[2] / length;
    const double k1 = t1 + mu * k->share * k->w[0], k2 = t2 + mu * k->share * k->w[1];
    const double m11 = k->Wb[0] + c->a, m22 = k->Wb[3] + c->a, m12 = k->Wb[1], m21 = k->Wb[2];
    const double g1 = k->v[0] * k->share * u[0] - (u[1] + c->a * r[1]);
    const double g2 = k->v[1] * k->share * u[0] - (u[2] + c->a * r[2]);
    const double e = (mu * r[0] - length) - mu * k->share * u[0];
    const double part = e / (k1 * k1 + k2 * k2);
    const double h1 = g1 - part * (m11 * k1 + m12 * k2), h2 = g2 - part * (m21 * k1 + m22 * k2);
    const double n1 = m12 * k1 - m11 * k2, n2 = m22 * k1 - m21 * k2; // M k_, k_ = (-k2, k1)
    const double x = (t1 * h2 - t2 * h1) / (t1 * n2 - t2 * n1);
    const double d1 = part * k1 - x * k2, d2 = part * k2 + x * k1;
    const double da = (t1 * (h1 - x * n1) + t2 * (h2 - x * n2)) / length;
    if (!isfinite(da)) {
        return false;
    }
    r[0] -= (u[0] + k->w[0] * d1 + k->w[1] * d2) * k->share;
    r[1] += d1;
    r[2] += d2;
    c->a += da;
    return true;
}

bool ss_candidate_polish(const ss_local *p, const ss_slip *k, const ss_local_goal *goal,
                         ss_candidate *c)
{
    const double s = ss_candidate_scale(p, goal);
    double u[3];
    ss_local_velocity(p, c->r, u);
    double bound = ss_candidate_bound(p, s, c, u);
    for (int step = 0; step < MOST_STEPS && !(bound <= goal->tolerance); step++) {
        ss_candidate next = *c;
        if (!(next.slides ? slide_step(k, u, &next) : stick_step(k, u, &next))) {
            return false;
        }
        ss_local_velocity(p, next.r, u);
        const double next_bound = ss_candidate_bound(p, s, &next, u);
        if (!(next_bound < bound)) {
            return false;
        }
        bound = next_bound;
        *c = next;
    }
    return bound <= goal->tolerance;
}
