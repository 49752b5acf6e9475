// LU of sparse block matrices against a dense solver.
#include <gsl/gsl_linalg.h>
#include <stdlib.h>

#include "problems/random.h"
#include "solvers/global/block_lu.h"
#include "tests/support.h"

static ss_error error;

void setUp(void)
{
    error = (ss_error){0};
}

void tearDown(void)
{
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
    CHECK_OK(ss_block_lu_new(n, t.room, count, (const int(*)[2])pairs, &t.lu, &error));
    CHECK(ss_block_lu_reserve(t.lu));
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

// One node without a good diagonal: pivoting inside the block answers it.
static void a_block_with_a_zero_pivot_is_solved(void)
{
    const int room[] = {4};
    ss_block_lu *lu;
    CHECK_OK(ss_block_lu_new(1, room, 0, NULL, &lu, &error));
    CHECK(ss_block_lu_reserve(lu));
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
    CHECK_OK(ss_block_lu_new(2, room, 0, NULL, &lu, &error));
    CHECK(ss_block_lu_reserve(lu));
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

// A star has no fill when its centre goes last.
static void the_order_avoids_fill(void)
{
    int room[30], pairs[29][2];
    for (int k = 0; k < 30; k++) {
        room[k] = 4;
        if (k > 0) {
            pairs[k - 1][0] = 0;
            pairs[k - 1][1] = k;
        }
    }
    ss_block_lu *lu;
    CHECK_OK(ss_block_lu_new(30, room, 29, (const int(*)[2])pairs, &lu, &error));
    CHECK(ss_block_lu_reserve(lu));
    CHECK(ss_block_lu_entries(lu) == 16 * (30 + 2 * 29));
    ss_block_lu_free(lu);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(unsymmetric_block_matrices_are_solved);
    RUN_TEST(a_block_with_a_zero_pivot_is_solved);
    RUN_TEST(a_singular_block_and_a_nan_are_told);
    RUN_TEST(the_order_avoids_fill);
    return UNITY_END();
}
