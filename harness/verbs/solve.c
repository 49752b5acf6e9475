// stickslip solve: one solver on the problems of a file, each answer judged.
#include "harness/cli.h"
#include "harness/quote.h"
#include "harness/record/machine.h"
#include "harness/run.h"
#include "harness/table.h"
#include "problems/response.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- The trace of a solve: a row per iteration into a file, and a line on stderr

typedef struct ss_trace ss_trace;

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

// Tells whether all rows reached the file. Takes NULL.
static ss_status trace_close(ss_trace *t, ss_error *e)
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

// path NULL: no file. Progress appears on stderr if that is a terminal and the solve takes long.
static ss_status trace_open(const char *path, ss_trace **trace, ss_error *e)
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
        trace_close(t, &ignored);
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

// The listener of the next task. The problem must outlive it.
static ss_status trace_begin(ss_trace *t, const char *label, ss_task *task, ss_error *e)
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

static void trace_end(ss_trace *t)
{
    if (t->shown >= 0.0) {
        fputs("\r\033[K", stderr);
    }
    ss_response_free(t->response);
    free(t->u);
    t->response = NULL;
    t->u = NULL;
}

// ---- The verb

typedef struct settings {
    const char *problem, *solver, *trace, *out;
    double tolerance, time_limit;
    int max_iterations, start, threads;
    ss_table_style style;
} settings;

static const settings DEFAULTS = {
    .solver = "mfb+enum",
    .tolerance = 1e-6,
    .time_limit = 60.0,
    .max_iterations = 10000,
};

static const ss_option OPTIONS[] = {
    SS_OPT_PROBLEM,
    SS_OPT_SOLVER,
    SS_OPT_TOLERANCE,
    SS_OPT_MAX_ITERATIONS,
    SS_OPT_REAL("time-limit", "S", time_limit, 0, 1e9,
                "wall seconds per solve with its set-up; 0 for none"),
    SS_OPT_START,
    SS_OPT_INT(
        "threads", "N", threads, 0, 256,
        "visit stripes of contacts and share factorisations, the same bits for any N; 0: natural "
        "order, one thread"),
    SS_OPT_PATH("trace", "FILE.csv", trace, "all measures after each iteration"),
    SS_OPT_PATH("out", "FILE.h5", out, "the problems as read, with the answers in /solution"),
    SS_OPT_TABLE,
    {.name = NULL},
};

static const char VERB[] = "solve";

// -- Rows and answers

static ss_record_row row_of(const char *label, const ss_method *method, double tolerance)
{
    ss_record_row row = ss_record_row_blank();
    ss_record_put_label(label, row.problem, sizeof row.problem);
    snprintf(row.solver, sizeof row.solver, "%s", method->spec);
    row.tolerance = tolerance;
    return row;
}

static ss_record_row row_of_run(const char *label, const ss_task *task, const ss_run *run)
{
    ss_record_row row = row_of(label, task->method, task->tolerance);
    row.contacts = task->problem->ncontacts;
    ss_run_describe(run, &row);
    return row;
}

// Returns the row of a problem that could not be loaded, or is not for this solver.
static ss_record_row row_of_bad(const char *label, const ss_method *method, double tolerance,
                                const char *sentence)
{
    ss_record_row row = row_of(label, method, tolerance);
    snprintf(row.status, sizeof row.status, "bad_input");
    snprintf(row.detail, sizeof row.detail, "%s", sentence);
    return row;
}

// The answer as the store keeps it, into p->solution and p->claim; run gives its arrays away. False
// if a number of the answer is not finite: nothing is changed.
static bool give_answer(ss_run *run, const ss_task *task, ss_problem *p)
{
    const int components = p->dim * p->ncontacts;
    if (!ss_all_finite(run->answer.r, (size_t)components) ||
        !ss_all_finite(run->answer.u, (size_t)components) ||
        !ss_all_finite(run->answer.v, (size_t)p->ndofs)) {
        return false;
    }
    ss_state_free(&p->solution);
    p->has_solution = true;
    p->solution = run->answer;
    run->answer = (ss_state){0};
    p->claim = ss_claim_unknown();
    snprintf(p->claim.solver, sizeof p->claim.solver, "%.*s", (int)sizeof p->claim.solver - 1,
             task->method->spec);
    p->claim.tolerance = task->tolerance;
    p->claim.measures = run->verdict.measures;
    ss_machine_date(p->claim.date, sizeof p->claim.date);
    if (gethostname(p->claim.host, sizeof p->claim.host - 1) != 0) {
        p->claim.host[0] = '\0';
    }
    return true;
}

// -- Solving

typedef struct solving {
    const settings *settings;
    const ss_method *method;
    ss_table *rows;
    ss_trace *trace;
    ss_writer *writer; // NULL without --out
    int nsolved;       // problems that were run, solved or not
    int within;        // of these: to tolerance
    int count;         // rows
    bool incomplete;   // a problem could not be read
} solving;

static const double *start_of(const solving *all, const ss_item *item)
{
    if (all->settings->start == SS_START_ZERO) {
        return NULL;
    }
    const double *guess = ss_run_guess(item->problem);
    if (guess == NULL) {
        ss_complain(VERB, "%s contains no guess; the start is zero", item->label);
    }
    return guess;
}

static ss_status keep_answer(const solving *all, const ss_item *item, const ss_task *task,
                             ss_run *run, ss_error *e)
{
    if (all->writer == NULL) {
        return SS_OK;
    }
    const bool single = all->settings->problem != NULL || item->name[0] == '\0';
    if (!give_answer(run, task, item->problem)) {
        ss_complain(VERB, "%s: the answer contains numbers that are not finite; it is not stored",
                    item->label);
    }
    return ss_writer_add(all->writer, single ? NULL : item->name, item->problem, e);
}

// A solver that had to be killed, or died: the rest of the program is as it was.
static int tell_end(const ss_item *item, const ss_run *run)
{
    const bool crashed = run->result.outcome == SS_CRASHED;
    const bool killed = run->result.why[0] != '\0' && (run->result.outcome == SS_TIME_LIMIT ||
                                                       run->result.outcome == SS_INTERRUPTED);
    if (crashed || killed) {
        ss_complain(VERB, "%s: %s", item->label, run->result.why);
    }
    return crashed ? SS_EXIT_SYSTEM : run->verdict.solved ? SS_EXIT_OK : SS_EXIT_UNSOLVED;
}

static ss_status solve_one(solving *all, const ss_item *item, int *code, ss_error *e)
{
    const settings *s = all->settings;
    ss_task task = {
        .problem = item->problem,
        .method = all->method,
        .tolerance = s->tolerance,
        .max_iterations = s->max_iterations,
        .time_limit = s->time_limit,
        .clock = SS_CLOCK_WALL,
        .threads = s->threads,
        .interrupted = &ss_interrupted,
    };
    ss_run run = {0};
    ss_status status = trace_begin(all->trace, item->label, &task, e);
    if (status == SS_OK) {
        status = ss_run_contained(&task, start_of(all, item), &run, e);
        if (status == SS_BAD_INPUT) { // such a problem is not for this solver
            const ss_record_row row = row_of_bad(item->label, task.method, task.tolerance, e->text);
            ss_table_row(all->rows, &row);
        }
    }
    trace_end(all->trace);
    ss_response_free(run.response); // a proof needs room, too
    run.response = NULL;
    if (status == SS_OK) {
        status = ss_run_decide(&task, &run.result, &run.status, run.detail, sizeof run.detail, e);
    }
    if (status == SS_OK) {
        const ss_record_row row = row_of_run(item->label, &task, &run);
        ss_table_row(all->rows, &row);
        all->nsolved++;
        all->within += run.verdict.solved;
        *code = tell_end(item, &run);
        status = keep_answer(all, item, &task, &run, e);
    }
    ss_run_free(&run);
    return status;
}

static int solve(solving *all, const ss_item *item)
{
    if (ss_interrupted) {
        return SS_EXIT_UNSOLVED;
    }
    all->count++;
    int code = ss_item_complain(VERB, item);
    if (code != SS_EXIT_OK) {
        all->incomplete = true;
        if (code == SS_EXIT_BAD_INPUT) { // else the system is at fault, not the problem
            const ss_record_row row =
                row_of_bad(item->label, all->method, all->settings->tolerance, item->error->text);
            ss_table_row(all->rows, &row);
        }
        return code;
    }
    ss_error error;
    const ss_status status = solve_one(all, item, &code, &error);
    if (status != SS_OK) {
        ss_complain(VERB, "%s: %s", item->label, error.text);
        all->incomplete = true;
        return (int)status;
    }
    if (ss_interrupted) {
        ss_complain(
            VERB, "interrupted; the best iterate of %s is kept, the remaining problems are skipped",
            item->label);
    }
    return code;
}

// Everything that can fail before the first solve does so here.
static ss_status open_all(const settings *s, solving *all, ss_error *e)
{
    ss_status status = trace_open(s->trace, &all->trace, e);
    if (status == SS_OK && s->out != NULL) {
        status = ss_writer_open(s->out, &all->writer, e);
    }
    return status;
}

// A file that could not be read in full, or of which nothing was solved, leaves no answers behind.
static ss_status commit_answers(const solving *all, ss_error *e)
{
    if (all->writer == NULL) {
        return SS_OK;
    }
    if (all->incomplete || all->nsolved == 0) {
        ss_complain(VERB, "%s is not written: %s", all->settings->out,
                    all->nsolved == 0 ? "no problem was solved" : "a problem could not be read");
        return SS_OK;
    }
    return ss_writer_commit(all->writer, e);
}

static int close_all(solving *all, int code)
{
    ss_error error;
    ss_status status = trace_close(all->trace, &error);
    if (status == SS_OK) {
        status = commit_answers(all, &error);
    }
    if (status != SS_OK) {
        ss_complain(VERB, "%s", error.text);
    }
    ss_writer_close(all->writer);
    return ss_table_end(&ss_verb_solve, all->rows, ss_larger_code(code, (int)status));
}

static int solve_file(const settings *s, const ss_method *method, const ss_operands *files)
{
    int code;
    solving all = {.settings = s, .method = method};
    all.rows = ss_table_begin_fields(&ss_verb_solve, &s->style, ss_result_fields, &code);
    if (all.rows == NULL) {
        return code;
    }
    ss_error error;
    const ss_status status = open_all(s, &all, &error);
    if (status != SS_OK) {
        ss_complain(VERB, "%s", error.text);
        ss_error ignored;
        trace_close(all.trace, &ignored);
        ss_writer_close(all.writer);
        ss_table_free(all.rows);
        return (int)status;
    }
    ss_interrupt_catch();
    ss_items it = ss_items_of(VERB, files->count, files->text, s->problem);
    for (ss_item item; ss_items_next(&it, &item);) {
        code = ss_larger_code(code, solve(&all, &item));
    }
    const int read = ss_items_end(&it);
    all.incomplete = all.incomplete || read > SS_EXIT_UNSOLVED;
    code = ss_larger_code(code, read);
    ss_table_note_solved(all.rows, all.within, all.count);
    if (ss_interrupted && all.nsolved == 0) {
        ss_complain(VERB, "interrupted before the first solve");
    }
    return close_all(&all, code);
}

// A trace would overwrite what it is called like, before it was read.
static bool trace_has_a_place(const settings *s, const char *file)
{
    const bool input = ss_same_file(s->trace, file), out = ss_same_file(s->trace, s->out);
    if (input || out) {
        ss_complain(VERB, "--trace %s would overwrite %s", s->trace,
                    input ? "the problems" : "the file of --out");
    }
    return !input && !out;
}

static int run_solve(const void *given, const ss_operands *files)
{
    const settings *s = given;
    if (!trace_has_a_place(s, files->text[0])) {
        return SS_EXIT_USAGE;
    }
    ss_method *method = NULL;
    ss_error error;
    const ss_status status = ss_method_parse(s->solver, &method, &error);
    if (status != SS_OK) {
        ss_complain(VERB, "--solver %s: %s", s->solver, error.text);
        return status == SS_BAD_INPUT ? SS_EXIT_USAGE : SS_EXIT_SYSTEM;
    }
    ss_run_remark_threads(VERB, s->threads, method);
    int code = ss_items_check_target(VERB, files->text[0], s->problem, s->out);
    if (code == SS_EXIT_OK) {
        code = solve_file(s, method, files);
    }
    ss_method_free(method);
    return code;
}

const ss_verb ss_verb_solve = {
    .name = VERB,
    .summary = "Solves the problems of a file and judges the answers, a row each.",
    .operands = "FILE",
    .min_operands = 1,
    .max_operands = 1,
    .needs = "a FILE",
    .options = OPTIONS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .text =
        "status is the judge's word: solved means that max(fb, normal/2), recomputed from the "
        "problem, is at most the tolerance. Otherwise it says why the solver ended: stopped (by "
        "its own rule), "
        "max_iter, time_limit, stalled (at the rounding floor, or nothing moves), interrupted, "
        "crashed (a solver runs in a process of its own: what it did is in detail and on stderr, "
        "and the "
        "other problems go on), bad_input; no_solution if a certificate proves that nothing passes "
        "at the tolerance, and undecided if the solver reports that there is no solution, or only "
        "impulses of 1e10 V/s and more can be one, and nothing is proved.\n"
        "local_solves counts the calls of the local solver; contacts at rest and frozen contacts "
        "have none. alt_percent and fail_percent are the shares of these calls that used the "
        "fail-safe and that ended without an answer. seconds is the solve with its set-up and "
        "without the trace. Ctrl-C ends the solve, keeps the best iterate and skips the remaining "
        "problems. --out is written only if every problem of FILE could be read.\n",
    .example = "  stickslip solve hair.h5 --solver mfb+enum --tol 1e-8 --out answer.h5\n",
    .exits = {[SS_EXIT_OK] = "all solved",
              [SS_EXIT_UNSOLVED] = "a problem is not solved to tolerance",
              [SS_EXIT_BAD_INPUT] = "a file is unusable",
              [SS_EXIT_SYSTEM] = "system error, or a solver crashed"},
    .run = run_solve,
};
