#include "harness/guard.h"
#include "solvers/clock.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define WALL_FACTOR 3.0
#define CPU_FACTOR  2.0
#define ALLOWANCE   2.0 // s

// No limit is longer: struct itimerval counts in a long, rlim_t in 64 bits.
#define LONGEST 1e8 // s

static void limit_cpu(double seconds)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_CPU, &limit) == 0) {
        const rlim_t wanted = isfinite(seconds) ? (rlim_t)ceil(seconds) : limit.rlim_max;
        limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
        setrlimit(RLIMIT_CPU, &limit);
    }
}

void ss_guard_memory(void)
{
    unsigned long long used = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    if (statm == NULL || fscanf(statm, "%llu", &used) != 1) {
        used = 0;
    }
    if (statm != NULL) {
        fclose(statm);
    }
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const rlim_t limit = (used + (uint64_t)sysconf(_SC_PHYS_PAGES) / 2) * page;
    struct rlimit inherited;
    if (used > 0 && getrlimit(RLIMIT_AS, &inherited) == 0 && limit < inherited.rlim_max) {
        setrlimit(RLIMIT_AS, &(struct rlimit){limit, inherited.rlim_max});
    }
}

double ss_guard_wall(double limit)
{
    return fmin(WALL_FACTOR * limit + ALLOWANCE, LONGEST);
}

void ss_guard_arm(ss_guard *guard, double limit)
{
    const double wall = ss_guard_wall(limit);
    const struct itimerval alarm = {
        .it_value = {(time_t)wall, (suseconds_t)((wall - floor(wall)) * 1e6)}};
    guard->cpu_deadline =
        ss_clock_seconds(CLOCK_PROCESS_CPUTIME_ID) + fmin(CPU_FACTOR * limit + ALLOWANCE, LONGEST);
    limit_cpu(guard->cpu_deadline);
    setitimer(ITIMER_REAL, &alarm, NULL);
}

void ss_guard_pause(ss_guard *guard)
{
    guard->cpu_then = ss_clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
    limit_cpu(INFINITY);
    setitimer(ITIMER_REAL, &(struct itimerval){0}, &guard->left);
}

void ss_guard_resume(ss_guard *guard)
{
    guard->cpu_deadline += ss_clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - guard->cpu_then;
    limit_cpu(guard->cpu_deadline);
    setitimer(ITIMER_REAL, &guard->left, NULL);
}

void ss_guard_disarm(void)
{
    limit_cpu(INFINITY);
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
}
