// base/clock.h -- clocks of the system, in seconds; 0 for a clock that is gone, such as that of an
// ended process.
#pragma once

#include <time.h>

static inline double ss_clock_seconds(clockid_t clock)
{
    struct timespec t = {0};
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Returns the seconds since some fixed time in the past. Setting the date does not change it.
static inline double ss_clock_now(void)
{
    return ss_clock_seconds(CLOCK_MONOTONIC);
}

// Returns the CPU seconds of the process. Under RLIMIT_CPU Linux brings that clock up to date only
// at every tick of the scheduler, some milliseconds apart, or when the clock of the thread is asked
// first.
static inline double ss_clock_cpu_seconds(void)
{
    (void)ss_clock_seconds(CLOCK_THREAD_CPUTIME_ID);
    return ss_clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
}
