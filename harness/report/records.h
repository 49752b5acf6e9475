// harness/report/records.h -- the rows of records and the steps of simulations as JSON of a page.
#pragma once

#include "harness/report/page_json.h"
#include "harness/results/trials.h"

// The keys rows, history, solvers, tolerance and notes of the object that is open.
//
//     rows      columns of ss_record_fields; reals with 9 digits, fb and normal rounded up
//     history   {start [rows + 1], iteration, seconds, error}: of row k from start[k] on, 6 digits,
//               error (ss_measures_error) rounded up; iterations are differences, from 0 in each row
//     solvers   in the order of `table`: {spec, start, label, approximate, sweeps, hybrid}
//     notes     sentences on the conditions of the runs, as below a table
// `tolerance` is what the page opens with; NaN: the loosest of the rows. *trials, which the caller
// frees, are those at this tolerance.
ss_status ss_page_put_records(ss_page_json *json, const ss_record_rows *rows, double tolerance,
                              bool histories, ss_trials **trials, ss_error *e);

// An object: file, run (columns of its first line), columns of the others, 6 digits, every
// `every`-th step.
ss_status ss_page_put_simulation(ss_page_json *json, const char *file, const ss_stats *stats,
                                 ss_error *e);
