// W by blocks, from and to a matrix of numbers.
#include "problems/matrix/delassus.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/merge.h"

void ss_blocks_free(ss_blocks *W)
{
    free(W->start);
    free(W->col);
    free(W->x);
    *W = (ss_blocks){0};
}

// The block columns that entries of one scalar row lie in.
static size_t row_blocks(const ss_sparse *rows, int dim, int r, int *out)
{
    size_t count = 0;
    for (int k = rows->start[r]; k < rows->start[r + 1]; k++) {
        const int column = rows->row[k] / dim;
        if (count == 0 || out[count - 1] != column) {
            out[count++] = column;
        }
    }
    return count;
}

// Columns of block row i: its diagonal, and the block columns of its scalar rows. Lists have room
// for n columns each.
static size_t merge_row(const ss_sparse *rows, int dim, int i, int *out, int *one, int *spare)
{
    size_t count = 1;
    out[0] = i;
    for (int r = dim * i; r < dim * (i + 1); r++) {
        const size_t more = row_blocks(rows, dim, r, one);
        count = merge_ascending(out, count, one, more, spare);
        memcpy(out, spare, count * sizeof *out);
    }
    return count;
}

// Both passes over the rows share this: the first counts, the second (W->col not NULL) writes.
// False without memory; where it is stopped the rows are not complete.
static bool blocks_find_columns(const ss_stop *stop, const ss_sparse *rows, ss_blocks *W)
{
    const size_t n = (size_t)W->n;
    int *lists = malloc(4 * n * sizeof *lists);
    if (lists == NULL) {
        return false;
    }
    int *out = lists, *one = lists + n, *spare = lists + 2 * n;
    W->start[0] = 0;
    for (int i = 0; i < W->n && !ss_stop_asked_at(stop, i); i++) {
        const size_t count = merge_row(rows, W->dim, i, out, one, spare);
        if (W->col != NULL) {
            memcpy(W->col + W->start[i], out, count * sizeof *out);
        }
        W->start[i + 1] = W->start[i] + count;
    }
    free(lists);
    return true;
}

static void copy_entries(const ss_stop *stop, const ss_sparse *rows, ss_blocks *W)
{
    const int dim = W->dim;
    for (int r = 0; r < rows->ncols && !ss_stop_asked_at(stop, r); r++) {
        size_t block = W->start[r / dim];
        for (int k = rows->start[r]; k < rows->start[r + 1]; k++) {
            while (W->col[block] != rows->row[k] / dim) {
                block++;
            }
            const int place = (r % dim) * dim + rows->row[k] % dim;
            W->x[block * (size_t)(dim * dim) + (size_t)place] = rows->x[k];
        }
    }
}

// False without memory.
static bool blocks_fill(const ss_stop *stop, const ss_sparse *rows, ss_blocks *W)
{
    const size_t block = (size_t)(W->dim * W->dim);
    W->start = malloc(((size_t)W->n + 1) * sizeof *W->start);
    bool ok = W->start != NULL && blocks_find_columns(stop, rows, W);
    if (ok && !ss_stop_asked(stop)) {
        const size_t count = W->start[W->n];
        W->col = malloc(count * sizeof *W->col);
        W->x = calloc(count * block + SS_BLOCK_ROOM, sizeof *W->x);
        ok = W->col != NULL && W->x != NULL && blocks_find_columns(stop, rows, W);
    }
    if (ok && !ss_stop_asked(stop)) {
        copy_entries(stop, rows, W);
    }
    return ok;
}

ss_status ss_blocks_from_sparse_until(const ss_stop *stop, const ss_sparse *A, int dim,
                                      ss_blocks *W, ss_error *e)
{
    *W = (ss_blocks){.dim = dim, .n = A->nrows / dim};
    ss_sparse rows = {0};
    ss_status status = ss_sparse_transpose_until(stop, A, &rows, e);
    if (status == SS_OK && rows.start != NULL && !blocks_fill(stop, &rows, W)) {
        status = ss_fail_memory(e, "the blocks of W");
    }
    if (status != SS_OK || ss_stop_asked(stop)) {
        ss_blocks_free(W);
    }
    ss_sparse_free(&rows);
    return status;
}

ss_status ss_blocks_from_sparse(const ss_sparse *A, int dim, ss_blocks *W, ss_error *e)
{
    return ss_blocks_from_sparse_until(NULL, A, dim, W, e);
}

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
