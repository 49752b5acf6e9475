// The point of a segment that is nearest to an obstacle, or deepest inside it.
//
// Every shape is convex, and so is its signed distance D along the segment x(a) = x0 + a d. D is
// least where its slope D' = n . d changes sign, n being the outward normal at the surface point
// nearest to x(a). Spheres, planes and capsules have that point in closed form; for ellipsoids and
// cylinders the change of sign is bracketed.
//
// Point and ellipsoid with half axes s_i, by reflection x_i >= 0: the nearest surface point is
//     y_i = s_i^2 x_i / (t + s_i^2),   sum_i (y_i / s_i)^2 = 1,   t > -min s_i^2,
// with the normal along y_i / s_i^2. With tau = t + min s_i^2 and e_i = s_i^2 - min s_i^2 that is
//     Q(tau) = sum_i (s_i x_i / (tau + e_i))^2 = 1.
// 1 / sqrt(Q) is increasing, concave and nearly straight: Newton's method for 1 / sqrt(Q) = 1 from
// a tau with Q >= 1 rises to the root and needs a few steps.
#include "strands/contact/obstacle.h"
#include "strands/contact/proximity.h"

// The nearest surface point of a shape, seen from a point x in its frame: x - distance n.
typedef struct surface {
    ss_vec3 n; // outward, unit
    double distance;
} surface;

typedef surface surface_at(ss_vec3 size, ss_vec3 x);

// Share of the shortest half axis. A point inside the ellipsoid in the plane of the two longer axes
// has two nearest points; one that is moved off that plane by this much has one.
#define OFF_PLANE        1e-13
#define NEWTON_STEPS_MAX 60
#define NEWTON_ENOUGH    1e-15 // of tau

// tau with Q(tau) = 1, for sx_i = s_i x_i of which that with e_i = 0 is positive.
static double ellipsoid_tau(const double sx[3], const double excess[3])
{
    double low = 0.0, high = 0.0;
    for (int i = 0; i < 3; i++) {
        low = ss_larger(low, sx[i] - excess[i]); // one term alone is 1
        high += sx[i] * sx[i];
    }
    high = sqrt(high); // all terms with excess 0 are 1
    double tau = low;
    for (int k = 0; k < NEWTON_STEPS_MAX; k++) {
        double Q = 0.0, S = 0.0; // S = -Q' / 2
        for (int i = 0; i < 3; i++) {
            const double inverse = 1.0 / (tau + excess[i]), term = sx[i] * inverse;
            Q += term * term;
            S += term * term * inverse;
        }
        const double before = tau;
        low = Q >= 1.0 ? tau : low;
        high = Q < 1.0 ? tau : high;
        tau += Q * (sqrt(Q) - 1.0) / S;
        if (!(tau >= low && tau <= high)) {
            tau = 0.5 * (low + high);
        }
        if (fabs(tau - before) <= NEWTON_ENOUGH * tau) {
            break;
        }
    }
    return tau;
}

static surface at_ellipsoid(ss_vec3 size, ss_vec3 x)
{
    const double s[3] = {size.x, size.y, size.z};
    double p[3] = {fabs(x.x), fabs(x.y), fabs(x.z)};
    const int least = s[0] <= s[1] && s[0] <= s[2] ? 0 : s[1] <= s[2] ? 1 : 2;
    p[least] = ss_larger(p[least], OFF_PLANE * s[least]);
    double sx[3], excess[3];
    for (int i = 0; i < 3; i++) {
        sx[i] = s[i] * p[i];
        excess[i] = (s[i] - s[least]) * (s[i] + s[least]);
    }
    const double tau = ellipsoid_tau(sx, excess);
    ss_vec3 n =
        ss_vec(p[0] / (tau + excess[0]), p[1] / (tau + excess[1]), p[2] / (tau + excess[2]));
    const ss_vec3 y = ss_vec(s[0] * s[0] * n.x, s[1] * s[1] * n.y, s[2] * s[2] * n.z);
    n = ss_unit(n);
    const double distance = ss_dot(ss_minus(ss_vec(p[0], p[1], p[2]), y), n);
    return (surface){ss_vec(copysign(n.x, x.x), copysign(n.y, x.y), copysign(n.z, x.z)), distance};
}

static surface at_cylinder(ss_vec3 size, ss_vec3 x)
{
    const double rho = sqrt(x.x * x.x + x.y * x.y);
    const ss_vec3 side = rho > 0.0 ? ss_vec(x.x / rho, x.y / rho, 0.0) : ss_vec(1.0, 0.0, 0.0);
    const ss_vec3 cap = ss_vec(0.0, 0.0, x.z < 0.0 ? -1.0 : 1.0);
    const double outside = rho - size.x, above = fabs(x.z) - size.z;
    if (outside > 0.0 && above > 0.0) {
        const double rim = sqrt(outside * outside + above * above);
        return (surface){ss_along(ss_scaled(outside / rim, side), above / rim, cap), rim};
    }
    return outside > above ? (surface){side, outside} : (surface){cap, above};
}

// A slope below this is level: a segment that lies along the side of a cylinder, or flat on a
// plane, touches in its middle and not at the end that rounding prefers.
#define LEVEL            1e-9
#define SLOPE_ENOUGH     1e-12
#define ABSCISSA_ENOUGH  1e-13
#define SEARCH_STEPS_MAX 100

// The abscissa where the slope exceeds `level`, which it does not before: 0 or 1 if it does
// everywhere or nowhere. Steps of regula falsi, which find a smooth change of sign, alternate with
// halving, which finds a jump.
static double slope_exceeds(surface_at *at, ss_vec3 size, ss_vec3 x0, ss_vec3 d, double level)
{
    const double small = SLOPE_ENOUGH * ss_length(d);
    double low = 0.0, high = 1.0;
    double below = ss_dot(at(size, x0).n, d) - level;
    if (!(below < 0.0)) {
        return 0.0;
    }
    double above = ss_dot(at(size, ss_plus(x0, d)).n, d) - level;
    if (!(above > 0.0)) {
        return 1.0;
    }
    for (int k = 0; k < SEARCH_STEPS_MAX && high - low > ABSCISSA_ENOUGH; k++) {
        const double a =
            k % 2 == 0 ? low + (high - low) * (below / (below - above)) : 0.5 * (low + high);
        const double slope = ss_dot(at(size, ss_along(x0, a, d)).n, d) - level;
        if (fabs(slope) <= small) {
            return a;
        }
        low = slope < 0.0 ? a : low;
        below = slope < 0.0 ? slope : below;
        high = slope < 0.0 ? high : a;
        above = slope < 0.0 ? above : slope;
    }
    return 0.5 * (low + high);
}

static void near_ellipsoid(ss_vec3 size, ss_vec3 x0, ss_vec3 d, ss_obstacle_near *near)
{
    near->a = slope_exceeds(at_ellipsoid, size, x0, d, 0.0);
    const surface s = at_ellipsoid(size, ss_along(x0, near->a, d));
    near->n = s.n;
    near->distance = s.distance;
}

// Along the side, or across a cap, the distance may be level over a part of the segment.
static void near_cylinder(ss_vec3 size, ss_vec3 x0, ss_vec3 d, ss_obstacle_near *near)
{
    const double level = LEVEL * ss_length(d);
    near->a = 0.5 * (slope_exceeds(at_cylinder, size, x0, d, -level) +
                     slope_exceeds(at_cylinder, size, x0, d, level));
    const surface s = at_cylinder(size, ss_along(x0, near->a, d));
    near->n = s.n;
    near->distance = s.distance;
}

static void near_plane(ss_vec3 x0, ss_vec3 d, ss_obstacle_near *near)
{
    const double level = LEVEL * ss_length(d);
    near->a = d.z > level ? 0.0 : d.z < -level ? 1.0 : 0.5;
    near->n = ss_vec(0.0, 0.0, 1.0);
    near->distance = x0.z + near->a * d.z;
}

// Points within `radius` of the part of the z axis with |z| <= half: a sphere where half is 0.
static void near_capsule(double radius, double half, ss_vec3 x0, ss_vec3 d, ss_obstacle_near *near)
{
    const ss_vec3 foot = ss_vec(0.0, 0.0, -half), axis = ss_vec(0.0, 0.0, 2.0 * half);
    double b;
    ss_segments_exact(x0, ss_plus(x0, d), foot, ss_plus(foot, axis), &near->a, &b);
    const ss_vec3 w = ss_minus(ss_along(x0, near->a, d), ss_along(foot, b, axis));
    near->n = ss_normal_between(w, d, axis);
    near->distance = ss_length(w) - radius;
}

// The least |x0 + a d|^2 over the segment.
static double least_square(ss_vec3 x0, ss_vec3 d)
{
    const double dd = ss_dot(d, d), a = dd > 0.0 ? -ss_dot(x0, d) / dd : 0.0;
    const ss_vec3 x = ss_along(x0, a > 0.0 ? ss_smaller(a, 1.0) : 0.0, d);
    return ss_dot(x, x);
}

// A bound that costs little: the map x -> x/s stretches lengths by 1 / min s at most, so that the
// distance is at least (|x/s| - 1) min s.
static bool ellipsoid_is_beyond(ss_vec3 s, ss_vec3 x0, ss_vec3 d, double reach)
{
    const double share = 1.0 + ss_larger(reach, 0.0) / ss_smaller(s.x, ss_smaller(s.y, s.z));
    return least_square(ss_vec(x0.x / s.x, x0.y / s.y, x0.z / s.z),
                        ss_vec(d.x / s.x, d.y / s.y, d.z / s.z)) > share * share;
}

// Likewise: beyond the tube about the axis, or beyond one of the caps.
static bool cylinder_is_beyond(ss_vec3 size, ss_vec3 x0, ss_vec3 d, double reach)
{
    const double radius = size.x + ss_larger(reach, 0.0), half = size.z + ss_larger(reach, 0.0);
    return ss_smaller(x0.z, x0.z + d.z) > half || ss_larger(x0.z, x0.z + d.z) < -half ||
           least_square(ss_vec(x0.x, x0.y, 0.0), ss_vec(d.x, d.y, 0.0)) > radius * radius;
}

double ss_obstacle_ball(const ss_obstacle *o)
{
    const ss_vec3 size = o->size;
    switch (o->kind) {
    case SS_OBSTACLE_SPHERE:
        return size.x;
    case SS_OBSTACLE_ELLIPSOID:
        return ss_larger(size.x, ss_larger(size.y, size.z));
    case SS_OBSTACLE_CYLINDER:
    case SS_OBSTACLE_CAPSULE:
        return size.x + size.z;
    case SS_OBSTACLE_PLANE:
        break;
    }
    return INFINITY;
}

bool ss_obstacle_within(const ss_obstacle *o, const ss_pose *pose, ss_vec3 x0, ss_vec3 x1,
                        double reach, ss_obstacle_near *near)
{
    const ss_vec3 start = ss_pose_back(pose, x0), d = ss_minus(ss_pose_back(pose, x1), start);
    switch (o->kind) {
    case SS_OBSTACLE_ELLIPSOID:
        if (ellipsoid_is_beyond(o->size, start, d, reach)) {
            return false;
        }
        near_ellipsoid(o->size, start, d, near);
        break;
    case SS_OBSTACLE_CYLINDER:
        if (cylinder_is_beyond(o->size, start, d, reach)) {
            return false;
        }
        near_cylinder(o->size, start, d, near);
        break;
    case SS_OBSTACLE_SPHERE:
        near_capsule(o->size.x, 0.0, start, d, near);
        break;
    case SS_OBSTACLE_CAPSULE:
        if (cylinder_is_beyond(ss_vec(o->size.x, o->size.x, o->size.z + o->size.x), start, d,
                               reach)) {
            return false;
        }
        near_capsule(o->size.x, o->size.z, start, d, near);
        break;
    case SS_OBSTACLE_PLANE:
        near_plane(start, d, near);
        break;
    }
    near->n = ss_turned(&pose->turn, near->n);
    near->y = ss_along(ss_along(x0, near->a, ss_minus(x1, x0)), -near->distance, near->n);
    return near->distance < reach;
}

void ss_obstacle_nearest(const ss_obstacle *o, const ss_pose *pose, ss_vec3 x0, ss_vec3 x1,
                         ss_obstacle_near *near)
{
    ss_obstacle_within(o, pose, x0, x1, INFINITY, near);
}
