// strands/models/oriented/oriented_strand.h -- a tree of links as a strand of model.h (internal).
//
// The polyline is the joints and tips of the links, after the edge that a clamp holds of given vertices; the
// polyline of a tree that branches goes on at each branch. Samples are two points of half the mass a link, l/2 +-
// l/(2 sqrt 3) from its joint, which have its mass, its centre and its inertia m l^2/12; the spin is `inertia`.
#pragma once

#include "strands/models/oriented/oriented.h"

typedef struct ss_oriented_strand {
    ss_oriented *tree;
    ss_pose home;       // of the tree's base in the frame of the root
    double length;      // m, that the links and the held edge stand for
    double mass;        // kg, of all
    double held;        // share of the length of the held edge; 0: there is none
    double held_mass;   // kg
    ss_vec3 held_from;  // m: where that begins, in the frame of the root
    ss_quat *style;     // [n] q of the start
    ss_quat *more;      // [n] natural = style o more, and so at rest under a load
    double *share;      // [n] of the length, of each link
    int npoints, width; // of the polylines; the most dofs that move a point
    bool branches;      // there is more than one polyline
    int *tip;           // [npoints] the link whose tip it is, SS_ORIENTED_BASE or SS_ORIENTED_HELD
    int *branch;        // [npoints] as in model.h
    int *first_child;   // [n] the first link that hangs from it, or -1; [-1] of the base
    void *memory;       // of these arrays; owned
    int *dofs, *dofs_from; // if it branches: of the path to each link, and where they begin; owned
} ss_oriented_strand;

#define SS_ORIENTED_HELD (-2) // among `tip`

// The samples of a link are at these shares of its length: 1/2 -+ 1/(2 sqrt 3).
static const double SS_ORIENTED_SAMPLE_AT[2] = {0.5 - 0.28867513459481288,
                                                0.5 + 0.28867513459481288};

// ---- oriented_strand.c: the functions of those names in model.h

void ss_oriented_start(void *strand, const ss_pose *root, double *q);
void ss_oriented_lumps(const void *strand, double *mass, double *length);
void ss_oriented_advance(const void *strand, const double *q, const double *v, double h,
                         double *moved);
void ss_oriented_difference(const void *strand, const double *q0, const double *q1, double h,
                            double *v);
void ss_oriented_put(const void *strand, const ss_pose *root, const double *q,
                     ss_strand_point *points, ss_strand_point *samples);
void ss_oriented_convect(const void *strand, const ss_pose *root, const double *q, const double *v,
                         ss_vec3 *a);

// ---- oriented_force.c: likewise

double ss_oriented_energy(const void *strand, const double *q);
void ss_oriented_force(const void *strand, const double *q, const double *v, double *F);
bool ss_oriented_stiffness(const void *strand, const double *q, ss_stiffness kind, double scale,
                           ss_band *A);
void ss_oriented_damping(const void *strand, const double *q, double scale, ss_band *A);
void ss_oriented_inertia(const void *strand, const double *q, ss_band *M);
void ss_oriented_whole_mass(const void *strand, const double *q, ss_band *M);
ss_status ss_oriented_balance(void *strand, const double *q, const double *load, ss_error *e);
int ss_oriented_limits(const void *strand, const double *q, const double *v, double h, double most,
                       ss_joint_limit *limits);

// ---- oriented_motion.c: `rate`, `unrate` and `residual` of model.h

void ss_oriented_rate(const void *strand, const double *q, const double *v, double *qdot);
void ss_oriented_unrate(const void *strand, const double *q, const double *qdot, double *v);
void ss_oriented_equation(const void *strand, const ss_surroundings *around, const double *q,
                          const double *v, const double *vdot, double *rs);
