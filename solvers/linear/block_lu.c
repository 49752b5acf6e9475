// solvers/linear/block_lu.c -- LU of dense blocks: the pattern, its memory, its threads, and
// products.
//
// The numbers of a factor stand panel by panel. A panel is SS_PANEL columns of a front or what is
// left of them, b, with the t rows and columns behind it:
//
//     A_bb^-1, L = A_tb A_bb^-1     by tiles of eight rows, each column by column
//     U = A_bt                      by strips of so many columns as the kernel likes, row by row
//
// with zeros at the ends, so that no kernel has a remainder to take care of.
#include "solvers/linear/block_lu.h"

#include "base/assert.h"
#include "base/memory.h"
#include "solvers/linear/block_tree.h"

#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

// ---- The matrix and its factor

#define TILE  8  // rows
#define STRIP 32 // a multiple of the columns of a strip, for every kernel

static int rounded(int n, int to)
{
    return (n + to - 1) / to * to;
}

// A block of A, as an offset into the values, and its place and size in its front.
typedef struct lu_entry {
    size_t from;
    int row, col, rows, cols;
} lu_entry;

// The scratch of one thread.
typedef struct lu_worker {
    void *front, *stack; // float or double
    int *local;          // [n] where a node is in the present front
    int *run;            // [3 n]
    void *vector;        // [most_size + STRIP] for a solution
    double work;         // multiplications since it asked whether to stop
    bool negative;       // sign of the determinant of the panels that it has eliminated
} lu_worker;

// Threads share a factorisation in two ways. Each takes subtrees of fronts, the parts; through the
// fronts above these, mostly a few large ones, they go together, each taking rows. A part keeps
// what it leaves for the front above it; within a part, and above the parts, this is on a stack.
// The order of all sums is that of one thread.
typedef struct lu_part {
    int first, end; // fronts
} lu_part;

#define NOT_KEPT SIZE_MAX // kept_at of a front that is no root of a part

struct ss_block_lu {
    ss_block_tree tree;
    int *begin;            // [n + 1] by place: its blocks with later nodes are pair[begin[k]] ..
    int *pair;             // places, ascending within a node
    int *begin_before;     // [n + 1] by place: its blocks with earlier nodes are node_before[..] ..
    int *node_before;      // places, ascending within a node
    int *before;           // where the pairs of node_before are in `pair`
    size_t *diag;          // [n] by place: offset of A_kk in values
    size_t *lower, *upper; // offsets of A_ik and A_ki, by index of `pair`
    int *first_entry;      // [nfronts + 1]
    lu_entry *entry;
    size_t nvalues;
    double *values; // A

    size_t *factor_at; // [nfronts + 1] first number of a front's panels in the factor
    size_t *left_at;   // [nfronts + 1] first number of what a front leaves in a forward solution
    size_t most_front, most_stack, most_size;
    void *memory;  // holds the factor, and front and stack of the first worker
    void *factor;  // float or double
    void *left;    // what fronts leave in a solution, float or double
    int kind;      // kind of CPU whose kernels are used
    bool is_short; // true if the last factor is of floats
    bool negative; // true if det A < 0

    int nworkers;
    lu_worker *worker; // the first one's front and stack have room for all fronts

    // Without a team one thread does all, and the next six are empty.
    ss_team *team; // borrowed
    int nparts;
    lu_part *part;
    size_t *kept_at; // [nfronts] where it is kept what the root of a part leaves, or NOT_KEPT
    size_t most_kept;
    void *shared; // holds fronts and stacks of the other workers, and `kept`
    void *kept;   // what parts leave, float or double

    atomic_bool failed;  // set by one of the threads, or where it is stopped
    const ss_stop *stop; // borrowed; NULL never stops
};

// Writes into local[k], [n], where the nodes of front f are in it.
static void localize(const ss_block_lu *lu, int f, int *local)
{
    const ss_block_tree *t = &lu->tree;
    int at = 0;
    for (int k = t->front[f].node; k < t->front[f + 1].node; k++) {
        local[k] = at;
        at += t->room[k];
    }
    for (int s = t->front[f].below; s < t->front[f + 1].below; s++) {
        local[t->row[s]] = at;
        at += t->room[t->row[s]];
    }
}

static size_t front_stride(int size)
{
    return (size_t)rounded(size + STRIP - 1, STRIP);
}

// Returns the numbers of a panel of b columns with t behind it.
static size_t panel_numbers(int b, int t)
{
    const size_t rows = (size_t)(rounded(b, TILE) + rounded(t, TILE));
    return (size_t)b * (rows + (size_t)rounded(t, STRIP));
}

// ---- Which threads take which fronts

// Costs are in multiplications, of which a thread does some 1e5 in a microsecond.
#define ROUND  2e5 // cost of a round of a team: it begins, and all wait for the last thread
#define WAKING 5e6 // cost of waking a thread that sleeps

static double together(const ss_block_front *front, int threads)
{
    const double cost = ss_block_front_cost(front->width, front->height);
    const double serial = ss_block_front_inverting(front->width);
    const int rounds = 1 + (front->width + SS_PANEL - 1) / SS_PANEL;
    return serial + (cost - serial) / threads + ROUND * rounds;
}

// Returns whether threads go together through a front above the parts.
static bool goes_together(const ss_block_lu *lu, int f)
{
    const ss_block_front *front = &lu->tree.front[f];
    return together(front, lu->nworkers) < ss_block_front_cost(front->width, front->height);
}

// State while the parts are chosen.
typedef struct sharing {
    ss_block_lu *lu;
    double *sum; // [nfronts + 1] cost of the fronts before each
    int *root;   // [nfronts] roots of the largest subtrees that are small enough, ascending
    int nroots;
    double *busy; // [nworkers] scratch
} sharing;

static double cost_between(const sharing *s, int first, int end)
{
    return s->sum[end] - s->sum[first];
}

// Finds the largest subtrees that cost at most `most`, and returns the cost of the fronts above
// them.
static double find_roots(sharing *s, double most)
{
    const ss_block_tree *t = &s->lu->tree;
    double above = 0.0;
    int count = 0;
    for (int f = t->nfronts - 1; f >= 0;) {
        const int first = f + 1 - t->front[f].subtree;
        if (cost_between(s, first, f + 1) <= most) {
            s->root[count++] = f;
            f = first - 1;
        } else {
            const double alone = cost_between(s, f, f + 1);
            above += fmin(alone, together(&t->front[f], s->lu->nworkers));
            f--;
        }
    }
    for (int k = 0; k < count / 2; k++) {
        const int root = s->root[k];
        s->root[k] = s->root[count - 1 - k];
        s->root[count - 1 - k] = root;
    }
    s->nroots = count;
    return above;
}

// Joins neighbouring subtrees to one part while they are small together.
static void join_roots(const sharing *s, double most)
{
    ss_block_lu *lu = s->lu;
    lu->nparts = 0;
    for (int k = 0; k < s->nroots; k++) {
        const int end = s->root[k] + 1, first = end - lu->tree.front[s->root[k]].subtree;
        lu_part *last = &lu->part[lu->nparts - (lu->nparts > 0)];
        if (lu->nparts > 0 && last->end == first && cost_between(s, last->first, end) <= most) {
            last->end = end;
        } else {
            lu->part[lu->nparts++] = (lu_part){first, end};
        }
    }
}

// Returns how long the parts take if each is begun by the first thread that has time.
static double time_of_parts(const sharing *s)
{
    const int workers = s->lu->nworkers;
    double longest = 0.0;
    for (int k = 0; k < workers; k++) {
        s->busy[k] = 0.0;
    }
    for (int k = 0; k < s->lu->nparts; k++) {
        int first = 0;
        for (int j = 1; j < workers; j++) {
            first = s->busy[j] < s->busy[first] ? j : first;
        }
        s->busy[first] += cost_between(s, s->lu->part[k].first, s->lu->part[k].end);
        longest = fmax(longest, s->busy[first]);
    }
    return longest;
}

static double try_parts(sharing *s, double most)
{
    const double above = find_roots(s, most);
    join_roots(s, most);
    return above + time_of_parts(s) + ROUND;
}

// Small parts are shared evenly, and large ones leave less above them. Tries some sizes and takes
// the best.
static void choose_parts(sharing *s)
{
    static const double EACH[] = {1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0};
    ss_block_lu *lu = s->lu;
    const double all = s->sum[lu->tree.nfronts], share = all / lu->nworkers;
    double best = all - WAKING, most = 0.0;
    for (size_t k = 0; k < sizeof EACH / sizeof *EACH; k++) {
        const double time = try_parts(s, share / EACH[k]);
        if (time < best) {
            best = time;
            most = share / EACH[k];
        }
    }
    if (!(most > 0.0)) {
        lu->nparts = 0;
        return;
    }
    try_parts(s, most);
    for (int k = 0; k < s->nroots; k++) {
        const size_t m = (size_t)lu->tree.front[s->root[k]].height;
        lu->kept_at[s->root[k]] = lu->most_kept;
        lu->most_kept += m * m;
    }
}

// Chooses the parts, and where it is kept what they leave. There are none where sharing does not
// pay. Returns false without memory.
static bool share_fronts(ss_block_lu *lu)
{
    const size_t n = (size_t)lu->tree.nfronts;
    sharing s = {.lu = lu,
                 .sum = malloc((n + 1) * sizeof *s.sum),
                 .root = malloc((n + 1) * sizeof *s.root),
                 .busy = malloc((size_t)lu->nworkers * sizeof *s.busy)};
    lu->part = malloc((n + 1) * sizeof *lu->part);
    lu->kept_at = malloc((n + 1) * sizeof *lu->kept_at);
    const bool ok = s.sum != NULL && s.root != NULL && s.busy != NULL && lu->part != NULL &&
                    lu->kept_at != NULL;
    if (ok) {
        s.sum[0] = 0.0;
        for (size_t f = 0; f < n; f++) {
            const ss_block_front *front = &lu->tree.front[f];
            s.sum[f + 1] = s.sum[f] + ss_block_front_cost(front->width, front->height);
            lu->kept_at[f] = NOT_KEPT;
        }
        choose_parts(&s);
    }
    free(s.sum);
    free(s.root);
    free(s.busy);
    return ok;
}

// ---- Kernels
//
// The template block_numeric.h is compiled for floats and doubles and for three kinds of CPU, of
// which one is chosen at run time: a program that was built for any x86-64 is as fast as one for
// this machine.

// Multiplications between two questions whether to stop, some 2 ms.
#define ASK_EVERY 3e7
// Multiplications that moving a number takes the time of, to memory that the system may have yet to
// find.
#define MOVING 100.0

#define LEAST_ROWS (2 * TILE)

// Returns the rows behind a panel that a thread takes at a time: few, so that nobody waits long for
// the last, but not so few that reading the panel again costs more than that.
static int shared_rows(int behind, int threads)
{
    const int each = rounded(behind / (8 * threads) + 1, TILE);
    return each > LEAST_ROWS ? each : LEAST_ROWS;
}

#define NUMBER_NS 0.05 // time of a number of the factor in a solution

// Pivots below, or above the inverse, count as singular or not finite.
#define LEAST_FLOAT  1e-30
#define LEAST_DOUBLE 1e-300

#define TARGET
#define VECTORS       2
#define LESS(a, b, c) ((c) - (a) * (b))

#define REAL    float
#define LANES   4
#define LEAST   LEAST_FLOAT
#define NAME(x) x##_float
#include "solvers/linear/block_numeric.h"
#define REAL    double
#define LANES   2
#define LEAST   LEAST_DOUBLE
#define NAME(x) x##_double
#include "solvers/linear/block_numeric.h"
#undef TARGET
#undef LESS

#ifdef __x86_64__

#define TARGET __attribute__((target("avx2,fma")))

#define REAL          float
#define LANES         8
#define LEAST         LEAST_FLOAT
#define NAME(x)       x##_float_avx2
#define LESS(a, b, c) ((NAME(lanes))_mm256_fnmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#include "solvers/linear/block_numeric.h"
#undef LESS
#define REAL          double
#define LANES         4
#define LEAST         LEAST_DOUBLE
#define NAME(x)       x##_double_avx2
#define LESS(a, b, c) ((NAME(lanes))_mm256_fnmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c)))
#include "solvers/linear/block_numeric.h"
#undef LESS
#undef TARGET

#define TARGET __attribute__((target("avx512f,avx2,fma")))

#define REAL          float
#define LANES         16
#define LEAST         LEAST_FLOAT
#define NAME(x)       x##_float_avx512
#define LESS(a, b, c) ((NAME(lanes))_mm512_fnmadd_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#include "solvers/linear/block_numeric.h"
#undef LESS
#define REAL          double
#define LANES         8
#define LEAST         LEAST_DOUBLE
#define NAME(x)       x##_double_avx512
#define LESS(a, b, c) ((NAME(lanes))_mm512_fnmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c)))
#include "solvers/linear/block_numeric.h"

#endif

// Factorisation and solution by kind of CPU, in doubles and in floats.
static const struct {
    bool (*factor)(ss_block_lu *lu);
    void (*solve)(const ss_block_lu *lu, double *x);
} NUMERIC[SS_BLOCK_KINDS][2] = {
    {{factor_double, solve_double}, {factor_float, solve_float}},
#ifdef __x86_64__
    {{factor_double_avx2, solve_double_avx2}, {factor_float_avx2, solve_float_avx2}},
    {{factor_double_avx512, solve_double_avx512}, {factor_float_avx512, solve_float_avx512}},
#endif
};

bool ss_block_lu_use_kind(ss_block_lu *lu, int kind)
{
    bool has = kind == 0;
    ss_assert(0 <= kind && kind < SS_BLOCK_KINDS);
#ifdef __x86_64__
    has |= kind == 1 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    has |= kind == 2 && __builtin_cpu_supports("avx512f");
#endif
    lu->kind = has ? kind : lu->kind;
    return has;
}

// ---- The pattern

// Lists the later nodes of each node, each once. Returns false without memory, and where it was
// stopped.
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

// Lists the same pairs by their later node. Returns false without memory.
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
    lu->entry[(*count)++] = (lu_entry){.from = from,
                                       .row = local[row],
                                       .col = local[col],
                                       .rows = t->room[row],
                                       .cols = t->room[col]};
}

// Makes the workers up to `count`, without front and stack. Returns false without memory.
static bool make_workers(ss_block_lu *lu, int count)
{
    const size_t n = (size_t)lu->tree.n;
    lu_worker *more = realloc(lu->worker, (size_t)count * sizeof *more);
    if (more == NULL) {
        return false;
    }
    lu->worker = more;
    for (; lu->nworkers < count; lu->nworkers++) {
        lu_worker *w = &more[lu->nworkers];
        *w = (lu_worker){.local = malloc((n + 1) * sizeof *w->local),
                         .run = malloc((3 * n + 1) * sizeof *w->run)};
        if (w->local == NULL || w->run == NULL) {
            free(w->local);
            free(w->run);
            return false;
        }
    }
    return true;
}

// Places the blocks of A in the order of the fronts that they go to.
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
        localize(lu, f, lu->worker[0].local);
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
        numbers += panel_numbers(b, front->width + front->height - p - b);
    }
    return numbers;
}

static size_t front_numbers(const ss_block_front *front)
{
    const int size = front->width + front->height;
    return front_stride(size) * (size_t)(size + TILE);
}

static size_t left_numbers(const ss_block_front *front)
{
    return (size_t)front->height * (size_t)front->height;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

// Raises *front to the largest of the fronts first .. end - 1, which are whole subtrees, and *stack
// to the most that their stack holds.
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

// Finds how large the factor, a front and the stack become.
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
    for (int kind = 0; kind < SS_BLOCK_KINDS; kind++) {
        ss_block_lu_use_kind(made, kind);
    }
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

size_t ss_block_lu_place(const ss_block_lu *lu, int a, int b)
{
    ss_assert(0 <= a && a < lu->tree.n && 0 <= b && b < lu->tree.n);
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

int ss_block_lu_turn(const ss_block_lu *lu, int node)
{
    ss_assert(0 <= node && node < lu->tree.n);
    return lu->tree.where[node];
}

// ---- Memory

#define ALIGNMENT 64 // bytes: no vector is on two cache lines

// Returns the numbers of the factor.
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

// Takes `numbers` from *at on, which begin at a multiple of the alignment.
static void *take(char **at, size_t numbers)
{
    char *begin = *at + (ALIGNMENT - (uintptr_t)*at % ALIGNMENT) % ALIGNMENT;
    *at = begin + numbers * sizeof(double);
    return begin;
}

static bool reserve_shared(ss_block_lu *lu, ss_team *team)
{
    size_t front = 0, stack = 0;
    if (!make_workers(lu, ss_team_size(team)) || !share_fronts(lu)) {
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
        lu->worker[k].vector = malloc((lu->most_size + STRIP) * sizeof(double));
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
    lu->worker[0].vector = malloc((lu->most_size + STRIP) * sizeof(double));
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

bool ss_block_lu_is_shared(const ss_block_lu *lu)
{
    return lu->team != NULL;
}

// ---- The numbers

#define CLEARING_NS 0.2 // time of clearing a number
#define VALUE_NS    0.1 // time of multiplying by one

// Numbers that are cleared between two questions whether to stop, 1 ms where the system has yet to
// find the memory.
#define CLEARED ((size_t)1 << 17)

typedef double four __attribute__((vector_size(32), aligned(8)));

double *ss_block_lu_values(ss_block_lu *lu)
{
    return lu->values;
}

static void clear_pieces(void *of, int first, int end)
{
    ss_block_lu *lu = of;
    for (int k = first; k < end && !atomic_load(&lu->failed); k++) {
        const size_t at = (size_t)k * CLEARED, left = lu->nvalues - at;
        memset(lu->values + at, 0, (left < CLEARED ? left : CLEARED) * sizeof *lu->values);
        if (ss_stop_asked(lu->stop)) {
            atomic_store(&lu->failed, true);
        }
    }
}

bool ss_block_lu_clear(ss_block_lu *lu)
{
    const int pieces = (int)((lu->nvalues + CLEARED - 1) / CLEARED);
    atomic_store(&lu->failed, false);
    ss_team_divide(lu->team, pieces, CLEARING_NS * (double)CLEARED, clear_pieces, lu);
    return !atomic_load(&lu->failed);
}

bool ss_block_lu_factor(ss_block_lu *lu)
{
    ss_assert(lu->values != NULL);
    lu->is_short = false;
    return NUMERIC[lu->kind][false].factor(lu);
}

bool ss_block_lu_factor_short(ss_block_lu *lu)
{
    ss_assert(lu->values != NULL);
    lu->is_short = true;
    return NUMERIC[lu->kind][true].factor(lu);
}

bool ss_block_lu_is_negative(const ss_block_lu *lu)
{
    return lu->negative;
}

void ss_block_lu_solve(const ss_block_lu *lu, double *x)
{
    NUMERIC[lu->kind][lu->is_short].solve(lu, x);
}

// Adds A x to y; rows and columns are multiples of four.
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

// Multiplies the rows of some nodes, the blocks of each from left to right. One thread alone goes
// through the blocks as they lie in memory, which takes it half the time.
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
