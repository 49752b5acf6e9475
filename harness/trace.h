// harness/trace.h -- what a solve looks like while it runs: a CSV row an iteration, a line on
// stderr.
#pragma once

#include "harness/judge.h"
#include "solvers/solver.h"

typedef struct ss_trace ss_trace;

// path NULL: no file. Progress appears on stderr when that is a terminal and the solve takes long.
ss_status ss_trace_open(const char *path, ss_trace **trace, ss_error *e);
// The listener of the next task. The problem must outlive it.
ss_status ss_trace_begin(ss_trace *trace, const char *label, ss_task *task, ss_error *e);
void ss_trace_end(ss_trace *trace);
// Tells whether all rows reached the file.
ss_status ss_trace_close(ss_trace *trace, ss_error *e);
