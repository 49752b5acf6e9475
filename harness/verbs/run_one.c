// stickslip run-one: the child of `bench`. One problem, one solver, one row on file SS_CHILD_FILE. It
// is no verb for people and stands in no list.
#include <stdio.h>
#include <string.h>

#include "harness/bench.h"
#include "harness/complain.h"
#include "harness/options.h"
#include "harness/verbs.h"
#include "harness/walk.h"
#include "problems/child.h"
#include "harness/run.h"

const char SS_RUN_ONE[] = "run-one";

typedef struct settings {
    const char *problem, *solver;
    ss_bench_settings bench;
    int start;
} settings;

#define NUMBER(word, type, field, from, to)                                                        \
    {                                                                                              \
        .name = word, .metavar = "N", .help = "", .kind = type,                                    \
        .place = offsetof(settings, bench.field), .required = true, .low = from, .high = to        \
    }
#define TEXT(word, field)                                                                          \
    {                                                                                              \
        .name = word, .metavar = "TEXT", .help = "", .kind = SS_OPTION_TEXT,                       \
        .place = offsetof(settings, field)                                                         \
    }

static const ss_option OPTIONS[] = {
    TEXT("problem", problem),
    TEXT("solver", solver),
    NUMBER("tol", SS_OPTION_REAL, tolerance, 0, 1),
    NUMBER("time-limit", SS_OPTION_REAL, time_limit, 0, 1e9),
    NUMBER("max-iter", SS_OPTION_INTEGER, max_iterations, 0, 2e9),
    NUMBER("repeat", SS_OPTION_INTEGER, repeats, 1, 1e6),
    {.name = "start",
     .metavar = "START",
     .help = "",
     .kind = SS_OPTION_CHOICE,
     .place = offsetof(settings, start),
     .choices = ss_start_names},
    {.name = NULL},
};

static const ss_command COMMAND = {
    .verb = SS_RUN_ONE,
    .operands = "FILE",
    .summary = "Measures one solver on one problem for the verb bench.",
    .text = "",
    .example = "",
    .exits = "",
    .options = OPTIONS,
    .min_operands = 1,
    .max_operands = 1,
    .needs = "a FILE",
};

typedef struct running {
    const settings *settings;
    const ss_method *method;
    ss_record_row row;
} running;

static int measure(const ss_item *item, void *context)
{
    running *a = context;
    if (item->problem != NULL) {
        ss_bench_measure(item->problem, a->method, &a->settings->bench, &a->row);
        return SS_EXIT_OK;
    }
    const bool bad = item->error->status == SS_BAD_INPUT;
    snprintf(a->row.status, sizeof a->row.status, "%s", bad ? "bad_input" : "crashed");
    snprintf(a->row.detail, sizeof a->row.detail, "%.*s", (int)sizeof a->row.detail - 1,
             item->error->text);
    return SS_EXIT_OK;
}

static int run(const settings *s, running *a, const char *file)
{
    ss_error error;
    int code = ss_walk(COMMAND.verb, file, s->problem, measure, a);
    if (code == SS_EXIT_OK) {
        const ss_status status = ss_bench_send(SS_CHILD_FILE, &a->row, &error);
        if (status != SS_OK) {
            ss_complain(COMMAND.verb, "%s", error.text);
        }
        code = (int)status;
    }
    ss_record_row_free(&a->row);
    return code;
}

static ss_status parse(const char *spec, ss_method **method)
{
    ss_error error;
    const ss_status status = ss_method_parse(spec, method, &error);
    if (status != SS_OK) {
        ss_complain(COMMAND.verb, "%s: %s", spec, error.text);
    }
    return status;
}

int ss_cmd_run_one(int argc, char **argv)
{
    settings s = {.solver = "mfb+enum"};
    ss_operands operands;
    int code;
    if (!ss_options_parse(&COMMAND, &s, argc, argv, &operands, &code)) {
        return code;
    }
    ss_child_limit_memory(UINT64_MAX);
    s.bench.from_guess = s.start == 1;
    ss_method *method = NULL;
    code = SS_EXIT_USAGE;
    if (parse(s.solver, &method) == SS_OK) {
        running a = {&s, method, ss_record_row_blank()};
        code = run(&s, &a, operands.text[0]);
    }
    ss_method_free(method);
    return code;
}
