// Lumps and places of models of vertices (polyline.h).
#include "problems/strands/models/polyline.h"

#include <string.h>

ss_status ss_polyline_check(const char *model, int n, int least, ss_clamp clamp, ss_error *e)
{
    return n >= least
               ? SS_OK
               : ss_fail(e, SS_BAD_INPUT,
                         "a strand of the model %s%s has at least %d vertices, not %d", model,
                         clamp == SS_CLAMP_BOTH ? " that is clamped at both ends" : "", least + 1,
                         n + 1);
}

void ss_polyline_take_lengths(int n, const double *edge, ss_vec3 *x)
{
    ss_vec3 was = x[0];
    for (int j = 0; j < n; j++) {
        const ss_vec3 t = ss_unit(ss_minus(x[j + 1], was));
        was = x[j + 1];
        x[j + 1] = ss_along(x[j], edge[j], t);
    }
}

void ss_polyline_halves(int n, const double *share, double whole, double *part)
{
    for (int i = 0; i <= n; i++) {
        const double both = (i > 0 ? share[i - 1] : 0.0) + (i < n ? share[i] : 0.0);
        part[i] = 0.5 * both * whole;
    }
}

void ss_polyline_lumps(int n, const double *share, double length, double line_density, double *mass,
                       double *lengths)
{
    ss_polyline_halves(n, share, length, lengths);
    for (int i = 0; i <= n; i++) {
        mass[i] = line_density * lengths[i];
    }
}

void ss_polyline_place(int n, const double *q, int place, int dofs, ss_strand_point *points,
                       ss_strand_point *samples)
{
    static const double UNIT[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
    for (int i = 0; i <= n; i++) {
        ss_strand_point *const both[2] = {&points[i], &samples[i]};
        const double *x = q + place * i;
        for (int k = 0; k < 2; k++) {
            both[k]->x = ss_vec(x[0], x[1], x[2]);
            both[k]->first = dofs * i;
            both[k]->count = 3;
            both[k]->dofs = NULL;
            memcpy(both[k]->J, UNIT, sizeof UNIT);
        }
    }
}
