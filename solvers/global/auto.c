// auto: a portfolio. Members take turns at the same problem, each from the best answer so far:
//
//     gs/secular          with focus=on, while its rate promises an end for no more than the price of ppa
//     anderson/secular    if those sweeps are slow but steady and keep most contacts busy; then sweeps again
//     admm                if they carry impulses too slowly, as in towers
//     ipm                 for a few steps, if the answer is far; then sweeps again if admm has had a turn
//     ppa, ipm            in dense hair (auto_price.h); if the start is zero, before the first sweeps
//     ppa                 elsewhere: hyperstatic problems, and slow paths
//     ipm                 if proximal steps get stuck, unless it has had its many steps in dense hair
//     anderson/secular    if interior points get stuck, too
//     apgd                if no mu is above 1
//     gs/mfb+enum         the paper's sweep, which may go slowly where the others do not go at all
//
// Then ppa has turns from many starts, and all members have turns again with twice the budgets: what one
// member solves is solved. Easy problems end in the first turn. Budgets are counts, not seconds: the same
// problem takes the same turns on every machine. The work of sweeps is counted in visits, in units of n:
// resting contacts cost next to nothing, and a thousand sweeps over a few stubborn contacts are cheap. A
// member that refuses the problem, or has not enough memory for it, passes its turn on. The trace says who
// has the turn and why.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "problems/tangle/random.h"
#include "solvers/global/auto_judge.h"
#include "solvers/global/auto_rate.h"
#include "solvers/global/auto_starts.h"
#include "solvers/global/drive.h"
#include "solvers/global/global.h"
#include "solvers/registry.h"
#include "solvers/small.h"
#include "solvers/sweep/sweep.h"

#define ROUNDS       4    // without a gain the next ones only repeat what has failed
#define STARTS_WORK  8000 // starts of the first round times n
#define STARTS_LEAST 8
#define STARTS_MOST  300
// Below this estimate ppa needs few steps; ipm needs as many as from far.
#define INSIDE_FROM 4e-4

typedef struct auto_run {
    const ss_task *task;
    ss_mass **factor, *own_factor; // that of all members (ss_task.factor), of the task or here
    ss_limits limits;
    ss_method *methods[SS_AUTO_MEMBERS], *shakes[SS_AUTO_SHAKES]; // NULL before their first turn
    double *start;                                                // [dim n] of all
    double *kept;     // [dim n] the best answer while others start elsewhere
    double *u;        // [dim n] scratch
    double tolerance; // of a turn
    ss_result *total;
    int round;
    bool is_cold; // the start is nothing
    // The present turn.
    ss_rate rate;
    volatile sig_atomic_t stop;
    int next_told; // iteration
} auto_run;

static bool is_recalled(const auto_run *run)
{
    return run->task->recalled != NULL && *run->task->recalled;
}

static void auto_listen(void *of, const ss_progress *p)
{
    auto_run *run = of;
    run->stop |= ss_rate_ends_turn(&run->rate, p) || is_recalled(run);
    const bool often = run->task->listen != NULL || run->rate.member->patience == 0.0;
    run->next_told = often ? 0 : (p->iteration / SS_RATE_EVERY + 1) * SS_RATE_EVERY;
    if (p->iteration == 0 && run->total->iterations > 0) {
        return; // the end of the turn before
    }
    ss_progress all = *p;
    all.iteration += run->total->iterations;
    all.local_solves += run->total->local_solves;
    all.note = p->note != NULL ? p->note : run->rate.member->why;
    ss_limits_tell(&run->limits, all);
}

static void auto_add(ss_result *total, const ss_result *turn)
{
    total->iterations += turn->iterations;
    total->local_solves += turn->local_solves;
    total->failsafe_calls += turn->failsafe_calls;
    total->failures += turn->failures;
    total->frozen += turn->frozen;
    total->unanswered = turn->unanswered;
    total->setup_seconds += turn->setup_seconds;
    total->own_error = isnan(turn->own_error) ? total->own_error : turn->own_error;
}

// At most budget iterations of the member from r.
static ss_outcome take_turn(auto_run *run, const ss_auto_member *m, ss_method **method,
                            double budget, double *r, ss_status *status, ss_error *e)
{
    const ss_task *t = run->task;
    *status = *method == NULL ? ss_method_parse(m->spec, method, e) : SS_OK;
    if (*status != SS_OK) {
        return SS_NOT_COVERED;
    }
    ss_rate_begin(&run->rate, m, run->round, run->tolerance);
    run->stop = is_recalled(run);
    run->next_told = 0;
    const int left = t->max_iterations - run->total->iterations;
    ss_task turn = *t;
    turn.method = *method;
    turn.tolerance = run->tolerance;
    turn.max_iterations = budget < left ? (int)budget : left;
    turn.recalled = &run->stop;
    turn.listen = auto_listen;
    turn.listener = run;
    turn.listen_from = &run->next_told;
    turn.factor = run->factor;
    if (t->time_limit > 0.0) {
        turn.time_limit = fmax(t->time_limit - ss_limits_elapsed(&run->limits), 1e-9);
    }
    ss_result result;
    *status = ss_solve(&turn, r, &result, e);
    if (*status == SS_OK && result.outcome != SS_NOT_COVERED) {
        auto_add(run->total, &result);
    }
    return *status == SS_OK ? result.outcome : SS_NOT_COVERED;
}

// The same from r, while run->kept is the best answer so far: r is the best one afterwards.
static ss_outcome turn_elsewhere(auto_run *run, const ss_auto_member *m, ss_method **method,
                                 double budget, double *r, ss_status *status, ss_error *e)
{
    const ss_problem *p = run->task->problem;
    const double best = run->total->own_error;
    const ss_outcome outcome = take_turn(run, m, method, budget, r, status, e);
    if (outcome == SS_NOT_COVERED ||
        (outcome != SS_CONVERGED && !isnan(best) && !(run->total->own_error < best))) {
        memcpy(r, run->kept, (size_t)p->dim * (size_t)p->ncontacts * sizeof *r);
        run->total->own_error = best;
    }
    return outcome;
}

// Whether interior points come before all sweeps: from impulses, a few sweeps may do.
static bool begins_inside(auto_run *run)
{
    return run->is_cold && run->task->tolerance < SS_PRICES_TIGHT &&
           ss_rate_favours_interior(&run->rate);
}

// Whether interior points follow sweeps that were too slow: they make no use of impulses at the start. In dense hair
// they have turns of their own.
static bool goes_inside(auto_run *run)
{
    return run->round == 0 && run->is_cold && !(run->total->own_error < INSIDE_FROM) &&
           !ss_rate_favours_interior(&run->rate);
}

static bool takes(auto_run *run, int k)
{
    const ss_problem *p = run->task->problem;
    if (k == SS_AUTO_PLAIN && run->round == 0 && begins_inside(run)) {
        return false;
    }
    if (k == SS_AUTO_INSIDE && !goes_inside(run)) {
        return false;
    }
    if (k == SS_AUTO_AFTER_DENSE && (run->round > 0 || !begins_inside(run))) {
        return false;
    }
    if ((k == SS_AUTO_NEAR || k == SS_AUTO_DENSE) &&
        (run->round > 0 || run->rate.slow || !ss_rate_favours_interior(&run->rate))) {
        return false;
    }
    if ((ss_auto_members[k].where == SS_AUTO_CARRIES_SLOWLY && !run->rate.slow) ||
        (ss_auto_members[k].where == SS_AUTO_FALLS_STEADILY &&
         (run->rate.steady_left == 0.0 || run->round > 0))) {
        return false;
    }
    if (k == SS_AUTO_IPM && run->round == 0 && run->methods[SS_AUTO_DENSE] != NULL) {
        return false; // it would begin as it has begun before
    }
    for (int i = 0; ss_auto_members[k].friction > 0.0 && i < p->ncontacts; i++) {
        if (!(p->mu[i] <= ss_auto_members[k].friction)) {
            return false;
        }
    }
    return true;
}

// Near the rounding floor an answer may pass with the velocities of the member and fail with those of the
// judge. Where the first turn ends, a judgement would cost too much.
static bool holds(auto_run *run, const double *r)
{
    ss_measures m;
    ss_error ignored;
    if (ss_rate_is_of(&run->rate, SS_AUTO_PLAIN) ||
        ss_auto_judge(run->task->problem, run->factor, r, run->u, &m, &ignored) != SS_OK ||
        ss_measures_pass(&m, run->task->tolerance)) {
        return true;
    }
    run->tolerance *= 0.5;
    return false;
}

// Converged, a limit of the task, or unsolved: on to the next. A member has all the time that is
// left.
static ss_outcome go_on(auto_run *run, ss_outcome outcome, const double *r)
{
    if (outcome == SS_TIME_LIMIT || (outcome == SS_CONVERGED && holds(run, r))) {
        return outcome;
    }
    return ss_limits_test(&run->limits, run->total->iterations);
}

// Whether the member begins from the start: an answer of sweeps does not help admm, and ipm has a start of its own.
static bool begins_anew(int k)
{
    return k == SS_AUTO_ADMM || k == SS_AUTO_INSIDE || k == SS_AUTO_DENSE || k == SS_AUTO_IPM;
}

// From the best answer so far, or from the start.
static ss_outcome play_member(auto_run *run, int k, double *r, ss_status *status, ss_error *e)
{
    const ss_problem *p = run->task->problem;
    const size_t bytes = (size_t)p->dim * (size_t)p->ncontacts * sizeof *r;
    const double budget = ldexp(ss_auto_members[k].budget, run->round);
    if (!begins_anew(k)) {
        return take_turn(run, &ss_auto_members[k], &run->methods[k], budget, r, status, e);
    }
    memcpy(run->kept, r, bytes);
    if (run->round == 0) {
        memcpy(r, run->start, bytes);
    }
    return turn_elsewhere(run, &ss_auto_members[k], &run->methods[k], budget, r, status, e);
}

static ss_outcome play_round(auto_run *run, double *r, bool *any, ss_status *failed, ss_error *e)
{
    ss_outcome outcome = SS_UNSOLVED;
    for (int k = 0; k < SS_AUTO_MEMBERS && outcome == SS_UNSOLVED; k++) {
        if (takes(run, k)) {
            ss_status status;
            outcome = play_member(run, k, r, &status, e);
            *failed = status != SS_OK ? status : *failed;
            *any |= outcome != SS_NOT_COVERED;
            outcome = go_on(run, outcome, r);
        }
    }
    return outcome;
}

// ---- Other starts

// r is the best answer before and after.
static ss_outcome play_shakes(auto_run *run, double *r, ss_error *e)
{
    const ss_problem *p = run->task->problem;
    const size_t size = (size_t)p->dim * (size_t)p->ncontacts;
    const int starts = (int)fmin(fmax(STARTS_WORK / p->ncontacts, STARTS_LEAST), STARTS_MOST);
    ss_random g = ss_random_seeded((uint64_t)run->round);
    ss_outcome outcome = SS_UNSOLVED;
    for (int k = 1; k <= starts << run->round && outcome == SS_UNSOLVED; k++) {
        const int m = ss_random_below(&g, SS_AUTO_SHAKES);
        memcpy(run->kept, r, size * sizeof *r);
        ss_start_elsewhere(&g, k, size, r);
        ss_status status;
        outcome = turn_elsewhere(run, &ss_auto_shakes[m], &run->shakes[m],
                                 ss_auto_shakes[m].budget * ss_luby(k), r, &status, e);
        const bool covered = outcome != SS_NOT_COVERED;
        if (!covered) {
            return SS_UNSOLVED;
        }
        outcome = go_on(run, outcome, r);
    }
    return outcome;
}

// ---- The solver

// Unsolved: on to the next round. A refutation is looked for once, before the search grows long.
static ss_status auto_search(auto_run *run, double *r, double before, ss_outcome *outcome,
                             ss_error *e)
{
    bool at_floor = false;
    const ss_problem *p = run->task->problem;
    const ss_status status = ss_auto_at_floor(p, run->factor, r, run->u, &at_floor, e);
    if (status == SS_OK && at_floor) {
        *outcome = run->total->own_error < before ? SS_UNSOLVED : SS_STALLED;
    } else if (status == SS_OK) {
        const bool refuted = run->round == 0 && ss_auto_is_refuted(p);
        *outcome = refuted ? SS_NO_SOLUTION : play_shakes(run, r, e);
    }
    return status;
}

static ss_status auto_iterate(auto_run *run, double *r, ss_result *result, ss_error *e)
{
    for (run->round = 0; run->round < ROUNDS; run->round++) {
        const double before = run->round > 0 ? result->own_error : INFINITY;
        ss_status status = SS_OK;
        bool any = false;
        result->outcome = play_round(run, r, &any, &status, e);
        if (!any) { // no member could begin
            return status;
        }
        if (result->outcome == SS_UNSOLVED) {
            status = auto_search(run, r, before, &result->outcome, e);
            if (status != SS_OK) {
                return status;
            }
        }
        if (result->outcome != SS_UNSOLVED) {
            return SS_OK;
        }
    }
    result->outcome = SS_STALLED;
    return SS_OK;
}

static ss_status auto_prepare(auto_run *run, const double *r, ss_error *e)
{
    const ss_problem *p = run->task->problem;
    const size_t size = (size_t)p->dim * (size_t)p->ncontacts;
    run->start = malloc(size * sizeof *run->start);
    run->kept = malloc(size * sizeof *run->kept);
    run->u = malloc(size * sizeof *run->u);
    if (run->start == NULL || run->kept == NULL || run->u == NULL) {
        return ss_fail_memory(e, "the portfolio");
    }
    memcpy(run->start, r, size * sizeof *r);
    run->is_cold = ss_all_zero(r, size);
    return SS_OK;
}

static void auto_release(auto_run *run)
{
    for (int k = 0; k < SS_AUTO_MEMBERS; k++) {
        ss_method_free(run->methods[k]);
    }
    for (int k = 0; k < SS_AUTO_SHAKES; k++) {
        ss_method_free(run->shakes[k]);
    }
    free(run->start);
    free(run->kept);
    free(run->u);
    ss_mass_free(run->own_factor);
}

static ss_status auto_solve(const ss_task *task, double *r, ss_result *result, ss_error *e)
{
    auto_run run = {.task = task,
                    .limits = ss_limits_start(task),
                    .total = result,
                    .tolerance = task->tolerance};
    run.factor = task->factor != NULL ? task->factor : &run.own_factor;
    run.rate = (ss_rate){
        .problem = task->problem, .factor = run.factor, .task_tolerance = task->tolerance};
    ss_status status = auto_prepare(&run, r, e);
    if (status == SS_OK) {
        result->setup_seconds = 0.0;
        status = auto_iterate(&run, r, result, e);
        const double setup = result->setup_seconds;
        ss_limits_stop(&run.limits, result);
        result->setup_seconds = setup;
        result->sweep_seconds = result->seconds - setup;
    }
    auto_release(&run);
    return status;
}

const ss_global_solver ss_auto = {
    .card = {.name = "auto",
             .law = SS_EXACT,
             .reference = "D11",
             .about = "A portfolio: gs/secular, ppa, ipm, anderson and others take turns at "
                      "a problem, each from the best answer so far. Budgets are counts of "
                      "work, so that the same problem takes the same turns on every machine. "
                      "--trace says who has the turn and why."},
    .takes_threads = ss_drive_takes_threads,
    .solve = auto_solve,
};
