// harness/judge.h -- claim against fact.
//
// An answer is whatever a solver or a file says it is until the velocities that its impulses cause
// have been computed afresh and measured (problems/response.h, problems/coulomb.h). The verdict is
// ss_measures_pass; the sentences say what a reader of fb alone would miss.
#pragma once

#include "problems/response.h"

typedef struct ss_verdict {
    bool solved;
    double tolerance;
    ss_measures measures;
    double velocity_error; // max |u claimed - u| / V; NaN if no u is claimed
    char detail[400];      // sentences separated by "; ", or ""
} ss_verdict;

// answer->r is not NULL; answer->u may be. claimed: the error (ss_measures_error) that it
// is said to have, NaN if nothing is claimed. u [dim ncontacts] is scratch, and holds the velocities
// afterwards.
ss_verdict ss_judge(ss_response *response, const ss_state *answer, double claimed, double tolerance,
                    double *u);
