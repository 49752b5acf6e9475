// harness/bench/measure.h -- one row of a benchmark: how it is measured, in a child process, and
// how it comes back to the parent.
#pragma once

#include "harness/record/record.h"
#include "problems/problem.h"
#include "solvers/registry.h"

#include <sys/types.h>
#include <stdbool.h>

// ---- limits

// how long a run may take: by its CPU time, not by the clock on the wall.
//
// A solver keeps its time limit by its own clock. One that does not is ended by the system, by
// SIGXCPU, after 2 limits + 2 s of CPU time (whole seconds, rounded up). Time in which it is given
// no processor, because the machine is busy or suspended, says nothing about it and does not count.
// One that sleeps has no such excuse: its parent ends it after 3 limits + 2 s of sleep.

// ---- In the child.

// The CPU limit of this process: there is one.
typedef struct ss_cpu_limit {
    double deadline, then; // s of CLOCK_PROCESS_CPUTIME_ID: the limit; the pause
} ss_cpu_limit;

// ---- In the parent.

// Whatever the child does, so many solves and what goes with them take no more CPU time.
void ss_limit_child(pid_t child, double seconds, int solves);

// How long a child has slept, with all processes of its group. It does not sleep where one of them
// computes, waits for a processor or a disk, or is stopped.
typedef struct ss_sleep {
    double seconds, looked;   // so far; at what time (CLOCK_MONOTONIC)
    unsigned long long ticks; // CPU time of the group then
} ss_sleep;

ss_sleep ss_sleep_begin(void);
// Asked at least every SS_SLEEP_LOOK seconds; a longer time in between counts as that, so that a
// parent that was stopped itself does not find its child guilty.
#define SS_SLEEP_LOOK 1.0
double ss_sleep_look(ss_sleep *sleep, pid_t child);
double ss_sleep_limit(double seconds); // the most, for a solver with this time limit

typedef struct ss_bench_settings {
    double tolerance;
    const double *tolerances; // [ntolerances] of a plan, in place of the one above; borrowed
    int ntolerances;          // 0: the one above
    double time_limit;        // CPU seconds a solve
    int max_iterations;
    int repeats;
    bool from_guess;
} ss_bench_settings;

// The points of a history are at most SS_HISTORY_MOST: the start, the first 50 iterations, then
// ever fewer, and the end.
enum { SS_HISTORY_FIRST = 50, SS_HISTORY_MOST = 202 };
// SS_BAD_INPUT where the bytes are not one whole row. On failure row is blank, without a history.
ss_status ss_bench_receive(const char *bytes, size_t length, ss_record_row *row, ss_error *e);

// The verb of the child, "run-one". It writes its row to file SS_CHILD_FILE.
extern const char SS_RUN_ONE[];

// ---- For tests

void ss_cpu_limit_arm(ss_cpu_limit *limit, double seconds); // the solver's limit
void ss_cpu_limit_pause(ss_cpu_limit *limit); // time until the resumption is not the solver's
void ss_cpu_limit_resume(ss_cpu_limit *limit);
void ss_cpu_limit_disarm(void);

// Runs the method once with somebody listening, which warms the machine up and gives the history,
// then `repeats` times for the seconds. Seconds and measures are those of the fastest repeat. A run
// that hits a limit, of time or of iterations, is not repeated: its repeats are 0. What is wrong
// with the problem or the machine becomes a row too: bad_input, or crashed.
void ss_bench_measure(const ss_problem *p, const ss_method *method,
                      const ss_bench_settings *settings, ss_record_row *row);
int ss_history_next(int k, int max_iterations); // the first to be kept after iteration k

// A row on its way through a pipe. Both ends are the same program, so that it travels as it is.
ss_status ss_bench_send(int channel, const ss_record_row *row, ss_error *e);
