#include "harness/figure.h"

#include <stdlib.h>
#include <string.h>

ss_status ss_figure_begin(const ss_trials *trials, ss_figure *figure, ss_error *e)
{
    figure->curves = calloc(trials->nentrants, sizeof *figure->curves);
    if (figure->curves == NULL) {
        return ss_fail_memory(e, "the figure");
    }
    figure->ncurves = trials->nentrants;
    for (size_t k = 0; k < figure->ncurves; k++) {
        strcpy(figure->curves[k].label, trials->entrants[k].label);
        strcpy(figure->curves[k].bare, trials->entrants[k].bare);
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
