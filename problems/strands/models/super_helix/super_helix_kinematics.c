// One element of a super-helix (super_helix_kinematics.h).
//
// Derivatives of a and of the terms by x, each divided by x:
//     a1 = c - b,  b1 = (a - 2 b)/x^2,  c1 = (b - 3 c)/x^2,
//     b2 = (a1 - 4 b1)/x^2,  c2 = (b1 - 5 c1)/x^2
// and, along a motion with phi-dot = d constant, db/dt = b1 (phi.d) and
// d2b/dt2 = b1 (d.d) + b2 (phi.d)^2; c likewise.
#include "problems/strands/models/super_helix/super_helix_kinematics.h"

// Terms of the power series in x^2.
#define SERIES 7

// b = sum (-y)^k / (2k + 2)!, c = sum (-y)^k / (2k + 3)!, y = x^2, and their derivatives: b, c, b1 and c1 side by
// side, then b2 and c2.
typedef double four __attribute__((vector_size(32)));
typedef double two __attribute__((vector_size(16)));
static const four FIRST[SERIES] = {
    {1.0 / 2, 1.0 / 6, -2.0 / 24, -2.0 / 120},
    {-1.0 / 24, -1.0 / 120, 4.0 / 720, 4.0 / 5040},
    {1.0 / 720, 1.0 / 5040, -6.0 / 40320, -6.0 / 362880},
    {-1.0 / 40320, -1.0 / 362880, 8.0 / 3628800, 8.0 / 39916800},
    {1.0 / 3628800, 1.0 / 39916800, -10.0 / 479001600, -10.0 / 6227020800.0},
    {-1.0 / 479001600, -1.0 / 6227020800.0, 12.0 / 87178291200.0, 12.0 / 1307674368000.0},
    {1.0 / 87178291200.0, 1.0 / 1307674368000.0, -14.0 / 20922789888000.0,
     -14.0 / 355687428096000.0}};
static const two SECOND[SERIES] = {{8.0 / 720, 8.0 / 5040},
                                   {-24.0 / 40320, -24.0 / 362880},
                                   {48.0 / 3628800, 48.0 / 39916800},
                                   {-80.0 / 479001600, -80.0 / 6227020800.0},
                                   {120.0 / 87178291200.0, 120.0 / 1307674368000.0},
                                   {-168.0 / 20922789888000.0, -168.0 / 355687428096000.0},
                                   {224.0 / 6402373705728000.0, 224.0 / 121645100408832000.0}};

static ss_helix_terms closed_terms(double y)
{
    const double half = 0.5 * sqrt(y);
    const double sine = sin(half);
    const double a = sine * cos(half) / half;
    ss_helix_terms t = {0};
    t.b = 2.0 * sine * sine / y; // 1 - cos x would lose digits
    t.c = (1.0 - a) / y;
    t.b1 = (a - 2.0 * t.b) / y;
    t.c1 = (t.b - 3.0 * t.c) / y;
    return t;
}

ss_helix_terms ss_helix_first_at(double x_squared)
{
    if (!(x_squared < SS_HELIX_SERIES_BELOW * SS_HELIX_SERIES_BELOW)) {
        return closed_terms(x_squared);
    }
    four sum = FIRST[SERIES - 1];
    for (int k = SERIES - 2; k >= 0; k--) {
        sum = sum * x_squared + FIRST[k];
    }
    return (ss_helix_terms){.b = sum[0], .c = sum[1], .b1 = sum[2], .c1 = sum[3]};
}

ss_helix_terms ss_helix_terms_at(double x_squared)
{
    ss_helix_terms t = ss_helix_first_at(x_squared);
    if (!(x_squared < SS_HELIX_SERIES_BELOW * SS_HELIX_SERIES_BELOW)) {
        t.b2 = (t.c - t.b - 4.0 * t.b1) / x_squared;
        t.c2 = (t.b1 - 5.0 * t.c1) / x_squared;
    } else {
        two sum = SECOND[SERIES - 1];
        for (int k = SERIES - 2; k >= 0; k--) {
            sum = sum * x_squared + SECOND[k];
        }
        t.b2 = sum[0];
        t.c2 = sum[1];
    }
    return t;
}

// phi x e0
static ss_vec3 across(ss_vec3 phi)
{
    return ss_vec(0.0, phi.z, -phi.y);
}

ss_helix_arc ss_helix_arc_at(ss_vec3 q, double sigma)
{
    const ss_vec3 phi = ss_scaled(sigma, q);
    const double y = ss_dot(phi, phi);
    const ss_helix_terms t = ss_helix_first_at(y);
    const ss_vec3 u = across(phi);
    const ss_vec3 v = ss_vec(-phi.y * phi.y - phi.z * phi.z, phi.x * phi.y, phi.x * phi.z);
    const double s2 = sigma * sigma;
    const double b = s2 * t.b, c = s2 * t.c;
    ss_vec3 far = ss_along(ss_scaled(s2 * t.b1, u), s2 * t.c1, v);
    far.x -= 2.0 * c; // what is multiplied by phi' on the right
    const double cx = c * phi.x;
    return (ss_helix_arc){.p = ss_vec(sigma * (1.0 + t.c * v.x), sigma * (t.b * u.y + t.c * v.y),
                                      sigma * (t.b * u.z + t.c * v.z)),
                          .dp = {{ss_vec(far.x * phi.x + 2.0 * cx, far.y * phi.x + c * phi.y,
                                         far.z * phi.x + c * phi.z),
                                  ss_vec(far.x * phi.y, far.y * phi.y + cx, far.z * phi.y - b),
                                  ss_vec(far.x * phi.z, far.y * phi.z + b, far.z * phi.z + cx)}}};
}

// one I + cross [phi]x + outer phi phi'
static ss_mat3 about(ss_vec3 phi, double one, double cross, double outer)
{
    const ss_vec3 k = ss_scaled(cross, phi), o = ss_scaled(outer, phi);
    return (ss_mat3){{ss_vec(one + o.x * phi.x, o.x * phi.y + k.z, o.x * phi.z - k.y),
                      ss_vec(o.y * phi.x - k.z, one + o.y * phi.y, o.y * phi.z + k.x),
                      ss_vec(o.z * phi.x + k.y, o.z * phi.y - k.x, one + o.z * phi.z)}};
}

ss_helix_joint ss_helix_joint_at(ss_vec3 q, double sigma)
{
    // [phi]x^2 = phi phi' - x^2 I
    const ss_vec3 phi = ss_scaled(sigma, q);
    const double y = ss_dot(phi, phi);
    const ss_helix_terms t = ss_helix_first_at(y);
    const double a = 1.0 - t.c * y;
    return (ss_helix_joint){.turn = about(phi, 1.0 - t.b * y, a, t.b),
                            .spin = about(phi, sigma * a, sigma * t.b, sigma * t.c)};
}

ss_helix_motion ss_helix_motion_at(ss_vec3 q, ss_vec3 qdot, double sigma)
{
    const ss_vec3 phi = ss_scaled(sigma, q), d = ss_scaled(sigma, qdot);
    const double pd = ss_dot(phi, d), dd = ss_dot(d, d);
    const ss_helix_terms t = ss_helix_terms_at(ss_dot(phi, phi));
    const double b_rate = t.b1 * pd, b_curve = t.b1 * dd + t.b2 * pd * pd;
    const double c_rate = t.c1 * pd, c_curve = t.c1 * dd + t.c2 * pd * pd;
    const ss_vec3 u = across(phi), u_rate = across(d);
    const ss_vec3 v = ss_cross(phi, u);
    const ss_vec3 v_rate = ss_plus(ss_cross(d, u), ss_cross(phi, u_rate));
    const ss_vec3 v_curve = ss_scaled(2.0, ss_cross(d, u_rate));
    const ss_vec3 p = ss_along(ss_scaled(t.b, u), t.c, v);
    const ss_vec3 velocity = ss_plus(ss_along(ss_scaled(b_rate, u), t.b, u_rate),
                                     ss_along(ss_scaled(c_rate, v), t.c, v_rate));
    const ss_vec3 acceleration =
        ss_along(ss_plus(ss_along(ss_scaled(b_curve, u), 2.0 * b_rate, u_rate),
                         ss_along(ss_scaled(c_curve, v), 2.0 * c_rate, v_rate)),
                 t.c, v_curve);
    return (ss_helix_motion){.p = ss_scaled(sigma, ss_vec(1.0 + p.x, p.y, p.z)),
                             .velocity = ss_scaled(sigma, velocity),
                             .acceleration = ss_scaled(sigma, acceleration)};
}

void ss_helix_spin_at(ss_vec3 q, ss_vec3 qdot, double sigma, ss_vec3 *spin, ss_vec3 *spin_rate)
{
    const ss_vec3 phi = ss_scaled(sigma, q), d = ss_scaled(sigma, qdot);
    const double pd = ss_dot(phi, d);
    const ss_helix_terms t = ss_helix_first_at(ss_dot(phi, phi));
    const ss_vec3 once = ss_cross(phi, d), twice = ss_cross(phi, once);
    *spin = ss_along(ss_along(d, t.b, once), t.c, twice);
    *spin_rate =
        ss_along(ss_along(ss_scaled(t.b1 * pd, once), t.c1 * pd, twice), t.c, ss_cross(d, once));
}
