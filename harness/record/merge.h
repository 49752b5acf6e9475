// harness/record/merge.h -- the rows of several records in one.
//
// Of two rows of one key the one that says more stays: one that hit no limit before one that did;
// of two that hit the same limit the one with the larger, of two that hit different ones the one
// with more iterations; else that of the earlier record. The rows come
// out sorted: problem by its label, numbers in it by their value (strverscmp), solver in the order
// of first appearance, tolerance, start.
#pragma once

#include "harness/record/record.h"

// Merges into the record `out`: rows that are there already are those of the earliest record. told
// [count]: what is wrong with each record, of which nothing is taken then. All is written, or
// nothing: a new record is left only if one of them could be read. *remark: what ss_record_remark says of `out`.
ss_status ss_record_merge(const char *out, int count, char *const *paths, ss_error *told,
                          const char **remark, ss_error *e);
