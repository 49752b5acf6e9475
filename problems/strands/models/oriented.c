// oriented-strands: how a strand of links is made from a design, and its entry in the list of models
// (oriented_strand.h).
//
// Links are the edges between the vertices of the start, of one length in all shapes; their turns in the natural
// shape are those of its edges. A link has the mass of the length that it stands for, L, which is its share of
// the strand's, and its joint the springs of the halves that meet in it, of which a clamp has one:
//
//     K_b = 2/(L_p/(2 EI) + L/(2 EI)),   K_t likewise with GJ;   C = relaxation K/2
//
// Given vertices that are clamped keep their first edge where it is: the root joint is at its end, and stands for
// half of it too.
#include <stdlib.h>
#include <string.h>

#include "problems/strands/models/oriented_strand.h"
#include "problems/strands/shape.h"

// An edge below this share of the length that it spans is rounding: the strand closes between two vertices.
#define LEAST_EDGE 1e-9

enum { ROOT_DESIGN, ROOT_CLAMPED, ROOT_FREE };

typedef struct settings {
    int links, root;
} settings;

static const settings DEFAULTS = {0, ROOT_DESIGN};
static const char *const ROOTS[] = {"design", "clamped", "free", NULL};
static const ss_key KEYS[] = {
    {.name = "links",
     .kind = SS_KEY_INTEGER,
     .place = offsetof(settings, links),
     .low = 1,
     .high = 1024},
    {.name = "root", .kind = SS_KEY_CHOICE, .place = offsetof(settings, root), .choices = ROOTS},
    {.name = NULL},
};

static void oriented_free(void *strand)
{
    ss_oriented_strand *s = strand;
    if (s != NULL) {
        ss_oriented_free(s->tree);
        free(s->memory);
        free(s);
    }
}

// ---- From a design

// The edges of a design, [n] with n + 1 vertices, and what they become.
typedef struct plan {
    int n, first; // edges; those of them that a clamp holds, 0 or 1
    ss_vec3 *x;   // [n + 1]
    ss_mat3 *frame;
    ss_quat *turn[2]; // [n] of the frames (n2, n0, n1) of start and natural shape
    double *length;   // [n] m
    double sum;       // m
    ss_oriented_link *link;
    void *memory;
} plan;

static bool plan_allocate(plan *p, int n)
{
    const size_t count = (size_t)n;
    const size_t each =
        sizeof *p->frame + 2 * sizeof(ss_quat) + sizeof *p->length + sizeof *p->link;
    *p = (plan){.n = n, .memory = calloc(1, (count + 1) * sizeof *p->x + count * each)};
    if (p->memory == NULL) {
        return false;
    }
    p->x = p->memory;
    p->frame = (ss_mat3 *)(p->x + count + 1);
    p->turn[0] = (ss_quat *)(p->frame + count);
    p->turn[1] = p->turn[0] + count;
    p->length = (double *)(p->turn[1] + count);
    p->link = (ss_oriented_link *)(p->length + count);
    return true;
}

// Lengths are those of the start, which is taken last.
static void take_shape(plan *p, const ss_strand_design *design, ss_shape which, ss_quat *turn)
{
    ss_shape_vertices(design, which, p->n + 1, p->x);
    ss_shape_frames(design, which, p->n + 1, p->x, p->frame);
    p->sum = 0.0;
    for (int j = 0; j < p->n; j++) {
        const ss_mat3 *F = &p->frame[j]; // tangent, n1, n2
        const ss_mat3 R = {{F->c[2], F->c[0], F->c[1]}};
        turn[j] = ss_quat_of_matrix(&R);
        p->length[j] = ss_length(ss_minus(p->x[j + 1], p->x[j]));
        p->sum += p->length[j];
    }
}

// The frame of the base that frame 0 turns from: of the held edge, or of the root.
static ss_quat before(const plan *p, const ss_quat *turn, int j)
{
    const ss_mat3 root = {{ss_vec(0.0, 0.0, 1.0), ss_vec(1.0, 0.0, 0.0), ss_vec(0.0, 1.0, 0.0)}};
    (void)p;
    return j > 0 ? turn[j - 1] : ss_quat_of_matrix(&root);
}

static ss_quat relative(const plan *p, const ss_quat *turn, int j)
{
    return ss_quat_unit(ss_quat_product(ss_quat_conjugate(before(p, turn, j)), turn[j]));
}

// The link of edge j of a strand of this length.
static ss_oriented_link link_of(const plan *p, const ss_strand_design *design, double length, int j)
{
    const ss_material *m = &design->material;
    const ss_rigidity r = ss_material_rigidity(m);
    const double stands = length * p->length[j] / p->sum;
    const double above = j > 0 ? length * p->length[j - 1] / p->sum : 0.0;
    const double mass = r.line_density * stands, l = p->length[j];
    ss_oriented_link link = {.parent = j - p->first - 1,
                             .length = l,
                             .mass = mass,
                             .across = mass * l * l / 12.0,
                             .spin = mass * m->radius * m->radius / 2.0,
                             .bend = 4.0 * r.bend1 / (above + stands),
                             .twist = 4.0 * r.twist / (above + stands),
                             .rest = relative(p, p->turn[1], j)};
    if (j > p->first) {
        link.joint = ss_vec(0.0, p->length[j - 1], 0.0);
    }
    link.bend_damping = 0.5 * m->relaxation * link.bend;
    link.twist_damping = 0.5 * m->relaxation * link.twist;
    return link;
}

// ---- The strand

static bool strand_allocate(ss_oriented_strand *s, int n)
{
    const size_t count = (size_t)n;
    const size_t numbers = count * (2 * sizeof(ss_quat) + sizeof(double));
    s->memory = calloc(1, numbers + (count + 2) * sizeof(int));
    if (s->memory == NULL) {
        return false;
    }
    s->style = s->memory;
    s->more = s->style + count;
    s->share = (double *)(s->more + count);
    s->tip = (int *)(s->share + count);
    return true;
}

static void fill_strand(ss_oriented_strand *s, const plan *p)
{
    const int n = p->n - p->first;
    for (int j = 0; j < n; j++) {
        const int edge = j + p->first;
        s->style[j] = relative(p, p->turn[0], edge);
        s->more[j] = ss_quat_product(ss_quat_conjugate(s->style[j]), p->link[edge].rest);
        s->share[j] = p->length[edge] / p->sum;
    }
    if (p->first > 0) {
        s->held = p->length[0] / p->sum;
        s->tip[s->npoints++] = SS_ORIENTED_HELD;
    }
    for (int j = SS_ORIENTED_BASE; j < n; j++) {
        s->tip[s->npoints++] = j;
    }
    const ss_quat base = before(p, p->turn[0], p->first);
    s->held_from = p->x[0];
    s->home = (ss_pose){ss_quat_matrix(base), p->x[p->first]};
}

// Whether all edges have a length.
static bool has_lengths(const plan *p)
{
    bool sound = isfinite(p->sum);
    for (int j = 0; j < p->n; j++) {
        sound = sound && p->length[j] > LEAST_EDGE * p->sum / p->n;
    }
    return sound;
}

static ss_status fill(ss_oriented_strand *s, plan *p, const ss_strand_design *design, bool floats,
                      ss_error *e)
{
    take_shape(p, design, SS_SHAPE_NATURAL, p->turn[1]);
    take_shape(p, design, SS_SHAPE_START, p->turn[0]);
    if (!has_lengths(p)) {
        return ss_fail(e, SS_BAD_INPUT,
                       "a strand of %d links closes between the ends of one: take more links",
                       p->n);
    }
    s->length = ss_shape_natural_length(design);
    s->line_density = ss_material_rigidity(&design->material).line_density;
    for (int j = 0; j < p->n; j++) {
        p->link[j] = link_of(p, design, s->length, j);
    }
    if (floats) { // its first joint is only a way to say how it is turned
        p->link[0].bend = p->link[0].twist = 0.0;
        p->link[0].bend_damping = p->link[0].twist_damping = 0.0;
    }
    const int n = p->n - p->first;
    s->width = 3 * n + (floats ? 3 : 0);
    if (!strand_allocate(s, n)) {
        return ss_fail_memory(e, "a strand");
    }
    fill_strand(s, p);
    return ss_oriented_new(n, p->link + p->first, floats, &s->tree, e);
}

static ss_status check_design(const ss_strand_design *design, ss_error *e)
{
    if (design->material.ellipticity != 1.0) {
        return ss_fail(e, SS_BAD_INPUT,
                       "a strand of the model oriented-strands has a round section, not one of "
                       "ellipticity %g; take the model der",
                       design->material.ellipticity);
    }
    return ss_strand_design_check_tip(design, "oriented-strands", e);
}

static ss_status oriented_make(const ss_strand_design *design, const void *settings_, void **strand,
                               ss_error *e)
{
    const settings *set = settings_;
    *strand = NULL;
    ss_status status = ss_strand_design_check(design, e);
    const int n = set->links > 0 ? set->links : ss_shape_segments(design);
    status = status == SS_OK ? check_design(design, e) : status;
    if (status != SS_OK) {
        return status;
    }
    const bool floats =
        set->root == ROOT_DESIGN ? design->clamp == SS_CLAMP_NONE : set->root == ROOT_FREE;
    ss_oriented_strand *s = calloc(1, sizeof *s);
    plan p = {0};
    if (s == NULL || !plan_allocate(&p, n)) {
        status = ss_fail_memory(e, "a strand");
    } else {
        p.first = design->nvertices > 0 && !floats ? 1 : 0;
        status = fill(s, &p, design, floats, e);
    }
    free(p.memory);
    if (status != SS_OK) {
        oriented_free(s);
        return status;
    }
    *strand = s;
    return SS_OK;
}

static ss_strand_size oriented_size(const void *strand)
{
    const ss_oriented_strand *s = strand;
    const int nv = ss_oriented_nv(s->tree);
    return (ss_strand_size){.nq = ss_oriented_nq(s->tree),
                            .nv = nv,
                            .half_bandwidth = nv - 1,
                            .npoints = s->npoints,
                            .nsamples = 2 * s->tree->n + (s->held > 0.0),
                            .width = s->width,
                            .branch = s->branch};
}

const ss_strand_model ss_oriented_strands = {
    .name = "oriented-strands",
    .summary = "rigid links with ball joints, inextensible, dense mass",
    .reference = "H06",
    .keys = KEYS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .scheme = "newton",
    .kind = SS_STIFFNESS_FILTERED,
    .frame = SS_FRAME_ROOT,
    .make = oriented_make,
    .free = oriented_free,
    .size = oriented_size,
    .start = ss_oriented_start,
    .lumps = ss_oriented_lumps,
    .advance = ss_oriented_advance,
    .difference = ss_oriented_difference,
    .place = ss_oriented_put,
    .convect = ss_oriented_convect,
    .energy = ss_oriented_energy,
    .force = ss_oriented_force,
    .stiffness = ss_oriented_stiffness,
    .damping = ss_oriented_damping,
    .inertia = ss_oriented_inertia,
    .mass = ss_oriented_whole_mass,
    .balance = ss_oriented_balance,
};
