// solvers/local/slip.h -- a sliding contact as one equation for its slip ratio a = |u_T|/|r_T|.
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
// G is mu beta (Q - n) of doc/formulation.md, "Slip ratio", which has c' = -c/beta: so b_N -> 0 is no
// division. For a nonsingular block G(0) >= 0 says that the contact sticks; otherwise G(0) < 0, and
// G grows without bound.
#pragma once

#include "solvers/contact.h"
#include "solvers/local/quartic.h"
#include "solvers/small.h"

// det Wb below this share of tr Wb tr W is rounding: doc/formulation.md, "Slip ratio".
#define SS_SLIP_SINGULAR 1e-12

// A Newton step of h a leaves an error of some h^2 a in a. The answer then misses the law by less than
// h^2 beta/SS_SLIP_SHARE (in all but 1 of 3000 sliding contacts of hair), so a tolerance says how small the last h must
// be. Below LEAST is rounding; above MOST the answers change so much that sweeps take another number of iterations.
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
    double q[2], squared, length; // q(a), its length and the square of that
    double N, G;
} ss_slip_point;

// q(a).
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

// (3).
SS_INLINE void ss_slip_evaluate(const ss_slip *k, double a, ss_slip_point *at)
{
    ss_slip_direction(k, a, at->q);
    at->squared = at->q[0] * at->q[0] + at->q[1] * at->q[1];
    at->length = sqrt(at->squared);
    at->N = ss_slip_normal(k, a);
    at->G = k->p->mu * at->N - k->p->W[0] * at->length;
}

// Newton's step on mu N/|q| - W_NN, which has the roots of G and is nearly straight in a (1/|r_T|
// against a, as in trust-region methods): about half the steps that G itself takes. The division
// does not wait for |q|, so that it takes place beside the square root.
SS_INLINE double ss_slip_step(const ss_slip *k, double a, const ss_slip_point *at)
{
    const double slope = k->slope + 2.0 * a * k->beta;
    const double turn = at->q[0] * k->c[0] + at->q[1] * k->c[1];
    return -at->G * (at->squared / (k->p->mu * (slope * at->squared - at->N * turn)));
}

// (1) and what follows from it. False where p is singular: W_NN <= 0, or
// det Wb <= 1e-12 tr Wb tr W; k holds no more than (1) then.
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

// G(0) >= 0, without the square root. k is nonsingular.
SS_INLINE bool ss_slip_sticks(const ss_slip *k)
{
    const double reach = k->p->mu * k->N0, W_NN = k->p->W[0];
    return reach >= 0.0 && reach * reach >= W_NN * W_NN * (k->q[0] * k->q[0] + k->q[1] * k->q[1]);
}

// Its positive roots hold those of G: it is G times its conjugate, over (mu beta)^2.
ss_quartic ss_slip_quartic(const ss_slip *k);

// A start for a root of G, and a point to go on from where Newton's method leaves the bracket. k is given
// by value: so it stays in the registers of a caller who seldom needs them.
double ss_slip_guess(ss_slip k);
double ss_slip_between(ss_slip k, double low, double high);

// h^2 beta of the last step, for an answer that may miss the law by `tolerance`.
SS_INLINE double ss_slip_enough(const ss_slip *k, double tolerance)
{
    const double least = SS_SLIP_LEAST * SS_SLIP_LEAST * k->beta;
    const double most = SS_SLIP_MOST * SS_SLIP_MOST * k->beta;
    const double asked = SS_SLIP_SHARE * tolerance;
    return asked < least ? least : asked > most ? most : asked;
}

// A root of G from the start a >= 0, or from a start of its own where a is none; G(0) < 0. `tolerance` as above, or 0:
// as near as rounding allows.
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
        if (!(low < middle && middle < high)) { // G has no root here, or rounding holds it
            return a;
        }
        a = middle;
    }
    return a;
}
