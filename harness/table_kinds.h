// harness/table_kinds.h -- the tables that compare solvers (internal).
#pragma once

#include "harness/simulate/stats.h"
#include "harness/table.h"
#include "harness/trials.h"

// NULL without memory. csv: columns in the order that programs rely on, the paper's after ours
// instead of beside them.
ss_table *ss_table_solvers(const ss_trials *trials, bool paper, bool csv); // [D11] Table 2
ss_table *ss_table_problems(const ss_trials *trials);
ss_table *ss_table_profile(const ss_trials *trials);
ss_table *ss_table_local(const ss_trials *trials);
// reference: a solver of the trials by its label or spec; SS_BAD_INPUT where it is none. The table
// may be NULL without memory, which ss_table_print tells.
ss_status ss_table_ratio(const ss_trials *trials, const char *reference, ss_table **table,
                         ss_error *e);
// [D11] Table 1, a row a run; paper: its row below the scene's that it stands for.
ss_table *ss_table_simulation(const ss_stats *runs, size_t count, bool paper);

// Two records side by side, a row a solver or a problem: the runs that both hold. names: of the
// records, for the footnotes. SS_BAD_INPUT where the tolerances differ or there is no such run; the
// table may be NULL without memory, which ss_table_print tells.
ss_status ss_table_compare(const ss_trials *a, const ss_trials *b, const char *const names[2],
                           bool by_problem, ss_table **table, ss_error *e);

// Of which tolerance a table is.
void ss_table_note_tolerance(ss_table *table, const ss_trials *trials);
// The notes that every table has: the tolerance, the problems, freezing, runs without numbers.
void ss_table_conditions(ss_table *table, const ss_trials *trials);
