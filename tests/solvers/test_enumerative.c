// The quartic of a sliding contact, in closed form and by GSL, and `enum` on top of it.
#include "solvers/local/local.h"
#include "tests/support/direct_battery.h"

static const ss_local_solver *const ENUM = &ss_enumerative;

// The settings that "enum:roots=closed" and "enum:roots=gsl" stand for.
static const int CLOSED = 0, GSL = 1;

static void answers_by_hand_are_found(void)
{
    check_known_cases(ENUM, &CLOSED);
    check_known_with_coupling(ENUM, &CLOSED);
    check_known_cases(ENUM, &GSL);
    check_known_with_coupling(ENUM, &GSL);
}

static void every_positive_definite_block_is_solved(void)
{
    check_kind(ENUM, &CLOSED, SS_LOCAL_RANDOM, 40000);
    check_harder(ENUM, &CLOSED, 40000);
    check_kind(ENUM, &GSL, SS_LOCAL_RANDOM, 5000);
    check_harder(ENUM, &GSL, 5000);
}

static void every_case_is_solved(void)
{
    check_kind(ENUM, &CLOSED, SS_LOCAL_STICK, 5000);
    check_kind(ENUM, &CLOSED, SS_LOCAL_SLIDE, 20000);
    check_kind(ENUM, &CLOSED, SS_LOCAL_NEAR_BOUNDARY, 10000);
    check_kind(ENUM, &CLOSED, SS_LOCAL_SEVERAL, 2000);
    check_kind(ENUM, &CLOSED, SS_LOCAL_UNSYMMETRIC, 10000);
    check_kind(ENUM, &GSL, SS_LOCAL_UNSYMMETRIC, 2000);
}

static void every_solvable_singular_block_is_solved(void)
{
    CHECK(percent_of_kind(ENUM, SS_LOCAL_SINGULAR, 3, 5000) == 100.0);
    CHECK(percent_of_kind(ENUM, SS_LOCAL_SINGULAR, 2, 5000) == 100.0);
}

static void nearly_singular_blocks_are_not_denied_their_answer(void)
{
    check_nearly_singular(ENUM, &CLOSED);
}

static void no_solution_is_said_where_there_is_none(void)
{
    check_no_solution_is_said(ENUM, &CLOSED);
}

static void nan_never_converges(void)
{
    check_nan_never_converges(ENUM);
}

typedef int root_finder(const ss_quartic *k, double roots[4]);
static root_finder *const FINDERS[2] = {ss_quartic_roots, ss_quartic_roots_gsl};

static bool holds(const double *roots, int n, double x, double tolerance)
{
    for (int i = 0; i < n; i++) {
        if (fabs(roots[i] - x) <= tolerance) {
            return true;
        }
    }
    return false;
}

// (x^2 - 4)^2 - 9 = (x^2 - 7)(x^2 - 1).
static void four_roots_by_hand(void)
{
    const ss_quartic k = {.A = 0.0, .C = -4.0, .B = {3.0, 0.0}};
    for (int f = 0; f < 2; f++) {
        double roots[4];
        const int n = FINDERS[f](&k, roots);
        TEST_ASSERT_EQUAL_INT(4, n);
        const double expected[4] = {1.0, -1.0, sqrt(7.0), -sqrt(7.0)};
        for (int i = 0; i < 4; i++) {
            CHECK(holds(roots, n, expected[i], 1e-14));
        }
    }
}

// (x^2 - 1)^2 - (4 + 4 x^2) = x^4 - 6 x^2 - 3: x^2 = 3 + sqrt 12; the other two are complex.
static void two_roots_by_hand(void)
{
    const ss_quartic k = {.A = 0.0, .C = -1.0, .B = {2.0, 0.0}, .c = {0.0, 2.0}};
    for (int f = 0; f < 2; f++) {
        double roots[4];
        const int n = FINDERS[f](&k, roots);
        TEST_ASSERT_EQUAL_INT(2, n);
        CHECK(holds(roots, n, sqrt(3.0 + sqrt(12.0)), 1e-14));
        CHECK(holds(roots, n, -sqrt(3.0 + sqrt(12.0)), 1e-14));
    }
}

// (x^2 + 1)^2 - 1/4 > 0.
static void no_root_by_hand(void)
{
    const ss_quartic k = {.C = 1.0, .B = {0.5, 0.0}};
    double roots[4];
    TEST_ASSERT_EQUAL_INT(0, ss_quartic_roots(&k, roots));
    TEST_ASSERT_EQUAL_INT(0, ss_quartic_roots_gsl(&k, roots));
}

// (x^2 - 5 x + 6)^2 = (x - 2)^2 (x - 3)^2.
static void double_roots_count_as_real(void)
{
    const ss_quartic k = {.A = -5.0, .C = 6.0};
    double roots[4];
    const int n = ss_quartic_roots(&k, roots);
    CHECK(n >= 2);
    CHECK(holds(roots, n, 2.0, 1e-14) && holds(roots, n, 3.0, 1e-14));
}

static void numbers_that_are_not_finite_have_no_roots_and_abort_nothing(void)
{
    const double bad[] = {NAN, INFINITY, -INFINITY, 1e200};
    for (int i = 0; i < 4; i++) {
        const ss_quartic k = {.A = bad[i], .C = 1.0, .B = {1.0, bad[i]}, .c = {0.0, 1.0}};
        double roots[4];
        TEST_ASSERT_EQUAL_INT(0, ss_quartic_roots_gsl(&k, roots));
        const int n = ss_quartic_roots(&k, roots);
        CHECK(0 <= n && n <= 4);
    }
}

static double largest(const double *roots, int n)
{
    double x = 0.0;
    for (int i = 0; i < n; i++) {
        x = fmax(x, roots[i]);
    }
    return x;
}

// The quartics of blocks that slide; one of 2.5 % has a positive root that is not admissible.
static void the_largest_root_is_admissible_and_both_methods_find_it(void)
{
    ss_random g = ss_random_seeded(13);
    int sliding = 0, apart = 0, spurious = 0;
    while (sliding < 20000) {
        const ss_local p = battery_draw(&g, HARD);
        ss_slip slip;
        if (!ss_slip_eliminate(&p, &slip) || ss_slip_sticks(&slip)) {
            continue;
        }
        sliding++;
        const ss_quartic k = ss_slip_quartic(&slip);
        double roots[2][4];
        const int n = ss_quartic_roots(&k, roots[0]);
        const double a = largest(roots[0], n);
        const double by_gsl = largest(roots[1], ss_quartic_roots_gsl(&k, roots[1]));
        CHECK(a > 0.0 && a * a + k.A * a + k.C >= 0.0);
        apart += !(fabs(a - by_gsl) <= 1e-8 * a);
        for (int i = 0; i < n; i++) {
            const double x = roots[0][i];
            spurious += x > 1e-9 * a && x * x + k.A * x + k.C < 0.0;
        }
    }
    CHECK_LE(apart, 10);
    CHECK(spurious > 20000 / 200); // so that taking the largest matters
}

static void both_methods_give_one_answer(void)
{
    ss_random g = ss_random_seeded(14);
    int apart = 0;
    for (int k = 0; k < 20000; k++) {
        const ss_local p = battery_draw(&g, HARD);
        double closed[3], by_gsl[3];
        check_solved(ENUM, &CLOSED, &p, closed);
        check_solved(ENUM, &GSL, &p, by_gsl);
        const double d[3] = {closed[0] - by_gsl[0], closed[1] - by_gsl[1], closed[2] - by_gsl[2]};
        apart += !(ss_norm_inf3(d) <= 1e-9 * ss_norm_inf3(closed));
    }
    CHECK_LE(apart, 5); // near a double root, where both answers hold
}

static void answers_have_golden_bits(void)
{
    TEST_ASSERT_EQUAL_HEX64(UINT64_C(0x4f7f1e09078b0b28), hash_of_answers(ENUM, &CLOSED));
}

static void run_tests(void)
{
    RUN_TEST(answers_by_hand_are_found);
    RUN_TEST(every_positive_definite_block_is_solved);
    RUN_TEST(every_case_is_solved);
    RUN_TEST(every_solvable_singular_block_is_solved);
    RUN_TEST(nearly_singular_blocks_are_not_denied_their_answer);
    RUN_TEST(no_solution_is_said_where_there_is_none);
    RUN_TEST(nan_never_converges);
    RUN_TEST(four_roots_by_hand);
    RUN_TEST(two_roots_by_hand);
    RUN_TEST(no_root_by_hand);
    RUN_TEST(double_roots_count_as_real);
    RUN_TEST(numbers_that_are_not_finite_have_no_roots_and_abort_nothing);
    RUN_TEST(the_largest_root_is_admissible_and_both_methods_find_it);
    RUN_TEST(both_methods_give_one_answer);
    RUN_TEST(answers_have_golden_bits);
}

const test_group enumerative_tests = {.run = run_tests};
