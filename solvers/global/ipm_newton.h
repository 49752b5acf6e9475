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
// which does not contain J. |left|^2 is an energy, as x.y is: 0.1 (x.y)^1/2 are few enough to be left to the
// next step, which meets them in its right-hand side. So J may be factored in floats until D has grown.
#pragma once

#include "solvers/global/ipm_cone.h"
#include "solvers/linear/implicit.h"

#define SS_IPM_KEPT       0.99 // share of the way to the boundary of the cones
#define SS_IPM_DELTA_MOST 1e-5

typedef struct ss_interior {
    ss_implicit *system;
    size_t size;             // of q
    double *q, *dq;          // [size]
    double *left, *more;     // [size] q0 + B (r + dr) - q - dq; the last change of dq
    double *x, *y, *dx, *dy; // [4 n]
    double *v, *h, *slope;   // [4 n]; slope: dv_N/du_T, two numbers
    double *change;          // [4 n] A G dq
    double *r;               // [4 n] P^-1 x, and scratch
    double *parts;           // of sums and extremes over the contacts (ipm_point.c)
    double *weight;          // [9 n] D of (2)
    double *compliance;      // [n] that delta multiplies
    ss_scaling *scaling;     // [n]
    double gap;              // mean of x.y
    double delta;
    bool is_short; // J is factored in floats, until they are not good enough
    bool is_rough; // rounding has spoilt the last direction
} ss_interior;

// q, x and y, or changes of them.
typedef struct ss_ipm_point {
    double *q, *x, *y; // [size], [4 n], [4 n]; one block of memory
} ss_ipm_point;

// The vectors, zero, of a state whose system and size are there. False without memory.
bool ss_ipm_allocate(ss_interior *state);
void ss_ipm_release(ss_interior *state);
bool ss_ipm_parts_new(ss_interior *state); // its part in ipm_point.c

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
static inline bool ss_ipm_is_line(const ss_interior *state, int i)
{
    return !(state->system->c->mu[i] > 0.0);
}

// r = P^-1 x of contact i; without friction P = I, and x_1 = x_2 = 0.
static inline void ss_ipm_impulse(const ss_interior *state, int i, const double x[3], double r[3])
{
    r[0] = ss_ipm_is_line(state, i) ? x[0] : x[0] / state->system->c->mu[i];
    r[1] = x[1];
    r[2] = x[2];
}

void ss_ipm_set_free(ss_interior *state); // q = q0, r = 0
// The mean of x.y after a step of length a.
double ss_ipm_gap(ss_interior *state, double a);
// ss_measures_error of r = P^-1 x with the u for which v(u) = y, not with the velocity of r. Sets state->r.
double ss_ipm_estimate(ss_interior *state);
// Contact i's part of T a.x . T b.x + T^-1 a.y . T^-1 b.y, for two directions a and b.
double ss_ipm_part(const ss_interior *state, int i, ss_ipm_point a, ss_ipm_point b);

// Makes T, v and D, and factors J. False if x or y has no scaling, J is singular to rounding, or time is up.
bool ss_ipm_factor(ss_interior *state);
// Sets h of (2) for this t. dx' and dy' are those of the present direction if `correct`, otherwise 0.
void ss_ipm_aim(ss_interior *state, double t, bool correct);
// The same with t reached in several steps: no spectral value of x o y changes by more than a factor of 10. `more` is
// added to the target of every contact.
void ss_ipm_aim_near(ss_interior *state, double t, double more, bool correct);
// dq, dx and dy of (2) and (3), refined. _roughly refines less, for a look ahead; _again begins with the present dq,
// for another h. False as in ss_ipm_factor.
bool ss_ipm_direction(ss_interior *state);
bool ss_ipm_direction_roughly(ss_interior *state);
bool ss_ipm_direction_again(ss_interior *state);
// Gondzio's (1996) corrector: the direction for another h. After a step a some spectral values of
// (x + a dx) o (y + a dy) would be more than a factor of 10 from t; this h brings them to that bound.
bool ss_ipm_centre(ss_interior *state, double a, double t);
// How far the direction stays in the cones, at most 1 / SS_IPM_KEPT.
double ss_ipm_way(ss_interior *state);
void ss_ipm_move(ss_interior *state, double a);
// More compliance, after a step that rounding has spoilt.
void ss_ipm_soften(ss_interior *state);
// Half the compliance, but at least `least`, after a step that rounding has not spoilt.
void ss_ipm_harden(ss_interior *state, double least);
