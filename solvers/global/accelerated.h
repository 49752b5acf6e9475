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

#include "solvers/sweep/sweep_keys.h"

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

// The whole solve; the method's global settings begin with an ss_sweep_settings.
ss_status ss_accelerated_solve(const ss_rule *rule, const ss_task *task, double *r,
                               ss_result *result, ss_error *e);
