// The figures of a record that are made of histories: convergence and work-precision.
#include "harness/results/figures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Iterations at which a convergence curve has a point: all up to here, then 5 % apart.
#define DENSE_ITERATIONS 40
// Points of a convergence curve over time.
#define TIMES 150
// Residuals at which a work-precision curve has a point: four a decade, from 1 to 1e-14.
#define PER_DECADE 4
#define DECADES    14

// The best error (ss_measures_error) up to so many iterations. Infinite before the first entry.
static double error_after(const ss_history *history, int iterations)
{
    double error = INFINITY;
    for (int k = 0; k < history->count && history->iteration[k] <= iterations; k++) {
        error = fmin(error, ss_history_error(history, k));
    }
    return error;
}

// The same up to so many seconds.
static double error_at(const ss_record_row *row, double seconds)
{
    double error = INFINITY;
    for (int k = 0; k < row->history.count && ss_history_seconds(row, k) <= seconds; k++) {
        error = fmin(error, ss_history_error(&row->history, k));
    }
    return error;
}

static bool has_history(const ss_trial *trial)
{
    return trial->row != NULL && trial->row->history.count > 0;
}

// Whether trial p takes part; problem NULL: all do but those that reported nothing on the way, of which
// a line from the start to the answer would be a claim.
static bool takes_part(const ss_trials *t, const ss_solver_trials *solver, size_t p,
                       const char *problem)
{
    return has_history(&solver->trials[p]) &&
           ss_history_tells_course(&solver->trials[p].row->history) &&
           (problem == NULL || strcmp(t->problems[p]->problem, problem) == 0);
}

static int last_iteration(const ss_trials *t, const ss_solver_trials *solver, const char *problem)
{
    int last = -1;
    for (size_t p = 0; p < t->nproblems; p++) {
        if (takes_part(t, solver, p, problem)) {
            const ss_history *h = &solver->trials[p].row->history;
            const int end = (int)h->iteration[h->count - 1];
            last = end > last ? end : last;
        }
    }
    return last;
}

static void add_convergence(ss_figure *figure, const ss_trials *t, size_t k, const char *problem,
                            double *values)
{
    const ss_solver_trials *solver = &t->solvers[k];
    const int last = last_iteration(t, solver, problem);
    for (int i = 1; i <= last;) {
        size_t n = 0;
        for (size_t p = 0; p < t->nproblems; p++) {
            if (takes_part(t, solver, p, problem)) {
                values[n++] = error_after(&solver->trials[p].row->history, i);
            }
        }
        const double fb = ss_median(values, n);
        if (isfinite(fb) && fb > 0.0) { // 0 has no place on a logarithmic axis
            ss_figure_point(figure, k, i, fb);
        }
        const int next = i < DENSE_ITERATIONS ? i + 1 : i + i / 20;
        i = i < last && next > last ? last : next;
    }
}

// From the first entry of a history to the last of all; false without any. With the set-up, s.
static bool find_times(const ss_trials *t, const ss_solver_trials *solver, const char *problem,
                       double *first, double *last)
{
    *first = INFINITY;
    *last = 0.0;
    for (size_t p = 0; p < t->nproblems; p++) {
        if (takes_part(t, solver, p, problem)) {
            const ss_record_row *row = solver->trials[p].row;
            *first = fmin(*first, ss_history_seconds(row, 0));
            *last = fmax(*last, ss_history_seconds(row, row->history.count - 1));
        }
    }
    *first = fmax(*first, 1e-3 * *last);
    return *first > 0.0 && *first <= *last;
}

static void add_convergence_time(ss_figure *figure, const ss_trials *t, size_t k,
                                 const char *problem, double *values)
{
    const ss_solver_trials *solver = &t->solvers[k];
    double first, last;
    if (!find_times(t, solver, problem, &first, &last)) {
        return;
    }
    for (int i = 0; i <= TIMES; i++) {
        // The last is exact, as entries up to it count.
        const double s = i == TIMES ? last : first * pow(last / first, (double)i / TIMES);
        size_t n = 0;
        for (size_t p = 0; p < t->nproblems; p++) {
            if (takes_part(t, solver, p, problem)) {
                values[n++] = error_at(solver->trials[p].row, s);
            }
        }
        const double error = ss_median(values, n);
        if (isfinite(error) && error > 0.0) {
            ss_figure_point(figure, k, 1000.0 * s, error);
        }
    }
}

typedef void add_curve(ss_figure *figure, const ss_trials *t, size_t k, const char *problem,
                       double *values);

static ss_status converge(const ss_figure_request *request, const char *x_label, add_curve *add,
                          ss_figure *figure, ss_error *e)
{
    const ss_trials *t = request->results->trials;
    const char *problem = request->problem;
    *figure =
        (ss_figure){.x_label = x_label,
                    .y_label = problem != NULL ? "best error so far" : "best error so far, median",
                    .log_x = true,
                    .log_y = true};
    const ss_status status = ss_figure_of_solvers(t, figure, e);
    if (problem != NULL) {
        snprintf(figure->title, sizeof figure->title, "%.79s", problem);
    }
    double *values = calloc(t->nproblems, sizeof *values);
    if (status != SS_OK || values == NULL) {
        free(values);
        return ss_fail_memory(e, "the figure");
    }
    for (size_t k = 0; k < t->nsolvers; k++) {
        add(figure, t, k, problem, values);
    }
    free(values);
    if (!ss_figure_has_points(figure) && !figure->out_of_memory) {
        return ss_fail(e, SS_BAD_INPUT, "the record holds no history of %s",
                       problem != NULL ? problem : "any problem");
    }
    return ss_figure_end(figure, e);
}

ss_status ss_figure_convergence(const ss_figure_request *request, ss_figure *figure, ss_error *e)
{
    return converge(request, ss_figure_iterations_label(request->results->trials), add_convergence,
                    figure, e);
}

ss_status ss_figure_convergence_time(const ss_figure_request *request, ss_figure *figure,
                                     ss_error *e)
{
    return converge(request, "time (ms)", add_convergence_time, figure, e);
}

// ms until the error is at most `level` first; infinite if the run never reached it.
static double time_to(const ss_trial *trial, double level)
{
    const ss_record_row *row = trial->row;
    const int first = ss_history_first(&row->history, level);
    return first < 0 ? INFINITY : 1000.0 * ss_history_seconds(row, first);
}

ss_status ss_figure_work_precision(const ss_figure_request *request, ss_figure *figure, ss_error *e)
{
    const ss_trials *t = request->results->trials;
    *figure = (ss_figure){.x_label = "median time (ms)",
                          .y_label = "tolerance reached",
                          .log_x = true,
                          .log_y = true};
    const ss_status status = ss_figure_of_solvers(t, figure, e);
    double *times = calloc(t->nproblems, sizeof *times);
    if (status != SS_OK || times == NULL) {
        free(times);
        return ss_fail_memory(e, "the figure");
    }
    for (size_t k = 0; k < t->nsolvers; k++) {
        for (int step = 0; step <= PER_DECADE * DECADES; step++) {
            const double level = pow(10.0, -(double)step / PER_DECADE);
            if (level < 0.99 * t->tolerance) {
                break; // runs end there: who goes below does so by chance
            }
            size_t n = 0;
            for (size_t p = 0; p < t->nproblems; p++) {
                if (has_history(&t->solvers[k].trials[p])) {
                    times[n++] = time_to(&t->solvers[k].trials[p], level);
                }
            }
            const double median = ss_median(times, n);
            if (isfinite(median) && median > 0.0) {
                ss_figure_point(figure, k, median, level);
            }
        }
    }
    free(times);
    if (!ss_figure_has_points(figure) && !figure->out_of_memory) {
        return ss_fail(e, SS_BAD_INPUT, "the record holds no histories");
    }
    return ss_figure_end(figure, e);
}
