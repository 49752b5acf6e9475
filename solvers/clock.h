// solvers/clock.h -- the time, in seconds, of CLOCK_MONOTONIC or CLOCK_PROCESS_CPUTIME_ID.
#pragma once

#include <time.h>

static inline double ss_clock_seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
