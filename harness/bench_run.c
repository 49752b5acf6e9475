#include "harness/bench_run.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/complain.h"
#include "harness/guard.h"
#include "harness/isolate.h"
#include "harness/machine.h"
#include "harness/progress.h"
#include "harness/verbs.h"

// Wall seconds that a child may take for all but its solves (harness/guard.h): it loads the
// problem, factors M and judges some 200 iterates.
#define PREPARATION 300.0

// One child at work.
typedef struct desk {
    const ss_bench_entry *entry;
    bool with_reference;
    double load; // of the machine when it began
} desk;

typedef struct office {
    const ss_bench_plan *plan;
    const ss_bench_orders *orders;
    ss_record *record;
    ss_progress_bar bar;
    char machine[sizeof((ss_record_row *)0)->machine];
    ss_child *children; // [jobs], as are the desks
    desk *desks;
    int next;         // entry
    sigset_t outside; // the signal mask that lets Ctrl-C through
} office;

static volatile sig_atomic_t interrupted;

static void note_interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

static const int SIGNALS[] = {SIGINT, SIGTERM, SIGHUP};

enum { NSIGNALS = sizeof SIGNALS / sizeof SIGNALS[0] };

// They are heard while we wait for children, and nowhere else. One that is ignored stays so.
static void catch_signals(office *a, struct sigaction before[NSIGNALS])
{
    sigset_t blocked;
    sigemptyset(&blocked);
    interrupted = 0;
    for (int k = 0; k < NSIGNALS; k++) {
        const struct sigaction action = {.sa_handler = note_interrupt};
        sigaddset(&blocked, SIGNALS[k]);
        sigaction(SIGNALS[k], NULL, &before[k]);
        if (before[k].sa_handler != SIG_IGN) {
            sigaction(SIGNALS[k], &action, NULL);
        }
    }
    sigprocmask(SIG_BLOCK, &blocked, &a->outside);
}

static void release_signals(const office *a, const struct sigaction before[NSIGNALS])
{
    sigprocmask(SIG_SETMASK, &a->outside, NULL);
    for (int k = 0; k < NSIGNALS; k++) {
        sigaction(SIGNALS[k], &before[k], NULL);
    }
}

// ---- A child

// More than a command line has.
enum { MOST_WORDS = 16 };

typedef struct command_line {
    int count;
    char *words[MOST_WORDS]; // owned; NULL ends them
    bool complete;           // false: no memory
} command_line;

__attribute__((format(printf, 2, 3))) static void put(command_line *line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *word = NULL;
    if (line->count < MOST_WORDS - 1 && vasprintf(&word, format, arguments) >= 0) {
        line->words[line->count++] = word;
    } else {
        line->complete = false;
    }
    va_end(arguments);
}

static void free_words(command_line *line)
{
    for (int k = 0; k < line->count; k++) {
        free(line->words[k]);
    }
}

static command_line write_words(const office *a, const desk *d)
{
    const ss_bench_settings *s = &a->plan->settings;
    const ss_bench_problem *p = d->entry->problem;
    command_line line = {.complete = true};
    put(&line, "stickslip");
    put(&line, "%s", SS_RUN_ONE);
    put(&line, "--solver=%s", d->entry->spec);
    put(&line, "--tol=%.17g", s->tolerance);
    put(&line, "--time-limit=%.17g", s->time_limit);
    put(&line, "--max-iter=%d", s->max_iterations);
    put(&line, "--repeat=%d", s->repeats);
    put(&line, "--start=%s", s->from_guess ? "guess" : "zero");
    if (d->with_reference) {
        put(&line, "--reference=%s", a->orders->reference);
    }
    if (p->name[0] != '\0') {
        put(&line, "--problem=%s", p->name);
    }
    put(&line, "--");
    put(&line, "%s", p->file);
    return line;
}

static ss_status start_child(office *a, int k, ss_error *e)
{
    desk *d = &a->desks[k];
    const ss_bench_settings *s = &a->plan->settings;
    const double solves = (1.0 + s->repeats) * (d->with_reference ? 2.0 : 1.0);
    command_line line = write_words(a, d);
    d->load = ss_machine_load();
    const ss_status status =
        line.complete
            ? ss_child_start(&a->children[k], a->orders->program, line.words, ss_core_at(k),
                             PREPARATION + solves * ss_guard_wall(s->time_limit), e)
            : ss_fail_memory(e, "a command line");
    free_words(&line);
    return status;
}

// ---- Its row

__attribute__((format(printf, 3, 4))) static void put_status(ss_record_row *row, const char *status,
                                                             const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    snprintf(row->status, sizeof row->status, "%s", status);
    vsnprintf(row->detail, sizeof row->detail, format, arguments);
    va_end(arguments);
}

static void describe_signal(int number, ss_record_row *row)
{
    const char *clock = number == SIGALRM ? "wall" : number == SIGXCPU ? "CPU" : NULL;
    if (clock != NULL) {
        put_status(row, "time_limit", "killed: it did not keep its time limit (%s time)", clock);
    } else {
        put_status(row, "crashed", "signal %d (%s)", number, strsignal(number));
    }
}

static void describe_ending(const ss_child *child, ss_record_row *row)
{
    switch (child->ending) {
    case SS_ENDED:
        put_status(row, "crashed", "it ended without a result");
        break;
    case SS_ENDED_BY_CODE:
        put_status(row, "crashed", "it exited with code %d", child->number);
        break;
    case SS_ENDED_BY_SIGNAL:
        describe_signal(child->number, row);
        break;
    case SS_ENDED_LATE:
        put_status(row, "time_limit", "killed: it was not done long after its time limit");
        break;
    case SS_ENDED_LOUD:
        put_status(row, "crashed", "killed: it said too much");
        break;
    case SS_ENDED_UNHEARD: // never described: the fault is ours
        break;
    }
}

// What the child found out, under the key of the plan.
static void take_over(const ss_record_row *key, ss_record_row *row)
{
    const bool same = strcmp(row->problem_sha256, key->problem_sha256) == 0;
    if (!same && strcmp(row->status, "bad_input") != 0) {
        ss_record_row_free(row);
        *row = ss_record_row_blank();
        put_status(row, "bad_input", "the file was changed during the benchmark");
    }
    if (same) {
        memcpy(row->problem_sha256, key->problem_sha256, sizeof row->problem_sha256);
    } else { // it says nothing about the problem that was planned
        ss_record_stand_in(key->problem, row->problem_sha256);
    }
    memcpy(row->solver, key->solver, sizeof row->solver);
    memcpy(row->start, key->start, sizeof row->start);
    memcpy(row->build, key->build, sizeof row->build);
    memcpy(row->problem, key->problem, sizeof row->problem);
    row->tolerance = key->tolerance;
    memcpy(row->scene, key->scene, sizeof row->scene);
    row->contacts = key->contacts;
    row->dim = key->dim;
    row->max_iterations = key->max_iterations;
    row->time_limit = key->time_limit;
}

// complete: the child came to its end and said a row. What fails here is no fault of the child's.
static ss_status read_row(const office *a, int k, ss_record_row *row, bool *complete, ss_error *e)
{
    const ss_child *child = &a->children[k];
    const ss_record_row key = ss_bench_plan_row(a->plan, a->desks[k].entry);
    ss_status status = SS_BAD_INPUT;
    if (child->ending == SS_ENDED) {
        status = ss_bench_receive(child->said, child->length, row, e);
    } else if (child->ending == SS_ENDED_UNHEARD) {
        status = ss_fail_memory(e, "the row of a run");
    }
    *complete = status == SS_OK;
    if (*complete) {
        take_over(&key, row);
    } else if (status == SS_BAD_INPUT) {
        *row = key;
        describe_ending(child, row);
    }
    return status == SS_SYSTEM ? status : SS_OK;
}

static ss_status add_row(office *a, const desk *d, ss_record_row *row, ss_error *e)
{
    char text[1300], seconds[48] = "";
    memcpy(row->machine, a->machine, sizeof row->machine);
    ss_machine_date(row->date, sizeof row->date);
    row->load = d->load;
    if (row->iterations >= 0 && isfinite(row->seconds)) {
        snprintf(seconds, sizeof seconds, ", %d iteration%s, %.3g s", row->iterations,
                 ss_plural(row->iterations), row->seconds);
    }
    snprintf(text, sizeof text, "%s %s %s%s", row->problem, row->solver, row->status, seconds);
    const ss_status status = ss_record_add(a->record, row, e);
    ss_record_row_free(row);
    if (status == SS_OK) {
        ss_progress_bar_step(&a->bar, text);
    }
    return status;
}

// ---- The work

// A run that failed beside its reference is made again without it: the blame must be its own.
static ss_status finish(office *a, int k, ss_error *e)
{
    desk *d = &a->desks[k];
    ss_child *child = &a->children[k];
    ss_record_row row;
    if (child->ending == SS_ENDED_BY_CODE && child->number == SS_CHILD_NOT_EXECUTED) {
        return ss_fail(e, SS_SYSTEM, "%s cannot be executed", a->orders->program);
    }
    bool complete;
    const ss_status status = read_row(a, k, &row, &complete, e);
    ss_child_clear(child);
    if (status != SS_OK) {
        return status;
    }
    if (!complete && d->with_reference) {
        d->with_reference = false;
        return start_child(a, k, e);
    }
    return add_row(a, d, &row, e);
}

static ss_status add_defect(office *a, const ss_bench_entry *entry, ss_error *e)
{
    const desk d = {.entry = entry, .load = ss_machine_load()};
    ss_record_row row = ss_bench_plan_row(a->plan, entry);
    put_status(&row, "bad_input", "%s", entry->problem->defect);
    return add_row(a, &d, &row, e);
}

// Gives an idle desk its next child. False where nothing is left to do.
static bool seat(office *a, int k, ss_status *status, ss_error *e)
{
    while (*status == SS_OK && a->next < a->plan->count) {
        const ss_bench_entry *entry = &a->plan->entries[a->next++];
        if (!entry->present && entry->problem->defect != NULL) {
            *status = add_defect(a, entry, e);
        } else if (!entry->present) {
            a->desks[k] = (desk){.entry = entry, .with_reference = a->orders->reference != NULL};
            *status = start_child(a, k, e);
            return *status == SS_OK;
        }
    }
    return false;
}

static ss_status work(office *a, ss_error *e)
{
    ss_status status = SS_OK;
    int busy = 0;
    while (busy < a->orders->jobs && seat(a, busy, &status, e)) {
        busy++;
    }
    while (status == SS_OK && busy > 0 && !interrupted) {
        int k;
        status = ss_child_wait(a->children, a->orders->jobs, &a->outside, &k, e);
        if (status == SS_OK && k >= 0) {
            status = finish(a, k, e);
        }
        if (status == SS_OK && k >= 0 && a->children[k].pid == 0 && !seat(a, k, &status, e)) {
            busy--;
        }
    }
    return status;
}

static int conclude(const office *a, ss_status status, const ss_error *error)
{
    ss_progress_bar_clear(&a->bar);
    if (status != SS_OK) {
        ss_complain(a->orders->verb, "%s", error->text);
        return SS_EXIT_SYSTEM;
    }
    if (interrupted) {
        ss_complain(a->orders->verb,
                    "interrupted with %d of %d row%s still to be made; the same command goes on",
                    a->bar.total - a->bar.done, a->plan->count, ss_plural(a->plan->count));
        return SS_EXIT_UNSOLVED;
    }
    return SS_EXIT_OK;
}

int ss_bench_run(const ss_bench_plan *plan, const ss_bench_orders *orders, ss_record *record)
{
    office a = {.plan = plan, .orders = orders, .record = record};
    struct sigaction before[NSIGNALS];
    ss_error error;
    ss_status status = SS_OK;
    a.children = calloc((size_t)orders->jobs, sizeof *a.children);
    a.desks = calloc((size_t)orders->jobs, sizeof *a.desks);
    catch_signals(&a, before);
    if (a.children == NULL || a.desks == NULL) {
        status = ss_fail_memory(&error, "the runs");
    } else {
        ss_machine_describe(a.machine, sizeof a.machine);
        a.bar = ss_progress_bar_start(plan->missing);
        status = work(&a, &error);
    }
    for (int k = 0; a.children != NULL && k < orders->jobs; k++) {
        ss_child_clear(&a.children[k]);
    }
    free(a.children);
    free(a.desks);
    const int code = conclude(&a, status, &error);
    release_signals(&a, before);
    return code;
}
