// strands/step/systems.c -- the systems of all strands, factored one by one.
#include "strands/step/systems.h"

#include "base/team.h"
#include "strands/band.h"
#include "strands/system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- Systems of all strands

static size_t band_count(const ss_strand_size *size)
{
    return (size_t)size->nv * (size_t)(size->half_bandwidth + 1);
}

static double *numbers(size_t count)
{
    return malloc((count + 1) * sizeof(double));
}

static bool allocate_rooms(ss_systems *s, const ss_world *w, size_t largest, size_t dofs,
                           int threads)
{
    s->rooms = calloc((size_t)threads, sizeof *s->rooms);
    bool ok = s->rooms != NULL;
    s->nrooms = ok ? threads : 0;
    for (int i = 0; i < s->nrooms; i++) {
        ss_systems_room *room = &s->rooms[i];
        *room = (ss_systems_room){numbers(largest), numbers(dofs), ss_system_scratch_new(w)};
        ok = ok && room->whole != NULL && room->right != NULL && room->scratch != NULL;
    }
    s->team = threads > 1 && ok ? ss_team_new(threads) : NULL;
    return ok && (threads == 1 || s->team != NULL);
}

static bool allocate(ss_systems *s, const ss_world *w, int threads)
{
    const size_t n = (size_t)w->nstrands, nv = (size_t)w->nv;
    size_t count = 0, largest = 0, dofs = 0;
    for (size_t k = 0; k < n; k++) {
        const ss_strand_size *size = &w->strands[k].size;
        count += band_count(size);
        if (size->nheld > 0) {
            largest = band_count(size) > largest ? band_count(size) : largest;
            dofs = (size_t)size->nv > dofs ? (size_t)size->nv : dofs;
        }
    }
    *s = (ss_systems){.M = malloc((n + 1) * sizeof *s->M),
                      .L = malloc((n + 1) * sizeof *s->L),
                      .M_numbers = numbers(count),
                      .L_numbers = numbers(count),
                      .D = numbers(nv),
                      .f = numbers(nv),
                      .held = calloc(nv + 1, sizeof *s->held),
                      .free = malloc((nv + 1) * sizeof *s->free),
                      .place = malloc((nv + 1) * sizeof *s->place),
                      .end = numbers(nv),
                      .after = numbers(nv),
                      .residual = numbers(nv),
                      .kinds = calloc(n + 1, sizeof *s->kinds),
                      .definite = calloc(n + 1, sizeof *s->definite),
                      .lift = calloc(n + 1, sizeof *s->lift)};
    return s->M != NULL && s->L != NULL && s->M_numbers != NULL && s->L_numbers != NULL &&
           s->D != NULL && s->f != NULL && s->held != NULL && s->free != NULL && s->place != NULL &&
           s->end != NULL && s->after != NULL && s->residual != NULL && s->kinds != NULL &&
           s->definite != NULL && s->lift != NULL && allocate_rooms(s, w, largest, dofs, threads);
}

// free and place of a strand; how many are free.
static int number_dofs(ss_systems *s, const ss_strand *strand)
{
    const ss_strand_size *size = &strand->size;
    int held = 0, count = 0;
    for (int j = 0; j < size->nv; j++) {
        if (held < size->nheld && size->held[held] == j) {
            s->place[strand->v + j] = -1;
            held++;
        } else {
            s->place[strand->v + j] = count;
            s->free[strand->v + count++] = j;
        }
    }
    return count;
}

bool ss_systems_init(ss_systems *s, const ss_world *w, int threads)
{
    if (!allocate(s, w, threads)) {
        return false;
    }
    size_t at = 0;
    for (int k = 0; k < w->nstrands; k++) {
        const ss_strand *strand = &w->strands[k];
        const int n = number_dofs(s, strand);
        const int half = strand->size.half_bandwidth;
        s->M[k] = (ss_band){n, half, s->M_numbers + at};
        s->L[k] = (ss_band){n, half, s->L_numbers + at};
        at += band_count(&strand->size);
    }
    return true;
}

void ss_systems_free(ss_systems *s)
{
    free(s->M);
    free(s->L);
    free(s->M_numbers);
    free(s->L_numbers);
    free(s->D);
    free(s->f);
    free(s->held);
    free(s->free);
    free(s->place);
    free(s->end);
    free(s->after);
    free(s->residual);
    free(s->kinds);
    free(s->definite);
    free(s->lift);
    for (int i = 0; i < s->nrooms; i++) {
        free(s->rooms[i].whole);
        free(s->rooms[i].right);
        ss_system_scratch_free(s->rooms[i].scratch);
    }
    free(s->rooms);
    ss_team_free(s->team);
    *s = (ss_systems){0};
}

typedef struct each {
    ss_strand_work *work;
    void *context;
} each;

static void work_on(void *context, int item, int thread)
{
    const each *e = context;
    e->work(e->context, item, thread);
}

void ss_systems_each(const ss_systems *s, int nstrands, ss_strand_work *work, void *context)
{
    each e = {work, context};
    ss_team_run(s->team, nstrands, work_on, &e);
}

// -- Held dofs

void ss_systems_script(ss_systems *s, const ss_world *w, const ss_world_state *from,
                       const ss_snapshot *to, double h, double way, const double *offset)
{
    for (int k = 0; k < w->nstrands; k++) {
        const ss_strand *strand = &w->strands[k];
        if (strand->size.nheld == 0) {
            continue;
        }
        const ss_pose moved[2] = {
            ss_pose_product(&to->bodies[strand->body].pose, &strand->still[0]),
            ss_pose_product(&to->bodies[strand->tip_body].pose, &strand->still[1])};
        double *v = s->held + strand->v;
        strand->model->script(strand->self, moved, from->q + strand->q, h, v);
        for (int i = 0; i < strand->size.nheld; i++) {
            const int j = strand->size.held[i];
            v[j] = (v[j] - (offset != NULL ? offset[strand->v + j] : 0.0)) / way;
        }
    }
}

// right -= column j of the whole M times v
static void move_column(const ss_band *whole, int j, double v, double *right)
{
    const int from = j > whole->half ? j - whole->half : 0;
    for (int i = from; i < whole->n && i <= j + whole->half; i++) {
        right[i] -= v * (i > j ? *ss_band_at(whole, i, j) : *ss_band_at(whole, j, i));
    }
}

// M and f of the free dofs, from those of all.
static void eliminate(const ss_systems *s, const ss_strand *strand, const ss_band *whole,
                      double *right, ss_band *M, double *f)
{
    const int *dof = s->free + strand->v;
    for (int k = 0; k < strand->size.nheld; k++) {
        const int j = strand->size.held[k];
        move_column(whole, j, s->held[strand->v + j], right);
    }
    for (int j = 0; j < M->n; j++) {
        f[j] = right[dof[j]];
    }
    if (M->n > 0 && dof[M->n - 1] - dof[0] == M->n - 1) { // what is held is at the ends
        memcpy(M->x, ss_band_at(whole, dof[0], dof[0]),
               (size_t)M->n * (size_t)(M->half + 1) * sizeof *M->x);
        return;
    }
    for (int j = 0; j < M->n; j++) {
        for (int i = j; i < M->n && i <= j + M->half; i++) {
            *ss_band_at(M, i, j) =
                dof[i] - dof[j] <= whole->half ? *ss_band_at(whole, dof[i], dof[j]) : 0.0;
        }
    }
}

// -- Forming

// v, of which the first entries are those of the free dofs, gets the held ones.
static void spread(const ss_systems *s, const ss_strand *strand, double *v)
{
    const int *place = s->place + strand->v;
    for (int j = strand->size.nv - 1; j >= 0 && strand->size.nheld > 0; j--) {
        v[j] = place[j] >= 0 ? v[place[j]] : s->held[strand->v + j];
    }
}

static bool form_with(ss_systems *s, const ss_world *w, int k, const ss_iterate *it,
                      const ss_placed *at, ss_systems_room *room)
{
    const ss_strand *strand = &w->strands[k];
    const ss_strand_size *size = &strand->size;
    double *f = s->f + strand->v;
    if (size->nheld == 0) {
        return ss_strand_system(w, k, it, at, room->scratch, &s->M[k], f);
    }
    ss_band whole = {size->nv, size->half_bandwidth, room->whole};
    if (!ss_strand_system(w, k, it, at, room->scratch, &whole, room->right)) {
        return false;
    }
    eliminate(s, strand, &whole, room->right, &s->M[k], f);
    return true;
}

// After form_with: M, f and end are what the method of the model makes of them. Without a definite
// M nothing is changed.
static void project_strand(ss_systems *s, const ss_world *w, int k, const ss_iterate *it,
                           ss_systems_room *room)
{
    const ss_strand *strand = &w->strands[k];
    const size_t nv = (size_t)strand->size.nv;
    double *f = s->f + strand->v, *end = s->end + strand->v, *after = s->after + strand->v;
    ss_band *M = &s->M[k], *L = &s->L[k];
    if (strand->size.nheld == 0) {
        ss_strand_project(w, k, it->at, it->h, room->scratch, M, f, end, after);
        return;
    }
    memcpy(L->x, M->x, (size_t)M->n * (size_t)(M->half + 1) * sizeof *L->x);
    if (!ss_band_factor(L, s->D + strand->v)) {
        return;
    }
    memcpy(end, f, (size_t)M->n * sizeof *end);
    ss_band_solve(L, s->D + strand->v, end);
    spread(s, strand, end);
    ss_band whole = {strand->size.nv, strand->size.half_bandwidth, room->whole};
    strand->model->project(strand->self, it->at->q + strand->q, it->h, end, after, &whole);
    memset(room->right, 0, nv * sizeof *room->right);
    ss_band_add_product(&whole, end, room->right);
    eliminate(s, strand, &whole, room->right, M, f);
}

bool ss_systems_factor(ss_systems *s, const ss_world *w, int k)
{
    const ss_band *M = &s->M[k];
    memcpy(s->L[k].x, M->x, (size_t)M->n * (size_t)(M->half + 1) * sizeof *M->x);
    return ss_band_factor(&s->L[k], s->D + w->strands[k].v);
}

// M with a positive semidefinite K is definite but for rounding, which a K of nearly folded edges
// swamps M0 with: its diagonal grows by the first of these shares that gives a factor. So does f,
// as if M were to change v from where the iterate is.
static const double SHARES[] = {1e-14, 1e-12, 1e-10, 1e-8};

enum { NSHARES = sizeof SHARES / sizeof SHARES[0] };

// The diagonal becomes 1 + share times the one that was formed. Whether M has a factor then.
static bool lift_once(ss_systems *s, const ss_world *w, int k, const ss_iterate *it, double share)
{
    const ss_strand *strand = &w->strands[k];
    ss_band *M = &s->M[k];
    const double factor = (1.0 + share) / (1.0 + s->lift[k]);
    for (int j = 0; j < M->n; j++) {
        const int dof = strand->v + s->free[strand->v + j];
        double *diagonal = ss_band_at(M, j, j);
        const double more = (factor - 1.0) * *diagonal;
        s->f[strand->v + j] += it->ahead != NULL ? more * it->ahead[dof] / it->way : 0.0;
        *diagonal += more;
    }
    s->lift[k] = share;
    return ss_systems_factor(s, w, k);
}

static bool lift_strand(ss_systems *s, const ss_world *w, int k, const ss_iterate *it)
{
    bool definite = false;
    for (int i = 0; i < NSHARES && !definite; i++) {
        definite = SHARES[i] > s->lift[k] && lift_once(s, w, k, it, SHARES[i]);
    }
    return definite;
}

// Returns the least pivot of the matrix with the diagonal 1 that ss_band_factor makes of M.
static double least_pivot(const ss_band *L)
{
    double least = INFINITY;
    for (int j = 0; j < L->n; j++) {
        const double root = L->x[(L->half + 1) * j];
        least = fmin(least, root * root);
    }
    return least;
}

// Solvers factor M without scaling it. Their rounding differs, so that a pivot below this may be
// positive here and not there.
#define NEARLY_ROUNDING 1e-6

bool ss_systems_lift(ss_systems *s, const ss_world *w, int k, const ss_iterate *it, bool *lifted)
{
    *lifted = least_pivot(&s->L[k]) < NEARLY_ROUNDING && s->lift[k] < SHARES[NSHARES - 1];
    return !*lifted || lift_strand(s, w, k, it);
}

bool ss_systems_form_strand(ss_systems *s, const ss_world *w, int k, const ss_iterate *it,
                            const ss_placed *at, int thread)
{
    const ss_strand *strand = &w->strands[k];
    ss_systems_room *room = &s->rooms[thread];
    ss_iterate about = *it;
    bool definite = false;
    const ss_stiffness first = it->kind == SS_STIFFNESS_OWN ? strand->model->kind : it->kind;
    for (int kind = (int)first; kind < SS_STIFFNESS_KINDS && !definite; kind++) {
        about.kind = (ss_stiffness)kind;
        if (!form_with(s, w, k, &about, at, room)) {
            continue;
        }
        s->lift[k] = 0.0;
        if (ss_systems_project(s, strand)) {
            project_strand(s, w, k, it, room);
        }
        definite = ss_systems_factor(s, w, k) ||
                   (about.kind != SS_STIFFNESS_EXACT && lift_strand(s, w, k, it));
        s->kinds[k] = about.kind;
    }
    return definite;
}

typedef struct forming {
    ss_systems *s;
    const ss_world *w;
    const ss_iterate *it;
    const ss_snapshot *at;
} forming;

static void form_one(void *context, int k, int thread)
{
    const forming *f = context;
    ss_systems *s = f->s;
    const ss_placed placed = ss_snapshot_strand(f->at, f->w, k);
    s->definite[k] = ss_systems_form_strand(s, f->w, k, f->it, &placed, thread);
}

bool ss_systems_form(ss_systems *s, const ss_world *w, const ss_iterate *it, const ss_snapshot *at)
{
    forming f = {s, w, it, at};
    bool definite = true;
    s->particles = it->particles;
    s->lifted = 0;
    ss_systems_each(s, w->nstrands, form_one, &f);
    for (int k = 0; k < w->nstrands; k++) {
        definite = definite && s->definite[k];
        s->lifted += s->lift[k] > 0.0;
    }
    return definite;
}

double ss_systems_square(const ss_systems *s, const ss_world *w, int k, const double *v,
                         const double *from)
{
    const ss_strand *strand = &w->strands[k];
    const int *dof = s->free + strand->v;
    double *change = s->residual + strand->v;
    for (int j = 0; j < s->M[k].n; j++) {
        change[j] = v[dof[j]] - from[dof[j]];
    }
    return ss_band_square(&s->M[k], change);
}

ss_stiffness ss_systems_kind(const ss_systems *s, const ss_world *w)
{
    ss_stiffness last = SS_STIFFNESS_EXACT;
    for (int k = 0; k < w->nstrands; k++) {
        last = s->kinds[k] > last ? s->kinds[k] : last;
    }
    return last;
}

// -- Solving

void ss_systems_end(const ss_systems *s, const ss_world *w, int k, double *v)
{
    const ss_strand *strand = &w->strands[k];
    if (ss_systems_project(s, strand)) {
        memcpy(v, s->end + strand->v, (size_t)strand->size.nv * sizeof *v);
    } else {
        ss_systems_solve(s, w, k, s->f + strand->v, v);
    }
}

// rest of strand k becomes right - M v.
static void find_rest(const ss_systems *s, int k, const double *right, const double *v,
                      double *rest)
{
    const int n = s->M[k].n;
    memset(rest, 0, (size_t)n * sizeof *rest);
    ss_band_add_product(&s->M[k], v, rest);
    for (int j = 0; j < n; j++) {
        rest[j] = right[j] - rest[j];
    }
}

static void add_rest(const ss_systems *s, const ss_world *w, int k, const double *rest, double *v)
{
    for (int j = 0; j < s->M[k].n; j++) {
        v[j] += rest[j];
    }
    spread(s, &w->strands[k], v);
}

void ss_systems_solve(const ss_systems *s, const ss_world *w, int k, const double *right, double *v)
{
    const double *D = s->D + w->strands[k].v;
    double *rest = s->residual + w->strands[k].v;
    memcpy(v, right, (size_t)s->M[k].n * sizeof *v);
    ss_band_solve(&s->L[k], D, v);
    find_rest(s, k, right, v, rest);
    ss_band_solve(&s->L[k], D, rest);
    add_rest(s, w, k, rest, v);
}

// Whether strands k .. k + 3 have one shape, and none projects.
static bool are_four(const ss_systems *s, const ss_world *w, int k)
{
    bool four = true;
    for (int i = 0; four && i < 4; i++) {
        four = s->M[k + i].n == s->M[k].n && s->M[k + i].half == s->M[k].half &&
               !ss_systems_project(s, &w->strands[k + i]);
    }
    return four;
}

static void solve_four(const ss_systems *s, const ss_world *w, int k, const double *const *asked,
                       double *const *v)
{
    const double *D[4], *right[4];
    double *rest[4];
    for (int i = 0; i < 4; i++) {
        const int at = w->strands[k + i].v;
        D[i] = s->D + at;
        rest[i] = s->residual + at;
        right[i] = asked[i] != NULL ? asked[i] : s->f + at;
        memcpy(v[i], right[i], (size_t)s->M[k].n * sizeof *v[i]);
    }
    ss_band_solve_four(&s->L[k], D, v);
    for (int i = 0; i < 4; i++) {
        find_rest(s, k + i, right[i], v[i], rest[i]);
    }
    ss_band_solve_four(&s->L[k], D, rest);
    for (int i = 0; i < 4; i++) {
        add_rest(s, w, k + i, rest[i], v[i]);
    }
}

void ss_systems_solve_few(const ss_systems *s, const ss_world *w, int first, int count,
                          const double *const *right, double *const *v)
{
    if (count == 4 && are_four(s, w, first)) {
        solve_four(s, w, first, right, v);
        return;
    }
    for (int i = 0; i < count; i++) {
        if (right[i] != NULL) {
            ss_systems_solve(s, w, first + i, right[i], v[i]);
        } else {
            ss_systems_end(s, w, first + i, v[i]);
        }
    }
}

// ---- The full Newton step of a strand
//
// G by differences, and G dv = -g by Gauss' elimination.

// m/s: a difference step has the energy that the strand's mass has at this speed. Its error of the
// order h speed / length is below the change of an iterate that is worth a step.
#define PROBE_SPEED 1e-7

struct ss_slopes {
    ss_world_state at;      // q and v of a probe, in their places among all strands
    double *ahead;          // [nv] likewise
    double *M, *f, *g;      // of the largest strand: band, right-hand side, residual at the iterate
    double *G, *right, *dv; // [nv][nv], [nv], [nv]
    double *unit;           // [nv]
    ss_placed placed;       // of the largest strand
};

// Returns the largest sizes of all strands whose J changes.
static ss_strand_size largest(const ss_world *w, size_t *band)
{
    ss_strand_size most = {0};
    for (int k = 0; k < w->nstrands; k++) {
        const ss_strand_size *z = &w->strands[k].size;
        if (w->strands[k].model->convect == NULL) {
            continue;
        }
        const size_t numbers = (size_t)z->nv * (size_t)(z->half_bandwidth + 1);
        *band = numbers > *band ? numbers : *band;
        most.nv = z->nv > most.nv ? z->nv : most.nv;
        most.npoints = z->npoints > most.npoints ? z->npoints : most.npoints;
        most.nsamples = z->nsamples > most.nsamples ? z->nsamples : most.nsamples;
        most.width = z->width > most.width ? z->width : most.width;
    }
    return most;
}

ss_slopes *ss_slopes_new(const ss_world *w)
{
    size_t band = 0;
    const ss_strand_size most = largest(w, &band);
    const size_t n = (size_t)most.nv;
    ss_slopes *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return NULL;
    }
    const bool state = ss_world_state_init(&s->at, w), placed = ss_placed_init(&s->placed, &most);
    s->ahead = calloc((size_t)w->nv + 1, sizeof *s->ahead);
    s->M = malloc((band + n * n + 5 * n + 1) * sizeof *s->M);
    if (!state || !placed || s->ahead == NULL || s->M == NULL) {
        ss_slopes_free(s);
        return NULL;
    }
    s->G = s->M + band;
    s->f = s->G + n * n;
    s->g = s->f + n;
    s->right = s->g + n;
    s->dv = s->right + n;
    s->unit = s->dv + n;
    return s;
}

void ss_slopes_free(ss_slopes *s)
{
    if (s != NULL) {
        ss_world_state_free(&s->at);
        ss_placed_free(&s->placed);
        free(s->ahead);
        free(s->M);
        free(s);
    }
}

// The same by the model's own residual, which takes linear time (model.h): rs = M0 vdot - F + C v,
// hence g = h share rs - h known with vdot = (v - past)/(h share).
static void own_residual(ss_slopes *s, const ss_world *w, int k, const ss_iterate *it,
                         const ss_surroundings *around, double *g)
{
    const ss_strand *strand = &w->strands[k];
    const double *q = s->at.q + strand->q, *v = s->at.v + strand->v, weight = it->h * it->share;
    for (int j = 0; j < strand->size.nv; j++) {
        s->f[j] = (v[j] - it->past[strand->v + j]) / weight;
    }
    strand->model->residual(strand->self, around, q, v, s->f, g);
    for (int j = 0; j < strand->size.nv; j++) {
        g[j] *= weight;
        g[j] -= it->known != NULL ? it->h * it->known[strand->v + j] : 0.0;
    }
}

// g [nv] of strand k at the probe. False where the model has no K of that kind.
static bool residual(ss_slopes *s, const ss_world *w, int k, const ss_iterate *it,
                     const ss_systems *systems, double *g)
{
    const ss_strand *strand = &w->strands[k];
    const size_t n = (size_t)strand->size.nv;
    ss_band M = {strand->size.nv, strand->size.half_bandwidth, s->M};
    ss_iterate probe = *it;
    probe.at = &s->at;
    probe.ahead = s->ahead;
    ss_strand_place(w, k, &s->at, &s->placed);
    if (!ss_strand_system(w, k, &probe, &s->placed, systems->rooms[0].scratch, &M, s->f)) {
        return false;
    }
    memset(g, 0, n * sizeof *g);
    ss_band_add_product(&M, s->at.v + strand->v, g);
    for (size_t j = 0; j < n; j++) {
        g[j] -= s->f[j];
    }
    return true;
}

// The probe is the iterate, moved by `step` in dof j.
static void put_probe(ss_slopes *s, const ss_strand *strand, const ss_iterate *it, int j,
                      double step)
{
    const size_t n = (size_t)strand->size.nv;
    const double *q = it->at->q + strand->q;
    s->at.time = it->at->time;
    memcpy(s->at.v + strand->v, it->at->v + strand->v, n * sizeof(double));
    memcpy(s->ahead + strand->v, it->ahead + strand->v, n * sizeof(double));
    memset(s->unit, 0, n * sizeof *s->unit);
    s->unit[j] = it->way * step;
    strand->model->advance(strand->self, q, s->unit, it->h, s->at.q + strand->q);
    s->at.v[strand->v + j] += step;
    s->ahead[strand->v + j] += it->way * step;
}

// x with A x = b, n equations, by elimination with pivots; A and b are used up. False where A is
// singular to working precision.
static bool solve_dense(int n, double *A, double *b, double *x)
{
    for (int c = 0; c < n; c++) {
        int pivot = c;
        for (int i = c + 1; i < n; i++) {
            pivot = fabs(A[i * n + c]) > fabs(A[pivot * n + c]) ? i : pivot;
        }
        if (!(fabs(A[pivot * n + c]) > 1e-12)) {
            return false;
        }
        for (int j = c; j < n; j++) {
            const double swapped = A[c * n + j];
            A[c * n + j] = A[pivot * n + j];
            A[pivot * n + j] = swapped;
        }
        const double swapped = b[c];
        b[c] = b[pivot];
        b[pivot] = swapped;
        for (int i = c + 1; i < n; i++) {
            const double share = A[i * n + c] / A[c * n + c];
            for (int j = c; j < n; j++) {
                A[i * n + j] -= share * A[c * n + j];
            }
            b[i] -= share * b[c];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        double sum = b[i];
        for (int j = i + 1; j < n; j++) {
            sum -= A[i * n + j] * x[j];
        }
        x[i] = sum / A[i * n + i];
    }
    return true;
}

static double mass_of(const ss_world *w, const ss_strand *strand)
{
    double mass = 0.0;
    for (int p = 0; p < strand->size.nsamples; p++) {
        mass += w->mass[strand->sample + p];
    }
    return mass;
}

// Computes what is differenced at the probe.
static bool probe_residual(ss_slopes *s, const ss_world *w, int k, const ss_iterate *it,
                           const ss_systems *systems, const ss_surroundings *around, double *g)
{
    if (w->strands[k].model->residual == NULL || w->strands[k].posing != NULL) {
        return residual(s, w, k, it, systems, g);
    }
    own_residual(s, w, k, it, around, g);
    return true;
}

// G in units in which the diagonal of M is 1.
static bool measure(ss_slopes *s, const ss_world *w, int k, const ss_iterate *it,
                    const ss_systems *systems)
{
    const ss_strand *strand = &w->strands[k];
    const int n = systems->M[k].n, *dof = systems->free + strand->v;
    const double *D = systems->D + strand->v, probe = PROBE_SPEED * sqrt(mass_of(w, strand));
    const ss_surroundings around = ss_strand_surroundings(w, k, it->at->time);
    double *base = s->dv;
    put_probe(s, strand, it, 0, 0.0);
    bool known = probe_residual(s, w, k, it, systems, &around, base);
    for (int j = 0; j < n && known; j++) {
        put_probe(s, strand, it, dof[j], probe * D[j]);
        known = probe_residual(s, w, k, it, systems, &around, s->right);
        for (int i = 0; i < n && known; i++) {
            s->G[i * n + j] = D[i] * (s->right[dof[i]] - base[dof[i]]) / probe;
        }
    }
    return known;
}

void ss_slopes_step(ss_slopes *s, const ss_world *w, int k, const ss_iterate *it,
                    const ss_systems *systems, double *v)
{
    const ss_strand *strand = &w->strands[k];
    const int n = systems->M[k].n, *dof = systems->free + strand->v;
    const double *D = systems->D + strand->v;
    ss_iterate about = *it;
    about.kind = systems->kinds[k];
    put_probe(s, strand, it, 0, 0.0);
    const bool known =
        residual(s, w, k, &about, systems, s->g) && measure(s, w, k, &about, systems);
    for (int i = 0; i < n; i++) {
        s->right[i] = -D[i] * s->g[dof[i]];
    }
    if (known && solve_dense(n, s->G, s->right, s->dv)) {
        for (int i = 0; i < n; i++) {
            v[dof[i]] = it->at->v[strand->v + dof[i]] + D[i] * s->dv[i];
        }
    }
}
