// The trace of a solve (trace.h).
#include "harness/verbs/trace.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/quote.h"
#include "harness/table.h"
#include "problems/response.h"

// Seconds before the first line of progress, and between two.
#define PATIENCE 1.0
#define PACE     0.2

// An iteration.
typedef struct trace_row {
    int iteration;
    double seconds;
    long local_solves;
    double estimate; // of the error, by the solver
    ss_measures measures;
    const char *problem, *note;
} trace_row;

static const ss_field TRACE_FIELDS[] = {
    SS_FIELD(trace_row, iteration, SS_FIELD_INTEGER, .unit = "1"),
    SS_FIELD(trace_row, seconds, SS_FIELD_REAL, .unit = "s"),
    SS_FIELD(trace_row, local_solves, SS_FIELD_INTEGER, .unit = "1"),
    SS_FIELD(trace_row, estimate, SS_FIELD_REAL, .unit = "1"),
    SS_FIELD(trace_row, measures, SS_FIELD_PART, .part = ss_measure_fields,
             .groups = SS_MEASURES_IN_FULL),
    SS_FIELD(trace_row, problem, SS_FIELD_LINK, .unit = NULL),
    SS_FIELD(trace_row, note, SS_FIELD_LINK, .unit = NULL),
    {.name = NULL},
};

struct ss_trace {
    char *path; // NULL: no file
    FILE *file;
    ss_table *rows; // into the file
    bool terminal;
    const char *label;
    ss_response *response; // NULL if no file wants measures
    double *u;
    double shown; // seconds of the last line; negative: none yet
    int next;     // the iteration that is listened to next
};

ss_status ss_trace_close(ss_trace *t, ss_error *e)
{
    ss_status status = SS_OK;
    if (t != NULL && t->file != NULL) {
        const bool printed = t->rows == NULL || ss_table_finish(t->rows, NULL) == SS_OK;
        const bool failed = ferror(t->file) != 0 || !printed;
        if (fclose(t->file) != 0 || failed) {
            status = ss_fail(e, SS_SYSTEM, "%s: cannot be written: %s", t->path, strerror(errno));
        }
    }
    if (t != NULL) {
        free(t->path);
        free(t);
    }
    return status;
}

ss_status ss_trace_open(const char *path, ss_trace **trace, ss_error *e)
{
    *trace = NULL;
    ss_trace *t = calloc(1, sizeof *t);
    if (t == NULL) {
        return ss_fail_memory(e, "a trace");
    }
    t->terminal = isatty(STDERR_FILENO) == 1;
    ss_status status = SS_OK;
    if (path != NULL) {
        t->path = strdup(path);
        t->file = fopen(path, "we");
        if (t->path == NULL || t->file == NULL) {
            status = ss_fail(e, SS_SYSTEM, "%s: cannot be written: %s", path, strerror(errno));
        } else {
            t->rows = ss_table_of_fields(t->file, SS_FORMAT_CSV, TRACE_FIELDS);
            status = t->rows != NULL ? SS_OK : ss_fail_memory(e, "a trace");
        }
    }
    if (status != SS_OK) {
        ss_error ignored;
        ss_trace_close(t, &ignored);
        return status;
    }
    *trace = t;
    return SS_OK;
}

static void write_row(ss_trace *t, const ss_progress *p)
{
    const trace_row now = {
        .iteration = p->iteration,
        .seconds = round(1e9 * p->seconds) / 1e9, // the clock knows no more
        .local_solves = p->local_solves,
        .estimate = p->estimate,
        .measures = ss_response_judge(t->response, p->r, t->u),
        .problem = t->label,
        .note = p->note,
    };
    ss_table_row(t->rows, &now);
}

static void show(ss_trace *t, const ss_progress *p)
{
    if (p->seconds < PATIENCE || (t->shown >= 0.0 && p->seconds < t->shown + PACE)) {
        return;
    }
    t->shown = p->seconds;
    fputs("\r\033[K", stderr);
    ss_quote(stderr, SS_PLAIN, t->label);
    fprintf(stderr, ": iteration %d, %.1f s, error about %.2g", p->iteration, p->seconds,
            p->estimate);
}

// Iterates come from another process: a line of progress needs a few of those in its PACE.
static int next_shown(const ss_progress *p)
{
    const double rate = p->iteration / fmax(p->seconds, PACE);
    return p->iteration + 1 + (int)fmin(0.25 * PACE * rate, p->iteration);
}

static void listen(void *listener, const ss_progress *p)
{
    ss_trace *t = listener;
    if (t->file != NULL) {
        write_row(t, p);
    } else {
        t->next = next_shown(p);
    }
    if (t->terminal) {
        show(t, p);
    }
}

ss_status ss_trace_begin(ss_trace *t, const char *label, ss_task *task, ss_error *e)
{
    t->label = label;
    t->shown = -1.0;
    if (t->file == NULL && !t->terminal) {
        return SS_OK;
    }
    task->listen = listen;
    task->listener = t;
    task->listen_from = &t->next;
    t->next = 0;
    if (t->file == NULL) {
        return SS_OK;
    }
    const ss_problem *p = task->problem;
    t->u = calloc((size_t)p->dim * (size_t)p->ncontacts, sizeof *t->u);
    return t->u != NULL ? ss_response_new(p, &t->response, e) : ss_fail_memory(e, "a trace");
}

void ss_trace_end(ss_trace *t)
{
    if (t->shown >= 0.0) {
        fputs("\r\033[K", stderr);
    }
    ss_response_free(t->response);
    free(t->u);
    t->response = NULL;
    t->u = NULL;
}
