// solvers/linear/block_order.h -- in which order to eliminate the nodes of a graph (internal).
//
// Eliminating a node makes its neighbours neighbours of each other; the fewer they are, the fewer
// numbers and products a factorisation has. Minimum degree (AMD) looks at the neighbours of a node;
// minimum fill at the pairs of neighbours that are not neighbours yet, which on lattices of rods
// leaves a fifth to a quarter fewer products and takes longer to find. So it is asked for on small
// graphs only, and believed where it does better.
#pragma once

#include <stdbool.h>
#include "base/stop.h"

// Neighbours of every node by columns, without the diagonal, each once.
typedef struct ss_block_graph {
    int n;
    int *start, *row; // [n + 1], [start[n]]
} ss_block_graph;

// Of pairs in any order and number. False without memory; free it either way.
bool ss_block_graph_new(int n, int npairs, const int (*pairs)[2], ss_block_graph *g);
void ss_block_graph_free(ss_block_graph *g);

// order[k] is the node to be eliminated k-th; where it is stopped, one that is quickly found. False
// without memory.
bool ss_block_order(const ss_stop *stop, const ss_block_graph *g, const int *room, int *order);
