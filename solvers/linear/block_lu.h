// solvers/linear/block_lu.h -- LU of a sparse matrix of dense blocks with a symmetric pattern.
//
// Node k owns m_k rows and columns, m_k a multiple of SS_ROOM (padding: the identity). The graph of
// blocks is put into a fill-reducing order once and its nodes into fronts (block_tree.h). Then for
// each front, and in it for each panel k of some 32 columns,
//
//     L_ik = A_ik A_kk^-1,     A_ij <- A_ij - L_ik A_kj        i, j behind k               (1)
//
// with A_kk^-1 by pivoting inside the block, so that all else is products of dense matrices
// (block_numeric.h). There is no pivoting between blocks: this is meant for matrices near I +
// (positive semidefinite), and with refinement. In floats, a factorisation takes half the time of
// one in doubles and answers to 1e-6 times the condition of A. That is enough for a step of
// refinement to gain digits where the condition is not beyond 1e5 or so.
// tests/measure/bench_block_lu.c compares it with UMFPACK on the same matrix.
#pragma once

#include "base/status.h"
#include "base/stop.h"
#include "base/team.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct ss_block_lu ss_block_lu;

// Makes the pattern, without room for the numbers: nodes with `room` rows each; npairs pairs (a, b)
// of nodes whose blocks A_ab and A_ba exist, in any order and number. `stop` ends this, with SS_OK
// and *lu NULL, and the factorisations to come; it is borrowed.
ss_status ss_block_lu_new(int nodes, const int *room, int npairs, const int (*pairs)[2],
                          const ss_stop *stop, ss_block_lu **lu, ss_error *e);
void ss_block_lu_free(ss_block_lu *lu);

double ss_block_lu_work(const ss_block_lu *lu);  // multiplications of a factorisation
double ss_block_lu_bytes(const ss_block_lu *lu); // memory of ss_block_lu_reserve for one thread

// Makes room for the numbers, and for the threads of a team, which share the factorisations where
// there is enough to do. NULL means one thread. The team is borrowed, and bits do not depend on it.
// Returns false without memory.
bool ss_block_lu_reserve(ss_block_lu *lu, ss_team *team);

// Returns where block A_ab is, as an offset into ss_block_lu_values: row-major, room[a] x room[b].
// The pair was given.
size_t ss_block_lu_place(const ss_block_lu *lu, int a, int b);
double *ss_block_lu_values(ss_block_lu *lu);

// Sets A = 0. Returns false where it was stopped.
bool ss_block_lu_clear(ss_block_lu *lu);
// Factor A, which stays, in doubles or in floats. They return false where a diagonal block is
// singular to rounding or not finite, and where they were stopped.
bool ss_block_lu_factor(ss_block_lu *lu);
bool ss_block_lu_factor_short(ss_block_lu *lu);
// Returns whether det A < 0, as far as the last factor tells.
bool ss_block_lu_is_negative(const ss_block_lu *lu);
// x <- A^-1 x with the last factor; node k's part begins at the sum of the rooms before it.
void ss_block_lu_solve(const ss_block_lu *lu, double *x);
void ss_block_lu_multiply(const ss_block_lu *lu, const double *x, double *y); // y = A x

// ---- For tests

// Makes the kernels those of a kind of CPU: 0 for any, 1 for AVX2 with fused multiply-adds, 2 for
// AVX-512. Returns false where this CPU is not of that kind. A new ss_block_lu has the highest
// kind.
enum { SS_BLOCK_KINDS = 3 };
bool ss_block_lu_use_kind(ss_block_lu *lu, int kind);

bool ss_block_lu_is_shared(const ss_block_lu *lu); // true if threads share it
// Returns the place of a node in the order of elimination.
int ss_block_lu_turn(const ss_block_lu *lu, int node);
