// solvers/local/fischer_burmeister.h -- f of problems/coulomb.h at one contact, and its Jacobian.
//
// With X = s r, s = tr(W)/d or what the goal fixes, the hatted variables of Coulomb's law are
//
//     x = diag(mu, 1, 1) X,    y = v + |v_T| e,    v = H X + c,                             (1)
//     H = diag(1, mu, mu) W / s,    c = diag(1, mu, mu) b
//
// f = x + y - q, where q = z^(1/2), z = x o x + y o y, D = sqrt(det z), and             (2) q_N^2 -
// |q_T|^2 = D as solvers/residual.h has them. [D11] A.1 as corrected in doc/formulation.md,
// "Fischer-Burmeister": df/dx = I - L_q^-1 L_x with L_q of the square root q (not of z), likewise
// y. Here both sides are multiplied by L_q, so that nothing is inverted:
//
//     L_q J = (L_q - L_x) diag(mu, 1, 1) + (L_q - L_y) [[1, t'], [0, I]] H,   t = v_T/|v_T|   (3)
//
// with L_x = [[x_N, x_T'], [x_T, x_N I]]. t = 0 where v_T = 0. On the boundary, l1 <= 1e-14 l2 for
// the spectral values of z, the element (1 - x_N/rho) I, rho^2 = x_N^2 + y_N^2, of the generalised
// Jacobian is (3) with (rho, 0), (x_N, 0), (y_N, 0) in place of q, x, y. At the apex, x = y = 0,
// (3) is 0. det z is of degree four: velocities from 1e-70 to 1e70 m/s. The code for space serves
// the plane: component 2 is zero and decoupled.
#pragma once

#include "solvers/contact.h"
#include "solvers/residual.h"

// Below this share of q_N^2 the determinant D counts as 0: l1 = 1e-14 l2, as l1 l2 = D^2 and
// l2 = 4 q_N^2 there.
#define SS_FB_BOUNDARY_SHARE 4e-7

typedef struct ss_fb_block {
    double mu;
    double scale, inverse; // s, 1/kg, and 1/s
    double H[9], c[3];
} ss_fb_block;

typedef struct ss_fb_point {
    double x[3], y[3];
    double t[2]; // unit(v_T), or 0
    double q[3];
    double D;
    double f[3]; // m/s
} ss_fb_point;

// J = L_root^-1 M.
typedef struct ss_fb_jacobian {
    double M[9];
    double root[3];
    double D; // root_N^2 - |root_T|^2
} ss_fb_jacobian;

static inline ss_fb_block ss_fb_hat_at(const ss_local *p, double scale)
{
    const double n = 1.0 / scale, t = p->mu * n, mu = p->mu;
    const double *W = p->W, *b = p->b;
    return (ss_fb_block){
        .mu = mu,
        .scale = scale,
        .inverse = n,
        .H = {n * W[0], n * W[1], n * W[2], t * W[3], t * W[4], t * W[5], t * W[6], t * W[7],
              t * W[8]},
        .c = {b[0], mu * b[1], mu * b[2]},
    };
}

static inline ss_fb_block ss_fb_hat(const ss_local *p)
{
    return ss_fb_hat_at(p, ss_local_own_scale(p));
}

// Makes the block in which Newton's methods iterate.
static inline ss_fb_block ss_fb_hat_for(const ss_local *p, const ss_local_goal *goal)
{
    return goal->fixed ? ss_fb_hat_at(p, goal->scale) : ss_fb_hat(p);
}

// Evaluates (1).
static inline void ss_fb_place(const ss_fb_block *k, const double X[3], ss_fb_point *at)
{
    double *y = at->y;
    for (int i = 0; i < 3; i++) {
        at->x[i] = X[i];
        y[i] = ss_dot3(k->H + 3 * i, X) + k->c[i];
    }
    at->x[0] *= k->mu;
    const double speed = ss_length2(y[1], y[2]);
    const double inverse = speed > 0.0 ? 1.0 / speed : 0.0;
    at->t[0] = y[1] * inverse;
    at->t[1] = y[2] * inverse;
    y[0] += speed;
}

// Evaluates (2) and f.
static inline void ss_fb_root(ss_fb_point *at)
{
    at->D = ss_fb_square_root(at->x, at->y, at->q, at->f);
}

// Evaluates (1), (2) and f.
static inline void ss_fb_evaluate(const ss_fb_block *k, const double X[3], ss_fb_point *at)
{
    ss_fb_place(k, X, at);
    ss_fb_root(at);
}

// Returns a bound: no number that enters x, y, f, or the same computed from r = X/s with any order
// of the sums, is off by more than a few units in the last place of this.
static inline double ss_fb_magnitude(const ss_fb_block *k, const double X[3])
{
    const double size = fabs(X[0]) + fabs(X[1]) + fabs(X[2]);
    double worst = 0.0;
    for (int i = 0; i < 3; i++) {
        const double *row = k->H + 3 * i;
        worst += fabs(row[0]) + fabs(row[1]) + fabs(row[2]);
    }
    return (1.0 + k->mu + worst) * size + fabs(k->c[0]) + fabs(k->c[1]) + fabs(k->c[2]);
}

// The number of units in the last place that these are, with room to spare.
#define SS_FB_ROUNDING (64 * 2.220446049250313e-16)

// Returns whether ss_local_error(p, goal, X/s) is at most the tolerance. f at X is known already
// and the second scale costs one square root more, so that the judge is asked only where rounding
// could tell otherwise.
static inline bool ss_fb_passes(const ss_fb_block *k, const ss_local *p, const ss_local_goal *goal,
                                const double X[3], const ss_fb_point *at, double r[3],
                                double *error)
{
    double size = ss_norm_inf3(at->f);
    if (!(goal->fixed || size <= goal->tolerance)) {
        return false;
    }
    double ratio = 1.0;
    if (goal->scale > 0.0) {
        ratio = goal->scale * k->inverse;
        ss_fb_point shared = *at;
        for (int i = 0; i < 3; i++) {
            shared.x[i] *= ratio;
        }
        ss_fb_root(&shared);
        const double other = ss_norm_inf3(shared.f);
        size = other <= size && !goal->fixed ? size : other;
    }
    if (!(size <= goal->tolerance)) {
        return false;
    }
    for (int i = 0; i < 3; i++) {
        r[i] = X[i] * k->inverse;
    }
    const double room = SS_FB_ROUNDING * (1.0 + ratio) * ss_fb_magnitude(k, X);
    *error = size + room <= goal->tolerance ? size : ss_local_error(p, goal, r);
    return *error <= goal->tolerance;
}

// An iteration in X: its place, and the best place by |f| so far.
typedef struct ss_fb_iterate {
    double X[3];
    ss_fb_point point; // at X once ss_fb_reached was asked
    double best[3];
    double least; // |f|^2 at best
} ss_fb_iterate;

static inline ss_fb_iterate ss_fb_start(const ss_fb_block *k, const double r[3])
{
    ss_fb_iterate at = {.least = HUGE_VAL};
    for (int i = 0; i < 3; i++) {
        at.X[i] = k->scale * r[i];
    }
    return at;
}

// Evaluates f at X, and remembers the best X. Returns true where X passes: then r and info are the
// answer.
static inline bool ss_fb_reached(const ss_fb_block *k, const ss_local *p, const ss_local_goal *goal,
                                 ss_fb_iterate *at, double r[3], ss_local_info *info)
{
    ss_fb_evaluate(k, at->X, &at->point);
    if (ss_fb_passes(k, p, goal, at->X, &at->point, r, &info->error)) {
        info->outcome = SS_CONVERGED;
        return true;
    }
    const double size = ss_dot3(at->point.f, at->point.f);
    if (size < at->least) {
        at->least = size;
        for (int i = 0; i < 3; i++) {
            at->best[i] = at->X[i];
        }
    }
    return false;
}

// Leaves the best iterate in r; r stays as it is where none had a finite f.
static inline void ss_fb_settle(const ss_fb_block *k, const ss_local *p, const ss_local_goal *goal,
                                const ss_fb_iterate *at, double r[3], ss_local_info *info)
{
    for (int i = 0; i < 3 && at->least < HUGE_VAL; i++) {
        r[i] = at->best[i] * k->inverse;
    }
    info->error = ss_local_error(p, goal, r);
}

// Writes (L_q - L_x) diag(mu, 1, 1) + (L_q - L_y) [[1, t'], [0, I]] H.
static inline void ss_fb_assemble(const ss_fb_block *k, const double t[2], const double ex[3],
                                  const double ey[3], double M[9])
{
    const double *H = k->H;
    for (int j = 0; j < 3; j++) {
        const double g = H[j] + t[0] * H[3 + j] + t[1] * H[6 + j];
        M[j] = ey[0] * g + ey[1] * H[3 + j] + ey[2] * H[6 + j];
        M[3 + j] = ey[1] * g + ey[0] * H[3 + j];
        M[6 + j] = ey[2] * g + ey[0] * H[6 + j];
    }
    M[0] += k->mu * ex[0];
    M[3] += k->mu * ex[1];
    M[6] += k->mu * ex[2];
    M[1] += ex[1];
    M[2] += ex[2];
    M[4] += ex[0];
    M[8] += ex[0];
}

// Finds the factors of the two terms of (3): root and D of J, and L_root - L_x, L_root - L_y as
// vectors.
static inline void ss_fb_differences(const ss_fb_point *at, ss_fb_jacobian *J, double ex[3],
                                     double ey[3])
{
    const double *x = at->x, *y = at->y, *q = at->q;
    ex[0] = ex[1] = ex[2] = ey[0] = ey[1] = ey[2] = 0.0;
    if (at->D <= SS_FB_BOUNDARY_SHARE * (q[0] * q[0])) {
        const double rho = ss_length2(x[0], y[0]);
        *J = (ss_fb_jacobian){.root = {rho}, .D = rho * rho};
        ex[0] = rho - x[0];
        ey[0] = rho - y[0];
        return;
    }
    *J = (ss_fb_jacobian){.root = {q[0], q[1], q[2]}, .D = at->D};
    for (int i = 0; i < 3; i++) {
        ex[i] = q[i] - x[i];
        ey[i] = q[i] - y[i];
    }
}

// Writes (3).
static inline void ss_fb_linearise(const ss_fb_block *k, const ss_fb_point *at, ss_fb_jacobian *J)
{
    double ex[3], ey[3];
    ss_fb_differences(at, J, ex, ey);
    ss_fb_assemble(k, at->t, ex, ey, J->M);
}

// Writes L_root v.
static inline void ss_fb_times_root(const ss_fb_jacobian *J, const double v[3], double product[3])
{
    const double *q = J->root;
    product[0] = ss_dot3(q, v);
    product[1] = q[1] * v[0] + q[0] * v[1];
    product[2] = q[2] * v[0] + q[0] * v[2];
}

// Writes L_root^-1 v, which is not finite at the apex.
static inline void ss_fb_over_root(const ss_fb_jacobian *J, const double v[3], double quotient[3])
{
    const double *q = J->root;
    const double inverse = 1.0 / (q[0] * J->D); // one division for both
    const double n = (q[0] * v[0] - q[1] * v[1] - q[2] * v[2]) * (q[0] * inverse);
    quotient[0] = n;
    quotient[1] = (v[1] - q[1] * n) * (J->D * inverse);
    quotient[2] = (v[2] - q[2] * n) * (J->D * inverse);
}
