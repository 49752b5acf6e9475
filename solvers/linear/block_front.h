// solvers/linear/block_front.h -- what the parts of block_lu share (internal).
//
// The numbers of a factor stand panel by panel. A panel is PANEL columns of a front or what is left
// of them, b, with the t rows and columns behind it:
//
//     A_bb^-1, L = A_tb A_bb^-1     by tiles of eight rows, each column by column
//     U = A_bt                      by strips of so many columns as the kernel likes, row by row
//
// with zeros at the ends, so that no kernel has a remainder to take care of.
#pragma once

#include <stdatomic.h>

#include "solvers/linear/block_lu.h"
#include "solvers/linear/block_tree.h"

#define SS_TILE  8  // rows
#define SS_STRIP 32 // a multiple of the columns of a strip, for every kernel

// Numbers that are cleared between two questions whether to stop, 1 ms where the system has yet to
// find the memory.
#define SS_CLEARED ((size_t)1 << 17)

static inline int ss_rounded(int n, int to)
{
    return (n + to - 1) / to * to;
}

// A block of A, as offset into the values, and where it goes in its front.
typedef struct ss_block_entry {
    size_t from;
    int row, col, rows, cols;
} ss_block_entry;

// The scratch of one thread.
typedef struct ss_block_worker {
    void *front, *stack; // float or double
    int *local;          // [n] where a node is in the present front
    int *run;            // [3 n]
    void *vector;        // [most_size + SS_STRIP] of a solution
    double work;         // multiplications since it asked whether to stop
    bool negative;       // the determinant of what it has eliminated
} ss_block_worker;

// Threads share a factorisation in two ways: each takes subtrees of fronts, the parts, and what is above
// them, which is a few large fronts mostly, they go through together, each taking rows. What a part
// leaves is kept for the front above it; within a part, and above, it is on a stack. The order of all sums
// is that of one thread.
typedef struct ss_block_part {
    int first, end; // fronts
} ss_block_part;

// What is no root of a part in kept_at.
#define SS_NOT_KEPT SIZE_MAX

struct ss_block_lu;
// The parts of the tree of `lu`, and where what they leave is kept; none if sharing does not pay. False
// without memory.
bool ss_block_share(struct ss_block_lu *lu);
// Whether threads go together through a front above the parts.
bool ss_block_together(const struct ss_block_lu *lu, int f);

struct ss_block_lu {
    ss_block_tree tree;
    int *begin;            // [n + 1] by place: its blocks with later nodes, pair[begin[k]] ..
    int *pair;             // places, ascending within a node
    int *begin_before;     // [n + 1] by place: its blocks with earlier nodes, node_before[..] ..
    int *node_before;      // places, ascending within a node,
    int *before;           // and where they are in `pair`
    size_t *diag;          // [n] by place: offset of A_kk in values
    size_t *lower, *upper; // of A_ik and A_ki
    int *first_entry;      // [nfronts + 1]
    ss_block_entry *entry;
    size_t nvalues;
    double *values; // A

    size_t *factor_at; // [nfronts + 1] first number of a front's panels,
    size_t *left_at;   // and of what it leaves in a forward solution
    size_t most_front, most_stack, most_size;
    void *memory;  // of the factor, and of front and stack of the first worker
    void *factor;  // float or double
    void *left;    // of a solution, float or double
    bool is_short; // the last factor is of floats
    bool negative; // det A < 0

    int nworkers;
    ss_block_worker *worker; // the first one's front and stack have room for all fronts
    ss_team *team;           // borrowed; NULL: one thread, and the six below are empty
    int nparts;
    ss_block_part *part;
    size_t *kept_at; // [nfronts] where what the root of a part leaves is kept, else SS_NOT_KEPT
    size_t most_kept;
    void *shared;       // memory of the other workers' fronts and stacks, and of
    void *kept;         // what parts leave; float or double
    atomic_bool failed; // by one of the threads, or stopped

    const ss_stop *stop; // borrowed; NULL: never
};

// local[k] of the nodes of front f: [n].
static inline void ss_block_localize(const ss_block_lu *lu, int f, int *local)
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

static inline size_t ss_front_stride(int size)
{
    return (size_t)ss_rounded(size + SS_STRIP - 1, SS_STRIP);
}

// Numbers of a panel of b columns with t behind it.
static inline size_t ss_panel_numbers(int b, int t)
{
    const size_t rows = (size_t)(ss_rounded(b, SS_TILE) + ss_rounded(t, SS_TILE));
    return (size_t)b * (rows + (size_t)ss_rounded(t, SS_STRIP));
}

// Factorisation and solution by numbers of one kind and the vectors of one kind of CPU.
typedef struct ss_block_numeric {
    bool (*factor)(struct ss_block_lu *lu);
    void (*solve)(const struct ss_block_lu *lu, double *x);
} ss_block_numeric;

// The kinds of CPU: any, AVX2 with fused multiply-adds, AVX-512. NULL where this one is not so.
#define SS_BLOCK_KINDS 3
const ss_block_numeric *ss_block_numeric_kind(int kind, bool is_short);
const ss_block_numeric *ss_block_numeric_of(bool is_short); // of the highest kind there is
