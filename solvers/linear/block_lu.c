#include "solvers/linear/block_lu.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "solvers/linear/block_front.h"

typedef double four __attribute__((vector_size(32), aligned(8)));

#define ALIGNMENT 64 // bytes: no vector is on two cache lines

void ss_block_lu_free(ss_block_lu *lu)
{
    if (lu != NULL) {
        ss_block_tree_free(&lu->tree);
        free(lu->begin);
        free(lu->pair);
        free(lu->diag);
        free(lu->lower);
        free(lu->upper);
        free(lu->first_entry);
        free(lu->entry);
        free(lu->values);
        free(lu->factor_at);
        free(lu->memory);
        free(lu->local);
        free(lu->run);
        free(lu->vector);
        free(lu);
    }
}

// ---- The pattern

// The later nodes of each node, each once. False without memory, and where it was stopped.
static bool list_pairs(ss_block_lu *lu, int npairs, const int (*pairs)[2])
{
    const int n = lu->tree.n, *where = lu->tree.where;
    int *begin = lu->begin = calloc((size_t)n + 2, sizeof *begin);
    int *pair = lu->pair = malloc(((size_t)npairs + 1) * sizeof *pair);
    if (begin == NULL || pair == NULL) {
        return false;
    }
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < npairs; k++) {
            const int a = where[pairs[k][0]], b = where[pairs[k][1]];
            const int low = a < b ? a : b, high = a < b ? b : a;
            if (low != high && pass == 0) {
                begin[low + 2]++;
            } else if (low != high) {
                pair[begin[low + 1]++] = high;
            }
        }
        for (int k = 2; pass == 0 && k <= n + 1; k++) {
            begin[k] += begin[k - 1];
        }
    }
    int kept = 0;
    for (int k = 0, from = 0; k < n; k++) {
        if (ss_stop_asked(lu->stop)) {
            return false;
        }
        const int to = begin[k + 1];
        qsort(pair + from, (size_t)(to - from), sizeof *pair, ss_block_ascending);
        for (int s = from; s < to; s++) {
            if (s == from || pair[s] != pair[s - 1]) {
                pair[kept++] = pair[s];
            }
        }
        from = to;
        begin[k + 1] = kept;
    }
    return true;
}

static void add_entry(ss_block_lu *lu, int *count, size_t from, int row, int col)
{
    const ss_block_tree *t = &lu->tree;
    lu->entry[(*count)++] = (ss_block_entry){.from = from,
                                             .row = lu->local[row],
                                             .col = lu->local[col],
                                             .rows = t->room[row],
                                             .cols = t->room[col]};
}

// Blocks of A in the order of the fronts that they go to.
static bool place_blocks(ss_block_lu *lu)
{
    const ss_block_tree *t = &lu->tree;
    const size_t n = (size_t)t->n, npairs = (size_t)lu->begin[n];
    lu->diag = malloc((n + 1) * sizeof *lu->diag);
    lu->lower = malloc((npairs + 1) * sizeof *lu->lower);
    lu->upper = malloc((npairs + 1) * sizeof *lu->upper);
    lu->local = malloc((n + 1) * sizeof *lu->local);
    lu->run = malloc((3 * n + 1) * sizeof *lu->run);
    lu->entry = malloc((n + 2 * npairs + 1) * sizeof *lu->entry);
    lu->first_entry = malloc(((size_t)t->nfronts + 1) * sizeof *lu->first_entry);
    if (lu->diag == NULL || lu->lower == NULL || lu->upper == NULL || lu->local == NULL ||
        lu->run == NULL || lu->entry == NULL || lu->first_entry == NULL) {
        return false;
    }
    int count = 0;
    lu->first_entry[0] = 0;
    for (int f = 0; f < t->nfronts; f++) {
        if (ss_stop_asked(lu->stop)) {
            return false;
        }
        ss_block_localize(lu, f);
        for (int k = t->front[f].node; k < t->front[f + 1].node; k++) {
            const size_t m = (size_t)t->room[k];
            lu->diag[k] = lu->nvalues;
            add_entry(lu, &count, lu->nvalues, k, k);
            lu->nvalues += m * m;
            for (int s = lu->begin[k]; s < lu->begin[k + 1]; s++) {
                const int i = lu->pair[s];
                const size_t size = m * (size_t)t->room[i];
                lu->lower[s] = lu->nvalues;
                lu->upper[s] = lu->nvalues + size;
                lu->nvalues += 2 * size;
                add_entry(lu, &count, lu->lower[s], i, k);
                add_entry(lu, &count, lu->upper[s], k, i);
            }
        }
        lu->first_entry[f + 1] = count;
    }
    return true;
}

static size_t panels_of(const ss_block_front *front)
{
    size_t numbers = 0;
    for (int p = 0; p < front->width; p += SS_PANEL) {
        const int b = front->width - p < SS_PANEL ? front->width - p : SS_PANEL;
        numbers += ss_panel_numbers(b, front->width + front->height - p - b);
    }
    return numbers;
}

// How large the factor, a front and the stack become.
static bool lu_measure(ss_block_lu *lu)
{
    const ss_block_tree *t = &lu->tree;
    lu->factor_at = malloc(((size_t)t->nfronts + 1) * sizeof *lu->factor_at);
    size_t *left = malloc(((size_t)t->nfronts + 1) * sizeof *left);
    if (lu->factor_at == NULL || left == NULL) {
        free(left);
        return false;
    }
    size_t stack = 0;
    lu->factor_at[0] = 0;
    for (int f = 0; f < t->nfronts; f++) {
        const ss_block_front *front = &t->front[f];
        const int size = front->width + front->height;
        const size_t numbers = ss_front_stride(size) * (size_t)(size + SS_TILE);
        lu->factor_at[f + 1] = lu->factor_at[f] + panels_of(front);
        lu->most_size = (size_t)size > lu->most_size ? (size_t)size : lu->most_size;
        lu->most_front = numbers > lu->most_front ? numbers : lu->most_front;
        for (int c = 0, child = f - 1; c < front->children; c++) {
            stack -= left[child];
            child -= t->front[child].subtree;
        }
        left[f] = (size_t)front->height * (size_t)front->height;
        stack += left[f];
        lu->most_stack = stack > lu->most_stack ? stack : lu->most_stack;
    }
    free(left);
    return true;
}

ss_status ss_block_lu_new(int nodes, const int *room, int npairs, const int (*pairs)[2],
                          const ss_stop *stop, ss_block_lu **lu, ss_error *e)
{
    *lu = NULL;
    ss_block_lu *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return ss_fail_memory(e, "a factorisation");
    }
    made->stop = stop;
    const bool ok = ss_block_tree_new(nodes, room, npairs, pairs, stop, &made->tree) &&
                    list_pairs(made, npairs, pairs) && place_blocks(made) && lu_measure(made);
    const bool stopped = ss_stop_asked(stop);
    if (!ok || stopped) {
        ss_block_lu_free(made);
        return stopped ? SS_OK : ss_fail_memory(e, "a factorisation");
    }
    *lu = made;
    return SS_OK;
}

size_t ss_block_lu_place(const ss_block_lu *lu, int a, int b)
{
    const int i = lu->tree.where[a], j = lu->tree.where[b];
    const int low = i < j ? i : j, high = i < j ? j : i;
    if (low == high) {
        return lu->diag[low];
    }
    int left = lu->begin[low], right = lu->begin[low + 1] - 1;
    while (left < right) {
        const int middle = (left + right) / 2;
        if (lu->pair[middle] < high) {
            left = middle + 1;
        } else {
            right = middle;
        }
    }
    return i > j ? lu->lower[left] : lu->upper[left];
}

// ---- The numbers

// In the factor.
static size_t numbers_of(const ss_block_lu *lu)
{
    return lu->factor_at[lu->tree.nfronts];
}

double ss_block_lu_bytes(const ss_block_lu *lu)
{
    return (double)sizeof(double) * ((double)numbers_of(lu) + (double)lu->most_front +
                                     (double)lu->most_stack + (double)lu->nvalues);
}

double ss_block_lu_work(const ss_block_lu *lu)
{
    double work = 0.0;
    for (int f = 0; f < lu->tree.nfronts; f++) {
        work += ss_block_front_work(lu->tree.front[f].width, lu->tree.front[f].height);
    }
    return work;
}

// What comes after `bytes`, at a multiple of the alignment.
static char *after(char *at, size_t bytes)
{
    return at + (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

bool ss_block_lu_reserve(ss_block_lu *lu)
{
    const size_t factor = numbers_of(lu) * sizeof(double);
    const size_t front = lu->most_front * sizeof(double), stack = lu->most_stack * sizeof(double);
    lu->values = ss_large_malloc((lu->nvalues + 1) * sizeof *lu->values);
    lu->vector = malloc((lu->most_size + SS_STRIP) * sizeof(double));
    lu->memory = ss_large_malloc(factor + front + stack + 4 * ALIGNMENT);
    if (lu->values == NULL || lu->vector == NULL || lu->memory == NULL) {
        return false;
    }
    char *begin = lu->memory;
    begin += (ALIGNMENT - (uintptr_t)begin % ALIGNMENT) % ALIGNMENT;
    lu->factor = begin;
    lu->front = after(begin, factor);
    lu->stack = after(after(begin, factor), front);
    return true;
}

double *ss_block_lu_values(ss_block_lu *lu)
{
    return lu->values;
}

bool ss_block_lu_clear(ss_block_lu *lu)
{
    for (size_t k = 0; k < lu->nvalues; k += SS_CLEARED) {
        const size_t left = lu->nvalues - k;
        memset(lu->values + k, 0, (left < SS_CLEARED ? left : SS_CLEARED) * sizeof *lu->values);
        if (ss_stop_asked(lu->stop)) {
            return false;
        }
    }
    return true;
}

bool ss_block_lu_factor(ss_block_lu *lu)
{
    lu->is_short = false;
    return ss_block_numeric_of(false)->factor(lu);
}

bool ss_block_lu_factor_short(ss_block_lu *lu)
{
    lu->is_short = true;
    return ss_block_numeric_of(true)->factor(lu);
}

bool ss_block_lu_is_negative(const ss_block_lu *lu)
{
    return lu->negative;
}

void ss_block_lu_solve(const ss_block_lu *lu, double *x)
{
    ss_block_numeric_of(lu->is_short)->solve(lu, x);
}

// y += A x, rows and columns multiples of four.
static void lu_add_product(int rows, int columns, const double *A, const double *x, double *y)
{
    for (int i = 0; i < rows; i++) {
        four sum = {0.0, 0.0, 0.0, 0.0};
        for (int j = 0; j < columns; j += 4) {
            sum += *(const four *)(A + i * columns + j) * *(const four *)(x + j);
        }
        y[i] += (sum[0] + sum[2]) + (sum[1] + sum[3]);
    }
}

void ss_block_lu_multiply(const ss_block_lu *lu, const double *x, double *y)
{
    const ss_block_tree *t = &lu->tree;
    for (int k = 0; k < t->n; k++) {
        memset(y + t->first[k], 0, (size_t)t->room[k] * sizeof *y);
    }
    for (int k = 0; k < t->n; k++) {
        const int m = t->room[k];
        const double *xk = x + t->first[k];
        double *yk = y + t->first[k];
        lu_add_product(m, m, lu->values + lu->diag[k], xk, yk);
        for (int s = lu->begin[k]; s < lu->begin[k + 1]; s++) {
            const int i = lu->pair[s];
            lu_add_product(t->room[i], m, lu->values + lu->lower[s], xk, y + t->first[i]);
            lu_add_product(m, t->room[i], lu->values + lu->upper[s], x + t->first[i], yk);
        }
    }
}
