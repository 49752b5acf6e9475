// harness/bench_run.h -- what a plan lacks, run in child processes and added to the record.
#pragma once

#include "harness/bench_plan.h"

typedef struct ss_bench_orders {
    const char *verb;      // for sentences
    const char *program;   // that knows the verb run-one
    const char *reference; // spec, or NULL
    int jobs;              // children at a time, each on a core of its own
} ss_bench_orders;

// Exit code: 0 where the record holds a row of every entry, 2 after Ctrl-C or SIGTERM, 4. Children
// that run then are killed; every row that was finished is in the record.
int ss_bench_run(const ss_bench_plan *plan, const ss_bench_orders *orders, ss_record *record);
