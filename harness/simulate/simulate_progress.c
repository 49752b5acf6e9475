#include "harness/simulate/simulate_progress.h"

#include <stdio.h>
#include <unistd.h>

#include "solvers/clock.h"

// Seconds between two lines, on a terminal and elsewhere.
#define TERMINAL_PACE 0.1
#define PLAIN_PACE    10.0

ss_simulate_progress ss_simulate_progress_start(const char *scene, int steps)
{
    const double now = ss_clock_seconds(CLOCK_MONOTONIC);
    return (ss_simulate_progress){.scene = scene,
                                  .steps = steps,
                                  .terminal = isatty(STDERR_FILENO) == 1,
                                  .start = now,
                                  .shown = now};
}

void ss_simulate_progress_step(ss_simulate_progress *p, int step, const ss_step_report *report)
{
    const double now = ss_clock_seconds(CLOCK_MONOTONIC);
    if (now < p->shown + (p->terminal ? TERMINAL_PACE : PLAIN_PACE)) {
        return;
    }
    p->shown = now;
    const double left = (now - p->start) / step * (p->steps - step);
    fprintf(stderr,
            "%s%s: step %d/%d at %.3f s, %d contacts (%d active), %d iterations, %.0f ms, "
            "%.0f s left%s",
            p->terminal ? "\r\033[K" : "", p->scene, step, p->steps, report->time, report->contacts,
            report->active, report->contacts > 0 ? report->answer.iterations : 0,
            1e3 * report->seconds, left, p->terminal ? "" : "\n");
}

void ss_simulate_progress_clear(const ss_simulate_progress *p)
{
    if (p->terminal) {
        fputs("\r\033[K", stderr);
    }
}
