// strands/models/chain.c -- the models tmf, pbd and dftl: a chain of a design, where it is, and its
// steps (chain.h).
//
// Vertices are n equal steps of arclength apart in the style, in the frame of the root; q holds the
// places of those that move and v their velocities. Rest lengths are the chords of the style, spans
// those of the natural shape. An attached root stands in its pose and has no dofs; a free one moves
// like the others. Masses:
//     equal   every vertex that moves has the same: [HH13]'s
//     nodal   half of each of its two segments; that of an attached root moves with the root
// so that the samples are all vertices, or those that move.
//
// Chains have no elasticity but that of `bending`, which is no force but a correction of places:
// Young's modulus and internal damping of their material do not count.
#include "strands/models/chain.h"

#include "base/assert.h"
#include "strands/shape.h"

#include <stdlib.h>

#define LANES 1
#include "strands/models/chain_kernel.h"

#define SCRATCH 8 // numbers a vertex, see room_of

// A chord shorter than this share of its arc has no direction to keep.
#define LEAST_CHORD 1e-6

enum { CONTACT_INEXTENSIBLE, CONTACT_PARTICLES };
enum { ROOT_DESIGN, ROOT_ATTACHED, ROOT_FREE };
enum { MASS_EQUAL, MASS_NODAL };

typedef struct settings {
    int kind; // of ss_chain_kind; no key sets it
    int iterations, sweeps;
    double bending, damping;
    int contact, root, mass;
} settings;

static const char *const CHAIN_NAMES[] = {"tmf", "pbd", "dftl"}; // of ss_chain_kind
static const char *const CONTACTS[] = {"inextensible", "particles", NULL};
static const char *const ROOTS[] = {"design", "attached", "free", NULL};
static const char *const MASSES[] = {"equal", "nodal", NULL};

#define SHARE(key) SS_REAL_KEY(#key, key, 0.0, 1.0)
#define COMMON_KEYS                                                                                \
    SHARE(bending), SS_INTEGER_KEY("sweeps", sweeps, 1, 1000),                                     \
        SS_CHOICE_KEY("contact", contact, CONTACTS), SS_CHOICE_KEY("mass", mass, MASSES)

static const ss_key ITERATED_KEYS[] = {SS_INTEGER_KEY("iterations", iterations, 1, 100000),
                                       COMMON_KEYS,
                                       SS_CHOICE_KEY("root", root, ROOTS),
                                       {.name = NULL}};

static const ss_key FOLLOWING_KEYS[] = {SHARE(damping), COMMON_KEYS, {.name = NULL}};

static const settings TMF = {.kind = SS_CHAIN_TMF, .iterations = 2, .sweeps = 8};
static const settings PBD = {.kind = SS_CHAIN_PBD, .iterations = 5, .sweeps = 8};
static const settings DFTL = {.kind = SS_CHAIN_DFTL, .iterations = 1, .sweeps = 8, .damping = 0.95};

// -- Making one

static void free_strand(void *strand)
{
    ss_chain *c = strand;
    if (c != NULL) {
        free(c->style);
        free(c->w);
        free(c);
    }
}

static bool allocate(ss_chain *c)
{
    const size_t n = (size_t)c->shape.n;
    c->style = calloc(n, sizeof *c->style);
    c->w = calloc(n, (SS_CHAIN_NUMBERS + SCRATCH) * sizeof *c->w);
    if (c->style == NULL || c->w == NULL) {
        return false;
    }
    c->mass = c->w + n;
    c->arc = c->mass + n;
    c->rest = c->arc + n;
    c->span = c->rest + n;
    c->scratch = c->span + n;
    c->shape.w = c->w;
    c->shape.rest = c->rest;
    c->shape.span = c->span;
    return true;
}

static double distance(const ss_vec3 *x, int i, int j)
{
    return ss_length(ss_minus(x[i], x[j]));
}

static ss_status take_shape(ss_chain *c, const ss_strand_design *d, ss_error *e)
{
    const int n = c->shape.n;
    ss_shape_vertices(d, SS_SHAPE_NATURAL, n, c->style);
    for (int i = 0; i + 2 < n; i++) {
        c->span[i] = distance(c->style, i, i + 2);
    }
    ss_shape_vertices(d, SS_SHAPE_START, n, c->style);
    for (int i = 0; i + 1 < n; i++) {
        c->rest[i] = distance(c->style, i, i + 1);
        if (!(c->rest[i] > LEAST_CHORD * ss_shape_length(d) / (n - 1))) {
            return ss_fail(e, SS_BAD_INPUT,
                           "vertices %d and %d of a chain are on one place in its style, so that "
                           "the segment between them has no length: use more segments, or less "
                           "curvature",
                           i, i + 1);
        }
    }
    return SS_OK;
}

// Finds masses in kg and lengths of arc of the vertices that have any, and w against 1 / mean_mass.
static void take_mass(ss_chain *c, const ss_strand_design *d, bool nodal)
{
    const int n = c->shape.n;
    const double density = ss_material_rigidity(&d->material).line_density;
    const double each = ss_shape_length(d) / (nodal ? n - 1 : n - c->first);
    c->sampled = nodal ? 0 : c->first;
    c->mean_mass = density * each;
    for (int i = c->sampled; i < n; i++) {
        c->arc[i] = nodal && (i == 0 || i == n - 1) ? 0.5 * each : each;
        c->mass[i] = density * c->arc[i];
    }
    for (int i = c->first; i < n; i++) {
        c->w[i] = each / c->arc[i];
    }
}

static ss_status make(const ss_strand_design *design, const void *settings_, void **strand,
                      ss_error *e)
{
    const settings *s = settings_;
    *strand = NULL;
    ss_status status = ss_strand_design_check(design, e);
    if (status == SS_OK) {
        status = ss_strand_design_check_tip(design, CHAIN_NAMES[s->kind], e);
    }
    if (status != SS_OK) {
        return status;
    }
    ss_chain *c = calloc(1, sizeof *c);
    if (c == NULL) {
        return ss_fail_memory(e, "a strand");
    }
    c->method = (ss_chain_method){.kind = (ss_chain_kind)s->kind,
                                  .iterations = s->iterations,
                                  .bending = s->bending,
                                  .sweeps = s->sweeps,
                                  .damping = s->damping};
    c->inextensible = s->contact == CONTACT_INEXTENSIBLE;
    const bool free_root =
        s->root == ROOT_DESIGN ? design->clamp == SS_CLAMP_NONE : s->root == ROOT_FREE;
    c->first = free_root ? 0 : 1;
    c->shape.n = ss_shape_segments(design) + 1;
    status = allocate(c) ? take_shape(c, design, e) : ss_fail_memory(e, "a strand");
    if (status != SS_OK) {
        free_strand(c);
        return status;
    }
    take_mass(c, design, s->mass == MASS_NODAL);
    *strand = c;
    return SS_OK;
}

// -- What it is, and where

static ss_strand_size size(const void *strand)
{
    const ss_chain *c = strand;
    const int n = c->shape.n, nv = 3 * (n - c->first), block = c->inextensible ? 6 : 3;
    return (ss_strand_size){.nq = nv,
                            .nv = nv,
                            .half_bandwidth = (nv < block ? nv : block) - 1,
                            .npoints = n,
                            .nsamples = n - c->sampled,
                            .width = 3};
}

static void start(void *strand, const ss_pose *root, double *q)
{
    const ss_chain *c = strand;
    (void)root; // q is of its frame
    for (int i = c->first; i < c->shape.n; i++, q += 3) {
        q[0] = c->style[i].x;
        q[1] = c->style[i].y;
        q[2] = c->style[i].z;
    }
}

static void lumps(const void *strand, double *mass, double *length)
{
    const ss_chain *c = strand;
    const size_t count = (size_t)(c->shape.n - c->sampled);
    memcpy(mass, c->mass + c->sampled, count * sizeof *mass);
    memcpy(length, c->arc + c->sampled, count * sizeof *length);
}

static void advance(const void *strand, const double *q, const double *v, double h, double *moved)
{
    const ss_chain *c = strand;
    for (int j = 0; j < 3 * (c->shape.n - c->first); j++) {
        moved[j] = q[j] + h * v[j];
    }
}

static void place_vertex(const ss_chain *c, const ss_pose *root, const double *q, int i,
                         ss_strand_point *point)
{
    if (i < c->first) {
        point->x = ss_pose_point(root, c->style[i]);
        point->first = point->count = 0;
        return;
    }
    const int j = 3 * (i - c->first);
    point->x = ss_pose_point(root, ss_vec(q[j], q[j + 1], q[j + 2]));
    point->first = j;
    point->count = 3;
    for (int k = 0; k < 3; k++) {
        point->J[k] = root->turn.c[k].x;
        point->J[3 + k] = root->turn.c[k].y;
        point->J[6 + k] = root->turn.c[k].z;
    }
}

static void place(const void *strand, const ss_pose *root, const double *q, ss_strand_point *points,
                  ss_strand_point *samples)
{
    const ss_chain *c = strand;
    for (int i = 0; i < c->shape.n; i++) {
        place_vertex(c, root, q, i, &points[i]);
        if (i >= c->sampled) {
            place_vertex(c, root, q, i, &samples[i - c->sampled]);
        }
    }
}

// ---- Steps of one chain
//
// A contact's impulse must not stretch the chain. In exact form M v = f + H r + G y with G' v
// given; solvers that know no constraints are handed
//
//     M = diag(m) + (m / COMPLIANCE) G G',   f = M v
//
// with v the outcome of the method and G at the places that v leads to, m the mean mass of a
// vertex: the chain of stiff springs along its edges that does what the method says where nothing
// touches it. As COMPLIANCE goes to 0, M^-1 goes to that of the exact form, W - W G S^-1 G' W
// (ss_chain_respond). Its error, against the mobility 1 / m of a vertex alone, is at most
// COMPLIANCE over the smallest eigenvalue of m S, which is (pi / 2n)^2 for a straight chain of n
// equal masses.

// 1e-5 off at 50 vertices. Smaller ones cost digits: the condition of M is the inverse.
#define COMPLIANCE 1e-8

static lane_room room_of(const ss_chain *c, lane3 **p)
{
    const size_t n = (size_t)c->shape.n;
    *p = (lane3 *)c->scratch;
    return (lane_room){.edge = *p + n, .y = c->scratch + 6 * n, .share = c->scratch + 7 * n};
}

// p = x + scale v; the attached root, which q does not hold, is where the style begins.
static void spread(const ss_chain *c, const double *x, double scale, const double *v, lane3 *p)
{
    p[0] = (lane3){c->style[0].x, c->style[0].y, c->style[0].z};
    for (int i = c->first; i < c->shape.n; i++) {
        const int j = 3 * (i - c->first);
        p[i] =
            (lane3){x[j] + scale * v[j], x[j + 1] + scale * v[j + 1], x[j + 2] + scale * v[j + 2]};
    }
}

// The block of M of vertices i >= j += scale a a'; of i = j its lower half.
static void add_block(const ss_chain *c, int i, int j, double scale, const double a[3], ss_band *M)
{
    for (int row = 0; row < 3; row++) {
        for (int column = 0; column < (i == j ? row + 1 : 3); column++) {
            *ss_band_at(M, 3 * (i - c->first) + row, 3 * (j - c->first) + column) +=
                scale * a[row] * a[column];
        }
    }
}

// M += scale G G'
static void couple(const ss_chain *c, const lane_room *room, double scale, ss_band *M)
{
    for (int i = 0; i + 1 < c->shape.n; i++) {
        const double edge[3] = {room->edge[i].x, room->edge[i].y, room->edge[i].z};
        add_block(c, i + 1, i + 1, scale, edge, M);
        if (i >= c->first) {
            add_block(c, i, i, scale, edge, M);
            add_block(c, i + 1, i, -scale, edge, M);
        }
    }
}

static bool all_finite(const double *x, int count)
{
    bool finite = true;
    for (int j = 0; j < count; j++) {
        finite = finite && isfinite(x[j]);
    }
    return finite;
}

static void project(const void *strand, const double *q, double h, double *v, double *after,
                    ss_band *M)
{
    const ss_chain *c = strand;
    const int n = c->shape.n, nv = 3 * (n - c->first);
    ss_assert(h > 0.0 && M->n == nv);
    lane3 *p;
    const lane_room room = room_of(c, &p);
    spread(c, q, h, v, p);
    lane_constrain(&c->method, &c->shape, &room, p);
    for (int i = c->first; i < n; i++) {
        const int j = 3 * (i - c->first);
        lane3 change = {0.0, 0.0, 0.0};
        lane_damp(&c->method, &c->shape, &room, h, i, &change);
        const double moved[3] = {p[i].x, p[i].y, p[i].z};
        const double changes[3] = {change.x, change.y, change.z};
        for (int k = 0; k < 3; k++) {
            v[j + k] = (moved[k] - q[j + k]) / h;
            after[j + k] = changes[k];
        }
    }
    if (c->inextensible && all_finite(v, nv)) {
        lane_edges(&c->shape, p, &room);
        couple(c, &room, c->mean_mass / COMPLIANCE, M);
    }
}

void ss_chain_respond(const void *strand, const double *q, double *x)
{
    const ss_chain *c = strand;
    const int n = c->shape.n;
    lane3 *p;
    const lane_room room = room_of(c, &p);
    spread(c, q, 0.0, q, p);
    lane_edges(&c->shape, p, &room);
    spread(c, x, 0.0, x, p);
    for (int i = 0; i < n; i++) {
        p[i] = lane3_scaled(c->shape.w[i] / c->mean_mass, p[i]);
    }
    for (int i = 0; i + 1 < n; i++) {
        room.y[i] = lane3_dot(room.edge[i], lane3_minus(p[i], p[i + 1]));
    }
    lane_solve(&c->shape, &room);
    lane_correct(&c->shape, &room, p);
    memcpy(x, p + c->first, (size_t)(n - c->first) * sizeof *p);
}

// ---- The models

#define CHAIN                                                                                      \
    .reference = "HH13", .scheme = "linear", .frame = SS_FRAME_ROOT,                               \
    .settings_size = sizeof(settings), .make = make, .free = free_strand, .size = size,            \
    .start = start, .lumps = lumps, .advance = advance, .place = place, .project = project,        \
    .batch = &ss_chain_batch

const ss_strand_model ss_chain_tmf = {
    .name = "tmf",
    .summary = "particles at fixed distances, by tridiagonal systems",
    .keys = ITERATED_KEYS,
    .defaults = &TMF,
    CHAIN,
};

const ss_strand_model ss_chain_pbd = {
    .name = "pbd",
    .summary = "particles at fixed distances, by position-based sweeps",
    .keys = ITERATED_KEYS,
    .defaults = &PBD,
    CHAIN,
};

const ss_strand_model ss_chain_dftl = {
    .name = "dftl",
    .summary = "particles that follow the one before, with artificial damping",
    .keys = FOLLOWING_KEYS,
    .defaults = &DFTL,
    CHAIN,
};
