// harness/verbs/trace.h -- the trace of a solve: a row per iteration into a file, and a line on stderr.
#pragma once

#include "harness/run.h"

typedef struct ss_trace ss_trace;

// path NULL: no file. Progress appears on stderr if that is a terminal and the solve takes long.
ss_status ss_trace_open(const char *path, ss_trace **trace, ss_error *e);

// The listener of the next task. The problem must outlive it.
ss_status ss_trace_begin(ss_trace *t, const char *label, ss_task *task, ss_error *e);
void ss_trace_end(ss_trace *t);

// Tells whether all rows reached the file. Takes NULL.
ss_status ss_trace_close(ss_trace *t, ss_error *e);
