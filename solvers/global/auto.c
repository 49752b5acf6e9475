// auto: a portfolio. Members take turns at the same problem, each from the best answer so far:
//
//     gs/secular          with focus=on, while its rate promises an end within what ppa would cost
//     anderson/secular    where those are slow but steady, and keep most contacts busy; then sweeps again
//     admm                where those carry impulses too slowly, as in towers; then sweeps again
//     ppa, ipm            in dense hair (auto_price.h), from nothing before sweeps; then these
//     ppa                 elsewhere: hyperstatic problems, and slow paths
//     ipm                 where proximal steps get stuck and it has not been asked before
//     anderson/secular    where those do, too
//     apgd                where mu <= 1
//     gs/mfb+enum         the paper's sweep, whose slow paths the others may not take
//
// then ppa from many starts, and all again with twice the budgets, so that what one member solves
// is solved. The first turn alone decides on easy problems. Budgets are counts, not seconds: the
// same problem takes the same turns on every machine. The work of sweeps is counted in visits, in
// units of n: resting contacts cost next to nothing, and a thousand sweeps over a few stubborn
// contacts are cheap. A member that refuses the problem, or has not enough memory for it, passes its
// turn on. The trace says who has the turn and why.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "problems/tangle/random.h"
#include "solvers/global/auto_judge.h"
#include "solvers/global/auto_members.h"
#include "solvers/global/auto_price.h"
#include "solvers/global/auto_starts.h"
#include "solvers/global/global.h"
#include "solvers/global/drive.h"
#include "solvers/registry.h"
#include "solvers/small.h"
#include "solvers/sweep/sweep.h"

#define LATER 1.5  // the rate is looked at again at so many times as much work
#define FALL  1.05 // the estimate fell by less: no rate
#define TOLD  10   // iterations from one look to the next: a member copies its answer for it

#define ROUNDS       4    // without a gain the next ones only repeat what has failed
#define STARTS_WORK  8000 // starts of the first round times n
#define STARTS_LEAST 8
#define STARTS_MOST  300

// Plain sweeps may promise to take as much as ppa would (auto_price.h), and twice that in each round.
#define NEXT_FIRST 0.1 // of its price must have been done: a block step may yet end it
// In dense hair they are looked at as soon as there is a rate, which is too good there at first: they may promise a
// third of what ipm takes.
#define DENSE_PATIENCE 10.0
#define DENSE_TRUST    0.3

// Where sticking contacts carry a load through many bodies, as in a tower, sweeps take it from body to
// body, and a linear solve has it everywhere at once. There the estimate is still of the size of the
// velocities after SLOW_SWEEPS, more than FAR of them; in hair it is a hundredth, but for steps of violent
// motion, to which admm brings nothing. Then admm has a turn, from the start of all, if bodies are rigid and sweeps
// promise no less than what it costs. Its weight is large: on such towers of 88 to 952 contacts 10 takes 20 to 210
// steps, 100 10 to 70 and 1000 5 to 30.
#define SLOW_SWEEPS 20
#define FAR         0.1

// Mixing takes the square root of many sweeps, but a set-up of its own, and it visits all contacts. It is worth that
// where sweeps would still take MIX_LEFT visits of all contacts after MIX_SWEEPS and visit as many as they did in
// sweeps 21 to MIX_SEEN: where they visit ever fewer, they are about to end in a few stubborn ones.
#define MIX_SWEEPS 80
#define MIX_SEEN   30
#define MIX_VISITS 0.9 // share of those visits,
#define MIX_BUSY   0.5 // and of all contacts
#define MIX_LEFT   120.0
#define MIX_GAIN   0.5 // share of what plain sweeps promised, which mixed ones may promise

typedef struct auto_run {
    const ss_task *task;
    ss_mass **factor, *own_factor; // that of all members (ss_task.factor), of the task or here
    ss_limits limits;
    ss_method *methods[COUNT], *shakes[SHAKES_COUNT]; // NULL before their first turn
    double *start;                                    // [dim n] of all
    double *kept;     // [dim n] the best answer while others start elsewhere
    double *u;        // [dim n] scratch
    double tolerance; // of a turn
    ss_result *total;
    // The present turn.
    const member *member;
    int round;
    volatile sig_atomic_t stop;
    int next_told;           // iteration
    double checked;          // work at which the rate was looked at last
    double checked_best;     // the best estimate then
    double best;             // the best estimate of the turn
    double told;             // work TOLD iterations ago
    double seen;             // work of the TOLD sweeps before MIX_SEEN
    double steady_left;      // work that plain sweeps promised where mixing began; 0: it did not
    ss_prices prices;        // 0 until somebody asks
    bool is_asked, is_dense; // whether hair is dense and even has been asked, and is so
    bool is_cold;            // the start is nothing
    bool slow;               // sweeps carry impulses too slowly
} auto_run;

static const ss_prices *auto_prices(auto_run *run)
{
    if (run->prices.ppa == 0.0) {
        run->prices = ss_prices_of(run->task->problem);
    }
    return &run->prices;
}

// In dense hair of even tr W_ii.
static bool favours_interior(auto_run *run)
{
    if (!run->is_asked) {
        run->is_asked = true;
        run->is_dense = ss_prices_favour_interior(run->task->problem, run->factor);
    }
    return run->is_dense;
}

static bool is_turn_of(const auto_run *run, int k)
{
    return run->member == &MEMBERS[k];
}

static bool are_first_sweeps(const auto_run *run)
{
    return is_turn_of(run, PLAIN) && run->round == 0;
}

// Whether interior points come before all sweeps: from impulses, a few sweeps may do.
static bool begins_inside(auto_run *run)
{
    return run->is_cold && run->task->tolerance < SS_PRICES_TIGHT && favours_interior(run);
}

// Whether the first sweeps are to be hurried.
static bool is_hurried(auto_run *run)
{
    return are_first_sweeps(run) && run->task->tolerance < SS_PRICES_TIGHT && favours_interior(run);
}

// Whether the fall of the estimate since the last look promises an end within what the member may
// take.
static bool promises(auto_run *run, double work)
{
    const double left =
        run->best < run->checked_best / FALL
            ? ss_sweep_work_left(run->checked_best, run->best, run->tolerance, work - run->checked)
            : INFINITY;
    if (is_turn_of(run, MIXED)) {
        return left <= MIX_GAIN * run->steady_left;
    }
    if (run->member->promised > 0.0) {
        return left <= ldexp(run->member->promised, run->round);
    }
    const ss_prices *prices = auto_prices(run);
    if (is_hurried(run)) {
        return work < NEXT_FIRST * prices->ipm || left <= DENSE_TRUST * prices->ipm;
    }
    const bool early = !is_turn_of(run, ADMM) && work < NEXT_FIRST * prices->ppa;
    return early || left <= ldexp(prices->ppa, run->round);
}

static double auto_work(auto_run *run, const ss_progress *p)
{
    const double n = run->task->problem->ncontacts;
    return is_turn_of(run, ADMM) ? p->iteration * auto_prices(run)->admm_step
                                 : ss_sweep_work((double)p->visits, n, p->iteration) / n;
}

// Of the first sweeps, whose estimate was run->best TOLD of them ago.
static bool carries_slowly(auto_run *run, const ss_progress *p)
{
    return are_first_sweeps(run) && p->iteration == SLOW_SWEEPS && p->estimate > FAR &&
           ss_sweep_work_left(run->best, p->estimate, run->tolerance, TOLD) >
               auto_prices(run)->admm;
}

// Whether the first sweeps are slow but steady; `before` was the best estimate TOLD sweeps ago.
static bool falls_steadily(auto_run *run, const ss_progress *p, double before, double work)
{
    const double visits = work - run->told;
    if (!are_first_sweeps(run)) {
        return false;
    }
    if (p->iteration == MIX_SEEN) {
        run->seen = visits;
    }
    if (p->iteration < MIX_SWEEPS || visits < fmax(MIX_VISITS * run->seen, MIX_BUSY * TOLD) ||
        !(run->best < before / FALL)) {
        return false;
    }
    const double left = ss_sweep_work_left(before, run->best, run->tolerance, visits);
    if (left < MIX_LEFT || left > auto_prices(run)->ppa) {
        return false;
    }
    run->steady_left = left;
    return true;
}

// The work at which the rate is looked at next; once where sweeps may first be ended.
static double next_look(auto_run *run)
{
    if (run->checked == 0.0) {
        return is_hurried(run) ? DENSE_PATIENCE : run->member->patience;
    }
    const double first = NEXT_FIRST * auto_prices(run)->ppa;
    const double later = LATER * run->checked;
    return run->member->promised == 0.0 && run->checked < first ? fmin(later, first) : later;
}

static void watch_rate(auto_run *run, const ss_progress *p)
{
    if (run->member->patience == 0.0 || p->iteration % TOLD != 0) {
        return;
    }
    if (carries_slowly(run, p)) {
        run->slow = true;
        run->stop = 1;
        return;
    }
    const double before = run->best, work = auto_work(run, p);
    run->best = p->estimate < run->best ? p->estimate : run->best;
    if (falls_steadily(run, p, before, work)) {
        run->stop = 1;
        return;
    }
    run->told = work;
    if (work < next_look(run)) {
        return;
    }
    if (run->checked > 0.0 && run->best > run->tolerance && !promises(run, work)) {
        run->stop = 1;
    }
    run->checked = work;
    run->checked_best = run->best;
}

static bool is_recalled(const auto_run *run)
{
    return run->task->recalled != NULL && *run->task->recalled;
}

static void auto_listen(void *of, const ss_progress *p)
{
    auto_run *run = of;
    watch_rate(run, p);
    run->stop |= is_recalled(run);
    const bool often = run->task->listen != NULL || run->member->patience == 0.0;
    run->next_told = often ? 0 : (p->iteration / TOLD + 1) * TOLD;
    if (p->iteration == 0 && run->total->iterations > 0) {
        return; // the end of the turn before
    }
    ss_progress all = *p;
    all.iteration += run->total->iterations;
    all.local_solves += run->total->local_solves;
    all.note = p->note != NULL ? p->note : run->member->why;
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
static ss_outcome take_turn(auto_run *run, const member *m, ss_method **method, double budget,
                            double *r, ss_status *status, ss_error *e)
{
    const ss_task *t = run->task;
    *status = *method == NULL ? ss_method_parse(m->spec, method, e) : SS_OK;
    if (*status != SS_OK) {
        return SS_NOT_COVERED;
    }
    run->member = m;
    run->stop = is_recalled(run);
    run->next_told = 0;
    run->checked = run->told = 0.0;
    run->best = INFINITY;
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
static ss_outcome turn_elsewhere(auto_run *run, const member *m, ss_method **method, double budget,
                                 double *r, ss_status *status, ss_error *e)
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

static bool takes(auto_run *run, int k)
{
    const ss_problem *p = run->task->problem;
    if (k == PLAIN && run->round == 0 && begins_inside(run)) {
        return false;
    }
    if (k == AFTER_DENSE && (run->round > 0 || !begins_inside(run))) {
        return false;
    }
    if ((k == NEAR || k == DENSE) && (run->round > 0 || run->slow || !favours_interior(run))) {
        return false;
    }
    if ((MEMBERS[k].where == CARRIES_SLOWLY && !run->slow) ||
        (MEMBERS[k].where == FALLS_STEADILY && (run->steady_left == 0.0 || run->round > 0))) {
        return false;
    }
    if (k == IPM && run->round == 0 && run->methods[DENSE] != NULL) {
        return false; // it would begin as it has begun before
    }
    for (int i = 0; MEMBERS[k].friction > 0.0 && i < p->ncontacts; i++) {
        if (!(p->mu[i] <= MEMBERS[k].friction)) {
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
    if (is_turn_of(run, PLAIN) ||
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

// From the best answer so far; admm from the start, as what sweeps have made of it is no better for it, and ipm
// from its own.
static ss_outcome play_member(auto_run *run, int k, double *r, ss_status *status, ss_error *e)
{
    const ss_problem *p = run->task->problem;
    const size_t bytes = (size_t)p->dim * (size_t)p->ncontacts * sizeof *r;
    const double budget = ldexp(MEMBERS[k].budget, run->round);
    if (k != ADMM && k != DENSE && k != IPM) {
        return take_turn(run, &MEMBERS[k], &run->methods[k], budget, r, status, e);
    }
    memcpy(run->kept, r, bytes);
    if (run->round == 0) {
        memcpy(r, run->start, bytes);
    }
    return turn_elsewhere(run, &MEMBERS[k], &run->methods[k], budget, r, status, e);
}

static ss_outcome play_round(auto_run *run, double *r, bool *any, ss_status *failed, ss_error *e)
{
    ss_outcome outcome = SS_UNSOLVED;
    for (int k = 0; k < COUNT && outcome == SS_UNSOLVED; k++) {
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
        const int m = ss_random_below(&g, SHAKES_COUNT);
        memcpy(run->kept, r, size * sizeof *r);
        ss_start_elsewhere(&g, k, size, r);
        ss_status status;
        outcome = turn_elsewhere(run, &SHAKES[m], &run->shakes[m], SHAKES[m].budget * ss_luby(k), r,
                                 &status, e);
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
    for (int k = 0; k < COUNT; k++) {
        ss_method_free(run->methods[k]);
    }
    for (int k = 0; k < SHAKES_COUNT; k++) {
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
