// solvers/local/alart_curnier.h -- the Alart-Curnier function of one contact, and its Jacobian.
//
// With y = (r_N - p_N u_N, r_T - p_T u_T) and R = mu max(0, y_N) Coulomb's law is F = 0 for
//
//     F_N = r_N - max(0, y_N),    F_T = r_T - P(y_T),   P the projection onto |.| <= R       (1)
//
// for any p_N, p_T > 0 (doc/formulation.md, "Alart-Curnier"; [D11] section 7.1). The variant
// jean-moreau has R = mu max(0, r_N). The generalised Jacobian is dF/dr + dF/du W with, where not
// 0:
//
//     row N    y_N > 0:   dF_N/du_N = p_N              else: dF_N/dr_N = 1
//     rows T   |y_T| <= R, R > 0:  dF_T/du_T = p_T I
//              else, t = y_T/|y_T|, c = R/|y_T|:
//                  dF_T/dr_T = I - c (I - t t'),       dF_T/du_T = p_T c (I - t t'),
//                  dF_T/dr_N = -mu t,                  dF_T/du_N = mu p_N t   where y_N > 0
//                 (dF_T/dr_N = -mu t                                          where r_N > 0)
//
// the last line for jean-moreau. y_N <= 0 gives F = r, dF/dr = I.
#pragma once

#include "solvers/small.h"

typedef struct ss_ac_law {
    double mu;
    double p_N, p_T; // in the unit of r/u, > 0
    bool jean_moreau;
} ss_ac_law;

typedef struct ss_ac_point {
    double y[3];
    double R;
    double length; // |y_T|
    double F[3];   // in the unit of r
} ss_ac_point;

// Below this share of tr(W)/d a diagonal entry gives no step; tr(W)/d does instead, as any positive
// p has the same solutions.
#define SS_AC_LEAST_SHARE 1e-12

static inline double ss_ac_step_for(double stiffness)
{
    return stiffness > SS_AC_LEAST_SHARE ? 1.0 / stiffness : 1.0;
}

// Returns p_N = 1/W_NN, p_T = 1/lambda_max(sym W_TT), for the block W over tr(W)/d. W_22 is given
// apart: in the plane it is the first tangent's (ss_local_second_stiffness).
static inline ss_ac_law ss_ac_law_of(double mu, const double W[9], double second, bool jean_moreau)
{
    const double largest =
        0.5 * (W[4] + second) + ss_length2(0.5 * (W[4] - second), 0.5 * (W[5] + W[7]));
    return (ss_ac_law){.mu = mu,
                       .p_N = ss_ac_step_for(W[0]),
                       .p_T = ss_ac_step_for(largest),
                       .jean_moreau = jean_moreau};
}

// Evaluates (1). A NaN gives NaN.
static inline void ss_ac_evaluate(const ss_ac_law *law, const double r[3], const double u[3],
                                  ss_ac_point *at)
{
    at->y[0] = r[0] - law->p_N * u[0];
    at->y[1] = r[1] - law->p_T * u[1];
    at->y[2] = r[2] - law->p_T * u[2];
    at->length = ss_length2(at->y[1], at->y[2]);
    const double carrier = law->jean_moreau ? r[0] : at->y[0];
    at->R = carrier <= 0.0 ? 0.0 : law->mu * carrier;
    const double share = at->length <= at->R ? 1.0 : at->R / at->length;
    at->F[0] = r[0] - (at->y[0] <= 0.0 ? 0.0 : at->y[0]);
    at->F[1] = r[1] - share * at->y[1];
    at->F[2] = r[2] - share * at->y[2];
}

static inline void ss_ac_tangential_rows(const ss_ac_law *law, const ss_ac_point *at, bool carried,
                                         double dr[9], double du[9])
{
    if (at->R > 0.0 && at->length <= at->R) {
        du[4] = du[8] = law->p_T;
        return;
    }
    const double inverse = at->length > 0.0 ? 1.0 / at->length : 0.0;
    const double t[2] = {at->y[1] * inverse, at->y[2] * inverse}, c = at->R * inverse;
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) {
            const double unit = i == j ? 1.0 : 0.0, across = c * (unit - t[i] * t[j]);
            dr[3 * i + j + 4] = unit - across;
            du[3 * i + j + 4] = law->p_T * across;
        }
        if (carried) {
            dr[3 * i + 3] = -law->mu * t[i];
            du[3 * i + 3] = law->jean_moreau ? 0.0 : law->mu * law->p_N * t[i];
        }
    }
}

// Writes dF/dr and dF/du at r, of which `at` is the point.
static inline void ss_ac_linearise(const ss_ac_law *law, const double r[3], const ss_ac_point *at,
                                   double dr[9], double du[9])
{
    for (int i = 0; i < 9; i++) {
        dr[i] = du[i] = 0.0;
    }
    if (at->y[0] > 0.0) {
        du[0] = law->p_N;
    } else {
        dr[0] = 1.0;
    }
    const bool carried = law->jean_moreau ? r[0] > 0.0 : at->y[0] > 0.0;
    ss_ac_tangential_rows(law, at, carried, dr, du);
}
