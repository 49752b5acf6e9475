// Figure 6 of [D11]: what it costs to assemble W.
//
// A solver of the explicit form spends its set-up on factoring M, whitening H and the blocks of W;
// with assembly=naive, on products over all dofs for every pair of contacts.
#include "harness/figure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
static void name_curve(const ss_entrant *entrant, ss_curve *curve)
{
    char assembly[16], form[16];
    value_of(entrant->spec, "assembly=", assembly, sizeof assembly);
    value_of(entrant->spec, "form=", form, sizeof form);
    const char *way = strcmp(assembly, "naive") == 0                         ? "naive"
                      : strcmp(form, "matrix-free") == 0                     ? "matrix-free"
                      : strcmp(form, "explicit") == 0 || assembly[0] != '\0' ? "blocks"
                                                                             : NULL;
    if (way != NULL) {
        snprintf(curve->label, sizeof curve->label, "%s: %s", entrant->bare, way);
    }
}

static bool nothing_drawn(const ss_figure *figure)
{
    size_t k = 0;
    while (k < figure->ncurves && figure->curves[k].count == 0) {
        k++;
    }
    return k == figure->ncurves;
}

ss_status ss_figure_assembly(const ss_trials *t, ss_figure *figure, ss_error *e)
{
    *figure = (ss_figure){.x_label = "contacts",
                          .y_label = "time until W is assembled (s)",
                          .log_x = true,
                          .log_y = true,
                          .points = true,
                          .plain = true,
                          .guides = true};
    const ss_status status = ss_figure_begin(t, figure, e);
    point *points = calloc(t->nproblems, sizeof *points);
    if (status != SS_OK || points == NULL) {
        free(points);
        return ss_fail_memory(e, "the figure");
    }
    for (size_t k = 0; k < t->nentrants; k++) {
        size_t n = 0;
        name_curve(&t->entrants[k], &figure->curves[k]);
        for (size_t p = 0; p < t->nproblems; p++) {
            const ss_record_row *row = t->entrants[k].trials[p].row;
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
    if (nothing_drawn(figure) && !figure->out_of_memory) {
        return ss_fail(e, SS_BAD_INPUT, "the record holds no run that set anything up");
    }
    return ss_figure_end(figure, e);
}
