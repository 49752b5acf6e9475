// tests/support/twisting_chain.h -- the example of a strand model (CONTRIBUTING.md), for tests alone.
//
// Particles x_i joined by springs, and an angle th_j of twist on each edge; in the world, clamped at
// any end, interleaved as x_0, th_0, x_1, th_1, ..., x_n.
//
//     E = 1/2 sum_(i, i+1) k_s (|x_i - x_j| - l)^2 + 1/2 sum_(i, i+2) k_b (|x_i - x_j| - l)^2
//         + 1/2 sum k_t (th_j - th_{j-1} - rest)^2
//
// Each spring has d2E/dx2 = k [(1 - l/|d|) (I - n n') + n n'], which is indefinite where it is
// compressed: filtered takes 0 for 1 - l/|d| there, Gauss-Newton takes 0 everywhere. It is no good
// model of a rod: it is one that has twist, held dofs, a branchless polyline and all three stiffnesses.
#pragma once

#include "strands/model.h"

extern const ss_strand_model twisting_chain;
