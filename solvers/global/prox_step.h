// solvers/global/prox_step.h -- the exact proximal step of Coulomb's law by a semismooth Newton
// method.
//
// Around a centre l, with the isotropic weights R_i = rho / (tr W_ii / d) of each contact, find r
// with
//
//     r_i = phi(l_i - R_i u_i),     u = W r + b                                             (1)
//
// where phi solves the one-contact problem of W_ii = I / R_i in closed form (the bipotential's
// s = mu |u_T| e drops out because the weight is isotropic): of x = l - R u
//
//     x_N <= 0:           phi = 0,             D = 0
//     |x_T| <= mu x_N:    phi = x,             D = R I
//     else:               phi = x_N (1, mu t), D = R [[1, 0], [mu t, mu x_N / |x_T| (I - t t')]]
//
// with t = x_T / |x_T| and D = -dphi/du (row N has no tangential entry, so D is unsymmetric). Where
// l = r, (1) is Coulomb's law. Unknowns y are z (matrix-free form) or u (explicit form):
//
//     F(z) = z - z0 - G' phi,    J = I + G' D G
//     F(u) = u - b - W phi,      J_ij = I + W_ij D_j     (implicit.h)          (2)
//
// With the shift frozen (ss_prox_freeze_shift) the step is that of the convex problem instead: phi
// is P_K(l - R (u + s)), s = mu |u_T| e of earlier velocities, and D = R dP_K/dx.
#pragma once

#include "solvers/linear/implicit.h"

typedef struct ss_prox {
    ss_coupling *c;      // borrowed
    size_t size;         // of y
    double *y;           // [size] the unknowns: in the start, out the answer of a step
    double *u;           // [4 n] velocities at y; y itself in explicit form
    double *phi;         // [4 n] r at y
    double *l;           // [4 n] centre
    double *R;           // [n]
    double *shift;       // [n] frozen s_N; NULL: the exact law
    ss_implicit *system; // J, and D
    double *F, *step, *rhs, *trial_y, *trial_F; // [size]
    double *du, *trial_u;                       // [4 n] G step and velocities at trial_y
    double scale;                               // rms of y that counts as large
    const ss_limits *limits;                    // borrowed; NULL: time does not matter
} ss_prox;

// As ss_implicit_new: SS_OK with *prox NULL and a sentence where the factor is too large.
ss_status ss_prox_new(ss_coupling *c, double memory, const ss_limits *limits, ss_prox **prox,
                      ss_error *e);
void ss_prox_free(ss_prox *p);

// y and phi from the impulses of the coupling.
void ss_prox_start(ss_prox *p);

// From the velocities at y.
ss_status ss_prox_freeze_shift(ss_prox *p, ss_error *e);

typedef struct ss_prox_info {
    int steps;
    double first, last; // rms of F
    bool reached;       // last <= share x first, or at the rounding floor
} ss_prox_info;

// Newton from y, at most `steps` steps, each halved at most ten times until |F| falls; stops after
// at least one where rms F <= share of its first value, and where time is up.
ss_prox_info ss_prox_solve(ss_prox *p, double share, int steps);
