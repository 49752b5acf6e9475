// W by blocks, from and to a matrix of numbers.
#include "problems/matrix/delassus.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

void ss_blocks_free(ss_blocks *W)
{
    free(W->start);
    free(W->col);
    free(W->x);
    *W = (ss_blocks){0};
}

// ---- From numbers
//
// A is stored by columns and W by rows of blocks. The block columns of A are taken in order, so each row of W gets its
// blocks in the order of their columns. W has all blocks of its diagonal, A perhaps not.

typedef struct filling {
    const ss_sparse *A;
    ss_blocks *W;
    int *row;     // [rows of A] block row
    int *last;    // [n] block column of the last block of a block row; -1: it has none yet
    size_t *next; // [n] place after the last block of a block row; in the first pass, their count
} filling;

static bool filling_new(filling *f, const ss_sparse *A, ss_blocks *W)
{
    const size_t n = (size_t)W->n;
    *f = (filling){A, W, malloc((size_t)A->nrows * sizeof(int) + 1), malloc((n + 1) * sizeof(int)),
                   calloc(n + 1, sizeof(size_t))};
    if (f->row == NULL || f->last == NULL || f->next == NULL) {
        return false;
    }
    for (int r = 0; r < A->nrows; r++) {
        f->row[r] = r / W->dim;
    }
    return true;
}

static void filling_free(filling *f)
{
    free(f->row);
    free(f->last);
    free(f->next);
}

// The place of block (i, j), which is added to row i if it is new. While W->col is NULL it is only counted.
static size_t find_block(const filling *f, int i, int j)
{
    if (f->last[i] != j) {
        f->last[i] = j;
        if (f->W->col != NULL) {
            f->W->col[f->next[i]] = j;
        }
        f->next[i]++;
    }
    return f->next[i] - 1;
}

// The first pass counts blocks; the second, with W->col, writes them. A pass that is stopped leaves them incomplete.
static void pass_columns(const ss_stop *stop, const filling *f)
{
    const ss_sparse *A = f->A;
    const int dim = f->W->dim;
    for (int i = 0; i < f->W->n; i++) {
        f->last[i] = -1;
    }
    for (int j = 0; j < f->W->n && !ss_stop_asked_at(stop, j); j++) {
        find_block(f, j, j);
        for (int c = 0; c < dim; c++) {
            for (int k = A->start[dim * j + c]; k < A->start[dim * j + c + 1]; k++) {
                const int i = f->row[A->row[k]], place = (A->row[k] - dim * i) * dim + c;
                const size_t block = find_block(f, i, j);
                if (f->W->col != NULL) {
                    f->W->x[block * (size_t)(dim * dim) + (size_t)place] = A->x[k];
                }
            }
        }
    }
}

// The counts of blocks in `next` become the starts of the rows.
static void place_rows(const filling *f)
{
    size_t begin = 0;
    for (int i = 0; i < f->W->n; i++) {
        f->W->start[i] = begin;
        begin += f->next[i];
        f->next[i] = f->W->start[i];
    }
    f->W->start[f->W->n] = begin;
}

// False without memory.
static bool blocks_fill(const ss_stop *stop, const filling *f)
{
    ss_blocks *W = f->W;
    pass_columns(stop, f);
    W->start = malloc(((size_t)W->n + 1) * sizeof *W->start);
    if (W->start == NULL || ss_stop_asked(stop)) {
        return W->start != NULL;
    }
    place_rows(f);
    const size_t count = W->start[W->n];
    W->x = calloc(count * (size_t)(W->dim * W->dim) + SS_BLOCK_ROOM, sizeof *W->x);
    W->col = malloc((count + 1) * sizeof *W->col);
    if (W->x == NULL || W->col == NULL) {
        return false;
    }
    pass_columns(stop, f);
    return true;
}

ss_status ss_blocks_from_sparse_until(const ss_stop *stop, const ss_sparse *A, int dim,
                                      ss_blocks *W, ss_error *e)
{
    *W = (ss_blocks){.dim = dim, .n = A->nrows / dim};
    filling f;
    const bool filled = filling_new(&f, A, W) && blocks_fill(stop, &f);
    filling_free(&f);
    if (!filled || ss_stop_asked(stop)) {
        ss_blocks_free(W);
    }
    return filled ? SS_OK : ss_fail_memory(e, "the blocks of W");
}

ss_status ss_blocks_from_sparse(const ss_sparse *A, int dim, ss_blocks *W, ss_error *e)
{
    return ss_blocks_from_sparse_until(NULL, A, dim, W, e);
}

// ---- To numbers

// W by rows is W' by columns.
static bool rows_of_blocks(const ss_blocks *W, ss_sparse *rows)
{
    const int dim = W->dim;
    const size_t count = W->start[W->n] * (size_t)(dim * dim);
    *rows = (ss_sparse){
        dim * W->n, dim * W->n, malloc(((size_t)(dim * W->n) + 1) * sizeof *rows->start),
        malloc((count + 1) * sizeof *rows->row), malloc((count + 1) * sizeof *rows->x)};
    if (rows->start == NULL || rows->row == NULL || rows->x == NULL) {
        ss_sparse_free(rows);
        return false;
    }
    int filled = 0;
    for (int r = 0; r < rows->ncols; r++) {
        rows->start[r] = filled;
        for (size_t k = W->start[r / dim]; k < W->start[r / dim + 1]; k++) {
            for (int c = 0; c < dim; c++) {
                rows->row[filled] = dim * W->col[k] + c;
                rows->x[filled++] = W->x[k * (size_t)(dim * dim) + (size_t)((r % dim) * dim + c)];
            }
        }
    }
    rows->start[rows->ncols] = filled;
    return true;
}

ss_status ss_blocks_to_sparse(const ss_blocks *W, ss_sparse *A, ss_error *e)
{
    *A = (ss_sparse){0};
    if (W->start[W->n] > (size_t)(INT_MAX / (W->dim * W->dim))) {
        return ss_fail(e, SS_BAD_INPUT, "W has %zu blocks, more than 32-bit indices can count",
                       W->start[W->n]);
    }
    ss_sparse rows = {0};
    if (!rows_of_blocks(W, &rows)) {
        return ss_fail_memory(e, "W");
    }
    const ss_status status = ss_sparse_transpose(&rows, A, e);
    ss_sparse_free(&rows);
    return status;
}
