// problems/certificate.h -- proofs that a problem has no solution, or that it has one.
//
// Write u = A' x + c with c the velocities at x = 0: global form A = H, x = v, c = w; local form
// A = W', x = r, c = b. Every solution has u_N >= 0, so that by Farkas' lemma a problem has none
// where there is
//
//     lambda >= 0   with   A_N lambda = 0,   c_N . lambda < 0                                (1)
//
// as lambda . u_N = c_N . lambda < 0 then holds whatever x is. A ray of the cones K_mu instead of
// lambda would prove nothing: mu |u_T| e can lift u into K*. A problem has a solution where there
// is
//
//     x   with   A' x + c strictly inside K_{1/mu} at every contact                          (2)
//
// [ACLM11], if M is positive definite, or W symmetric positive semidefinite. Between the two
// nothing is known.
//
// Numbers round, and lambda leaves a remainder z = A_N lambda. Let r be any impulses. Then
//
//     lambda . u_N = c_N . lambda + y . f + h . r,    y = M^-1 z,  h = H'y                   (3)
//
// and h = z without y in local form. An answer that the judge passes at the tolerance T has
// u_N >= -2 T V (coulomb.h), so that each of them has a component of r of at least reach V/s,
//
//     reach = (s/V) (-c_N . lambda - |y . f| - 2 T V |lambda|_1) / |h|_1                     (4)
//
// It passes none above ss_impulse_most(T): from this reach on lambda refutes all that may be
// called an answer. The reach is 1/0 where z is 0 exactly. lambda, z and c_N . lambda have the
// digits of two doubles. The margin of x is the smallest (u_N - mu |u_T|) / (sum of the sizes of
// the terms of u_N and u_T), a proof from SS_MARGIN on.
//
// Both are found by Newton's method on the convex, piecewise smooth
//
//     g(x) = sum over contacts of dist(u_i - delta_i e, C_i)^2 / (2 |A_Ni|^2)                (5)
//
// for (1) with C the half-spaces u_N >= 0 and delta = 0, where the gradient A_N lambda vanishes at
// the minimum and lambda_i = max(0, -u_Ni) / |A_Ni|^2; for (2) with C = K_{1/mu} and delta > 0.
// References: Farkas 1902; [ACLM11].
#pragma once

#include "problems/problem.h"

#define SS_MARGIN 1e-10

typedef enum ss_existence {
    SS_EXISTENCE_UNKNOWN, // neither proof was found
    SS_EXISTENCE_REFUTED, // (1)
    SS_EXISTENCE_PROVED,  // (2)
} ss_existence;

typedef struct ss_certificate {
    ss_existence verdict;
    double reach;   // the largest of a lambda; 0 where none was found
    double margin;  // of x; -1 where none was found or looked for
    double *lambda; // [ncontacts] where refuted; owned
    double *low;    // [ncontacts] the low parts of lambda; owned
    double *x;      // [ndofs], local form [dim ncontacts]; where proved; owned
    bool too_large; // for the search, whose cost is bounded by a few 1e9 operations
} ss_certificate;

// Looks for (1) and, where `existence` is set, for (2) first. If the verdict is
// SS_EXISTENCE_REFUTED no impulses pass the judge at this tolerance.
ss_status ss_certificate_find(const ss_problem *p, double tolerance, bool existence,
                              ss_certificate *certificate, ss_error *e);
void ss_certificate_free(ss_certificate *certificate); // leaves an empty one

// The two checks, straight from the problem's data. A reach is 0 for a lambda that has a negative
// or no finite entry, or refutes nothing; `low` has the low parts of its entries, or is NULL.
ss_status ss_certificate_reach(const ss_problem *p, double tolerance, const double *lambda,
                               const double *low, double *reach, ss_error *e);
ss_status ss_certificate_margin(const ss_problem *p, const double *x, double *margin, ss_error *e);
