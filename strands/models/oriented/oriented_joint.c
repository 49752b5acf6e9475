// Joints of sections that are not round, and rest shapes by inverse dynamics (oriented_joint.h).
//
// A bend about the axis b has the energy -2 K_b(b) ln cos(theta_b/2) with K_b(b) = (K_x bx^2 + K_z bz^2)/s,
// s = bx^2 + bz^2, so that a pure bend about x or z has the torque of K_x or K_z. Beside the energy of the mean
// K_b this is
//
//     (K_x - K_z)/2 h,   h = (bx^2 - bz^2) g(s),   g = ln(1 + s)/s
//     dbx/dphi = a = (1 + bx^2 - bz^2, -2 bz, 2 bx bz)/2,   dbz/dphi = c = (2 bx bz, 2 bx, 1 + bz^2 - bx^2)/2
//     D2 bx = sym[e_x (bx a - bz c)' - e_y c' + e_z (bz a + bx c)'],   sym A = (A + A')/2
//     D2 bz = sym[e_x (bz a + bx c)' + e_y a' + e_z (bz c - bx a)']
//
// with derivatives along q <- q o exp(dphi/2), the second ones twice along one phi.
//
// doc/strands.md, "Joint stiffness".
#include "strands/models/oriented/oriented_joint.h"

// g and its first two derivatives. Below this s by their series, the closed forms lose digits as s^-2.
#define SERIES_BELOW 0.03
#define TERMS        12
static void log_share(double s, double g[3])
{
    if (s < SERIES_BELOW) {
        g[0] = g[1] = g[2] = 0.0;
        for (int k = TERMS; k >= 0; k--) { // g = sum (-s)^k/(k + 1), by Horner's rule
            const double sign = k % 2 == 0 ? 1.0 : -1.0, term = sign / (k + 1);
            g[0] = g[0] * s + term;
            g[1] = k >= 1 ? g[1] * s + k * term : g[1];
            g[2] = k >= 2 ? g[2] * s + k * (k - 1) * term : g[2];
        }
        return;
    }
    const double one = 1.0 / (1.0 + s);
    g[0] = log1p(s) / s;
    g[1] = (one - g[0]) / s;
    g[2] = (-one * one - 2.0 * g[1]) / s;
}

// bx, bz, their derivatives, and those of h by them.
typedef struct uneven {
    double bx, bz, h, hx, hz, hxx, hxz, hzz;
    ss_vec3 a, c;
} uneven;

static uneven uneven_at(const ss_joint *joint)
{
    const double bx = joint->bx, bz = joint->bz, e = bx * bx - bz * bz;
    double g[3];
    log_share(bx * bx + bz * bz, g);
    return (uneven){.bx = bx,
                    .bz = bz,
                    .h = e * g[0],
                    .hx = 2.0 * bx * (g[0] + e * g[1]),
                    .hz = 2.0 * bz * (e * g[1] - g[0]),
                    .hxx = 2.0 * (g[0] + e * g[1]) + 4.0 * bx * bx * (2.0 * g[1] + e * g[2]),
                    .hxz = 4.0 * bx * bz * e * g[2],
                    .hzz = 2.0 * (e * g[1] - g[0]) + 4.0 * bz * bz * (e * g[2] - 2.0 * g[1]),
                    .a = ss_vec(0.5 * (1.0 + e), -bz, bx * bz),
                    .c = ss_vec(bx * bz, bx, 0.5 * (1.0 - e))};
}

static double half_difference(ss_vec3 spring)
{
    return 0.5 * (spring.x - spring.z);
}

double ss_joint_uneven_energy(const ss_joint *joint, ss_vec3 spring)
{
    return half_difference(spring) * uneven_at(joint).h;
}

ss_vec3 ss_joint_uneven_torque(const ss_joint *joint, ss_vec3 spring)
{
    const uneven u = uneven_at(joint);
    return ss_scaled(-half_difference(spring), ss_along(ss_scaled(u.hx, u.a), u.hz, u.c));
}

// K += k (x y' + y x')/2
static void add_product(double K[3][3], double k, ss_vec3 x, ss_vec3 y)
{
    const double p[3] = {x.x, x.y, x.z}, q[3] = {y.x, y.y, y.z};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            K[i][j] += 0.5 * k * (p[i] * q[j] + q[i] * p[j]);
        }
    }
}

void ss_joint_add_uneven(const ss_joint *joint, ss_vec3 spring, double K[3][3])
{
    const uneven u = uneven_at(joint);
    const double D = half_difference(spring);
    const ss_vec3 x = ss_vec(1.0, 0.0, 0.0), y = ss_vec(0.0, 1.0, 0.0), z = ss_vec(0.0, 0.0, 1.0);
    const ss_vec3 less = ss_along(ss_scaled(u.bx, u.a), -u.bz, u.c); // of bx^2 - bz^2, halved
    const ss_vec3 both = ss_along(ss_scaled(u.bz, u.a), u.bx, u.c);  // of bx bz
    ss_joint_add_square(K, D * u.hxx, u.a);
    ss_joint_add_square(K, D * u.hzz, u.c);
    add_product(K, 2.0 * D * u.hxz, u.a, u.c);
    add_product(K, D * u.hx, x, less);
    add_product(K, -D * u.hx, y, u.c);
    add_product(K, D * u.hx, z, both);
    add_product(K, D * u.hz, x, both);
    add_product(K, D * u.hz, y, u.a);
    add_product(K, -D * u.hz, z, less);
}

// ---- Rest shapes

// Of a round section:
//
//     T = -Q_y/K_t,  k = K_t T,  det = K_b^2 + k^2,  bx = (-Q_x K_b + Q_z k)/det,  bz = (-Q_z K_b - Q_x k)/det
//     d = (1, 0, T, 0)/sqrt(1 + T^2) o (1, bx, 0, bz)/sqrt(1 + bx^2 + bz^2)
static ss_quat even_rest(double bend, double twist, ss_vec3 Q)
{
    const double T = -Q.y / twist, k = twist * T, det = bend * bend + k * k;
    const double bx = (-Q.x * bend + Q.z * k) / det, bz = (-Q.z * bend - Q.x * k) / det;
    const ss_quat turn = {1.0, 0.0, T, 0.0}, fold = {1.0, bx, 0.0, bz};
    return ss_quat_unit(ss_quat_product(turn, fold));
}

// x of A x = b, by Cramer's rule, A's columns given.
static ss_vec3 solved(const ss_mat3 *A, ss_vec3 b)
{
    const ss_vec3 c12 = ss_cross(A->c[1], A->c[2]);
    const double det = ss_dot(A->c[0], c12);
    return ss_vec(ss_dot(b, c12) / det, ss_dot(A->c[0], ss_cross(b, A->c[2])) / det,
                  ss_dot(A->c[0], ss_cross(A->c[1], b)) / det);
}

static ss_joint joint_of(ss_quat d)
{
    const ss_quat none = {1.0, 0.0, 0.0, 0.0};
    return ss_joint_at(none, d);
}

// Newton's method on d <- d o exp(phi/2): the torque changes by -(D2 U phi + phi x Q/2). At most a turn of
// MOST_TURN at once.
#define ROUNDS    40
#define MOST_TURN 0.3   // rad
#define CLOSE     1e-14 // of the springs and the torque
static bool improve(ss_vec3 spring, ss_vec3 Q, ss_quat *d)
{
    const double size = spring.x + spring.y + spring.z + ss_length(Q);
    for (int k = 0; k < ROUNDS; k++) {
        const ss_joint joint = joint_of(*d);
        const ss_vec3 now = ss_joint_torque(&joint, spring), off = ss_minus(now, Q);
        double K[3][3];
        if (!joint.sound || !isfinite(ss_length(off))) {
            return false;
        }
        if (ss_length(off) <= CLOSE * size) {
            return true;
        }
        ss_joint_stiffness(&joint, spring, K);
        const ss_mat3 A = {{ss_vec(K[0][0], K[1][0] - 0.5 * now.z, K[2][0] + 0.5 * now.y),
                            ss_vec(K[0][1] + 0.5 * now.z, K[1][1], K[2][1] - 0.5 * now.x),
                            ss_vec(K[0][2] - 0.5 * now.y, K[1][2] + 0.5 * now.x, K[2][2])}};
        const ss_vec3 phi = solved(&A, off);
        const double turn = ss_length(phi), share = turn > MOST_TURN ? MOST_TURN / turn : 1.0;
        *d = ss_quat_unit(ss_quat_product(*d, ss_quat_exp(ss_scaled(share, phi))));
    }
    return false;
}

// From the joint `d` that bears `from_load` with the spring `from` to one that bears Q with another spring, by way of
// joints between: the more of them the harder it is.
#define FIRST_STAGE 0.125
#define LAST_STAGE  1e-3
static bool follow(ss_vec3 from, ss_vec3 from_load, ss_vec3 spring, ss_vec3 Q, ss_quat *d)
{
    double share = 0.0, stage = FIRST_STAGE;
    while (share < 1.0 && stage >= LAST_STAGE) {
        const double next = fmin(share + stage, 1.0);
        const ss_vec3 between = ss_along(ss_scaled(1.0 - next, from), next, spring);
        const ss_vec3 load = ss_along(ss_scaled(1.0 - next, from_load), next, Q);
        ss_quat tried = *d;
        if (improve(between, load, &tried)) {
            *d = tried;
            share = next;
        } else {
            stage *= 0.5;
        }
    }
    return share == 1.0;
}

// Of other sections from the round one with the mean K_b, or else from no load.
bool ss_joint_rest(ss_quat q, ss_vec3 spring, ss_vec3 Q, ss_quat *rest)
{
    const double bend = ss_joint_bend(spring);
    const ss_vec3 even = ss_vec(bend, spring.y, bend), none = {0.0, 0.0, 0.0};
    ss_quat d = even_rest(bend, spring.y, Q);
    bool found = spring.x == spring.z || follow(even, Q, spring, Q, &d);
    if (!found) {
        d = (ss_quat){1.0, 0.0, 0.0, 0.0};
        found = follow(spring, none, spring, Q, &d);
    }
    *rest = ss_quat_unit(ss_quat_product(q, ss_quat_conjugate(d)));
    return found;
}
