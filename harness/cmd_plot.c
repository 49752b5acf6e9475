// stickslip plot: what a record says, in a picture.
#include <math.h>
#include <stddef.h>

#include "harness/complain.h"
#include "harness/figure.h"
#include "harness/options.h"
#include "harness/verbs.h"

enum { ITERATIONS, PROFILE, CONVERGENCE, WORK_PRECISION };

static const char *const FIGURES[] = {"iterations", "profile", "convergence", "work-precision",
                                      NULL};

typedef struct settings {
    int figure;
    const char *out, *problem;
    double tolerance; // NaN: the record's
} settings;

static const ss_option OPTIONS[] = {
    {.name = "figure",
     .metavar = "FIGURE",
     .help = "which figure",
     .kind = SS_OPTION_CHOICE,
     .place = offsetof(settings, figure),
     .choices = FIGURES},
    {.name = "out",
     .metavar = "FILE",
     .help = "the picture, FILE.svg, FILE.png or FILE.pdf",
     .kind = SS_OPTION_TEXT,
     .place = offsetof(settings, out),
     .required = true},
    {.name = "tol",
     .metavar = "T",
     .help = "the largest fb that counts as solved; without it the record's",
     .kind = SS_OPTION_REAL,
     .place = offsetof(settings, tolerance),
     .low = 0,
     .high = 1},
    {.name = "problem",
     .metavar = "NAME",
     .help = "only this problem instead of the median (figure convergence)",
     .kind = SS_OPTION_TEXT,
     .place = offsetof(settings, problem)},
    {.name = NULL},
};

static const ss_command COMMAND = {
    .verb = "plot",
    .operands = "RESULTS",
    .summary = "Draws what a record of runs says.",
    .text = "iterations is Figure 11 of [D11]: the percentage of problems that need more than x\n"
            "iterations; one that is never solved needs more than any x. profile: the percentage\n"
            "solved within x times the time of the fastest solver. convergence: fb after each\n"
            "iteration. work-precision: the median time until fb is reached first.\n"
            "gnuplot draws; its script FILE.gp and its data FILE.dat stay beside the picture, to\n"
            "be changed and run again.\n",
    .example = "  stickslip plot results.h5 --figure iterations --out fig11.svg\n",
    .exits = "  0 drawn, 1 the command line is wrong, 3 the record is wrong or has no such runs,\n"
             "  4 the machine is at fault, gnuplot is missing or failed\n",
    .options = OPTIONS,
    .min_operands = 1,
    .max_operands = 1,
    .needs = "a RESULTS",
};

static ss_status make(const settings *s, const ss_trials *trials, ss_figure *figure, ss_error *e)
{
    switch (s->figure) {
    case PROFILE:
        return ss_figure_profile(trials, figure, e);
    case CONVERGENCE:
        return ss_figure_convergence(trials, s->problem, figure, e);
    case WORK_PRECISION:
        return ss_figure_work_precision(trials, figure, e);
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

static bool check(const settings *s)
{
    if (!ss_figure_can_draw(s->out) || has_control(s->out)) {
        ss_complain(COMMAND.verb, "--out takes a name that ends in .svg, .png or .pdf, not '%s'",
                    s->out);
        return false;
    }
    if (s->problem != NULL && s->figure != CONVERGENCE) {
        ss_complain(COMMAND.verb, "--problem goes with --figure convergence, not with --figure %s",
                    FIGURES[s->figure]);
        return false;
    }
    return true;
}

int ss_cmd_plot(int argc, char **argv)
{
    settings s = {.figure = ITERATIONS, .tolerance = NAN};
    ss_operands operands;
    int code;
    if (!ss_options_parse(&COMMAND, &s, argc, argv, &operands, &code)) {
        return code;
    }
    if (!check(&s)) {
        return SS_EXIT_USAGE;
    }
    ss_error error;
    const ss_status status = ss_trials_with(operands.text[0], s.tolerance, draw, &s, &error);
    if (status != SS_OK) {
        ss_complain(COMMAND.verb, "%s", error.text);
    }
    return (int)status;
}
