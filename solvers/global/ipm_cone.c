#include "solvers/global/ipm_cone.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "solvers/small.h"

#define INSIDE (4.0 * DBL_EPSILON) // the least distance to the boundary, over |x_1|

static double determinant(const double x[3])
{
    const double size = ss_length2(x[1], x[2]);
    return (x[0] - size) * (x[0] + size);
}

// Of x inside the cone, divided by the square root of its determinant.
static bool normalise(const double x[3], double unit[3], double *root)
{
    const double det = determinant(x);
    if (!(det > 0.0 && x[0] > 0.0 && det < INFINITY)) {
        return false;
    }
    *root = sqrt(det);
    for (int k = 0; k < 3; k++) {
        unit[k] = x[k] / *root;
    }
    return true;
}

static bool scale_line(const double x[3], const double y[3], ss_scaling *s)
{
    memset(s, 0, sizeof *s);
    s->line = true;
    s->b = sqrt(y[0] / x[0]);
    s->l[0] = sqrt(y[0] * x[0]);
    return x[0] > 0.0 && s->l[0] > 0.0 && s->b > 0.0 && s->b < INFINITY && s->l[0] < INFINITY;
}

bool ss_scaling_find(bool line, const double x[3], const double y[3], ss_scaling *s)
{
    if (line) {
        return scale_line(x, y, s);
    }
    double ux[3], uy[3], root_x, root_y;
    if (!normalise(x, ux, &root_x) || !normalise(y, uy, &root_y)) {
        return false;
    }
    const double g = sqrt(0.5 + 0.5 * ss_dot3(ux, uy));
    s->line = false;
    s->b = sqrt(root_y / root_x);
    s->w[0] = (uy[0] + ux[0]) / (2.0 * g);
    for (int k = 1; k < 3; k++) {
        s->w[k] = (uy[k] - ux[k]) / (2.0 * g);
    }
    const double size = sqrt(2.0 * (s->w[0] + 1.0));
    for (int k = 0; k < 3; k++) {
        s->v[k] = (s->w[k] + (k == 0 ? 1.0 : 0.0)) / size;
    }
    ss_scaling_apply(s, x, s->l);
    return s->b > 0.0 && s->b < INFINITY && determinant(s->l) > 0.0;
}

void ss_scaling_apply(const ss_scaling *s, const double x[3], double y[3])
{
    const double part = 2.0 * ss_dot3(s->v, x);
    y[0] = s->b * (s->line ? x[0] : part * s->v[0] - x[0]);
    y[1] = s->b * (part * s->v[1] + x[1]);
    y[2] = s->b * (part * s->v[2] + x[2]);
}

void ss_scaling_remove(const ss_scaling *s, const double x[3], double y[3])
{
    const double part = 2.0 * (s->v[0] * x[0] - s->v[1] * x[1] - s->v[2] * x[2]);
    y[0] = (s->line ? x[0] : part * s->v[0] - x[0]) / s->b;
    y[1] = (x[1] - part * s->v[1]) / s->b;
    y[2] = (x[2] - part * s->v[2]) / s->b;
}

void ss_scaling_weight(const ss_scaling *s, const double c[2], double D[9])
{
    const double b2 = s->b * s->b, size = ss_length2(s->w[1], s->w[2]);
    memset(D, 0, 9 * sizeof *D);
    if (s->line) {
        D[0] = 1.0 / (b2 + c[0]);
        return;
    }
    const double t1 = size > 0.0 ? s->w[1] / size : 1.0, t2 = size > 0.0 ? s->w[2] / size : 0.0;
    const double same = b2 * (s->w[0] * s->w[0] + size * size), mixed = 2.0 * b2 * s->w[0] * size;
    const double det = b2 * b2 + same * (c[0] + c[1]) + c[0] * c[1];
    const double along = (same + c[0]) / det, across = 1.0 / (b2 + c[1]);
    D[0] = (same + c[1]) / det;
    D[1] = D[3] = -mixed / det * t1;
    D[2] = D[6] = -mixed / det * t2;
    D[4] = along * t1 * t1 + across * t2 * t2;
    D[5] = D[7] = (along - across) * t1 * t2;
    D[8] = along * t2 * t2 + across * t1 * t1;
}

void ss_scaling_divide(const ss_scaling *s, const double c[3], double z[3])
{
    const double *l = s->l;
    z[0] = s->line ? c[0] / l[0] : (l[0] * c[0] - l[1] * c[1] - l[2] * c[2]) / determinant(l);
    z[1] = (c[1] - z[0] * l[1]) / l[0];
    z[2] = (c[2] - z[0] * l[2]) / l[0];
}

static double clamp(double value, double least, double most)
{
    const double to = value < least ? least : value > most ? most : value;
    return fmax(to - value, -most);
}

bool ss_cone_clamp(const double w[3], double least, double most, double change[3])
{
    const double size = ss_length2(w[1], w[2]);
    const double low = clamp(w[0] - size, least, most), high = clamp(w[0] + size, least, most);
    const double along = size > 0.0 ? 0.5 * (high - low) / size : 0.0;
    change[0] = 0.5 * (low + high);
    change[1] = along * w[1];
    change[2] = along * w[2];
    return low != 0.0 || high != 0.0;
}

void ss_cone_approach(const double w[3], double t, double most, double z[3])
{
    const double size = ss_length2(w[1], w[2]), low = w[0] - size, high = w[0] + size;
    const double to_low = fmin(fmax(t, low / most), low * most);
    const double to_high = fmin(fmax(t, high / most), high * most);
    const double along = size > 0.0 ? 0.5 * (to_high - to_low) / size : 0.0;
    z[0] = 0.5 * (to_low + to_high);
    z[1] = along * w[1];
    z[2] = along * w[2];
}

void ss_cone_keep(double x[3])
{
    const double least = ss_length2(x[1], x[2]) * (1.0 + INSIDE) + DBL_MIN;
    x[0] = x[0] < least ? least : x[0];
}

double ss_cone_step(bool line, const double x[3], const double dx[3], double most)
{
    if (line) {
        return dx[0] < 0.0 ? fmin(most, -x[0] / dx[0]) : most;
    }
    const double end[3] = {x[0] + most * dx[0], x[1] + most * dx[1], x[2] + most * dx[2]};
    if (end[0] > 0.0 && end[0] * end[0] > end[1] * end[1] + end[2] * end[2]) {
        return most; // the cone is convex
    }
    // det(x + a dx) = A a^2 + 2 B a + C; its least positive root, where it has one.
    const double A = determinant(dx), C = determinant(x);
    const double B = x[0] * dx[0] - x[1] * dx[1] - x[2] * dx[2];
    const double under = B * B - A * C, root = sqrt(fmax(under, 0.0));
    if (A < 0.0 && B > 0.0) {
        return fmin(most, (B + root) / -A);
    }
    return under >= 0.0 && root > B ? fmin(most, C / (root - B)) : most;
}
