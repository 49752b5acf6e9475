// harness/guard.h -- limits that a process sets for itself before it runs a solver.
//
// A solver keeps its time limit by its own clock. One that does not is ended by the system: by
// SIGALRM after 3 limits + 2 s of wall time, by SIGXCPU after 2 limits + 2 s of CPU time (whole
// seconds, rounded up).
#pragma once

#include <sys/time.h>

// The alarm and the CPU limit of this process: there is one of each.
typedef struct ss_guard {
    struct itimerval left;         // of the alarm, at the pause
    double cpu_deadline, cpu_then; // s of CLOCK_PROCESS_CPUTIME_ID: the limit; the pause
} ss_guard;

// The address space may grow by half of the machine's memory, no more: memory that is asked for
// without end is refused before it brings the machine down.
void ss_guard_memory(void);

double ss_guard_wall(double limit); // s until SIGALRM

void ss_guard_arm(ss_guard *guard, double limit); // s; again for the next run
void ss_guard_pause(ss_guard *guard);             // time until the resumption is not the solver's
void ss_guard_resume(ss_guard *guard);
void ss_guard_disarm(void);
