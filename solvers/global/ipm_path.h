// solvers/global/ipm_path.h -- the path of the solutions of (1) in ipm_newton.h, with t as an unknown.
//
// Where friction is high the problem is not convex, and the path of t -> 0 has folds: at a fold t is least,
// det J = 0, and the path goes on with growing t to the next fold, where t falls again. Newton's method at
// falling t stops before a fold, whatever the length of its steps.
//
// Let n be Newton's direction at t, and s = d(q, x, y)/d(log t) along the path, both with one factor; s is
// the difference of Newton's directions at 2 t and at t. In the metric of the scaling,
//
//     <a, b> = sum_i (T a_x . T b_x + T^-1 a_y . T^-1 b_y) / t  +  contacts a_t b_t
//
// with a_t the change of log t, a step is
//
//     n + (k_0 - sign(det J) k) s,      <n + k_0 s, s> = 0,      k >= 0                            (1)
//
// a correction across the path and a move along it: forward, since along a path dt changes its sign where
// det J does. k is the largest with which (1) stays in the cones: a move so long may leave the path for a branch
// nearer to its end, or lose it. Then the method goes back to the last point near the path, where no contact has
// more than 1 of |n + k_0 s|^2, and is careful for a while: shorter moves, from such points only, and targets that no
// contact has to reach in one step.
#pragma once

#include "solvers/global/ipm_newton.h"

typedef struct ss_ipm_path {
    double t; // where it is; 0: not on a path
    ss_ipm_point newton, along;
    double least_delta;
    ss_ipm_point near; // the last point near the path,
    double near_t;     // its t; 0: there is none
    int since;         // steps since then
    int returns;       // to that point
    int careful;       // steps to come in which moves begin near the path only
    int stuck;         // steps in a row that hardly moved
    double reach;      // share of k that is moved
} ss_ipm_path;

// False without memory.
bool ss_ipm_path_allocate(const ss_interior *state, ss_ipm_path *path);
void ss_ipm_path_release(ss_ipm_path *path);

void ss_ipm_path_begin(ss_ipm_path *path, double t); // at the present point

// One step of (1), or a return. False where J is singular to rounding, time is up, or no step is possible.
bool ss_ipm_path_step(ss_interior *state, ss_ipm_path *path);

// Shorter moves for some steps. Long ones may have led to a branch of the path that is closed, and go round on it.
void ss_ipm_path_shorten(ss_ipm_path *path);
