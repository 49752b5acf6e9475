#include "problems/matrix/banded.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

bool ss_banded_init(ss_banded *A, int n, int half)
{
    const size_t entries = (size_t)n * (size_t)(half + 1);
    *A = (ss_banded){.n = n, .half = half, .x = calloc(entries + (size_t)n, sizeof *A->x)};
    A->inverse = A->x + entries;
    return A->x != NULL;
}

void ss_banded_free(ss_banded *A)
{
    free(A->x);
    *A = (ss_banded){0};
}

// How many entries column j has below its diagonal.
static inline int depth(const ss_banded *A, int j)
{
    return A->n - 1 - j < A->half ? A->n - 1 - j : A->half;
}

int ss_banded_factor(ss_banded *A, int terms)
{
    for (int j = 0; j < A->n; j++) {
        A->inverse[j] = *ss_banded_at(A, j, j); // the diagonal of M until its turn
    }
    for (int j = 0; j < A->n; j++) {
        double *restrict column = ss_banded_at(A, j, j);
        const int below = depth(A, j);
        if (!(column[0] > terms * DBL_EPSILON * A->inverse[j])) {
            return j;
        }
        column[0] = sqrt(column[0]);
        A->inverse[j] = 1.0 / column[0];
        for (int i = 1; i <= below; i++) {
            column[i] *= A->inverse[j];
        }
        for (int k = 1; k <= below; k++) {
            double *restrict right = ss_banded_at(A, j + k, j + k);
            for (int i = 0; i <= below - k; i++) {
                right[i] -= column[k] * column[k + i];
            }
        }
    }
    return -1;
}

void ss_banded_whiten(const ss_banded *L, double *X, int k)
{
    for (int j = 0; j < L->n; j++) {
        const double *column = ss_banded_at(L, j, j);
        double *restrict row = X + (size_t)j * (size_t)k;
        for (int c = 0; c < k; c++) {
            row[c] *= L->inverse[j];
        }
        for (int i = 1; i <= depth(L, j); i++) {
            double *restrict other = row + (size_t)i * (size_t)k;
            for (int c = 0; c < k; c++) {
                other[c] -= column[i] * row[c];
            }
        }
    }
}

void ss_banded_unwhiten(const ss_banded *L, double *X, int k)
{
    for (int j = L->n - 1; j >= 0; j--) {
        const double *column = ss_banded_at(L, j, j);
        double *restrict row = X + (size_t)j * (size_t)k;
        for (int i = 1; i <= depth(L, j); i++) {
            const double *restrict other = row + (size_t)i * (size_t)k;
            for (int c = 0; c < k; c++) {
                row[c] -= column[i] * other[c];
            }
        }
        for (int c = 0; c < k; c++) {
            row[c] *= L->inverse[j];
        }
    }
}

// ---- Four vectors

static inline void forward_four(const ss_banded *const L[4], int half, int j, double *const x[4])
{
    for (int b = 0; b < 4; b++) {
        const int top = j < half ? j : half;
        const double *entry = ss_banded_at(L[b], j, j - top);
        double sum = x[b][j];
        for (int i = top; i >= 1; i--, entry += L[b]->half) {
            sum -= *entry * x[b][j - i];
        }
        x[b][j] = sum * L[b]->inverse[j];
    }
}

static inline void backward_four(const ss_banded *const L[4], int below, int j, double *const x[4])
{
    double sum[4] = {x[0][j], x[1][j], x[2][j], x[3][j]};
    const double *column[4] = {ss_banded_at(L[0], j, j), ss_banded_at(L[1], j, j),
                               ss_banded_at(L[2], j, j), ss_banded_at(L[3], j, j)};
    for (int i = 1; i <= below; i++) {
        for (int b = 0; b < 4; b++) {
            sum[b] -= column[b][i] * x[b][j + i];
        }
    }
    for (int b = 0; b < 4; b++) {
        x[b][j] = sum[b] * L[b]->inverse[j];
    }
}

void ss_banded_solve_four(const ss_banded *const L[4], double *const x[4])
{
    const int n = L[0]->n, half = L[0]->half;
    for (int j = 0; j < n; j++) {
        forward_four(L, half, j, x);
    }
    for (int j = n - 1; j >= 0; j--) {
        backward_four(L, depth(L[0], j), j, x);
    }
}

// ---- Rows
//
// Each row waits for its own last entry: rows are taken together, and the columns' length is a constant
// where it is that of a rod or of a lifted curl.
#define HALF_OF_RODS  10
#define HALF_OF_CURLS 11

static inline void forward(const ss_banded *L, int half, int j, int rows, size_t length, double *x)
{
    const double *column = ss_banded_at(L, j, j);
    for (int c = 0; c < rows; c++) {
        double *at = x + (size_t)c * length + j;
        at[0] *= L->inverse[j];
        for (int i = 1; i <= half; i++) {
            at[i] -= column[i] * at[0];
        }
    }
}

static inline void backward(const ss_banded *L, int half, int j, int rows, size_t length, double *x)
{
    const double *column = ss_banded_at(L, j, j);
    for (int c = 0; c < rows; c++) {
        double *at = x + (size_t)c * length + j, sum = at[0];
        for (int i = half; i >= 1; i--) { // the entry that is computed last comes last
            sum -= column[i] * at[i];
        }
        at[0] = sum * L->inverse[j];
    }
}

static inline void solve_rows(const ss_banded *L, int half, int first, int rows, size_t length,
                              double *x)
{
    const int whole = L->n - L->half; // columns of full depth
    for (int j = first; j < whole; j++) {
        forward(L, half, j, rows, length, x);
    }
    for (int j = first > whole ? first : whole > 0 ? whole : 0; j < L->n; j++) {
        forward(L, depth(L, j), j, rows, length, x);
    }
    for (int j = L->n - 1; j >= 0 && j >= whole; j--) {
        backward(L, depth(L, j), j, rows, length, x);
    }
    for (int j = whole - 1; j >= 0; j--) {
        backward(L, half, j, rows, length, x);
    }
}

// Three rows side by side, the same operations in the same order: vectors of four hold an entry of each.
#define THREE     3
#define SIDE_BY   512 // entries of a row, at most
#define FOUR_WIDE 4
typedef double four __attribute__((vector_size(8 * FOUR_WIDE)));

// X_j without what the `above` entries before it put on it, over the diagonal.
static inline void forward_three(const ss_banded *L, int above, int j, four *X)
{
    const double *entry = ss_banded_at(L, j, j - above);
    four sum = X[j];
    for (int i = above; i >= 1; i--, entry += L->half) {
        sum -= *entry * X[j - i];
    }
    X[j] = sum * L->inverse[j];
}

static inline void backward_three(const ss_banded *L, int below, int j, four *X)
{
    const double *column = ss_banded_at(L, j, j);
    four sum = X[j];
    for (int i = below; i >= 1; i--) {
        sum -= column[i] * X[j + i];
    }
    X[j] = sum * L->inverse[j];
}

static inline void solve_three(const ss_banded *L, int half, int first, four *X)
{
    const int n = L->n, whole = n - half;
    for (int j = first; j < n && j - first < half; j++) {
        forward_three(L, j - first, j, X);
    }
    for (int j = first + half; j < n; j++) {
        forward_three(L, half, j, X);
    }
    for (int j = n - 1; j >= whole && j >= 0; j--) {
        backward_three(L, n - 1 - j, j, X);
    }
    for (int j = whole - 1; j >= 0; j--) {
        backward_three(L, half, j, X);
    }
}

static void solve_side_by_side(const ss_banded *L, int first, size_t length, double *x)
{
    four X[SIDE_BY];
    for (int j = 0; j < L->n; j++) {
        X[j] = j < first ? (four){0.0}
                         : (four){x[j], x[length + (size_t)j], x[2 * length + (size_t)j], 0.0};
    }
    if (L->half == HALF_OF_RODS) {
        solve_three(L, HALF_OF_RODS, first, X);
    } else if (L->half == HALF_OF_CURLS) {
        solve_three(L, HALF_OF_CURLS, first, X);
    } else {
        solve_three(L, L->half, first, X);
    }
    for (int j = 0; j < L->n; j++) {
        for (int c = 0; c < THREE; c++) {
            x[(size_t)c * length + (size_t)j] = X[j][c];
        }
    }
}

void ss_banded_solve_rows(const ss_banded *L, int first, int k, size_t length, double *x)
{
    if (k == THREE && L->n <= SIDE_BY) {
        solve_side_by_side(L, first, length, x);
    } else {
        solve_rows(L, L->half, first, k, length, x);
    }
}

// ---- The inverse

static double entry(const ss_banded *Z, int i, int k)
{
    return i >= k ? *ss_banded_at(Z, i, k) : *ss_banded_at(Z, k, i);
}

void ss_banded_inverse(const ss_banded *L, ss_banded *Z)
{
    for (int j = L->n - 1; j >= 0; j--) {
        const double *column = ss_banded_at(L, j, j);
        const int below = depth(L, j);
        double *z = ss_banded_at(Z, j, j), sum = 0.0;
        for (int i = 1; i <= below; i++) {
            z[i] = 0.0;
            for (int k = 1; k <= below; k++) {
                z[i] -= column[k] * entry(Z, j + i, j + k);
            }
            z[i] *= L->inverse[j];
            sum += column[i] * z[i];
        }
        z[0] = L->inverse[j] * (L->inverse[j] - sum);
    }
}
