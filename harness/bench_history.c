// What is kept of a run: iterations k = 0 .. 50 and then every one that is 1 + a times the last,
// with a such that max_iterations is reached after about 150 of them.
#include "harness/bench_history.h"
#include "solvers/clock.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#define LATER_POINTS 150.0

int ss_recorder_next(int k, int max_iterations)
{
    if (k < SS_HISTORY_FIRST || max_iterations <= SS_HISTORY_FIRST) {
        return k + 1;
    }
    const double ratio = pow((double)max_iterations / SS_HISTORY_FIRST, 1.0 / LATER_POINTS);
    const double next = fmax(ceil(k * ratio), k + 1.0);
    return next < 2e9 ? (int)next : 2000000000;
}

static void keep(ss_history *h, int iteration, double seconds, double fb)
{
    h->iteration[h->count] = iteration;
    h->seconds[h->count] = seconds;
    h->fb[h->count] = fb;
    h->count++;
}

static void listen(void *listener, const ss_progress *p)
{
    ss_recorder *a = listener;
    // One place is the answer's.
    if (p->iteration < a->next || a->history.count >= SS_HISTORY_MOST - 1) {
        return;
    }
    const double paused = ss_clock_seconds(CLOCK_MONOTONIC);
    ss_cpu_limit_pause(a->limit);
    const double fb = ss_response_judge(a->response, p->r, a->u).fb;
    keep(&a->history, p->iteration, paused - a->begin - a->listening, fb);
    a->next = ss_recorder_next(p->iteration, a->max_iterations);
    ss_cpu_limit_resume(a->limit);
    a->listening += ss_clock_seconds(CLOCK_MONOTONIC) - paused;
}

ss_status ss_recorder_begin(ss_recorder *a, ss_task *task, ss_cpu_limit *limit, ss_error *e)
{
    const ss_problem *p = task->problem;
    ss_history *h = &a->history;
    *a = (ss_recorder){.limit = limit, .max_iterations = task->max_iterations};
    a->u = calloc((size_t)p->dim * (size_t)p->ncontacts, sizeof *a->u);
    ss_status status = ss_history_new(SS_HISTORY_MOST, h, e);
    h->count = 0;
    if (status != SS_OK || a->u == NULL) {
        return ss_fail_memory(e, "a history");
    }
    task->listen = listen;
    task->listener = a;
    task->listen_from = &a->next;
    status = ss_response_new(p, &a->response, e);
    a->begin = ss_clock_seconds(CLOCK_MONOTONIC);
    return status;
}

void ss_recorder_end(ss_recorder *a, const ss_result *result, double fb)
{
    ss_history *h = &a->history;
    if (h->count > 0 && h->iteration[h->count - 1] == result->iterations) {
        h->count--;
    }
    // The points before it count from a moment earlier than the solver does.
    const double last = h->count > 0 ? h->seconds[h->count - 1] : 0.0;
    keep(h, result->iterations, fmax(result->seconds, last), fb);
}

void ss_recorder_free(ss_recorder *a)
{
    ss_history_free(&a->history);
    free(a->u);
    ss_response_free(a->response);
    *a = (ss_recorder){0};
}
