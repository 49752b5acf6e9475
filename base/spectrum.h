// base/spectrum.h -- eigenvalues of a small symmetric matrix, the same bits everywhere.
//
// LAPACK would do, but its bits depend on the machine.
#pragma once

#define SS_SPECTRUM_LARGEST 16

// A = Q diag(lambda) Q' for A n x n symmetric, row-major, n <= SS_SPECTRUM_LARGEST.
typedef struct ss_spectrum {
    int n;
    double lambda[SS_SPECTRUM_LARGEST];                 // [n] in any order
    double Q[SS_SPECTRUM_LARGEST][SS_SPECTRUM_LARGEST]; // row k is the eigenvector of lambda[k]
    double lowest, highest;
} ss_spectrum;

ss_spectrum ss_spectrum_of(int n, const double *A);

// Writes Q diag(value) Q', exactly symmetric, into A.
void ss_spectrum_matrix(const ss_spectrum *s, const double *value, double *A);

// Returns the a for which A + a I has the condition number `condition` > 1. It is negative where
// A's own condition is smaller than that.
double ss_spectrum_shift(const ss_spectrum *s, double condition);
