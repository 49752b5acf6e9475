#include "solvers/global/block_lu.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <suitesparse/amd.h>

#include "problems/memory.h"
#include "solvers/global/small_gemm.h"

// Multiplications between two questions whether to stop, some 2 ms.
#define ASK_EVERY 1e7

struct ss_block_lu {
    int n;
    int *room;     // [n] of node k in elimination order
    int *where;    // [n] place in that order of the caller's node
    size_t *start; // [n + 1] first number of node k in a vector, in the caller's order
    size_t *first; // [n] the same by elimination order
    int *begin;    // [n + 1] later neighbours of node k: later[begin[k]] .. , ascending
    int *later;    // [begin[n]]
    size_t *diag;  // [n] offset of A_kk, later of its inverse
    size_t *lower; // [begin[n]] offset of A_ik, later of L_ik
    size_t *upper; // [begin[n]] offset of A_ki
    size_t entries;
    double *x;     // [entries]
    int *place;    // [n] scratch: where a node is among the later neighbours of another
    double *spare; // [most numbers in a block] scratch
    int *swaps;    // [most rows in a block] scratch
    size_t most;   // numbers in a block
    bool (*stop)(const void *of); // NULL: never
    const void *of;
};

void ss_block_lu_free(ss_block_lu *lu)
{
    if (lu != NULL) {
        free(lu->room);
        free(lu->where);
        free(lu->start);
        free(lu->first);
        free(lu->begin);
        free(lu->later);
        free(lu->diag);
        free(lu->lower);
        free(lu->upper);
        free(lu->x);
        free(lu->place);
        free(lu->spare);
        free(lu->swaps);
        free(lu);
    }
}

// ---- The pattern

// Neighbours of every node by columns, without the diagonal; a pair may appear several times.
typedef struct graph {
    int *start, *row;
} graph;

static bool make_graph(int n, int npairs, const int (*pairs)[2], graph *g)
{
    g->start = calloc((size_t)n + 2, sizeof *g->start);
    g->row = malloc((2 * (size_t)npairs + 1) * sizeof *g->row);
    if (g->start == NULL || g->row == NULL) {
        return false;
    }
    int *start = g->start;
    for (int k = 0; k < npairs; k++) {
        if (pairs[k][0] != pairs[k][1]) {
            start[pairs[k][0] + 2]++;
            start[pairs[k][1] + 2]++;
        }
    }
    for (int k = 2; k <= n + 1; k++) {
        start[k] += start[k - 1];
    }
    for (int k = 0; k < npairs; k++) {
        const int a = pairs[k][0], b = pairs[k][1];
        if (a != b) {
            g->row[start[a + 1]++] = b;
            g->row[start[b + 1]++] = a;
        }
    }
    return true;
}

static int ascending(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

// Later neighbours of each node in elimination order: its own in the graph, and those that
// eliminating its children gave it. A node's parent is the first of its later neighbours.
typedef struct filling {
    int *mark, *head, *next; // [n]; children of a node as a linked list
    size_t room;             // of later
} filling;

static bool push(ss_block_lu *lu, filling *f, int *count, int node)
{
    if ((size_t)*count == f->room) {
        if (*count > INT_MAX / 2) {
            return false;
        }
        int *more = realloc(lu->later, 2 * f->room * sizeof *more);
        if (more == NULL) {
            return false;
        }
        lu->later = more;
        f->room *= 2;
    }
    lu->later[(*count)++] = node;
    return true;
}

static bool fill_node(ss_block_lu *lu, filling *f, const graph *g, const int *order, int k)
{
    int count = lu->begin[k];
    f->mark[k] = k;
    const int node = order[k];
    for (int s = g->start[node]; s < g->start[node + 1]; s++) {
        const int i = lu->where[g->row[s]];
        if (i > k && f->mark[i] != k) {
            f->mark[i] = k;
            if (!push(lu, f, &count, i)) {
                return false;
            }
        }
    }
    for (int child = f->head[k]; child >= 0; child = f->next[child]) {
        for (int s = lu->begin[child]; s < lu->begin[child + 1]; s++) {
            const int i = lu->later[s];
            if (f->mark[i] != k) {
                f->mark[i] = k;
                if (!push(lu, f, &count, i)) {
                    return false;
                }
            }
        }
    }
    lu->begin[k + 1] = count;
    qsort(lu->later + lu->begin[k], (size_t)(count - lu->begin[k]), sizeof *lu->later, ascending);
    if (count > lu->begin[k]) {
        const int parent = lu->later[lu->begin[k]];
        f->next[k] = f->head[parent];
        f->head[parent] = k;
    }
    return true;
}

static bool fill(ss_block_lu *lu, const graph *g, const int *order)
{
    const size_t n = (size_t)lu->n;
    filling f = {.room = (size_t)g->start[lu->n] + n + 1};
    f.mark = malloc((3 * n + 1) * sizeof *f.mark);
    lu->later = malloc(f.room * sizeof *lu->later);
    bool ok = f.mark != NULL && lu->later != NULL;
    if (ok) {
        f.head = f.mark + n;
        f.next = f.head + n;
        for (size_t k = 0; k < 2 * n; k++) {
            f.mark[k] = -1; // mark and head
        }
        lu->begin[0] = 0;
    }
    for (int k = 0; ok && k < lu->n; k++) {
        ok = fill_node(lu, &f, g, order, k);
    }
    free(f.mark);
    return ok;
}

// Node by node: the diagonal, then each L_ik beside its A_ki.
static bool place_blocks(ss_block_lu *lu)
{
    const size_t edges = (size_t)lu->begin[lu->n];
    lu->lower = malloc((edges + 1) * sizeof *lu->lower);
    lu->upper = malloc((edges + 1) * sizeof *lu->upper);
    if (lu->lower == NULL || lu->upper == NULL) {
        return false;
    }
    size_t next = 0, most = 0;
    for (int k = 0; k < lu->n; k++) {
        const size_t m = (size_t)lu->room[k];
        lu->diag[k] = next;
        next += m * m;
        for (int s = lu->begin[k]; s < lu->begin[k + 1]; s++) {
            const size_t size = m * (size_t)lu->room[lu->later[s]];
            lu->lower[s] = next;
            lu->upper[s] = next + size;
            next += 2 * size;
            most = size > most ? size : most;
        }
        most = m * m > most ? m * m : most;
    }
    lu->entries = next;
    lu->most = most;
    return true;
}

bool ss_block_lu_reserve(ss_block_lu *lu)
{
    lu->x = ss_large_malloc((lu->entries + 1) * sizeof *lu->x);
    lu->spare = malloc((lu->most + 1) * sizeof *lu->spare);
    lu->swaps = malloc((lu->most + 1) * sizeof *lu->swaps);
    return lu->x != NULL && lu->spare != NULL && lu->swaps != NULL;
}

void ss_block_lu_ask(ss_block_lu *lu, bool (*stop)(const void *of), const void *of)
{
    lu->stop = stop;
    lu->of = of;
}

static bool order_nodes(ss_block_lu *lu, const int *room, int npairs, const int (*pairs)[2])
{
    graph g = {NULL, NULL};
    int *order = malloc(((size_t)lu->n + 1) * sizeof *order);
    bool ok = order != NULL && make_graph(lu->n, npairs, pairs, &g) &&
              (lu->n == 0 || amd_order(lu->n, g.start, g.row, order, NULL, NULL) >= AMD_OK);
    if (ok) {
        lu->start[0] = 0;
        for (int k = 0; k < lu->n; k++) {
            lu->start[k + 1] = lu->start[k] + (size_t)room[k];
            lu->where[order[k]] = k;
            lu->room[k] = room[order[k]];
        }
        for (int k = 0; k < lu->n; k++) {
            lu->first[k] = lu->start[order[k]];
        }
        ok = fill(lu, &g, order) && place_blocks(lu);
    }
    free(g.start);
    free(g.row);
    free(order);
    return ok;
}

ss_status ss_block_lu_new(int nodes, const int *room, int npairs, const int (*pairs)[2],
                          ss_block_lu **lu, ss_error *e)
{
    *lu = NULL;
    ss_block_lu *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return ss_fail_memory(e, "a factorisation");
    }
    const size_t n = (size_t)nodes + 1;
    made->n = nodes;
    made->room = malloc(n * sizeof *made->room);
    made->where = malloc(n * sizeof *made->where);
    made->start = malloc(n * sizeof *made->start);
    made->first = malloc(n * sizeof *made->first);
    made->begin = malloc(n * sizeof *made->begin);
    made->diag = malloc(n * sizeof *made->diag);
    made->place = malloc(n * sizeof *made->place);
    if (made->room == NULL || made->where == NULL || made->start == NULL || made->first == NULL ||
        made->begin == NULL || made->diag == NULL || made->place == NULL ||
        !order_nodes(made, room, npairs, pairs)) {
        ss_block_lu_free(made);
        return ss_fail_memory(e, "a factorisation");
    }
    *lu = made;
    return SS_OK;
}

size_t ss_block_lu_place(const ss_block_lu *lu, int a, int b)
{
    const int i = lu->where[a], j = lu->where[b];
    const int low = i < j ? i : j, high = i < j ? j : i;
    if (low == high) {
        return lu->diag[low];
    }
    int left = lu->begin[low], right = lu->begin[low + 1] - 1;
    while (left < right) {
        const int middle = (left + right) / 2;
        if (lu->later[middle] < high) {
            left = middle + 1;
        } else {
            right = middle;
        }
    }
    return i > j ? lu->lower[left] : lu->upper[left];
}

double *ss_block_lu_values(ss_block_lu *lu)
{
    return lu->x;
}

size_t ss_block_lu_entries(const ss_block_lu *lu)
{
    return lu->entries;
}

void ss_block_lu_clear(ss_block_lu *lu)
{
    memset(lu->x, 0, lu->entries * sizeof *lu->x);
}

// ---- The numbers

// A <- A^-1 by Gauss and Jordan with row pivoting: after step k the first k columns hold those of
// the inverse, up to the order of the columns, which the swaps undo at the end.
static bool invert(int m, double *A, int *swaps)
{
    for (int k = 0; k < m; k++) {
        int pivot = k;
        for (int i = k + 1; i < m; i++) {
            if (fabs(A[i * m + k]) > fabs(A[pivot * m + k])) {
                pivot = i;
            }
        }
        const double size = fabs(A[pivot * m + k]);
        if (!(size > 1e-300 && size < 1e300)) {
            return false;
        }
        swaps[k] = pivot;
        double *row = A + k * m;
        if (pivot != k) {
            double *other = A + pivot * m;
            for (int j = 0; j < m; j++) {
                const double x = row[j];
                row[j] = other[j];
                other[j] = x;
            }
        }
        const double inverse = 1.0 / row[k];
        row[k] = 1.0;
        for (int j = 0; j < m; j++) {
            row[j] *= inverse;
        }
        for (int i = 0; i < m; i++) {
            if (i != k) {
                double *target = A + i * m;
                const double factor = target[k];
                target[k] = 0.0;
                for (int j = 0; j < m; j++) {
                    target[j] -= factor * row[j];
                }
            }
        }
    }
    for (int k = m - 1; k >= 0; k--) {
        if (swaps[k] != k) {
            for (int i = 0; i < m; i++) {
                const double x = A[i * m + k];
                A[i * m + k] = A[i * m + swaps[k]];
                A[i * m + swaps[k]] = x;
            }
        }
    }
    return true;
}

// (1) of node k on the pairs that contain its later neighbour number s.
static void eliminate_from(ss_block_lu *lu, int k, int s)
{
    const int i = lu->later[s];
    const int mi = lu->room[i], mk = lu->room[k];
    double *x = lu->x;
    for (int t = lu->begin[i]; t < lu->begin[i + 1]; t++) {
        lu->place[lu->later[t]] = t;
    }
    ss_gemm_subtract(mi, mk, mi, x + lu->lower[s], x + lu->upper[s], x + lu->diag[i]);
    for (int q = s + 1; q < lu->begin[k + 1]; q++) {
        const int j = lu->later[q], t = lu->place[j];
        const int mj = lu->room[j];
        ss_gemm_subtract(mj, mk, mi, x + lu->lower[q], x + lu->upper[s], x + lu->lower[t]);
        ss_gemm_subtract(mi, mk, mj, x + lu->lower[s], x + lu->upper[q], x + lu->upper[t]);
    }
}

// Whether node k may be eliminated: the answer of the last time holds while little has been done.
static bool may_go_on(const ss_block_lu *lu, int k, double *work)
{
    const double later = (double)(lu->begin[k + 1] - lu->begin[k]) + 1.0, m = lu->room[k];
    *work += later * later * m * m * m;
    if (lu->stop == NULL || *work < ASK_EVERY) {
        return true;
    }
    *work = 0.0;
    return !lu->stop(lu->of);
}

bool ss_block_lu_factor(ss_block_lu *lu)
{
    double *x = lu->x, work = 0.0;
    for (int k = 0; k < lu->n; k++) {
        const int m = lu->room[k];
        if (!may_go_on(lu, k, &work) || !invert(m, x + lu->diag[k], lu->swaps)) {
            return false;
        }
        for (int s = lu->begin[k]; s < lu->begin[k + 1]; s++) {
            const int mi = lu->room[lu->later[s]];
            const size_t size = (size_t)mi * (size_t)m;
            memcpy(lu->spare, x + lu->lower[s], size * sizeof *x);
            memset(x + lu->lower[s], 0, size * sizeof *x);
            ss_gemm_add(mi, m, m, lu->spare, x + lu->diag[k], x + lu->lower[s]);
        }
        for (int s = lu->begin[k]; s < lu->begin[k + 1]; s++) {
            eliminate_from(lu, k, s);
        }
    }
    return true;
}

// y -= A x, rows and columns multiples of four.
static void subtract_product(int rows, int columns, const double *A, const double *x, double *y)
{
    for (int i = 0; i < rows; i++) {
        ss_four sum = {0.0, 0.0, 0.0, 0.0};
        for (int j = 0; j < columns; j += 4) {
            sum = ss_fused(*(const ss_four *)(A + i * columns + j), *(const ss_four *)(x + j), sum);
        }
        y[i] -= (sum[0] + sum[2]) + (sum[1] + sum[3]);
    }
}

void ss_block_lu_solve(const ss_block_lu *lu, double *x)
{
    for (int k = 0; k < lu->n; k++) {
        for (int s = lu->begin[k]; s < lu->begin[k + 1]; s++) {
            const int i = lu->later[s];
            subtract_product(lu->room[i], lu->room[k], lu->x + lu->lower[s], x + lu->first[k],
                             x + lu->first[i]);
        }
    }
    for (int k = lu->n - 1; k >= 0; k--) {
        const int m = lu->room[k];
        double *xk = x + lu->first[k];
        for (int s = lu->begin[k]; s < lu->begin[k + 1]; s++) {
            const int i = lu->later[s];
            subtract_product(m, lu->room[i], lu->x + lu->upper[s], x + lu->first[i], xk);
        }
        memcpy(lu->spare, xk, (size_t)m * sizeof *xk);
        memset(xk, 0, (size_t)m * sizeof *xk);
        for (int j = 0; j < m; j++) {
            lu->spare[j] = -lu->spare[j];
        }
        subtract_product(m, m, lu->x + lu->diag[k], lu->spare, xk);
    }
}
