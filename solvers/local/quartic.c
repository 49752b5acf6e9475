// solvers/local/quartic.c -- Ferrari's method, for a quartic that is a difference of squares.
//
// For any y, with Q = x^2 + A x + C,
//
//     P = (Q + y)^2 - [ (|c|^2 + 2y) x^2 + 2 (B.c + y A) x + |B|^2 + 2 y C + y^2 ]            (1)
//
// and the bracket is the square (e x + f)^2 where its discriminant vanishes:
//
//     D(y) = (B.c + y A)^2 - (|c|^2 + 2y) (|B|^2 + 2 y C + y^2) = 0                           (2)
//
// D(0) = -(B ^ c)^2 <= 0 and D(-|c|^2/2) is a square, so (2) has a root y in [-|c|^2/2, 0], where
// e^2 = |c|^2 + 2y >= 0. Then P = (Q + y - e x - f)(Q + y + e x + f), both factors real. A
// bracketed Newton finds y: no cube root, no arc cosine, whose bits would depend on the machine.
#include "solvers/local/quartic.h"

#include <gsl/gsl_poly.h>
#include <math.h>

#include "solvers/small.h"

// |Im x| <= REAL |x|.
#define REAL 1e-7

// Newton takes about 5 steps.
#define MOST_STEPS 100

// Relative to y: the next step is at the rounding level.
#define LAST_STEP 1e-9

// (2) as d0 + y (d1 + y (d2 - 2 y)).
typedef struct resolvent {
    double d0, d1, d2;
} resolvent;

static double resolvent_root(const resolvent *k, double low)
{
    double high = 0.0, y = 0.0;
    for (int step = 0; step < MOST_STEPS; step++) {
        const double D = k->d0 + y * (k->d1 + y * (k->d2 - 2.0 * y));
        if (D == 0.0) {
            return y;
        }
        if (D < 0.0) {
            high = y;
        } else {
            low = y;
        }
        const double next = y - D / (k->d1 + y * (2.0 * k->d2 - 6.0 * y));
        if (fabs(next - y) <= LAST_STEP * fabs(y)) {
            return next;
        }
        y = low < next && next < high ? next : 0.5 * (low + high);
    }
    return y;
}

// x^2 - 2 h x + g: adds its real roots.
static int add_roots(double h, double g, double *roots)
{
    const double discriminant = h * h - g;
    if (discriminant >= 0.0) {
        const double far = h >= 0.0 ? h + sqrt(discriminant) : h - sqrt(discriminant);
        roots[0] = far;
        roots[1] = far != 0.0 ? g / far : 0.0;
        return 2;
    }
    if (-discriminant <= REAL * REAL * g) { // |x|^2 = g of a complex pair
        roots[0] = h;
        return 1;
    }
    return 0;
}

int ss_quartic_roots(const ss_quartic *k, double roots[4])
{
    const double *B = k->B, *c = k->c, A = k->A, C = k->C;
    const double cc = c[0] * c[0] + c[1] * c[1], bb = B[0] * B[0] + B[1] * B[1];
    const double bc = B[0] * c[0] + B[1] * c[1], wedge = B[0] * c[1] - B[1] * c[0];
    const resolvent D = {
        .d0 = -wedge * wedge, .d1 = 2.0 * (A * bc - bb - C * cc), .d2 = A * A - cc - 4.0 * C};
    const double y = resolvent_root(&D, -0.5 * cc);
    const double e2 = cc + 2.0 * y, f2 = bb + y * (2.0 * C + y);
    const double e = e2 > 0.0 ? sqrt(e2) : 0.0;
    const double size = f2 > 0.0 ? sqrt(f2) : 0.0;
    const double f = bc + y * A >= 0.0 ? size : -size;
    const int n = add_roots(-0.5 * (A - e), C + y - f, roots);
    return n + add_roots(-0.5 * (A + e), C + y + f, roots + n);
}

// GSL's own workspace comes from malloc, and its error handler ends the program where that fails;
// this one is on the stack. The other errors, a leading coefficient of zero and (with NaN) no
// convergence, cannot happen to a monic polynomial with finite coefficients.
int ss_quartic_roots_gsl(const ss_quartic *k, double roots[4])
{
    const double *B = k->B, *c = k->c, A = k->A, C = k->C;
    const double cc = c[0] * c[0] + c[1] * c[1], bb = B[0] * B[0] + B[1] * B[1];
    const double P[5] = {C * C - bb, 2.0 * (A * C - (B[0] * c[0] + B[1] * c[1])),
                         A * A + 2.0 * C - cc, 2.0 * A, 1.0};
    if (!isfinite(P[0]) || !isfinite(P[1]) || !isfinite(P[2]) || !isfinite(P[3])) {
        return 0;
    }
    double companion[16], z[8];
    gsl_poly_complex_workspace space = {.nc = 4, .matrix = companion};
    if (gsl_poly_complex_solve(P, 5, &space, z) != 0) {
        return 0;
    }
    int n = 0;
    for (int i = 0; i < 4; i++) {
        if (fabs(z[2 * i + 1]) <= REAL * ss_length2(z[2 * i], z[2 * i + 1])) {
            roots[n++] = z[2 * i];
        }
    }
    return n;
}
