// harness/record_file.h -- the rows of a record as an HDF5 file.
//
//     /rows/<column>[nrows]                                     texts, int32 or float64
//     /history/start[nrows + 1], {iteration, seconds, local_solves, fb}[start[nrows]]
//
// The file carries the attributes format = "stickslip results", format_version and producer.
#pragma once

#include "harness/record_set.h"

#define SS_RECORD_FORMAT         "stickslip results"
#define SS_RECORD_FORMAT_VERSION 3

// Replaces the file whole or not at all. bytes: its size.
ss_status ss_record_file_write(const char *path, const ss_record_set *set, size_t *bytes,
                               ss_error *e);

// Adds the rows of the file; SS_BAD_INPUT where it is no record or is damaged. There may be no
// file: *found is false then.
ss_status ss_record_file_read(const char *path, ss_record_set *set, bool *found, ss_error *e);
