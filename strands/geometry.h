// strands/geometry.h -- vectors, rotations and poses of space.
//
// Right-handed frames; a rotation is a matrix whose columns are the turned axes. Compiles as C++,
// which has no compound literals: results have names.
#pragma once

#include <math.h>

typedef struct ss_vec3 {
    double x, y, z;
} ss_vec3;

typedef struct ss_mat3 {
    ss_vec3 c[3]; // columns
} ss_mat3;

// Where a body or a root is: x in its frame is at turn x + place in the world's.
typedef struct ss_pose {
    ss_mat3 turn;
    ss_vec3 place; // m
} ss_pose;

static inline ss_vec3 ss_vec(double x, double y, double z)
{
    const ss_vec3 v = {x, y, z};
    return v;
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

// R' a
static inline ss_vec3 ss_turned_back(const ss_mat3 *R, ss_vec3 a)
{
    return ss_vec(ss_dot(R->c[0], a), ss_dot(R->c[1], a), ss_dot(R->c[2], a));
}

// A B
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

// x in `inner`, which stands in `outer`.
static inline ss_pose ss_pose_product(const ss_pose *outer, const ss_pose *inner)
{
    const ss_pose result = {ss_mat3_product(&outer->turn, &inner->turn),
                            ss_pose_point(outer, inner->place)};
    return result;
}

// exp [w]x: the rotation by |w| about w (Rodrigues), without 0/0 at w = 0.
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

// The smallest rotation that turns unit vector a into unit vector b, applied to x; for b = -a
// about an axis orthogonal to a.
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
