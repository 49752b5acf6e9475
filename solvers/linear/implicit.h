// solvers/linear/implicit.h -- velocities where every contact answers linearly.
//
// With impulses r_i = q_i - D_i u_i, where D_i is a 3 x 3 block, and 0 if D_i[0] is 0, u = W r + b
// becomes
//
//     explicit form      (I + W D) u = b + W q               one block a pair of contacts
//     matrix-free form   (I + G' D G) z = z0 + G' (q - D w)   one block a pair of bodies      (1)
//
// This is the matrix J of Newton's methods and of ADMM; its pattern is analysed once.
#pragma once

#include "solvers/limits.h"
#include "solvers/linear/block_lu.h"
#include "solvers/sweep/coupling.h"

#include <stdatomic.h>

// Bodies with more room than this are many numbers to eliminate for few contacts: then the explicit
// form is preferred.
#define SS_IMPLICIT_ROOM 64

typedef struct ss_implicit {
    ss_coupling *c; // borrowed
    size_t size;    // number of unknowns: 4 n, or that of z
    double *D;      // [9 n] set by the caller
    ss_stop watched;
    const ss_stop *stop; // ends factorisations; NULL if nothing does
    ss_block_lu *lu;     // matrix J
    double *rest;        // [size] scratch
    atomic_bool stopped; // true if one of the threads was stopped
    int long_left;       // factorisations to come in doubles before floats are tried again
    size_t *place; // where the blocks of W are, or in matrix-free form those of each end of a body

    // In matrix-free form: the ends of each body in order, as white->body_end, their contacts, and
    // where a body's blocks begin in `place`.
    int *end, *contact;  // [ends]
    size_t *first_place; // [bodies + 1]
} ss_implicit;

// The option memory=GB of the methods that factorise.
#define SS_MEMORY_KEY     SS_REAL_KEY("memory", memory, 0, 1e6, .about = "GB that a factor may take")
#define SS_MEMORY_DEFAULT 4.0

// Makes the pattern. A factor of more than `memory` GB is refused before any of it is made: SS_OK
// with *system NULL, and a sentence in e. The limits, where not NULL, end this, with *system NULL
// and no sentence, and the factorisations; they are borrowed.
ss_status ss_implicit_new(ss_coupling *c, double memory, const ss_limits *limits,
                          ss_implicit **system, ss_error *e);
void ss_implicit_free(ss_implicit *system);

// Assembles J with the present D. Returns false where time is up.
bool ss_implicit_assemble(ss_implicit *system);
// Assemble J and factor it, in doubles or in floats. They return false where it is singular to
// rounding, or time is up.
bool ss_implicit_factor(ss_implicit *system);
bool ss_implicit_factor_short(ss_implicit *system);
// Writes x = J^-1 rhs with the present D, with a residual of about `share` of rhs; x is not rhs. J
// is factored in floats, and in doubles where these do not get there. Returns false as above.
bool ss_implicit_solve(ss_implicit *system, const double *rhs, double share, double *x);

// Returns whether the system of the bodies is the smaller one, and possible.
bool ss_implicit_prefers_bodies(const ss_whitened *white);

// Returns roughly the multiplications of a factorisation in the form that is preferred; the
// analysis that knows them may cost as much as a hundred sweeps.
double ss_implicit_guess(const ss_problem *p);
