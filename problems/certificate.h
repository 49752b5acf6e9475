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
// Numbers round. With D the diagonal of M (of W), lambda with a remainder A_N lambda still refutes
// every solution with |x|_D < |c_N . lambda| / |A_N lambda|_{1/D}. Divided by the speed of the
// problem itself, the larger of |f|_{1/D} and max |c_i| / |A_Ni|_{1/D}, this is the reach of
// lambda: 1 / 0 where (1) holds exactly, and taken for a proof from SS_REACH on. The margin of x is
// the smallest (u_N - mu |u_T|) / (sum of what u_N and u_T are sums of), a proof from SS_MARGIN on.
//
// Both are found by Newton's method on the convex, piecewise smooth
//
//     g(x) = sum over contacts of dist(u_i - delta_i e, C_i)^2 / (2 |A_Ni|^2)                (3)
//
// for (1) with C the half-spaces u_N >= 0 and delta = 0, where the gradient A_N lambda vanishes at
// the minimum and lambda_i = max(0, -u_Ni) / |A_Ni|^2; for (2) with C = K_{1/mu} and delta > 0.
// References: Farkas 1902; [ACLM11].
#pragma once

#include "problems/problem.h"

#define SS_REACH  1e10
#define SS_MARGIN 1e-10

typedef enum ss_existence {
    SS_EXISTENCE_UNKNOWN, // neither proof was found
    SS_EXISTENCE_REFUTED, // (1)
    SS_EXISTENCE_PROVED,  // (2)
} ss_existence;

typedef struct ss_certificate {
    ss_existence verdict;
    double reach;   // of lambda; 0 where none was found
    double margin;  // of x; -1 where none was found or looked for
    double *lambda; // [ncontacts] where refuted; owned
    double *x;      // [ndofs], local form [dim ncontacts]; where proved; owned
    bool too_large; // for the search, whose cost is bounded by a few 1e9 operations
} ss_certificate;

// Looks for (1) and, where `existence` is set, for (2) first.
ss_status ss_certificate_find(const ss_problem *p, bool existence, ss_certificate *certificate,
                              ss_error *e);
void ss_certificate_free(ss_certificate *certificate); // leaves an empty one

// The two checks, straight from the problem's data. A reach is 0 for a lambda that has a negative
// or no finite entry, or with c_N . lambda not below 0 by more than its rounding.
ss_status ss_certificate_reach(const ss_problem *p, const double *lambda, double *reach,
                               ss_error *e);
ss_status ss_certificate_margin(const ss_problem *p, const double *x, double *margin, ss_error *e);
