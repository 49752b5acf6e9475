// problems/tangle/rod.h -- one rod of a tangle: an articulated chain of straight links.
//
// The root is clamped. Joint e sits at the near end of link e and turns all that follows: about two
// axes perpendicular to the link in space (8 links), about e_z in the plane (16 links), so that a
// rod has 16 dofs either way, the joints' rates of turn v in rad/s. The point x(s) at arclength s
// on link l moves with the velocity
//
//     J(s)' v,    J(s) = [ a_j x (x(s) - p_e) ]  for the axes j of the joints e = 0 .. l (1)
//
// and no joint beyond l moves it. SI units.
#pragma once

#include "base/random.h"

#define SS_ROD_DOFS      16
#define SS_ROD_MAX_LINKS 16
#define SS_ROD_LENGTH    0.25   // m
#define SS_ROD_DENSITY   6.5e-6 // kg/m, a human hair

typedef struct ss_rod {
    int dim;
    int nlinks;                            // 8 in space, 16 in the plane
    int joint_axes;                        // per joint: 2 and 1
    double joint[SS_ROD_MAX_LINKS][3];     // [nlinks] p_e, m; joint 0 is the root, at the origin
    double direction[SS_ROD_MAX_LINKS][3]; // [nlinks] of the links, unit vectors
    double axis[SS_ROD_DOFS][3];           // a_j, unit vectors
} ss_rod;

// a / |a|, for a != 0.
void ss_normalise(double a[3]);

// The direction in which a rod grows: e_z in space, e_y in the plane.
void ss_rod_growth(int dim, double direction[3]);

// A gently curled rod: link directions wander about the growth direction.
ss_rod ss_rod_drawn(ss_random *g, int dim);

// Number of dofs that move the point at arclength s, 0 <= s <= SS_ROD_LENGTH.
int ss_rod_reach(const ss_rod *rod, double s);

void ss_rod_point(const ss_rod *rod, double s, double x[3]);

// Row j is column j of (1). Returns ss_rod_reach; the rows beyond are left alone.
int ss_rod_jacobian(const ss_rod *rod, double s, double J[SS_ROD_DOFS][3]);

// The chain's kinetic energy and an equal stiffness in all joints, such that the condition number
// of M, row-major, is `condition`; above the chain's own condition see (2) of rod.c.
void ss_rod_mass(const ss_rod *rod, double condition, double M[SS_ROD_DOFS][SS_ROD_DOFS]);

// What a uniform acceleration a of the whole rod exerts on its joints: the sum of m J a, N m.
void ss_rod_weight(const ss_rod *rod, const double a[3], double torque[SS_ROD_DOFS]);
