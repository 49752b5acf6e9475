// solvers/global/auto.c -- auto: a portfolio. Members take turns at the same problem, each from the
// best answer so far:
//
//     gs/secular        with focus=on, while it promises an end for no more than the price of ppa
//     anderson/secular  if sweeps are slow, steady and keep most contacts busy; then sweeps again
//     admm              if sweeps carry impulses too slowly, as in towers
//     ipm               for a few steps, if the answer is far; then sweeps again after admm
//     ppa, ipm          in dense hair (ss_ipm_leads); if the start is zero, before the first sweeps
//     ppa               elsewhere: hyperstatic problems, and slow paths
//     ipm               if proximal steps get stuck, unless it has had many steps in dense hair
//     anderson/secular  if interior points get stuck, too
//     apgd              if no mu is above 1
//     gs/mfb+enum       the paper's sweep, which may go slowly where the others do not go at all
//
// Then ppa has turns from many starts, and all members have turns again with twice the budgets:
// what one member solves is solved. Easy problems end in the first turn. Budgets are counts, not
// seconds: the same problem takes the same turns on every machine. The work of sweeps is counted in
// visits, in units of n: resting contacts cost next to nothing, and a thousand sweeps over a few
// stubborn contacts are cheap. A member that refuses the problem, or has not enough memory for it,
// passes its turn on. The trace says who has the turn and why.
#include "solvers/global/auto.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/random.h"
#include "problems/certificate.h"
#include "problems/matrix/mass.h"
#include "problems/response.h"
#include "solvers/global/drive.h"
#include "solvers/global/global.h"
#include "solvers/global/ipm.h"
#include "solvers/linear/implicit.h"
#include "solvers/registry.h"
#include "solvers/small.h"
#include "solvers/sweep/sweep.h"

// ---- The members

// When a member has a turn.
typedef enum auto_case {
    ANYWHERE,
    FALLS_STEADILY, // the first sweeps are slow, but mixing may help them
    CARRIES_SLOWLY, // the first sweeps carry impulses too slowly
} auto_case;

// A member and its turn. Work is in visits of all contacts.
typedef struct auto_member {
    const char *spec;
    int budget;      // iterations in the first round
    double patience; // work before its rate is first looked at; 0: it never is
    double promised; // its turn goes on while its rate promises no more work; 0: the price of ppa
    double friction; // the largest mu with which it has a turn; 0: any
    auto_case where;
    const char *why; // it has the turn, for the trace
} auto_member;

// The members in the order of their turns.
enum {
    PLAIN,
    MIXED,
    AFTER_MIXED,
    ADMM,
    INSIDE,
    AFTER_ADMM,
    NEAR,
    DENSE,
    AFTER_DENSE,
    PPA,
    IPM,
    ANDERSON,
    APGD,
    PAPER,
    NMEMBERS
};

#define SWEEPS .spec = "gs/secular:focus=on", .budget = 100000, .patience = 50.0

static const auto_member MEMBERS[NMEMBERS] = {
    [PLAIN] = {SWEEPS, .why = "plain sweeps"},
    [MIXED] = {.spec = "anderson/secular",
               .budget = 4000,
               .patience = 20.0,
               .where = FALLS_STEADILY,
               .why = "sweeps are slow but steady: mixed sweeps"},
    [AFTER_MIXED] = {SWEEPS, .where = FALLS_STEADILY, .why = "mixing was no gain: plain sweeps"},
    [ADMM] = {.spec = "admm:rho=1000",
              .budget = 2000,
              .patience = 30.0,
              .where = CARRIES_SLOWLY,
              .why = "sweeps carry impulses too slowly: alternating directions"},
    [INSIDE] = {.spec = "ipm", .budget = 40, .why = "sweeps were too slow: interior points"},
    [AFTER_ADMM] = {SWEEPS, .where = CARRIES_SLOWLY,
                    .why = "alternating directions got stuck: plain sweeps"},
    [NEAR] = {.spec = "ppa:start=interior",
              .budget = 130,
              .friction = 0.5,
              .why = "dense hair: proximal steps by interior points"},
    [DENSE] = {.spec = "ipm", .budget = 900, .why = "dense hair: interior points"},
    [AFTER_DENSE] = {SWEEPS, .why = "interior points got stuck: plain sweeps"},
    [PPA] = {.spec = "ppa:start=sweeps,sweeps=0",
             .budget = 1000,
             .why = "sweeps were too slow: proximal Newton"},
    [IPM] = {.spec = "ipm", .budget = 400, .why = "proximal Newton got stuck: interior points"},
    [ANDERSON] = {.spec = "anderson/secular",
                  .budget = 4000,
                  .patience = 600.0,
                  .promised = 6000.0,
                  .why = "interior points got stuck: mixed sweeps"},
    [APGD] = {.spec = "apgd",
              .budget = 2000,
              .friction = 1.0,
              .why = "mixed sweeps got stuck: projected gradient"},
    [PAPER] = {.spec = "gs/mfb+enum",
               .budget = 1000,
               .why = "projected gradient got stuck: plain sweeps"},
};

// A member of this list, chosen at random, has the turn from other starts.
#define NSHAKES 3
#define SHAKEN  "no member solved it: proximal Newton from other starts"
static const auto_member SHAKES[NSHAKES] = {
    {.spec = "ppa:start=sweeps,sweeps=0", .budget = 150, .why = SHAKEN},
    {.spec = "ppa:start=sweeps,sweeps=10,rho=1000", .budget = 150, .why = SHAKEN},
    {.spec = "ppa:start=sweeps,rho=0.1", .budget = 150, .why = SHAKEN},
};

// ---- What members cost
//
// Prices are in visits of all contacts by a sweep, from the size of the problem alone. A
// factorisation is F multiplications, as ss_implicit_guess has them, and its factor F^(2/3)
// numbers: of N bodies in space F grows as N^2 and the numbers as N^(4/3), and where all are
// coupled as N^3 and N^2. The constants are measured: ppa on hair of 300 to 10 000 contacts, admm
// with a weight of 1000 on towers of 88 to 952.

#define VISITS_OF_WORK                                                                             \
    8e-4 // for each multiplication of a factorisation in floats; half of one in doubles
#define VISITS_OF_NUMBER 5e-3 // for each number of a factor, in a solution

// Steps, and visits in a step without its factorisation or, of admm, without the solution.
#define PPA_STEPS   30.0
#define PPA_VISITS  15.0
#define ADMM_STEPS  20.0
#define ADMM_VISITS 1.5
#define ADMM_SETUP  20.0 // visits of the set-up without its factorisation
#define IPM_STEPS   20.0
#define IPM_VISITS  5.0
#define IPM_SHARE   0.4 // of a factorisation in a step: about half of them are in floats

// True if all bodies may be rigid: a problem in local form does not tell.
static bool may_be_rigid(const ss_problem *p)
{
    ss_bodies bodies;
    ss_error ignored;
    if (p->form != SS_GLOBAL || ss_bodies_find(p, &bodies, &ignored) != SS_OK) {
        return true;
    }
    const bool rigid = ss_bodies_are_rigid(p, bodies.nbodies);
    ss_bodies_free(&bodies);
    return rigid;
}

ss_prices ss_prices_of(const ss_problem *p)
{
    const double n = p->ncontacts, work = ss_implicit_guess(p);
    const double factor = VISITS_OF_WORK * work / n;
    const double step = ADMM_VISITS + VISITS_OF_NUMBER * pow(work, 2.0 / 3.0) / n;
    return (ss_prices){.ppa = PPA_STEPS * (PPA_VISITS + factor),
                       .ipm = IPM_STEPS * (IPM_VISITS + IPM_SHARE * factor),
                       .admm = may_be_rigid(p) ? ADMM_SETUP + 2.0 * factor + ADMM_STEPS * step
                                               : INFINITY,
                       .admm_step = step};
}

// ---- When a turn should end
//
// Every ten iterations the estimate of the residual is looked at. Since the last look it fell from
// e0 to e1 in work w. If it goes on like this, the tolerance is reached after further work
//
//     left = w log(e1 / tolerance) / log(e0 / e1)
//
// (ss_sweep_work_left). The turn ends if that is more than the member may take: a number of its
// own, or the price of ppa.

#define LOOK_EVERY 10 // iterations from one look to the next: a member copies its answer for it

typedef struct auto_rate {
    const ss_problem *problem;
    ss_mass **factor;      // as ss_task.factor
    double task_tolerance; // the tolerance of a turn may be tighter
    // The present turn.
    const auto_member *member;
    int round;
    double tolerance;
    double checked;      // work at the last look at the rate; 0: none yet
    double checked_best; // the best estimate then
    double best;         // the best estimate of the turn
    double told;         // work LOOK_EVERY iterations ago
    // Findings of all turns.
    double seen;             // work of the LOOK_EVERY sweeps before MIX_SEEN
    double steady_left;      // work that plain sweeps promised as mixing began; 0: it did not
    bool slow;               // sweeps carry impulses too slowly
    ss_prices prices;        // 0 until they are needed
    bool is_asked, is_dense; // ss_ipm_leads was asked, and its answer
} auto_rate;

#define LATER 1.5  // factor of the work after which the rate is looked at again
#define FALL  1.05 // an estimate that fell by a smaller factor has no rate

// Sweeps go on while they promise an end for no more than the price of ppa, doubled in each round.
// They are not ended before they have done NEXT_FIRST of that price: a block step may still solve
// the problem.
#define NEXT_FIRST 0.1

// In dense hair the rate is first looked at after DENSE_PATIENCE visits of all contacts. Early
// rates are too good there: sweeps go on only if they promise an end within DENSE_TRUST of the
// price of ipm.
#define DENSE_PATIENCE 10.0
#define DENSE_TRUST    0.3

// In a tower, sticking contacts carry a load through many bodies. A sweep takes it from one body to
// the next; a linear solve has it everywhere at once. So the estimate of a tower is still more than
// FAR of the velocities after SLOW_SWEEPS. That of hair is a hundredth of them, except in steps of
// violent motion, where admm does not help. admm then has a turn, from the first start, if bodies
// are rigid and the sweeps promise more work than its price. Its weight is large: on towers of 88
// to 952 contacts, 10 takes 20 to 210 steps, 100 takes 10 to 70 and 1000 takes 5 to 30.
#define SLOW_SWEEPS 20
#define FAR         0.1

// Mixing needs about the square root of the number of plain sweeps, but it has a set-up and visits
// all contacts. It has a turn if plain sweeps, MIX_SWEEPS of them or more, would still take
// MIX_LEFT visits of all contacts, and if the last ten of them visited nearly as many contacts as
// sweeps 21 to MIX_SEEN. Sweeps that visit fewer and fewer contacts are about to end in a few
// stubborn ones.
#define MIX_SWEEPS 80
#define MIX_SEEN   30
#define MIX_VISITS 0.9 // least share of the visits before MIX_SEEN
#define MIX_BUSY   0.5 // least share of all contacts
#define MIX_LEFT   120.0
#define MIX_GAIN   0.5 // share of the work that plain sweeps promised, which mixed ones may take

static const ss_prices *prices_of(auto_rate *rate)
{
    if (rate->prices.ppa == 0.0) {
        rate->prices = ss_prices_of(rate->problem);
    }
    return &rate->prices;
}

// True if interior points come before sweeps in this problem. The answer is found once.
static bool leads_inside(auto_rate *rate)
{
    if (!rate->is_asked) {
        rate->is_asked = true;
        rate->is_dense = ss_ipm_leads(rate->problem, rate->factor);
    }
    return rate->is_dense;
}

// True if member k has the turn.
static bool is_turn_of(const auto_rate *rate, int k)
{
    return rate->member == &MEMBERS[k];
}

static bool are_first_sweeps(const auto_rate *rate)
{
    return is_turn_of(rate, PLAIN) && rate->round == 0;
}

// True if interior points wait for the first sweeps to end.
static bool is_hurried(auto_rate *rate)
{
    return are_first_sweeps(rate) && rate->task_tolerance < SS_IPM_TIGHT && leads_inside(rate);
}

// True if the fall of the estimate since the last look promises an end within what the member may
// take.
static bool promises(auto_rate *rate, double work)
{
    const double left = rate->best < rate->checked_best / FALL
                            ? ss_sweep_work_left(rate->checked_best, rate->best, rate->tolerance,
                                                 work - rate->checked)
                            : INFINITY;
    if (is_turn_of(rate, MIXED)) {
        return left <= MIX_GAIN * rate->steady_left;
    }
    if (rate->member->promised > 0.0) {
        return left <= ldexp(rate->member->promised, rate->round);
    }
    const ss_prices *prices = prices_of(rate);
    if (is_hurried(rate)) {
        return work < NEXT_FIRST * prices->ipm || left <= DENSE_TRUST * prices->ipm;
    }
    const bool early = !is_turn_of(rate, ADMM) && work < NEXT_FIRST * prices->ppa;
    return early || left <= ldexp(prices->ppa, rate->round);
}

// Returns the work of the turn so far.
static double find_work(auto_rate *rate, const ss_progress *p)
{
    const double n = rate->problem->ncontacts;
    return is_turn_of(rate, ADMM) ? p->iteration * prices_of(rate)->admm_step
                                  : ss_sweep_work((double)p->visits, n, p->iteration) / n;
}

// True if the first sweeps carry impulses too slowly. rate->best is the estimate LOOK_EVERY sweeps
// ago.
static bool carries_slowly(auto_rate *rate, const ss_progress *p)
{
    return are_first_sweeps(rate) && p->iteration == SLOW_SWEEPS && p->estimate > FAR &&
           ss_sweep_work_left(rate->best, p->estimate, rate->tolerance, LOOK_EVERY) >
               prices_of(rate)->admm;
}

// True if the first sweeps are slow but steady; `before` was the best estimate LOOK_EVERY sweeps
// ago.
static bool falls_steadily(auto_rate *rate, const ss_progress *p, double before, double work)
{
    const double visits = work - rate->told;
    if (!are_first_sweeps(rate)) {
        return false;
    }
    if (p->iteration == MIX_SEEN) {
        rate->seen = visits;
    }
    if (p->iteration < MIX_SWEEPS ||
        visits < fmax(MIX_VISITS * rate->seen, MIX_BUSY * LOOK_EVERY) ||
        !(rate->best < before / FALL)) {
        return false;
    }
    const double left = ss_sweep_work_left(before, rate->best, rate->tolerance, visits);
    if (left < MIX_LEFT || left > prices_of(rate)->ppa) {
        return false;
    }
    rate->steady_left = left;
    return true;
}

// Returns the work at which the rate is looked at next. One of the looks is where sweeps may first
// be ended.
static double next_look(auto_rate *rate)
{
    if (rate->checked == 0.0) {
        return is_hurried(rate) ? DENSE_PATIENCE : rate->member->patience;
    }
    const double first = NEXT_FIRST * prices_of(rate)->ppa;
    const double later = LATER * rate->checked;
    return rate->member->promised == 0.0 && rate->checked < first ? fmin(later, first) : later;
}

static void rate_begin(auto_rate *rate, const auto_member *member, int round, double tolerance)
{
    rate->member = member;
    rate->round = round;
    rate->tolerance = tolerance;
    rate->checked = rate->told = 0.0;
    rate->best = INFINITY;
}

// Looks at an iteration of the turn. True if the turn should end.
static bool rate_ends_turn(auto_rate *rate, const ss_progress *p)
{
    if (rate->member->patience == 0.0 || p->iteration % LOOK_EVERY != 0) {
        return false;
    }
    if (carries_slowly(rate, p)) {
        rate->slow = true;
        return true;
    }
    const double before = rate->best, work = find_work(rate, p);
    rate->best = p->estimate < rate->best ? p->estimate : rate->best;
    if (falls_steadily(rate, p, before, work)) {
        return true;
    }
    rate->told = work;
    if (work < next_look(rate)) {
        return false;
    }
    const bool ends = rate->checked > 0.0 && rate->best > rate->tolerance && !promises(rate, work);
    rate->checked = work;
    rate->checked_best = rate->best;
    return ends;
}

// ---- Other starts
//
// If friction is high or heavy rests on light, the steps of ppa wander until they happen on the
// answer. A start near it is a matter of luck: nothing, or the impulses of the best answer times
// exp(a z), z normal; weights rho of three sizes; and lengths 1 1 2 1 1 2 4 ... (Luby, Sinclair and
// Zuckerman 1993), which lose no more than a logarithm to the best length.

#define SHAKE_FAR  2.0 // a in half of the starts
#define SHAKE_NEAR 0.3

int ss_luby(int k)
{
    ss_assert(k >= 1);
    int size = 1;
    while (2 * size - 1 < k) {
        size *= 2;
    }
    return k == 2 * size - 1 ? size : ss_luby(k - size + 1);
}

void ss_start_elsewhere(ss_random *g, int k, size_t size, double *r)
{
    ss_assert(k >= 1);
    if (k % 4 == 0) {
        memset(r, 0, size * sizeof *r);
        return;
    }
    const double a = ss_random_below(g, 2) == 0 ? SHAKE_FAR : SHAKE_NEAR;
    for (size_t c = 0; c < size; c++) {
        r[c] *= ss_portable_exp(a * ss_random_normal(g));
    }
}

// ---- The run

typedef struct auto_run {
    const ss_task *task;
    ss_mass **factor, *own_factor; // factor of M for all members: the task's, or our own
    ss_limits limits;
    ss_method *methods[NMEMBERS], *shakes[NSHAKES]; // NULL before their first turn
    double *start;                                  // [dim n] of the task
    double *kept;     // [dim n] the best answer while others start elsewhere
    double *u;        // [dim n] scratch
    double tolerance; // of the present turn
    ss_result *total;
    int round;
    bool is_cold; // the start is zero
    // The present turn.
    auto_rate rate;
    volatile sig_atomic_t stop;
    int next_told; // iteration
} auto_run;

// Judges r by the problem's own data.
static ss_status judge_answer(auto_run *run, const double *r, ss_measures *m, ss_error *e)
{
    ss_response *response;
    const ss_status status = ss_response_with(run->task->problem, run->factor, NULL, &response, e);
    if (status == SS_OK) {
        *m = ss_response_judge(response, r, run->u);
        ss_response_free(response);
    }
    return status;
}

// Finds whether nothing but rounding is left of the residual of r: no start leads farther.
static ss_status find_floor(auto_run *run, const double *r, bool *at_floor, ss_error *e)
{
    ss_coupling *c = NULL;
    ss_measures m;
    ss_status status = judge_answer(run, r, &m, e);
    if (status == SS_OK) {
        status = ss_coupling_with(run->task->problem, run->factor, NULL, SS_FORM_AUTO, false, NULL,
                                  &c, e);
    }
    if (status == SS_OK) {
        ss_coupling_put(c, r);
        *at_floor = ss_drive_at_floor(c, ss_measures_error(&m));
    }
    ss_coupling_free(c);
    return status;
}

// True if a certificate says that nothing passes at the tolerance.
static bool is_refuted(const ss_task *task)
{
    ss_certificate found = {.margin = -1.0};
    ss_error ignored;
    const bool refuted =
        ss_certificate_find(task->problem, task->tolerance, false, &found, &ignored) == SS_OK &&
        found.verdict == SS_EXISTENCE_REFUTED;
    ss_certificate_free(&found);
    return refuted;
}

// ---- Turns

static bool is_recalled(const auto_run *run)
{
    return run->task->recalled != NULL && *run->task->recalled;
}

static void auto_listen(void *of, const ss_progress *p)
{
    auto_run *run = of;
    run->stop |= rate_ends_turn(&run->rate, p) || is_recalled(run);
    const bool often = run->task->listen != NULL || run->rate.member->patience == 0.0;
    run->next_told = often ? 0 : (p->iteration / LOOK_EVERY + 1) * LOOK_EVERY;
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

// Has at most `budget` iterations of the member from r.
static ss_outcome take_turn(auto_run *run, const auto_member *m, ss_method **method, double budget,
                            double *r, ss_status *status, ss_error *e)
{
    const ss_task *t = run->task;
    *status = *method == NULL ? ss_method_parse(m->spec, method, e) : SS_OK;
    if (*status != SS_OK) {
        return SS_NOT_COVERED;
    }
    rate_begin(&run->rate, m, run->round, run->tolerance);
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

// Takes a turn from r while run->kept is the best answer so far. r is the best one afterwards.
static ss_outcome turn_elsewhere(auto_run *run, const auto_member *m, ss_method **method,
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

// True if interior points come before all sweeps: from impulses, a few sweeps may do.
static bool begins_inside(auto_run *run)
{
    return run->is_cold && run->task->tolerance < SS_IPM_TIGHT && leads_inside(&run->rate);
}

// Below this estimate ppa needs few steps; ipm needs as many as from far.
#define INSIDE_FROM 4e-4

// True if interior points follow sweeps that were too slow: they make no use of impulses at the
// start. In dense hair they have turns of their own.
static bool goes_inside(auto_run *run)
{
    return run->round == 0 && run->is_cold && !(run->total->own_error < INSIDE_FROM) &&
           !leads_inside(&run->rate);
}

// True if member k takes its turn in this round.
static bool takes(auto_run *run, int k)
{
    const ss_problem *p = run->task->problem;
    if (k == PLAIN && run->round == 0 && begins_inside(run)) {
        return false;
    }
    if (k == INSIDE && !goes_inside(run)) {
        return false;
    }
    if (k == AFTER_DENSE && (run->round > 0 || !begins_inside(run))) {
        return false;
    }
    if ((k == NEAR || k == DENSE) &&
        (run->round > 0 || run->rate.slow || !leads_inside(&run->rate))) {
        return false;
    }
    if ((MEMBERS[k].where == CARRIES_SLOWLY && !run->rate.slow) ||
        (MEMBERS[k].where == FALLS_STEADILY && (run->rate.steady_left == 0.0 || run->round > 0))) {
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

// True if the judge agrees that the task is solved. Near the rounding floor an answer may pass with
// the velocities of the member and fail with those of the judge; the tolerance of further turns is
// halved then. Where the first turn ends, a judgement would cost too much.
static bool holds(auto_run *run, const double *r)
{
    ss_measures m;
    ss_error ignored;
    if (is_turn_of(&run->rate, PLAIN) || judge_answer(run, r, &m, &ignored) != SS_OK ||
        ss_measures_pass(&m, run->task->tolerance)) {
        return true;
    }
    run->tolerance *= 0.5;
    return false;
}

// Returns SS_UNSOLVED if the next member has its turn, otherwise how the task ended. A member has
// all the time that is left.
static ss_outcome go_on(auto_run *run, ss_outcome outcome, const double *r)
{
    if (outcome == SS_TIME_LIMIT || (outcome == SS_CONVERGED && holds(run, r))) {
        return outcome;
    }
    return ss_limits_test(&run->limits, run->total->iterations);
}

// True if the member begins from the start: an answer of sweeps does not help admm, and ipm has a
// start of its own.
static bool begins_anew(int k)
{
    return k == ADMM || k == INSIDE || k == DENSE || k == IPM;
}

// Has the turn of member k from the best answer so far, or from the start.
static ss_outcome play_member(auto_run *run, int k, double *r, ss_status *status, ss_error *e)
{
    const ss_problem *p = run->task->problem;
    const size_t bytes = (size_t)p->dim * (size_t)p->ncontacts * sizeof *r;
    const double budget = ldexp(MEMBERS[k].budget, run->round);
    if (!begins_anew(k)) {
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
    for (int k = 0; k < NMEMBERS && outcome == SS_UNSOLVED; k++) {
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

// ---- Rounds

#define ROUNDS       4    // without a gain the next ones only repeat what has failed
#define STARTS_WORK  8000 // starts of the first round times n
#define STARTS_LEAST 8
#define STARTS_MOST  300

// Has turns of ppa from other starts. r is the best answer before and after.
static ss_outcome play_shakes(auto_run *run, double *r, ss_error *e)
{
    const ss_problem *p = run->task->problem;
    const size_t size = (size_t)p->dim * (size_t)p->ncontacts;
    const int starts = (int)fmin(fmax(STARTS_WORK / p->ncontacts, STARTS_LEAST), STARTS_MOST);
    ss_random g = ss_random_seeded((uint64_t)run->round);
    ss_outcome outcome = SS_UNSOLVED;
    for (int k = 1; k <= starts << run->round && outcome == SS_UNSOLVED; k++) {
        const int m = ss_random_below(&g, NSHAKES);
        memcpy(run->kept, r, size * sizeof *r);
        ss_start_elsewhere(&g, k, size, r);
        ss_status status;
        outcome = turn_elsewhere(run, &SHAKES[m], &run->shakes[m], SHAKES[m].budget * ss_luby(k), r,
                                 &status, e);
        if (outcome == SS_NOT_COVERED) {
            return SS_UNSOLVED;
        }
        outcome = go_on(run, outcome, r);
    }
    return outcome;
}

// Ends a round in which nobody has solved the problem. *outcome is SS_UNSOLVED if the next round
// begins. A refutation is looked for once, before the search grows long.
static ss_status auto_search(auto_run *run, double *r, double before, ss_outcome *outcome,
                             ss_error *e)
{
    bool at_floor = false;
    const ss_status status = find_floor(run, r, &at_floor, e);
    if (status == SS_OK && at_floor) {
        *outcome = run->total->own_error < before ? SS_UNSOLVED : SS_STALLED;
    } else if (status == SS_OK) {
        *outcome =
            run->round == 0 && is_refuted(run->task) ? SS_NO_SOLUTION : play_shakes(run, r, e);
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
    for (int k = 0; k < NMEMBERS; k++) {
        ss_method_free(run->methods[k]);
    }
    for (int k = 0; k < NSHAKES; k++) {
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
    run.rate = (auto_rate){
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
