// LU of sparse block matrices against a dense solver.
#include <gsl/gsl_linalg.h>
#include <stdlib.h>
#include <suitesparse/amd.h>

#include "base/random.h"
#include "solvers/linear/block_lu.h"
#include "solvers/linear/block_tree.h"
#include "tests/support/support.h"

static ss_error error;

static void set_up(void)
{
    error = (ss_error){0};
}

// A block matrix and the same numbers dense.
typedef struct twins {
    ss_block_lu *lu;
    gsl_matrix *dense;
    size_t size, first[40];
    int room[40];
} twins;

static void set_block(twins *t, int a, int b, double diagonal, ss_random *g)
{
    double *block = ss_block_lu_values(t->lu) + ss_block_lu_place(t->lu, a, b);
    for (int i = 0; i < t->room[a]; i++) {
        for (int j = 0; j < t->room[b]; j++) {
            const double x = ss_random_between(g, -1.0, 1.0) + (a == b && i == j ? diagonal : 0.0);
            block[i * t->room[b] + j] = x;
            gsl_matrix_set(t->dense, t->first[a] + (size_t)i, t->first[b] + (size_t)j, x);
        }
    }
}

// Random graph of n nodes with rooms 4 .. 20 and about `density` n pairs; unsymmetric numbers.
static twins make_twins(int n, double density, double diagonal, uint64_t seed)
{
    ss_random g = ss_random_seeded(seed);
    twins t = {0};
    for (int k = 0; k < n; k++) {
        t.room[k] = 4 * (1 + ss_random_below(&g, 5));
        t.first[k] = t.size;
        t.size += (size_t)t.room[k];
    }
    int pairs[400][2], count = 0;
    for (int a = 0; a < n; a++) {
        for (int b = 0; b < a; b++) {
            if (ss_random_uniform(&g) < density && count < 399) {
                pairs[count][0] = a;
                pairs[count++][1] = b;
            }
        }
    }
    CHECK_OK(ss_block_lu_new(n, t.room, count, (const int(*)[2])pairs, NULL, &t.lu, &error));
    CHECK(ss_block_lu_reserve(t.lu, NULL));
    t.dense = gsl_matrix_calloc(t.size, t.size);
    ss_block_lu_clear(t.lu);
    for (int k = 0; k < n; k++) {
        set_block(&t, k, k, diagonal, &g);
    }
    for (int k = 0; k < count; k++) {
        set_block(&t, pairs[k][0], pairs[k][1], 0.0, &g);
        set_block(&t, pairs[k][1], pairs[k][0], 0.0, &g);
    }
    return t;
}

static void free_twins(twins *t)
{
    ss_block_lu_free(t->lu);
    gsl_matrix_free(t->dense);
}

// |A x - b| by the dense matrix.
static double error_of(const twins *t, const double *x, const double *b)
{
    double worst = 0.0;
    for (size_t i = 0; i < t->size; i++) {
        double sum = -b[i];
        for (size_t j = 0; j < t->size; j++) {
            sum += gsl_matrix_get(t->dense, i, j) * x[j];
        }
        worst = fabs(sum) <= worst ? worst : fabs(sum);
    }
    return worst;
}

static void unsymmetric_block_matrices_are_solved(void)
{
    for (int seed = 0; seed < 40; seed++) {
        twins t = make_twins(2 + seed % 25, 0.02 * (seed % 15), 30.0, (uint64_t)seed);
        double *x = malloc(t.size * sizeof *x), *b = malloc(t.size * sizeof *b);
        for (size_t k = 0; k < t.size; k++) {
            x[k] = b[k] = sin((double)(k + 1));
        }
        CHECK(ss_block_lu_factor(t.lu));
        ss_block_lu_solve(t.lu, x);
        CHECK_LE(error_of(&t, x, b), 1e-12);
        free(x);
        free(b);
        free_twins(&t);
    }
}

// Small diagonals: of these determinants many are negative.
static void the_sign_of_the_determinant_is_that_of_a_dense_factor(void)
{
    int negative = 0;
    for (int seed = 0; seed < 40; seed++) {
        twins t = make_twins(1 + seed % 6, 0.1 * (seed % 10), 2.0, (uint64_t)(100 + seed));
        gsl_permutation *order = gsl_permutation_alloc(t.size);
        int sign;
        CHECK(ss_block_lu_factor(t.lu));
        gsl_linalg_LU_decomp(t.dense, order, &sign);
        const bool expected = gsl_linalg_LU_sgndet(t.dense, sign) < 0;
        CHECK(ss_block_lu_is_negative(t.lu) == expected);
        CHECK(ss_block_lu_factor_short(t.lu));
        CHECK(ss_block_lu_is_negative(t.lu) == expected);
        negative += expected;
        gsl_permutation_free(order);
        free_twins(&t);
    }
    CHECK(negative > 5 && negative < 35);
}

// Each kind of CPU that this one can be taken for, in doubles and in floats; fronts of one panel
// and of several.
static void every_kernel_solves(void)
{
    int tried = 0;
    for (int kind = 0; kind < SS_BLOCK_KINDS; kind++) {
        for (int is_short = 0; is_short < 2; is_short++) {
            for (int seed = 0; seed < 12; seed++) {
                twins t = make_twins(3 + 3 * seed, 0.07 * seed, 30.0, (uint64_t)seed);
                if (!ss_block_lu_use_kind(t.lu, kind)) {
                    free_twins(&t);
                    break;
                }
                double *x = malloc(t.size * sizeof *x), *b = malloc(t.size * sizeof *b);
                for (size_t k = 0; k < t.size; k++) {
                    x[k] = b[k] = cos((double)(k + 1));
                }
                CHECK(is_short != 0 ? ss_block_lu_factor_short(t.lu) : ss_block_lu_factor(t.lu));
                ss_block_lu_solve(t.lu, x);
                CHECK_LE(error_of(&t, x, b), is_short != 0 ? 3e-5 : 1e-12);
                free(x);
                free(b);
                free_twins(&t);
                tried++;
            }
        }
    }
    CHECK(tried >= 24);
}

static void a_factorisation_leaves_the_matrix(void)
{
    twins t = make_twins(20, 0.2, 30.0, 7);
    double *x = malloc(t.size * sizeof *x), *b = malloc(t.size * sizeof *b);
    for (size_t k = 0; k < t.size; k++) {
        x[k] = b[k] = sin((double)(k + 1));
    }
    CHECK(ss_block_lu_factor_short(t.lu));
    ss_block_lu_solve(t.lu, x);
    double *y = malloc(t.size * sizeof *y);
    for (int pass = 0; pass < 2; pass++) { // refinement brings floats to the digits of doubles
        ss_block_lu_multiply(t.lu, x, y);
        for (size_t k = 0; k < t.size; k++) {
            y[k] = b[k] - y[k];
        }
        ss_block_lu_solve(t.lu, y);
        for (size_t k = 0; k < t.size; k++) {
            x[k] += y[k];
        }
    }
    CHECK_LE(error_of(&t, x, b), 1e-12);
    CHECK(ss_block_lu_factor(t.lu));
    ss_block_lu_solve(t.lu, b);
    for (size_t k = 0; k < t.size; k++) {
        CHECK_LE(fabs(x[k] - b[k]), 1e-13);
    }
    free(x);
    free(b);
    free(y);
    free_twins(&t);
}

// One node without a good diagonal: pivoting inside the block answers it.
static void a_block_with_a_zero_pivot_is_solved(void)
{
    const int room[] = {4};
    ss_block_lu *lu;
    CHECK_OK(ss_block_lu_new(1, room, 0, NULL, NULL, &lu, &error));
    CHECK(ss_block_lu_reserve(lu, NULL));
    ss_block_lu_clear(lu);
    double *A = ss_block_lu_values(lu); // a permutation: x = (2, 3, 4, 1)
    A[1] = A[6] = A[11] = A[12] = 1.0;
    CHECK(ss_block_lu_factor(lu));
    const double expected[] = {2.0, 3.0, 4.0, 1.0};
    double x[] = {3.0, 4.0, 1.0, 2.0};
    ss_block_lu_solve(lu, x);
    for (int k = 0; k < 4; k++) {
        CHECK(x[k] == expected[k]);
    }
    ss_block_lu_free(lu);
}

static void a_singular_block_and_a_nan_are_told(void)
{
    const int room[] = {4, 4};
    ss_block_lu *lu;
    CHECK_OK(ss_block_lu_new(2, room, 0, NULL, NULL, &lu, &error));
    CHECK(ss_block_lu_reserve(lu, NULL));
    ss_block_lu_clear(lu);
    CHECK(!ss_block_lu_factor(lu));
    ss_block_lu_clear(lu);
    for (int k = 0; k < 2; k++) {
        double *A = ss_block_lu_values(lu) + ss_block_lu_place(lu, k, k);
        for (int j = 0; j < 4; j++) {
            A[5 * j] = j == 2 && k == 1 ? NAN : 1.0;
        }
    }
    CHECK(!ss_block_lu_factor(lu));
    ss_block_lu_free(lu);
}

// A star has no fill when its centre goes last: fronts of one or a few leaves and the centre.
static void the_order_avoids_fill(void)
{
    int room[30], pairs[29][2];
    for (int k = 0; k < 30; k++) {
        room[k] = 16;
        if (k > 0) {
            pairs[k - 1][0] = 0;
            pairs[k - 1][1] = k;
        }
    }
    ss_block_lu *lu;
    CHECK_OK(ss_block_lu_new(30, room, 29, (const int(*)[2])pairs, NULL, &lu, &error));
    CHECK(ss_block_lu_work(lu) <= 2.0 * 30 * 16 * (32 * 32));
    CHECK(ss_block_lu_bytes(lu) <= 8.0 * 4 * 16 * 16 * (30 + 2 * 29));
    ss_block_lu_free(lu);
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

// Multiplications of eliminating a grid of width x width nodes of 16 in this order: by hand.
static double work_of(int width, const int *order)
{
    const int n = width * width;
    char *joined = calloc((size_t)(n * n), 1);
    double work = 0.0;
    for (int k = 0; k < n; k++) {
        for (int other = 0; other < n; other++) {
            const int dx = abs(k % width - other % width), dy = abs(k / width - other / width);
            joined[k * n + other] = dx + dy == 1;
        }
    }
    for (int at = 0; at < n; at++) {
        const int k = order[at];
        int behind = 0;
        for (int i = 0; i < n; i++) {
            behind += joined[k * n + i];
            for (int j = 0; joined[k * n + i] && j < n; j++) {
                joined[i * n + j] |= (char)(joined[k * n + j] && i != j);
            }
        }
        for (int i = 0; i < n; i++) {
            joined[i * n + k] = 0;
        }
        work += 4096.0 * (behind + 1) * (behind + 1);
    }
    free(joined);
    return work;
}

// A grid of 20 x 20 rods: minimum fill leaves less work than minimum degree alone.
static void minimum_fill_improves_a_grid(void)
{
    enum { WIDTH = 20, N = WIDTH * WIDTH };
    int pairs[2 * N][2], count = 0, room[N], order[N], degree[N];
    for (int k = 0; k < N; k++) {
        room[k] = 16;
        if (k % WIDTH + 1 < WIDTH) {
            pairs[count][0] = k;
            pairs[count++][1] = k + 1;
        }
        if (k + WIDTH < N) {
            pairs[count][0] = k;
            pairs[count++][1] = k + WIDTH;
        }
    }
    ss_block_graph g;
    CHECK(ss_block_graph_new(N, count, (const int(*)[2])pairs, &g));
    CHECK(ss_block_order(NULL, &g, room, order));
    CHECK(amd_order(N, g.start, g.row, degree, NULL, NULL) == AMD_OK);
    CHECK_LE(work_of(WIDTH, order), 0.95 * work_of(WIDTH, degree));
    qsort(order, N, sizeof *order, compare);
    for (int k = 0; k < N; k++) {
        TEST_ASSERT_EQUAL_INT(k, order[k]);
    }
    ss_block_graph_free(&g);
}

static void run_tests(void)
{
    RUN_TEST(unsymmetric_block_matrices_are_solved);
    RUN_TEST(the_sign_of_the_determinant_is_that_of_a_dense_factor);
    RUN_TEST(every_kernel_solves);
    RUN_TEST(a_factorisation_leaves_the_matrix);
    RUN_TEST(a_block_with_a_zero_pivot_is_solved);
    RUN_TEST(a_singular_block_and_a_nan_are_told);
    RUN_TEST(the_order_avoids_fill);
    RUN_TEST(minimum_fill_improves_a_grid);
}

const test_group block_lu_tests = {.run = run_tests, .set_up = set_up};
