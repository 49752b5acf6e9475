// Nearest points of two segments x0 + a d and y0 + b e, a and b in [0, 1]; r = y0 - x0, c = d x e.
//
// The squared distance is a convex quadratic form of (a, b). Where the lines cross (c != 0) it is
// least at
//     a = (r x e) . c / |c|^2
// for lines; a is moved into [0, 1], then b is the best one for this a, and where that one had to
// be moved too, a is the best one for b. By convexity this ends at the least value in the square.
// The cross products, unlike the determinant |d|^2 |e|^2 - (d . e)^2 of the usual form, lose no
// digits where the lines are nearly parallel. Parallel ones: the middle of the overlap of their
// shadows on d, or the ends that face each other.
#include "strands/contact/proximity.h"

// sin^2 of the angle below which the cross products no longer tell a.
#define PARALLEL 1e-20
// Share of the lengths below which the direction between two points is rounding.
#define COINCIDENT 1e-12

static double clamped(double t)
{
    return t > 0.0 ? (t < 1.0 ? t : 1.0) : 0.0;
}

// The abscissa nearest to a point that lies `part` along a segment with squared length `whole`;
// 0 on one without length.
static double abscissa(double part, double whole)
{
    return whole > 0.0 ? clamped(part / whole) : 0.0;
}

typedef struct pair {
    ss_vec3 d, e, r;
    double dd, ee, de;
} pair;

static void crossing(const pair *p, ss_vec3 c, double cc, double *a, double *b)
{
    *a = clamped(ss_dot(ss_cross(p->r, p->e), c) / cc);
    const double free_b = (*a * p->de - ss_dot(p->r, p->e)) / p->ee;
    *b = clamped(free_b);
    if (*b != free_b) {
        *a = abscissa(ss_dot(p->r, p->d) + *b * p->de, p->dd);
    }
}

static void parallel(const pair *p, double *a, double *b)
{
    const double first = p->dd > 0.0 ? ss_dot(p->r, p->d) / p->dd : 0.0;
    const double second = p->dd > 0.0 ? first + p->de / p->dd : 0.0;
    const double low = ss_larger(0.0, ss_smaller(first, second)),
                 high = ss_smaller(1.0, ss_larger(first, second));
    *a = low <= high ? 0.5 * (low + high) : clamped(first);
    *b = abscissa(*a * p->de - ss_dot(p->r, p->e), p->ee);
    if (!(low <= high)) {
        *a = abscissa(ss_dot(p->r, p->d) + *b * p->de, p->dd);
    }
}

static double nearest(ss_vec3 x0, ss_vec3 x1, ss_vec3 y0, ss_vec3 y1, double parallel_below,
                      double *a, double *b)
{
    pair p = {.d = ss_minus(x1, x0), .e = ss_minus(y1, y0), .r = ss_minus(y0, x0)};
    p.dd = ss_dot(p.d, p.d);
    p.ee = ss_dot(p.e, p.e);
    p.de = ss_dot(p.d, p.e);
    const ss_vec3 c = ss_cross(p.d, p.e);
    const double cc = ss_dot(c, c);
    if (cc > parallel_below * p.dd * p.ee) {
        crossing(&p, c, cc, a, b);
    } else {
        parallel(&p, a, b);
    }
    return ss_length(ss_along(ss_along(p.r, -*a, p.d), *b, p.e));
}

double ss_segments_nearest(ss_vec3 x0, ss_vec3 x1, ss_vec3 y0, ss_vec3 y1, double *a, double *b)
{
    return nearest(x0, x1, y0, y1, SS_NEARLY_PARALLEL, a, b);
}

double ss_segments_exact(ss_vec3 x0, ss_vec3 x1, ss_vec3 y0, ss_vec3 y1, double *a, double *b)
{
    return nearest(x0, x1, y0, y1, PARALLEL, a, b);
}

ss_vec3 ss_orthogonal(ss_vec3 d)
{
    const double x = fabs(d.x), y = fabs(d.y), z = fabs(d.z);
    const ss_vec3 least = x <= y && x <= z ? ss_vec(1.0, 0.0, 0.0)
                          : y <= z         ? ss_vec(0.0, 1.0, 0.0)
                                           : ss_vec(0.0, 0.0, 1.0);
    const ss_vec3 n = ss_cross(d, least);
    const double length = ss_length(n);
    return length > 0.0 ? ss_scaled(1.0 / length, n) : ss_vec(0.0, 0.0, 1.0);
}

ss_vec3 ss_normal_between(ss_vec3 w, ss_vec3 d, ss_vec3 e)
{
    const double length = ss_length(w), d_length = ss_length(d), e_length = ss_length(e);
    if (length > COINCIDENT * (d_length + e_length)) {
        return ss_scaled(1.0 / length, w);
    }
    const ss_vec3 c = ss_cross(d, e);
    const double c_length = ss_length(c);
    if (c_length > sqrt(PARALLEL) * d_length * e_length) {
        return ss_scaled((ss_dot(w, c) < 0.0 ? -1.0 : 1.0) / c_length, c);
    }
    return ss_orthogonal(d_length > e_length ? d : e);
}
