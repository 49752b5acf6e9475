// solvers/global/ipm.h -- the steps of interior points at falling t (ipm.c), which ppa begins with
// in dense hair, and where they come first.
#pragma once

#include "solvers/global/drive.h"
#include "solvers/linear/implicit.h"

// ---- Steps

typedef struct ss_scaling ss_scaling;

// q, x and y, or changes of them.
typedef struct ss_ipm_point {
    double *q, *x, *y; // [size], [4 n], [4 n]; one block of memory
} ss_ipm_point;

// The numbers in brackets are equations of ipm.c.
typedef struct ss_interior {
    ss_implicit *system;     // borrowed
    size_t size;             // of q
    double *q, *dq;          // [size]
    double *left, *more;     // [size] q0 + B (r + dr) - q - dq; the last change of dq
    double *x, *y, *dx, *dy; // [4 n]
    double *v, *h, *slope;   // [4 n]; slope: dv_N/du_T, two numbers
    double *change;          // [4 n] A G dq
    double *r;               // [4 n] P^-1 x, and scratch
    double *parts;           // parts of sums and extremes over the contacts
    double *weight;          // [9 n] D of (3)
    double *compliance;      // [n] that delta multiplies in (1)
    ss_scaling *scaling;     // [n] of (2)
    ss_ipm_point shorter;    // scratch: a direction before a corrector
    double gap;              // mean of x.y
    double delta;
    bool is_short; // J is factored in floats, until they are not good enough
    bool is_rough; // rounding has spoilt the last direction
} ss_interior;

// Makes the vectors of a state that is zero. False without memory.
bool ss_ipm_allocate(ss_interior *state, ss_implicit *system);
void ss_ipm_release(ss_interior *state); // takes half-built ones

// Puts x and y on the axis of the cones and q where there are no impulses, and sets the compliance
// that delta multiplies.
void ss_ipm_start(ss_interior *state, const ss_drive *d);

// Returns the mean of x.y after a step of length a.
double ss_ipm_gap(ss_interior *state, double a);

// Makes T, v and D at the present gap, and factors J. False if x or y has no scaling, J is singular
// to rounding, or time is up.
bool ss_ipm_factor(ss_interior *state);

#define SS_IPM_SHORT 0.1 // a step below it is made again to the centre

// Finds the direction at the present factor, and returns the length of the step along it; NaN where
// a factor in doubles failed. If it is still below SS_IPM_SHORT, no direction leads on. If the
// first direction is shorter than `hopeless`, that is its length, and nothing else is tried. *plain
// is the length before correctors, which are made if `correct`. If rounding has spoilt the first
// direction, delta grows.
double ss_ipm_find_step(ss_interior *state, bool correct, double hopeless, double *plain);

void ss_ipm_move(ss_interior *state, double a);

// Halves the compliance, down to `least`, after a step that rounding has not spoilt.
void ss_ipm_harden(ss_interior *state, double least);

// Returns ss_measures_error of r = P^-1 x with the u for which v(u) = y, not with the velocity of
// r. Sets state->r.
double ss_ipm_estimate(ss_interior *state);

// Finds each contact's part of |direction|^2 in the metric of the scaling; part is [n].
void ss_ipm_find_parts(const ss_interior *state, double *part);

// ---- Where they come first

#define SS_IPM_TIGHT 3e-4 // from this tolerance on a few sweeps mostly do there

// True if interior points come before sweeps: in dense hair with tr W_ii within a factor of 100.
// Their steps are short where light parts are among heavy ones, and sweeps are faster in moving
// hair, whose tr W_ii differ more.
bool ss_ipm_suits(const ss_problem *p, const ss_coupling *c);

// The same by 64 contacts, before there is a coupling. False for rigid bodies: in towers admm is
// cheaper.
bool ss_ipm_leads(const ss_problem *p, ss_mass **factor);

// ---- For tests

// The Lorentz cone of one contact, and the scaling T of x and y (ipm.c).
struct ss_scaling {
    bool line;   // the half line: T is b alone
    double b;    // > 0
    double v[3]; // of (2)
    double w[3];
    double l[3]; // T x
};

// False unless x and y are inside the cone and finite.
bool ss_scaling_find(bool line, const double x[3], const double y[3], ss_scaling *s);

void ss_scaling_apply(const ss_scaling *s, const double x[3], double y[3]);  // y = T x
void ss_scaling_remove(const ss_scaling *s, const double x[3], double y[3]); // y = T^-1 x

// D = (T^2 + diag(c_0, c_1, c_1))^-1: with t = w_1/|w_1| the block of (e, t) has the determinant
// b^4 + b^2 (w_0^2 + |w_1|^2) (c_0 + c_1) + c_0 c_1, a sum of positive terms.
void ss_scaling_weight(const ss_scaling *s, const double c[2], double D[9]);

// Finds z of l o z = c, l of the scaling.
void ss_scaling_divide(const ss_scaling *s, const double c[3], double z[3]);

// Finds the change that takes the spectral values w_0 -+ |w_1| of w to between least and most, none
// down by more than `most`. False: they are there.
bool ss_cone_clamp(const double w[3], double least, double most, double change[3]);

// Brings the spectral values of w, inside the cone, to t, none by a factor of more than `most`.
void ss_cone_approach(const double w[3], double t, double most, double z[3]);

// Takes x into the cone where rounding has put it on the boundary: x_0 is at least (1 + 4 eps)
// |x_1|.
void ss_cone_keep(double x[3]);

// Returns the largest a <= most with x + a dx in the cone; x is inside.
double ss_cone_step(bool line, const double x[3], const double dx[3], double most);
