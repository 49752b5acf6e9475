// tests/problems/test_long_products.c -- the same bits as a term at a time, whatever columns are taken together.
#include <stdlib.h>
#include <string.h>

#include "problems/matrix/long_products.h"
#include "base/random.h"
#include "tests/support/make_problem.h"
#include "tests/support/support.h"

static void add_by_terms(const ss_sparse *A, double sign, const double *x, long double *y)
{
    for (int j = 0; j < A->ncols; j++) {
        const long double xj = sign * x[j];
        for (int k = A->start[j]; k < A->start[j + 1]; k++) {
            y[A->row[k]] += A->x[k] * xj;
        }
    }
}

static void transpose_by_terms(const ss_sparse *A, const long double *x, const double *w, double *u)
{
    for (int j = 0; j < A->ncols; j++) {
        long double sum = w[j];
        for (int k = A->start[j]; k < A->start[j + 1]; k++) {
            sum += A->x[k] * x[A->row[k]];
        }
        u[j] = (double)sum;
    }
}

// Every third triple of x is zero, as of contacts that do not push.
static void check_matrix(const ss_sparse *A, ss_random *g)
{
    double *x = normal_values(g, A->ncols), *w = normal_values(g, A->ncols);
    double *start = normal_values(g, A->nrows);
    long double *y = malloc((size_t)A->nrows * sizeof *y),
                *expected = malloc((size_t)A->nrows * sizeof *y);
    double *u = malloc((size_t)A->ncols * sizeof *u), *known = malloc((size_t)A->ncols * sizeof *u);
    for (int j = 0; j < A->ncols; j++) {
        x[j] = j / 3 % 3 == 2 ? 0.0 : x[j];
    }
    for (int i = 0; i < A->nrows; i++) {
        y[i] = expected[i] = start[i];
    }
    ss_long_add_product(A, -1.0, x, y);
    add_by_terms(A, -1.0, x, expected);
    for (int i = 0; i < A->nrows; i++) {
        CHECK(y[i] == expected[i]);
    }
    ss_long_transposed_product(A, y, w, u);
    transpose_by_terms(A, y, w, known);
    for (int j = 0; j < A->ncols; j++) {
        CHECK(u[j] == known[j]);
    }
    free(x);
    free(w);
    free(start);
    free(y);
    free(expected);
    free(u);
    free(known);
}

static void check_problem(ss_problem *p)
{
    ss_random g = ss_random_seeded(7);
    check_matrix(&p->M, &g);
    check_matrix(&p->H, &g);
    ss_problem_free(p);
}

static void products_have_the_bits_of_single_terms(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        check_problem(random_problem(1, dim, 40, 9, 17));
        check_problem(random_strand_problem(2, dim, 30, 5, 19));
        check_problem(random_diagonal_problem(3, dim, 12, 5, 6));
    }
}

// Columns of one entry, of none, runs that do not meet, and a hole.
static void columns_of_any_shape(void)
{
    static const int ROWS[] = {0, 3, 1, 0, 1, 2, 3, 4, 5, 6, 7, 2, 4, 5, 6, 0, 7, 3, 5};
    static const int COLUMNS[] = {0, 1, 2, 3, 3, 3, 4, 5, 6, 6, 6, 8, 8, 9, 9, 10, 10, 11, 11};
    const int count = (int)(sizeof ROWS / sizeof ROWS[0]);
    ss_random g = ss_random_seeded(11);
    double *x = normal_values(&g, count);
    ss_sparse A;
    ss_error error;
    CHECK_OK(ss_sparse_from_triplets(&A, 8, 12, count, ROWS, COLUMNS, x, &error));
    check_matrix(&A, &g);
    ss_sparse_free(&A);
    free(x);
}

static void run_tests(void)
{
    RUN_TEST(products_have_the_bits_of_single_terms);
    RUN_TEST(columns_of_any_shape);
}

const test_group long_products_tests = {.run = run_tests};
