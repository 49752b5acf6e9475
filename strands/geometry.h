// strands/geometry.h -- vectors, rotations, poses and quaternions.
//
// Frames are right-handed; a rotation is a matrix whose columns are the turned axes. The header
// compiles as C++, which has no compound literals: results have names.
#pragma once

#include <math.h>

typedef struct ss_vec3 {
    double x, y, z;
} ss_vec3;

typedef struct ss_mat3 {
    ss_vec3 c[3]; // columns
} ss_mat3;

// The pose of a body or a root: x in its frame is at turn x + place in the world's.
typedef struct ss_pose {
    ss_mat3 turn;
    ss_vec3 place; // m
} ss_pose;

static inline ss_vec3 ss_vec(double x, double y, double z)
{
    const ss_vec3 v = {x, y, z};
    return v;
}

static inline ss_vec3 ss_vec_read(const double x[3])
{
    return ss_vec(x[0], x[1], x[2]);
}

static inline void ss_vec_write(ss_vec3 a, double to[3])
{
    to[0] = a.x;
    to[1] = a.y;
    to[2] = a.z;
}

static inline ss_vec3 ss_plus(ss_vec3 a, ss_vec3 b)
{
    return ss_vec(a.x + b.x, a.y + b.y, a.z + b.z);
}

static inline ss_vec3 ss_minus(ss_vec3 a, ss_vec3 b)
{
    return ss_vec(a.x - b.x, a.y - b.y, a.z - b.z);
}

static inline ss_vec3 ss_scaled(double k, ss_vec3 a)
{
    return ss_vec(k * a.x, k * a.y, k * a.z);
}

// a + k b
static inline ss_vec3 ss_along(ss_vec3 a, double k, ss_vec3 b)
{
    return ss_vec(a.x + k * b.x, a.y + k * b.y, a.z + k * b.z);
}

static inline double ss_dot(ss_vec3 a, ss_vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline ss_vec3 ss_cross(ss_vec3 a, ss_vec3 b)
{
    return ss_vec(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static inline double ss_length(ss_vec3 a)
{
    return sqrt(ss_dot(a, a));
}

// a / |a|; a must not be 0.
static inline ss_vec3 ss_unit(ss_vec3 a)
{
    return ss_scaled(1.0 / ss_length(a), a);
}

static inline ss_vec3 ss_turned(const ss_mat3 *R, ss_vec3 a)
{
    return ss_along(ss_along(ss_scaled(a.x, R->c[0]), a.y, R->c[1]), a.z, R->c[2]);
}

// Returns R' a.
static inline ss_vec3 ss_turned_back(const ss_mat3 *R, ss_vec3 a)
{
    return ss_vec(ss_dot(R->c[0], a), ss_dot(R->c[1], a), ss_dot(R->c[2], a));
}

// Returns A B.
static inline ss_mat3 ss_mat3_product(const ss_mat3 *A, const ss_mat3 *B)
{
    const ss_mat3 result = {{ss_turned(A, B->c[0]), ss_turned(A, B->c[1]), ss_turned(A, B->c[2])}};
    return result;
}

static inline ss_mat3 ss_mat3_identity(void)
{
    const ss_mat3 result = {{{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}};
    return result;
}

static inline ss_pose ss_pose_identity(void)
{
    const ss_pose result = {ss_mat3_identity(), {0.0, 0.0, 0.0}};
    return result;
}

static inline ss_vec3 ss_pose_point(const ss_pose *p, ss_vec3 x)
{
    return ss_plus(ss_turned(&p->turn, x), p->place);
}

static inline ss_vec3 ss_pose_back(const ss_pose *p, ss_vec3 x)
{
    return ss_turned_back(&p->turn, ss_minus(x, p->place));
}

// Returns the pose `inner`, which stands in `outer`, in the world.
static inline ss_pose ss_pose_product(const ss_pose *outer, const ss_pose *inner)
{
    const ss_pose result = {ss_mat3_product(&outer->turn, &inner->turn),
                            ss_pose_point(outer, inner->place)};
    return result;
}

// Returns exp [w]x, the rotation by |w| about w (Rodrigues), without 0/0 at w = 0.
static inline ss_mat3 ss_rotation(ss_vec3 w)
{
    const double angle = ss_length(w);
    const double half = 0.5 * angle;
    const double sinc_half = half > 1e-4 ? sin(half) / half : 1.0 - half * half / 6.0;
    const double a = angle > 1e-4 ? sin(angle) / angle : 1.0 - angle * angle / 6.0;
    const double b = 0.5 * sinc_half * sinc_half; // (1 - cos angle) / angle^2
    ss_mat3 R = ss_mat3_identity();
    for (int k = 0; k < 3; k++) {
        const ss_vec3 once = ss_cross(w, R.c[k]);
        R.c[k] = ss_along(ss_along(R.c[k], a, once), b, ss_cross(w, once));
    }
    return R;
}

// Returns x turned by the smallest rotation that turns unit vector a into unit vector b; for b = -a
// it is about an axis orthogonal to a.
static inline ss_vec3 ss_transported(ss_vec3 a, ss_vec3 b, ss_vec3 x)
{
    const ss_vec3 axis = ss_cross(a, b);
    const double cosine = ss_dot(a, b);
    if (cosine < -0.999999) {
        const ss_vec3 other = fabs(a.x) < 0.6 ? ss_vec(1.0, 0.0, 0.0) : ss_vec(0.0, 1.0, 0.0);
        const ss_vec3 turn = ss_unit(ss_cross(a, other));
        return ss_minus(ss_scaled(2.0 * ss_dot(turn, x), turn), x);
    }
    return ss_plus(ss_along(ss_scaled(cosine, x), ss_dot(axis, x) / (1.0 + cosine), axis),
                   ss_cross(axis, x));
}

// ---- Unit quaternions for rotations
//
// p = (w, u) turns x to x + 2 w (u x x) + 2 u x (u x x); p q turns by q first, then by p. exp of a
// rotation vector a (rad, along the axis) is (cos |a|/2, sin(|a|/2) a/|a|), and log its inverse
// with |log p| <= pi. Neither divides 0 by 0 at the identity.

typedef struct ss_quat {
    double w, x, y, z;
} ss_quat;

static inline ss_quat ss_quat_of(double w, ss_vec3 u)
{
    const ss_quat p = {w, u.x, u.y, u.z};
    return p;
}

static inline ss_quat ss_quat_read(const double p[4]) // w, x, y, z
{
    const ss_quat q = {p[0], p[1], p[2], p[3]};
    return q;
}

static inline void ss_quat_write(ss_quat p, double to[4])
{
    to[0] = p.w;
    to[1] = p.x;
    to[2] = p.y;
    to[3] = p.z;
}

static inline ss_vec3 ss_quat_vector(ss_quat p)
{
    return ss_vec(p.x, p.y, p.z);
}

static inline ss_quat ss_quat_conjugate(ss_quat p)
{
    const ss_quat q = {p.w, -p.x, -p.y, -p.z};
    return q;
}

static inline ss_quat ss_quat_product(ss_quat p, ss_quat q)
{
    const ss_vec3 a = ss_quat_vector(p), b = ss_quat_vector(q);
    return ss_quat_of(p.w * q.w - ss_dot(a, b),
                      ss_plus(ss_along(ss_scaled(p.w, b), q.w, a), ss_cross(a, b)));
}

static inline ss_quat ss_quat_unit(ss_quat p)
{
    const double k = 1.0 / sqrt(p.w * p.w + p.x * p.x + p.y * p.y + p.z * p.z);
    const ss_quat q = {k * p.w, k * p.x, k * p.y, k * p.z};
    return q;
}

static inline ss_quat ss_quat_exp(ss_vec3 turn)
{
    const double half = 0.5 * ss_length(turn);
    const double sinc = half > 1e-4 ? sin(half) / half : 1.0 - half * half / 6.0;
    return ss_quat_of(cos(half), ss_scaled(0.5 * sinc, turn));
}

// Returns the rotation vector of a unit quaternion; p and -p are one rotation.
static inline ss_vec3 ss_quat_log(ss_quat p)
{
    const double sign = p.w < 0.0 ? -1.0 : 1.0;
    const ss_vec3 u = ss_scaled(sign, ss_quat_vector(p));
    const double sine = ss_length(u), cosine = sign * p.w;
    const double half = atan2(sine, cosine);
    // half / sin half = 1 + sin^2 / 6 + ... below
    return ss_scaled(2.0 * (sine > 1e-4 ? half / sine : 1.0 + sine * sine / 6.0), u);
}

static inline ss_vec3 ss_quat_turned(ss_quat p, ss_vec3 x)
{
    const ss_vec3 u = ss_quat_vector(p), once = ss_cross(u, x);
    return ss_plus(ss_along(x, 2.0 * p.w, once), ss_scaled(2.0, ss_cross(u, once)));
}

// Returns the rotation by a unit quaternion as a matrix.
static inline ss_mat3 ss_quat_matrix(ss_quat p)
{
    const ss_mat3 R = {{ss_quat_turned(p, ss_vec(1.0, 0.0, 0.0)),
                        ss_quat_turned(p, ss_vec(0.0, 1.0, 0.0)),
                        ss_quat_turned(p, ss_vec(0.0, 0.0, 1.0))}};
    return R;
}

// Returns the quaternion of a rotation matrix, by the largest of w, x, y, z (Shepperd), so that
// nothing cancels.
static inline ss_quat ss_quat_of_matrix(const ss_mat3 *R)
{
    const double xx = R->c[0].x, yy = R->c[1].y, zz = R->c[2].z, trace = xx + yy + zz;
    const ss_vec3 skew =
        ss_vec(R->c[1].z - R->c[2].y, R->c[2].x - R->c[0].z, R->c[0].y - R->c[1].x);
    ss_quat p;
    if (trace >= xx && trace >= yy && trace >= zz) {
        p = ss_quat_of(1.0 + trace, skew);
    } else if (xx >= yy && xx >= zz) {
        const ss_quat q = {skew.x, 1.0 + xx - yy - zz, R->c[0].y + R->c[1].x,
                           R->c[0].z + R->c[2].x};
        p = q;
    } else if (yy >= zz) {
        const ss_quat q = {skew.y, R->c[0].y + R->c[1].x, 1.0 + yy - xx - zz,
                           R->c[1].z + R->c[2].y};
        p = q;
    } else {
        const ss_quat q = {skew.z, R->c[0].z + R->c[2].x, R->c[1].z + R->c[2].y,
                           1.0 + zz - xx - yy};
        p = q;
    }
    return ss_quat_unit(p);
}

// Returns the rotation vector of R, |.| <= pi: exp of it is R.
static inline ss_vec3 ss_rotation_vector(const ss_mat3 *R)
{
    return ss_quat_log(ss_quat_of_matrix(R));
}
