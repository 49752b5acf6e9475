// solvers/global/ipm_cone.h -- the Lorentz cone L = {x : x_0 >= |x_1|} of an interior point method,
// one contact at a time, with the scaling of Nesterov and Todd (1997). Without friction the cone is
// the half line x_0 >= 0, and components 1 and 2 are 0.
//
//     x o y = (x.y, x_0 y_1 + y_0 x_1),   det x = x_0^2 - |x_1|^2,   e = (1, 0, 0)
//
// The scaling of x and y inside L is the symmetric positive definite T with T x = T^-1 y = l:
//
//     w = (y / det(y)^1/2 + J x / det(x)^1/2) / (2 g),   J = diag(1, -1, -1)
//     T = b (2 v v' - J),   v = (w + e) / (2 (w_0 + 1))^1/2,   b = (det y / det x)^1/4            (1)
//
// with g such that det w = 1, and T^2 = b^2 (2 w w' - J).
#pragma once

#include <stdbool.h>

typedef struct ss_scaling {
    bool line;   // the half line: T is b alone
    double b;    // > 0
    double v[3]; // of (1)
    double w[3];
    double l[3]; // T x
} ss_scaling;

// False unless x and y are inside the cone and finite.
bool ss_scaling_find(bool line, const double x[3], const double y[3], ss_scaling *s);

void ss_scaling_apply(const ss_scaling *s, const double x[3], double y[3]);  // y = T x
void ss_scaling_remove(const ss_scaling *s, const double x[3], double y[3]); // y = T^-1 x
// D = (T^2 + diag(c_0, c_1, c_1))^-1: with t = w_1/|w_1| the block of (e, t) has the determinant
// b^4 + b^2 (w_0^2 + |w_1|^2) (c_0 + c_1) + c_0 c_1, a sum of positive terms.
void ss_scaling_weight(const ss_scaling *s, const double c[2], double D[9]);

// z of l o z = c, l of the scaling.
void ss_scaling_divide(const ss_scaling *s, const double c[3], double z[3]);

// What takes the spectral values w_0 -+ |w_1| of w to between least and most, none down by more than `most`.
// False: they are there.
bool ss_cone_clamp(const double w[3], double least, double most, double change[3]);

// w with its spectral values brought to t, none by a factor of more than `most`; w is inside the cone.
void ss_cone_approach(const double w[3], double t, double most, double z[3]);

// x into the cone where rounding has taken it to the boundary: x_0 is at least (1 + 4 eps) |x_1|.
void ss_cone_keep(double x[3]);

// The largest a <= most with x + a dx in the cone; x is inside.
double ss_cone_step(bool line, const double x[3], const double dx[3], double most);
