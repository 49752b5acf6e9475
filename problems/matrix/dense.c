#include "problems/matrix/dense.h"

#include <math.h>

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

static inline void whiten_dense_columns(const double *L, int m, double *X, int k)
{
    for (int i = 0; i < m; i++) {
        double *row = X + (size_t)i * (size_t)k;
        for (int j = 0; j < i; j++) {
            ss_dense_subtract(row, L[i * m + j], X + (size_t)j * (size_t)k, k);
        }
        ss_dense_divide(row, L[i * m + i], k);
    }
}

// The columns of one contact and a single vector, the commonest cases, in loops of known length.
void ss_dense_whiten(const double *L, int m, double *X, int k)
{
    if (k == 3) {
        whiten_dense_columns(L, m, X, 3);
    } else if (k == 1) {
        whiten_dense_columns(L, m, X, 1);
    } else {
        whiten_dense_columns(L, m, X, k);
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
