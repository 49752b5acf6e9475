// solvers/global/ipm_newton.h -- one Newton step of an interior point method on all contacts, with De
// Saxce's shift inside (doc/formulation.md, "Interior points").
//
// In x = P r, P = diag(mu, 1, 1), and v = (u_N / mu + |u_T|, u_T) both cones of Coulomb's law are
// the Lorentz cone L (ipm_cone.h). With q = z (matrix-free form: B = G', q0 = z0) or q = u (explicit
// form: B = W, q0 = b) it asks for
//
//     q = q0 + B r,     y = v(u) + C (x - x'),     x o y = t e,     x and y inside L             (1)
//
// where t > 0. C = delta tr(W_ii)/d P^-2, a compliance, with the impulse x' before the step makes
// Newton's system regular where W is not (hyperstatic problems); it is no part of the solution.
// |u_T| is (|u_T|^2 + m^2)^1/2 with m^2 = 1e-8 s x.y, the mean of x.y: it has a derivative at rest.
// With the scaling T of x and y, l = T x = T^-1 y, and A = dv/du:
//
//     T^2 dx + dy = h - y,   h = T (l \ (t e - T dx' o T^-1 dy')),   dy = A du + v - y + C dx    (2)
//     dx = D (h - v - A du),   D = (T^2 + C)^-1
//     (I + B P^-1 D A [G]) dq = q0 + B (r + P^-1 D (h - v)) - q                                  (3)
//
// which is implicit.h with D_i = P^-1 D A. dx', dy' are of an earlier direction, or 0. D is large
// where contacts push, and rounding in J spoils dq: it is refined by the residual of (1) at r + dr,
// which does not contain J.
#pragma once

#include "solvers/global/ipm_cone.h"
#include "solvers/linear/implicit.h"

#define SS_IPM_KEPT       0.99 // share of the way to the boundary of the cones
#define SS_IPM_DELTA_MOST 1e-5

typedef struct ss_interior {
    ss_implicit *system;
    size_t size;             // of q
    double *q, *dq, *left;   // [size]; left: right-hand sides and residuals
    double *x, *y, *dx, *dy; // [4 n]
    double *v, *h, *slope;   // [4 n]; slope: dv_N/du_T, two numbers
    double *r;               // [4 n] P^-1 x, and scratch
    double *weight;          // [9 n] D of (2)
    double *compliance;      // [n] that delta multiplies
    ss_scaling *scaling;     // [n]
    double gap;              // mean of x.y
    double delta;
} ss_interior;

// q, x and y, or changes of them.
typedef struct ss_ipm_point {
    double *q, *x, *y; // [size], [4 n], [4 n]; one block of memory
} ss_ipm_point;

// The vectors, zero, of a state whose system and size are there. False without memory.
bool ss_ipm_allocate(ss_interior *state);
void ss_ipm_release(ss_interior *state);

ss_ipm_point ss_ipm_point_new(const ss_interior *state); // q is NULL without memory; free(q)
void ss_ipm_copy(const ss_interior *state, ss_ipm_point from, ss_ipm_point to);
static inline ss_ipm_point ss_ipm_place(const ss_interior *state)
{
    return (ss_ipm_point){state->q, state->x, state->y};
}
static inline ss_ipm_point ss_ipm_change(const ss_interior *state)
{
    return (ss_ipm_point){state->dq, state->dx, state->dy};
}

// Without friction: the cone is the half line.
bool ss_ipm_is_line(const ss_interior *state, int i);

// left = q0 + B r - q.
void ss_ipm_residual(ss_interior *state);
// r = P^-1 (x + a dx); without friction P = I, and x_1 = x_2 = 0.
void ss_ipm_impulses(ss_interior *state, double a);
// The mean of x.y after a step a.
double ss_ipm_gap(const ss_interior *state, double a);

// T, v, D and J factored. False where x or y has no scaling, or J is singular to rounding.
bool ss_ipm_factor(ss_interior *state);
// h of (2) for this t, without the correction or with that of the direction that there is.
void ss_ipm_aim(ss_interior *state, double t, bool correct);
// dq, dx and dy of (2) and (3), refined. The share of its residual that is left.
double ss_ipm_direction(ss_interior *state);
// How far the direction stays in the cones, at most 1 / SS_IPM_KEPT.
double ss_ipm_way(const ss_interior *state);
void ss_ipm_move(ss_interior *state, double a);
// More compliance, for a step that rounding has spoilt.
void ss_ipm_soften(ss_interior *state);
