#include "solvers/linear/block_lu.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "solvers/linear/block_front.h"

typedef double four __attribute__((vector_size(32), aligned(8)));

#define ALIGNMENT 64 // bytes: no vector is on two cache lines

#define CLEARING_NS 0.2 // of a number,
#define VALUE_NS    0.1 // and of one that is multiplied

void ss_block_lu_free(ss_block_lu *lu)
{
    if (lu != NULL) {
        ss_block_tree_free(&lu->tree);
        free(lu->begin);
        free(lu->pair);
        free(lu->begin_before);
        free(lu->before);
        free(lu->node_before);
        free(lu->diag);
        free(lu->lower);
        free(lu->upper);
        free(lu->first_entry);
        free(lu->entry);
        free(lu->values);
        free(lu->factor_at);
        free(lu->left_at);
        free(lu->memory);
        for (int k = 0; k < lu->nworkers; k++) {
            free(lu->worker[k].local);
            free(lu->worker[k].run);
            free(lu->worker[k].vector);
        }
        free(lu->worker);
        free(lu->part);
        free(lu->kept_at);
        free(lu->shared);
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

// The same pairs by their later node. False without memory.
static bool list_before(ss_block_lu *lu)
{
    const size_t n = (size_t)lu->tree.n, npairs = (size_t)lu->begin[n];
    lu->begin_before = calloc(n + 2, sizeof *lu->begin_before);
    lu->before = malloc((npairs + 1) * sizeof *lu->before);
    lu->node_before = malloc((npairs + 1) * sizeof *lu->node_before);
    if (lu->begin_before == NULL || lu->before == NULL || lu->node_before == NULL) {
        return false;
    }
    int *next = lu->begin_before + 1;
    for (size_t s = 0; s < npairs; s++) {
        next[lu->pair[s] + 1]++;
    }
    for (size_t k = 1; k <= n; k++) {
        next[k] += next[k - 1];
    }
    for (int k = 0; k < lu->tree.n; k++) {
        for (int s = lu->begin[k]; s < lu->begin[k + 1]; s++) {
            const int at = next[lu->pair[s]]++;
            lu->before[at] = s;
            lu->node_before[at] = k;
        }
    }
    return true;
}

static void add_entry(ss_block_lu *lu, int *count, size_t from, int row, int col)
{
    const ss_block_tree *t = &lu->tree;
    const int *local = lu->worker[0].local;
    lu->entry[(*count)++] = (ss_block_entry){.from = from,
                                             .row = local[row],
                                             .col = local[col],
                                             .rows = t->room[row],
                                             .cols = t->room[col]};
}

// So many workers, without front and stack. False without memory.
static bool make_workers(ss_block_lu *lu, int count)
{
    const size_t n = (size_t)lu->tree.n;
    ss_block_worker *more = realloc(lu->worker, (size_t)count * sizeof *more);
    if (more == NULL) {
        return false;
    }
    lu->worker = more;
    for (; lu->nworkers < count; lu->nworkers++) {
        ss_block_worker *w = &more[lu->nworkers];
        *w = (ss_block_worker){.local = malloc((n + 1) * sizeof *w->local),
                               .run = malloc((3 * n + 1) * sizeof *w->run)};
        if (w->local == NULL || w->run == NULL) {
            free(w->local);
            free(w->run);
            return false;
        }
    }
    return true;
}

// Blocks of A in the order of the fronts that they go to.
static bool place_blocks(ss_block_lu *lu)
{
    const ss_block_tree *t = &lu->tree;
    const size_t n = (size_t)t->n, npairs = (size_t)lu->begin[n];
    lu->diag = malloc((n + 1) * sizeof *lu->diag);
    lu->lower = malloc((npairs + 1) * sizeof *lu->lower);
    lu->upper = malloc((npairs + 1) * sizeof *lu->upper);
    lu->entry = malloc((n + 2 * npairs + 1) * sizeof *lu->entry);
    lu->first_entry = malloc(((size_t)t->nfronts + 1) * sizeof *lu->first_entry);
    if (lu->diag == NULL || lu->lower == NULL || lu->upper == NULL || lu->entry == NULL ||
        lu->first_entry == NULL || !make_workers(lu, 1)) {
        return false;
    }
    int count = 0;
    lu->first_entry[0] = 0;
    for (int f = 0; f < t->nfronts; f++) {
        if (ss_stop_asked(lu->stop)) {
            return false;
        }
        ss_block_localize(lu, f, lu->worker[0].local);
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

static size_t front_numbers(const ss_block_front *front)
{
    const int size = front->width + front->height;
    return ss_front_stride(size) * (size_t)(size + SS_TILE);
}

static size_t left_numbers(const ss_block_front *front)
{
    return (size_t)front->height * (size_t)front->height;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

// The largest front of those from `first` to `end` - 1, whole subtrees, and the most that their stack holds.
static void measure_fronts(const ss_block_lu *lu, int first, int end, size_t *front, size_t *stack)
{
    const ss_block_tree *t = &lu->tree;
    size_t now = 0;
    for (int f = first; f < end; f++) {
        *front = larger(*front, front_numbers(&t->front[f]));
        for (int c = 0, child = f - 1; c < t->front[f].children; c++) {
            now -= left_numbers(&t->front[child]);
            child -= t->front[child].subtree;
        }
        now += left_numbers(&t->front[f]);
        *stack = larger(*stack, now);
    }
}

// How large the factor, a front and the stack become.
static bool lu_measure(ss_block_lu *lu)
{
    const ss_block_tree *t = &lu->tree;
    lu->factor_at = malloc(((size_t)t->nfronts + 1) * sizeof *lu->factor_at);
    lu->left_at = malloc(((size_t)t->nfronts + 1) * sizeof *lu->left_at);
    if (lu->factor_at == NULL || lu->left_at == NULL) {
        return false;
    }
    lu->factor_at[0] = lu->left_at[0] = 0;
    for (int f = 0; f < t->nfronts; f++) {
        const ss_block_front *front = &t->front[f];
        lu->factor_at[f + 1] = lu->factor_at[f] + panels_of(front);
        lu->left_at[f + 1] = lu->left_at[f] + (size_t)front->height;
        lu->most_size = larger(lu->most_size, (size_t)(front->width + front->height));
    }
    measure_fronts(lu, 0, t->nfronts, &lu->most_front, &lu->most_stack);
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
                    list_pairs(made, npairs, pairs) && list_before(made) && place_blocks(made) &&
                    lu_measure(made);
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
    return (double)sizeof(double) *
           ((double)numbers_of(lu) + (double)lu->left_at[lu->tree.nfronts] +
            (double)lu->most_front + (double)lu->most_stack + (double)lu->nvalues);
}

double ss_block_lu_work(const ss_block_lu *lu)
{
    double work = 0.0;
    for (int f = 0; f < lu->tree.nfronts; f++) {
        work += ss_block_front_work(lu->tree.front[f].width, lu->tree.front[f].height);
    }
    return work;
}

// The next `numbers` at *at, which begin at a multiple of the alignment.
static void *take(char **at, size_t numbers)
{
    char *begin = *at + (ALIGNMENT - (uintptr_t)*at % ALIGNMENT) % ALIGNMENT;
    *at = begin + numbers * sizeof(double);
    return begin;
}

static bool reserve_shared(ss_block_lu *lu, ss_team *team)
{
    size_t front = 0, stack = 0;
    if (!make_workers(lu, ss_team_size(team)) || !ss_block_share(lu)) {
        return false;
    }
    if (lu->nparts == 0) {
        return true;
    }
    for (int k = 0; k < lu->nparts; k++) {
        measure_fronts(lu, lu->part[k].first, lu->part[k].end, &front, &stack);
    }
    const size_t helpers = (size_t)lu->nworkers - 1, each = front + stack + 2 * ALIGNMENT;
    lu->shared = ss_large_malloc((lu->most_kept + helpers * each + ALIGNMENT) * sizeof(double));
    if (lu->shared == NULL) {
        return false;
    }
    for (int k = 1; k < lu->nworkers; k++) {
        lu->worker[k].vector = malloc((lu->most_size + SS_STRIP) * sizeof(double));
        if (lu->worker[k].vector == NULL) {
            return false;
        }
    }
    char *at = lu->shared;
    lu->kept = take(&at, lu->most_kept);
    for (int k = 1; k < lu->nworkers; k++) {
        lu->worker[k].front = take(&at, front);
        lu->worker[k].stack = take(&at, stack);
    }
    lu->team = team;
    return true;
}

bool ss_block_lu_reserve(ss_block_lu *lu, ss_team *team)
{
    const size_t left = lu->left_at[lu->tree.nfronts];
    const size_t numbers = numbers_of(lu) + left + lu->most_front + lu->most_stack;
    lu->values = ss_large_malloc((lu->nvalues + 1) * sizeof *lu->values);
    lu->worker[0].vector = malloc((lu->most_size + SS_STRIP) * sizeof(double));
    lu->memory = ss_large_malloc(numbers * sizeof(double) + 4 * ALIGNMENT);
    if (lu->values == NULL || lu->worker[0].vector == NULL || lu->memory == NULL) {
        return false;
    }
    char *at = lu->memory;
    lu->factor = take(&at, numbers_of(lu));
    lu->left = take(&at, left);
    lu->worker[0].front = take(&at, lu->most_front);
    lu->worker[0].stack = take(&at, lu->most_stack);
    const bool alone = team == NULL || ss_team_size(team) < 2;
    return alone || reserve_shared(lu, team);
}

double *ss_block_lu_values(ss_block_lu *lu)
{
    return lu->values;
}

static void clear_pieces(void *of, int first, int end)
{
    ss_block_lu *lu = of;
    for (int k = first; k < end && !atomic_load(&lu->failed); k++) {
        const size_t at = (size_t)k * SS_CLEARED, left = lu->nvalues - at;
        memset(lu->values + at, 0, (left < SS_CLEARED ? left : SS_CLEARED) * sizeof *lu->values);
        if (ss_stop_asked(lu->stop)) {
            atomic_store(&lu->failed, true);
        }
    }
}

bool ss_block_lu_clear(ss_block_lu *lu)
{
    const int pieces = (int)((lu->nvalues + SS_CLEARED - 1) / SS_CLEARED);
    atomic_store(&lu->failed, false);
    ss_team_divide(lu->team, pieces, CLEARING_NS * (double)SS_CLEARED, clear_pieces, lu);
    return !atomic_load(&lu->failed);
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

typedef struct product {
    const ss_block_lu *lu;
    const double *x;
    double *y;
} product;

// The rows of some nodes, the blocks of each from left to right. One thread goes through the blocks as they lie
// in memory, which takes it half the time.
static void multiply_nodes(void *of, int first, int end)
{
    const product *p = of;
    const ss_block_lu *lu = p->lu;
    const ss_block_tree *t = &lu->tree;
    for (int k = first; k < end; k++) {
        const int m = t->room[k];
        double *y = p->y + t->first[k];
        memset(y, 0, (size_t)m * sizeof *y);
        for (int b = lu->begin_before[k]; b < lu->begin_before[k + 1]; b++) {
            const int i = lu->node_before[b];
            lu_add_product(m, t->room[i], lu->values + lu->lower[lu->before[b]], p->x + t->first[i],
                           y);
        }
        lu_add_product(m, m, lu->values + lu->diag[k], p->x + t->first[k], y);
        for (int s = lu->begin[k]; s < lu->begin[k + 1]; s++) {
            const int i = lu->pair[s];
            lu_add_product(m, t->room[i], lu->values + lu->upper[s], p->x + t->first[i], y);
        }
    }
}

void ss_block_lu_multiply(const ss_block_lu *lu, const double *x, double *y)
{
    const ss_block_tree *t = &lu->tree;
    const double whole = VALUE_NS * (double)lu->nvalues;
    if (ss_team_pays(lu->team, whole)) {
        product p = {lu, x, y};
        ss_team_divide(lu->team, t->n, whole / t->n, multiply_nodes, &p);
        return;
    }
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
