// solvers/linear/block_tree.c -- the order in which nodes are eliminated, and the fronts they form.
//
// Eliminating a node makes its neighbours neighbours of each other. The fewer they are, the fewer
// numbers and products a factorisation has. Minimum degree (AMD) looks at the neighbours of a node;
// minimum fill at the pairs of neighbours that are not neighbours yet. On lattices of rods minimum
// fill leaves a fifth to a quarter fewer products, but takes longer to find. So it is tried on
// small graphs only, and taken where it does better.
#include "solvers/linear/block_tree.h"

#include "base/assert.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <suitesparse/amd.h>

// ---- The graph

void ss_block_graph_free(ss_block_graph *g)
{
    free(g->start);
    free(g->row);
}

// Leaves out repeated rows of a column; mark [n] is scratch.
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

// The search runs between so many multiplications, below which a better order saves nothing, and so
// many nodes, above which rows of bits are too long.
#define LEAST_WORK 1e7
#define MOST_NODES 4096

#define MOST_FILL 0.3  // share of the multiplications of a full matrix: above, no order saves much
#define TRIES     8    // number of orders, which differ in how ties are broken
#define WORTH     10.0 // multiplications of the factorisation per word that the search may look at

#define WORD 64

// The graph as rows of bits. Elimination turns it into the filled graph. A node misses the pairs of
// its neighbours that are not neighbours of each other.
typedef struct bits {
    int n;
    size_t words;   // per row
    uint64_t *row;  // [n words]
    uint64_t *lack; // [words] scratch
    int *degree;    // [n] number of neighbours
    int *missing;   // [n] number of pairs missed; -1 for an eliminated node
    double left;    // number of words that may still be looked at
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

// Loops over each k whose bit is set in a row.
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

// Returns a pseudo-random number for node k, which breaks ties between nodes that miss equally many
// pairs.
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

// Returns the multiplications of eliminating node k now.
static double work_of(const bits *b, int k, const int *room)
{
    double behind = 0.0;
    EACH_BIT(i, b->row + (size_t)k * b->words, b->words)
    {
        behind += room[i];
    }
    return room[k] * behind * (behind + room[k]); // as AMD counts them
}

// Makes nodes i and k neighbours. Each node that is a neighbour of both misses one pair less. Node
// i misses one pair more for each of its neighbours that is no neighbour of k, and likewise node k.
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

// Makes node i, one of the nodes of a row, a neighbour of all others of it.
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

// Makes the neighbours of k neighbours of each other, so that k misses no pair. Then k is removed:
// each neighbour i of k no longer misses the pairs of k with those neighbours of i that are no
// neighbours of k.
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

// Finds an order and returns its multiplications. It gives up and returns infinity where they are
// more than `most` or where it has looked at too much.
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

// Replaces an order of `work` multiplications by the best of some orders of minimum fill, if that
// is better. The search may take some per cent of the time of one factorisation, of which there
// will be tens.
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
        return true;
    }
    return work < LEAST_WORK || g->n > MOST_NODES || improve(stop, g, room, work, order);
}

// ---- The fill

// Later neighbours of each node in elimination order: its own in the graph, and those that
// eliminating its children gave it. A node's parent is the first of its later neighbours.
typedef struct filling {
    const ss_block_graph *g;
    const int *order, *where;
    int *begin, *later;      // [n + 1]; later[begin[k]] .. ascending
    int *parent;             // [n]; -1 for none
    int *mark, *head, *next; // [n]; head and next list the children of a node
    size_t room;             // capacity of later
} filling;

static bool push(filling *f, int *count, int node)
{
    if ((size_t)*count == f->room) {
        if (*count > INT_MAX / 2) {
            return false;
        }
        int *more = realloc(f->later, 2 * f->room * sizeof *more);
        if (more == NULL) {
            return false;
        }
        f->later = more;
        f->room *= 2;
    }
    f->later[(*count)++] = node;
    return true;
}

static bool push_new(filling *f, int *count, int k, int node)
{
    if (node <= k || f->mark[node] == k) {
        return true;
    }
    f->mark[node] = k;
    return push(f, count, node);
}

static bool fill_node(filling *f, int k)
{
    int count = f->begin[k];
    bool ok = true;
    const int node = f->order[k];
    for (int s = f->g->start[node]; ok && s < f->g->start[node + 1]; s++) {
        ok = push_new(f, &count, k, f->where[f->g->row[s]]);
    }
    for (int child = f->head[k]; child >= 0; child = f->next[child]) {
        for (int s = f->begin[child]; ok && s < f->begin[child + 1]; s++) {
            ok = push_new(f, &count, k, f->later[s]);
        }
    }
    f->begin[k + 1] = count;
    qsort(f->later + f->begin[k], (size_t)(count - f->begin[k]), sizeof *f->later,
          ss_block_ascending);
    f->parent[k] = -1;
    if (count > f->begin[k]) {
        const int parent = f->later[f->begin[k]];
        f->parent[k] = parent;
        f->next[k] = f->head[parent];
        f->head[parent] = k;
    }
    return ok;
}

static void free_filling(filling *f)
{
    free(f->begin);
    free(f->later);
    free(f->parent);
}

static bool tree_fill(const ss_stop *stop, filling *f)
{
    const size_t n = (size_t)f->g->n;
    f->room = (size_t)f->g->start[n] + n + 1;
    f->begin = malloc((n + 1) * sizeof *f->begin);
    f->later = malloc(f->room * sizeof *f->later);
    f->parent = malloc((4 * n + 1) * sizeof *f->parent);
    if (f->begin == NULL || f->later == NULL || f->parent == NULL) {
        return false;
    }
    f->mark = f->parent + n;
    f->head = f->mark + n;
    f->next = f->head + n;
    for (size_t k = 0; k < 2 * n; k++) {
        f->mark[k] = -1; // head follows mark
    }
    f->begin[0] = 0;
    bool ok = true;
    for (int k = 0; ok && k < f->g->n; k++) {
        ok = fill_node(f, k) && !ss_stop_asked(stop);
    }
    return ok;
}

// ---- The fronts

// A front costs, in multiplications: its products; the inverses of its panels, which run at an
// eighth of the speed; clearing, adding and moving its numbers; and its book-keeping.
#define COST_OF_A_NUMBER  16.0
#define COST_OF_INVERTING 8.0
#define COST_OF_A_FRONT   8e3

double ss_block_front_inverting(int width)
{
    const double panel = width < SS_PANEL ? width : SS_PANEL;
    return COST_OF_INVERTING * width * panel * panel;
}

double ss_block_front_cost(int width, int height)
{
    const double w = width, h = height;
    return ss_block_front_work(w, h) + ss_block_front_inverting(width) +
           COST_OF_A_NUMBER * (w + h) * (w + h) + COST_OF_A_FRONT;
}

// Fronts while they are made. A front has the name of its last node, which the others have joined.
typedef struct joining {
    int *into;           // [n] the node whose front this one has joined, or itself
    int *width, *height; // [n]
    int *head, *next;    // [n] lists of the children of a front
} joining;

static void adopt(const joining *j, int parent, int child)
{
    j->next[child] = j->head[parent];
    j->head[parent] = child;
}

// Lets children join front k while that pays; their children become children of k.
static void join_children(const joining *j, int k)
{
    int *at = &j->head[k];
    while (*at >= 0) {
        const int c = *at;
        const double apart = ss_block_front_cost(j->width[c], j->height[c]) +
                             ss_block_front_cost(j->width[k], j->height[k]);
        if (ss_block_front_cost(j->width[c] + j->width[k], j->height[k]) > apart) {
            at = &j->next[c];
            continue;
        }
        j->into[c] = k;
        j->width[k] += j->width[c];
        *at = j->next[c];
        for (int child = j->head[c]; child >= 0;) {
            const int after = j->next[child];
            adopt(j, k, child);
            child = after;
        }
        at = &j->head[k];
    }
}

static void tree_join(const joining *j, const filling *f, const int *room)
{
    const int n = f->g->n;
    for (int k = 0; k < n; k++) {
        j->into[k] = k;
        j->head[k] = -1;
    }
    for (int k = 0; k < n; k++) {
        j->width[k] = room[f->order[k]];
        j->height[k] = 0;
        for (int s = f->begin[k]; s < f->begin[k + 1]; s++) {
            j->height[k] += room[f->order[f->later[s]]];
        }
    }
    for (int k = 0; k < n; k++) { // children before parents
        join_children(j, k);
        if (f->parent[k] >= 0) {
            adopt(j, f->parent[k], k);
        }
    }
}

// ---- The tree

// Writes where each front ends in postorder, and returns the number of fronts.
static int place_fronts(const joining *j, const filling *f, int *size, int *end)
{
    const int n = f->g->n;
    int count = 0;
    for (int k = 0; k < n; k++) {
        size[k] = 1;
        for (int c = j->head[k]; j->into[k] == k && c >= 0; c = j->next[c]) {
            size[k] += size[c];
        }
        if (j->into[k] == k && f->parent[k] < 0) {
            count += size[k];
            end[k] = count;
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        if (j->into[k] != k) {
            continue;
        }
        int before = end[k] - 1;
        for (int c = j->head[k]; c >= 0; c = j->next[c]) {
            end[c] = before;
            before -= size[c];
        }
    }
    return count;
}

// Sorts the nodes by front, ascending within one: order[place] is a node of the filling.
static void place_nodes(ss_block_tree *t, const joining *j, const int *end, int *front_of,
                        int *order)
{
    ss_block_front *front = t->front;
    for (int f = 0; f <= t->nfronts; f++) {
        front[f] = (ss_block_front){0};
    }
    for (int k = t->n - 1; k >= 0; k--) { // a node joins only later ones
        front_of[k] = j->into[k] == k ? end[k] - 1 : front_of[j->into[k]];
        front[front_of[k] + 1].node++;
    }
    for (int f = 0; f < t->nfronts; f++) {
        front[f + 1].node += front[f].node;
    }
    for (int k = 0; k < t->n; k++) {
        order[front[front_of[k]].node++] = k;
    }
    for (int f = t->nfronts; f > 0; f--) {
        front[f].node = front[f - 1].node;
    }
    front[0].node = 0;
}

// Lists rows, sizes and numbers of children; place[k] is the new place of node k of the filling.
static bool list_rows(ss_block_tree *t, const joining *j, const filling *f, const int *end,
                      const int *order, const int *place, const int *size)
{
    size_t count = 0;
    for (int k = 0; k < t->n; k++) {
        count += j->into[k] == k ? (size_t)(f->begin[k + 1] - f->begin[k]) : 0;
    }
    t->row = malloc((count + 1) * sizeof *t->row);
    if (t->row == NULL) {
        return false;
    }
    int next = 0;
    for (int i = 0; i < t->nfronts; i++) {
        ss_block_front *front = &t->front[i];
        const int k = order[t->front[i + 1].node - 1]; // its last own node
        front->below = next;
        front->width = j->width[k];
        front->height = j->height[k];
        front->subtree = size[k];
        for (int s = f->begin[k]; s < f->begin[k + 1]; s++) {
            t->row[next++] = place[f->later[s]];
        }
        qsort(t->row + front->below, (size_t)(next - front->below), sizeof *t->row,
              ss_block_ascending);
        if (f->parent[k] >= 0) {
            int p = f->parent[k];
            while (j->into[p] != p) {
                p = j->into[p];
            }
            t->front[end[p] - 1].children++;
        }
    }
    t->front[t->nfronts].below = next;
    return true;
}

static void place_rooms(ss_block_tree *t, const int *room, const int *old_order, const int *order)
{
    size_t next = 0;
    for (int k = 0; k < t->n; k++) {
        t->where[old_order[order[k]]] = k;
    }
    for (int node = 0; node < t->n; node++) {
        t->room[t->where[node]] = room[node];
        t->first[t->where[node]] = next;
        next += (size_t)room[node];
    }
}

// Makes the fronts; scratch is [10 n].
static bool make_tree(ss_block_tree *t, const int *room, const filling *f, int *scratch)
{
    const size_t n = (size_t)t->n;
    const joining j = {scratch, scratch + n, scratch + 2 * n, scratch + 3 * n, scratch + 4 * n};
    int *size = scratch + 5 * n, *end = scratch + 6 * n;
    int *order = scratch + 7 * n, *place = scratch + 8 * n, *front_of = scratch + 9 * n;
    tree_join(&j, f, room);
    t->nfronts = place_fronts(&j, f, size, end);
    t->front = malloc(((size_t)t->nfronts + 1) * sizeof *t->front);
    if (t->front == NULL) {
        return false;
    }
    place_nodes(t, &j, end, front_of, order);
    for (int k = 0; k < t->n; k++) {
        place[order[k]] = k;
    }
    if (!list_rows(t, &j, f, end, order, place, size)) {
        return false;
    }
    place_rooms(t, room, f->order, order);
    return true;
}

bool ss_block_tree_new(int nodes, const int *room, int npairs, const int (*pairs)[2],
                       const ss_stop *stop, ss_block_tree *t)
{
    const size_t n = (size_t)nodes;
    ss_assert(nodes >= 0 && npairs >= 0);
    *t = (ss_block_tree){.n = nodes};
    t->where = malloc((n + 1) * sizeof *t->where);
    t->room = malloc((n + 1) * sizeof *t->room);
    t->first = malloc((n + 1) * sizeof *t->first);
    int *order = malloc((n + 1) * sizeof *order), *scratch = malloc((10 * n + 1) * sizeof *scratch);
    ss_block_graph g = {0};
    bool ok = t->where != NULL && t->room != NULL && t->first != NULL && order != NULL &&
              scratch != NULL && ss_block_graph_new(nodes, npairs, pairs, &g) &&
              !ss_stop_asked(stop) && ss_block_order(stop, &g, room, order);
    if (ok) {
        for (int k = 0; k < nodes; k++) {
            t->where[order[k]] = k;
        }
        filling f = {.g = &g, .order = order, .where = t->where};
        ok = tree_fill(stop, &f) && make_tree(t, room, &f, scratch);
        free_filling(&f);
    }
    ss_block_graph_free(&g);
    free(order);
    free(scratch);
    return ok;
}

void ss_block_tree_free(ss_block_tree *tree)
{
    free(tree->where);
    free(tree->room);
    free(tree->first);
    free(tree->front);
    free(tree->row);
}
