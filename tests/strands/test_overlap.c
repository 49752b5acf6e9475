// Places that keep moving segments from ending in each other: closed forms, and what moving them apart does.
#include "strands/contact/collide.h"

#include "strands/contact/proximity.h"
#include "tests/support/random_points.h"
#include "tests/support/support.h"

#define RADII 0.1

static const ss_slack NONE = {0.0, 0.0};
static ss_random g;
static ss_touch t[SS_OVERLAPS_MOST];

static void set_up(void)
{
    g = ss_random_seeded(5);
}

// Two of length 1 across each other's middles: along x at rest, and along z from y = 1 to y = `end`.
static int cross(double end)
{
    const ss_vec3 x[4] = {{0.0, 0.0, -0.5}, {0.0, 0.0, 0.5}, {-0.5, -1.0, 0.0}, {0.5, -1.0, 0.0}};
    const ss_vec3 moved[4] = {
        {0.0, end - 1.0, -0.5}, {0.0, end - 1.0, 0.5}, {-0.5, -1.0, 0.0}, {0.5, -1.0, 0.0}};
    return ss_overlap_segments(x, moved, RADII, NONE, t);
}

static void segments_are_kept_on_the_side_from_which_they_came(void)
{
    CHECK(cross(0.11) == 0);
    // Just touched; halfway through; the axes behind each other; wholly through.
    const double ends[] = {0.08, 0.02, -0.05, -0.5};
    for (int k = 0; k < 4; k++) {
        TEST_ASSERT_EQUAL_INT(1, cross(ends[k]));
        CHECK_LE(ss_length(ss_minus(t[0].n, ss_vec(0.0, 1.0, 0.0))), 1e-12);
        CHECK_NEAR(t[0].a, 0.5, 1e-9);
        CHECK_NEAR(t[0].b, 0.5, 1e-9);
        CHECK_NEAR(t[0].gap, 0.0, 0.0);
        CHECK_NEAR(t[0].gap + t[0].ahead, 1.0 - RADII, 1e-9); // what may close
    }
}

static void parallel_segments_have_places_at_both_ends(void)
{
    // The second begins amid the first; they end as far apart as their radii are to one half.
    const ss_vec3 x[4] = {{0.0, 0.0, 0.0}, {2.0, 0.0, 0.0}, {0.5, 1.0, 0.0}, {3.0, 1.0, 0.0}};
    const ss_vec3 down = {0.0, 0.5 * RADII - 1.0, 0.0};
    const ss_vec3 moved[4] = {x[0], x[1], ss_plus(x[2], down), ss_plus(x[3], down)};
    TEST_ASSERT_EQUAL_INT(3, ss_overlap_segments(x, moved, RADII, NONE, t));
    const double a[3] = {0.625, 0.25, 1.0}, b[3] = {0.3, 0.0, 0.6};
    for (int k = 0; k < 3; k++) {
        CHECK_NEAR(t[k].a, a[k], 1e-12);
        CHECK_NEAR(t[k].b, b[k], 1e-12);
        CHECK_LE(ss_length(ss_minus(t[k].n, ss_vec(0.0, -1.0, 0.0))), 1e-12);
        CHECK_NEAR(t[k].gap + t[k].ahead, 1.0 - RADII, 1e-12);
    }
}

// All but a share of what was there at the start may be left, and so much in any case.
static void overlaps_of_the_start_are_taken_back_in_part(void)
{
    const ss_vec3 x[4] = {{0.0, 0.06, -0.5}, {0.0, 0.06, 0.5}, {-0.5, 0.0, 0.0}, {0.5, 0.0, 0.0}};
    const ss_slack slacks[] = {{0.0, 0.0}, {0.0, 0.5}, {0.03, 0.5}};
    const double least[] = {0.06, 0.08, 0.07}; // of the distance at the end
    for (int k = 0; k < 3; k++) {
        for (int deeper = 0; deeper < 2; deeper++) {
            const double y = least[k] + (deeper == 1 ? -1e-6 : 1e-6);
            const ss_vec3 moved[4] = {{0.0, y, -0.5}, {0.0, y, 0.5}, x[2], x[3]};
            const int count = ss_overlap_segments(x, moved, RADII, slacks[k], t);
            TEST_ASSERT_EQUAL_INT(deeper, count);
        }
        CHECK_NEAR(t[0].gap, -0.04, 1e-12);
        CHECK_NEAR(t[0].ahead, 0.0, 1e-12);
    }
}

// The segments, a's moved along the place's normal by what it asks for.
static double distance_after(const ss_vec3 x[4], const ss_vec3 moved[4], const ss_touch *place)
{
    double by = place->gap + place->ahead, a, b; // < 0 by what is missing at the end
    ss_vec3 way[4];
    for (int i = 0; i < 4; i++) {
        way[i] = ss_minus(moved[i], x[i]);
    }
    by += ss_dot(place->n, ss_minus(ss_between(way[0], way[1], place->a),
                                    ss_between(way[2], way[3], place->b)));
    const ss_vec3 shift = ss_scaled(-by, place->n);
    return ss_segments_exact(ss_plus(moved[0], shift), ss_plus(moved[1], shift), moved[2], moved[3],
                             &a, &b);
}

// A strand bends over a bar, at rest along x, first touches it by both its ends, on different sides, and ends with its
// middle on the axis of the bar: both of its segments end there.
static void segments_that_end_in_one_vertex_are_kept_on_one_side(void)
{
    const ss_vec3 bar[2] = {{-2.0, 0.0, 0.0}, {2.0, 0.0, 0.0}};
    const ss_vec3 x[3] = {{-1.0, 0.5, -0.3}, {0.0, 1.2, 0.001}, {1.0, 0.5, 0.3}};
    const ss_vec3 moved[3] = {{-1.0, 0.05, 0.005}, {0.0, 0.0, 0.001}, {1.0, 0.05, 0.005}};
    ss_vec3 n[2];
    for (int k = 0; k < 2; k++) {
        const ss_vec3 from[4] = {x[k], x[k + 1], bar[0], bar[1]};
        const ss_vec3 to[4] = {moved[k], moved[k + 1], bar[0], bar[1]};
        CHECK(ss_overlap_segments(from, to, RADII, NONE, t) > 0);
        CHECK_NEAR(t[0].a, 1.0 - k, 0.0);
        n[k] = t[0].n;
    }
    CHECK_LE(0.7, ss_dot(n[0], n[1]));
    CHECK_LE(0.9, n[0].y);
}

// Where the normal of the end is not that of the first touch, one look may leave some of it.
static void holding_a_place_ends_the_overlap(void)
{
    int found = 0, crossed = 0, ended = 0;
    for (int k = 0; k < 4000; k++) {
        ss_vec3 x[4], moved[4];
        for (int i = 0; i < 4; i++) {
            x[i] = random_point(&g, 1.0);
            moved[i] = ss_plus(x[i], random_point(&g, 0.2));
        }
        double a, b;
        const double before = ss_segments_exact(x[0], x[1], x[2], x[3], &a, &b);
        const double end = ss_segments_exact(moved[0], moved[1], moved[2], moved[3], &a, &b);
        const int count = ss_overlap_segments(x, moved, RADII, NONE, t);
        if (before < RADII || end > 0.99 * RADII) {
            continue;
        }
        found++;
        CHECK(count > 0);
        CHECK_NEAR(ss_length(t[0].n), 1.0, 1e-12);
        CHECK_NEAR(t[0].a, a, 0.0);
        CHECK_NEAR(t[0].b, b, 0.0);
        // A shift leaves the nearest points of lines where they are.
        const bool inside = a > 0.0 && a < 1.0 && b > 0.0 && b < 1.0;
        crossed += inside;
        ended += inside && fabs(distance_after(x, moved, &t[0]) - RADII) < 1e-9;
    }
    CHECK(found > 100 && crossed > 50);
    CHECK_LE(0.95 * crossed, ended);
}

static void a_segment_is_kept_out_of_a_plane_at_its_deepest_point(void)
{
    const ss_obstacle floor = {.kind = SS_OBSTACLE_PLANE};
    const ss_pose pose = ss_pose_identity();
    const ss_vec3 x[2] = {{0.0, 0.0, 1.0}, {1.0, 0.0, 2.0}};
    const ss_vec3 moved[2] = {{0.0, 0.0, 0.3}, {1.0, 0.0, 0.04}};
    CHECK(ss_overlap_obstacle(&floor, &pose, x, moved, RADII, NONE, t));
    CHECK_NEAR(t[0].a, 1.0, 0.0);
    CHECK_NEAR(t[0].gap, 0.0, 0.0);
    CHECK_NEAR(t[0].ahead, 2.0 - RADII, 1e-12);
    CHECK_LE(ss_length(ss_minus(t[0].n, ss_vec(0.0, 0.0, 1.0))), 1e-12);
    CHECK(!ss_overlap_obstacle(&floor, &pose, x, moved, RADII, (ss_slack){0.07, 0.0}, t));
}

static void run_tests(void)
{
    RUN_TEST(segments_are_kept_on_the_side_from_which_they_came);
    RUN_TEST(parallel_segments_have_places_at_both_ends);
    RUN_TEST(overlaps_of_the_start_are_taken_back_in_part);
    RUN_TEST(segments_that_end_in_one_vertex_are_kept_on_one_side);
    RUN_TEST(holding_a_place_ends_the_overlap);
    RUN_TEST(a_segment_is_kept_out_of_a_plane_at_its_deepest_point);
}

const test_group overlap_tests = {.run = run_tests, .set_up = set_up};
