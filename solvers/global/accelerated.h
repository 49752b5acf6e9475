// solvers/global/accelerated.h -- Gauss-Seidel as a fixed-point iteration g that a rule
// accelerates.
//
//     x -> g = sweep(x)          one pass of solvers/sweep/sweep.h
//     x <- rule(x, g)            extrapolated; it may leave the cone
//
// Only g, which the local solvers have put into the cone, is ever judged or kept. Where the best g
// has not become a tenth better in 24 sweeps, the iteration starts again with P plain sweeps and no
// memory, P = 20, 40, .. 640: from the present g, or from the best one where that is far better.
#pragma once

#include "solvers/global/drive.h"

// A rule keeps what it needs of earlier iterates. Vectors are those of ss_coupling: r [4 n], and z
// in matrix-free form, which depends on r affinely and is extrapolated with it.
typedef struct ss_rule {
    void *(*make)(const void *settings, size_t size, size_t more); // NULL without memory
    void (*free)(void *rule);
    // f [size]: (g - x) times the roots of tr(W_ii)/d. g, h: in r and z of g, out those of the
    // next x.
    void (*step)(void *rule, const double *f, double *g, double *h);
    void (*forget)(void *rule);
} ss_rule;

typedef struct ss_accelerated {
    const ss_rule *rule;
    void *memory;           // the rule's
    size_t size, more;      // of r and z
    double *x, *f, *weight; // [size]
    double *g, *z;          // [size], [more] what the rule starts from
    double mark;            // best_residual when patience was last renewed,
    int marked;             // and the sweep
    int plain, next_plain;  // plain sweeps left; of the next restart
} ss_accelerated;

// The steps of a method with a rule, which is their kind.
ss_status ss_accelerated_make(void *state, ss_drive *d, ss_error *e);
ss_outcome ss_accelerated_step(void *state, ss_drive *d);
void ss_accelerated_release(void *state);

#define SS_ACCELERATED_STEPS(rule)                                                                 \
    {                                                                                              \
        .kind = rule, .moves = SS_MOVES_SWEEPER, .whole = true,                                    \
        .state_size = sizeof(ss_accelerated), .make = ss_accelerated_make,                         \
        .step = ss_accelerated_step, .release = ss_accelerated_release                             \
    }
