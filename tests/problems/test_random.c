// tests/problems/test_random.c -- the generator's bits, its ranges, and log and exp against libm.
#include "base/random.h"

#include <string.h>

#include "tests/support/support.h"

// Recorded once; gcc and clang, -O0 to -O3 -march=native, agree on them.
#define GOLDEN_BITS      1522987605224763271u
#define GOLDEN_UNIFORM   0x1.6cea0e0a69b22p-1
#define GOLDEN_NORMAL    0x1.db49f2cd8e9f5p-7
#define GOLDEN_LOG       0x1.7e46a34542a48p-2
#define GOLDEN_BELOW     806
#define GOLDEN_DIRECTION -0x1.4d74e2d7bb9f4p-3

static void bits_follow_the_published_recurrence(void)
{
    // The first outputs from the state (1, 2, 3, 4); the first is rotl(1 + 4, 23) + 1.
    ss_random g = {{1, 2, 3, 4}};
    const uint64_t expected[] = {41943041u, 58720359u, 3588806011781223u, 3591011842654386u,
                                 9228616714210784205u};
    for (int k = 0; k < 5; k++) {
        CHECK(ss_random_bits(&g) == expected[k]);
    }
}

static void seeds_are_spread_by_splitmix(void)
{
    // The first outputs of splitmix64 from 0.
    const ss_random g = ss_random_seeded(0);
    const uint64_t expected[] = {0xe220a8397b1dcdafu, 0x6e789e6aa1b965f4u, 0x06c45d188009454fu,
                                 0xf88bb8a8724c81ecu};
    CHECK(memcmp(g.state, expected, sizeof expected) == 0);
}

static void one_seed_gives_these_numbers_everywhere(void)
{
    ss_random g = ss_random_seeded(2011);
    CHECK(ss_random_bits(&g) == GOLDEN_BITS);
    CHECK(ss_random_uniform(&g) == GOLDEN_UNIFORM);
    CHECK(ss_random_normal(&g) == GOLDEN_NORMAL);
    CHECK(ss_random_log_between(&g, 1e-3, 10.0) == GOLDEN_LOG);
    CHECK(ss_random_below(&g, 1000) == GOLDEN_BELOW);
    double direction[3];
    ss_random_direction(&g, 3, direction);
    CHECK(direction[2] == GOLDEN_DIRECTION);
}

static void draws_stay_in_their_ranges(void)
{
    ss_random g = ss_random_seeded(1);
    for (int k = 0; k < 100000; k++) {
        const double x = ss_random_uniform(&g);
        CHECK(0.0 <= x && x < 1.0);
        const double y = ss_random_log_between(&g, 1e-3, 10.0);
        CHECK(1e-3 <= y && y <= 10.0);
        const int n = ss_random_below(&g, 7);
        CHECK(0 <= n && n < 7);
    }
}

static void below_reaches_every_number_equally_often(void)
{
    ss_random g = ss_random_seeded(2);
    int seen[7] = {0};
    for (int k = 0; k < 70000; k++) {
        seen[ss_random_below(&g, 7)]++;
    }
    for (int n = 0; n < 7; n++) {
        CHECK_NEAR(seen[n], 10000, 500); // five standard deviations
    }
}

static void log_uniform_has_its_median_at_the_geometric_mean(void)
{
    ss_random g = ss_random_seeded(3);
    int below = 0;
    for (int k = 0; k < 100000; k++) {
        below += ss_random_log_between(&g, 1e-4, 1.0) < 1e-2;
    }
    CHECK_NEAR(below, 50000, 800);
}

static void normals_have_the_moments_of_the_normal_law(void)
{
    ss_random g = ss_random_seeded(4);
    const int n = 200000;
    double sum[4] = {0.0};
    for (int k = 0; k < n; k++) {
        const double x = ss_random_normal(&g);
        sum[0] += x / n;
        sum[1] += x * x / n;
        sum[2] += x * x * x / n;
        sum[3] += x * x * x * x / n;
    }
    CHECK_NEAR(sum[0], 0.0, 0.012);
    CHECK_NEAR(sum[1], 1.0, 0.016);
    CHECK_NEAR(sum[2], 0.0, 0.045);
    CHECK_NEAR(sum[3], 3.0, 0.12);
}

static void directions_are_unit_vectors_without_a_bias(void)
{
    ss_random g = ss_random_seeded(5);
    for (int dim = 1; dim <= 3; dim++) {
        double mean[3] = {0.0};
        for (int k = 0; k < 20000; k++) {
            double d[3];
            ss_random_direction(&g, dim, d);
            CHECK_NEAR(d[0] * d[0] + d[1] * d[1] + d[2] * d[2], 1.0, 1e-15);
            CHECK(dim == 3 || d[2] == 0.0);
            CHECK(dim >= 2 || d[1] == 0.0);
            for (int i = 0; i < 3; i++) {
                mean[i] += d[i] / 20000;
            }
        }
        CHECK_LE(fabs(mean[0]) + fabs(mean[1]) + fabs(mean[2]), 0.05);
    }
}

static void portable_log_agrees_with_libm(void)
{
    CHECK(ss_portable_log(1.0) == 0.0);
    ss_random g = ss_random_seeded(6);
    for (int k = 0; k < 100000; k++) {
        const double wide = ldexp(1.0 + ss_random_uniform(&g), ss_random_below(&g, 2000) - 1000);
        CHECK_NEAR(ss_portable_log(wide), log(wide), 1e-15 * fabs(log(wide)));
        const double near_one = 1.0 + 0.5 * ss_random_between(&g, -1.0, 1.0);
        CHECK_NEAR(ss_portable_log(near_one), log(near_one), 1e-15 * fabs(log(near_one)));
        const double nearer = 1.0 + 1e-9 * ss_random_between(&g, -1.0, 1.0);
        CHECK_NEAR(ss_portable_log(nearer), log(nearer), 1e-15 * fabs(log(nearer)));
    }
}

static void portable_exp_agrees_with_libm(void)
{
    CHECK(ss_portable_exp(0.0) == 1.0);
    ss_random g = ss_random_seeded(7);
    for (int k = 0; k < 100000; k++) {
        const double wide = ss_random_between(&g, -700.0, 700.0);
        CHECK_NEAR(ss_portable_exp(wide) / exp(wide), 1.0, 1e-15);
        const double small = ss_random_between(&g, -1.0, 1.0);
        CHECK_NEAR(ss_portable_exp(small) / exp(small), 1.0, 1e-15);
    }
}

static void run_tests(void)
{
    RUN_TEST(bits_follow_the_published_recurrence);
    RUN_TEST(seeds_are_spread_by_splitmix);
    RUN_TEST(one_seed_gives_these_numbers_everywhere);
    RUN_TEST(draws_stay_in_their_ranges);
    RUN_TEST(below_reaches_every_number_equally_often);
    RUN_TEST(log_uniform_has_its_median_at_the_geometric_mean);
    RUN_TEST(normals_have_the_moments_of_the_normal_law);
    RUN_TEST(directions_are_unit_vectors_without_a_bias);
    RUN_TEST(portable_log_agrees_with_libm);
    RUN_TEST(portable_exp_agrees_with_libm);
}

const test_group random_tests = {.run = run_tests};
