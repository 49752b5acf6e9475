// strands/models/corde.c -- corde: elastic rods as vertices and directors, [ST07] made implicit.
//
// Vertices r_0 .. r_n, edges e^j = r_{j+1} - r_j, and a unit quaternion p_j of each edge, whose
// directors d_k = R(p_j) e_k are the material axes and d_3 is held along the edge by a stiff
// energy. q is r_0, p_0, r_1, .. r_n; v is rdot_0, omega_0, rdot_1, .. rdot_n with omega in the
// frame of its p. Energies, forces and K are by increments p <- p o exp(phi/2).
//
// kappa_p is EA, but at least 1e3 EI/l^2, so that directors follow soft edges too. Mass: half of
// each edge at its ends, an edge having the share of the strand's length that it has of the
// polyline.
//
// doc/strands.md, "CoRdE".
#include "strands/models/corde.h"

#include "base/assert.h"
#include "base/spectrum.h"
#include "strands/models/polyline.h"
#include "strands/shape.h"

#include <stdlib.h>

#define LANES 8 // edges side by side
#include "strands/lanes.h"

#define DOFS  6              // of v, from an edge to the next
#define PLACE SS_CORDE_PLACE // of q likewise

static int dofs_of(const ss_corde *d)
{
    return DOFS * d->n + 3;
}

// ---- From a design

#define LEAST_EDGES    2
#define LEAST_PARALLEL 1e3 // EI/l^2
#define ARRAYS         13

typedef struct settings {
    double parallel;
    int vertices;
} settings;

static const settings DEFAULTS = {.parallel = 1.0};
static const ss_key KEYS[] = {
    SS_INTEGER_KEY("vertices", vertices, LEAST_EDGES + 2, 16385),
    SS_REAL_KEY("parallel", parallel, 0.01, 1e6),
    {.name = NULL},
};

static void free_strand(void *strand)
{
    ss_corde *d = strand;
    if (d != NULL) {
        free(d->memory);
        free(d);
    }
}

// Arrays one after another in one piece of memory, of numbers alone.
static bool allocate(ss_corde *d)
{
    const size_t n = (size_t)d->n, room = (size_t)d->room;
    double *at = d->memory = calloc(ARRAYS * room + n + 2 * 3 * (n + 1) + 4 * n, sizeof *at);
    if (at == NULL) {
        return false;
    }
    double **const arrays[ARRAYS] = {
        &d->edge,      &d->inverse_edge, &d->inverse_length, &d->strain[0], &d->strain[1],
        &d->strain[2], &d->aim[0],       &d->aim[1],         &d->aim[2],    &d->more[0],
        &d->more[1],   &d->more[2],      &d->more[3]};
    for (int k = 0; k < ARRAYS; k++, at += room) {
        *arrays[k] = at;
    }
    d->share = at;
    d->style = (ss_vec3 *)(at + n);
    d->home = d->style + n + 1;
    d->turn = (ss_quat *)(d->home + n + 1);
    return true;
}

// Finds the directors (m1, m2, t) of edges whose frames are (t, m1, m2).
static void take_frames(const ss_corde *d, const ss_mat3 *frames, ss_quat *turn)
{
    for (int j = 0; j < d->n; j++) {
        const ss_mat3 *F = &frames[j];
        const ss_mat3 R = {{F->c[1], F->c[2], F->c[0]}};
        turn[j] = ss_quat_of_matrix(&R);
    }
}

// Finds lengths and strains of a shape. False where it has an edge of no length or a joint that
// turns back.
static bool find_strains(const ss_corde *d, const ss_vec3 *x, const ss_quat *turn, double *edge,
                         double *const strain[3])
{
    bool sound = true;
    for (int j = 0; j < d->n; j++) {
        edge[j] = ss_length(ss_minus(x[j + 1], x[j]));
        const ss_quat rho = j > 0 ? ss_quat_product(ss_quat_conjugate(turn[j - 1]), turn[j])
                                  : (ss_quat){1, 0, 0, 0};
        const double twice = rho.w < 0.0 ? -2.0 : 2.0;
        strain[0][j] = twice * rho.x;
        strain[1][j] = twice * rho.y;
        strain[2][j] = twice * rho.z;
        sound = sound && isfinite(rho.w);
    }
    return sound && ss_polyline_has_edges(d->n, edge, d->length);
}

// Keeps the natural shape, given its strains and, in `more`, those of the style.
static void keep_strains(ss_corde *d)
{
    double *const natural[4] = {d->edge, d->strain[0], d->strain[1], d->strain[2]};
    ss_polyline_shares(d->n, d->edge, d->share);
    ss_polyline_inverses(d->n, d->edge, d->inverse_edge, d->inverse_length);
    for (int j = 0; j < d->n; j++) {
        for (int k = 0; k < 4; k++) {
            d->more[k][j] = natural[k][j] - d->more[k][j];
        }
        d->aim[2][j] = 1.0;
    }
}

static ss_status fill(ss_corde *d, const ss_strand_design *design, ss_error *e)
{
    ss_mat3 *frames = malloc((size_t)d->n * sizeof *frames);
    if (frames == NULL) {
        return ss_fail_memory(e, "a strand");
    }
    ss_shape_vertices(design, SS_SHAPE_NATURAL, d->n + 1, d->style);
    ss_shape_frames(design, SS_SHAPE_NATURAL, d->n + 1, d->style, frames);
    take_frames(d, frames, d->turn);
    bool sound = find_strains(d, d->style, d->turn, d->edge, d->strain);
    ss_shape_vertices(design, SS_SHAPE_START, d->n + 1, d->style);
    ss_shape_frames(design, SS_SHAPE_START, d->n + 1, d->style, frames);
    take_frames(d, frames, d->turn);
    if (design->nvertices == 0) {
        ss_polyline_take_lengths(d->n, d->edge, d->style);
    }
    sound = find_strains(d, d->style, d->turn, d->more[0], d->more + 1) && sound;
    keep_strains(d);
    free(frames);
    return sound ? SS_OK
                 : ss_fail(e, SS_BAD_INPUT,
                           "a strand of %d vertices closes between two of them: take more vertices",
                           d->n + 1);
}

// Takes what the material and the length say.
static void take_material(ss_corde *d, const ss_material *m, double parallel)
{
    const double l = d->length / d->n;
    d->rigidity = ss_material_rigidity(m);
    d->relaxation = m->relaxation;
    d->spin[0] = m->density * d->rigidity.bend1 / m->young;
    d->spin[1] = m->density * d->rigidity.bend2 / m->young;
    d->spin[2] = d->rigidity.spin_inertia;
    d->parallel =
        parallel * fmax(d->rigidity.stretch,
                        LEAST_PARALLEL * fmax(d->rigidity.bend1, d->rigidity.bend2) / (l * l));
}

static ss_status make(const ss_strand_design *design, const void *settings_, void **strand,
                      ss_error *e)
{
    const settings *set = settings_;
    *strand = NULL;
    int n;
    ss_status status =
        ss_polyline_edges("corde", design, set->vertices, LEAST_EDGES, LEAST_EDGES + 1, &n, e);
    if (status != SS_OK) {
        return status;
    }
    ss_corde *d = calloc(1, sizeof *d);
    if (d == NULL) {
        return ss_fail_memory(e, "a strand");
    }
    d->n = n;
    d->room = (n + LANES - 1) / LANES * LANES;
    d->clamp = design->clamp;
    d->length = ss_shape_natural_length(design);
    take_material(d, &design->material, set->parallel);
    if (ss_clamps_root(d->clamp)) {
        ss_polyline_hold(d->held, &d->nheld, 0, DOFS + 3);
    }
    if (ss_clamps_tip(d->clamp)) {
        ss_polyline_hold(d->held, &d->nheld, DOFS * (n - 1), DOFS + 3);
    }
    status = allocate(d) ? fill(d, design, e) : ss_fail_memory(e, "a strand");
    if (status != SS_OK) {
        free_strand(d);
        return status;
    }
    *strand = d;
    return SS_OK;
}

static ss_strand_size size(const void *strand)
{
    const ss_corde *d = strand;
    ss_strand_size size = ss_polyline_size(d->n, dofs_of(d), DOFS + 2, d->held, d->nheld);
    size.nq += d->n;
    return size;
}

static void lumps(const void *strand, double *mass, double *length)
{
    const ss_corde *d = strand;
    ss_polyline_lumps(d->n, d->share, d->length, d->rigidity.line_density, mass, length);
}

static void place(const void *strand, const ss_pose *root, const double *q, ss_strand_point *points,
                  ss_strand_point *samples)
{
    const ss_corde *d = strand;
    (void)root; // q is of the world
    ss_polyline_place(d->n, q, PLACE, DOFS, points, samples);
}

static void inertia(const void *strand, const double *q, ss_band *M)
{
    const ss_corde *d = strand;
    (void)q;
    for (int j = 0; j < d->n; j++) {
        for (int k = 0; k < 3; k++) {
            const int dof = DOFS * j + 3 + k;
            *ss_band_at(M, dof, dof) += d->spin[k] * d->share[j] * d->length;
        }
    }
}

// ---- Motion
//
//     p (+) h omega = p o exp(h omega / 2)
//     difference = (2/h) log(conj(p_0) o p_1), the shorter way

// Puts the vertices x [n + 1] and the turns [n], in the frame of `root`, into q.
static void put(const ss_corde *d, const ss_pose *root, const ss_vec3 *x, const ss_quat *turn,
                double *q)
{
    const ss_quat first = ss_quat_of_matrix(&root->turn);
    for (int i = 0; i <= d->n; i++) {
        ss_vec_write(ss_pose_point(root, x[i]), q + PLACE * i);
    }
    for (int j = 0; j < d->n; j++) {
        const ss_quat p = ss_quat_unit(ss_quat_product(first, turn[j]));
        ss_quat_write(p, q + PLACE * j + 3);
    }
}

static void start(void *strand, const ss_pose *root, double *q)
{
    ss_corde *d = strand;
    put(d, root, d->style, d->turn, q);
    for (int i = 0; i <= d->n; i++) {
        d->home[i] = ss_corde_vertex(q, i);
    }
    d->clamped[0] = ss_corde_turn(q, 0);
    d->clamped[1] = ss_corde_turn(q, d->n - 1);
}

static void advance(const void *strand, const double *q, const double *v, double h, double *moved)
{
    const ss_corde *d = strand;
    for (int j = 0; j <= d->n; j++) {
        const double *x = q + PLACE * j, *u = v + DOFS * j;
        double *to = moved + PLACE * j;
        ss_vec_write(ss_along(ss_vec_read(x), h, ss_vec_read(u)), to);
        if (j < d->n) {
            const ss_quat by = ss_quat_exp(ss_scaled(h, ss_vec_read(u + 3)));
            ss_quat_write(ss_quat_unit(ss_quat_product(ss_quat_read(x + 3), by)), to + 3);
        }
    }
}

// Returns the omega that turns p0 to p1 in h.
static ss_vec3 spin_between(ss_quat p0, ss_quat p1, double h)
{
    return ss_scaled(1.0 / h, ss_quat_log(ss_quat_product(ss_quat_conjugate(p0), p1)));
}

static void difference(const void *strand, const double *q0, const double *q1, double h, double *v)
{
    const ss_corde *d = strand;
    for (int j = 0; j <= d->n; j++) {
        double *to = v + DOFS * j;
        const ss_vec3 way = ss_minus(ss_corde_vertex(q1, j), ss_corde_vertex(q0, j));
        ss_vec_write(ss_scaled(1.0 / h, way), to);
        if (j < d->n) {
            ss_vec_write(spin_between(ss_corde_turn(q0, j), ss_corde_turn(q1, j), h), to + 3);
        }
    }
}

// Sets v so that edge j and its directors go where `body` carries them.
static void script_edge(const ss_corde *d, int j, const ss_pose *body, ss_quat home,
                        const double *q, double h, double *v)
{
    const ss_quat there = ss_quat_product(ss_quat_of_matrix(&body->turn), home);
    double *to = v + DOFS * j;
    for (int end = 0; end < 2; end++) {
        const ss_vec3 x = ss_pose_point(body, d->home[j + end]);
        ss_vec_write(ss_scaled(1.0 / h, ss_minus(x, ss_corde_vertex(q, j + end))), to + DOFS * end);
    }
    ss_vec_write(spin_between(ss_corde_turn(q, j), there, h), to + 3);
}

static void script(const void *strand, const ss_pose moved[2], const double *q, double h, double *v)
{
    const ss_corde *d = strand;
    if (ss_clamps_root(d->clamp)) {
        script_edge(d, 0, &moved[0], d->clamped[0], q, h, v);
    }
    if (ss_clamps_tip(d->clamp)) {
        script_edge(d, d->n - 1, &moved[1], d->clamped[1], q, h, v);
    }
}

// ---- Edges and joints side by side
//
// Edge j, with t = e/|e|, d = R(p) aim, c = t.d, tau = R(p)'t, l its natural length, K = kappa_p l:
//
//     V_s = EA l/2 (|e|/l - 1)^2,   V_p = K/2 |t - d|^2
//     dV_p/de = -K (d - c t)/|e|,   d - c t = t x R (aim x tau)
//     dV_p/dphi = -K aim x tau         both of one rounded tilt, so that its error pulls at nothing
//     ee  K [sym(d, t) + c (I - 3 t t')]/|e|^2      e phi  K (I - t t') R [aim]x/|e|
//     phi phi  -K [sym(tau, aim)/2 - tau.aim I]
//
// of which the squares of first derivatives are what these are for aim = tau. Joint j, between the
// edges j - 1 and j, with rho = conj(p_{j-1}) o p_j = (r0, rv), r0 >= 0, and w_k = K_k / l, K =
// (EI1, EI2, GJ):
//
//     V_b = sum_k w_k/2 (2 rv_k - strain_k)^2,   m_k = w_k (2 rv_k - strain_k)
//     A = -(r0 I - [rv]x), B = r0 I + [rv]x: the derivatives of 2 rv by phi_{j-1} and phi_j
//     dV_b = (A'm, B'm),   D2 V_b = (A B)' diag(w) (A B) + [[Y, X], [X', Y]]
//     Y = -(m.rv) I/2,     X = -[(m.rv) I - rv m' - m rv' - r0 [m]x]/2
//
// Number j of a lane is edge j and the joint before it.
//
// doc/strands.md, "CoRdE energies", "CoRdE gradients and Hessians".

// Eigenvalues below this share of the largest are 0.
#define ZERO_SHARE 1e-12

// Returns the last lane of `before`, then all but the last of `now`.
static lanes shifted(lanes before, lanes now)
{
    return __builtin_shufflevector(before, now, 7, 8, 9, 10, 11, 12, 13, 14);
}

// Edges side by side.
typedef struct edges {
    lanes pw;
    lane3 pv;         // the quaternions
    lane3 d1, d2, d3; // the directors
    lane3 t, tau;
    lanes length, inverse; // |e|, 1 / |e|
} edges;

static void find_directors(edges *f)
{
    const lanes x = f->pv.x, y = f->pv.y, z = f->pv.z, w = f->pw;
    f->d1 = (lane3){1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)};
    f->d2 = (lane3){2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x)};
    f->d3 = (lane3){2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)};
}

// Returns the edges from .. from + LANES - 1; beyond the ends, the nearest one.
static edges edges_at(const ss_corde *d, const double *q, int from)
{
    edges f;
    lane3 e;
    for (int l = 0; l < LANES; l++) {
        const int k = from + l < 0 ? 0 : from + l, j = k < d->n ? k : d->n - 1;
        const double *x = q + PLACE * j;
        e.x[l] = x[7] - x[0];
        e.y[l] = x[8] - x[1];
        e.z[l] = x[9] - x[2];
        f.pw[l] = x[3];
        f.pv.x[l] = x[4];
        f.pv.y[l] = x[5];
        f.pv.z[l] = x[6];
    }
    find_directors(&f);
    f.length = lanes_root(lane3_dot(e, e));
    f.inverse = 1.0 / f.length;
    f.t = lane3_scaled(f.inverse, e);
    f.tau = (lane3){lane3_dot(f.t, f.d1), lane3_dot(f.t, f.d2), lane3_dot(f.t, f.d3)};
    return f;
}

// Returns the edges before the first: a joint needs their last lane alone.
static edges edges_before(const ss_corde *d, const double *q)
{
    return edges_at(d, q, -LANES);
}

// The joints before the edges `f`.
typedef struct joints {
    lanes r0;
    lane3 rv;
    lane3 m, w; // moments, and K / l
} joints;

static joints joints_between(const ss_corde *d, const edges *before, const edges *f, int from)
{
    const lanes a = shifted(before->pw, f->pw);
    const lane3 b = {shifted(before->pv.x, f->pv.x), shifted(before->pv.y, f->pv.y),
                     shifted(before->pv.z, f->pv.z)};
    joints s = {.r0 = a * f->pw + lane3_dot(b, f->pv)};
    s.rv = lane3_minus(lane3_along(lane3_scaled(a, f->pv), -f->pw, b), lane3_cross(b, f->pv));
    for (int l = 0; l < LANES; l++) {
        const double sign = s.r0[l] < 0.0 ? -1.0 : 1.0;
        s.r0[l] *= sign;
        s.rv.x[l] *= sign;
        s.rv.y[l] *= sign;
        s.rv.z[l] *= sign;
    }
    const lanes inverse = lanes_of(d->inverse_length + from);
    s.w = (lane3){d->rigidity.bend1 * inverse, d->rigidity.bend2 * inverse,
                  d->rigidity.twist * inverse};
    s.m = (lane3){s.w.x * (2.0 * s.rv.x - lanes_of(d->strain[0] + from)),
                  s.w.y * (2.0 * s.rv.y - lanes_of(d->strain[1] + from)),
                  s.w.z * (2.0 * s.rv.z - lanes_of(d->strain[2] + from))};
    return s;
}

static lane3 aim_of(const ss_corde *d, int from)
{
    return (lane3){lanes_of(d->aim[0] + from), lanes_of(d->aim[1] + from),
                   lanes_of(d->aim[2] + from)};
}

// Returns R a.
static lane3 turned(const edges *f, lane3 a)
{
    return lane3_along(lane3_along(lane3_scaled(a.x, f->d1), a.y, f->d2), a.z, f->d3);
}

// Returns kappa_p l.
static lanes parallel_weight(const ss_corde *d, int from)
{
    return d->parallel * lanes_of(d->edge + from);
}

static lanes stretch_of(const ss_corde *d, const edges *f, int from)
{
    return f->length * lanes_of(d->inverse_edge + from) - 1.0;
}

// ---- Energy

static double energy(const void *strand, const double *q)
{
    const ss_corde *d = strand;
    edges before = edges_before(d, q);
    double sum = 0.0;
    for (int from = 0; from < d->n; from += LANES) {
        const edges f = edges_at(d, q, from);
        const joints s = joints_between(d, &before, &f, from);
        const lane3 off = lane3_minus(f.t, turned(&f, aim_of(d, from)));
        const lane3 strain = {2.0 * s.rv.x - lanes_of(d->strain[0] + from),
                              2.0 * s.rv.y - lanes_of(d->strain[1] + from),
                              2.0 * s.rv.z - lanes_of(d->strain[2] + from)};
        const lanes stretch = stretch_of(d, &f, from);
        const lanes all = d->rigidity.stretch * lanes_of(d->edge + from) * stretch * stretch +
                          parallel_weight(d, from) * lane3_dot(off, off) + lane3_dot(s.m, strain);
        for (int l = 0; l < LANES; l++) {
            sum += all[l];
        }
        before = f;
    }
    return 0.5 * sum;
}

// ---- Forces

// Adds torques at both p of the joint, and the force of the edge, to the dofs from p_{j-1} on.
static void add_forces(const lane3 *at0, const lane3 *at1, const lane3 *g, int from, int end,
                       double *F)
{
    for (int l = 0; l < LANES && from + l < end; l++) {
        double *r = F + DOFS * (from + l);
        if (from + l > 0) {
            r[-3] -= at0->x[l];
            r[-2] -= at0->y[l];
            r[-1] -= at0->z[l];
        }
        r[0] += g->x[l];
        r[1] += g->y[l];
        r[2] += g->z[l];
        r[3] -= at1->x[l];
        r[4] -= at1->y[l];
        r[5] -= at1->z[l];
        r[6] -= g->x[l];
        r[7] -= g->y[l];
        r[8] -= g->z[l];
    }
}

// F -= omega x I omega
static void add_gyroscopic(const ss_corde *d, const double *v, double *F)
{
    for (int j = 0; j < d->n; j++) {
        const double *u = v + DOFS * j + 3, length = d->share[j] * d->length;
        double *to = F + DOFS * j + 3;
        const double *I = d->spin;
        to[0] -= length * (I[2] - I[1]) * u[1] * u[2];
        to[1] -= length * (I[0] - I[2]) * u[2] * u[0];
        to[2] -= length * (I[1] - I[0]) * u[0] * u[1];
    }
}

static void force(const void *strand, const double *q, const double *v, double *F)
{
    const ss_corde *d = strand;
    edges before = edges_before(d, q);
    for (int from = 0; from < d->n; from += LANES) {
        const edges f = edges_at(d, q, from);
        const joints s = joints_between(d, &before, &f, from);
        const lane3 tilt = lane3_cross(aim_of(d, from), f.tau);
        const lanes K = parallel_weight(d, from);
        const lane3 across = lane3_cross(f.t, turned(&f, tilt));
        const lane3 g =
            lane3_along(lane3_scaled(d->rigidity.stretch * stretch_of(d, &f, from), f.t),
                        -K * f.inverse, across);
        const lane3 bent = lane3_scaled(s.r0, s.m), turn = lane3_cross(s.rv, s.m);
        const lanes none = {0.0};
        const lane3 zero = {none, none, none};
        const lane3 at0 = lane3_minus(lane3_minus(zero, bent), turn);
        const lane3 at1 = lane3_along(lane3_minus(bent, turn), -K, tilt);
        add_forces(&at0, &at1, &g, from, d->n, F);
        before = f;
    }
    add_gyroscopic(d, v, F);
}

// ---- Stiffness

static void components(lane3 a, lanes x[3])
{
    x[0] = a.x;
    x[1] = a.y;
    x[2] = a.z;
}

// Finds D2 V_b of a joint; rows and columns are phi_{j-1}, phi_j. Without `curved` the squares of
// first derivatives alone.
static void joint_matrix(const joints *s, bool curved, lanes H[6][6])
{
    const lanes r0 = s->r0;
    lanes rv[3], m[3], w[3];
    components(s->rv, rv);
    components(s->m, m);
    components(s->w, w);
    const lanes none = {0.0};
    // X is [rv]x, row by row.
    const lanes X[3][3] = {{none, -rv[2], rv[1]}, {rv[2], none, -rv[0]}, {-rv[1], rv[0], none}};
    lanes G[3][6]; // (A B)
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 3; i++) {
            G[k][i] = i == k ? X[k][i] - r0 : X[k][i];
            G[k][3 + i] = i == k ? X[k][i] + r0 : X[k][i];
        }
    }
    for (int i = 0; i < 6; i++) {
        const lanes a = w[0] * G[0][i], b = w[1] * G[1][i], c = w[2] * G[2][i];
        for (int j = 0; j <= i; j++) {
            H[i][j] = a * G[0][j] + b * G[1][j] + c * G[2][j];
        }
    }
    if (curved) {
        const lanes half = 0.5 * lane3_dot(s->m, s->rv);
        const lanes cross[3][3] = {{none, -m[2], m[1]}, {m[2], none, -m[0]}, {-m[1], m[0], none}};
        for (int i = 0; i < 3; i++) {
            H[i][i] -= half;
            H[3 + i][3 + i] -= half;
            for (int j = 0; j < 3; j++) { // X' below the diagonal
                const lanes x = 0.5 * (rv[j] * m[i] + m[j] * rv[i] + r0 * cross[j][i]);
                H[3 + i][j] += i == j ? x - half : x;
            }
        }
    }
}

// Finds D2 V_p of an edge whose aim is `aim`; rows and columns are e, phi.
static void parallel_matrix(const edges *f, lane3 aim, lanes K, lanes H[6][6])
{
    const lane3 d = turned(f, aim);
    const lanes c = lane3_dot(f->t, d), with = lane3_dot(f->tau, aim);
    const lanes first = K * f->inverse * f->inverse, second = K * f->inverse;
    lanes t[3], dd[3], tau[3], a[3];
    components(f->t, t);
    components(d, dd);
    components(f->tau, tau);
    components(aim, a);
    // Columns of R [aim]x, without their parts along t.
    lane3 across[3] = {lane3_along(lane3_scaled(aim.z, f->d2), -aim.y, f->d3),
                       lane3_along(lane3_scaled(aim.x, f->d3), -aim.z, f->d1),
                       lane3_along(lane3_scaled(aim.y, f->d1), -aim.x, f->d2)};
    for (int k = 0; k < 3; k++) {
        lanes x[3];
        components(lane3_along(across[k], -lane3_dot(across[k], f->t), f->t), x);
        for (int i = 0; i < 3; i++) {
            H[3 + k][i] = second * x[i];
        }
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j <= i; j++) {
            const lanes x = dd[i] * t[j] + t[i] * dd[j] - 3.0 * c * t[i] * t[j];
            const lanes y = -0.5 * (tau[i] * a[j] + a[i] * tau[j]);
            H[i][j] = first * (i == j ? x + c : x);
            H[3 + i][3 + j] = K * (i == j ? y + with : y);
        }
    }
}

// += EA [tt'/l + across (I - tt')]
static void add_stretch(const ss_corde *d, const edges *f, int from, lanes across, lanes H[6][6])
{
    const lanes first = d->rigidity.stretch * (lanes_of(d->inverse_edge + from) - across);
    lanes t[3];
    components(f->t, t);
    across *= d->rigidity.stretch;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j <= i; j++) {
            H[i][j] += i == j ? first * t[i] * t[j] + across : first * t[i] * t[j];
        }
    }
}

// Takes the negative eigenvalues off each matrix.
static void clamp_matrices(lanes H[6][6])
{
    for (int l = 0; l < LANES; l++) {
        double A[36], value[6];
        for (int i = 0; i < 6; i++) {
            for (int j = 0; j <= i; j++) {
                A[6 * i + j] = A[6 * j + i] = H[i][j][l];
            }
        }
        const ss_spectrum s = ss_spectrum_of(6, A);
        for (int k = 0; k < 6; k++) {
            value[k] = s.lambda[k] > ZERO_SHARE * s.highest ? s.lambda[k] : 0.0;
        }
        ss_spectrum_matrix(&s, value, A);
        for (int i = 0; i < 6; i++) {
            for (int j = 0; j <= i; j++) {
                H[i][j][l] = A[6 * i + j];
            }
        }
    }
}

// Adds the joints to the dofs of both p.
static void add_joints(lanes H[6][6], int from, int end, double scale, ss_band *A)
{
    for (int l = from > 0 ? 0 : 1; l < LANES && from + l < end; l++) {
        const int first = DOFS * (from + l) - 3;
        for (int j = 0; j < 6; j++) {
            const int c = j < 3 ? first + j : first + 3 + j;
            double *column = ss_band_at(A, c, c);
            for (int i = j; i < 6; i++) {
                const int down = j < 3 && i >= 3 ? i - j + 3 : i - j;
                column[down] += scale * H[i][j][l];
            }
        }
    }
}

// Adds the edges to r_j, p_j and r_{j+1}: e is the difference of both r.
static void add_edges(lanes H[6][6], int from, int end, double scale, ss_band *A)
{
    for (int l = 0; l < LANES && from + l < end; l++) {
        double *r = ss_band_at(A, DOFS * (from + l), DOFS * (from + l));
        const int next = A->half + 1;
        for (int j = 0; j < 3; j++, r += next) {
            double *p = r + 3 * next, *s = r + 6 * next;
            for (int i = 0; i < 3; i++) {
                const double ee = scale * (i >= j ? H[i][j][l] : H[j][i][l]);
                const double ephi = scale * H[3 + i][j][l];
                r[3 + i - j] -= ephi;
                r[6 + i - j] -= ee;
                p[3 + i - j] += scale * H[3 + j][i][l];
                if (i >= j) {
                    r[i - j] += ee;
                    p[i - j] += scale * H[3 + i][3 + j][l];
                    s[i - j] += ee;
                }
            }
        }
    }
}

static bool stiffness(const void *strand, const double *q, ss_stiffness kind, double scale,
                      ss_band *A)
{
    const ss_corde *d = strand;
    ss_assert(A->n == dofs_of(d));
    const bool squares = kind == SS_STIFFNESS_GAUSS_NEWTON;
    edges before = edges_before(d, q);
    for (int from = 0; from < d->n; from += LANES) {
        const edges f = edges_at(d, q, from);
        const joints s = joints_between(d, &before, &f, from);
        const lanes across = lanes_of(d->inverse_edge + from) - f.inverse;
        lanes joint[6][6], edge[6][6];
        joint_matrix(&s, !squares, joint);
        parallel_matrix(&f, squares ? f.tau : aim_of(d, from), parallel_weight(d, from), edge);
        if (kind == SS_STIFFNESS_FILTERED) {
            clamp_matrices(joint);
            clamp_matrices(edge);
        }
        add_stretch(d, &f, from, kind == SS_STIFFNESS_EXACT ? across : lanes_above_zero(across),
                    edge);
        add_joints(joint, from, d->n, scale, A);
        add_edges(edge, from, d->n, scale, A);
        before = f;
    }
    return true;
}

// Kelvin and Voigt: a moment is relaxation times stiffness times the rate of its strain. Lengths
// and what holds the directors along the edges are not damped, as in der_kernel.c.
static void damping(const void *strand, const double *q, double scale, ss_band *A)
{
    const ss_corde *d = strand;
    edges before = edges_before(d, q);
    for (int from = 0; from < d->n && d->relaxation > 0.0; from += LANES) {
        const edges f = edges_at(d, q, from);
        const joints s = joints_between(d, &before, &f, from);
        lanes joint[6][6];
        joint_matrix(&s, false, joint);
        add_joints(joint, from, d->n, scale * d->relaxation, A);
        before = f;
    }
}

// ---- Balance
//
// From a free tip on: the force g of an edge, dV/de, is the load beyond it. Its part along the edge
// is a tension, which gives the natural length; its part across is -kappa_p l (d - c t)/|e| and
// says which direction d among the directors the edge is to have (aim). The torque that then misses
// at p_j is what joint j adds there, r0 m - rv x m, which is solved for its moment m = K (u -
// ubar):
//
//     m = r0 b + rv x b + rv (rv.b)/r0   solves   r0 m - rv x m = b
//
// and joint j adds -(r0 m + rv x m) at p_{j-1}. From a free root on, the same in the other order,
// which changes the signs of m and rv (`way`). Where both ends are held, what holds the tip is
// taken to pull at nothing.
//
// doc/strands.md, "CoRdE gradients and Hessians" (Balance).

// Returns conj(p_{j-1}) o p_j of joint j, of the two signs the one with w >= 0.
static ss_quat bend_of(const double *q, int j)
{
    const ss_quat rho =
        ss_quat_product(ss_quat_conjugate(ss_corde_turn(q, j - 1)), ss_corde_turn(q, j));
    const double sign = rho.w < 0.0 ? -1.0 : 1.0;
    return (ss_quat){sign * rho.w, sign * rho.x, sign * rho.y, sign * rho.z};
}

// m/s^2: a free rod that its load accelerates by less is at rest.
#define REST_ACCELERATION 1e-6

// Returns the load on the vertex, or the p, whose dofs begin there.
static ss_vec3 load_on(const double *load, int dof)
{
    return ss_vec(load[dof], load[dof + 1], load[dof + 2]);
}

// Sets natural length and aim of edge j, whose dV/de is g, and finds its dV/dphi. False where there
// are none.
static bool set_edge(ss_corde *d, const double *q, int j, ss_vec3 g, ss_vec3 *torque)
{
    const ss_vec3 e = ss_minus(ss_corde_vertex(q, j + 1), ss_corde_vertex(q, j)), t = ss_unit(e);
    const ss_mat3 R = ss_quat_matrix(ss_corde_turn(q, j));
    const double tension = ss_dot(g, t), strain = tension / d->rigidity.stretch;
    const double edge = ss_length(e) / (1.0 + strain), stiff = d->parallel * edge;
    const ss_vec3 across = ss_scaled(-ss_length(e) / stiff, ss_along(g, -tension, t));
    const double cosine = sqrt(1.0 - ss_dot(across, across));
    const ss_vec3 aim = ss_turned_back(&R, ss_along(across, cosine, t));
    const ss_vec3 tau = ss_turned_back(&R, t);
    d->edge[j] = edge;
    d->aim[0][j] = aim.x;
    d->aim[1][j] = aim.y;
    d->aim[2][j] = aim.z;
    *torque = ss_scaled(-stiff, ss_cross(aim, tau));
    return strain > -1.0 && cosine > 0.0;
}

// Returns the m with r0 m - rv x m = b.
static ss_vec3 solve_joint(double r0, ss_vec3 rv, ss_vec3 b)
{
    return ss_along(ss_plus(ss_scaled(r0, b), ss_cross(rv, b)), ss_dot(rv, b) / r0, rv);
}

// Sets edges and finds the moments m of joints, from the tip on or from the root on.
static bool solve_all(ss_corde *d, const double *q, const double *load, bool from_root, ss_vec3 *m,
                      ss_vec3 *force, ss_vec3 *torque)
{
    ss_vec3 g = {0.0, 0.0, 0.0}, missing = g, own;
    const double way = from_root ? -1.0 : 1.0;
    bool sound = true;
    for (int k = 0; k < d->n; k++) {
        const int j = from_root ? k : d->n - 1 - k, joint = from_root ? j + 1 : j;
        g = ss_along(g, way, load_on(load, DOFS * (from_root ? j : j + 1)));
        sound = set_edge(d, q, j, g, &own) && sound;
        missing = ss_plus(missing, ss_minus(load_on(load, DOFS * j + 3), own));
        if (k == d->n - 1) {
            break;
        }
        const ss_quat rho = bend_of(q, joint);
        const ss_vec3 rv = ss_scaled(way, ss_quat_vector(rho));
        m[joint] = ss_scaled(way, solve_joint(rho.w, rv, missing));
        missing = ss_scaled(way, ss_plus(ss_scaled(rho.w, m[joint]), ss_cross(rv, m[joint])));
    }
    *force = ss_along(g, way, load_on(load, from_root ? DOFS * d->n : 0));
    *torque = missing;
    return sound;
}

static void set_strains(ss_corde *d, const double *q, const ss_vec3 *m)
{
    for (int j = 0; j < d->n; j++) {
        d->edge[j] += d->more[0][j];
        d->inverse_edge[j] = 1.0 / d->edge[j];
    }
    for (int j = 1; j < d->n; j++) {
        const double length = 0.5 * (d->edge[j - 1] + d->edge[j]);
        const ss_quat rho = bend_of(q, j);
        d->inverse_length[j] = 1.0 / length;
        d->strain[0][j] = 2.0 * rho.x - length * m[j].x / d->rigidity.bend1 + d->more[1][j];
        d->strain[1][j] = 2.0 * rho.y - length * m[j].y / d->rigidity.bend2 + d->more[2][j];
        d->strain[2][j] = 2.0 * rho.z - length * m[j].z / d->rigidity.twist + d->more[3][j];
    }
}

static ss_status balance(void *strand, const double *q, const double *load, ss_error *e)
{
    ss_corde *d = strand;
    ss_vec3 *m = calloc((size_t)d->n + 1, sizeof *m), force, torque;
    if (m == NULL) {
        return ss_fail_memory(e, "the natural shape of a strand");
    }
    const bool sound = solve_all(d, q, load, d->clamp == SS_CLAMP_TIP, m, &force, &torque);
    set_strains(d, q, m);
    free(m);
    const double least = REST_ACCELERATION * d->rigidity.line_density * d->length;
    if (d->clamp == SS_CLAMP_NONE &&
        !(ss_length(force) <= least && ss_length(torque) <= least * d->length)) {
        return ss_fail(e, SS_BAD_INPUT,
                       "a rod that nothing holds cannot rest under a load that moves it: clamp its "
                       "root, or let it begin unsettled");
    }
    return sound ? SS_OK
                 : ss_fail(e, SS_BAD_INPUT,
                           "no natural shape carries the load of a strand of the model corde: use "
                           "a stiffer material or let it begin unsettled");
}

// ---- The model

const ss_strand_model ss_corde_model = {
    .name = "corde",
    .summary = "elastic rods of vertices and directors (CoRdE), banded mass",
    .reference = "ST07",
    .keys = KEYS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .scheme = "newton",
    .frame = SS_FRAME_WORLD,
    .make = make,
    .free = free_strand,
    .size = size,
    .start = start,
    .lumps = lumps,
    .advance = advance,
    .difference = difference,
    .script = script,
    .place = place,
    .energy = energy,
    .force = force,
    .stiffness = stiffness,
    .damping = damping,
    .inertia = inertia,
    .balance = balance,
};
