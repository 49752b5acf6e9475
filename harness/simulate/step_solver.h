// harness/simulate/step_solver.h -- the solver of the steps of a simulation: any spec, and the judge's word.
#pragma once

#include <signal.h>
#include <stdint.h>

#include "harness/simulate/iterates.h"
#include "strands/step/step.h"
#include "solvers/registry.h"

typedef struct ss_simulate_solver {
    const ss_method *method;
    double tolerance;
    int max_iterations;
    double time_limit;                        // s a solve; 0: none
    int threads;                              // of the task
    const volatile sig_atomic_t *interrupted; // a solve ends soon after this is set; NULL: never
    volatile int solves;                      // begun and ended: odd during a solve
    ss_result result;                         // of the last solve, for the judge
    ss_iterates *iterates;                    // NULL: not wanted
    int step;                                 // the present one, from 1
    struct ss_mass *factor; // of M, that the last solve made, for the judge; NULL: none
    uint64_t factored;      // the print of this M
} ss_simulate_solver;

// For ss_step_solver: ss_simulate_solve and ss_simulate_judge with an ss_simulate_solver as their context.
// An interrupted solve is SS_SYSTEM: the step that it is of is not taken.
// After the judge answer->status is its word, fb and normal are its measures. fb_abs and natural are
// [D11]'s measures in its own units, cm and dyn s.
ss_status ss_simulate_solve(void *context, const ss_problem *p, double *r, ss_step_answer *answer,
                            ss_error *e);
ss_status ss_simulate_judge(void *context, const ss_problem *p, const double *r,
                            ss_step_answer *answer, ss_error *e);
// A row of `iterates`.
ss_status ss_simulate_see(void *context, const ss_problem *p, const double *r,
                          const ss_step_report *report, ss_error *e);
// Frees the factor, as the judge does and the next solve.
void ss_simulate_drop(ss_simulate_solver *solver);
