// solvers/global/prox.h -- the exact proximal step of Coulomb's law by a semismooth Newton method.
//
// Around a centre l, with the isotropic weights R_i = rho / (tr W_ii / d) of each contact, it finds
// r with
//
//     r_i = phi(l_i - R_i u_i),     u = W r + b    (1)
//
// where phi solves the one-contact problem of W_ii = I / R_i. Where l = r, (1) is Coulomb's law.
#pragma once

#include "solvers/linear/implicit.h"

typedef struct ss_prox {
    ss_coupling *c;      // borrowed
    size_t size;         // of y
    double *y;           // [size] the unknowns, z or u: in the start, out the answer of a step
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

// Returns SS_OK with *prox NULL and a sentence if the factor is too large, as ss_implicit_new.
ss_status ss_prox_new(ss_coupling *c, double memory, const ss_limits *limits, ss_prox **prox,
                      ss_error *e);
void ss_prox_free(ss_prox *p);

// Sets y, phi and the scale by the impulses of the coupling.
void ss_prox_start(ss_prox *p);

typedef struct ss_prox_info {
    int steps;
    double first, last; // rms of F
    bool reached;       // last <= share x first, or at the rounding floor
} ss_prox_info;

// Newton's method from y, at most `steps` steps, each halved at most ten times until |F| falls. It
// stops after at least one step if rms F <= share of its first value, and if time is up.
ss_prox_info ss_prox_solve(ss_prox *p, double share, int steps);
