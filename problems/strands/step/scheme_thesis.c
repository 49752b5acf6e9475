// thesis: [J20] Algorithms 2 and 3: Newton's iterations of backward Euler, with one pass of local impulses
// between two of them.
//
//     v^1 = M^-1 f about (q_n, v_n), without contacts
//     contacts by continuous detection on the way from x_n to x_n + h v^1;  r^1 = 0, or relax r of the
//     step before
//     k = 1, 2, ..:   r from v^k, contact by contact        (local_pass.h)
//                     I = H r
//                     v^{k+1} = M^-1 (f + I) about q_n (+) h v^k
//
// until |v^{k+1} - v^k| / dim, the mean over the strands, is below tol, [J20] (4.3), or as many systems
// were solved as are allowed. With fb=F > 0 the end is where max(fb, normal/2) of r and v is F at most, and
// the change at most F V or tol, as newton ends with a solver of this tolerance. r is that of the last I: M v = f + H r holds of the last system, which is
// the problem that the step leaves behind.
//
// newton=full takes M of the iterate, newton=quasi that of quasi.h.
//
// doc/strands.md, "Thesis".
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "problems/strands/step/local_pass.h"
#include "problems/strands/step/quasi.h"
#include "problems/strands/step/quasi_groups.h"
#include "problems/strands/step/schemes.h"
#include "problems/strands/step/stepper.h"

enum { NEWTON_FULL, NEWTON_QUASI };

// A strand that nothing touches rests when its velocity changes by less than this share of tol.
#define REST 0.01

typedef struct settings {
    int law, newton, iterations;
    double tol; // m/s
    double fb;  // 0: no matter
    double relax;
    int stiffness;
} settings;

static const settings DEFAULTS = {SS_LAW_PRINTED,  NEWTON_QUASI, 50, 1e-8, 0.0, 0.0,
                                  SS_STIFFNESS_OWN};
static const char *const NEWTONS[] = {"full", "quasi", NULL};
static const ss_key KEYS[] = {
    {.name = "law",
     .kind = SS_KEY_CHOICE,
     .place = offsetof(settings, law),
     .choices = ss_law_names},
    {.name = "newton",
     .kind = SS_KEY_CHOICE,
     .place = offsetof(settings, newton),
     .choices = NEWTONS},
    {.name = "iterations",
     .kind = SS_KEY_INTEGER,
     .place = offsetof(settings, iterations),
     .low = 1,
     .high = 100000},
    {.name = "tol", .kind = SS_KEY_REAL, .place = offsetof(settings, tol), .low = 0.0, .high = 1e3},
    {.name = "fb", .kind = SS_KEY_REAL, .place = offsetof(settings, fb), .low = 0.0, .high = 1.0},
    {.name = "relax",
     .kind = SS_KEY_REAL,
     .place = offsetof(settings, relax),
     .low = 0.0,
     .high = 1.0},
    {.name = "stiffness",
     .kind = SS_KEY_CHOICE,
     .place = offsetof(settings, stiffness),
     .choices = ss_stiffness_names},
    {.name = NULL},
};

typedef struct thesis {
    settings set;
    ss_local_pass *pass;
    ss_quasi quasi;
    ss_quasi_groups groups;
    double *about;    // [nv] v*
    double *impulses; // [nv] I
    double *change;   // [nstrands] |v - v*| over positions
    // Of the iterate that strands share the work of.
    ss_stepper *s;
    ss_iterate it;
    ss_world_state at; // q* and v*
    double scale;      // m/s: V, where fb matters
    bool iterated;     // there was a second system
} thesis;

static void thesis_free(void *own)
{
    thesis *t = own;
    if (t != NULL) {
        ss_local_pass_free(t->pass);
        ss_quasi_free(&t->quasi);
        ss_quasi_groups_free(&t->groups);
        free(t->about);
    }
    free(t);
}

// Vertices with masses of their own, and lengths apart.
static ss_status check_models(const ss_world *w, const settings *set, ss_error *e)
{
    for (int k = 0; k < w->nstrands; k++) {
        const ss_strand *s = &w->strands[k];
        if (!s->size.lumped || s->size.npoints != s->size.nsamples) {
            return ss_fail(e, SS_BAD_INPUT,
                           "strands of the model %s have no vertices with masses of their own, "
                           "which the scheme thesis gives impulses to: take der",
                           s->model->name);
        }
        if (set->newton == NEWTON_QUASI && s->model->lengths == NULL) {
            return ss_fail(e, SS_BAD_INPUT,
                           "strands of the model %s do not keep the stiffness of lengths apart: "
                           "take thesis:newton=full, or der",
                           s->model->name);
        }
    }
    return SS_OK;
}

static ss_status thesis_make(ss_stepper *s, const void *set, void **own, ss_error *e)
{
    const ss_world *w = s->world;
    const size_t nv = (size_t)w->nv + 1;
    thesis *t = calloc(1, sizeof *t);
    *own = t;
    if (t == NULL) {
        return ss_fail_memory(e, "the scheme of a world");
    }
    t->set = *(const settings *)set;
    const ss_status status = check_models(w, &t->set, e);
    if (status != SS_OK) {
        return status;
    }
    t->pass = ss_local_pass_new(w);
    t->about = malloc((2 * nv + (size_t)w->nstrands) * sizeof *t->about);
    if (t->pass == NULL || t->about == NULL || !ss_quasi_init(&t->quasi, w) ||
        !ss_quasi_groups_init(&t->groups, w, t->set.newton == NEWTON_QUASI,
                              s->options.threads > 1 ? s->options.threads : 1)) {
        return ss_fail_memory(e, "the scheme of a world");
    }
    t->impulses = t->about + nv;
    t->change = t->impulses + nv;
    return SS_OK;
}

// ---- One strand

// |v - v*| over positions.
static double change_of(const thesis *t, int k)
{
    const ss_strand *strand = &t->s->world->strands[k];
    const ss_strand_point *points = t->s->here.all.points + strand->point;
    const double *v = t->s->trial.v + strand->v, *about = t->about + strand->v;
    double sum = 0.0;
    for (int i = 0; i < strand->size.npoints; i++) {
        for (int c = 0; c < 3; c++) {
            const int j = points[i].first + c;
            sum += (v[j] - about[j]) * (v[j] - about[j]);
        }
    }
    return sqrt(sum);
}

// q moves on to where v leads, and v* to what that is.
static void commit(thesis *t, int k)
{
    const ss_world *w = t->s->world;
    const ss_strand *strand = &w->strands[k];
    const double *v = t->s->trial.v + strand->v;
    double *q = t->s->trial.q + strand->q, *step = t->s->mean + strand->v;
    double *about = t->about + strand->v;
    for (int j = 0; j < strand->size.nv; j++) {
        step[j] = v[j] - about[j];
        about[j] = v[j];
    }
    strand->model->advance(strand->self, q, step, t->it.h, q);
    if (strand->model->difference != NULL) {
        strand->model->difference(strand->self, w->now.q + strand->q, q, t->it.h, about);
    }
}

static void solve(thesis *t, int k)
{
    ss_stepper *s = t->s;
    const ss_strand *strand = &s->world->strands[k];
    const double *impulses = t->impulses + strand->v;
    double *v = s->trial.v + strand->v, *right = s->mean + strand->v;
    if (t->set.newton == NEWTON_QUASI) {
        ss_quasi_solve(&t->quasi, &s->systems, s->world, k, t->about + strand->v, impulses, v);
        return;
    }
    for (int i = 0; i < s->systems.M[k].n; i++) {
        right[i] = s->systems.f[strand->v + i] + impulses[s->systems.free[strand->v + i]];
    }
    ss_systems_solve(&s->systems, s->world, k, right, v);
}

// Its system about q*, and v of that.
static void renew(thesis *t, int k, int thread)
{
    ss_stepper *s = t->s;
    ss_placed at = ss_snapshot_strand(&s->there, s->world, k);
    ss_strand_place(s->world, k, t->it.at, &at);
    s->systems.definite[k] =
        t->set.newton == NEWTON_QUASI
            ? ss_quasi_renew(&t->quasi, &s->systems, s->world, k, &t->it, &at, thread)
            : ss_systems_form_strand(&s->systems, s->world, k, &t->it, &at, thread);
    solve(t, k);
    t->change[k] = change_of(t, k);
}

static ss_quasi_step group_step(thesis *t, int thread)
{
    ss_stepper *s = t->s;
    return (ss_quasi_step){.world = s->world,
                           .systems = &s->systems,
                           .here = &s->here,
                           .quasi = &t->quasi,
                           .h = t->it.h,
                           .impulses = t->impulses,
                           .q = s->trial.q,
                           .v = s->trial.v,
                           .about = t->about,
                           .change = t->change,
                           .scratch = t->groups.scratch + (size_t)thread * t->groups.each};
}

static bool has_left(const ss_quasi_item *item, int i)
{
    return item->model == NULL || (item->left >> i & 1u) != 0;
}

// Nothing touches its strands, and they have stopped changing.
static bool rests(const thesis *t, const ss_quasi_item *item)
{
    const ss_world *w = t->s->world;
    for (int i = 0; i < item->count; i++) {
        const int k = item->strand[i];
        const double dim = 3.0 * w->strands[k].size.npoints;
        if ((t->s->ncontacts > 0 && t->s->formed.row[k] >= 0) ||
            !(t->change[k] <= REST * t->set.tol * dim)) {
            return false;
        }
    }
    return true;
}

// Those of the group together; what has left it, and what leaves it now, strand by strand.
static void iterate_item(void *context, int which, int thread)
{
    thesis *t = context;
    ss_quasi_item *item = &t->groups.items[which];
    const ss_quasi_step step = group_step(t, thread);
    for (int i = 0; i < item->count; i++) {
        t->quasi.seconds[item->strand[i]] = 0.0;
    }
    if (rests(t, item)) {
        return;
    }
    for (int i = 0; i < item->count; i++) {
        if (has_left(item, i)) {
            commit(t, item->strand[i]);
            renew(t, item->strand[i], thread);
        }
    }
    const unsigned leave = item->model != NULL ? item->model->iterate(item->group, &step) : 0;
    for (int i = 0; i < item->count; i++) {
        if ((leave >> i & 1u) != 0) {
            item->model->end(item->group, &step, &t->s->systems, i);
            item->model->leave(item->group, i);
            renew(t, item->strand[i], thread);
        }
    }
    item->left |= leave;
}

// The first: v without contacts.
static void begin_strand(thesis *t, int k, int thread)
{
    ss_stepper *s = t->s;
    if (t->set.newton == NEWTON_QUASI) {
        ss_quasi_keep(&t->quasi, &s->systems, s->world, k, &t->it, thread);
    }
    ss_systems_end(&s->systems, s->world, k, s->trial.v + s->world->strands[k].v);
    memcpy(t->about + s->world->strands[k].v, s->world->now.v + s->world->strands[k].v,
           (size_t)s->world->strands[k].size.nv * sizeof *t->about);
    t->change[k] = change_of(t, k);
}

static void begin_item(void *context, int which, int thread)
{
    thesis *t = context;
    ss_quasi_item *item = &t->groups.items[which];
    const ss_quasi_step step = group_step(t, thread);
    for (int i = 0; i < item->count; i++) {
        begin_strand(t, item->strand[i], thread);
    }
    item->left = 0;
    if (item->model != NULL) {
        item->model->begin(item->group, &step);
    }
}

// q and v* of the last system, and M and f where the problem has them.
static void leave_item(void *context, int which, int thread)
{
    thesis *t = context;
    ss_stepper *s = t->s;
    const ss_quasi_item *item = &t->groups.items[which];
    const ss_quasi_step step = group_step(t, thread);
    for (int i = 0; i < item->count; i++) {
        const int k = item->strand[i];
        const bool touches = s->ncontacts > 0 && s->formed.row[k] >= 0;
        if (t->set.newton == NEWTON_QUASI && t->iterated) {
            if (!has_left(item, i)) {
                item->model->end(item->group, &step, touches ? &s->systems : NULL, i);
            }
            if (touches) {
                ss_quasi_right(&t->quasi, &s->systems, s->world, k,
                               t->about + s->world->strands[k].v);
            }
        }
    }
}

static void commit_item(void *context, int which, int thread)
{
    thesis *t = context;
    const ss_quasi_item *item = &t->groups.items[which];
    (void)thread;
    for (int i = 0; i < item->count; i++) {
        commit(t, item->strand[i]);
    }
}

// ---- All strands

static void each(thesis *t, ss_strand_work *work)
{
    ss_systems_each(&t->s->systems, t->groups.count, work, t);
}

static bool all_definite(const thesis *t)
{
    bool definite = true;
    for (int k = 0; k < t->s->world->nstrands; k++) {
        definite = definite && t->s->systems.definite[k];
    }
    return definite;
}

// [J20] (4.3): |v - v*| / dim, the mean over the strands; and the rms over all places.
static void measure_change(const thesis *t, ss_step_report *report)
{
    const ss_world *w = t->s->world;
    double sum = 0.0, squares = 0.0;
    for (int k = 0; k < w->nstrands; k++) {
        sum += t->change[k] / (3.0 * w->strands[k].size.npoints);
        squares += t->change[k] * t->change[k];
    }
    report->change = sum / w->nstrands;
    report->change_rms = sqrt(squares / (3.0 * w->npoints));
}

// Contacts, their problem without a solver, and r.
static ss_status find_contacts(thesis *t, double h, ss_step_report *report, ss_error *e)
{
    ss_stepper *s = t->s;
    ss_status status = ss_step_find_contacts(s, h, report, e);
    if (status == SS_OK) {
        status = ss_step_form_problem(s, h, report, e);
    }
    if (status != SS_OK || s->ncontacts == 0) {
        return status;
    }
    for (int j = 0; j < 3 * s->ncontacts; j++) {
        s->r[j] *= t->set.relax;
    }
    memcpy(s->formed.guess.r, s->r, 3 * (size_t)s->ncontacts * sizeof *s->r);
    status = ss_local_pass_begin(t->pass, s, (ss_law)t->set.law, e);
    if (status == SS_OK && t->set.fb > 0.0) {
        t->scale = ss_local_pass_find_scales(t->pass, s, s->trial.v);
    }
    return status;
}

static void pass_over_contacts(thesis *t, ss_step_report *report)
{
    const double start = ss_step_clock();
    if (t->s->ncontacts > 0) {
        report->impulse_change = ss_local_pass_run(t->pass, t->s, t->s->trial.v);
        ss_local_pass_impulses(t->pass, t->s, t->impulses);
        report->answer.iterations++;
        report->answer.status = "stopped"; // unless a judge says more
    }
    const double seconds = ss_step_clock() - start;
    report->solve_seconds += seconds;
    report->answer.seconds += seconds;
    report->answer.sweep_seconds += seconds;
}

static void count_seconds(const thesis *t, double seconds, ss_step_report *report)
{
    report->assemble_seconds += seconds;
    report->dynamic_seconds += seconds;
    for (int k = 0; t->set.newton == NEWTON_QUASI && k < t->s->world->nstrands; k++) {
        report->factor_seconds += t->quasi.seconds[k];
    }
}

// The problem of the last system.
static void leave_problem(thesis *t, ss_step_report *report)
{
    ss_stepper *s = t->s;
    const double start = ss_step_clock(), before = report->assemble_seconds;
    t->iterated = report->iterates > 1;
    ss_step_gather_velocities(s, s->trial.v);
    each(t, leave_item);
    ss_step_refresh_problem(s, report);
    ss_step_keep_answer(s);
    report->assemble_seconds = before;
    report->judge_seconds += ss_step_clock() - start;
}

static ss_status show(thesis *t, ss_step_report *report, ss_error *e)
{
    const ss_stepper *s = t->s;
    if (s->solver.see == NULL || s->ncontacts == 0) {
        return SS_OK;
    }
    leave_problem(t, report);
    return s->solver.see(s->solver.context, &s->formed.problem, s->r, report, e);
}

// Whether the last iterate is good enough; the first has no impulses yet.
static bool is_done(const thesis *t, const ss_step_report *report)
{
    const ss_stepper *s = t->s;
    if (report->iterates == 1) {
        return false;
    }
    if (!(t->set.fb > 0.0) || s->ncontacts == 0) {
        return report->change < t->set.tol;
    }
    return report->change < fmax(t->set.tol, t->set.fb * t->scale) &&
           ss_local_pass_error(t->pass, s, s->trial.v) <= t->set.fb;
}

// Iterates 2, 3, ...
static ss_status iterate(thesis *t, ss_step_report *report, ss_step_reason *reason, ss_error *e)
{
    ss_stepper *s = t->s;
    ss_status status = SS_OK;
    memset(t->impulses, 0, (size_t)s->world->nv * sizeof *t->impulses);
    t->at = (ss_world_state){.time = s->world->now.time + t->it.h, .q = s->trial.q, .v = t->about};
    t->it.at = &t->at;
    t->it.ahead = t->about;
    while (status == SS_OK && !is_done(t, report) && report->iterates < t->set.iterations) {
        pass_over_contacts(t, report);
        const double start = ss_step_clock();
        each(t, iterate_item);
        measure_change(t, report);
        report->iterates++;
        count_seconds(t, ss_step_clock() - start, report);
        if (!all_definite(t)) {
            *reason = SS_STEP_MATRIX;
            break;
        }
        status = show(t, report, e);
    }
    return status;
}

// The problem that is left behind, and where the strands are.
static ss_status finish(thesis *t, double h, ss_step_report *report, ss_step_reason *reason,
                        ss_error *e)
{
    leave_problem(t, report);
    each(t, commit_item);
    return ss_step_end(t->s, h, report, reason, e);
}

static ss_status thesis_step(ss_stepper *s, void *own, double h, ss_step_report *report,
                             ss_step_reason *reason, ss_error *e)
{
    thesis *t = own;
    t->s = s;
    t->it = ss_iterate_first(&s->world->now, h);
    t->it.kind = (ss_stiffness)t->set.stiffness;
    ss_step_begin(s, h, 1.0, NULL);
    if (!ss_step_form(s, &t->it, &s->here, report)) {
        *reason = SS_STEP_MATRIX;
        return SS_OK;
    }
    const double start = ss_step_clock();
    each(t, begin_item);
    measure_change(t, report);
    report->prepare_seconds += ss_step_clock() - start;
    ss_status status = find_contacts(t, h, report, e);
    if (status != SS_OK) {
        return status;
    }
    memcpy(s->trial.q, s->world->now.q, (size_t)s->world->nq * sizeof *s->trial.q);
    memset(t->about, 0, (size_t)s->world->nv * sizeof *t->about);
    status = iterate(t, report, reason, e);
    return status == SS_OK && *reason == SS_STEP_DONE ? finish(t, h, report, reason, e) : status;
}

const ss_scheme ss_scheme_thesis = {
    .name = "thesis",
    .summary = "a pass of local impulses between Newton's iterates, no solver",
    .reference = "J20",
    .keys = KEYS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .continuous = true,
    .vertices = true,
    .make = thesis_make,
    .free = thesis_free,
    .step = thesis_step,
};
