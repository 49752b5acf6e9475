// A strand model on a page and a half: see the header, and strands/model.h.
#include "tests/support/twisting_chain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "strands/geometry.h"
#include "strands/shape.h"

#define STRIDE 4 // dofs of a vertex and its edge

typedef struct chain {
    int n; // vertices
    ss_rigidity rigidity;
    double length, relaxation;
    int nheld, nroot, held[14]; // x, th, x of the root; x, th, x of the tip
    int *dofs;                  // [3 n] of the vertices
    ss_vec3 *style, *rest;      // [n] each, in the frame of the root
    ss_vec3 *start;             // [n] in the world
} chain;

static void free_chain(void *strand)
{
    chain *c = strand;
    if (c != NULL) {
        free(c->style);
        free(c->dofs);
        free(c);
    }
}

static void hold(chain *c, int first, int count)
{
    for (int j = first; j < first + count; j++) {
        c->held[c->nheld++] = j;
    }
}

static ss_status make(const ss_strand_design *design, const void *settings, void **strand,
                      ss_error *e)
{
    (void)settings;
    *strand = NULL;
    const ss_status status = ss_strand_design_check(design, e);
    if (status != SS_OK) {
        return status;
    }
    const int n = ss_shape_segments(design) + 1;
    if (n < 4) {
        return ss_fail(e, SS_BAD_INPUT, "a twisting chain has 3 segments or more");
    }
    chain *c = calloc(1, sizeof *c);
    ss_vec3 *x = calloc(3 * (size_t)n, sizeof *x);
    int *dofs = calloc(3 * (size_t)n, sizeof *dofs);
    if (c == NULL || x == NULL || dofs == NULL) {
        free(c);
        free(x);
        free(dofs);
        return ss_fail_memory(e, "a strand");
    }
    *c = (chain){.n = n,
                 .rigidity = ss_material_rigidity(&design->material),
                 .length = ss_shape_length(design),
                 .relaxation = design->material.relaxation,
                 .style = x,
                 .rest = x + n,
                 .start = x + 2 * n,
                 .dofs = dofs};
    for (int j = 0; j < 3 * n; j++) {
        dofs[j] = STRIDE * (j / 3) + j % 3;
    }
    ss_shape_vertices(design, SS_SHAPE_START, n, c->style);
    ss_shape_vertices(design, SS_SHAPE_NATURAL, n, c->rest);
    hold(c, 0, ss_clamps_root(design->clamp) ? STRIDE + 3 : 0);
    c->nroot = c->nheld;
    hold(c, STRIDE * (n - 2), ss_clamps_tip(design->clamp) ? STRIDE + 3 : 0);
    *strand = c;
    return SS_OK;
}

static ss_strand_size size(const void *strand)
{
    const chain *c = strand;
    const int nv = STRIDE * c->n - 1, half = 2 * STRIDE + 2;
    return (ss_strand_size){.nq = nv,
                            .nv = nv,
                            .half_bandwidth = half < nv ? half : nv - 1,
                            .npoints = c->n,
                            .nsamples = c->n,
                            .width = 3,
                            .lumped = true,
                            .nheld = c->nheld,
                            .held = c->held};
}

static ss_vec3 vertex(const double *q, int i)
{
    return ss_vec(q[STRIDE * i], q[STRIDE * i + 1], q[STRIDE * i + 2]);
}

static void put(double *to, double scale, ss_vec3 x)
{
    to[0] += scale * x.x;
    to[1] += scale * x.y;
    to[2] += scale * x.z;
}

static void start(void *strand, const ss_pose *root, double *q)
{
    chain *c = strand;
    memset(q, 0, (size_t)(STRIDE * c->n - 1) * sizeof *q);
    for (int i = 0; i < c->n; i++) {
        c->start[i] = ss_pose_point(root, c->style[i]);
        put(q + STRIDE * i, 1.0, c->start[i]);
    }
}

static void lumps(const void *strand, double *mass, double *length)
{
    const chain *c = strand;
    for (int i = 0; i < c->n; i++) {
        length[i] = c->length / (c->n - 1) * (i == 0 || i == c->n - 1 ? 0.5 : 1.0);
        mass[i] = c->rigidity.line_density * length[i];
    }
}

static void advance(const void *strand, const double *q, const double *v, double h, double *moved)
{
    const chain *c = strand;
    for (int j = 0; j < STRIDE * c->n - 1; j++) {
        moved[j] = q[j] + h * v[j];
    }
}

// The twist of a held edge follows the turn of its body about the edge.
static void script(const void *strand, const ss_pose moved[2], const double *q, double h, double *v)
{
    const chain *c = strand;
    for (int k = 0; k < c->nheld; k++) {
        const int i = c->held[k] / STRIDE, axis = c->held[k] % STRIDE;
        const ss_pose *body = &moved[k < c->nroot ? 0 : 1];
        const ss_vec3 x = ss_pose_point(body, c->start[i]);
        const ss_vec3 turn = ss_rotation_vector(&body->turn);
        const ss_vec3 edge = axis < 3 ? turn : ss_unit(ss_minus(c->start[i + 1], c->start[i]));
        const double aim[STRIDE] = {x.x, x.y, x.z, ss_dot(turn, edge)};
        v[c->held[k]] = (aim[axis] - q[c->held[k]]) / h;
    }
}

static void place(const void *strand, const ss_pose *root, const double *q, ss_strand_point *points,
                  ss_strand_point *samples)
{
    const chain *c = strand;
    const double unit[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
    (void)root; // q is of the world
    for (int i = 0; i < 2 * c->n; i++) {
        ss_strand_point *p = i < c->n ? &points[i] : &samples[i - c->n];
        p->x = vertex(q, i % c->n);
        p->dofs = c->dofs + 3 * (i % c->n);
        p->count = 3;
        memcpy(p->J, unit, sizeof unit);
    }
}

// ---- Springs: number k < n - 1 along edge k, the others over two edges

typedef struct spring {
    int i, j;
    double k, rest, length; // N/m, m, m: its length now
    ss_vec3 n;              // from i to j
} spring;

static int spring_count(const chain *c)
{
    return 2 * c->n - 3;
}

static spring spring_at(const chain *c, const double *q, int number)
{
    const int over = number < c->n - 1 ? 1 : 2;
    const int i = over == 1 ? number : number - (c->n - 1), j = i + over;
    const double l = c->length / (c->n - 1);
    const ss_vec3 d = ss_minus(vertex(q, j), vertex(q, i));
    return (spring){.i = i,
                    .j = j,
                    .k = over == 1 ? c->rigidity.stretch / l : c->rigidity.bend1 / (l * l * l),
                    .rest = ss_length(ss_minus(c->rest[j], c->rest[i])),
                    .length = ss_length(d),
                    .n = ss_unit(d)};
}

static double twist_stiffness(const chain *c)
{
    return c->rigidity.twist * (c->n - 1) / c->length;
}

static double twist_strain(const double *q, int j)
{
    return q[STRIDE * j + 3] - q[STRIDE * j - 1];
}

static double energy(const void *strand, const double *q)
{
    const chain *c = strand;
    double sum = 0.0;
    for (int k = 0; k < spring_count(c); k++) {
        const spring s = spring_at(c, q, k);
        sum += 0.5 * s.k * (s.length - s.rest) * (s.length - s.rest);
    }
    for (int j = 1; j < c->n - 1; j++) {
        sum += 0.5 * twist_stiffness(c) * twist_strain(q, j) * twist_strain(q, j);
    }
    return sum;
}

static void force(const void *strand, const double *q, const double *v, double *F)
{
    const chain *c = strand;
    (void)v;
    for (int k = 0; k < spring_count(c); k++) {
        const spring s = spring_at(c, q, k);
        put(F + STRIDE * s.i, s.k * (s.length - s.rest), s.n);
        put(F + STRIDE * s.j, -s.k * (s.length - s.rest), s.n);
    }
    for (int j = 1; j < c->n - 1; j++) {
        const double torque = twist_stiffness(c) * twist_strain(q, j);
        F[STRIDE * j - 1] += torque;
        F[STRIDE * j + 3] -= torque;
    }
}

// A += scale [across (I - n n') + n n'] on the dofs of both ends
static void add_spring(const spring *s, double across, double scale, ss_band *A)
{
    const double n[3] = {s->n.x, s->n.y, s->n.z};
    const int at[2] = {STRIDE * s->i, STRIDE * s->j};
    for (int b = 0; b < 3; b++) {
        for (int a = 0; a < 3; a++) {
            const double k = scale * ((1.0 - across) * n[a] * n[b] + (a == b ? across : 0.0));
            *ss_band_at(A, at[1] + a, at[0] + b) -= k;
            for (int end = 0; end < 2 && a >= b; end++) {
                *ss_band_at(A, at[end] + a, at[end] + b) += k;
            }
        }
    }
}

static bool stiffness(const void *strand, const double *q, ss_stiffness kind, double scale,
                      ss_band *A)
{
    const chain *c = strand;
    for (int k = 0; k < spring_count(c); k++) {
        const spring s = spring_at(c, q, k);
        const double across = 1.0 - s.rest / s.length;
        const double kinds[SS_STIFFNESS_KINDS] = {across, fmax(across, 0.0), 0.0};
        add_spring(&s, kinds[kind], scale * s.k, A);
    }
    for (int j = 1; j < c->n - 1; j++) {
        const double k = scale * twist_stiffness(c);
        *ss_band_at(A, STRIDE * j - 1, STRIDE * j - 1) += k;
        *ss_band_at(A, STRIDE * j + 3, STRIDE * j + 3) += k;
        *ss_band_at(A, STRIDE * j + 3, STRIDE * j - 1) -= k;
    }
    return true;
}

static void damping(const void *strand, const double *q, double scale, ss_band *A)
{
    const chain *c = strand;
    stiffness(strand, q, SS_STIFFNESS_GAUSS_NEWTON, scale * c->relaxation, A);
}

static void inertia(const void *strand, const double *q, ss_band *M)
{
    const chain *c = strand;
    (void)q;
    for (int j = 0; j < c->n - 1; j++) {
        *ss_band_at(M, STRIDE * j + 3, STRIDE * j + 3) +=
            c->rigidity.spin_inertia * c->length / (c->n - 1);
    }
}

const ss_strand_model twisting_chain = {
    .name = "twisting-chain",
    .summary = "particles, springs and angles of twist",
    .reference = "",
    .scheme = "linear",
    .frame = SS_FRAME_WORLD,
    .make = make,
    .free = free_chain,
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
    .inertia = inertia,
};
