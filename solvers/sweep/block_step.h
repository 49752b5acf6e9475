// solvers/sweep/block_step.h -- the few contacts that sweeps are slow on, solved together.
//
// The end of many solves is a thousand sweeps in which a few contacts move. They are the set A: all
// that have moved in the last ten sweeps. The problem of A with all other impulses held
// (block_problem.h) is solved by Newton's method (ppa), its answer is put in place, and sweeps go
// on: a Gauss-Seidel step over a block that is chosen on the way, or a successive correction in a
// subspace ([X92]). Contacts disturbed by the step move in the next sweeps and so enter the next set A.
//
// A step is tried where sweeps promise to take three times as long, by the fall of the estimate,
// and where what it costs, as far as its size tells, is no more than what they have done since the
// last one: work is counted in visits, as in auto.c. One after which the estimate has not become
// half has failed, and each failure in a row halves what the next may cost. Iterations are sweeps:
// a step counts for none.
#pragma once

#include "solvers/sweep/sweep.h"
#include "solvers/limits.h"

typedef struct ss_block_steps ss_block_steps;

// All are borrowed. It looks at each sweep of this sweeper.
ss_status ss_block_steps_new(ss_sweeper *sweeper, const ss_limits *limits, ss_block_steps **made,
                             ss_error *e);
void ss_block_steps_free(ss_block_steps *steps); // takes NULL

// After each sweep. True where impulses have been moved: the sweep's estimate is of what was
// before.
bool ss_block_steps_try(ss_block_steps *steps);
double ss_block_steps_work(const ss_block_steps *steps); // of all block steps, in visits
