// solvers/global/newton.h -- what Newton's methods on all contacts at once share (internal).
//
// Unknowns X_i = s_i r_i with s_i = tr(W_ii)/d, so that X, u and the function F are velocities:
//
//     F_i(X_i, u_i) = 0 at every contact,    u = W D^-1 X + b,    D = diag(s_i)              (1)
//     J = A + B W D^-1,    A = dF/dX, B = dF/du: blocks of one contact each                  (2)
//
// A contact with s_i = 0 has r_i = 0: F_i = X_i there, and its s_i is the judge's s.
#pragma once

#include "solvers/global/drive.h"
#include "solvers/local/alart_curnier.h"

typedef struct ss_newton_contact {
    ss_ac_law law; // mu; p_N and p_T of the block W_ii/s_i
    bool rigid;    // s_i = 0
} ss_newton_contact;

// A and B, row-major; in the plane the third rows and columns are of no use.
typedef struct ss_newton_block {
    double A[9], B[9];
} ss_newton_block;

// F of one contact that is not rigid, and its derivatives. In the plane X[2] = u[2] = 0.
typedef struct ss_newton_function {
    void (*evaluate)(const ss_newton_contact *k, const double X[3], const double u[3], double F[3]);
    void (*linearise)(const ss_newton_contact *k, const double X[3], const double u[3],
                      ss_newton_block *block);
} ss_newton_function;

extern const ss_newton_function ss_newton_fischer_burmeister;
extern const ss_newton_function ss_newton_alart_curnier;

// ---- A method, and its driver

// How a direction d is judged by the gradient g: not at all, d.g <= -sigma |d||g|, or d.g < 0.
typedef enum ss_newton_safeguard {
    SS_NEWTON_FREE,
    SS_NEWTON_ANGLE,
    SS_NEWTON_SLOPE
} ss_newton_safeguard;

typedef struct ss_newton_kind {
    const ss_newton_function *function;
    ss_newton_safeguard safeguard;
    bool searches; // a step of Goldstein and Price
} ss_newton_kind;

typedef struct ss_newton_settings {
    int form;        // ss_coupling_form
    int jean_moreau; // 1: that variant of the Alart-Curnier function
    int patience;    // steps without progress
    double sigma, m1, m2, shift;
    double memory; // GB
} ss_newton_settings;

// The methods, and the steps of each in the drive: settings are an ss_newton_settings.
extern const ss_newton_kind ss_newton_kinds[3]; // mfb, pac, dac
extern const ss_steps ss_newton_steps[3];

// ---- The linear system

// J by UMFPACK, in the form of the coupling:
//
//     explicit       J as it is, W by blocks                                                 (3)
//     matrix-free    [ A            B G/c ] [ dX ]   [ -F ]
//                    [ -c G' D^-1     I   ] [ dy ] = [  0 ],   W = G G', c = sqrt(s)         (4)
//
// (4) has a row more for each dof and never sees W: where many contacts share few dofs it has far
// fewer entries, and elimination of the contacts leaves a matrix of the dofs. The pattern is
// analysed once. What UMFPACK allocates for its factor, step by step, is its own. Nothing ends its
// analysis and its factorisations half-way: what they will take is estimated before.
typedef struct ss_newton_system ss_newton_system;

// The pattern alone. unit: [n] the s_i; both are borrowed. SS_SYSTEM without memory; SS_OK and
// *system NULL where it is stopped.
ss_status ss_newton_system_new(const ss_coupling *coupling, const double *unit, const ss_stop *stop,
                               ss_newton_system **system, ss_error *e);
void ss_newton_system_free(ss_newton_system *system);

// Its analysis, before anything below; the seconds that it takes on a core as those of 2023.
double ss_newton_system_analysis(const ss_newton_system *system);
ss_status ss_newton_system_analyse(ss_newton_system *system, ss_error *e);

// Of the first factorisation: seconds on such a core, and bytes. Mostly it takes half of them.
double ss_newton_system_seconds(const ss_newton_system *system);
double ss_newton_system_bytes(const ss_newton_system *system);

// d = -J^-1 F, [dim n] both; W_ii counts as W_ii + shift s_i I. *solved is false where the matrix
// is singular or d is not finite. SS_SYSTEM without memory.
ss_status ss_newton_system_solve(ss_newton_system *system, const ss_newton_block *blocks,
                                 double shift, const double *F, double *d, bool *solved,
                                 ss_error *e);

// y = W D^-1 x, and y = D^-1 W' x. [dim n] each; x and y are not the same.
void ss_newton_velocity(ss_newton_system *system, const double *x, double *y);
void ss_newton_velocity_transposed(ss_newton_system *system, const double *x, double *y);
