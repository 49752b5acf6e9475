// oriented-strands: how a strand of links is made from a design, and its entry in the list of models
// (oriented_strand.h).
//
// Links are the edges between the vertices of the start, of one length in all shapes; their turns in the natural
// shape are those of its edges. A link has the mass of the length that it stands for, L, which is its share of
// the strand's, and its joint the springs of the halves that meet in it, of which a clamp has one:
//
//     K_b = 2/(L_p/(2 EI_p) + L/(2 EI)),   K_t likewise with GJ;   C = relaxation K/2
//
// K_x with E I2 and K_z with E I1 where the section is an ellipse.
//
// Given vertices of a strand that does not branch keep their first edge where it is if they are clamped: the root
// joint is at its end, and stands for half of it too.
#include <stdlib.h>
#include <string.h>

#include "strands/models/oriented/oriented_strand.h"
#include "strands/shape.h"

// An edge below this share of the length that it spans is rounding: the strand closes between two vertices.
#define LEAST_EDGE 1e-9

enum { ROOT_DESIGN, ROOT_CLAMPED, ROOT_FREE };

typedef struct settings {
    int links, root;
} settings;

static const settings DEFAULTS = {0, ROOT_DESIGN};
static const char *const ROOTS[] = {"design", "clamped", "free", NULL};
static const ss_key KEYS[] = {
    SS_INTEGER_KEY("links", links, 1, 1024),
    SS_CHOICE_KEY("root", root, ROOTS),
    {.name = NULL},
};

static void oriented_free(void *strand)
{
    ss_oriented_strand *s = strand;
    if (s != NULL) {
        ss_oriented_free(s->tree);
        free(s->dofs);
        free(s->memory);
        free(s);
    }
}

// ---- From a design

// The edges of a design, [n] with n + 1 vertices, and what they become.
typedef struct plan {
    int n, first; // edges; those of them that a clamp holds, 0 or 1
    const ss_strand_design *design;
    ss_vec3 *x;       // [n + 1]
    ss_mat3 *frame;   // [n]
    ss_quat *turn[2]; // [n] of the frames (n2, n0, n1) of start and natural shape
    double *length;   // [n] m
    double sum;       // m
    double stands;    // m of strand that a metre of links stands for
    ss_oriented_link *link;
    void *memory;
} plan;

static bool plan_allocate(plan *p, int n)
{
    const size_t count = (size_t)n;
    const size_t each =
        sizeof *p->frame + 2 * sizeof(ss_quat) + sizeof *p->length + sizeof *p->link;
    p->n = n;
    p->memory = calloc(1, (count + 1) * sizeof *p->x + count * each);
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

// The edge from whose end edge j goes on, or -1.
static int above(const plan *p, int j)
{
    return ss_design_before(p->design, j + 1) - 1;
}

// Lengths are those of the start, which is taken last.
static void take_shape(plan *p, ss_shape which, ss_quat *turn)
{
    ss_shape_vertices(p->design, which, p->n + 1, p->x);
    ss_shape_frames(p->design, which, p->n + 1, p->x, p->frame);
    p->sum = 0.0;
    for (int j = 0; j < p->n; j++) {
        const ss_mat3 *F = &p->frame[j]; // tangent, n1, n2
        const ss_mat3 R = {{F->c[2], F->c[0], F->c[1]}};
        turn[j] = ss_quat_of_matrix(&R);
        p->length[j] = ss_length(ss_minus(p->x[j + 1], p->x[above(p, j) + 1]));
        p->sum += p->length[j];
    }
}

// The frame from which that of an edge turns: of the edge above, or of the root.
static ss_quat frame_above(const plan *p, const ss_quat *turn, int j)
{
    const ss_mat3 root = {{ss_vec(0.0, 0.0, 1.0), ss_vec(1.0, 0.0, 0.0), ss_vec(0.0, 1.0, 0.0)}};
    return above(p, j) >= 0 ? turn[above(p, j)] : ss_quat_of_matrix(&root);
}

static ss_quat relative(const plan *p, const ss_quat *turn, int j)
{
    return ss_quat_unit(ss_quat_product(ss_quat_conjugate(frame_above(p, turn, j)), turn[j]));
}

static ss_strand_part part_of(const plan *p, int j)
{
    const ss_strand_design *d = p->design;
    const ss_strand_part one = {1.0, 1.0, 1.0, 1.0, 1.0};
    return d->nparts > 0 ? d->parts[(long)(2 * j + 1) * d->nparts / (2 * p->n)] : one;
}

// What edge j is made of, and what follows from it.
static ss_rigidity rigidity_of(const plan *p, int j, ss_material *m)
{
    const ss_strand_part part = part_of(p, j);
    *m = p->design->material;
    m->radius *= part.radius;
    m->relaxation *= part.relaxation;
    ss_rigidity r = ss_material_rigidity(m);
    r.line_density *= part.mass;
    r.spin_inertia *= part.mass;
    r.bend1 *= part.bend;
    r.bend2 *= part.bend;
    r.twist *= part.twist;
    return r;
}

// What a half of a link of length L yields to a moment: about x, which is n2, y, and z, which is n1.
static ss_vec3 yielding(const ss_rigidity *r, double L)
{
    return ss_vec(L / (4.0 * r->bend2), L / (4.0 * r->twist), L / (4.0 * r->bend1));
}

// The link of edge j; its joint stands for halves in series, of the edge above too.
static ss_oriented_link link_of(const plan *p, int j)
{
    ss_material m, other;
    const ss_rigidity r = rigidity_of(p, j, &m);
    const double l = p->length[j], L = p->stands * l, mass = r.line_density * L;
    const int up = above(p, j), parent = up - p->first;
    ss_vec3 yields = yielding(&r, L);
    ss_oriented_link link = {.parent = parent >= 0 ? parent : SS_ORIENTED_BASE,
                             .length = l,
                             .mass = mass,
                             .across = mass * l * l / 12.0,
                             .spin = r.spin_inertia * L,
                             .rest = relative(p, p->turn[1], j)};
    if (up >= 0) {
        const ss_rigidity before = rigidity_of(p, up, &other);
        yields = ss_plus(yields, yielding(&before, p->stands * p->length[up]));
    }
    if (parent >= 0) {
        link.joint = ss_vec(0.0, p->length[up], 0.0);
    }
    link.spring = ss_vec(1.0 / yields.x, 1.0 / yields.y, 1.0 / yields.z);
    link.damping = ss_scaled(0.5 * m.relaxation, link.spring);
    return link;
}

// ---- The strand

// Room for twice as many points as links, of which the first of each branch is one.
static bool strand_allocate(ss_oriented_strand *s, int n)
{
    const size_t count = (size_t)n, points = 2 * count + 2;
    const size_t numbers = count * (2 * sizeof(ss_quat) + sizeof(double));
    s->memory = calloc(1, numbers + (2 * points + count + 1) * sizeof(int));
    if (s->memory == NULL) {
        return false;
    }
    s->style = s->memory;
    s->more = s->style + count;
    s->share = (double *)(s->more + count);
    s->tip = (int *)(s->share + count);
    s->branch = s->tip + points;
    s->first_child = s->branch + points + 1;
    return true;
}

static void fill_shapes(ss_oriented_strand *s, const plan *p)
{
    const int n = p->n - p->first;
    for (int j = 0; j < n; j++) {
        const int edge = j + p->first;
        s->style[j] = relative(p, p->turn[0], edge);
        s->more[j] = ss_quat_product(ss_quat_conjugate(s->style[j]), p->link[edge].rest);
        s->share[j] = p->length[edge] / p->sum;
    }
    for (int j = 0; j < p->n; j++) {
        s->mass += p->link[j].mass;
    }
    if (p->first > 0) {
        s->held = p->length[0] / p->sum;
        s->held_mass = p->link[0].mass;
    }
    s->held_from = p->x[0];
    s->home = (ss_pose){ss_quat_matrix(frame_above(p, p->turn[0], p->first)), p->x[p->first]};
}

static void add_point(ss_oriented_strand *s, int tip, int branch)
{
    s->tip[s->npoints] = tip;
    s->branch[s->npoints++] = branch;
}

// The points from link j on, always to the first link that hangs from the last.
static void add_line(ss_oriented_strand *s, int j)
{
    for (; j >= 0; j = s->first_child[j]) {
        add_point(s, j, -1);
    }
}

// The first of the points that is the tip of this link (or at the base).
static int point_of(const ss_oriented_strand *s, int link)
{
    int i = 0;
    while (s->tip[i] != link) {
        i++;
    }
    return i;
}

// One polyline, and another for each link that is not the first to hang from its parent.
static void add_lines(ss_oriented_strand *s)
{
    const ss_oriented *tree = s->tree;
    for (int j = SS_ORIENTED_BASE; j < tree->n; j++) {
        s->first_child[j] = -1;
    }
    for (int j = tree->n - 1; j >= 0; j--) {
        s->first_child[tree->link[j].parent] = j;
    }
    if (s->held > 0.0) {
        add_point(s, SS_ORIENTED_HELD, -1);
    }
    add_point(s, SS_ORIENTED_BASE, -1);
    add_line(s, 0);
    for (int j = 1; j < tree->n; j++) {
        const int parent = tree->link[j].parent;
        if (s->first_child[parent] != j) {
            s->branches = true;
            add_point(s, parent, point_of(s, parent));
            add_line(s, j);
        }
    }
}

// The dofs of the paths from the base, where these are no ranges.
static ss_status fill_dofs(ss_oriented_strand *s, ss_error *e)
{
    const ss_oriented *tree = s->tree;
    const int own = tree->floats ? 3 : 0;
    size_t count = 0;
    for (int j = 0; j < tree->n; j++) {
        const int width = own + 3 * tree->depth[j];
        s->width = width > s->width ? width : s->width;
        count += (size_t)width;
    }
    if (!s->branches) {
        return SS_OK;
    }
    s->dofs = malloc((count + (size_t)tree->n) * sizeof *s->dofs);
    if (s->dofs == NULL) {
        return ss_fail_memory(e, "a strand");
    }
    s->dofs_from = s->dofs + count;
    for (int j = 0, at = 0; j < tree->n; j++) {
        s->dofs_from[j] = at;
        for (int k = 0; k < own; k++) {
            s->dofs[at++] = k;
        }
        for (int i = 0; i < 3 * tree->depth[j]; i++) {
            s->dofs[at++] = ss_oriented_rate_at(tree, tree->path[tree->begin[j] + i / 3]) + i % 3;
        }
    }
    return SS_OK;
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

static ss_status fill(ss_oriented_strand *s, plan *p, bool floats, ss_error *e)
{
    take_shape(p, SS_SHAPE_NATURAL, p->turn[1]);
    take_shape(p, SS_SHAPE_START, p->turn[0]);
    if (!has_lengths(p)) {
        return ss_fail(e, SS_BAD_INPUT,
                       "a strand of %d links closes between the ends of one: take more links",
                       p->n);
    }
    s->length = ss_shape_natural_length(p->design);
    p->stands = s->length / p->sum;
    for (int j = 0; j < p->n; j++) {
        p->link[j] = link_of(p, j);
    }
    if (floats) { // its first joint is only a way to say how it is turned
        p->link[0].spring = p->link[0].damping = ss_vec(0.0, 0.0, 0.0);
    }
    const int n = p->n - p->first;
    if (n < 1) {
        return ss_fail(e, SS_BAD_INPUT,
                       "a strand of %d link whose clamped root holds the first has none that "
                       "moves: take more links",
                       p->n);
    }
    if (!strand_allocate(s, n)) {
        return ss_fail_memory(e, "a strand");
    }
    fill_shapes(s, p);
    ss_status status = ss_oriented_new(n, p->link + p->first, floats, &s->tree, e);
    if (status == SS_OK) {
        add_lines(s);
        status = fill_dofs(s, e);
    }
    return status;
}

// The shape of a tree is that of its own vertices.
static ss_status count_links(const ss_strand_design *d, const settings *set, int *n, ss_error *e)
{
    *n = set->links > 0 ? set->links : ss_shape_segments(d);
    if (d->parent == NULL) {
        return SS_OK;
    }
    if (set->links > 0 && set->links != d->nvertices - 1) {
        return ss_fail(e, SS_BAD_INPUT,
                       "a strand that branches has a link per edge, %d: leave links=%d away",
                       d->nvertices - 1, set->links);
    }
    *n = d->nvertices - 1;
    return SS_OK;
}

static ss_status oriented_make(const ss_strand_design *design, const void *settings_, void **strand,
                               ss_error *e)
{
    const settings *set = settings_;
    *strand = NULL;
    int n = 0;
    ss_status status = ss_strand_design_check_varied(design, e);
    status = status == SS_OK ? ss_strand_design_check_tip(design, "oriented-strands", e) : status;
    status = status == SS_OK ? count_links(design, set, &n, e) : status;
    if (status != SS_OK) {
        return status;
    }
    const bool floats =
        set->root == ROOT_DESIGN ? design->clamp == SS_CLAMP_NONE : set->root == ROOT_FREE;
    ss_oriented_strand *s = calloc(1, sizeof *s);
    plan p = {.design = design,
              .first = design->nvertices > 0 && design->parent == NULL && !floats ? 1 : 0};
    if (s == NULL || !plan_allocate(&p, n)) {
        status = ss_fail_memory(e, "a strand");
    } else {
        status = fill(s, &p, floats, e);
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
                            .branch = s->branches ? s->branch : NULL};
}

const ss_strand_model ss_oriented_strands = {
    .name = "oriented-strands",
    .summary = "rigid links with ball joints, inextensible, dense mass",
    .reference = "H06",
    .keys = KEYS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .scheme = "linear",
    .kind = SS_STIFFNESS_FILTERED,
    .frame = SS_FRAME_ROOT,
    .make = oriented_make,
    .free = oriented_free,
    .size = oriented_size,
    .start = ss_oriented_start,
    .lumps = ss_oriented_lumps,
    .advance = ss_oriented_advance,
    .difference = ss_oriented_difference,
    .rate = ss_oriented_rate,
    .unrate = ss_oriented_unrate,
    .place = ss_oriented_put,
    .convect = ss_oriented_convect,
    .energy = ss_oriented_energy,
    .force = ss_oriented_force,
    .stiffness = ss_oriented_stiffness,
    .damping = ss_oriented_damping,
    .inertia = ss_oriented_inertia,
    .mass = ss_oriented_whole_mass,
    .limits = ss_oriented_limits,
    .residual = ss_oriented_equation,
    .balance = ss_oriented_balance,
};
