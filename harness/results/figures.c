// The figures of a record as curves.
#include "harness/results/figures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/table.h"

// A profile is drawn at least as far as this ratio, and no further than that one.
#define NEAR_RATIO 10.0
#define FAR_RATIO  1000.0

// ---- Curves

ss_status ss_figure_of_solvers(const ss_trials *trials, ss_figure *figure, ss_error *e)
{
    figure->curves = calloc(trials->nsolvers, sizeof *figure->curves);
    if (figure->curves == NULL) {
        return ss_fail_memory(e, "the figure");
    }
    figure->ncurves = trials->nsolvers;
    char tolerance[32];
    ss_table_number(trials->tolerance, 4, tolerance);
    snprintf(figure->title, sizeof figure->title, "%zu problem%s, tolerance %s", trials->nproblems,
             trials->nproblems == 1 ? "" : "s", tolerance);
    for (size_t k = 0; k < figure->ncurves; k++) {
        strcpy(figure->curves[k].label, trials->solvers[k].label);
        strcpy(figure->curves[k].bare, trials->solvers[k].bare);
    }
    return SS_OK;
}

static bool grow(ss_curve *curve)
{
    const size_t capacity = curve->capacity == 0 ? 64 : 2 * curve->capacity;
    double *x = realloc(curve->x, capacity * sizeof *x);
    if (x != NULL) {
        curve->x = x;
    }
    double *y = realloc(curve->y, capacity * sizeof *y);
    if (y != NULL) {
        curve->y = y;
    }
    if (x == NULL || y == NULL) {
        return false;
    }
    curve->capacity = capacity;
    return true;
}

void ss_figure_point(ss_figure *figure, size_t k, double x, double y)
{
    ss_curve *curve = &figure->curves[k];
    if (curve->count == curve->capacity && !grow(curve)) {
        figure->out_of_memory = true;
        return;
    }
    curve->x[curve->count] = x;
    curve->y[curve->count++] = y;
}

ss_status ss_figure_end(ss_figure *figure, ss_error *e)
{
    return figure->out_of_memory ? ss_fail_memory(e, "the figure") : SS_OK;
}

bool ss_figure_has_points(const ss_figure *figure)
{
    for (size_t k = 0; k < figure->ncurves; k++) {
        if (figure->curves[k].count > 0) {
            return true;
        }
    }
    return false;
}

void ss_figure_free(ss_figure *figure)
{
    for (size_t k = 0; k < figure->ncurves; k++) {
        free(figure->curves[k].x);
        free(figure->curves[k].y);
    }
    free(figure->curves);
    if (figure->below != NULL) {
        ss_figure_free(figure->below);
        free(figure->below);
    }
    *figure = (ss_figure){0};
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// ---- Distributions: the share of problems above or below x, as a staircase

// A staircase over sorted values: at each, the share of values at most as large, or larger.
static void add_staircase(ss_figure *figure, size_t curve, const double *sorted, size_t n,
                          bool above, double begin, double end)
{
    size_t below = 0;
    while (below < n && sorted[below] <= begin) {
        below++;
    }
    for (double x = begin;; x = sorted[below - 1]) {
        const double share = 100.0 * (double)below / (double)n;
        ss_figure_point(figure, curve, x, above ? 100.0 - share : share);
        if (below == n || !(sorted[below] <= end)) {
            ss_figure_point(figure, curve, end, above ? 100.0 - share : share);
            return;
        }
        const double next = sorted[below];
        while (below < n && sorted[below] <= next) {
            below++;
        }
    }
}

typedef double (*measure)(const ss_trials *t, const ss_solver_trials *solver, size_t p);

// Infinite where the tolerance was not reached, NaN where nothing was run.
static double iterations_of(const ss_trials *t, const ss_solver_trials *solver, size_t p)
{
    (void)t;
    const ss_trial *trial = &solver->trials[p];
    const bool done = solver->own_rule ? trial->met : trial->solved;
    return trial->row == NULL ? NAN : done ? trial->iterations : INFINITY;
}

// The largest finite value of all, within bounds, so that all curves end at one place.
static double common_end(const ss_trials *t, measure value, double low, double high)
{
    double end = low;
    for (size_t k = 0; k < t->nsolvers; k++) {
        for (size_t p = 0; p < t->nproblems; p++) {
            const double v = value(t, &t->solvers[k], p);
            end = isfinite(v) && v > end ? v : end;
        }
    }
    return fmin(1.1 * end, high);
}

// The power of ten below the smallest value of all; at least 1.
static double common_begin(const ss_trials *t, measure value)
{
    double smallest = INFINITY;
    for (size_t k = 0; k < t->nsolvers; k++) {
        for (size_t p = 0; p < t->nproblems; p++) {
            smallest = fmin(smallest, value(t, &t->solvers[k], p));
        }
    }
    return isfinite(smallest) && smallest > 1.0 ? pow(10.0, ceil(log10(smallest)) - 1.0) : 1.0;
}

static ss_status distribute(const ss_trials *t, measure value, bool above, double end,
                            ss_figure *figure, ss_error *e)
{
    const double begin = common_begin(t, value);
    double *values = calloc(t->nproblems, sizeof *values);
    if (values == NULL) {
        return ss_fail_memory(e, "the figure");
    }
    for (size_t k = 0; k < t->nsolvers; k++) {
        size_t n = 0;
        for (size_t p = 0; p < t->nproblems; p++) {
            const double v = value(t, &t->solvers[k], p);
            if (!isnan(v)) {
                values[n++] = v;
            }
        }
        qsort(values, n, sizeof *values, ascending);
        add_staircase(figure, k, values, n, above, begin, end);
    }
    free(values);
    return ss_figure_end(figure, e);
}

// ---- Bundles: curves that coincide have one entry in the key

// In percent of the problems; nearer curves can hardly be distinguished at the size of the figure. Of few
// problems one more is allowed, up to the larger.
#define BUNDLE_WIDTH      2.5
#define BUNDLE_MOST_WIDTH 5.0
#define BUNDLE_LINE       44 // characters in a line of the key

// Of a staircase, whose points are sorted; before its first point that one's.
static double height_at(const ss_curve *curve, double x)
{
    size_t k = 0;
    while (k + 1 < curve->count && curve->x[k + 1] <= x) {
        k++;
    }
    return curve->y[k];
}

static bool coincide(const ss_curve *a, const ss_curve *b, double width)
{
    bool near = a->count > 0 && b->count > 0;
    for (size_t k = 0; near && k < a->count; k++) {
        near = fabs(a->y[k] - height_at(b, a->x[k])) <= width;
    }
    for (size_t k = 0; near && k < b->count; k++) {
        near = fabs(b->y[k] - height_at(a, b->x[k])) <= width;
    }
    return near;
}

static void add_to_bundle(ss_curve *first, ss_curve *other)
{
    const size_t used = strlen(first->label);
    const char *last = strrchr(first->label, '\n');
    const size_t line = last != NULL ? strlen(last + 1) : used;
    const char *separator = line + strlen(other->label) > BUNDLE_LINE ? ",\n" : ", ";
    snprintf(first->label + used, sizeof first->label - used, "%s%s", separator, other->label);
    other->label[0] = '\0';
}

// Each curve joins the first one that it coincides with; [D11]'s solver, which is drawn above the
// others, is the first of its bundle.
static void bundle(ss_figure *figure, size_t nproblems)
{
    const double one = 100.1 / (double)nproblems;
    const double width = fmin(fmax(one, BUNDLE_WIDTH), BUNDLE_MOST_WIDTH);
    size_t hero = 0;
    while (hero < figure->ncurves && strcmp(figure->curves[hero].bare, SS_FIGURE_HERO) != 0) {
        hero++;
    }
    for (size_t n = 0; n <= figure->ncurves; n++) {
        const size_t k = n == 0 ? hero : n - 1; // the hero first, and again in its turn
        ss_curve *first = k < figure->ncurves ? &figure->curves[k] : NULL;
        if (first == NULL || first->label[0] == '\0' || (n > 0 && k == hero)) {
            continue;
        }
        for (size_t j = n == 0 ? 0 : k + 1; j < figure->ncurves; j++) {
            ss_curve *other = &figure->curves[j];
            if (j != k && j != hero && other->label[0] != '\0' && coincide(first, other, width)) {
                add_to_bundle(first, other);
            }
        }
    }
}

const char *ss_figure_iterations_label(const ss_trials *t)
{
    return ss_trials_are_gauss_seidel(t) ? "Gauss-Seidel iterations" : "iterations";
}

static ss_status make_iterations(const ss_figure_request *request, ss_figure *figure, ss_error *e)
{
    const ss_trials *t = request->results->trials;
    *figure = (ss_figure){.x_label = ss_figure_iterations_label(t),
                          .y_label = "% of problems that need more",
                          .log_x = true,
                          .percent = true,
                          .steps = true};
    const ss_status status = ss_figure_of_solvers(t, figure, e);
    const double end = common_end(t, iterations_of, NEAR_RATIO, INFINITY);
    const ss_status done =
        status == SS_OK ? distribute(t, iterations_of, true, end, figure, e) : status;
    if (done == SS_OK) {
        bundle(figure, t->nproblems);
    }
    return done;
}

static ss_status make_profile(const ss_figure_request *request, ss_figure *figure, ss_error *e)
{
    const ss_trials *t = request->results->trials;
    *figure = (ss_figure){.x_label = "time over that of the fastest",
                          .y_label = "% of problems solved",
                          .log_x = true,
                          .percent = true,
                          .steps = true};
    const ss_status status = ss_figure_of_solvers(t, figure, e);
    const double end = common_end(t, ss_profile_ratio, NEAR_RATIO, FAR_RATIO);
    return status == SS_OK ? distribute(t, ss_profile_ratio, false, end, figure, e) : status;
}

// ---- Assembly: Figure 6 of [D11], what it costs to assemble W
//
// A solver of the explicit form spends its set-up on factoring M, whitening H and the blocks of W;
// with assembly=naive, on products over all dofs for every pair of contacts.

typedef struct point {
    double x, y;
} point;

static int by_contacts(const void *a, const void *b)
{
    const point *p = a, *q = b;
    return (p->x > q->x) - (p->x < q->x);
}

// The name of an option's value in a spec; "" where it is not given.
static void value_of(const char *spec, const char *option, char *value, size_t room)
{
    const char *found = strstr(spec, option);
    found = found != NULL ? found + strlen(option) : "";
    snprintf(value, room, "%.*s", (int)strcspn(found, ","), found);
}

// The curve is called after what sets it apart here: how W is made.
static void name_curve(const ss_solver_trials *solver, ss_curve *curve)
{
    char assembly[16], form[16];
    value_of(solver->spec, "assembly=", assembly, sizeof assembly);
    value_of(solver->spec, "form=", form, sizeof form);
    const char *way = strcmp(assembly, "naive") == 0                         ? "naive"
                      : strcmp(form, "matrix-free") == 0                     ? "matrix-free"
                      : strcmp(form, "explicit") == 0 || assembly[0] != '\0' ? "blocks"
                                                                             : NULL;
    if (way != NULL) {
        snprintf(curve->label, sizeof curve->label, "%s: %s", solver->bare, way);
    }
}

static ss_status make_assembly(const ss_figure_request *request, ss_figure *figure, ss_error *e)
{
    const ss_trials *t = request->results->trials;
    *figure = (ss_figure){.x_label = "contacts",
                          .y_label = "time until W is assembled (s)",
                          .log_x = true,
                          .log_y = true,
                          .points = true,
                          .plain = true,
                          .guides = true};
    const ss_status status = ss_figure_of_solvers(t, figure, e);
    point *points = calloc(t->nproblems, sizeof *points);
    if (status != SS_OK || points == NULL) {
        free(points);
        return ss_fail_memory(e, "the figure");
    }
    for (size_t k = 0; k < t->nsolvers; k++) {
        size_t n = 0;
        name_curve(&t->solvers[k], &figure->curves[k]);
        for (size_t p = 0; p < t->nproblems; p++) {
            const ss_record_row *row = t->solvers[k].trials[p].row;
            if (row != NULL && row->setup_seconds > 0.0) {
                points[n++] = (point){row->contacts, row->setup_seconds};
            }
        }
        qsort(points, n, sizeof *points, by_contacts);
        for (size_t p = 0; p < n; p++) {
            ss_figure_point(figure, k, points[p].x, points[p].y);
        }
    }
    free(points);
    if (!ss_figure_has_points(figure) && !figure->out_of_memory) {
        return ss_fail(e, SS_BAD_INPUT, "the record holds no run that set anything up");
    }
    return ss_figure_end(figure, e);
}

// ---- The registry

const ss_figure_kind ss_figure_kinds[] = {
    {.name = "iterations", .needs = SS_NEEDS_TRIALS, .make = make_iterations},
    {.name = "profile", .needs = SS_NEEDS_TRIALS, .make = make_profile},
    {.name = "convergence",
     .needs = SS_NEEDS_TRIALS,
     .takes_problem = true,
     .make = ss_figure_convergence},
    {.name = "convergence-time",
     .needs = SS_NEEDS_TRIALS,
     .takes_problem = true,
     .make = ss_figure_convergence_time},
    {.name = "work-precision", .needs = SS_NEEDS_TRIALS, .make = ss_figure_work_precision},
    {.name = "assembly", .needs = SS_NEEDS_TRIALS, .make = make_assembly},
    {.name = "orbit", .needs = SS_NEEDS_RUNS, .make = ss_figure_orbit},
    {.name = "dispersion", .needs = SS_NEEDS_RUNS, .make = ss_figure_dispersion},
    {.name = "stretch", .needs = SS_NEEDS_RUNS, .make = ss_figure_stretch},
    {.name = "trajectory", .needs = SS_NEEDS_RUNS, .make = ss_figure_trajectory},
    {.name = NULL},
};
