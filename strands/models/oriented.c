// strands/models/oriented.c -- oriented-strands: rigid links with ball joints as a strand [H06]
// (oriented.h).
//
// The polyline is the joints and tips of the links, after the edge that a clamp holds of given
// vertices; the polyline of a tree that branches goes on at each branch. Samples are two points of
// half the mass a link, l/2 +- l/(2 sqrt 3) from its joint, which have its mass, its centre and its
// inertia m l^2/12; the spin is `inertia`.
//
// Links are the edges between the vertices of the start, of one length in all shapes; their turns
// in the natural shape are those of its edges. A link has the mass of the length that it stands
// for, L, which is its share of the strand's, and its joint the springs of the halves that meet in
// it, of which a clamp has one:
//
//     K_b = 2/(L_p/(2 EI_p) + L/(2 EI)),   K_t likewise with GJ;   C = relaxation K/2
//
// K_x with E I2 and K_z with E I1 where the section is an ellipse.
//
// Given vertices of a strand that does not branch keep their first edge where it is if they are
// clamped: the root joint is at its end, and stands for half of it too.
#include "strands/models/oriented.h"

#include "base/assert.h"
#include "strands/shape.h"
#include "strands/world.h"

#include <stdlib.h>
#include <string.h>

// The samples of a link are at these shares of its length: 1/2 -+ 1/(2 sqrt 3).
static const double SAMPLE_AT[2] = {0.5 - 0.28867513459481288, 0.5 + 0.28867513459481288};

static bool holds(const ss_oriented_strand *s)
{
    return s->held > 0.0;
}

// ---- The links of a design

// An edge below this share of the length that it spans is rounding: the strand closes between two
// vertices.
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

static void free_strand(void *strand)
{
    ss_oriented_strand *s = strand;
    if (s != NULL) {
        ss_oriented_free(s->tree);
        free(s->dofs);
        free(s->memory);
        free(s);
    }
}

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

// Returns the edge from whose end edge j goes on, or -1.
static int above(const plan *p, int j)
{
    return ss_design_before(p->design, j + 1) - 1;
}

// Takes lengths and turns of a shape; lengths stay those of the start, which is taken last.
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

// Returns the frame from which that of an edge turns: of the edge above, or of the root.
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

// Finds what edge j is made of, and what follows from it.
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

// Returns what a half of a link of length L yields to a moment about x, which is n2, y, and z,
// which is n1.
static ss_vec3 yielding(const ss_rigidity *r, double L)
{
    return ss_vec(L / (4.0 * r->bend2), L / (4.0 * r->twist), L / (4.0 * r->bend1));
}

// Makes the link of edge j; its joint stands for halves in series, of the edge above too.
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

// Makes room for twice as many points as links, of which the first of each branch is one.
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

// Adds the points from link j on, always to the first link that hangs from the last.
static void add_line(ss_oriented_strand *s, int j)
{
    for (; j >= 0; j = s->first_child[j]) {
        add_point(s, j, -1);
    }
}

// Returns the first of the points that is the tip of this link (or at the base).
static int point_of(const ss_oriented_strand *s, int link)
{
    int i = 0;
    while (s->tip[i] != link) {
        i++;
    }
    return i;
}

// Adds one polyline, and another for each link that is not the first to hang from its parent.
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

// Lists the dofs of the paths from the base, where these are no ranges.
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

// True if all edges have a length.
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

// Counts the links; the shape of a tree is that of its own vertices.
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

static ss_status make(const ss_strand_design *design, const void *settings_, void **strand,
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
        free_strand(s);
        return status;
    }
    *strand = s;
    return SS_OK;
}

static ss_strand_size size(const void *strand)
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

// ---- Motion

static void start(void *strand, const ss_pose *root, double *q)
{
    const ss_oriented_strand *s = strand;
    (void)root; // q is of its frame
    q[0] = q[1] = q[2] = 0.0;
    for (int j = 0; j < s->tree->n; j++) {
        ss_quat_write(s->style[j], q + ss_oriented_turn_at(s->tree, j));
    }
}

static void lumps(const void *strand, double *mass, double *length)
{
    const ss_oriented_strand *s = strand;
    const int first = holds(s) ? 1 : 0;
    length[0] = s->held * s->length;
    mass[0] = s->held_mass;
    for (int k = 0; k < 2 * s->tree->n; k++) {
        length[first + k] = 0.5 * s->share[k / 2] * s->length;
        mass[first + k] = 0.5 * s->tree->link[k / 2].mass;
    }
}

static void advance(const void *strand, const double *q, const double *v, double h, double *moved)
{
    const ss_oriented *tree = ((const ss_oriented_strand *)strand)->tree;
    for (int k = 0; k < 3 && tree->floats; k++) {
        moved[k] = q[k] + h * v[k];
    }
    for (int j = 0; j < tree->n; j++) {
        const int at = ss_oriented_turn_at(tree, j);
        const ss_quat by = ss_quat_exp(ss_scaled(h, ss_vec_read(v + ss_oriented_rate_at(tree, j))));
        ss_quat_write(ss_quat_unit(ss_quat_product(ss_quat_read(q + at), by)), moved + at);
    }
}

static void difference(const void *strand, const double *q0, const double *q1, double h, double *v)
{
    const ss_oriented *tree = ((const ss_oriented_strand *)strand)->tree;
    for (int k = 0; k < 3 && tree->floats; k++) {
        v[k] = (q1[k] - q0[k]) / h;
    }
    for (int j = 0; j < tree->n; j++) {
        const int at = ss_oriented_turn_at(tree, j), rate = ss_oriented_rate_at(tree, j);
        const ss_quat turn =
            ss_quat_product(ss_quat_conjugate(ss_quat_read(q0 + at)), ss_quat_read(q1 + at));
        const ss_vec3 w = ss_scaled(1.0 / h, ss_quat_log(turn));
        v[rate] = w.x;
        v[rate + 1] = w.y;
        v[rate + 2] = w.z;
    }
}

// ---- Places and their Jacobians
//
// A unit of w_i about axis e of link i moves a point x beyond its joint by R_i e x (x - x_i).
// Places are taken from the base: far from the world's origin that difference would lose digits.

static void put_column(ss_strand_point *p, int column, ss_vec3 x)
{
    p->J[column] = x.x;
    p->J[p->count + column] = x.y;
    p->J[2 * p->count + column] = x.z;
}

// Puts a point that no dof moves but the place of a tree that floats, at x from the origin of the
// base.
static void put_fixed(const ss_oriented_strand *s, ss_vec3 x, bool carried, ss_strand_point *p)
{
    const ss_oriented *tree = s->tree;
    p->x = x;
    p->first = 0;
    p->dofs = NULL;
    p->count = tree->floats && carried ? 3 : 0;
    for (int k = 0; k < p->count; k++) {
        put_column(p, k, tree->motion[SS_ORIENTED_BASE].turn.c[k]);
    }
}

// Puts the point of link j at y = `along`.
static void put_point(const ss_oriented_strand *s, int j, double along, ss_strand_point *p)
{
    const ss_oriented *tree = s->tree;
    const ss_oriented_motion *own = &tree->motion[j];
    const int first = tree->floats ? 3 : 0, depth = tree->depth[j];
    put_fixed(s, ss_along(own->joint, along, own->turn.c[1]), false, p);
    p->count = first + 3 * depth;
    p->dofs = s->dofs != NULL ? s->dofs + s->dofs_from[j] : NULL;
    for (int k = 0; k < first; k++) {
        put_column(p, k, tree->motion[SS_ORIENTED_BASE].turn.c[k]);
    }
    const int *path = tree->path + tree->begin[j];
    for (int above = 0; above + 1 < depth; above++) {
        const ss_oriented_motion *m = &tree->motion[path[above]];
        const ss_vec3 way = ss_minus(p->x, m->joint);
        for (int k = 0; k < 3; k++) {
            put_column(p, first + 3 * above + k, ss_cross(m->turn.c[k], way));
        }
    }
    // Its own joint moves it exactly not at all about y.
    const int column = first + 3 * (depth - 1);
    put_column(p, column, ss_scaled(along, own->turn.c[2]));
    put_column(p, column + 1, ss_vec(0.0, 0.0, 0.0));
    put_column(p, column + 2, ss_scaled(-along, own->turn.c[0]));
}

// Places the tree at the turn of its base, but at the origin. Returns where its base stands.
static ss_vec3 place_tree(const ss_oriented_strand *s, const ss_pose *root, const double *q)
{
    const ss_pose base = ss_pose_product(root, &s->home);
    const ss_pose turned = {base.turn, ss_vec(0.0, 0.0, 0.0)};
    ss_oriented_place(s->tree, &turned, q);
    return base.place;
}

static void place(const void *strand, const ss_pose *root, const double *q, ss_strand_point *points,
                  ss_strand_point *samples)
{
    const ss_oriented_strand *s = strand;
    const ss_oriented *tree = s->tree;
    const ss_vec3 origin = place_tree(s, root, q);
    const ss_vec3 held = ss_minus(ss_pose_point(root, s->held_from), origin);
    const int first = holds(s) ? 1 : 0;
    for (int i = 0; i < s->npoints; i++) {
        const int tip = s->tip[i];
        if (tip >= 0) {
            put_point(s, tip, tree->link[tip].length, &points[i]);
        } else {
            const ss_vec3 joint = tree->motion[SS_ORIENTED_BASE].joint;
            put_fixed(s, tip == SS_ORIENTED_HELD ? held : joint, true, &points[i]);
        }
        points[i].x = ss_plus(points[i].x, origin);
    }
    if (holds(s)) {
        put_fixed(s, ss_scaled(0.5, held), true, &samples[0]);
        samples[0].x = ss_plus(samples[0].x, origin);
    }
    for (int k = 0; k < 2 * tree->n; k++) {
        ss_strand_point *sample = &samples[first + k];
        put_point(s, k / 2, SAMPLE_AT[k % 2] * tree->link[k / 2].length, sample);
        sample->x = ss_plus(sample->x, origin);
    }
}

// (dJ/dt) v is the acceleration of the sample where v stays constant.
static void convect(const void *strand, const ss_pose *root, const double *q, const double *v,
                    ss_vec3 *a)
{
    const ss_oriented_strand *s = strand;
    const ss_oriented *tree = s->tree;
    const ss_oriented_base base = {.pose = ss_pose_product(root, &s->home)};
    const int first = holds(s) ? 1 : 0;
    ss_oriented_move(tree, &base, q, v, NULL);
    a[0] = ss_vec(0.0, 0.0, 0.0);
    for (int k = 0; k < 2 * tree->n; k++) {
        const ss_oriented_motion *m = &tree->motion[k / 2];
        const ss_vec3 c = ss_scaled(SAMPLE_AT[k % 2] * tree->link[k / 2].length, m->turn.c[1]);
        const ss_vec3 about =
            ss_plus(ss_cross(m->spin_rate, c), ss_cross(m->spin, ss_cross(m->spin, c)));
        a[first + k] = ss_plus(m->acceleration, about);
    }
}

// ---- Forces
//
// The force of the spins: link j asks for the moment spin [y (y.alpha) + (y.omega) omega x y] about
// its centre where no w changes; joint k bears those of all links beyond it. That a body carries
// the strand has no part in it: of the order radius^2/l^2 beside what the samples do.

static ss_joint joint_of(const ss_oriented *tree, int j, const double *q)
{
    return ss_joint_at(tree->link[j].rest, ss_quat_read(q + ss_oriented_turn_at(tree, j)));
}

static double energy(const void *strand, const double *q)
{
    const ss_oriented *tree = ((const ss_oriented_strand *)strand)->tree;
    double sum = 0.0;
    for (int j = 0; j < tree->n; j++) {
        const ss_joint joint = joint_of(tree, j, q);
        sum += ss_joint_energy(&joint, tree->link[j].spring);
    }
    return sum;
}

static void add(ss_vec3 x, double *to)
{
    to[0] += x.x;
    to[1] += x.y;
    to[2] += x.z;
}

static void add_spins(const ss_oriented *tree, const double *q, const double *v, double *F)
{
    const ss_oriented_base still = {.pose = ss_pose_identity()};
    ss_oriented_move(tree, &still, q, v, NULL);
    for (int j = SS_ORIENTED_BASE; j < tree->n; j++) {
        tree->sum[j].moment = ss_vec(0.0, 0.0, 0.0);
    }
    for (int j = tree->n - 1; j >= 0; j--) {
        const ss_oriented_link *l = &tree->link[j];
        const ss_oriented_motion *m = &tree->motion[j];
        ss_oriented_sum *own = &tree->sum[j], *up = &tree->sum[l->parent];
        const ss_vec3 y = m->turn.c[1];
        const ss_vec3 n = ss_along(ss_scaled(ss_dot(y, m->spin_rate), y), ss_dot(y, m->spin),
                                   ss_cross(m->spin, y));
        own->moment = ss_along(own->moment, l->spin, n);
        up->moment = ss_plus(up->moment, own->moment);
        const ss_vec3 borne = ss_scaled(-1.0, ss_turned_back(&m->turn, own->moment));
        add(borne, F + ss_oriented_rate_at(tree, j));
    }
}

static void force(const void *strand, const double *q, const double *v, double *F)
{
    const ss_oriented *tree = ((const ss_oriented_strand *)strand)->tree;
    for (int j = 0; j < tree->n; j++) {
        const ss_joint joint = joint_of(tree, j, q);
        add(ss_joint_torque(&joint, tree->link[j].spring), F + ss_oriented_rate_at(tree, j));
    }
    add_spins(tree, q, v, F);
}

// ---- K: a block a joint

static bool has_factor(double A[3][3])
{
    const double l1 = A[1][0] / A[0][0], l2 = A[2][0] / A[0][0];
    const double d1 = A[1][1] - l1 * A[1][0], e = A[2][1] - l2 * A[1][0];
    return A[0][0] > 0.0 && d1 > 0.0 && A[2][2] - l2 * A[2][0] - e * e / d1 > 0.0;
}

// Turns rows and columns p and r of A, and columns p and r of V, so that A[p][r] = 0.
static void annihilate(double A[3][3], double V[3][3], int p, int r)
{
    const double slope = (A[r][r] - A[p][p]) / (2.0 * A[p][r]);
    const double t = (slope < 0.0 ? -1.0 : 1.0) / (fabs(slope) + sqrt(1.0 + slope * slope));
    const double c = 1.0 / sqrt(1.0 + t * t), s = t * c;
    for (int k = 0; k < 3; k++) {
        const double a = A[k][p], b = A[k][r], x = V[k][p], y = V[k][r];
        A[k][p] = c * a - s * b;
        A[k][r] = s * a + c * b;
        V[k][p] = c * x - s * y;
        V[k][r] = s * x + c * y;
    }
    for (int k = 0; k < 3; k++) {
        const double a = A[p][k], b = A[r][k];
        A[p][k] = c * a - s * b;
        A[r][k] = s * a + c * b;
    }
}

// Takes the negative eigenvalues off A, by Jacobi's rotations.
#define MOST_ROTATIONS 30
static void clamp_eigenvalues(double A[3][3])
{
    double V[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    for (int k = 0; k < MOST_ROTATIONS; k++) {
        const int p = k % 3 == 2 ? 1 : 0, r = k % 3 == 0 ? 1 : 2;
        if (A[p][r] != 0.0) {
            annihilate(A, V, p, r);
        }
    }
    const double value[3] = {fmax(A[0][0], 0.0), fmax(A[1][1], 0.0), fmax(A[2][2], 0.0)};
    memset(A, 0, 9 * sizeof A[0][0]);
    for (int k = 0; k < 3; k++) {
        ss_joint_add_square(A, value[k], ss_vec(V[0][k], V[1][k], V[2][k]));
    }
}

static bool stiffness(const void *strand, const double *q, ss_stiffness kind, double scale,
                      ss_band *A)
{
    const ss_oriented *tree = ((const ss_oriented_strand *)strand)->tree;
    ss_assert(A->n == ss_oriented_nv(tree));
    for (int j = 0; j < tree->n; j++) {
        const ss_oriented_link *l = &tree->link[j];
        const ss_joint joint = joint_of(tree, j, q);
        const int first = ss_oriented_rate_at(tree, j);
        double K[3][3];
        if (kind == SS_STIFFNESS_GAUSS_NEWTON) {
            ss_joint_gauss_newton(&joint, l->spring, K);
        } else {
            ss_joint_stiffness(&joint, l->spring, K);
        }
        if (kind == SS_STIFFNESS_FILTERED && !has_factor(K)) {
            clamp_eigenvalues(K);
        }
        for (int r = 0; r < 3; r++) {
            for (int c = 0; c <= r; c++) {
                *ss_band_at(A, first + r, first + c) += scale * K[r][c];
            }
        }
    }
    return true;
}

static void damping(const void *strand, const double *q, double scale, ss_band *A)
{
    const ss_oriented *tree = ((const ss_oriented_strand *)strand)->tree;
    (void)q;
    for (int j = 0; j < tree->n; j++) {
        const int first = ss_oriented_rate_at(tree, j);
        const ss_vec3 C = tree->link[j].damping;
        *ss_band_at(A, first, first) += scale * C.x;
        *ss_band_at(A, first + 1, first + 1) += scale * C.y;
        *ss_band_at(A, first + 2, first + 2) += scale * C.z;
    }
}

static void inertia(const void *strand, const double *q, ss_band *M)
{
    ss_oriented_mass(((const ss_oriented_strand *)strand)->tree, q, false, M);
}

static void whole_mass(const void *strand, const double *q, ss_band *M)
{
    ss_oriented_mass(((const ss_oriented_strand *)strand)->tree, q, true, M);
}

// ---- Balance and limits

// m/s^2: a free strand that its load accelerates by less is at rest.
#define REST_ACCELERATION 1e-6

// True if a load leaves the place and the first link of a tree that floats where they are.
static bool root_rests(const ss_oriented_strand *s, const double *load)
{
    const double force = REST_ACCELERATION * s->mass;
    bool rests = true;
    for (int k = 0; k < 6; k++) {
        rests = rests && fabs(load[k]) <= (k < 3 ? force : force * s->length);
    }
    return rests;
}

static ss_status balance(void *strand, const double *q, const double *load, ss_error *e)
{
    ss_oriented_strand *s = strand;
    ss_oriented *tree = s->tree;
    if (tree->floats && !root_rests(s, load)) {
        return ss_fail(e, SS_BAD_INPUT,
                       "a strand with a free root cannot rest under a load that moves its root: "
                       "clamp the root, or let it begin unsettled");
    }
    for (int j = tree->floats ? 1 : 0; j < tree->n; j++) {
        ss_oriented_link *l = &tree->link[j];
        const double *own = load + ss_oriented_rate_at(tree, j);
        const ss_quat now = ss_quat_read(q + ss_oriented_turn_at(tree, j));
        ss_quat rest;
        if (!ss_joint_rest(now, l->spring, ss_vec(-own[0], -own[1], -own[2]), &rest)) {
            return ss_fail(e, SS_BAD_INPUT,
                           "no rest shape of joint %d was found in which its section, which is not "
                           "round, bears its load: make the strand stiffer, or rounder",
                           j);
        }
        l->rest = ss_quat_unit(ss_quat_product(rest, s->more[j]));
    }
    return SS_OK;
}

// Joints that turn by less of what they may, within a step as they turn now, are left out.
#define LIMIT_SEEN 0.5
// s: a joint beyond its limit is back within this, or within the step if that is longer.
#define LIMIT_BACK 0.02

// The turn from the natural shape is d = conj(q_rest) o q, at the end of the step d exp(h w) =
// exp(u angle), and d(angle)/dw = h u up to h w: -u.(w' - w) is to be at least (angle - bound)/h of
// the velocity w' that the joint gets. A row at the turn of the start would let a joint that turns
// across its axis by more than `most` within a step leave the limit with every step. The bound is
// `most`, or for a joint beyond it what brings it back in LIMIT_BACK, since a velocity that grows
// as a step is halved would refuse steps of any size. A root joint that is only a way to say how a
// tree that floats is turned has no limit.
static int limits_near(const void *strand, const double *q, const double *v, double h, double most,
                       ss_joint_limit *limits)
{
    const ss_oriented *tree = ((const ss_oriented_strand *)strand)->tree;
    int count = 0;
    for (int j = tree->floats ? 1 : 0; j < tree->n; j++) {
        const int dof = ss_oriented_rate_at(tree, j);
        const ss_quat own = ss_quat_unit(ss_quat_read(q + ss_oriented_turn_at(tree, j)));
        const ss_quat from = ss_quat_product(ss_quat_conjugate(tree->link[j].rest), own);
        const ss_vec3 w = ss_vec(v[dof], v[dof + 1], v[dof + 2]);
        const ss_vec3 turn = ss_quat_log(ss_quat_product(from, ss_quat_exp(ss_scaled(h, w))));
        const double start = ss_length(ss_quat_log(from)), angle = ss_length(turn);
        if (angle > 0.0 && start + h * ss_length(w) > LIMIT_SEEN * most) {
            const double back =
                start > most ? (start - most) * fmax(1.0 - h / LIMIT_BACK, 0.0) : 0.0;
            const ss_vec3 u = ss_scaled(1.0 / angle, turn);
            limits[count++] = (ss_joint_limit){.dof = dof,
                                               .along = {-u.x, -u.y, -u.z},
                                               .least = (angle - most - back) / h - ss_dot(u, w)};
        }
    }
    return count;
}

// ---- The equation of motion, for ida
//
//     qdot = q o (0, w)/2,   w = 2 vec(conj(q) o qdot)/|q|^2
//
// Drag brakes every part of a link by -k of its momentum, thus the link by -k m v_c and -k I omega
// about its centre. Its base moves as the root does; its weight is an acceleration of the base by
// -g.
//
// doc/strands.md, "Residual" and "IDA".

static void rate(const void *strand, const double *q, const double *v, double *qdot)
{
    const ss_oriented *tree = ((const ss_oriented_strand *)strand)->tree;
    for (int k = 0; k < 3 && tree->floats; k++) {
        qdot[k] = v[k];
    }
    for (int j = 0; j < tree->n; j++) {
        const int at = ss_oriented_turn_at(tree, j);
        const ss_vec3 w = ss_scaled(0.5, ss_vec_read(v + ss_oriented_rate_at(tree, j)));
        const ss_quat half = {0.0, w.x, w.y, w.z};
        ss_quat_write(ss_quat_product(ss_quat_read(q + at), half), qdot + at);
    }
}

static void unrate(const void *strand, const double *q, const double *qdot, double *v)
{
    const ss_oriented *tree = ((const ss_oriented_strand *)strand)->tree;
    for (int k = 0; k < 3 && tree->floats; k++) {
        v[k] = qdot[k];
    }
    for (int j = 0; j < tree->n; j++) {
        const int at = ss_oriented_turn_at(tree, j);
        const ss_quat own = ss_quat_read(q + at);
        const double square = own.w * own.w + own.x * own.x + own.y * own.y + own.z * own.z;
        const ss_quat d = ss_quat_product(ss_quat_conjugate(own), ss_quat_read(qdot + at));
        ss_vec_write(ss_scaled(2.0 / square, ss_vec(d.x, d.y, d.z)),
                     v + ss_oriented_rate_at(tree, j));
    }
}

// Returns the motion of the base of the tree, which the frame of the root carries; its acceleration
// is less that of gravity.
static ss_oriented_base base_of(const ss_oriented_strand *s, const ss_surroundings *around)
{
    const ss_motion_state *root = &around->root;
    const ss_vec3 arm = ss_turned(&root->pose.turn, s->home.place);
    const ss_vec3 carried = ss_cross(root->spin, arm);
    const ss_vec3 turning = ss_plus(ss_cross(root->spin_rate, arm), ss_cross(root->spin, carried));
    return (ss_oriented_base){.pose = ss_pose_product(&root->pose, &s->home),
                              .velocity = ss_plus(root->velocity, carried),
                              .spin = root->spin,
                              .acceleration =
                                  ss_plus(ss_minus(root->acceleration, around->gravity), turning),
                              .spin_rate = root->spin_rate};
}

static void add_drag(const ss_oriented *tree, double rate)
{
    for (int j = 0; j < tree->n; j++) {
        const ss_oriented_link *l = &tree->link[j];
        const ss_oriented_motion *m = &tree->motion[j];
        const ss_vec3 v = ss_plus(m->velocity, ss_cross(m->spin, m->centre)), y = m->turn.c[1];
        const ss_vec3 turning =
            ss_along(ss_scaled(l->across, m->spin), (l->spin - l->across) * ss_dot(y, m->spin), y);
        tree->load[j].force = ss_along(tree->load[j].force, -rate * l->mass, v);
        tree->load[j].moment = ss_along(tree->load[j].moment, -rate, turning);
    }
}

// Adds the drag of air that moves, at the samples of each link.
static void add_wind(const ss_oriented_strand *s, const ss_surroundings *around)
{
    const int first = around->sample + (s->held > 0.0 ? 1 : 0);
    for (int i = 0; i < 2 * s->tree->n; i++) {
        const ss_oriented_link *l = &s->tree->link[i / 2];
        const ss_oriented_motion *m = &s->tree->motion[i / 2];
        ss_oriented_load *load = &s->tree->load[i / 2];
        const ss_vec3 y = m->turn.c[1];
        const ss_vec3 c = ss_scaled((SAMPLE_AT[i % 2] - 0.5) * l->length, y);
        const ss_vec3 x = ss_plus(m->joint, ss_plus(m->centre, c));
        const double drag = around->winds->drag * around->winds->length[first + i];
        const ss_vec3 force =
            ss_scaled(drag, ss_wind_felt(around->winds, around->time, first + i, x, y));
        load->force = ss_plus(load->force, force);
        load->moment = ss_plus(load->moment, ss_cross(c, force));
    }
}

// Adds a force at the far end of a link. At the base it moves a tree that floats alone, by its
// first link.
static void add_pull(const ss_oriented *tree, int tip, ss_vec3 force)
{
    if (tip < 0 && !tree->floats) {
        return;
    }
    const int j = tip < 0 ? 0 : tip;
    const ss_oriented_motion *m = &tree->motion[j];
    const double side = tip < 0 ? -1.0 : 1.0; // the centre is in the middle
    ss_oriented_load *load = &tree->load[j];
    load->force = ss_plus(load->force, force);
    load->moment = ss_along(load->moment, side, ss_cross(m->centre, force));
}

static void add_pushes(const ss_oriented_strand *s, const ss_vec3 *push)
{
    for (int i = 0; i < s->npoints; i++) {
        add_pull(s->tree, s->tip[i], push[i]);
    }
}

static bool is_zero(ss_vec3 x)
{
    return x.x == 0.0 && x.y == 0.0 && x.z == 0.0;
}

static void residual(const void *strand, const ss_surroundings *around, const double *q,
                     const double *v, const double *vdot, double *rs)
{
    const ss_oriented_strand *s = strand;
    const ss_oriented *tree = s->tree;
    const ss_oriented_base base = base_of(s, around);
    const bool free = around->push == NULL && around->drag == 0.0 && is_zero(around->pull_root) &&
                      is_zero(around->pull_tip);
    if (!free) {
        memset(tree->load, 0, (size_t)tree->n * sizeof *tree->load);
        ss_oriented_move(tree, &base, q, v, NULL);
        add_drag(tree, around->drag);
        if (around->winds != NULL) {
            add_wind(s, around);
        }
        add_pull(tree, s->tip[0], around->pull_root);
        add_pull(tree, s->tip[s->npoints - 1], around->pull_tip);
        if (around->push != NULL) {
            add_pushes(s, around->push);
        }
    }
    ss_oriented_residual(tree, &base, q, v, vdot, free ? NULL : tree->load, rs);
}

// ---- The model

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
    .make = make,
    .free = free_strand,
    .size = size,
    .start = start,
    .lumps = lumps,
    .advance = advance,
    .difference = difference,
    .rate = rate,
    .unrate = unrate,
    .place = place,
    .convect = convect,
    .energy = energy,
    .force = force,
    .stiffness = stiffness,
    .damping = damping,
    .inertia = inertia,
    .mass = whole_mass,
    .limits = limits_near,
    .residual = residual,
    .balance = balance,
};
