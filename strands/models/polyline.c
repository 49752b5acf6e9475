// strands/models/polyline.c -- edges, lumps and places of models of vertices.
#include "strands/models/polyline.h"

#include "base/assert.h"
#include "strands/shape.h"

#include <string.h>

#define LEAST_EDGE 1e-9 // of the length that an edge would have if all were equal

ss_status ss_polyline_edges(const char *model, const ss_strand_design *design, int vertices,
                            int least, int least_both, int *n, ss_error *e)
{
    const ss_status status = ss_strand_design_check(design, e);
    if (status != SS_OK) {
        return status;
    }
    const bool both = design->clamp == SS_CLAMP_BOTH;
    const int need = both ? least_both : least;
    *n = vertices > 0 ? vertices - 1 : ss_shape_segments(design);
    return *n >= need
               ? SS_OK
               : ss_fail(e, SS_BAD_INPUT,
                         "a strand of the model %s%s has at least %d vertices, not %d", model,
                         both ? " that is clamped at both ends" : "", need + 1, *n + 1);
}

bool ss_polyline_has_edges(int n, const double *edge, double length)
{
    bool sound = true;
    for (int j = 0; j < n; j++) {
        sound = sound && edge[j] > LEAST_EDGE * length / n;
    }
    return sound;
}

void ss_polyline_shares(int n, const double *edge, double *share)
{
    ss_assert(n >= 1);
    double sum = 0.0;
    for (int j = 0; j < n; j++) {
        sum += edge[j];
    }
    for (int j = 0; j < n; j++) {
        share[j] = edge[j] / sum;
    }
}

void ss_polyline_inverses(int n, const double *edge, double *inverse_edge, double *inverse_length)
{
    for (int j = 0; j < n; j++) {
        inverse_edge[j] = 1.0 / edge[j];
        inverse_length[j] = j > 0 ? 2.0 / (edge[j - 1] + edge[j]) : 0.0;
    }
}

void ss_polyline_hold(int *held, int *nheld, int first, int count)
{
    for (int k = first; k < first + count; k++) {
        held[(*nheld)++] = k;
    }
}

ss_strand_size ss_polyline_size(int n, int nv, int half_bandwidth, const int *held, int nheld)
{
    return (ss_strand_size){.nq = nv,
                            .nv = nv,
                            .half_bandwidth = half_bandwidth,
                            .npoints = n + 1,
                            .nsamples = n + 1,
                            .width = 3,
                            .lumped = true,
                            .nheld = nheld,
                            .held = held};
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
