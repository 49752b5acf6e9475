// tests/support/turned_chain.c -- finite rotations of a chain's joints.
#include "tests/support/turned_chain.h"

#include <math.h>

// Where truncation (angle^2) and rounding (eps / angle) are both small.
#define STEP 1e-5

static void turn(const double centre[3], const double axis[3], double angle, double x[3])
{
    double a[3], along = 0.0;
    for (int k = 0; k < 3; k++) {
        a[k] = x[k] - centre[k];
        along += axis[k] * a[k];
    }
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        const double across = axis[i] * a[j] - axis[j] * a[i];
        x[k] = centre[k] + cos(angle) * a[k] + sin(angle) * across +
               (1.0 - cos(angle)) * along * axis[k];
    }
}

void turned_point(const ss_rod *rod, double s, const double *angle, double x[3])
{
    const double length = 0.25 / rod->nlinks;
    int link = 0;
    while (link + 1 < rod->nlinks && s >= (link + 1) * length) {
        link++;
    }
    for (int k = 0; k < 3; k++) {
        x[k] = rod->joint[link][k] + (s - link * length) * rod->direction[link][k];
    }
    const int axes = 16 / rod->nlinks;
    for (int j = axes * (link + 1) - 1; j >= 0; j--) {
        turn(rod->joint[j / axes], rod->axis[j], angle[j], x);
    }
}

void turned_velocity(const ss_rod *rod, double s, const double *v, double velocity[3])
{
    double forward[16], backward[16], x[3], y[3];
    for (int j = 0; j < 16; j++) {
        forward[j] = STEP * v[j];
        backward[j] = -STEP * v[j];
    }
    turned_point(rod, s, forward, x);
    turned_point(rod, s, backward, y);
    for (int k = 0; k < 3; k++) {
        velocity[k] = (x[k] - y[k]) / (2.0 * STEP);
    }
}
