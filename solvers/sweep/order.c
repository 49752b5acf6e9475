#include "solvers/sweep/order.h"

#include <stdlib.h>
#include <string.h>

#include "problems/tangle/random.h"

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

// Columns of A in the order of the visits, dim columns a contact; rows are renamed where `rows` is
// not NULL.
static ss_status permute_columns(const ss_ordered *o, const ss_sparse *A, const int *rows,
                                 ss_sparse *out, ss_error *e)
{
    const int dim = o->view.dim, count = ss_sparse_count(A);
    const size_t room = (size_t)count + 1;
    int *row = malloc(room * sizeof *row), *col = malloc(room * sizeof *col), filled = 0;
    double *x = malloc(room * sizeof *x);
    ss_status status = row != NULL && col != NULL && x != NULL
                           ? SS_OK
                           : ss_fail_memory(e, "a problem in another order");
    for (int j = 0; status == SS_OK && j < A->ncols; j++) {
        const int from = dim * o->order[j / dim] + j % dim;
        for (int k = A->start[from]; k < A->start[from + 1]; k++) {
            row[filled] = rows != NULL ? rows[A->row[k]] : A->row[k];
            col[filled] = j;
            x[filled++] = A->x[k];
        }
    }
    if (status == SS_OK) {
        status = ss_sparse_from_triplets(out, A->nrows, A->ncols, count, row, col, x, e);
    }
    free(row);
    free(col);
    free(x);
    return status;
}

// Rows of W are contacts too: component c of contact i becomes that of i's visit.
static ss_status permute_local(const ss_problem *p, ss_ordered *o, ss_error *e)
{
    const int dim = p->dim, size = dim * p->ncontacts;
    int *rows = malloc((size_t)size * sizeof *rows);
    if (rows == NULL) {
        return ss_fail_memory(e, "a problem in another order");
    }
    for (int j = 0; j < size; j++) {
        rows[dim * o->order[j / dim] + j % dim] = j;
    }
    const ss_status status = permute_columns(o, &p->W, rows, &o->view.W, e);
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
    return local ? permute_local(p, o, e) : permute_columns(o, &p->H, NULL, &o->view.H, e);
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
