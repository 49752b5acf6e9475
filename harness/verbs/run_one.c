// stickslip run-one: the child of `bench`. One problem, one solver, one row on file SS_CHILD_FILE. It
// is in no list of verbs.
#include <stdio.h>
#include <string.h>

#include "harness/bench.h"
#include "harness/cli.h"
#include "harness/complain.h"
#include "harness/items.h"
#include "problems/child.h"
#include "harness/run.h"

const char SS_RUN_ONE[] = "run-one";

typedef struct settings {
    const char *problem, *solver;
    ss_bench_settings bench;
    int start;
} settings;

static const settings DEFAULTS = {.solver = "mfb+enum"};

static const ss_option OPTIONS[] = {
    SS_OPT_TEXT("problem", "NAME", problem, ""),
    SS_OPT_TEXT("solver", "SPEC", solver, ""),
    SS_OPT_REAL("tol", "T", bench.tolerance, 0, 1, "", .required = true),
    SS_OPT_REAL("time-limit", "S", bench.time_limit, 0, 1e9, "", .required = true),
    SS_OPT_INT("max-iter", "N", bench.max_iterations, 0, 2e9, "", .required = true),
    SS_OPT_INT("repeat", "N", bench.repeats, 1, 1e6, "", .required = true),
    SS_OPT_START,
    {.name = NULL},
};

typedef struct running {
    const settings *settings;
    const ss_method *method;
    ss_record_row row;
} running;

static void measure(running *a, const ss_item *item)
{
    if (item->problem != NULL) {
        ss_bench_measure(item->problem, a->method, &a->settings->bench, &a->row);
        return;
    }
    const bool bad = item->error->status == SS_BAD_INPUT;
    snprintf(a->row.status, sizeof a->row.status, "%s", bad ? "bad_input" : "crashed");
    snprintf(a->row.detail, sizeof a->row.detail, "%.*s", (int)sizeof a->row.detail - 1,
             item->error->text);
}

static int run(const settings *s, running *a, const ss_operands *files)
{
    ss_error error;
    ss_items it = ss_items_of(SS_RUN_ONE, files->count, files->text, s->problem);
    for (ss_item item; ss_items_next(&it, &item);) {
        measure(a, &item);
    }
    int code = ss_items_end(&it);
    if (code == SS_EXIT_OK) {
        const ss_status status = ss_bench_send(SS_CHILD_FILE, &a->row, &error);
        if (status != SS_OK) {
            ss_complain(SS_RUN_ONE, "%s", error.text);
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
        ss_complain(SS_RUN_ONE, "%s: %s", spec, error.text);
    }
    return status;
}

static int run_run_one(const void *given, const ss_operands *files)
{
    settings s = *(const settings *)given;
    ss_child_limit_memory(UINT64_MAX);
    s.bench.from_guess = s.start == SS_START_GUESS;
    ss_method *method = NULL;
    int code = SS_EXIT_USAGE;
    if (parse(s.solver, &method) == SS_OK) {
        running a = {&s, method, ss_record_row_blank()};
        code = run(&s, &a, files);
    }
    ss_method_free(method);
    return code;
}

const ss_verb ss_verb_run_one = {
    .name = SS_RUN_ONE,
    .operands = "FILE",
    .min_operands = 1,
    .max_operands = 1,
    .needs = "a FILE",
    .options = OPTIONS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .example = "",
    .run = run_run_one,
};
