// harness/run.h -- one problem, one solver, one row: solve, judge, and say what happened.
#pragma once

#include "harness/judge.h"
#include "harness/rows.h"
#include "solvers/registry.h"

// What a solved problem leaves behind; r, u, v are owned.
typedef struct ss_run {
    ss_state answer; // r, u as the judge computed it, v in global form
    ss_result result;
    ss_verdict verdict;
    const char *status; // of the row: solved, stopped, max_iter ...; the judge's word
    char detail[500];
} ss_run;

// start: SIZE [dim ncontacts] or NULL for zero. The task's problem, method and limits are set; its
// listener may be.
ss_status ss_run_task(const ss_task *task, const double *start, ss_run *run, ss_error *e);
void ss_run_free(ss_run *run);

// The columns of a row, in the order that other programs rely on; and one row. A problem that
// could not be loaded is a row with status bad_input and its sentence.
extern const ss_column ss_run_columns[];
void ss_run_print(ss_rows *rows, const char *label, const ss_task *task, const ss_run *run);
void ss_run_print_bad(ss_rows *rows, const char *label, const ss_method *method, double tolerance,
                      const char *sentence);

// The answer as the store keeps it, into p->solution and p->claim; run gives its arrays away.
void ss_run_give(ss_run *run, const ss_task *task, ss_problem *p);
