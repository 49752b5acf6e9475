// solvers/global/auto_price.h -- what members of the portfolio cost, before any of them is begun.
//
// In visits of all contacts by a sweep, from the size of the problem alone. A factorisation is F
// multiplications, as ss_implicit_guess has them, and its factor F^(2/3) numbers: of N bodies in space
// F grows as N^2 and the numbers as N^(4/3), and where all are coupled as N^3 and N^2. The constants are
// measured ones: ppa on hair of 300 to 10 000 contacts, admm with a weight of 1000 on towers of 88 to 952.
#pragma once

#include "problems/problem.h"

typedef struct ss_prices {
    double ppa;       // as many steps as in the middle of those seen, 10 to 150
    double admm;      // as many steps as a tower takes whose contacts stick
    double admm_step; // one of them
} ss_prices;

ss_prices ss_prices_of(const ss_problem *p);
