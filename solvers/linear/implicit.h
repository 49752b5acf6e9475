// solvers/linear/implicit.h -- velocities where every contact answers linearly.
//
// With impulses r_i = q_i - D_i u_i, D_i a 3 x 3 block, 0 where D_i[0] is, u = W r + b
// becomes
//
//     explicit form      (I + W D) u = b + W q               one block a pair of contacts
//     matrix-free form   (I + G' D G) z = z0 + G' (q - D w)   one block a pair of bodies      (1)
//
// This is the matrix J of Newton's methods and of ADMM; its pattern is analysed once.
#pragma once

#include <stdatomic.h>

#include "solvers/sweep/coupling.h"
#include "solvers/linear/block_lu.h"
#include "solvers/limits.h"

// Bodies with more room than this are many numbers to eliminate for few contacts: the explicit form
// is preferred.
#define SS_IMPLICIT_ROOM 64

typedef struct ss_implicit {
    ss_coupling *c; // borrowed
    size_t size;    // of the unknowns: 4 n, or all of z
    double *D;      // [9 n] set by the caller
    ss_stop watched;
    const ss_stop *stop; // ends factorisations; NULL: nothing does
    ss_block_lu *lu;     // of J
    size_t *place; // where the blocks of W are; in matrix-free form those of each end of a body
    int *end,
        *contact; // [ends] those of each body in order, as white->body_end, and their contacts,
    size_t
        *first_place; // [bodies + 1] and where a body's blocks begin in `place`: matrix-free form
    double *rest;     // [size] scratch
    atomic_bool stopped; // by one of the threads
    int long_left;       // factorisations to come in doubles before floats are tried again
} ss_implicit;

// The option memory=GB of the methods that factorise.
#define SS_MEMORY_KEY     SS_REAL_KEY("memory", memory, 0, 1e6, .about = "GB that a factor may take")
#define SS_MEMORY_DEFAULT 4.0

// A factor of more than `memory` GB is refused before any of it is made: SS_OK with *system NULL,
// and a sentence in e. The limits, where it is not NULL, ends this, with *system NULL and no
// sentence, and the factorisations: it is borrowed.
ss_status ss_implicit_new(ss_coupling *c, double memory, const ss_limits *limits,
                          ss_implicit **system, ss_error *e);
void ss_implicit_free(ss_implicit *system);

// J of the present D. False where time is up.
bool ss_implicit_assemble(ss_implicit *system);
// The same, and its factor in doubles. False where it is singular to rounding, or time is up.
bool ss_implicit_factor(ss_implicit *system);
bool ss_implicit_factor_short(ss_implicit *system); // in floats
// x = J^-1 rhs of the present D, with a residual of about `share` of rhs; x is not rhs. Factored in
// floats, and in doubles where those do not get there. False as above.
bool ss_implicit_solve(ss_implicit *system, const double *rhs, double share, double *x);

// Whether the system of the bodies is the smaller one, and possible.
bool ss_implicit_prefers_bodies(const ss_whitened *white);

// The multiplications of a factorisation in the form that is preferred, roughly: the analysis that
// knows them may cost as much as a hundred sweeps.
double ss_implicit_guess(const ss_problem *p);
