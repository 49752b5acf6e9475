// solvers/contact.h -- what every caller of a local solver does around it.
//
// Cases that no solver needs to know are answered here: W_ii = 0, and mu = 0, where the answer is
// r = (max(0, -b_N) / W_NN, 0). A hybrid calls its fail-safe where the primary solver's answer
// misses the goal ([D11] Algorithm 1).
#pragma once

#include "solvers/solver.h"

#pragma GCC visibility push(default)

// Returns tr(W)/d. In the plane W[8] is the mean of the other two diagonal entries, so d is 3 for
// both.
static inline double ss_local_own_scale(const ss_local *p)
{
    return (p->W[0] + p->W[4] + p->W[8]) / 3.0;
}

// Decouples the third direction in the plane, so that code for space serves. Does nothing in space.
void ss_local_embed(ss_local *p);

// Returns W_22, the stiffness of the second tangent. In the plane, which has one tangent, it
// returns W_11: the embedded W_22 belongs to tr(W)/d alone.
static inline double ss_local_second_stiffness(const ss_local *p)
{
    return p->dim == 2 ? p->W[4] : p->W[8];
}

// Writes u = W r + b.
static inline void ss_local_velocity(const ss_local *p, const double r[3], double u[3])
{
    for (int c = 0; c < 3; c++) {
        u[c] = p->W[3 * c] * r[0] + p->W[3 * c + 1] * r[1] + p->W[3 * c + 2] * r[2] + p->b[c];
    }
}

// Returns the largest |f|_inf over the scales of the goal, in m/s, for mu > 0; at least its
// rounding where r is so large that b is lost beside it. A NaN in r gives NaN, as NULL does.
double ss_local_error(const ss_local *p, const ss_local_goal *goal, const double r[3]);

typedef struct ss_local_counters {
    long solves, failsafe_calls, failures;
} ss_local_counters;

// Solves a contact with any block and any mu >= 0, by a hybrid if the method is one, and adds to
// the counters, which may be NULL. p is embedded where it lies in the plane. The outcome is
// SS_NOT_COVERED if another argument is NULL or the method has no local solver.
ss_local_info ss_contact_solve(const ss_method *method, const ss_local *p,
                               const ss_local_goal *goal, double r[3], ss_local_counters *counters);

#pragma GCC visibility pop
