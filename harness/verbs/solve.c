// stickslip solve: one solver on the problems of a file, each answer judged.
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/complain.h"
#include "harness/interrupt.h"
#include "harness/options.h"
#include "harness/rows.h"
#include "harness/run.h"
#include "harness/trace.h"
#include "harness/verbs.h"
#include "harness/walk.h"

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
    SS_OPTION_PROBLEM(settings),
    SS_OPTION_SOLVER(settings),
    SS_OPTION_TOLERANCE(settings),
    SS_OPTION_MAX_ITERATIONS(settings),
    {.name = "time-limit",
     .metavar = "S",
     .help = "wall seconds a solve with its set-up; 0 for none",
     .kind = SS_OPTION_REAL,
     .place = offsetof(settings, time_limit),
     .low = 0,
     .high = 1e9},
    SS_OPTION_START(settings),
    {.name = "threads",
     .metavar = "N",
     .help = "visit stripes of contacts, the same bits for any N; 0: natural order",
     .kind = SS_OPTION_INTEGER,
     .place = offsetof(settings, threads),
     .low = 0,
     .high = 256},
    {.name = "trace",
     .metavar = "FILE.csv",
     .help = "all measures after each iteration",
     .kind = SS_OPTION_TEXT,
     .place = offsetof(settings, trace)},
    {.name = "out",
     .metavar = "FILE.h5",
     .help = "the problems as read, with the answers in /solution",
     .kind = SS_OPTION_TEXT,
     .place = offsetof(settings, out)},
    SS_OPTION_FORMAT(settings),
    {.name = NULL},
};

static const ss_command COMMAND = {
    .verb = "solve",
    .operands = "FILE",
    .summary = "Solves the problems of a file, a row each.",
    .text =
        "status is the judge's word: solved means that fb, recomputed from the problem, is at\n"
        "most the tolerance. Otherwise it says why the solver ended: stopped (by its own rule),\n"
        "max_iter, time_limit, stalled (at the rounding floor, or nothing moves), interrupted,\n"
        "crashed (a solver that runs in a process of its own, as Siconos' do), bad_input;\n"
        "no_solution where a certificate proves that there is none, and undecided where the\n"
        "solver says so and no proof is found either way.\n"
        "local_solves counts calls of the local solver: contacts at rest or frozen have none.\n"
        "alt_percent and fail_percent are the shares of them that called the fail-safe and that\n"
        "ended without an answer. seconds is the solve with its set-up, without the\n"
        "trace. Ctrl-C ends the solve, keeps the best iterate and leaves out what is to come.\n"
        "--out is written only where every problem of FILE could be read.\n",
    .example = "  stickslip solve hair.h5 --solver mfb+enum --tol 1e-8 --out answer.h5\n",
    .exits =
        "  0 all solved, 1 the command line is wrong, 2 a problem is not solved to tolerance,\n"
        "  3 a file is wrong, 4 the machine is at fault\n",
    .options = OPTIONS,
    .min_operands = 1,
    .max_operands = 1,
    .needs = "a FILE",
};

typedef struct solving {
    const settings *settings;
    const ss_method *method;
    ss_rows *rows;
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
        ss_complain(COMMAND.verb, "%s holds no guess; the start is zero", item->label);
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
    ss_run_give(run, task, item->problem);
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
        .clock = CLOCK_MONOTONIC,
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
            ss_rows_struct(all->rows, &row);
        }
    }
    ss_trace_end(all->trace);
    if (status == SS_OK) {
        status =
            ss_run_decide(task.problem, &run.result, &run.status, run.detail, sizeof run.detail, e);
    }
    if (status == SS_OK) {
        const ss_record_row row = ss_run_row(item->label, &task, &run);
        ss_rows_struct(all->rows, &row);
        *solved = run.verdict.solved;
        status = keep_answer(all, item, &task, &run, e);
    }
    ss_run_free(&run);
    return status;
}

static int solve(const ss_item *item, void *context)
{
    solving *all = context;
    if (ss_interrupted) {
        return SS_EXIT_UNSOLVED;
    }
    const int code = ss_item_complain(COMMAND.verb, item);
    if (code != SS_EXIT_OK) {
        const ss_record_row row =
            ss_run_row_bad(item->label, all->method, all->settings->tolerance, item->error->text);
        ss_rows_struct(all->rows, &row);
        return code;
    }
    bool solved = false;
    ss_error error;
    const ss_status status = solve_one(all, item, &solved, &error);
    if (status != SS_OK) {
        ss_complain(COMMAND.verb, "%s: %s", item->label, error.text);
        return (int)status;
    }
    all->nsolved++;
    if (ss_interrupted) {
        ss_complain(COMMAND.verb,
                    "interrupted; the best iterate of %s is kept, what follows is left out",
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
        all->rows = ss_rows_of_fields(stdout, (ss_format)s->format, ss_result_fields);
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
        ss_complain(COMMAND.verb, "%s is not written: %s", all->settings->out,
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
        ss_complain(COMMAND.verb, "%s", error.text);
    }
    ss_writer_close(all->writer);
    const bool printed = ss_rows_finish(all->rows) == SS_OK;
    return ss_larger_code(code, printed ? (int)status : SS_EXIT_SYSTEM);
}

static int solve_file(const settings *s, const ss_method *method, const char *file)
{
    solving all = {.settings = s, .method = method};
    ss_error error;
    const ss_status status = open_all(s, &all, &error);
    if (status != SS_OK) {
        ss_complain(COMMAND.verb, "%s", error.text);
        ss_error ignored;
        ss_trace_close(all.trace, &ignored);
        ss_writer_close(all.writer);
        return (int)status;
    }
    ss_interrupt_catch();
    const int code = ss_walk(COMMAND.verb, file, s->problem, solve, &all);
    if (ss_interrupted && all.nsolved == 0) {
        ss_complain(COMMAND.verb, "interrupted before the first solve");
    }
    return close_all(&all, code);
}

static bool same_file(const char *a, const char *b)
{
    struct stat first, second;
    if (a == NULL || b == NULL) {
        return false;
    }
    if (stat(a, &first) != 0 || stat(b, &second) != 0) {
        return strcmp(a, b) == 0;
    }
    return first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

// A trace would overwrite what it is called like, before it was read.
static bool trace_has_a_place(const settings *s, const char *file)
{
    const bool input = same_file(s->trace, file), out = same_file(s->trace, s->out);
    if (input || out) {
        ss_complain(COMMAND.verb, "--trace %s would overwrite %s", s->trace,
                    input ? "the problems" : "the file of --out");
    }
    return !input && !out;
}

int ss_cmd_solve(int argc, char **argv)
{
    settings s = DEFAULTS;
    ss_operands operands;
    int code;
    if (!ss_options_parse(&COMMAND, &s, argc, argv, &operands, &code)) {
        return code;
    }
    if (!trace_has_a_place(&s, operands.text[0])) {
        return SS_EXIT_USAGE;
    }
    ss_method *method = NULL;
    ss_error error;
    const ss_status status = ss_method_parse(s.solver, &method, &error);
    if (status != SS_OK) {
        ss_complain(COMMAND.verb, "--solver %s: %s", s.solver, error.text);
        return status == SS_BAD_INPUT ? SS_EXIT_USAGE : SS_EXIT_SYSTEM;
    }
    ss_run_remark_threads(COMMAND.verb, s.threads, method);
    code = solve_file(&s, method, operands.text[0]);
    ss_method_free(method);
    return code;
}
