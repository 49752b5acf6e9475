// tests/support/random_tree.h -- trees of links that branch, and how they and their bases move, at random.
#pragma once

#include "strands/models/oriented.h"
#include "base/random.h"

#define RANDOM_TREE_LINKS 9

typedef struct random_tree {
    ss_oriented *tree;
    ss_oriented_base base;
    double q[3 + 4 * RANDOM_TREE_LINKS], w[3 + 3 * RANDOM_TREE_LINKS];
    ss_oriented_load load[RANDOM_TREE_LINKS];
} random_tree;

// Numbers of the order 1; quaternions that are not of length 1.
random_tree new_random_tree(ss_random *g, bool floats);
ss_vec3 random_vector(ss_random *g, double size);
ss_quat random_turn(ss_random *g, double angle); // by up to this angle, rad
// q and w after `h` seconds of w + h/2 wdot: right to the second order, so that a central difference is.
void advance_random_tree(const random_tree *t, const double *wdot, double h, double *q, double *w);
