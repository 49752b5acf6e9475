// problems/store/read.h -- the half of the reader that knows what the arrays of a file mean.
//
// FCLIB's layout: matrices by columns (nz = -1), by rows (nz = -2) or as nz >= 0 triplets, where
// i holds rows and p columns (fclib.h says the reverse of what libfclib writes). Nothing in the
// arrays is believed: missing or unreadable datasets, sizes, lengths, indices and values each
// become a sentence in the report, and all of them are reported. A guess or an answer that cannot
// be used is left out with a remark: a problem can be solved without.
#pragma once

#include "problems/check.h"
#include "problems/problem.h"
#include "problems/store/arrays.h"

// ---- For tests

// SS_BAD_INPUT with the first defect in e. The report (not NULL, empty at first) gets all defects
// and the remarks. The arrays are sorted; those of matrices become a part of the problem: the list
// has them no more.
ss_status ss_problem_from_arrays(ss_arrays *arrays, ss_report *report, ss_problem **problem,
                                 ss_error *e);
