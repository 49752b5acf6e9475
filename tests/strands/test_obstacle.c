// The nearest or deepest point of a segment at each kind of obstacle: known answers, conditions
// that the nearest point fulfils, and sampling.
#include "strands/contact/obstacle.h"
#include "strands/contact/proximity.h"

#include "tests/support/random_points.h"
#include "tests/support/support.h"

static ss_random g;
static const ss_pose upright = {{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, {0, 0, 0}};

static void set_up(void)
{
    g = ss_random_seeded(3);
}

static ss_obstacle_near nearest(ss_obstacle_kind kind, ss_vec3 size, ss_vec3 x0, ss_vec3 x1)
{
    const ss_obstacle o = {.kind = kind, .size = size};
    ss_obstacle_near near;
    ss_obstacle_nearest(&o, &upright, x0, x1, &near);
    return near;
}

static double distance_of(ss_obstacle_kind kind, ss_vec3 size, ss_vec3 x)
{
    return nearest(kind, size, x, x).distance;
}

static void check_point(ss_vec3 actual, double x, double y, double z)
{
    CHECK_NEAR(actual.x, x, 1e-12);
    CHECK_NEAR(actual.y, y, 1e-12);
    CHECK_NEAR(actual.z, z, 1e-12);
}

static void check_near(ss_obstacle_near near, double a, ss_vec3 y, ss_vec3 n, double distance)
{
    CHECK_NEAR(near.a, a, 1e-9);
    check_point(ss_minus(near.y, y), 0, 0, 0);
    check_point(ss_minus(near.n, n), 0, 0, 0);
    CHECK_NEAR(near.distance, distance, 1e-12);
}

static void sphere_known_answers(void)
{
    const ss_vec3 one = {1, 0, 0};
    check_near(nearest(SS_OBSTACLE_SPHERE, one, ss_vec(-1, 0, 3), ss_vec(3, 0, 3)), 0.25,
               ss_vec(0, 0, 1), ss_vec(0, 0, 1), 2.0);
    check_near(nearest(SS_OBSTACLE_SPHERE, one, ss_vec(2, 0, 0), ss_vec(4, 1, 0)), 0.0,
               ss_vec(1, 0, 0), ss_vec(1, 0, 0), 1.0);
    // Inside, the deepest point is the one nearest to the centre.
    check_near(nearest(SS_OBSTACLE_SPHERE, one, ss_vec(-1, 0.25, 0), ss_vec(1, 0.25, 0)), 0.5,
               ss_vec(0, 1, 0), ss_vec(0, 1, 0), -0.75);
}

static void plane_takes_the_deeper_end_or_the_middle(void)
{
    const ss_vec3 none = {0, 0, 0}, up = {0, 0, 1};
    check_near(nearest(SS_OBSTACLE_PLANE, none, ss_vec(0, 0, 1), ss_vec(2, 0, -1)), 1.0,
               ss_vec(2, 0, 0), up, -1.0);
    check_near(nearest(SS_OBSTACLE_PLANE, none, ss_vec(0, 0, 1), ss_vec(2, 0, 3)), 0.0,
               ss_vec(0, 0, 0), up, 1.0);
    check_near(nearest(SS_OBSTACLE_PLANE, none, ss_vec(0, 0, 1), ss_vec(2, 4, 1)), 0.5,
               ss_vec(1, 2, 0), up, 1.0);
    // Level up to rounding.
    CHECK_NEAR(nearest(SS_OBSTACLE_PLANE, none, ss_vec(0, 0, 1), ss_vec(2, 4, 1 - 1e-15)).a, 0.5,
               0);
}

static void cylinder_has_a_side_caps_and_rims(void)
{
    const ss_vec3 size = {1, 1, 2};
    check_near(nearest(SS_OBSTACLE_CYLINDER, size, ss_vec(3, -1, 0), ss_vec(3, 1, 0)), 0.5,
               ss_vec(1, 0, 0), ss_vec(1, 0, 0), 2.0);
    check_near(nearest(SS_OBSTACLE_CYLINDER, size, ss_vec(0.5, 0, -3), ss_vec(0.5, 0, -5)), 0.0,
               ss_vec(0.5, 0, -2), ss_vec(0, 0, -1), 1.0);
    check_near(nearest(SS_OBSTACLE_CYLINDER, size, ss_vec(4, 0, 6), ss_vec(4, 0, 6)), 0.0,
               ss_vec(1, 0, 2), ss_vec(0.6, 0, 0.8), 5.0);
    // Across the rim: x + z = 5 is nearest to (1, ., 2) at (2, ., 3).
    check_near(nearest(SS_OBSTACLE_CYLINDER, size, ss_vec(1, 0, 4), ss_vec(3, 0, 2)), 0.5,
               ss_vec(1, 0, 2), ss_vec(sqrt(0.5), 0, sqrt(0.5)), sqrt(2.0));
    // Inside, by the nearer of side and cap.
    check_near(nearest(SS_OBSTACLE_CYLINDER, size, ss_vec(0.5, 0, 0), ss_vec(0.75, 0, 0)), 0.0,
               ss_vec(1, 0, 0), ss_vec(1, 0, 0), -0.5);
    check_near(nearest(SS_OBSTACLE_CYLINDER, size, ss_vec(0, 0, 1.75), ss_vec(0, 0, 1.5)), 1.0,
               ss_vec(0, 0, 2), ss_vec(0, 0, 1), -0.5);
}

static void long_flat_contacts_are_in_their_middle(void)
{
    const ss_vec3 size = {1, 1, 2};
    // Along the side, beside z in -1 .. 2 only; across a cap, above x in -1 .. 1 only.
    CHECK_NEAR(nearest(SS_OBSTACLE_CYLINDER, size, ss_vec(2, 0, -1), ss_vec(2, 0, 5)).a, 0.25,
               1e-9);
    CHECK_NEAR(nearest(SS_OBSTACLE_CYLINDER, size, ss_vec(-2, 0, 3), ss_vec(6, 0, 3)).a, 0.25,
               1e-9);
    CHECK_NEAR(nearest(SS_OBSTACLE_CAPSULE, size, ss_vec(2, 0, -1), ss_vec(2, 0, 5)).a, 0.25, 1e-9);
}

static void capsule_known_answers(void)
{
    const ss_vec3 size = {1, 1, 2};
    check_near(nearest(SS_OBSTACLE_CAPSULE, size, ss_vec(3, -1, 0), ss_vec(3, 1, 0)), 0.5,
               ss_vec(1, 0, 0), ss_vec(1, 0, 0), 2.0);
    check_near(nearest(SS_OBSTACLE_CAPSULE, size, ss_vec(3, 0, 6), ss_vec(6, 0, 10)), 0.0,
               ss_vec(0.6, 0, 2.8), ss_vec(0.6, 0, 0.8), 4.0);
}

static void ellipsoid_known_answers(void)
{
    const ss_vec3 size = {3, 2, 1};
    check_near(nearest(SS_OBSTACLE_ELLIPSOID, size, ss_vec(5, -1, 0), ss_vec(5, 1, 0)), 0.5,
               ss_vec(3, 0, 0), ss_vec(1, 0, 0), 2.0);
    check_near(nearest(SS_OBSTACLE_ELLIPSOID, size, ss_vec(-1, 0, -4), ss_vec(1, 0, -4)), 0.5,
               ss_vec(0, 0, -1), ss_vec(0, 0, -1), 3.0);
    // The centre is nearest to the end of the shortest half axis.
    CHECK_NEAR(distance_of(SS_OBSTACLE_ELLIPSOID, size, ss_vec(0, 0, 0)), -1.0, 1e-12);
    // On the long axis near its end, within a^2 - c^2 over a = 8/3: the foot is not on the axis
    // before and on it beyond.
    CHECK_NEAR(distance_of(SS_OBSTACLE_ELLIPSOID, size, ss_vec(2.8, 0, 0)), -0.2, 1e-12);
    // (x, 0, 0) with x = 4/3: y1 = 9 x/8 = 3/2, y3 = sqrt(3)/2, distance sqrt(1/36 + 3/4).
    CHECK_NEAR(distance_of(SS_OBSTACLE_ELLIPSOID, size, ss_vec(4.0 / 3, 0, 0)), -sqrt(7.0 / 9),
               1e-12);
}

static void ellipsoid_with_equal_axes_is_a_sphere(void)
{
    for (int k = 0; k < 500; k++) {
        const ss_vec3 x0 = random_point(&g, 3), x1 = random_point(&g, 3), size = {1.5, 1.5, 1.5};
        const ss_obstacle_near e = nearest(SS_OBSTACLE_ELLIPSOID, size, x0, x1);
        const ss_obstacle_near s = nearest(SS_OBSTACLE_SPHERE, size, x0, x1);
        CHECK_NEAR(e.distance, s.distance, 1e-11);
        CHECK_NEAR(e.a, s.a, 1e-6);
        CHECK_LE(ss_length(ss_minus(e.n, s.n)), 1e-5);
    }
}

// Stationary: y is on the surface, n its normal, x - y = distance n. Global: no other surface point
// is nearer.
static void ellipsoid_foot_is_the_nearest_surface_point(void)
{
    const ss_vec3 sizes[] = {{3, 2, 1}, {0.075, 0.11, 0.095}, {1, 1, 5}, {5, 5, 1}, {1, 1e-3, 2}};
    for (int k = 0; k < 200; k++) {
        const ss_vec3 s = sizes[k % 5];
        const double largest = fmax(s.x, fmax(s.y, s.z));
        ss_vec3 x = random_point(&g, k % 2 == 0 ? 1.5 * largest : 0.5 * largest);
        x.z = k % 7 == 0 ? 0.0 : x.z;
        const ss_obstacle_near near = nearest(SS_OBSTACLE_ELLIPSOID, s, x, x);
        const ss_vec3 y = near.y, in = {x.x / s.x, x.y / s.y, x.z / s.z};
        const ss_vec3 steep = {y.x / (s.x * s.x), y.y / (s.y * s.y), y.z / (s.z * s.z)};
        CHECK_NEAR(y.x * steep.x + y.y * steep.y + y.z * steep.z, 1.0, 1e-9);
        CHECK_LE(ss_length(ss_cross(ss_unit(steep), near.n)), 1e-8);
        CHECK(ss_dot(steep, near.n) > 0.0);
        CHECK((near.distance < 0.0) == (ss_length(in) < 1.0));
        for (int i = 0; i < 2000; i++) {
            double u[3];
            ss_random_direction(&g, 3, u);
            const ss_vec3 other = ss_vec(s.x * u[0], s.y * u[1], s.z * u[2]);
            CHECK_LE(fabs(near.distance), ss_length(ss_minus(x, other)) + 1e-12);
        }
    }
}

static const struct shape {
    ss_obstacle_kind kind;
    ss_vec3 size;
} shapes[] = {
    {SS_OBSTACLE_SPHERE, {0.7, 0, 0}},        {SS_OBSTACLE_ELLIPSOID, {0.3, 0.9, 0.5}},
    {SS_OBSTACLE_ELLIPSOID, {0.8, 0.8, 0.1}}, {SS_OBSTACLE_PLANE, {0, 0, 0}},
    {SS_OBSTACLE_CYLINDER, {0.5, 0, 0.8}},    {SS_OBSTACLE_CAPSULE, {0.3, 0, 0.6}},
};
enum { NSHAPES = sizeof shapes / sizeof shapes[0] };

static void no_sampled_point_is_nearer_or_deeper(void)
{
    for (int k = 0; k < 100 * NSHAPES; k++) {
        const struct shape *s = &shapes[k % NSHAPES];
        const ss_vec3 x0 = random_point(&g, k % 3 == 0 ? 0.4 : 1.5);
        const ss_vec3 x1 = k % 5 == 0 ? ss_plus(x0, ss_vec(0, 0, 0.5)) : random_point(&g, 1.5);
        const ss_obstacle_near near = nearest(s->kind, s->size, x0, x1);
        double least = INFINITY;
        for (int i = 0; i <= 400; i++) {
            const ss_vec3 x = ss_along(x0, i / 400.0, ss_minus(x1, x0));
            least = fmin(least, distance_of(s->kind, s->size, x));
        }
        CHECK_LE(near.distance, least + 1e-12);
        CHECK_LE(least, near.distance + ss_length(ss_minus(x1, x0)) / 800.0);
        const ss_vec3 x = ss_along(x0, near.a, ss_minus(x1, x0));
        CHECK_NEAR(distance_of(s->kind, s->size, x), near.distance, 1e-12);
        check_point(ss_minus(ss_along(near.y, near.distance, near.n), x), 0, 0, 0);
    }
}

static void a_pose_turns_and_shifts_the_answer(void)
{
    for (int k = 0; k < 20 * NSHAPES; k++) {
        const struct shape *s = &shapes[k % NSHAPES];
        const ss_obstacle o = {.kind = s->kind, .size = s->size};
        const ss_pose pose = {ss_rotation(random_point(&g, 3)), random_point(&g, 2)};
        const ss_vec3 x0 = random_point(&g, 1), x1 = random_point(&g, 1);
        const ss_obstacle_near here = nearest(s->kind, s->size, x0, x1);
        ss_obstacle_near there;
        ss_obstacle_nearest(&o, &pose, ss_pose_point(&pose, x0), ss_pose_point(&pose, x1), &there);
        CHECK_NEAR(there.distance, here.distance, 1e-12);
        CHECK_LE(ss_length(ss_minus(there.n, ss_turned(&pose.turn, here.n))), 1e-6);
        CHECK_LE(ss_length(ss_minus(there.y, ss_pose_point(&pose, here.y))), 1e-6);
    }
}

static void within_says_what_nearest_says(void)
{
    int near_ones = 0;
    for (int k = 0; k < 1000 * NSHAPES; k++) {
        const struct shape *s = &shapes[k % NSHAPES];
        const ss_obstacle o = {.kind = s->kind, .size = s->size};
        const ss_vec3 x0 = random_point(&g, 2), x1 = ss_plus(x0, random_point(&g, 0.3));
        const double reach = ss_random_between(&g, 0.0, 0.5);
        const ss_obstacle_near sure = nearest(s->kind, s->size, x0, x1);
        ss_obstacle_near near = {.a = NAN};
        const bool is_within = ss_obstacle_within(&o, &upright, x0, x1, reach, &near);
        CHECK(is_within == (sure.distance < reach));
        if (is_within) {
            near_ones++;
            CHECK_NEAR(near.a, sure.a, 0);
            CHECK_NEAR(near.distance, sure.distance, 0);
        }
    }
    CHECK(near_ones > 500 && near_ones < 900 * NSHAPES);
}

static void nothing_beyond_the_ball_is_within_reach(void)
{
    int beyond = 0;
    for (int k = 0; k < 1000 * NSHAPES; k++) {
        const struct shape *s = &shapes[k % NSHAPES];
        const ss_obstacle o = {.kind = s->kind, .size = s->size};
        ss_pose pose = ss_pose_identity();
        pose.turn = ss_rotation(random_point(&g, 3));
        pose.place = random_point(&g, 1);
        const ss_vec3 x0 = random_point(&g, 3), x[2] = {x0, ss_plus(x0, random_point(&g, 0.3))};
        const double reach = ss_random_between(&g, 0.0, 0.5);
        const ss_segment_bar bar = ss_segment_bar_of(x);
        ss_obstacle_near near;
        if (ss_bar_is_beyond(&bar, pose.place, ss_obstacle_ball(&o) + reach)) {
            beyond++;
            CHECK(!ss_obstacle_within(&o, &pose, x[0], x[1], reach, &near));
        }
    }
    CHECK(beyond > 50 * NSHAPES);
}

static void degenerate_segments_have_unit_normals(void)
{
    const ss_vec3 special[] = {{0, 0, 0},   {0.3, 0, 0},  {-0.3, 0, 0}, {0, 0.5, 0},
                               {0, 0, 0.8}, {0, 0, -0.8}, {0, 0, 0.6},  {1e-300, 0, 0},
                               {0, 0, 5},   {0.5, 0, 0.8}};
    enum { N = sizeof special / sizeof special[0] };
    for (int k = 0; k < NSHAPES * N * N; k++) {
        const struct shape *s = &shapes[k / (N * N)];
        const ss_obstacle_near near = nearest(s->kind, s->size, special[k / N % N], special[k % N]);
        CHECK_NEAR(ss_length(near.n), 1.0, 1e-14);
        CHECK(near.a >= 0.0 && near.a <= 1.0 && isfinite(near.distance));
        CHECK(isfinite(near.y.x + near.y.y + near.y.z));
        const ss_obstacle_near again =
            nearest(s->kind, s->size, special[k / N % N], special[k % N]);
        check_point(ss_minus(again.n, near.n), 0, 0, 0);
    }
}

static void run_tests(void)
{
    RUN_TEST(sphere_known_answers);
    RUN_TEST(plane_takes_the_deeper_end_or_the_middle);
    RUN_TEST(cylinder_has_a_side_caps_and_rims);
    RUN_TEST(long_flat_contacts_are_in_their_middle);
    RUN_TEST(capsule_known_answers);
    RUN_TEST(ellipsoid_known_answers);
    RUN_TEST(ellipsoid_with_equal_axes_is_a_sphere);
    RUN_TEST(ellipsoid_foot_is_the_nearest_surface_point);
    RUN_TEST(no_sampled_point_is_nearer_or_deeper);
    RUN_TEST(a_pose_turns_and_shifts_the_answer);
    RUN_TEST(within_says_what_nearest_says);
    RUN_TEST(nothing_beyond_the_ball_is_within_reach);
    RUN_TEST(degenerate_segments_have_unit_normals);
}

const test_group obstacle_tests = {.run = run_tests, .set_up = set_up};
