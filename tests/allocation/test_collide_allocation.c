// Every allocation of the collider fails once: SS_SYSTEM with a sentence, no leak, and the next
// call finds everything. A scene no larger than one before allocates nothing.
#include "strands/contact/collide.h"

#include <stdlib.h>

#include "tests/support/random_points.h"
#include "tests/support/support.h"

enum { STRANDS = 150, POINTS = 4 };
static int first[STRANDS + 1];
static ss_vec3 x[STRANDS * POINTS];
static const ss_obstacle ball = {.kind = SS_OBSTACLE_SPHERE, .size = {0.5, 0, 0}};
static ss_polylines lines = {.nstrands = STRANDS, .first = first, .x = x, .radius = 0.02};
static ss_error error;

static void set_up(void)
{
    ss_random g = ss_random_seeded(7);
    error = (ss_error){0};
    for (int k = 0; k < STRANDS; k++) {
        first[k + 1] = first[k] + POINTS;
        for (int i = first[k]; i < first[k + 1]; i++) {
            x[i] = random_point(&g, 0.5);
        }
    }
}

static ss_status collide(ss_collider *c, const ss_touch **touches, int *count)
{
    const ss_pose pose = ss_pose_identity();
    return ss_collide(c, &lines, &ball, &pose, 1, 0.0, touches, count, &error);
}

static void every_allocation_may_fail(void)
{
    long failures = 0;
    int expected = 0;
    for (long k = 1;; k++) {
        const ss_touch *touches;
        int count;
        fail_allocation(k);
        ss_collider *c = ss_collider_new(NULL);
        const ss_status status = c == NULL ? SS_SYSTEM : collide(c, &touches, &count);
        const long made = allocations_since();
        fail_allocation(0);
        if (status == SS_OK && made < k) {
            expected = count;
            ss_collider_free(c);
            break;
        }
        TEST_ASSERT_EQUAL_INT(SS_SYSTEM, status);
        if (c != NULL) {
            CHECK(error.text[0] != '\0' && count == 0 && touches == NULL);
            CHECK_OK(collide(c, &touches, &count));
            CHECK(count > 300);
        }
        ss_collider_free(c);
        failures++;
    }
    CHECK(failures > 10 && expected > 300);
}

static void a_grown_collider_allocates_nothing(void)
{
    const ss_touch *touches;
    int count;
    ss_collider *c = ss_collider_new(NULL);
    CHECK_OK(collide(c, &touches, &count));
    const int expected = count;
    fail_allocation(0);
    lines.nstrands = STRANDS / 2;
    CHECK_OK(collide(c, &touches, &count));
    CHECK(count > 0 && count < expected);
    lines.nstrands = STRANDS;
    CHECK_OK(collide(c, &touches, &count));
    TEST_ASSERT_EQUAL_INT(0, (int)allocations_since());
    TEST_ASSERT_EQUAL_INT(expected, count);
    ss_collider_free(c);
}

static void run_tests(void)
{
    RUN_TEST(every_allocation_may_fail);
    RUN_TEST(a_grown_collider_allocates_nothing);
}

const test_group collide_allocation_tests = {.run = run_tests, .set_up = set_up};
