// solvers/local/candidate.h -- a sticking or sliding answer: made, bounded, polished.
//
// f is Lipschitz, so its distance from a pair (x*, y*) that satisfies the law bounds it. For a
// sliding answer that pair is x* = s (|r_T|, r_T), y* = mu a (|r_T|, -r_T), for a sticking one
// y* = 0 and x* = x, or its neighbour in the cone. With rho = u_T + a r_T (a = 0: sticks)
//
//     |f|_inf <= LIPSCHITZ (s gap + |u_N| + 2 mu |rho|_1) + rounding                          (1)
//     gap = |mu r_N - |r_T|| (slides),  max(0, |r_T| - mu r_N) (sticks)
//
// which takes one square root and no division, where f takes four and one.
#pragma once

#include "solvers/local/slip.h"

// Of f in the l2 norms of x and y: tests/solvers/test_secular.c comes to 2, and never above.
#define SS_FB_LIPSCHITZ 3.0

// Of the arithmetic of f, relative to its arguments and to s r_N, which ss_local_error counts.
#define SS_BOUND_ROUNDING 4e-15

typedef struct ss_candidate {
    double r[3];
    bool slides;
    double a; // 0 where it sticks
} ss_candidate;

// Bounds |f|_inf at the scale s and below; u = W r + b.
SS_INLINE double ss_candidate_bound(const ss_local *p, double s, const ss_candidate *c,
                                    const double u[3])
{
    const double *r = c->r, mu = p->mu, a = c->a > 0.0 ? c->a : 0.0;
    const double tangential = ss_length2(r[1], r[2]);
    const double excess = tangential - mu * r[0];
    const double gap = c->slides ? fabs(excess) : excess > 0.0 ? excess : 0.0;
    const double rho = fabs(u[1] + a * r[1]) + fabs(u[2] + a * r[2]);
    const double size = s * ((1.0 + mu) * fabs(r[0]) + tangential) + mu * (fabs(u[1]) + fabs(u[2]));
    return SS_FB_LIPSCHITZ * (s * gap + fabs(u[0]) + 2.0 * mu * rho) + SS_BOUND_ROUNDING * size;
}

// r = -W^-1 b.
SS_INLINE void ss_candidate_stick(const ss_slip *k, ss_candidate *c)
{
    const double inverse = 1.0 / k->det;
    *c = (ss_candidate){.r = {k->N0 * inverse * k->share, -k->q[0] * inverse, -k->q[1] * inverse}};
}

SS_INLINE void ss_candidate_slide(const ss_slip *k, double a, ss_candidate *c)
{
    double q[2];
    ss_slip_direction(k, a, q);
    const double inverse = 1.0 / ss_slip_determinant(k, a);
    const double r_N = ss_slip_normal(k, a) * inverse * k->share;
    *c = (ss_candidate){.r = {r_N, -q[0] * inverse, -q[1] * inverse}, .slides = true, .a = a};
}

// The scale at which (1) covers both scales of the goal.
SS_INLINE double ss_candidate_scale(const ss_local *p, const ss_local_goal *goal)
{
    const double own = ss_local_own_scale(p);
    return goal->scale > own ? goal->scale : own;
}

// Newton's method on (u_N, rho, gap) in (r, a), with the residuals of p and the Jacobian of k,
// until (1) is within the tolerance; true where it is. k belongs to p or to a block near it.
// Cramer's rule, which made the candidate, loses cond(Wb) eps; this wins it back.
bool ss_candidate_polish(const ss_local *p, const ss_slip *k, const ss_local_goal *goal,
                         ss_candidate *c);
