// tests/support/resting.h -- where a strand of the world comes to rest under its weight, by Newton's method.
#pragma once

#include "tests/support/one_strand.h"

// From q: |F + weight| of the free dofs vanishes, held dofs stay. The steps go down in energy. How many
// there were; ends the test if 500 are not enough.
int rest_strand(one_strand *s, ss_vec3 gravity);
// The same, the weight doubling from stage to stage: of gravity / 2^doublings first.
void hang_strand(one_strand *s, ss_vec3 gravity, int doublings);

// E and its gradient's negative [nv] with the weight in them; K exact, rows of held dofs being those of I.
double weighed_energy(one_strand *s, ss_vec3 gravity, const double *q);
void weighed_force(one_strand *s, ss_vec3 gravity, const double *q, double *F);
void free_stiffness(const one_strand *s, const double *q, ss_band *K);
