// Copies of designs (model.h).
#include <stdlib.h>
#include <string.h>

#include "strands/model.h"

// Puts `count` numbers at *at, which moves behind them; NULL for NULL.
static void *put(double **at, const void *numbers, size_t count)
{
    double *to = *at;
    if (numbers == NULL || count == 0) {
        return NULL;
    }
    memcpy(to, numbers, count * sizeof *to);
    *at += count;
    return to;
}

ss_status ss_strand_design_copy(const ss_strand_design *design, ss_strand_design **copy,
                                ss_error *e)
{
    const size_t pieces = 3 * (size_t)design->npieces, n = (size_t)design->nvertices;
    const size_t edges = n > 0 ? n - 1 : 0, parts = 5 * (size_t)design->nparts;
    const size_t count = 2 * pieces + 9 * n + 2 * edges + parts;
    ss_strand_design *d = malloc(sizeof *d + count * sizeof(double) + n * sizeof(int));
    *copy = d;
    if (d == NULL) {
        return ss_fail_memory(e, "the design of a strand");
    }
    double *at = (double *)(d + 1);
    *d = *design;
    d->style = put(&at, design->style, pieces);
    d->unrest = put(&at, design->unrest, pieces);
    d->vertices = put(&at, design->vertices, 3 * n);
    d->rest = put(&at, design->rest, 3 * n);
    d->theta = put(&at, design->theta, edges);
    d->rest_theta = put(&at, design->rest_theta, edges);
    d->velocity = put(&at, design->velocity, 3 * n);
    d->parts = put(&at, design->parts, parts);
    if (design->parent != NULL) {
        void *const last = (double *)(d + 1) + count;
        memcpy(last, design->parent, n * sizeof *design->parent);
        d->parent = last;
    }
    return SS_OK;
}
