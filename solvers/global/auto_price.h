// solvers/global/auto_price.h -- what members of the portfolio cost, before any of them is begun.
//
// In visits of all contacts by a sweep, from the size of the problem alone. A factorisation is F
// multiplications, as ss_implicit_guess has them, and its factor F^(2/3) numbers: of N bodies in space
// F grows as N^2 and the numbers as N^(4/3), and where all are coupled as N^3 and N^2. The constants are
// measured ones: ppa on hair of 300 to 10 000 contacts, admm with a weight of 1000 on towers of 88 to 952.
#pragma once

#include "problems/problem.h"
#include "solvers/sweep/coupling.h"

typedef struct ss_prices {
    double ppa;  // as many steps as in the middle of those seen, 10 to 150
    double ipm;  // as many steps as in the middle of those in dense hair, 14 to 38
    double admm; // as many steps as a tower takes whose contacts stick; INFINITY: no body is rigid
    double admm_step; // one of them
} ss_prices;

ss_prices ss_prices_of(const ss_problem *p);

// Whether bodies have fewer than d n / 2 dofs: W has at most half its full rank then.
bool ss_prices_are_dense(const ss_problem *p);
#define SS_PRICES_TIGHT 3e-4 // from this tolerance on a few sweeps mostly do there

// Whether interior points come before sweeps: in dense hair with tr W_ii within a factor of 100, as their steps are short
// where light parts are among heavy ones, and in moving hair, whose tr W_ii differ more, sweeps do.
bool ss_prices_are_even(const ss_problem *p, const ss_coupling *c);
// The same of 64 contacts, before there is a coupling, and not of rigid bodies: in towers admm is cheaper.
bool ss_prices_favour_interior(const ss_problem *p, ss_mass **factor);
