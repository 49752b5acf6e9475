// solvers/sweep/sweep.c -- freezing, threads and tallies of a sweep.
#include "solvers/sweep/sweep.h"

#include "base/assert.h"
#include "solvers/sweep/visits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- Freezing

static void set_thresholds(ss_sweeper *sweeper)
{
    const ss_sweep_settings *s = sweeper->settings;
    if (s->freeze == SS_FREEZE_ON) {
        const double share = s->share > 0.0 ? s->share : 1e-2;
        sweeper->freeze_step = share * sweeper->last.estimate / sweeper->coupling->s;
        sweeper->freeze_residual = share * sweeper->last.estimate;
        sweeper->freeze_impulse = 0.0;
    } else if (s->freeze == SS_FREEZE_ABSOLUTE) {
        sweeper->freeze_step = sweeper->freeze_impulse = s->eps * s->rho * SS_D11_VELOCITY;
    } else {
        const double share = s->share > 0.0 ? s->share : 1e-3;
        sweeper->freeze_step = sweeper->freeze_impulse = share * sweeper->last.largest;
        sweeper->freeze_residual = INFINITY;
    }
}

// Wakes a contact, which another thread may do at the same time.
static void wake(ss_sweeper *sweeper, int i)
{
    __atomic_store_n(&sweeper->rests_until[i], 0, __ATOMIC_RELAXED);
}

static void wake_body(ss_sweeper *sweeper, int body)
{
    const ss_whitened *white = sweeper->coupling->white;
    for (int s = white->body_end_start[body]; s < white->body_end_start[body + 1]; s++) {
        wake(sweeper, white->body_end_contact[s]);
    }
}

static void wake_neighbours(ss_sweeper *sweeper, int i)
{
    const ss_coupling *c = sweeper->coupling;
    if (c->is_explicit) {
        for (size_t k = c->W.start[i]; k < c->W.start[i + 1]; k++) {
            wake(sweeper, c->W.col[k]);
        }
        return;
    }
    for (int s = c->white->end_start[i]; s < c->white->end_start[i + 1]; s++) {
        wake_body(sweeper, c->white->end_body[s]);
    }
}

void ss_sweep_consider_freezing(ss_sweeper *sweeper, int i, double residual, const double dr[3],
                                const double r[3])
{
    const bool absolute = sweeper->settings->freeze == SS_FREEZE_ABSOLUTE;
    ss_assert(sweeper->rests_until != NULL);
    if (!absolute && sweeper->sweeps == 0) {
        return;
    }
    const double step = absolute ? sqrt(ss_dot3(dr, dr)) : ss_norm_inf3(dr);
    const double size = absolute ? sqrt(ss_dot3(r, r)) : ss_norm_inf3(r);
    const bool still = step < sweeper->freeze_step;
    const bool freezes = sweeper->settings->freeze == SS_FREEZE_ON
                             ? still && residual < sweeper->freeze_residual
                             : still || size < sweeper->freeze_impulse;
    if (sweeper->settings->wake == SS_WAKE_NEIGHBOUR && !still) {
        wake_neighbours(sweeper, i);
    }
    if (freezes) {
        sweeper->rests_until[i] = sweeper->sweeps + 1 + sweeper->settings->skip;
    }
}

void ss_sweep_thaw(ss_sweeper *sweeper)
{
    if (sweeper->rests_until != NULL) {
        memset(sweeper->rests_until, 0,
               (size_t)sweeper->coupling->n * sizeof *sweeper->rests_until);
    }
}

// ---- Visits

static void visit_all(ss_sweeper *sweeper, int begin, int end, ss_tally *t)
{
    const ss_method *m = sweeper->task->method;
    if (m->failsafe == NULL && m->local->visits != NULL) {
        m->local->visits(sweeper, begin, end, t);
    } else {
        ss_visit_contacts(sweeper, NULL, begin, end, t);
    }
}

// Stripes first .. last - 1, no two of which touch the same body.
typedef struct phase {
    ss_sweeper *sweeper;
    int first, last;
} phase;

static void visit_stripe(void *context, int item, int thread)
{
    (void)thread;
    const phase *p = context;
    const int g = p->first + item;
    const int *start = p->sweeper->ordered.stripes.start;
    visit_all(p->sweeper, start[g], start[g + 1], &p->sweeper->tallies[g]);
}

static void visit_phase(ss_sweeper *sweeper, ss_team *team, int first, int last)
{
    phase p = {sweeper, first, last};
    ss_team_run(team, last - first, visit_stripe, &p);
}

// Visits in a phase below which a second thread costs more than it brings: with two, a sweep over
// 60 contacts takes 1.2 times the seconds of one, over 200 (two phases of 100) 0.6 times. Contacts
// that are passed over count for a PASSED_SHARE each.
#define PAYING_VISITS 100
#define PASSED_SHARE  (1.0 / 32.0)

// Returns the team, or NULL if there is too little to do, judged by the last sweep. Bits do not
// depend on it.
static ss_team *find_helpers(const ss_sweeper *sweeper)
{
    const double n = sweeper->coupling->n, passed = PASSED_SHARE * n;
    const double visits = sweeper->sweeps > 0 ? (double)sweeper->last.visits + passed : n;
    return visits >= 2.0 * PAYING_VISITS ? sweeper->team : NULL;
}

// Adds the tallies stripe by stripe, so that the sums do not depend on the threads.
static void add_up(ss_sweeper *sweeper, int count)
{
    sweeper->last = (ss_tally){0};
    for (int g = 0; g < count; g++) {
        const ss_tally *t = &sweeper->tallies[g];
        sweeper->last.estimate = ss_sweep_larger(sweeper->last.estimate, t->estimate);
        sweeper->last.largest = ss_sweep_larger(sweeper->last.largest, t->largest);
        sweeper->last.step += t->step;
        sweeper->last.size += t->size;
        sweeper->last.moved += t->moved;
        sweeper->last.frozen += t->frozen;
        sweeper->last.visits += t->visits;
        sweeper->last.counters.failures += t->counters.failures;
        sweeper->frozen += t->frozen;
        sweeper->visits += t->visits;
        sweeper->counters.solves += t->counters.solves;
        sweeper->counters.failsafe_calls += t->counters.failsafe_calls;
        sweeper->counters.failures += t->counters.failures;
    }
}

void ss_sweep(ss_sweeper *sweeper)
{
    if (sweeper->rests_until != NULL) {
        set_thresholds(sweeper);
    }
    const ss_stripes *stripes = &sweeper->ordered.stripes;
    if (stripes->count > 0) {
        ss_team *team = find_helpers(sweeper);
        visit_phase(sweeper, team, 0, stripes->neven);
        visit_phase(sweeper, team, stripes->neven, stripes->count);
        add_up(sweeper, stripes->count);
    } else {
        visit_all(sweeper, 0, sweeper->coupling->n, &sweeper->tallies[0]);
        add_up(sweeper, 1);
    }
    sweeper->sweeps++;
}

void ss_sweep_count(const ss_sweeper *sweeper, ss_result *result)
{
    result->iterations = sweeper->sweeps;
    result->local_solves = sweeper->counters.solves;
    result->failsafe_calls = sweeper->counters.failsafe_calls;
    result->failures = sweeper->counters.failures;
    result->frozen = sweeper->frozen;
    result->unanswered = sweeper->last.counters.failures;
}

bool ss_sweep_takes_threads(const ss_method *m)
{
    const ss_sweep_settings *s = m->global_settings;
    return s->order == SS_NATURAL || s->order == SS_STRIPED;
}

const char *ss_sweep_key_needs(const ss_method *m, const char *key)
{
    const bool has_goal = m->failsafe != NULL || !m->local->one_step;
    return !has_goal && strcmp(key, "ltol") == 0 ? "a local solver of more than one step" : NULL;
}

void ss_sweep_get(const ss_sweeper *sweeper, double *r)
{
    ss_coupling_get(sweeper->coupling, sweeper->coupling->packed);
    ss_ordered_give(&sweeper->ordered, sweeper->coupling->dim, sweeper->coupling->packed, r);
}

void ss_sweep_set(ss_sweeper *sweeper, const double *r)
{
    ss_ordered_take(&sweeper->ordered, sweeper->coupling->dim, r, sweeper->coupling->packed);
    ss_coupling_set(sweeper->coupling, sweeper->coupling->packed);
}

// ---- Making one

// Share of the tolerance below which a contact rests: it leaves room for growth, and for rounding.
#define REST_SHARE 0.5

#define LEAST_NORMAL 1e-13 // normal parts of a contact below this share of V are rounding

// Tolerances from which on floats do not disturb sweeps. They leave an error of some 1e-7 in a
// velocity until it is computed from the impulses again: before an answer is judged, and every
// REFRESH_SWEEPS (gs).
#define FEW_DIGITS_FROM 1e-4

static ss_local_goal sweep_goal(const ss_sweeper *sweeper)
{
    const ss_sweep_settings *s = sweeper->settings;
    const ss_coupling *c = sweeper->coupling;
    const bool fixed = s->rho > 0.0;
    const double unit = fixed && s->ltol > 0.0 ? SS_D11_VELOCITY : c->V;
    const double ltol = s->ltol > 0.0 ? s->ltol : fmax(0.1 * sweeper->task->tolerance, 1e-14);
    const double normal = fmax(REST_SHARE * sweeper->task->tolerance, LEAST_NORMAL);
    return (ss_local_goal){.tolerance = ltol * unit,
                           .scale = fixed ? 1.0 / s->rho : c->s,
                           .fixed = fixed,
                           .normal = sweeper->exact && !fixed ? normal * c->V : 0.0};
}

static ss_status make_team(ss_sweeper *sweeper, ss_error *e)
{
    const int threads = sweeper->task->threads, neven = sweeper->ordered.stripes.neven;
    if (threads < 2 || neven < 2) {
        return SS_OK;
    }
    sweeper->team = ss_team_new(threads < neven ? threads : neven);
    return sweeper->team != NULL ? SS_OK : ss_fail_memory(e, "the threads of a sweep");
}

static ss_status sweep_prepare(ss_sweeper *sweeper, const ss_stop *stop, ss_error *e)
{
    const ss_task *t = sweeper->task;
    const ss_sweep_settings *s = sweeper->settings;
    sweeper->lazy = s->visit == SS_VISIT_NEEDED && s->freeze == SS_FREEZE_OFF;
    // Threads need stripes. One thread takes them too where threads are asked for, so that their
    // number does not change the bits.
    const bool striped = t->threads > 0 && s->order == SS_NATURAL;
    const ss_order_kind kind = striped ? SS_STRIPED : (ss_order_kind)s->order;
    ss_status status = ss_ordered_new(t->problem, kind, s->seed, &sweeper->ordered, e);
    if (status == SS_OK) {
        status = make_team(sweeper, e);
    }
    if (status == SS_OK) {
        const bool naive = s->assembly == SS_ASSEMBLY_NAIVE;
        const ss_coupling_form form = naive                     ? SS_FORM_NAIVE
                                      : s->form == SS_FORM_AUTO ? SS_FORM_SWEEPS
                                                                : (ss_coupling_form)s->form;
        status = ss_coupling_with(&sweeper->ordered.view, t->factor, sweeper->team, form,
                                  sweeper->lazy, stop, &sweeper->coupling, e);
    }
    if (status != SS_OK || sweeper->coupling == NULL) {
        return status;
    }
    if (ss_coupling_fetches(sweeper->coupling) && t->tolerance >= FEW_DIGITS_FROM) {
        ss_sparse_ends_round(sweeper->coupling->white);
    }
    sweeper->tallies = calloc((size_t)sweeper->ordered.stripes.count + 1, sizeof *sweeper->tallies);
    if (s->freeze != SS_FREEZE_OFF) {
        sweeper->rests_until = calloc((size_t)t->problem->ncontacts, sizeof *sweeper->rests_until);
    }
    if (sweeper->tallies == NULL || (s->freeze != SS_FREEZE_OFF && sweeper->rests_until == NULL)) {
        return ss_fail_memory(e, "a sweep");
    }
    sweeper->exact = ss_method_is_exact(t->method);
    sweeper->rest = REST_SHARE * t->tolerance * sweeper->coupling->V;
    sweeper->goal = sweep_goal(sweeper);
    return SS_OK;
}

ss_status ss_sweeper_new(const ss_task *task, const ss_sweep_settings *settings, const double *r,
                         const ss_stop *stop, ss_sweeper **made, ss_error *e)
{
    *made = NULL;
    ss_sweeper *sweeper = calloc(1, sizeof *sweeper);
    if (sweeper == NULL) {
        return ss_fail_memory(e, "a sweep");
    }
    sweeper->task = task;
    sweeper->settings = settings;
    sweeper->estimates = true;
    const ss_status status = sweep_prepare(sweeper, stop, e);
    if (status != SS_OK || sweeper->coupling == NULL) {
        ss_sweeper_free(sweeper);
        return status;
    }
    ss_sweep_set(sweeper, r);
    *made = sweeper;
    return SS_OK;
}

void ss_sweeper_free(ss_sweeper *sweeper)
{
    if (sweeper != NULL) {
        ss_team_free(sweeper->team);
        free(sweeper->rests_until);
        free(sweeper->tallies);
        ss_coupling_free(sweeper->coupling);
        ss_ordered_free(&sweeper->ordered);
        free(sweeper);
    }
}
