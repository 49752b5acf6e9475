// solvers/local/quartic.h -- the real roots of the quartic of a sliding contact.
//
//     P(x) = (x^2 + A x + C)^2 - |B + x c|^2                                                  (1)
//
// A root counts as real where |Im x| <= 1e-7 |x|: rounding parts a double root that far.
#pragma once

// Coefficients of (1).
typedef struct ss_quartic {
    double A, C;
    double B[2], c[2];
} ss_quartic;

// The real roots in no order; returns how many. In closed form (Ferrari).
int ss_quartic_roots(const ss_quartic *k, double roots[4]);

// The same from the eigenvalues of GSL's companion matrix: the reference. 0 where a coefficient is
// not finite.
int ss_quartic_roots_gsl(const ss_quartic *k, double roots[4]);
