// strands/models/lifted_curls.c -- lifted-curls: vertices alone, with energies of lengths, of the
// angle of two edges and of the torsion of three [S23].
//
// q and v are those of the vertices x_0 .. x_n. Number j of an array is of edge j, from x_j to
// x_{j+1}, of the joint at x_j between the edges j - 1 and j, and of the torsion of the edges j - 2
// .. j about edge j - 1: stencil j ends at x_{j+1}, and moves the 12 dofs from x_{j-2} on.
//
//     stretch  l mu_s/2 (|e|/l - 1)^2       mu_s = EA
//     bend     mu_b/2 (theta - theta0)^2    mu_b = EI / mean of both edges; theta = pi if straight
//     torsion  mu_t/2 wrap(tau - tau0)^2    mu_t = GJ / middle edge
//
// Sections are round; the radius goes evenly from that of the root to `taper` times it at the tip,
// and the mean section is the material's.
//
// Three vertices are held at a clamp; the joint at the last of them stands for the half edge beyond
// it, and there the free length begins.
//
// The natural strains are those that the curl's own kernel finds in the natural shape. Mass: half
// of each edge at its ends, an edge having the share of the strand's length that it has of the
// polyline.
//
// doc/strands.md, "Lifted Curls".
#include "strands/models/lifted_curls.h"

#include "base/assert.h"
#include "strands/models/curl_forms.h"
#include "strands/models/polyline.h"
#include "strands/shape.h"

#include <stdlib.h>

// ---- Stencils side by side
//
// All is said by the edges E0, E1, E2 that end at the last four vertices of a stencil: stretch is
// of E2, the bending of (-E1, E2), the torsion of (-E0, E1, E2), with the forms of curl_forms.h.

#define DOFS 12

// Returns the edges from .. from + LANES - 1; beyond the ends, the nearest one.
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

// Returns the last lane, or the last two, of `before`, then those of `now` but the last.
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

// Goes on to the next LANES stencils.
static void go_on(stencil *s, const double *q)
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

// Finds at q, by number, |e|, theta and its sine, and tau; [room] each.
static void strains(const ss_curl *c, const double *q, double *edge, double *theta, double *sine,
                    double *tau)
{
    stencil s = begin(c, q);
    for (int from = 0; from < c->n; from += LANES) {
        go_on(&s, q);
        const angle a = joint_of(&s);
        const torsion z = torsion_at(&s);
        memcpy(edge + from, &s.length[2], sizeof s.length[2]);
        memcpy(theta + from, &a.theta, sizeof a.theta);
        memcpy(sine + from, &a.s, sizeof a.s);
        memcpy(tau + from, &z.tau, sizeof z.tau);
    }
}

// ---- Energy

static double energy(const void *strand, const double *q)
{
    const ss_curl *c = strand;
    const lanes none = {0.0};
    double sum = 0.0;
    stencil s = begin(c, q);
    for (int from = 0; from < c->n; from += LANES) {
        go_on(&s, q);
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

// Returns dE/d(theta), 0 where the joint has no stiffness or no plane.
static lanes bend_moment(const stencil *s, const angle *a)
{
    const lane_mask plane = a->s >= number_at(s, SS_CURL_LEAST_SINE);
    return lanes_where(plane, number_at(s, SS_CURL_BEND) * bend_of(s, a), lanes_all(0.0));
}

// Returns dE/d(tau).
static lanes torsion_moment(const stencil *s, const torsion *z)
{
    return lanes_where(z->sound, number_at(s, SS_CURL_TORSION) * twist_of(s, z), lanes_all(0.0));
}

// Finds dE/dE0, dE/dE1 and dE/dE2.
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

static void force(const void *strand, const double *q, const double *v, double *F)
{
    const ss_curl *c = strand;
    (void)v;
    stencil s = begin(c, q);
    for (int from = 0; from < c->n; from += LANES) {
        lane3 g[3];
        go_on(&s, q);
        slopes_at(&s, g);
        add_forces(c, from, g, F);
    }
}

// ---- Stiffness

// Second derivatives by E0, E1, E2.
typedef struct curvature {
    block own[3], over01, over02, over12; // rows are the first
} curvature;

// Adds EA [tt'/l + across (I - tt')], across = 1/l - 1/|e|.
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
    // A joint that is straight, as its natural shape is, has mu (k k') (x) (I - tt'), k = (1/|e0|,
    // 1/|e1|).
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

// Adds the torsion: p0 = t.dz0 and p1 = t.dz1 with dz0 = -dE0 - al dE1 and dz1 = dE2 - be dE1.
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
    // p0 and p1 with H and N have rows t and columns of E1.
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

// Spreads the derivatives over the dofs of the stencil: at[j][i] is row i >= j of column j. Vertex
// 0 is -E0, 1 is E0 - E1, 2 is E1 - E2, 3 is E2.
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
        go_on(&s, q);
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

static bool stiffness(const void *strand, const double *q, ss_stiffness kind, double scale,
                      ss_band *A)
{
    const ss_curl *c = strand;
    ss_assert(A->n == 3 * (c->n + 1));
    const ss_curl_filter *filter = kind == SS_STIFFNESS_EXACT      ? EXACT
                                   : kind == SS_STIFFNESS_FILTERED ? c->filter
                                                                   : GAUSS_NEWTON;
    add_stiffness(c, q, filter, true, scale, A);
    return true;
}

// Kelvin and Voigt: a moment is relaxation times stiffness times the rate of its strain. Lengths
// are not damped, as those of rods (der_kernel.c).
static void damping(const void *strand, const double *q, double scale, ss_band *A)
{
    const ss_curl *c = strand;
    if (c->relaxation > 0.0) {
        add_stiffness(c, q, GAUSS_NEWTON, false, scale * c->relaxation, A);
    }
}

// ---- From a design

#define HELD        3 // vertices at a clamp
#define LEAST_EDGES 3

// A natural joint below this sine has no plane: the torsions about both of its edges have no
// stiffness.
#define LEAST_TORSION 1e-3
// Sine of a joint below which it has no bending force; of a natural shape that is straight, where
// the formulas of a bent one lose half of their digits.
#define LEAST_BENT     1e-8
#define LEAST_STRAIGHT 1e-6

#define AS_ALL 4 // place of "filter" among the choices of one energy

typedef struct settings {
    int vertices, filter;
    double taper;              // radius at the tip over that at the root
    int one[SS_CURL_ENERGIES]; // AS_ALL: that of all
} settings;

static const settings DEFAULTS = {
    .vertices = 0, .filter = SS_CURL_SPLIT, .taper = 1.0, .one = {AS_ALL, AS_ALL, AS_ALL}};

static const char *const FILTERS[] = {"exact", "split", "text", "gn", NULL}; // ss_curl_filter
static const char *const OWN_FILTERS[] = {"exact", "split", "text", "gn", "filter", NULL};
static const ss_key KEYS[] = {
    SS_INTEGER_KEY("vertices", vertices, LEAST_EDGES + 1, 16385),
    SS_CHOICE_KEY("filter", filter, FILTERS),
    SS_REAL_KEY("taper", taper, 0.01, 10.0),
    SS_CHOICE_KEY("stretch", one[SS_CURL_STRETCHES], OWN_FILTERS),
    SS_CHOICE_KEY("bending", one[SS_CURL_BENDS], OWN_FILTERS),
    SS_CHOICE_KEY("torsion", one[SS_CURL_TWISTS], OWN_FILTERS),
    {.name = NULL},
};

static void free_strand(void *strand)
{
    ss_curl *c = strand;
    if (c != NULL) {
        free(c->memory);
        free(c);
    }
}

// Arrays one after another in one piece of memory, of numbers alone.
static bool allocate(ss_curl *c)
{
    const size_t n = (size_t)c->n, room = (size_t)c->room;
    double *at = c->memory = calloc(SS_CURL_NUMBERS * room + 2 * n + 6 * (n + 1), sizeof *at);
    if (at == NULL) {
        return false;
    }
    for (int k = 0; k < SS_CURL_NUMBERS; k++, at += room) {
        c->number[k] = at;
    }
    c->share = at;
    c->load = at + n;
    c->style = (ss_vec3 *)(at + 2 * n);
    c->home = c->style + n + 1;
    return true;
}

// Returns the stiffness of the joint at vertex j times 2/EI: 2/lbar except for the last one that a
// clamp holds.
static double joint_weight(const ss_curl *c, const double *edge, int j)
{
    if (ss_clamps_root(c->clamp) && j == HELD - 1) {
        return 2.0 / (0.5 * edge[j]);
    }
    if (ss_clamps_tip(c->clamp) && j == c->n - HELD + 1) {
        return 2.0 / (0.5 * edge[j - 1]);
    }
    return 2.0 / (0.5 * (edge[j - 1] + edge[j]));
}

// Returns the mean of the square of the radius between two shares of the length, over its mean
// along the strand.
static double section_between(double taper, double from, double to)
{
    const double a = 1.0 + (taper - 1.0) * from, b = 1.0 + (taper - 1.0) * to;
    return (a * a + a * b + b * b) / (1.0 + taper + taper * taper);
}

// Sets the numbers, from the strains of the natural shape.
static void set_numbers(ss_curl *c, const ss_rigidity *rigidity, const double *edge,
                        const double *theta, const double *sine, const double *tau)
{
    for (int j = 0; j < c->room; j++) {
        c->number[SS_CURL_LEAST_SINE][j] = 2.0;
    }
    for (int j = 0; j < c->n; j++) {
        c->number[SS_CURL_INVERSE_EDGE][j] = 1.0 / edge[j];
        c->number[SS_CURL_STRETCH][j] = rigidity->stretch;
    }
    for (int j = 1; j < c->n; j++) {
        const bool straight = sine[j] < LEAST_STRAIGHT;
        c->number[SS_CURL_BEND][j] = 0.5 * rigidity->bend1 * joint_weight(c, edge, j);
        c->number[SS_CURL_THETA][j] = straight ? acos(-1.0) : theta[j];
        c->number[SS_CURL_STRAIGHT][j] = straight;
        c->number[SS_CURL_LEAST_SINE][j] = straight ? LEAST_STRAIGHT : LEAST_BENT;
    }
    for (int j = 2; j < c->n; j++) {
        const bool plane = sine[j - 1] >= LEAST_TORSION && sine[j] >= LEAST_TORSION;
        c->number[SS_CURL_TORSION][j] = plane ? rigidity->twist / edge[j - 1] : 0.0;
        c->number[SS_CURL_TAU][j] = plane ? tau[j] : 0.0;
    }
}

// Sets the mass of edges, and rigidities by their sections: EA by the area, EI and GJ by its
// square.
static void set_sections(ss_curl *c, double taper)
{
    double from = 0.0;
    for (int j = 0; j < c->n; j++) {
        const double to = from + c->share[j], whole = section_between(taper, from, to);
        const double start = section_between(taper, from, from);
        c->load[j] = whole * c->share[j];
        c->number[SS_CURL_STRETCH][j] *= whole;
        c->number[SS_CURL_BEND][j] *= start * start;
        if (j + 1 < c->n) {
            c->number[SS_CURL_TORSION][j + 1] *= whole * whole;
        }
        from = to;
    }
}

static ss_status fill(ss_curl *c, const ss_strand_design *design, double taper, ss_error *e)
{
    const ss_rigidity rigidity = ss_material_rigidity(&design->material);
    const size_t n = (size_t)c->n, room = (size_t)c->room;
    double *edge = calloc(4 * room, sizeof *edge);
    ss_vec3 *x = malloc((n + 1) * sizeof *x);
    ss_status status = SS_OK;
    if (edge == NULL || x == NULL) {
        status = ss_fail_memory(e, "a strand");
    } else {
        double *theta = edge + room, *sine = theta + room, *tau = sine + room;
        ss_shape_vertices(design, SS_SHAPE_NATURAL, c->n + 1, x);
        strains(c, &x[0].x, edge, theta, sine, tau);
        set_numbers(c, &rigidity, edge, theta, sine, tau);
        bool sound = ss_polyline_has_edges(c->n, edge, c->length);
        ss_polyline_shares(c->n, edge, c->share);
        set_sections(c, taper);
        ss_shape_vertices(design, SS_SHAPE_START, c->n + 1, c->style);
        if (design->nvertices == 0) {
            ss_polyline_take_lengths(c->n, edge, c->style);
        }
        strains(c, &c->style[0].x, edge, theta, sine, tau);
        sound = ss_polyline_has_edges(c->n, edge, c->length) && sound &&
                isfinite(energy(c, &c->style[0].x));
        status = sound ? SS_OK
                       : ss_fail(e, SS_BAD_INPUT,
                                 "a strand of %d vertices closes between two of them: take more "
                                 "vertices",
                                 c->n + 1);
    }
    free(edge);
    free(x);
    return status;
}

static ss_status check_section(const ss_strand_design *design, ss_error *e)
{
    if (design->material.ellipticity != 1.0) {
        return ss_fail(e, SS_BAD_INPUT,
                       "a strand of the model lifted-curls has a round section, not one of "
                       "ellipticity %g; take the model der",
                       design->material.ellipticity);
    }
    return SS_OK;
}

static ss_status make(const ss_strand_design *design, const void *settings_, void **strand,
                      ss_error *e)
{
    const settings *set = settings_;
    *strand = NULL;
    int n;
    ss_status status =
        ss_polyline_edges("lifted-curls", design, set->vertices, LEAST_EDGES, 2 * HELD, &n, e);
    status = status == SS_OK ? check_section(design, e) : status;
    if (status != SS_OK) {
        return status;
    }
    ss_curl *c = calloc(1, sizeof *c);
    if (c == NULL) {
        return ss_fail_memory(e, "a strand");
    }
    c->n = n;
    c->room = (n + LANES - 1) / LANES * LANES;
    for (int k = 0; k < SS_CURL_ENERGIES; k++) {
        c->filter[k] = (ss_curl_filter)(set->one[k] == AS_ALL ? set->filter : set->one[k]);
    }
    c->clamp = design->clamp;
    c->line_density = ss_material_rigidity(&design->material).line_density;
    c->relaxation = design->material.relaxation;
    c->length = ss_shape_natural_length(design);
    if (ss_clamps_root(c->clamp)) {
        ss_polyline_hold(c->held, &c->nheld, 0, 3 * HELD);
    }
    c->nroot = c->nheld;
    if (ss_clamps_tip(c->clamp)) {
        ss_polyline_hold(c->held, &c->nheld, 3 * (n + 1 - HELD), 3 * HELD);
    }
    status = allocate(c) ? fill(c, design, set->taper, e) : ss_fail_memory(e, "a strand");
    if (status != SS_OK) {
        free_strand(c);
        return status;
    }
    *strand = c;
    return SS_OK;
}

static ss_strand_size size(const void *strand)
{
    const ss_curl *c = strand;
    return ss_polyline_size(c->n, 3 * (c->n + 1), 11, c->held, c->nheld);
}

// ---- Motion

static void start(void *strand, const ss_pose *root, double *q)
{
    ss_curl *c = strand;
    for (int i = 0; i <= c->n; i++) {
        c->home[i] = ss_pose_point(root, c->style[i]);
    }
    memcpy(q, c->home, (size_t)(c->n + 1) * sizeof *c->home);
}

static void lumps(const void *strand, double *mass, double *length)
{
    const ss_curl *c = strand;
    ss_polyline_lumps(c->n, c->load, c->length, c->line_density, mass, length);
    ss_polyline_halves(c->n, c->share, c->length, length);
}

static void advance(const void *strand, const double *q, const double *v, double h, double *moved)
{
    const ss_curl *c = strand;
    for (int k = 0; k < 3 * (c->n + 1); k++) {
        moved[k] = q[k] + h * v[k];
    }
}

static void script(const void *strand, const ss_pose moved[2], const double *q, double h, double *v)
{
    const ss_curl *c = strand;
    for (int k = 0; k < c->nheld; k += 3) {
        const int i = c->held[k] / 3;
        const ss_vec3 there = ss_pose_point(&moved[k < c->nroot ? 0 : 1], c->home[i]);
        const ss_vec3 rate = ss_scaled(1.0 / h, ss_minus(there, ss_curl_vertex(q, i)));
        v[3 * i] = rate.x;
        v[3 * i + 1] = rate.y;
        v[3 * i + 2] = rate.z;
    }
}

static void place(const void *strand, const ss_pose *root, const double *q, ss_strand_point *points,
                  ss_strand_point *samples)
{
    const ss_curl *c = strand;
    (void)root; // q is of the world
    ss_polyline_place(c->n, q, 3, 3, points, samples);
}

// ---- The model

const ss_strand_model ss_lifted_curls = {
    .name = "lifted-curls",
    .summary = "vertices with angles of bending and torsion, banded mass",
    .reference = "S23",
    .keys = KEYS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .scheme = "newton:iterations=3,growth=0",
    .kind = SS_STIFFNESS_FILTERED,
    .clamp_edges = HELD - 1,
    .frame = SS_FRAME_WORLD,
    .make = make,
    .free = free_strand,
    .size = size,
    .start = start,
    .lumps = lumps,
    .advance = advance,
    .script = script,
    .place = place,
    .energy = energy,
    .force = force,
    .stiffness = stiffness,
    .damping = damping,
};
