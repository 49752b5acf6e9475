// problems/store/layout.h -- a problem from the arrays of a file.
//
// FCLIB's layout: matrices by columns (nz = -1), by rows (nz = -2) or as nz >= 0 triplets, where
// i holds rows and p columns (fclib.h says the reverse of what libfclib writes). Nothing in the
// records is believed: missing or unreadable datasets, sizes, lengths, indices and values each
// become a sentence in the report, and all of them are told.
#pragma once

#include "problems/check.h"
#include "problems/problem.h"
#include "problems/store/records.h"

// SS_BAD_INPUT with the first defect in e. The report (not NULL, empty at first) gets all defects
// and the remarks.
ss_status ss_problem_from_records(const ss_records *records, ss_report *report,
                                  ss_problem **problem, ss_error *e);

// ---- For layout.c and layout_matrix.c.

// One conversion under way. What goes wrong with the data is a defect in the report; what goes
// wrong with the machine turns `status`.
typedef struct ss_layout {
    const ss_records *records;
    ss_report *report;
    ss_error *e;
    ss_status status;
} ss_layout;

// The record, where it is present, readable and of the kind wanted; else NULL, with a defect if
// it is needed or cannot be read.
const ss_record *ss_layout_find(ss_layout *l, const char *path, ss_record_kind kind, bool needed);

// "entry" of one, "entries" of another number.
static inline const char *ss_layout_entries(size_t count)
{
    return count == 1 ? "entry" : "entries";
}

// One int; false with a defect.
bool ss_layout_int(ss_layout *l, const char *path, int *value);

// The matrix in group `path`, which must be nrows x ncols because of `why`; where one of them is
// -1 (not known, a defect told elsewhere) the rest is checked. Where anything is wrong A stays
// empty.
void ss_layout_matrix(ss_layout *l, const char *path, int nrows, int ncols, const char *why,
                      ss_sparse *A);
