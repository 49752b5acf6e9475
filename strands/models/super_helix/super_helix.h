// strands/models/super_helix/super_helix.h -- a strand of super-helical elements (internal).
//
// Strand of length L, N equal elements of constant curvatures (super_helix_kinematics.h), joined so
// that point and frame are continuous; the curvatures of element e are offset_e + B_e q, where B
// picks the dofs of the element:
//     full      three dofs an element, and no offset
//     shared    7 elements with two curvatures each, and two twists for elements 1-4 and 5-7: 16
//               dofs. The offset is what the twist of the style differs from its mean over a share.
// Dofs are in the order of the elements, so that a point is moved by the first of them only.
//
// A clamped root stands in its pose, or where given vertices begin. A free root has six more velocities in
// front, both along the axes of its pose (which do not turn with the strand): velocity of the root point and
// angular velocity; and seven more coordinates, place of the root point (m) and unit quaternion (w, x, y, z),
// both relative to that pose.
//
// doc/strands.md, "Super-helix".
#pragma once

#include <stdbool.h>
#include "strands/model.h"
#include "strands/models/super_helix/super_helix_kinematics.h"

#define SS_HELIX_MOST_ELEMENTS 32
#define SS_HELIX_MOST_DOFS     (6 + 3 * SS_HELIX_MOST_ELEMENTS)
#define SS_HELIX_ROOT_DOFS     6 // of a free root

typedef struct ss_helix {
    int nelements;
    bool free_root;
    bool begins_away; // of vertices (model.h): at `begin` in the frame of the root, not there
    ss_pose begin;
    int nroot, nv; // velocities of the root, 0 or 6, and all; a free root has nq = nv + 1
    int dof[SS_HELIX_MOST_ELEMENTS][3];     // among the velocities: twist, bend1, bend2
    int reach[SS_HELIX_MOST_ELEMENTS];      // dofs that move points of this element
    ss_vec3 offset[SS_HELIX_MOST_ELEMENTS]; // 1/m
    double element_length;                  // m
    double line_density, spin_inertia;      // kg/m, kg m
    double relaxation;                      // s
    double rigidity[SS_HELIX_MOST_DOFS];    // [nv] diagonal of K, N m^3; 0 for the root
    double style[SS_HELIX_MOST_DOFS];       // [nv] 1/m; 0 for the root, and so below
    double natural[SS_HELIX_MOST_DOFS];
    double unrest[SS_HELIX_MOST_DOFS];
    int npoints, ngauss;
    // [nelements + 1] points of element e are first[e] .. first[e + 1] - 1.
    int first[SS_HELIX_MOST_ELEMENTS + 1];
    double *sigma;        // [npoints] m, from the near end of the element; owned
    double *gauss_sigma;  // [ngauss] m, in every element; owned
    double *gauss_length; // [ngauss] m, their weights
} ss_helix;

// Coordinate of velocity k among q, for k >= nroot.
static inline int ss_helix_coordinate(const ss_helix *helix, int k)
{
    return helix->free_root ? k + 1 : k;
}

// The curvatures of element e at q, and their rates at v.
ss_vec3 ss_helix_curvature(const ss_helix *helix, const double *q, int e);
ss_vec3 ss_helix_curvature_rate(const ss_helix *helix, const double *v, int e);

// The functions of that name in model.h.
void ss_helix_place(const void *strand, const ss_pose *root, const double *q,
                    ss_strand_point *points, ss_strand_point *samples);
void ss_helix_convect(const void *strand, const ss_pose *root, const double *q, const double *v,
                      ss_vec3 *a);
void ss_helix_inertia(const void *strand, const double *q, ss_band *M);
void ss_helix_difference(const void *strand, const double *q0, const double *q1, double h,
                         double *v);
void ss_helix_advance(const void *strand, const double *q, const double *v, double h,
                      double *moved);
