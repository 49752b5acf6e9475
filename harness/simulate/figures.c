// The figures of simulations: orbits, trajectories, and what changes over time; a curve a run.
#include "harness/results/figures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/complain.h"
#include "solvers/registry.h"

#define CM 100.0 // of a metre

// What sets the curves apart.
typedef struct differences {
    bool scene, model, solver, mu, seed, rods;
} differences;

static differences compare_all(const ss_stats *runs, size_t count)
{
    differences d = {0};
    for (size_t k = 1; k < count; k++) {
        const ss_stats_run *a = &runs[0].run, *b = &runs[k].run;
        d.scene |= strcmp(a->scene, b->scene) != 0;
        d.model |= strcmp(a->model, b->model) != 0;
        d.solver |= strcmp(a->solver, b->solver) != 0;
        d.mu |= a->mu != b->mu;
        d.seed |= a->seed != b->seed;
        d.rods |= a->rods != b->rods;
    }
    return d;
}

static void append(char *label, size_t room, const char *part)
{
    const size_t used = strlen(label);
    snprintf(label + used, room - used, "%s%s", used > 0 ? ", " : "", part);
}

// The solver where nothing differs: a curve must have a name.
static void name_run(const ss_stats_run *run, const differences *d, ss_curve *curve)
{
    char part[64];
    const char *solver = ss_spec_bare(run->solver);
    snprintf(curve->bare, sizeof curve->bare, "%.*s", (int)strcspn(solver, ":"), solver);
    if (d->scene) {
        append(curve->label, sizeof curve->label, run->scene);
    }
    if (d->model) {
        append(curve->label, sizeof curve->label, run->model);
    }
    if (d->mu) {
        snprintf(part, sizeof part, "mu %g", run->mu);
        append(curve->label, sizeof curve->label, part);
    }
    if (d->rods) {
        snprintf(part, sizeof part, "%d rod%s", run->rods, ss_plural(run->rods));
        append(curve->label, sizeof curve->label, part);
    }
    if (d->seed) {
        snprintf(part, sizeof part, "seed %llu", (unsigned long long)run->seed);
        append(curve->label, sizeof curve->label, part);
    }
    if (d->solver || curve->label[0] == '\0') {
        append(curve->label, sizeof curve->label, solver);
    }
}

static ss_status begin(const ss_stats *runs, size_t count, ss_figure *figure, ss_error *e)
{
    const differences d = compare_all(runs, count);
    figure->curves = calloc(count, sizeof *figure->curves);
    if (figure->curves == NULL) {
        return ss_fail_memory(e, "the figure");
    }
    figure->ncurves = count;
    for (size_t k = 0; k < count; k++) {
        name_run(&runs[k].run, &d, &figure->curves[k]);
    }
    return SS_OK;
}

static const char *const POSITIONS[] = {"tip x (cm)", "tip y (cm)", "tip z (cm)"};

// ---- Orbits

// The first step of the second half of a run's time.
static size_t settled_step(const ss_stats *run)
{
    const double half = 0.5 * run->rows[run->count - 1].report.time;
    size_t k = 0;
    while (k + 1 < run->count && run->rows[k].report.time < half) {
        k++;
    }
    return k;
}

// How far the tip of a run moves along an axis, from step `first` on.
static double tip_range(const ss_stats *run, int axis, size_t first)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t k = first; k < run->count; k++) {
        low = fmin(low, run->rows[k].tip[axis]);
        high = fmax(high, run->rows[k].tip[axis]);
    }
    return high - low;
}

// The axis on which the tip of a run moves most.
static int liveliest_axis(const ss_stats *run)
{
    const size_t first = settled_step(run);
    int best = 0;
    for (int axis = 1; axis < 3; axis++) {
        best = tip_range(run, axis, first) > tip_range(run, best, first) ? axis : best;
    }
    return best;
}

ss_status ss_figure_orbit(const ss_figure_request *request, ss_figure *figure, ss_error *e)
{
    const ss_stats *runs = request->results->runs;
    const size_t count = request->results->nruns;
    static const char *const VELOCITIES[] = {"tip velocity along x (cm/s)",
                                             "tip velocity along y (cm/s)",
                                             "tip velocity along z (cm/s)"};
    const int axis = liveliest_axis(&runs[0]);
    *figure = (ss_figure){
        .x_label = POSITIONS[axis], .y_label = VELOCITIES[axis], .plain = true, .nested = true};
    const ss_status status = begin(runs, count, figure, e);
    if (status != SS_OK) {
        return status;
    }
    for (size_t k = 0; k < count; k++) {
        for (size_t i = settled_step(&runs[k]); i < runs[k].count; i++) {
            const ss_stats_row *row = &runs[k].rows[i];
            ss_figure_point(figure, k, CM * row->tip[axis], CM * row->tip_velocity[axis]);
        }
    }
    return ss_figure_end(figure, e);
}

// ---- Trajectories

static int laziest_axis(const ss_stats *run)
{
    int best = 2;
    for (int axis = 1; axis >= 0; axis--) {
        best = tip_range(run, axis, 0) < tip_range(run, best, 0) ? axis : best;
    }
    return best;
}

ss_status ss_figure_trajectory(const ss_figure_request *request, ss_figure *figure, ss_error *e)
{
    const ss_stats *runs = request->results->runs;
    const size_t count = request->results->nruns;
    const int away = laziest_axis(&runs[0]), right = away == 0 ? 1 : 0, up = away == 2 ? 1 : 2;
    *figure = (ss_figure){.x_label = POSITIONS[right],
                          .y_label = POSITIONS[up],
                          .plain = true,
                          .nested = true,
                          .equal = true};
    const ss_status status = begin(runs, count, figure, e);
    if (status != SS_OK) {
        return status;
    }
    for (size_t k = 0; k < count; k++) {
        for (size_t i = 0; i < runs[k].count; i++) {
            const double *tip = runs[k].rows[i].tip;
            ss_figure_point(figure, k, CM * tip[right], CM * tip[up]);
        }
    }
    return ss_figure_end(figure, e);
}

// ---- Over time

static double dispersion_cm(const ss_stats_row *row)
{
    return CM * row->dispersion;
}

static double kinetic_uj(const ss_stats_row *row)
{
    return 1e6 * row->report.energy.kinetic;
}

static double stretch_percent(const ss_stats_row *row)
{
    return row->stretch_percent;
}

static ss_status curves_over_time(const ss_stats *runs, size_t count,
                                  double (*value)(const ss_stats_row *), ss_figure *figure,
                                  ss_error *e)
{
    const ss_status status = begin(runs, count, figure, e);
    if (status != SS_OK) {
        return status;
    }
    for (size_t k = 0; k < count; k++) {
        for (size_t i = 0; i < runs[k].count; i++) {
            const ss_stats_row *row = &runs[k].rows[i];
            if (isfinite(value(row))) {
                ss_figure_point(figure, k, row->report.time, value(row));
            }
        }
    }
    return ss_figure_end(figure, e);
}

ss_status ss_figure_dispersion(const ss_figure_request *request, ss_figure *figure, ss_error *e)
{
    const ss_stats *runs = request->results->runs;
    const size_t count = request->results->nruns;
    *figure = (ss_figure){.x_label = "time (s)",
                          .y_label = "mean distance of tips (cm)",
                          .plain = true,
                          .below = calloc(1, sizeof *figure)};
    if (figure->below == NULL) {
        return ss_fail_memory(e, "the figure");
    }
    *figure->below =
        (ss_figure){.x_label = "time (s)", .y_label = "kinetic energy (uJ)", .plain = true};
    const ss_status status = curves_over_time(runs, count, dispersion_cm, figure, e);
    return status == SS_OK ? curves_over_time(runs, count, kinetic_uj, figure->below, e) : status;
}

ss_status ss_figure_stretch(const ss_figure_request *request, ss_figure *figure, ss_error *e)
{
    const ss_stats *runs = request->results->runs;
    const size_t count = request->results->nruns;
    *figure = (ss_figure){.x_label = "time (s)", .y_label = "stretch (%)", .plain = true};
    return curves_over_time(runs, count, stretch_percent, figure, e);
}
