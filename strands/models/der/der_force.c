// Energy, strains and forces of a rod (der.h), lane by lane (der_joints.h).
#include "strands/models/der/der_joints.h"

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

// The rows of the angles, of joint from + l.
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
