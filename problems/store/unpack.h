// problems/store/unpack.h -- a problem from the arrays of a file.
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

// SS_BAD_INPUT with the first defect in e. The report (not NULL, empty at first) gets all defects
// and the remarks. Arrays of matrices become a part of the problem: the list has them no more.
ss_status ss_problem_from_arrays(ss_arrays *arrays, ss_report *report, ss_problem **problem,
                                 ss_error *e);

// ---- For unpack.c and unpack_matrix.c.

// One conversion under way. What goes wrong with the data is a defect in the report; what goes
// wrong with the machine turns `status`.
typedef struct ss_unpacking {
    ss_arrays *arrays;
    ss_report *report;
    ss_error *e;
    ss_status status;
    const char *optional; // NULL, or what becomes of the present data if they are wrong
} ss_unpacking;

// The array if it is present, readable and of the kind wanted; else NULL, with a sentence if it is
// needed or cannot be read: a defect, or a remark where l->optional is set.
const ss_array *ss_unpack_find(ss_unpacking *l, const char *path, ss_array_kind kind, bool needed);

// "entry" of one, "entries" of another number.
static inline const char *ss_unpack_entries(size_t count)
{
    return count == 1 ? "entry" : "entries";
}

// One int; false with a sentence.
bool ss_unpack_int(ss_unpacking *l, const char *path, int *value);

// The matrix in the group or dataset `path`, which must be nrows x ncols because of `why`; where
// one of them is -1 (not known, a defect reported elsewhere) the rest is checked. Where anything is
// wrong A stays empty.
void ss_unpack_matrix(ss_unpacking *l, const char *path, int nrows, int ncols, const char *why,
                      ss_sparse *A);
