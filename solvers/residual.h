// solvers/residual.h -- f of problems/coulomb.h for inner loops: three square roots, no case.
//
// f = x + y - q with q = z^(1/2), z = x o x + y o y. From q o q = z:
//
//     D = sqrt(det z) = q_N^2 - |q_T|^2,   q_N = sqrt((|x|^2 + |y|^2 + D)/2),
//     q_T = (x_N x_T + y_N y_T)/q_N                                                          (1)
//
// det z is the sum of squares of problems/coulomb.c, of degree four, so this serves velocities from
// 1e-70 to 1e70 m/s. The judge's own f has no such bounds, and is slower.
#pragma once

#include "solvers/contact.h"
#include "solvers/small.h"

static inline double ss_fb_determinant(const double x[3], const double y[3])
{
    const double det_x = (x[0] - x[1]) * (x[0] + x[1]) - x[2] * x[2];
    const double det_y = (y[0] - y[1]) * (y[0] + y[1]) - y[2] * y[2];
    const double inner = x[0] * y[0] - x[1] * y[1] - x[2] * y[2];
    const double cross1 = x[0] * y[1] - y[0] * x[1];
    const double cross2 = x[0] * y[2] - y[0] * x[2];
    const double wedge = x[1] * y[2] - x[2] * y[1];
    return (det_x * det_x + det_y * det_y) +
           2.0 * ((inner * inner + cross1 * cross1) + (cross2 * cross2 + wedge * wedge));
}

// Writes q and f, and returns D, by (1).
static inline double ss_fb_square_root(const double x[3], const double y[3], double q[3],
                                       double f[3])
{
    const double D = sqrt(ss_fb_determinant(x, y));
    q[0] = sqrt(0.5 * (ss_dot3(x, x) + ss_dot3(y, y) + D));
    const double inverse = q[0] > 0.0 ? 1.0 / q[0] : 0.0;
    q[1] = (x[0] * x[1] + y[0] * y[1]) * inverse;
    q[2] = (x[0] * x[2] + y[0] * y[2]) * inverse;
    for (int i = 0; i < 3; i++) {
        f[i] = x[i] + y[i] - q[i];
    }
    return D;
}

// Returns |FB(s r_N, u_N)| with the scalar FB(a, b) = a + b - |(a, b)|; 2ab / (a + b + |(a, b)|) is
// the same where the difference would cancel. A NaN gives NaN.
static inline double ss_normal_size(double s, double r_N, double u_N)
{
    const double a = s * r_N, b = u_N;
    const double h = sqrt(a * a + b * b);
    return fabs(a + b > 0.0 ? 2.0 * a * b / (a + b + h) : a + b - h);
}

// Returns |f(r^, u^)|_inf for mu > 0 and the scale s. A NaN gives NaN.
static inline double ss_fb_size(double mu, double s, const double r[3], const double u[3])
{
    const double x[3] = {s * mu * r[0], s * r[1], s * r[2]};
    const double y[3] = {u[0] + mu * ss_length2(u[1], u[2]), mu * u[1], mu * u[2]};
    double q[3], f[3];
    ss_fb_square_root(x, y, q, f);
    return ss_norm_inf3(f);
}

// ---- Whether the normal part of a local answer is as near to its law as the goal asks

// Returns the error of the normal part in m/s, at the scale of the goal.
static inline double ss_contact_normal_missed(const ss_local *p, const ss_local_goal *goal,
                                              const double r[3])
{
    double u[3];
    ss_local_velocity(p, r, u);
    return SS_NORMAL_WEIGHT * ss_normal_size(goal->scale, r[0], u[0]);
}

static inline bool ss_contact_misses_normal(const ss_local *p, const ss_local_goal *goal,
                                            const ss_local_info *info, const double r[3])
{
    return goal->normal > 0.0 && info->outcome == SS_CONVERGED && !info->normal_met &&
           !(ss_contact_normal_missed(p, goal, r) <= goal->normal);
}

// Asks the method once more, from the answer r that missed; in contact.c.
ss_local_info ss_contact_ask_again(const ss_method *method, const ss_local *p,
                                   const ss_local_goal *goal, int iterations, double r[3],
                                   ss_local_counters *counters);
