// auto: a portfolio. Members take turns at the same problem, each from the best answer so far:
//
//     gs/secular          while its rate promises an end within so much work
//     ppa                 where it does not: hyperstatic problems, and slow paths
//     anderson/secular    where proximal steps get stuck
//     apgd                where mu <= 1
//     gs/mfb+enum         the paper's sweep, whose slow paths the others may not take
//
// and then again with twice the budgets, so that what one member solves is solved. The first turn
// alone decides on easy problems. Budgets are counts, not seconds: the same problem takes the same
// turns on every machine. The work of sweeps is counted in visits, in units of n: resting contacts
// cost next to nothing, and a thousand sweeps over a few stubborn contacts are cheap. A member that
// refuses the problem, or lacks the memory for it, passes its turn on. The trace says who has the
// turn and why.
#include <math.h>
#include <stdlib.h>

#include "solvers/global/global.h"
#include "solvers/global/watch.h"
#include "solvers/registry.h"

#define LATER   1.5  // the rate is looked at again at so many times as much work
#define FALL    1.05 // the estimate fell by less: no rate
#define TOLD    10   // iterations from one look to the next: a member copies its answer for it
#define PASSING 0.04 // of a visit: what it costs to pass over a contact

// A member and its turn. Work is in visits of all contacts.
typedef struct member {
    const char *spec;
    int budget;      // iterations of the first round
    double patience; // work before the rate is looked at; 0: it is not
    double promised; // work that the rate may promise and go on
    bool needs_low_friction;
    const char *why; // it has the turn
} member;

// All of ppa costs as much as some hundred visits of all contacts, whatever their number: plain
// sweeps may do that much work before their rate is asked for.
static const member MEMBERS[] = {
    {"gs/secular", 100000, 100.0, 150.0, false, "plain sweeps"},
    {"ppa:sweeps=0", 1000, 0.0, 0.0, false, "sweeps were too slow: proximal Newton"},
    {"anderson/secular", 4000, 600.0, 6000.0, false, "proximal Newton got stuck: mixed sweeps"},
    {"apgd", 2000, 0.0, 0.0, true, "mixed sweeps got stuck: projected gradient"},
    {"gs/mfb+enum", 1000, 0.0, 0.0, false, "projected gradient got stuck: plain sweeps"},
};
#define COUNT ((int)(sizeof MEMBERS / sizeof MEMBERS[0]))

typedef struct run {
    const ss_task *task;
    ss_watch watch;
    ss_method *methods[COUNT];
    ss_result *total;
    // The present turn.
    const member *member;
    int round;
    volatile sig_atomic_t stop;
    int next_told;       // iteration
    double checked;      // work at which the rate was looked at last
    double checked_best; // the best estimate then
    double best;         // the best estimate of the turn
} run;

// Whether the fall of the estimate since the last look promises an end within the budget.
static bool promises(const run *a, double work)
{
    if (!(a->best < a->checked_best / FALL)) {
        return false;
    }
    const double left =
        log(a->best / a->task->tolerance) / log(a->checked_best / a->best) * (work - a->checked);
    return left <= ldexp(a->member->promised, a->round);
}

static void watch_rate(run *a, const ss_progress *p)
{
    if (a->member->patience == 0.0 || p->iteration % TOLD != 0) {
        return;
    }
    a->best = p->estimate < a->best ? p->estimate : a->best;
    const double work = (double)p->visits / a->task->problem->ncontacts + PASSING * p->iteration;
    const double next = a->checked == 0.0 ? a->member->patience : LATER * a->checked;
    if (work < next) {
        return;
    }
    if (a->checked > 0.0 && a->best > a->task->tolerance && !promises(a, work)) {
        a->stop = 1;
    }
    a->checked = work;
    a->checked_best = a->best;
}

static void listen(void *of, const ss_progress *p)
{
    run *a = of;
    watch_rate(a, p);
    const bool often = a->task->listen != NULL || a->member->patience == 0.0;
    a->next_told = often ? 0 : (p->iteration / TOLD + 1) * TOLD;
    if (a->task->interrupted != NULL && *a->task->interrupted) {
        a->stop = 1;
    }
    if (p->iteration == 0 && a->total->iterations > 0) {
        return; // the end of the turn before
    }
    ss_progress all = *p;
    all.iteration += a->total->iterations;
    all.local_solves += a->total->local_solves;
    all.note = a->member->why;
    ss_watch_tell(&a->watch, all);
}

static void add(ss_result *total, const ss_result *turn)
{
    total->iterations += turn->iterations;
    total->local_solves += turn->local_solves;
    total->failsafe_calls += turn->failsafe_calls;
    total->failures += turn->failures;
    total->frozen += turn->frozen;
    total->unanswered = turn->unanswered;
    total->setup_seconds += turn->setup_seconds;
    total->own_error = turn->own_error;
}

static ss_outcome take_turn(run *a, int k, double *r, ss_status *status, ss_error *e)
{
    const ss_task *t = a->task;
    a->member = &MEMBERS[k];
    a->stop = 0;
    a->next_told = 0;
    a->checked = 0;
    a->best = INFINITY;
    const double budget = ldexp(MEMBERS[k].budget, a->round);
    const int left = t->max_iterations - a->total->iterations;
    ss_task turn = *t;
    turn.method = a->methods[k];
    turn.max_iterations = budget < left ? (int)budget : left;
    turn.interrupted = &a->stop;
    turn.listen = listen;
    turn.listener = a;
    turn.listen_from = &a->next_told;
    if (t->time_limit > 0.0) {
        turn.time_limit = fmax(t->time_limit - ss_watch_elapsed(&a->watch), 1e-9);
    }
    ss_result result;
    *status = ss_solve(&turn, r, &result, e);
    if (*status == SS_OK && result.outcome != SS_NOT_COVERED) {
        add(a->total, &result);
    }
    return *status == SS_OK ? result.outcome : SS_NOT_COVERED;
}

static bool takes(const run *a, int k)
{
    const ss_problem *p = a->task->problem;
    for (int i = 0; MEMBERS[k].needs_low_friction && i < p->ncontacts; i++) {
        if (!(p->mu[i] <= 1.0)) {
            return false;
        }
    }
    return true;
}

static ss_status iterate(run *a, double *r, ss_result *result, ss_error *e)
{
    double before = INFINITY;
    for (a->round = 0;; a->round++) {
        ss_status failed = SS_OK;
        int done = 0;
        for (int k = 0; k < COUNT; k++) {
            if (!takes(a, k)) {
                continue;
            }
            ss_status status;
            const ss_outcome outcome = take_turn(a, k, r, &status, e);
            failed = status != SS_OK ? status : failed;
            done += outcome != SS_NOT_COVERED;
            const ss_outcome limit = ss_watch_limits(&a->watch, a->total->iterations);
            result->outcome = outcome == SS_CONVERGED ? SS_CONVERGED : limit;
            if (result->outcome != SS_UNSOLVED) {
                return done > 0 ? SS_OK : failed;
            }
        }
        if (done == 0) { // nobody could as much as begin
            return failed;
        }
        if (!(result->own_error < before)) { // a whole round, and nothing gained
            result->outcome = SS_STALLED;
            return SS_OK;
        }
        before = result->own_error;
    }
}

static ss_status solve(const ss_task *task, double *r, ss_result *result, ss_error *e)
{
    run a = {.task = task, .watch = ss_watch_start(task), .total = result};
    ss_status status = SS_OK;
    for (int k = 0; k < COUNT && status == SS_OK; k++) {
        status = ss_method_parse(MEMBERS[k].spec, &a.methods[k], e);
    }
    if (status == SS_OK) {
        result->setup_seconds = 0.0;
        status = iterate(&a, r, result, e);
        const double setup = result->setup_seconds;
        ss_watch_stop(&a.watch, result);
        result->setup_seconds = setup;
        result->sweep_seconds = result->seconds - setup;
    }
    for (int k = 0; k < COUNT; k++) {
        ss_method_free(a.methods[k]);
    }
    return status;
}

const ss_global_solver ss_auto = {
    .card = {.name = "auto", .law = SS_EXACT, .reference = "D11"},
    .solve = solve,
};
