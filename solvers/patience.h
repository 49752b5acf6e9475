// solvers/patience.h -- how long a parent waits for a child whose solver has a time limit (internal).
//
// A solver keeps its limit by its own clock. One that does not is not ended by the clock on the wall:
// time in which the machine is busy, or stopped, says nothing about it. Of a limit L its patience is
// 2 L + 2 s of CPU time per thread, or 3 L + 2 s of sleep, in each quarter of a second of which it
// used less than a thousandth of a processor.
#pragma once

#include "base/child.h"

typedef struct ss_patience {
    double most_cpu, most_sleep; // s, infinite where there is no limit
    double cpu;                  // s of the child, at the start
    double looked, looked_cpu; // s (CLOCK_MONOTONIC) and CPU time: the start of the present quarter
    double asleep;             // s
} ss_patience;

// From now on. limit 0: for ever. threads 0: one.
ss_patience ss_patience_begin(const ss_child *child, double limit, int threads);
// The child was waiting for this process since the last look.
void ss_patience_resume(ss_patience *patience, const ss_child *child);
// Whether it is at its end; asked some times a second. A longer time in between counts as a
// quarter of a second, so that a parent that was stopped itself does not find its child guilty.
bool ss_patience_ends(ss_patience *patience, const ss_child *child);
