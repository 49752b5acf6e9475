// problems/split_impulse.h -- the impulse that one contact asks for from its own velocity alone, as
// if its points were a mass of their own.
//
// u = (u_N, u_T) is the velocity at the contact, r its impulse, both with the normal first, and
//
//     cut(y) = (max(0, y_N), y_T min(1, mu max(0, y_N) / |y_T|))                             (1)
//
// A pass over the contacts takes every u from the same velocities, and with a mass m_loc of the
// contact one of the following. The first two add an increment to r, the third replaces r:
//
//     printed    r += cut(-m_loc u)                                  [J20] (3.1), (3.5)      (2)
//     rigid      r += cut(-(K_1 + K_2)^-1 u)                         [J20] (3.3) to (3.5)    (3)
//     repaired   r  = cut(r - m_loc u)                                                       (4)
//
// (1) cuts each increment of (2) and (3) to the cone, but not their sum, and none of them can
// shrink r_N: their fixed points, u_N >= 0 everywhere, are Coulomb's only where one pass is enough.
// A fixed point of (4) is a zero of the map of Alart and Curnier with rho = m_loc:
//
//     r_N = max(0, r_N - m_loc u_N),   r_T = the nearest to r_T - m_loc u_T with |.| <= mu r_N
//
// which is Coulomb's law for every m_loc > 0. It takes a scalar: a matrix turns the direction of
// slip. m_loc is split between contacts: each point of a mass m with c contacts has m / c for each.
// K of (3) is that of an edge as a free rigid rod of the mass m and the direction t, hit at a:
//
//     K = (I + 12 (a - 1/2)^2 (I - t t')) / m                                                (5)
//
// doc/strands.md, "Local impulses".
#pragma once

#include <math.h>

// (1), in the place of y. A NaN stays one.
static inline void ss_impulse_cut(double mu, double y[3])
{
    y[0] = y[0] < 0.0 ? 0.0 : y[0];
    const double most = mu * y[0], tangent = sqrt(y[1] * y[1] + y[2] * y[2]);
    if (tangent > most) {
        y[1] *= most / tangent;
        y[2] *= most / tangent;
    }
}

// The increment of (2).
static inline void ss_impulse_printed(double mu, double mass, const double u[3], double dr[3])
{
    for (int c = 0; c < 3; c++) {
        dr[c] = -mass * u[c];
    }
    ss_impulse_cut(mu, dr);
}

// (4), in the place of r.
static inline void ss_impulse_repaired(double mu, double mass, const double u[3], double r[3])
{
    for (int c = 0; c < 3; c++) {
        r[c] -= mass * u[c];
    }
    ss_impulse_cut(mu, r);
}

// K [9] += (5), in the frame of t.
static inline void ss_impulse_add_rod(double mass, double a, const double t[3], double *K)
{
    const double turn = 12.0 * (a - 0.5) * (a - 0.5);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            K[3 * i + j] += ((i == j ? 1.0 + turn : 0.0) - turn * t[i] * t[j]) / mass;
        }
    }
}

// The increment of (3); K [9] is symmetric and positive definite.
static inline void ss_impulse_rigid(double mu, const double *K, const double u[3], double dr[3])
{
    // K^-1 = adj K / det K
    const double A[3] = {K[4] * K[8] - K[5] * K[5], K[2] * K[5] - K[1] * K[8],
                         K[1] * K[5] - K[2] * K[4]};
    const double B = K[0] * K[8] - K[2] * K[2], C = K[1] * K[2] - K[0] * K[5];
    const double D = K[0] * K[4] - K[1] * K[1];
    const double det = K[0] * A[0] + K[1] * A[1] + K[2] * A[2];
    dr[0] = -(A[0] * u[0] + A[1] * u[1] + A[2] * u[2]) / det;
    dr[1] = -(A[1] * u[0] + B * u[1] + C * u[2]) / det;
    dr[2] = -(A[2] * u[0] + C * u[1] + D * u[2]) / det;
    ss_impulse_cut(mu, dr);
}
