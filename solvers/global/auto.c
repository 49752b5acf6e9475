// auto: a portfolio. Members take turns at the same problem, each from the best answer so far:
//
//     gs/secular          with focus=on, while its rate promises an end within what ppa would cost
//     ppa                 where it does not: hyperstatic problems, and slow paths
//     anderson/secular    where proximal steps get stuck
//     apgd                where mu <= 1
//     gs/mfb+enum         the paper's sweep, whose slow paths the others may not take
//
// then ppa from many starts, and all again with twice the budgets, so that what one member solves
// is solved. The first turn alone decides on easy problems. Budgets are counts, not seconds: the
// same problem takes the same turns on every machine. The work of sweeps is counted in visits, in
// units of n: resting contacts cost next to nothing, and a thousand sweeps over a few stubborn
// contacts are cheap. A member that refuses the problem, or lacks the memory for it, passes its
// turn on. The trace says who has the turn and why.
//
// The starts: the steps of ppa wander where friction is high or heavy rests on light, until they
// happen on the answer. Where that is, is a matter of luck: nothing, or the impulses of the best
// answer times exp(a z), z normal; weights rho of three sizes; and lengths 1 1 2 1 1 2 4 ... (Luby,
// Sinclair and Zuckerman 1993), which loses no more than a logarithm to the best length.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "problems/certificate.h"
#include "problems/tangle/random.h"
#include "problems/response.h"
#include "solvers/global/global.h"
#include "solvers/linear/implicit.h"
#include "solvers/limits.h"
#include "solvers/registry.h"
#include "solvers/sweep/sweep.h"

#define LATER 1.5  // the rate is looked at again at so many times as much work
#define FALL  1.05 // the estimate fell by less: no rate
#define TOLD  10   // iterations from one look to the next: a member copies its answer for it

#define ROUNDS       4    // without a gain the next ones only repeat what has failed
#define STARTS_WORK  8000 // starts of the first round times n
#define STARTS_LEAST 8
#define STARTS_MOST  300
#define SHAKE_FAR    2.0 // a of half of the starts
#define SHAKE_NEAR   0.3
#define FLOOR_FACTOR 64.0 // fb V below this many eps max |s r| is rounding

// A member and its turn. Work is in visits of all contacts.
typedef struct member {
    const char *spec;
    int budget;      // iterations of the first round
    double patience; // work before the rate is looked at; 0: it is not
    double promised; // work that the rate may promise and go on; of the first it is ppa's price
    bool needs_low_friction;
    const char *why; // it has the turn
} member;

// Plain sweeps may promise to take as much as ppa would, and twice that in each round: its steps
// visit all contacts several times and factorise once, and there are as many as in the middle of
// those seen, 10 to 150. What one multiplication of a factorisation costs in visits was measured
// from 300 to 10 000 contacts.
#define PPA_STEPS      30.0
#define PPA_VISITS     15.0 // of all contacts, in a step
#define PPA_FIRST      0.15 // of its price must have been done: a block step may yet end it
#define VISITS_OF_WORK 8e-4 // a multiplication

static const member MEMBERS[] = {
    {"gs/secular:focus=on", 100000, 50.0, 0.0, false, "plain sweeps"},
    {"ppa:sweeps=0", 1000, 0.0, 0.0, false, "sweeps were too slow: proximal Newton"},
    {"anderson/secular", 4000, 600.0, 6000.0, false, "proximal Newton got stuck: mixed sweeps"},
    {"apgd", 2000, 0.0, 0.0, true, "mixed sweeps got stuck: projected gradient"},
    {"gs/mfb+enum", 1000, 0.0, 0.0, false, "projected gradient got stuck: plain sweeps"},
};
#define COUNT ((int)(sizeof MEMBERS / sizeof MEMBERS[0]))

#define SHAKEN "nobody got there: proximal Newton from other starts"
static const member SHAKES[] = {
    {"ppa:sweeps=0", 150, 0.0, 0.0, false, SHAKEN},
    {"ppa:sweeps=10,rho=1000", 150, 0.0, 0.0, false, SHAKEN},
    {"ppa:rho=0.1", 150, 0.0, 0.0, false, SHAKEN},
};
#define SHAKES_COUNT ((int)(sizeof SHAKES / sizeof SHAKES[0]))

typedef struct run {
    const ss_task *task;
    ss_limits limits;
    ss_method *methods[COUNT], *shakes[SHAKES_COUNT];
    double *kept;     // [dim n] the best answer while others start elsewhere
    double *u;        // [dim n] scratch
    double tolerance; // of a turn
    ss_result *total;
    // The present turn.
    const member *member;
    int round;
    volatile sig_atomic_t stop;
    int next_told;       // iteration
    double checked;      // work at which the rate was looked at last
    double checked_best; // the best estimate then
    double best;         // the best estimate of the turn
    double price;        // work of all of ppa; NAN until somebody asks
} run;

static double price_of_ppa(run *a)
{
    const ss_problem *p = a->task->problem;
    if (isnan(a->price)) {
        const double factor = VISITS_OF_WORK * ss_implicit_guess(p) / p->ncontacts;
        a->price = PPA_STEPS * (PPA_VISITS + factor);
    }
    return a->price;
}

// Whether the fall of the estimate since the last look promises an end within what the member may
// take: its budget, or, of the first, the price of the second.
static bool promises(run *a, double work)
{
    const double left =
        a->best < a->checked_best / FALL
            ? ss_sweep_work_left(a->checked_best, a->best, a->tolerance, work - a->checked)
            : INFINITY;
    if (a->member != &MEMBERS[0]) {
        return left <= ldexp(a->member->promised, a->round);
    }
    const double price = price_of_ppa(a);
    return left <= ldexp(price, a->round) || work <= PPA_FIRST * price;
}

static void watch_rate(run *a, const ss_progress *p)
{
    if (a->member->patience == 0.0 || p->iteration % TOLD != 0) {
        return;
    }
    a->best = p->estimate < a->best ? p->estimate : a->best;
    const double n = a->task->problem->ncontacts;
    const double work = ss_sweep_work((double)p->visits, n, p->iteration) / n;
    const double next = a->checked == 0.0 ? a->member->patience : LATER * a->checked;
    if (work < next) {
        return;
    }
    if (a->checked > 0.0 && a->best > a->tolerance && !promises(a, work)) {
        a->stop = 1;
    }
    a->checked = work;
    a->checked_best = a->best;
}

static bool is_recalled(const run *a)
{
    return a->task->recalled != NULL && *a->task->recalled;
}

static void listen(void *of, const ss_progress *p)
{
    run *a = of;
    watch_rate(a, p);
    a->stop |= is_recalled(a);
    const bool often = a->task->listen != NULL || a->member->patience == 0.0;
    a->next_told = often ? 0 : (p->iteration / TOLD + 1) * TOLD;
    if (p->iteration == 0 && a->total->iterations > 0) {
        return; // the end of the turn before
    }
    ss_progress all = *p;
    all.iteration += a->total->iterations;
    all.local_solves += a->total->local_solves;
    all.note = p->note != NULL ? p->note : a->member->why;
    ss_limits_tell(&a->limits, all);
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
    total->own_error = isnan(turn->own_error) ? total->own_error : turn->own_error;
}

// At most budget iterations of the member from r.
static ss_outcome take_turn(run *a, const member *m, const ss_method *method, double budget,
                            double *r, ss_status *status, ss_error *e)
{
    const ss_task *t = a->task;
    a->member = m;
    a->stop = is_recalled(a);
    a->next_told = 0;
    a->checked = 0;
    a->best = INFINITY;
    const int left = t->max_iterations - a->total->iterations;
    ss_task turn = *t;
    turn.method = method;
    turn.tolerance = a->tolerance;
    turn.max_iterations = budget < left ? (int)budget : left;
    turn.recalled = &a->stop;
    turn.listen = listen;
    turn.listener = a;
    turn.listen_from = &a->next_told;
    if (t->time_limit > 0.0) {
        turn.time_limit = fmax(t->time_limit - ss_limits_elapsed(&a->limits), 1e-9);
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

// All measures of r, from the problem's own data.
static ss_status judge(const run *a, const double *r, ss_measures *m, ss_error *e)
{
    ss_response *response;
    const ss_status status = ss_response_new(a->task->problem, &response, e);
    if (status == SS_OK) {
        *m = ss_response_judge(response, r, a->u);
        ss_response_free(response);
    }
    return status;
}

// Near the rounding floor fb may pass with the velocities of the member and fail with those of the
// judge. Where the first turn ends, a judgement would cost too much.
static bool holds(run *a, const double *r)
{
    ss_measures m;
    ss_error ignored;
    if (a->member == &MEMBERS[0] || judge(a, r, &m, &ignored) != SS_OK ||
        ss_measures_pass(&m, a->task->tolerance)) {
        return true;
    }
    a->tolerance *= 0.5;
    return false;
}

// Converged, a limit of the task, or unsolved: on to the next. A member has all the time that is
// left.
static ss_outcome go_on(run *a, ss_outcome outcome, const double *r)
{
    if (outcome == SS_TIME_LIMIT || (outcome == SS_CONVERGED && holds(a, r))) {
        return outcome;
    }
    return ss_limits_test(&a->limits, a->total->iterations);
}

static ss_outcome play_round(run *a, double *r, bool *any, ss_status *failed, ss_error *e)
{
    ss_outcome outcome = SS_UNSOLVED;
    for (int k = 0; k < COUNT && outcome == SS_UNSOLVED; k++) {
        if (takes(a, k)) {
            ss_status status;
            const double budget = ldexp(MEMBERS[k].budget, a->round);
            outcome = take_turn(a, &MEMBERS[k], a->methods[k], budget, r, &status, e);
            *failed = status != SS_OK ? status : *failed;
            *any |= outcome != SS_NOT_COVERED;
            outcome = go_on(a, outcome, r);
        }
    }
    return outcome;
}

// ---- Other starts

// 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 ..., k from 1.
static int luby(int k)
{
    int size = 1;
    while (2 * size - 1 < k) {
        size *= 2;
    }
    return k == 2 * size - 1 ? size : luby(k - size + 1);
}

// The k-th start, from the best answer in r. One in four knows nothing of it.
static void start_elsewhere(ss_random *g, int k, size_t size, double *r)
{
    if (k % 4 == 0) {
        memset(r, 0, size * sizeof *r);
        return;
    }
    const double a = ss_random_below(g, 2) == 0 ? SHAKE_FAR : SHAKE_NEAR;
    for (size_t c = 0; c < size; c++) {
        r[c] *= ss_portable_exp(a * ss_random_normal(g));
    }
}

// r is the best answer before and after.
static ss_outcome play_shakes(run *a, double *r, ss_error *e)
{
    const ss_problem *p = a->task->problem;
    const size_t size = (size_t)p->dim * (size_t)p->ncontacts;
    const int starts = (int)fmin(fmax(STARTS_WORK / p->ncontacts, STARTS_LEAST), STARTS_MOST);
    ss_random g = ss_random_seeded((uint64_t)a->round);
    ss_outcome outcome = SS_UNSOLVED;
    for (int k = 1; k <= starts << a->round && outcome == SS_UNSOLVED; k++) {
        const double best = a->total->own_error;
        const int m = ss_random_below(&g, SHAKES_COUNT);
        memcpy(a->kept, r, size * sizeof *r);
        start_elsewhere(&g, k, size, r);
        ss_status status;
        outcome = take_turn(a, &SHAKES[m], a->shakes[m], SHAKES[m].budget * luby(k), r, &status, e);
        const bool covered = outcome != SS_NOT_COVERED;
        if (!covered || !(a->total->own_error < best)) {
            memcpy(r, a->kept, size * sizeof *r);
            a->total->own_error = best;
        }
        if (!covered) {
            return SS_UNSOLVED;
        }
        outcome = go_on(a, outcome, r);
    }
    return outcome;
}

// Whether nothing but rounding is left of the residual: no start leads farther.
static ss_status find_floor(const run *a, const double *r, bool *at_floor, ss_error *e)
{
    const ss_problem *p = a->task->problem;
    ss_measures m;
    const ss_status status = judge(a, r, &m, e);
    double largest = 0.0;
    for (int k = 0; k < p->dim * p->ncontacts; k++) {
        largest = fmax(largest, fabs(r[k]));
    }
    *at_floor = status == SS_OK && m.fb * m.velocity_scale <=
                                       FLOOR_FACTOR * DBL_EPSILON * m.compliance_scale * largest;
    return status;
}

// Looked for once, before the search grows long.
static bool is_refuted(const run *a)
{
    ss_certificate found = {.margin = -1.0};
    ss_error ignored;
    const bool refuted = a->round == 0 &&
                         ss_certificate_find(a->task->problem, false, &found, &ignored) == SS_OK &&
                         found.verdict == SS_EXISTENCE_REFUTED;
    ss_certificate_free(&found);
    return refuted;
}

// ---- The solver

// Unsolved: on to the next round.
static ss_status search(run *a, double *r, double before, ss_outcome *outcome, ss_error *e)
{
    bool at_floor = false;
    const ss_status status = find_floor(a, r, &at_floor, e);
    if (status == SS_OK && at_floor) {
        *outcome = a->total->own_error < before ? SS_UNSOLVED : SS_STALLED;
    } else if (status == SS_OK) {
        *outcome = is_refuted(a) ? SS_NO_SOLUTION : play_shakes(a, r, e);
    }
    return status;
}

static ss_status iterate(run *a, double *r, ss_result *result, ss_error *e)
{
    for (a->round = 0; a->round < ROUNDS; a->round++) {
        const double before = a->round > 0 ? result->own_error : INFINITY;
        ss_status status = SS_OK;
        bool any = false;
        result->outcome = play_round(a, r, &any, &status, e);
        if (!any) { // nobody could as much as begin
            return status;
        }
        if (result->outcome == SS_UNSOLVED) {
            status = search(a, r, before, &result->outcome, e);
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

static ss_status prepare(run *a, ss_error *e)
{
    const ss_problem *p = a->task->problem;
    const size_t size = (size_t)p->dim * (size_t)p->ncontacts;
    a->kept = malloc(size * sizeof *a->kept);
    a->u = malloc(size * sizeof *a->u);
    ss_status status = a->kept != NULL && a->u != NULL ? SS_OK : ss_fail_memory(e, "the portfolio");
    for (int k = 0; k < COUNT && status == SS_OK; k++) {
        status = ss_method_parse(MEMBERS[k].spec, &a->methods[k], e);
    }
    for (int k = 0; k < SHAKES_COUNT && status == SS_OK; k++) {
        status = ss_method_parse(SHAKES[k].spec, &a->shakes[k], e);
    }
    return status;
}

static void release(run *a)
{
    for (int k = 0; k < COUNT; k++) {
        ss_method_free(a->methods[k]);
    }
    for (int k = 0; k < SHAKES_COUNT; k++) {
        ss_method_free(a->shakes[k]);
    }
    free(a->kept);
    free(a->u);
}

static ss_status solve(const ss_task *task, double *r, ss_result *result, ss_error *e)
{
    run a = {.task = task,
             .limits = ss_limits_start(task),
             .total = result,
             .tolerance = task->tolerance,
             .price = NAN};
    ss_status status = prepare(&a, e);
    if (status == SS_OK) {
        result->setup_seconds = 0.0;
        status = iterate(&a, r, result, e);
        const double setup = result->setup_seconds;
        ss_limits_stop(&a.limits, result);
        result->setup_seconds = setup;
        result->sweep_seconds = result->seconds - setup;
    }
    release(&a);
    return status;
}

// Members that sweep do.
static bool takes_threads(const ss_method *m)
{
    (void)m;
    return true;
}

const ss_global_solver ss_auto = {
    .card = {.name = "auto", .law = SS_EXACT, .reference = "D11"},
    .takes_threads = takes_threads,
    .solve = solve,
};
