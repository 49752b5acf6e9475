// strands/models/der_kernel.h -- joints side by side, of one rod or of many, and the slopes of
// their strains: what der_kernel.c and der_group.c share (internal).
//
// With t0, t1 the unit edges at a joint, chi = 1 + t0.t1, tt = (t0 + t1)/chi, kb = 2 t0 x t1 / chi,
// every strain of bending is kb.D for a D that is fixed in the material frames: D = m2 and -m1 of
// either edge, or their mean. Their part in the energy's slope is linear in D, so that the sum over
// the strains, weighted by dE/d(strain), is one D = D^0 + D^1 a joint (^j: the part of edge j), and
// K = kb.D:
//
//     dE/de = [-K tt + 2 t1 x D/chi]/|e|    dE/df = [-K tt - 2 t0 x D/chi]/|f|
//     dE/dth^j = kb.D'^j
//
// with D'^j = dD^j/dth^j, for m2' = -m1 and (-m1)' = -m2. Number j of a lane is edge j and the
// joint between the edges j - 1 and j.
//
// doc/strands.md, "Bending gradient" to "Twist gradient and Hessian".
#pragma once

#include "strands/models/der.h"

#define LANES SS_DER_LANES
#include "strands/lanes.h"

// Dofs of a joint, and where in them the angles are; vertices are at 0, 4 and 8.
#define DOFS 11
#define TH0  3
#define TH1  7

// Returns the last lane of `before`, then all but the last of `now`.
static inline lanes shifted(lanes before, lanes now)
{
    return __builtin_shufflevector(before, now, 7, 8, 9, 10, 11, 12, 13, 14);
}

static inline lane3 shifted3(lane3 before, lane3 now)
{
    return (lane3){shifted(before.x, now.x), shifted(before.y, now.y), shifted(before.z, now.z)};
}

// Edges side by side.
typedef struct edges {
    lane3 t, m1, m2;
    lanes length, inverse; // |e|, 1 / |e|
    lanes theta, mref;
} edges;

// Returns the edges from .. from + LANES - 1; beyond the ends, the nearest one.
static inline edges edges_at(const ss_der *d, const double *q, int from)
{
    lane3 e, d1;
    lanes theta, mref, cosine, sine;
    for (int l = 0; l < LANES; l++) {
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
    const lanes length = lanes_root(lane3_dot(e, e)), inverse = 1.0 / length;
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

// The joints before the edges f, and their strains.
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

// Finds the joints between the edges e and f of each lane.
static inline joints joints_of(const edges *e, const edges *f)
{
    joints s = {.t0 = e->t,
                .t1 = f->t,
                .m1 = {e->m1, f->m1},
                .m2 = {e->m2, f->m2},
                .inverse = {e->inverse, f->inverse},
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
    s.twist = f->theta - e->theta + f->mref;
    return s;
}

// Finds the joints of one strand that are before the edges f; `before` are the LANES edges that
// come first.
static inline joints joints_between(const edges *before, const edges *f)
{
    const edges e = {.t = shifted3(before->t, f->t),
                     .m1 = shifted3(before->m1, f->m1),
                     .m2 = shifted3(before->m2, f->m2),
                     .inverse = shifted(before->inverse, f->inverse),
                     .theta = shifted(before->theta, f->theta)};
    return joints_of(&e, f);
}

// The natural shape of these joints (der.h).
typedef struct shape {
    lanes edge, inverse_edge, inverse_length, twist;
    lanes bend[SS_DER_BENDS];
} shape;

static inline shape shape_at(const ss_der *d, int from)
{
    return (shape){.edge = lanes_of(d->edge + from),
                   .inverse_edge = lanes_of(d->inverse_edge + from),
                   .inverse_length = lanes_of(d->inverse_length + from),
                   .twist = lanes_of(d->twist + from),
                   .bend = {lanes_of(d->bend[0] + from), lanes_of(d->bend[1] + from),
                            lanes_of(d->bend[2] + from), lanes_of(d->bend[3] + from)}};
}

// Finds the strains that the energy squares, kappa_1 and kappa_2 or all of s->strain. Returns their
// number.
static inline int own_strains(const ss_der *d, const joints *s, lanes strain[SS_DER_BENDS])
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

// Returns the stiffness of own strain c over lbar: bending about m2 is kappa_1.
static inline lanes bend_weight(const ss_der *d, const shape *natural, int c)
{
    const double stiff = c % 2 == 0 ? d->rigidity.bend2 : d->rigidity.bend1;
    return (d->two_frame ? 0.5 * stiff : stiff) * natural->inverse_length;
}

static inline lanes twist_weight(const ss_der *d, const shape *natural)
{
    return d->rigidity.twist * natural->inverse_length;
}

// ---- Forces

// D^j and D'^j of both edges, for strains of the weights w: those of m2 and -m1 of e, then of f.
typedef struct directions {
    lane3 D[2], turned[2];
} directions;

static inline directions directions_of(const joints *s, const lanes w[SS_DER_BENDS])
{
    directions a;
    for (int j = 0; j < 2; j++) {
        const lanes one = w[2 * j], two = w[2 * j + 1];
        a.D[j] = lane3_along(lane3_scaled(one, s->m2[j]), -two, s->m1[j]);
        a.turned[j] =
            lane3_scaled(lanes_all(-1.0), lane3_along(lane3_scaled(one, s->m1[j]), two, s->m2[j]));
    }
    return a;
}

// Derivatives by e, f, th^0 and th^1.
typedef struct slope {
    lane3 e, f;
    lanes th[2];
} slope;

// Adds the derivatives of kb.D, D fixed, by e and f.
static inline void add_bend(const joints *s, lane3 D, slope *g)
{
    const lanes K = lane3_dot(s->kb, D);
    const lane3 by_e = lane3_along(lane3_scaled(s->two, lane3_cross(s->t1, D)), -K, s->tt);
    const lane3 by_f = lane3_along(lane3_scaled(-s->two, lane3_cross(s->t0, D)), -K, s->tt);
    g->e = lane3_along(g->e, s->inverse[0], by_e);
    g->f = lane3_along(g->f, s->inverse[1], by_f);
}

static inline slope bend_slope(const joints *s, const directions *a)
{
    slope g = {.th = {lane3_dot(s->kb, a->turned[0]), lane3_dot(s->kb, a->turned[1])}};
    add_bend(s, lane3_plus(a->D[0], a->D[1]), &g);
    return g;
}

static inline slope twist_slope(const joints *s)
{
    const lanes one = lanes_all(1.0);
    return (slope){.e = lane3_scaled(0.5 * s->inverse[0], s->kb),
                   .f = lane3_scaled(0.5 * s->inverse[1], s->kb),
                   .th = {-one, one}};
}

// Returns the slope of own strain c.
static inline slope own_slope(const ss_der *d, const joints *s, int c)
{
    const lanes none = {0.0}, one = lanes_all(d->two_frame ? 1.0 : 0.5);
    lanes w[SS_DER_BENDS] = {none, none, none, none};
    w[c] = one;
    w[(c + 2) % 4] = d->two_frame ? none : one;
    const directions a = directions_of(s, w);
    return bend_slope(s, &a);
}

static inline slope slope_along(slope g, lanes k, const slope *a)
{
    return (slope){.e = lane3_along(g.e, k, a->e),
                   .f = lane3_along(g.f, k, a->f),
                   .th = {g.th[0] + k * a->th[0], g.th[1] + k * a->th[1]}};
}

// Finds dE/d(strain) of all four strains; returns that of the twist.
static inline lanes moments(const ss_der *d, const joints *s, const shape *natural,
                            lanes w[SS_DER_BENDS])
{
    lanes strain[SS_DER_BENDS];
    const int count = own_strains(d, s, strain);
    for (int c = 0; c < count; c++) {
        w[c] = bend_weight(d, natural, c) * (strain[c] - natural->bend[c]);
    }
    for (int c = 0; c < 2 && !d->two_frame; c++) {
        w[c] *= 0.5;
        w[2 + c] = w[c];
    }
    return twist_weight(d, natural) * (s->twist - natural->twist);
}
