// problems/store/body_runs.h -- the sizes of a problem's bodies, in few numbers.
#pragma once

#include "problems/matrix/sparse.h"

// Bodies are the connected components of M's pattern, here in the order of their first dofs. Runs
// of equal sizes become pairs (size, count): 30 rods of 16 dofs are the one pair (16, 30).
// runs [2 limit]; *nruns is 0 where more than `limit` pairs would be needed. Fails without memory.
ss_status ss_body_runs(const ss_sparse *M, int limit, int *runs, int *nruns, ss_error *e);
