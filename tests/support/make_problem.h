// tests/support/make_problem.h -- random one-step problems in global form with bodies of every kind.
#pragma once

#include "problems/problem.h"
#include "base/random.h"

// Bodies of mixed sizes 1 .. largest, their dofs interleaved; contacts between two bodies, with the
// ground, and of a body with itself. Ends the test on failure. M is well conditioned.
ss_problem *random_problem(uint64_t seed, int dim, int ncontacts, int nbodies, int largest);

// M diagonal, a group of `size` dofs a body, with the same contacts.
ss_problem *random_diagonal_problem(uint64_t seed, int dim, int ncontacts, int nbodies, int size);

// Bodies of 4 `vertices` dofs, M of each a band of half-bandwidth 10, as of rods; a contact meets three dofs
// each of two neighbouring vertices: of two bodies, of one with the ground, of one with itself near and far.
ss_problem *random_strand_problem(uint64_t seed, int dim, int ncontacts, int nbodies, int vertices);

// One contact in local form, W row-major dim x dim.
ss_problem *one_contact(int dim, const double *W, const double *b, double mu);

// Makes two contacts in local form whose normals all but undo each other: W = I but for gap - 1
// between the two r_N, b_N = b0 and b1, mu = 1/2. With b0 = b1 = -1 both stick by r_N = 1/gap.
ss_problem *squeeze(int dim, double gap, double b0, double b1);

// n normal numbers, which the caller frees.
double *normal_values(ss_random *g, int n);
