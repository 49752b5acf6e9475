// Contacts in two phases (phases.h): storage, velocities, and the order of the phases.
#include "strands/schemes/phases.h"

#include "base/clock.h"
#include "strands/band.h"
#include "strands/buffer.h"
#include "strands/schemes/schemes.h"
#include "strands/step/stepper.h"
#include "strands/step/systems.h"
#include "strands/world.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static int phases_free_count(const ss_stepper *s, int k);
static bool phases_may_act_on(const ss_phases *p, const ss_stepper *s, int k);
static bool phases_add_contact(ss_rows *rows, const ss_stepper *s, int i, const double weight[3],
                               const ss_row *row);

// ---- A box law on rows of velocities
//
// K x of a row is a sum over its strands: block k holds the rows of strand k, `impulses` their x,
// so that a visit is a product of neighbouring numbers for each strand.

// A row in one of its strands.
typedef struct ss_row_end {
    int strand, local; // its place among the rows of the strand
    size_t H;          // where its coefficients begin: one for each free dof of the strand
} ss_row_end;

#define LEAST_STEP 1e-12 // of x: sweeps that change less end
#define LANES      8     // rows that are worked on at once

// The rows of a strand: how many, and where they begin.
typedef struct strand_rows {
    int count;
    // Places of its K among `blocks`, of its x among `impulses` with its ends after all of these,
    // and of its Z in scratch.
    size_t block, first, half;
} strand_rows;

static void rows_clear(ss_rows *r)
{
    r->count = r->nends = 0;
    r->ncoefficients = 0;
}

static const double *coefficients(const ss_rows *r, const ss_row_end *end)
{
    return (const double *)r->coefficients.data + end->H;
}

// The ends of its rows.
static const int *own_ends(const ss_rows *r, const ss_world *w, const strand_rows *s)
{
    return (const int *)((const strand_rows *)r->sizes.data + w->nstrands + 1) + s->first;
}

void ss_rows_free(ss_rows *r)
{
    ss_buffer_free(&r->rows);
    ss_buffer_free(&r->ends);
    ss_buffer_free(&r->coefficients);
    ss_buffer_free(&r->sizes);
    ss_buffer_free(&r->blocks);
    ss_buffer_free(&r->impulses);
    ss_buffer_free(&r->scratch);
    rows_clear(r);
}

bool ss_rows_add(ss_rows *r, const ss_row *row)
{
    ss_row *rows = ss_buffer_room(&r->rows, ((size_t)r->count + 1) * sizeof *rows);
    if (rows == NULL) {
        return false;
    }
    rows[r->count] = *row;
    rows[r->count].end[0] = rows[r->count].end[1] = -1;
    r->count++;
    return true;
}

double *ss_rows_add_end(ss_rows *r, int strand, int count)
{
    const size_t n = (size_t)count;
    ss_row_end *ends = ss_buffer_room(&r->ends, ((size_t)r->nends + 1) * sizeof *ends);
    double *x = ss_buffer_room(&r->coefficients, (r->ncoefficients + n + 1) * sizeof *x);
    if (ends == NULL || x == NULL) {
        return NULL;
    }
    int *end = ss_rows_at(r, r->count - 1)->end;
    end[end[0] < 0 ? 0 : 1] = r->nends;
    ends[r->nends++] = (ss_row_end){.strand = strand, .H = r->ncoefficients};
    double *own = x + r->ncoefficients;
    memset(own, 0, n * sizeof *own);
    r->ncoefficients += n;
    return own;
}

static const ss_row_end *end_of(const ss_rows *r, int i, int side)
{
    const int end = ss_rows_at(r, i)->end[side];
    return end < 0 ? NULL : (const ss_row_end *)r->ends.data + end;
}

// Coefficients of the end: up to where the next ones begin.
static int width_of(const ss_rows *r, const ss_row_end *end)
{
    const long next = end - (const ss_row_end *)r->ends.data + 1;
    return (int)((next < r->nends ? end[1].H : r->ncoefficients) - end->H);
}

static double product(const double *x, const double *y, int n)
{
    double sum[4] = {0.0};
    int j = 0;
    for (; j + 4 <= n; j += 4) {
        for (int k = 0; k < 4; k++) {
            sum[k] += x[j + k] * y[j + k];
        }
    }
    for (; j < n; j++) {
        sum[0] += x[j] * y[j];
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

double ss_rows_velocity(const ss_rows *r, const ss_world *w, int i, const double *v)
{
    double sum = 0.0;
    for (int side = 0; side < 2; side++) {
        const ss_row_end *end = end_of(r, i, side);
        if (end != NULL) {
            sum += product(coefficients(r, end), v + w->strands[end->strand].v, width_of(r, end));
        }
    }
    return sum;
}

void ss_rows_push(const ss_rows *r, const ss_world *w, int i, double x, double *v)
{
    for (int side = 0; side < 2; side++) {
        const ss_row_end *end = end_of(r, i, side);
        for (int j = 0; end != NULL && j < width_of(r, end); j++) {
            v[w->strands[end->strand].v + j] += x * coefficients(r, end)[j];
        }
    }
}

// -- K

// Room for the blocks, and the place of each end in its own.
static bool place_rows(ss_rows *r, int nstrands)
{
    const size_t n = (size_t)nstrands;
    size_t block = 0, first = 0;
    strand_rows *s =
        ss_buffer_room(&r->sizes, (n + 1) * sizeof *s + (size_t)r->nends * sizeof(int));
    if (s == NULL) {
        return false;
    }
    memset(s, 0, n * sizeof *s);
    ss_row_end *ends = r->ends.data;
    for (int i = 0; i < r->nends; i++) {
        ends[i].local = s[ends[i].strand].count++;
    }
    for (size_t k = 0; k < n; k++) {
        const size_t m = (size_t)s[k].count;
        s[k].block = block;
        s[k].first = first;
        block += m * m;
        first += m;
    }
    int *own = (int *)(s + n + 1);
    for (int i = 0; i < r->nends; i++) {
        own[s[ends[i].strand].first + (size_t)ends[i].local] = i;
    }
    return ss_buffer_room(&r->blocks, (block + 1) * sizeof(double)) != NULL &&
           ss_buffer_room(&r->impulses, (first + 1) * sizeof(double)) != NULL;
}

// Room for Z of all strands.
static double *place_halves(ss_rows *r, int nstrands, ss_factors M)
{
    strand_rows *s = r->sizes.data;
    size_t at = 0;
    for (int k = 0; k < nstrands; k++) {
        s[k].half = at;
        if (s[k].count > 0) {
            at += (size_t)((s[k].count + LANES - 1) / LANES * LANES) * (size_t)M.L[k].n;
        }
    }
    return ss_buffer_room(&r->scratch, (at + 1) * sizeof(double));
}

typedef struct measuring {
    ss_rows *r;
    const ss_world *w;
    ss_factors M;
    double *halves; // of all strands, see `half`
} measuring;

// x <- L^-1 x, of the rows side by side in x [n][LANES].
static void forward(const ss_band *L, double *x)
{
    for (int j = 0; j < L->n; j++) {
        const double *column = ss_band_at(L, j, j);
        double *restrict own = x + LANES * j;
        const int last = L->n - 1 - j < L->half ? L->n - 1 - j : L->half;
        for (int c = 0; c < LANES; c++) {
            own[c] /= column[0];
        }
        for (int i = 1; i <= last; i++) {
            double *restrict below = x + LANES * (j + i);
            for (int c = 0; c < LANES; c++) {
                below[c] -= column[i] * own[c];
            }
        }
    }
}

// Half of the test impulses of strand k, LANES rows after another: Z = L^-1 D H, with which K = Z'Z
// as M = D^-1 L L' D^-1. Rows that are too few for the last LANES are 0.
static void halve(const measuring *m, int k, double *z)
{
    const ss_rows *r = m->r;
    const strand_rows *s = (const strand_rows *)r->sizes.data + k;
    const int *own = own_ends(r, m->w, s), n = m->M.L[k].n;
    const double *D = m->M.D + m->w->strands[k].v;
    for (int first = 0; first < s->count; first += LANES, z += LANES * n) {
        memset(z, 0, LANES * (size_t)n * sizeof *z);
        for (int c = 0; c < LANES && first + c < s->count; c++) {
            const double *H = coefficients(r, (const ss_row_end *)r->ends.data + own[first + c]);
            for (int j = 0; j < n; j++) {
                z[LANES * j + c] = D[j] * H[j];
            }
        }
        forward(&m->M.L[k], z);
    }
}

// The entries of K of LANES rows with as many.
static void multiply(const double *a, const double *b, int n, double K[LANES][LANES])
{
    memset(K, 0, sizeof(double[LANES][LANES]));
    for (int j = 0; j < n; j++, a += LANES, b += LANES) {
        for (int p = 0; p < LANES; p++) {
            for (int q = 0; q < LANES; q++) {
                K[p][q] += a[p] * b[q];
            }
        }
    }
}

static void measure_strand(void *context, int k, int thread)
{
    const measuring *m = context;
    const strand_rows *s = (const strand_rows *)m->r->sizes.data + k;
    double *z = m->halves + s->half, *block = (double *)m->r->blocks.data + s->block;
    const int n = m->M.L[k].n, count = s->count;
    double K[LANES][LANES];
    (void)thread;
    halve(m, k, z);
    for (int i = 0; i < count; i += LANES) {
        for (int j = i; j < count; j += LANES) {
            multiply(z + i * n, z + j * n, n, K);
            for (int p = 0; p < LANES && i + p < count; p++) {
                for (int q = 0; q < LANES && j + q < count; q++) {
                    block[(i + p) * count + j + q] = block[(j + q) * count + i + p] = K[p][q];
                }
            }
        }
    }
}

bool ss_rows_measure(ss_rows *r, const ss_world *w, const ss_systems *systems, ss_factors M)
{
    if (!place_rows(r, w->nstrands)) {
        return false;
    }
    measuring m = {r, w, M, place_halves(r, w->nstrands, M)};
    if (m.halves == NULL) {
        return false;
    }
    ss_systems_each(systems, w->nstrands, measure_strand, &m);
    for (int i = 0; i < r->count; i++) {
        ss_row *row = ss_rows_at(r, i);
        row->diagonal = 0.0;
        for (int side = 0; side < 2; side++) {
            const ss_row_end *end = end_of(r, i, side);
            if (end != NULL) {
                const strand_rows *s = (const strand_rows *)r->sizes.data + end->strand;
                const double *block = (const double *)r->blocks.data + s->block;
                row->diagonal += block[end->local * s->count + end->local];
            }
        }
    }
    return true;
}

// -- x

// Numbers of a row in the block of one of its strands, and x of the rows there.
static const double *block_row(const ss_rows *r, const ss_row_end *end, double **x, int *count)
{
    const strand_rows *s = (const strand_rows *)r->sizes.data + end->strand;
    *x = (double *)r->impulses.data + s->first;
    *count = s->count;
    return (const double *)r->blocks.data + s->block + (size_t)end->local * (size_t)s->count;
}

static void move(const ss_rows *r, int i, double by)
{
    for (int side = 0; side < 2; side++) {
        const ss_row_end *end = end_of(r, i, side);
        if (end != NULL) {
            double *x;
            int count;
            block_row(r, end, &x, &count);
            x[end->local] += by;
        }
    }
}

static double velocity_under(const ss_rows *r, int i)
{
    double u = ss_rows_at(r, i)->b;
    for (int side = 0; side < 2; side++) {
        const ss_row_end *end = end_of(r, i, side);
        if (end != NULL) {
            double *x;
            int count;
            const double *K = block_row(r, end, &x, &count);
            u += product(K, x, count);
        }
    }
    return u;
}

// Its place between the bounds of row i.
static double clip(const ss_rows *r, const ss_row *row, double x)
{
    const bool bound = row->normal >= 0;
    const double high = bound ? row->mu * ss_rows_at(r, row->normal)->x : row->high;
    return fmin(fmax(x, bound ? 0.0 : row->low), high);
}

// The start: x of all rows within their bounds. Returns the largest K_ii.
static double begin(const ss_rows *r)
{
    const ss_row_end *ends = r->ends.data;
    double largest = 0.0;
    for (int k = 0; k < r->nends; k++) {
        double *x;
        int count;
        block_row(r, &ends[k], &x, &count);
        x[ends[k].local] = 0.0;
    }
    for (int i = 0; i < r->count; i++) {
        ss_row *row = ss_rows_at(r, i);
        row->x = clip(r, row, row->x);
        move(r, i, row->x);
        largest = fmax(largest, row->diagonal);
    }
    return largest;
}

int ss_rows_relax(ss_rows *r, int sweeps, double omega, double eps)
{
    const double all_added = eps * begin(r);
    for (int sweep = 1; sweep <= sweeps; sweep++) {
        double step = 0.0, all = 0.0;
        for (int i = 0; i < r->count; i++) {
            ss_row *row = ss_rows_at(r, i);
            const double added = all_added + row->added, diagonal = row->diagonal + added;
            if (!(diagonal > 0.0)) {
                continue; // nothing that it pushes can move
            }
            const double u = velocity_under(r, i) + added * row->x;
            const double next = clip(r, row, row->x - omega * u / diagonal), by = next - row->x;
            move(r, i, by);
            row->x = next;
            step +=
                by * by * diagonal; // twice the energies, of which rows of all kinds have one unit
            all += next * next * diagonal;
        }
        if (step <= LEAST_STEP * LEAST_STEP * all) {
            return sweep;
        }
    }
    return sweeps;
}

// ---- Goals and limits of joints
//
// Goals of posed tips and limits of joints are rows of the box law.

typedef enum ss_phases_goal { SS_GOAL_OFF, SS_GOAL_TIP } ss_phases_goal;

typedef struct ss_extras {
    ss_rows *rows; // that they are added to
    const ss_stepper *s;
    const ss_phases_settings *set;
    const double *v;        // [nv] of the free dofs, at the end of the step without these rows
    double *around;         // [nv] scratch
    ss_joint_limit *limits; // [nv] scratch
    double h;
} ss_extras;

// A point that is near its goal along a direction in which it hardly moves is left there: of the
// largest of its three K_ii, this is added to each.
#define GOAL_SOFTNESS 1e-3
// A joint that would end beyond its limit by less, as a share of it, is left alone.
#define LIMIT_MISSED 1e-2

// Returns the acceleration of a point that a body carries at the arm d, and that moves against it
// by `rate`.
static ss_vec3 carried_acceleration(const ss_motion_state *body, ss_vec3 d, ss_vec3 rate)
{
    const ss_vec3 about = ss_along(ss_cross(body->spin, d), 2.0, rate);
    return ss_plus(body->acceleration,
                   ss_plus(ss_cross(body->spin_rate, d), ss_cross(body->spin, about)));
}

// J (v - v_n) - h (wanted - that of J v_n on its body) of the tip of strand k, [H06] (15).
static ss_vec3 goal_velocity(const ss_extras *e, int k, const ss_strand_point *tip)
{
    const ss_world *w = e->s->world;
    const ss_strand *strand = &w->strands[k];
    const ss_motion_state *body = &e->s->here.bodies[strand->carrier];
    const ss_posing_at pose = ss_posing_find(strand->posing, w->now.time);
    const int last = strand->size.npoints - 1;
    const ss_vec3 way = ss_minus(pose.to[last], pose.from[last]);
    const ss_vec3 place = ss_along(pose.from[last], pose.share, way);
    const ss_vec3 arm = ss_turned(&body->pose.turn, place);
    const ss_vec3 rate = ss_turned(&body->pose.turn, ss_scaled(pose.rate, way));
    const ss_vec3 d = ss_minus(tip->x, body->pose.place);
    const ss_vec3 own = ss_point_rate(tip, w->now.v + strand->v);
    const ss_vec3 behind = ss_minus(arm, d); // and slower: both turn with the body
    const ss_vec3 slower = ss_plus(ss_minus(rate, own), ss_cross(body->spin, behind));
    const ss_vec3 wanted = ss_along(
        ss_along(carried_acceleration(body, arm, rate), e->set->kp, behind), e->set->kd, slower);
    const ss_vec3 gained = ss_minus(ss_point_rate(tip, e->around + strand->v), own);
    return ss_along(gained, -e->h, ss_minus(wanted, carried_acceleration(body, d, own)));
}

// `v`, that of the free dofs, as that of all dofs of strand k, into e->around.
static void widen(const ss_extras *e, int k, const double *v)
{
    const int at = e->s->world->strands[k].v;
    for (int j = 0; j < e->s->world->strands[k].size.nv; j++) {
        const int place = e->s->systems.place[at + j];
        e->around[at + j] = place >= 0 ? v[at + place] : e->s->systems.held[at + j];
    }
}

static bool add_goal(const ss_extras *e, int k)
{
    const ss_strand *strand = &e->s->world->strands[k];
    const ss_strand_point *tip = &e->s->here.all.points[strand->point + strand->size.npoints - 1];
    widen(e, k, e->v);
    const ss_vec3 u = goal_velocity(e, k, tip);
    const double b[3] = {u.x, u.y, u.z};
    for (int c = 0; c < 3; c++) {
        const ss_row row = {.b = b[c], .low = -INFINITY, .high = INFINITY, .normal = -1};
        double *x =
            ss_rows_add(e->rows, &row) ? ss_rows_add_end(e->rows, k, e->s->systems.M[k].n) : NULL;
        if (x == NULL) {
            return false;
        }
        for (int j = 0; j < tip->count; j++) {
            const int place = e->s->systems.place[strand->v + ss_point_dof(tip, j)];
            if (place >= 0) {
                x[place] = tip->J[c * tip->count + j];
            }
        }
    }
    return true;
}

static bool add_limit(const ss_extras *e, int k, const ss_joint_limit *limit)
{
    const ss_strand *strand = &e->s->world->strands[k];
    const ss_row row = {.b = -limit->least, .high = INFINITY, .normal = -1};
    double *x =
        ss_rows_add(e->rows, &row) ? ss_rows_add_end(e->rows, k, e->s->systems.M[k].n) : NULL;
    if (x == NULL) {
        return false;
    }
    for (int c = 0; c < 3; c++) {
        const int place = e->s->systems.place[strand->v + limit->dof + c];
        if (place >= 0) {
            x[place] = limit->along[c];
        }
    }
    ss_rows_at(e->rows, e->rows->count - 1)->b +=
        ss_rows_velocity(e->rows, e->s->world, e->rows->count - 1, e->v);
    return true;
}

// By how much a limit is missed at the velocities e->around of strand k.
static double missed(const ss_extras *e, int k, const ss_joint_limit *limit)
{
    const double *w = e->around + e->s->world->strands[k].v + limit->dof, *a = limit->along;
    return limit->least - (a[0] * w[0] + a[1] * w[1] + a[2] * w[2]);
}

// Adds the limits of strand k that the velocities `end` miss by more than `most`.
static bool add_limits(const ss_extras *e, int k, const double *end, double most)
{
    const ss_strand *strand = &e->s->world->strands[k];
    if (strand->model->limits == NULL) {
        return true;
    }
    widen(e, k, end);
    const int count = strand->model->limits(strand->self, e->s->world->now.q + strand->q,
                                            e->around + strand->v, e->h, e->set->limit, e->limits);
    bool ok = true;
    for (int i = 0; ok && i < count; i++) {
        ok = !(missed(e, k, &e->limits[i]) > most) || add_limit(e, k, &e->limits[i]);
    }
    return ok;
}

// Goals come first. False without memory.
static bool extras_add(const ss_extras *e)
{
    const ss_world *w = e->s->world;
    bool ok = true;
    for (int k = 0; ok && e->set->goal != SS_GOAL_OFF && k < w->nstrands; k++) {
        ok = w->strands[k].posing == NULL || add_goal(e, k);
    }
    for (int k = 0; ok && e->set->limit > 0.0 && k < w->nstrands; k++) {
        ok = add_limits(e, k, e->v, -INFINITY);
    }
    return ok;
}

// More rows of limits, of the joints that would end beyond theirs at the velocities `end` [nv] of
// the free dofs, which all rows together bring about. False without memory.
static bool extras_tighten(const ss_extras *e, const double *end)
{
    const ss_world *w = e->s->world;
    bool ok = true;
    for (int k = 0; ok && k < w->nstrands; k++) {
        ok = add_limits(e, k, end, LIMIT_MISSED * e->set->limit / e->h);
    }
    return ok;
}

// Softens the goals, which begin at `first`, where they can hardly move. The rows are measured.
static void extras_soften(const ss_rows *rows, int first)
{
    for (int i = first; i < rows->count && ss_rows_at(rows, i)->low < 0.0; i += 3) {
        double largest = 0.0;
        for (int c = 0; c < 3; c++) {
            largest = fmax(largest, ss_rows_at(rows, i + c)->diagonal);
        }
        for (int c = 0; c < 3; c++) {
            ss_rows_at(rows, i + c)->added = GOAL_SOFTNESS * largest;
        }
    }
}

// ---- Settings
//
// What the settings of the phases need (phases.h).

const char *const ss_phases_goals[] = {"off", "tip", NULL};

static bool is_among(const char *key, const char *const *keys)
{
    int k = 0;
    while (keys[k] != NULL && strcmp(keys[k], key) != 0) {
        k++;
    }
    return keys[k] != NULL;
}

const char *ss_phases_key_needs(const ss_phases_settings *set, bool contacts, const char *key)
{
    static const char *const GOALS[] = {"kp", "kd", NULL},
                             *const FRICTION[] = {"stick", "sliding", NULL},
                             *const ROWS[] = {"sweeps", "omega", "eps", NULL};
    const bool goals = set->goal != SS_GOAL_OFF;
    if (!goals && is_among(key, GOALS)) {
        return "goal=tip";
    }
    if (!contacts && is_among(key, FRICTION)) {
        return "contacts=on";
    }
    return !contacts && !goals && set->limit == 0.0 && is_among(key, ROWS)
               ? "contacts=on, goal=tip or limit=RAD"
               : NULL;
}

// A goal pulls with the acceleration -kp x - kd v of the start of a step all through it, and x <- x
// + h v of its end. That has the eigenvalues of z^2 - (2 - h^2 kp - h kd) z + 1 - h kd, which leave
// the unit circle at h kd + h^2 kp/2 = 2: x then changes its sign and grows from step to step.
static ss_status check_gains(const ss_phases_settings *set, double h, ss_error *e)
{
    if (h * set->kd + 0.5 * h * h * set->kp <= 2.0) {
        return SS_OK;
    }
    return ss_fail(e, SS_BAD_INPUT,
                   "goals with kp=%g and kd=%g are overshot further in every step of %g s: take "
                   "kd dt + kp dt^2/2 at most 2, such as kd=%.3g,kp=%.3g, or a smaller --dt",
                   set->kp, set->kd, h, 0.2 / h, 0.01 / (h * h));
}

// SS_BAD_INPUT with a sentence for limits without joints, goals without poses, and gains that are
// too high for steps of h.
static ss_status phases_check(const ss_world *w, const ss_phases_settings *set, double h,
                              ss_error *e)
{
    bool joints = false, poses = false;
    for (int k = 0; k < w->nstrands; k++) {
        joints = joints || w->strands[k].model->limits != NULL;
        poses = poses || w->strands[k].posing != NULL;
    }
    if (set->limit > 0.0 && !joints) {
        return ss_fail(e, SS_BAD_INPUT,
                       "limit=%g is for joints, which strands of the model %s do not have: take "
                       "oriented-strands",
                       set->limit, w->strands[0].model->name);
    }
    if (set->goal != SS_GOAL_OFF && !poses) {
        return ss_fail(e, SS_BAD_INPUT,
                       "goal=%s is for strands that are posed, and none of these is: leave it out",
                       ss_phases_goals[set->goal]);
    }
    return set->goal != SS_GOAL_OFF ? check_gains(set, h, e) : SS_OK;
}

// Weights of the normal of a contact.
static const double NORMAL_WEIGHTS[3] = {1.0, 0.0, 0.0};

// ---- The first phase: impacts
//
// The first phase: impulses of the contacts that meet within the step (phases.h).
//
//     x_n >= 0 complementary to v_N + (H'M^-1 H x)_N - v_wanted,   v_wanted = -e v_N, or -gap/h
//                                                                  where e = 0
//
// M is that of the step, or M0 of the strands that are hit if the scheme asks for it and each has a
// factor.

// s: M of a step of this length takes the place of an M0 without a factor, as that of a straight
// super-helix.
#define BRIEF 1e-6

// The least velocity of contact i along its normal after its impact.
static double wanted_after(const ss_stepper *s, int i, double before, double h)
{
    const ss_touch *t = &s->touches[i];
    const double e = t->strand_b < 0 ? s->world->obstacles[t->segment_b].restitution : 0.0;
    return e > 0.0 ? -e * before : -fmax(t->gap, 0.0) / h;
}

// Factors M0 of the strands that are hit. False if one has none.
static bool factor_inertia(ss_phases *p, const ss_stepper *s)
{
    const ss_world *w = s->world;
    bool definite = true;
    for (int k = 0; definite && k < w->nstrands; k++) {
        const ss_placed at = ss_snapshot_strand(&s->here, w, k);
        double *f = p->f0 + w->strands[k].v, *D = p->scales + w->strands[k].v;
        definite = !p->hit[k];
        for (int try = 0; !definite && try < 2; try++) {
            const ss_iterate it = ss_iterate_first(&w->now, try == 0 ? 0.0 : BRIEF);
            definite =
                ss_strand_system(w, k, &it, &at, s->systems.rooms[0].scratch, &p->M0[k], f) &&
                ss_band_factor(&p->M0[k], D);
        }
    }
    return definite;
}

// Rows of the contacts that meet within the step, and the strands that they hit.
static bool add_impacts(ss_phases *p, const ss_stepper *s, double h)
{
    for (int i = 0; i < s->ncontacts; i++) {
        const ss_touch *t = &s->touches[i];
        const double before = p->u0[3 * i];
        if (before < 0.0 && t->gap < -h * before) {
            const ss_row row = {
                .b = before - wanted_after(s, i, before, h), .high = INFINITY, .normal = -1};
            if (!phases_add_contact(&p->rows, s, i, NORMAL_WEIGHTS, &row)) {
                return false;
            }
            p->hit[t->strand_a] = true;
            p->hit[t->strand_b >= 0 ? t->strand_b : t->strand_a] = true;
        }
    }
    return true;
}

// A phase: its impulses, from the velocities before it. *sweeps grows. False without memory.
static bool phases_find_impacts(ss_phases *p, const ss_stepper *s, double h, int *sweeps)
{
    const ss_world *w = s->world;
    memset(p->hit, 0, (size_t)w->nstrands * sizeof *p->hit);
    rows_clear(&p->rows);
    if (!add_impacts(p, s, h)) {
        return false;
    }
    if (p->rows.count == 0) {
        return true;
    }
    const bool inertia = p->M0 != NULL && factor_inertia(p, s);
    const ss_factors M = {inertia ? p->M0 : s->systems.L, inertia ? p->scales : s->systems.D};
    if (!ss_rows_measure(&p->rows, w, &s->systems, M)) {
        return false;
    }
    *sweeps += ss_rows_relax(&p->rows, p->set.sweeps, p->set.omega, p->set.eps);
    for (int i = 0; i < p->rows.count; i++) {
        ss_rows_push(&p->rows, w, i, ss_rows_at(&p->rows, i)->x, p->impacts);
    }
    for (int k = 0; k < w->nstrands; k++) {
        const int at = w->strands[k].v;
        if (p->hit[k]) {
            memcpy(p->gained + at, p->impacts + at,
                   (size_t)phases_free_count(s, k) * sizeof *p->gained);
            ss_band_solve(&M.L[k], M.D + at, p->gained + at);
        }
    }
    return true;
}

// ---- The second phase: forces
//
// The second phase: contacts that press and rub, goals, and limits of joints (phases.h).
//
// A contact has two rows, along its normal n and along t = -unit(b_T), against its motion:
//
//     r = x_n n + x_t t,   x_n >= 0 complementary to u_N,   0 <= x_t <= mu x_n

#define MOST_ROUNDS 8 // of rows of limits

// m/s: a contact that would slide more slowly without impulses keeps the tangent of its last
// impulse.
#define LEAST_SLIDE 1e-12

static void find_tangent(const double b[3], const double r[3], double t[3])
{
    const double speed = hypot(b[1], b[2]), held = hypot(r[1], r[2]);
    t[0] = t[2] = 0.0;
    t[1] = 1.0;
    if (speed >= LEAST_SLIDE) {
        t[1] = -b[1] / speed;
        t[2] = -b[2] / speed;
    } else if (held > 0.0) {
        t[1] = r[1] / held;
        t[2] = r[2] / held;
    }
}

// The friction of contact i, by how fast it slides after the impacts.
static double friction(const ss_phases *p, const ss_stepper *s, int i)
{
    const ss_touch *t = &s->touches[i];
    const double *u = p->u1 + 3 * i, mu = s->formed.problem.mu[i];
    const double loss = t->strand_b < 0 ? s->world->obstacles[t->segment_b].sliding_loss : 0.0;
    return hypot(u[1], u[2]) > p->set.stick ? p->set.sliding * (1.0 - loss) * mu : mu;
}

// Row 2 i is along the normal of contact i, row 2 i + 1 against its motion. The problem gets the
// friction that is used.
static bool add_contacts(ss_phases *p, const ss_stepper *s)
{
    bool ok = true;
    for (int i = 0; ok && i < s->ncontacts; i++) {
        const double *b = p->b + 3 * i, *r = s->r + 3 * i;
        double t[3];
        find_tangent(b, r, t);
        s->formed.problem.mu[i] = friction(p, s, i);
        const ss_row normal = {.b = b[0], .high = INFINITY, .normal = -1, .x = fmax(r[0], 0.0)};
        const ss_row across = {.b = b[1] * t[1] + b[2] * t[2],
                               .normal = 2 * i,
                               .mu = s->formed.problem.mu[i],
                               .x = r[1] * t[1] + r[2] * t[2]};
        ok = phases_add_contact(&p->rows, s, i, NORMAL_WEIGHTS, &normal) &&
             phases_add_contact(&p->rows, s, i, t, &across);
    }
    return ok;
}

// r of the contacts, and the impulses of the other rows.
static void read_answer(ss_phases *p, const ss_stepper *s)
{
    const ss_world *w = s->world;
    for (int i = 0; i < s->ncontacts; i++) {
        double t[3];
        find_tangent(p->b + 3 * i, s->r + 3 * i, t);
        const double across = ss_rows_at(&p->rows, 2 * i + 1)->x;
        s->r[3 * i] = ss_rows_at(&p->rows, 2 * i)->x;
        s->r[3 * i + 1] = across * t[1];
        s->r[3 * i + 2] = across * t[2];
    }
    for (int i = 2 * s->ncontacts; i < p->rows.count; i++) {
        ss_rows_push(&p->rows, w, i, ss_rows_at(&p->rows, i)->x, p->extra);
    }
}

static bool relax_rows(ss_phases *p, const ss_stepper *s, int *sweeps)
{
    if (!ss_rows_measure(&p->rows, s->world, &s->systems,
                         (ss_factors){s->systems.L, s->systems.D})) {
        return false;
    }
    extras_soften(&p->rows, 2 * s->ncontacts);
    *sweeps += ss_rows_relax(&p->rows, p->set.sweeps, p->set.omega, p->set.eps);
    return true;
}

// p->end = M^-1 (f + impacts + what the rows do).
static void find_end(const ss_phases *p, const ss_stepper *s)
{
    const ss_world *w = s->world;
    memset(p->end, 0, (size_t)w->nv * sizeof *p->end);
    for (int i = 0; i < p->rows.count; i++) {
        ss_rows_push(&p->rows, w, i, ss_rows_at(&p->rows, i)->x, p->end);
    }
    for (int k = 0; k < w->nstrands; k++) {
        const int at = w->strands[k].v;
        if (phases_may_act_on(p, s, k)) {
            ss_band_solve(&s->systems.L[k], s->systems.D + at, p->end + at);
        }
        for (int i = at; i < at + phases_free_count(s, k); i++) {
            p->end[i] += p->free[i];
        }
    }
}

// A row bounds the turn of a joint in one direction. Other rows may send the joint beyond its
// limits in another direction: it then gets a row for that one. This ends when no joint is beyond
// its limits, or after MOST_ROUNDS.
static bool phases_find_forces(ss_phases *p, const ss_stepper *s, double h, int *sweeps)
{
    const ss_extras extras = {&p->rows, s, &p->set, p->free, p->around, p->limits, h};
    int before = 0;
    rows_clear(&p->rows);
    bool ok = add_contacts(p, s) && extras_add(&extras);
    for (int k = 0; ok && (k == 0 || before < p->rows.count); k++) {
        before = p->rows.count;
        ok = relax_rows(p, s, sweeps);
        if (ok && p->set.limit > 0.0 && k < MOST_ROUNDS) {
            find_end(p, s);
            ok = extras_tighten(&extras, p->end);
        }
    }
    if (ok) {
        read_answer(p, s);
    }
    return ok;
}

// ---- Both phases

void ss_phases_free(ss_phases *p)
{
    if (p != NULL) {
        ss_rows_free(&p->rows);
        ss_buffer_free(&p->velocities);
        free(p->before);
        free(p->pushed);
        free(p->limits);
        free(p->pushes);
        free(p->M0);
        free(p->numbers);
        free(p);
    }
}

// Room for the factors of M0, which are as large as those of M.
static bool allocate_inertia(ss_phases *p, const ss_world *w)
{
    const size_t n = (size_t)w->nstrands;
    size_t count = 0;
    for (size_t k = 0; k < n; k++) {
        const ss_strand_size *size = &w->strands[k].size;
        count += (size_t)size->nv * (size_t)(size->half_bandwidth + 1);
    }
    p->M0 = malloc((n + 1) * sizeof *p->M0);
    p->numbers = malloc((count + (size_t)w->nv + 1) * sizeof *p->numbers);
    if (p->M0 == NULL || p->numbers == NULL) {
        return false;
    }
    double *x = p->numbers;
    for (size_t k = 0; k < n; k++) {
        const ss_strand_size *size = &w->strands[k].size;
        p->M0[k] = (ss_band){size->nv, size->half_bandwidth, x};
        x += (size_t)size->nv * (size_t)(size->half_bandwidth + 1);
    }
    p->scales = x;
    return true;
}

ss_status ss_phases_new(const ss_stepper *s, const ss_phases_settings *set, bool inertia,
                        ss_phases **phases, ss_error *e)
{
    const ss_world *w = s->world;
    const size_t n = (size_t)w->nv + 1;
    *phases = NULL;
    const ss_status status = phases_check(w, set, s->options.dt, e);
    if (status != SS_OK) {
        return status;
    }
    ss_phases *p = calloc(1, sizeof *p);
    if (p == NULL) {
        return ss_fail_memory(e, "the contacts of a world");
    }
    p->set = *set;
    p->before = calloc(8 * n, sizeof *p->before);
    p->pushed = calloc(2 * (size_t)w->nstrands + 1, sizeof *p->pushed);
    p->limits = malloc(n * sizeof *p->limits);
    p->pushes = calloc((size_t)w->npoints + 1, sizeof *p->pushes);
    if (p->before == NULL || p->pushed == NULL || p->limits == NULL || p->pushes == NULL ||
        (inertia && !allocate_inertia(p, w))) {
        ss_phases_free(p);
        return ss_fail_memory(e, "the contacts of a world");
    }
    p->hit = p->pushed + w->nstrands;
    p->free = p->before + n;
    p->impacts = p->free + n;
    p->extra = p->impacts + n;
    p->around = p->extra + n;
    p->f0 = p->around + n;
    p->gained = p->f0 + n;
    p->end = p->gained + n;
    *phases = p;
    return SS_OK;
}

// -- Velocities

// Dofs of strand k that are free.
static int phases_free_count(const ss_stepper *s, int k)
{
    return s->systems.M[k].n;
}

// v of the start.
static void take_velocities(const ss_stepper *s, double *v)
{
    const ss_world *w = s->world;
    for (int k = 0; k < w->nstrands; k++) {
        const int at = w->strands[k].v;
        for (int i = 0; i < phases_free_count(s, k); i++) {
            v[at + i] = w->now.v[at + s->systems.free[at + i]];
        }
    }
}

// Whether anything may act on strand k.
static bool phases_may_act_on(const ss_phases *p, const ss_stepper *s, int k)
{
    const ss_strand *strand = &s->world->strands[k];
    return (s->ncontacts > 0 && s->formed.row[k] >= 0) ||
           (p->set.limit > 0.0 && strand->model->limits != NULL) ||
           (p->set.goal != SS_GOAL_OFF && strand->posing != NULL);
}

// p->free = M^-1 (f + impacts).
static void find_free(const ss_phases *p, const ss_stepper *s)
{
    const ss_world *w = s->world;
    for (int k = 0; k < w->nstrands; k++) {
        const int at = w->strands[k].v;
        for (int i = 0; phases_may_act_on(p, s, k) && i < phases_free_count(s, k); i++) {
            p->around[at + i] = s->systems.f[at + i] + p->impacts[at + i];
        }
        if (phases_may_act_on(p, s, k)) {
            ss_systems_solve(&s->systems, w, k, p->around + at, p->free + at);
        }
    }
}

// u [3 ncontacts] = H'v + base.
static void find_contact_velocities(const ss_stepper *s, const double *v, const double *base,
                                    double *u)
{
    const ss_world *w = s->world;
    for (int k = 0; k < w->nstrands; k++) {
        const int row = s->formed.row[k];
        if (row >= 0) {
            memcpy(s->v + row, v + w->strands[k].v, (size_t)phases_free_count(s, k) * sizeof *v);
        }
    }
    memcpy(u, base, 3 * (size_t)s->ncontacts * sizeof *u);
    ss_sparse_add_transposed_product(&s->formed.problem.H, s->v, u);
}

// p->u1: velocities of the contacts after the impacts.
static void find_after(const ss_phases *p, const ss_stepper *s)
{
    for (int j = 0; j < s->world->nv; j++) {
        p->around[j] = p->before[j] + p->gained[j];
    }
    find_contact_velocities(s, p->around, s->formed.scripted, p->u1);
}

// -- Rows of contacts

// The entries of the weighted sum of the columns of contact i that belong to strand k.
static bool add_part(ss_rows *rows, const ss_stepper *s, int i, const double weight[3], int k)
{
    const ss_sparse *H = &s->formed.problem.H;
    const int n = phases_free_count(s, k), row = s->formed.row[k];
    double *x = ss_rows_add_end(rows, k, n);
    for (int c = 0; x != NULL && c < 3; c++) {
        for (int at = H->start[3 * i + c]; weight[c] != 0.0 && at < H->start[3 * i + c + 1]; at++) {
            const int dof = H->row[at] - row;
            if (dof >= 0 && dof < n) {
                x[dof] += weight[c] * H->x[at];
            }
        }
    }
    return x != NULL;
}

// A row for the weighted sum of the columns 3 i, 3 i + 1, 3 i + 2 of H, of contact i. False without
// memory.
static bool phases_add_contact(ss_rows *rows, const ss_stepper *s, int i, const double weight[3],
                               const ss_row *row)
{
    const ss_touch *t = &s->touches[i];
    return ss_rows_add(rows, row) && add_part(rows, s, i, weight, t->strand_a) &&
           (t->strand_b < 0 || t->strand_b == t->strand_a ||
            add_part(rows, s, i, weight, t->strand_b));
}

// Half of a contact: the impulse on strand k at abscissa a of a segment, shared by its ends.
static void push_segment(const ss_phases *p, const ss_world *w, int k, int segment, double a,
                         ss_vec3 impulse)
{
    ss_vec3 *end = p->pushes + w->strands[k].point + segment;
    end[0] = ss_along(end[0], 1.0 - a, impulse);
    end[1] = ss_along(end[1], a, impulse);
    p->pushed[k] = true;
}

static void find_pushes(const ss_phases *p, const ss_stepper *s)
{
    for (int i = 0; i < s->ncontacts; i++) {
        const ss_touch *t = &s->touches[i];
        const double *r = s->r + 3 * i;
        const ss_vec3 impulse = ss_turned(&s->E[i], ss_vec(r[0], r[1], r[2]));
        if (r[0] > 0.0) {
            push_segment(p, s->world, t->strand_a, t->segment_a, t->a, impulse);
        }
        if (r[0] > 0.0 && t->strand_b >= 0) {
            push_segment(p, s->world, t->strand_b, t->segment_b, t->b, ss_scaled(-1.0, impulse));
        }
    }
}

// f gains the impulses that are not part of r.
static void add_impulses(const ss_phases *p, ss_stepper *s)
{
    const ss_world *w = s->world;
    for (int k = 0; k < w->nstrands; k++) {
        const int at = w->strands[k].v, row = s->ncontacts > 0 ? s->formed.row[k] : -1;
        for (int i = at; i < at + phases_free_count(s, k); i++) {
            const double more = p->impacts[i] + p->extra[i];
            s->systems.f[i] += more;
            if (row >= 0) {
                s->formed.problem.f[row + i - at] += more;
            }
            p->pushed[k] = p->pushed[k] || more != 0.0;
        }
    }
}

static bool run_phases(ss_phases *p, ss_stepper *s, double h, int *sweeps)
{
    const size_t n = 3 * (size_t)s->ncontacts;
    p->u0 = ss_buffer_room(&p->velocities, (3 * n + 1) * sizeof *p->u0);
    if (p->u0 == NULL) {
        return false;
    }
    p->u1 = p->u0 + n;
    p->b = p->u1 + n;
    take_velocities(s, p->before);
    if (n > 0) {
        find_contact_velocities(s, p->before, s->formed.scripted, p->u0);
        if (!phases_find_impacts(p, s, h, sweeps)) {
            return false;
        }
        find_after(p, s);
    }
    find_free(p, s);
    if (n > 0) {
        find_contact_velocities(s, p->free, s->formed.problem.w, p->b);
    }
    if (!phases_find_forces(p, s, h, sweeps)) {
        return false;
    }
    memset(p->pushed, 0, (size_t)s->world->nstrands * sizeof *p->pushed);
    find_pushes(p, s);
    add_impulses(p, s);
    return true;
}

ss_status ss_phases_answer(ss_phases *p, ss_stepper *s, double h, ss_step_report *report,
                           ss_error *e)
{
    const size_t n = (size_t)s->world->nv;
    const ss_status status = ss_step_form_problem(s, h, report, e);
    if (status != SS_OK) {
        return status;
    }
    const double start = ss_clock_now();
    int sweeps = 0;
    memset(p->impacts, 0, n * sizeof *p->impacts);
    memset(p->gained, 0, n * sizeof *p->gained);
    memset(p->pushes, 0, (size_t)s->world->npoints * sizeof *p->pushes);
    memset(p->extra, 0, n * sizeof *p->extra);
    if (!run_phases(p, s, h, &sweeps)) {
        return ss_fail_memory(e, "the contacts of a step");
    }
    const double seconds = ss_clock_now() - start;
    report->solve_seconds += seconds;
    if (s->ncontacts > 0) {
        report->answer.iterations = sweeps;
        report->answer.status = "stopped"; // unless a judge says more
        report->answer.seconds = report->answer.sweep_seconds = seconds;
    }
    return SS_OK;
}

bool ss_phases_act(const ss_phases *p, const ss_world *w, int k, ss_phases_impulses *impulses)
{
    const ss_strand *strand = &w->strands[k];
    *impulses = (ss_phases_impulses){p->gained + strand->v, p->extra + strand->v,
                                     p->pushes + strand->point};
    return p->pushed[k];
}

// ---- The scheme
//
// phases: backward Euler about the start, with contacts in two phases, impacts and forces
// (phases.h).

typedef struct settings {
    ss_phases_settings phases;
} settings;

static const settings DEFAULTS = {SS_PHASES_DEFAULTS};
static const ss_key KEYS[] = {SS_PHASES_KEYS(phases), {.name = NULL}};

static const char *key_needs(const void *set, const char *key)
{
    return ss_phases_key_needs(&((const settings *)set)->phases, true, key);
}

static ss_status make(ss_stepper *s, const void *set, void **own, ss_error *e)
{
    ss_phases *p;
    const ss_status status = ss_phases_new(s, &((const settings *)set)->phases, false, &p, e);
    *own = p;
    return status;
}

static void release(void *own)
{
    ss_phases_free(own);
}

static ss_status phases_step(ss_stepper *s, void *own, double h, ss_step_report *report,
                             ss_step_reason *reason, ss_error *e)
{
    const ss_iterate it = ss_iterate_first(&s->world->now, h);
    ss_step_begin(s, h, it.way, NULL);
    if (!ss_step_form(s, &it, &s->here, report)) {
        *reason = SS_STEP_MATRIX;
        return SS_OK;
    }
    ss_status status = ss_step_find_contacts(s, h, report, e);
    if (status == SS_OK) {
        status = ss_phases_answer(own, s, h, report, e);
    }
    if (status != SS_OK) {
        return status;
    }
    ss_step_find_velocities(s);
    ss_step_keep_answer(s);
    ss_step_move(s, h);
    return ss_step_end(s, h, report, reason, e);
}

const ss_scheme ss_scheme_phases = {
    .name = "phases",
    .summary = "one linearised step; contacts by impacts and then forces, no solver",
    .reference = "H06",
    .keys = KEYS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .key_needs = key_needs,
    .alone = true,
    .impacts = true,
    .make = make,
    .free = release,
    .step = phases_step,
};
