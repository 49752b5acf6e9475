#include "solvers/patience.h"

#include <math.h>

#include "base/clock.h"

#define CPU_FACTOR   2.0
#define SLEEP_FACTOR 3.0
#define ALLOWANCE    2.0 // s

// What is looked at as one, in s, and the share of a processor that is used in it by one that sleeps.
#define LOOK        0.25
#define SLEEP_SHARE 1e-3

ss_patience ss_patience_begin(const ss_child *child, double limit, int threads)
{
    const double cpu = ss_child_cpu_seconds(child);
    return (ss_patience){
        .most_cpu = limit > 0.0 ? (CPU_FACTOR * limit + ALLOWANCE) * fmax(threads, 1) : INFINITY,
        .most_sleep = limit > 0.0 ? SLEEP_FACTOR * limit + ALLOWANCE : INFINITY,
        .cpu = cpu,
        .looked = ss_clock_now(),
        .looked_cpu = cpu,
    };
}

void ss_patience_resume(ss_patience *patience, const ss_child *child)
{
    patience->asleep = 0.0;
    patience->looked = ss_clock_now();
    patience->looked_cpu = ss_child_cpu_seconds(child);
}

bool ss_patience_ends(ss_patience *patience, const ss_child *child)
{
    const double now = ss_clock_now();
    const double passed = now - patience->looked, cpu = ss_child_cpu_seconds(child);
    if (passed >= LOOK) {
        const bool slept = cpu - patience->looked_cpu < SLEEP_SHARE * passed;
        patience->asleep = slept ? patience->asleep + LOOK : 0.0;
        patience->looked = now;
        patience->looked_cpu = cpu;
    }
    return cpu - patience->cpu >= patience->most_cpu || patience->asleep >= patience->most_sleep;
}
