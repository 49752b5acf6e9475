// Groups of strands (quasi_groups.h).
#include "problems/strands/step/quasi_groups.h"

#include <stdlib.h>

static bool are_alike(const ss_strand *a, const ss_strand *b)
{
    return a->model == b->model && a->model->group != NULL &&
           a->model->group->alike(a->self, b->self);
}

bool ss_quasi_groups_init(ss_quasi_groups *g, const ss_world *w, bool together)
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
    for (int i = 0; i < g->count; i++) {
        ss_quasi_item *item = &g->items[i];
        if (item->count == 1) {
            continue; // by itself it is as fast
        }
        item->model = w->strands[item->strand[0]].model->group;
        item->group = item->model->make(w, item->strand, item->count);
        if (item->group == NULL) {
            return false;
        }
    }
    return g->items != NULL;
}

void ss_quasi_groups_free(ss_quasi_groups *g)
{
    for (int i = 0; i < g->count; i++) {
        if (g->items[i].group != NULL) {
            g->items[i].model->free(g->items[i].group);
        }
    }
    free(g->items);
    *g = (ss_quasi_groups){0};
}
