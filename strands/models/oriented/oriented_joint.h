// strands/models/oriented/oriented_joint.h -- the spring of a ball joint (internal).
//
//     d = conj(q_rest) o q,  N = d0^2 + d2^2,  bx = (d0 d1 - d2 d3)/N,  bz = (d0 d3 + d1 d2)/N,  T = d2/d0
//     U = -K_b ln N - 2 K_t ln(d0/sqrt N)                         of d of unit length
//     Q = -(K_b bx + K_t T bz,  K_t T,  K_b bz - K_t T bx)        -dU/dphi for q <- q o exp(dphi/2)
//     D2 U = K_b/2 I + 2 K_t g0 g0'/d0^2 + 2 (K_t - K_b)/N^2 (per per' - par par')
//     g0 = -(d1, d2, d3)/2,  g2 = (d3, d0, -d1)/2,  par = d0 g0 + d2 g2,  per = d0 g2 - d2 g0
//
// bx and bz are tan(theta_b/2) times the axis of the bend, T = tan(theta_t/2). Q and D2 U are the same for any
// length and sign of d. Springs are (K_x, K_t, K_z), and K_b their mean (K_x + K_z)/2; of a section that is not
// round there is more, in oriented_joint.c.
//
// doc/strands.md, "Joint stiffness".
#pragma once

#include <stdbool.h>
#include "strands/quaternion.h"

// Below this share of their most, N and d0/sqrt N belong to a joint that is all but turned round: it has no
// energy and no torque (NaN), and the step that asks is rejected.
#define SS_JOINT_LEAST 1e-6

typedef struct ss_joint {
    ss_quat d;
    double N, bx, bz, T;
    bool sound;
} ss_joint;

static inline ss_joint ss_joint_at(ss_quat rest, ss_quat q)
{
    const ss_quat d = ss_quat_product(ss_quat_conjugate(rest), q);
    const double N = d.w * d.w + d.y * d.y, across = d.x * d.x + d.z * d.z;
    const ss_joint joint = {d,
                            N,
                            (d.w * d.x - d.y * d.z) / N,
                            (d.w * d.z + d.x * d.y) / N,
                            d.y / d.w,
                            N >= SS_JOINT_LEAST * (N + across) &&
                                d.w * d.w >= SS_JOINT_LEAST * SS_JOINT_LEAST * N};
    return joint;
}

// ---- What a section that is not round adds: oriented_joint.c

double ss_joint_uneven_energy(const ss_joint *joint, ss_vec3 spring);
ss_vec3 ss_joint_uneven_torque(const ss_joint *joint, ss_vec3 spring);
void ss_joint_add_uneven(const ss_joint *joint, ss_vec3 spring, double K[3][3]);

// ---- Energy, torque and stiffness

static inline double ss_joint_bend(ss_vec3 spring)
{
    return 0.5 * (spring.x + spring.z);
}

static inline double ss_joint_energy(const ss_joint *joint, ss_vec3 spring)
{
    const ss_quat d = joint->d;
    const double across = d.x * d.x + d.z * d.z;
    // -ln(N/|d|^2) and -2 ln(|d0|/sqrt N)
    const double even = joint->sound ? ss_joint_bend(spring) * log1p(across / joint->N) +
                                           spring.y * log1p(joint->T * joint->T)
                                     : NAN;
    return spring.x == spring.z ? even : even + ss_joint_uneven_energy(joint, spring);
}

static inline ss_vec3 ss_joint_torque(const ss_joint *joint, ss_vec3 spring)
{
    const double bend = ss_joint_bend(spring), turn = spring.y * joint->T;
    const double sound = joint->sound ? 1.0 : NAN;
    const ss_vec3 even = ss_vec(-sound * (bend * joint->bx + turn * joint->bz), -sound * turn,
                                -sound * (bend * joint->bz - turn * joint->bx));
    return spring.x == spring.z ? even : ss_plus(even, ss_joint_uneven_torque(joint, spring));
}

// The moments of the dampers at the rates w.
static inline ss_vec3 ss_joint_damping(ss_vec3 damping, const double w[3])
{
    return ss_vec(damping.x * w[0], damping.y * w[1], damping.z * w[2]);
}

// K += k a a'
static inline void ss_joint_add_square(double K[3][3], double k, ss_vec3 a)
{
    const double x[3] = {a.x, a.y, a.z};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            K[i][j] += k * x[i] * x[j];
        }
    }
}

static inline void ss_joint_stiffness(const ss_joint *joint, ss_vec3 spring, double K[3][3])
{
    const ss_quat d = joint->d;
    const double bend = ss_joint_bend(spring), twist = spring.y;
    const ss_vec3 g0 = ss_vec(-0.5 * d.x, -0.5 * d.y, -0.5 * d.z);
    const ss_vec3 g2 = ss_vec(0.5 * d.z, 0.5 * d.w, -0.5 * d.x);
    const ss_vec3 par = ss_along(ss_scaled(d.w, g0), d.y, g2);
    const ss_vec3 per = ss_along(ss_scaled(d.w, g2), -d.y, g0);
    const double share = 2.0 * (twist - bend) / (joint->N * joint->N);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            K[i][j] = i == j ? 0.5 * bend : 0.0;
        }
    }
    ss_joint_add_square(K, 2.0 * twist / (d.w * d.w), g0);
    ss_joint_add_square(K, share, per);
    ss_joint_add_square(K, -share, par);
    if (spring.x != spring.z) {
        ss_joint_add_uneven(joint, spring, K);
    }
}

// The squares of the first derivatives of bend and twist: diag(K_x (1 + bx^2 + bz^2), K_t (1 + T^2), K_z ..)/2.
static inline void ss_joint_gauss_newton(const ss_joint *joint, ss_vec3 spring, double K[3][3])
{
    const double bent = 0.5 * (1.0 + joint->bx * joint->bx + joint->bz * joint->bz);
    const double own[3] = {bent * spring.x, 0.5 * spring.y * (1.0 + joint->T * joint->T),
                           bent * spring.z};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            K[i][j] = i == j ? own[i] : 0.0;
        }
    }
}

// The q_rest at which the joint has the torque Q at q ("Zero-gravity rest shape"). False where none was found,
// which may be where the section is not round.
bool ss_joint_rest(ss_quat q, ss_vec3 spring, ss_vec3 Q, ss_quat *rest);
