// solvers/local/secular.c -- secular: one contact as one equation for its slip ratio.
//
// With a = |u_T|/|r_T|, sliding is (doc/formulation.md, "Slip ratio")
//
//     F(a) = a^2 + A a + C - (W_NN/mu) |B + a c| = 0                                          (1)
//
// solved as G of slip.h by a bracketed Newton. Unlike [D11]'s quartic, which is (1) times its
// conjugate, (1) has no spurious root; like the secular equation of trust-region methods it is
// nearly straight in the right form, so that two steps from the last sweep's a suffice. The cases
// of the law are in slip.h.
#include "solvers/local/local.h"
#include "solvers/local/slip.h"
#include "solvers/sweep/visits.h"

// Returns |u_T|/|r_T| of the start, or NaN where r_T = 0.
SS_INLINE double start_ratio(const ss_local *p, const double r[3])
{
    const double *W = p->W, *b = p->b;
    const double u1 = W[3] * r[0] + W[4] * r[1] + W[5] * r[2] + b[1];
    const double u2 = W[6] * r[0] + W[7] * r[1] + W[8] * r[2] + b[2];
    return sqrt((u1 * u1 + u2 * u2) / (r[1] * r[1] + r[2] * r[2]));
}

// Finds the slip ratio from that of the last visit, if it is remembered: the ratio of the start
// waits for the velocity, a root and a division.
SS_INLINE double secular_find(const ss_slip *k, const void *given, const double start[3],
                              const ss_local_goal *goal, int *steps)
{
    (void)given;
    const bool known = goal->memo != NULL && *goal->memo > 0.0;
    return ss_slip_bracketed(k, known ? *goal->memo : start_ratio(k->p, start), goal->tolerance,
                             steps);
}

static ss_local_info secular_solve(const ss_local *p, const ss_local_goal *goal, const void *given,
                                   double r[3])
{
    return ss_cases_solve(p, goal, secular_find, given, r);
}

SS_INLINE ss_local_info secular_solve_here(const ss_local *p, const ss_local_goal *goal,
                                           const void *given, double r[3])
{
    return ss_cases_solve_here(p, goal, secular_find, given, r);
}

static void secular_visits(ss_sweeper *sweeper, int begin, int end, ss_tally *t)
{
    ss_visit_contacts(sweeper, secular_solve_here, begin, end, t);
}

const ss_local_solver ss_secular = {
    .card = {.name = "secular",
             .law = SS_EXACT,
             .reference = "D11",
             .about = "Tries take-off, sticking and sliding in turn; the slip ratio of "
                      "sliding is the root of one equation, nearly straight, found by a "
                      "bracketed Newton method. The equation has no spurious root, unlike the "
                      "polynomial of enum. It is the fastest exact local solver."},
    .solve = secular_solve,
    .visits = secular_visits,
};
