// stickslip plot: what a record says, in a picture.
#include <limits.h>
#include <math.h>
#include <stddef.h>

#include "harness/cli.h"
#include "harness/complain.h"
#include "harness/figure.h"

// Those before ORBIT are made from a record, the others from statistics of simulations.
enum {
    ITERATIONS,
    PROFILE,
    CONVERGENCE,
    WORK_PRECISION,
    ASSEMBLY,
    ORBIT,
    DISPERSION,
    STRETCH,
    TRAJECTORY
};

static const char *const FIGURES[] = {"iterations", "profile", "convergence", "work-precision",
                                      "assembly",   "orbit",   "dispersion",  "stretch",
                                      "trajectory", NULL};

typedef struct settings {
    int figure;
    const char *out, *problem;
    double tolerance; // NaN: the record's
} settings;

static const ss_option OPTIONS[] = {
    SS_OPT_CHOICE("figure", "FIGURE", figure, FIGURES, "which figure"),
    SS_OPT_TEXT("out", "FILE", out, "the picture, FILE.svg, FILE.png or FILE.pdf",
                .required = true),
    SS_OPT_RECORD_TOLERANCE,
    SS_OPT_TEXT("problem", "NAME", problem,
                "only this problem instead of the median (figure convergence)"),
    {.name = NULL},
};

static const settings DEFAULTS = {.figure = ITERATIONS, .tolerance = NAN};

static const char VERB[] = "plot";

static ss_status make(const settings *s, const ss_trials *trials, ss_figure *figure, ss_error *e)
{
    switch (s->figure) {
    case PROFILE:
        return ss_figure_profile(trials, figure, e);
    case CONVERGENCE:
        return ss_figure_convergence(trials, s->problem, figure, e);
    case WORK_PRECISION:
        return ss_figure_work_precision(trials, figure, e);
    case ASSEMBLY:
        return ss_figure_assembly(trials, figure, e);
    default:
        return ss_figure_iterations(trials, figure, e);
    }
}

static ss_status draw(const ss_trials *trials, const void *context, ss_error *e)
{
    const settings *s = context;
    ss_figure figure = {0};
    ss_status status = make(s, trials, &figure, e);
    if (status == SS_OK) {
        status = ss_figure_draw(&figure, s->out, e);
    }
    ss_figure_free(&figure);
    return status;
}

static ss_status make_of_runs(const settings *s, const ss_stats *runs, size_t count,
                              ss_figure *figure, ss_error *e)
{
    switch (s->figure) {
    case ORBIT:
        return ss_figure_orbit(runs, count, figure, e);
    case STRETCH:
        return ss_figure_stretch(runs, count, figure, e);
    case TRAJECTORY:
        return ss_figure_trajectory(runs, count, figure, e);
    default:
        return ss_figure_dispersion(runs, count, figure, e);
    }
}

static ss_status draw_runs(const settings *s, const ss_operands *files, ss_error *e)
{
    const size_t count = (size_t)files->count;
    ss_stats *runs = NULL;
    ss_figure figure = {0};
    ss_status status = ss_stats_read_all(files->text, count, &runs, e);
    if (status == SS_OK) {
        status = make_of_runs(s, runs, count, &figure, e);
    }
    if (status == SS_OK) {
        status = ss_figure_draw(&figure, s->out, e);
    }
    ss_figure_free(&figure);
    ss_stats_free_all(runs, count);
    return status;
}

// Characters that a gnuplot string cannot hold.
static bool has_control(const char *path)
{
    for (const char *c = path; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20) {
            return true;
        }
    }
    return false;
}

static bool check(const settings *s, const ss_operands *files)
{
    if (s->figure < ORBIT && files->count > 1) {
        ss_complain(VERB, "--figure %s takes only one RESULTS, and '%s' is one too many",
                    FIGURES[s->figure], files->text[1]);
        return false;
    }
    if (s->figure >= ORBIT && !isnan(s->tolerance)) {
        ss_complain(VERB, "--tol goes with figures of a record, not with --figure %s",
                    FIGURES[s->figure]);
        return false;
    }
    if (!ss_figure_can_draw(s->out) || has_control(s->out)) {
        ss_complain(VERB, "--out takes a name that ends in .svg, .png or .pdf, not '%s'", s->out);
        return false;
    }
    if (s->problem != NULL && s->figure != CONVERGENCE) {
        ss_complain(VERB, "--problem goes with --figure convergence, not with --figure %s",
                    FIGURES[s->figure]);
        return false;
    }
    return true;
}

static int run_plot(const void *given, const ss_operands *files)
{
    const settings *s = given;
    if (!check(s, files)) {
        return SS_EXIT_USAGE;
    }
    ss_error error;
    const ss_status status =
        s->figure >= ORBIT ? draw_runs(s, files, &error)
                           : ss_trials_with(VERB, files->text[0], s->tolerance, draw, s, &error);
    ss_complain(VERB, "%s%s", status == SS_OK ? "wrote " : "",
                status == SS_OK ? s->out : error.text);
    return (int)status;
}

const ss_verb ss_verb_plot = {
    .name = VERB,
    .summary = "Draws a record of runs or the statistics of simulations.",
    .operands = "RESULTS...",
    .min_operands = 1,
    .max_operands = INT_MAX,
    .needs = "a RESULTS",
    .options = OPTIONS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .text = "iterations is Figure 11 of [D11]: the percentage of problems that need more than x "
            "iterations; one that is never solved needs more than any x. profile: the percentage "
            "solved within x times the time of the fastest solver. convergence: fb after each "
            "iteration. work-precision: the median time until fb is first reached. assembly is "
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
    .example = "  stickslip plot results.h5 --figure iterations --out fig11.svg\n"
               "  stickslip plot mfb.csv enum.csv --figure orbit --out fig7.svg\n",
    .exits = {[SS_EXIT_BAD_INPUT] = "a file is unusable or contains no such runs",
              [SS_EXIT_SYSTEM] = "system error, or gnuplot is missing or failed"},
    .run = run_plot,
};
