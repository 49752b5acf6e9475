// Roots of cubics and crossings of moving segments: known ones, sampling, conservative advancement.
#include "strands/contact/proximity.h"

#include "tests/support/random_points.h"
#include "tests/support/support.h"

static ss_random g;

static void set_up(void)
{
    g = ss_random_seeded(17);
}

// ---- Roots

static void check_roots(const double c[4], const double *expected, int n, double tolerance)
{
    double roots[SS_CUBIC_ROOTS_MAX];
    const int found = ss_cubic_roots(c, 1e-16, roots);
    for (int i = 0; i < n; i++) {
        double nearest = INFINITY;
        for (int k = 0; k < found; k++) {
            nearest = fmin(nearest, fabs(roots[k] - expected[i]));
        }
        CHECK_LE(nearest, tolerance);
    }
    for (int k = 0; k < found; k++) {
        double nearest = INFINITY;
        for (int i = 0; i < n; i++) {
            nearest = fmin(nearest, fabs(roots[k] - expected[i]));
        }
        CHECK_LE(nearest, tolerance);
        CHECK(k == 0 || roots[k] >= roots[k - 1]);
    }
}

static void cubics_have_the_roots_that_they_are_made_of(void)
{
    for (int k = 0; k < 1000; k++) {
        const double p = 0.3 * ss_random_uniform(&g), q = 0.35 + 0.3 * ss_random_uniform(&g),
                     r = 0.7 + 0.3 * ss_random_uniform(&g), size = pow(10.0, k % 9 - 4);
        const double c[4] = {-p * q * r * size, (p * q + q * r + r * p) * size, -(p + q + r) * size,
                             size};
        const double roots[3] = {p, q, r};
        double found[SS_CUBIC_ROOTS_MAX];
        TEST_ASSERT_EQUAL_INT(3, ss_cubic_roots(c, 0.0, found));
        for (int i = 0; i < 3; i++) {
            CHECK_NEAR(found[i], roots[i], 1e-13);
        }
    }
}

static void special_cubics_have_their_roots(void)
{
    check_roots((double[4]){-0.125, 0.75, -1.5, 1.0}, (double[]){0.5}, 1, 1e-5);        // triple
    check_roots((double[4]){0.0625, -0.5, 1.25, -1.0}, (double[]){0.25, 0.5}, 2, 2e-8); // double
    check_roots((double[4]){0.25, -1.0, 1.0, 0.0}, (double[]){0.5}, 1, 2e-8);           // touches 0
    check_roots((double[4]){0.1875, -1.0, 1.0, 0.0}, (double[]){0.25, 0.75}, 2, 1e-15);
    check_roots((double[4]){-0.25, 0.0, 1.0, 0.0}, (double[]){0.5}, 1, 1e-15);
    check_roots((double[4]){-0.125, 0.0, 0.0, 1.0}, (double[]){0.5}, 1, 1e-15);
    check_roots((double[4]){-0.25, 1.0, 0.0, 0.0}, (double[]){0.25}, 1, 1e-15);
    check_roots((double[4]){0.0, 1.0, 0.0, 0.0}, (double[]){0.0}, 1, 1e-15);
    check_roots((double[4]){-1.0, 1.0, 0.0, 0.0}, (double[]){1.0}, 1, 1e-15);
    check_roots((double[4]){-1e-9, 1.0, 0.0, 1e-30}, (double[]){1e-9}, 1, 1e-24);
    check_roots((double[4]){1.0, 0.0, 0.0, 0.0}, NULL, 0, 0.0);
    check_roots((double[4]){1.0, -0.5, 1.0, 1.0}, NULL, 0, 0.0);
    check_roots((double[4]){-0.5, 1.0, 0.0, 1e-300}, (double[]){0.5}, 1, 1e-15);
}

// ---- Pairs of segments

// Of kind 0 any; 1 parallel except for 1e-6; 2 that shift but do not turn, so that c2 = c3 = 0; 3 the
// first alone turns; 4 short, fast and far from the origin.
static void random_pair(int kind, ss_vec3 x[4], ss_vec3 moved[4])
{
    for (int i = 0; i < 4; i++) {
        x[i] = random_point(&g, 1);
        moved[i] = random_point(&g, 1);
    }
    if (kind == 1) {
        x[3] = ss_plus(ss_along(x[2], 0.7, ss_minus(x[1], x[0])), random_point(&g, 1e-6));
        moved[3] =
            ss_plus(ss_along(moved[2], 0.7, ss_minus(moved[1], moved[0])), random_point(&g, 1e-6));
    }
    if (kind == 2 || kind == 3) {
        moved[1] = kind == 2 ? ss_plus(x[1], ss_minus(moved[0], x[0])) : moved[1];
        moved[3] = ss_plus(x[3], ss_minus(moved[2], x[2]));
    }
    for (int i = 0; kind == 4 && i < 4; i++) {
        x[i] = ss_plus(ss_vec(10.0, -7.0, 5.0), ss_scaled(0.01, x[i]));
        moved[i] = ss_plus(x[i], ss_scaled(0.1, moved[i]));
    }
}

static double volume(const ss_vec3 x[4], const ss_vec3 moved[4], double t)
{
    ss_vec3 p[4];
    for (int i = 0; i < 4; i++) {
        p[i] = ss_between(x[i], moved[i], t);
    }
    return ss_dot(ss_cross(ss_minus(p[1], p[0]), ss_minus(p[3], p[2])), ss_minus(p[2], p[0]));
}

static bool has_root_between(const double *roots, int n, double low, double high)
{
    for (int k = 0; k < n; k++) {
        if (roots[k] >= low && roots[k] <= high) {
            return true;
        }
    }
    return false;
}

static void roots_are_those_that_sampling_finds(void)
{
    enum { N = 200 };
    int changes = 0;
    for (int k = 0; k < 10000; k++) {
        ss_vec3 x[4], moved[4];
        random_pair(k % 5, x, moved);
        double c[4], roots[SS_CUBIC_ROOTS_MAX];
        const double rounding = ss_coplanar_cubic(x, moved, c);
        const int n = ss_cubic_roots(c, rounding, roots);
        for (int i = 0; i < n; i++) {
            CHECK(roots[i] >= 0.0 && roots[i] <= 1.0);
            CHECK_LE(fabs(volume(x, moved, roots[i])), 2.0 * rounding);
        }
        double before = volume(x, moved, 0.0);
        for (int i = 1; i <= N; i++) {
            const double now = volume(x, moved, (double)i / N);
            if (fmin(fabs(before), fabs(now)) > rounding && (before < 0.0) != (now < 0.0)) {
                CHECK(has_root_between(roots, n, (i - 1.0) / N, (double)i / N));
                changes++;
            }
            before = now;
        }
    }
    CHECK(changes > 5000);
}

static double distance_at(const ss_vec3 x[4], const ss_vec3 moved[4], double t)
{
    double a, b;
    return ss_segments_exact(ss_between(x[0], moved[0], t), ss_between(x[1], moved[1], t),
                             ss_between(x[2], moved[2], t), ss_between(x[3], moved[3], t), &a, &b);
}

// What the cubic finds is within reach then, and advancement finds it no later. What advancement
// alone finds comes within reach without a crossing.
static void crossings_are_touches_that_advancement_finds(void)
{
    int both = 0, one = 0;
    for (int k = 0; k < 10000; k++) {
        ss_vec3 x[4], moved[4];
        random_pair(k % 5, x, moved);
        const double reach = (k % 5 == 4 ? 0.01 : 1.0) * pow(10.0, -1 - k % 4);
        double cross = -1.0, near = -1.0;
        const bool crosses = ss_coplanar_segments(x, moved, reach, &cross);
        const bool meets = ss_swept_segments(x, moved, reach, &near);
        CHECK(!crosses || distance_at(x, moved, cross) <= reach);
        // Advancement may pass over a percent of reach, and over 1e-5 of the motion.
        const double speed = ss_swept_speed(x, moved);
        if (crosses && distance_at(x, moved, cross) < 0.98 * reach - 2e-5 * speed) {
            CHECK(meets);
            CHECK_LE(near, cross + 1e-5 + 0.01 * reach / speed);
        }
        both += crosses && meets;
        one += meets && !crosses;
    }
    CHECK(both > 1000 && one > 50);
}

static void no_crossing_made_on_purpose_is_missed(void)
{
    for (int k = 0; k < 10000; k++) {
        ss_vec3 x[4], moved[4], then[4];
        random_pair(k % 5, x, moved);
        const double at = ss_random_uniform(&g), a = ss_random_between(&g, 0.01, 0.99),
                     b = ss_random_between(&g, 0.01, 0.99);
        for (int i = 0; i < 4; i++) {
            then[i] = ss_between(x[i], moved[i], at);
        }
        const ss_vec3 shift =
            ss_minus(ss_between(then[2], then[3], b), ss_between(then[0], then[1], a));
        for (int i = 0; i < 2; i++) {
            x[i] = ss_plus(x[i], shift);
            moved[i] = ss_plus(moved[i], shift);
        }
        double time;
        CHECK(ss_coplanar_segments(x, moved, 1e-5, &time));
        CHECK_LE(time, at + 1e-5);
    }
}

static void parallel_segments_that_approach_in_their_plane_are_found(void)
{
    const ss_vec3 x[4] = {{0, 0, 0}, {1, 0, 0}, {0.25, 1, 0}, {1.25, 1, 0}};
    const ss_vec3 moved[4] = {{0, 0, 0}, {1, 0, 0}, {0.25, -1, 0}, {1.25, -1, 0}};
    double time;
    CHECK(ss_coplanar_segments(x, moved, 0.1, &time));
    CHECK_NEAR(time, 0.45, 1e-3);
}

// One segment along the other passes its end at a distance of 0.05: the four points are in one
// plane at the start and the end of the motion alone.
static void ends_that_pass_each_other_have_no_crossing(void)
{
    const ss_vec3 x[4] = {{0, 0, 0}, {1, 0, 0}, {1.05, -1, 1}, {1.05, -1, -1}};
    const ss_vec3 moved[4] = {{0, 0, 0.5}, {1, 0, 0.5}, {1.05, -0.02, 1.5}, {1.05, -0.02, -0.5}};
    double time;
    CHECK(!ss_coplanar_segments(x, moved, 0.06, &time));
    CHECK(ss_swept_segments(x, moved, 0.06, &time));
    CHECK_LE(0.9, time);
}

static void run_tests(void)
{
    RUN_TEST(cubics_have_the_roots_that_they_are_made_of);
    RUN_TEST(special_cubics_have_their_roots);
    RUN_TEST(roots_are_those_that_sampling_finds);
    RUN_TEST(crossings_are_touches_that_advancement_finds);
    RUN_TEST(no_crossing_made_on_purpose_is_missed);
    RUN_TEST(parallel_segments_that_approach_in_their_plane_are_found);
    RUN_TEST(ends_that_pass_each_other_have_no_crossing);
}

const test_group coplanar_tests = {.run = run_tests, .set_up = set_up};
