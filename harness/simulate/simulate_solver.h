// harness/simulate/simulate_solver.h -- the solver of a simulation's steps: any spec, and the
// judge's word.
#pragma once

#include "problems/strands/step/step.h"
#include "solvers/registry.h"

typedef struct ss_simulate_solver {
    const ss_method *method;
    double tolerance;
    int max_iterations;
    double time_limit; // s a solve; 0: none
    int threads;       // of the task
} ss_simulate_solver;

// For ss_step_solver: ss_simulate_solve with an ss_simulate_solver as its context.
// answer->status is the judge's word; fb is its fb. fb_abs and natural are [D11]'s measures in its
// own units, cm and dyn s.
ss_status ss_simulate_solve(void *context, const ss_problem *p, double *r, ss_step_answer *answer,
                            ss_error *e);
