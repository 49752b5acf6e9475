#include "problems/certificate_rows.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "problems/certificate.h"

void ss_contact_rows_free(ss_contact_rows *rows)
{
    free(rows->start);
    free(rows->row);
    free(rows->A);
    free(rows->size);
    free(rows->root);
}

// D_jj, 1 where it is not positive.
static double diagonal(const ss_sparse *D, int j)
{
    for (int k = D->start[j]; k < D->start[j + 1]; k++) {
        if (D->row[k] == j && D->x[k] > 0.0) {
            return D->x[k];
        }
    }
    return 1.0;
}

// The rows of contact i: the d columns of A as one list. Returns the next free place.
static int merge_columns(const ss_sparse *A, const ss_contact_rows *rows, int i, int at)
{
    int next[3];
    for (int c = 0; c < rows->d; c++) {
        next[c] = A->start[rows->d * i + c];
    }
    for (;;) {
        int row = INT_MAX;
        for (int c = 0; c < rows->d; c++) {
            const bool left = next[c] < A->start[rows->d * i + c + 1];
            row = left && A->row[next[c]] < row ? A->row[next[c]] : row;
        }
        if (row == INT_MAX) {
            return at;
        }
        rows->row[at] = row;
        for (int c = 0; c < rows->d; c++) {
            const bool here = next[c] < A->start[rows->d * i + c + 1] && A->row[next[c]] == row;
            rows->A[rows->d * at + c] = here ? A->x[next[c]++] / rows->root[row] : 0.0;
        }
        at++;
    }
}

static void measure_rows(const ss_problem *p, ss_contact_rows *rows)
{
    double sum = 0.0, f = 0.0;
    for (int i = 0; i < rows->n; i++) {
        double square = 0.0;
        for (int k = rows->start[i]; k < rows->start[i + 1]; k++) {
            square += rows->A[rows->d * k] * rows->A[rows->d * k];
        }
        rows->size[i] = sqrt(square);
        sum += rows->size[i];
    }
    for (int i = 0; i < rows->n; i++) {
        if (!(rows->size[i] > 0.0)) {
            rows->size[i] = sum > 0.0 ? sum / rows->n : 1.0;
        }
        for (int c = 0; c < rows->d; c++) {
            rows->speed = fmax(rows->speed, fabs(rows->c[rows->d * i + c]) / rows->size[i]);
        }
    }
    for (int j = 0; p->form == SS_GLOBAL && j < rows->m; j++) {
        f += p->f[j] / rows->root[j] * (p->f[j] / rows->root[j]);
    }
    rows->speed = fmax(rows->speed, sqrt(f));
}

ss_status ss_contact_rows_new(const ss_problem *p, ss_contact_rows *rows, ss_error *e)
{
    *rows = (ss_contact_rows){.d = p->dim, .n = p->ncontacts, .mu = p->mu};
    const bool global = p->form == SS_GLOBAL;
    const ss_sparse *D = global ? &p->M : &p->W;
    ss_sparse turned = {0};
    ss_status status = global ? SS_OK : ss_sparse_transpose(&p->W, &turned, e);
    if (status != SS_OK) {
        return status;
    }
    const ss_sparse *A = global ? &p->H : &turned;
    const size_t count = (size_t)ss_sparse_count(A) + 1;
    rows->c = global ? p->w : p->b;
    rows->m = A->nrows;
    rows->start = calloc((size_t)rows->n + 1, sizeof *rows->start);
    rows->row = malloc(count * sizeof *rows->row);
    rows->A = malloc(count * (size_t)rows->d * sizeof *rows->A);
    rows->size = malloc((size_t)rows->n * sizeof *rows->size);
    rows->root = malloc(((size_t)rows->m + 1) * sizeof *rows->root);
    if (rows->start == NULL || rows->row == NULL || rows->A == NULL || rows->size == NULL ||
        rows->root == NULL) {
        status = ss_fail_memory(e, "a certificate");
    } else {
        for (int j = 0; j < rows->m; j++) {
            rows->root[j] = sqrt(diagonal(D, j));
        }
        for (int i = 0; i < rows->n; i++) {
            rows->start[i + 1] = merge_columns(A, rows, i, rows->start[i]);
        }
        measure_rows(p, rows);
    }
    ss_sparse_free(&turned);
    return status;
}

// ---- The two checks

// max |x|; NaN if one of them is.
static double largest_of(const double *x, int n)
{
    double largest = 0.0;
    for (int j = 0; j < n; j++) {
        largest = fabs(x[j]) <= largest ? largest : fabs(x[j]);
    }
    return largest;
}

// |x|_2, where no square overflows or vanishes.
static double length_of(const double *x, int n)
{
    const double largest = largest_of(x, n);
    double square = 0.0;
    for (int j = 0; largest > 0.0 && j < n; j++) {
        square += x[j] / largest * (x[j] / largest);
    }
    return largest * sqrt(square);
}

double ss_contact_rows_reach(const ss_contact_rows *rows, const double *lambda, double *out)
{
    const double size = largest_of(lambda, rows->n); // the reach does not depend on it
    double along = 0.0;
    memset(out, 0, (size_t)rows->m * sizeof *out);
    for (int i = 0; i < rows->n; i++) {
        const double share = lambda[i] / size;
        along += rows->c[rows->d * i] * share;
        for (int k = rows->start[i]; k < rows->start[i + 1]; k++) {
            out[rows->row[k]] += rows->A[rows->d * k] * share;
        }
    }
    return -along / length_of(out, rows->m) / rows->speed;
}

double ss_contact_rows_margin(const ss_contact_rows *rows, const double *x)
{
    double least = INFINITY;
    for (int i = 0; i < rows->n; i++) {
        double u[3] = {0.0, 0.0, 0.0}, terms = 0.0;
        for (int c = 0; c < rows->d; c++) {
            u[c] = rows->c[rows->d * i + c];
            terms += fabs(u[c]);
            for (int k = rows->start[i]; k < rows->start[i + 1]; k++) {
                const double term = rows->A[rows->d * k + c] * x[rows->row[k]];
                u[c] += term;
                terms += fabs(term);
            }
        }
        const double depth = u[0] - rows->mu[i] * sqrt(u[1] * u[1] + u[2] * u[2]);
        const double margin = terms > 0.0 ? depth / terms : 0.0;
        least = margin >= least ? least : margin;
    }
    return least;
}

ss_status ss_certificate_margin(const ss_problem *p, const double *x, double *margin, ss_error *e)
{
    ss_contact_rows a;
    ss_status status = ss_contact_rows_new(p, &a, e);
    double *scaled = status == SS_OK ? malloc(((size_t)a.m + 1) * sizeof *scaled) : NULL;
    if (status == SS_OK && scaled == NULL) {
        status = ss_fail_memory(e, "a certificate");
    }
    for (int j = 0; status == SS_OK && j < a.m; j++) {
        scaled[j] = x[j] * a.root[j];
    }
    *margin = status == SS_OK ? ss_contact_rows_margin(&a, scaled) : -1.0;
    free(scaled);
    ss_contact_rows_free(&a);
    return status;
}
