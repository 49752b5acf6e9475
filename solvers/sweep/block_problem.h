// solvers/sweep/block_problem.h -- some contacts of a coupling as a problem of their own.
//
// With the impulses of all others held, those of a set A see
//
//     u_A = W_AA r_A + b_A,     b_A = u_A - W_AA r_A at the present r                        (1)
//
// which is a problem in local form.
#pragma once

#include "solvers/sweep/coupling.h"

// member [k]: the contacts of A, which become contacts 0 .. k - 1. place [n of the coupling, or its bodies where they
// are more]: scratch, all -1 before and after. NULL without memory.
ss_problem *ss_block_problem_new(const ss_coupling *c, int k, const int *member, int *place);
// How many blocks its W has, without making it: in matrix-free form one for each body that two
// members, or a member and itself, share.
double ss_block_problem_blocks(const ss_coupling *c, int k, const int *member, int *place);
