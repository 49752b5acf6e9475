// problems/tangle/tangle_plan.h -- the geometry of a tangle: its rods, and where they touch.
//
// Rod i of n touches the rods i + 1 and i + c modulo n, c the root of n: a lattice on a torus,
// where each rod has four neighbours; in the plane i + 1 alone, where it has two. With few rods a
// neighbour may be the rod itself, which then touches itself at two places. Contacts are ordered by
// rod, first those with the two neighbours, then those with the ground.
#pragma once

#include "problems/tangle/rod.h"
#include "problems/tangle/tangle.h"

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

// Settings that ss_tangle_check accepts.
ss_status ss_tangle_plan_new(const ss_tangle_settings *settings, ss_tangle_plan **plan,
                             ss_error *e);
void ss_tangle_plan_free(ss_tangle_plan *plan);

// Rods of a tangle, were it of any size.
double ss_tangle_rods(const ss_tangle_settings *settings);
