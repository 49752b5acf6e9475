// strands/helix_kernel.h -- points of a piece of helix, one or many side by side (internal; helix.h
// has the formulas).
//
// A template: whoever includes it has defined LANES (lanes.h).
//
// Along a motion with phi-dot = d constant, db/dt = b1 (phi.d) and d2b/dt2 = b1 (d.d) + b2
// (phi.d)^2; c likewise.
#pragma once

#include "strands/helix.h"
#include "strands/lanes.h"

// Terms of the power series in x^2.
#define SERIES 7

// b = sum (-y)^k / (2k + 2)!, c = sum (-y)^k / (2k + 3)!, y = x^2, and their derivatives: b, c, b1
// and c1 side by side, then b2 and c2.
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

typedef struct lane_terms {
    lanes b, c, b1, c1, b2, c2;
} lane_terms;

typedef struct lane_arc {
    lane3 p, dp[3];
} lane_arc;

typedef struct lane_motion {
    lane3 p, velocity, acceleration;
} lane_motion;

// The motion of a frame (ss_helix_carrier).
typedef struct lane_carrier {
    lane3 spin, spin_rate, acceleration;
} lane_carrier;

// phi x e0
static inline lane3 lane_across(lane3 phi)
{
    return (lane3){lanes_all(0.0), phi.z, -phi.y};
}

// Finds a point; phi = sigma q, and t holds the terms at |phi|^2.
static inline lane_arc lane_arc_at(lane3 phi, lanes sigma, const lane_terms *t)
{
    const lane3 u = lane_across(phi);
    const lane3 v = {-phi.y * phi.y - phi.z * phi.z, phi.x * phi.y, phi.x * phi.z};
    const lanes s2 = sigma * sigma;
    const lanes b = s2 * t->b, c = s2 * t->c;
    lane3 far = lane3_along(lane3_scaled(s2 * t->b1, u), s2 * t->c1, v);
    far.x -= 2.0 * c; // what is multiplied by phi' on the right
    const lanes cx = c * phi.x;
    return (lane_arc){
        .p = {sigma * (1.0 + t->c * v.x), sigma * (t->b * u.y + t->c * v.y),
              sigma * (t->b * u.z + t->c * v.z)},
        .dp = {{far.x * phi.x + 2.0 * cx, far.y * phi.x + c * phi.y, far.z * phi.x + c * phi.z},
               {far.x * phi.y, far.y * phi.y + cx, far.z * phi.y - b},
               {far.x * phi.z, far.y * phi.z + b, far.z * phi.z + cx}}};
}

// Finds how a point moves; phi = sigma q, d = sigma qdot, and t holds all terms at |phi|^2.
static inline lane_motion lane_motion_at(lane3 phi, lane3 d, lanes sigma, const lane_terms *t)
{
    const lanes pd = lane3_dot(phi, d), dd = lane3_dot(d, d);
    const lanes b_rate = t->b1 * pd, b_curve = t->b1 * dd + t->b2 * pd * pd;
    const lanes c_rate = t->c1 * pd, c_curve = t->c1 * dd + t->c2 * pd * pd;
    const lane3 u = lane_across(phi), u_rate = lane_across(d);
    const lane3 v = lane3_cross(phi, u);
    const lane3 v_rate = lane3_plus(lane3_cross(d, u), lane3_cross(phi, u_rate));
    const lane3 turned = lane3_cross(d, u_rate), v_curve = lane3_plus(turned, turned);
    const lane3 p = lane3_along(lane3_scaled(t->b, u), t->c, v);
    const lane3 velocity = lane3_plus(lane3_along(lane3_scaled(b_rate, u), t->b, u_rate),
                                      lane3_along(lane3_scaled(c_rate, v), t->c, v_rate));
    const lane3 acceleration =
        lane3_along(lane3_plus(lane3_along(lane3_scaled(b_curve, u), 2.0 * b_rate, u_rate),
                               lane3_along(lane3_scaled(c_curve, v), 2.0 * c_rate, v_rate)),
                    t->c, v_curve);
    return (lane_motion){.p = {sigma * (1.0 + p.x), sigma * p.y, sigma * p.z},
                         .velocity = lane3_scaled(sigma, velocity),
                         .acceleration = lane3_scaled(sigma, acceleration)};
}

// Returns the acceleration of a point that moves with m in a frame that moves with c.
static inline lane3 lane_carried(const lane_carrier *c, const lane_motion *m)
{
    const lane3 coriolis = lane3_plus(m->velocity, m->velocity);
    const lane3 about = lane3_plus(lane3_cross(c->spin, m->p), coriolis);
    return lane3_plus(lane3_plus(c->acceleration, m->acceleration),
                      lane3_plus(lane3_cross(c->spin_rate, m->p), lane3_cross(c->spin, about)));
}
