// solvers/local/projection.c -- projection: one projected step, cheap, and no local solve.
//
//     r <- P_K(r - p u~),    u~ = W r + b + mu |u_T| e,   p = 1/(m lambda_max(sym W))        (1)
//
// with m = 1 for mu <= 1 and 1 + mu above, where m = 1 cycles; nothing is promised for mu > 1.
// Its fixed points are the answers of Coulomb's law (doc/formulation.md, "Projection"). With
// q = tr(S)/3 for S = sym W, B = S - q I and a = (tr(B B)/6)^(1/2), the largest eigenvalue of S is
//
//     q + 2 a cos(arccos(h)/3),   h = det(B)/(2 a^3),   -1 <= h <= 1                         (2)
//
// In k = ((1 + h)/2)^(1/2) = cos(arccos(h)/2) the cosine is smooth on 0 <= k <= 1, and a polynomial
// serves: libm's arccos has no fixed bits.
#include "solvers/contact.h"
#include "solvers/local/local.h"
#include "solvers/sweep/visits.h"

// 2 cos(2 arccos(k)/3) by interpolation at the Chebyshev points of [0, 1], constant term first:
// within 4e-7, and p is a step length.
static const double COSINE[7] = {1.00000037,    1.1546638,    -0.221610942,  0.102949527,
                                 -0.0527994987, 0.0210035072, -0.00420698202};

static double cosine(double k)
{
    double value = COSINE[6];
    for (int i = 5; i >= 0; i--) {
        value = value * k + COSINE[i];
    }
    return value;
}

// Evaluates (2).
static double largest_eigenvalue(const double W[9])
{
    const double q = (W[0] + W[4] + W[8]) / 3.0;
    const double d0 = W[0] - q, d1 = W[4] - q, d2 = W[8] - q;
    const double o0 = 0.5 * (W[5] + W[7]), o1 = 0.5 * (W[2] + W[6]), o2 = 0.5 * (W[1] + W[3]);
    const double square = (d0 * d0 + d1 * d1 + d2 * d2 + 2.0 * (o0 * o0 + o1 * o1 + o2 * o2)) / 6.0;
    if (!(square > 0.0)) {
        return q;
    }
    const double a = sqrt(square);
    const double det =
        d0 * (d1 * d2 - o0 * o0) - o2 * (o2 * d2 - o0 * o1) + o1 * (o2 * o0 - d1 * o1);
    const double half = 0.5 + 0.25 * det / (square * a);
    const double k = half <= 0.0 ? 0.0 : half >= 1.0 ? 1.0 : sqrt(half);
    return q + a * cosine(k);
}

// Returns p of (1), remembered from the first visit on.
static double step_length(const ss_local *p, double *memo)
{
    if (memo != NULL && *memo > 0.0) {
        return *memo;
    }
    const double step = 1.0 / (largest_eigenvalue(p->W) * (p->mu > 1.0 ? 1.0 + p->mu : 1.0));
    if (memo != NULL) {
        *memo = step;
    }
    return step;
}

// Computes P_K of x, as problems/coulomb.c does except for its care about numbers of any size. All
// three cases are computed and one is chosen: a branch would be mispredicted again and again, which
// costs more.
SS_INLINE void projection_project(double mu, const double x[3], double r[3])
{
    const double length = ss_length2(x[1], x[2]);
    const double n = (x[0] + mu * length) / (1.0 + mu * mu);
    const bool inside = length <= mu * x[0], polar = mu * length <= -x[0];
    const double normal = inside ? x[0] : n, along = inside ? 1.0 : mu * n / length;
    r[0] = polar ? 0.0 : normal;
    r[1] = polar ? 0.0 : along * x[1];
    r[2] = polar ? 0.0 : along * x[2];
}

// It makes one step only, so nothing is measured and nothing claimed.
SS_INLINE ss_local_info projection_solve(const ss_local *p, const ss_local_goal *goal,
                                         const void *settings, double r[3])
{
    (void)settings;
    const double mu = p->mu, step = step_length(p, goal->memo);
    double u[3];
    ss_local_velocity(p, r, u);
    u[0] += mu * ss_length2(u[1], u[2]);
    const double x[3] = {r[0] - step * u[0], r[1] - step * u[1], r[2] - step * u[2]};
    projection_project(mu, x, r);
    return (ss_local_info){.outcome = SS_STEPPED, .iterations = 1, .error = NAN};
}

static void projection_visits(ss_sweeper *sweeper, int begin, int end, ss_tally *t)
{
    ss_visit_contacts(sweeper, projection_solve, begin, end, t);
}

const ss_local_solver ss_projection = {
    .card = {.name = "projection",
             .law = SS_EXACT,
             .reference = "D11",
             .about = "One projected step towards the answer of the contact, no solve: sweeps "
                      "are cheap and many. Its fixed points are the answers of Coulomb's law. "
                      "Nothing is promised for mu above 1."},
    .one_step = true,
    .solve = projection_solve,
    .visits = projection_visits,
};
