// Energy, gradient and Hessian of a rod, SS_DER_LANES joints side by side (der.h).
//
// With t0, t1 the unit edges at a joint, chi = 1 + t0.t1, tt = (t0 + t1)/chi, kb = 2 t0 x t1 / chi, every
// strain of bending is kb.D for a D that is fixed in the material frames: D = m2 and -m1 of either edge, or
// their mean. What the energy needs of them is linear in D, so that the sum over the strains, weighted by
// dE/d(strain), is one D = D^0 + D^1 a joint (^j: the part of edge j), and K = kb.D:
//
//     dE/de = [-K tt + 2 t1 x D/chi]/|e|     dE/df = [-K tt - 2 t0 x D/chi]/|f|     dE/dth^j = kb.D'^j
//
// with D'^j = dD^j/dth^j, for m2' = -m1 and (-m1)' = -m2. Second derivatives are as linear:
//
//     ee   { sym(K tt - 2 t1 x D/chi, tt) + sym(kb, D^0)/2 - K/chi (I - t0 t0') }/|e|^2
//     ff   { sym(K tt + 2 t0 x D/chi, tt) + sym(kb, D^1)/2 - K/chi (I - t1 t1') }/|f|^2
//     ef   { -K/chi (I + t0 t1') + (2 K tt - 2 t1 x D/chi) tt' + 2 tt (t0 x D)'/chi - 2 [D]x/chi }/|e||f|
//     e th^j, f th^j: the gradients with D'^j for D;   th^j th^j: -kb.D^j
//
// and to these come the squares of the strains' gradients with their stiffness. Number j of a lane is edge
// j and the joint between the edges j - 1 and j.
//
// doc/strands.md, "Bending gradient" to "Stretch".
#include "problems/strands/models/der.h"

#include <string.h>

#include "problems/tangle/spectrum.h"

#define W SS_DER_LANES
// Vectors are not passed to other files, and 8 bytes are all that malloc promises.
typedef double lanes __attribute__((vector_size(8 * W), aligned(8)));
#define LANE lanes
#include "problems/strands/lanes.h"

// Dofs of a joint, and where in them the angles are; vertices are at 0, 4 and 8.
#define DOFS 11
#define TH0  3
#define TH1  7

// Edges that meet at a larger cosine fold back on each other: kb is no number of use there.
#define FOLD -0.999999

// Eigenvalues below this share of the largest are 0.
#define ZERO_SHARE 1e-12

static lanes lanes_of(const double *x)
{
    lanes a;
    memcpy(&a, x, sizeof a);
    return a;
}

static lanes roots(lanes a)
{
    for (int l = 0; l < W; l++) {
        a[l] = sqrt(a[l]);
    }
    return a;
}

// The last lane of `before`, then all but the last of `now`.
static lanes shifted(lanes before, lanes now)
{
    return __builtin_shufflevector(before, now, 7, 8, 9, 10, 11, 12, 13, 14);
}

static lane3 shifted3(lane3 before, lane3 now)
{
    return (lane3){shifted(before.x, now.x), shifted(before.y, now.y), shifted(before.z, now.z)};
}

// Edges side by side.
typedef struct edges {
    lane3 t, m1, m2;
    lanes length, inverse; // |e|, 1 / |e|
    lanes theta, mref;
} edges;

// Edges from .. from + W - 1; beyond the ends, the nearest one.
static edges edges_at(const ss_der *d, const double *q, int from)
{
    lane3 e, d1;
    lanes theta, mref, cosine, sine;
    for (int l = 0; l < W; l++) {
        const int k = from + l < 0 ? 0 : from + l, j = k < d->n ? k : d->n - 1;
        const double *x = q + SS_DER_STRIDE * j, *frame = ss_der_frame(d, q, j);
        e.x[l] = x[4] - x[0];
        e.y[l] = x[5] - x[1];
        e.z[l] = x[6] - x[2];
        theta[l] = x[3];
        d1.x[l] = frame[0];
        d1.y[l] = frame[1];
        d1.z[l] = frame[2];
        mref[l] = frame[3];
        cosine[l] = cos(x[3]);
        sine[l] = sin(x[3]);
    }
    const lanes length = roots(lane3_dot(e, e)), inverse = 1.0 / length;
    const lane3 t = lane3_scaled(inverse, e);
    const lane3 m1 = lane3_along(lane3_scaled(cosine, d1), sine, lane3_cross(t, d1));
    return (edges){.t = t,
                   .m1 = m1,
                   .m2 = lane3_cross(t, m1),
                   .length = length,
                   .inverse = inverse,
                   .theta = theta,
                   .mref = mref};
}

// The joints before the edges `f`, and what the energy makes of them.
typedef struct joints {
    lane3 t0, t1, m1[2], m2[2];
    lanes inverse[2]; // 1 / |e|, 1 / |f|
    lanes length;     // |f|
    lanes two;        // 2 / chi
    lanes cosine;     // t0.t1
    lane3 tt, kb;
    lanes strain[SS_DER_BENDS]; // kb.m2 and -kb.m1 of edge e, then of f
    lanes twist;
} joints;

static joints joints_between(const edges *before, const edges *f)
{
    joints s = {.t0 = shifted3(before->t, f->t),
                .t1 = f->t,
                .m1 = {shifted3(before->m1, f->m1), f->m1},
                .m2 = {shifted3(before->m2, f->m2), f->m2},
                .inverse = {shifted(before->inverse, f->inverse), f->inverse},
                .length = f->length};
    s.cosine = lane3_dot(s.t0, s.t1);
    const lanes inverse = 1.0 / (1.0 + s.cosine);
    s.two = 2.0 * inverse;
    s.tt = lane3_scaled(inverse, lane3_plus(s.t0, s.t1));
    s.kb = lane3_scaled(s.two, lane3_cross(s.t0, s.t1));
    for (int j = 0; j < 2; j++) {
        s.strain[2 * j] = lane3_dot(s.kb, s.m2[j]);
        s.strain[2 * j + 1] = -lane3_dot(s.kb, s.m1[j]);
    }
    s.twist = f->theta - shifted(before->theta, f->theta) + f->mref;
    return s;
}

// Strains that the energy squares, and how many: kappa_1, kappa_2, or all of s->strain.
static int own_strains(const ss_der *d, const joints *s, lanes strain[SS_DER_BENDS])
{
    if (d->two_frame) {
        memcpy(strain, s->strain, sizeof s->strain);
        return 4;
    }
    for (int c = 0; c < 2; c++) {
        strain[c] = 0.5 * (s->strain[c] + s->strain[2 + c]);
    }
    return 2;
}

// Stiffness of own strain c over lbar: bending about m2 is kappa_1.
static lanes bend_weight(const ss_der *d, int from, int c)
{
    const double stiff = c % 2 == 0 ? d->rigidity.bend2 : d->rigidity.bend1;
    return (d->two_frame ? 0.5 * stiff : stiff) * lanes_of(d->inverse_length + from);
}

static lanes twist_weight(const ss_der *d, int from)
{
    return d->rigidity.twist * lanes_of(d->inverse_length + from);
}

// ---- Energy

static double sum_of(lanes a)
{
    double sum = 0.0;
    for (int l = 0; l < W; l++) {
        sum += a[l];
    }
    return sum;
}

static bool folds(lanes cosine)
{
    bool any = false;
    for (int l = 0; l < W; l++) {
        any = any || !(cosine[l] > FOLD);
    }
    return any;
}

static lanes squares(const ss_der *d, const joints *s, int from)
{
    lanes strain[SS_DER_BENDS];
    const int count = own_strains(d, s, strain);
    const lanes twist = s->twist - lanes_of(d->twist + from);
    const lanes stretch = s->length * lanes_of(d->inverse_edge + from) - 1.0;
    lanes sum = d->rigidity.stretch * lanes_of(d->edge + from) * stretch * stretch +
                twist_weight(d, from) * twist * twist;
    for (int c = 0; c < count; c++) {
        const lanes bend = strain[c] - lanes_of(d->bend[c] + from);
        sum += bend_weight(d, from, c) * bend * bend;
    }
    return sum;
}

double ss_der_energy(const void *strand, const double *q)
{
    const ss_der *d = strand;
    edges before = edges_at(d, q, -W);
    double sum = 0.0;
    for (int from = 0; from < d->n; from += W) {
        const edges f = edges_at(d, q, from);
        const joints s = joints_between(&before, &f);
        sum += folds(s.cosine) ? INFINITY : sum_of(squares(d, &s, from));
        before = f;
    }
    return 0.5 * sum;
}

void ss_der_strains(const ss_der *d, const double *q, double *edge, double *twist,
                    double *const bend[SS_DER_BENDS])
{
    edges before = edges_at(d, q, -W);
    for (int from = 0; from < d->n; from += W) {
        const edges f = edges_at(d, q, from);
        const joints s = joints_between(&before, &f);
        lanes strain[SS_DER_BENDS];
        const int count = own_strains(d, &s, strain);
        memcpy(edge + from, &f.length, sizeof f.length);
        memcpy(twist + from, &s.twist, sizeof s.twist);
        for (int c = 0; c < count; c++) {
            memcpy(bend[c] + from, &strain[c], sizeof strain[c]);
        }
        before = f;
    }
}

// ---- Forces

// D^j and D'^j of both edges, for strains of the weights w: those of m2 and -m1 of e, then of f.
typedef struct directions {
    lane3 D[2], turned[2];
} directions;

static directions directions_of(const joints *s, const lanes w[SS_DER_BENDS])
{
    directions a;
    for (int j = 0; j < 2; j++) {
        const lanes one = w[2 * j], two = w[2 * j + 1];
        a.D[j] = lane3_along(lane3_scaled(one, s->m2[j]), -two, s->m1[j]);
        a.turned[j] = lane3_scaled(-1.0 - (lanes){0.0},
                                   lane3_along(lane3_scaled(one, s->m1[j]), two, s->m2[j]));
    }
    return a;
}

// Derivatives by e, f, th^0 and th^1.
typedef struct slope {
    lane3 e, f;
    lanes th[2];
} slope;

// Of kb.D, D fixed: by e and f.
static void add_bend(const joints *s, lane3 D, slope *g)
{
    const lanes K = lane3_dot(s->kb, D);
    const lane3 by_e = lane3_along(lane3_scaled(s->two, lane3_cross(s->t1, D)), -K, s->tt);
    const lane3 by_f = lane3_along(lane3_scaled(-s->two, lane3_cross(s->t0, D)), -K, s->tt);
    g->e = lane3_along(g->e, s->inverse[0], by_e);
    g->f = lane3_along(g->f, s->inverse[1], by_f);
}

static slope bend_slope(const joints *s, const directions *a)
{
    slope g = {.th = {lane3_dot(s->kb, a->turned[0]), lane3_dot(s->kb, a->turned[1])}};
    add_bend(s, lane3_plus(a->D[0], a->D[1]), &g);
    return g;
}

static slope twist_slope(const joints *s)
{
    const lanes one = 1.0 - (lanes){0.0};
    return (slope){.e = lane3_scaled(0.5 * s->inverse[0], s->kb),
                   .f = lane3_scaled(0.5 * s->inverse[1], s->kb),
                   .th = {-one, one}};
}

// Of own strain c.
static slope own_slope(const ss_der *d, const joints *s, int c)
{
    const lanes none = {0.0}, one = (d->two_frame ? 1.0 : 0.5) - none;
    lanes w[SS_DER_BENDS] = {none, none, none, none};
    w[c] = one;
    w[(c + 2) % 4] = d->two_frame ? none : one;
    const directions a = directions_of(s, w);
    return bend_slope(s, &a);
}

static slope slope_along(slope g, lanes k, const slope *a)
{
    return (slope){.e = lane3_along(g.e, k, a->e),
                   .f = lane3_along(g.f, k, a->f),
                   .th = {g.th[0] + k * a->th[0], g.th[1] + k * a->th[1]}};
}

// dE/d(strain) of all four strains, and of the twist.
static lanes moments(const ss_der *d, const joints *s, int from, lanes w[SS_DER_BENDS])
{
    lanes strain[SS_DER_BENDS];
    const int count = own_strains(d, s, strain);
    for (int c = 0; c < count; c++) {
        w[c] = bend_weight(d, from, c) * (strain[c] - lanes_of(d->bend[c] + from));
    }
    for (int c = 0; c < 2 && !d->two_frame; c++) {
        w[c] *= 0.5;
        w[2 + c] = w[c];
    }
    return twist_weight(d, from) * (s->twist - lanes_of(d->twist + from));
}

// To the dofs of the joint.
static void spread(const slope *g, lanes by[DOFS])
{
    const lane3 middle = lane3_minus(g->e, g->f);
    by[0] = -g->e.x;
    by[1] = -g->e.y;
    by[2] = -g->e.z;
    by[TH0] = g->th[0];
    by[4] = middle.x;
    by[5] = middle.y;
    by[6] = middle.z;
    by[TH1] = g->th[1];
    by[8] = g->f.x;
    by[9] = g->f.y;
    by[10] = g->f.z;
}

void ss_der_force(const void *strand, const double *q, const double *v, double *F)
{
    const ss_der *d = strand;
    (void)v;
    edges before = edges_at(d, q, -W);
    for (int from = 0; from < d->n; from += W) {
        const edges f = edges_at(d, q, from);
        const joints s = joints_between(&before, &f);
        lanes w[SS_DER_BENDS], by[DOFS];
        const lanes twist = moments(d, &s, from, w);
        const directions a = directions_of(&s, w);
        const slope bend = bend_slope(&s, &a), turn = twist_slope(&s);
        slope g = slope_along(bend, twist, &turn);
        const lanes stretch = s.length * lanes_of(d->inverse_edge + from) - 1.0;
        g.f = lane3_along(g.f, d->rigidity.stretch * stretch, s.t1);
        spread(&g, by);
        for (int l = 0; l < W && from + l < d->n; l++) {
            double *at = F + SS_DER_STRIDE * (from + l);
            for (int i = from + l > 0 ? 0 : SS_DER_STRIDE; i < DOFS; i++) {
                at[i - SS_DER_STRIDE] -= by[i][l];
            }
        }
        before = f;
    }
}

void ss_der_gradients(const ss_der *d, const double *q, int j, double gradient[3][DOFS])
{
    const int from = j - j % W;
    const edges before = edges_at(d, q, from - W), f = edges_at(d, q, from);
    const joints s = joints_between(&before, &f);
    const lanes half = 0.5 - (lanes){0.0}, none = {0.0};
    for (int c = 0; c < 3; c++) {
        const lanes w[SS_DER_BENDS] = {c == 0 ? half : none, c == 1 ? half : none,
                                       c == 0 ? half : none, c == 1 ? half : none};
        const directions a = directions_of(&s, w);
        const slope g = c < 2 ? bend_slope(&s, &a) : twist_slope(&s);
        lanes by[DOFS];
        spread(&g, by);
        for (int i = 0; i < DOFS; i++) {
            gradient[c][i] = by[i][j % W];
        }
    }
}

// The rows of the angles, of joint from + l.
static void add_torques(lanes T[2], lanes square[3], int from, const ss_der *d, double *torque,
                        double *diagonal, double *over)
{
    for (int l = 0; l < W && from + l < d->n; l++) {
        const int j = from + l;
        torque[j] -= T[1][l];
        diagonal[j] += square[2][l];
        if (j > 0) {
            torque[j - 1] -= T[0][l];
            diagonal[j - 1] += square[0][l];
            over[j - 1] += square[1][l];
        }
    }
}

void ss_der_angles(const ss_der *d, const double *q, double *torque, double *diagonal, double *over)
{
    memset(torque, 0, (size_t)d->n * sizeof *torque);
    memset(diagonal, 0, (size_t)d->n * sizeof *diagonal);
    memset(over, 0, (size_t)d->n * sizeof *over);
    edges before = edges_at(d, q, -W);
    for (int from = 0; from < d->n; from += W) {
        const edges f = edges_at(d, q, from);
        const joints s = joints_between(&before, &f);
        lanes w[SS_DER_BENDS];
        const lanes twist = moments(d, &s, from, w), stiff = twist_weight(d, from);
        const directions a = directions_of(&s, w);
        lanes T[2] = {lane3_dot(s.kb, a.turned[0]) - twist, lane3_dot(s.kb, a.turned[1]) + twist};
        lanes square[3] = {stiff, -stiff, stiff};
        for (int c = 0; c < (d->two_frame ? 4 : 2); c++) {
            slope g = own_slope(d, &s, c);
            const lanes weight = bend_weight(d, from, c);
            square[0] += weight * g.th[0] * g.th[0];
            square[1] += weight * g.th[0] * g.th[1];
            square[2] += weight * g.th[1] * g.th[1];
        }
        add_torques(T, square, from, d, torque, diagonal, over);
        before = f;
    }
}

// ---- Stiffness

// Second derivatives by e, f and the angles: ee and ff hold both halves.
typedef struct curve {
    lanes ee[3][3], ff[3][3], ef[3][3];  // rows of ef are e
    lanes eth[2][3], fth[2][3], thth[3]; // th^0 th^0, th^0 th^1, th^1 th^1
} curve;

static void components(lane3 a, lanes x[3])
{
    x[0] = a.x;
    x[1] = a.y;
    x[2] = a.z;
}

// += weight g g'
static void add_square(curve *h, lanes weight, const slope *g)
{
    lanes e[3], f[3], we[3], wf[3];
    components(g->e, e);
    components(g->f, f);
    components(lane3_scaled(weight, g->e), we);
    components(lane3_scaled(weight, g->f), wf);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            h->ee[i][j] += i >= j ? we[i] * e[j] : we[j] * e[i];
            h->ff[i][j] += i >= j ? wf[i] * f[j] : wf[j] * f[i];
            h->ef[i][j] += we[i] * f[j];
        }
        for (int k = 0; k < 2; k++) {
            h->eth[k][i] += we[i] * g->th[k];
            h->fth[k][i] += wf[i] * g->th[k];
        }
    }
    h->thth[0] += weight * g->th[0] * g->th[0];
    h->thth[1] += weight * g->th[0] * g->th[1];
    h->thth[2] += weight * g->th[1] * g->th[1];
}

// A += k (sym(a, b) + sym(c, b2) + along t t' - along I)
static void add_block(lanes A[3][3], lanes k, const lanes a[3], const lanes b[3], const lanes c[3],
                      const lanes b2[3], lanes along, const lanes t[3])
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j <= i; j++) {
            lanes x =
                (a[i] * b[j] + a[j] * b[i]) + (c[i] * b2[j] + c[j] * b2[i]) + along * t[i] * t[j];
            x = k * (i == j ? x - along : x);
            A[i][j] += x;
            A[j][i] += i == j ? (lanes){0.0} : x;
        }
    }
}

// What the second derivatives of the strains are worth: D of bending, and T of the twist, whose are
//     ee  -T sym(kb, t0 + tt)/4|e|^2    ff  -T sym(kb, t1 + tt)/4|f|^2
//     ef   T { [t0]x/chi - kb tt'/2 }/|e||f|
static void add_ends(curve *h, const joints *s, const directions *a, lanes T)
{
    const lane3 D = lane3_plus(a->D[0], a->D[1]);
    const lanes K = lane3_dot(s->kb, D), along = 0.5 * s->two * K;
    const lane3 u0 = lane3_scaled(s->two, lane3_cross(s->t0, D));
    const lane3 u1 = lane3_scaled(s->two, lane3_cross(s->t1, D));
    const lanes half = 0.5 - (lanes){0.0};
    const lane3 c0 = lane3_along(lane3_scaled(half, a->D[0]), -0.25 * T, lane3_plus(s->t0, s->tt));
    const lane3 c1 = lane3_along(lane3_scaled(half, a->D[1]), -0.25 * T, lane3_plus(s->t1, s->tt));
    const lane3 middle =
        lane3_minus(lane3_along(lane3_scaled(2.0 * K, s->tt), -0.5 * T, s->kb), u1);
    const lane3 spin =
        lane3_scaled(s->two, lane3_along(lane3_scaled(0.5 * T, s->t0), -half - half, D));
    lanes tt[3], kb[3], t0[3], t1[3], m[3], u[3], x[3], y[3], p[3], r[3];
    components(s->tt, tt);
    components(s->kb, kb);
    components(s->t0, t0);
    components(s->t1, t1);
    components(middle, m);
    components(u0, u);
    components(lane3_minus(lane3_scaled(K, s->tt), u1), x);
    components(lane3_plus(lane3_scaled(K, s->tt), u0), y);
    components(c0, p);
    components(c1, r);
    add_block(h->ee, s->inverse[0] * s->inverse[0], x, tt, p, kb, along, t0);
    add_block(h->ff, s->inverse[1] * s->inverse[1], y, tt, r, kb, along, t1);
    const lanes k = s->inverse[0] * s->inverse[1], none = {0.0};
    const lanes cross[3][3] = {
        {none, -spin.z, spin.y}, {spin.z, none, -spin.x}, {-spin.y, spin.x, none}};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            const lanes one = i == j ? along * t0[i] * t1[j] + along : along * t0[i] * t1[j];
            h->ef[i][j] += k * (m[i] * tt[j] + tt[i] * u[j] + cross[i][j] - one);
        }
    }
}

// Of bending with the angles.
static void add_angles(curve *h, const joints *s, const directions *a)
{
    for (int k = 0; k < 2; k++) {
        slope g = {.e = {{0.0}, {0.0}, {0.0}}, .f = {{0.0}, {0.0}, {0.0}}};
        lanes e[3], f[3];
        add_bend(s, a->turned[k], &g);
        components(g.e, e);
        components(g.f, f);
        for (int i = 0; i < 3; i++) {
            h->eth[k][i] += e[i];
            h->fth[k][i] += f[i];
        }
        h->thth[2 * k] -= lane3_dot(s->kb, a->D[k]);
    }
}

static void add_squares(const ss_der *d, const joints *s, int from, curve *h)
{
    for (int c = 0; c < (d->two_frame ? 4 : 2); c++) {
        const slope g = own_slope(d, s, c);
        add_square(h, bend_weight(d, from, c), &g);
    }
    const slope g = twist_slope(s);
    add_square(h, twist_weight(d, from), &g);
}

// To the dofs of the joint: at[j][i] is row i >= j of column j.
static void spread_vertices(const curve *h, lanes at[DOFS][DOFS])
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            at[j][4 + i] = h->ef[j][i] - h->ee[i][j];
            at[j][8 + i] = -h->ef[j][i];
            at[4 + j][8 + i] = h->ef[j][i] - h->ff[i][j];
        }
        for (int j = 0; j <= i; j++) {
            at[j][i] = h->ee[i][j];
            at[4 + j][4 + i] = h->ee[i][j] + h->ff[i][j] - (h->ef[i][j] + h->ef[j][i]);
            at[8 + j][8 + i] = h->ff[i][j];
        }
    }
}

static void spread_angles(const curve *h, lanes at[DOFS][DOFS])
{
    for (int i = 0; i < 3; i++) {
        at[i][TH0] = -h->eth[0][i];
        at[i][TH1] = -h->eth[1][i];
        at[TH0][4 + i] = h->eth[0][i] - h->fth[0][i];
        at[4 + i][TH1] = h->eth[1][i] - h->fth[1][i];
        at[TH0][8 + i] = h->fth[0][i];
        at[TH1][8 + i] = h->fth[1][i];
    }
    at[TH0][TH0] = h->thth[0];
    at[TH0][TH1] = h->thth[1];
    at[TH1][TH1] = h->thth[2];
}

// Each joint's matrix without what is negative in it.
static void clamp_joints(lanes at[DOFS][DOFS])
{
    for (int l = 0; l < W; l++) {
        double A[DOFS * DOFS], value[DOFS];
        for (int j = 0; j < DOFS; j++) {
            for (int i = j; i < DOFS; i++) {
                A[DOFS * i + j] = A[DOFS * j + i] = at[j][i][l];
            }
        }
        const ss_spectrum s = ss_spectrum_of(DOFS, A);
        for (int k = 0; k < DOFS; k++) {
            value[k] = s.lambda[k] > ZERO_SHARE * s.highest ? s.lambda[k] : 0.0;
        }
        ss_spectrum_matrix(&s, value, A);
        for (int j = 0; j < DOFS; j++) {
            for (int i = j; i < DOFS; i++) {
                at[j][i][l] = A[DOFS * i + j];
            }
        }
    }
}

// The stretch of edge f: EA [tt'/|fbar| + across (I - tt')].
static void add_stretch(const ss_der *d, const joints *s, int from, lanes across,
                        lanes at[DOFS][DOFS])
{
    const lanes first = d->rigidity.stretch * (lanes_of(d->inverse_edge + from) - across);
    lanes t[3];
    components(s->t1, t);
    across *= d->rigidity.stretch;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            const lanes x = i == j ? first * t[i] * t[j] + across : first * t[i] * t[j];
            at[4 + j][8 + i] -= x;
            if (i >= j) {
                at[4 + j][4 + i] += x;
                at[8 + j][8 + i] += x;
            }
        }
    }
}

static lanes above_zero(lanes a)
{
    for (int l = 0; l < W; l++) {
        a[l] = a[l] > 0.0 ? a[l] : 0.0;
    }
    return a;
}

static void add_joints(lanes at[DOFS][DOFS], int from, int end, double scale, ss_band *A)
{
    for (int l = 0; l < W && from + l < end; l++) {
        const int first = SS_DER_STRIDE * (from + l - 1);
        for (int j = first < 0 ? SS_DER_STRIDE : 0; j < DOFS; j++) {
            double *column = ss_band_at(A, first + j, first + j);
            for (int i = j; i < DOFS; i++) {
                column[i - j] += scale * at[j][i][l];
            }
        }
    }
}

// kind < 0: what damping takes, the squares of bending and twist alone.
static void add_stiffness(const ss_der *d, const double *q, int kind, double scale, ss_band *A)
{
    const bool ends = kind == SS_STIFFNESS_EXACT || kind == SS_STIFFNESS_FILTERED;
    edges before = edges_at(d, q, -W);
    for (int from = 0; from < d->n; from += W) {
        const edges f = edges_at(d, q, from);
        const joints s = joints_between(&before, &f);
        curve h = {0};
        lanes at[DOFS][DOFS];
        add_squares(d, &s, from, &h);
        if (ends) {
            lanes w[SS_DER_BENDS];
            const lanes T = moments(d, &s, from, w);
            const directions a = directions_of(&s, w);
            add_ends(&h, &s, &a, T);
            add_angles(&h, &s, &a);
        }
        spread_vertices(&h, at);
        spread_angles(&h, at);
        if (kind == SS_STIFFNESS_FILTERED) {
            clamp_joints(at);
        }
        if (kind >= 0) {
            const lanes across = lanes_of(d->inverse_edge + from) - s.inverse[1];
            add_stretch(d, &s, from, kind == SS_STIFFNESS_EXACT ? across : above_zero(across), at);
        }
        add_joints(at, from, d->n, scale, A);
        before = f;
    }
}

bool ss_der_stiffness(const void *strand, const double *q, ss_stiffness kind, double scale,
                      ss_band *A)
{
    add_stiffness(strand, q, (int)kind, scale, A);
    return true;
}

// Kelvin and Voigt: a moment is relaxation times stiffness times the rate of its strain. Lengths are not
// damped: v at the end of a step stretches an edge that has turned by phi in it at the rate phi^2/2h, and
// EA times that is more than the weight of hair. The elastic tension that answers it is a compression, for
// which K is indefinite.
void ss_der_damping(const void *strand, const double *q, double scale, ss_band *A)
{
    const ss_der *d = strand;
    if (d->relaxation > 0.0) {
        add_stiffness(d, q, -1, scale * d->relaxation, A);
    }
}
