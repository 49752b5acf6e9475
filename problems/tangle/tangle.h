// problems/tangle/tangle.h -- hair-like problems of any size from a seed.
//
// A tangle is a lattice of rods that touch their neighbours. A rod is an articulated chain of
// straight links clamped at its root: 8 links with two bending joints each in space, 16 links with
// one each in the plane, 16 dofs either way. Its mass matrix is the kinetic energy of the chain
// plus a joint stiffness chosen so that the condition number is the one asked for; where that is
// above the chain's own, the spectrum is stretched (rod.c). A previous step is at rest under
// impulses r0 in their cones; the present one adds a jerk of the roots. All gaps are open
// (w_N > 0), so that v = 0 certifies that the problem has a solution. The same settings give the
// same bits on every compiler and machine. Rods are in rod.h, contacts in tangle_plan.h.
// SI units; dt is 1 ms.
//
// A share of the rods may be lighter than the others by a factor: their masses, their loads, and
// r0 where they touch. A tower has boxes in the place of rods, or planks: see tangle_tower.h.
//
// With unsymmetry E the problem is local, with G as in delassus.h and K turning the whitened dofs
// two by two, K = diag([[0, 1], [-1, 0]], ..), as gyroscopic terms do:
//
//     W = sum over bodies k of G_ik (I - E K) G_jk'                                            (1)
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "problems/problem.h"

typedef struct ss_tangle_settings {
    int dim;          // 2 or 3
    int ncontacts;    // >= 1
    int ends_per_rod; // contact ends on each rod; 25 is loose hair, 59 a ponytail
    double mu;        // >= 0
    uint64_t seed;
    double condition;    // of each rod's M, 10 .. 1e8; hair is 1e3 .. 1e6
    double ground_share; // share of contacts between a rod and the ground, 0 .. 1
    double unsymmetry;   // local form only: W + unsymmetry * (gyroscopic part), 0 for none
    bool hyperstatic;    // contacts in tight bunches: W far from full rank
    bool warm;           // store r0 as a guess
    double light[2];     // a share of the rods is lighter, by a factor >= 1; 0 for none
    double tower;        // boxes on each other instead of rods (tangle_tower.h), each 1 .. 1e6
                         // times as heavy as the one below; 0 for rods
    int planks;          // of a layer of the tower, crosswise to those below; 0 for single boxes
} ss_tangle_settings;

#define SS_TANGLE_DEFAULTS                                                                         \
    {                                                                                              \
        .dim = 3, .ncontacts = 1000, .ends_per_rod = 25, .mu = 0.3, .seed = 1, .condition = 1e4,   \
        .light = {                                                                                 \
            0.0,                                                                                   \
            1.0                                                                                    \
        }                                                                                          \
    }
ss_tangle_settings ss_tangle_defaults(void);

// SS_BAD_INPUT with a sentence that names the setting.
ss_status ss_tangle_check(const ss_tangle_settings *settings, ss_error *e);

// In global form, or in local form where unsymmetry is not 0.
ss_status ss_tangle_new(const ss_tangle_settings *settings, ss_problem **problem, ss_error *e);
