// harness/bench/limits.h -- how long a run may take: by its CPU time, not by the clock on the wall.
//
// A solver keeps its time limit by its own clock. One that does not is ended by the system, by
// SIGXCPU, after 2 limits + 2 s of CPU time (whole seconds, rounded up). Time in which it is given
// no processor, because the machine is busy or suspended, says nothing about it and does not count.
// One that sleeps has no such excuse: its parent ends it after 3 limits + 2 s of sleep.
#pragma once

#include <sys/types.h>

// ---- In the child.

// The CPU limit of this process: there is one.
typedef struct ss_cpu_limit {
    double deadline, then; // s of CLOCK_PROCESS_CPUTIME_ID: the limit; the pause
} ss_cpu_limit;

void ss_cpu_limit_arm(ss_cpu_limit *limit, double seconds); // the solver's limit
void ss_cpu_limit_pause(ss_cpu_limit *limit); // time until the resumption is not the solver's
void ss_cpu_limit_resume(ss_cpu_limit *limit);
void ss_cpu_limit_disarm(void);

// ---- In the parent.

// Whatever the child does, so many solves and what goes with them take no more CPU time.
void ss_limit_child(pid_t child, double seconds, int solves);

// How long a child has slept, with all processes of its group. It does not sleep where one of them
// computes, waits for a processor or a disk, or is stopped.
typedef struct ss_sleep {
    double seconds, looked;   // so far; at what time (CLOCK_MONOTONIC)
    unsigned long long ticks; // CPU time of the group then
} ss_sleep;

ss_sleep ss_sleep_begin(void);
// Asked at least every SS_SLEEP_LOOK seconds; a longer time in between counts as that, so that a
// parent that was stopped itself does not find its child guilty.
#define SS_SLEEP_LOOK 1.0
double ss_sleep_look(ss_sleep *sleep, pid_t child);
double ss_sleep_limit(double seconds); // the most, for a solver with this time limit
