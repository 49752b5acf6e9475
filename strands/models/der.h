// strands/models/der.h -- der: discrete elastic rods [B08] [B10] (internal).
//
// Vertices x_0 .. x_n, edges e^j = x_{j+1} - x_j, angles th^j of the material frames against
// reference frames (t, d1, t x d1) of the edges. Velocities are interleaved, x_0, th^0, x_1, th^1,
// .. x_n, so that a joint couples 11 consecutive dofs; q holds as many numbers, and then d1^j and
// the reference twist mref_j of joint j, between the edges j - 1 and j, for every edge (mref_0 is
// 0). Frames are carried by parallel transport in time: they are those of q, and q (+) h v carries
// them along in one hop.
//
// doc/strands.md, "Discrete elastic rods".
#pragma once

#include "strands/model.h"

#define SS_DER_STRIDE 4
#define SS_DER_LANES  8 // joints side by side

// Strains of bending at a joint, kb.m2 and -kb.m1 of both edges: two of them averaged, or all four.
#define SS_DER_BENDS 4

typedef struct ss_der {
    int n; // edges
    bool two_frame;
    bool inextensible;  // impulses do not stretch it where lengths are projected
    bool plain_stretch; // gauss-newton is the square of the strain for lengths, too
    ss_clamp clamp;
    ss_rigidity rigidity;
    double relaxation, length; // s, m
    int nheld;
    int held[14];

    // The arrays of the natural shape have [room] numbers each, 0 after the last. Number j is that
    // of edge j, or of joint j.
    int room;                   // n rounded up to whole lanes
    double *edge;               // m, |ebar|
    double *inverse_edge;       // 1 / |ebar|
    double *inverse_length;     // 1 / lbar; 0 of joint 0, which does not exist
    double *bend[SS_DER_BENDS]; // kappabar_1, kappabar_2; two-frame: those of edge j - 1, then of j
    double *twist;              // mbar
    double *more[2 + SS_DER_BENDS]; // edge, twist and bend: the natural shape minus the style

    double *share;      // [n] of the mass and length that the edge has
    ss_vec3 *style;     // [n + 1] in the frame of the root
    ss_vec3 *director;  // [n] d1 of the edges there
    double *theta;      // [n]
    ss_vec3 *home;      // [n + 1] style in the world
    ss_vec3 clamped[2]; // m1 of the first and the last edge there
    double *scratch;    // [11 n + 3] of one call
    void *memory;       // of all arrays; owned
} ss_der;

static inline int ss_der_dofs(const ss_der *d)
{
    return SS_DER_STRIDE * d->n + 3;
}

// Returns d1 and mref of edge j.
static inline const double *ss_der_frame(const ss_der *d, const double *q, int j)
{
    return q + ss_der_dofs(d) + 4 * j;
}

static inline ss_vec3 ss_der_vertex(const double *q, int i)
{
    return ss_vec(q[SS_DER_STRIDE * i], q[SS_DER_STRIDE * i + 1], q[SS_DER_STRIDE * i + 2]);
}

// ---- der_kernel.c

double ss_der_energy(const void *strand, const double *q);
void ss_der_force(const void *strand, const double *q, const double *v, double *F);

// Finds the strains of all joints at q: bend[k][j] and twist[j], and edge[j] = |e^j|; [room] each.
void ss_der_strains(const ss_der *d, const double *q, double *edge, double *twist,
                    double *const bend[SS_DER_BENDS]);

// Finds the gradients of kappa_1, kappa_2 (averaged) and the twist at joint j by the 11 dofs from
// x_{j-1} on.
void ss_der_gradients(const ss_der *d, const double *q, int j, double gradient[3][11]);

// Finds -dE/dth of all angles [n], and the squares of the strains' slopes: of angle j, and of j
// with j + 1.
void ss_der_angles(const ss_der *d, const double *q, double *torque, double *diagonal,
                   double *over);

bool ss_der_stiffness(const void *strand, const double *q, ss_stiffness kind, double scale,
                      ss_band *A);

void ss_der_lengths(const void *strand, const double *q, ss_stiffness kind, double scale,
                    ss_band *A);

void ss_der_damping(const void *strand, const double *q, double scale, ss_band *A);

// ---- der_group.c

extern const struct ss_quasi_group_model ss_der_group;
