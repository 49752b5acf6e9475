// solvers/global/newton.h -- the functions F of Newton's methods on all contacts (newton.c (1)),
// for tests.
#pragma once

#include "solvers/linear/newton_system.h"
#include "solvers/local/alart_curnier.h"

// ---- For tests

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
