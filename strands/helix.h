// strands/helix.h -- a piece of helix: an element of a super-helix, or a turn through a rotation
// vector.
//
// Its curvatures q = (twist about n0, bending about n1, bending about n2) in 1/m are constant in
// the frame that travels along it. In the frame of its near end, where the tangent n0 is e0, the
// frame and the point at arclength sigma are, with phi = sigma q and x = |phi|,
//
//     exp [phi]x = I + a [phi]x + b [phi]x^2
//     p = sigma (e0 + b phi x e0 + c phi x (phi x e0))
//     a = sin x / x,  b = (1 - cos x) / x^2,  c = (x - sin x) / x^3
//
// so that |dp/dsigma| = 1 whatever q. A change of q turns the frame by the angular velocity
// sigma T qdot with T = I + b [phi]x + c [phi]x^2. With b1 = b'/x, c1 = c'/x,
//
//     dp/dq = sigma^2 [(phi x e0)(b1 phi)' + (phi x (phi x e0))(c1 phi)' - b [e0]x
//                      + c ((phi.e0) I + phi e0' - 2 e0 phi')].
#pragma once

#include "strands/geometry.h"

// b and c at x^2, and their derivatives by x, divided by x: b1 = b'/x, b2 = b1'/x; c likewise.
typedef struct ss_helix_terms {
    double b, c, b1, c1, b2, c2;
} ss_helix_terms;

// Below this x the terms are power series; the first that is left out is below 1e-17. The closed
// form of b2 carries a rounding error of 1e-15 / x^4.
#define SS_HELIX_SERIES_BELOW 0.5

// Finds all terms; ss_helix_first_at leaves b2 and c2 at 0.
ss_helix_terms ss_helix_terms_at(double x_squared);
ss_helix_terms ss_helix_first_at(double x_squared);

// A point and its derivatives by q.
typedef struct ss_helix_arc {
    ss_vec3 p;  // m
    ss_mat3 dp; // m^2
} ss_helix_arc;

// Finds the point at sigma and dp/dq.
ss_helix_arc ss_helix_arc_at(ss_vec3 q, double sigma);

// A frame and its angular velocity a unit of qdot, both in the frame of the near end.
typedef struct ss_helix_joint {
    ss_mat3 turn; // exp [phi]x
    ss_mat3 spin; // sigma T, m
} ss_helix_joint;

ss_helix_joint ss_helix_joint_at(ss_vec3 q, double sigma);

typedef struct ss_helix_motion {
    ss_vec3 p, velocity, acceleration; // m, m/s, m/s^2
} ss_helix_motion;

// Finds how the point at sigma moves where q changes at the constant rate qdot.
ss_helix_motion ss_helix_motion_at(ss_vec3 q, ss_vec3 qdot, double sigma);

// The motion of the near end of an element: its frame turns with angular velocity `spin`, and its
// point accelerates. All along the axes of the frame.
typedef struct ss_helix_carrier {
    ss_vec3 spin, spin_rate; // rad/s, rad/s^2
    ss_vec3 acceleration;    // m/s^2
} ss_helix_carrier;

// Returns the acceleration of a point that moves with m in a frame that moves with c.
ss_vec3 ss_helix_carried(const ss_helix_carrier *c, const ss_helix_motion *m);

// Finds the angular velocity sigma T qdot of the frame at sigma, and its derivative by time.
void ss_helix_spin_at(ss_vec3 q, ss_vec3 qdot, double sigma, ss_vec3 *spin, ss_vec3 *spin_rate);
