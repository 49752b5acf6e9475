// solvers/global/auto_judge.h -- what the portfolio asks about an answer and its problem.
//
// The factor of M is borrowed: *factor, NULL until somebody has made it (ss_task.factor).
#pragma once

#include "problems/matrix/mass.h"
#include "problems/response.h"

// All measures of r, from the problem's own data. u is [dim n] scratch.
ss_status ss_auto_judge(const ss_problem *p, ss_mass **factor, const double *r, double *u,
                        ss_measures *m, ss_error *e);

// Whether nothing but rounding is left of the residual of r: no start leads farther.
ss_status ss_auto_at_floor(const ss_problem *p, ss_mass **factor, const double *r, double *u,
                           bool *at_floor, ss_error *e);

// Whether a certificate says that there is no solution.
bool ss_auto_is_refuted(const ss_problem *p);
