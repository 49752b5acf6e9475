// harness/table_kinds.h -- the tables that compare solvers (internal).
#pragma once

#include "harness/table.h"
#include "harness/trials.h"

// NULL without memory. csv: columns in the order that programs rely on, the paper's after ours
// instead of beside them.
ss_table *ss_table_solvers(const ss_trials *trials, bool paper, bool csv); // [D11] Table 2
ss_table *ss_table_problems(const ss_trials *trials);
ss_table *ss_table_profile(const ss_trials *trials);
ss_table *ss_table_local(const ss_trials *trials);

// The notes that every table has: the tolerance, the problems, freezing, runs without numbers.
void ss_table_conditions(ss_table *table, const ss_trials *trials);
