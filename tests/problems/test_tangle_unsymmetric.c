// tests/problems/test_tangle_unsymmetric.c -- the tangle with gyroscopic terms, against a dense oracle.
#include "problems/tangle/tangle.h"

#include <string.h>

#include <gsl/gsl_blas.h>
#include <gsl/gsl_linalg.h>

#include "tests/support/one_tangle.h"

// Recorded once; gcc and clang, -O0 to -O3 -march=native, agree on it.
#define GOLDEN "1bb0ad5ccba47c3daccc60336aaa91ff9e2b3462fc6e711521d247ca011bce15"

// W = H' L^-T (I - E K) L^-1 H with M = L L', dense.
static void dense_unsymmetric_W(double unsymmetry, gsl_matrix *W)
{
    const size_t m = (size_t)problem->ndofs, n = (size_t)problem->H.ncols;
    gsl_matrix *L = gsl_matrix_calloc(m, m), *G = gsl_matrix_calloc(m, n);
    gsl_matrix *turned = gsl_matrix_calloc(m, n);
    const ss_sparse *M = &problem->M, *H = &problem->H;
    for (size_t j = 0; j < m; j++) {
        for (int k = M->start[j]; k < M->start[j + 1]; k++) {
            gsl_matrix_set(L, (size_t)M->row[k], j, M->x[k]);
        }
    }
    gsl_linalg_cholesky_decomp1(L);
    for (size_t j = 0; j < n; j++) {
        for (int k = H->start[j]; k < H->start[j + 1]; k++) {
            gsl_matrix_set(G, (size_t)H->row[k], j, H->x[k]);
        }
    }
    gsl_blas_dtrsm(CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, 1.0, L, G);
    for (size_t i = 0; i < m; i++) {
        const double sign = i % 2 == 0 ? 1.0 : -1.0; // row i of K
        for (size_t j = 0; j < n; j++) {
            const double x = gsl_matrix_get(G, i, j);
            gsl_matrix_set(turned, i, j, x - unsymmetry * sign * gsl_matrix_get(G, i ^ 1, j));
        }
    }
    gsl_blas_dgemm(CblasTrans, CblasNoTrans, 1.0, G, turned, 0.0, W);
    gsl_matrix_free(turned);
    gsl_matrix_free(G);
    gsl_matrix_free(L);
}

static double entry(const ss_sparse *A, int i, int j)
{
    for (int k = A->start[j]; k < A->start[j + 1]; k++) {
        if (A->row[k] == i) {
            return A->x[k];
        }
    }
    return 0.0;
}

static void check_unsymmetric_W(const ss_problem *local, double unsymmetry)
{
    const size_t n = (size_t)local->W.ncols;
    gsl_matrix *W = gsl_matrix_alloc(n, n), *symmetric = gsl_matrix_alloc(n, n);
    dense_unsymmetric_W(unsymmetry, W);
    dense_unsymmetric_W(0.0, symmetric);
    double largest, lowest, skew = 0.0;
    gsl_matrix_minmax(W, &lowest, &largest);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            const double here = entry(&local->W, (int)i, (int)j);
            const double there = entry(&local->W, (int)j, (int)i);
            CHECK_NEAR(here, gsl_matrix_get(W, i, j), 1e-11 * largest);
            CHECK_NEAR(0.5 * (here + there), gsl_matrix_get(symmetric, i, j), 1e-11 * largest);
            skew = fmax(skew, fabs(here - there) / largest);
        }
    }
    CHECK_LE(0.2 * unsymmetry, skew);
    CHECK_LE(skew, 2.0 * unsymmetry);
    gsl_matrix_free(symmetric);
    gsl_matrix_free(W);
}

static void unsymmetric_problems_are_local_with_the_gyroscopic_w(void)
{
    settings.ncontacts = 40;
    settings.ends_per_rod = 16;
    settings.condition = 1e3;
    settings.warm = true;
    for (int dim = 2; dim <= 3; dim++) {
        settings.dim = dim;
        settings.unsymmetry = 0.0;
        make();
        ss_problem *symmetric, *local;
        CHECK_OK(ss_problem_to_local(problem, &symmetric, &error));
        settings.unsymmetry = 0.05;
        CHECK_OK(ss_tangle_new(&settings, &local, &error));
        CHECK(local->form == SS_LOCAL && local->ndofs == 0 && local->nguesses == 1);
        CHECK(local->M.x == NULL && local->f == NULL && local->provenance.seed == 1);
        const size_t n = (size_t)local->W.ncols;
        CHECK(n == (size_t)(40 * dim));
        CHECK(memcmp(local->b, symmetric->b, n * sizeof *local->b) == 0);
        CHECK(memcmp(local->guesses[0].r, problem->guesses[0].r, n * sizeof(double)) == 0);
        check_unsymmetric_W(local, settings.unsymmetry);
        ss_problem_free(local);
        ss_problem_free(symmetric);
    }
}

static void these_bits_are_the_same_everywhere(void)
{
    settings.ncontacts = 5000;
    settings.seed = 7;
    settings.condition = 1e6;
    settings.ground_share = 0.2;
    settings.unsymmetry = 0.1;
    make();
    char hex[65];
    ss_problem_sha256(problem, hex);
    TEST_ASSERT_EQUAL_STRING(GOLDEN, hex);
}

static void run_tests(void)
{
    RUN_TEST(unsymmetric_problems_are_local_with_the_gyroscopic_w);
    RUN_TEST(these_bits_are_the_same_everywhere);
}

const test_group tangle_unsymmetric_tests = {
    .run = run_tests, .set_up = begin_tangle, .tear_down = tear_down};
