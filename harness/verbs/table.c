// stickslip table: what a record says, in a table.
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/cli.h"
#include "harness/results/tables.h"

typedef struct settings {
    int kind;
    ss_table_style style;
    bool paper;
    double tolerance;    // NaN: the record's
    const char *other;   // NULL: no comparison
    const char *against; // NULL: [D11]'s best
} settings;

static const ss_option OPTIONS[] = {
    SS_OPT_KIND("kind", "KIND", kind, ss_table_kinds, "which table"),
    SS_OPT_FLAG("paper", paper, "the numbers of [D11] beside ours (kinds solvers and simulation)"),
    SS_OPT_TEXT("compare", "OTHER", other,
                "another record, compared run by run (kinds solvers and problems)"),
    SS_OPT_TEXT("against", "SOLVER", against,
                "the solver that the others are compared with (kind ratio)"),
    SS_OPT_RECORD_TOLERANCE,
    SS_OPT_TABLE,
    {.name = NULL},
};

static const settings DEFAULTS = {.tolerance = NAN};

static const char VERB[] = "table";

// ---- Options that go with some kinds alone

static bool takes_paper(const ss_table_kind *kind)
{
    return kind->takes_paper;
}

static bool takes_against(const ss_table_kind *kind)
{
    return kind->takes_against;
}

static bool takes_compare(const ss_table_kind *kind)
{
    return kind->compare != NULL;
}

// False with a sentence if the option was given and the kind does not take it.
static bool goes_with(const char *option, bool given, bool (*takes)(const ss_table_kind *kind),
                      const ss_table_kind *kind)
{
    if (!given || takes(kind)) {
        return true;
    }
    char kinds[100] = "";
    for (const ss_table_kind *k = ss_table_kinds; k->name != NULL; k++) {
        const size_t used = strlen(kinds);
        if (takes(k)) {
            snprintf(kinds + used, sizeof kinds - used, "%s%s", used > 0 ? " or " : "", k->name);
        }
    }
    ss_complain(VERB, "%s goes with --kind %s, not with --kind %s", option, kinds, kind->name);
    return false;
}

static bool check(const settings *s, const ss_table_kind *kind, const ss_operands *files)
{
    if (!goes_with("--paper", s->paper, takes_paper, kind) ||
        !goes_with("--compare", s->other != NULL, takes_compare, kind) ||
        !goes_with("--against", s->against != NULL, takes_against, kind)) {
        return false;
    }
    if (kind->needs != SS_NEEDS_RUNS && files->count > 1) {
        ss_complain(VERB, "--kind %s takes only one RESULTS, and '%s' is one too many", kind->name,
                    files->text[1]);
        return false;
    }
    if (s->other != NULL && s->paper) {
        ss_complain(VERB, "--compare and --paper are two tables: leave one out");
        return false;
    }
    if (kind->needs == SS_NEEDS_RUNS && !isnan(s->tolerance)) {
        ss_complain(VERB,
                    "--tol goes with tables of a record, not with --kind %s: "
                    "its steps were solved to one tolerance",
                    kind->name);
        return false;
    }
    if (kind->needs == SS_NEEDS_RECORD && !isnan(s->tolerance)) {
        ss_complain(VERB, "--tol does not go with --kind %s, which prints runs as they are",
                    kind->name);
        return false;
    }
    return true;
}

// ---- The table

// The exit code, after a sentence where it is not 0.
static int print(const settings *s, const ss_table_kind *kind, const ss_results *results,
                 const ss_results *other)
{
    const ss_format format = (ss_format)s->style.format;
    const ss_table_request request = {.results = results,
                                      .other = other,
                                      .paper = s->paper,
                                      .against = s->against,
                                      .for_programs = !ss_format_is_for_people(format)};
    ss_table *table = ss_table_new(stdout, format);
    ss_error error;
    const ss_status made = (other != NULL ? kind->compare : kind->make)(&request, table, &error);
    const ss_status chosen =
        made == SS_OK ? ss_table_choose(table, s->style.columns, &error) : made;
    if (chosen == SS_OK) {
        return ss_table_end(&ss_verb_table, table, SS_EXIT_OK);
    }
    ss_complain(VERB, "%s", error.text);
    ss_table_free(table);
    return made == SS_OK && chosen == SS_BAD_INPUT ? SS_EXIT_USAGE : (int)chosen;
}

static ss_status read_record(const char *path, ss_needs needs, double tolerance,
                             ss_results *results, ss_error *e)
{
    const ss_status status = ss_results_of_record(path, needs, tolerance, results, e);
    if (status == SS_OK) {
        ss_results_warn(VERB, results);
    }
    return status;
}

static int run_table(const void *given, const ss_operands *files)
{
    const settings *s = given;
    const ss_table_kind *kind = &ss_table_kinds[s->kind];
    if (!check(s, kind, files)) {
        return SS_EXIT_USAGE;
    }
    ss_error error;
    ss_results results, other = {0};
    ss_status status =
        kind->needs == SS_NEEDS_RUNS
            ? ss_results_of_runs(files->text, (size_t)files->count, &results, &error)
            : read_record(files->text[0], kind->needs, s->tolerance, &results, &error);
    if (status == SS_OK && s->other != NULL) {
        status = read_record(s->other, kind->needs, s->tolerance, &other, &error);
    }
    int code = (int)status;
    if (status == SS_OK) {
        code = print(s, kind, &results, s->other != NULL ? &other : NULL);
    } else {
        ss_complain(VERB, "%s", error.text);
    }
    ss_results_free(&results);
    ss_results_free(&other);
    return code;
}

const ss_verb ss_verb_table = {
    .name = VERB,
    .summary = "Prints a table from a record of runs or from the statistics of simulations.",
    .operands = "RESULTS...",
    .min_operands = 1,
    .max_operands = INT_MAX,
    .needs = "RESULTS: a record of bench, or a file of simulate --stats",
    .options = OPTIONS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .text = "Kind solvers is Table 2 of [D11]: fail-safe calls, local failures, problems above "
            "tolerance, iterations and time of each solver over all problems; %>own, by the rule "
            "that a spec with as=printed or stop= asks for. problems: the best "
            "solver of each. profile: the share of problems solved within 1.2, 2, 5, 10 and 100 "
            "times the time of the fastest. local: the cost of a local solve. ratio: how many "
            "times as fast each solver is as one of them, mfb+enum or --against. rows: the runs "
            "of the record, as they are. simulation is Table 1 of [D11], a row for each file of "
            "simulate --stats.\n"
            "--compare pairs the runs of two records that have one problem, by its checksum, and "
            "one solver, with the ratio of their times where both solved it. A tolerance looser "
            "than that of the runs is answered from their histories. Footnotes say how each number "
            "was measured; csv and json omit them.\n",
    .example = "  stickslip table results.db --paper\n"
               "  stickslip table results.db --kind profile --format latex\n"
               "  stickslip table new.db --compare old.db\n"
               "  stickslip table pony.csv curly.csv --kind simulation --paper\n",
    .exits = {[SS_EXIT_BAD_INPUT] = "a file is unusable or contains no such runs"},
    .run = run_table,
};
