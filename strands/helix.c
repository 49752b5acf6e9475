// strands/helix.c -- points, frames and motions of a piece of helix.
//
// Derivatives of a and of the terms by x, each divided by x:
//     a1 = c - b,  b1 = (a - 2 b)/x^2,  c1 = (b - 3 c)/x^2,
//     b2 = (a1 - 4 b1)/x^2,  c2 = (b1 - 5 c1)/x^2
#define LANES 1
#include "strands/helix_kernel.h"

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

static lane3 lane_of(ss_vec3 a)
{
    return (lane3){a.x, a.y, a.z};
}

static ss_vec3 vec_of(lane3 a)
{
    return ss_vec(a.x, a.y, a.z);
}

ss_helix_arc ss_helix_arc_at(ss_vec3 q, double sigma)
{
    const lane3 phi = lane3_scaled(sigma, lane_of(q));
    const ss_helix_terms t = ss_helix_first_at(lane3_dot(phi, phi));
    const lane_terms terms = {.b = t.b, .c = t.c, .b1 = t.b1, .c1 = t.c1};
    const lane_arc arc = lane_arc_at(phi, sigma, &terms);
    return (ss_helix_arc){.p = vec_of(arc.p),
                          .dp = {{vec_of(arc.dp[0]), vec_of(arc.dp[1]), vec_of(arc.dp[2])}}};
}

// Returns one I + cross [phi]x + outer phi phi'.
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
    const lane3 phi = lane3_scaled(sigma, lane_of(q)), d = lane3_scaled(sigma, lane_of(qdot));
    const ss_helix_terms t = ss_helix_terms_at(lane3_dot(phi, phi));
    const lane_terms terms = {t.b, t.c, t.b1, t.c1, t.b2, t.c2};
    const lane_motion m = lane_motion_at(phi, d, sigma, &terms);
    return (ss_helix_motion){vec_of(m.p), vec_of(m.velocity), vec_of(m.acceleration)};
}

ss_vec3 ss_helix_carried(const ss_helix_carrier *c, const ss_helix_motion *m)
{
    const lane_carrier by = {lane_of(c->spin), lane_of(c->spin_rate), lane_of(c->acceleration)};
    const lane_motion own = {lane_of(m->p), lane_of(m->velocity), lane_of(m->acceleration)};
    return vec_of(lane_carried(&by, &own));
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
