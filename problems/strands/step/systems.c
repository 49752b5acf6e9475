// problems/strands/step/systems.c -- the systems of all strands, factored one by one.
#include "problems/strands/step/systems.h"

#include <stdlib.h>
#include <string.h>

#include "problems/strands/band.h"

static size_t band_count(const ss_strand_size *size)
{
    return (size_t)size->nv * (size_t)(size->half_bandwidth + 1);
}

static double *numbers(size_t count)
{
    return malloc((count + 1) * sizeof(double));
}

bool ss_systems_init(ss_systems *s, const ss_world *w)
{
    const size_t n = (size_t)w->nstrands, nv = (size_t)w->nv;
    size_t count = 0;
    for (size_t k = 0; k < n; k++) {
        count += band_count(&w->strands[k].size);
    }
    *s = (ss_systems){.M = malloc((n + 1) * sizeof *s->M),
                      .L = malloc((n + 1) * sizeof *s->L),
                      .M_numbers = numbers(count),
                      .L_numbers = numbers(count),
                      .D = numbers(nv),
                      .f = numbers(nv),
                      .end = numbers(nv),
                      .after = numbers(nv),
                      .residual = numbers(nv),
                      .scratch = ss_system_scratch_new(w)};
    if (s->M == NULL || s->L == NULL || s->M_numbers == NULL || s->L_numbers == NULL ||
        s->D == NULL || s->f == NULL || s->end == NULL || s->after == NULL || s->residual == NULL ||
        s->scratch == NULL) {
        return false;
    }
    size_t at = 0;
    for (size_t k = 0; k < n; k++) {
        const ss_strand_size *size = &w->strands[k].size;
        s->M[k] = (ss_band){size->nv, size->half_bandwidth, s->M_numbers + at};
        s->L[k] = (ss_band){size->nv, size->half_bandwidth, s->L_numbers + at};
        at += band_count(size);
    }
    return true;
}

void ss_systems_free(ss_systems *s)
{
    free(s->M);
    free(s->L);
    free(s->M_numbers);
    free(s->L_numbers);
    free(s->D);
    free(s->f);
    free(s->end);
    free(s->after);
    free(s->residual);
    ss_system_scratch_free(s->scratch);
    *s = (ss_systems){0};
}

bool ss_systems_form(ss_systems *s, const ss_world *w, const ss_world_state *state,
                     const ss_snapshot *at, double h, double theta)
{
    bool definite = true;
    for (int k = 0; definite && k < w->nstrands; k++) {
        const ss_strand *strand = &w->strands[k];
        const ss_placed placed = ss_snapshot_strand(at, w, k);
        ss_strand_system(w, k, state, &placed, h, theta, s->scratch, &s->M[k], s->f + strand->v,
                         s->end + strand->v, s->after + strand->v);
        memcpy(s->L[k].x, s->M[k].x, band_count(&strand->size) * sizeof *s->L[k].x);
        definite = ss_band_factor(&s->L[k], s->D + strand->v);
    }
    return definite;
}

void ss_systems_end(const ss_systems *s, const ss_world *w, int k, double *v)
{
    const ss_strand *strand = &w->strands[k];
    if (strand->model->project != NULL) {
        memcpy(v, s->end + strand->v, (size_t)strand->size.nv * sizeof *v);
    } else {
        ss_systems_solve(s, w, k, s->f + strand->v, v);
    }
}

void ss_systems_solve(const ss_systems *s, const ss_world *w, int k, const double *right, double *v)
{
    const int n = w->strands[k].size.nv;
    const double *D = s->D + w->strands[k].v;
    double *rest = s->residual + w->strands[k].v;
    memcpy(v, right, (size_t)n * sizeof *v);
    ss_band_solve(&s->L[k], D, v);
    memset(rest, 0, (size_t)n * sizeof *rest);
    ss_band_add_product(&s->M[k], v, rest);
    for (int j = 0; j < n; j++) {
        rest[j] = right[j] - rest[j];
    }
    ss_band_solve(&s->L[k], D, rest);
    for (int j = 0; j < n; j++) {
        v[j] += rest[j];
    }
}
