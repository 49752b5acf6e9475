// solvers/solver.h -- what a solver is; read this before writing one.
//
// A local solver answers one contact, u = W r + b with (r, u) in C(mu) (problems/coulomb.h); the
// shared Gauss-Seidel driver calls it again and again. A global solver answers a whole problem.
// Both get a start in r and leave their answer there. What a solver believes of its answer is
// recorded and never decides: the judge computes u afresh.
//
// A solver keeps nothing between two calls: no file-scope state, so that two can run at once.
#pragma once

#include <stddef.h>
#include "problems/problem.h"
#include "problems/locals.h"

typedef enum ss_outcome {
    SS_UNSOLVED = 0, // nothing has run
    SS_CONVERGED,    // the solver's own test passed
    SS_MAX_ITER,
    SS_STALLED,     // steps too small to change r
    SS_NO_SOLUTION, // the problem has none, and the solver can tell
    SS_NOT_COVERED, // outside the solver's domain; r untouched
} ss_outcome;

typedef struct ss_info {
    ss_outcome outcome;
    int iterations;
    double own_error; // what the solver believes, in its own measure; NaN until it has measured
} ss_info;

// Exact: a converged answer satisfies Coulomb's law. Approximate: another law, and the measures
// say how far it is from Coulomb's.
typedef enum ss_law { SS_EXACT, SS_APPROXIMATE } ss_law;

// How both kinds are listed and found.
typedef struct ss_solver_card {
    const char *name; // unique, [a-z0-9][a-z0-9-]*; never renamed once results exist
    ss_law law;
    const char *reference; // keys in REFERENCES.md
    const char *options;   // "key=value, ..." a spec may carry; "" for none
    size_t settings_size;
    void (*set_defaults)(void *settings);
} ss_solver_card;

typedef struct ss_local_solver {
    ss_solver_card card;
    // |f|_inf <= tolerance (m/s) is its own test. r: in the start, out the answer.
    ss_info (*solve)(const ss_local *p, const void *settings, double tolerance, double r[3]);
} ss_local_solver;

typedef struct ss_global_solver {
    ss_solver_card card;
    // fb <= tolerance (dimensionless) is its own test. r [dim ncontacts]: in the start, out the
    // answer. Memory that is lacking is SS_SYSTEM; info is filled in every case.
    ss_status (*solve)(const ss_problem *p, const void *settings, double tolerance, double *r,
                       ss_info *info, ss_error *e);
} ss_global_solver;
