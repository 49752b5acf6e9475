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
// the change at most F V or tol, as newton ends with a solver of this tolerance. r is that of the last
// I: M v = f + H r holds of the last system, which is the problem that the step leaves behind.
//
// newton=full takes M of the iterate, newton=quasi that of quasi.h. With search=on each strand's step is
// halved until its objective has fallen enough; the last iterate takes its whole step.
//
// doc/strands.md, "Thesis".
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "strands/schemes/schemes.h"
#include "strands/schemes/thesis.h"

typedef ss_thesis_settings settings;
typedef ss_thesis thesis;

static const settings DEFAULTS = {SS_LAW_PRINTED,   SS_THESIS_QUASI,  0, 50, 1e-8, 0.0, 0.0,
                                  SS_STIFFNESS_OWN, SS_THESIS_ADVANCE};
static const char *const NEWTONS[] = {"full", "quasi", NULL};
static const char *const SEARCHES[] = {"off", "on", NULL};
static const char *const DETECTIONS[] = {"advance", "cubic", NULL};
static const ss_key KEYS[] = {
    SS_CHOICE_KEY("law", law, ss_law_names),
    SS_CHOICE_KEY("newton", newton, NEWTONS),
    SS_CHOICE_KEY("search", search, SEARCHES),
    SS_INTEGER_KEY("iterations", iterations, 1, 100000),
    SS_REAL_KEY("tol", tol, 0.0, 1e3),
    SS_REAL_KEY("fb", fb, 0.0, 1.0),
    SS_REAL_KEY("relax", relax, 0.0, 1.0),
    SS_CHOICE_KEY("stiffness", stiffness, ss_stiffness_names),
    SS_CHOICE_KEY("detection", detection, DETECTIONS),
    {.name = NULL},
};

static void thesis_free(void *own)
{
    thesis *t = own;
    if (t != NULL) {
        ss_local_pass_free(t->pass);
        ss_quasi_free(&t->quasi);
        ss_quasi_groups_free(&t->groups);
        free(t->about);
        free(t->search_q);
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
        if (set->newton == SS_THESIS_QUASI && s->model->lengths == NULL) {
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
    s->coplanar = t->set.detection == SS_THESIS_CUBIC;
    const ss_status status = check_models(w, &t->set, e);
    if (status != SS_OK) {
        return status;
    }
    t->pass = ss_local_pass_new(w);
    t->about = malloc((2 * nv + 2 * (size_t)w->nstrands) * sizeof *t->about);
    t->search_q = malloc(((size_t)w->nq + nv) * sizeof *t->search_q);
    if (t->pass == NULL || t->about == NULL || t->search_q == NULL ||
        !ss_quasi_init(&t->quasi, w) ||
        !ss_quasi_groups_init(&t->groups, w, t->set.newton == SS_THESIS_QUASI && t->set.search == 0,
                              s->options.threads > 1 ? s->options.threads : 1)) {
        return ss_fail_memory(e, "the scheme of a world");
    }
    t->impulses = t->about + nv;
    t->change = t->impulses + nv;
    t->share = t->change + w->nstrands;
    t->search_v = t->search_q + w->nq;
    return SS_OK;
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

static void count_solving(double start, ss_step_report *report)
{
    const double seconds = ss_step_clock() - start;
    report->solve_seconds += seconds;
    report->answer.seconds += seconds;
    report->answer.sweep_seconds += seconds;
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
    count_solving(start, report);
}

static void count_seconds(const thesis *t, double seconds, ss_step_report *report)
{
    report->assemble_seconds += seconds;
    report->dynamic_seconds += seconds;
    for (int k = 0; t->set.newton == SS_THESIS_QUASI && k < t->s->world->nstrands; k++) {
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
    each(t, ss_thesis_leave);
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

// Whether a strand took less than its step, so that v is not that of the system.
static bool took_shares(const thesis *t)
{
    bool any = false;
    for (int k = 0; t->searches && k < t->s->world->nstrands; k++) {
        any = any || t->share[k] < 1.0;
    }
    return any;
}

// Whether the last iterate is good enough; the first has no impulses yet.
static bool is_done(const thesis *t, ss_step_report *report)
{
    const ss_stepper *s = t->s;
    if (report->iterates == 1 || took_shares(t)) {
        return false;
    }
    if (!(t->set.fb > 0.0) || s->ncontacts == 0) {
        return report->change < t->set.tol;
    }
    const double start = ss_step_clock();
    const bool small = report->change < fmax(t->set.tol, t->set.fb * t->scale) &&
                       ss_local_pass_error(t->pass, s, s->trial.v) <= t->set.fb;
    count_solving(start, report);
    return small;
}

// Iterates until one is good enough, `end` at most.
static ss_status iterate_to(thesis *t, int end, ss_step_report *report, ss_step_reason *reason,
                            ss_error *e)
{
    ss_status status = SS_OK;
    while (status == SS_OK && !is_done(t, report) && report->iterates < end) {
        pass_over_contacts(t, report);
        t->searches = t->set.search != 0 && report->iterates + 1 < end;
        const double start = ss_step_clock();
        each(t, ss_thesis_iterate);
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

// Contacts where v leads; *open says whether v is no end yet.
static ss_status look(thesis *t, bool *open, ss_step_report *report, ss_error *e)
{
    ss_stepper *s = t->s;
    ss_step_look_result result;
    const double start = ss_step_clock();
    ss_status status = ss_step_look(s, t->it.h, &result, report, e);
    *open = result.added + result.unsolved > 0;
    if (status == SS_OK && *open) {
        report->change = INFINITY;
        status = ss_local_pass_begin(t->pass, s, (ss_law)t->set.law, e);
        if (status == SS_OK && t->set.fb > 0.0 && !(t->scale > 0.0)) {
            t->scale = ss_local_pass_find_scales(t->pass, s, s->trial.v);
        }
    }
    report->prepare_seconds += ss_step_clock() - start;
    return status;
}

// Iterates 2, 3, ..., and again after each look that finds something.
static ss_status iterate(thesis *t, ss_step_report *report, ss_step_reason *reason, ss_error *e)
{
    ss_stepper *s = t->s;
    ss_status status = SS_OK;
    bool open = true;
    memset(t->impulses, 0, (size_t)s->world->nv * sizeof *t->impulses);
    t->searches = false;
    t->at = (ss_world_state){.time = s->world->now.time + t->it.h, .q = s->trial.q, .v = t->about};
    t->it.at = &t->at;
    t->it.ahead = t->about;
    for (int end = t->set.iterations; open; end = report->iterates + t->set.iterations) {
        status = iterate_to(t, end, report, reason, e);
        open = status == SS_OK && *reason == SS_STEP_DONE && report->looks < ss_step_looks(s);
        if (open) {
            status = look(t, &open, report, e);
        }
    }
    return status;
}

// The problem that is left behind, and where the strands are.
static ss_status finish(thesis *t, double h, ss_step_report *report, ss_step_reason *reason,
                        ss_error *e)
{
    leave_problem(t, report);
    each(t, ss_thesis_commit);
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
    each(t, ss_thesis_begin);
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
    .alone = true,
    .continuous = true,
    .vertices = true,
    .make = thesis_make,
    .free = thesis_free,
    .step = thesis_step,
};
