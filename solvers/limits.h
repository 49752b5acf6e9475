// solvers/limits.h -- the time, the limits and the listener of one global solve.
#pragma once

#include <math.h>

#include "base/stop.h"
#include "solvers/solver.h"

typedef struct ss_limits {
    const ss_task *task;
    double start;                         // s, of the task's clock
    double wall, cpu;                     // s, at the start
    double ready;                         // s, wall, at the end of the set-up
    double listening_wall, listening_cpu; // s, spent in the listener
    double rate;                          // the most that the task's clock can run, in s a wall s
    double asked;                         // s, wall, when ss_limits_next was asked last
    double took;                          // s of the task's clock that passed before that, at most
    double seen;                          // s, what ss_limits_elapsed said at a call or before it
} ss_limits;

// Of a solve that has not begun.
static inline ss_result ss_result_unknown(void)
{
    return (ss_result){.own_error = NAN,
                       .seconds = NAN,
                       .cpu_seconds = NAN,
                       .setup_seconds = NAN,
                       .sweep_seconds = NAN};
}

ss_limits ss_limits_start(const ss_task *task);
void ss_limits_ready(ss_limits *w); // the set-up is done

// Of the task's clock, without the listener.
double ss_limits_elapsed(const ss_limits *w);

// Seconds of the task's clock that a second of work has taken so far: the machine may be busy.
double ss_limits_slowness(const ss_limits *w);

// SS_UNSOLVED while the task may go on after so many iterations.
ss_outcome ss_limits_test(const ss_limits *w, int iterations);
// The same between two iterations that nothing ends half-way: the next is taken to last as long as
// the shorter of the last two, and is not begun where it would end late.
ss_outcome ss_limits_next(ss_limits *w, int iterations);

// Asks for the limits but that of iterations. The limits are borrowed.
ss_stop ss_limits_stopper(const ss_limits *w);
// The result of a solve whose set-up was stopped: r is the start.
void ss_limits_give_up(ss_limits *w, ss_result *result);

// Somebody wants to hear of this iteration: what they hear costs something to find out.
static inline bool ss_limits_listened(const ss_limits *w, int iteration)
{
    const ss_task *t = w->task;
    return t->listen != NULL && (t->listen_from == NULL || iteration >= *t->listen_from);
}

// Tells the listener, if there is one and it wants to hear of this iteration; its time is not the
// solver's. `progress.seconds` is filled in here.
void ss_limits_tell(ss_limits *w, ss_progress progress);

// setup_seconds, sweep_seconds, seconds, cpu_seconds of a solve that ends now.
void ss_limits_stop(const ss_limits *w, ss_result *result);
