// problems/tangle/tangle.h -- hair-like problems of any size from a seed.
//
// A tangle is a lattice of rods that touch their neighbours. A rod is an articulated chain of
// straight links clamped at its root: 8 links with two bending joints each in space, 16 links with
// one each in the plane, 16 dofs either way. Its mass matrix is the kinetic energy of the chain
// plus a joint stiffness that gives the wanted condition number; where that is above the chain's
// own, the spectrum is stretched. A previous step is at rest under impulses r0 in their cones; the
// present one adds a jerk of the roots. All gaps are open (w_N > 0), so that v = 0 certifies that
// the problem has a solution. The same settings give the same bits on every compiler and machine.
// SI units; dt is 1 ms.
//
// A share of the rods may be lighter than the others by a factor: their masses, their loads, and
// r0 where they touch. A tower has boxes, or planks, in the place of rods.
//
// With unsymmetry E the problem is local, with G as in delassus.h and K turning the whitened dofs
// two by two, K = diag([[0, 1], [-1, 0]], ..), as gyroscopic terms do:
//
//     W = sum over bodies k of G_ik (I - E K) G_jk'                                            (1)
#pragma once

#include "base/random.h"
#include "problems/problem.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct ss_tangle_settings {
    int dim;          // 2 or 3
    int ncontacts;    // >= 1
    int ends_per_rod; // contact ends on each rod; 25 is loose hair, 59 a ponytail
    double mu;        // >= 0
    uint64_t seed;
    double condition;    // condition of each rod's M, 10 .. 1e8; hair has 1e3 .. 1e6
    double ground_share; // share of contacts between a rod and the ground, 0 .. 1
    double unsymmetry;   // local form only: W + unsymmetry * (gyroscopic part); 0 for none
    bool hyperstatic;    // puts contacts into tight bunches: W is far from full rank
    bool warm;           // stores r0 as a guess
    double light[2];     // share of the rods that is lighter, and by which factor >= 1; 0 for none

    // Boxes on each other instead of rods, each 1 .. 1e6 times as heavy as the one below; 0 for
    // rods.
    double tower;
    int planks; // planks of a layer of the tower, crosswise to those below; 0 for single boxes
} ss_tangle_settings;

#define SS_TANGLE_DEFAULTS                                                                         \
    {                                                                                              \
        .dim = 3, .ncontacts = 1000, .ends_per_rod = 25, .mu = 0.3, .seed = 1, .condition = 1e4,   \
        .light = {                                                                                 \
            0.0,                                                                                   \
            1.0                                                                                    \
        }                                                                                          \
    }

// Returns SS_BAD_INPUT with a sentence that names the setting where the settings are impossible.
ss_status ss_tangle_check(const ss_tangle_settings *settings, ss_error *e);

// Makes a problem in global form, or in local form where unsymmetry is not 0.
ss_status ss_tangle_new(const ss_tangle_settings *settings, ss_problem **problem, ss_error *e);

// ---- For tests: rods
//
// The root is clamped. Joint e sits at the near end of link e and turns all that follows: about two
// axes perpendicular to the link in space (8 links), about e_z in the plane (16 links), so that a
// rod has 16 dofs either way, the joints' rates of turn v in rad/s. The point x(s) at arclength s
// on link l moves with the velocity
//
//     J(s)' v,    J(s) = [ a_j x (x(s) - p_e) ]  for the axes j of the joints e = 0 .. l       (2)
//
// and no joint beyond l moves it. SI units.

#define SS_ROD_DOFS      16
#define SS_ROD_MAX_LINKS 16
#define SS_ROD_LENGTH    0.25   // m
#define SS_ROD_DENSITY   6.5e-6 // kg/m, a human hair

typedef struct ss_rod {
    int dim;
    int nlinks;                            // 8 in space, 16 in the plane
    int joint_axes;                        // per joint: 2 and 1
    double joint[SS_ROD_MAX_LINKS][3];     // [nlinks] p_e, m; joint 0 is the root, at the origin
    double direction[SS_ROD_MAX_LINKS][3]; // [nlinks] unit vectors along the links
    double axis[SS_ROD_DOFS][3];           // a_j, unit vectors
} ss_rod;

// Writes the direction in which a rod grows: e_z in space, e_y in the plane.
void ss_rod_growth(int dim, double direction[3]);

// Draws a gently curled rod: link directions wander about the growth direction.
ss_rod ss_rod_drawn(ss_random *g, int dim);

// Returns the number of dofs that move the point at arclength s, 0 <= s <= SS_ROD_LENGTH.
int ss_rod_reach(const ss_rod *rod, double s);

void ss_rod_point(const ss_rod *rod, double s, double x[3]);

// Writes into row j column j of (2). Returns ss_rod_reach; the rows beyond are left alone.
int ss_rod_jacobian(const ss_rod *rod, double s, double J[SS_ROD_DOFS][3]);

// Writes the chain's kinetic energy and an equal stiffness in all joints, such that the condition
// number of M, row-major, is `condition`.
void ss_rod_mass(const ss_rod *rod, double condition, double M[SS_ROD_DOFS][SS_ROD_DOFS]);

// Writes the torques on the joints by a uniform acceleration a of the whole rod: the sum of m J a,
// N m.
void ss_rod_weight(const ss_rod *rod, const double a[3], double torque[SS_ROD_DOFS]);

// ---- For tests: the lattice of rods
//
// Rod i of n touches the rods i + 1 and i + c modulo n, c the root of n: a lattice on a torus,
// where each rod has four neighbours; in the plane it touches i + 1 alone, and has two neighbours.
// With few rods a neighbour may be the rod itself, which then touches itself at two places.
// Contacts are ordered by rod, first those with the two neighbours, then those with the ground.

#define SS_GROUND (-1)

// u = frame (J_0' v_0 - J_1' v_1): the second rod, or the ground, lies against the normal.
typedef struct ss_tangle_touch {
    int rod[2];          // the second may be SS_GROUND, or equal the first
    double arclength[2]; // m; the second has no meaning with the ground
    double frame[3][3];  // normal, two tangents; right-handed
} ss_tangle_touch;

typedef struct ss_tangle_plan {
    int dim, nrods, ncontacts;
    ss_rod *rods;             // [nrods] owned
    ss_tangle_touch *touches; // [ncontacts] owned
} ss_tangle_plan;

// Makes the plan for settings that ss_tangle_check accepts.
ss_status ss_tangle_plan_new(const ss_tangle_settings *settings, ss_tangle_plan **plan,
                             ss_error *e);
void ss_tangle_plan_free(ss_tangle_plan *plan);

ss_tangle_settings ss_tangle_defaults(void); // SS_TANGLE_DEFAULTS
