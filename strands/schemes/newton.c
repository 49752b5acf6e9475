// newton, bdf2: M and f about each iterate, until the velocities rest.
//
// newton is backward Euler. bdf2 is the two-step formula: with k the ratio of this step to the one
// before and w the velocity that carried q there,
//
//     share = way = (1 + k) / (1 + 2 k),   b = k^2 / (1 + 2 k)                         (system.h)
//     past = (1 + b) v_n - b v_{n-1},      offset = b / k w
//
// and backward Euler for its first step. Iterate 1 is the linear scheme's; then, from the solution
// v of the last problem,
//
//     q* <- q* (+) h (way v + offset - d),   d <- difference(q_n, q*) / h,   v* <- (d - offset) /
//                                            way
//
// so that what q carries along is carried from iterate to iterate. Contacts are those of the start,
// or of the way to iterate 1 (continuous detection), with their H and w; r starts from the answer
// before.
//
// The iteration ends where no strand has an rms of |J (v - v*)| over its points above tol, or above
// the error in velocities that the solver leaves in its answers, fb V of the problem
// (problems/coulomb.h): impulses that are good to it move the iterates about by as much. It ends
// after as many problems as are allowed, too; a last change of `growth` times the first is no
// answer. It is quadratic, except for strands whose J changes with q and which touch something:
// their M is without the slopes of the inertia forces, which are not symmetric and of the order h
// beside it, and they converge linearly by that ratio. Those that touch nothing take the full step
// (step/systems.h).
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "strands/schemes/schemes.h"
#include "strands/step/systems.h"
#include "strands/step/stepper.h"

typedef struct settings {
    int order; // 1 or 2; no key sets it
    int iterations;
    double tol;    // m/s
    double growth; // of the change of iterates, before they are said to move apart; 0: any
    int stiffness;
} settings;

static const settings NEWTON = {1, 20, 1e-8, 10.0, SS_STIFFNESS_OWN};
static const settings BDF2 = {2, 20, 1e-8, 10.0, SS_STIFFNESS_OWN};
static const ss_key KEYS[] = {
    SS_INTEGER_KEY("iterations", iterations, 1, 1000),
    SS_REAL_KEY("tol", tol, 0.0, 1e3),
    SS_REAL_KEY("growth", growth, 0.0, 1e300),
    SS_CHOICE_KEY("stiffness", stiffness, ss_stiffness_names),
    {.name = NULL},
};

typedef struct newton {
    settings set;
    ss_world_state before; // the step before
    double h_before;       // s; 0: there is none
    double now;            // s: time at which `before` is the step before
    double *about;         // [nv] v*; the next are in the same array
    double *gone, *ahead;  // [nv] d and d - offset
    double *past, *offset; // [nv]
    double scale;          // m/s: V of the first problem of the try
    ss_slopes *slopes;
} newton;

static void newton_free(void *own)
{
    newton *n = own;
    if (n != NULL) {
        ss_world_state_free(&n->before);
        free(n->about);
        ss_slopes_free(n->slopes);
        free(n);
    }
}

static ss_status newton_make(ss_stepper *s, const void *set, void **own, ss_error *e)
{
    const size_t nv = (size_t)s->world->nv + 1;
    newton *n = calloc(1, sizeof *n);
    *own = n;
    if (n == NULL) {
        return ss_fail_memory(e, "the scheme of a world");
    }
    n->set = *(const settings *)set;
    n->about = malloc(5 * nv * sizeof *n->about);
    n->slopes = ss_slopes_new(s->world);
    if (n->about == NULL || n->slopes == NULL || !ss_world_state_init(&n->before, s->world)) {
        return ss_fail_memory(e, "the scheme of a world");
    }
    n->gone = n->about + nv;
    n->ahead = n->gone + nv;
    n->past = n->ahead + nv;
    n->offset = n->past + nv;
    return SS_OK;
}

// ---- The formula

// The velocity that carries strand k from q0 to q1 in h.
static void find_difference(const ss_strand *s, const double *q0, const double *q1, double h,
                            double *v)
{
    if (s->model->difference != NULL) {
        s->model->difference(s->self, q0, q1, h, v);
        return;
    }
    for (int j = 0; j < s->size.nv; j++) {
        v[j] = (q1[j] - q0[j]) / h;
    }
}

static bool has_before(const newton *n, const ss_world *w)
{
    return n->set.order == 2 && n->h_before > 0.0 && n->now == w->now.time;
}

static void take_two_steps(const newton *n, const ss_world *w, ss_iterate *it)
{
    const double h = it->h;
    const double k = h / n->h_before, b = k * k / (1.0 + 2.0 * k);
    for (int i = 0; i < w->nstrands; i++) {
        const ss_strand *s = &w->strands[i];
        find_difference(s, n->before.q + s->q, w->now.q + s->q, n->h_before, n->offset + s->v);
    }
    for (int j = 0; j < w->nv; j++) {
        n->offset[j] *= b / k;
        n->ahead[j] = -n->offset[j];
        n->past[j] = (1.0 + b) * w->now.v[j] - b * n->before.v[j];
    }
    it->share = it->way = (1.0 + k) / (1.0 + 2.0 * k);
    it->past = n->past;
    it->ahead = n->ahead;
}

// The weights of a step of size h about its start.
static ss_iterate weights(const newton *n, const ss_world *w, double h)
{
    ss_iterate it = ss_iterate_first(&w->now, h);
    it.kind = (ss_stiffness)n->set.stiffness;
    if (has_before(n, w)) {
        take_two_steps(n, w, &it);
    }
    return it;
}

// ---- Iterates

// The largest rms of |J (v - v*)| of a strand, v being that of the trial; points as they are `at`.
static double change(const ss_stepper *s, const double *about, const ss_snapshot *at, double *dv)
{
    const ss_world *w = s->world;
    double largest = 0.0;
    for (int j = 0; j < w->nv; j++) {
        dv[j] = s->trial.v[j] - about[j];
    }
    for (int k = 0; k < w->nstrands; k++) {
        const ss_strand *strand = &w->strands[k];
        double sum = 0.0;
        for (int i = 0; i < strand->size.npoints; i++) {
            const ss_vec3 u = ss_point_rate(&at->all.points[strand->point + i], dv + strand->v);
            sum += ss_dot(u, u);
        }
        const double mean = sum / strand->size.npoints;
        largest = mean > largest || isnan(mean) ? mean : largest;
    }
    return sqrt(largest);
}

typedef struct commitment {
    ss_stepper *s;
    newton *n;
    double h;
} commitment;

static void commit_strand(void *context, int k, int thread)
{
    const commitment *c = context;
    const ss_stepper *s = c->s;
    const ss_strand *strand = &s->world->strands[k];
    const double *v = s->trial.v + strand->v;
    const double *offset = s->offset != NULL ? s->offset + strand->v : NULL;
    double *q = s->trial.q + strand->q, *step = s->mean + strand->v;
    double *gone = c->n->gone + strand->v, *about = c->n->about + strand->v;
    (void)thread;
    for (int j = 0; j < strand->size.nv; j++) {
        const double mean = s->way * v[j] + (offset != NULL ? offset[j] : 0.0);
        step[j] = mean - gone[j];
        gone[j] = mean;
    }
    strand->model->advance(strand->self, q, step, c->h, q);
    if (strand->model->difference != NULL) {
        strand->model->difference(strand->self, s->world->now.q + strand->q, q, c->h, gone);
    }
    for (int j = 0; j < strand->size.nv; j++) {
        c->n->ahead[strand->v + j] = gone[j] - (offset != NULL ? offset[j] : 0.0);
        about[j] = c->n->ahead[strand->v + j] / s->way;
    }
}

// q of the trial moves on to where v of the trial leads, and v* and d to what that is.
static void commit(ss_stepper *s, newton *n, double h)
{
    commitment c = {s, n, h};
    ss_systems_each(&s->systems, s->world->nstrands, commit_strand, &c);
}

// Newton's own step of strands that touch nothing and whose J changes.
static void take_slopes(ss_stepper *s, const newton *n, const ss_iterate *it)
{
    const ss_world *w = s->world;
    for (int k = 0; k < w->nstrands; k++) {
        const ss_strand *strand = &w->strands[k];
        const bool touches = s->ncontacts > 0 && s->formed.row[k] >= 0;
        if (!touches && strand->model->convect != NULL) {
            ss_slopes_step(n->slopes, w, k, it, &s->systems, s->trial.v + strand->v);
        }
    }
}

// An iterate, from v of the trial; *moved is its change.
static ss_status iterate_once(ss_stepper *s, newton *n, const ss_iterate *it, double *moved,
                              ss_step_report *report, ss_step_reason *reason, ss_error *e)
{
    const double start = ss_clock_now();
    commit(s, n, it->h);
    ss_snapshot_place(&s->there, s->world, it->at, s->systems.team);
    report->dynamic_seconds += ss_clock_now() - start;
    if (!ss_step_form(s, it, &s->there, report)) {
        *reason = SS_STEP_MATRIX;
        return SS_OK;
    }
    const ss_status status = ss_step_answer_again(s, it, report, reason, e);
    if (status != SS_OK || *reason != SS_STEP_DONE) {
        return status;
    }
    const double solved = ss_clock_now();
    ss_step_find_velocities(s);
    take_slopes(s, n, it);
    *moved = change(s, n->about, &s->there, s->mean);
    report->dynamic_seconds += ss_clock_now() - solved;
    return SS_OK;
}

// v is no answer yet where there are more contacts.
static ss_status look_again(ss_stepper *s, newton *n, double h, ss_step_look_result *look,
                            ss_step_report *report, ss_error *e)
{
    const ss_status status = ss_step_look(s, h, look, report, e);
    if (status == SS_OK && look->added > 0) {
        n->scale = n->scale > 0.0 ? n->scale : ss_step_velocity_scale(s);
        report->change = INFINITY;
    }
    return status;
}

// Iterates 2, 3, ...; the trial's v is the solution of the first. Looks are for steps that end
// where v of backward Euler brings them. They end where the solver has left problems with the
// contacts that they add above its tolerance after so many of them: more would not help it.
#define MOST_UNSOLVED 3

static ss_status iterate(ss_stepper *s, newton *n, ss_iterate it, ss_step_report *report,
                         ss_step_reason *reason, ss_error *e)
{
    const ss_world_state about = {
        .time = s->world->now.time + it.h, .q = s->trial.q, .v = n->about};
    const double first = change(s, s->world->now.v, &s->here, s->mean);
    const int looks = n->set.order == 1 ? ss_step_looks(s) : 0;
    ss_step_look_result look = {.added = 1};
    int unsolved = 0;
    ss_status status = SS_OK;
    it.at = &about;
    it.ahead = n->ahead;
    report->change = first;
    for (int end = n->set.iterations; look.added > 0; end += n->set.iterations) {
        while (status == SS_OK && *reason == SS_STEP_DONE && report->iterates < end &&
               report->change > fmax(n->set.tol, report->answer.left * n->scale)) {
            status = iterate_once(s, n, &it, &report->change, report, reason, e);
        }
        look.added = 0;
        unsolved += report->looks > 0 && !report->answer.solved;
        if (status == SS_OK && *reason == SS_STEP_DONE && report->looks < looks &&
            unsolved < MOST_UNSOLVED) {
            status = look_again(s, n, it.h, &look, report, e);
        }
    }
    const double most = n->set.growth > 0.0 ? n->set.growth * first : DBL_MAX;
    if (!(report->change <= most)) {
        *reason = SS_STEP_ITERATES;
    }
    return status;
}

static ss_status newton_step(ss_stepper *s, void *own, double h, ss_step_report *report,
                             ss_step_reason *reason, ss_error *e)
{
    newton *n = own;
    const ss_world *w = s->world;
    const ss_iterate it = weights(n, w, h);
    const double *offset = it.ahead != NULL ? n->offset : NULL;
    ss_status status = ss_step_answer_first(s, &it, offset, h, report, reason, e);
    if (status != SS_OK || *reason != SS_STEP_DONE) {
        return status;
    }
    n->scale = ss_step_velocity_scale(s);
    ss_step_find_velocities(s);
    memcpy(s->trial.q, w->now.q, (size_t)w->nq * sizeof *s->trial.q);
    memset(n->gone, 0, (size_t)w->nv * sizeof *n->gone);
    status = iterate(s, n, it, report, reason, e);
    if (status != SS_OK || *reason != SS_STEP_DONE) {
        return status;
    }
    commit(s, n, h);
    return ss_step_end(s, h, report, reason, e);
}

// The place where the world still is becomes the step before.
static void newton_accept(ss_stepper *s, void *own)
{
    newton *n = own;
    const ss_world *w = s->world;
    n->h_before = s->trial.time - w->now.time;
    n->now = s->trial.time;
    memcpy(n->before.q, w->now.q, (size_t)w->nq * sizeof *n->before.q);
    memcpy(n->before.v, w->now.v, (size_t)w->nv * sizeof *n->before.v);
}

#define ITERATED                                                                                   \
    .keys = KEYS, .settings_size = sizeof(settings), .make = newton_make, .free = newton_free,     \
    .step = newton_step, .accept = newton_accept

const ss_scheme ss_scheme_newton = {
    .name = "newton",
    .summary = "backward Euler, M and f about each iterate",
    .reference = "",
    .defaults = &NEWTON,
    ITERATED,
};

const ss_scheme ss_scheme_bdf2 = {
    .name = "bdf2",
    .summary = "the two-step formula, M and f about each iterate",
    .reference = "",
    .defaults = &BDF2,
    ITERATED,
};
