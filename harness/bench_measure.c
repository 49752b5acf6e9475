// One row: a first run that is listened to, and repeats that are timed.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/bench_history.h"
#include "harness/run.h"

typedef struct measuring {
    const ss_bench_settings *settings;
    ss_task task;
    const double *start; // NULL: zero
    ss_cpu_limit limit;
    ss_record_row *row;
    double *seconds; // [repeats] of those that were made
} measuring;

static ss_status solve(measuring *a, const ss_task *task, ss_run *run, ss_error *e)
{
    ss_cpu_limit_arm(&a->limit, a->settings->time_limit);
    const ss_status status = ss_run_task(task, a->start, run, e);
    ss_cpu_limit_disarm();
    ss_run_free(run);
    return status;
}

// The history goes to the row.
static ss_status warm_up(measuring *a, ss_run *run, ss_error *e)
{
    ss_recorder recorder;
    ss_task task = a->task;
    ss_status status = ss_recorder_begin(&recorder, &task, &a->limit, e);
    if (status == SS_OK) {
        status = solve(a, &task, run, e);
    }
    if (status == SS_OK) {
        ss_recorder_end(&recorder, &run->result, run->verdict.measures.fb);
        ss_run_describe(run, a->row);
        a->row->history = recorder.history;
        recorder.history = (ss_history){0};
    }
    ss_recorder_free(&recorder);
    return status;
}

static ss_status repeat(measuring *a, ss_error *e)
{
    ss_record_row *row = a->row;
    ss_status status = SS_OK;
    for (int k = 0; status == SS_OK && k < a->settings->repeats; k++) {
        ss_run run;
        status = solve(a, &a->task, &run, e);
        if (status == SS_OK) {
            a->seconds[row->repeats++] = run.result.seconds;
            if (row->repeats == 1 || run.result.seconds < row->seconds) {
                ss_run_describe(&run, row);
            }
        }
    }
    return status;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void take_median(measuring *a)
{
    const int n = a->row->repeats;
    a->row->seconds_median = a->row->seconds;
    if (n > 0) {
        qsort(a->seconds, (size_t)n, sizeof *a->seconds, compare);
        a->row->seconds_median = 0.5 * (a->seconds[(n - 1) / 2] + a->seconds[n / 2]);
    }
}

// After all that is measured. Without the memory for a proof the status stays.
static void decide(measuring *a, const ss_result *result)
{
    const char *status = a->row->status;
    ss_error unused;
    if (ss_run_decide(a->task.problem, result, &status, a->row->detail, sizeof a->row->detail,
                      &unused) == SS_OK &&
        status != a->row->status) {
        snprintf(a->row->status, sizeof a->row->status, "%s", status);
    }
}

static ss_status measure(measuring *a, ss_error *e)
{
    a->seconds = calloc((size_t)a->settings->repeats, sizeof *a->seconds);
    if (a->seconds == NULL) {
        return ss_fail_memory(e, "the seconds of the repeats");
    }
    ss_run first;
    ss_status status = warm_up(a, &first, e);
    if (status == SS_OK && first.result.outcome != SS_TIME_LIMIT &&
        first.result.outcome != SS_MAX_ITER) {
        status = repeat(a, e);
    }
    take_median(a);
    if (status == SS_OK) {
        decide(a, &first.result);
    }
    return status;
}

static void append(char *text, size_t room, const char *sentence)
{
    const size_t used = strlen(text);
    snprintf(text + used, room - used, "%s%s", used > 0 ? "; " : "", sentence);
}

static ss_task task_of(const ss_problem *p, const ss_method *method, const ss_bench_settings *s)
{
    return (ss_task){.problem = p,
                     .method = method,
                     .tolerance = s->tolerance,
                     .max_iterations = s->max_iterations,
                     .time_limit = s->time_limit,
                     .clock = SS_CLOCK_CPU};
}

void ss_bench_measure(const ss_problem *p, const ss_method *method,
                      const ss_bench_settings *settings, ss_record_row *row)
{
    measuring a = {.settings = settings, .task = task_of(p, method, settings), .row = row};
    *row = ss_record_row_blank();
    row->contacts = p->ncontacts;
    row->dim = p->dim;
    ss_problem_sha256(p, row->problem_sha256);
    a.start = settings->from_guess ? ss_run_guess(p) : NULL;
    ss_error error;
    const ss_status status = measure(&a, &error);
    free(a.seconds);
    if (status != SS_OK) {
        snprintf(row->status, sizeof row->status, "%s",
                 status == SS_BAD_INPUT ? "bad_input" : "crashed");
        snprintf(row->detail, sizeof row->detail, "%.*s", (int)sizeof row->detail - 1, error.text);
    } else if (settings->from_guess && a.start == NULL) {
        append(row->detail, sizeof row->detail, "the problem holds no guess: the start is zero");
    }
}
