// problems/strands/band.c -- L L' of a symmetric band matrix, column by column.
#include "problems/strands/band.h"

#include <float.h>
#include <string.h>

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
        for (int k = 1; k <= below; k++) {
            double *restrict right = A->x + (A->half + 1) * (j + k);
            const double *restrict left = column + k;
            for (int i = 0; i <= below - k; i++) {
                right[i] -= column[k] * left[i];
            }
        }
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
