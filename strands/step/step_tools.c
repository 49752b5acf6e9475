// strands/step/step_tools.c -- one try of a step, from the systems to the test of where it
// ends.
#include "strands/step/stepper.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

double ss_step_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// ---- Systems

void ss_step_begin(ss_stepper *s, double h, double way, const double *offset)
{
    const ss_world *w = s->world;
    s->way = way;
    s->offset = offset;
    ss_snapshot_script(&s->there, w, w->now.time + h);
    ss_systems_script(&s->systems, w, &w->now, &s->there, h, way, offset);
}

bool ss_step_form(ss_stepper *s, const ss_iterate *it, const ss_snapshot *at,
                  ss_step_report *report)
{
    const double start = ss_step_clock();
    const bool definite = ss_systems_form(&s->systems, s->world, it, at);
    const double seconds = ss_step_clock() - start;
    report->assemble_seconds += seconds;
    *(report->iterates == 0 ? &report->prepare_seconds : &report->dynamic_seconds) += seconds;
    report->iterates++;
    report->lifted += s->systems.lifted;
    return definite;
}

// ---- The problem and its answer

static void describe(ss_stepper *s, double h, int iterate)
{
    ss_step_problem *formed = &s->formed;
    snprintf(formed->info, sizeof formed->info, "scheme %s, iterate %d, K %s", s->spec, iterate,
             ss_stiffness_names[ss_systems_kind(&s->systems, s->world)]);
    formed->problem.math_info = formed->info;
    ss_provenance *from = &s->formed.problem.provenance;
    from->step = s->steps;
    from->time = s->world->now.time;
    from->dt = h;
    snprintf(from->units, sizeof from->units, "SI");
    snprintf(from->frame, sizeof from->frame, "normal first");
}

static ss_step_parts parts_of(const ss_stepper *s, double h)
{
    return (ss_step_parts){.world = s->world,
                           .options = &s->options,
                           .systems = &s->systems,
                           .from = &s->here,
                           .to = &s->there,
                           .h = h,
                           .touches = s->touches,
                           .E = s->E,
                           .count = s->ncontacts,
                           .impacts = s->scheme->impacts};
}

bool ss_step_answer_room(ss_stepper *s, size_t n)
{
    ss_mat3 *E = ss_buffer_room(&s->frames, n * sizeof *s->E);
    double *r = ss_buffer_room(&s->answers, 9 * n * sizeof *s->r);
    if (E == NULL || r == NULL) {
        return false;
    }
    s->E = E;
    s->r = r;
    s->u = r + 3 * n;
    return true;
}

static ss_status form_problem(ss_stepper *s, double h, ss_step_report *report, ss_error *e)
{
    const size_t n = (size_t)s->ncontacts;
    const ss_step_parts parts = parts_of(s, h);
    const ss_status status = ss_step_problem_form(&s->formed, &parts, e);
    if (status != SS_OK) {
        return status;
    }
    memcpy(s->formed.guess.r, s->r, 3 * n * sizeof *s->r);
    s->v = ss_buffer_room(&s->velocities, (size_t)s->formed.problem.ndofs * sizeof *s->v);
    if (s->v == NULL) {
        return ss_fail_memory(e, "the velocities of a step");
    }
    describe(s, h, report->iterates);
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

ss_status ss_step_form_more(ss_stepper *s, double h, ss_step_report *report, ss_error *e)
{
    const double start = ss_step_clock();
    const ss_status status = form_problem(s, h, report, e);
    report->assemble_seconds += ss_step_clock() - start;
    return status;
}

ss_status ss_step_form_problem(ss_stepper *s, double h, ss_step_report *report, ss_error *e)
{
    report->answer = (ss_step_answer){.status = ""};
    report->hits = 0;
    if (s->ncontacts == 0) {
        return SS_OK;
    }
    if (!ss_step_answer_room(s, (size_t)s->ncontacts)) {
        return ss_fail_memory(e, "the contacts of a step");
    }
    const double start = ss_step_clock();
    report->hits = ss_track_recall(s->track, s->touches, s->ncontacts, h, s->E, s->r);
    report->assemble_seconds += ss_step_clock() - start;
    return ss_step_form_more(s, h, report, e);
}

void ss_step_refresh_problem(ss_stepper *s, ss_step_report *report)
{
    if (s->ncontacts == 0) {
        return;
    }
    const double start = ss_step_clock();
    const ss_step_parts parts = parts_of(s, s->formed.problem.provenance.dt);
    ss_step_problem_refresh(&s->formed, &parts);
    describe(s, parts.h, report->iterates);
    report->assemble_seconds += ss_step_clock() - start;
}

// r from the solver. *reason is set where it is no answer.
static ss_status solve_problem(ss_stepper *s, ss_step_report *report, ss_step_reason *reason,
                               ss_error *e)
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

// Lifts M of the strands in the problem that a solver's factor may refuse; false if there is none left to lift.
static bool lift_problem(ss_stepper *s, const ss_iterate *it, ss_step_report *report)
{
    bool any = false, definite = true;
    for (int k = 0; k < s->world->nstrands; k++) {
        const bool before = s->systems.lift[k] > 0.0;
        bool lifted = false;
        if (s->formed.row[k] >= 0) {
            definite = ss_systems_lift(&s->systems, s->world, k, it, &lifted) && definite;
        }
        report->lifted += lifted && !before;
        any |= lifted;
    }
    return any && definite;
}

static ss_status solve_or_lift(ss_stepper *s, const ss_iterate *it, ss_step_report *report,
                               ss_step_reason *reason, ss_error *e)
{
    const ss_step_reason before = *reason;
    ss_status status = solve_problem(s, report, reason, e);
    while (status == SS_BAD_INPUT && lift_problem(s, it, report)) {
        *reason = before;
        ss_step_refresh_problem(s, report);
        status = solve_problem(s, report, reason, e);
    }
    return status;
}

ss_status ss_step_answer_first(ss_stepper *s, const ss_iterate *it, const double *offset, double h,
                               ss_step_report *report, ss_step_reason *reason, ss_error *e)
{
    ss_step_begin(s, h, it->way, offset);
    if (!ss_step_form(s, it, &s->here, report)) {
        *reason = SS_STEP_MATRIX;
        return SS_OK;
    }
    ss_status status = ss_step_find_contacts(s, h, report, e);
    status = status == SS_OK ? ss_step_form_problem(s, h, report, e) : status;
    return status == SS_OK && s->ncontacts > 0 ? solve_or_lift(s, it, report, reason, e) : status;
}

ss_status ss_step_answer_again(ss_stepper *s, const ss_iterate *it, ss_step_report *report,
                               ss_step_reason *reason, ss_error *e)
{
    if (s->ncontacts == 0) {
        return SS_OK;
    }
    const ss_step_answer before = report->answer;
    ss_step_refresh_problem(s, report);
    memcpy(s->formed.guess.r, s->r, 3 * (size_t)s->ncontacts * sizeof *s->r);
    const ss_status status = solve_or_lift(s, it, report, reason, e);
    report->answer.iterations += before.iterations;
    report->answer.seconds += before.seconds;
    report->answer.setup_seconds += before.setup_seconds;
    report->answer.sweep_seconds += before.sweep_seconds;
    return status;
}

void ss_step_gather_velocities(ss_stepper *s, const double *v)
{
    const ss_world *w = s->world;
    for (int k = 0; s->ncontacts > 0 && k < w->nstrands; k++) {
        const int row = s->formed.row[k], at = w->strands[k].v;
        for (int i = 0; row >= 0 && i < s->systems.M[k].n; i++) {
            s->v[row + i] = v[at + s->systems.free[at + i]];
        }
    }
}

double ss_step_velocity_scale(ss_stepper *s)
{
    const ss_world *w = s->world;
    const ss_problem *p = &s->formed.problem;
    double largest = 0.0;
    if (s->ncontacts == 0) {
        return 0.0;
    }
    for (int k = 0; k < w->nstrands; k++) {
        const int row = s->formed.row[k];
        if (row >= 0) {
            ss_systems_solve(&s->systems, w, k, p->f + row, s->mean + w->strands[k].v);
        }
    }
    ss_step_gather_velocities(s, s->mean);
    memcpy(s->u, p->w, 3 * (size_t)s->ncontacts * sizeof *s->u);
    ss_sparse_add_transposed_product(&p->H, s->v, s->u);
    for (int i = 0; i < s->ncontacts; i++) {
        const ss_vec3 b = ss_vec(s->u[3 * i], s->u[3 * i + 1], s->u[3 * i + 2]);
        largest = fmax(largest, ss_length(b));
    }
    return largest;
}

// Of a few strands.
static void find_velocities(void *context, int group, int thread)
{
    ss_stepper *s = context;
    const ss_world *w = s->world;
    const double *right[SS_SYSTEMS_FEW];
    double *v[SS_SYSTEMS_FEW];
    const int first = SS_SYSTEMS_FEW * group;
    int count = 0;
    (void)thread;
    for (int k = first; k < w->nstrands && count < SS_SYSTEMS_FEW; k++, count++) {
        const int row = s->ncontacts > 0 ? s->formed.row[k] : -1;
        right[count] = row >= 0 ? s->v + row : NULL;
        v[count] = s->trial.v + w->strands[k].v;
    }
    ss_systems_solve_few(&s->systems, w, first, count, right, v);
}

// v = M^-1 (f + H r), strand by strand.
void ss_step_find_velocities(ss_stepper *s)
{
    const ss_world *w = s->world;
    const bool touching = s->ncontacts > 0;
    if (touching) {
        memcpy(s->v, s->formed.problem.f, (size_t)s->formed.problem.ndofs * sizeof *s->v);
        ss_sparse_add_product(&s->formed.problem.H, s->r, s->v);
    }
    ss_systems_each(&s->systems, (w->nstrands + SS_SYSTEMS_FEW - 1) / SS_SYSTEMS_FEW,
                    find_velocities, s);
    ss_step_gather_velocities(s, s->trial.v);
}

void ss_step_keep_answer(ss_stepper *s)
{
    ss_problem *p = &s->formed.problem;
    if (s->ncontacts == 0) {
        return;
    }
    p->solution = (ss_state){.r = s->r, .u = s->u + 3 * s->ncontacts, .v = s->v};
    memcpy(p->solution.u, p->w, 3 * (size_t)s->ncontacts * sizeof *p->w);
    ss_sparse_add_transposed_product(&p->H, s->v, p->solution.u);
    p->has_solution = true;
    snprintf(p->claim.solver, sizeof p->claim.solver, "%s", s->spec);
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

void ss_step_mean_velocity(const ss_stepper *s, int k, const double *v, double *mean)
{
    const ss_strand *strand = &s->world->strands[k];
    for (int j = 0; j < strand->size.nv; j++) {
        mean[j] = s->way * v[j];
    }
    for (int j = 0; j < strand->size.nv && s->offset != NULL; j++) {
        mean[j] += s->offset[strand->v + j];
    }
}

// What the method of a model that projects does to the velocity when q has moved.
static void add_after(ss_stepper *s, const ss_strand *strand)
{
    for (int j = 0; ss_systems_project(&s->systems, strand) && j < strand->size.nv; j++) {
        s->trial.v[strand->v + j] += s->systems.after[strand->v + j];
    }
}

void ss_step_move(ss_stepper *s, double h)
{
    const ss_world *w = s->world;
    for (int k = 0; k < w->nstrands; k++) {
        const ss_strand *strand = &w->strands[k];
        double *mean = s->mean + strand->v;
        ss_step_mean_velocity(s, k, s->trial.v + strand->v, mean);
        strand->model->advance(strand->self, w->now.q + strand->q, mean, h, s->trial.q + strand->q);
        add_after(s, strand);
    }
}

// Against the body of the strand's root; of a strand that nothing clamps in the world.
static ss_vec3 own_velocity(const ss_stepper *s, const ss_strand *strand, int point)
{
    const ss_vec3 rate = ss_point_rate(&s->there.all.points[point], s->trial.v + strand->v);
    if (strand->carrier == strand->body || strand->clamp == SS_CLAMP_NONE) {
        return rate;
    }
    const ss_motion_state *body = &s->there.bodies[strand->body];
    const ss_vec3 arm = ss_minus(s->there.x[point], body->pose.place);
    return ss_minus(rate, ss_plus(body->velocity, ss_cross(body->spin, arm)));
}

// A strand is measured right after it has been placed, as long as caches hold its J.
static void end_strand(void *context, int k, int thread)
{
    ss_stepper *s = context;
    const ss_world *w = s->world;
    const ss_strand *strand = &w->strands[k];
    ss_step_strand_end *end = &s->ends[k];
    (void)thread;
    ss_snapshot_place_strand(&s->there, w, &s->trial, k);
    const ss_placed placed = ss_snapshot_strand(&s->there, w, k);
    ss_strand_energy(w, k, &s->trial, &placed, &end->energy);
    end->length = ss_step_strand_length(w, k, &s->there);
    end->square = 0.0;
    for (int i = strand->point; i < strand->point + strand->size.npoints; i++) {
        const ss_vec3 rate = own_velocity(s, strand, i);
        end->square = fmax(end->square, ss_dot(rate, rate));
    }
}

// The trial state is placed `there`, with its energies, length and largest speed.
static void place_end(ss_stepper *s, ss_step_report *report)
{
    double square = 0.0;
    report->energy = (ss_energy){0};
    report->length = 0.0;
    ss_team_run(s->systems.team, s->world->nstrands, end_strand, s);
    for (int k = 0; k < s->world->nstrands; k++) {
        const ss_step_strand_end *end = &s->ends[k];
        report->energy.kinetic += end->energy.kinetic;
        report->energy.elastic += end->energy.elastic;
        report->energy.potential += end->energy.potential;
        report->length += end->length;
        square = fmax(square, end->square);
    }
    report->max_speed = sqrt(square);
}

// Of what is found where the try ends. Pairs that scripts alone move go where these say.
static bool reached_too_far(const ss_stepper *s)
{
    for (int i = 0; i < s->nafter; i++) {
        const ss_touch *t = &s->after[i];
        if (ss_step_reached_too_far(s->world, &s->options, &s->here, s->touches, s->ncontacts, t) &&
            ss_step_can_move(s, t)) {
            return true;
        }
    }
    return false;
}

ss_status ss_step_end(ss_stepper *s, double h, ss_step_report *report, ss_step_reason *reason,
                      ss_error *e)
{
    const ss_world *w = s->world;
    s->trial.time = w->now.time + h;
    place_end(s, report);
    measure_contacts(s, report);
    report->time = s->trial.time;
    report->dt = h;
    report->stiffness = ss_systems_kind(&s->systems, w);
    s->after = NULL;
    if (!all_finite(s->trial.v, w->nv) ||
        ss_step_exploded(w, &s->options, &s->here, &s->there, &s->energy, &report->energy)) {
        *reason = SS_STEP_EXPLOSION;
        return SS_OK;
    }
    if (!s->options.contacts) {
        return SS_OK;
    }
    const ss_status status =
        ss_step_collide(s, &s->there, NULL, h, &s->after, &s->nafter, report, e);
    report->penetration = ss_collider_depth(s->collider);
    if (status == SS_OK && reached_too_far(s)) {
        *reason = SS_STEP_REACH;
    }
    return status;
}

ss_status ss_step_once(ss_stepper *s, const ss_iterate *it, const double *offset, double h,
                       ss_step_report *report, ss_step_reason *reason, ss_error *e)
{
    const ss_status status = ss_step_answer_first(s, it, offset, h, report, reason, e);
    if (status != SS_OK || *reason != SS_STEP_DONE) {
        return status;
    }
    ss_step_find_velocities(s);
    ss_step_move(s, h);
    return ss_step_end(s, h, report, reason, e);
}
