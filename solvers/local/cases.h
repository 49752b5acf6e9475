// solvers/local/cases.h -- the cases of Coulomb's law, for solvers that find the slip ratio.
//
// Take-off, sticking, sliding, singular blocks and no solution are distinguished in one place
// (doc/formulation.md, "Slip ratio"); `enum` and `secular` differ only in how they find the slip
// ratio a.
#pragma once

#include "solvers/local/candidate.h"

// An a > 0 with G(a) = 0 (slip.h); start is the r that the solver was given; *steps are counted. k
// is nonsingular with G(0) < 0. An a that is wrong costs time, never a wrong answer.
typedef double ss_slip_finder(const ss_slip *k, const void *settings, const double start[3],
                              int *steps);

ss_local_info ss_cases_solve(const ss_local *p, const ss_local_goal *goal, ss_slip_finder *find,
                             const void *settings, double r[3]);
