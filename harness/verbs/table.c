// stickslip table: what a record says, in a table.
#include <limits.h>
#include <math.h>
#include <stddef.h>

#include "harness/complain.h"
#include "harness/options.h"
#include "harness/table_kinds.h"
#include "harness/verbs.h"

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
    {.name = "kind",
     .metavar = "KIND",
     .help = "which table",
     .kind = SS_OPTION_CHOICE,
     .place = offsetof(settings, kind),
     .choices = KINDS},
    {.name = "paper",
     .help = "the numbers of [D11] beside ours (kinds solvers and simulation)",
     .kind = SS_OPTION_FLAG,
     .place = offsetof(settings, paper)},
    {.name = "compare",
     .metavar = "OTHER",
     .help = "another record beside the first, where both hold a run (kinds solvers and problems)",
     .kind = SS_OPTION_TEXT,
     .place = offsetof(settings, other)},
    {.name = "against",
     .metavar = "SOLVER",
     .help = "the solver of the record that the others are compared with (kind ratio)",
     .kind = SS_OPTION_TEXT,
     .place = offsetof(settings, against)},
    SS_OPTION_RECORD_TOLERANCE(settings),
    {.name = "format",
     .metavar = "FORMAT",
     .help = "how the table is printed",
     .kind = SS_OPTION_CHOICE,
     .place = offsetof(settings, layout),
     .choices = ss_layout_names},
    {.name = NULL},
};

static const ss_command COMMAND = {
    .verb = "table",
    .operands = "RESULTS...",
    .summary = "Prints what a record of runs, or the statistics of simulations, say, in a table.",
    .text = "Kind solvers is Table 2 of [D11]: fail-safe calls, local failures, problems above\n"
            "tolerance, iterations and time of each solver over all problems. problems: who was\n"
            "best on each. profile: the share of problems solved within 1.2, 2, 5, 10 and 100\n"
            "times the time of the fastest. local: what a local solve costs. ratio: how many\n"
            "times as fast as one of them, mfb+enum or --against, each solver is. simulation is\n"
            "Table 1 of [D11], a row for each file of simulate --stats.\n"
            "--compare sets the runs of two records side by side that are of one problem, by its\n"
            "checksum, and one solver, with the ratio of their times where both solved it.\n"
            "A tolerance looser than that of the runs is answered from their histories. Footnotes\n"
            "say how each number was measured; csv leaves them out.\n",
    .example = "  stickslip table results.h5 --paper\n"
               "  stickslip table results.h5 --kind profile --format latex\n"
               "  stickslip table new.h5 --compare old.h5\n"
               "  stickslip table pony.csv curly.csv --kind simulation --paper\n",
    .exits = "  0 printed, 1 the command line is wrong, 3 a file is wrong or has no such runs,\n"
             "  4 the machine is at fault\n",
    .options = OPTIONS,
    .min_operands = 1,
    .max_operands = INT_MAX,
    .needs = "a RESULTS",
};

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
    return ss_trials_with(COMMAND.verb, s->other, s->tolerance, print_both, &both, e);
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
        ss_complain(COMMAND.verb,
                    "--paper goes with --kind solvers or simulation, not with --kind %s",
                    KINDS[s->kind]);
        return false;
    }
    if (s->kind != SIMULATION && files->count > 1) {
        ss_complain(COMMAND.verb, "--kind %s takes only one RESULTS, and '%s' is one too many",
                    KINDS[s->kind], files->text[1]);
        return false;
    }
    if (s->other != NULL && s->kind != SOLVERS && s->kind != PROBLEMS) {
        ss_complain(COMMAND.verb,
                    "--compare goes with --kind solvers or problems, not with --kind %s",
                    KINDS[s->kind]);
        return false;
    }
    if (s->other != NULL && s->paper) {
        ss_complain(COMMAND.verb, "--compare and --paper are two tables: leave one out");
        return false;
    }
    if (s->against != NULL && s->kind != RATIO) {
        ss_complain(COMMAND.verb, "--against goes with --kind ratio, not with --kind %s",
                    KINDS[s->kind]);
        return false;
    }
    if (s->kind == SIMULATION && !isnan(s->tolerance)) {
        ss_complain(COMMAND.verb, "--tol goes with tables of a record, not with --kind simulation: "
                                  "its steps were solved to one tolerance");
        return false;
    }
    return true;
}

int ss_cmd_table(int argc, char **argv)
{
    settings s = {.kind = SOLVERS, .layout = SS_LAYOUT_TEXT, .tolerance = NAN};
    ss_operands operands;
    int code;
    if (!ss_options_parse(&COMMAND, &s, argc, argv, &operands, &code)) {
        return code;
    }
    if (!check(&s, &operands)) {
        return SS_EXIT_USAGE;
    }
    s.results = operands.text[0];
    ss_error error;
    const ss_status status = s.kind == SIMULATION
                                 ? print_runs(&s, &operands, &error)
                                 : ss_trials_with(COMMAND.verb, s.results, s.tolerance,
                                                  s.other != NULL ? compare : print, &s, &error);
    if (status != SS_OK) {
        ss_complain(COMMAND.verb, "%s", error.text);
    }
    return (int)status;
}
