// strands/models/der_kernel.c -- energy, strains, forces and stiffness of a rod (der.h), lane by
// lane, in the symbols of der_kernel.h.
#include "strands/models/der_kernel.h"

#include "base/assert.h"
#include "base/spectrum.h"

// Edges that meet at a larger cosine fold back on each other: kb is no number of use there.
#define FOLD -0.999999

// ---- Energy

static double sum_of(lanes a)
{
    double sum = 0.0;
    for (int l = 0; l < LANES; l++) {
        sum += a[l];
    }
    return sum;
}

static bool folds(lanes cosine)
{
    bool any = false;
    for (int l = 0; l < LANES; l++) {
        any = any || !(cosine[l] > FOLD);
    }
    return any;
}

static lanes squares(const ss_der *d, const joints *s, const shape *natural)
{
    lanes strain[SS_DER_BENDS];
    const int count = own_strains(d, s, strain);
    const lanes twist = s->twist - natural->twist;
    const lanes stretch = s->length * natural->inverse_edge - 1.0;
    lanes sum = d->rigidity.stretch * natural->edge * stretch * stretch +
                twist_weight(d, natural) * twist * twist;
    for (int c = 0; c < count; c++) {
        const lanes bend = strain[c] - natural->bend[c];
        sum += bend_weight(d, natural, c) * bend * bend;
    }
    return sum;
}

double ss_der_energy(const void *strand, const double *q)
{
    const ss_der *d = strand;
    edges before = edges_at(d, q, -LANES);
    double sum = 0.0;
    for (int from = 0; from < d->n; from += LANES) {
        const edges f = edges_at(d, q, from);
        const joints s = joints_between(&before, &f);
        const shape natural = shape_at(d, from);
        sum += folds(s.cosine) ? INFINITY : sum_of(squares(d, &s, &natural));
        before = f;
    }
    return 0.5 * sum;
}

void ss_der_strains(const ss_der *d, const double *q, double *edge, double *twist,
                    double *const bend[SS_DER_BENDS])
{
    edges before = edges_at(d, q, -LANES);
    for (int from = 0; from < d->n; from += LANES) {
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

// Spreads the slope over the dofs of the joint.
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
    edges before = edges_at(d, q, -LANES);
    for (int from = 0; from < d->n; from += LANES) {
        const edges f = edges_at(d, q, from);
        const joints s = joints_between(&before, &f);
        const shape natural = shape_at(d, from);
        lanes w[SS_DER_BENDS], by[DOFS];
        const lanes twist = moments(d, &s, &natural, w);
        const directions a = directions_of(&s, w);
        const slope bend = bend_slope(&s, &a), turn = twist_slope(&s);
        slope g = slope_along(bend, twist, &turn);
        const lanes stretch = s.length * natural.inverse_edge - 1.0;
        g.f = lane3_along(g.f, d->rigidity.stretch * stretch, s.t1);
        spread(&g, by);
        for (int l = 0; l < LANES && from + l < d->n; l++) {
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
    const int from = j - j % LANES;
    const edges before = edges_at(d, q, from - LANES), f = edges_at(d, q, from);
    const joints s = joints_between(&before, &f);
    const lanes half = lanes_all(0.5), none = {0.0};
    for (int c = 0; c < 3; c++) {
        const lanes w[SS_DER_BENDS] = {c == 0 ? half : none, c == 1 ? half : none,
                                       c == 0 ? half : none, c == 1 ? half : none};
        const directions a = directions_of(&s, w);
        const slope g = c < 2 ? bend_slope(&s, &a) : twist_slope(&s);
        lanes by[DOFS];
        spread(&g, by);
        for (int i = 0; i < DOFS; i++) {
            gradient[c][i] = by[i][j % LANES];
        }
    }
}

// Adds the rows of the angles, of joint from + l.
static void add_torques(lanes T[2], lanes square[3], int from, const ss_der *d, double *torque,
                        double *diagonal, double *over)
{
    for (int l = 0; l < LANES && from + l < d->n; l++) {
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
    edges before = edges_at(d, q, -LANES);
    for (int from = 0; from < d->n; from += LANES) {
        const edges f = edges_at(d, q, from);
        const joints s = joints_between(&before, &f);
        const shape natural = shape_at(d, from);
        lanes w[SS_DER_BENDS];
        const lanes twist = moments(d, &s, &natural, w), stiff = twist_weight(d, &natural);
        const directions a = directions_of(&s, w);
        lanes T[2] = {lane3_dot(s.kb, a.turned[0]) - twist, lane3_dot(s.kb, a.turned[1]) + twist};
        lanes square[3] = {stiff, -stiff, stiff};
        for (int c = 0; c < (d->two_frame ? 4 : 2); c++) {
            slope g = own_slope(d, &s, c);
            const lanes weight = bend_weight(d, &natural, c);
            square[0] += weight * g.th[0] * g.th[0];
            square[1] += weight * g.th[0] * g.th[1];
            square[2] += weight * g.th[1] * g.th[1];
        }
        add_torques(T, square, from, d, torque, diagonal, over);
        before = f;
    }
}

// ---- Stiffness
//
// Second derivatives of bending are as linear in D as the first:
//
//     ee   { sym(K tt - 2 t1 x D/chi, tt) + sym(kb, D^0)/2 - K/chi (I - t0 t0') }/|e|^2
//     ff   { sym(K tt + 2 t0 x D/chi, tt) + sym(kb, D^1)/2 - K/chi (I - t1 t1') }/|f|^2
//     ef   { -K/chi (I + t0 t1') + (2 K tt - 2 t1 x D/chi) tt'
//            + 2 tt (t0 x D)'/chi - 2 [D]x/chi }/|e||f|
//     e th^j, f th^j: the gradients with D'^j for D;   th^j th^j: -kb.D^j
//
// and to these come the squares of the strains' gradients with their stiffness.
//
// doc/strands.md, "Bending Hessian" to "Stretch".

// Eigenvalues below this share of the largest are 0.
#define ZERO_SHARE 1e-12

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

// Adds the second derivatives of the strains by e and f: with D those of bending, and with T those
// of the twist,
//     ee  -T sym(kb, t0 + tt)/4|e|^2    ff  -T sym(kb, t1 + tt)/4|f|^2
//     ef   T { [t0]x/chi - kb tt'/2 }/|e||f|
static void add_ends(curve *h, const joints *s, const directions *a, lanes T)
{
    const lane3 D = lane3_plus(a->D[0], a->D[1]);
    const lanes K = lane3_dot(s->kb, D), along = 0.5 * s->two * K;
    const lane3 u0 = lane3_scaled(s->two, lane3_cross(s->t0, D));
    const lane3 u1 = lane3_scaled(s->two, lane3_cross(s->t1, D));
    const lanes half = lanes_all(0.5);
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

// Adds the second derivatives of bending with the angles.
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

static void add_squares(const ss_der *d, const joints *s, const shape *natural, curve *h)
{
    for (int c = 0; c < (d->two_frame ? 4 : 2); c++) {
        const slope g = own_slope(d, s, c);
        add_square(h, bend_weight(d, natural, c), &g);
    }
    const slope g = twist_slope(s);
    add_square(h, twist_weight(d, natural), &g);
}

// Spreads the derivatives over the dofs of the joint: at[j][i] is row i >= j of column j.
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

// Takes the negative eigenvalues off each joint's matrix.
static void clamp_joints(lanes at[DOFS][DOFS])
{
    for (int l = 0; l < LANES; l++) {
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

// Adds the stretch of edge f: EA [tt'/|fbar| + across (I - tt')].
static void add_stretch(const ss_der *d, const joints *s, const shape *natural, lanes across,
                        lanes at[DOFS][DOFS])
{
    const lanes first = d->rigidity.stretch * (natural->inverse_edge - across);
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

static void add_joints(lanes at[DOFS][DOFS], int from, int end, double scale, ss_band *A)
{
    for (int l = 0; l < LANES && from + l < end; l++) {
        const int first = SS_DER_STRIDE * (from + l - 1);
        for (int j = first < 0 ? SS_DER_STRIDE : 0; j < DOFS; j++) {
            double *column = ss_band_at(A, first + j, first + j);
            for (int i = j; i < DOFS; i++) {
                column[i - j] += scale * at[j][i][l];
            }
        }
    }
}

// Adds K; with kind < 0 what damping takes, the squares of bending and twist alone.
static void add_stiffness(const ss_der *d, const double *q, int kind, double scale, ss_band *A)
{
    const bool ends = kind == SS_STIFFNESS_EXACT || kind == SS_STIFFNESS_FILTERED;
    ss_assert(A->n == ss_der_dofs(d) && A->half == 2 * SS_DER_STRIDE + 2);
    edges before = edges_at(d, q, -LANES);
    for (int from = 0; from < d->n; from += LANES) {
        const edges f = edges_at(d, q, from);
        const joints s = joints_between(&before, &f);
        const shape natural = shape_at(d, from);
        curve h = {0};
        lanes at[DOFS][DOFS];
        add_squares(d, &s, &natural, &h);
        if (ends) {
            lanes w[SS_DER_BENDS];
            const lanes T = moments(d, &s, &natural, w);
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
            const lanes across = natural.inverse_edge - s.inverse[1];
            const bool plain = kind == SS_STIFFNESS_GAUSS_NEWTON && d->plain_stretch;
            add_stretch(d, &s, &natural,
                        plain                        ? (lanes){0.0}
                        : kind == SS_STIFFNESS_EXACT ? across
                                                     : lanes_above_zero(across),
                        at);
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

// Does as add_stretch, edge by edge.
void ss_der_lengths(const void *strand, const double *q, ss_stiffness kind, double scale,
                    ss_band *A)
{
    const ss_der *d = strand;
    for (int k = 0; k < d->n; k++) {
        const double *x = q + SS_DER_STRIDE * k, rest = d->inverse_edge[k];
        const double e[3] = {x[4] - x[0], x[5] - x[1], x[6] - x[2]};
        const double square = e[0] * e[0] + e[1] * e[1] + e[2] * e[2];
        double across = rest - 1.0 / sqrt(square);
        if (kind == SS_STIFFNESS_GAUSS_NEWTON && d->plain_stretch) {
            across = 0.0;
        } else if (kind != SS_STIFFNESS_EXACT) {
            across = across > 0.0 ? across : 0.0;
        }
        const double EA = scale * d->rigidity.stretch, along = EA * (rest - across) / square;
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                const double K = along * e[i] * e[j] + (i == j ? EA * across : 0.0);
                const int at = SS_DER_STRIDE * k;
                *ss_band_at(A, at + 4 + i, at + j) -= K;
                if (i >= j) {
                    *ss_band_at(A, at + i, at + j) += K;
                    *ss_band_at(A, at + 4 + i, at + 4 + j) += K;
                }
            }
        }
    }
}

// Kelvin and Voigt: a moment is relaxation times stiffness times the rate of its strain. Lengths
// are not damped: v at the end of a step stretches an edge that has turned by phi in it at the rate
// phi^2/2h, and EA times that is more than the weight of hair. The elastic tension that answers it
// is a compression, for which K is indefinite.
void ss_der_damping(const void *strand, const double *q, double scale, ss_band *A)
{
    const ss_der *d = strand;
    if (d->relaxation > 0.0) {
        add_stiffness(d, q, -1, scale * d->relaxation, A);
    }
}
