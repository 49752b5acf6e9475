// strands/system.c -- sums over the samples of a strand: M, f and energies.
#include "strands/system.h"

#include "base/assert.h"
#include "strands/band.h"

#include <stdlib.h>
#include <string.h>
#include "strands/world.h"

struct ss_system_scratch {
    double *band;       // of the largest strand
    double *product;    // [nv] of the largest strand
    ss_vec3 *convected; // [nsamples] of the largest strand
};

// ---- Loads

static void add_pulls(const ss_strand *s, const ss_placed *at, double *F)
{
    ss_point_push(&at->points[0], s->pull_root, F);
    ss_point_push(&at->points[s->size.npoints - 1], s->pull_tip, F);
}

void ss_strand_load(const ss_world *w, int k, const ss_placed *at, double *load)
{
    const ss_strand *s = &w->strands[k];
    for (int p = 0; p < s->size.nsamples; p++) {
        ss_point_push(&at->samples[p], ss_scaled(w->mass[s->sample + p], w->gravity), load);
    }
    add_pulls(s, at, load);
}

// ---- The system

ss_system_scratch *ss_system_scratch_new(const ss_world *w)
{
    size_t band = 1, dofs = 1, samples = 1;
    for (int k = 0; k < w->nstrands; k++) {
        const ss_strand_size *size = &w->strands[k].size;
        const size_t n = (size_t)size->nv, height = (size_t)size->half_bandwidth + 1;
        dofs = n > dofs ? n : dofs;
        band = n * height > band ? n * height : band;
        samples = (size_t)size->nsamples > samples ? (size_t)size->nsamples : samples;
    }
    ss_system_scratch *s = malloc(sizeof *s);
    if (s == NULL) {
        return NULL;
    }
    *s = (ss_system_scratch){.band = malloc(band * sizeof *s->band),
                             .product = malloc(dofs * sizeof *s->product),
                             .convected = malloc(samples * sizeof *s->convected)};
    if (s->band == NULL || s->product == NULL || s->convected == NULL) {
        ss_system_scratch_free(s);
        return NULL;
    }
    return s;
}

void ss_system_scratch_free(ss_system_scratch *s)
{
    if (s == NULL) {
        return;
    }
    free(s->band);
    free(s->product);
    free(s->convected);
    free(s);
}

// M0 = sum m J' J is most of the work here. Samples that the same dofs move are taken together:
// their rows of J are laid out LANES wide, and LANES entries of a column of M0 at a time are summed
// over all of them before they are added to M. Every entry is a sum in the order of the samples,
// whatever the vectors of the CPU.
#define LANES    16
#define TOGETHER 8 // samples

typedef struct block {
    const ss_strand_point *samples; // their dofs are those of the first
    int count;                      // of dofs
    int nrows;                      // 3 a sample
    double mass[3 * TOGETHER];
    double J[3 * TOGETHER][LANES]; // dofs from .. from + LANES - 1, 0 behind the last
} block;

static void load_block(block *b, int from)
{
    const int width = b->count - from < LANES ? b->count - from : LANES;
    for (int k = 0; k < b->nrows; k++) {
        const double *row = b->samples[k / 3].J + (k % 3) * b->count + from;
        for (int i = 0; i < width; i++) {
            b->J[k][i] = row[i];
        }
        for (int i = width; i < LANES; i++) {
            b->J[k][i] = 0.0;
        }
    }
}

// Adds entries from .. from + LANES - 1 of column j, of which those below the diagonal count.
static void add_column(const block *b, int from, int j, ss_band *M)
{
    double sum[LANES] = {0.0};
    for (int k = 0; k < b->nrows; k++) {
        const double scale = b->mass[k] * b->samples[k / 3].J[(k % 3) * b->count + j];
        for (int i = 0; i < LANES; i++) {
            sum[i] += scale * b->J[k][i];
        }
    }
    const int end = from + LANES < b->count ? from + LANES : b->count;
    const int column = ss_point_dof(b->samples, j);
    for (int i = from > j ? from : j; i < end; i++) {
        *ss_band_at(M, ss_point_dof(b->samples, i), column) += sum[i - from];
    }
}

static void add_samples(const ss_strand_point *samples, const double *mass, int count, ss_band *M)
{
    block b = {.samples = samples, .count = samples[0].count, .nrows = 3 * count};
    for (int k = 0; k < b.nrows; k++) {
        b.mass[k] = mass[k / 3];
    }
    for (int from = 0; from < b.count; from += LANES) {
        load_block(&b, from);
        for (int j = 0; j < b.count && j < from + LANES; j++) {
            add_column(&b, from, j, M);
        }
    }
}

static bool same_dofs(const ss_strand_point *a, const ss_strand_point *b)
{
    return a->count == b->count && a->dofs == b->dofs && (a->dofs != NULL || a->first == b->first);
}

static void set_inertia(const ss_world *w, const ss_strand *s, const double *q, const ss_placed *at,
                        ss_band *M)
{
    const ss_strand_point *p = at->samples;
    const int n = s->size.nsamples;
    ss_band_clear(M);
    if (s->model->mass != NULL) {
        s->model->mass(s->self, q, M);
        return;
    }
    for (int j = 0; s->size.lumped && j < 3 * n; j++) {
        const int dof = ss_point_dof(&p[j / 3], j % 3);
        *ss_band_at(M, dof, dof) += w->mass[s->sample + j / 3];
    }
    for (int i = 0, count = 0; i < n && !s->size.lumped; i += count) {
        count = 1;
        while (count < TOGETHER && i + count < n && same_dofs(&p[i + count], &p[i])) {
            count++;
        }
        add_samples(p + i, w->mass + s->sample + i, count, M);
    }
    if (s->model->inertia != NULL) {
        s->model->inertia(s->self, q, M);
    }
}

double ss_strand_drag_rate(const ss_world *w, int k)
{
    const ss_strand *s = &w->strands[k];
    double mass = 0.0, length = 0.0;
    for (int p = 0; p < s->size.nsamples; p++) {
        mass += w->mass[s->sample + p];
        length += w->length[s->sample + p];
    }
    return w->drag * length / mass;
}

ss_surroundings ss_strand_surroundings(const ss_world *w, int k, double time)
{
    const ss_strand *s = &w->strands[k];
    ss_surroundings around = {.root = {.pose = ss_pose_identity()},
                              .gravity = w->gravity,
                              .drag = ss_strand_drag_rate(w, k),
                              .pull_root = s->pull_root,
                              .pull_tip = s->pull_tip,
                              .winds = w->nwinds > 0 ? w : NULL,
                              .time = time,
                              .sample = s->sample};
    if (s->model->frame == SS_FRAME_ROOT) {
        ss_motion_state *root = &around.root;
        ss_motion_state carrier, reference;
        ss_motion_at(&w->bodies[s->carrier], time, &carrier);
        ss_motion_at(&w->bodies[s->reference], time, &reference);
        *root = ss_strand_felt(s, &carrier, &reference);
        const ss_vec3 arm = ss_turned(&root->pose.turn, s->root.place);
        const ss_vec3 carried = ss_cross(root->spin, arm);
        root->velocity = ss_plus(root->velocity, carried);
        root->acceleration = ss_plus(root->acceleration, ss_plus(ss_cross(root->spin_rate, arm),
                                                                 ss_cross(root->spin, carried)));
        root->pose = ss_pose_product(&root->pose, &s->root);
    }
    return around;
}

// Returns the velocity of a point d away from the body's place that the body carries.
static ss_vec3 carried_velocity(const ss_motion_state *body, ss_vec3 d)
{
    return ss_plus(body->velocity, ss_cross(body->spin, d));
}

// Returns a_base of system.h for a point that moves with `relative` against the body.
static ss_vec3 carried_acceleration(const ss_motion_state *body, ss_vec3 d, ss_vec3 relative)
{
    const ss_vec3 turning =
        ss_along(ss_cross(body->spin, d), 2.0, relative); // w x (w x d) + 2 w x J v_n
    return ss_plus(ss_plus(body->acceleration, ss_cross(body->spin_rate, d)),
                   ss_cross(body->spin, turning));
}

// F += strength J'(pose - x) + damping J' (rate of the pose), seen from the carrier.
static void add_posing(const ss_strand *s, const ss_placed *at, double *F)
{
    const ss_posing_at p = ss_posing_find(s->posing, at->time);
    for (int i = 0; i < s->size.npoints; i++) {
        const ss_vec3 way = ss_minus(p.to[i], p.from[i]);
        const ss_vec3 there = ss_pose_point(&at->carrier.pose, ss_along(p.from[i], p.share, way));
        const ss_vec3 rate = ss_turned(&at->carrier.pose.turn, ss_scaled(p.rate, way));
        const ss_vec3 pull = ss_scaled(p.strength, ss_minus(there, at->points[i].x));
        ss_point_push(&at->points[i], ss_along(pull, p.damping, rate), F);
    }
}

// A += weight J'J over all points.
static void add_points(const ss_strand *s, const ss_placed *at, double weight, ss_band *A)
{
    for (int i = 0; i < s->size.npoints; i++) {
        add_samples(&at->points[i], &weight, 1, A);
    }
}

// Returns the wind that sample i of a strand feels, m/s.
static ss_vec3 wind_at(const ss_world *w, const ss_strand *s, int i, const ss_placed *at)
{
    if (w->nwinds == 0) {
        return ss_vec(0.0, 0.0, 0.0);
    }
    const ss_strand_point *p = &at->points[w->wind_places[s->sample + i].segment];
    const ss_vec3 tangent = ss_unit(ss_minus(p[1].x, p[0].x));
    return ss_wind_felt(w, at->time, s->sample + i, at->samples[i].x, tangent);
}

// Prefetches the J of a strand: those of all strands are more than caches hold.
static void ask_for_samples(const ss_strand *s, const ss_placed *at)
{
    const ss_strand_point *p = at->samples;
    for (int i = 0; i < s->size.nsamples; i++) {
        const char *J = (const char *)p[i].J;
        for (size_t k = 0; k < 3 * (size_t)p[i].count * sizeof(double); k += 64) {
            __builtin_prefetch(J + k);
        }
    }
}

// F += all forces but damping, and but the drag of the strand's own velocity.
static void add_forces(const ss_world *w, const ss_strand *s, const double *q, const double *v,
                       const ss_placed *at, ss_vec3 *convected, double *F)
{
    const bool convects = s->model->convect != NULL;
    if (convects) {
        ask_for_samples(s, at);
        const ss_pose root = ss_strand_root(s, at);
        s->model->convect(s->self, &root, q, v, convected);
    }
    for (int i = 0; i < s->size.nsamples; i++) {
        const ss_strand_point *p = &at->samples[i];
        const ss_vec3 d = ss_minus(p->x, at->felt.pose.place);
        ss_vec3 a = ss_minus(w->gravity, carried_acceleration(&at->felt, d, ss_point_rate(p, v)));
        a = convects ? ss_minus(a, convected[i]) : a;
        const ss_vec3 against = ss_minus(carried_velocity(&at->felt, d), wind_at(w, s, i, at));
        const ss_vec3 force = ss_along(ss_scaled(w->mass[s->sample + i], a),
                                       -w->drag * w->length[s->sample + i], against);
        ss_point_push(p, force, F);
    }
    add_pulls(s, at, F);
    if (s->posing != NULL) {
        add_posing(s, at, F);
    }
    if (s->model->force != NULL) {
        s->model->force(s->self, q, v, F);
    }
}

// y += scale C v
static void add_damping_product(const ss_strand *s, const double *q, const double *v, double scale,
                                const ss_placed *at, ss_band *scratch, double *y)
{
    ss_band_clear(scratch);
    if (s->model->damping != NULL) {
        s->model->damping(s->self, q, scale, scratch);
    }
    if (s->posing != NULL) {
        add_points(s, at, scale * ss_posing_find(s->posing, at->time).damping, scratch);
    }
    ss_band_add_product(scratch, v, y);
}

void ss_strand_forces(const ss_world *w, int k, const ss_world_state *state, const ss_placed *at,
                      ss_system_scratch *scratch, double *F)
{
    const ss_strand *s = &w->strands[k];
    const double *q = state->q + s->q, *v = state->v + s->v;
    const int n = s->size.nv;
    const double drag = ss_strand_drag_rate(w, k);
    ss_band A = {n, s->size.half_bandwidth, scratch->band};
    double *Mv = scratch->product;
    memset(F, 0, (size_t)n * sizeof *F);
    memset(Mv, 0, (size_t)n * sizeof *Mv);
    add_forces(w, s, q, v, at, scratch->convected, F);
    set_inertia(w, s, q, at, &A);
    ss_band_add_product(&A, v, Mv);
    for (int j = 0; j < n; j++) {
        F[j] -= drag * Mv[j];
    }
    add_damping_product(s, q, v, -1.0, at, &A, F);
}

void ss_strand_residual(const ss_world *w, int k, const ss_iterate *it, const ss_placed *at,
                        ss_system_scratch *scratch, double *g)
{
    const ss_strand *s = &w->strands[k];
    const double *q = it->at->q + s->q, *v = it->at->v + s->v, *past = it->past + s->v;
    const int n = s->size.nv;
    const double h = it->h, braked = 1.0 + h * ss_strand_drag_rate(w, k);
    ss_band A = {n, s->size.half_bandwidth, scratch->band};
    double *change = scratch->product;
    memset(g, 0, (size_t)n * sizeof *g);
    add_forces(w, s, q, v, at, scratch->convected, g);
    for (int j = 0; j < n; j++) {
        change[j] = braked * v[j] - past[j];
        g[j] *= -h;
    }
    set_inertia(w, s, q, at, &A);
    ss_band_add_product(&A, change, g);
    add_damping_product(s, q, v, h, at, &A, g);
}

// A += scale K, of the model and of a pose. False where the model has no K of that kind.
static bool add_whole_stiffness(const ss_strand *s, const double *q, const ss_placed *at,
                                ss_stiffness kind, double scale, ss_band *A)
{
    const bool has = s->model->stiffness != NULL ? s->model->stiffness(s->self, q, kind, scale, A)
                                                 : kind == SS_STIFFNESS_EXACT;
    if (has && s->posing != NULL) {
        add_points(s, at, scale * ss_posing_find(s->posing, at->time).strength, A);
    }
    return has;
}

// M += scale K; f += what K makes of the way that the iterate is ahead.
static bool add_stiffness(const ss_strand *s, const ss_iterate *it, const ss_placed *at,
                          ss_system_scratch *scratch, ss_band *M, double *f)
{
    const double *q = it->at->q + s->q;
    const double scale = it->h * it->h * it->share * it->way;
    if (it->ahead == NULL || (s->model->stiffness == NULL && s->posing == NULL)) {
        return add_whole_stiffness(s, q, at, it->kind, scale, M);
    }
    const size_t count = (size_t)M->n * (size_t)(M->half + 1);
    ss_band K = {M->n, M->half, scratch->band};
    ss_band_clear(&K);
    if (!add_whole_stiffness(s, q, at, it->kind, scale, &K)) {
        return false;
    }
    double *ahead = scratch->product;
    for (int j = 0; j < M->n; j++) {
        ahead[j] = it->ahead[s->v + j] / it->way;
    }
    ss_band_add_product(&K, ahead, f);
    for (size_t i = 0; i < count; i++) {
        M->x[i] += K.x[i];
    }
    return true;
}

ss_iterate ss_iterate_first(const ss_world_state *at, double h)
{
    return (ss_iterate){.at = at, .h = h, .share = 1.0, .way = 1.0, .past = at->v};
}

bool ss_strand_system(const ss_world *w, int k, const ss_iterate *it, const ss_placed *at,
                      ss_system_scratch *scratch, ss_band *M, double *f)
{
    const ss_strand *s = &w->strands[k];
    const double *q = it->at->q + s->q, *v = it->at->v + s->v;
    const int n = s->size.nv;
    ss_assert(M->n == n && M->half == s->size.half_bandwidth);
    const double drag = ss_strand_drag_rate(w, k), h = it->h * it->share;
    double *Mv = scratch->product;
    memset(f, 0, (size_t)n * sizeof *f);
    add_forces(w, s, q, v, at, scratch->convected, f);
    set_inertia(w, s, q, at, M);
    memset(Mv, 0, (size_t)n * sizeof *Mv);
    ss_band_add_product(M, it->past + s->v, Mv);
    for (int j = 0; j < n; j++) {
        f[j] = h * f[j] + Mv[j];
    }
    for (int j = 0; j < n && it->known != NULL; j++) {
        f[j] += it->h * it->known[s->v + j];
    }
    for (int j = 0; j < n * (M->half + 1); j++) {
        M->x[j] *= 1.0 + h * drag;
    }
    if (it->particles) {
        return true;
    }
    if (s->model->damping != NULL) {
        s->model->damping(s->self, q, h, M);
    }
    if (s->posing != NULL) {
        add_points(s, at, h * ss_posing_find(s->posing, at->time).damping, M);
    }
    return add_stiffness(s, it, at, scratch, M, f);
}

void ss_strand_project(const ss_world *w, int k, const ss_world_state *state, double h,
                       ss_system_scratch *scratch, ss_band *M, double *f, double *end,
                       double *after)
{
    const ss_strand *s = &w->strands[k];
    const size_t n = (size_t)s->size.nv;
    ss_assert(s->model->project != NULL && h > 0.0);
    ss_band L = {M->n, M->half, scratch->band};
    memcpy(L.x, M->x, n * (size_t)(M->half + 1) * sizeof *L.x);
    if (!ss_band_factor(&L, scratch->product)) {
        return;
    }
    memcpy(end, f, n * sizeof *end);
    ss_band_solve(&L, scratch->product, end);
    s->model->project(s->self, state->q + s->q, h, end, after, M);
    memset(f, 0, n * sizeof *f);
    ss_band_add_product(M, end, f);
}

// ---- Energies

void ss_strand_energy(const ss_world *w, int k, const ss_world_state *state, const ss_placed *at,
                      ss_energy *energy)
{
    const ss_strand *s = &w->strands[k];
    const double *v = state->v + s->v;
    *energy = (ss_energy){0};
    if (s->model->energy != NULL) {
        energy->elastic = s->model->energy(s->self, state->q + s->q);
    }
    for (int i = 0; i < s->size.nsamples; i++) {
        const ss_strand_point *p = &at->samples[i];
        const double m = w->mass[s->sample + i];
        const ss_vec3 d = ss_minus(p->x, at->carrier.pose.place);
        const ss_vec3 velocity = ss_plus(carried_velocity(&at->carrier, d), ss_point_rate(p, v));
        energy->kinetic += 0.5 * m * ss_dot(velocity, velocity);
        energy->potential -= m * ss_dot(w->gravity, p->x);
    }
    energy->potential -= ss_dot(s->pull_root, at->points[0].x) +
                         ss_dot(s->pull_tip, at->points[s->size.npoints - 1].x);
}

double ss_strand_objective(const ss_world *w, int k, const ss_iterate *it, const ss_placed *at,
                           const double *impulses, ss_system_scratch *scratch, double *size)
{
    const ss_strand *s = &w->strands[k];
    const double *q = it->at->q + s->q, *v = it->at->v + s->v, *past = it->past + s->v;
    const int n = s->size.nv;
    const double braking = it->h * ss_strand_drag_rate(w, k);
    ss_band A = {n, s->size.half_bandwidth, scratch->band};
    double *change = scratch->product, pushed = 0.0;
    ss_energy energy;
    set_inertia(w, s, q, at, &A);
    for (int j = 0; j < n; j++) {
        change[j] = v[j] - past[j];
        pushed += impulses[j] * v[j];
    }
    double moved = ss_band_square(&A, change) + braking * ss_band_square(&A, v);
    if (s->model->damping != NULL) {
        ss_band_clear(&A);
        s->model->damping(s->self, q, it->h, &A);
        moved += ss_band_square(&A, v);
    }
    ss_strand_energy(w, k, it->at, at, &energy);
    *size = 0.5 * moved + energy.elastic + fabs(energy.potential) + fabs(pushed);
    return 0.5 * moved + energy.elastic + energy.potential - pushed;
}
