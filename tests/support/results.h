// tests/support/results.h -- a small record whose tables can be told by hand.
//
// Two problems, made at tolerance 1e-4 with freeze=paper:
//
//     solver     p1 (100 contacts)                     p2 (200 contacts)
//     4sides     stopped, 10 iterations, fb 0.3        crashed
//     mfb        6 iterations, 8 ms, 2 % of 600 fail   max_iter 100, 404 ms, 10 % of 20000 fail
//     mfb+enum   4 iterations, 10 ms, 1 % of 400 alt   8 iterations, 20 ms, 0.5 % of 1600 alt
//
// A fifth of the time of mfb+enum is set-up on both; the solvers stand in the record in the order
// mfb+enum, mfb, 4sides.
#pragma once

#include "harness/record/record.h"

// A row of the record above, with a history of its own; solver is a spec.
ss_record_row result_row(const char *solver, int problem);

// Writes the record to a scratch file and returns its path.
const char *results_file(const char *name);

// The same with the rows given; frees their histories.
const char *results_file_of(const char *name, ss_record_row *rows, size_t count);

// The row with the key of `key`; NULL if there is none.
const ss_record_row *find_row(const ss_record_rows *results, const ss_record_row *key);

// Two runs of the same found the same: the rows are equal bit for bit, and their histories, except for
// times, load, date and host.
void check_same_findings(const ss_record_row *one, const ss_record_row *two);
// Both hold the same rows in that sense, in any order.
void check_same_records(const ss_record_rows *one, const ss_record_rows *two);
