// `generate locals` from outside: what it counts, what it refuses.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/program.h"
#include "tests/support/support.h"

// The row of the last run in CSV.
typedef struct row {
    long count, solved, wrong, unsolved;
    double ns;
} row;

static row read_row(void)
{
    row r = {0};
    HOLDS(standard_out, "count,solved,wrong,unsolved,ns\n");
    TEST_ASSERT_EQUAL_STRING("", standard_error);
    TEST_ASSERT_EQUAL_INT(2, count_lines(standard_out));
    const int n = sscanf(strchr(standard_out, '\n') + 1, "%ld,%ld,%ld,%ld,%lf", &r.count, &r.solved,
                         &r.wrong, &r.unsolved, &r.ns);
    TEST_ASSERT_EQUAL_INT(5, n);
    TEST_ASSERT_EQUAL_INT(r.count, r.solved + r.wrong + r.unsolved);
    CHECK(r.ns > 0.0);
    return r;
}

#define BATTERY(...)                                                                               \
    (RUN("generate", "locals", "--format", "csv", __VA_ARGS__) == 0 ? read_row()                   \
                                                                    : (row){.count = -1})

static void the_direct_solvers_solve_all(void)
{
    static const char *const solvers[] = {"secular", "enum", "enum:roots=gsl"};
    static const char *const kinds[] = {"random",   "spread",       "slide",   "near-boundary",
                                        "singular", "frictionless", "several", "unsymmetric"};
    for (size_t s = 0; s < sizeof solvers / sizeof solvers[0]; s++) {
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
            const row r = BATTERY("--count", "3000", "--solver", solvers[s], "--kind", kinds[k]);
            TEST_ASSERT_EQUAL_INT_MESSAGE(3000, r.solved, kinds[k]);
        }
    }
}

static void a_billionth_of_a_thousandth_is_within_their_reach(void)
{
    const row a = BATTERY("--count", "20000", "--solver", "secular", "--tol", "1e-12");
    TEST_ASSERT_EQUAL_INT(20000, a.solved);
    const row b =
        BATTERY("--count", "20000", "--solver", "enum", "--tol", "1e-12", "--kind", "spread");
    TEST_ASSERT_EQUAL_INT(20000, b.solved);
}

static void the_plane_is_solved(void)
{
    const row a = BATTERY("--count", "2000", "--solver", "secular", "--dim", "2");
    const row b = BATTERY("--count", "2000", "--solver", "enum", "--dim", "2", "--kind", "spread");
    TEST_ASSERT_EQUAL_INT(2000, a.solved);
    TEST_ASSERT_EQUAL_INT(2000, b.solved);
}

static void no_solution_is_unsolved_and_never_wrong(void)
{
    const row r = BATTERY("--count", "2000", "--solver", "secular", "--kind", "no-solution");
    TEST_ASSERT_EQUAL_INT(2000, r.unsolved);
}

// Another law: what it claims is not Coulomb's.
static void an_approximate_law_is_wrong_where_contacts_slide(void)
{
    const row r = BATTERY("--count", "2000", "--solver", "4sides", "--kind", "slide");
    CHECK(r.wrong > 1000);
}

static void an_iterative_solver_admits_what_it_misses_and_a_failsafe_mends_it(void)
{
    const row alone = BATTERY("--count", "5000", "--solver", "mfb");
    TEST_ASSERT_EQUAL_INT(0, alone.wrong);
    CHECK(alone.unsolved > 50);
    const row hybrid = BATTERY("--count", "5000", "--solver", "mfb+enum");
    TEST_ASSERT_EQUAL_INT(5000, hybrid.solved);
}

static void a_tolerance_out_of_reach_is_unsolved(void)
{
    const row r =
        BATTERY("--count", "1000", "--solver", "secular", "--tol", "0", "--kind", "slide");
    TEST_ASSERT_EQUAL_INT(0, r.wrong);
    CHECK(r.unsolved > 500); // f is exactly 0 for the others
}

static void one_seed_is_one_battery(void)
{
    const row a = BATTERY("--count", "3000", "--solver", "mfb", "--seed", "5");
    const row b = BATTERY("--count", "3000", "--solver", "mfb", "--seed", "5");
    const row c = BATTERY("--count", "3000", "--solver", "mfb", "--seed", "6");
    CHECK(a.solved == b.solved && a.solved != c.solved);
}

static void friction_and_condition_are_what_was_asked_for(void)
{
    const row mild =
        BATTERY("--count", "3000", "--solver", "mfb", "--mu", "0.1:0.5", "--cond", "10");
    const row hard =
        BATTERY("--count", "3000", "--solver", "mfb", "--mu", "5:10", "--kind", "spread");
    CHECK(mild.solved > hard.solved);
}

static void every_format_is_printed(void)
{
    EXPECT(0, "generate", "locals", "--count", "10", "--solver", "secular");
    HOLDS(standard_out, "count  solved  wrong  unsolved");
    EXPECT(0, "generate", "locals", "--count", "10", "--solver", "secular", "--format", "json");
    CHECK(is_json(standard_out));
    HOLDS(standard_out, "\"solved\": 10");
}

static void help_shows_the_defaults(void)
{
    EXPECT(0, "generate", "locals", "--help");
    HOLDS(standard_out, "--mu A:B");
    HOLDS(standard_out, "(default 0.001:10)");
    HOLDS(standard_out, "(default random)");
    EXPECT(0, "generate", "--help");
    HOLDS(standard_out, "  locals ");
}

static void mistakes_end_with_1_and_a_sentence(void)
{
    EXPECT(1, "generate", "locals", "--count", "5");
    SAYS("generate locals: needs --solver SPEC");
    EXPECT(1, "generate", "locals", "--count", "5", "--solver", "nobody");
    HOLDS(standard_error, "generate locals: --solver nobody: unknown solver 'nobody'");
    EXPECT(1, "generate", "locals", "--count", "5", "--solver", "enum:roots=cube");
    HOLDS(standard_error, "roots takes one of closed, gsl, not 'cube'");
    EXPECT(1, "generate", "locals", "--count", "5", "--solver", "ppa");
    SAYS("generate locals: --solver ppa: names no local solver; 'stickslip solvers' lists them");
    EXPECT(1, "generate", "locals", "--count", "5", "--solver", "anderson/mfb");
    SAYS("generate locals: --solver anderson/mfb: write the local solver without GLOBAL/");
    EXPECT(1, "generate", "locals", "--count", "5", "--solver", "mfb:freeze=on");
    HOLDS(standard_error, "--solver mfb:freeze=on: options of sweeps");
    EXPECT(0, "generate", "locals", "--count", "5", "--solver", "gs/mfb:steps=50");
    EXPECT(1, "generate", "locals", "--count", "0", "--solver", "mfb");
    EXPECT(1, "generate", "locals", "--count", "5", "--solver", "mfb", "--mu", "1:0.1");
    HOLDS(standard_error, "--mu takes A:B, two numbers");
    EXPECT(1, "generate", "locals", "--count", "5", "--solver", "mfb", "--mu", "0:1");
    EXPECT(1, "generate", "locals", "--count", "5", "--solver", "mfb", "--kind", "mixed");
    HOLDS(standard_error, "unsymmetric or spread");
    EXPECT(1, "generate", "locals", "file.h5", "--count", "5", "--solver", "mfb");
}

static void run_tests(void)
{
    RUN_TEST(the_direct_solvers_solve_all);
    RUN_TEST(a_billionth_of_a_thousandth_is_within_their_reach);
    RUN_TEST(the_plane_is_solved);
    RUN_TEST(no_solution_is_unsolved_and_never_wrong);
    RUN_TEST(an_approximate_law_is_wrong_where_contacts_slide);
    RUN_TEST(an_iterative_solver_admits_what_it_misses_and_a_failsafe_mends_it);
    RUN_TEST(a_tolerance_out_of_reach_is_unsolved);
    RUN_TEST(one_seed_is_one_battery);
    RUN_TEST(friction_and_condition_are_what_was_asked_for);
    RUN_TEST(every_format_is_printed);
    RUN_TEST(help_shows_the_defaults);
    RUN_TEST(mistakes_end_with_1_and_a_sentence);
}

const test_group cli_locals_tests = {.run = run_tests};
