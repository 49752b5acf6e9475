// solvers/clock.h -- the time, in seconds, of CLOCK_MONOTONIC or CLOCK_PROCESS_CPUTIME_ID.
#pragma once

#include <time.h>

static inline double ss_clock_seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// CPU seconds of the process. Under RLIMIT_CPU Linux brings that clock up to date only at every
// tick of the scheduler, some milliseconds apart, or when the clock of the thread is asked first.
static inline double ss_clock_cpu_seconds(void)
{
    (void)ss_clock_seconds(CLOCK_THREAD_CPUTIME_ID);
    return ss_clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
}
