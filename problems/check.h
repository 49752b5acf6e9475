// problems/check.h -- whether a problem is fit to be solved: one sentence per defect.
//
// A defect makes a problem unusable. A remark tells what a reader should know (W unsymmetric, M
// symmetrised, a stored guess or answer left out) and stops nothing. Every load runs through here.
#pragma once

#include "problems/problem.h"

#pragma GCC visibility push(default)

typedef enum ss_severity { SS_REMARK, SS_DEFECT } ss_severity;

typedef struct ss_finding {
    ss_severity severity;
    char text[320]; // names the dataset, as in "/fclib_local/vectors/mu[3] is negative (-0.1)"
} ss_finding;

typedef struct ss_report {
    int count, ndefects;
    int capacity;
    ss_finding *findings; // [capacity] owned
    bool out_of_memory;   // a finding was lost
} ss_report;

// Every function here takes NULL as a report, which keeps nothing.
void ss_report_free(ss_report *report);
void ss_report_add(ss_report *report, ss_severity severity, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
const char *ss_report_first_defect(const ss_report *report); // NULL without one

// Checks sizes, then the values of a problem whose indices are right: finite, mu >= 0, M symmetric
// and positive definite, W's symmetry remarked. M unsymmetric by no more than 1e-5 of its largest
// entry is made symmetric, and guesses and answers that are not finite are left out, each with a
// remark.
ss_status ss_check_values(ss_problem *p, ss_report *report, ss_error *e);

#pragma GCC visibility pop
