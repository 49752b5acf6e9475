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

typedef struct accelerated_run {
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
} accelerated_run;

static void accelerated_tell(accelerated_run *run, double *r)
{
    if (!ss_limits_listened(&run->limits, run->sweeper->sweeps)) {
        return;
    }
    const ss_sweeper *s = run->sweeper;
    ss_sweep_get(s, r);
    const double estimate = s->sweeps > 0 ? s->last.estimate / s->coupling->V : NAN;
    ss_limits_tell(&run->limits, (ss_progress){.iteration = s->sweeps,
                                               .local_solves = s->counters.solves,
                                               .visits = s->visits,
                                               .estimate = estimate,
                                               .r = r});
}

// All measures of g. The sweep's estimate is of the x before it, which may be luckier than it is
// good.
static ss_measures accelerated_look(accelerated_run *run)
{
    const ss_measures m = ss_coupling_measure(run->sweeper->coupling);
    run->fb = m.fb;
    if (m.fb < run->best_fb) {
        run->best_fb = m.fb;
        ss_coupling_get(run->sweeper->coupling, run->best);
    }
    return m;
}

// f = (g - x) weighted; whether the step is small enough for another law.
static bool take_residual(accelerated_run *run)
{
    const double *g = run->sweeper->coupling->r;
    double step = 0.0, size = 0.0;
    for (size_t k = 0; k < run->size; k++) {
        const double d = g[k] - run->x[k];
        step += d * d;
        size += g[k] * g[k];
        run->f[k] = run->weight[k] * d;
    }
    return step <= APPROXIMATE_STEP * APPROXIMATE_STEP * size;
}

static ss_outcome accelerated_test(accelerated_run *run, bool small_step, ss_result *result)
{
    if (run->approximate) {
        return small_step ? SS_CONVERGED : SS_UNSOLVED;
    }
    ss_coupling *c = run->sweeper->coupling;
    const ss_tally *t = &run->sweeper->last;
    const bool finished =
        t->moved == 0 || t->estimate <= FLOOR_FACTOR * DBL_EPSILON * c->s * t->largest;
    const bool reached = t->estimate <= run->task->tolerance * c->V;
    if (!reached && !finished && run->sweeper->sweeps % LOOK_SWEEPS != 0) {
        return SS_UNSOLVED;
    }
    const ss_measures m = accelerated_look(run);
    result->own_error = m.fb;
    if (ss_measures_pass(&m, run->task->tolerance)) {
        return SS_CONVERGED;
    }
    run->floor_tries += finished;
    return run->floor_tries >= FLOOR_TRIES ? SS_STALLED : SS_UNSOLVED;
}

// Plainly: from the best g, unless the present one is nearly as good. On a slow path the residual
// may rise for a thousand sweeps, and going back each time would never get past that.
static void accelerated_restart(accelerated_run *run)
{
    if (!(run->fb <= FAR * run->best_fb)) {
        ss_coupling_set(run->sweeper->coupling, run->best);
    }
    run->rule->forget(run->memory);
    run->plain = run->next_plain;
    run->next_plain = run->next_plain < PLAIN_MOST ? 2 * run->next_plain : PLAIN_MOST;
    run->mark = run->best_fb;
    run->marked = run->sweeper->sweeps + run->plain;
}

// x from g by the rule.
static void extrapolate(accelerated_run *run)
{
    ss_coupling *c = run->sweeper->coupling;
    memcpy(run->g, c->r, run->size * sizeof *run->g);
    if (run->more > 0) {
        memcpy(run->z, c->z, run->more * sizeof *run->z);
    }
    run->rule->step(run->memory, run->f, c->r, c->z);
    ss_coupling_leapt(c, run->g, run->z);
}

static void accelerated_advance(accelerated_run *run)
{
    if (run->best_fb <= PROGRESS * run->mark) {
        run->mark = run->best_fb;
        run->marked = run->sweeper->sweeps;
    }
    if (run->plain > 0) {
        run->plain--;
    } else if (run->sweeper->sweeps - run->marked >= PATIENCE ||
               isnan(run->sweeper->last.estimate)) {
        accelerated_restart(run);
    } else {
        extrapolate(run);
    }
    if (run->sweeper->sweeps % REFRESH_SWEEPS == 0) {
        ss_coupling_refresh(run->sweeper->coupling);
    }
}

static ss_outcome accelerated_iterate(accelerated_run *run, double *r, ss_result *result)
{
    accelerated_tell(run, r);
    for (;;) {
        const ss_outcome limit = ss_limits_next(&run->limits, run->sweeper->sweeps);
        if (limit != SS_UNSOLVED) {
            return limit;
        }
        memcpy(run->x, run->sweeper->coupling->r, run->size * sizeof *run->x);
        ss_sweep(run->sweeper);
        accelerated_tell(run, r);
        const ss_outcome outcome = accelerated_test(run, take_residual(run), result);
        if (outcome != SS_UNSOLVED) {
            return outcome;
        }
        accelerated_advance(run);
    }
}

// The best g or the start, whichever is better.
static void accelerated_choose_answer(accelerated_run *run, ss_result *result)
{
    ss_coupling *c = run->sweeper->coupling;
    ss_coupling_put(c, run->first);
    const double start = ss_coupling_measure(c).fb;
    ss_coupling_put(c, run->best);
    result->own_error = ss_coupling_measure(c).fb;
    if (start < result->own_error || isnan(result->own_error)) {
        ss_coupling_put(c, run->first);
        result->own_error = start;
    }
}

static bool accelerated_allocate(accelerated_run *run, const void *settings)
{
    const ss_coupling *c = run->sweeper->coupling;
    const size_t packed = (size_t)c->dim * (size_t)c->n;
    run->size = 4 * (size_t)c->n;
    run->more = c->is_explicit ? 0 : (size_t)c->white->body_start[c->white->nbodies];
    run->x = malloc(run->size * sizeof *run->x);
    run->f = malloc(run->size * sizeof *run->f);
    run->weight = malloc(run->size * sizeof *run->weight);
    run->g = malloc(run->size * sizeof *run->g);
    run->z = malloc((run->more + 1) * sizeof *run->z);
    run->best = malloc(packed * sizeof *run->best);
    run->first = malloc(packed * sizeof *run->first);
    run->memory = run->rule->make(settings, run->size, run->more);
    return run->x != NULL && run->f != NULL && run->weight != NULL && run->g != NULL &&
           run->z != NULL && run->best != NULL && run->first != NULL && run->memory != NULL;
}

static ss_status accelerated_prepare(accelerated_run *run, const double *r, ss_error *e)
{
    const ss_method *m = run->task->method;
    const ss_stop stop = ss_limits_stopper(&run->limits);
    const ss_status status =
        ss_sweeper_new(run->task, m->global_settings, r, &stop, &run->sweeper, e);
    if (status != SS_OK || run->sweeper == NULL) {
        return status;
    }
    if (!accelerated_allocate(run, m->global_settings)) {
        return ss_fail_memory(e, "an accelerated iteration");
    }
    const ss_coupling *c = run->sweeper->coupling;
    for (size_t k = 0; k < run->size; k++) {
        run->weight[k] = sqrt(c->compliance[k / 4]);
    }
    ss_coupling_get(c, run->best);
    ss_coupling_get(c, run->first);
    run->best_fb = run->mark = INFINITY;
    run->next_plain = PLAIN_FIRST;
    run->sweeper->rest *= REST_SHARE;
    run->approximate = !ss_method_is_exact(m);
    return SS_OK;
}

static void accelerated_release(accelerated_run *run)
{
    if (run->memory != NULL) {
        run->rule->free(run->memory);
    }
    free(run->x);
    free(run->f);
    free(run->weight);
    free(run->g);
    free(run->z);
    free(run->best);
    free(run->first);
    ss_sweeper_free(run->sweeper);
}

ss_status ss_accelerated_solve(const ss_rule *rule, const ss_task *task, double *r,
                               ss_result *result, ss_error *e)
{
    accelerated_run run = {.task = task, .rule = rule, .limits = ss_limits_start(task)};
    const ss_status status = accelerated_prepare(&run, r, e);
    if (status == SS_OK && run.sweeper == NULL) {
        ss_limits_give_up(&run.limits, result);
    } else if (status == SS_OK) {
        ss_limits_ready(&run.limits);
        result->outcome = accelerated_iterate(&run, r, result);
        if (result->outcome != SS_CONVERGED) {
            accelerated_choose_answer(&run, result);
        }
        ss_sweep_get(run.sweeper, r);
        ss_sweep_count(run.sweeper, result);
        ss_limits_stop(&run.limits, result);
    }
    accelerated_release(&run);
    return status;
}
