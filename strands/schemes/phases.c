// Contacts in two phases (phases.h): storage, velocities, and the order of the phases.
#include "strands/schemes/phases.h"

#include <stdlib.h>
#include <string.h>

#include "strands/schemes/phases_parts.h"

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

int ss_phases_free_count(const ss_stepper *s, int k)
{
    return s->systems.M[k].n;
}

// v of the start.
static void take_velocities(const ss_stepper *s, double *v)
{
    const ss_world *w = s->world;
    for (int k = 0; k < w->nstrands; k++) {
        const int at = w->strands[k].v;
        for (int i = 0; i < ss_phases_free_count(s, k); i++) {
            v[at + i] = w->now.v[at + s->systems.free[at + i]];
        }
    }
}

bool ss_phases_may_act_on(const ss_phases *p, const ss_stepper *s, int k)
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
        for (int i = 0; ss_phases_may_act_on(p, s, k) && i < ss_phases_free_count(s, k); i++) {
            p->around[at + i] = s->systems.f[at + i] + p->impacts[at + i];
        }
        if (ss_phases_may_act_on(p, s, k)) {
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
            memcpy(s->v + row, v + w->strands[k].v, (size_t)ss_phases_free_count(s, k) * sizeof *v);
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

// ---- Rows of contacts

// The entries of the weighted sum of the columns of contact i that belong to strand k.
static bool add_part(ss_rows *rows, const ss_stepper *s, int i, const double weight[3], int k)
{
    const ss_sparse *H = &s->formed.problem.H;
    const int n = ss_phases_free_count(s, k), row = s->formed.row[k];
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

bool ss_phases_add_contact(ss_rows *rows, const ss_stepper *s, int i, const double weight[3],
                           const ss_row *row)
{
    const ss_touch *t = &s->touches[i];
    return ss_rows_add(rows, row) && add_part(rows, s, i, weight, t->strand_a) &&
           (t->strand_b < 0 || t->strand_b == t->strand_a ||
            add_part(rows, s, i, weight, t->strand_b));
}

const double SS_PHASES_NORMAL[3] = {1.0, 0.0, 0.0};

// ---- Both phases

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
        for (int i = at; i < at + ss_phases_free_count(s, k); i++) {
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
        if (!ss_phases_find_impacts(p, s, h, sweeps)) {
            return false;
        }
        find_after(p, s);
    }
    find_free(p, s);
    if (n > 0) {
        find_contact_velocities(s, p->free, s->formed.problem.w, p->b);
    }
    if (!ss_phases_find_forces(p, s, h, sweeps)) {
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
