// tests/strands/test_long_hair.c -- the scene long-hair of [H06]: contacts, lengths, and its time scale.
#include <stdlib.h>

#include "tests/support/link_run.h"

#define BODY 1 // the head: the first that the scene adds

static double length_of(const ss_vec3 *x, int n)
{
    double sum = 0.0;
    for (int i = 0; i + 1 < n; i++) {
        sum += ss_length(ss_minus(x[i + 1], x[i]));
    }
    return sum;
}

static void long_hair_touches_itself_and_the_head_and_keeps_its_length(void)
{
    scene_run *run = open_links("long-hair", 30);
    const ss_world *w = run->scene.world;
    const int n = w->strands[7].size.npoints;
    ss_vec3 *x = points_of(run, 7);
    const double length = length_of(x, n);
    int strands = 0, obstacles = 0;
    free(x);
    run->solver.max_iterations = 500;
    start_run(run);
    while (w->now.time < 0.3) {
        int count;
        step_run(run);
        CHECK(run->last.answer.fb <= 1e-4 || run->last.contacts == 0);
        CHECK_LE(run->last.penetration, 2.0 * w->radius);
        const ss_touch *touches = ss_stepper_touches(run->stepper, &count);
        for (int i = 0; i < count; i++) {
            strands += touches[i].strand_b >= 0;
            obstacles += touches[i].strand_b < 0;
        }
    }
    CHECK(strands > 100 && obstacles > 100);
    x = points_of(run, 7);
    CHECK_NEAR(length, length_of(x, n), 1e-13 * length);
    free(x);
    close_run(run);
}

static void long_hair_is_190_strands_of_22_links(void)
{
    scene_run *run = open_links("long-hair", 0);
    const ss_world *w = run->scene.world;
    TEST_ASSERT_EQUAL_INT(190, w->nstrands);
    for (int k = 0; k < w->nstrands; k++) {
        TEST_ASSERT_EQUAL_INT(3 * 22, w->strands[k].size.nv);
    }
    close_run(run);
}

// The farthest that a point of any strand is from where it is in the other run.
static double apart(const scene_run *a, const scene_run *b)
{
    double most = 0.0;
    for (int k = 0; k < a->scene.world->nstrands; k++) {
        ss_vec3 *x = points_of(a, k), *y = points_of(b, k);
        for (int i = 0; i < a->scene.world->strands[k].size.npoints; i++) {
            most = fmax(most, ss_length(ss_minus(x[i], y[i])));
        }
        free(x);
        free(y);
    }
    return most;
}

// The head turns about the vertical: at time scale 0 hair that touches nothing falls on it as if it rested.
static void at_time_scale_zero_long_hair_does_not_feel_the_head(void)
{
    static const char *const SCENES[] = {"long-hair:time-scale=0", "long-hair:time-scale=0.5",
                                         "long-hair", "long-hair"};
    scene_run *run[4];
    for (int k = 0; k < 4; k++) {
        run[k] = open_links(SCENES[k], 12);
        run[k]->scene.options.contacts = false;
        if (k == 3) {
            run[k]->scene.world->bodies[BODY] = ss_motion_still();
        }
        start_run(run[k]);
        go_on(run[k], 0.5);
    }
    const double half = apart(run[1], run[3]), full = apart(run[2], run[3]);
    CHECK_LE(apart(run[0], run[3]), 1e-10);
    CHECK(half > 1e-3 && full > 1.5 * half);
    for (int k = 0; k < 4; k++) {
        close_run(run[k]);
    }
}

static void run_tests(void)
{
    RUN_TEST(long_hair_touches_itself_and_the_head_and_keeps_its_length);
    RUN_TEST(long_hair_is_190_strands_of_22_links);
    RUN_TEST(at_time_scale_zero_long_hair_does_not_feel_the_head);
}

const test_group long_hair_tests = {.run = run_tests};
