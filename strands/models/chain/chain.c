// The models tmf, pbd and dftl: what a chain is made of, and where it is. chain.h says what they
// do, chain_project.c does it.
//
// Chains have no elasticity but that of `bending`, which is no force but a correction of places:
// Young's modulus and internal damping of their material do not count.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "strands/models/chain/chain_batch.h"
#include "strands/models/chain/chain_strand.h"
#include "strands/models.h"
#include "strands/shape.h"

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

// ---- Making one

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
    c->w = calloc(n, (SS_CHAIN_NUMBERS + SS_CHAIN_SCRATCH) * sizeof *c->w);
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

// Masses in kg and lengths of arc for those vertices that have any; w against 1 / mean_mass.
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

// ---- What it is, and where

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

#define CHAIN                                                                                      \
    .reference = "HH13", .scheme = "linear", .frame = SS_FRAME_ROOT,                               \
    .settings_size = sizeof(settings), .make = make, .free = free_strand, .size = size,            \
    .start = start, .lumps = lumps, .advance = advance, .place = place,                            \
    .project = ss_chain_project, .batch = &ss_chain_batch

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
