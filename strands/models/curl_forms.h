// strands/models/curl_forms.h -- bending and torsion of a stencil: strains, slopes, and second
// derivatives with each filter (internal).
//
// The angle theta of two vectors e0, e1 with directions t0, t1: c = t0.t1, b = t0 x t1 / s, s = sin
// theta, tp_i = t_i x b;  dtheta = tp_0.de0/|e0| - tp_1.de1/|e1|. With mu and d = dE/dtheta the
// Hessian of a square of it is S H S, S = diag(I/|e0|, I/|e1|), H having the eigenvectors, over
// sqrt 2,
//
//     (b, b):  d (c - 1)/s      (b, -b):  d (c + 1)/s
//     p = (tp_0, -tp_1), r = (t0, t1):    [[2 mu, -d], [-d, 0]]     mu +- sqrt(mu^2 + d^2)
//     q = (tp_0, tp_1),  m = (t0, -t1):   [[0, -d], [-d, 0]]        +- d
//
// The torsion tau of e0, e1, e2 about t = e1/|e1|, L = |e1|: z0 = e0 - al e1, z1 = e2 - be e1 are
// across t, h_i = z_i/|z_i|, n_i = t x h_i;  dtau = -n0.dz0/|z0| + n1.dz1/|z1|, dz0 = de0 - al de1,
// dz1 = de2 - be de1. Its Hessian is a form in (dz0, dz1), and one in p0 = t.dz0, p1 = t.dz1, H =
// h0.de1, N = n0.de1:
//
//     mu dtau^2 + d [2 (h0.dz0)(n0.dz0)/|z0|^2 - 2 (h1.dz1)(n1.dz1)/|z1|^2]
//     2 d [p0 N/(|z0| L) - p1 N1/(|z1| L) - (H1 N1 - H N)/(2 L^2)],  H1 = h1.de1, N1 = n1.de1
//
// `split` clamps either; the second in the measure of the vertices, in which p0 and p1 are not
// orthogonal. `text` takes the angle of z0 and z1 as above for the first, and then the second is
// -(its part along t) of p0 + |z0| H/L and p1 + |z1| H1/L.
//
// doc/strands.md, "Bend eigensystem" and "Torsion eigensystem and the filter `split`".
#pragma once

#include "strands/models/lifted_curls.h"

#define LANES SS_CURL_LANES
#include "strands/lanes.h"

static inline lane3 lane3_where(lane_mask mask, lane3 a)
{
    const lanes none = {0.0};
    return (lane3){lanes_where(mask, a.x, none), lanes_where(mask, a.y, none),
                   lanes_where(mask, a.z, none)};
}

// ---- Eigenvalues of 4 x 4 matrices, by plane rotations
//
// The rows and columns p and r turn by the angle whose tangent t makes A_pr zero (base/spectrum.c).
// t is needed to a few digits only, and is computed in floats; its cosine, by two steps of Newton's
// method for 1/sqrt(1 + t^2), is that of t to rounding, so that the turn is one. What is left of
// A_pr is 1e-7 of it.

typedef float few_digits __attribute__((vector_size(4 * LANES), aligned(4)));
typedef int few_mask __attribute__((vector_size(4 * LANES), aligned(4)));

static inline few_digits lanes_few_root(few_digits a)
{
    for (int l = 0; l < LANES; l++) {
        a[l] = sqrtf(a[l]);
    }
    return a;
}

// Returns b where the mask is not set.
static inline few_digits lanes_few_where(few_mask mask, few_digits a, few_digits b)
{
    return (few_digits)(((few_mask)a & mask) | ((few_mask)b & ~mask));
}

typedef struct lanes_turn {
    lanes c, s; // cosine and sine
} lanes_turn;

// Entries of A are 1 at most: smaller ones than floats have turn nothing.
static inline lanes_turn lanes_turn_of(lanes A[4][4], int p, int r)
{
    const few_digits off = __builtin_convertvector(A[p][r] + A[p][r], few_digits);
    const few_digits gap = __builtin_convertvector(A[r][r] - A[p][p], few_digits);
    const few_digits root = lanes_few_root(gap * gap + off * off) + 1e-30F;
    // off / (gap +- root), of the sign that adds up.
    const few_digits below = lanes_few_where(gap < 0.0F, gap - root, gap + root);
    const lanes t = __builtin_convertvector(off / below, lanes);
    const lanes square = 1.0 + t * t;
    lanes c = __builtin_convertvector(
        1.0F / lanes_few_root(__builtin_convertvector(square, few_digits)), lanes);
    c *= 1.5 - 0.5 * square * c * c;
    c *= 1.5 - 0.5 * square * c * c;
    return (lanes_turn){c, t * c};
}

static inline void lanes_turn_by(lanes_turn turn, lanes A[4][4], lanes Q[4][4], int p, int r)
{
    const lanes c = turn.c, s = turn.s, cc = c * c, ss = s * s, cs = c * s;
    const lanes both = A[p][r] + A[p][r];
    const lanes app = cc * A[p][p] - cs * both + ss * A[r][r];
    const lanes arr = ss * A[p][p] + cs * both + cc * A[r][r];
    A[p][r] = A[r][p] = (cc - ss) * A[p][r] + cs * (A[p][p] - A[r][r]);
    A[p][p] = app;
    A[r][r] = arr;
    for (int k = 0; k < 4; k++) {
        const lanes u = Q[p][k], v = Q[r][k];
        Q[p][k] = c * u - s * v;
        Q[r][k] = s * u + c * v;
        if (k != p && k != r) {
            const lanes x = A[p][k], y = A[r][k];
            A[p][k] = A[k][p] = c * x - s * y;
            A[r][k] = A[k][r] = s * x + c * y;
        }
    }
}

// Among 2e6 matrices, random ones and nearly multiples of I, the worst have entries off the
// diagonal of 0.006, 9e-9 and 4e-16 of the largest after 3, 4 and 5 sweeps.
#define SWEEPS 5

// Eigenvalues below this share of the largest are 0.
#define ZERO_SHARE 1e-12

// A matrix whose eigenvalues are found: Q A Q' over `most`, with what is left off its diagonal.
typedef struct lanes_turned {
    lanes A[4][4], Q[4][4], most;
} lanes_turned;

static inline void lanes_turn_begin(lanes A[4][4], lanes_turned *t)
{
    t->most = (lanes){0.0};
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            const lanes size = lanes_absolute(A[i][j]);
            t->most = lanes_where(size > t->most, size, t->most);
            t->Q[i][j] = lanes_all(i == j ? 1.0 : 0.0);
        }
    }
    const lanes unit = 1.0 / lanes_where(t->most > 0.0, t->most, lanes_all(1.0));
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            t->A[i][j] = A[i][j] * unit;
        }
    }
}

// Puts A without its negative eigenvalues.
static inline void lanes_turn_end(const lanes_turned *t, lanes A[4][4])
{
    lanes largest = {0.0}, value[4];
    for (int k = 0; k < 4; k++) {
        const lanes size = lanes_absolute(t->A[k][k]);
        largest = lanes_where(size > largest, size, largest);
    }
    for (int k = 0; k < 4; k++) {
        const lanes own = t->A[k][k];
        value[k] = lanes_where(own > ZERO_SHARE * largest, t->most * own, lanes_all(0.0));
    }
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j <= i; j++) {
            A[i][j] = value[0] * t->Q[0][i] * t->Q[0][j] + value[1] * t->Q[1][i] * t->Q[1][j] +
                      (value[2] * t->Q[2][i] * t->Q[2][j] + value[3] * t->Q[3][i] * t->Q[3][j]);
            A[j][i] = A[i][j];
        }
    }
}

// Turns rows p and r, and those that are left, i and j: neither turn moves what the other is found
// from.
static inline void lanes_eliminate(lanes_turned *a, lanes_turned *b, int p, int r, int i, int j)
{
    const lanes_turn turn[4] = {lanes_turn_of(a->A, p, r), lanes_turn_of(b->A, p, r),
                                lanes_turn_of(a->A, i, j), lanes_turn_of(b->A, i, j)};
    lanes_turn_by(turn[0], a->A, a->Q, p, r);
    lanes_turn_by(turn[1], b->A, b->Q, p, r);
    lanes_turn_by(turn[2], a->A, a->Q, i, j);
    lanes_turn_by(turn[3], b->A, b->Q, i, j);
}

// Takes the negative eigenvalues off two matrices: each turn waits for two divisions and two roots,
// in which three others go on.
static inline void lanes_clamp_two(lanes A[4][4], lanes B[4][4])
{
    lanes_turned a, b;
    lanes_turn_begin(A, &a);
    lanes_turn_begin(B, &b);
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        lanes_eliminate(&a, &b, 0, 1, 2, 3);
        lanes_eliminate(&a, &b, 0, 2, 1, 3);
        lanes_eliminate(&a, &b, 0, 3, 1, 2);
    }
    lanes_turn_end(&a, A);
    lanes_turn_end(&b, B);
}

// ---- 3 x 3 blocks

typedef struct block {
    lanes x[3][3];
} block;

static inline void lane3_put(lane3 a, lanes x[3])
{
    x[0] = a.x;
    x[1] = a.y;
    x[2] = a.z;
}

// A += a b'
static inline void block_add(block *A, lane3 a, lane3 b)
{
    lanes x[3], y[3];
    lane3_put(a, x);
    lane3_put(b, y);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            A->x[i][j] += x[i] * y[j];
        }
    }
}

// A += k B, or k B'
static inline void block_along(block *A, lanes k, const block *B)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            A->x[i][j] += k * B->x[i][j];
        }
    }
}

static inline void block_along_turned(block *A, lanes k, const block *B)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            A->x[i][j] += k * B->x[j][i];
        }
    }
}

static inline void block_where(lane_mask mask, block *A)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            A->x[i][j] = lanes_where(mask, A->x[i][j], lanes_all(0.0));
        }
    }
}

// A symmetric form of two vectors: blocks of the first, the second, and of the first (rows) with
// the second.
typedef struct pair {
    block first, second, both;
} pair;

// ---- The angle of two vectors

// The bits are those of libm.
static inline lanes arctangent(lanes sine, lanes cosine)
{
    lanes a;
    for (int l = 0; l < LANES; l++) {
        a[l] = atan2(sine[l], cosine[l]);
    }
    return a;
}

typedef struct angle {
    lane3 t0, t1, b, tp0, tp1;
    lanes inverse0, inverse1; // 1/|e0|, 1/|e1|
    lanes c, s, theta;
} angle;

static inline angle angle_of(lane3 t0, lane3 t1, lanes inverse0, lanes inverse1)
{
    angle a = {.t0 = t0, .t1 = t1, .inverse0 = inverse0, .inverse1 = inverse1};
    const lane3 cross = lane3_cross(t0, t1);
    a.c = lane3_dot(t0, t1);
    a.s = lanes_root(lane3_dot(cross, cross));
    a.theta = arctangent(a.s, a.c);
    a.b = lane3_scaled(1.0 / a.s, cross);
    a.tp0 = lane3_cross(t0, a.b);
    a.tp1 = lane3_cross(t1, a.b);
    return a;
}

// H in its eigenvectors: the eigenvalues of (b, b) and (b, -b), and the entries of the other two
// blocks.
typedef struct unit_form {
    lanes same, opposite;
    lanes pp, pr, rr, qq, qm, mm;
} unit_form;

static inline unit_form unit_exact(const angle *a, lanes mu, lanes d)
{
    return (unit_form){.same = d * (a->c - 1.0) / a->s,
                       .opposite = d * (a->c + 1.0) / a->s,
                       .pp = 2.0 * mu,
                       .pr = -d,
                       .qm = -d};
}

static inline unit_form unit_clamped(const angle *a, lanes mu, lanes d)
{
    unit_form u = unit_exact(a, mu, d);
    const lanes high = mu + lanes_root(mu * mu + d * d), size = lanes_absolute(d);
    const lanes norm = high * high + d * d;
    const lanes share = high / lanes_where(norm > 0.0, norm, lanes_all(1.0)); // of 0: 0
    u.same = lanes_above_zero(u.same);
    u.opposite = lanes_above_zero(u.opposite);
    u.pp = share * high * high;
    u.pr = -share * high * d;
    u.rr = share * d * d;
    u.qq = u.mm = 0.5 * size;
    u.qm = -0.5 * d;
    return u;
}

static inline unit_form unit_gauss_newton(lanes mu)
{
    return (unit_form){.pp = 2.0 * mu};
}

// K += S H S
static inline void add_angle(const angle *a, const unit_form *u, pair *K)
{
    const lanes i0 = a->inverse0, i1 = a->inverse1;
    const lanes sum = 0.5 * (u->same + u->opposite), pp = 0.5 * (u->pp + u->qq);
    const lanes pr = 0.5 * (u->pr + u->qm), rr = 0.5 * (u->rr + u->mm);
    const lanes less = 0.5 * (u->same - u->opposite), qp = 0.5 * (u->qq - u->pp);
    const lanes skew = 0.5 * (u->pr - u->qm), rm = 0.5 * (u->rr - u->mm);
    const lane3 p0 = lane3_scaled(i0, a->tp0), r0 = lane3_scaled(i0, a->t0);
    const lane3 p1 = lane3_scaled(i1, a->tp1), r1 = lane3_scaled(i1, a->t1);
    const lane3 b0 = lane3_scaled(i0, a->b), b1 = lane3_scaled(i1, a->b);
    block_add(&K->first, lane3_scaled(sum, b0), b0);
    block_add(&K->first, lane3_along(lane3_scaled(pp, p0), pr, r0), p0);
    block_add(&K->first, lane3_along(lane3_scaled(pr, p0), rr, r0), r0);
    block_add(&K->second, lane3_scaled(sum, b1), b1);
    block_add(&K->second, lane3_along(lane3_scaled(pp, p1), -pr, r1), p1);
    block_add(&K->second, lane3_along(lane3_scaled(-pr, p1), rr, r1), r1);
    block_add(&K->both, lane3_scaled(less, b0), b1);
    block_add(&K->both, lane3_along(lane3_scaled(qp, p0), -skew, r0), p1);
    block_add(&K->both, lane3_along(lane3_scaled(skew, p0), rm, r0), r1);
}

// ---- Torsion

typedef struct torsion {
    lane3 t, h[2], n[2];
    lanes size[2], inverse[2]; // |z_i|, 1/|z_i|
    lanes L, al, be;
    lanes tau, cosine, sine;
    lane_mask sound; // z0 and z1 are long enough to have directions
} torsion;

// A shorter z, in lengths of the middle edge, has none.
#define LEAST_ARM 1e-12

static inline torsion torsion_of(lane3 e0, lane3 t, lanes L, lane3 e2)
{
    torsion s = {.t = t, .L = L};
    const lanes along0 = lane3_dot(e0, t), along1 = lane3_dot(e2, t), least = LEAST_ARM * L;
    const lane3 z[2] = {lane3_along(e0, -along0, t), lane3_along(e2, -along1, t)};
    for (int i = 0; i < 2; i++) {
        s.size[i] = lanes_root(lane3_dot(z[i], z[i]));
        s.inverse[i] = 1.0 / s.size[i];
        s.h[i] = lane3_scaled(s.inverse[i], z[i]);
        s.n[i] = lane3_cross(t, s.h[i]);
    }
    s.sound = (s.size[0] >= least) & (s.size[1] >= least);
    s.al = along0 / L;
    s.be = along1 / L;
    s.sine = lane3_dot(s.n[0], s.h[1]);
    s.cosine = lane3_dot(s.h[0], s.h[1]);
    s.tau = arctangent(s.sine, s.cosine);
    return s;
}

// Finds the form in (dz0, dz1): U in the coordinates (h0.dz0, n0.dz0, h1.dz1, n1.dz1).
static inline void arms_form(const torsion *s, lanes mu, lanes d, lanes U[4][4])
{
    const lanes i0 = s->inverse[0], i1 = s->inverse[1];
    memset(U, 0, 16 * sizeof **U);
    U[0][1] = U[1][0] = d * i0 * i0;
    U[2][3] = U[3][2] = -d * i1 * i1;
    U[1][1] = mu * i0 * i0;
    U[3][3] = mu * i1 * i1;
    U[1][3] = U[3][1] = -mu * i0 * i1;
}

static inline void add_arms(const torsion *s, lanes U[4][4], pair *K)
{
    for (int k = 0; k < 2; k++) {
        const lane3 left = k == 0 ? s->h[0] : s->n[0], right = k == 0 ? s->h[1] : s->n[1];
        const lane3 to0 = lane3_along(lane3_scaled(U[0][k], s->h[0]), U[1][k], s->n[0]);
        const lane3 to1 = lane3_along(lane3_scaled(U[2][k + 2], s->h[1]), U[3][k + 2], s->n[1]);
        const lane3 over = lane3_along(lane3_scaled(U[k][2], s->h[1]), U[k][3], s->n[1]);
        block_add(&K->first, to0, left);
        block_add(&K->second, to1, right);
        block_add(&K->both, left, over);
    }
}

// Finds the form in (p0, p1, H, N).
static inline void middle_form(const torsion *s, lanes d, lanes C[4][4])
{
    const lanes c = s->cosine, z = s->sine, plane = 0.5 * d / (s->L * s->L);
    const lanes k0 = d * s->inverse[0] / s->L, k1 = d * s->inverse[1] / s->L;
    memset(C, 0, 16 * sizeof **C);
    C[0][3] = C[3][0] = k0;
    C[1][2] = C[2][1] = k1 * z; // N1 = -sin H + cos N
    C[1][3] = C[3][1] = -k1 * c;
    // 2 H1 N1 = -sin 2 tau (H^2 - N^2) + 2 cos 2 tau H N
    C[2][2] = 2.0 * plane * z * c;
    C[3][3] = -C[2][2];
    C[2][3] = C[3][2] = 2.0 * plane * z * z;
}

// Takes off the negative parts of U, and of C in the measure of the vertices: with R the rows p0,
// p1, H, N by them and R R' = L L', C becomes L^-T (L' C L)^+ L^-1.
static inline void clamp_parts(const torsion *s, lanes U[4][4], lanes C[4][4])
{
    const lanes al = s->al, be = s->be, one = lanes_all(1.0);
    const lanes g00 = one + (one - al) * (one - al) + al * al;
    const lanes g01 = (al - one) * be + al * (one + be);
    const lanes g11 = one + (one + be) * (one + be) + be * be;
    const lanes l00 = lanes_root(g00), l10 = g01 / l00, l11 = lanes_root(g11 - l10 * l10);
    const lanes two = lanes_all(sqrt(2.0)), i00 = one / l00, i11 = one / l11, i22 = one / two;
    const lanes i10 = -l10 * i00 * i11;
    lanes left[4][4]; // L' C
    for (int j = 0; j < 4; j++) {
        left[0][j] = l00 * C[0][j] + l10 * C[1][j];
        left[1][j] = l11 * C[1][j];
        left[2][j] = two * C[2][j];
        left[3][j] = two * C[3][j];
    }
    for (int i = 0; i < 4; i++) {
        C[i][0] = left[i][0] * l00 + left[i][1] * l10;
        C[i][1] = left[i][1] * l11;
        C[i][2] = left[i][2] * two;
        C[i][3] = left[i][3] * two;
    }
    lanes_clamp_two(U, C);
    for (int j = 0; j < 4; j++) { // L^-T from the left
        left[0][j] = i00 * C[0][j] + i10 * C[1][j];
        left[1][j] = i11 * C[1][j];
        left[2][j] = i22 * C[2][j];
        left[3][j] = i22 * C[3][j];
    }
    for (int i = 0; i < 4; i++) {
        C[i][0] = left[i][0] * i00 + left[i][1] * i10;
        C[i][1] = left[i][1] * i11;
        C[i][2] = left[i][2] * i22;
        C[i][3] = left[i][3] * i22;
    }
}

// Finds the two forms of the filter `text`: K and C of the angle of z0 and z1.
static inline void text_forms(const torsion *s, lanes mu, lanes d, pair *K, lanes C[4][4])
{
    const angle a = angle_of(s->h[0], s->h[1], s->inverse[0], s->inverse[1]);
    const lanes slope = lanes_where(s->tau < 0.0, -d, d);
    const unit_form exact = unit_exact(&a, mu, slope), u = unit_clamped(&a, mu, slope);
    const lanes same = u.same - exact.same, opposite = u.opposite - exact.opposite;
    const lanes i0 = s->inverse[0], i1 = s->inverse[1];
    const lanes N[3] = {0.5 * (same + opposite) * i0 * i0, 0.5 * (same - opposite) * i0 * i1,
                        0.5 * (same + opposite) * i1 * i1};
    // Rows of p0 + |z0| H/L and p1 + |z1| H1/L, H1 = cos H + sin N.
    const lanes none = {0.0}, one = lanes_all(1.0), arm = s->size[1] / s->L;
    const lanes row[2][4] = {{one, none, s->size[0] / s->L, none},
                             {none, one, arm * s->cosine, arm * s->sine}};
    add_angle(&a, &u, K);
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            C[i][j] = N[0] * row[0][i] * row[0][j] + N[2] * row[1][i] * row[1][j] +
                      N[1] * (row[0][i] * row[1][j] + row[1][i] * row[0][j]);
        }
    }
    // Without a plane of both there is no form.
    const lane_mask sound = a.s >= 1e-8;
    block_where(sound, &K->first);
    block_where(sound, &K->second);
    block_where(sound, &K->both);
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            C[i][j] = lanes_where(sound, C[i][j], none);
        }
    }
}

static inline void torsion_forms(const torsion *s, ss_curl_filter filter, lanes mu, lanes d,
                                 pair *K, lanes C[4][4])
{
    lanes U[4][4];
    if (filter == SS_CURL_TEXT) {
        text_forms(s, mu, d, K, C);
        return;
    }
    arms_form(s, mu, filter == SS_CURL_GAUSS_NEWTON ? lanes_all(0.0) : d, U);
    middle_form(s, filter == SS_CURL_GAUSS_NEWTON ? lanes_all(0.0) : d, C);
    if (filter == SS_CURL_SPLIT) {
        clamp_parts(s, U, C);
    }
    add_arms(s, U, K);
}
