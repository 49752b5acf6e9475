// problems/matrix/banded.c -- factors of band matrices, solutions of several kinds, and the inverse
// in the band.
#include "problems/matrix/banded.h"

#include "base/assert.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool ss_banded_init(ss_banded *A, int n, int half)
{
    ss_assert(n >= 0 && 0 <= half && half <= SS_BANDED_WIDEST);
    const size_t entries = (size_t)n * (size_t)(half + 1);
    *A = (ss_banded){.n = n, .half = half, .x = calloc(entries + (size_t)n, sizeof *A->x)};
    if (A->x == NULL) {
        return false;
    }
    A->inverse = A->x + entries;
    return true;
}

void ss_banded_free(ss_banded *A)
{
    free(A->x);
    *A = (ss_banded){0};
}

// Returns how many entries column j has below its diagonal.
static inline int depth(const ss_banded *A, int j)
{
    return A->n - 1 - j < A->half ? A->n - 1 - j : A->half;
}

int ss_banded_factor(ss_banded *A, int terms)
{
    for (int j = 0; j < A->n; j++) {
        A->inverse[j] = *ss_banded_at(A, j, j); // holds the diagonal of M until its turn
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
        ss_band_take(column, A->half, below);
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

// ---- Several bands

// Callers pass a constant `count`.
static inline void forward_several(int count, const ss_banded *const *L, int half, int j,
                                   double *const *x)
{
    const int top = j < half ? j : half;
    double sum[SS_BANDED_SEVERAL];
    const double *entry[SS_BANDED_SEVERAL];
    for (int b = 0; b < count; b++) {
        sum[b] = x[b][j];
        entry[b] = ss_banded_at(L[b], j, j - top);
    }
    for (int i = top; i >= 1; i--) {
        for (int b = 0; b < count; b++) {
            sum[b] -= entry[b][(top - i) * half] * x[b][j - i];
        }
    }
    for (int b = 0; b < count; b++) {
        x[b][j] = sum[b] * L[b]->inverse[j];
    }
}

static inline void backward_several(int count, const ss_banded *const *L, int below, int j,
                                    double *const *x)
{
    double sum[SS_BANDED_SEVERAL];
    const double *column[SS_BANDED_SEVERAL];
    for (int b = 0; b < count; b++) {
        sum[b] = x[b][j];
        column[b] = ss_banded_at(L[b], j, j);
    }
    for (int i = 1; i <= below; i++) {
        for (int b = 0; b < count; b++) {
            sum[b] -= column[b][i] * x[b][j + i];
        }
    }
    for (int b = 0; b < count; b++) {
        x[b][j] = sum[b] * L[b]->inverse[j];
    }
}

static inline void solve_several(int count, const ss_banded *const *L, double *const *x)
{
    const int n = L[0]->n, half = L[0]->half;
    for (int j = 0; j < n; j++) {
        forward_several(count, L, half, j, x);
    }
    for (int j = n - 1; j >= 0; j--) {
        backward_several(count, L, depth(L[0], j), j, x);
    }
}

void ss_banded_solve_several(int count, const ss_banded *const *L, double *const *x)
{
    while (count >= SS_BANDED_SEVERAL) {
        solve_several(SS_BANDED_SEVERAL, L, x);
        count -= SS_BANDED_SEVERAL;
        L += SS_BANDED_SEVERAL;
        x += SS_BANDED_SEVERAL;
    }
    for (int b = 0; b < count; b++) {
        solve_several(1, L + b, x + b);
    }
}

// ---- Rows
//
// The rows are the lanes of a vector. The entries found last stand in a window, the newest at its
// end. A sum runs from the oldest, so that it waits for the newest as late as possible.
typedef double four __attribute__((vector_size(32)));
#define SPAN          64 // entries between two moves of the window
#define HALF_OF_RODS  10 // the length of loops is a constant for rods and for lifted curls
#define HALF_OF_CURLS 11

// Returns at - sum over i = depth .. 1 of base[i stride] window[-i].
static inline four settle(const double *base, ptrdiff_t stride, int depth, four at,
                          const four *window)
{
    for (int i = depth; i >= 1; i--) {
        at -= base[i * stride] * window[-i];
    }
    return at;
}

static inline four take_row(const double *x, int rows, size_t length)
{
    four at = {x[0], 0.0, 0.0, 0.0};
    for (int c = 1; c < rows; c++) {
        at[c] = x[(size_t)c * length];
    }
    return at;
}

// Finds entries j = from, from + way, .. of all rows, `count` of them; entry j needs the `half`
// before it.
static inline void substitute(const ss_banded *L, int half, int from, int way, int count, int rows,
                              size_t length, double *x)
{
    four room[SS_BANDED_WIDEST + SPAN];
    const ptrdiff_t stride = way > 0 ? -half : 1;
    for (int done = 0; done < count; done += SPAN) {
        const int end = count - done < SPAN ? count - done : SPAN;
        for (int k = 0; k < end; k++) {
            const int j = from + way * (done + k);
            const double *base = ss_banded_at(L, j, j);
            four *window = room + SS_BANDED_WIDEST + k, at = take_row(x + j, rows, length);
            at = done + k >= half ? settle(base, stride, half, at, window)
                                  : settle(base, stride, done + k, at, window);
            *window = at *= L->inverse[j];
            for (int c = 0; c < rows; c++) {
                x[(size_t)c * length + (size_t)j] = at[c];
            }
        }
        memcpy(room, room + SPAN, SS_BANDED_WIDEST * sizeof *room);
    }
}

static inline void solve_rows(const ss_banded *L, int half, int first, int rows, size_t length,
                              double *x)
{
    substitute(L, half, first, 1, L->n - first, rows, length, x);
    substitute(L, half, L->n - 1, -1, L->n, rows, length, x);
}

// Callers pass a constant k.
static inline void solve_any(const ss_banded *L, int first, int k, size_t length, double *x)
{
    if (L->half == HALF_OF_RODS) {
        solve_rows(L, HALF_OF_RODS, first, k, length, x);
    } else if (L->half == HALF_OF_CURLS) {
        solve_rows(L, HALF_OF_CURLS, first, k, length, x);
    } else {
        solve_rows(L, L->half, first, k, length, x);
    }
}

void ss_banded_solve_rows(const ss_banded *L, int first, int k, size_t length, double *x)
{
    ss_assert(1 <= k && k <= 3 && (size_t)L->n <= length);
    if (k == 3) {
        solve_any(L, first, 3, length, x);
    } else if (k == 1) {
        solve_any(L, first, 1, length, x);
    } else {
        solve_any(L, first, k, length, x);
    }
}

// ---- Lanes

typedef double eight __attribute__((vector_size(64), aligned(8)));
#define EIGHT 8

// Finds row j of `groups` vectors: at -= base[i stride] x row j - way i over i = depth .. 1, then a
// factor. A sum waits for each of its terms; several groups use that time.
static inline void settle_lanes(const double *base, ptrdiff_t stride, int depth, double inverse,
                                ptrdiff_t back, int groups, double *row)
{
    eight at[SS_BANDED_LANES / EIGHT];
    for (int g = 0; g < groups; g++) {
        at[g] = *(const eight *)(row + EIGHT * g);
    }
    for (int i = depth; i >= 1; i--) {
        const double *before = row + i * back;
        for (int g = 0; g < groups; g++) {
            at[g] -= base[i * stride] * *(const eight *)(before + EIGHT * g);
        }
    }
    for (int g = 0; g < groups; g++) {
        *(eight *)(row + EIGHT * g) = at[g] * inverse;
    }
}

static inline void solve_lanes(const ss_banded *L, int half, int first, int groups, double *X)
{
    const ptrdiff_t width = EIGHT * groups;
    for (int j = first; j < L->n; j++) {
        const double *base = ss_banded_at(L, j, j), inverse = L->inverse[j];
        double *row = X + j * width;
        if (j - first >= half) {
            settle_lanes(base, -half, half, inverse, -width, groups, row);
        } else {
            settle_lanes(base, -half, j - first, inverse, -width, groups, row);
        }
    }
    for (int j = L->n - 1; j >= 0; j--) {
        const double *base = ss_banded_at(L, j, j), inverse = L->inverse[j];
        double *row = X + j * width;
        if (L->n - 1 - j >= half) {
            settle_lanes(base, 1, half, inverse, width, groups, row);
        } else {
            settle_lanes(base, 1, L->n - 1 - j, inverse, width, groups, row);
        }
    }
}

// Callers pass a constant `groups`.
static inline void solve_any_lanes(const ss_banded *L, int first, int groups, double *X)
{
    if (L->half == HALF_OF_RODS) {
        solve_lanes(L, HALF_OF_RODS, first, groups, X);
    } else if (L->half == HALF_OF_CURLS) {
        solve_lanes(L, HALF_OF_CURLS, first, groups, X);
    } else {
        solve_lanes(L, L->half, first, groups, X);
    }
}

void ss_banded_solve_lanes(const ss_banded *L, int first, int lanes, double *X)
{
    ss_assert(lanes == EIGHT || lanes == 2 * EIGHT || lanes == SS_BANDED_LANES);
    if (lanes == EIGHT) {
        solve_any_lanes(L, first, 1, X);
    } else if (lanes == 2 * EIGHT) {
        solve_any_lanes(L, first, 2, X);
    } else {
        solve_any_lanes(L, first, 3, X);
    }
}

// ---- The inverse

// Rows of Z, both sides of the diagonal, from row j on: column c of row i is at place c - i + half.
#define ROWS                                                                                       \
    32 // number of rows that are kept, more than a band is wide; row i stands in i mod ROWS
#define PLACE (3 * SS_BANDED_WIDEST)

// Finds column j below the diagonal, a sum of columns that were found before it. The newest comes
// last in the sum, so that the others need not wait for it.
static inline void find_column(const ss_banded *L, int j, int below, double (*rows)[PLACE],
                               double *z)
{
    const double *column = ss_banded_at(L, j, j);
    eight sum[2] = {{0}, {0}}, product[2];
    for (int k = below; k >= 1; k--) {
        const double *row = rows[(j + k) % ROWS] + L->half + 1 - k;
        sum[0] -= column[k] * *(const eight *)row;
        sum[1] -= column[k] * *(const eight *)(row + EIGHT);
    }
    double known[2 * EIGHT] = {0.0};
    memcpy(known, column + 1, (size_t)below * sizeof *known);
    for (int g = 0; g < 2; g++) {
        sum[g] *= L->inverse[j];
        memcpy(z + 1 + EIGHT * g, &sum[g], sizeof sum[g]);
        product[g] = *(const eight *)(known + EIGHT * g) * sum[g];
    }
    const eight all = product[0] + product[1];
    const double half[4] = {all[0] + all[4], all[1] + all[5], all[2] + all[6], all[3] + all[7]};
    z[0] = L->inverse[j] * (L->inverse[j] - ((half[0] + half[2]) + (half[1] + half[3])));
}

void ss_banded_inverse(const ss_banded *L, ss_banded *Z)
{
    ss_assert(Z->n == L->n && Z->half == L->half);
    double rows[ROWS][PLACE] = {{0.0}}, z[2 * EIGHT + 1];
    const int half = L->half;
    for (int j = L->n - 1; j >= 0; j--) {
        const int below = depth(L, j);
        find_column(L, j, below, rows, z);
        double *row = rows[j % ROWS] + half;
        for (int i = 0; i <= below; i++) {
            row[i] = z[i];
            rows[(j + i) % ROWS][half - i] = z[i];
        }
        memcpy(ss_banded_at(Z, j, j), z, (size_t)(below + 1) * sizeof *z);
    }
}
