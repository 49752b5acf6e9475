// problems/tangle/locals.h -- problems of one contact, with answers known by construction.
//
// W is A A' with A normal, plus the multiple of I that brings its condition down to the cap where
// it is above (none where it is below), scaled so that tr W / d is log-uniform in 1e-3 .. 1e3.
// An answer (r, u) of the law is drawn first and b = u - W r follows from it, except for the kinds
// that say otherwise. Velocities are of order 1, impulses of order d / tr W.
#pragma once

#include "base/random.h"
#include "problems/coulomb.h"

#include <stdbool.h>

typedef enum ss_local_kind {
    SS_LOCAL_RANDOM, // W = A A', A and b normal, condition capped; the answer is not known

    // The answers of the following kinds are known by construction.
    SS_LOCAL_TAKE_OFF,
    SS_LOCAL_STICK,
    SS_LOCAL_SLIDE,
    SS_LOCAL_NEAR_BOUNDARY, // 1e-9 from another case of the law
    SS_LOCAL_SINGULAR,      // W of rank 1 or 2
    SS_LOCAL_FRICTIONLESS,  // mu = 0
    SS_LOCAL_SEVERAL,       // take-off and sticking both hold
    SS_LOCAL_NO_SOLUTION,   // W_NN = 0 with b_N < 0
    SS_LOCAL_UNSYMMETRIC,   // a sliding or sticking answer, W with a skew part
    SS_LOCAL_KINDS
} ss_local_kind;

typedef struct ss_local_answer {
    bool known;    // true if r and u below satisfy the law
    bool solvable; // false if the problem has no solution
    double r[3], u[3];
    bool has_other; // true for SS_LOCAL_SEVERAL: other_r satisfies the law as well
    double other_r[3];
} ss_local_answer;

// Draws a problem. The condition of W is at most `condition` > 1, mu is log-uniform in
// [mu_low, mu_high], 0 < mu_low. The cap does not hold for SINGULAR and NO_SOLUTION, whose W has no
// inverse; for SEVERAL, which needs mu |W_NT| > W_NN and so a condition of some 1/mu^2; and for the
// skew part of UNSYMMETRIC.
ss_local ss_local_draw(ss_random *g, ss_local_kind kind, int dim, double condition, double mu_low,
                       double mu_high, ss_local_answer *answer);
