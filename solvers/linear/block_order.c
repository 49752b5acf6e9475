#include "solvers/linear/block_order.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <suitesparse/amd.h>

// Below so many multiplications a better order saves nothing; above so many nodes rows of bits are
// too long.
#define LEAST_WORK 1e7
#define MOST_NODES 4096

#define TRIES     8    // orders that differ in what decides between equal nodes
#define MOST_FILL 0.3  // of the multiplications of a full matrix
#define WORTH     10.0 // multiplications that a word looked at has to be worth

// ---- The graph

void ss_block_graph_free(ss_block_graph *g)
{
    free(g->start);
    free(g->row);
}

// Repeated rows of a column are left out; mark [n] is scratch.
static void drop_repeated(ss_block_graph *g, int *mark)
{
    int kept = 0, begin = 0;
    for (int k = 0; k < g->n; k++) {
        mark[k] = -1;
    }
    for (int k = 0; k < g->n; k++) {
        const int end = g->start[k + 1];
        for (int s = begin; s < end; s++) {
            if (mark[g->row[s]] != k) {
                mark[g->row[s]] = k;
                g->row[kept++] = g->row[s];
            }
        }
        begin = end;
        g->start[k + 1] = kept;
    }
}

bool ss_block_graph_new(int n, int npairs, const int (*pairs)[2], ss_block_graph *g)
{
    g->n = n;
    g->start = calloc((size_t)n + 2, sizeof *g->start);
    g->row = malloc((2 * (size_t)npairs + 1) * sizeof *g->row);
    int *mark = malloc(((size_t)n + 1) * sizeof *mark);
    if (g->start == NULL || g->row == NULL || mark == NULL) {
        free(mark);
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
    drop_repeated(g, mark);
    free(mark);
    return true;
}

// ---- Minimum fill

#define WORD 64

// The graph as rows of bits, of which elimination makes the filled graph. A node misses the pairs of its neighbours
// that are not neighbours.
typedef struct bits {
    int n;
    size_t words;   // a row
    uint64_t *row;  // [n words]
    uint64_t *lack; // [words] scratch
    int *degree;    // [n] neighbours
    int *missing;   // [n] pairs; -1: eliminated
    double left;    // words that may still be looked at
    const ss_stop *stop;
} bits;

static bool may_look(const bits *b)
{
    return b->left > 0.0 && !ss_stop_asked(b->stop);
}

static void set_bit(uint64_t *row, int k)
{
    row[k / WORD] |= (uint64_t)1 << (k % WORD);
}

static void clear_bit(uint64_t *row, int k)
{
    row[k / WORD] &= ~((uint64_t)1 << (k % WORD));
}

// For each k of a row of bits.
#define EACH_BIT(k, row, words)                                                                    \
    for (size_t w_ = 0; w_ < (words); w_++)                                                        \
        for (uint64_t left_ = (row)[w_]; left_ != 0; left_ &= left_ - 1)                           \
            for (int k = (int)w_ * WORD + __builtin_ctzll(left_), once_ = 1; once_ != 0; once_ = 0)

static int common(const bits *b, const uint64_t *x, const uint64_t *y)
{
    int count = 0;
    for (size_t w = 0; w < b->words; w++) {
        count += __builtin_popcountll(x[w] & y[w]);
    }
    return count;
}

static void count_missing(bits *b, int k)
{
    const uint64_t *row = b->row + (size_t)k * b->words;
    const int degree = b->degree[k] = common(b, row, row);
    int twice = 0;
    b->left -= (degree + 1.0) * (double)b->words;
    EACH_BIT(i, row, b->words)
    {
        twice += degree - 1 - common(b, row, b->row + (size_t)i * b->words);
    }
    b->missing[k] = twice / 2;
}

// What decides between nodes that miss equally many pairs: a number for each that looks like chance.
static uint32_t lot_of(int k, uint32_t seed)
{
    uint32_t x = ((uint32_t)k + 1) * 2654435761u ^ seed * 2246822519u;
    x ^= x >> 15;
    x *= 2246822519u;
    return x ^ x >> 13;
}

static int least_lack(const bits *b, uint32_t seed)
{
    int best = -1;
    for (int k = 0; k < b->n; k++) {
        if (b->missing[k] >= 0 &&
            (best < 0 || b->missing[k] < b->missing[best] ||
             (b->missing[k] == b->missing[best] && lot_of(k, seed) < lot_of(best, seed)))) {
            best = k;
        }
    }
    return best;
}

// Multiplications of eliminating node k now.
static double work_of(const bits *b, int k, const int *room)
{
    double behind = 0.0;
    EACH_BIT(i, b->row + (size_t)k * b->words, b->words)
    {
        behind += room[i];
    }
    return room[k] * behind * (behind + room[k]); // as AMD counts them
}

// A node misses a pair if two of its neighbours are not neighbours of each other. Nodes i and k become neighbours here.
// Each node that is a neighbour of both misses one pair less. Node i misses one pair more for each of its neighbours
// that is no neighbour of k, and likewise node k.
static void join(bits *b, int i, int k)
{
    uint64_t *of_i = b->row + (size_t)i * b->words, *of_k = b->row + (size_t)k * b->words;
    int both = 0;
    for (size_t w = 0; w < b->words; w++) {
        for (uint64_t left = of_i[w] & of_k[w]; left != 0; left &= left - 1, both++) {
            b->missing[w * WORD + (size_t)__builtin_ctzll(left)]--;
        }
    }
    b->missing[i] += b->degree[i]++ - both;
    b->missing[k] += b->degree[k]++ - both;
    set_bit(of_i, k);
    set_bit(of_k, i);
    b->left -= (double)b->words + both;
}

// Node i, one of them, becomes a neighbour of all of a row.
static void join_all(bits *b, int i, const uint64_t *row)
{
    for (size_t w = 0; w < b->words; w++) {
        b->lack[w] = row[w] & ~b->row[(size_t)i * b->words + w];
    }
    clear_bit(b->lack, i);
    EACH_BIT(k, b->lack, b->words)
    {
        join(b, i, k);
    }
}

// The neighbours of k become neighbours of each other, so that k misses no pair. Then k is removed: each neighbour i of
// k no longer misses the pairs of k with those neighbours of i that are no neighbours of k.
static void order_eliminate(bits *b, int k)
{
    const uint64_t *row = b->row + (size_t)k * b->words;
    EACH_BIT(i, row, b->words)
    {
        join_all(b, i, row);
    }
    EACH_BIT(i, row, b->words)
    {
        b->missing[i] -= b->degree[i] - b->degree[k];
        b->degree[i]--;
        clear_bit(b->row + (size_t)i * b->words, k);
    }
    b->left -= 2.0 * b->degree[k] * (double)b->words;
    b->missing[k] = -1;
}

static void set_rows(bits *b, const ss_block_graph *g)
{
    memset(b->row, 0, (size_t)b->n * b->words * sizeof *b->row);
    for (int k = 0; k < b->n; k++) {
        for (int s = g->start[k]; s < g->start[k + 1]; s++) {
            set_bit(b->row + (size_t)k * b->words, g->row[s]);
        }
    }
    for (int k = 0; k < b->n && may_look(b); k++) {
        count_missing(b, k);
    }
}

// The multiplications of the order found. It gives up, with no order, where they are more than
// `most` or where it has looked at too much.
static double by_fill(bits *b, const ss_block_graph *g, const int *room, uint32_t seed, double most,
                      int *order)
{
    double work = 0.0;
    set_rows(b, g);
    for (int at = 0; at < b->n; at++) {
        const int k = least_lack(b, seed);
        work += work_of(b, k, room);
        if (!(work < most && may_look(b))) {
            return INFINITY;
        }
        order[at] = k;
        order_eliminate(b, k);
    }
    return work;
}

// The best of some orders of minimum fill, if it is better than one of `work` multiplications. They
// may take some per cent of the time of one factorisation, of which there will be tens.
static bool improve(const ss_stop *stop, const ss_block_graph *g, const int *room, double work,
                    int *order)
{
    const size_t n = (size_t)g->n, words = n / WORD + 1;
    bits b = {.n = g->n, .words = words, .left = work / WORTH, .stop = stop};
    b.row = malloc((n + 1) * words * sizeof *b.row);
    b.missing = malloc(2 * n * sizeof *b.missing);
    int *tried = malloc(n * sizeof *tried);
    const bool ok = b.row != NULL && b.missing != NULL && tried != NULL;
    if (ok) {
        b.lack = b.row + n * words;
        b.degree = b.missing + n;
    }
    for (uint32_t seed = 0; ok && seed < TRIES; seed++) {
        const double now = by_fill(&b, g, room, seed, work, tried);
        if (now < work) {
            work = now;
            memcpy(order, tried, n * sizeof *order);
        }
    }
    free(b.row);
    free(b.missing);
    free(tried);
    return ok;
}

bool ss_block_order(const ss_stop *stop, const ss_block_graph *g, const int *room, int *order)
{
    double info[AMD_INFO], mean = 0.0;
    if (g->n == 0) {
        return true;
    }
    if (amd_order(g->n, g->start, g->row, order, NULL, info) < AMD_OK) {
        return false;
    }
    for (int k = 0; k < g->n; k++) {
        mean += (double)room[k] / g->n;
    }
    const double work = info[AMD_NMULTSUBS_LU] * mean * mean * mean;
    const double n = g->n, full = n * n * n / 3.0;
    if (info[AMD_NMULTSUBS_LU] > MOST_FILL * full) {
        return true; // no order saves much
    }
    return work < LEAST_WORK || g->n > MOST_NODES || improve(stop, g, room, work, order);
}
