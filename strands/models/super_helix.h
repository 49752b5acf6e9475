// strands/models/super_helix.h -- points of one element of a super-helix side by side (internal).
//
// Each has the bits that it has by itself (helix.h).
#pragma once

#include "strands/helix.h"

#define SS_HELIX_ROW 8

// x = r + R p and R dp/dq of points of an element whose near end is at (r, R).
typedef struct ss_helix_row {
    double x[3][SS_HELIX_ROW];      // m
    double own[3][3][SS_HELIX_ROW]; // m^2; first the curvature, then the component
} ss_helix_row;

// ---- For tests

// Finds the points at sigma of an element with curvatures q.
void ss_helix_row_at(ss_vec3 q, const double sigma[SS_HELIX_ROW], const ss_mat3 *R, ss_vec3 r,
                     ss_helix_row *row);
// Finds R times the accelerations of the points, their near end moving with c.
void ss_helix_row_carried(ss_vec3 q, ss_vec3 qdot, const double sigma[SS_HELIX_ROW],
                          const ss_mat3 *R, const ss_helix_carrier *c, ss_vec3 a[SS_HELIX_ROW]);
