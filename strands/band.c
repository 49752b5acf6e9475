// strands/band.c -- L L' of a symmetric band matrix, column by column.
#include "strands/band.h"

#include <float.h>
#include <string.h>

#include "problems/matrix/banded.h"

void ss_band_clear(ss_band *A)
{
    memset(A->x, 0, (size_t)A->n * (size_t)(A->half + 1) * sizeof *A->x);
}

// How many entries column j has below its diagonal.
static int depth(const ss_band *A, int j)
{
    return A->n - 1 - j < A->half ? A->n - 1 - j : A->half;
}

void ss_band_add_product(const ss_band *A, const double *x, double *y)
{
    for (int j = 0; j < A->n; j++) {
        const double *column = A->x + (A->half + 1) * j;
        double sum = column[0] * x[j];
        for (int i = 1; i <= depth(A, j); i++) {
            y[j + i] += column[i] * x[j];
            sum += column[i] * x[j + i];
        }
        y[j] += sum;
    }
}

double ss_band_square(const ss_band *A, const double *x)
{
    double sum = 0.0;
    for (int j = 0; j < A->n; j++) {
        const double *column = A->x + (A->half + 1) * j;
        double below = 0.0;
        for (int i = 1; i <= depth(A, j); i++) {
            below += column[i] * x[j + i];
        }
        sum += x[j] * (column[0] * x[j] + 2.0 * below);
    }
    return sum;
}

static bool scale(ss_band *A, double *D)
{
    for (int j = 0; j < A->n; j++) {
        const double diagonal = *ss_band_at(A, j, j);
        if (!(diagonal > 0.0 && isfinite(diagonal))) {
            return false;
        }
        D[j] = 1.0 / sqrt(diagonal);
    }
    for (int j = 0; j < A->n; j++) {
        double *column = A->x + (A->half + 1) * j;
        for (int i = 0; i <= depth(A, j); i++) {
            column[i] *= D[j] * D[j + i];
        }
    }
    return true;
}

bool ss_band_factor(ss_band *A, double *D)
{
    if (!scale(A, D)) {
        return false;
    }
    for (int j = 0; j < A->n; j++) {
        double *column = A->x + (A->half + 1) * j;
        const int below = depth(A, j);
        // The diagonal was 1: what is left of it must exceed the rounding of what was taken off.
        if (!(column[0] > (A->half + 1) * DBL_EPSILON)) {
            return false;
        }
        const double root = sqrt(column[0]);
        column[0] = root;
        for (int i = 1; i <= below; i++) {
            column[i] /= root;
        }
        ss_band_take(column, A->half, below);
    }
    return true;
}

void ss_band_solve(const ss_band *L, const double *D, double *x)
{
    for (int j = 0; j < L->n; j++) {
        x[j] *= D[j];
    }
    for (int j = 0; j < L->n; j++) {
        const double *column = L->x + (L->half + 1) * j;
        x[j] /= column[0];
        for (int i = 1; i <= depth(L, j); i++) {
            x[j + i] -= column[i] * x[j];
        }
    }
    for (int j = L->n - 1; j >= 0; j--) {
        const double *column = L->x + (L->half + 1) * j;
        double sum = x[j];
        for (int i = 1; i <= depth(L, j); i++) {
            sum -= column[i] * x[j + i];
        }
        x[j] = sum / column[0];
    }
    for (int j = 0; j < L->n; j++) {
        x[j] *= D[j];
    }
}

static inline void forward_four(const ss_band *L, const double *const *D, int j, double *const *x)
{
    const int half = L[0].half, top = j < half ? j : half;
    const double *entry[4] = {ss_band_at(&L[0], j, j - top), ss_band_at(&L[1], j, j - top),
                              ss_band_at(&L[2], j, j - top), ss_band_at(&L[3], j, j - top)};
    double sum[4] = {x[0][j] * D[0][j], x[1][j] * D[1][j], x[2][j] * D[2][j], x[3][j] * D[3][j]};
    for (int i = top; i >= 1; i--) {
        for (int b = 0; b < 4; b++) {
            sum[b] -= entry[b][(top - i) * half] * x[b][j - i];
        }
    }
    for (int b = 0; b < 4; b++) {
        x[b][j] = sum[b] / entry[b][top * half];
    }
}

static inline void backward_four(const ss_band *L, int j, double *const *x)
{
    const double *column[4] = {ss_band_at(&L[0], j, j), ss_band_at(&L[1], j, j),
                               ss_band_at(&L[2], j, j), ss_band_at(&L[3], j, j)};
    double sum[4] = {x[0][j], x[1][j], x[2][j], x[3][j]};
    const int below = depth(&L[0], j);
    for (int i = 1; i <= below; i++) {
        for (int b = 0; b < 4; b++) {
            sum[b] -= column[b][i] * x[b][j + i];
        }
    }
    for (int b = 0; b < 4; b++) {
        x[b][j] = sum[b] / column[b][0];
    }
}

void ss_band_solve_four(const ss_band *L, const double *const *D, double *const *x)
{
    const int n = L[0].n;
    for (int j = 0; j < n; j++) {
        forward_four(L, D, j, x);
    }
    for (int j = n - 1; j >= 0; j--) {
        backward_four(L, j, x);
    }
    for (int b = 0; b < 4; b++) {
        for (int j = 0; j < n; j++) {
            x[b][j] *= D[b][j];
        }
    }
}
