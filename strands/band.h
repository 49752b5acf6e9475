// strands/band.h -- symmetric band matrices (ss_band of model.h): products and factors
// (internal).
#pragma once

#include <stdbool.h>
#include "strands/model.h"

void ss_band_clear(ss_band *A);
void ss_band_add_product(const ss_band *A, const double *x, double *y); // y += A x
double ss_band_square(const ss_band *A, const double *x);               // x' A x

// A <- L with A = D^-1 L L' D^-1 in place, where D [n] is diag(A)^(-1/2): scaled so, the factor
// does not mix units (bending and stretching differ by 1e12). False where A is not positive
// definite to working precision, or holds a NaN.
bool ss_band_factor(ss_band *A, double *D);
void ss_band_solve(const ss_band *L, const double *D, double *x); // x <- A^-1 x
// The same, bit by bit, of four matrices of one shape: each entry waits for the one before it,
// which the other three make use of.
void ss_band_solve_four(const ss_band *L, const double *const *D, double *const *x); // [4]
