// stickslip table: what a record says, in a table.
#include <limits.h>
#include <math.h>
#include <stddef.h>

#include "harness/cli.h"
#include "harness/complain.h"
#include "harness/table_kinds.h"

enum { SOLVERS, PROBLEMS, PROFILE, LOCAL, RATIO, SIMULATION };

static const char *const KINDS[] = {"solvers", "problems",   "profile", "local",
                                    "ratio",   "simulation", NULL};

#define REFERENCE "mfb+enum" // of kind ratio: [D11]'s best

typedef struct settings {
    int kind, layout;
    bool paper;
    double tolerance;    // NaN: the record's
    const char *other;   // NULL: no comparison
    const char *against; // the reference of kind ratio; NULL: REFERENCE
    const char *results; // the operand
} settings;

static const ss_option OPTIONS[] = {
    SS_OPT_CHOICE("kind", "KIND", kind, KINDS, "which table"),
    SS_OPT_FLAG("paper", paper, "the numbers of [D11] beside ours (kinds solvers and simulation)"),
    SS_OPT_TEXT("compare", "OTHER", other,
                "another record, compared run by run (kinds solvers and problems)"),
    SS_OPT_TEXT("against", "SOLVER", against,
                "the solver that the others are compared with (kind ratio)"),
    SS_OPT_RECORD_TOLERANCE,
    SS_OPT_CHOICE("format", "FORMAT", layout, ss_layout_names, "how the table is printed"),
    {.name = NULL},
};

static const settings DEFAULTS = {.kind = SOLVERS, .layout = SS_LAYOUT_TEXT, .tolerance = NAN};

static const char VERB[] = "table";

static ss_table *make(const settings *s, const ss_trials *trials)
{
    switch (s->kind) {
    case PROBLEMS:
        return ss_table_problems(trials);
    case PROFILE:
        return ss_table_profile(trials);
    case LOCAL:
        return ss_table_local(trials);
    default:
        return ss_table_solvers(trials, s->paper, s->layout == SS_LAYOUT_CSV);
    }
}

typedef struct comparison {
    const settings *settings;
    const ss_trials *first;
} comparison;

static ss_status print_both(const ss_trials *second, const void *context, ss_error *e)
{
    const comparison *both = context;
    const settings *s = both->settings;
    const char *const names[] = {s->results, s->other};
    ss_table *table;
    ss_status status = ss_table_compare(both->first, second, names, s->kind == PROBLEMS, &table, e);
    if (status == SS_OK) {
        status = ss_table_print(table, stdout, (ss_layout)s->layout, e);
    }
    ss_table_free(table);
    return status;
}

static ss_status compare(const ss_trials *trials, const void *context, ss_error *e)
{
    const settings *s = context;
    const comparison both = {.settings = s, .first = trials};
    return ss_trials_with(VERB, s->other, s->tolerance, print_both, &both, e);
}

static ss_status print(const ss_trials *trials, const void *context, ss_error *e)
{
    const settings *s = context;
    ss_table *table = NULL;
    ss_status status = SS_OK;
    if (s->kind == RATIO) {
        status = ss_table_ratio(trials, s->against != NULL ? s->against : REFERENCE, &table, e);
    } else {
        table = make(s, trials);
    }
    if (status == SS_OK) {
        status = ss_table_print(table, stdout, (ss_layout)s->layout, e);
    }
    ss_table_free(table);
    return status;
}

static ss_status print_runs(const settings *s, const ss_operands *files, ss_error *e)
{
    const size_t count = (size_t)files->count;
    ss_stats *runs = NULL;
    ss_status status = ss_stats_read_all(files->text, count, &runs, e);
    if (status == SS_OK) {
        ss_table *table = ss_table_simulation(runs, count, s->paper);
        status = ss_table_print(table, stdout, (ss_layout)s->layout, e);
        ss_table_free(table);
    }
    ss_stats_free_all(runs, count);
    return status;
}

static bool check(const settings *s, const ss_operands *files)
{
    if (s->paper && s->kind != SOLVERS && s->kind != SIMULATION) {
        ss_complain(VERB, "--paper goes with --kind solvers or simulation, not with --kind %s",
                    KINDS[s->kind]);
        return false;
    }
    if (s->kind != SIMULATION && files->count > 1) {
        ss_complain(VERB, "--kind %s takes only one RESULTS, and '%s' is one too many",
                    KINDS[s->kind], files->text[1]);
        return false;
    }
    if (s->other != NULL && s->kind != SOLVERS && s->kind != PROBLEMS) {
        ss_complain(VERB, "--compare goes with --kind solvers or problems, not with --kind %s",
                    KINDS[s->kind]);
        return false;
    }
    if (s->other != NULL && s->paper) {
        ss_complain(VERB, "--compare and --paper are two tables: leave one out");
        return false;
    }
    if (s->against != NULL && s->kind != RATIO) {
        ss_complain(VERB, "--against goes with --kind ratio, not with --kind %s", KINDS[s->kind]);
        return false;
    }
    if (s->kind == SIMULATION && !isnan(s->tolerance)) {
        ss_complain(VERB, "--tol goes with tables of a record, not with --kind simulation: "
                          "its steps were solved to one tolerance");
        return false;
    }
    return true;
}

static int run_table(const void *given, const ss_operands *files)
{
    settings s = *(const settings *)given;
    if (!check(&s, files)) {
        return SS_EXIT_USAGE;
    }
    s.results = files->text[0];
    ss_error error;
    const ss_status status = s.kind == SIMULATION
                                 ? print_runs(&s, files, &error)
                                 : ss_trials_with(VERB, s.results, s.tolerance,
                                                  s.other != NULL ? compare : print, &s, &error);
    if (status != SS_OK) {
        ss_complain(VERB, "%s", error.text);
    }
    return (int)status;
}

const ss_verb ss_verb_table = {
    .name = VERB,
    .summary = "Prints a table from a record of runs or from the statistics of simulations.",
    .operands = "RESULTS...",
    .min_operands = 1,
    .max_operands = INT_MAX,
    .needs = "a RESULTS",
    .options = OPTIONS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .text = "Kind solvers is Table 2 of [D11]: fail-safe calls, local failures, problems above "
            "tolerance, iterations and time of each solver over all problems. problems: the best "
            "solver of each. profile: the share of problems solved within 1.2, 2, 5, 10 and 100 "
            "times the time of the fastest. local: the cost of a local solve. ratio: how many "
            "times as fast each solver is as one of them, mfb+enum or --against. simulation is "
            "Table 1 of [D11], a row for each file of simulate --stats.\n"
            "--compare pairs the runs of two records that have one problem, by its checksum, and "
            "one solver, with the ratio of their times where both solved it. A tolerance looser "
            "than that of the runs is answered from their histories. Footnotes say how each number "
            "was measured; csv omits them.\n",
    .example = "  stickslip table results.h5 --paper\n"
               "  stickslip table results.h5 --kind profile --format latex\n"
               "  stickslip table new.h5 --compare old.h5\n"
               "  stickslip table pony.csv curly.csv --kind simulation --paper\n",
    .exits = {[SS_EXIT_BAD_INPUT] = "a file is unusable or contains no such runs"},
    .run = run_table,
};
