// solvers/linear/newton_system.h -- the linear system of Newton's methods on all contacts at once
// (internal), in the symbols of solvers/global/newton.h: J = A + B W D^-1 with D = diag(s_i).
#pragma once

#include "solvers/sweep/coupling.h"

// A and B, row-major; in the plane the third rows and columns are unused.
typedef struct ss_newton_block {
    double A[9], B[9];
} ss_newton_block;

// The matrix J and its factor by UMFPACK, in the form of the coupling:
//
//     explicit       J as it is, W by blocks                                                 (3)
//     matrix-free    [ A            B G/c ] [ dX ]   [ -F ]
//                    [ -c G' D^-1     I   ] [ dy ] = [  0 ],   W = G G', c = sqrt(s)         (4)
//
// (4) has one more row for each dof and never sees W: where many contacts share few dofs it has far
// fewer entries, and elimination of the contacts leaves a matrix of the dofs. The pattern is
// analysed once. UMFPACK allocates its factor itself, step by step. Nothing ends its analysis and
// its factorisations half-way, so their time is estimated before.
typedef struct ss_newton_system ss_newton_system;

// Makes the pattern alone. unit [n] holds the s_i; it and the coupling are borrowed. Returns
// SS_SYSTEM without memory, and SS_OK with *system NULL where it is stopped.
ss_status ss_newton_system_new(const ss_coupling *coupling, const double *unit, const ss_stop *stop,
                               ss_newton_system **system, ss_error *e);
void ss_newton_system_free(ss_newton_system *system);

// The analysis comes before anything below. The first function returns the seconds that it takes on
// a core of 2023.
double ss_newton_system_analysis(const ss_newton_system *system);
ss_status ss_newton_system_analyse(ss_newton_system *system, ss_error *e);

// Return seconds on such a core and bytes that are enough for the first factorisation, which mostly
// takes half of them.
double ss_newton_system_seconds(const ss_newton_system *system);
double ss_newton_system_bytes(const ss_newton_system *system);

// Writes d = -J^-1 F, [dim n] both; W_ii counts as W_ii + shift s_i I. *solved is false where the
// matrix is singular or d is not finite. Returns SS_SYSTEM without memory.
ss_status ss_newton_system_solve(ss_newton_system *system, const ss_newton_block *blocks,
                                 double shift, const double *F, double *d, bool *solved,
                                 ss_error *e);

// Write y = W D^-1 x, and y = D^-1 W' x, [dim n] each; x and y are not the same.
void ss_newton_velocity(ss_newton_system *system, const double *x, double *y);
void ss_newton_velocity_transposed(ss_newton_system *system, const double *x, double *y);
