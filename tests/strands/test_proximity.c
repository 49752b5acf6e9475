// Nearest points of two segments: known answers, sampling, degenerate segments; normals.
#include "strands/contact/proximity.h"

#include "tests/support/random_points.h"
#include "tests/support/support.h"

static ss_random g;

static void set_up(void)
{
    g = ss_random_seeded(11);
}

static ss_vec3 at(ss_vec3 x0, ss_vec3 x1, double abscissa)
{
    return ss_along(x0, abscissa, ss_minus(x1, x0));
}

static double near(ss_vec3 x0, ss_vec3 x1, ss_vec3 y0, ss_vec3 y1, double a, double b)
{
    double found_a, found_b;
    const double distance = ss_segments_nearest(x0, x1, y0, y1, &found_a, &found_b);
    CHECK_NEAR(found_a, a, 1e-15);
    CHECK_NEAR(found_b, b, 1e-15);
    return distance;
}

static void segments_meet_inside_at_an_end_or_at_two(void)
{
    const ss_vec3 x0 = {0, 0, 0}, x1 = {4, 0, 0};
    CHECK_NEAR(near(x0, x1, ss_vec(1, -1, 2), ss_vec(1, 3, 2), 0.25, 0.25), 2.0, 0);
    CHECK_NEAR(near(x0, x1, ss_vec(1, 3, 0), ss_vec(1, 5, 4), 0.25, 0.0), 3.0, 0);
    CHECK_NEAR(near(x0, x1, ss_vec(7, -4, -1), ss_vec(7, -4, 1), 1.0, 0.5), 5.0, 0);
    CHECK_NEAR(near(x0, x1, ss_vec(-3, 4, 0), ss_vec(-3, 9, 1), 0.0, 0.0), 5.0, 0);
    // The lines are nearest beyond both ends: the second point has to be looked for again.
    CHECK_NEAR(near(x0, x1, ss_vec(-8, 5, 0), ss_vec(2, 1, 0), 0.5, 1.0), 1.0, 0);
}

static void parallel_segments_touch_at_the_middle_of_their_overlap(void)
{
    const ss_vec3 x0 = {0, 0, 0}, x1 = {4, 0, 0};
    CHECK_NEAR(near(x0, x1, ss_vec(2, 1, 0), ss_vec(10, 1, 0), 0.75, 0.125), 1.0, 0);
    CHECK_NEAR(near(x0, x1, ss_vec(10, 1, 0), ss_vec(2, 1, 0), 0.75, 0.875), 1.0, 0);
    CHECK_NEAR(near(x0, x1, ss_vec(1, 0, 2), ss_vec(3, 0, 2), 0.5, 0.5), 2.0, 0);
    CHECK_NEAR(near(x0, x1, ss_vec(7, 4, 0), ss_vec(9, 4, 0), 1.0, 0.0), 5.0, 0);
    CHECK_NEAR(near(x0, x1, ss_vec(-9, 4, 0), ss_vec(-3, 4, 0), 0.0, 1.0), 5.0, 0);
    // sin^2 = 0.9e-4 against 1.1e-4: the rule's threshold.
    double a, b;
    ss_segments_nearest(x0, x1, ss_vec(0, 1, 0), ss_vec(4, 1 + 4 * sqrt(0.9e-4), 0), &a, &b);
    CHECK_NEAR(a, 0.5, 1e-3);
    ss_segments_nearest(x0, x1, ss_vec(0, 1, 0), ss_vec(4, 1 + 4 * sqrt(1.1e-4), 0), &a, &b);
    CHECK_NEAR(a, 0.0, 1e-9);
}

static void segments_without_length_are_points(void)
{
    const ss_vec3 x0 = {0, 0, 0}, x1 = {4, 0, 0}, p = {1, 3, 0}, q = {5, 6, 0};
    CHECK_NEAR(near(x0, x1, p, p, 0.25, 0.0), 3.0, 0);
    CHECK_NEAR(near(p, p, x0, x1, 0.0, 0.25), 3.0, 0);
    CHECK_NEAR(near(p, p, q, q, 0.0, 0.0), 5.0, 0);
    CHECK_NEAR(near(p, p, p, p, 0.0, 0.0), 0.0, 0);
}

static void no_sampled_pair_of_points_is_nearer(void)
{
    enum { N = 40 };
    for (int k = 0; k < 3000; k++) {
        const ss_vec3 x0 = random_point(&g, 1), x1 = random_point(&g, 1), y0 = random_point(&g, 1);
        // From crossing to parallel to 1e-12.
        const double skew = pow(10.0, -(k % 13));
        const ss_vec3 y1 = ss_plus(ss_along(y0, ss_random_between(&g, -1.5, 1.5), ss_minus(x1, x0)),
                                   random_point(&g, skew));
        double a, b;
        const double exact = ss_segments_exact(x0, x1, y0, y1, &a, &b);
        CHECK(a >= 0.0 && a <= 1.0 && b >= 0.0 && b <= 1.0);
        CHECK_NEAR(ss_length(ss_minus(at(x0, x1, a), at(y0, y1, b))), exact, 1e-14);
        double least = INFINITY;
        for (int i = 0; i <= N * N + 2 * N; i++) {
            const ss_vec3 x = at(x0, x1, (double)(i / (N + 1)) / N);
            const ss_vec3 y = at(y0, y1, (double)(i % (N + 1)) / N);
            least = fmin(least, ss_length(ss_minus(x, y)));
        }
        CHECK_LE(exact, least + 1e-10);
        CHECK_LE(least, exact + 3.5 / N);
        CHECK_LE(exact, ss_segments_nearest(x0, x1, y0, y1, &a, &b) + 1e-10);
    }
}

static void the_cheap_bound_is_never_above_the_distance(void)
{
    int beyond = 0;
    for (int k = 0; k < 20000; k++) {
        const ss_vec3 x0 = random_point(&g, 1), x1 = random_point(&g, 1), y0 = random_point(&g, 1);
        const double skew = pow(10.0, -(k % 9));
        const ss_vec3 y1 = ss_plus(ss_along(y0, ss_random_between(&g, -1.5, 1.5), ss_minus(x1, x0)),
                                   random_point(&g, skew));
        const ss_vec3 x[] = {x0, x1}, y[] = {y0, y1};
        double a, b;
        const double distance = ss_segments_exact(x0, x1, y0, y1, &a, &b);
        CHECK(!ss_segments_are_beyond(x, y, distance));
        beyond += ss_segments_are_beyond(x, y, 0.3 * distance);
    }
    CHECK(beyond > 5000);
}

static void coincident_segments_have_unit_normals(void)
{
    const ss_vec3 w[] = {{0, 0, 0}, {1e-20, 0, 0}, {1e-170, 0, 0}}, d[] = {{1, 0, 0}, {0, 0, 0}};
    const ss_vec3 e[] = {{0, 1, 0}, {2, 0, 0}, {0, 0, 0}, {1, 1e-15, 0}};
    for (int k = 0; k < 24; k++) {
        const ss_vec3 n = ss_normal_between(w[k % 3], d[k / 3 % 2], e[k / 6]);
        CHECK_NEAR(ss_length(n), 1.0, 1e-14);
        CHECK_NEAR(ss_dot(n, k % 3 == 0 || k / 3 % 2 == 0 ? d[k / 3 % 2] : w[0]), 0.0, 1e-14);
    }
    const ss_vec3 n = ss_normal_between(w[0], d[0], e[0]);
    CHECK_NEAR(n.z, 1.0, 0);
}

static void run_tests(void)
{
    RUN_TEST(segments_meet_inside_at_an_end_or_at_two);
    RUN_TEST(parallel_segments_touch_at_the_middle_of_their_overlap);
    RUN_TEST(segments_without_length_are_points);
    RUN_TEST(no_sampled_pair_of_points_is_nearer);
    RUN_TEST(the_cheap_bound_is_never_above_the_distance);
    RUN_TEST(coincident_segments_have_unit_normals);
}

const test_group proximity_tests = {.run = run_tests, .set_up = set_up};
