// stickslip.h in a C++ program: it compiles, and its functions are found by the linker.
#include <cstring>

#include <stickslip.h>

#include "tests/support/group.h"
#include "unity.h"

static void a_matrix_of_triplets_is_summed(void)
{
    ss_error error;
    ss_sparse A;
    const int row[3] = {1, 0, 1}, col[3] = {0, 0, 0};
    const double x[3] = {2.0, 5.0, 3.0};
    TEST_ASSERT_EQUAL_INT(SS_OK, ss_sparse_from_triplets(&A, 2, 1, 3, row, col, x, &error));
    TEST_ASSERT_EQUAL_INT(2, ss_sparse_count(&A));
    TEST_ASSERT_TRUE(A.x[0] == 5.0 && A.x[1] == 5.0);
    ss_sparse_free(&A);
}

static void the_solvers_are_found_by_name(void)
{
    TEST_ASSERT_NULL(ss_local_find("no such solver"));
    for (int k = 0; ss_local_solvers[k] != nullptr; k++) {
        const char *name = ss_local_solvers[k]->card.name;
        TEST_ASSERT_EQUAL_INT(0, std::strcmp(name, ss_local_find(name)->card.name));
    }
}

static void run_tests(void)
{
    RUN_TEST(a_matrix_of_triplets_is_summed);
    RUN_TEST(the_solvers_are_found_by_name);
}

extern "C" const test_group cxx_tests = {run_tests, nullptr, nullptr, nullptr};
