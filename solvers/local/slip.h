// solvers/local/slip.h -- the cases of Coulomb's law, for solvers that find the slip ratio of a
// sliding contact.
//
// Take-off, sticking, sliding, singular blocks and no solution are distinguished in one place
// (doc/formulation.md, "Slip ratio"); `enum` and `secular` differ only in how they find the slip
// ratio a = |u_T|/|r_T|.
//
// Sliding is u_N = 0, u_T = -a r_T, |r_T| = mu r_N with a > 0. With row w' = W_NT and column
// v = W_TN kept apart (W may be unsymmetric), the normal row eliminated leaves ([D11] B.2)
//
//     Wb = W_TT - v w'/W_NN,    c = b_T - v b_N/W_NN,    (Wb + a I) r_T = -c                 (1)
//
// By Cramer's rule, with q(a) = adj(Wb) c + a c and det(a) = a^2 + a tr Wb + det Wb,
//
//     r_T = -q(a)/det(a),    r_N = N(a)/(W_NN det(a)),    N(a) = beta det(a) + w.q(a)        (2)
//     G(a) = mu N(a) - W_NN |q(a)| = 0,                   beta = -b_N > 0                    (3)
//
// G is mu beta (Q - n) of doc/formulation.md, "Slip ratio", which has c' = -c/beta: so nothing is
// divided by b_N, which may be small. For a nonsingular block G(0) >= 0 says that the contact
// sticks; otherwise G(0) < 0, and G grows without bound.
#pragma once

#include "solvers/contact.h"
#include "solvers/small.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

// ---- The quartic of a sliding contact
//
//     P(x) = (x^2 + A x + C)^2 - |B + x c|^2                                                  (4)
//
// A root counts as real where |Im x| <= 1e-7 |x|: rounding parts a double root that far.

// Coefficients of (4).
typedef struct ss_quartic {
    double A, C;
    double B[2], c[2];
} ss_quartic;

// Writes the real roots, in no order, and returns their number. The form is closed (Ferrari).
int ss_quartic_roots(const ss_quartic *k, double roots[4]);

// Does the same by the eigenvalues of GSL's companion matrix, as a reference. Returns 0 where a
// coefficient is not finite.
int ss_quartic_roots_gsl(const ss_quartic *k, double roots[4]);

// ---- The equation of the slip ratio

// det Wb below this share of tr Wb tr W is rounding: doc/formulation.md, "Slip ratio".
#define SS_SLIP_SINGULAR 1e-12

// A Newton step of h a leaves an error of some h^2 a in a. The answer then misses the law by less
// than h^2 beta/SS_SLIP_SHARE (in all but 1 of 3000 sliding contacts of hair), so a tolerance says
// how small the last h must be. An h below LEAST is rounding; above MOST the answers change so much
// that sweeps take another number of iterations.
#define SS_SLIP_SHARE 10.0
#define SS_SLIP_LEAST 1e-7
#define SS_SLIP_MOST  1e-4

// Newton takes 2 to 6 steps; each one that leaves the bracket costs a bisection.
#define SS_SLIP_STEPS 100

typedef struct ss_slip {
    const ss_local *p;
    double w[2], v[2];
    double share; // 1/W_NN
    double Wb[4];
    double c[2];
    double q[2]; // q(0)
    double beta, trace, det;
    double slope; // N(a) = beta a^2 + slope a + N0
    double N0;
} ss_slip;

typedef struct ss_slip_point {
    double q[2], squared, length; // q(a), |q(a)|^2 and |q(a)|
    double N, G;
} ss_slip_point;

// Writes q(a).
SS_INLINE void ss_slip_direction(const ss_slip *k, double a, double q[2])
{
    q[0] = k->q[0] + a * k->c[0];
    q[1] = k->q[1] + a * k->c[1];
}

SS_INLINE double ss_slip_determinant(const ss_slip *k, double a)
{
    return k->det + a * (k->trace + a);
}

SS_INLINE double ss_slip_normal(const ss_slip *k, double a)
{
    return k->N0 + a * (k->slope + a * k->beta);
}

// Evaluates (3).
SS_INLINE void ss_slip_evaluate(const ss_slip *k, double a, ss_slip_point *at)
{
    ss_slip_direction(k, a, at->q);
    at->squared = at->q[0] * at->q[0] + at->q[1] * at->q[1];
    at->length = sqrt(at->squared);
    at->N = ss_slip_normal(k, a);
    at->G = k->p->mu * at->N - k->p->W[0] * at->length;
}

// Returns Newton's step on mu N/|q| - W_NN, which has the roots of G and is nearly straight in a
// (1/|r_T| against a, as in trust-region methods): it takes about half the steps that G itself
// takes. The division does not wait for |q|, so that it runs beside the square root.
SS_INLINE double ss_slip_step(const ss_slip *k, double a, const ss_slip_point *at)
{
    const double slope = k->slope + 2.0 * a * k->beta;
    const double turn = at->q[0] * k->c[0] + at->q[1] * k->c[1];
    return -at->G * (at->squared / (k->p->mu * (slope * at->squared - at->N * turn)));
}

// Eliminates the normal row by (1). Returns false where p is singular: W_NN <= 0, or
// det Wb <= 1e-12 tr Wb tr W.
SS_INLINE bool ss_slip_eliminate(const ss_local *p, ss_slip *k)
{
    const double *W = p->W, *b = p->b;
    k->p = p;
    k->beta = -b[0];
    k->w[0] = W[1];
    k->w[1] = W[2];
    k->v[0] = W[3];
    k->v[1] = W[6];
    k->share = 1.0 / W[0];
    const double l1 = W[3] * k->share, l2 = W[6] * k->share;
    k->Wb[0] = W[4] - l1 * W[1];
    k->Wb[1] = W[5] - l1 * W[2];
    k->Wb[2] = W[7] - l2 * W[1];
    k->Wb[3] = W[8] - l2 * W[2];
    k->c[0] = b[1] - l1 * b[0];
    k->c[1] = b[2] - l2 * b[0];
    k->q[0] = k->Wb[3] * k->c[0] - k->Wb[1] * k->c[1];
    k->q[1] = k->Wb[0] * k->c[1] - k->Wb[2] * k->c[0];
    k->trace = k->Wb[0] + k->Wb[3];
    k->det = k->Wb[0] * k->Wb[3] - k->Wb[1] * k->Wb[2];
    k->slope = k->beta * k->trace + (W[1] * k->c[0] + W[2] * k->c[1]);
    k->N0 = k->beta * k->det + (W[1] * k->q[0] + W[2] * k->q[1]);
    const double whole = W[0] + W[4] + W[8];
    return W[0] > 0.0 && k->trace > 0.0 && k->det > SS_SLIP_SINGULAR * k->trace * whole;
}

// Returns whether G(0) >= 0, without the square root. k is nonsingular.
SS_INLINE bool ss_slip_sticks(const ss_slip *k)
{
    const double reach = k->p->mu * k->N0, W_NN = k->p->W[0];
    return reach >= 0.0 && reach * reach >= W_NN * W_NN * (k->q[0] * k->q[0] + k->q[1] * k->q[1]);
}

// Returns the quartic G times its conjugate, over (mu beta)^2. Its positive roots include those of
// G.
ss_quartic ss_slip_quartic(const ss_slip *k);

// Return a start for a root of G, and a point to go on from where Newton's method leaves the
// bracket. k is passed by value so that it stays in the registers of a caller, which seldom calls
// them.
double ss_slip_guess(ss_slip k);
double ss_slip_between(ss_slip k, double low, double high);

// Returns the h^2 beta of the last step, for an answer that may miss the law by `tolerance`.
SS_INLINE double ss_slip_enough(const ss_slip *k, double tolerance)
{
    const double least = SS_SLIP_LEAST * SS_SLIP_LEAST * k->beta;
    const double most = SS_SLIP_MOST * SS_SLIP_MOST * k->beta;
    const double asked = SS_SLIP_SHARE * tolerance;
    return asked < least ? least : asked > most ? most : asked;
}

// Returns a root of G, where G(0) < 0, from the start a, or from a start of its own where a is not
// positive and finite. `tolerance` is as above, or 0 for a root as near as rounding allows.
SS_INLINE double ss_slip_bracketed(const ss_slip *k, double a, double tolerance, int *steps)
{
    double low = 0.0, high = INFINITY;
    const double enough = ss_slip_enough(k, tolerance);
    if (!(a > 0.0 && a < INFINITY)) {
        a = ss_slip_guess(*k);
    }
    for (*steps = 1; *steps <= SS_SLIP_STEPS; ++*steps) {
        ss_slip_point at;
        ss_slip_evaluate(k, a, &at);
        if (at.G < 0.0) {
            low = a;
        } else {
            high = a;
        }
        const double step = ss_slip_step(k, a, &at);
        const double next = a + step;
        if (step * step * k->beta <= enough * (a * a)) {
            return next;
        }
        if (low < next && next < high) {
            a = next;
            continue;
        }
        const double middle = ss_slip_between(*k, low, high);
        if (!(low < middle && middle < high)) { // G has no root here, or rounding hides it
            return a;
        }
        a = middle;
    }
    return a;
}

// ---- Candidates: a sticking or sliding answer, made, bounded, polished
//
// f is Lipschitz, so its distance from a pair (x*, y*) that satisfies the law bounds it. For a
// sliding answer that pair is x* = s (|r_T|, r_T), y* = mu a (|r_T|, -r_T), for a sticking one
// y* = 0 and x* = x, or its neighbour in the cone. With rho = u_T + a r_T (a = 0: sticks)
//
//     |f|_inf <= LIPSCHITZ (s gap + |u_N| + 2 mu |rho|_1) + rounding                          (5)
//     gap = |mu r_N - |r_T|| (slides),  max(0, |r_T| - mu r_N) (sticks)
//
// which takes one square root and no division, where f takes four and one.

// The Lipschitz constant of f in the l2 norms of x and y; tests/solvers/test_secular.c finds at
// most 2.
#define SS_FB_LIPSCHITZ 3.0

// Rounding in the arithmetic of f, relative to its arguments and to s r_N, which ss_local_error
// adds.
#define SS_BOUND_ROUNDING 4e-15

typedef struct ss_candidate {
    double r[3];
    bool slides;
    double a; // 0 where it sticks
} ss_candidate;

// Returns a bound of |f|_inf at the scale s and below; u = W r + b.
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

// Makes the sticking answer r = -W^-1 b.
SS_INLINE void ss_candidate_stick(const ss_slip *k, ss_candidate *c)
{
    const double inverse = 1.0 / k->det;
    *c = (ss_candidate){.r = {k->N0 * inverse * k->share, -k->q[0] * inverse, -k->q[1] * inverse}};
}

// Makes the sliding answer with the slip ratio a.
SS_INLINE void ss_candidate_slide(const ss_slip *k, double a, ss_candidate *c)
{
    double q[2];
    ss_slip_direction(k, a, q);
    const double inverse = 1.0 / ss_slip_determinant(k, a);
    const double r_N = ss_slip_normal(k, a) * inverse * k->share;
    *c = (ss_candidate){.r = {r_N, -q[0] * inverse, -q[1] * inverse}, .slides = true, .a = a};
}

// Returns the scale at which (5) covers both scales of the goal.
SS_INLINE double ss_candidate_scale(const ss_local *p, const ss_local_goal *goal)
{
    const double own = ss_local_own_scale(p);
    return goal->scale > own ? goal->scale : own;
}

// Runs Newton's method on (u_N, rho, gap) in (r, a), with the residuals of p and the Jacobian of k,
// until (5) is within the tolerance, and returns whether it is. k belongs to p or to a block near
// it. Cramer's rule, which made the candidate, loses cond(Wb) eps; this wins it back.
bool ss_candidate_polish(const ss_local *p, const ss_slip *k, const ss_local_goal *goal,
                         ss_candidate *c);

// ---- Cases

// Returns an a > 0 with G(a) = 0, and counts *steps; start is the r that the solver was given. k is
// nonsingular with G(0) < 0. A wrong a costs time, and never gives a wrong answer.
typedef double ss_slip_finder(const ss_slip *k, const void *settings, const double start[3],
                              const ss_local_goal *goal, int *steps);

// Solves any block.
ss_local_info ss_cases_solve(const ss_local *p, const ss_local_goal *goal, ss_slip_finder *find,
                             const void *settings, double r[3]);

// Beyond these sizes, in the units of the problem, squares and products could overflow or vanish; a
// problem outside is scaled by powers of two, which loses no bits.
#define SS_LEAST_SIZE 1e-20
#define SS_MOST_SIZE  1e20

static inline bool ss_cases_are_moderate(const ss_local *p)
{
    const double trace = p->W[0] + p->W[4] + p->W[8], beta = -p->b[0];
    return SS_LEAST_SIZE <= trace && trace <= SS_MOST_SIZE && SS_LEAST_SIZE <= beta &&
           beta <= SS_MOST_SIZE && fabs(p->b[1]) <= SS_MOST_SIZE && fabs(p->b[2]) <= SS_MOST_SIZE;
}

// Returns the distance of r = 0 from the law for b_N >= 0, which is rounding.
static inline double ss_cases_open_rounding(const ss_local *p)
{
    const double *b = p->b;
    return SS_BOUND_ROUNDING * (b[0] + 2.0 * p->mu * (fabs(b[1]) + fabs(b[2])));
}

// Makes the sticking or sliding answer of a block with b_N < 0, and its u. Returns true if its
// bound is within the goal.
SS_INLINE bool ss_cases_try(const ss_slip *k, const ss_local_goal *goal, ss_slip_finder *find,
                            const void *settings, const double start[3], ss_candidate *c,
                            double u[3], int *steps)
{
    if (ss_slip_sticks(k)) {
        ss_candidate_stick(k, c);
    } else {
        ss_candidate_slide(k, find(k, settings, start, goal, steps), c);
    }
    ss_local_velocity(k->p, c->r, u);
    return ss_candidate_bound(k->p, ss_candidate_scale(k->p, goal), c, u) <= goal->tolerance;
}

// Takes the candidate as the answer and remembers its slip ratio. The normal part is judged by u_N
// alone: for r_N >= 0, |FB(s r_N, u_N)| <= 2 |u_N|.
SS_INLINE ss_local_info ss_cases_accept(const ss_candidate *c, const ss_local_goal *goal,
                                        const double u[3], int steps, double r[3])
{
    memcpy(r, c->r, sizeof c->r);
    if (c->slides && goal->memo != NULL) {
        *goal->memo = c->a;
    }
    const bool met = r[0] >= 0.0 && 2.0 * SS_NORMAL_WEIGHT * fabs(u[0]) <= goal->normal;
    return (ss_local_info){
        .outcome = SS_CONVERGED, .iterations = steps, .error = NAN, .normal_met = met};
}

// Does what ss_cases_solve does, to be inlined: nearly all contacts end here.
SS_INLINE ss_local_info ss_cases_solve_here(const ss_local *p, const ss_local_goal *goal,
                                            ss_slip_finder *find, const void *settings, double r[3])
{
    ss_slip k;
    if (p->b[0] >= 0.0) {
        if (ss_cases_open_rounding(p) <= goal->tolerance) {
            r[0] = r[1] = r[2] = 0.0;
            return (ss_local_info){.outcome = SS_CONVERGED, .error = NAN, .normal_met = true};
        }
    } else if (ss_cases_are_moderate(p) && ss_slip_eliminate(p, &k)) {
        ss_candidate c;
        double u[3];
        int steps = 0;
        if (ss_cases_try(&k, goal, find, settings, r, &c, u, &steps)) {
            return ss_cases_accept(&c, goal, u, steps, r);
        }
    }
    return ss_cases_solve(p, goal, find, settings, r);
}
