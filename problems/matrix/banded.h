// problems/matrix/banded.h -- M = L L' of a symmetric band matrix, and what of M^-1 lies within the band (internal).
//
// L has no entry outside the band of M, so that a solve costs 4 n half multiplications, and the entries of
// Z = M^-1 within the band cost n half^2: from L' Z = L^-1, whose upper triangle except for the diagonal is 0,
//
//     Z_ij = -1/L_jj sum_k L_kj Z_ik  (i > j),     Z_jj = 1/L_jj (1/L_jj - sum_k L_kj Z_kj)        (1)
//
// over k = j + 1 .. j + half, from the last column to the first: what it takes is in the band.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define SS_BANDED_WIDEST 16 // the largest `half`

typedef struct ss_banded {
    int n, half;     // entries further than `half` from the diagonal are 0
    double *x;       // [n][half + 1] columns: j, j + 1, .. j + half of column j; owned
    double *inverse; // [n] 1 / L_jj; in x
} ss_banded;

// Room for one, filled with 0. False without memory; free it in every case.
bool ss_banded_init(ss_banded *A, int n, int half);
void ss_banded_free(ss_banded *A);

// The lower triangle, row >= column, row - column <= half.
static inline double *ss_banded_at(const ss_banded *A, int row, int column)
{
    return A->x + (size_t)column * (size_t)(A->half + 1) + (row - column);
}

// L in the place of M. Returns the column that breaks down, or -1. A pivot must keep more than the rounding
// of `terms` subtractions.
int ss_banded_factor(ss_banded *A, int terms);

// X <- L^-1 X and X <- L^-T X of X [n][k], a dof a row.
void ss_banded_whiten(const ss_banded *L, double *X, int k);
void ss_banded_unwhiten(const ss_banded *L, double *X, int k);

// x[b] <- M_b^-1 x[b] of bands of one shape, with the bits of whiten and unwhiten: each entry waits for the one
// before it, which the others make use of if there are at least SS_BANDED_SEVERAL.
#define SS_BANDED_SEVERAL 8
void ss_banded_solve_several(int count, const ss_banded *const *L, double *const *x);

// Each of the k <= 3 rows x + row length becomes M^-1 times it; entries before `first` are 0 in all.
void ss_banded_solve_rows(const ss_banded *L, int first, int k, size_t length, double *x);

// The same of vectors side by side, a dof a row: X [n][lanes] with lanes 8, 16 or 24, with the bits of rows.
#define SS_BANDED_LANES 24
void ss_banded_solve_lanes(const ss_banded *L, int first, int lanes, double *X);

// (1) into Z, which has L's size.
void ss_banded_inverse(const ss_banded *L, ss_banded *Z);
