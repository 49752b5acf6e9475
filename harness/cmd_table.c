// stickslip table: what a record says, in a table.
#include <math.h>
#include <stddef.h>

#include "harness/complain.h"
#include "harness/options.h"
#include "harness/table_kinds.h"
#include "harness/verbs.h"

enum { SOLVERS, PROBLEMS, PROFILE, LOCAL };

static const char *const KINDS[] = {"solvers", "problems", "profile", "local", NULL};

typedef struct settings {
    int kind, layout;
    bool paper;
    double tolerance; // NaN: the record's
} settings;

static const ss_option OPTIONS[] = {
    {.name = "kind",
     .metavar = "KIND",
     .help = "which table",
     .kind = SS_OPTION_CHOICE,
     .place = offsetof(settings, kind),
     .choices = KINDS},
    {.name = "paper",
     .help = "the numbers of [D11] Table 2 beside ours (kind solvers)",
     .kind = SS_OPTION_FLAG,
     .place = offsetof(settings, paper)},
    {.name = "tol",
     .metavar = "T",
     .help = "the largest fb that counts as solved; without it the record's",
     .kind = SS_OPTION_REAL,
     .place = offsetof(settings, tolerance),
     .low = 0,
     .high = 1},
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
    .operands = "RESULTS",
    .summary = "Prints what a record of runs says, in a table.",
    .text = "Kind solvers is Table 2 of [D11]: fail-safe calls, local failures, problems above\n"
            "tolerance, iterations and time of each solver over all problems. problems: who was\n"
            "best on each. profile: the share of problems solved within 1.2, 2, 5, 10 and 100\n"
            "times the time of the fastest. local: what a local solve costs.\n"
            "A tolerance looser than that of the runs is answered from their histories. Footnotes\n"
            "say how each number was measured; csv leaves them out.\n",
    .example = "  stickslip table results.h5 --paper\n"
               "  stickslip table results.h5 --kind profile --format latex\n",
    .exits =
        "  0 printed, 1 the command line is wrong, 3 the record is wrong or has no such runs,\n"
        "  4 the machine is at fault\n",
    .options = OPTIONS,
    .min_operands = 1,
    .max_operands = 1,
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

static ss_status print(const ss_trials *trials, const void *context, ss_error *e)
{
    const settings *s = context;
    ss_table *table = make(s, trials);
    const ss_status status = ss_table_print(table, stdout, (ss_layout)s->layout, e);
    ss_table_free(table);
    return status;
}

int ss_cmd_table(int argc, char **argv)
{
    settings s = {.kind = SOLVERS, .layout = SS_LAYOUT_TEXT, .tolerance = NAN};
    ss_operands operands;
    int code;
    if (!ss_options_parse(&COMMAND, &s, argc, argv, &operands, &code)) {
        return code;
    }
    if (s.paper && s.kind != SOLVERS) {
        ss_complain(COMMAND.verb, "--paper goes with --kind solvers, not with --kind %s",
                    KINDS[s.kind]);
        return SS_EXIT_USAGE;
    }
    ss_error error;
    const ss_status status = ss_trials_with(operands.text[0], s.tolerance, print, &s, &error);
    if (status != SS_OK) {
        ss_complain(COMMAND.verb, "%s", error.text);
    }
    return (int)status;
}
