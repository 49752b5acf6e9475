// tests/support/kirchhoff.h -- Kirchhoff's rod by shooting: the oracle of rods at rest.
//
//     r' = d0,  R' = R [u]x,  n' = -w,  m' = n x d0,  m = R diag(GJ, EI1, EI2)(u - natural)
//
// R = (d0, d1, d2) with the tangent first, w the weight per length: four steps of Runge and Kutta with
// 2000 steps, and Newton's method on the force n and the moment m at the clamp.
#pragma once

#include <stdbool.h>
#include "strands/geometry.h"
#include "strands/material.h"

typedef struct kirchhoff {
    double length;
    ss_rigidity rigidity;
    ss_vec3 natural; // 1/m, in the material frame
    ss_vec3 weight;  // N/m
    ss_pose root;
    bool held; // at the tip, in the pose `tip`; else free
    ss_pose tip;
} kirchhoff;

// The pose at the share of the length, at rest. Weight and tip change in `stages` from those of the
// natural shape. Ends the test where Newton's method fails.
ss_pose kirchhoff_at(const kirchhoff *k, double share, int stages);
// The pose at `length` of the natural shape that begins in `root`.
ss_pose kirchhoff_natural(ss_vec3 natural, double length, const ss_pose *root);
// The pose for which inverse o p is the identity.
ss_pose kirchhoff_inverse(const ss_pose *p);
