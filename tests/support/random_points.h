// tests/support/random_points.h -- points of a cube, for tests of geometry.
#pragma once

#include "base/random.h"
#include "strands/geometry.h"

static inline ss_vec3 random_point(ss_random *g, double half_side)
{
    const double x = ss_random_between(g, -half_side, half_side);
    const double y = ss_random_between(g, -half_side, half_side);
    return ss_vec(x, y, ss_random_between(g, -half_side, half_side));
}
