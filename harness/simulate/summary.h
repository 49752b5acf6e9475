// harness/simulate/summary.h -- the row that a run prints at its end.
#pragma once

#include "harness/simulate/simulation.h"
#include "harness/table.h"

extern const ss_column ss_summary_columns[];

// Of a run that ended with this status: "done", "exploded", ...
void ss_summary_row(ss_table *rows, const ss_simulation *a, const char *status);
