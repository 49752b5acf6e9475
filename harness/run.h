// harness/run.h -- one problem, one solver, one row: solve, judge, and say what happened.
#pragma once

#include "harness/judge.h"
#include "harness/cli.h"
#include "harness/record/row.h"
#include "harness/table.h"
#include "solvers/registry.h"

// Options of the verbs that run solvers or judge, with fields of these names in their settings.
#define SS_OPT_SOLVER                                                                              \
    SS_OPT_TEXT("solver", "SPEC", solver,                                                          \
                "[GLOBAL/]LOCAL[+FAILSAFE][:key=value,...] (default mfb+enum)")
#define SS_OPT_TOLERANCE                                                                           \
    SS_OPT_REAL("tol", "T", tolerance, 0, 1,                                                       \
                "the largest error, max(fb, normal/2), that counts as solved")
#define SS_OPT_MAX_ITERATIONS                                                                      \
    SS_OPT_INT("max-iter", "N", max_iterations, 0, 1000000000,                                     \
               "iterations (sweeps of Gauss-Seidel)")
#define SS_OPT_START                                                                               \
    SS_OPT_CHOICE("start", "START", start, ss_start_names, "impulses to start from")
enum { SS_START_ZERO, SS_START_GUESS };
extern const char *const ss_start_names[]; // zero, guess; NULL-terminated

// What a solved problem leaves behind.
typedef struct ss_run {
    ss_state answer;       // r, u and v as the judge computed them, v in global form only; owned
    ss_response *response; // the judge of the problem; owned
    struct ss_team *team;  // who helps it, as many as the task has threads; owned, NULL: nobody
    ss_result result;
    ss_verdict verdict;
    const char *status; // of the row: solved, stopped, max_iter ...; the judge's word
    char detail[600];
} ss_run;

// start: SIZE [dim ncontacts] or NULL for zero. The task's problem, method and limits are set; its
// listener may be.
ss_status ss_run_task(const ss_task *task, const double *start, ss_run *run, ss_error *e);
// The same with the solve in a process of its own (solvers/solve_in_child.h).
ss_status ss_run_contained(const ss_task *task, const double *start, ss_run *run, ss_error *e);
// Of a task that was solved before: its answer r and what the solver said.
ss_status ss_run_judged(const ss_task *task, const double *r, const ss_result *result, ss_run *run,
                        ss_error *e);
void ss_run_free(ss_run *run);
// A remark on stderr if --threads was asked for and has no effect on the method.
void ss_run_remark_threads(const char *verb, int threads, const ss_method *method);
// The impulses that `--start guess` means; NULL if the problem holds none.
const double *ss_run_guess(const ss_problem *p);

// What problems/certificate.h proves of a problem that was not solved, at a bounded cost: status
// becomes no_solution where that is proved, undecided where the solver says so and nothing is
// proved, and stays otherwise; detail [room] says so. Apart from ss_run_task, so that a caller can
// keep it out of what it measures.
ss_status ss_run_decide(const ss_problem *p, const ss_result *result, const char **status,
                        char *detail, size_t room, ss_error *e);

// What the run says, into a row whose key and problem are others' business.
void ss_run_describe(const ss_run *run, ss_record_row *row);
