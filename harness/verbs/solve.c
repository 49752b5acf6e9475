// stickslip solve: one solver on the problems of a file, each answer judged.
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli.h"
#include "harness/complain.h"
#include "harness/interrupt.h"
#include "harness/run.h"
#include "harness/trace.h"
#include "harness/items.h"

typedef struct settings {
    const char *problem, *solver, *trace, *out;
    double tolerance, time_limit;
    int max_iterations, start, threads, format;
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
    SS_OPT_INT("threads", "N", threads, 0, 256,
               "visit stripes of contacts, the same bits for any N; 0: natural order"),
    SS_OPT_TEXT("trace", "FILE.csv", trace, "all measures after each iteration"),
    SS_OPT_TEXT("out", "FILE.h5", out, "the problems as read, with the answers in /solution"),
    SS_OPT_FORMAT,
    {.name = NULL},
};

static const char VERB[] = "solve";

typedef struct solving {
    const settings *settings;
    const ss_method *method;
    ss_table *rows;
    ss_trace *trace;
    ss_writer *writer; // NULL without --out
    int nsolved;       // problems that were run, solved or not
} solving;

static const double *start_of(const solving *all, const ss_item *item)
{
    if (all->settings->start == SS_START_ZERO) {
        return NULL;
    }
    const double *guess = ss_run_guess(item->problem);
    if (guess == NULL) {
        ss_complain(VERB, "%s holds no guess; the start is zero", item->label);
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
    if (!ss_run_give(run, task, item->problem)) {
        ss_complain(VERB, "%s: the answer contains numbers that are not finite; it is not stored",
                    item->label);
    }
    return ss_writer_add(all->writer, single ? NULL : item->name, item->problem, e);
}

static ss_status solve_one(const solving *all, const ss_item *item, bool *solved, ss_error *e)
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
    ss_status status = ss_trace_begin(all->trace, item->label, &task, e);
    if (status == SS_OK) {
        status = ss_run_task(&task, start_of(all, item), &run, e);
        if (status == SS_BAD_INPUT) { // such a problem is not for this solver
            const ss_record_row row =
                ss_run_row_bad(item->label, task.method, task.tolerance, e->text);
            ss_table_row(all->rows, &row);
        }
    }
    ss_trace_end(all->trace);
    if (status == SS_OK) {
        status =
            ss_run_decide(task.problem, &run.result, &run.status, run.detail, sizeof run.detail, e);
    }
    if (status == SS_OK) {
        const ss_record_row row = ss_run_row(item->label, &task, &run);
        ss_table_row(all->rows, &row);
        *solved = run.verdict.solved;
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
    const int code = ss_item_complain(VERB, item);
    if (code != SS_EXIT_OK) {
        const ss_record_row row =
            ss_run_row_bad(item->label, all->method, all->settings->tolerance, item->error->text);
        ss_table_row(all->rows, &row);
        return code;
    }
    bool solved = false;
    ss_error error;
    const ss_status status = solve_one(all, item, &solved, &error);
    if (status != SS_OK) {
        ss_complain(VERB, "%s: %s", item->label, error.text);
        return (int)status;
    }
    all->nsolved++;
    if (ss_interrupted) {
        ss_complain(VERB, "interrupted; the best iterate of %s is kept, what follows is left out",
                    item->label);
    }
    return solved ? SS_EXIT_OK : SS_EXIT_UNSOLVED;
}

// Everything that can fail before the first solve does so here.
static ss_status open_all(const settings *s, solving *all, ss_error *e)
{
    ss_status status = ss_trace_open(s->trace, &all->trace, e);
    if (status == SS_OK && s->out != NULL) {
        status = ss_writer_open(s->out, &all->writer, e);
    }
    if (status == SS_OK) {
        all->rows = ss_table_of_fields(stdout, (ss_format)s->format, ss_result_fields);
        status = all->rows != NULL ? SS_OK : ss_fail_memory(e, "the table");
    }
    return status;
}

// A file that could not be read in full, or of which nothing was solved, leaves no answers behind.
static ss_status commit_answers(const solving *all, int code, ss_error *e)
{
    if (all->writer == NULL) {
        return SS_OK;
    }
    if (code > SS_EXIT_UNSOLVED || all->nsolved == 0) {
        ss_complain(VERB, "%s is not written: %s", all->settings->out,
                    all->nsolved == 0 ? "no problem was solved" : "a problem could not be read");
        return SS_OK;
    }
    return ss_writer_commit(all->writer, e);
}

static int close_all(solving *all, int code)
{
    ss_error error;
    ss_status status = ss_trace_close(all->trace, &error);
    if (status == SS_OK) {
        status = commit_answers(all, code, &error);
    }
    if (status != SS_OK) {
        ss_complain(VERB, "%s", error.text);
    }
    ss_writer_close(all->writer);
    const bool printed = ss_table_finish(all->rows, NULL) == SS_OK;
    return ss_larger_code(code, printed ? (int)status : SS_EXIT_SYSTEM);
}

static int solve_file(const settings *s, const ss_method *method, const ss_operands *files)
{
    solving all = {.settings = s, .method = method};
    ss_error error;
    const ss_status status = open_all(s, &all, &error);
    if (status != SS_OK) {
        ss_complain(VERB, "%s", error.text);
        ss_error ignored;
        ss_trace_close(all.trace, &ignored);
        ss_writer_close(all.writer);
        return (int)status;
    }
    ss_interrupt_catch();
    int code = SS_EXIT_OK;
    ss_items it = ss_items_of(VERB, files->count, files->text, s->problem);
    for (ss_item item; ss_items_next(&it, &item);) {
        code = ss_larger_code(code, solve(&all, &item));
    }
    code = ss_larger_code(code, ss_items_end(&it));
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
        "status is the judge's word: solved means that fb, recomputed from the problem, is at most "
        "the tolerance. Otherwise it says why the solver ended: stopped (by its own rule), "
        "max_iter, time_limit, stalled (at the rounding floor, or nothing moves), interrupted, "
        "crashed (only solvers that run in a process of their own, such as those of Siconos), "
        "bad_input; no_solution if a certificate proves that there is none, and undecided if the "
        "solver reports that there is none and nothing can be proved.\n"
        "local_solves counts the calls of the local solver; contacts at rest and frozen contacts "
        "have none. alt_percent and fail_percent are the shares of these calls that used the "
        "fail-safe and that ended without an answer. seconds is the solve with its set-up and "
        "without the trace. Ctrl-C ends the solve, keeps the best iterate and skips the remaining "
        "problems. --out is written only if every problem of FILE could be read.\n",
    .example = "  stickslip solve hair.h5 --solver mfb+enum --tol 1e-8 --out answer.h5\n",
    .exits = {[SS_EXIT_OK] = "all solved",
              [SS_EXIT_UNSOLVED] = "a problem is not solved to tolerance",
              [SS_EXIT_BAD_INPUT] = "a file is unusable"},
    .run = run_solve,
};
