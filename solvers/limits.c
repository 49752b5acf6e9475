#include "solvers/limits.h"

#include "base/assert.h"
#include "base/clock.h"

#include <math.h>
#include <sched.h>

static double task_seconds(ss_clock clock)
{
    return clock == SS_CLOCK_CPU ? ss_clock_cpu_seconds() : ss_clock_now();
}

// Returns the most seconds that a clock can gain in one: CPU seconds are limited by the cores.
static double fastest(ss_clock clock)
{
    cpu_set_t cores;
    if (clock != SS_CLOCK_CPU) {
        return 1.0;
    }
    return sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : CPU_SETSIZE;
}

// Returns the CPU seconds of the process, or NaN for a part of a solver that is not limited by
// them: that clock costs as much as a sweep over a few contacts.
static double limits_cpu(const ss_task *task)
{
    return task->recalled == NULL || task->clock == SS_CLOCK_CPU ? ss_clock_cpu_seconds() : NAN;
}

ss_limits ss_limits_start(const ss_task *task)
{
    ss_limits w = {
        .task = task,
        .cpu = limits_cpu(task),
        .start = task_seconds(task->clock),
        .wall = ss_clock_now(),
        .rate = fastest(task->clock),
    };
    w.ready = w.asked = w.wall;
    return w;
}

void ss_limits_ready(ss_limits *w)
{
    w->ready = ss_clock_now();
}

double ss_limits_elapsed(const ss_limits *w)
{
    const ss_clock clock = w->task->clock;
    const double listening = clock == SS_CLOCK_CPU ? w->listening_cpu : w->listening_wall;
    return task_seconds(clock) - w->start - listening;
}

double ss_limits_slowness(const ss_limits *w)
{
    const double worked = limits_cpu(w->task) - w->cpu - w->listening_cpu;
    const double slowness = ss_limits_elapsed(w) / worked;
    return slowness > 1.0 && isfinite(slowness) ? slowness : 1.0;
}

// Returns whether time is up. The wall's clock costs next to nothing: as long as it rules this out,
// the CPU's is not asked.
static bool is_late(const ss_limits *w)
{
    const double limit = w->task->time_limit;
    return (ss_clock_now() - w->wall) * w->rate >= limit && ss_limits_elapsed(w) >= limit;
}

static ss_outcome find_limit(const ss_task *t, bool late, int iterations)
{
    if ((t->interrupted != NULL && *t->interrupted) || (t->recalled != NULL && *t->recalled)) {
        return SS_INTERRUPTED;
    }
    if (late) {
        return SS_TIME_LIMIT;
    }
    return iterations >= t->max_iterations ? SS_MAX_ITER : SS_UNSOLVED;
}

ss_outcome ss_limits_test(const ss_limits *w, int iterations)
{
    const bool late = w->task->time_limit > 0.0 && is_late(w);
    return find_limit(w->task, late, iterations);
}

#define OVERRUN 0.05 // share of the limit that an iteration may take beyond it

// Returns whether an iteration that begins now would end late. Its length is measured by the clock
// of the limit, as waiting is no work. The CPU's clock is asked only about iterations that may be
// too long for the overrun.
static bool ends_late(ss_limits *w)
{
    const double limit = w->task->time_limit, overrun = OVERRUN * limit, now = ss_clock_now();
    double took = (now - w->asked) * w->rate; // an upper bound
    bool late = false;
    if (took > overrun || (now - w->wall) * w->rate >= limit) {
        const double elapsed = ss_limits_elapsed(w);
        took = fmin(took, elapsed - w->seen);
        late = elapsed + fmax(fmin(took, w->took) - overrun, 0.0) >= limit;
        w->seen = elapsed;
    }
    w->asked = now;
    w->took = took;
    return late;
}

ss_outcome ss_limits_next(ss_limits *w, int iterations)
{
    const bool late = w->task->time_limit > 0.0 && ends_late(w);
    return find_limit(w->task, late, iterations);
}

static bool is_up(const void *of)
{
    return ss_limits_test(of, -1) != SS_UNSOLVED;
}

ss_stop ss_limits_stopper(const ss_limits *w)
{
    return (ss_stop){is_up, w};
}

void ss_limits_give_up(ss_limits *w, ss_result *result)
{
    ss_limits_ready(w);
    ss_limits_stop(w, result);
    result->outcome = ss_limits_test(w, -1);
    ss_assert(result->outcome != SS_UNSOLVED);
}

void ss_limits_tell(ss_limits *w, ss_progress progress)
{
    const ss_task *t = w->task;
    if (!ss_limits_listened(w, progress.iteration)) {
        return;
    }
    progress.seconds = ss_limits_elapsed(w);
    const double wall = ss_clock_now(), cpu = limits_cpu(t);
    t->listen(t->listener, &progress);
    const double listened = ss_clock_now() - wall;
    w->listening_wall += listened;
    w->asked += listened;
    w->listening_cpu += limits_cpu(t) - cpu;
}

void ss_limits_stop(const ss_limits *w, ss_result *result)
{
    result->setup_seconds = w->ready - w->wall;
    result->sweep_seconds = ss_clock_now() - w->ready - w->listening_wall;
    result->seconds = result->setup_seconds + result->sweep_seconds;
    result->cpu_seconds = limits_cpu(w->task) - w->cpu - w->listening_cpu;
}
