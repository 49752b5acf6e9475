// solvers/local/slip.c -- the rarer parts of slip.h: roots of the quartic, polishing, and all
// cases.
#include "solvers/local/slip.h"

#include <gsl/gsl_poly.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

// ---- The quartic: Ferrari's method, for a difference of squares
//
// For any y, with Q = x^2 + A x + C,
//
//     P = (Q + y)^2 - [ (|c|^2 + 2y) x^2 + 2 (B.c + y A) x + |B|^2 + 2 y C + y^2 ]            (6)
//
// and the bracket is the square (e x + f)^2 where its discriminant vanishes:
//
//     D(y) = (B.c + y A)^2 - (|c|^2 + 2y) (|B|^2 + 2 y C + y^2) = 0                           (7)
//
// D(0) = -(B ^ c)^2 <= 0 and D(-|c|^2/2) is a square, so (7) has a root y in [-|c|^2/2, 0], where
// e^2 = |c|^2 + 2y >= 0. Then P = (Q + y - e x - f)(Q + y + e x + f), both factors real. A
// bracketed Newton finds y: no cube root, no arc cosine, whose bits would depend on the machine.

#define REAL       1e-7 // a root is real if |Im x| <= REAL |x|
#define MOST_STEPS 100  // Newton takes about 5
#define LAST_STEP  1e-9 // after a step this small, relative to y, the next is at the rounding level

// Equation (7) as d0 + y (d1 + y (d2 - 2 y)).
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

// Adds the real roots of x^2 - 2 h x + g.
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

// ---- The equation

// Returns the root of the straight line that mu N/|q| - W_NN becomes as a grows:
// a = (W_NN |c|/mu - w.c)/beta - c.Wb c/|c|^2, which is the root itself in the plane.
static double far_root(const ss_slip *k)
{
    const double squared = k->c[0] * k->c[0] + k->c[1] * k->c[1];
    const double along = k->trace - (k->c[0] * k->q[0] + k->c[1] * k->q[1]) / squared;
    const double normal = k->p->W[0] * sqrt(squared) / k->p->mu;
    return (normal - (k->w[0] * k->c[0] + k->w[1] * k->c[1])) / k->beta - along;
}

double ss_slip_guess(ss_slip k)
{
    const double root = far_root(&k);
    return root > 0.0 ? root : 0.0;
}

// Returns p + sqrt q, which bounds all positive roots: doc/formulation.md, "Slip ratio".
static double upper_bound(const ss_slip *k)
{
    const double weight = k->p->W[0] / k->p->mu;
    const double p = fabs(k->slope) + weight * ss_length2(k->c[0], k->c[1]);
    const double q = fabs(k->N0) + weight * ss_length2(k->q[0], k->q[1]);
    return p / k->beta + sqrt(q / k->beta);
}

double ss_slip_between(ss_slip k, double low, double high)
{
    const double bound = upper_bound(&k);
    return high <= bound ? 0.5 * (low + high) : bound;
}

ss_quartic ss_slip_quartic(const ss_slip *k)
{
    const double share = 1.0 / k->beta, weight = k->p->W[0] * share / k->p->mu;
    return (ss_quartic){.A = k->slope * share,
                        .C = k->N0 * share,
                        .B = {weight * k->q[0], weight * k->q[1]},
                        .c = {weight * k->c[0], weight * k->c[1]}};
}

// ---- Candidates

// Convergence is quadratic from an error of cond(Wb) eps: the second step is at the rounding level.
#define POLISHING_STEPS 4

// Makes a step of sticking, W dr = -u.
static bool stick_step(const ss_slip *k, const double u[3], ss_candidate *c)
{
    const double g1 = k->v[0] * k->share * u[0] - u[1];
    const double g2 = k->v[1] * k->share * u[0] - u[2];
    const double inverse = 1.0 / k->det;
    const double d1 = (k->Wb[3] * g1 - k->Wb[1] * g2) * inverse;
    const double d2 = (k->Wb[0] * g2 - k->Wb[2] * g1) * inverse;
    c->r[0] -= (u[0] + k->w[0] * d1 + k->w[1] * d2) * k->share;
    c->r[1] += d1;
    c->r[2] += d2;
    return true;
}

// Makes a step of sliding. With M = Wb + a I, t = r_T/|r_T| and dr_N eliminated by the row
// u_N + W_N dr = 0:
//
//     M d + da r_T = g,                 g = -rho + v u_N/W_NN                                 (8)
//     (t + mu w/W_NN).d = e,            e = gap - mu u_N/W_NN,  gap = mu r_N - |r_T|          (9)
//
// (9) leaves d = e k/|k|^2 + x k_ with k = t + mu w/W_NN and k_ normal to it; (8) in the direction
// normal to t gives x, and along t gives da. M is not inverted, so that it may be singular.
static bool slide_step(const ss_slip *k, const double u[3], ss_candidate *c)
{
    double *r = c->r;
    const double mu = k->p->mu, length = ss_length2(r[1], r[2]);
    const double t1 = r[1] / length, t2 = r[2] / length;
    const double k1 = t1 + mu * k->share * k->w[0], k2 = t2 + mu * k->share * k->w[1];
    const double m11 = k->Wb[0] + c->a, m22 = k->Wb[3] + c->a, m12 = k->Wb[1], m21 = k->Wb[2];
    const double g1 = k->v[0] * k->share * u[0] - (u[1] + c->a * r[1]);
    const double g2 = k->v[1] * k->share * u[0] - (u[2] + c->a * r[2]);
    const double e = (mu * r[0] - length) - mu * k->share * u[0];
    const double part = e / (k1 * k1 + k2 * k2);
    const double h1 = g1 - part * (m11 * k1 + m12 * k2), h2 = g2 - part * (m21 * k1 + m22 * k2);
    const double n1 = m12 * k1 - m11 * k2, n2 = m22 * k1 - m21 * k2; // M k_, k_ = (-k2, k1)
    const double x = (t1 * h2 - t2 * h1) / (t1 * n2 - t2 * n1);
    const double d1 = part * k1 - x * k2, d2 = part * k2 + x * k1;
    const double da = (t1 * (h1 - x * n1) + t2 * (h2 - x * n2)) / length;
    if (!isfinite(da)) {
        return false;
    }
    r[0] -= (u[0] + k->w[0] * d1 + k->w[1] * d2) * k->share;
    r[1] += d1;
    r[2] += d2;
    c->a += da;
    return true;
}

bool ss_candidate_polish(const ss_local *p, const ss_slip *k, const ss_local_goal *goal,
                         ss_candidate *c)
{
    const double s = ss_candidate_scale(p, goal);
    double u[3];
    ss_local_velocity(p, c->r, u);
    double bound = ss_candidate_bound(p, s, c, u);
    for (int step = 0; step < POLISHING_STEPS && !(bound <= goal->tolerance); step++) {
        ss_candidate next = *c;
        if (!(next.slides ? slide_step(k, u, &next) : stick_step(k, u, &next))) {
            return false;
        }
        ss_local_velocity(p, next.r, u);
        const double next_bound = ss_candidate_bound(p, s, &next, u);
        if (!(next_bound < bound)) {
            return false;
        }
        bound = next_bound;
        *c = next;
    }
    return bound <= goal->tolerance;
}

// ---- Cases
//
// If b_N >= 0, r = 0 (a sticking answer may hold as well; [D11] and we prefer take-off). If G(0) >=
// 0, r = -W^-1 b. Else r follows from the finder's slip ratio. An answer whose bound (5) is within
// the goal is accepted at once. Otherwise it is polished, and where that does not help
//
//     the other of stick and slide    as G(0) is rounding at the boundary of the cone
//     the bracketed root              as the finder's may be a wrong one
//
// are tried in turn. A singular block is tried in the same way with W + shift (tr W/d) I, judged on
// the block itself, then with each positive root of its own quartic, and as it is where it is
// singular only nearly: such a block has an answer. f decides. Where nothing passes, the best
// answer is kept, or r = 0 where a block that is singular to rounding has no answer.

// These shares of tr W/d are added to the diagonal of a singular block, one after the other. The
// first alone leaves 1 block in 10 000 of rank 1 at 1e-11: rounding over 1e-10 turns r along the
// cone so far that the cone's curvature shows.
static const double REGULARISATIONS[] = {1e-10, 1e-6, 1e-14};

// An answer this near to the law, relative to the largest of |b|, mu |u|, s |r|, cannot be
// improved.
#define ROUNDING_FLOOR 1e-14

// The determinant of a block is not rounding above this share of tr Wb tr W.
#define REGULAR 0x1p-48

// A singular block has no answer where the best |f| is more than this share of |b|. An answer
// between this and the goal is spoilt by rounding.
#define NO_ANSWER_SHARE 1e-6

// r = 0 is an answer to rounding where b_N is this small, relative to |b|, in scaled problems.
#define LEAST_PRESS 1e-60

// The best answer so far, by f itself.
typedef struct search {
    const ss_local *p;
    const ss_local_goal *goal;
    double r[3];
    double error;
} search;

static bool passes(const search *best)
{
    return best->error <= best->goal->tolerance;
}

static void offer(search *best, const double r[3])
{
    const double error = ss_local_error(best->p, best->goal, r);
    if (error < best->error || (isnan(best->error) && !isnan(error))) {
        memcpy(best->r, r, sizeof best->r);
        best->error = error;
    }
}

static void offer_polished(search *best, const ss_slip *k, ss_candidate *c)
{
    ss_candidate_polish(best->p, k, best->goal, c);
    offer(best, c->r);
}

static double largest_size(const search *best)
{
    double u[3];
    ss_local_velocity(best->p, best->r, u);
    const double s = ss_candidate_scale(best->p, best->goal);
    const double of_u = best->p->mu * ss_norm_inf3(u), of_b = ss_norm_inf3(best->p->b);
    const double of_r = s * ss_norm_inf3(best->r);
    const double larger = of_u > of_b ? of_u : of_b;
    return of_r > larger ? of_r : larger;
}

static ss_local_info cases_finish(const search *best, int steps, double r[3])
{
    memcpy(r, best->r, sizeof best->r);
    return (ss_local_info){.outcome = passes(best) ? SS_CONVERGED : SS_STALLED,
                           .iterations = steps,
                           .error = best->error};
}

static ss_local_info take_off(const ss_local *p, const ss_local_goal *goal, double r[3])
{
    r[0] = r[1] = r[2] = 0.0;
    if (ss_cases_open_rounding(p) <= goal->tolerance) {
        return (ss_local_info){.outcome = SS_CONVERGED, .error = NAN};
    }
    search best = {.p = p, .goal = goal, .error = NAN};
    offer(&best, r);
    return cases_finish(&best, 0, r);
}

// Searches on for an answer of a nonsingular block, which always has one. `first` missed the goal.
static ss_local_info insist(const ss_slip *k, const ss_local_goal *goal, ss_candidate *first,
                            int steps, double r[3])
{
    search best = {.p = k->p, .goal = goal, .error = NAN};
    offer_polished(&best, k, first);
    if (passes(&best) || best.error <= ROUNDING_FLOOR * largest_size(&best)) {
        return cases_finish(&best, steps, r);
    }
    ss_candidate other;
    ss_candidate_stick(k, &other);
    other.slides = !first->slides;
    offer_polished(&best, k, &other);
    if (first->slides && !passes(&best)) {
        int more = 0;
        ss_candidate_slide(k, ss_slip_bracketed(k, 0.0, 0.0, &more), &other);
        offer_polished(&best, k, &other);
        steps += more;
    }
    return cases_finish(&best, steps, r);
}

static void try_regularised(search *best, double share, ss_slip_finder *find, const void *settings,
                            int *steps)
{
    ss_local near = *best->p;
    const double shift = share * ss_local_own_scale(best->p);
    for (int i = 0; i < 9; i += 4) {
        near.W[i] += shift;
    }
    ss_slip k;
    ss_slip_eliminate(&near, &k);
    if (!(k.det > 0.0)) {
        return;
    }
    ss_candidate c;
    ss_candidate_stick(&k, &c);
    offer_polished(best, &k, &c);
    if (!passes(best)) {
        const double none[3] = {0.0};
        const ss_local_goal nothing = {0};
        ss_candidate_slide(&k, find(&k, settings, none, &nothing, steps), &c);
        offer_polished(best, &k, &c);
    }
}

static void try_roots(search *best)
{
    ss_slip k;
    ss_slip_eliminate(best->p, &k);
    double roots[4];
    const ss_quartic quartic = ss_slip_quartic(&k);
    const int n = ss_quartic_roots(&quartic, roots);
    for (int i = 0; i < n && !passes(best); i++) {
        if (roots[i] > 0.0) {
            ss_candidate c;
            ss_candidate_slide(&k, roots[i], &c);
            offer_polished(best, &k, &c);
        }
    }
}

// True if p is singular only nearly, and has an answer as blocks do that are not.
static bool is_regular(const ss_local *p)
{
    ss_slip k;
    ss_slip_eliminate(p, &k);
    const double whole = p->W[0] + p->W[4] + p->W[8];
    return p->W[0] > 0.0 && k.trace > REGULAR * whole && k.det > REGULAR * k.trace * whole;
}

static ss_local_info no_answer(int steps, double r[3])
{
    r[0] = r[1] = r[2] = 0.0;
    return (ss_local_info){.outcome = SS_NO_SOLUTION, .iterations = steps, .error = NAN};
}

static ss_local_info solve_singular(const ss_local *p, const ss_local_goal *goal,
                                    ss_slip_finder *find, const void *settings, double r[3])
{
    if (p->W[0] == 0.0 && p->W[1] == 0.0 && p->W[2] == 0.0) { // as u_N = b_N < 0 whatever r is
        return no_answer(0, r);
    }
    search best = {.p = p, .goal = goal, .error = NAN};
    int steps = 0;
    for (int i = 0; i < 3 && !passes(&best); i++) {
        try_regularised(&best, REGULARISATIONS[i], find, settings, &steps);
    }
    if (!passes(&best) && p->W[0] > 0.0) {
        try_roots(&best);
    }
    const bool regular = !passes(&best) && is_regular(p);
    if (regular) {
        try_regularised(&best, 0.0, find, settings, &steps);
    }
    if (!passes(&best) && !regular && !(best.error <= NO_ANSWER_SHARE * ss_norm_inf3(p->b))) {
        return no_answer(steps, r);
    }
    return cases_finish(&best, steps, r);
}

static ss_local_info solve_pressed(const ss_local *p, const ss_local_goal *goal,
                                   ss_slip_finder *find, const void *settings, double r[3])
{
    ss_slip k;
    if (!ss_slip_eliminate(p, &k)) {
        return solve_singular(p, goal, find, settings, r);
    }
    ss_candidate c;
    double u[3];
    int steps = 0;
    if (!ss_cases_try(&k, goal, find, settings, r, &c, u, &steps)) {
        return insist(&k, goal, &c, steps, r);
    }
    return ss_cases_accept(&c, goal, u, steps, r);
}

// Returns the power of two at or below x > 0, by which division is exact.
static double power_of_two(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits &= UINT64_C(0x7ff0000000000000);
    double power;
    memcpy(&power, &bits, sizeof power);
    return power > 0.0 ? power : 0x1p-1022;
}

// Solves in units in which tr W/d and |b| are of order one.
static ss_local_info solve_scaled(const ss_local *p, const ss_local_goal *goal,
                                  ss_slip_finder *find, const void *settings, double r[3])
{
    const double s = power_of_two(ss_local_own_scale(p)), v = power_of_two(ss_norm_inf3(p->b));
    ss_local scaled = *p;
    double start[3];
    for (int i = 0; i < 9; i++) {
        scaled.W[i] /= s;
    }
    for (int i = 0; i < 3; i++) {
        scaled.b[i] /= v;
        start[i] = r[i] / v * s;
    }
    const ss_local_goal relative = {
        .tolerance = goal->tolerance / v, .scale = goal->scale / s, .fixed = goal->fixed};
    ss_local_info info;
    if (scaled.b[0] > -LEAST_PRESS) {
        scaled.b[0] = 0.0;
        info = take_off(&scaled, &relative, start);
    } else {
        info = solve_pressed(&scaled, &relative, find, settings, start);
    }
    for (int i = 0; i < 3; i++) {
        r[i] = start[i] * v / s;
    }
    return (ss_local_info){
        .outcome = info.outcome, .iterations = info.iterations, .error = info.error * v};
}

ss_local_info ss_cases_solve(const ss_local *p, const ss_local_goal *goal, ss_slip_finder *find,
                             const void *settings, double r[3])
{
    if (p->b[0] >= 0.0) {
        return take_off(p, goal, r);
    }
    return ss_cases_are_moderate(p) ? solve_pressed(p, goal, find, settings, r)
                                    : solve_scaled(p, goal, find, settings, r);
}
