// solvers/linear/block_tree.h -- which dense matrices an LU by blocks goes through (internal).
//
// Nodes are eliminated front by front. A front is a dense matrix: first the rows and columns of its
// own nodes, `width` of them, then those of the nodes below, the later neighbours of its last own
// one, `height` of them. What eliminating its own leaves for the nodes below is added to the front
// of its parent, which owns the first of them. Fronts stand in postorder, so that what is left for
// later is a stack. A node joins its parent's front where one dense matrix with some zeros costs
// less than two without (`cost` in block_tree.c).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include "base/stop.h"

#define SS_PANEL 32 // most columns that are eliminated at once: it keeps the units of a CPU busy

typedef struct ss_block_front {
    int node, below;   // its first own node, by place; its first node below, in ss_block_tree.row
    int width, height; // numbers
    int children;      // what they have left is on the top of the stack
    int subtree;       // fronts: itself and all below it in the tree; its last child is before it
} ss_block_front;

typedef struct ss_block_tree {
    int n, nfronts;
    int *where;            // [n] place in the order of elimination of the caller's node
    int *room;             // [n] by place
    size_t *first;         // [n] by place: its first number in a vector, in the caller's order
    ss_block_front *front; // [nfronts + 1] in postorder; the last says where the one before it ends
    int *row;              // places of the nodes below, ascending within a front
} ss_block_tree;

// Multiplications of eliminating a front's own nodes.
static inline double ss_block_front_work(double width, double height)
{
    return width * (height * height + width * height + width * width / 3.0);
}

// What a front costs by one thread, in multiplications, and what of it is the inverses of its panels.
double ss_block_front_cost(int width, int height);
double ss_block_front_inverting(int width);

// For qsort of nodes.
static inline int ss_block_ascending(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

// npairs pairs of nodes whose blocks exist, in any order and number. False without memory, and
// where it was stopped; free it either way.
bool ss_block_tree_new(int n, const int *room, int npairs, const int (*pairs)[2],
                       const ss_stop *stop, ss_block_tree *tree);
void ss_block_tree_free(ss_block_tree *tree);
