// problems/matrix/long_products.c -- columns that are alike, or follow each other, taken together.
#include "problems/matrix/long_products.h"

#include "base/assert.h"
#include "problems/matrix/mass.h"

#include <math.h>

#define RUNS  4 // columns of a body that are taken together
#define ALIKE 3 // columns of a contact that are taken together

static int count_of(const ss_sparse *A, int j)
{
    return A->start[j + 1] - A->start[j];
}

// Returns whether the rows of column j follow each other without a hole.
static bool is_run(const ss_sparse *A, int j)
{
    const int *row = A->row + A->start[j];
    const int count = count_of(A, j);
    return count > 0 && row[count - 1] - row[0] == count - 1;
}

static bool are_runs(const ss_sparse *A, int j, int end)
{
    bool runs = j + RUNS <= end;
    for (int c = 0; runs && c < RUNS; c++) {
        runs = is_run(A, j + c);
    }
    return runs;
}

// Returns whether columns j, j + 1 and j + 2, below `end`, have the same rows.
static bool are_alike(const ss_sparse *A, int j, int end)
{
    return j + ALIKE <= end && ss_alike_columns(A, j, ALIKE);
}

// ---- y += sign A x

static void add_entries(const ss_sparse *A, int begin, int end, long double x, long double *y)
{
    for (int k = begin; k < end; k++) {
        y[A->row[k]] += A->x[k] * x;
    }
}

// Adds columns j .. j + 3, which are runs. Rows that all of them have are from `top` to `bottom`;
// above and below each column is added by itself.
static void add_runs(const ss_sparse *A, int j, double sign, const double *x, long double *y)
{
    int top = 0, bottom = A->nrows;
    for (int c = 0; c < RUNS; c++) {
        const int first = A->row[A->start[j + c]], end = first + count_of(A, j + c);
        top = first > top ? first : top;
        bottom = end < bottom ? end : bottom;
    }
    bottom = bottom > top ? bottom : top;
    const double *a[RUNS]; // at row 0
    long double xj[RUNS];
    for (int c = 0; c < RUNS; c++) {
        const int begin = A->start[j + c], first = A->row[begin];
        const int last = top - first < count_of(A, j + c) ? top - first : count_of(A, j + c);
        xj[c] = sign * x[j + c];
        a[c] = A->x + begin;
        add_entries(A, begin, begin + last, xj[c], y);
        a[c] += last;
    }
    const long double x0 = xj[0], x1 = xj[1], x2 = xj[2], x3 = xj[3];
    for (int i = 0; i < bottom - top; i++) {
        long double sum = y[top + i];
        sum += a[0][i] * x0;
        sum += a[1][i] * x1;
        sum += a[2][i] * x2;
        sum += a[3][i] * x3;
        y[top + i] = sum;
    }
    for (int c = 0; c < RUNS; c++) {
        const int begin = (int)(a[c] - A->x) + bottom - top;
        add_entries(A, begin, A->start[j + c + 1], xj[c], y);
    }
}

// Adds columns j, j + 1 and j + 2, which are alike.
static void add_alike(const ss_sparse *A, int j, double sign, const double *x, long double *y)
{
    const double *a = A->x + A->start[j], *b = A->x + A->start[j + 1], *c = A->x + A->start[j + 2];
    const int *row = A->row + A->start[j];
    const long double x0 = sign * x[j], x1 = sign * x[j + 1], x2 = sign * x[j + 2];
    for (int k = 0; k < count_of(A, j); k++) {
        long double sum = y[row[k]];
        sum += a[k] * x0;
        sum += b[k] * x1;
        sum += c[k] * x2;
        y[row[k]] = sum;
    }
}

void ss_long_add_columns(const ss_sparse *A, int first, int end, double sign, const double *x,
                         long double *y)
{
    int j = first;
    while (j < end) {
        if (x[j] == 0.0) {
            j++;
        } else if (are_runs(A, j, end)) {
            add_runs(A, j, sign, x, y);
            j += RUNS;
        } else if (are_alike(A, j, end)) {
            add_alike(A, j, sign, x, y);
            j += ALIKE;
        } else {
            add_entries(A, A->start[j], A->start[j + 1], sign * x[j], y);
            j++;
        }
    }
}

void ss_long_add_product(const ss_sparse *A, double sign, const double *x, long double *y)
{
    ss_long_add_columns(A, 0, A->ncols, sign, x, y);
}

// ---- A' x

// Writes u of `count` columns from j on with the same rows, and returns the largest of their
// bounds, or 0 where there are no shares.
static inline double column_sums(const ss_sparse *A, int j, int count, const long double *x,
                                 const double *w, const double *shares, double *u)
{
    const int *start = A->start + j, *row = A->row + start[0];
    long double sums[ALIKE];
    double bounds[ALIKE] = {0.0}, largest = 0.0;
    for (int c = 0; c < count; c++) {
        sums[c] = w[j + c];
    }
    for (int k = 0; k < start[1] - start[0]; k++) {
        const long double xk = x[row[k]];
        const double share = shares != NULL ? shares[row[k]] : 0.0;
        for (int c = 0; c < count; c++) {
            sums[c] += A->x[start[c] + k] * xk;
            bounds[c] += fabs(A->x[start[c] + k]) * share;
        }
    }
    for (int c = 0; c < count; c++) {
        u[j + c] = (double)sums[c];
        largest = bounds[c] > largest ? bounds[c] : largest;
    }
    return largest;
}

double ss_long_transposed_bounded(const ss_sparse *A, int first, int end, const long double *x,
                                  const double *w, const double *shares, double *u)
{
    double largest = 0.0;
    int j = first;
    ss_assert(0 <= first && first <= end && end <= A->ncols);
    while (j < end) {
        const bool alike = are_alike(A, j, end);
        const double bound = alike ? column_sums(A, j, ALIKE, x, w, shares, u)
                                   : column_sums(A, j, 1, x, w, shares, u);
        largest = bound > largest ? bound : largest;
        j += alike ? ALIKE : 1;
    }
    return largest;
}

void ss_long_transposed_product(const ss_sparse *A, const long double *x, const double *w,
                                double *u)
{
    ss_long_transposed_bounded(A, 0, A->ncols, x, w, NULL, u);
}
