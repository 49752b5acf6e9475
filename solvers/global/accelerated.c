#include "solvers/global/accelerated.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/limits.h"

#define REFRESH_SWEEPS   50   // z is computed afresh from r: extrapolation adds to its rounding
#define LOOK_SWEEPS      8    // sweeps from one evaluation of g to the next
#define PATIENCE         24   // sweeps in which the best fb has to fall by
#define PROGRESS         0.9  // this factor
#define FAR              3.0  // times the best fb: a restart goes back to it
#define PLAIN_FIRST      20   // plain sweeps of the first restart,
#define PLAIN_MOST       640  // doubled up to these
#define FLOOR_FACTOR     4.0  // times eps max|s r|: nothing is gained below
#define FLOOR_TRIES      3    // full evaluations there before the answer is `stalled`
#define REST_SHARE       2e-3 // of what may rest in plain sweeps: it does not accelerate
#define APPROXIMATE_STEP 5e-2 // relative step on which another law than Coulomb's stops, as in gs

typedef struct run {
    const ss_task *task;
    const ss_rule *rule;
    ss_limits limits;
    ss_sweeper *sweeper;
    void *memory; // the rule's
    bool approximate;
    size_t size, more;      // of r and z
    double *x, *f, *weight; // [size]
    double *g, *z;          // [size], [more] what the rule starts from
    double *best;           // [dim n] in the order of the visits
    double *first;          // [dim n]
    double fb;              // of the g that was evaluated last
    double best_fb;         // of `best`
    double mark;            // best_fb when patience was last renewed,
    int marked;             // and the sweep
    int plain, next_plain;  // plain sweeps left; of the next restart
    int floor_tries;
} run;

static void tell(run *a, double *r)
{
    if (!ss_limits_listened(&a->limits, a->sweeper->sweeps)) {
        return;
    }
    const ss_sweeper *s = a->sweeper;
    ss_sweep_get(s, r);
    const double estimate = s->sweeps > 0 ? s->last.estimate / s->coupling->V : NAN;
    ss_limits_tell(&a->limits, (ss_progress){.iteration = s->sweeps,
                                             .local_solves = s->counters.solves,
                                             .visits = s->visits,
                                             .estimate = estimate,
                                             .r = r});
}

// All measures of g. The sweep's estimate is of the x before it, which may be luckier than it is
// good.
static ss_measures look(run *a)
{
    const ss_measures m = ss_coupling_measure(a->sweeper->coupling);
    a->fb = m.fb;
    if (m.fb < a->best_fb) {
        a->best_fb = m.fb;
        ss_coupling_get(a->sweeper->coupling, a->best);
    }
    return m;
}

// f = (g - x) weighted; whether the step is small enough for another law.
static bool take_residual(run *a)
{
    const double *g = a->sweeper->coupling->r;
    double step = 0.0, size = 0.0;
    for (size_t k = 0; k < a->size; k++) {
        const double d = g[k] - a->x[k];
        step += d * d;
        size += g[k] * g[k];
        a->f[k] = a->weight[k] * d;
    }
    return step <= APPROXIMATE_STEP * APPROXIMATE_STEP * size;
}

static ss_outcome test(run *a, bool small_step, ss_result *result)
{
    if (a->approximate) {
        return small_step ? SS_CONVERGED : SS_UNSOLVED;
    }
    ss_coupling *c = a->sweeper->coupling;
    const ss_tally *t = &a->sweeper->last;
    const bool finished =
        t->moved == 0 || t->estimate <= FLOOR_FACTOR * DBL_EPSILON * c->s * t->largest;
    const bool reached = t->estimate <= a->task->tolerance * c->V;
    if (!reached && !finished && a->sweeper->sweeps % LOOK_SWEEPS != 0) {
        return SS_UNSOLVED;
    }
    const ss_measures m = look(a);
    result->own_error = m.fb;
    if (ss_measures_pass(&m, a->task->tolerance)) {
        return SS_CONVERGED;
    }
    a->floor_tries += finished;
    return a->floor_tries >= FLOOR_TRIES ? SS_STALLED : SS_UNSOLVED;
}

// Plainly: from the best g, unless the present one is nearly as good. On a slow path the residual
// may rise for a thousand sweeps, and going back each time would never get past that.
static void restart(run *a)
{
    if (!(a->fb <= FAR * a->best_fb)) {
        ss_coupling_set(a->sweeper->coupling, a->best);
    }
    a->rule->forget(a->memory);
    a->plain = a->next_plain;
    a->next_plain = a->next_plain < PLAIN_MOST ? 2 * a->next_plain : PLAIN_MOST;
    a->mark = a->best_fb;
    a->marked = a->sweeper->sweeps + a->plain;
}

// x from g by the rule.
static void extrapolate(run *a)
{
    ss_coupling *c = a->sweeper->coupling;
    memcpy(a->g, c->r, a->size * sizeof *a->g);
    if (a->more > 0) {
        memcpy(a->z, c->z, a->more * sizeof *a->z);
    }
    a->rule->step(a->memory, a->f, c->r, c->z);
    ss_coupling_leapt(c, a->g, a->z);
}

static void advance(run *a)
{
    if (a->best_fb <= PROGRESS * a->mark) {
        a->mark = a->best_fb;
        a->marked = a->sweeper->sweeps;
    }
    if (a->plain > 0) {
        a->plain--;
    } else if (a->sweeper->sweeps - a->marked >= PATIENCE || isnan(a->sweeper->last.estimate)) {
        restart(a);
    } else {
        extrapolate(a);
    }
    if (a->sweeper->sweeps % REFRESH_SWEEPS == 0) {
        ss_coupling_refresh(a->sweeper->coupling);
    }
}

static ss_outcome iterate(run *a, double *r, ss_result *result)
{
    tell(a, r);
    for (;;) {
        const ss_outcome limit = ss_limits_next(&a->limits, a->sweeper->sweeps);
        if (limit != SS_UNSOLVED) {
            return limit;
        }
        memcpy(a->x, a->sweeper->coupling->r, a->size * sizeof *a->x);
        ss_sweep(a->sweeper);
        tell(a, r);
        const ss_outcome outcome = test(a, take_residual(a), result);
        if (outcome != SS_UNSOLVED) {
            return outcome;
        }
        advance(a);
    }
}

// The best g or the start, whichever is better.
static void choose_answer(run *a, ss_result *result)
{
    ss_coupling *c = a->sweeper->coupling;
    ss_coupling_put(c, a->first);
    const double start = ss_coupling_measure(c).fb;
    ss_coupling_put(c, a->best);
    result->own_error = ss_coupling_measure(c).fb;
    if (start < result->own_error || isnan(result->own_error)) {
        ss_coupling_put(c, a->first);
        result->own_error = start;
    }
}

static bool allocate(run *a, const void *settings)
{
    const ss_coupling *c = a->sweeper->coupling;
    const size_t packed = (size_t)c->dim * (size_t)c->n;
    a->size = 4 * (size_t)c->n;
    a->more = c->is_explicit ? 0 : (size_t)c->white->body_start[c->white->nbodies];
    a->x = malloc(a->size * sizeof *a->x);
    a->f = malloc(a->size * sizeof *a->f);
    a->weight = malloc(a->size * sizeof *a->weight);
    a->g = malloc(a->size * sizeof *a->g);
    a->z = malloc((a->more + 1) * sizeof *a->z);
    a->best = malloc(packed * sizeof *a->best);
    a->first = malloc(packed * sizeof *a->first);
    a->memory = a->rule->make(settings, a->size, a->more);
    return a->x != NULL && a->f != NULL && a->weight != NULL && a->g != NULL && a->z != NULL &&
           a->best != NULL && a->first != NULL && a->memory != NULL;
}

static ss_status prepare(run *a, const double *r, ss_error *e)
{
    const ss_method *m = a->task->method;
    const ss_stop stop = ss_limits_stopper(&a->limits);
    const ss_status status = ss_sweeper_new(a->task, m->global_settings, r, &stop, &a->sweeper, e);
    if (status != SS_OK || a->sweeper == NULL) {
        return status;
    }
    if (!allocate(a, m->global_settings)) {
        return ss_fail_memory(e, "an accelerated iteration");
    }
    const ss_coupling *c = a->sweeper->coupling;
    for (size_t k = 0; k < a->size; k++) {
        a->weight[k] = sqrt(c->compliance[k / 4]);
    }
    ss_coupling_get(c, a->best);
    ss_coupling_get(c, a->first);
    a->best_fb = a->mark = INFINITY;
    a->next_plain = PLAIN_FIRST;
    a->sweeper->rest *= REST_SHARE;
    a->approximate = !ss_method_is_exact(m);
    return SS_OK;
}

static void release(run *a)
{
    if (a->memory != NULL) {
        a->rule->free(a->memory);
    }
    free(a->x);
    free(a->f);
    free(a->weight);
    free(a->g);
    free(a->z);
    free(a->best);
    free(a->first);
    ss_sweeper_free(a->sweeper);
}

ss_status ss_accelerated_solve(const ss_rule *rule, const ss_task *task, double *r,
                               ss_result *result, ss_error *e)
{
    run a = {.task = task, .rule = rule, .limits = ss_limits_start(task)};
    const ss_status status = prepare(&a, r, e);
    if (status == SS_OK && a.sweeper == NULL) {
        ss_limits_give_up(&a.limits, result);
    } else if (status == SS_OK) {
        ss_limits_ready(&a.limits);
        result->outcome = iterate(&a, r, result);
        if (result->outcome != SS_CONVERGED) {
            choose_answer(&a, result);
        }
        ss_sweep_get(a.sweeper, r);
        ss_sweep_count(a.sweeper, result);
        ss_limits_stop(&a.limits, result);
    }
    release(&a);
    return status;
}
