// strands/shape.c -- vertices and frames from curvatures, and back.
#include "strands/shape.h"

#include <math.h>
#include <string.h>

#include "strands/helix.h"
#include "strands/geometry.h"

double ss_shape_length(const ss_strand_design *d)
{
    double length = d->nvertices > 0 ? 0.0 : d->length;
    for (int i = 1; i < d->nvertices; i++) {
        length += ss_length(ss_minus(d->vertices[i], d->vertices[ss_design_before(d, i)]));
    }
    return length;
}

int ss_shape_segments(const ss_strand_design *d)
{
    return d->nvertices > 0 && d->nsegments == 0 ? d->nvertices - 1 : d->nsegments;
}

// ---- Curvatures

static ss_vec3 piece_of(const double (*pieces)[3], int k)
{
    return pieces != NULL ? ss_vec(pieces[k][0], pieces[k][1], pieces[k][2])
                          : ss_vec(0.0, 0.0, 0.0);
}

// A walk along the pieces of a curve.
typedef struct curve {
    const ss_strand_design *d;
    bool natural;
    int npieces, k; // k: the piece that it is in
    double piece;   // m, length of one
    ss_vec3 curvature;
    ss_pose begin; // of piece k
} curve;

static void enter_piece(curve *c, int k)
{
    const ss_strand_design *d = c->d;
    c->k = k;
    c->curvature = piece_of(d->npieces > 0 ? d->style : NULL, k);
    c->curvature =
        ss_plus(c->curvature, piece_of(c->natural && d->npieces > 0 ? d->unrest : NULL, k));
}

static curve curve_of(const ss_strand_design *d, ss_shape which)
{
    curve c = {.d = d,
               .natural = which == SS_SHAPE_NATURAL,
               .npieces = d->npieces > 0 ? d->npieces : 1,
               .begin = ss_pose_identity()};
    c.piece = d->length / c.npieces;
    enter_piece(&c, 0);
    return c;
}

static void leave_piece(curve *c)
{
    const ss_pose end = {ss_helix_joint_at(c->curvature, c->piece).turn,
                         ss_helix_arc_at(c->curvature, c->piece).p};
    c->begin = ss_pose_product(&c->begin, &end);
    enter_piece(c, c->k + 1);
}

// Goes to the piece at numerator / denominator of the length; places must not decrease.
static void go_to(curve *c, long numerator, long denominator)
{
    while (c->k < c->npieces - 1 && numerator * c->npieces >= (c->k + 1) * denominator) {
        leave_piece(c);
    }
}

static void curve_vertices(const ss_strand_design *d, ss_shape which, int n, ss_vec3 *x)
{
    const double step = d->length / (n - 1);
    curve c = curve_of(d, which);
    for (int i = 0; i < n; i++) {
        go_to(&c, i, n - 1);
        x[i] = ss_pose_point(&c.begin, ss_helix_arc_at(c.curvature, i * step - c.k * c.piece).p);
    }
}

// The frame whose tangent is t and whose m1 is nearest to that of F.
static ss_mat3 turned_to(const ss_mat3 *F, ss_vec3 t)
{
    const ss_vec3 m1 = ss_transported(F->c[0], t, F->c[1]);
    const ss_vec3 clean = ss_unit(ss_along(m1, -ss_dot(m1, t), t));
    return (ss_mat3){{t, clean, ss_cross(t, clean)}};
}

static ss_vec3 tangent_of(const ss_vec3 *x, int j)
{
    return ss_unit(ss_minus(x[j + 1], x[j]));
}

static void curve_frames(const ss_strand_design *d, ss_shape which, int n, const ss_vec3 *x,
                         ss_mat3 *frames)
{
    const double step = d->length / (n - 1);
    curve c = curve_of(d, which);
    for (int j = 0; j < n - 1; j++) {
        go_to(&c, 2 * j + 1, 2 * (n - 1));
        const ss_mat3 along = ss_helix_joint_at(c.curvature, (j + 0.5) * step - c.k * c.piece).turn;
        const ss_mat3 F = ss_mat3_product(&c.begin.turn, &along);
        frames[j] = turned_to(&F, tangent_of(x, j));
    }
}

// The mean over piece e of n of component i of a shape given by pieces: piece k covers
// [k n, (k + 1) n] and piece e [e npieces, (e + 1) npieces].
static double mean_over(const double (*pieces)[3], int npieces, int n, int e, int i)
{
    double sum = 0.0;
    for (int k = 0; k < npieces && pieces != NULL; k++) {
        const long low = (long)k * n, high = low + n;
        const long begin = (long)e * npieces, end = begin + npieces;
        const long overlap = (high < end ? high : end) - (low > begin ? low : begin);
        sum += overlap > 0 ? (double)overlap * pieces[k][i] : 0.0;
    }
    return npieces > 0 ? sum / npieces : 0.0;
}

// ---- Vertices

// A walk along the edges of given vertices.
typedef struct edges {
    const ss_vec3 *x;
    const double *theta;
    int j;
    double begin, length; // m: where edge j begins, and how long it is
    ss_mat3 parallel;     // the frame that is carried along
} edges;

static const ss_vec3 *vertices_of(const ss_strand_design *d, ss_shape which)
{
    return which == SS_SHAPE_NATURAL && d->rest != NULL ? d->rest : d->vertices;
}

// A direction across t.
static ss_vec3 any_across(ss_vec3 t)
{
    const double x = fabs(t.x), y = fabs(t.y), z = fabs(t.z);
    const ss_vec3 axis = x <= y && x <= z ? ss_vec(1.0, 0.0, 0.0)
                         : y <= z         ? ss_vec(0.0, 1.0, 0.0)
                                          : ss_vec(0.0, 0.0, 1.0);
    return ss_unit(ss_along(axis, -ss_dot(axis, t), t));
}

static void enter_edge(edges *w, int j)
{
    w->j = j;
    w->length = ss_length(ss_minus(w->x[j + 1], w->x[j]));
}

static edges edges_of(const ss_strand_design *d, ss_shape which)
{
    edges w = {.x = vertices_of(d, which),
               .theta =
                   which == SS_SHAPE_NATURAL && d->rest_theta != NULL ? d->rest_theta : d->theta};
    const ss_vec3 t = tangent_of(d->vertices, 0);
    const ss_vec3 across = ss_along(d->director, -ss_dot(d->director, t), t);
    const ss_vec3 d1 = ss_length(across) > 0.0 ? ss_unit(across) : any_across(t);
    const ss_mat3 start = {{t, d1, ss_cross(t, d1)}};
    w.parallel = turned_to(&start, tangent_of(w.x, 0));
    enter_edge(&w, 0);
    return w;
}

static void leave_edge(edges *w)
{
    w->begin += w->length;
    enter_edge(w, w->j + 1);
    w->parallel = turned_to(&w->parallel, tangent_of(w->x, w->j));
}

// P turned by theta of edge j about its first axis.
static ss_mat3 material_of(const ss_mat3 *P, const double *angles, int j)
{
    const double theta = angles != NULL ? angles[j] : 0.0;
    const ss_vec3 m1 = ss_along(ss_scaled(cos(theta), P->c[1]), sin(theta), P->c[2]);
    return (ss_mat3){{P->c[0], m1, ss_cross(P->c[0], m1)}};
}

static ss_mat3 material_frame(const edges *w)
{
    return material_of(&w->parallel, w->theta, w->j);
}

static double length_of(const ss_strand_design *d, ss_shape which)
{
    const ss_vec3 *x = vertices_of(d, which);
    double length = 0.0;
    for (int i = 1; i < d->nvertices; i++) {
        length += ss_length(ss_minus(x[i], x[ss_design_before(d, i)]));
    }
    return length;
}

double ss_shape_natural_length(const ss_strand_design *d)
{
    return d->nvertices > 0 && d->rest != NULL ? length_of(d, SS_SHAPE_NATURAL)
                                               : ss_shape_length(d);
}

static void edge_vertices(const ss_strand_design *d, ss_shape which, int n, ss_vec3 *x)
{
    edges w = edges_of(d, which);
    const double step = length_of(d, which) / (n - 1);
    for (int i = 0; i < n && n != d->nvertices; i++) {
        while (w.j + 2 < d->nvertices && i * step > w.begin + w.length) {
            leave_edge(&w);
        }
        const double share = i < n - 1 ? (i * step - w.begin) / w.length : 1.0;
        x[i] = ss_along(w.x[w.j], share, ss_minus(w.x[w.j + 1], w.x[w.j]));
    }
    if (n == d->nvertices) {
        memcpy(x, w.x, (size_t)n * sizeof *x);
    }
}

static void edge_frames(const ss_strand_design *d, ss_shape which, int n, const ss_vec3 *x,
                        ss_mat3 *frames)
{
    edges w = edges_of(d, which);
    const double step = length_of(d, which) / (n - 1);
    for (int j = 0; j < n - 1; j++) {
        const bool own = n == d->nvertices;
        while (w.j + 2 < d->nvertices && (own ? w.j < j : (j + 0.5) * step > w.begin + w.length)) {
            leave_edge(&w);
        }
        const ss_mat3 F = material_frame(&w);
        frames[j] = own ? F : turned_to(&F, tangent_of(x, j));
    }
}

// Makes the frames of a tree: parallel frames are carried from each edge to those that hang from
// its end, and from the first to the others that begin at the root.
static void tree_frames(const ss_strand_design *d, ss_shape which, const ss_vec3 *x,
                        ss_mat3 *frames)
{
    const edges first = edges_of(d, which);
    for (int j = 0; j < d->nvertices - 1; j++) {
        const int from = ss_design_before(d, j + 1);
        const ss_mat3 *before = from > 0 ? &frames[from - 1] : &first.parallel;
        frames[j] = turned_to(before, ss_unit(ss_minus(x[j + 1], x[from])));
    }
    for (int j = 0; j < d->nvertices - 1; j++) {
        frames[j] = material_of(&frames[j], first.theta, j);
    }
}

// The curvature between the edge that `before` was taken at and the present one, which is next.
static ss_vec3 curvature_at(const ss_mat3 *before, double length_before, const edges *w)
{
    const ss_mat3 F = material_frame(w);
    const ss_mat3 turn = {{ss_turned_back(before, F.c[0]), ss_turned_back(before, F.c[1]),
                           ss_turned_back(before, F.c[2])}};
    return ss_scaled(2.0 / (length_before + w->length), ss_rotation_vector(&turn));
}

// means += x over the part of [low, high] in each of n equal pieces of [0, length]
static void add_cell(double low, double high, ss_vec3 x, double length, int n, double (*means)[3])
{
    const double piece = length / n;
    for (int e = 0; e < n; e++) {
        const double overlap = fmin(high, (e + 1) * piece) - fmax(low, e * piece);
        const double share = overlap > 0.0 ? overlap / piece : 0.0;
        means[e][0] += share * x.x;
        means[e][1] += share * x.y;
        means[e][2] += share * x.z;
    }
}

static double held_of(const ss_strand_design *d, ss_shape which, bool clamped)
{
    const ss_vec3 *x = vertices_of(d, which);
    return d->nvertices > 0 && clamped ? 0.5 * ss_length(ss_minus(x[1], x[0])) : 0.0;
}

double ss_shape_held(const ss_strand_design *d, bool clamped)
{
    return held_of(d, SS_SHAPE_START, clamped);
}

static void edge_curvatures(const ss_strand_design *d, ss_shape which, bool clamped, int n,
                            double (*means)[3])
{
    edges w = edges_of(d, which);
    const double held = held_of(d, which, clamped), length = length_of(d, which) - held;
    double low = 0.0;
    memset(means, 0, (size_t)n * sizeof *means);
    for (int i = 1; i + 1 < d->nvertices; i++) {
        const ss_mat3 before = material_frame(&w);
        const double length_before = w.length;
        leave_edge(&w);
        const double high = i + 2 < d->nvertices ? w.begin + 0.5 * w.length - held : length;
        add_cell(low, high, curvature_at(&before, length_before, &w), length, n, means);
        low = high;
    }
}

ss_pose ss_shape_root(const ss_strand_design *d, bool clamped)
{
    if (d->nvertices == 0) {
        return ss_pose_identity();
    }
    edges w = edges_of(d, SS_SHAPE_START);
    const ss_mat3 first = material_frame(&w);
    const double length = w.length, held = held_of(d, SS_SHAPE_START, clamped);
    if (held > 0.0) {
        return (ss_pose){first, ss_along(d->vertices[0], held, first.c[0])};
    }
    leave_edge(&w);
    const ss_vec3 curvature = curvature_at(&first, length, &w);
    const ss_mat3 back = ss_rotation(ss_scaled(-0.5 * length, curvature));
    return (ss_pose){ss_mat3_product(&first, &back), d->vertices[0]};
}

// ---- Either

void ss_shape_vertices(const ss_strand_design *d, ss_shape which, int n, ss_vec3 *x)
{
    if (d->nvertices > 0) {
        edge_vertices(d, which, n, x);
    } else {
        curve_vertices(d, which, n, x);
    }
}

void ss_shape_frames(const ss_strand_design *d, ss_shape which, int n, const ss_vec3 *x,
                     ss_mat3 *frames)
{
    if (d->parent != NULL) {
        tree_frames(d, which, x, frames);
    } else if (d->nvertices > 0) {
        edge_frames(d, which, n, x, frames);
    } else {
        curve_frames(d, which, n, x, frames);
    }
}

void ss_shape_curvatures(const ss_strand_design *d, bool clamped, int n, double (*style)[3],
                         double (*unrest)[3])
{
    if (d->nvertices > 0) {
        edge_curvatures(d, SS_SHAPE_START, clamped, n, style);
        edge_curvatures(d, SS_SHAPE_NATURAL, clamped, n, unrest);
    }
    for (int e = 0; e < n; e++) {
        for (int i = 0; i < 3; i++) {
            if (d->nvertices > 0) {
                unrest[e][i] -= style[e][i];
            } else {
                style[e][i] = mean_over(d->style, d->npieces, n, e, i);
                unrest[e][i] = mean_over(d->unrest, d->npieces, n, e, i);
            }
        }
    }
}
