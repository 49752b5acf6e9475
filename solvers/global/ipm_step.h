// solvers/global/ipm_step.h -- the start and a step of an interior point method: the direction of Mehrotra
// (1992) and the correctors of Gondzio (1996), or a centring direction where those leave the cones at once.
//
//     first direction    t = 0: it leaves the share k of x.y
//     second             t = k^3 x.y, with the first one's correction of second order
//     correctors         while each makes the step longer (ss_ipm_centre)
//     centring           t = x.y / 2, without correction
#pragma once

#include "solvers/global/drive.h"
#include "solvers/global/ipm_newton.h"

#define SS_IPM_SHORT 0.1 // a step below it is made again to the centre

// x and y on the axis of the cones, q without impulses, and the compliance that delta multiplies.
void ss_ipm_step_start(ss_interior *state, const ss_drive *d);

// The direction at the present factor, and the length of the step along it; NaN where a factor in doubles
// failed. Still below SS_IPM_SHORT: no direction leads on. Where the first direction is shorter than `hopeless` that
// is its length, and nothing else is tried. `shorter` is scratch; without memory there are no correctors. *plain is the
// length before them. If rounding has spoilt the first direction, delta grows.
double ss_ipm_step_find(ss_interior *state, ss_ipm_point shorter, double hopeless, double *plain);
