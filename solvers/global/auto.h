// solvers/global/auto.h -- parts of the portfolio that tests look at.
#pragma once

#include <stddef.h>

#include "base/random.h"
#include "problems/problem.h"

// ---- For tests

// Prices of members before any of them begins, in visits of all contacts by a sweep.
typedef struct ss_prices {
    double ppa;  // as many steps as in the middle of those seen, 10 to 150
    double ipm;  // as many steps as in the middle of those in dense hair, 14 to 38
    double admm; // as many steps as a tower takes whose contacts stick; INFINITY: no body is rigid
    double admm_step; // one step of admm
} ss_prices;

ss_prices ss_prices_of(const ss_problem *p);

int ss_luby(int k); // 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 ..., k from 1

// The k-th start, from the best answer in r. One in four knows nothing of it.
void ss_start_elsewhere(ss_random *g, int k, size_t size, double *r);
