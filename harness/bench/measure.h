// harness/bench/measure.h -- one row of a benchmark: how it is measured, in a child process, and how
// it comes back to the parent.
#pragma once

#include <stdbool.h>

#include "harness/record/record.h"
#include "problems/problem.h"
#include "solvers/registry.h"

typedef struct ss_bench_settings {
    double tolerance;
    const double *tolerances; // [ntolerances] of a plan, in place of the one above; borrowed
    int ntolerances;          // 0: the one above
    double time_limit;        // CPU seconds a solve
    int max_iterations;
    int repeats;
    bool from_guess;
} ss_bench_settings;

// Runs the method once with somebody listening, which warms the machine up and gives the history,
// then `repeats` times for the seconds. Seconds and measures are those of the fastest repeat. A run
// that hits a limit, of time or of iterations, is not repeated: its repeats are 0. What is wrong
// with the problem or the machine becomes a row too: bad_input, or crashed.
void ss_bench_measure(const ss_problem *p, const ss_method *method,
                      const ss_bench_settings *settings, ss_record_row *row);

// The points of a history are at most SS_HISTORY_MOST: the start, the first 50 iterations, then
// ever fewer, and the end.
enum { SS_HISTORY_FIRST = 50, SS_HISTORY_MOST = 202 };
int ss_history_next(int k, int max_iterations); // the first to be kept after iteration k

// A row on its way through a pipe. Both ends are the same program, so that it travels as it is.
ss_status ss_bench_send(int channel, const ss_record_row *row, ss_error *e);
// SS_BAD_INPUT where the bytes are not one whole row. On failure row is blank, without a history.
ss_status ss_bench_receive(const char *bytes, size_t length, ss_record_row *row, ss_error *e);

// The verb of the child, "run-one". It writes its row to file SS_CHILD_FILE.
extern const char SS_RUN_ONE[];
