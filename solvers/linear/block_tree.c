#include "solvers/linear/block_tree.h"

#include <limits.h>
#include <stdlib.h>

#include "solvers/linear/block_order.h"

void ss_block_tree_free(ss_block_tree *tree)
{
    free(tree->where);
    free(tree->room);
    free(tree->first);
    free(tree->front);
    free(tree->row);
}

// ---- The fill

// Later neighbours of each node in elimination order: its own in the graph, and those that
// eliminating its children gave it. A node's parent is the first of its later neighbours.
typedef struct filling {
    const ss_block_graph *g;
    const int *order, *where;
    int *begin, *later;      // [n + 1]; later[begin[k]] .. ascending
    int *parent;             // [n] -1: none
    int *mark, *head, *next; // [n]; children of a node as a linked list
    size_t room;             // of later
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
        f->mark[k] = -1; // mark and head
    }
    f->begin[0] = 0;
    bool ok = true;
    for (int k = 0; ok && k < f->g->n; k++) {
        ok = fill_node(f, k) && !ss_stop_asked(stop);
    }
    return ok;
}

// ---- The fronts

// What a front costs, in multiplications: its products; the inverses of its panels, which go at an
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

// Fronts while they are made: each is called by its last node, to which the others have come.
typedef struct joining {
    int *into;           // [n] the node whose front this one has joined: itself, if it is the last
    int *width, *height; // [n]
    int *head, *next;    // [n] children of a front
} joining;

static void adopt(const joining *j, int parent, int child)
{
    j->next[child] = j->head[parent];
    j->head[parent] = child;
}

// Children join front k while that pays; theirs come with them, as children of k.
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

// Where front k ends in postorder, for the fronts k; the number of fronts.
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

// Nodes by front, ascending within one: order[place] is a node of the filling.
static void place_nodes(ss_block_tree *t, const joining *j, const int *end, int *front_of,
                        int *order)
{
    ss_block_front *front = t->front;
    for (int f = 0; f <= t->nfronts; f++) {
        front[f] = (ss_block_front){0};
    }
    for (int k = t->n - 1; k >= 0; k--) { // whoever is joined comes later
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

// Rows, sizes and numbers of children; place[k] is the new one of node k of the filling.
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

// scratch [10 n]
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
