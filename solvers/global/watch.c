#include "solvers/global/watch.h"

#include "solvers/clock.h"

static double task_seconds(clockid_t clock)
{
    return clock == CLOCK_PROCESS_CPUTIME_ID ? ss_clock_cpu_seconds() : ss_clock_seconds(clock);
}

ss_watch ss_watch_start(const ss_task *task)
{
    ss_watch w = {
        .task = task,
        .cpu = ss_clock_cpu_seconds(),
        .start = task_seconds(task->clock),
        .wall = ss_clock_seconds(CLOCK_MONOTONIC),
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

ss_outcome ss_watch_limits(const ss_watch *w, int iterations)
{
    const ss_task *t = w->task;
    if (t->interrupted != NULL && *t->interrupted) {
        return SS_INTERRUPTED;
    }
    if (t->time_limit > 0.0 && ss_watch_elapsed(w) >= t->time_limit) {
        return SS_TIME_LIMIT;
    }
    return iterations >= t->max_iterations ? SS_MAX_ITER : SS_UNSOLVED;
}

void ss_watch_tell(ss_watch *w, ss_progress progress)
{
    const ss_task *t = w->task;
    if (t->listen == NULL) {
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
