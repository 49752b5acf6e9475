// solvers/limits.h -- the time, the limits and the listener of one global solve.
#pragma once

#include "base/stop.h"
#include "solvers/solver.h"

#include <math.h>

typedef struct ss_limits {
    const ss_task *task;
    double start;                         // s by the task's clock
    double wall, cpu;                     // s at the start
    double ready;                         // s by the wall's clock at the end of the set-up
    double listening_wall, listening_cpu; // s spent in the listener
    double rate;                          // most s that the task's clock can gain in one wall s
    double asked;                         // s by the wall's clock at the last ss_limits_next
    double took;                          // most s of the task's clock that passed before that
    double seen;                          // s that ss_limits_elapsed returned at or before a call
} ss_limits;

// Returns the result of a solve that has not begun.
static inline ss_result ss_result_unknown(void)
{
    return (ss_result){.own_error = NAN,
                       .seconds = NAN,
                       .cpu_seconds = NAN,
                       .setup_seconds = NAN,
                       .sweep_seconds = NAN};
}

ss_limits ss_limits_start(const ss_task *task);
void ss_limits_ready(ss_limits *w); // notes that the set-up is done

// Returns the seconds of the task's clock so far, without the listener.
double ss_limits_elapsed(const ss_limits *w);

// Returns the seconds of the task's clock that a second of work has taken so far: the machine may
// be busy.
double ss_limits_slowness(const ss_limits *w);

// Returns SS_UNSOLVED while the task may go on after so many iterations.
ss_outcome ss_limits_test(const ss_limits *w, int iterations);
// Does the same between two iterations that nothing ends half-way: the next is assumed to last as
// long as the shorter of the last two, and is not begun where it would end late.
ss_outcome ss_limits_next(ss_limits *w, int iterations);

// Returns a stop that asks for all limits except that of iterations. The limits are borrowed.
ss_stop ss_limits_stopper(const ss_limits *w);
// Fills the result of a solve whose set-up was stopped: r is the start.
void ss_limits_give_up(ss_limits *w, ss_result *result);

// Returns whether a listener wants to hear of this iteration. To find out what it hears costs
// something.
static inline bool ss_limits_listened(const ss_limits *w, int iteration)
{
    const ss_task *t = w->task;
    return t->listen != NULL && (t->listen_from == NULL || iteration >= *t->listen_from);
}

// Tells the listener, if there is one and it wants to hear of this iteration; its time is not the
// solver's. `progress.seconds` is filled in here.
void ss_limits_tell(ss_limits *w, ss_progress progress);

// Fills in setup_seconds, sweep_seconds, seconds and cpu_seconds of a solve that ends now.
void ss_limits_stop(const ss_limits *w, ss_result *result);
