// harness/results/tables.h -- the tables that a record of runs, or simulations, become: a registry.
#pragma once

#include "harness/results/trials.h"
#include "harness/table.h"

// Request of a table.
typedef struct ss_table_request {
    const ss_results *results;
    const ss_results *other; // a record to compare with; NULL: none
    bool paper;              // the numbers of [D11] beside ours
    const char *against;     // the solver that others are compared with; NULL: [D11]'s best
    bool for_programs;       // columns in the order that programs rely on
} ss_table_request;

// Columns, rows and notes into an empty table. Before its first row is complete it may fail; later
// ss_table_finish reports if memory was short.
typedef ss_status ss_table_make(const ss_table_request *request, ss_table *table, ss_error *e);

typedef struct ss_table_kind {
    const char *name; // NULL ends the registry
    ss_needs needs;
    bool takes_paper, takes_against; // of the request
    ss_table_make *make;
    ss_table_make *compare; // two records side by side; NULL: it cannot
} ss_table_kind;

extern const ss_table_kind ss_table_kinds[];

// ---- For the files that make them.

// The same without the tolerance.
void ss_table_circumstances(ss_table *table, const ss_trials *trials);
