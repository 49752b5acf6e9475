// problems/matrix/banded.h -- M = L L' of a symmetric band matrix, and M^-1 within the band
// (internal).
//
// L has no entry outside the band of M, so that a solve costs 4 n half multiplications, and the
// entries of Z = M^-1 within the band cost n half^2: from L' Z = L^-1, whose upper triangle except
// for the diagonal is 0,
//
//     Z_ij = -1/L_jj sum_k L_kj Z_ik  (i > j),   Z_jj = 1/L_jj (1/L_jj - sum_k L_kj Z_kj)     (1)
//
// over k = j + 1 .. j + half, from the last column to the first: all these entries are in the band.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define SS_BANDED_WIDEST 16 // the largest `half`

typedef struct ss_banded {
    int n, half;     // entries farther than `half` from the diagonal are 0
    double *x;       // [n][half + 1] columns: rows j, j + 1, .. j + half of column j; owned
    double *inverse; // [n] 1 / L_jj; in the memory of x
} ss_banded;

// Makes a matrix of zeros. Returns false without memory; the caller frees it in every case.
bool ss_banded_init(ss_banded *A, int n, int half);
void ss_banded_free(ss_banded *A);

// Returns an entry of the lower triangle: row >= column, row - column <= half.
static inline double *ss_banded_at(const ss_banded *A, int row, int column)
{
    return A->x + (size_t)column * (size_t)(A->half + 1) + (row - column);
}

// Puts L in the place of M. Returns the column that breaks down, or -1. A pivot must be more than
// the rounding of `terms` subtractions.
int ss_banded_factor(ss_banded *A, int terms);

// X <- L^-1 X and X <- L^-T X for X [n][k], a dof a row.
void ss_banded_whiten(const ss_banded *L, double *X, int k);
void ss_banded_unwhiten(const ss_banded *L, double *X, int k);

// x[b] <- M_b^-1 x[b] for bands of one shape, with the bits of whiten and unwhiten. Each entry
// waits for the one before it; SS_BANDED_SEVERAL bands side by side use that time.
#define SS_BANDED_SEVERAL 8
void ss_banded_solve_several(int count, const ss_banded *const *L, double *const *x);

// Each of the k <= 3 rows x + row length becomes M^-1 times it; entries before `first` are 0 in
// all.
void ss_banded_solve_rows(const ss_banded *L, int first, int k, size_t length, double *x);

// Does the same for vectors side by side, a dof a row: X [n][lanes] with lanes 8, 16 or 24, with
// the bits of rows.
#define SS_BANDED_LANES 24
void ss_banded_solve_lanes(const ss_banded *L, int first, int lanes, double *X);

// Writes (1) into Z, which has L's size.
void ss_banded_inverse(const ss_banded *L, ss_banded *Z);

// ---- Subtracting a column of a factor from those behind it, inline

// Columns [half + 1] follow each other, as in ss_banded.
#define SS_BAND_NARROW 3
#define SS_BAND_WIDE   16

typedef double ss_band_four __attribute__((vector_size(32), aligned(8)));
typedef long long ss_band_bits __attribute__((vector_size(32), aligned(8)));

// Subtracts by four numbers at once: zeros follow l, so that nothing is taken from the next column.
// `half` is a constant for the widths of rods, so that l stays in registers.
static inline __attribute__((always_inline)) void ss_band_take_whole(double *column, int half)
{
    ss_band_four part[4][SS_BAND_WIDE / 4 + 2]; // l from entry 0, 1, 2 and 3 on
    const int parts = half / 4 + 1;
    for (int m = 0; m < parts; m++) {
        const ss_band_bits at = {4 * m, 4 * m + 1, 4 * m + 2, 4 * m + 3};
        const ss_band_four own = *(const ss_band_four *)(column + 4 * m);
        part[0][m] = (ss_band_four)((ss_band_bits)own & (at <= half));
    }
    part[0][parts] = (ss_band_four){0.0};
    for (int m = 0; m < parts; m++) {
        part[1][m] = __builtin_shufflevector(part[0][m], part[0][m + 1], 1, 2, 3, 4);
        part[2][m] = __builtin_shufflevector(part[0][m], part[0][m + 1], 2, 3, 4, 5);
        part[3][m] = __builtin_shufflevector(part[0][m], part[0][m + 1], 3, 4, 5, 6);
    }
    for (int k = 1; k <= half; k++) {
        double *right = column + (half + 1) * k;
        const ss_band_four *own = part[k % 4] + k / 4;
        for (int i = 0; i <= half - k; i += 4) {
            *(ss_band_four *)(right + i) -= own[0][0] * own[i / 4];
        }
    }
}

// Computes a_j+k,j+k+i -= l_k l_k+i for k = 1 .. below, i = 0 .. below - k; `column` is l.
static inline __attribute__((always_inline)) void ss_band_take(double *column, int half, int below)
{
    if (below < half || half < SS_BAND_NARROW || half > SS_BAND_WIDE) {
        for (int k = 1; k <= below; k++) {
            double *restrict right = column + (half + 1) * k;
            for (int i = 0; i <= below - k; i++) {
                right[i] -= column[k] * column[k + i];
            }
        }
    } else if (half == 10) {
        ss_band_take_whole(column, 10);
    } else if (half == 11) {
        ss_band_take_whole(column, 11);
    } else {
        ss_band_take_whole(column, half);
    }
}
