#include "solvers/sweep/sweep.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "solvers/residual.h"

// |dr| below this share of |r| is rounding: a solver that finds its start good enough scales it to
// and fro.
#define SAME_IMPULSE (4.0 * DBL_EPSILON)

// A NaN stays.
static double larger(double a, double b)
{
    return isnan(a) || b <= a ? a : b;
}

// Visits in a phase below which a second thread costs more than it brings: with two, a sweep over
// 60 contacts takes 1.2 times the seconds of one, over 200 (two phases of 100) 0.6 times. Contacts
// that are passed over count for a PASSED_SHARE each.
#define PAYING_VISITS 100
#define PASSED_SHARE  (1.0 / 32.0)

// Of the tolerance: what rests leaves room for what it may have grown by, and for rounding.
#define REST_SHARE 0.5

// ---- Freezing

static void set_thresholds(ss_sweeper *a)
{
    const ss_sweep_settings *s = a->settings;
    if (s->freeze == SS_FREEZE_ON) {
        const double share = s->share > 0.0 ? s->share : 1e-2;
        a->freeze_step = share * a->last.estimate / a->coupling->s;
        a->freeze_residual = share * a->last.estimate;
        a->freeze_impulse = 0.0;
    } else {
        const double share = s->share > 0.0 ? s->share : 1e-3;
        a->freeze_step = a->freeze_impulse = share * a->last.largest;
        a->freeze_residual = INFINITY;
    }
}

// Two threads may wake the same contact between them.
static void wake(ss_sweeper *a, int i)
{
    __atomic_store_n(&a->rests_until[i], 0, __ATOMIC_RELAXED);
}

static void wake_body(ss_sweeper *a, int body)
{
    const ss_whitened *white = a->coupling->white;
    for (int s = white->body_end_start[body]; s < white->body_end_start[body + 1]; s++) {
        wake(a, white->body_end_contact[s]);
    }
}

static void wake_neighbours(ss_sweeper *a, int i)
{
    const ss_coupling *c = a->coupling;
    if (c->is_explicit) {
        for (size_t k = c->W.start[i]; k < c->W.start[i + 1]; k++) {
            wake(a, c->W.col[k]);
        }
        return;
    }
    for (int s = c->white->end_start[i]; s < c->white->end_start[i + 1]; s++) {
        wake_body(a, c->white->end_body[s]);
    }
}

static void consider_freezing(ss_sweeper *a, int i, double residual, double step, double size)
{
    const bool still = step < a->freeze_step;
    const bool freezes = a->settings->freeze == SS_FREEZE_ON
                             ? still && residual < a->freeze_residual
                             : still || size < a->freeze_impulse;
    if (a->settings->wake == SS_WAKE_NEIGHBOUR && !still) {
        wake_neighbours(a, i);
    }
    if (freezes) {
        a->rests_until[i] = a->sweeps + 1 + a->settings->skip;
    }
}

void ss_sweep_thaw(ss_sweeper *a)
{
    if (a->rests_until != NULL) {
        memset(a->rests_until, 0, (size_t)a->coupling->n * sizeof *a->rests_until);
    }
}

// ---- Visits

static double residual_before(const ss_sweeper *a, const ss_local *p, const double *r,
                              const double u[3])
{
    if (r[0] == 0.0 && r[1] == 0.0 && r[2] == 0.0 && u[0] >= 0.0) {
        return 0.0; // open, as many are: f is 0 exactly
    }
    if (p->mu > 0.0) {
        return ss_fb_size(p->mu, a->coupling->s, r, u);
    }
    double f[3];
    ss_coulomb_residual(p->mu, a->coupling->s, r, u, f);
    return ss_norm_inf3(f);
}

// Whether contact i needs no solution now, and how long it will do without a visit.
static bool rests(ss_sweeper *a, int i, const double r[3], const double u[3], double residual)
{
    const bool open = r[0] == 0.0 && r[1] == 0.0 && r[2] == 0.0 && u[0] > 0.0;
    if (!a->lazy || !(open || (a->exact && a->estimates && residual <= a->rest))) {
        return false;
    }
    if (a->coupling->resting != NULL) {
        ss_resting_see(a->coupling->resting, i, open, u[0], residual);
    }
    return true;
}

static void visit(ss_sweeper *a, int i, ss_tally *t)
{
    ss_coupling *c = a->coupling;
    ss_local *p = &c->contact[i];
    const double *old = c->r + 4 * (size_t)i;
    double u[3];
    t->visits++;
    ss_coupling_velocity(c, i, u);
    const double residual = a->estimates ? residual_before(a, p, old, u) : 0.0;
    if (rests(a, i, old, u, residual)) {
        t->estimate = larger(t->estimate, residual);
        return;
    }
    double r[3] = {old[0], old[1], old[2]};
    for (int k = 0; k < 3; k++) {
        p->b[k] = u[k] - (p->W[3 * k] * r[0] + p->W[3 * k + 1] * r[1] + p->W[3 * k + 2] * r[2]);
    }
    const ss_local_goal goal = {a->goal.tolerance, a->goal.scale, &c->memo[i]};
    ss_contact_solve(a->task->method, p, &goal, r, &t->counters);
    const double dr[3] = {r[0] - old[0], r[1] - old[1], r[2] - old[2]};
    ss_coupling_move(c, i, r);
    const double size = ss_norm_inf3(r);
    t->estimate = larger(t->estimate, residual);
    t->largest = larger(t->largest, size);
    const double step = ss_dot3(dr, dr), square = ss_dot3(r, r);
    t->step += step;
    t->size += square;
    const bool moved = step > SAME_IMPULSE * SAME_IMPULSE * square;
    t->moved += moved;
    if (moved && a->moved_at != NULL) {
        a->moved_at[i] = a->sweeps;
    }
    if (a->rests_until != NULL && a->sweeps > 0) {
        consider_freezing(a, i, residual, ss_norm_inf3(dr), size);
    }
}

static void visit_all(ss_sweeper *a, int begin, int end, ss_tally *t)
{
    const ss_resting *resting = a->coupling->resting;
    *t = (ss_tally){0};
    for (int i = begin; i < end; i++) {
        if (a->rests_until != NULL && a->rests_until[i] > a->sweeps) {
            t->frozen++;
            t->largest = larger(t->largest, ss_norm_inf3(a->coupling->r + 4 * (size_t)i));
        } else if (resting == NULL || !ss_resting_rests(resting, i, a->rest)) {
            visit(a, i, t);
        }
    }
}

// Stripes first .. last - 1, none of which touches a body of another.
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

static void visit_phase(ss_sweeper *a, ss_team *team, int first, int last)
{
    phase p = {a, first, last};
    ss_team_run(team, last - first, visit_stripe, &p);
}

// Nobody where the last sweep says that there is too little to do. The bits do not depend on it.
static ss_team *find_helpers(const ss_sweeper *a)
{
    const double n = a->coupling->n, passed = PASSED_SHARE * n;
    const double visits = a->sweeps > 0 ? (double)a->last.visits + passed : n;
    return visits >= 2.0 * PAYING_VISITS ? a->team : NULL;
}

// Stripe by stripe, so that the sums do not depend on the threads.
static void add_up(ss_sweeper *a, int count)
{
    a->last = (ss_tally){0};
    for (int g = 0; g < count; g++) {
        const ss_tally *t = &a->tallies[g];
        a->last.estimate = larger(a->last.estimate, t->estimate);
        a->last.largest = larger(a->last.largest, t->largest);
        a->last.step += t->step;
        a->last.size += t->size;
        a->last.moved += t->moved;
        a->last.frozen += t->frozen;
        a->last.visits += t->visits;
        a->last.counters.failures += t->counters.failures;
        a->frozen += t->frozen;
        a->visits += t->visits;
        a->counters.solves += t->counters.solves;
        a->counters.failsafe_calls += t->counters.failsafe_calls;
        a->counters.failures += t->counters.failures;
    }
}

void ss_sweep(ss_sweeper *a)
{
    if (a->rests_until != NULL && a->sweeps > 0) {
        set_thresholds(a);
    }
    const ss_stripes *stripes = &a->ordered.stripes;
    if (stripes->count > 0) {
        ss_team *team = find_helpers(a);
        visit_phase(a, team, 0, stripes->neven);
        visit_phase(a, team, stripes->neven, stripes->count);
        add_up(a, stripes->count);
    } else {
        visit_all(a, 0, a->coupling->n, &a->tallies[0]);
        add_up(a, 1);
    }
    a->sweeps++;
}

void ss_sweep_count(const ss_sweeper *a, ss_result *result)
{
    result->iterations = a->sweeps;
    result->local_solves = a->counters.solves;
    result->failsafe_calls = a->counters.failsafe_calls;
    result->failures = a->counters.failures;
    result->frozen = a->frozen;
    result->unanswered = a->last.counters.failures;
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

// ---- Making one

void ss_sweep_get(const ss_sweeper *a, double *r)
{
    ss_coupling_get(a->coupling, a->coupling->packed);
    ss_ordered_give(&a->ordered, a->coupling->dim, a->coupling->packed, r);
}

void ss_sweep_set(ss_sweeper *a, const double *r)
{
    ss_ordered_take(&a->ordered, a->coupling->dim, r, a->coupling->packed);
    ss_coupling_set(a->coupling, a->coupling->packed);
}

static ss_status prepare(ss_sweeper *a, const ss_stop *stop, ss_error *e)
{
    const ss_task *t = a->task;
    const ss_sweep_settings *s = a->settings;
    a->lazy = s->visit == SS_VISIT_NEEDED && s->freeze == SS_FREEZE_OFF;
    // Threads need stripes, and one thread takes them too where threads are asked for: their number
    // shall not change the bits.
    const bool striped = t->threads > 0 && s->order == SS_NATURAL;
    const ss_order_kind kind = striped ? SS_STRIPED : (ss_order_kind)s->order;
    ss_status status = ss_ordered_new(t->problem, kind, s->seed, &a->ordered, e);
    if (status == SS_OK) {
        const bool naive = s->assembly == SS_ASSEMBLY_NAIVE;
        const ss_coupling_form form = naive ? SS_FORM_NAIVE : (ss_coupling_form)s->form;
        status = ss_coupling_new(&a->ordered.view, form, a->lazy, stop, &a->coupling, e);
    }
    if (status != SS_OK || a->coupling == NULL) {
        return status;
    }
    a->tallies = calloc((size_t)a->ordered.stripes.count + 1, sizeof *a->tallies);
    if (s->freeze != SS_FREEZE_OFF) {
        a->rests_until = calloc((size_t)t->problem->ncontacts, sizeof *a->rests_until);
    }
    if (t->threads > 1 && a->ordered.stripes.neven > 1) {
        const int neven = a->ordered.stripes.neven;
        a->team = ss_team_new(t->threads < neven ? t->threads : neven);
        if (a->team == NULL) {
            return ss_fail_memory(e, "the threads of a sweep");
        }
    }
    if (a->tallies == NULL || (s->freeze != SS_FREEZE_OFF && a->rests_until == NULL)) {
        return ss_fail_memory(e, "a sweep");
    }
    const double ltol = s->ltol > 0.0 ? s->ltol : fmax(0.1 * t->tolerance, 1e-14);
    a->exact = ss_method_is_exact(t->method);
    a->rest = REST_SHARE * t->tolerance * a->coupling->V;
    a->goal = (ss_local_goal){ltol * a->coupling->V, a->coupling->s, NULL};
    return SS_OK;
}

ss_status ss_sweeper_new(const ss_task *task, const ss_sweep_settings *settings, const double *r,
                         const ss_stop *stop, ss_sweeper **sweeper, ss_error *e)
{
    *sweeper = NULL;
    ss_sweeper *a = calloc(1, sizeof *a);
    if (a == NULL) {
        return ss_fail_memory(e, "a sweep");
    }
    a->task = task;
    a->settings = settings;
    a->estimates = true;
    const ss_status status = prepare(a, stop, e);
    if (status != SS_OK || a->coupling == NULL) {
        ss_sweeper_free(a);
        return status;
    }
    ss_sweep_set(a, r);
    *sweeper = a;
    return SS_OK;
}

void ss_sweeper_free(ss_sweeper *a)
{
    if (a != NULL) {
        ss_team_free(a->team);
        free(a->rests_until);
        free(a->tallies);
        ss_coupling_free(a->coupling);
        ss_ordered_free(&a->ordered);
        free(a);
    }
}
