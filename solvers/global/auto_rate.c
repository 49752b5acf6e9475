// When the turn of a member should end (auto_rate.h).
#include "solvers/global/auto_rate.h"

#include <math.h>

#include "solvers/sweep/sweep.h"

#define LATER 1.5  // the rate is looked at again after so many times as much work
#define FALL  1.05 // an estimate that fell by a smaller factor has no rate

// Sweeps go on while they promise an end for no more than the price of ppa (auto_price.h), doubled in each round. They
// are not ended before they have done NEXT_FIRST of that price: a block step may still solve the problem.
#define NEXT_FIRST 0.1

// In dense hair the rate is first looked at after DENSE_PATIENCE visits of all contacts. Early rates are too good
// there: sweeps go on only if they promise an end within DENSE_TRUST of the price of ipm.
#define DENSE_PATIENCE 10.0
#define DENSE_TRUST    0.3

// In a tower, sticking contacts carry a load through many bodies. A sweep takes it from one body to the next; a linear
// solve has it everywhere at once. So the estimate of a tower is still more than FAR of the velocities after
// SLOW_SWEEPS. That of hair is a hundredth of them, except in steps of violent motion, where admm does not help. admm
// then has a turn, from the first start, if bodies are rigid and the sweeps promise more work than its price. Its weight
// is large: on towers of 88 to 952 contacts, 10 takes 20 to 210 steps, 100 takes 10 to 70 and 1000 takes 5 to 30.
#define SLOW_SWEEPS 20
#define FAR         0.1

// Mixing needs about the square root of the number of plain sweeps, but it has a set-up and visits all contacts. It has
// a turn if plain sweeps, MIX_SWEEPS of them or more, would still take MIX_LEFT visits of all contacts, and if the last
// ten of them visited nearly as many contacts as sweeps 21 to MIX_SEEN. Sweeps that visit fewer and fewer contacts are
// about to end in a few stubborn ones.
#define MIX_SWEEPS 80
#define MIX_SEEN   30
#define MIX_VISITS 0.9 // share of those visits,
#define MIX_BUSY   0.5 // and of all contacts
#define MIX_LEFT   120.0
#define MIX_GAIN   0.5 // share of what plain sweeps promised, which mixed ones may promise

static const ss_prices *prices_of(ss_rate *rate)
{
    if (rate->prices.ppa == 0.0) {
        rate->prices = ss_prices_of(rate->problem);
    }
    return &rate->prices;
}

// The problem is asked once.
bool ss_rate_favours_interior(ss_rate *rate)
{
    if (!rate->is_asked) {
        rate->is_asked = true;
        rate->is_dense = ss_prices_favour_interior(rate->problem, rate->factor);
    }
    return rate->is_dense;
}

bool ss_rate_is_of(const ss_rate *rate, int k)
{
    return rate->member == &ss_auto_members[k];
}

static bool are_first_sweeps(const ss_rate *rate)
{
    return ss_rate_is_of(rate, SS_AUTO_PLAIN) && rate->round == 0;
}

// Whether interior points wait for the first sweeps to end.
static bool is_hurried(ss_rate *rate)
{
    return are_first_sweeps(rate) && rate->task_tolerance < SS_PRICES_TIGHT &&
           ss_rate_favours_interior(rate);
}

// Whether the fall of the estimate since the last look promises an end within what the member may
// take.
static bool promises(ss_rate *rate, double work)
{
    const double left = rate->best < rate->checked_best / FALL
                            ? ss_sweep_work_left(rate->checked_best, rate->best, rate->tolerance,
                                                 work - rate->checked)
                            : INFINITY;
    if (ss_rate_is_of(rate, SS_AUTO_MIXED)) {
        return left <= MIX_GAIN * rate->steady_left;
    }
    if (rate->member->promised > 0.0) {
        return left <= ldexp(rate->member->promised, rate->round);
    }
    const ss_prices *prices = prices_of(rate);
    if (is_hurried(rate)) {
        return work < NEXT_FIRST * prices->ipm || left <= DENSE_TRUST * prices->ipm;
    }
    const bool early = !ss_rate_is_of(rate, SS_AUTO_ADMM) && work < NEXT_FIRST * prices->ppa;
    return early || left <= ldexp(prices->ppa, rate->round);
}

static double work_of(ss_rate *rate, const ss_progress *p)
{
    const double n = rate->problem->ncontacts;
    return ss_rate_is_of(rate, SS_AUTO_ADMM)
               ? p->iteration * prices_of(rate)->admm_step
               : ss_sweep_work((double)p->visits, n, p->iteration) / n;
}

// Whether the first sweeps carry impulses too slowly. rate->best is the estimate SS_RATE_EVERY sweeps ago.
static bool carries_slowly(ss_rate *rate, const ss_progress *p)
{
    return are_first_sweeps(rate) && p->iteration == SLOW_SWEEPS && p->estimate > FAR &&
           ss_sweep_work_left(rate->best, p->estimate, rate->tolerance, SS_RATE_EVERY) >
               prices_of(rate)->admm;
}

// Whether the first sweeps are slow but steady; `before` was the best estimate SS_RATE_EVERY sweeps ago.
static bool falls_steadily(ss_rate *rate, const ss_progress *p, double before, double work)
{
    const double visits = work - rate->told;
    if (!are_first_sweeps(rate)) {
        return false;
    }
    if (p->iteration == MIX_SEEN) {
        rate->seen = visits;
    }
    if (p->iteration < MIX_SWEEPS ||
        visits < fmax(MIX_VISITS * rate->seen, MIX_BUSY * SS_RATE_EVERY) ||
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

// The work at which the rate is looked at next. One of the looks is where sweeps may first be ended.
static double next_look(ss_rate *rate)
{
    if (rate->checked == 0.0) {
        return is_hurried(rate) ? DENSE_PATIENCE : rate->member->patience;
    }
    const double first = NEXT_FIRST * prices_of(rate)->ppa;
    const double later = LATER * rate->checked;
    return rate->member->promised == 0.0 && rate->checked < first ? fmin(later, first) : later;
}

void ss_rate_begin(ss_rate *rate, const ss_auto_member *member, int round, double tolerance)
{
    rate->member = member;
    rate->round = round;
    rate->tolerance = tolerance;
    rate->checked = rate->told = 0.0;
    rate->best = INFINITY;
}

bool ss_rate_ends_turn(ss_rate *rate, const ss_progress *p)
{
    if (rate->member->patience == 0.0 || p->iteration % SS_RATE_EVERY != 0) {
        return false;
    }
    if (carries_slowly(rate, p)) {
        rate->slow = true;
        return true;
    }
    const double before = rate->best, work = work_of(rate, p);
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
