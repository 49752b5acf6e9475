// harness/figure.h -- figures that compare solvers, drawn by gnuplot.
//
// A figure is a set of curves and two axes. Drawing writes the points to FILE.dat and a gnuplot
// script to FILE.gp and runs gnuplot on it; both stay beside the picture FILE, so that a user can
// change the script and run it again in that folder. The size is a column of a paper, 8.5 cm.
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include "harness/simulate/stats.h"
#include "harness/trials.h"

typedef struct ss_curve {
    char label[180], bare[64]; // as an ss_entrant's; the second chooses the style
    size_t count, capacity;
    double *x, *y; // [capacity] owned
} ss_curve;

typedef struct ss_figure {
    const char *x_label, *y_label; // borrowed
    bool log_x, log_y;
    bool percent;            // y runs from 0 to 100
    bool steps;              // piecewise constant, from the left
    bool points;             // a mark at every point
    bool plain;              // curves are no solvers: solid, colours by their number
    bool nested;             // with plain: ever thinner, so that curves on one place are all seen
    bool equal;              // one scale on both axes
    bool guides;             // lines of slope 1 and 2 below the curves, on two logarithmic axes
    size_t ncurves;          // as entrants, in their order
    ss_curve *curves;        // [ncurves] owned
    bool out_of_memory;      // a point was lost
    struct ss_figure *below; // NULL, or a second panel under this one; owned
} ss_figure;

// Percentage of problems that need more than x iterations ([D11] Figure 11).
ss_status ss_figure_iterations(const ss_trials *trials, ss_figure *figure, ss_error *e);
// Performance profiles (harness/profile.h).
ss_status ss_figure_profile(const ss_trials *trials, ss_figure *figure, ss_error *e);
// fb after x iterations: of the problem with this name (NULL: the median over all problems). A run
// that has ended keeps its last fb.
ss_status ss_figure_convergence(const ss_trials *trials, const char *problem, ss_figure *figure,
                                ss_error *e);
// Median over the problems of the time until fb <= y first.
ss_status ss_figure_work_precision(const ss_trials *trials, ss_figure *figure, ss_error *e);

// The time until W is assembled over the contacts of a problem ([D11] Figure 6).
ss_status ss_figure_assembly(const ss_trials *trials, ss_figure *figure, ss_error *e);

// Of the runs of a simulation, a curve each. Velocity over position of the tip of strand 0 in the
// second half of each run ([D11] Figure 7), along the axis on which it moves most.
ss_status ss_figure_orbit(const ss_stats *runs, size_t count, ss_figure *figure, ss_error *e);
// Distance of the tips, and below it kinetic energy, over time ([D11] Figure 8).
ss_status ss_figure_dispersion(const ss_stats *runs, size_t count, ss_figure *figure, ss_error *e);
// Length of all strands against the start, in percent more, over time ([HH13] Figure 4).
ss_status ss_figure_stretch(const ss_stats *runs, size_t count, ss_figure *figure, ss_error *e);
// Where the tip of strand 0 goes, seen along the axis on which it moves least ([HH13] Figure 3).
ss_status ss_figure_trajectory(const ss_stats *runs, size_t count, ss_figure *figure, ss_error *e);

void ss_figure_free(ss_figure *figure); // what it holds

// path ends in .svg, .png or .pdf.
bool ss_figure_can_draw(const char *path);
ss_status ss_figure_draw(const ss_figure *figure, const char *path, ss_error *e);

// For the files that make curves (internal): a curve for each entrant, and a point.
ss_status ss_figure_begin(const ss_trials *trials, ss_figure *figure, ss_error *e);
void ss_figure_point(ss_figure *figure, size_t curve, double x, double y);
ss_status ss_figure_end(ss_figure *figure, ss_error *e); // SS_SYSTEM where a point was lost

// The gnuplot script (internal).
void ss_figure_script(const ss_figure *figure, const char *name, FILE *out);
