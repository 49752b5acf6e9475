#include "problems/matrix/dense.h"

#include <math.h>

#include "base/lanes.h"
#include "problems/matrix/mass.h"

// A = U' U in place, upper triangle, a row at a time into all rows below it, so that loops run
// along rows. Returns the failing row, or -1.
static int factor_upper(double *A, int m)
{
    double diagonal[SS_DENSE_BODY];
    for (int k = 0; k < m; k++) {
        diagonal[k] = A[k * m + k];
    }
    for (int k = 0; k < m; k++) {
        double *row = A + k * m;
        if (!ss_dense_pivot_is_sound(row[k], m, diagonal[k])) {
            return k;
        }
        row[k] = sqrt(row[k]);
        ss_dense_divide(row + k + 1, row[k], m - k - 1);
        for (int i = k + 1; i < m; i++) {
            ss_dense_subtract(A + i * m + i, row[i], row + i, m - i);
        }
    }
    return -1;
}

int ss_dense_factor(double *A, int m)
{
    const int broken = factor_upper(A, m);
    for (int i = 0; broken < 0 && i < m; i++) {
        for (int j = 0; j < i; j++) {
            A[i * m + j] = A[j * m + i];
        }
    }
    return broken;
}

// Columns first .. k - 1 of X.
static inline void whiten_dense_columns(const double *L, int m, double *X, int k, int first)
{
    for (int i = 0; i < m; i++) {
        double *row = X + (size_t)i * (size_t)k + first;
        for (int j = 0; j < i; j++) {
            ss_dense_subtract(row, L[i * m + j], X + (size_t)j * (size_t)k + first, k - first);
        }
        ss_dense_divide(row, L[i * m + i], k - first);
    }
}

// At once.
#define VECTORS 4
#define COLUMNS (SS_LANES < 4 ? VECTORS * SS_LANES : 16)

// `columns` of them from X on, in registers along each row: every number goes through the same operations as
// above.
static inline void whiten_lanes(const double *L, int m, double *X, int k, int columns)
{
    const int count = columns / SS_LANES;
    for (int i = 0; i < m; i++) {
        double *row = X + (size_t)i * (size_t)k;
        ss_lanes x[VECTORS];
        for (int c = 0; c < count; c++) {
            x[c] = *(const ss_lanes *)(row + c * SS_LANES);
        }
        for (int j = 0; j < i; j++) {
            const double *other = X + (size_t)j * (size_t)k;
            for (int c = 0; c < count; c++) {
                x[c] -= L[i * m + j] * *(const ss_lanes *)(other + c * SS_LANES);
            }
        }
        for (int c = 0; c < count; c++) {
            *(ss_lanes *)(row + c * SS_LANES) = x[c] / L[i * m + i];
        }
    }
}

// A single vector, the columns of one contact, and many columns.
void ss_dense_whiten(const double *L, int m, double *X, int k)
{
    if (k == 3) {
        whiten_dense_columns(L, m, X, 3, 0);
        return;
    }
    if (k == 1) {
        whiten_dense_columns(L, m, X, 1, 0);
        return;
    }
    int first = 0;
    for (; first + COLUMNS <= k; first += COLUMNS) {
        whiten_lanes(L, m, X + first, k, COLUMNS);
    }
    for (; first + SS_DENSE_LANES <= k; first += SS_DENSE_LANES) {
        whiten_lanes(L, m, X + first, k, SS_DENSE_LANES);
    }
    if (first < k) {
        whiten_dense_columns(L, m, X, k, first);
    }
}

static inline void unwhiten_dense_columns(const double *L, int m, double *X, int k)
{
    for (int i = m - 1; i >= 0; i--) {
        double *row = X + (size_t)i * (size_t)k;
        ss_dense_divide(row, L[i * m + i], k);
        for (int j = 0; j < i; j++) {
            ss_dense_subtract(X + (size_t)j * (size_t)k, L[i * m + j], row, k);
        }
    }
}

void ss_dense_unwhiten(const double *L, int m, double *X, int k)
{
    if (k == 1) {
        unwhiten_dense_columns(L, m, X, 1);
    } else {
        unwhiten_dense_columns(L, m, X, k);
    }
}

// One vector of each body: the columns of L, which are the rows of L' above the diagonal, in the order in
// which ss_dense_whiten takes their numbers. A division waits for the one before it, and those of four
// bodies for each other only in turn. Four factors at once are more than a processor reads ahead by itself.
void ss_dense_solve_four(const double *const L[4], const double *const next[4], int m,
                         double *const X[4])
{
    for (int i = 0; i < m; i++) {
        for (int b = 0; b < 4; b++) {
            const double *row = L[b] + i * m;
            for (int at = 0; at < m; at += 8) {
                __builtin_prefetch(next[b] + i * m + at);
            }
            X[b][i] /= row[i];
            ss_dense_subtract(X[b] + i + 1, X[b][i], row + i + 1, m - i - 1);
        }
    }
    for (int i = m - 1; i >= 0; i--) {
        for (int b = 0; b < 4; b++) {
            const double *row = L[b] + i * m;
            X[b][i] /= row[i];
            ss_dense_subtract(X[b], X[b][i], row, i);
        }
    }
}
