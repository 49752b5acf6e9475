#include "solvers/global/watch.h"

#include <sched.h>

#include "solvers/clock.h"

static double task_seconds(clockid_t clock)
{
    return clock == CLOCK_PROCESS_CPUTIME_ID ? ss_clock_cpu_seconds() : ss_clock_seconds(clock);
}

// No process uses more CPU seconds in a second than it has cores to run on.
static double fastest(clockid_t clock)
{
    cpu_set_t cores;
    if (clock != CLOCK_PROCESS_CPUTIME_ID) {
        return 1.0;
    }
    return sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : CPU_SETSIZE;
}

ss_watch ss_watch_start(const ss_task *task)
{
    ss_watch w = {
        .task = task,
        .cpu = ss_clock_cpu_seconds(),
        .start = task_seconds(task->clock),
        .wall = ss_clock_seconds(CLOCK_MONOTONIC),
        .rate = fastest(task->clock),
    };
    w.ready = w.wall;
    return w;
}

void ss_watch_ready(ss_watch *w)
{
    w->ready = ss_clock_seconds(CLOCK_MONOTONIC);
}

double ss_watch_elapsed(const ss_watch *w)
{
    const clockid_t clock = w->task->clock;
    const double listening =
        clock == CLOCK_PROCESS_CPUTIME_ID ? w->listening_cpu : w->listening_wall;
    return task_seconds(clock) - w->start - listening;
}

// The CPU's clock costs as much as a sweep over a few contacts, the wall's next to nothing: as long
// as the wall's rules it out, the other is not asked.
static bool is_late(const ss_watch *w)
{
    const double limit = w->task->time_limit;
    const double wall = ss_clock_seconds(CLOCK_MONOTONIC) - w->wall;
    return wall * w->rate >= limit && ss_watch_elapsed(w) >= limit;
}

ss_outcome ss_watch_limits(const ss_watch *w, int iterations)
{
    const ss_task *t = w->task;
    if (t->interrupted != NULL && *t->interrupted) {
        return SS_INTERRUPTED;
    }
    if (t->time_limit > 0.0 && is_late(w)) {
        return SS_TIME_LIMIT;
    }
    return iterations >= t->max_iterations ? SS_MAX_ITER : SS_UNSOLVED;
}

void ss_watch_tell(ss_watch *w, ss_progress progress)
{
    const ss_task *t = w->task;
    if (!ss_watch_listened(w, progress.iteration)) {
        return;
    }
    progress.seconds = ss_watch_elapsed(w);
    const double wall = ss_clock_seconds(CLOCK_MONOTONIC), cpu = ss_clock_cpu_seconds();
    t->listen(t->listener, &progress);
    w->listening_wall += ss_clock_seconds(CLOCK_MONOTONIC) - wall;
    w->listening_cpu += ss_clock_cpu_seconds() - cpu;
}

void ss_watch_stop(const ss_watch *w, ss_result *result)
{
    result->setup_seconds = w->ready - w->wall;
    result->sweep_seconds = ss_clock_seconds(CLOCK_MONOTONIC) - w->ready - w->listening_wall;
    result->seconds = result->setup_seconds + result->sweep_seconds;
    result->cpu_seconds = ss_clock_cpu_seconds() - w->cpu - w->listening_cpu;
}
