// problems/strands/step/step_try.c -- one try of a step, from the systems to the test of where it
// ends.
#include "problems/strands/step/stepper.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

double ss_step_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// ---- Finding contacts

// With `moved`, what is found is the collider's until the next search.
static ss_status collide(ss_stepper *s, const ss_snapshot *at, const ss_vec3 *moved, double h,
                         const ss_touch **touches, int *count, ss_step_report *report, ss_error *e)
{
    const ss_world *w = s->world;
    const double start = ss_step_clock();
    const ss_polylines lines = {.nstrands = w->nstrands,
                                .first = s->first,
                                .x = at->x,
                                .moved = moved,
                                .radius = w->radius,
                                .body = s->body};
    const double margin = ss_step_margin(&s->options, w->radius, h, s->speed);
    const ss_status status = ss_collide(s->collider, &lines, w->obstacles, at->obstacles,
                                        w->nobstacles, margin, touches, count, e);
    report->collide_seconds += ss_step_clock() - start;
    return status;
}

// theta v + (1 - theta) v_n of strand k, into `mean`; v is its velocity at the end of the step.
static void mean_velocity(const ss_stepper *s, int k, const double *v, double *mean)
{
    const double theta = s->options.theta;
    const ss_strand *strand = &s->world->strands[k];
    for (int j = 0; j < strand->size.nv; j++) {
        mean[j] = theta * v[j] + (1.0 - theta) * s->world->now.v[strand->v + j];
    }
}

// Where the points would be at the end of the step without contacts, moving straight, seen from the
// body of the first strand: obstacles of that body rest there, those of others are taken to rest.
static void sweep(ss_stepper *s, double h)
{
    const ss_world *w = s->world;
    for (int k = 0; k < w->nstrands; k++) {
        const ss_strand *strand = &w->strands[k];
        double *v = s->trial.v + strand->v, *mean = s->right + strand->v;
        ss_systems_end(&s->systems, w, k, v);
        mean_velocity(s, k, v, mean);
        for (int i = strand->point; i < strand->point + strand->size.npoints; i++) {
            const ss_vec3 rate = ss_point_rate(&s->here.all.points[i], mean);
            const ss_vec3 x = ss_carried(&s->here, &s->there, strand->body, s->here.x[i]);
            s->moved[i] = ss_carried(&s->there, &s->here, w->strands[0].body, ss_along(x, h, rate));
        }
    }
}

// Contacts are pairs of which a point can move; without a gap term those that touch.
static bool is_contact(const ss_stepper *s, const ss_touch *t)
{
    const ss_world *w = s->world;
    const ss_strand_point *a = s->here.all.points + w->strands[t->strand_a].point + t->segment_a;
    int dofs = a[0].count + a[1].count;
    if (t->strand_b >= 0) {
        const ss_strand_point *b =
            s->here.all.points + w->strands[t->strand_b].point + t->segment_b;
        dofs += b[0].count + b[1].count;
    }
    return dofs > 0 && !(s->options.gap == SS_GAP_NONE && t->gap > 0.0);
}

static ss_status find_pairs(ss_stepper *s, double h, const ss_touch **pairs, int *count,
                            ss_step_report *report, ss_error *e)
{
    if (s->options.continuous) {
        sweep(s, h);
        return collide(s, &s->here, s->moved, h, pairs, count, report, e);
    }
    if (s->nfound < 0) {
        return collide(s, &s->here, NULL, h, pairs, count, report, e);
    }
    *pairs = s->found.data;
    *count = s->nfound;
    return SS_OK;
}

static ss_status find_contacts(ss_stepper *s, double h, ss_step_report *report, ss_error *e)
{
    s->ncontacts = 0;
    if (!s->options.contacts) {
        return SS_OK;
    }
    const ss_touch *pairs = NULL;
    int count = 0;
    const ss_status status = find_pairs(s, h, &pairs, &count, report, e);
    if (status != SS_OK) {
        return status;
    }
    s->touches = ss_buffer_room(&s->contacts, ((size_t)count + 1) * sizeof *s->touches);
    if (s->touches == NULL) {
        return ss_fail_memory(e, "the contacts of a step");
    }
    for (int i = 0; i < count; i++) {
        if (is_contact(s, &pairs[i])) {
            s->touches[s->ncontacts++] = pairs[i];
        }
    }
    return SS_OK;
}

// ---- The problem and its answer

static void describe(ss_stepper *s, double h)
{
    ss_provenance *from = &s->formed.problem.provenance;
    from->step = s->steps;
    from->time = s->world->now.time;
    from->dt = h;
    snprintf(from->units, sizeof from->units, "SI");
    snprintf(from->frame, sizeof from->frame, "normal first");
}

static ss_status form(ss_stepper *s, double h, ss_step_report *report, ss_error *e)
{
    const size_t n = (size_t)s->ncontacts;
    s->E = ss_buffer_room(&s->frames, n * sizeof *s->E);
    s->r = ss_buffer_room(&s->answers, 6 * n * sizeof *s->r);
    if (s->E == NULL || s->r == NULL) {
        return ss_fail_memory(e, "the contacts of a step");
    }
    s->u = s->r + 3 * n;
    report->hits = ss_track_recall(s->track, s->touches, s->ncontacts, h, s->E, s->r);
    const ss_step_parts parts = {.world = s->world,
                                 .options = &s->options,
                                 .systems = &s->systems,
                                 .from = &s->here,
                                 .to = &s->there,
                                 .h = h,
                                 .touches = s->touches,
                                 .E = s->E,
                                 .count = s->ncontacts};
    const ss_status status = ss_step_problem_form(&s->formed, &parts, e);
    if (status != SS_OK) {
        return status;
    }
    memcpy(s->formed.guess.r, s->r, 3 * n * sizeof *s->r);
    s->v = ss_buffer_room(&s->velocities, (size_t)s->formed.problem.ndofs * sizeof *s->v);
    if (s->v == NULL) {
        return ss_fail_memory(e, "the velocities of a step");
    }
    describe(s, h);
    return SS_OK;
}

static bool all_finite(const double *x, int count)
{
    double sum = 0.0; // of x - x, 0 or NaN
    for (int j = 0; j < count; j++) {
        sum += x[j] - x[j];
    }
    return sum == 0.0;
}

// r from the solver. *reason is set where it is no answer.
static ss_status solve(ss_stepper *s, ss_step_report *report, ss_step_reason *reason, ss_error *e)
{
    const double start = ss_step_clock();
    const ss_status status =
        s->solver.solve(s->solver.context, &s->formed.problem, s->r, &report->answer, e);
    report->solve_seconds += ss_step_clock() - start;
    if (status != SS_OK || !all_finite(s->r, 3 * s->ncontacts)) {
        *reason = SS_STEP_SOLVER;
    }
    return status;
}

// v = M^-1 (f + H r), strand by strand.
static void find_velocities(ss_stepper *s)
{
    const ss_world *w = s->world;
    const bool touching = s->ncontacts > 0;
    if (touching) {
        memcpy(s->v, s->formed.problem.f, (size_t)s->formed.problem.ndofs * sizeof *s->v);
        ss_sparse_add_product(&s->formed.problem.H, s->r, s->v);
    }
    for (int k = 0; k < w->nstrands; k++) {
        const ss_strand *strand = &w->strands[k];
        const int row = touching ? s->formed.row[k] : -1;
        double *v = s->trial.v + strand->v;
        if (row >= 0) {
            ss_systems_solve(&s->systems, w, k, s->v + row, v);
        } else {
            ss_systems_end(&s->systems, w, k, v);
        }
    }
    for (int k = 0; touching && k < w->nstrands; k++) {
        if (s->formed.row[k] >= 0) {
            memcpy(s->v + s->formed.row[k], s->trial.v + w->strands[k].v,
                   (size_t)w->strands[k].size.nv * sizeof *s->v);
        }
    }
}

static void measure_contacts(ss_stepper *s, ss_step_report *report)
{
    const int n = s->ncontacts;
    report->contacts = n;
    report->contacts_obstacle = report->active = 0;
    report->dissipation = 0.0;
    s->speed = 0.0;
    if (n > 0) {
        memcpy(s->u, s->formed.scripted, 3 * (size_t)n * sizeof *s->u);
        ss_sparse_add_transposed_product(&s->formed.problem.H, s->v, s->u);
    }
    for (int i = 0; i < n; i++) {
        const double *r = s->r + 3 * i, *u = s->u + 3 * i;
        report->contacts_obstacle += s->touches[i].strand_b < 0;
        report->active += r[0] > 0.0;
        report->dissipation += r[0] * u[0] + r[1] * u[1] + r[2] * u[2];
        s->speed = fmax(s->speed, fabs(u[0]));
    }
}

// ---- Where it ends

// What the method of a model that projects does to the velocity when q has moved.
static void add_after(ss_stepper *s, const ss_strand *strand)
{
    for (int j = 0; strand->model->project != NULL && j < strand->size.nv; j++) {
        s->trial.v[strand->v + j] += s->systems.after[strand->v + j];
    }
}

static void move(ss_stepper *s, double h)
{
    const ss_world *w = s->world;
    for (int k = 0; k < w->nstrands; k++) {
        const ss_strand *strand = &w->strands[k];
        double *mean = s->right + strand->v;
        mean_velocity(s, k, s->trial.v + strand->v, mean);
        strand->model->advance(strand->self, w->now.q + strand->q, mean, h, s->trial.q + strand->q);
        add_after(s, strand);
    }
    s->trial.time = w->now.time + h;
    ss_snapshot_place(&s->there, w, &s->trial);
}

static double largest_speed(const ss_stepper *s)
{
    const ss_world *w = s->world;
    double largest = 0.0;
    for (int k = 0; k < w->nstrands; k++) {
        const ss_strand *strand = &w->strands[k];
        for (int i = strand->point; i < strand->point + strand->size.npoints; i++) {
            const ss_vec3 rate = ss_point_rate(&s->there.all.points[i], s->trial.v + strand->v);
            largest = fmax(largest, ss_dot(rate, rate));
        }
    }
    return sqrt(largest);
}

// Whether the end of the step is one to go on from.
static ss_status judge_end(ss_stepper *s, double h, ss_step_report *report, ss_step_reason *reason,
                           ss_error *e)
{
    const ss_world *w = s->world;
    report->time = s->trial.time;
    report->dt = h;
    report->energy = ss_step_energy(w, &s->trial, &s->there);
    report->length = ss_step_length(w, &s->there);
    report->max_speed = largest_speed(s);
    s->after = NULL;
    if (!all_finite(s->trial.v, w->nv) ||
        ss_step_exploded(w, &s->options, &s->here, &s->there, &s->energy, &report->energy)) {
        *reason = SS_STEP_EXPLOSION;
        return SS_OK;
    }
    if (!s->options.contacts || s->options.reach == 0.0) {
        return SS_OK;
    }
    const ss_status status = collide(s, &s->there, NULL, h, &s->after, &s->nafter, report, e);
    if (status == SS_OK && ss_step_reached_too_far(w, &s->options, &s->here, s->touches,
                                                   s->ncontacts, s->after, s->nafter)) {
        *reason = SS_STEP_REACH;
    }
    return status;
}

// The one-step problem, formed and answered.
static ss_status answer(ss_stepper *s, double h, ss_step_report *report, ss_step_reason *reason,
                        ss_error *e)
{
    report->answer = (ss_step_answer){.status = ""};
    report->hits = 0;
    if (s->ncontacts == 0) {
        return SS_OK;
    }
    const double start = ss_step_clock();
    const ss_status status = form(s, h, report, e);
    report->assemble_seconds += ss_step_clock() - start;
    return status == SS_OK ? solve(s, report, reason, e) : status;
}

ss_status ss_step_try(ss_stepper *s, double h, ss_step_report *report, ss_step_reason *reason,
                      ss_error *e)
{
    const ss_world *w = s->world;
    const double start = ss_step_clock();
    ss_snapshot_script(&s->there, w, w->now.time + h);
    const bool definite = ss_systems_form(&s->systems, w, &w->now, &s->here, h, s->options.theta);
    report->assemble_seconds += ss_step_clock() - start;
    if (!definite) {
        *reason = SS_STEP_MATRIX;
        return SS_OK;
    }
    ss_status status = find_contacts(s, h, report, e);
    if (status == SS_OK) {
        status = answer(s, h, report, reason, e);
    }
    if (status != SS_OK || *reason != SS_STEP_DONE) {
        return status;
    }
    find_velocities(s);
    measure_contacts(s, report);
    move(s, h);
    return judge_end(s, h, report, reason, e);
}
