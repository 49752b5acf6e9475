// harness/bench/run.h -- the missing rows of a plan, made by child processes and added to the record.
#pragma once

#include "harness/bench/plan.h"

typedef struct ss_bench_orders {
    const char *verb;    // for sentences
    const char *program; // that knows the verb run-one
    int jobs;            // children at a time, each on a core of its own
} ss_bench_orders;

// Exit code: 0 if the record holds a row of every entry, 2 after Ctrl-C or SIGTERM, 4. Children
// that run then are killed; every row that was finished is in the record.
int ss_bench_run(const ss_bench_plan *plan, const ss_bench_orders *orders, ss_record *record);

// How far a series has come after `seconds`: "[####----]  4/8  2.0/s  0:02 left  WHAT", cut to
// `width` characters. Control characters of WHAT come out as '?'.
typedef struct ss_bar {
    int done, total; // done: those of this series, not of an earlier one
    bool terminal;   // where it rewrites itself; elsewhere each step is a plain line
    double start;    // s, CLOCK_MONOTONIC
} ss_bar;
void ss_bar_text(const ss_bar *bar, double seconds, const char *what, int width, char *text,
                 size_t room);
