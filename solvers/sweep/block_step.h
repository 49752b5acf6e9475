// solvers/sweep/block_step.h -- the few contacts that sweeps are slow on, solved together.
//
// The end of many solves is a thousand sweeps in which a few contacts move. Let A be the set of
// contacts that have moved in the last ten sweeps. The problem of A with all other impulses held is
// solved by Newton's method (ppa), its answer is put in place, and sweeps go on: this is a
// Gauss-Seidel step over a block that is chosen on the way, or a successive correction in a
// subspace ([X92]). Contacts disturbed by the step move in the next sweeps and so enter the next
// set A.
//
// A step is tried where sweeps promise to take three times as long, by the fall of the estimate,
// and where its estimated cost is no more than the work of sweeps since the last one; work is
// counted in visits, as in auto.c. A step after which the estimate has not become half has failed,
// and each failure in a row halves the cost that the next may have. Iterations are sweeps: a step
// counts for none.
#pragma once

#include "solvers/limits.h"
#include "solvers/sweep/sweep.h"

#include <stdbool.h>

typedef struct ss_block_steps ss_block_steps;

// Makes block steps that look at each sweep of this sweeper. Both arguments are borrowed.
ss_status ss_block_steps_new(ss_sweeper *sweeper, const ss_limits *limits, ss_block_steps **made,
                             ss_error *e);
void ss_block_steps_free(ss_block_steps *steps); // takes NULL

// Called after each sweep. Returns true where impulses have been moved; then the sweep's estimate
// is that of the impulses before.
bool ss_block_steps_try(ss_block_steps *steps);
double ss_block_steps_work(const ss_block_steps *steps); // work of all block steps, in visits

// ---- For tests

// Makes the problem of the contacts member [k], which become contacts 0 .. k - 1, with all other
// impulses held. place is scratch, [n of the coupling, or its bodies where they are more], all -1
// before and after. Returns NULL without memory.
ss_problem *ss_block_problem_new(const ss_coupling *c, int k, const int *member, int *place);
// Returns how many blocks its W has, without making it: in matrix-free form one for each body that
// two members, or a member and itself, share.
double ss_block_problem_blocks(const ss_coupling *c, int k, const int *member, int *place);
