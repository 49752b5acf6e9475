// When the turn of a member should end (auto_rate.h).
#include "solvers/global/auto_rate.h"

#include <math.h>

#include "solvers/sweep/sweep.h"

#define LATER 1.5  // the rate is looked at again at so many times as much work
#define FALL  1.05 // the estimate fell by less: no rate
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

static const ss_prices *prices_of(ss_rate *rate)
{
    if (rate->prices.ppa == 0.0) {
        rate->prices = ss_prices_of(rate->problem);
    }
    return &rate->prices;
}

// In dense hair of even tr W_ii.
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
    return ss_rate_is_of(rate, PLAIN) && rate->round == 0;
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
    if (ss_rate_is_of(rate, MIXED)) {
        return left <= MIX_GAIN * rate->steady_left;
    }
    if (rate->member->promised > 0.0) {
        return left <= ldexp(rate->member->promised, rate->round);
    }
    const ss_prices *prices = prices_of(rate);
    if (is_hurried(rate)) {
        return work < NEXT_FIRST * prices->ipm || left <= DENSE_TRUST * prices->ipm;
    }
    const bool early = !ss_rate_is_of(rate, ADMM) && work < NEXT_FIRST * prices->ppa;
    return early || left <= ldexp(prices->ppa, rate->round);
}

static double work_of(ss_rate *rate, const ss_progress *p)
{
    const double n = rate->problem->ncontacts;
    return ss_rate_is_of(rate, ADMM) ? p->iteration * prices_of(rate)->admm_step
                                     : ss_sweep_work((double)p->visits, n, p->iteration) / n;
}

// Of the first sweeps, whose estimate was rate->best SS_RATE_EVERY of them ago.
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

// The work at which the rate is looked at next; once where sweeps may first be ended.
static double next_look(ss_rate *rate)
{
    if (rate->checked == 0.0) {
        return is_hurried(rate) ? DENSE_PATIENCE : rate->member->patience;
    }
    const double first = NEXT_FIRST * prices_of(rate)->ppa;
    const double later = LATER * rate->checked;
    return rate->member->promised == 0.0 && rate->checked < first ? fmin(later, first) : later;
}

void ss_rate_begin(ss_rate *rate, const ss_member *member, int round, double tolerance)
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
