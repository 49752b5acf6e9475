// Energy, gradient and Hessian of lifted curls, SS_CURL_LANES stencils side by side (lifted_curls.h).
//
// All is said by the edges E0, E1, E2 that end at the last four vertices of a stencil: stretch is of E2, the
// bending of (-E1, E2), the torsion of (-E0, E1, E2), with the forms of curl_forms.h.
#include "strands/models/lifted_curls/lifted_curls.h"

#include "strands/models/lifted_curls/curl_forms.h"

#define DOFS 12

// Edges from .. from + LANES - 1; beyond the ends, the nearest one.
static lane3 edges_at(const ss_curl *c, const double *q, int from)
{
    lane3 e;
    for (int l = 0; l < LANES; l++) {
        const int k = from + l < 0 ? 0 : from + l, j = k < c->n ? k : c->n - 1;
        const double *x = q + 3 * j;
        e.x[l] = x[3] - x[0];
        e.y[l] = x[4] - x[1];
        e.z[l] = x[5] - x[2];
    }
    return e;
}

// Edges E0, E1, E2 of the stencils from .. from + LANES - 1, with directions and lengths.
typedef struct stencil {
    lane3 e[3], t[3];
    lanes length[3], inverse[3];
    const ss_curl *c;
    int from;
} stencil;

static stencil begin(const ss_curl *c, const double *q)
{
    stencil s = {.c = c, .from = -LANES};
    s.e[2] = edges_at(c, q, -LANES);
    s.length[2] = lanes_root(lane3_dot(s.e[2], s.e[2]));
    s.inverse[2] = 1.0 / s.length[2];
    s.t[2] = lane3_scaled(s.inverse[2], s.e[2]);
    return s;
}

// The last lane, or the last two, of `before`, then those of `now` but the last.
static lanes shifted(lanes before, lanes now, int by)
{
    return by == 1 ? __builtin_shufflevector(before, now, 7, 8, 9, 10, 11, 12, 13, 14)
                   : __builtin_shufflevector(before, now, 6, 7, 8, 9, 10, 11, 12, 13);
}

static lane3 shifted3(lane3 before, lane3 now, int by)
{
    return (lane3){shifted(before.x, now.x, by), shifted(before.y, now.y, by),
                   shifted(before.z, now.z, by)};
}

// The next LANES stencils.
static void advance(stencil *s, const double *q)
{
    const stencil was = *s;
    s->from += LANES;
    s->e[2] = edges_at(s->c, q, s->from);
    s->length[2] = lanes_root(lane3_dot(s->e[2], s->e[2]));
    s->inverse[2] = 1.0 / s->length[2];
    s->t[2] = lane3_scaled(s->inverse[2], s->e[2]);
    for (int k = 0; k < 2; k++) {
        s->e[k] = shifted3(was.e[2], s->e[2], 2 - k);
        s->t[k] = shifted3(was.t[2], s->t[2], 2 - k);
        s->length[k] = shifted(was.length[2], s->length[2], 2 - k);
        s->inverse[k] = shifted(was.inverse[2], s->inverse[2], 2 - k);
    }
}

static lanes number_at(const stencil *s, ss_curl_number k)
{
    return lanes_of(s->c->number[k] + s->from);
}

// ---- Strains

static lanes stretch_of(const stencil *s)
{
    return s->length[2] * number_at(s, SS_CURL_INVERSE_EDGE) - 1.0;
}

static angle joint_of(const stencil *s)
{
    const lane3 back = {-s->t[1].x, -s->t[1].y, -s->t[1].z};
    return angle_of(back, s->t[2], s->inverse[1], s->inverse[2]);
}

static torsion torsion_at(const stencil *s)
{
    const lane3 back = {-s->e[0].x, -s->e[0].y, -s->e[0].z};
    return torsion_of(back, s->t[1], s->length[1], s->e[2]);
}

static lanes bend_of(const stencil *s, const angle *a)
{
    return a->theta - number_at(s, SS_CURL_THETA);
}

#define TURN 6.28318530717958647692

static lanes twist_of(const stencil *s, const torsion *z)
{
    lanes d = z->tau - number_at(s, SS_CURL_TAU);
    for (int l = 0; l < LANES; l++) {
        d[l] -= TURN * rint(d[l] / TURN);
    }
    return d;
}

void ss_curl_strains(const ss_curl *c, const double *q, double *edge, double *theta, double *sine,
                     double *tau)
{
    stencil s = begin(c, q);
    for (int from = 0; from < c->n; from += LANES) {
        advance(&s, q);
        const angle a = joint_of(&s);
        const torsion z = torsion_at(&s);
        memcpy(edge + from, &s.length[2], sizeof s.length[2]);
        memcpy(theta + from, &a.theta, sizeof a.theta);
        memcpy(sine + from, &a.s, sizeof a.s);
        memcpy(tau + from, &z.tau, sizeof z.tau);
    }
}

// ---- Energy

double ss_curl_energy(const void *strand, const double *q)
{
    const ss_curl *c = strand;
    const lanes none = {0.0};
    double sum = 0.0;
    stencil s = begin(c, q);
    for (int from = 0; from < c->n; from += LANES) {
        advance(&s, q);
        const angle a = joint_of(&s);
        const torsion z = torsion_at(&s);
        const lanes stretch = stretch_of(&s), bend = bend_of(&s, &a), twist = twist_of(&s, &z);
        const lanes edge = number_at(&s, SS_CURL_INVERSE_EDGE), stiff = number_at(&s, SS_CURL_BEND);
        const lanes squares =
            lanes_where(edge > 0.0, number_at(&s, SS_CURL_STRETCH) * stretch * stretch / edge,
                        none) +
            lanes_where(stiff > 0.0, stiff * bend * bend, none) +
            lanes_where(z.sound, number_at(&s, SS_CURL_TORSION) * twist * twist, none);
        for (int l = 0; l < LANES; l++) {
            sum += squares[l];
        }
    }
    return 0.5 * sum;
}

// ---- Forces

// dE/d(theta), 0 where the joint has no stiffness or no plane.
static lanes bend_moment(const stencil *s, const angle *a)
{
    const lane_mask plane = a->s >= number_at(s, SS_CURL_LEAST_SINE);
    return lanes_where(plane, number_at(s, SS_CURL_BEND) * bend_of(s, a), lanes_all(0.0));
}

// dE/d(tau)
static lanes torsion_moment(const stencil *s, const torsion *z)
{
    return lanes_where(z->sound, number_at(s, SS_CURL_TORSION) * twist_of(s, z), lanes_all(0.0));
}

// dE/dE0, dE/dE1, dE/dE2
static void slopes_at(const stencil *s, lane3 g[3])
{
    const angle a = joint_of(s);
    const torsion z = torsion_at(s);
    const lanes bend = bend_moment(s, &a), twist = torsion_moment(s, &z);
    const lane_mask plane = a.s >= number_at(s, SS_CURL_LEAST_SINE);
    const lane3 b0 = lane3_where(plane, lane3_scaled(bend * s->inverse[1], a.tp0));
    const lane3 b1 = lane3_where(plane, lane3_scaled(bend * s->inverse[2], a.tp1));
    const lane3 z0 = lane3_where(z.sound, lane3_scaled(twist * z.inverse[0], z.n[0]));
    const lane3 z1 = lane3_where(z.sound, lane3_scaled(twist * z.inverse[1], z.n[1]));
    g[0] = z0;
    g[1] = lane3_minus(lane3_along(lane3_scaled(z.al, z0), -z.be, z1), b0);
    g[2] = lane3_minus(lane3_along(z1, number_at(s, SS_CURL_STRETCH) * stretch_of(s), s->t[2]), b1);
}

static void add_forces(const ss_curl *c, int from, const lane3 g[3], double *F)
{
    const lane3 x[4] = {
        g[0], lane3_minus(g[1], g[0]), lane3_minus(g[2], g[1]), {-g[2].x, -g[2].y, -g[2].z}};
    for (int l = 0; l < LANES && from + l < c->n; l++) {
        double *at = F + 3 * (from + l - 2);
        for (int i = from + l < 2 ? 2 - (from + l) : 0; i < 4; i++) {
            at[3 * i] += x[i].x[l];
            at[3 * i + 1] += x[i].y[l];
            at[3 * i + 2] += x[i].z[l];
        }
    }
}

void ss_curl_force(const void *strand, const double *q, const double *v, double *F)
{
    const ss_curl *c = strand;
    (void)v;
    stencil s = begin(c, q);
    for (int from = 0; from < c->n; from += LANES) {
        lane3 g[3];
        advance(&s, q);
        slopes_at(&s, g);
        add_forces(c, from, g, F);
    }
}

// ---- Stiffness

// Second derivatives by E0, E1, E2.
typedef struct curvature {
    block own[3], over01, over02, over12; // rows are the first
} curvature;

// EA [tt'/l + across (I - tt')], across = 1/l - 1/|e|.
static void add_stretch(const stencil *s, ss_curl_filter filter, curvature *k)
{
    const lanes EA = number_at(s, SS_CURL_STRETCH), one = number_at(s, SS_CURL_INVERSE_EDGE);
    lanes across = one - s->inverse[2];
    across = filter == SS_CURL_EXACT          ? across
             : filter == SS_CURL_GAUSS_NEWTON ? lanes_all(0.0)
                                              : lanes_above_zero(across);
    block_add(&k->own[2], lane3_scaled(EA * (one - across), s->t[2]), s->t[2]);
    for (int i = 0; i < 3; i++) {
        k->own[2].x[i][i] += EA * across;
    }
}

static void add_bend(const stencil *s, ss_curl_filter filter, curvature *k)
{
    const angle a = joint_of(s);
    const lanes mu = number_at(s, SS_CURL_BEND), d = bend_moment(s, &a);
    const unit_form u = filter == SS_CURL_EXACT          ? unit_exact(&a, mu, d)
                        : filter == SS_CURL_GAUSS_NEWTON ? unit_gauss_newton(mu)
                                                         : unit_clamped(&a, mu, d);
    pair K = {0};
    add_angle(&a, &u, &K);
    const lane_mask plane = a.s >= number_at(s, SS_CURL_LEAST_SINE);
    block_where(plane, &K.first);
    block_where(plane, &K.second);
    block_where(plane, &K.both);
    // Straight, of a straight natural shape: mu (k k') (x) (I - tt'), k = (1/|e0|, 1/|e1|).
    const lanes rest = lanes_where(plane, lanes_all(0.0), mu * number_at(s, SS_CURL_STRAIGHT));
    const lane3 t = lane3_scaled(-rest, s->t[2]);
    pair I = {0};
    block_add(&I.first, t, s->t[2]);
    for (int i = 0; i < 3; i++) {
        I.first.x[i][i] += rest;
    }
    block_along(&K.first, s->inverse[1] * s->inverse[1], &I.first);
    block_along(&K.second, s->inverse[2] * s->inverse[2], &I.first);
    block_along(&K.both, s->inverse[1] * s->inverse[2], &I.first);
    block_along(&k->own[1], lanes_all(1.0), &K.first);
    block_along(&k->own[2], lanes_all(1.0), &K.second);
    block_along(&k->over12, lanes_all(-1.0), &K.both);
}

// p0 = t.dz0 and p1 = t.dz1 with dz0 = -dE0 - al dE1 and dz1 = dE2 - be dE1.
static void add_torsion(const stencil *s, ss_curl_filter filter, curvature *k)
{
    const torsion z = torsion_at(s);
    const lanes mu = number_at(s, SS_CURL_TORSION), d = torsion_moment(s, &z);
    const lanes al = z.al, be = z.be;
    lanes C[4][4];
    pair K = {0};
    torsion_forms(&z, filter, mu, d, &K, C);
    const lane3 t = z.t, h = z.h[0], n = z.n[0];
    block_add(&K.first, lane3_scaled(C[0][0], t), t);
    block_add(&K.second, lane3_scaled(C[1][1], t), t);
    block_add(&K.both, lane3_scaled(C[0][1], t), t);
    // Of p0 and p1 with H and N: rows t, columns of E1.
    const lane3 f0 = lane3_along(lane3_scaled(C[0][2], h), C[0][3], n);
    const lane3 f1 = lane3_along(lane3_scaled(C[1][2], h), C[1][3], n);
    block cross0 = {0}, cross1 = {0}, plane = {0};
    block_add(&cross0, t, f0);
    block_add(&cross1, t, f1);
    block_add(&plane, lane3_along(lane3_scaled(C[2][2], h), C[2][3], n), h);
    block_add(&plane, lane3_along(lane3_scaled(C[2][3], h), C[3][3], n), n);
    const lane_mask sound = z.sound;
    block *const all[] = {&K.first, &K.second, &K.both, &cross0, &cross1, &plane};
    for (int i = 0; i < 6; i++) {
        block_where(sound, all[i]);
    }
    block_along(&k->own[0], lanes_all(1.0), &K.first);
    block_along(&k->own[2], lanes_all(1.0), &K.second);
    block_along(&k->over02, lanes_all(-1.0), &K.both);
    block_along(&k->over01, al, &K.first);
    block_along(&k->over01, be, &K.both);
    block_along(&k->over01, lanes_all(-1.0), &cross0);
    block_along(&k->over12, -al, &K.both);
    block_along(&k->over12, -be, &K.second);
    block_along_turned(&k->over12, lanes_all(1.0), &cross1);
    block_along(&k->own[1], al * al, &K.first);
    block_along(&k->own[1], be * be, &K.second);
    block_along(&k->own[1], al * be, &K.both);
    block_along_turned(&k->own[1], al * be, &K.both);
    block_along(&k->own[1], lanes_all(1.0), &plane);
    block_along(&k->own[1], -al, &cross0);
    block_along_turned(&k->own[1], -al, &cross0);
    block_along(&k->own[1], -be, &cross1);
    block_along_turned(&k->own[1], -be, &cross1);
}

// To the dofs of the stencil: at[j][i] is row i >= j of column j. Vertex 0 is -E0, 1 is E0 - E1, 2 is
// E1 - E2, 3 is E2.
static void spread(const curvature *k, lanes at[DOFS][DOFS])
{
    for (int j = 0; j < 3; j++) {
        for (int i = 0; i < 3; i++) {
            const lanes a00 = k->own[0].x[i][j], a11 = k->own[1].x[i][j], a22 = k->own[2].x[i][j];
            const lanes a01 = k->over01.x[j][i], a02 = k->over02.x[j][i], a12 = k->over12.x[j][i];
            const lanes a10 = k->over01.x[i][j], a21 = k->over12.x[i][j];
            at[j][3 + i] = a01 - a00;
            at[j][6 + i] = a02 - a01;
            at[j][9 + i] = -a02;
            at[3 + j][6 + i] = (a01 - a02) - (a11 - a12);
            at[3 + j][9 + i] = a02 - a12;
            at[6 + j][9 + i] = a12 - a22;
            if (i >= j) {
                at[j][i] = a00;
                at[3 + j][3 + i] = (a00 + a11) - (a01 + a10);
                at[6 + j][6 + i] = (a11 + a22) - (a12 + a21);
                at[9 + j][9 + i] = a22;
            }
        }
    }
}

static void add_stencils(lanes at[DOFS][DOFS], int from, int end, double scale, ss_band *A)
{
    for (int l = 0; l < LANES && from + l < end; l++) {
        const int first = 3 * (from + l - 2);
        for (int j = first < 0 ? -first : 0; j < DOFS; j++) {
            double *column = ss_band_at(A, first + j, first + j);
            for (int i = j; i < DOFS; i++) {
                column[i - j] += scale * at[j][i][l];
            }
        }
    }
}

static void add_stiffness(const ss_curl *c, const double *q,
                          const ss_curl_filter filter[SS_CURL_ENERGIES], bool stretches,
                          double scale, ss_band *A)
{
    stencil s = begin(c, q);
    for (int from = 0; from < c->n; from += LANES) {
        curvature k = {0};
        lanes at[DOFS][DOFS];
        advance(&s, q);
        add_torsion(&s, filter[SS_CURL_TWISTS], &k);
        add_bend(&s, filter[SS_CURL_BENDS], &k);
        if (stretches) {
            add_stretch(&s, filter[SS_CURL_STRETCHES], &k);
        }
        spread(&k, at);
        add_stencils(at, from, c->n, scale, A);
    }
}

static const ss_curl_filter EXACT[] = {SS_CURL_EXACT, SS_CURL_EXACT, SS_CURL_EXACT};
static const ss_curl_filter GAUSS_NEWTON[] = {SS_CURL_GAUSS_NEWTON, SS_CURL_GAUSS_NEWTON,
                                              SS_CURL_GAUSS_NEWTON};

bool ss_curl_stiffness(const void *strand, const double *q, ss_stiffness kind, double scale,
                       ss_band *A)
{
    const ss_curl *c = strand;
    const ss_curl_filter *filter = kind == SS_STIFFNESS_EXACT      ? EXACT
                                   : kind == SS_STIFFNESS_FILTERED ? c->filter
                                                                   : GAUSS_NEWTON;
    add_stiffness(c, q, filter, true, scale, A);
    return true;
}

// Kelvin and Voigt: a moment is relaxation times stiffness times the rate of its strain. Lengths are not damped,
// as those of rods (der_stiffness.c).
void ss_curl_damping(const void *strand, const double *q, double scale, ss_band *A)
{
    const ss_curl *c = strand;
    if (c->relaxation > 0.0) {
        add_stiffness(c, q, GAUSS_NEWTON, false, scale * c->relaxation, A);
    }
}
