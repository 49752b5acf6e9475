// strands/models/der_group.c -- rods of the model der that are alike, strand by strand in the
// lanes, through the iterates of quasi.h.
//
// Every number is that of all strands of the group at once: frames are carried as in der.c, forces
// are those of der_kernel.h, and
//
//     M = base + h^2 K_s(q*),   M = L D L',   M (v - v*) = I - g
//
// on the free dofs, which follow each other. There is no internal damping.
//
// doc/strands.md, "Thesis".
#include "base/clock.h"
#include "strands/models/der_kernel.h"

#include "strands/schemes/quasi.h"
#include "strands/step/stepper.h"

#include <float.h>
#include <stdlib.h>

#define TURN  6.28318530717958647692
#define ALIGN 64

_Static_assert(LANES == SS_QUASI_LANES, "a lane is a strand");

// ---- M = L D L'
//
// M is that of `nfree` dofs from `first` on, a band by columns of HALF + 1 from their diagonals on.

#define HALF (2 * SS_DER_STRIDE + 2)

// Returns the rows that column j of M has below its diagonal: joints couple three vertices and the
// angles between, so that the four columns from a vertex on end in the same row.
static int band_depth(int first, int nfree, int j)
{
    const int most = HALF - (first + j) % SS_DER_STRIDE, left = nfree - 1 - j;
    return left < most ? left : most;
}

// Puts L D in the place of M, and 1/D. Returns the bits of the strands that have a factor: their
// pivots exceed the rounding of what was taken off.
static unsigned band_factor(int first, int nfree, lanes *M, lanes *D)
{
    lane_mask good = {0};
    good = ~good;
    for (int j = 0; j < nfree; j++) {
        D[j] = M[(HALF + 1) * j];
    }
    for (int j = 0; j < nfree; j++) {
        const lanes *left = M + (HALF + 1) * j;
        const int below = band_depth(first, nfree, j);
        const lanes pivot = left[0], inverse = 1.0 / pivot;
        good &= pivot > (HALF + 1) * DBL_EPSILON * D[j];
        D[j] = inverse;
        for (int k = 1; k <= below; k++) {
            lanes *restrict right = M + (HALF + 1) * (j + k) - k;
            const lanes share = left[k] * inverse;
            for (int i = k; i <= below; i++) {
                right[i] -= share * left[i];
            }
        }
    }
    unsigned bits = 0;
    for (int l = 0; l < LANES; l++) {
        bits |= good[l] != 0 ? 1u << l : 0u;
    }
    return bits;
}

// x <- (L D L')^-1 x; column j of M holds that of L D
static void band_solve(int first, int nfree, const lanes *M, const lanes *D, lanes *x)
{
    for (int j = 0; j < nfree; j++) {
        const lanes *c = M + (HALF + 1) * j, scaled = x[j] * D[j];
        const int below = band_depth(first, nfree, j);
        for (int i = 1; i <= below; i++) {
            x[j + i] -= c[i] * scaled;
        }
        x[j] = scaled;
    }
    for (int j = nfree - 1; j >= 0; j--) {
        const lanes *c = M + (HALF + 1) * j;
        const int below = band_depth(first, nfree, j);
        lanes sum = {0.0};
        for (int i = 1; i <= below; i++) {
            sum += c[i] * x[j + i];
        }
        x[j] -= sum * D[j];
    }
}

// ---- Making a group

typedef struct group {
    int n, dofs, first, nfree; // edges; dofs, of which the free ones begin at first
    int count;
    unsigned there;    // bits of the strands that have not left
    int strand[LANES]; // of the world; beyond count the last one again
    const ss_der *rod[LANES];
    double braked;           // of the step: 1 + h drag
    lanes *x, *v, *about;    // [dofs] q*, v, v*
    lanes *mass, *fixed, *g; // [dofs] M0, the part of g that iterates share, g
    lane3 *t, *d1;           // [n] at q*
    lanes *mref;             // [n]
    shape *natural;          // [n]
    lanes *base;             // [(HALF + 1) nfree] of M
    lanes least;             // of K_s across an edge: -infinity, or 0 of strands with a filtered K
    void *memory;
} group;

// The memory of an iterate.
typedef struct work {
    lanes *M;  // [(HALF + 1) nfree], and then its factor
    lanes *D;  // [nfree] its diagonal, and then 1 / D
    lanes *dv; // [nfree] v - v*
} work;

static bool alike(const void *strand, const void *other)
{
    const ss_der *a = strand, *b = other;
    return a->n == b->n && a->clamp == b->clamp && a->two_frame == b->two_frame &&
           a->relaxation == 0.0 && b->relaxation == 0.0 && !a->plain_stretch && !b->plain_stretch &&
           memcmp(&a->rigidity, &b->rigidity, sizeof a->rigidity) == 0;
}

static bool allocate(group *s)
{
    const size_t n = (size_t)s->n, dofs = (size_t)s->dofs, nfree = (size_t)s->nfree;
    const size_t band = (HALF + 1) * nfree, each = sizeof(shape) / sizeof(lanes);
    const size_t count = 6 * dofs + (7 + each) * n + band;
    lanes *at = s->memory = aligned_alloc(ALIGN, count * sizeof *at);
    if (at == NULL) {
        return false;
    }
    memset(at, 0, count * sizeof *at);
    lanes **const vectors[] = {&s->x, &s->v, &s->about, &s->mass, &s->fixed, &s->g};
    for (int k = 0; k < 6; k++, at += dofs) {
        *vectors[k] = at;
    }
    s->t = (lane3 *)at;
    s->d1 = s->t + n;
    s->mref = at + 6 * n;
    s->natural = (shape *)(at + 7 * n);
    s->base = at + (7 + each) * n;
    return true;
}

static size_t group_scratch(const void *group_)
{
    const group *s = group_;
    return ((HALF + 3) * (size_t)s->nfree + (size_t)s->dofs) * sizeof(lanes);
}

static work work_in(const group *s, void *scratch)
{
    lanes *M = scratch, *D = M + (HALF + 1) * s->nfree;
    return (work){.M = M, .D = D, .dv = D + s->nfree};
}

// Takes the natural shape of a strand, which `balance` may have moved since it was made.
static void take_natural(group *s, int l)
{
    const ss_der *d = s->rod[l];
    for (int j = 0; j < s->n; j++) {
        shape *own = &s->natural[j];
        own->edge[l] = d->edge[j];
        own->inverse_edge[l] = d->inverse_edge[j];
        own->inverse_length[l] = d->inverse_length[j];
        own->twist[l] = d->twist[j];
        for (int c = 0; c < SS_DER_BENDS; c++) {
            own->bend[c][l] = d->bend[c][j];
        }
    }
}

static void take_mass(group *s, const ss_world *w, int l)
{
    const ss_strand *strand = &w->strands[s->strand[l]];
    const ss_der *d = s->rod[l];
    for (int i = 0; i <= s->n; i++) {
        for (int c = 0; c < 3; c++) {
            s->mass[SS_DER_STRIDE * i + c][l] = w->mass[strand->sample + i];
        }
    }
    for (int j = 0; j < s->n; j++) {
        s->mass[SS_DER_STRIDE * j + 3][l] = d->rigidity.spin_inertia * d->share[j] * d->length;
    }
}

static void group_free(void *group_)
{
    group *s = group_;
    if (s != NULL) {
        free(s->memory);
    }
    free(s);
}

static void *group_make(const ss_world *w, const int *strand, int count)
{
    const ss_der *d = w->strands[strand[0]].self;
    group *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return NULL;
    }
    s->n = d->n;
    s->dofs = ss_der_dofs(d);
    s->first = ss_clamps_root(d->clamp) ? SS_DER_STRIDE + 3 : 0;
    s->nfree = s->dofs - d->nheld;
    s->count = count;
    if (!allocate(s)) {
        group_free(s);
        return NULL;
    }
    for (int l = 0; l < LANES; l++) {
        s->strand[l] = strand[l < count ? l : count - 1];
        s->rod[l] = w->strands[s->strand[l]].self;
        take_mass(s, w, l);
    }
    return s;
}

// ---- To and from the strands

static void take(const double *from, int count, int l, lanes *to)
{
    for (int j = 0; j < count; j++) {
        to[j][l] = from[j];
    }
}

static void give(const lanes *from, int count, int l, double *to)
{
    for (int j = 0; j < count; j++) {
        to[j] = from[j][l];
    }
}

static void take_frames(group *s, const double *q, int l)
{
    for (int j = 0; j < s->n; j++) {
        const double *frame = ss_der_frame(s->rod[l], q, j);
        const ss_vec3 t = ss_unit(ss_minus(ss_der_vertex(q, j + 1), ss_der_vertex(q, j)));
        s->t[j].x[l] = t.x;
        s->t[j].y[l] = t.y;
        s->t[j].z[l] = t.z;
        s->d1[j].x[l] = frame[0];
        s->d1[j].y[l] = frame[1];
        s->d1[j].z[l] = frame[2];
        s->mref[j][l] = frame[3];
    }
}

static void take_base(group *s, const ss_quasi_step *step, int l)
{
    const ss_systems *systems = step->systems;
    const int k = s->strand[l];
    const ss_band *M = &systems->M[k];
    take(step->quasi->base + (M->x - systems->M_numbers), (HALF + 1) * s->nfree, l, s->base);
    s->least[l] = systems->kinds[k] == SS_STIFFNESS_EXACT ? -INFINITY : 0.0;
}

static void group_begin(void *group_, const ss_quasi_step *step)
{
    group *s = group_;
    const ss_world *w = step->world;
    s->there = (1u << s->count) - 1u;
    s->braked = 1.0 + step->h * ss_strand_drag_rate(w, s->strand[0]);
    for (int l = 0; l < LANES; l++) {
        const ss_strand *strand = &w->strands[s->strand[l]];
        const ss_placed at = ss_snapshot_strand(step->here, w, s->strand[l]);
        const double *q = w->now.q + strand->q, *past = w->now.v + strand->v;
        double *load = step->scratch;
        take_natural(s, l);
        take(q, s->dofs, l, s->x);
        take(step->v + strand->v, s->dofs, l, s->v);
        take_frames(s, q, l);
        take_base(s, step, l);
        memset(load, 0, (size_t)s->dofs * sizeof *load);
        ss_strand_load(w, s->strand[l], &at, load);
        for (int j = 0; j < s->dofs; j++) {
            s->fixed[j][l] = -s->mass[j][l] * past[j] - step->h * load[j];
        }
    }
    memset(s->about, 0, (size_t)s->dofs * sizeof *s->about);
}

// ---- One iterate

static lane3 vertex(const lanes *x, int i)
{
    return (lane3){x[SS_DER_STRIDE * i], x[SS_DER_STRIDE * i + 1], x[SS_DER_STRIDE * i + 2]};
}

static void add_to(lanes *x, int i, lane3 a)
{
    x[SS_DER_STRIDE * i] += a.x;
    x[SS_DER_STRIDE * i + 1] += a.y;
    x[SS_DER_STRIDE * i + 2] += a.z;
}

static lane3 unit(lane3 a)
{
    return lane3_scaled(1.0 / lanes_root(lane3_dot(a, a)), a);
}

// Returns x carried from the direction t to s.
static lane3 transported(lane3 t, lane3 s, lane3 x)
{
    const lane3 b = lane3_cross(t, s), bx = lane3_cross(b, x);
    return lane3_along(lane3_plus(x, bx), 1.0 / (1.0 + lane3_dot(t, s)), lane3_cross(b, bx));
}

static void move(group *s, double h)
{
    for (int j = 0; j < s->dofs; j++) {
        s->x[j] += h * (s->v[j] - s->about[j]);
        s->about[j] = s->v[j];
    }
}

// Returns edge j where x is now, with its frame.
static edges carry(group *s, int j)
{
    const lane3 e = lane3_minus(vertex(s->x, j + 1), vertex(s->x, j));
    const lanes square = lane3_dot(e, e), inverse = 1.0 / lanes_root(square);
    const lane3 t = lane3_scaled(inverse, e);
    const lane3 moved = transported(s->t[j], t, s->d1[j]);
    const lane3 d1 = unit(lane3_along(moved, -lane3_dot(moved, t), t));
    lanes sine, cosine;
    if (j > 0) {
        const lane3 over = transported(s->t[j - 1], t, s->d1[j - 1]);
        const lanes angle = lanes_angle(lane3_dot(t, lane3_cross(over, d1)), lane3_dot(over, d1));
        s->mref[j] = angle + TURN * lanes_rounded((s->mref[j] - angle) / TURN);
    }
    s->t[j] = t;
    s->d1[j] = d1;
    lanes_sine_cosine(s->x[SS_DER_STRIDE * j + 3], &sine, &cosine);
    const lane3 m1 = lane3_along(lane3_scaled(cosine, d1), sine, lane3_cross(t, d1));
    return (edges){.t = t,
                   .m1 = m1,
                   .m2 = lane3_cross(t, m1),
                   .length = square * inverse,
                   .inverse = inverse,
                   .theta = s->x[SS_DER_STRIDE * j + 3],
                   .mref = s->mref[j]};
}

// g += h dE/dx of the joint before edge j.
static void add_joint(group *s, int j, const edges *before, const edges *f, double h)
{
    const ss_der *d = s->rod[0];
    const joints at = joints_of(before, f);
    lanes w[SS_DER_BENDS];
    const lanes twist = moments(d, &at, &s->natural[j], w);
    const directions a = directions_of(&at, w);
    const slope bend = bend_slope(&at, &a), turn = twist_slope(&at);
    const slope g = slope_along(bend, twist, &turn);
    const lanes one = lanes_all(h);
    add_to(s->g, j - 1, lane3_scaled(-one, g.e));
    add_to(s->g, j, lane3_scaled(one, lane3_minus(g.e, g.f)));
    add_to(s->g, j + 1, lane3_scaled(one, g.f));
    s->g[SS_DER_STRIDE * j - 1] += h * g.th[0];
    s->g[SS_DER_STRIDE * j + 3] += h * g.th[1];
}

static bool is_free(const group *s, int dof)
{
    return dof >= s->first && dof < s->first + s->nfree;
}

// Returns column `dof` of M, from its diagonal on.
static lanes *column(const group *s, lanes *M, int dof)
{
    return M + (HALF + 1) * (dof - s->first);
}

// Adds h^2 K_s of edge j to M, for free vertices: EA [(1/|ebar| - across) tt' + across I].
static void add_edge(const group *s, int j, lanes inverse, double h, lanes *M)
{
    const double EA = h * h * s->rod[0]->rigidity.stretch;
    const lanes rest = s->natural[j].inverse_edge, plain = rest - inverse;
    const lanes across = lanes_where(plain > s->least, plain, s->least);
    const lanes along = EA * (rest - across), diagonal = EA * across;
    const lanes t[3] = {s->t[j].x, s->t[j].y, s->t[j].z};
    const int near = SS_DER_STRIDE * j, far = near + SS_DER_STRIDE;
    const bool one = is_free(s, near), other = is_free(s, far);
    for (int c = 0; c < 3; c++) {
        for (int i = 0; i < 3; i++) {
            const lanes K = i == c ? along * t[i] * t[c] + diagonal : along * t[i] * t[c];
            if (one && other) {
                column(s, M, near + c)[SS_DER_STRIDE + i - c] -= K;
            }
            if (one && i >= c) {
                column(s, M, near + c)[i - c] += K;
            }
            if (other && i >= c) {
                column(s, M, far + c)[i - c] += K;
            }
        }
    }
}

static void take_first(const group *s, lanes *M)
{
    for (int j = 0; j < s->nfree; j++) {
        memcpy(M + (HALF + 1) * j, s->base + (HALF + 1) * j,
               (size_t)(band_depth(s->first, s->nfree, j) + 1) * sizeof *M);
    }
}

// Forms g and M at q*.
static void form(group *s, double h, lanes *M)
{
    take_first(s, M);
    for (int j = 0; j < s->dofs; j++) {
        s->g[j] = s->braked * s->mass[j] * s->about[j] + s->fixed[j];
    }
    edges before = {.theta = {0.0}};
    for (int j = 0; j < s->n; j++) {
        const edges f = carry(s, j);
        const lanes stretch = f.length * s->natural[j].inverse_edge - 1.0;
        const lane3 pull = lane3_scaled(h * s->rod[0]->rigidity.stretch * stretch, f.t);
        add_to(s->g, j, lane3_scaled(lanes_all(-1.0), pull));
        add_to(s->g, j + 1, pull);
        if (j > 0) {
            add_joint(s, j, &before, &f, h);
        }
        add_edge(s, j, f.inverse, h, M);
        before = f;
    }
}

// Gives v, and how far it is from v*, to the strands with these bits.
static void give_velocities(const group *s, const ss_quasi_step *step, const lanes *dv,
                            unsigned bits)
{
    lanes sum = {0.0};
    for (int j = 0; j < s->nfree; j++) {
        if ((s->first + j) % SS_DER_STRIDE < 3) {
            sum += dv[j] * dv[j];
        }
    }
    for (int l = 0; l < s->count; l++) {
        if ((bits >> l & 1u) != 0) {
            double *v = step->v + step->world->strands[s->strand[l]].v;
            give(s->v + s->first, s->nfree, l, v + s->first);
            step->change[s->strand[l]] = sqrt(sum[l]);
        }
    }
}

static unsigned group_iterate(void *group_, const ss_quasi_step *step)
{
    group *s = group_;
    const ss_world *w = step->world;
    const work at = work_in(s, step->scratch);
    move(s, step->h);
    form(s, step->h, at.M);
    const double start = ss_clock_now();
    const unsigned good = band_factor(s->first, s->nfree, at.M, at.D);
    step->quasi->seconds[s->strand[0]] = ss_clock_now() - start;
    for (int l = 0; l < LANES; l++) {
        take(step->impulses + w->strands[s->strand[l]].v + s->first, s->nfree, l, at.dv);
    }
    for (int j = 0; j < s->nfree; j++) {
        at.dv[j] -= s->g[s->first + j];
    }
    band_solve(s->first, s->nfree, at.M, at.D, at.dv);
    for (int j = 0; j < s->nfree; j++) {
        s->v[s->first + j] = s->about[s->first + j] + at.dv[j];
    }
    give_velocities(s, step, at.dv, s->there & good);
    return s->there & ~good;
}

static void group_leave(void *group_, int k)
{
    group *s = group_;
    s->there &= ~(1u << k);
}

// Gives M at q*, as `form` made it.
static void give_matrix(const group *s, double h, int l, lanes *M, ss_band *to)
{
    take_first(s, M);
    for (int j = 0; j < s->n; j++) {
        const lane3 e = lane3_minus(vertex(s->x, j + 1), vertex(s->x, j));
        add_edge(s, j, 1.0 / lanes_root(lane3_dot(e, e)), h, M);
    }
    for (int j = 0; j < s->nfree; j++) {
        const int at = (HALF + 1) * j, rows = band_depth(s->first, s->nfree, j) + 1;
        give(M + at, rows, l, to->x + at);
        memset(to->x + at + rows, 0, (size_t)(HALF + 1 - rows) * sizeof *to->x);
    }
}

static void group_end(const void *group_, const ss_quasi_step *step, ss_systems *systems, int l)
{
    const group *s = group_;
    const int k = s->strand[l];
    const ss_strand *strand = &step->world->strands[k];
    double *q = step->q + strand->q;
    give(s->x, s->dofs, l, q);
    for (int j = 0; j < s->n; j++) {
        double *frame = q + s->dofs + 4 * j;
        frame[0] = s->d1[j].x[l];
        frame[1] = s->d1[j].y[l];
        frame[2] = s->d1[j].z[l];
        frame[3] = s->mref[j][l];
    }
    give(s->about, s->dofs, l, step->about + strand->v);
    give(s->g, s->dofs, l, step->quasi->g + strand->v);
    if (systems != NULL) {
        give_matrix(s, step->h, l, work_in(s, step->scratch).M, &systems->M[k]);
    }
}

const ss_quasi_group_model ss_der_group = {
    .alike = alike,
    .make = group_make,
    .scratch = group_scratch,
    .free = group_free,
    .begin = group_begin,
    .iterate = group_iterate,
    .end = group_end,
    .leave = group_leave,
};
