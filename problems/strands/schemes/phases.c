// Contacts in two phases (phases.h). Velocities of strands are those of their free dofs, [nv] with those of strand k
// from its v on.
#include "problems/strands/schemes/phases.h"

#include <stdlib.h>
#include <string.h>

#include "problems/strands/band.h"
#include "problems/strands/schemes/phases_extra.h"

#define MOST_ROUNDS 8 // of rows of limits
#define BRIEF       1e-6 // s: M of such a step where M0 has no factor, as a straight super-helix has none

// m/s: a contact that slides by less without impulses keeps the tangent of its impulse before.
#define LEAST_SLIDE 1e-12

struct ss_phases {
    ss_phases_settings set;
    ss_rows rows;
    double *before, *free;   // [nv] v of the start; M^-1 f
    double *impacts, *extra; // [nv] impulses of impacts; of goals and limits
    ss_vec3 *pushes;         // [npoints] N s, of contacts
    double *gained;          // [nv] velocities by the impacts
    bool *pushed, *hit;      // [nstrands] whether anything acts on it; whether impacts may
    ss_band *M0; // [nstrands] factors of the inertia of what is hit; NULL: M of the step
    double *numbers, *scales; // of these
    double *around, *f0;      // [nv] scratch
    double *end;              // [nv] v of the end, of the free dofs
    ss_joint_limit *limits;   // [nv] scratch
    ss_buffer
        velocities; // [9 ncontacts] of contacts: of the start, after the impacts, without forces
    double *u0, *u1, *b;
};

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
    const ss_status status = ss_phases_check(w, set, s->options.dt, e);
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

// ---- Velocities

static int free_count(const ss_stepper *s, int k)
{
    return s->systems.M[k].n;
}

// v of the start.
static void take_velocities(const ss_stepper *s, double *v)
{
    const ss_world *w = s->world;
    for (int k = 0; k < w->nstrands; k++) {
        const int at = w->strands[k].v;
        for (int i = 0; i < free_count(s, k); i++) {
            v[at + i] = w->now.v[at + s->systems.free[at + i]];
        }
    }
}

// Whether anything may act on strand k.
static bool counts(const ss_phases *p, const ss_stepper *s, int k)
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
        for (int i = 0; counts(p, s, k) && i < free_count(s, k); i++) {
            p->around[at + i] = s->systems.f[at + i] + p->impacts[at + i];
        }
        if (counts(p, s, k)) {
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
            memcpy(s->v + row, v + w->strands[k].v, (size_t)free_count(s, k) * sizeof *v);
        }
    }
    memcpy(u, base, 3 * (size_t)s->ncontacts * sizeof *u);
    ss_sparse_add_transposed_product(&s->formed.problem.H, s->v, u);
}

// ---- Rows of contacts

// The part of strand k in the sum of the columns of contact i.
static bool add_part(ss_rows *rows, const ss_stepper *s, int i, const double weight[3], int k)
{
    const ss_sparse *H = &s->formed.problem.H;
    const int n = free_count(s, k), row = s->formed.row[k];
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

static bool add_contact(ss_rows *rows, const ss_stepper *s, int i, const double weight[3],
                        const ss_row *row)
{
    const ss_touch *t = &s->touches[i];
    return ss_rows_add(rows, row) && add_part(rows, s, i, weight, t->strand_a) &&
           (t->strand_b < 0 || t->strand_b == t->strand_a ||
            add_part(rows, s, i, weight, t->strand_b));
}

static const double NORMAL[3] = {1.0, 0.0, 0.0};

// ---- Impacts

// The velocity that contact i is to have along its normal after its impact.
static double wanted_after(const ss_stepper *s, int i, double before, double h)
{
    const ss_touch *t = &s->touches[i];
    const double e = t->strand_b < 0 ? s->world->obstacles[t->segment_b].restitution : 0.0;
    return e > 0.0 ? -e * before : -fmax(t->gap, 0.0) / h;
}

// M0 of the strands that are hit. False where one has no factor.
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
            if (!add_contact(&p->rows, s, i, NORMAL, &row)) {
                return false;
            }
            p->hit[t->strand_a] = true;
            p->hit[t->strand_b >= 0 ? t->strand_b : t->strand_a] = true;
        }
    }
    return true;
}

static bool find_impacts(ss_phases *p, const ss_stepper *s, double h, int *sweeps)
{
    const ss_world *w = s->world;
    memset(p->hit, 0, (size_t)w->nstrands * sizeof *p->hit);
    ss_rows_clear(&p->rows);
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
            memcpy(p->gained + at, p->impacts + at, (size_t)free_count(s, k) * sizeof *p->gained);
            ss_band_solve(&M.L[k], M.D + at, p->gained + at);
        }
    }
    return true;
}

// u1: that of the contacts after the impacts.
static void find_after(const ss_phases *p, const ss_stepper *s)
{
    for (int j = 0; j < s->world->nv; j++) {
        p->around[j] = p->before[j] + p->gained[j];
    }
    find_contact_velocities(s, p->around, s->formed.scripted, p->u1);
}

// ---- Forces

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

// Rows 2 i and 2 i + 1: along the normal and against the motion; the friction that the problem is to have.
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
        ok =
            add_contact(&p->rows, s, i, NORMAL, &normal) && add_contact(&p->rows, s, i, t, &across);
    }
    return ok;
}

// r and the impulses of the rows.
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
    ss_extras_soften(&p->rows, 2 * s->ncontacts);
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
        if (counts(p, s, k)) {
            ss_band_solve(&s->systems.L[k], s->systems.D + at, p->end + at);
        }
        for (int i = at; i < at + free_count(s, k); i++) {
            p->end[i] += p->free[i];
        }
    }
}

// A row bounds the turn of a joint in one direction. Joints that the rows of others send beyond their limits in
// another one get more, until none is, or often enough.
static bool find_forces(ss_phases *p, const ss_stepper *s, double h, int *sweeps)
{
    const ss_extras extras = {&p->rows, s, &p->set, p->free, p->around, p->limits, h};
    int before = 0;
    ss_rows_clear(&p->rows);
    bool ok = add_contacts(p, s) && ss_extras_add(&extras);
    for (int k = 0; ok && (k == 0 || before < p->rows.count); k++) {
        before = p->rows.count;
        ok = relax_rows(p, s, sweeps);
        if (ok && p->set.limit > 0.0 && k < MOST_ROUNDS) {
            find_end(p, s);
            ok = ss_extras_tighten(&extras, p->end);
        }
    }
    if (ok) {
        read_answer(p, s);
    }
    return ok;
}

// ---- Both

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

// f gains what is not r.
static void add_impulses(const ss_phases *p, ss_stepper *s)
{
    const ss_world *w = s->world;
    for (int k = 0; k < w->nstrands; k++) {
        const int at = w->strands[k].v, row = s->ncontacts > 0 ? s->formed.row[k] : -1;
        for (int i = at; i < at + free_count(s, k); i++) {
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
        if (!find_impacts(p, s, h, sweeps)) {
            return false;
        }
        find_after(p, s);
    }
    find_free(p, s);
    if (n > 0) {
        find_contact_velocities(s, p->free, s->formed.problem.w, p->b);
    }
    if (!find_forces(p, s, h, sweeps)) {
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
    const double start = ss_step_clock();
    int sweeps = 0;
    memset(p->impacts, 0, n * sizeof *p->impacts);
    memset(p->gained, 0, n * sizeof *p->gained);
    memset(p->pushes, 0, (size_t)s->world->npoints * sizeof *p->pushes);
    memset(p->extra, 0, n * sizeof *p->extra);
    if (!run_phases(p, s, h, &sweeps)) {
        return ss_fail_memory(e, "the contacts of a step");
    }
    const double seconds = ss_step_clock() - start;
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
