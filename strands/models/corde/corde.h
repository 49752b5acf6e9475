// corde: elastic rods as vertices and directors, [ST07] made implicit (internal).
//
// Vertices r_0 .. r_n, edges e^j = r_{j+1} - r_j, and a unit quaternion p_j of each edge, whose directors
// d_k = R(p_j) e_k are the material axes and d_3 is held along the edge by a stiff energy. q is r_0, p_0,
// r_1, .. r_n; v is rdot_0, omega_0, rdot_1, .. rdot_n with omega in the frame of its p. Energies, forces and
// K are by increments p <- p o exp(phi/2).
//
// doc/strands.md, "CoRdE".
#pragma once

#include "strands/model.h"
#include "strands/quaternion.h"

#define SS_CORDE_DOFS  6 // of v, from an edge to the next
#define SS_CORDE_PLACE 7 // of q likewise
#define SS_CORDE_LANES 8 // edges side by side

typedef struct ss_corde {
    int n; // edges
    ss_clamp clamp;
    ss_rigidity rigidity;
    double parallel;           // kappa_p, N: what holds d_3 along the edge
    double spin[3];            // kg m: inertia about d_1, d_2, d_3 a metre
    double relaxation, length; // s, m
    int nheld;
    int held[18];

    // The natural shape; [room] each, 0 after the last. Number j is of edge j, or of the joint between the
    // edges j - 1 and j.
    int room;             // n rounded up to whole lanes
    double *edge;         // m
    double *inverse_edge; // 1 / edge
    double
        *inverse_length; // 1 / l of joint j, half of both edges; 0 of joint 0, which does not exist
    double *strain[3];   // l ubar = 2 rv of joint j
    double *aim[3];      // where the edge is among its directors: (0, 0, 1), or what carries a load
    double *more[4];     // edge and strain: the natural shape minus the style

    double *share;      // [n] of the mass and length that the edge has
    ss_vec3 *style;     // [n + 1] in the frame of the root
    ss_quat *turn;      // [n] of the edges there
    ss_vec3 *home;      // [n + 1] style in the world
    ss_quat clamped[2]; // of the first and the last edge there
    void *memory;       // of all arrays; owned
} ss_corde;

static inline int ss_corde_dofs(const ss_corde *d)
{
    return SS_CORDE_DOFS * d->n + 3;
}

static inline ss_vec3 ss_corde_vertex(const double *q, int i)
{
    return ss_vec(q[SS_CORDE_PLACE * i], q[SS_CORDE_PLACE * i + 1], q[SS_CORDE_PLACE * i + 2]);
}

static inline ss_quat ss_corde_turn(const double *q, int j)
{
    return ss_quat_read(q + SS_CORDE_PLACE * j + 3);
}

// conj(p_{j-1}) o p_j of joint j, of the two signs the one with w >= 0.
static inline ss_quat ss_corde_bend(const double *q, int j)
{
    const ss_quat rho =
        ss_quat_product(ss_quat_conjugate(ss_corde_turn(q, j - 1)), ss_corde_turn(q, j));
    const double sign = rho.w < 0.0 ? -1.0 : 1.0;
    return (ss_quat){sign * rho.w, sign * rho.x, sign * rho.y, sign * rho.z};
}

// ---- corde_kernel.c

double ss_corde_energy(const void *strand, const double *q);
void ss_corde_force(const void *strand, const double *q, const double *v, double *F);
bool ss_corde_stiffness(const void *strand, const double *q, ss_stiffness kind, double scale,
                        ss_band *A);
void ss_corde_damping(const void *strand, const double *q, double scale, ss_band *A);

// ---- corde_motion.c

// q of the vertices x [n + 1] and the turns [n], in the frame of `root`.
void ss_corde_put(const ss_corde *d, const ss_pose *root, const ss_vec3 *x, const ss_quat *turn,
                  double *q);
void ss_corde_start(void *strand, const ss_pose *root, double *q);
void ss_corde_advance(const void *strand, const double *q, const double *v, double h,
                      double *moved);
void ss_corde_difference(const void *strand, const double *q0, const double *q1, double h,
                         double *v);
void ss_corde_script(const void *strand, const ss_pose moved[2], const double *q, double h,
                     double *v);

// ---- corde_balance.c

ss_status ss_corde_balance(void *strand, const double *q, const double *load, ss_error *e);
