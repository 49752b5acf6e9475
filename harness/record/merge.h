// harness/record/merge.h -- the rows of several records in one.
//
// If two rows have the same key, the one that says more stays:
//     a row of a run that hit no limit, before one of a run that did;
//     if both hit the same limit, the row with the larger limit;
//     if they hit different limits, the row with more iterations;
//     otherwise the row of the earlier record.
// A run that was interrupted says nothing. The rows are sorted by problem (numbers in its label by their value,
// strverscmp), solver (in the order in which solvers first appear), tolerance and start.
#pragma once

#include "harness/record/record.h"

// Merges records into the record `out`, whose own rows count as those of the earliest record. told [count] gets what is
// wrong with each record; nothing is taken from a record with an error. Either all is written or nothing, and a new
// record is made only if one of `paths` could be read. *remark: what ss_record_remark says of `out`.
ss_status ss_record_merge(const char *out, int count, char *const *paths, ss_error *told,
                          const char **remark, ss_error *e);
