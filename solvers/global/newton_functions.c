// The two functions F of newton.h at one contact, and their derivatives by X and u.
//
// Fischer-Burmeister (mfb): f of problems/coulomb.h with s = s_i, that is f(x, y) with
//
//     x = diag(mu, 1, 1) X,    y = (u_N + mu |u_T|, mu u_T),    q = (x o x + y o y)^(1/2)
//     A = L_q^-1 (L_q - L_x) diag(mu, 1, 1)                                                  (1)
//     B = L_q^-1 (L_q - L_y) [[1, t'], [0, I]] diag(1, mu, mu),    t = u_T/|u_T|
//
// ([D11] A.1 as corrected in doc/formulation.md, "Fischer-Burmeister"), with the elements of the
// generalised Jacobian that solvers/local/fischer_burmeister.h takes on the boundary. At the apex
// x = y = 0 it takes 0, which would make all of J singular: here it is the limit along x = y = e,
// (1 - 1/sqrt 2) I for both factors. mu = 0: F = (FB(X_N, u_N), X_T), FB(a, b) = a + b - |(a, b)|.
//
// Alart-Curnier (pac, dac): F of solvers/local/alart_curnier.h, in X and with p of W_ii/s_i. It
// serves mu = 0 as it is.
#include "solvers/global/newton.h"

#include <string.h>

#include "solvers/local/fischer_burmeister.h"

// 1 - 1/sqrt 2.
#define APEX_SHARE 0.2928932188134524

// ---- Fischer-Burmeister

static void function_place(double mu, const double X[3], const double u[3], ss_fb_point *at)
{
    const double speed = ss_length2(u[1], u[2]), inverse = speed > 0.0 ? 1.0 / speed : 0.0;
    *at = (ss_fb_point){.x = {mu * X[0], X[1], X[2]},
                        .y = {u[0] + mu * speed, mu * u[1], mu * u[2]},
                        .t = {u[1] * inverse, u[2] * inverse}};
    ss_fb_root(at);
}

static void evaluate_fb(const ss_newton_contact *k, const double X[3], const double u[3],
                        double F[3])
{
    if (k->law.mu == 0.0) {
        F[0] = X[0] + u[0] - ss_length2(X[0], u[0]);
        F[1] = X[1];
        F[2] = X[2];
        return;
    }
    ss_fb_point at;
    function_place(k->law.mu, X, u, &at);
    memcpy(F, at.f, sizeof at.f);
}

static void linearise_frictionless(const double X[3], const double u[3], ss_newton_block *block)
{
    const double length = ss_length2(X[0], u[0]);
    *block = (ss_newton_block){.A = {0}};
    block->A[0] = length > 0.0 ? 1.0 - X[0] / length : APEX_SHARE;
    block->B[0] = length > 0.0 ? 1.0 - u[0] / length : APEX_SHARE;
    block->A[4] = block->A[8] = 1.0;
}

// M <- L_root^-1 M.
static void over_root(const ss_fb_jacobian *J, double M[9])
{
    for (int col = 0; col < 3; col++) {
        const double column[3] = {M[col], M[3 + col], M[6 + col]};
        double quotient[3];
        ss_fb_over_root(J, column, quotient);
        for (int row = 0; row < 3; row++) {
            M[3 * row + col] = quotient[row];
        }
    }
}

// (1). ss_fb_assemble makes the two terms; H is what W is there.
static void linearise_fb(const ss_newton_contact *k, const double X[3], const double u[3],
                         ss_newton_block *block)
{
    const double mu = k->law.mu, zero[3] = {0.0};
    if (mu == 0.0) {
        linearise_frictionless(X, u, block);
        return;
    }
    const ss_fb_block unit = {.mu = mu, .H = {1, 0, 0, 0, mu, 0, 0, 0, mu}};
    ss_fb_point at;
    ss_fb_jacobian J;
    double ex[3], ey[3];
    function_place(mu, X, u, &at);
    ss_fb_differences(&at, &J, ex, ey);
    if (J.root[0] == 0.0) {
        J = (ss_fb_jacobian){.root = {1.0}, .D = 1.0};
        ex[0] = ey[0] = APEX_SHARE;
    }
    ss_fb_assemble(&unit, at.t, ex, zero, block->A);
    ss_fb_assemble(&unit, at.t, zero, ey, block->B);
    over_root(&J, block->A);
    over_root(&J, block->B);
}

const ss_newton_function ss_newton_fischer_burmeister = {evaluate_fb, linearise_fb};

// ---- Alart-Curnier

static void evaluate_ac(const ss_newton_contact *k, const double X[3], const double u[3],
                        double F[3])
{
    ss_ac_point at;
    ss_ac_evaluate(&k->law, X, u, &at);
    memcpy(F, at.F, sizeof at.F);
}

static void linearise_ac(const ss_newton_contact *k, const double X[3], const double u[3],
                         ss_newton_block *block)
{
    ss_ac_point at;
    ss_ac_evaluate(&k->law, X, u, &at);
    ss_ac_linearise(&k->law, X, &at, block->A, block->B);
}

const ss_newton_function ss_newton_alart_curnier = {evaluate_ac, linearise_ac};
