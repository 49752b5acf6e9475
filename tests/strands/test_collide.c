// Contacts: the rules of collide.h, and fast crossings.
#include "strands/contact/collide.h"

#include <string.h>

#include "tests/support/one_collider.h"

static void a_touch_has_its_gap_normal_and_point(void)
{
    const int first[] = {0, 3, 6};
    const ss_vec3 x[] = {{-2, 0, 0}, {-1, 0, 0}, {1, 0, 0}, {0, 5, 3}, {0, 1, 3}, {0, -1, 3}};
    const ss_polylines lines = {.nstrands = 2, .first = first, .x = x, .radius = 1.25};
    CHECK_OK(collide(&lines, NULL, NULL, 0, 0.6));
    TEST_ASSERT_EQUAL_INT(1, count);
    const ss_touch t = touches[0];
    CHECK(t.strand_a == 0 && t.segment_a == 1 && t.strand_b == 1 && t.segment_b == 1);
    CHECK_NEAR(t.a, 0.5, 0);
    CHECK_NEAR(t.b, 0.5, 0);
    CHECK_NEAR(t.gap, 0.5, 1e-15);
    CHECK_NEAR(ss_length(ss_minus(t.n, ss_vec(0, 0, -1))), 0.0, 0);
    CHECK_NEAR(ss_length(ss_minus(t.y, ss_vec(0, 0, 3))), 0.0, 0);
    TEST_ASSERT_EQUAL_INT(0, count_touches(&lines, 0.5)); // gap < margin, not <=
}

static void neighbours_and_roots_never_touch(void)
{
    // A square of one strand that does not close: three pairs of sides are no neighbours.
    const int square[] = {0, 5};
    const ss_vec3 x[] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0.1, 0}};
    ss_polylines lines = {.nstrands = 1, .first = square, .x = x, .radius = 0.6};
    TEST_ASSERT_EQUAL_INT(3, count_touches(&lines, 0.0));
    // Two strands of one segment each: they touch unless both roots are held.
    const int roots[] = {0, 2, 4}, both[] = {3, -1, 0, -1}, one[] = {3, -1, -1, -1};
    lines = (ss_polylines){.nstrands = 2, .first = roots, .x = x, .radius = 0.6};
    TEST_ASSERT_EQUAL_INT(1, count_touches(&lines, 0.0));
    lines.holder = one;
    TEST_ASSERT_EQUAL_INT(1, count_touches(&lines, 0.0));
    lines.holder = both;
    TEST_ASSERT_EQUAL_INT(0, count_touches(&lines, 0.0));
}

// A stem of three segments and a twig of two that branches from its vertex 1: the twig's first segment
// has two neighbours on the stem, there is none between the polylines, and the twig's vertex touches
// once.
static void a_branch_is_no_segment_and_has_neighbours(void)
{
    const int first[] = {0, 7};
    const int branch[] = {-1, -1, -1, -1, 1, -1, -1};
    const ss_vec3 x[] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0},
                         {1, 0, 0}, {1, 1, 0}, {2, 1, 0}};
    ss_polylines lines = {.nstrands = 1, .first = first, .x = x, .radius = 0.499, .branch = branch};
    TEST_ASSERT_EQUAL_INT(0, count_touches(&lines, 0.0));
    lines.radius =
        0.51; // both twigs with the stem's segments across: (2, 5), (1, 5), (0, 5), (2, 4)
    CHECK(count_touches(&lines, 0.0) > 0);
    for (int i = 0; i < count; i++) {
        CHECK(touches[i].segment_a != 3 && touches[i].segment_b != 3);
        CHECK(!(touches[i].segment_b == 4 && touches[i].segment_a <= 1));
    }
}

static void a_vertex_touches_once(void)
{
    // The tent's top is nearest to the bar, as end of one segment and start of the next.
    const int first[] = {0, 4, 6};
    const ss_vec3 x[] = {{-3, 0, -3}, {-1, 0, -1},  {0, 0, 0},
                         {1, 0, -1},  {0, -1, 0.5}, {0, 1, 0.5}};
    const ss_polylines lines = {.nstrands = 2, .first = first, .x = x, .radius = 0.3};
    TEST_ASSERT_EQUAL_INT(1, count_touches(&lines, 0.0));
    TEST_ASSERT_EQUAL_INT(2, touches[0].segment_a);
    CHECK_NEAR(touches[0].a, 0.0, 0);
    // The end of the last segment has no next one.
    const int shorter[] = {0, 3, 5};
    const ss_vec3 two[] = {x[0], x[1], x[2], x[4], x[5]};
    const ss_polylines last = {.nstrands = 2, .first = shorter, .x = two, .radius = 0.3};
    TEST_ASSERT_EQUAL_INT(1, count_touches(&last, 0.0));
    TEST_ASSERT_EQUAL_INT(1, touches[0].segment_a);
    CHECK_NEAR(touches[0].a, 1.0, 0);
}

static void what_is_held_inside_an_obstacle_of_its_holder_does_not_touch_it(void)
{
    const int first[] = {0, 3, 6};
    const int held[] = {1, -1, -1, 2, -1, -1}, tips[] = {-1, -1, 1, -1, 1, 1};
    const ss_vec3 x[] = {{0, 0, 0},   {0.5, 0, 0}, {0.9, 0, 0},
                         {0, 0.1, 0}, {0, 0.5, 0}, {0, 0.9, 0}};
    const ss_obstacle ball = {.kind = SS_OBSTACLE_SPHERE, .size = {1, 0, 0}, .body = 1};
    const ss_pose pose = ss_pose_identity();
    ss_polylines lines = {.nstrands = 2, .first = first, .x = x, .radius = 0.01, .holder = held};
    CHECK_OK(collide(&lines, &ball, &pose, 1, 0.0));
    TEST_ASSERT_EQUAL_INT(3, count);
    CHECK(touches[0].strand_a == 0 && touches[0].segment_a == 1 && touches[0].strand_b == -1);
    CHECK(touches[1].strand_a == 1 && touches[1].segment_a == 0 && touches[1].segment_b == 0);
    lines.holder = tips;
    CHECK_OK(collide(&lines, &ball, &pose, 1, 0.0));
    TEST_ASSERT_EQUAL_INT(1, count);
    CHECK(touches[0].strand_a == 0 && touches[0].segment_a == 0);
    lines.holder = NULL;
    CHECK_OK(collide(&lines, &ball, &pose, 1, 0.0));
    TEST_ASSERT_EQUAL_INT(4, count);
}

// A strand leads from a clamp over the ball that the same body carries into the ball.
static void what_is_held_beside_an_obstacle_of_its_holder_touches_it(void)
{
    const int first[] = {0, 2}, holder[] = {1, -1};
    const ss_vec3 x[] = {{0, 1.5, 0}, {1.5, 0.3, 0}};
    const ss_obstacle ball = {.kind = SS_OBSTACLE_SPHERE, .size = {1, 0, 0}, .body = 1};
    const ss_obstacle floor = {.kind = SS_OBSTACLE_PLANE, .body = 1};
    ss_pose poses[] = {ss_pose_identity(), ss_pose_identity()};
    poses[1].place = ss_vec(0, 0, -0.25);
    const ss_polylines lines = {
        .nstrands = 1, .first = first, .x = x, .radius = 0.2, .holder = holder};
    CHECK_OK(collide(&lines, (ss_obstacle[]){ball, floor}, poses, 2, 0.1));
    TEST_ASSERT_EQUAL_INT(3, count); // the segment on the ball, both its ends on the floor
    CHECK(touches[0].segment_b == 0 && touches[1].segment_b == 1 && touches[2].segment_b == 1);
    CHECK(touches[1].a == 0.0 && touches[2].a == 1.0);
}

// By hand: on a ball of radius 1, every vertex whose distance is within the margin, and where it moves
// fast, every vertex whose straight way comes within its radius.
static void vertices_touch_obstacles_where_these_are_asked_for(void)
{
    int holder[40];
    const int first[] = {0, 20, 40};
    const ss_obstacle ball = {.kind = SS_OBSTACLE_SPHERE, .size = {1, 0, 0}, .body = 1};
    const ss_pose pose = ss_pose_identity();
    const double radius = 0.1, margin = 0.05;
    for (int v = 0; v < 40; v++) {
        holder[v] = v < 2 ? 1 : -1;
    }
    for (int k = 0; k < 40; k++) {
        ss_vec3 x[40], moved[40];
        int expected[40], n = 0;
        for (int v = 0; v < 40; v++) {
            double way[3];
            ss_random_direction(&generator, 3, way);
            x[v] =
                ss_scaled(ss_random_between(&generator, 0.9, 1.4), ss_vec(way[0], way[1], way[2]));
            moved[v] = ss_along(x[v], k < 20 ? 0.0 : -2.0, x[v]);
            const double gap = ss_length(x[v]) - 1.0 - radius;
            const bool planted = holder[v] == 1 && gap < 0.0;
            if (!planted && (gap < margin || k >= 20)) {
                expected[n++] = v;
            }
        }
        const ss_polylines lines = {.nstrands = 2,
                                    .first = first,
                                    .x = x,
                                    .moved = k < 20 ? NULL : moved,
                                    .radius = radius,
                                    .holder = holder,
                                    .vertices = true};
        CHECK_OK(collide(&lines, &ball, &pose, 1, margin));
        int found = 0;
        for (int i = 0; i < count; i++) {
            const ss_touch *t = &touches[i];
            if (t->strand_b >= 0) {
                continue;
            }
            const int v = first[t->strand_a] + t->segment_a + (t->a == 1.0);
            CHECK(found < n && v == expected[found++]);
            CHECK(t->a == 0.0 || (t->a == 1.0 && t->segment_a == 18));
            CHECK_NEAR(ss_length(ss_minus(t->n, ss_unit(x[v]))), 0.0, 1e-12);
            CHECK_NEAR(t->gap, ss_length(x[v]) - 1.0 - radius, 1e-12);
        }
        TEST_ASSERT_EQUAL_INT(n, found);
    }
}

static void obstacles_come_before_strands(void)
{
    const int first[] = {0, 2, 6};
    const ss_vec3 x[] = {{0, 0, 0}, {1, 0, 0}, {5, 0, 0}, {4, 0, 0}, {0.5, -0.1, 0}, {0.5, 2, 0}};
    const ss_polylines lines = {.nstrands = 2, .first = first, .x = x, .radius = 0.2};
    const ss_obstacle ball = {.kind = SS_OBSTACLE_SPHERE, .size = {0.3, 0, 0}};
    const ss_obstacle balls[] = {ball, ball, ball, ball, ball};
    ss_pose poses[5];
    for (int o = 0; o < 5; o++) {
        poses[o] = ss_pose_identity();
    }
    CHECK_OK(collide(&lines, balls, poses, 5, 0.0));
    TEST_ASSERT_EQUAL_INT(5 + 2, count);
    for (int o = 0; o < 5; o++) {
        CHECK(touches[o].strand_b == -1 && touches[o].segment_b == o);
    }
    CHECK(touches[5].strand_b == 1 && touches[5].segment_b == 1);
    CHECK(touches[6].strand_b == 1 && touches[6].segment_b == 2);
}

static void bad_vertices_are_refused_with_their_place(void)
{
    const int first[] = {0, 2, 4};
    ss_vec3 x[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}};
    ss_polylines lines = {.nstrands = 2, .first = first, .x = x, .radius = 0.1};
    const double bad[] = {NAN, INFINITY, -INFINITY, 1e200};
    for (int k = 0; k < 4; k++) {
        x[3].y = bad[k];
        TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, collide(&lines, NULL, NULL, 0, 0.0));
        TEST_ASSERT_NOT_NULL(strstr(error.text, "vertex 1 of strand 1"));
        TEST_ASSERT_EQUAL_INT(0, count);
    }
    x[3].y = 1.0;
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, collide(&lines, NULL, NULL, 0, NAN));
    lines.radius = -1.0;
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, collide(&lines, NULL, NULL, 0, 0.0));
}

static void empty_scenes_have_no_touch(void)
{
    const int first[] = {0, 0, 1, 3};
    const ss_vec3 x[] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    ss_polylines lines = {.nstrands = 0, .first = first, .x = x, .radius = 0.1};
    TEST_ASSERT_EQUAL_INT(0, count_touches(&lines, 1.0));
    lines.nstrands = 3; // none, one vertex, one segment without length
    TEST_ASSERT_EQUAL_INT(0, count_touches(&lines, 1.0));
    ss_collider_free(NULL);
}

// Continuous detection.

static void a_fast_crossing_is_found_when_swept_only(void)
{
    // 100 m/s over 1 ms: 0.1 m, through a strand that is 0.1 mm thick.
    const int first[] = {0, 3, 6};
    const ss_vec3 x[] = {{-0.03, 0, 0},    {-0.01, 0, 0},    {0.01, 0, 0},
                         {0, -0.03, 0.04}, {0, -0.01, 0.04}, {0, 0.01, 0.04}};
    ss_vec3 moved[6];
    for (int i = 0; i < 6; i++) {
        moved[i] = i < 3 ? x[i] : ss_plus(x[i], ss_vec(0, 0, -0.1));
    }
    ss_polylines lines = {.nstrands = 2, .first = first, .x = x, .radius = 5e-5};
    TEST_ASSERT_EQUAL_INT(0, count_touches(&lines, 1e-5));
    lines.x = moved;
    TEST_ASSERT_EQUAL_INT(0, count_touches(&lines, 1e-5));
    lines.x = x;
    lines.moved = moved;
    for (int k = 0; k < 2; k++) {
        lines.coplanar = k == 1;
        TEST_ASSERT_EQUAL_INT(1, count_touches(&lines, 1e-5));
        const ss_touch t = touches[0];
        CHECK(t.segment_a == 1 && t.segment_b == 1);
        CHECK_NEAR(t.a, 0.5, 1e-12);
        CHECK_NEAR(t.b, 0.5, 1e-12);
        CHECK_NEAR(t.n.z, -1.0, 1e-12);
        CHECK_NEAR(t.gap, 0.04 - 1e-4, 1e-12); // what may close: the start's gap along the normal
        CHECK_NEAR(t.y.z, 0.04, 1e-15);
    }
}

static void a_fast_crossing_of_an_obstacle_is_found_when_swept_only(void)
{
    const int first[] = {0, 2};
    const ss_vec3 x[] = {{-0.01, 0.002, 0.04}, {0.01, 0.002, 0.04}};
    const ss_vec3 moved[] = {{-0.01, 0.002, -0.06}, {0.01, 0.002, -0.06}};
    ss_polylines lines = {.nstrands = 1, .first = first, .x = x, .radius = 5e-5};
    const ss_obstacle_kind kinds[] = {SS_OBSTACLE_SPHERE, SS_OBSTACLE_ELLIPSOID,
                                      SS_OBSTACLE_CYLINDER, SS_OBSTACLE_CAPSULE};
    for (int k = 0; k < 4; k++) {
        const ss_obstacle o = {.kind = kinds[k], .size = {0.003, 0.003, 0.003}};
        const ss_pose pose = ss_pose_identity();
        lines.moved = NULL;
        CHECK_OK(collide(&lines, &o, &pose, 1, 1e-5));
        TEST_ASSERT_EQUAL_INT(0, count);
        lines.moved = moved;
        CHECK_OK(collide(&lines, &o, &pose, 1, 1e-5));
        TEST_ASSERT_EQUAL_INT(1, count);
        CHECK_NEAR(touches[0].a, 0.5, 1e-6);
        CHECK(touches[0].n.z > 0.5);
        CHECK_NEAR(touches[0].gap,
                   ss_dot(touches[0].n, ss_minus(ss_vec(0, 0.002, 0.04), touches[0].y)) - 5e-5,
                   1e-8);
    }
}

static void common_motion_makes_no_swept_touch(void)
{
    const int first[] = {0, 3, 6};
    const ss_vec3 x[] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {0, 1, 0}, {1, 1, 0}, {2, 1, 0}};
    ss_vec3 moved[6];
    for (int i = 0; i < 6; i++) {
        moved[i] = ss_plus(x[i], ss_vec(3, 7, -2));
    }
    const ss_polylines lines = {
        .nstrands = 2, .first = first, .x = x, .moved = moved, .radius = 0.4};
    TEST_ASSERT_EQUAL_INT(0, count_touches(&lines, 0.0));
}

static void run_tests(void)
{
    RUN_TEST(a_touch_has_its_gap_normal_and_point);
    RUN_TEST(neighbours_and_roots_never_touch);
    RUN_TEST(a_branch_is_no_segment_and_has_neighbours);
    RUN_TEST(a_vertex_touches_once);
    RUN_TEST(what_is_held_inside_an_obstacle_of_its_holder_does_not_touch_it);
    RUN_TEST(what_is_held_beside_an_obstacle_of_its_holder_touches_it);
    RUN_TEST(vertices_touch_obstacles_where_these_are_asked_for);
    RUN_TEST(obstacles_come_before_strands);
    RUN_TEST(bad_vertices_are_refused_with_their_place);
    RUN_TEST(empty_scenes_have_no_touch);
    RUN_TEST(a_fast_crossing_is_found_when_swept_only);
    RUN_TEST(a_fast_crossing_of_an_obstacle_is_found_when_swept_only);
    RUN_TEST(common_motion_makes_no_swept_touch);
}

const test_group collide_tests = {.run = run_tests, .set_up = set_up, .tear_down = tear_down};
