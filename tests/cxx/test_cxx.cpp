// stickslip.h in a C++ program: it compiles, and its functions are found by the linker.
#include <cstring>

#include <stickslip.h>

#include "tests/support/group.h"
#include "unity.h"

static void a_tangle_is_made_and_made_local(void)
{
    ss_error error;
    ss_problem *tangle = nullptr, *local = nullptr;
    ss_tangle_settings settings = ss_tangle_defaults();
    settings.ncontacts = 5;
    TEST_ASSERT_EQUAL_INT(SS_OK, ss_tangle_new(&settings, &tangle, &error));
    TEST_ASSERT_EQUAL_INT(SS_OK, ss_problem_to_local(tangle, &local, &error));
    TEST_ASSERT_EQUAL_INT(15, local->W.ncols);
    ss_problem_free(tangle);
    ss_problem_free(local);
}

static void the_solvers_are_found_by_name(void)
{
    TEST_ASSERT_NULL(ss_local_find("no such solver"));
    for (int k = 0; ss_local_solvers[k] != nullptr; k++) {
        const char *name = ss_local_solvers[k]->card.name;
        TEST_ASSERT_EQUAL_INT(0, std::strcmp(name, ss_local_find(name)->card.name));
    }
}

static void scenes_and_vectors_are_there(void)
{
    TEST_ASSERT_NOT_NULL(ss_scene_find("pony"));
    const ss_vec3 up = ss_cross(ss_vec(1.0, 0.0, 0.0), ss_vec(0.0, 1.0, 0.0));
    TEST_ASSERT_TRUE(up.x == 0.0 && up.y == 0.0 && up.z == 1.0);
}

static void run_tests(void)
{
    RUN_TEST(a_tangle_is_made_and_made_local);
    RUN_TEST(the_solvers_are_found_by_name);
    RUN_TEST(scenes_and_vectors_are_there);
}

extern "C" const test_group cxx_tests = {run_tests, nullptr, nullptr, nullptr};
