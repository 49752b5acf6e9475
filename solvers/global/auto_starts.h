// solvers/global/auto_starts.h -- where the portfolio begins again when nobody has got there.
//
// The steps of ppa wander where friction is high or heavy rests on light, until they
// happen on the answer. Where that is, is a matter of luck: nothing, or the impulses of the best
// answer times exp(a z), z normal; weights rho of three sizes; and lengths 1 1 2 1 1 2 4 ... (Luby,
// Sinclair and Zuckerman 1993), which loses no more than a logarithm to the best length.
#pragma once

#include <stddef.h>

#include "problems/tangle/random.h"

int ss_luby(int k); // 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 ..., k from 1

// The k-th start, from the best answer in r. One in four knows nothing of it.
void ss_start_elsewhere(ss_random *g, int k, size_t size, double *r);
