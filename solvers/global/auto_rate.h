// solvers/global/auto_rate.h -- whether the member that has the turn should go on (internal).
//
// Every ten iterations the estimate of the residual is looked at. Since the last look it fell from e0 to e1 in work w.
// If it goes on like this, the tolerance is reached after further work
//
//     left = w log(e1 / tolerance) / log(e0 / e1)
//
// (ss_sweep_work_left). The turn ends if that is more than the member may take: a number of its own, or what ppa
// costs (auto_price.h).
#pragma once

#include "solvers/global/auto_members.h"
#include "solvers/global/auto_price.h"
#include "solvers/solver.h"

#define SS_RATE_EVERY 10 // iterations from one look to the next: a member copies its answer for it

typedef struct ss_rate {
    const ss_problem *problem;
    ss_mass **factor;      // as ss_task.factor
    double task_tolerance; // of the whole task; that of a turn may be tighter
    // The present turn.
    const ss_auto_member *member;
    int round;
    double tolerance;
    double checked;      // work at the last look at the rate; 0: none yet
    double checked_best; // the best estimate then
    double best;         // the best estimate of the turn
    double told;         // work SS_RATE_EVERY iterations ago
    // What was found in all turns.
    double seen;             // work of the SS_RATE_EVERY sweeps before MIX_SEEN
    double steady_left;      // work that plain sweeps promised as mixing began; 0: it did not
    bool slow;               // sweeps carry impulses too slowly
    ss_prices prices;        // 0 until they are needed
    bool is_asked, is_dense; // whether ss_rate_favours_interior has been asked, and its answer
} ss_rate;

// A turn of this member begins.
void ss_rate_begin(ss_rate *rate, const ss_auto_member *member, int round, double tolerance);

// Looks at an iteration of the turn. True if the turn should end.
bool ss_rate_ends_turn(ss_rate *rate, const ss_progress *p);

// Whether the member that has the turn is this one.
bool ss_rate_is_of(const ss_rate *rate, int member);

// Whether interior points come before sweeps (ss_prices_favour_interior).
bool ss_rate_favours_interior(ss_rate *rate);
