// problems/matrix/band_take.h -- what columns of a band lose when the one before them is factored (internal).
#pragma once

// Columns [half + 1] follow each other, as in ss_banded (banded.h).
#define SS_BAND_NARROW 3
#define SS_BAND_WIDE   16

typedef double ss_band_four __attribute__((vector_size(32), aligned(8)));
typedef long long ss_band_bits __attribute__((vector_size(32), aligned(8)));

// By four: zeros follow l, so that what a column has no place for takes nothing from the next one. `half`
// is a constant where it is called for the widths of rods, so that l stays in registers.
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

// a_j+k,j+k+i -= l_k l_k+i for k = 1 .. below, i = 0 .. below - k; `column` is l.
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
