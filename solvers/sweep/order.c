#include "solvers/sweep/order.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"

void ss_ordered_take(const ss_ordered *ordered, int width, const double *problem, double *visits)
{
    const size_t bytes = (size_t)width * sizeof *visits;
    for (int k = 0; k < ordered->view.ncontacts; k++) {
        const int i = ordered->order != NULL ? ordered->order[k] : k;
        memcpy(visits + (size_t)k * (size_t)width, problem + (size_t)i * (size_t)width, bytes);
    }
}

void ss_ordered_give(const ss_ordered *ordered, int width, const double *visits, double *problem)
{
    const size_t bytes = (size_t)width * sizeof *visits;
    for (int k = 0; k < ordered->view.ncontacts; k++) {
        const int i = ordered->order != NULL ? ordered->order[k] : k;
        memcpy(problem + (size_t)i * (size_t)width, visits + (size_t)k * (size_t)width, bytes);
    }
}

// A permutation drawn by exchanging each place with one before it (Fisher and Yates).
static int *draw_order(int n, ss_order_kind kind, uint64_t seed)
{
    int *order = malloc((size_t)n * sizeof *order);
    ss_random g = ss_random_seeded(seed);
    for (int k = 0; order != NULL && k < n; k++) {
        order[k] = kind == SS_REVERSE ? n - 1 - k : k;
    }
    for (int k = n - 1; order != NULL && kind == SS_RANDOM && k > 0; k--) {
        const int other = ss_random_below(&g, k + 1);
        const int here = order[k];
        order[k] = order[other];
        order[other] = here;
    }
    return order;
}

// Columns of A in the order of the visits, dim columns a contact. They are copied as they are: their rows
// ascend already, and sorting triplets takes as long as all else that an order needs.
static ss_status permute_columns(const ss_ordered *o, const ss_sparse *A, ss_sparse *out,
                                 ss_error *e)
{
    const int dim = o->view.dim, count = ss_sparse_count(A);
    const size_t room = (size_t)count + 1;
    *out = (ss_sparse){.nrows = A->nrows, .ncols = A->ncols};
    out->start = malloc(((size_t)A->ncols + 1) * sizeof *out->start);
    out->row = malloc(room * sizeof *out->row);
    out->x = malloc(room * sizeof *out->x);
    if (out->start == NULL || out->row == NULL || out->x == NULL) {
        return ss_fail_memory(e, "a problem in another order");
    }
    int filled = 0;
    for (int k = 0; k < o->view.ncontacts; k++) {
        const int *start = A->start + dim * o->order[k], from = start[0];
        const size_t entries = (size_t)(start[dim] - from);
        for (int c = 0; c < dim; c++) {
            out->start[dim * k + c] = filled + start[c] - from;
        }
        memcpy(out->row + filled, A->row + from, entries * sizeof *out->row);
        memcpy(out->x + filled, A->x + from, entries * sizeof *out->x);
        filled += (int)entries;
    }
    out->start[A->ncols] = filled;
    return SS_OK;
}

// Rows of W are contacts too: component c of contact i becomes that of i's visit. Two transpositions put
// them into ascending order again.
static ss_status permute_local(const ss_problem *p, ss_ordered *o, ss_error *e)
{
    const int dim = p->dim, size = dim * p->ncontacts;
    int *rows = malloc((size_t)size * sizeof *rows);
    ss_sparse renamed = {0}, transposed = {0};
    ss_status status = rows != NULL ? permute_columns(o, &p->W, &renamed, e)
                                    : ss_fail_memory(e, "a problem in another order");
    if (status == SS_OK) {
        for (int j = 0; j < size; j++) {
            rows[dim * o->order[j / dim] + j % dim] = j;
        }
        for (int k = 0; k < ss_sparse_count(&renamed); k++) {
            renamed.row[k] = rows[renamed.row[k]];
        }
        status = ss_sparse_transpose(&renamed, &transposed, e);
    }
    if (status == SS_OK) {
        status = ss_sparse_transpose(&transposed, &o->view.W, e);
    }
    ss_sparse_free(&renamed);
    ss_sparse_free(&transposed);
    free(rows);
    return status;
}

static double *order_take(const ss_ordered *o, int width, const double *x)
{
    double *taken = malloc((size_t)(width * o->view.ncontacts) * sizeof *taken);
    if (taken != NULL) {
        ss_ordered_take(o, width, x, taken);
    }
    return taken;
}

static ss_status permute(const ss_problem *p, ss_ordered *o, ss_error *e)
{
    const bool local = p->form == SS_LOCAL;
    double *load = order_take(o, p->dim, local ? p->b : p->w);
    o->view.b = local ? load : NULL;
    o->view.w = local ? NULL : load;
    o->view.mu = order_take(o, 1, p->mu);
    if (load == NULL || o->view.mu == NULL) {
        return ss_fail_memory(e, "a problem in another order");
    }
    return local ? permute_local(p, o, e) : permute_columns(o, &p->H, &o->view.H, e);
}

ss_status ss_ordered_new(const ss_problem *p, ss_order_kind kind, uint64_t seed,
                         ss_ordered *ordered, ss_error *e)
{
    *ordered = (ss_ordered){.view = *p};
    if (kind == SS_NATURAL) {
        return SS_OK;
    }
    ordered->owned = true;
    ordered->view.W = ordered->view.H = (ss_sparse){0};
    ordered->view.mu = ordered->view.b = ordered->view.w = NULL;
    ss_status status = SS_OK;
    if (kind == SS_STRIPED) {
        status = ss_stripes_find(p, &ordered->stripes, e);
        ordered->order = ordered->stripes.order;
        ordered->stripes.order = NULL;
    } else {
        ordered->order = draw_order(p->ncontacts, kind, seed);
        status = ordered->order != NULL ? SS_OK : ss_fail_memory(e, "an order of contacts");
    }
    if (status == SS_OK) {
        status = permute(p, ordered, e);
    }
    if (status != SS_OK) {
        ss_ordered_free(ordered);
    }
    return status;
}

// In the natural order everything is borrowed.
void ss_ordered_free(ss_ordered *ordered)
{
    if (ordered->owned) {
        ss_sparse_free(&ordered->view.W);
        ss_sparse_free(&ordered->view.H);
        free(ordered->view.mu);
        free(ordered->view.b);
        free(ordered->view.w);
    }
    free(ordered->order);
    ss_stripes_free(&ordered->stripes);
    *ordered = (ss_ordered){0};
}
