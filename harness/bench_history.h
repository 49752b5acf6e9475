// harness/bench_history.h -- the residuals of a run while it goes on (internal to the benchmark).
#pragma once

#include "harness/bench.h"
#include "harness/bench/limits.h"
#include "problems/response.h"

// The first iteration to be kept after iteration k.
int ss_recorder_next(int k, int max_iterations);

typedef struct ss_recorder {
    ss_history history; // [SS_HISTORY_MOST] each
    ss_response *response;
    double *u; // [dim ncontacts] scratch
    int next;  // iteration that is kept next
    int max_iterations;
    ss_cpu_limit *limit; // paused while the judge works
    // Wall seconds. A process that has set itself a CPU limit sees its CPU clock in steps of some
    // milliseconds (Linux counts by ticks then), too coarse for a history.
    double begin, listening;
} ss_recorder;

ss_status ss_recorder_begin(ss_recorder *recorder, ss_task *task, ss_cpu_limit *limit, ss_error *e);
// The last point is the answer's: fb as judged at the end.
void ss_recorder_end(ss_recorder *recorder, const ss_result *result, double fb);
// Takes one that was never begun.
void ss_recorder_free(ss_recorder *recorder);
