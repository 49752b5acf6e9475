// harness/results/figures.h -- figures of records and simulations, drawn by gnuplot: a registry.
//
// A figure is a set of curves and two axes. Drawing writes the points to FILE.dat and a gnuplot
// script to FILE.gp and runs gnuplot on it; both stay beside the picture FILE, so that a user can
// change the script and run it again in that folder. The size is a column of a paper, 8.5 cm.
#pragma once

#include "harness/results/trials.h"

#include <stdbool.h>
#include <stdio.h>

typedef struct ss_curve {
    // Label and bare name, as those of ss_solver_trials; the bare name chooses the style. The first
    // curve of a bundle has the names of all as its label, the others have "".
    char label[600], bare[64];
    size_t count, capacity;
    double *x, *y; // [capacity] owned
} ss_curve;

typedef struct ss_figure {
    char title[80];                // of what, above the curves; "" for none
    const char *x_label, *y_label; // borrowed
    bool log_x, log_y;
    bool percent;            // y runs from 0 to 100
    bool steps;              // piecewise constant, from the left
    bool points;             // a mark at every point
    bool plain;              // curves are no solvers: solid, colours by their number
    bool nested;             // with plain: ever thinner, so that curves on one place are all seen
    bool equal;              // one scale on both axes
    bool guides;             // lines of slope 1 and 2 below the curves, on two logarithmic axes
    size_t ncurves;          // as solvers, in their order
    ss_curve *curves;        // [ncurves] owned
    bool out_of_memory;      // a point was lost
    struct ss_figure *below; // NULL, or a second panel under this one; owned
} ss_figure;

// Request of a figure.
typedef struct ss_figure_request {
    const ss_results *results;
    const char *problem; // only this one; NULL: all
} ss_figure_request;

// Fills an empty figure, which the caller frees in every case.
typedef ss_status ss_figure_make(const ss_figure_request *request, ss_figure *figure, ss_error *e);

typedef struct ss_figure_kind {
    const char *name; // NULL ends the registry
    ss_needs needs;
    bool takes_problem; // of the request
    ss_figure_make *make;
} ss_figure_kind;

extern const ss_figure_kind ss_figure_kinds[];

void ss_figure_free(ss_figure *figure); // what it holds

// path ends in .svg, .png or .pdf.
bool ss_figure_can_draw(const char *path);
ss_status ss_figure_draw(const ss_figure *figure, const char *path, ss_error *e);

// Runs gnuplot on the script of a picture, in the script's own folder, so that the names in it are
// relative. An interrupt from the terminal does not reach it. SS_SYSTEM with what it says where it
// fails, or where the picture is not whole, of which then nothing is left.
ss_status ss_gnuplot(const char *script, const char *picture, ss_error *e);

// ---- For tests

// The gnuplot script (internal); name: of the picture, without its folder.
void ss_figure_script(const ss_figure *figure, const char *name, FILE *out);
