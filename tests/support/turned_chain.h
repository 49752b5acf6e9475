// tests/support/turned_chain.h -- a rod with its joints really turned, to differentiate by.
#pragma once

#include "problems/tangle/tangle.h"

// Where the point at arclength s of the rod is after its joints turned by the 16 angles: from the
// tip to the root, each joint turns all that lies beyond it by Rodrigues' formula.
void turned_point(const ss_rod *rod, double s, const double *angle, double x[3]);

// The velocity of the point at s for the joint rates v: a central difference of turned_point.
void turned_velocity(const ss_rod *rod, double s, const double *v, double velocity[3]);

// The error of turned_velocity on rates of order 1 and a rod of 0.25 m, m/s.
#define TURNED_ERROR 1e-9
