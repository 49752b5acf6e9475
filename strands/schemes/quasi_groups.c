// Groups of strands (quasi_groups.h).
#include "strands/schemes/quasi_groups.h"

#include <stdlib.h>

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
