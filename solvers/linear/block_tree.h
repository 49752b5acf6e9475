// solvers/linear/block_tree.h -- which dense matrices an LU by blocks goes through (internal).
//
// Nodes are eliminated front by front. A front is a dense matrix: first the rows and columns of its
// own nodes, `width` of them, then those of the nodes below, `height` of them, which are the later
// neighbours of its last own node. Eliminating its own nodes leaves numbers for the nodes below;
// they are added to the front of its parent, which owns the first of these nodes. Fronts stand in
// postorder, so that what is left for later is a stack. A node joins its parent's front where one
// dense matrix with some zeros costs less than two without.
#pragma once

#include "base/stop.h"

#include <stdbool.h>
#include <stddef.h>

#define SS_PANEL 32 // most columns that are eliminated at once: it keeps the units of a CPU busy

typedef struct ss_block_front {
    int node;          // place of its first own node; the next front tells where they end
    int below;         // index of its first node below, in ss_block_tree.row
    int width, height; // numbers
    int children;      // number of fronts whose remainders are on the top of the stack
    int subtree;       // number of fronts in its subtree, itself included; they stand before it
} ss_block_front;

typedef struct ss_block_tree {
    int n, nfronts;
    int *where;            // [n] place of the caller's node in the order of elimination
    int *room;             // [n] by place
    size_t *first;         // [n] by place: its first number in a vector, in the caller's order
    ss_block_front *front; // [nfronts + 1] in postorder; the last says where the one before it ends
    int *row;              // places of the nodes below, ascending within a front
} ss_block_tree;

// Makes the tree for npairs pairs of nodes whose blocks exist, in any order and number. Returns
// false without memory, and where it was stopped; the caller frees the tree either way.
bool ss_block_tree_new(int n, const int *room, int npairs, const int (*pairs)[2],
                       const ss_stop *stop, ss_block_tree *tree);
void ss_block_tree_free(ss_block_tree *tree);

// Returns the multiplications of eliminating a front's own nodes.
static inline double ss_block_front_work(double width, double height)
{
    return width * (height * height + width * height + width * width / 3.0);
}

// Returns what a front costs one thread, in multiplications, and which part of it are the inverses
// of its panels.
double ss_block_front_cost(int width, int height);
double ss_block_front_inverting(int width);

// Compares ints for qsort.
static inline int ss_block_ascending(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

// ---- For tests

// Neighbours of every node by columns, without the diagonal, each once.
typedef struct ss_block_graph {
    int n;
    int *start, *row; // [n + 1], [start[n]]
} ss_block_graph;

// Makes the graph of pairs in any order and number. Returns false without memory; the caller frees
// the graph either way.
bool ss_block_graph_new(int n, int npairs, const int (*pairs)[2], ss_block_graph *g);
void ss_block_graph_free(ss_block_graph *g);

// Writes into order[k] the node to be eliminated k-th. Where it is stopped, it writes an order that
// is quickly found. Returns false without memory.
bool ss_block_order(const ss_stop *stop, const ss_block_graph *g, const int *room, int *order);
