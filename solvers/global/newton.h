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
#include "solvers/linear/newton_system.h"
#include "solvers/local/alart_curnier.h"

typedef struct ss_newton_contact {
    ss_ac_law law; // mu; p_N and p_T of the block W_ii/s_i
    bool rigid;    // s_i = 0
} ss_newton_contact;

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
