// stickslip plot: what a record says, in a picture.
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness/cli.h"
#include "harness/run.h"
#include "harness/quote.h"
#include "harness/results/figures.h"

typedef struct settings {
    int figure;
    const char *out, *problem, *solvers;
    const char *tolerances; // NULL: the record's
} settings;

static const ss_option OPTIONS[] = {
    SS_OPT_KIND("figure", "FIGURE", figure, ss_figure_kinds, "which figure"),
    SS_OPT_PATH("out", "FILE", out, "the picture, FILE.svg, FILE.png or FILE.pdf",
                .required = true),
    SS_OPT_TEXT("tol", "LIST", tolerances,
                "the largest error that counts as solved, without it the record's; several, with "
                "commas, make a panel each"),
    SS_OPT_RECORD_SOLVERS,
    SS_OPT_TEXT("problem", "NAME", problem,
                "only this problem instead of the median (figures convergence, convergence-time)"),
    {.name = NULL},
};

static const char VERB[] = "plot";

// The picture, its data and its script must not replace what they are made of.
static bool check_inputs(const settings *s, const ss_operands *files)
{
    static const char *const ENDINGS[] = {"", ".dat", ".gp"};
    for (int k = 0; k < 3 * files->count; k++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s%s", s->out, ENDINGS[k % 3]);
        if (ss_same_file(path, files->text[k / 3])) {
            ss_complain(VERB, "--out %s would replace %s, which the figure is made of", s->out,
                        files->text[k / 3]);
            return false;
        }
    }
    return true;
}

static bool check(const settings *s, const ss_figure_kind *kind, const ss_operands *files)
{
    if (kind->needs != SS_NEEDS_RUNS && files->count > 1) {
        ss_complain(VERB, "--figure %s takes only one RESULTS, and '%s' is one too many",
                    kind->name, files->text[1]);
        return false;
    }
    if (kind->needs == SS_NEEDS_RUNS && (s->tolerances != NULL || s->solvers != NULL)) {
        ss_complain(VERB, "--%s goes with figures of a record, not with --figure %s",
                    s->solvers != NULL ? "solvers" : "tol", kind->name);
        return false;
    }
    if (!ss_figure_can_draw(s->out)) {
        ss_complain(VERB, "--out takes a name that ends in .svg, .png or .pdf, not '%s'", s->out);
        return false;
    }
    if (!ss_is_printable(s->out)) { // its script could not name it
        ss_complain(VERB, "--out %s: a character in it cannot be shown; take another name", s->out);
        return false;
    }
    if (s->problem != NULL && !kind->takes_problem) {
        ss_complain(
            VERB,
            "--problem goes with --figure convergence or convergence-time, not with --figure %s",
            kind->name);
        return false;
    }
    return true;
}

// Makes a panel: the figure at one tolerance.
static ss_status make_panel(const settings *s, double tolerance, const ss_operands *files,
                            ss_figure *figure, ss_error *e)
{
    const ss_figure_kind *kind = &ss_figure_kinds[s->figure];
    ss_results results;
    ss_status status =
        kind->needs == SS_NEEDS_RUNS
            ? ss_results_of_runs(files->text, (size_t)files->count, &results, e)
            : ss_results_of_record(files->text[0], kind->needs, tolerance, &results, e);
    if (status == SS_OK && s->solvers != NULL) {
        status = ss_results_choose(&results, s->solvers, e);
    }
    if (status == SS_OK) {
        ss_results_warn(VERB, &results);
        const ss_figure_request request = {.results = &results, .problem = s->problem};
        status = kind->make(&request, figure, e);
    }
    ss_results_free(&results);
    return status;
}

// Makes the panels, one below the other.
static ss_status make_panels(const settings *s, int count, const double *tolerances,
                             const ss_operands *files, ss_figure *figure, ss_error *e)
{
    ss_status status = SS_OK;
    for (int k = 0; status == SS_OK && k < count; k++) {
        if (k > 0) {
            figure->below = calloc(1, sizeof *figure->below);
            figure = figure->below;
        }
        status = figure != NULL ? make_panel(s, tolerances[k], files, figure, e)
                                : ss_fail_memory(e, "the figure");
    }
    return status;
}

static int run_plot(const void *given, const ss_operands *files)
{
    const settings *s = given;
    double tolerances[SS_MOST_TOLERANCES] = {NAN};
    if (!check(s, &ss_figure_kinds[s->figure], files) || !check_inputs(s, files)) {
        return SS_EXIT_USAGE;
    }
    const int count =
        s->tolerances != NULL ? ss_tolerances_split(VERB, s->tolerances, tolerances) : 1;
    if (count == 0) {
        return SS_EXIT_USAGE;
    }
    ss_error error;
    ss_figure figure = {0};
    ss_status status = make_panels(s, count, tolerances, files, &figure, &error);
    if (status == SS_OK) {
        status = ss_figure_draw(&figure, s->out, &error);
    }
    ss_complain(VERB, "%s%s", status == SS_OK ? "wrote " : "",
                status == SS_OK ? s->out : error.text);
    ss_figure_free(&figure);
    return (int)status;
}

const ss_verb ss_verb_plot = {
    .name = VERB,
    .summary = "Draws a record of runs or the statistics of simulations.",
    .operands = "RESULTS...",
    .min_operands = 1,
    .max_operands = INT_MAX,
    .needs = "RESULTS: a record of bench, or a file of simulate --stats",
    .options = OPTIONS,
    .settings_size = sizeof(settings),
    .text =
        "iterations is Figure 11 of [D11]: the percentage of problems that need more than x "
        "iterations; one that is never solved needs more than any x. profile: the percentage "
        "solved within x times the time of the fastest solver. convergence: the error after each "
        "iteration, the best so far; convergence-time: the same over milliseconds. "
        "work-precision: the median time until a tolerance is first reached. "
        "assembly is "
        "Figure 6 of [D11]: the time to assemble W over the number of contacts; runs of "
        "solvers with :assembly=naive and :form=explicit give its two curves.\n"
        "The other four take files of simulate --stats, a curve each. orbit is Figure 7 of "
        "[D11]: the tip of strand 0, velocity over position in the second half of the run, "
        "along the axis on which it moves most. dispersion is Figure 8: the mean distance of "
        "the tips and the kinetic energy over time. stretch and trajectory are Figures 4 and "
        "3 of [HH13]: by how much the strands are longer than at the start, over time, and "
        "the path of the tip of strand 0, seen along the axis on which it moves least.\n"
        "gnuplot draws. Its script FILE.gp and its data FILE.dat stay beside the picture, to "
        "be changed and run again.\n",
    .example = "  stickslip plot results.db --figure iterations --out fig11.svg\n"
               "  stickslip plot mfb.csv enum.csv --figure orbit --out fig7.svg\n",
    .exits = {[SS_EXIT_BAD_INPUT] = "a file is unusable or contains no such runs",
              [SS_EXIT_SYSTEM] = "system error, or gnuplot is missing or failed"},
    .run = run_plot,
};
