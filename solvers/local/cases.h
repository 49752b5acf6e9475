// solvers/local/cases.h -- the cases of Coulomb's law, for solvers that find the slip ratio.
//
// Take-off, sticking, sliding, singular blocks and no solution are distinguished in one place
// (doc/formulation.md, "Slip ratio"); `enum` and `secular` differ only in how they find the slip
// ratio a.
#pragma once

#include <string.h>

#include "solvers/local/candidate.h"

// An a > 0 with G(a) = 0 (slip.h); start is the r that the solver was given, memo that of the goal;
// *steps are counted. k is nonsingular with G(0) < 0. An a that is wrong costs time, never a wrong
// answer.
typedef double ss_slip_finder(const ss_slip *k, const void *settings, const double start[3],
                              const ss_local_goal *goal, int *steps);

// Any block.
ss_local_info ss_cases_solve(const ss_local *p, const ss_local_goal *goal, ss_slip_finder *find,
                             const void *settings, double r[3]);

// Beyond these, in the units of the problem, squares and products of slip.h could overflow or
// vanish; a problem outside is scaled by powers of two, which loses no bits.
#define SS_LEAST_SIZE 1e-20
#define SS_MOST_SIZE  1e20

static inline bool ss_cases_are_moderate(const ss_local *p)
{
    const double trace = p->W[0] + p->W[4] + p->W[8], beta = -p->b[0];
    return SS_LEAST_SIZE <= trace && trace <= SS_MOST_SIZE && SS_LEAST_SIZE <= beta &&
           beta <= SS_MOST_SIZE && fabs(p->b[1]) <= SS_MOST_SIZE && fabs(p->b[2]) <= SS_MOST_SIZE;
}

// How far r = 0 is from the law for b_N >= 0, which is rounding.
static inline double ss_cases_open_rounding(const ss_local *p)
{
    const double *b = p->b;
    return SS_BOUND_ROUNDING * (b[0] + 2.0 * p->mu * (fabs(b[1]) + fabs(b[2])));
}

// Makes the sticking or sliding answer of a block with b_N < 0, and its u. True if its bound is within the goal.
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

// Takes the candidate as the answer and remembers its slip ratio. The normal part is judged by u_N alone: for r_N >= 0,
// |FB(s r_N, u_N)| <= 2 |u_N|.
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

// The same as ss_cases_solve, to be inlined: nearly all contacts end here.
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
