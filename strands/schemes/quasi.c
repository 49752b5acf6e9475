// Newton's systems with the first stiffness of bending and twist (quasi.h).
#include "strands/schemes/quasi.h"

#include "base/clock.h"
#include "strands/band.h"
#include "strands/step/stepper.h"
#include "strands/step/systems.h"

#include <stdlib.h>
#include <string.h>

// ---- Systems that keep a stiffness

static size_t count_of(const ss_band *A)
{
    return (size_t)A->n * (size_t)(A->half + 1);
}

bool ss_quasi_init(ss_quasi *s, const ss_world *w)
{
    size_t count = 1;
    for (int k = 0; k < w->nstrands; k++) {
        const ss_strand_size *size = &w->strands[k].size;
        count += (size_t)size->nv * (size_t)(size->half_bandwidth + 1);
    }
    s->base = malloc(count * sizeof *s->base);
    s->g = malloc(((size_t)w->nv + 1) * sizeof *s->g);
    s->seconds = calloc((size_t)w->nstrands + 1, sizeof *s->seconds);
    return s->base != NULL && s->g != NULL && s->seconds != NULL;
}

void ss_quasi_free(ss_quasi *s)
{
    free(s->base);
    free(s->g);
    free(s->seconds);
    *s = (ss_quasi){0};
}

// M += scale K_s of the free dofs, at the iterate.
static void add_lengths(ss_systems *systems, const ss_world *w, int k, const ss_iterate *it,
                        double scale, int thread, ss_band *M)
{
    const ss_strand *strand = &w->strands[k];
    const ss_stiffness kind = systems->kinds[k];
    const double *q = it->at->q + strand->q;
    if (strand->size.nheld == 0) {
        strand->model->lengths(strand->self, q, kind, scale, M);
        return;
    }
    ss_band whole = {strand->size.nv, strand->size.half_bandwidth, systems->rooms[thread].whole};
    ss_band_clear(&whole);
    strand->model->lengths(strand->self, q, kind, scale, &whole);
    const int *dof = systems->free + strand->v;
    for (int j = 0; j < M->n; j++) {
        for (int i = j; i < M->n && dof[i] - dof[j] <= whole.half; i++) {
            *ss_band_at(M, i, j) += *ss_band_at(&whole, dof[i], dof[j]);
        }
    }
}

void ss_quasi_keep(ss_quasi *s, ss_systems *systems, const ss_world *w, int k, const ss_iterate *it,
                   int thread)
{
    const ss_band *M = &systems->M[k];
    ss_band base = {M->n, M->half, s->base + (M->x - systems->M_numbers)};
    memcpy(base.x, M->x, count_of(M) * sizeof *base.x);
    add_lengths(systems, w, k, it, -it->h * it->h, thread, &base);
}

bool ss_quasi_renew(ss_quasi *s, ss_systems *systems, const ss_world *w, int k,
                    const ss_iterate *it, const ss_placed *at, int thread)
{
    ss_band *M = &systems->M[k];
    const double *base = s->base + (M->x - systems->M_numbers);
    ss_strand_residual(w, k, it, at, systems->rooms[thread].scratch, s->g + w->strands[k].v);
    memcpy(M->x, base, count_of(M) * sizeof *base);
    add_lengths(systems, w, k, it, it->h * it->h, thread, M);
    const double start = ss_clock_now();
    const bool good = ss_systems_factor(systems, w, k);
    s->seconds[k] = ss_clock_now() - start;
    if (good) {
        return true;
    }
    const bool definite = ss_systems_form_strand(systems, w, k, it, at, thread);
    ss_quasi_keep(s, systems, w, k, it, thread);
    return definite;
}

void ss_quasi_solve(const ss_quasi *s, ss_systems *systems, const ss_world *w, int k,
                    const double *about, const double *impulses, double *v)
{
    const ss_strand *strand = &w->strands[k];
    const int *dof = systems->free + strand->v, n = systems->M[k].n;
    double *dv = systems->residual + strand->v;
    for (int j = 0; j < n; j++) {
        dv[j] = impulses[dof[j]] - s->g[strand->v + dof[j]];
    }
    ss_band_solve(&systems->L[k], systems->D + strand->v, dv);
    memcpy(v, about, (size_t)strand->size.nv * sizeof *v);
    for (int j = 0; j < n; j++) {
        v[dof[j]] += dv[j];
    }
}

void ss_quasi_right(const ss_quasi *s, ss_systems *systems, const ss_world *w, int k,
                    const double *about)
{
    const ss_strand *strand = &w->strands[k];
    const int *dof = systems->free + strand->v, n = systems->M[k].n;
    double *f = systems->f + strand->v, *v = systems->residual + strand->v;
    for (int j = 0; j < n; j++) {
        f[j] = -s->g[strand->v + dof[j]];
        v[j] = about[dof[j]];
    }
    ss_band_add_product(&systems->M[k], v, f);
}

// ---- Strands side by side

#define ALIGN 64 // bytes: the lanes of a scratch

static bool are_alike(const ss_strand *a, const ss_strand *b)
{
    return a->model == b->model && a->model->group != NULL &&
           a->model->group->alike(a->self, b->self);
}

static bool make_items(ss_quasi_groups *g, const ss_world *w)
{
    bool made = true;
    for (int i = 0; i < g->count; i++) {
        ss_quasi_item *item = &g->items[i];
        if (item->count == 1) {
            continue; // by itself it is as fast
        }
        item->model = w->strands[item->strand[0]].model->group;
        item->group = item->model->make(w, item->strand, item->count);
        made = made && item->group != NULL;
        const size_t bytes = item->group != NULL ? item->model->scratch(item->group) : 0;
        g->each = bytes > g->each ? bytes : g->each;
    }
    return made;
}

bool ss_quasi_groups_init(ss_quasi_groups *g, const ss_world *w, bool together, int threads)
{
    g->items = calloc((size_t)w->nstrands + 1, sizeof *g->items);
    for (int k = 0; g->items != NULL && k < w->nstrands; k++) {
        const ss_strand *strand = &w->strands[k];
        ss_quasi_item *last = g->count > 0 ? &g->items[g->count - 1] : NULL;
        if (together && last != NULL && last->count < SS_QUASI_LANES &&
            are_alike(&w->strands[last->strand[0]], strand)) {
            last->strand[last->count++] = k;
        } else {
            g->items[g->count++] = (ss_quasi_item){.strand = {k}, .count = 1};
        }
    }
    if (g->items == NULL || !make_items(g, w)) {
        return false;
    }
    g->each = (g->each / ALIGN + 1) * ALIGN;
    g->scratch = aligned_alloc(ALIGN, (size_t)threads * g->each);
    return g->scratch != NULL;
}

void ss_quasi_groups_free(ss_quasi_groups *g)
{
    for (int i = 0; i < g->count; i++) {
        if (g->items[i].group != NULL) {
            g->items[i].model->free(g->items[i].group);
        }
    }
    free(g->items);
    free(g->scratch);
    *g = (ss_quasi_groups){0};
}
