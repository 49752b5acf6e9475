// Sparse matrices: order, repetition, transposition and products, by hand.
#include "problems/matrix/sparse.h"
#include "base/random.h"
#include "tests/support/support.h"

static ss_error error;

static void set_up(void)
{
    error = (ss_error){0};
}

static void triplets_in_any_order_give_sorted_columns(void)
{
    // [ 1 0 2 ]
    // [ 0 3 0 ]
    const int row[] = {1, 0, 0}, col[] = {1, 2, 0};
    const double x[] = {3.0, 2.0, 1.0};
    ss_sparse A;
    CHECK_OK(ss_sparse_from_triplets(&A, 2, 3, 3, row, col, x, &error));
    const int start[] = {0, 1, 2, 3}, rows[] = {0, 1, 0};
    const double values[] = {1.0, 3.0, 2.0};
    TEST_ASSERT_EQUAL_INT_ARRAY(start, A.start, 4);
    TEST_ASSERT_EQUAL_INT_ARRAY(rows, A.row, 3);
    TEST_ASSERT_EQUAL_MEMORY(values, A.x, sizeof values);
    ss_sparse_free(&A);
    CHECK(ss_sparse_count(&A) == 0);
}

static void repeated_places_are_added(void)
{
    const int row[] = {2, 0, 2, 2, 0}, col[] = {1, 0, 1, 1, 0};
    const double x[] = {1.0, 5.0, 10.0, 100.0, 0.25};
    ss_sparse A;
    CHECK_OK(ss_sparse_from_triplets(&A, 3, 2, 5, row, col, x, &error));
    CHECK(ss_sparse_count(&A) == 2);
    CHECK(A.row[0] == 0 && A.x[0] == 5.25);
    CHECK(A.row[1] == 2 && A.x[1] == 111.0);
    ss_sparse_free(&A);
}

static void stored_zeros_stay(void)
{
    const int row[] = {0}, col[] = {0};
    const double x[] = {0.0};
    ss_sparse A;
    CHECK_OK(ss_sparse_from_triplets(&A, 1, 1, 1, row, col, x, &error));
    CHECK(ss_sparse_count(&A) == 1);
    ss_sparse_free(&A);
}

static void matrix_without_entries_works(void)
{
    ss_sparse A, B;
    CHECK_OK(ss_sparse_from_triplets(&A, 4, 3, 0, NULL, NULL, NULL, &error));
    CHECK(ss_sparse_count(&A) == 0);
    CHECK_OK(ss_sparse_transpose(&A, &B, &error));
    CHECK(B.nrows == 3 && B.ncols == 4 && ss_sparse_count(&B) == 0);
    ss_sparse_free(&A);
    ss_sparse_free(&B);
}

static void products_and_transpose_are_known(void)
{
    // A = [1 0 2; 0 3 0], x = (1, 10, 100), y = (1, -1).
    const int row[] = {0, 1, 0}, col[] = {0, 1, 2};
    const double values[] = {1.0, 3.0, 2.0}, x[] = {1.0, 10.0, 100.0}, y[] = {1.0, -1.0};
    double Ax[2] = {0.5, 0.0}, Aty[3] = {0.0, 0.0, 0.5};
    ss_sparse A, B;
    CHECK_OK(ss_sparse_from_triplets(&A, 2, 3, 3, row, col, values, &error));
    ss_sparse_add_product(&A, x, Ax);
    CHECK(Ax[0] == 201.5 && Ax[1] == 30.0);
    ss_sparse_add_transposed_product(&A, y, Aty);
    CHECK(Aty[0] == 1.0 && Aty[1] == -3.0 && Aty[2] == 2.5);
    CHECK_OK(ss_sparse_transpose(&A, &B, &error));
    double Bty[2] = {0.0, 0.0};
    ss_sparse_add_transposed_product(&B, x, Bty);
    CHECK(Bty[0] == 201.0 && Bty[1] == 30.0);
    ss_sparse_free(&A);
    ss_sparse_free(&B);
}

static double unsymmetry_of(int n, int count, const int *row, const int *col, const double *x)
{
    ss_sparse A, B;
    CHECK_OK(ss_sparse_from_triplets(&A, n, n, count, row, col, x, &error));
    CHECK_OK(ss_sparse_transpose(&A, &B, &error));
    const double result = ss_sparse_unsymmetry(&A, &B);
    double found;
    CHECK_OK(ss_sparse_find_unsymmetry(&A, &found, &error));
    CHECK(found == result);
    ss_sparse_free(&A);
    ss_sparse_free(&B);
    return result;
}

static void unsymmetry_is_relative_to_the_largest_entry(void)
{
    const int row[] = {0, 0, 1}, col[] = {0, 1, 0};
    CHECK(unsymmetry_of(2, 3, row, col, (const double[]){4.0, 1.0, 1.0}) == 0.0);
    CHECK(unsymmetry_of(2, 3, row, col, (const double[]){4.0, 1.0, 2.0}) == 0.25);
    // An entry without a partner counts whole; a zero matrix is symmetric.
    CHECK(unsymmetry_of(2, 2, row, col, (const double[]){4.0, 1.0}) == 0.25);
    CHECK(unsymmetry_of(2, 3, row, col, (const double[]){0.0, 0.0, 0.0}) == 0.0);
}

static bool is_symmetric(int n, int count, const int *row, const int *col, const double *x)
{
    ss_sparse A;
    CHECK_OK(ss_sparse_from_triplets(&A, n, n, count, row, col, x, &error));
    bool symmetric;
    CHECK_OK(ss_sparse_find_symmetric(&A, &symmetric, &error));
    ss_sparse_free(&A);
    return symmetric;
}

// A zero that only one of two places stores is a difference of the patterns.
static void symmetric_is_what_equals_its_transpose(void)
{
    const int row[] = {0, 0, 1, 2, 1}, col[] = {0, 1, 0, 1, 2};
    const double x[] = {4.0, 1.0, 1.0, -2.0, -2.0}, wrong[] = {4.0, 1.0, 1.0, -2.0, 2.0};
    CHECK(is_symmetric(3, 5, row, col, x));
    CHECK(is_symmetric(3, 3, row, col, x));
    CHECK(is_symmetric(3, 0, row, col, x));
    CHECK(!is_symmetric(3, 5, row, col, wrong));
    CHECK(!is_symmetric(3, 4, row, col, x));
    CHECK(!is_symmetric(3, 2, row, col, x));
    CHECK(!is_symmetric(3, 2, row, col, (const double[]){4.0, 0.0}));
    const int far[] = {2, 0}, near[] = {0, 1}; // column 1 ends before its row 0 is asked for
    CHECK(!is_symmetric(3, 2, far, near, x));
    ss_random g = ss_random_seeded(3);
    for (int trial = 0; trial < 200; trial++) {
        int rows[24], cols[24];
        double values[24];
        for (int k = 0; k < 24; k += 2) {
            rows[k] = cols[k + 1] = ss_random_below(&g, 6);
            cols[k] = rows[k + 1] = ss_random_below(&g, 6);
            values[k] = values[k + 1] = ss_random_normal(&g);
        }
        CHECK(is_symmetric(6, 24, rows, cols, values));
        values[7] += trial % 2 != 0 && rows[7] != cols[7] ? 1.0 : 0.0;
        CHECK((unsymmetry_of(6, 24, rows, cols, values) == 0.0) ==
              is_symmetric(6, 24, rows, cols, values));
    }
}

static void run_tests(void)
{
    RUN_TEST(triplets_in_any_order_give_sorted_columns);
    RUN_TEST(repeated_places_are_added);
    RUN_TEST(stored_zeros_stay);
    RUN_TEST(matrix_without_entries_works);
    RUN_TEST(products_and_transpose_are_known);
    RUN_TEST(unsymmetry_is_relative_to_the_largest_entry);
    RUN_TEST(symmetric_is_what_equals_its_transpose);
}

const test_group sparse_tests = {.run = run_tests, .set_up = set_up};
