// problems/certificate_rows.h -- a problem as the certificates see it: u_i = A_i' x + c_i, with x
// scaled (internal; problems/certificate.h says what the letters are).
#pragma once

#include "problems/problem.h"

// x stands for D^1/2 x, which divides row j of A by D_jj^1/2.
typedef struct ss_contact_rows {
    int d, n, m;      // m: numbers in x
    int *start, *row; // [n + 1]; the rows that contact i touches
    double *A;        // d numbers for each of these
    double *size;     // [n] |A_Ni|, or their mean where it is 0
    double *root;     // [m] D^1/2
    const double *c;  // [d n] borrowed
    const double *mu; // [n] borrowed
    double speed;     // of the problem itself
} ss_contact_rows;

ss_status ss_contact_rows_new(const ss_problem *p, ss_contact_rows *rows, ss_error *e);
void ss_contact_rows_free(ss_contact_rows *rows);

// Returns about |c_N . lambda| over |A_N lambda| and the speed, in doubles, and a negative number
// or NaN where lambda refutes nothing; scratch is [m].
double ss_contact_rows_reach(const ss_contact_rows *rows, const double *lambda, double *scratch);
double ss_contact_rows_margin(const ss_contact_rows *rows, const double *x); // x scaled
