#include "problems/matrix/sparse_factor.h"

#include <stdlib.h>
#include <string.h>
#include <suitesparse/cholmod.h>

#include "problems/matrix/dense.h"
#include "problems/matrix/mass.h"

// The upper triangle of M[dofs, dofs].
static cholmod_sparse *gather_upper(const ss_sparse *M, int m, const int *dofs, const int *place,
                                    cholmod_common *common)
{
    size_t count = 0;
    for (int c = 0; c < m; c++) {
        count += (size_t)(M->start[dofs[c] + 1] - M->start[dofs[c]]);
    }
    cholmod_sparse *A =
        cholmod_allocate_sparse((size_t)m, (size_t)m, count, 1, 1, 1, CHOLMOD_REAL, common);
    if (A == NULL) {
        return NULL;
    }
    int *start = A->p, *row = A->i, filled = 0;
    double *x = A->x;
    for (int c = 0; c < m; c++) {
        start[c] = filled;
        for (int k = M->start[dofs[c]]; k < M->start[dofs[c] + 1]; k++) {
            if (place[M->row[k]] <= c) {
                row[filled] = place[M->row[k]];
                x[filled++] = M->x[k];
            }
        }
    }
    start[m] = filled;
    return A;
}

static bool reorder(int m, const int *order, int *dofs, int *place)
{
    int *old = malloc((size_t)m * sizeof *old);
    if (old == NULL) {
        return false;
    }
    memcpy(old, dofs, (size_t)m * sizeof *old);
    for (int c = 0; c < m; c++) {
        dofs[c] = old[order[c]];
        place[dofs[c]] = c;
    }
    free(old);
    return true;
}

// A copy of CHOLMOD's factor.
static bool take_factor(int m, cholmod_factor *factor, ss_sparse *L, cholmod_common *common)
{
    cholmod_sparse *columns = cholmod_factor_to_sparse(factor, common);
    if (columns == NULL) {
        return false;
    }
    const size_t count = (size_t)((int *)columns->p)[m];
    *L = (ss_sparse){m, m, malloc(((size_t)m + 1) * sizeof *L->start),
                     malloc(count * sizeof *L->row), malloc(count * sizeof *L->x)};
    const bool ok = L->start != NULL && L->row != NULL && L->x != NULL;
    if (ok) {
        memcpy(L->start, columns->p, ((size_t)m + 1) * sizeof *L->start);
        memcpy(L->row, columns->i, count * sizeof *L->row);
        memcpy(L->x, columns->x, count * sizeof *L->x);
    }
    cholmod_free_sparse(&columns, common);
    return ok;
}

// CHOLMOD takes any pivot above zero, and a NaN. Returns the dof of the failing column, or -1. Rows of a
// sparse factor are short: they are given the subtractions of the largest dense one.
static int find_broken_pivot(const ss_sparse *M, const int *dofs, const ss_sparse *L)
{
    for (int c = 0; c < L->ncols; c++) {
        const double root = L->x[L->start[c]];
        for (int k = M->start[dofs[c]]; k < M->start[dofs[c] + 1]; k++) {
            if (M->row[k] == dofs[c] &&
                !ss_dense_pivot_is_sound(root * root, SS_DENSE_BODY, M->x[k])) {
                return dofs[c];
            }
        }
    }
    return -1;
}

ss_status ss_sparse_factor(const ss_sparse *M, int m, int *dofs, int *place, ss_sparse *L,
                           int *broken, ss_error *e)
{
    cholmod_common common;
    cholmod_start(&common);
    common.print = 0;
    common.nmethods = 1; // one fixed order, so that a problem has one factor
    common.method[0].ordering = CHOLMOD_AMD;
    common.supernodal = CHOLMOD_SIMPLICIAL; // no BLAS: the same bits on every CPU
    common.final_ll = 1;
    cholmod_sparse *A = gather_upper(M, m, dofs, place, &common);
    cholmod_factor *factor = A != NULL ? cholmod_analyze(A, &common) : NULL;
    ss_status status = SS_OK;
    *broken = -1;
    if (factor == NULL || !cholmod_factorize(A, factor, &common) || common.status < CHOLMOD_OK) {
        status = ss_fail_memory(e, "the factor of M");
    } else if (common.status == CHOLMOD_NOT_POSDEF || factor->minor < factor->n) {
        const int *order = factor->Perm; // minor is n where no column broke down
        *broken = dofs[order[factor->minor < factor->n ? factor->minor : factor->n - 1]];
    } else if (!reorder(m, factor->Perm, dofs, place) || !take_factor(m, factor, L, &common)) {
        status = ss_fail_memory(e, "the factor of M");
    } else {
        *broken = find_broken_pivot(M, dofs, L);
    }
    cholmod_free_factor(&factor, &common);
    cholmod_free_sparse(&A, &common);
    cholmod_finish(&common);
    return status;
}

// Whether M couples no dof to another one. Such a factor often has many dofs.
static bool is_diagonal(const ss_sparse *L)
{
    return L->start[L->ncols] == L->ncols;
}

static void divide_rows(const ss_sparse *L, double *X, int k)
{
    if (k == 1) {
        for (int j = 0; j < L->ncols; j++) {
            X[j] /= L->x[j];
        }
        return;
    }
    for (int j = 0; j < L->ncols; j++) {
        ss_dense_divide(X + (size_t)j * (size_t)k, L->x[j], k);
    }
}

void ss_sparse_factor_whiten(const ss_sparse *L, double *X, int k)
{
    if (is_diagonal(L)) {
        divide_rows(L, X, k);
        return;
    }
    for (int j = 0; j < L->ncols; j++) {
        double *row = X + (size_t)j * (size_t)k;
        ss_dense_divide(row, L->x[L->start[j]], k);
        for (int s = L->start[j] + 1; s < L->start[j + 1]; s++) {
            ss_dense_subtract(X + (size_t)L->row[s] * (size_t)k, L->x[s], row, k);
        }
    }
}

void ss_sparse_factor_unwhiten(const ss_sparse *L, double *X, int k)
{
    if (is_diagonal(L)) {
        divide_rows(L, X, k);
        return;
    }
    for (int j = L->ncols - 1; j >= 0; j--) {
        double *row = X + (size_t)j * (size_t)k;
        for (int s = L->start[j] + 1; s < L->start[j + 1]; s++) {
            ss_dense_subtract(row, L->x[s], X + (size_t)L->row[s] * (size_t)k, k);
        }
        ss_dense_divide(row, L->x[L->start[j]], k);
    }
}
