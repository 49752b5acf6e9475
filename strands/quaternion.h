// strands/quaternion.h -- unit quaternions for rotations.
//
// p = (w, u) turns x to x + 2 w (u x x) + 2 u x (u x x); p q turns by q first, then by p. exp of a
// rotation vector a (rad, along the axis) is (cos |a|/2, sin(|a|/2) a/|a|), and log its inverse with
// |log p| <= pi. Neither divides 0 by 0 at the identity.
#pragma once

#include "strands/geometry.h"

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

// Of a unit quaternion; p and -p are one rotation.
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

// The rotation by a unit quaternion as a matrix.
static inline ss_mat3 ss_quat_matrix(ss_quat p)
{
    const ss_mat3 R = {{ss_quat_turned(p, ss_vec(1.0, 0.0, 0.0)),
                        ss_quat_turned(p, ss_vec(0.0, 1.0, 0.0)),
                        ss_quat_turned(p, ss_vec(0.0, 0.0, 1.0))}};
    return R;
}

// Of a rotation matrix, by the largest of w, x, y, z (Shepperd), so that nothing cancels.
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

// The rotation vector of R, |.| <= pi: exp of it is R.
static inline ss_vec3 ss_rotation_vector(const ss_mat3 *R)
{
    return ss_quat_log(ss_quat_of_matrix(R));
}
