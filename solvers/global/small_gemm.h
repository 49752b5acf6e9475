// solvers/global/small_gemm.h -- C += A B of small dense matrices, row by row, with columns in
// fours.
//
// A is rows x inner, B inner x columns, C rows x columns, each stored without gaps; rows and
// columns are multiples of four. Four rows of up to sixteen columns of C stay in registers. Sums
// run in the order of the indices; with fused multiply-adds where the build may use them, which
// doubles the speed and gives other last bits: no golden result goes through here.
#pragma once

#ifdef __FMA__
#include <immintrin.h>
#endif

typedef double ss_four __attribute__((vector_size(32), aligned(8)));

// a b + c
static inline ss_four ss_fused(ss_four a, ss_four b, ss_four c)
{
#ifdef __FMA__
    return (ss_four)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
    return a * b + c;
#endif
}

// C[0..3][0..4 fours - 1] += sign A[0..3][..] B; fours is a constant where this is inlined.
static inline __attribute__((always_inline)) void ss_gemm_tile(int fours, double sign, int inner,
                                                               int columns, const double *A,
                                                               const double *B, double *C)
{
    ss_four c[4][4];
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < fours; j++) {
            c[i][j] = *(const ss_four *)(C + i * columns + 4 * j);
        }
    }
    for (int p = 0; p < inner; p++) {
        ss_four b[4];
        for (int j = 0; j < fours; j++) {
            b[j] = *(const ss_four *)(B + p * columns + 4 * j);
        }
        for (int i = 0; i < 4; i++) {
            const double a = sign * A[i * inner + p];
            for (int j = 0; j < fours; j++) {
                c[i][j] = ss_fused((ss_four){a, a, a, a}, b[j], c[i][j]);
            }
        }
    }
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < fours; j++) {
            *(ss_four *)(C + i * columns + 4 * j) = c[i][j];
        }
    }
}

static inline __attribute__((always_inline)) void ss_gemm_signed(double sign, int rows, int inner,
                                                                 int columns, const double *A,
                                                                 const double *B, double *C)
{
    for (int i = 0; i < rows; i += 4) {
        const double *a = A + i * inner;
        double *c = C + i * columns;
        int j = 0;
        for (; j + 16 <= columns; j += 16) {
            ss_gemm_tile(4, sign, inner, columns, a, B + j, c + j);
        }
        switch (columns - j) {
        case 12:
            ss_gemm_tile(3, sign, inner, columns, a, B + j, c + j);
            break;
        case 8:
            ss_gemm_tile(2, sign, inner, columns, a, B + j, c + j);
            break;
        case 4:
            ss_gemm_tile(1, sign, inner, columns, a, B + j, c + j);
            break;
        default:
            break;
        }
    }
}

static inline void ss_gemm_add(int rows, int inner, int columns, const double *A, const double *B,
                               double *C)
{
    ss_gemm_signed(1.0, rows, inner, columns, A, B, C);
}

static inline void ss_gemm_subtract(int rows, int inner, int columns, const double *A,
                                    const double *B, double *C)
{
    ss_gemm_signed(-1.0, rows, inner, columns, A, B, C);
}
