#include "problems/coulomb.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

#include "base/team.h"
#include "problems/matrix/long_products.h"

// The larger of two, where a NaN wins and stays: fmax would lose it.
static double worse(double worst, double x)
{
    return isnan(worst) || x <= worst ? worst : x;
}

static double norm_inf(const double x[3])
{
    return worse(worse(fabs(x[0]), fabs(x[1])), fabs(x[2]));
}

// Scalar Fischer-Burmeister function a + b - |(a, b)|, at scale one, where no square overflows or
// vanishes. Where a + b is positive the difference cancels, as it does where a contact presses by a
// and overlaps by a small -b, and 2ab / (a + b + |(a, b)|) is the same number without cancellation.
static double scalar_fischer_burmeister(double a, double b)
{
    const double size = worse(fabs(a), fabs(b));
    if (size == 0.0) {
        return 0.0;
    }
    const double x = a / size, y = b / size;
    const double h = sqrt(x * x + y * y);
    return size * (x + y > 0.0 ? 2.0 * x * y / (x + y + h) : x + y - h);
}

// det z of z = x o x + y o y as a sum of squares, so that no digits cancel:
//   det z = (det x)^2 + (det y)^2
//           + 2 [ (x_N y_N - x_T.y_T)^2 + |x_N y_T - y_N x_T|^2 + (x_T ^ y_T)^2 ]
// for any x and y; det x = x_N^2 - |x_T|^2.
static double determinant_of_squares(const double x[3], const double y[3])
{
    const double det_x = (x[0] - x[1]) * (x[0] + x[1]) - x[2] * x[2];
    const double det_y = (y[0] - y[1]) * (y[0] + y[1]) - y[2] * y[2];
    const double inner = x[0] * y[0] - x[1] * y[1] - x[2] * y[2];
    const double cross1 = x[0] * y[1] - y[0] * x[1];
    const double cross2 = x[0] * y[2] - y[0] * x[2];
    const double wedge = x[1] * y[2] - x[2] * y[1];
    return det_x * det_x + det_y * det_y +
           2.0 * (inner * inner + cross1 * cross1 + cross2 * cross2 + wedge * wedge);
}

// f for |x|, |y| of order one. With a = x_N x_T + y_N y_T, z = (|x|^2 + |y|^2, 2 a) has the
// spectral values l1,2 = |x|^2 + |y|^2 -/+ 2|a| and
//   z^(1/2) = ( (sqrt l1 + sqrt l2)/2,  (sqrt l2 - sqrt l1)/2 a/|a| ),   l1 = det z / l2.
static void fischer_burmeister_scaled(const double x[3], const double y[3], double f[3])
{
    const double a1 = x[0] * x[1] + y[0] * y[1];
    const double a2 = x[0] * x[2] + y[0] * y[2];
    const double a = sqrt(a1 * a1 + a2 * a2);
    const double squares =
        x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + y[0] * y[0] + y[1] * y[1] + y[2] * y[2];
    const double l2 = squares + 2.0 * a;
    const double root2 = sqrt(l2);
    const double root1 = sqrt(determinant_of_squares(x, y) / l2);
    const double tangential = a > 0.0 ? 0.5 * (root2 - root1) / a : 0.0;
    f[0] = x[0] + y[0] - 0.5 * (root1 + root2);
    f[1] = x[1] + y[1] - tangential * a1;
    f[2] = x[2] + y[2] - tangential * a2;
}

void ss_fischer_burmeister(const double x[3], const double y[3], double f[3])
{
    // f is homogeneous; at scale one no square overflows or vanishes.
    const double size = worse(norm_inf(x), norm_inf(y));
    if (size == 0.0) {
        f[0] = f[1] = f[2] = 0.0;
        return;
    }
    const double xs[3] = {x[0] / size, x[1] / size, x[2] / size};
    const double ys[3] = {y[0] / size, y[1] / size, y[2] / size};
    fischer_burmeister_scaled(xs, ys, f);
    for (int c = 0; c < 3; c++) {
        f[c] *= size;
    }
}

// sqrt(x_1^2 + x_2^2) where neither square may overflow or vanish.
static double tangential_norm(const double x[3])
{
    const double size = worse(fabs(x[1]), fabs(x[2]));
    if (size == 0.0) {
        return 0.0;
    }
    const double a = x[1] / size, b = x[2] / size;
    return size * sqrt(a * a + b * b);
}

void ss_coulomb_residual(double mu, double s, const double r[3], const double u[3], double f[3])
{
    if (mu == 0.0) {
        f[0] = scalar_fischer_burmeister(s * r[0], u[0]);
        f[1] = s * tangential_norm(r);
        f[2] = 0.0;
        if (isnan(u[1]) || isnan(u[2])) {
            f[0] = NAN;
        }
        return;
    }
    const double x[3] = {s * mu * r[0], s * r[1], s * r[2]};
    const double y[3] = {u[0] + mu * tangential_norm(u), mu * u[1], mu * u[2]};
    ss_fischer_burmeister(x, y, f);
}

void ss_cone_project(double mu, const double x[3], double projection[3])
{
    const double xt = tangential_norm(x);
    if (x[0] >= 0.0 && xt <= mu * x[0]) {
        projection[0] = x[0];
        projection[1] = x[1];
        projection[2] = x[2];
        return;
    }
    if (x[0] <= 0.0 && mu * xt <= -x[0]) {
        projection[0] = projection[1] = projection[2] = 0.0;
        return;
    }
    const double n = (x[0] + mu * xt) / (1.0 + mu * mu);
    const double t = xt > 0.0 ? mu * n / xt : 0.0;
    projection[0] = n;
    projection[1] = t * x[1];
    projection[2] = t * x[2];
}

#define STORED  SS_MEASURES_STORED
#define IN_FULL (SS_MEASURES_IN_FULL | STORED)
#define OF_ROWS (SS_MEASURES_OF_ROWS | IN_FULL)

#define MEASURE(name_, unit_, groups_)                                                             \
    SS_FIELD(ss_measures, name_, SS_FIELD_REAL, .unit = unit_, .groups = groups_,                  \
             .rank = SS_RANK_FURTHER)

const ss_field ss_measure_fields[] = {
    SS_FIELD(ss_measures, fb, SS_FIELD_REAL, .unit = "1", .groups = OF_ROWS),
    MEASURE(fb_contact, "1", OF_ROWS),
    MEASURE(fb_abs, "m/s", OF_ROWS),
    MEASURE(natural, "1", OF_ROWS),
    MEASURE(normal, "1", OF_ROWS),
    MEASURE(penetration, "m/s", IN_FULL),
    MEASURE(cone_excess, "1", IN_FULL),
    MEASURE(slip_angle, "rad", IN_FULL),
    MEASURE(power, "J", IN_FULL),
    MEASURE(velocity_scale, "m/s", STORED),
    MEASURE(compliance_scale, "1/kg", STORED),
    SS_FIELD(ss_measures, worst_contact, SS_FIELD_INTEGER, .unit = "1", .groups = STORED),
    {.name = NULL},
};

ss_measures ss_measures_none(void)
{
    ss_measures none = {0};
    ss_fields_blank(ss_measure_fields, &none);
    return none;
}

double ss_measures_error(const ss_measures *m)
{
    return m == NULL ? NAN : worse(m->fb, SS_NORMAL_WEIGHT * m->normal);
}

bool ss_measures_pass(const ss_measures *m, double tolerance)
{
    return ss_measures_error(m) <= tolerance;
}

// The three components of contact i; in the plane the third is zero.
static void contact_vector(int d, const double *x, int i, double component[3])
{
    const double *at = x + (size_t)d * (size_t)i;
    component[0] = at[0];
    component[1] = at[1];
    component[2] = d == 3 ? at[2] : 0.0;
}

// What is known of a whole answer before its contacts are looked at one by one.
typedef struct scales {
    double V;       // m/s
    double s;       // 1/kg
    double largest; // max |r_i|_2, N s; 1 if that is 0
} scales;

static double norm2(const double x[3])
{
    const double size = norm_inf(x);
    if (!(size > 0.0)) {
        return size;
    }
    const double a = x[0] / size, b = x[1] / size, c = x[2] / size;
    return size * sqrt(a * a + b * b + c * c);
}

ss_scales ss_scales_find(int d, int n, const double *compliance, const double *b)
{
    ss_scales k = {0};
    for (int i = 0; i < n; i++) {
        double bi[3];
        contact_vector(d, b, i, bi);
        k.velocity = worse(k.velocity, norm2(bi));
        k.compliance += compliance[i] / n;
    }
    k.velocity = k.velocity == 0.0 ? 1.0 : k.velocity;
    // With s < 0 an impulse that pulls would be measured as one that pushes. A NaN stays.
    k.compliance = k.compliance <= 0.0 ? 1.0 : k.compliance;
    return k;
}

static scales find_scales(int d, int n, const double *compliance, const double *b, const double *r)
{
    const ss_scales problem = ss_scales_find(d, n, compliance, b);
    scales k = {.V = problem.velocity, .s = problem.compliance};
    for (int i = 0; i < n; i++) {
        double ri[3];
        contact_vector(d, r, i, ri);
        k.largest = worse(k.largest, norm2(ri));
    }
    k.largest = k.largest == 0.0 ? 1.0 : k.largest;
    return k;
}

// Angle between -u_T and r_T. A contact slides, for this measure, where both s|r_T| and mu|u_T|
// exceed `share` of V.
static double slip_angle(const scales *k, double mu, double share, const double r[3],
                         const double u[3])
{
    const double rt = tangential_norm(r), ut = tangential_norm(u);
    if (k->s * rt <= share * k->V || mu * ut <= share * k->V) {
        return 0.0;
    }
    const double cross = (r[1] / rt) * (u[2] / ut) - (r[2] / rt) * (u[1] / ut);
    const double along = -((r[1] / rt) * (u[1] / ut) + (r[2] / rt) * (u[2] / ut));
    return atan2(fabs(cross), along);
}

// f has s r_T and mu u_T in it, so an answer with residual fb knows neither better than fb V, and
// the direction of one that is not ten times as large may be any. Below the first share directions
// are rounding; above the second no friction is left to look at.
#define SLIDING_ABOVE 10.0
#define SLIDING_LEAST 1e-6
#define SLIDING_MOST  1e-3
static double sliding_share(double fb)
{
    const double share = SLIDING_ABOVE * fb;
    return share < SLIDING_LEAST ? SLIDING_LEAST : share < SLIDING_MOST ? share : SLIDING_MOST;
}

static void law_split(const scales *k, double mu, const double r[3], const double u[3],
                      ss_measures *m)
{
    const double ut = tangential_norm(u);
    const double excess = tangential_norm(r) - mu * r[0];
    const double power = (u[0] + mu * ut) * r[0] + u[1] * r[1] + u[2] * r[2];
    m->penetration = worse(m->penetration, -u[0]);
    m->cone_excess = worse(m->cone_excess, worse(excess, -r[0]) / k->largest);
    m->power = worse(m->power, fabs(power));
}

// |r - P_K(r - u~)|^2 of one contact.
static double natural_squared(double mu, const double r[3], const double u[3])
{
    const double x[3] = {r[0] - u[0] - mu * tangential_norm(u), r[1] - u[1], r[2] - u[2]};
    double p[3];
    ss_cone_project(mu, x, p);
    const double e[3] = {r[0] - p[0], r[1] - p[1], r[2] - p[2]};
    return e[0] * e[0] + e[1] * e[1] + e[2] * e[2];
}

double ss_coulomb_rounding(double mu, double s, const double r[3], const double u[3])
{
    const double impulse = fabs(s) * (mu > 1.0 ? mu : 1.0) * norm_inf(r);
    const double slip = mu > 1.0 ? mu * tangential_norm(u) : 0.0;
    return DBL_EPSILON * worse(impulse, slip);
}

static double residual_size(double mu, double s, const double r[3], const double u[3])
{
    double f[3];
    ss_coulomb_residual(mu, s, r, u, f);
    return worse(norm_inf(f), ss_coulomb_rounding(mu, s, r, u));
}

static double normal_size(double s, const double r[3], const double u[3])
{
    const double f = scalar_fischer_burmeister(s * r[0], u[0]);
    return worse(fabs(f), DBL_EPSILON * fabs(s * r[0]));
}

// ---- The residual with the digits of two doubles

static ss_twofold minus(ss_twofold a, ss_twofold b)
{
    return ss_twofold_sum(a, (ss_twofold){-b.high, -b.low});
}

static ss_twofold fine_dot(int n, const ss_twofold *a, const ss_twofold *b)
{
    ss_twofold sum = {0.0, 0.0};
    for (int k = 0; k < n; k++) {
        sum = ss_twofold_sum(sum, ss_twofold_product(a[k], b[k]));
    }
    return sum;
}

// Returns a b - c d.
static ss_twofold fine_cross(ss_twofold a, ss_twofold b, ss_twofold c, ss_twofold d)
{
    return minus(ss_twofold_product(a, b), ss_twofold_product(c, d));
}

// Returns x_N y_N - x_T . y_T.
static ss_twofold fine_inner(const ss_twofold x[3], const ss_twofold y[3])
{
    return fine_cross(x[0], y[0], fine_dot(2, x + 1, y + 1), (ss_twofold){1.0, 0.0});
}

// Returns |f|_inf for |x|, |y| of order one, with q = z^(1/2) from q o q = z:
// D = sqrt(det z) = q_N^2 - |q_T|^2, 2 q_N^2 = |x|^2 + |y|^2 + D, q_T = (x_N x_T + y_N y_T)/q_N.
static double fine_fischer_burmeister(const ss_twofold x[3], const ss_twofold y[3])
{
    const ss_twofold terms[4] = {fine_inner(x, y), fine_cross(x[0], y[1], y[0], x[1]),
                                 fine_cross(x[0], y[2], y[0], x[2]),
                                 fine_cross(x[1], y[2], x[2], y[1])};
    const ss_twofold dets[2] = {fine_inner(x, x), fine_inner(y, y)};
    const ss_twofold D = ss_twofold_root(
        ss_twofold_sum(fine_dot(2, dets, dets), ss_twofold_times(2.0, fine_dot(4, terms, terms))));
    const ss_twofold squares = ss_twofold_sum(fine_dot(3, x, x), fine_dot(3, y, y));
    const ss_twofold q = ss_twofold_root(ss_twofold_times(0.5, ss_twofold_sum(squares, D)));
    double f[3];
    f[0] = ss_twofold_rounded(minus(ss_twofold_sum(x[0], y[0]), q));
    for (int c = 1; c < 3; c++) {
        const ss_twofold a =
            ss_twofold_sum(ss_twofold_product(x[0], x[c]), ss_twofold_product(y[0], y[c]));
        f[c] = ss_twofold_rounded(minus(ss_twofold_sum(x[c], y[c]), ss_twofold_quotient(a, q)));
    }
    return norm_inf(f);
}

// Returns the power of two just above x, which is positive and no denormal number.
static double power_above(double x)
{
    int exponent;
    frexp(x, &exponent);
    return ldexp(1.0, exponent);
}

// Returns |f(r^, u^)|_inf for mu > 0. As f has degree one, velocities are taken in `unit`, which is
// larger than all of them, and impulses in a unit of their own, both powers of two.
static double fine_size(double mu, double s, const double r[3], const ss_twofold u[3], double unit)
{
    const double most = norm_inf(r), r_unit = most >= DBL_MIN ? power_above(most) : 1.0;
    const double scale = s * (r_unit / unit);
    ss_twofold x[3], y[3], v[3];
    for (int c = 0; c < 3; c++) {
        x[c] = ss_twofold_times(scale, (ss_twofold){r[c] / r_unit, 0.0});
        v[c] = (ss_twofold){u[c].high / unit, u[c].low / unit};
        y[c] = ss_twofold_times(mu, v[c]);
    }
    x[0] = ss_twofold_times(mu, x[0]);
    y[0] = ss_twofold_sum(v[0], ss_twofold_times(mu, ss_twofold_root(fine_dot(2, v + 1, v + 1))));
    return unit * fine_fischer_burmeister(x, y);
}

// Bounds the error of a residual of two doubles: f changes by at most 2 |dy|_2 with y (found by
// search), u is off by at most `uncertain`, and numbers of this size are right to 96 bits.
static double unknown_of(double mu, double size, double uncertain)
{
    return 4.0 * (1.0 + 2.0 * mu) * uncertain + 0x1p-96 * size;
}

double ss_impulse_most(double tolerance)
{
    return fmax(SS_IMPULSE_MOST, tolerance / DBL_EPSILON);
}

static bool is_lost(double s, double V, const double r[3])
{
    return !(fabs(s) * norm_inf(r) <= SS_IMPULSE_MOST * V);
}

// Does the same as residual_size for a velocity of two doubles.
static double fine_residual_size(double mu, double s, double V, const double r[3],
                                 const ss_twofold u[3], double uncertain)
{
    const double rounded[3] = {u[0].high, u[1].high, u[2].high};
    const double size = worse(mu, 1.0) * worse(fabs(s) * norm_inf(r), norm_inf(rounded));
    if (!(size >= 4.0 * DBL_MIN && size <= DBL_MAX / 16.0)) {
        return residual_size(mu, s, r, rounded);
    }
    double f;
    if (mu > 0.0) {
        f = fine_size(mu, s, r, u, 2.0 * power_above(size));
    } else { // no digits cancel
        double of_normals[3];
        ss_coulomb_residual(mu, s, r, rounded, of_normals);
        f = norm_inf(of_normals);
    }
    f += unknown_of(mu, size, uncertain);
    return is_lost(s, V, r) ? worse(f, ss_coulomb_rounding(mu, s, r, rounded)) : f;
}

static double fine_normal_size(double s, double V, const double r[3], const ss_twofold u[3],
                               double uncertain)
{
    const double f =
        fabs(scalar_fischer_burmeister(s * r[0], u[0].high)) + unknown_of(0.0, 0.0, uncertain);
    return is_lost(s, V, r) ? worse(f, DBL_EPSILON * fabs(s * r[0])) : f;
}

static double vector_norm(const double *x, size_t n)
{
    double sum = 0.0;
    for (size_t k = 0; k < n; k++) {
        sum += x[k] * x[k];
    }
    return sqrt(sum);
}

// r = 0 and u_N >= 0 solve (1) exactly: every measure of such a contact is 0, and most contacts of
// hair are such. A NaN among the numbers must be met by the measures.
static bool is_open(double mu, const double r[3], const double u[3])
{
    return r[0] == 0.0 && r[1] == 0.0 && r[2] == 0.0 && u[0] >= 0.0 && isfinite(u[0]) &&
           isfinite(u[1]) && isfinite(u[2]) && !isnan(mu);
}

// What is measured, in ranges of contacts that threads share: maxima of each, joined in their
// order, and squares that are summed in the order of the contacts.
#define MEASURE_NS        25.0 // a contact
#define MEASURE_FINELY_NS 2000.0
#define MOST_RANGES       64

typedef struct measuring {
    int d, n;
    const double *compliance, *mu, *r, *u;
    const ss_fine *fine; // NULL: u is all that is known
    scales k;
    double share;    // for slip_angle
    double *squares; // [n] natural_squared; NULL: a range sums its own
    int nranges;
    ss_measures of_range[MOST_RANGES];
} measuring;

// Takes in the residuals of contact i.
static void measure_residuals(const measuring *all, int i, const double r[3], const double u[3],
                              ss_measures *m)
{
    const double mu = all->mu[i], s = all->k.s, V = all->k.V, own = all->compliance[i];
    if (all->fine == NULL) {
        m->fb = worse(m->fb, residual_size(mu, s, r, u) / V);
        m->fb_contact = worse(m->fb_contact, residual_size(mu, own, r, u) / V);
        m->fb_abs = worse(m->fb_abs, residual_size(mu, 1.0, r, u));
        m->normal = worse(m->normal, normal_size(s, r, u) / V);
        return;
    }
    double low[3];
    contact_vector(all->d, all->fine->low, i, low);
    const ss_twofold v[3] = {{u[0], low[0]}, {u[1], low[1]}, {u[2], low[2]}};
    const double uncertain = all->fine->uncertain;
    m->fb = worse(m->fb, fine_residual_size(mu, s, V, r, v, uncertain) / V);
    m->fb_contact = worse(m->fb_contact, fine_residual_size(mu, own, V, r, v, uncertain) / V);
    m->fb_abs = worse(m->fb_abs, fine_residual_size(mu, 1.0, V, r, v, uncertain));
    m->normal = worse(m->normal, fine_normal_size(s, V, r, v, uncertain) / V);
}

// Contact i.
static void measure_contact(const measuring *all, int i, const double r[3], const double u[3],
                            ss_measures *m)
{
    const scales *k = &all->k;
    const double mu = all->mu[i], before = m->fb, square = natural_squared(mu, r, u);
    measure_residuals(all, i, r, u, m);
    m->natural += square;
    if (all->squares != NULL) {
        all->squares[i] = square;
    }
    law_split(k, mu, r, u, m);
    if (!(m->fb <= before) && !isnan(before)) {
        m->worst_contact = i;
    }
}

static void measure_range(void *of, int range, int thread)
{
    measuring *all = of;
    ss_measures m = {0};
    const int end = ss_team_cut(all->n, range + 1, all->nranges);
    const bool known = !isnan(all->k.s) && !isnan(all->k.V);
    (void)thread;
    for (int i = ss_team_cut(all->n, range, all->nranges); i < end; i++) {
        double ri[3], ui[3];
        contact_vector(all->d, all->r, i, ri);
        contact_vector(all->d, all->u, i, ui);
        if (!known || !is_open(all->mu[i], ri, ui)) {
            measure_contact(all, i, ri, ui, &m);
        } else if (all->squares != NULL) {
            all->squares[i] = 0.0;
        }
    }
    all->of_range[range] = m;
}

static void slip_range(void *of, int range, int thread)
{
    measuring *all = of;
    double angle = 0.0;
    const int end = ss_team_cut(all->n, range + 1, all->nranges);
    (void)thread;
    for (int i = ss_team_cut(all->n, range, all->nranges); i < end; i++) {
        double ri[3], ui[3];
        contact_vector(all->d, all->r, i, ri);
        contact_vector(all->d, all->u, i, ui);
        angle = worse(angle, slip_angle(&all->k, all->mu[i], all->share, ri, ui));
    }
    all->of_range[range].slip_angle = angle;
}

static void join(ss_measures *m, const ss_measures *next)
{
    if (!(next->fb <= m->fb) && !isnan(m->fb)) {
        m->worst_contact = next->worst_contact;
    }
    m->fb = worse(m->fb, next->fb);
    m->fb_contact = worse(m->fb_contact, next->fb_contact);
    m->fb_abs = worse(m->fb_abs, next->fb_abs);
    m->normal = worse(m->normal, next->normal);
    m->penetration = worse(m->penetration, next->penetration);
    m->cone_excess = worse(m->cone_excess, next->cone_excess);
    m->power = worse(m->power, next->power);
}

static double sum_squares(const measuring *all)
{
    double sum = 0.0;
    for (int i = 0; i < all->n; i++) {
        sum += all->squares[i];
    }
    return sum;
}

ss_measures ss_measure_with(ss_team *team, double *squares, int d, int n, const double *compliance,
                            const double *b, const double *mu, const double *r, const double *u,
                            const ss_fine *fine)
{
    const double each = fine != NULL ? MEASURE_FINELY_NS : MEASURE_NS;
    const bool shared = squares != NULL && ss_team_pays(team, each * n);
    measuring all = {.d = d,
                     .n = n,
                     .compliance = compliance,
                     .mu = mu,
                     .r = r,
                     .u = u,
                     .fine = fine,
                     .k = find_scales(d, n, compliance, b, r),
                     .squares = shared ? squares : NULL,
                     .nranges = shared ? MOST_RANGES : 1};
    ss_measures m = {.velocity_scale = all.k.V, .compliance_scale = all.k.s};
    ss_team_run(team, all.nranges, measure_range, &all);
    for (int range = 0; range < all.nranges; range++) {
        join(&m, &all.of_range[range]);
    }
    m.natural = shared ? sum_squares(&all) : all.of_range[0].natural;
    all.share = sliding_share(m.fb);
    ss_team_run(team, all.nranges, slip_range, &all);
    for (int range = 0; range < all.nranges; range++) {
        m.slip_angle = worse(m.slip_angle, all.of_range[range].slip_angle);
    }
    const size_t size = (size_t)d * (size_t)n;
    const double largest =
        worse(worse(vector_norm(b, size), vector_norm(r, size)), vector_norm(u, size));
    m.natural = sqrt(m.natural) / (largest == 0.0 ? 1.0 : largest);
    return m;
}

ss_measures ss_measure(int d, int n, const double *compliance, const double *b, const double *mu,
                       const double *r, const double *u)
{
    const bool known = compliance != NULL && b != NULL && mu != NULL && r != NULL && u != NULL;
    if (!known || n < 1 || (d != 2 && d != 3)) {
        return ss_measures_none();
    }
    return ss_measure_with(NULL, NULL, d, n, compliance, b, mu, r, u, NULL);
}

double ss_measures_rounding(const ss_measures *m, int d, int n, const double *mu, const double *r,
                            const double *u, double uncertain)
{
    double most = 0.0;
    for (int i = 0; i < n; i++) {
        double ri[3], ui[3];
        contact_vector(d, r, i, ri);
        contact_vector(d, u, i, ui);
        const double here = ss_coulomb_rounding(mu[i], m->compliance_scale, ri, ui) +
                            unknown_of(mu[i], 0.0, uncertain);
        most = is_open(mu[i], ri, ui) && ui[0] > uncertain ? most : worse(most, here);
    }
    return most / m->velocity_scale;
}

ss_measures ss_measure_in_units(double impulse, double velocity, int d, int n, const double *b,
                                const double *mu, const double *r, const double *u)
{
    ss_measures m = ss_measures_none();
    double squares[3] = {0.0}; // of all b, r and u
    m.fb_abs = m.natural = 0.0;
    for (int i = 0; i < n; i++) {
        double bi[3], ri[3], ui[3];
        contact_vector(d, b, i, bi);
        contact_vector(d, r, i, ri);
        contact_vector(d, u, i, ui);
        for (int k = 0; k < 3; k++) {
            bi[k] *= velocity;
            ri[k] *= impulse;
            ui[k] *= velocity;
            squares[0] += bi[k] * bi[k];
            squares[1] += ri[k] * ri[k];
            squares[2] += ui[k] * ui[k];
        }
        if (!is_open(mu[i], ri, ui)) {
            m.fb_abs = worse(m.fb_abs, residual_size(mu[i], 1.0, ri, ui));
            m.natural += natural_squared(mu[i], ri, ui);
        }
    }
    const double largest = sqrt(worse(worse(squares[0], squares[1]), squares[2]));
    m.natural = sqrt(m.natural) / (largest == 0.0 ? 1.0 : largest);
    return m;
}
