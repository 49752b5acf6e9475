// strands/models/der.c -- der: a rod of a design, its frames, the shape in which it rests, and
// steps that keep its lengths (der.h).
//
// The natural strains are those that the rod's own kernel finds in the natural shape. Mass: half of
// each edge at its ends, an edge having the share of the strand's length that it has of the
// polyline; the spin of th^j is the spin inertia times that length.
#include "strands/models/der.h"

#include "base/assert.h"
#include "strands/models/polyline.h"
#include "strands/shape.h"

#include <stdlib.h>
#include <string.h>

static ss_vec3 edge_of(const double *q, int j)
{
    return ss_minus(ss_der_vertex(q, j + 1), ss_der_vertex(q, j));
}

// ---- Frames
//
// Parallel transport from t to s, P v = v + b x v + b x (b x v) / (1 + t.s) with b = t x s, carries
// d1 of an edge from its old direction to the new one. The reference twist of a joint is the angle
// about t1 from P(t0 -> t1) d1^0 to d1^1, and of the turns by 2 pi the one nearest to what it was.

#define TURN 6.28318530717958647692

// Returns d1 carried from the direction t to s, as orthonormal as when it began.
static ss_vec3 carried(ss_vec3 t, ss_vec3 s, ss_vec3 d1)
{
    const ss_vec3 moved = ss_transported(t, s, d1);
    return ss_unit(ss_along(moved, -ss_dot(moved, s), s));
}

// Returns the angle about t from a to b, both across it.
static double angle_about(ss_vec3 t, ss_vec3 a, ss_vec3 b)
{
    return atan2(ss_dot(t, ss_cross(a, b)), ss_dot(a, b));
}

static double nearest_turn(double angle, double before)
{
    return angle + TURN * rint((before - angle) / TURN);
}

// An edge of a state that is being written: its direction, and its d1.
typedef struct framed_edge {
    ss_vec3 t, d1;
} framed_edge;

// Puts d1 and mref of edge j into q; `before` is edge j - 1, NULL of edge 0.
static void put_frame(const ss_der *d, int j, const framed_edge *before, const framed_edge *at,
                      double mref, double *q)
{
    double *frame = q + (ss_der_frame(d, q, j) - q);
    frame[0] = at->d1.x;
    frame[1] = at->d1.y;
    frame[2] = at->d1.z;
    frame[3] = 0.0;
    if (before != NULL) {
        const ss_vec3 over = ss_transported(before->t, at->t, before->d1);
        frame[3] = nearest_turn(angle_about(at->t, over, at->d1), mref);
    }
}

static void put_vertex(double *q, int i, ss_vec3 x)
{
    q[SS_DER_STRIDE * i] = x.x;
    q[SS_DER_STRIDE * i + 1] = x.y;
    q[SS_DER_STRIDE * i + 2] = x.z;
}

static ss_vec3 tangent(const double *q, int j)
{
    return ss_unit(edge_of(q, j));
}

// q of the vertices x [n + 1], and of frames whose d1 [n] are these and whose angles are theta [n],
// all in the frame of `root`.
static void put(const ss_der *d, const ss_pose *root, const ss_vec3 *x, const ss_vec3 *d1,
                const double *theta, double *q)
{
    framed_edge before = {0};
    for (int i = 0; i <= d->n; i++) {
        put_vertex(q, i, ss_pose_point(root, x[i]));
    }
    for (int j = 0; j < d->n; j++) {
        const ss_vec3 t = tangent(q, j), turned = ss_turned(&root->turn, d1[j]);
        const framed_edge at = {t, ss_unit(ss_along(turned, -ss_dot(turned, t), t))};
        q[SS_DER_STRIDE * j + 3] = theta[j];
        put_frame(d, j, j > 0 ? &before : NULL, &at, 0.0, q);
        before = at;
    }
}

// ---- From a design

#define LEAST_EDGES  2
#define JOINT_ARRAYS (4 + SS_DER_BENDS + 2 + SS_DER_BENDS)

typedef struct settings {
    int bending, vertices, impulses, stretch;
} settings;

static const settings DEFAULTS = {0, 0, 0, 0};
static const char *const BENDINGS[] = {"averaged", "two-frame", NULL};
static const char *const IMPULSES[] = {"inextensible", "particles", NULL};
static const char *const STRETCHES[] = {"filtered", "gauss-newton", NULL};
static const ss_key KEYS[] = {
    SS_CHOICE_KEY("bending", bending, BENDINGS),
    SS_INTEGER_KEY("vertices", vertices, LEAST_EDGES + 2, 16385),
    SS_CHOICE_KEY("impulses", impulses, IMPULSES),
    SS_CHOICE_KEY("stretch", stretch, STRETCHES),
    {.name = NULL},
};

static void free_strand(void *strand)
{
    ss_der *d = strand;
    if (d != NULL) {
        free(d->memory);
        free(d);
    }
}

// Arrays one after another in one piece of memory, of numbers alone.
static bool allocate(ss_der *d)
{
    const size_t n = (size_t)d->n, room = (size_t)d->room;
    const size_t count = JOINT_ARRAYS * room + 2 * n + 3 * (3 * n + 2) + (11 * n + 3);
    double *at = d->memory = calloc(count, sizeof *at);
    if (at == NULL) {
        return false;
    }
    double **const arrays[JOINT_ARRAYS] = {
        &d->edge,    &d->inverse_edge, &d->inverse_length, &d->twist,   &d->bend[0],
        &d->bend[1], &d->bend[2],      &d->bend[3],        &d->more[0], &d->more[1],
        &d->more[2], &d->more[3],      &d->more[4],        &d->more[5]};
    for (int k = 0; k < JOINT_ARRAYS; k++, at += room) {
        *arrays[k] = at;
    }
    d->share = at;
    d->theta = at + n;
    d->style = (ss_vec3 *)(at + 2 * n);
    d->home = d->style + n + 1;
    d->director = d->home + n + 1;
    d->scratch = (double *)(d->director + n);
    return true;
}

// Takes x and d1 [n] of a shape. For vertices as given, theta are the angles of the design, and d1
// is without them.
static void take_shape(const ss_der *d, const ss_strand_design *design, ss_shape which, ss_vec3 *x,
                       ss_mat3 *frames, ss_vec3 *d1, double *theta)
{
    const bool natural = which == SS_SHAPE_NATURAL && design->rest_theta != NULL;
    const double *angles = natural ? design->rest_theta : design->theta;
    const bool own = design->nvertices == d->n + 1 && angles != NULL;
    ss_shape_vertices(design, which, d->n + 1, x);
    ss_shape_frames(design, which, d->n + 1, x, frames);
    for (int j = 0; j < d->n; j++) {
        const ss_mat3 *F = &frames[j];
        theta[j] = own ? angles[j] : 0.0;
        d1[j] = ss_along(ss_scaled(cos(theta[j]), F->c[1]), -sin(theta[j]), F->c[2]);
    }
}

// Lists the arrays of strains by their place in `more`.
static void strain_arrays(const ss_der *d, double *strain[2 + SS_DER_BENDS])
{
    double *const all[] = {d->edge, d->twist, d->bend[0], d->bend[1], d->bend[2], d->bend[3]};
    memcpy(strain, all, sizeof all);
}

// Finds the strains of the shape x, d1, theta. False where it folds back or has an edge of no
// length.
static bool find_strains(ss_der *d, const ss_vec3 *x, const ss_vec3 *d1, const double *theta,
                         double *q)
{
    const ss_pose home = ss_pose_identity();
    put(d, &home, x, d1, theta, q);
    ss_der_strains(d, q, d->edge, d->twist, d->bend);
    return isfinite(ss_der_energy(d, q)) && ss_polyline_has_edges(d->n, d->edge, d->length);
}

// Keeps the natural shape, where d holds the strains of the style and `more` those of the natural
// shape.
static void keep_strains(ss_der *d)
{
    double *strain[2 + SS_DER_BENDS];
    strain_arrays(d, strain);
    ss_polyline_shares(d->n, d->more[0], d->share);
    for (int k = 0; k < 2 + SS_DER_BENDS; k++) {
        for (int j = 0; j < d->room; j++) {
            const double natural = j < d->n ? d->more[k][j] : 0.0;
            d->more[k][j] = j < d->n ? natural - strain[k][j] : 0.0;
            strain[k][j] = natural;
        }
    }
    ss_polyline_inverses(d->n, d->edge, d->inverse_edge, d->inverse_length);
}

static ss_status fill(ss_der *d, const ss_strand_design *design, ss_error *e)
{
    const size_t n = (size_t)d->n, nq = 8 * n + 3;
    double *q = malloc((nq + n) * sizeof *q), *theta = q + nq;
    ss_vec3 *x = malloc((2 * n + 1) * sizeof *x), *d1 = x + n + 1;
    ss_mat3 *frames = malloc(n * sizeof *frames);
    ss_status status = SS_OK;
    if (q == NULL || x == NULL || frames == NULL) {
        status = ss_fail_memory(e, "a strand");
    } else {
        double *strain[2 + SS_DER_BENDS];
        strain_arrays(d, strain);
        take_shape(d, design, SS_SHAPE_NATURAL, x, frames, d1, theta);
        bool sound = find_strains(d, x, d1, theta, q);
        for (int k = 0; k < 2 + SS_DER_BENDS; k++) {
            memcpy(d->more[k], strain[k], n * sizeof *strain[k]);
        }
        take_shape(d, design, SS_SHAPE_START, d->style, frames, d->director, d->theta);
        if (design->nvertices == 0) {
            ss_polyline_take_lengths(d->n, d->edge, d->style);
        }
        sound = find_strains(d, d->style, d->director, d->theta, q) && sound;
        keep_strains(d);
        status = sound ? SS_OK
                       : ss_fail(e, SS_BAD_INPUT,
                                 "a strand of %d vertices folds back or closes between two of "
                                 "them: take more vertices",
                                 d->n + 1);
    }
    free(q);
    free(x);
    free(frames);
    return status;
}

static ss_status make(const ss_strand_design *design, const void *settings_, void **strand,
                      ss_error *e)
{
    const settings *set = settings_;
    *strand = NULL;
    int n;
    ss_status status =
        ss_polyline_edges("der", design, set->vertices, LEAST_EDGES, LEAST_EDGES + 1, &n, e);
    if (status != SS_OK) {
        return status;
    }
    ss_der *d = calloc(1, sizeof *d);
    if (d == NULL) {
        return ss_fail_memory(e, "a strand");
    }
    d->n = n;
    d->room = (n + SS_DER_LANES - 1) / SS_DER_LANES * SS_DER_LANES;
    d->two_frame = set->bending != 0;
    d->inextensible = set->impulses == 0;
    d->plain_stretch = set->stretch != 0;
    d->clamp = design->clamp;
    d->rigidity = ss_material_rigidity(&design->material);
    d->relaxation = design->material.relaxation;
    d->length = ss_shape_natural_length(design);
    if (ss_clamps_root(d->clamp)) {
        ss_polyline_hold(d->held, &d->nheld, 0, SS_DER_STRIDE + 3);
    }
    if (ss_clamps_tip(d->clamp)) {
        ss_polyline_hold(d->held, &d->nheld, SS_DER_STRIDE * (n - 1), SS_DER_STRIDE + 3);
    }
    status = allocate(d) ? fill(d, design, e) : ss_fail_memory(e, "a strand");
    if (status != SS_OK) {
        free_strand(d);
        return status;
    }
    *strand = d;
    return SS_OK;
}

// ---- Motion

// Returns m1 of edge j.
static ss_vec3 material(const ss_der *d, const double *q, int j)
{
    const double *frame = ss_der_frame(d, q, j), theta = q[SS_DER_STRIDE * j + 3];
    const ss_vec3 d1 = ss_vec(frame[0], frame[1], frame[2]);
    return ss_along(ss_scaled(cos(theta), d1), sin(theta), ss_cross(tangent(q, j), d1));
}

static void start(void *strand, const ss_pose *root, double *q)
{
    ss_der *d = strand;
    put(d, root, d->style, d->director, d->theta, q);
    for (int i = 0; i <= d->n; i++) {
        d->home[i] = ss_der_vertex(q, i);
    }
    d->clamped[0] = material(d, q, 0);
    d->clamped[1] = material(d, q, d->n - 1);
}

// Puts vertex i into `moved`, which may be q. Returns its place there.
static ss_vec3 move_vertex(const double *q, const double *v, double h, int i, double *moved)
{
    const ss_vec3 x = ss_along(ss_der_vertex(q, i), h, ss_der_vertex(v, i));
    put_vertex(moved, i, x);
    return x;
}

static void advance(const void *strand, const double *q, const double *v, double h, double *moved)
{
    const ss_der *d = strand;
    ss_vec3 was = ss_der_vertex(q, 0), is = move_vertex(q, v, h, 0, moved);
    framed_edge before = {0};
    for (int j = 0; j < d->n; j++) {
        const ss_vec3 next = ss_der_vertex(q, j + 1), there = move_vertex(q, v, h, j + 1, moved);
        const double *frame = ss_der_frame(d, q, j);
        const ss_vec3 t = ss_unit(ss_minus(there, is));
        const framed_edge at = {
            t, carried(ss_unit(ss_minus(next, was)), t, ss_vec(frame[0], frame[1], frame[2]))};
        const int th = SS_DER_STRIDE * j + 3;
        moved[th] = q[th] + h * v[th];
        put_frame(d, j, j > 0 ? &before : NULL, &at, frame[3], moved);
        before = at;
        was = next;
        is = there;
    }
}

static void difference(const void *strand, const double *q0, const double *q1, double h, double *v)
{
    const int n = ss_der_dofs(strand);
    for (int k = 0; k < n; k++) {
        v[k] = (q1[k] - q0[k]) / h;
    }
}

// Sets v so that edge j, its two vertices and its angle go where `body` carries them, the angle on
// the shorter way.
static void script_edge(const ss_der *d, int j, const ss_pose *body, ss_vec3 m1, const double *q,
                        double h, double *v)
{
    const double *frame = ss_der_frame(d, q, j), theta = q[SS_DER_STRIDE * j + 3];
    const ss_vec3 x = ss_pose_point(body, d->home[j]), y = ss_pose_point(body, d->home[j + 1]);
    const ss_vec3 t = ss_unit(ss_minus(y, x));
    const ss_vec3 d1 = carried(tangent(q, j), t, ss_vec(frame[0], frame[1], frame[2]));
    const double aim = nearest_turn(angle_about(t, d1, ss_turned(&body->turn, m1)), theta);
    put_vertex(v, j, ss_scaled(1.0 / h, ss_minus(x, ss_der_vertex(q, j))));
    put_vertex(v, j + 1, ss_scaled(1.0 / h, ss_minus(y, ss_der_vertex(q, j + 1))));
    v[SS_DER_STRIDE * j + 3] = (aim - theta) / h;
}

static void script(const void *strand, const ss_pose moved[2], const double *q, double h, double *v)
{
    const ss_der *d = strand;
    if (ss_clamps_root(d->clamp)) {
        script_edge(d, 0, &moved[0], d->clamped[0], q, h, v);
    }
    if (ss_clamps_tip(d->clamp)) {
        script_edge(d, d->n - 1, &moved[1], d->clamped[1], q, h, v);
    }
}

// ---- Where it is

static ss_strand_size size(const void *strand)
{
    const ss_der *d = strand;
    ss_strand_size size =
        ss_polyline_size(d->n, ss_der_dofs(d), 2 * SS_DER_STRIDE + 2, d->held, d->nheld);
    size.nq += 4 * d->n;
    return size;
}

static void lumps(const void *strand, double *mass, double *length)
{
    const ss_der *d = strand;
    ss_polyline_lumps(d->n, d->share, d->length, d->rigidity.line_density, mass, length);
}

static void place(const void *strand, const ss_pose *root, const double *q, ss_strand_point *points,
                  ss_strand_point *samples)
{
    const ss_der *d = strand;
    (void)root; // q is of the world
    ss_polyline_place(d->n, q, SS_DER_STRIDE, SS_DER_STRIDE, points, samples);
}

static void inertia(const void *strand, const double *q, ss_band *M)
{
    const ss_der *d = strand;
    (void)q;
    for (int j = 0; j < d->n; j++) {
        const int th = SS_DER_STRIDE * j + 3;
        *ss_band_at(M, th, th) += d->rigidity.spin_inertia * d->share[j] * d->length;
    }
}

// ---- Balance
//
// At a given shape dE/dq is linear in the moments of the joints, Y = B (kappa - kappabar) / lbar
// and GJ (m - mbar) / lbar, and in the tensions T of the edges. Vertex k + 1 and angle k meet joint
// k, edge k and what is beyond: from a free tip on, each joint's three moments and its edge's
// tension are solved from the four rows of that vertex and that angle, and their part in the rows
// before is taken off. From a free root on, the same with the order of all things reversed. Where
// both ends are held, what holds the tip is taken to pull at nothing. Then |ebar| = |e| / (1 +
// T/EA), and strains lbar Y/B below those of the shape are natural.
//
// doc/strands.md, "Mass, clamp, damping, contact" (Balance).

// m/s^2: a free rod that its load accelerates by less is at rest.
#define REST_ACCELERATION 1e-6

enum { KAPPA1, KAPPA2, TWIST, TENSION, UNKNOWNS };

// x <- A^-1 x by elimination with the largest pivot of each column; a pivot of 0 gives NaN
static void solve_rows(double A[UNKNOWNS][UNKNOWNS], double x[UNKNOWNS])
{
    for (int k = 0; k < UNKNOWNS; k++) {
        int best = k;
        for (int i = k + 1; i < UNKNOWNS; i++) {
            best = fabs(A[i][k]) > fabs(A[best][k]) ? i : best;
        }
        for (int j = 0; j < UNKNOWNS; j++) {
            const double other = A[best][j];
            A[best][j] = A[k][j];
            A[k][j] = other;
        }
        const double right = x[best];
        x[best] = x[k];
        x[k] = right;
        for (int i = k + 1; i < UNKNOWNS; i++) {
            const double share = A[i][k] / A[k][k];
            for (int j = k; j < UNKNOWNS; j++) {
                A[i][j] -= share * A[k][j];
            }
            x[i] -= share * x[k];
        }
    }
    for (int k = UNKNOWNS - 1; k >= 0; k--) {
        for (int j = k + 1; j < UNKNOWNS; j++) {
            x[k] -= A[k][j] * x[j];
        }
        x[k] /= A[k][k];
    }
}

// rest -= scale times what a unit of edge j's tension adds to dE/dq.
static void take_tension(const double *q, int j, double scale, double *rest)
{
    const ss_vec3 t = tangent(q, j);
    const double by[3] = {t.x, t.y, t.z};
    for (int i = 0; i < 3; i++) {
        rest[SS_DER_STRIDE * j + i] += scale * by[i];
        rest[SS_DER_STRIDE * (j + 1) + i] -= scale * by[i];
    }
}

// Finds Y and T of joint k and of the edge beyond it (before it, where the root is free) from what
// rests of the load, which loses their part.
static void solve_joint(const ss_der *d, const double *q, int k, bool from_root, double *rest,
                        double x[UNKNOWNS])
{
    const int edge = from_root ? k - 1 : k, first = SS_DER_STRIDE * (k - 1);
    const int row[UNKNOWNS] = {from_root ? 0 : 8, from_root ? 1 : 9, from_root ? 2 : 10,
                               from_root ? 3 : 7};
    double gradient[3][11], along[8 + 3] = {0.0}, A[UNKNOWNS][UNKNOWNS];
    ss_der_gradients(d, q, k, gradient);
    const ss_vec3 t = tangent(q, edge);
    const double by[3] = {t.x, t.y, t.z};
    for (int i = 0; i < 3; i++) {
        along[row[i]] = from_root ? -by[i] : by[i];
    }
    for (int i = 0; i < UNKNOWNS; i++) {
        for (int c = 0; c < 3; c++) {
            A[i][c] = gradient[c][row[i]];
        }
        A[i][TENSION] = along[row[i]];
        x[i] = rest[first + row[i]];
    }
    solve_rows(A, x);
    for (int i = 0; i < 11; i++) {
        for (int c = 0; c < 3; c++) {
            rest[first + i] -= x[c] * gradient[c][i];
        }
    }
    take_tension(q, edge, x[TENSION], rest);
}

// Solves what is left of the load on a rod that nothing holds: the tension of edge 0, and then
// nothing.
static ss_status solve_free(const ss_der *d, const double *q, double *rest, double *tension,
                            ss_error *e)
{
    const ss_vec3 t = tangent(q, 0);
    *tension = ss_dot(ss_der_vertex(rest, 1), t);
    take_tension(q, 0, *tension, rest);
    const double force = REST_ACCELERATION * d->rigidity.line_density * d->length;
    bool rests = true;
    for (int k = 0; k < SS_DER_STRIDE + 3; k++) {
        rests = rests && fabs(rest[k]) <= (k == 3 ? force * d->length : force);
    }
    return rests ? SS_OK
                 : ss_fail(e, SS_BAD_INPUT,
                           "a rod that nothing holds cannot rest under a load that moves it: clamp "
                           "its root, or let it begin unsettled");
}

// Finds Y [3] of each joint and T of each edge, number j of both at unknown[4 j].
static ss_status solve_all(const ss_der *d, const double *q, double *rest, double *unknown,
                           ss_error *e)
{
    const bool from_root = d->clamp == SS_CLAMP_TIP;
    for (int i = 1; i < d->n; i++) {
        const int k = from_root ? i : d->n - i, edge = from_root ? k - 1 : k;
        double x[UNKNOWNS];
        solve_joint(d, q, k, from_root, rest, x);
        memcpy(unknown + UNKNOWNS * k, x, 3 * sizeof *x);
        unknown[UNKNOWNS * edge + TENSION] = x[TENSION];
    }
    return d->clamp == SS_CLAMP_NONE ? solve_free(d, q, rest, unknown + TENSION, e) : SS_OK;
}

// Sets the natural shape, given the present strains in its place.
static bool set_natural(ss_der *d, const double *unknown)
{
    bool sound = true;
    for (int j = 0; j < d->n; j++) {
        const double strain = unknown[UNKNOWNS * j + TENSION] / d->rigidity.stretch;
        d->edge[j] = d->edge[j] / (1.0 + strain) + d->more[0][j];
        d->inverse_edge[j] = 1.0 / d->edge[j];
        sound = sound && strain > -1.0 && d->edge[j] > 0.0;
    }
    const double stiff[3] = {d->rigidity.bend2, d->rigidity.bend1, d->rigidity.twist};
    for (int j = 1; j < d->n; j++) {
        const double length = 0.5 * (d->edge[j - 1] + d->edge[j]);
        double strain[3];
        d->inverse_length[j] = 1.0 / length;
        for (int c = 0; c < 3; c++) {
            strain[c] = length * unknown[UNKNOWNS * j + c] / stiff[c];
            sound = sound && isfinite(strain[c]);
        }
        d->twist[j] += d->more[1][j] - strain[TWIST];
        for (int c = 0; c < (d->two_frame ? 4 : 2); c++) {
            d->bend[c][j] += d->more[2 + c][j] - strain[c % 2];
        }
    }
    return sound;
}

static ss_status balance(void *strand, const double *q, const double *load, ss_error *e)
{
    ss_der *d = strand;
    const size_t dofs = (size_t)ss_der_dofs(d);
    double *rest = calloc(dofs + UNKNOWNS * (size_t)d->n, sizeof *rest), *unknown = rest + dofs;
    if (rest == NULL) {
        return ss_fail_memory(e, "the natural shape of a strand");
    }
    memcpy(rest, load, dofs * sizeof *rest);
    ss_status status = solve_all(d, q, rest, unknown, e);
    if (status == SS_OK) {
        ss_der_strains(d, q, d->edge, d->twist, d->bend);
        for (int j = d->n; j < d->room; j++) {
            d->edge[j] = 0.0;
        }
        if (!set_natural(d, unknown)) {
            status =
                ss_fail(e, SS_BAD_INPUT,
                        "no natural shape carries the load of a strand of the model der: use a "
                        "stiffer material or let it begin unsettled");
        }
    }
    free(rest);
    return status;
}

// ---- Projection [G07], with the angles at rest
//
// Vertices go where explicit forces take them. C_i = |e_i|^2 - |ebar_i|^2 is then made 0 by steps
//
//     (dC W dC') y = C,   x -= W dC' y,   W inverse masses, 0 of held vertices
//
// dC row i being -2 e_i at i and 2 e_i at i + 1: a tridiagonal matrix. The angles are where dE/dth
// vanishes for those vertices, by Newton's method with the squares of the strains, a tridiagonal
// matrix too. M is then that of particles, or with impulses=inextensible that of particles and
// stiff springs along the edges, as for chains (chain.c).
//
// doc/strands.md, "Mass, clamp, damping, contact" (Projected variant).

#define MOST_PASSES 100
#define TOLERANCE   1e-6 // of C, in |ebar|^2
#define MOST_TURNS  20
#define ANGLE       1e-10 // rad: what an angle at rest may be off
// Share of a mass over the springs that impulses meet; smaller ones cost digits of M.
#define COMPLIANCE 1e-8

// Solves a symmetric tridiagonal system in place: x becomes the solution; `over`, whose entry k
// couples k and k + 1, is used up.
static void solve_tridiagonal(int n, double *diagonal, double *over, double *x)
{
    for (int k = 1; k < n; k++) {
        const double share = over[k - 1] / diagonal[k - 1];
        diagonal[k] -= share * over[k - 1];
        x[k] -= share * x[k - 1];
        over[k - 1] = share;
    }
    x[n - 1] /= diagonal[n - 1];
    for (int k = n - 2; k >= 0; k--) {
        x[k] = x[k] / diagonal[k] - over[k] * x[k + 1];
    }
}

// Returns the inverse mass of vertex i.
static double mobility(const ss_der *d, int i)
{
    const bool held =
        (ss_clamps_root(d->clamp) && i < 2) || (ss_clamps_tip(d->clamp) && i > d->n - 2);
    const double share = (i > 0 ? d->share[i - 1] : 0.0) + (i < d->n ? d->share[i] : 0.0);
    return held ? 0.0 : 2.0 / (share * d->length * d->rigidity.line_density);
}

static bool is_stiff(const ss_der *d, int j)
{
    return mobility(d, j) + mobility(d, j + 1) > 0.0;
}

// Finds C and dC W dC' at x. Returns the largest |C| over |ebar|^2. Edges between held vertices ask
// nothing.
static double form_lengths(const ss_der *d, const double *x, double *diagonal, double *over,
                           double *C)
{
    double most = 0.0;
    for (int j = 0; j < d->n; j++) {
        const ss_vec3 e = edge_of(x, j);
        const double rest = d->edge[j] * d->edge[j], length = ss_dot(e, e);
        const bool stiff = is_stiff(d, j);
        C[j] = stiff ? length - rest : 0.0;
        diagonal[j] = stiff ? 4.0 * length * (mobility(d, j) + mobility(d, j + 1)) : 1.0;
        over[j] = 0.0;
        if (j + 1 < d->n && stiff && is_stiff(d, j + 1)) {
            over[j] = -4.0 * mobility(d, j + 1) * ss_dot(e, edge_of(x, j + 1));
        }
        const double off = fabs(C[j]) / rest;
        most = off > most || isnan(off) ? off : most;
    }
    return most;
}

static void correct(const ss_der *d, const double *y, double *x)
{
    ss_vec3 e = edge_of(x, 0);
    for (int j = 0; j < d->n; j++) {
        const ss_vec3 next = j + 1 < d->n ? edge_of(x, j + 1) : e;
        const double pull[3] = {2.0 * e.x * y[j], 2.0 * e.y * y[j], 2.0 * e.z * y[j]};
        for (int k = 0; k < 3; k++) {
            x[SS_DER_STRIDE * j + k] += mobility(d, j) * pull[k];
            x[SS_DER_STRIDE * (j + 1) + k] -= mobility(d, j + 1) * pull[k];
        }
        e = next;
    }
}

// Moves the vertices of x to where all lengths are right. False where that fails.
static bool keep_lengths(const ss_der *d, double *x)
{
    double *diagonal = d->scratch + ss_der_dofs(d) + 4 * d->n, *over = diagonal + d->n;
    double *y = over + d->n;
    double off = form_lengths(d, x, diagonal, over, y);
    for (int pass = 0; pass < MOST_PASSES && off > TOLERANCE; pass++) {
        solve_tridiagonal(d->n, diagonal, over, y);
        correct(d, y, x);
        off = form_lengths(d, x, diagonal, over, y);
    }
    return off <= TOLERANCE;
}

// Turns the angles of q that are not held to where the energy is least.
static void rest_angles(const ss_der *d, double *q)
{
    double *diagonal = d->scratch + ss_der_dofs(d) + 4 * d->n, *over = diagonal + d->n;
    double *torque = over + d->n, most = INFINITY;
    const int first = ss_clamps_root(d->clamp) ? 1 : 0;
    const int end = ss_clamps_tip(d->clamp) ? d->n - 1 : d->n;
    for (int turn = 0; turn < MOST_TURNS && most > ANGLE; turn++) {
        ss_der_angles(d, q, torque, diagonal, over);
        // A rod that nothing holds may turn as a whole: the shift is far below any other stiffness.
        for (int j = first; j < end; j++) {
            diagonal[j] *= 1.0 + 1e-12;
        }
        solve_tridiagonal(end - first, diagonal + first, over + first, torque + first);
        most = 0.0;
        for (int j = first; j < end; j++) {
            q[SS_DER_STRIDE * j + 3] += torque[j];
            most = fmax(most, fabs(torque[j]));
        }
    }
}

// M += scale t t' along edge j.
static void couple(const double *q, int j, double scale, ss_band *M)
{
    const ss_vec3 t = tangent(q, j);
    const double by[3] = {t.x, t.y, t.z};
    const int at = SS_DER_STRIDE * j, next = at + SS_DER_STRIDE;
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 3; i++) {
            const double x = scale * by[i] * by[k];
            *ss_band_at(M, next + i, at + k) -= x;
            if (i >= k) {
                *ss_band_at(M, at + i, at + k) += x;
                *ss_band_at(M, next + i, next + k) += x;
            }
        }
    }
}

static void project(const void *strand, const double *q, double h, double *v, double *after,
                    ss_band *M)
{
    const ss_der *d = strand;
    const int nv = ss_der_dofs(d);
    ss_assert(h > 0.0 && M->n == nv);
    double *moved = d->scratch;
    memset(after, 0, (size_t)nv * sizeof *after);
    for (int k = 0; k < nv; k++) {
        moved[k] = q[k] + h * v[k];
    }
    if (!keep_lengths(d, moved)) {
        v[nv - 1] = NAN; // the step is rejected
        return;
    }
    for (int k = 0; k < nv; k++) {
        v[k] = k % SS_DER_STRIDE == 3 ? v[k] : (moved[k] - q[k]) / h;
    }
    // Free angles start from where they were.
    for (int j = 0; j < d->n; j++) {
        const bool held =
            (ss_clamps_root(d->clamp) && j == 0) || (ss_clamps_tip(d->clamp) && j == d->n - 1);
        v[SS_DER_STRIDE * j + 3] = held ? v[SS_DER_STRIDE * j + 3] : 0.0;
    }
    advance(d, q, v, h, moved);
    rest_angles(d, moved);
    for (int j = 0; j < d->n; j++) {
        const int th = SS_DER_STRIDE * j + 3;
        v[th] = (moved[th] - q[th]) / h;
    }
    const double mass = d->length * d->rigidity.line_density / (d->n + 1);
    for (int j = 0; j < d->n && d->inextensible; j++) {
        if (is_stiff(d, j)) {
            couple(moved, j, mass / COMPLIANCE, M);
        }
    }
}

// ---- The model

const ss_strand_model ss_der_model = {
    .name = "der",
    .summary = "discrete elastic rods: vertices and angles of twist, banded mass",
    .reference = "B08, B10",
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
    .energy = ss_der_energy,
    .force = ss_der_force,
    .stiffness = ss_der_stiffness,
    .lengths = ss_der_lengths,
    .damping = ss_der_damping,
    .inertia = inertia,
    .project = project,
    .balance = balance,
    .group = &ss_der_group,
};
