// Sine, cosine and angle side by side, against those of libm.
#include <float.h>

#include "base/random.h"
#include "tests/support/support.h"

#define LANES 4
#include "strands/lanes.h"

static void sine_and_cosine_are_those_of_libm(void)
{
    ss_random g = ss_random_seeded(5);
    for (int k = 0; k < 20000; k++) {
        const double size = k < 10000 ? 7.0 : 1e5;
        lanes x, sine, cosine;
        for (int l = 0; l < 4; l++) {
            x[l] = ss_random_between(&g, -size, size);
        }
        if (k == 0) {
            x = (lanes){0.0, -0.5 * M_PI, M_PI, -2.0 * M_PI};
        }
        lanes_sine_cosine(x, &sine, &cosine);
        for (int l = 0; l < 4; l++) {
            CHECK_NEAR(sine[l], sin(x[l]), 2.0 * DBL_EPSILON);
            CHECK_NEAR(cosine[l], cos(x[l]), 2.0 * DBL_EPSILON);
        }
    }
}

static void small_angles_keep_their_digits(void)
{
    lanes sine, cosine;
    const lanes x = {1e-3, -1e-8, 1e-300, 1e-16};
    lanes_sine_cosine(x, &sine, &cosine);
    const lanes angle = lanes_angle(x, lanes_all(1.0));
    for (int l = 0; l < 4; l++) {
        CHECK_NEAR(sine[l], sin(x[l]), DBL_EPSILON * fabs(x[l]));
        CHECK_NEAR(angle[l], atan(x[l]), 2.0 * DBL_EPSILON * fabs(x[l]));
    }
}

static void angles_are_those_of_libm(void)
{
    ss_random g = ss_random_seeded(6);
    for (int k = 0; k < 20000; k++) {
        lanes x, y;
        for (int l = 0; l < 4; l++) {
            x[l] = ss_random_normal(&g);
            y[l] = ss_random_normal(&g) * (k % 2 == 0 ? 1.0 : 1e-6);
        }
        if (k == 0) {
            x = (lanes){1.0, 0.0, -1.0, 0.0};
            y = (lanes){0.0, 1.0, 0.0, -1.0};
        }
        const lanes angle = lanes_angle(y, x);
        for (int l = 0; l < 4; l++) {
            CHECK_NEAR(angle[l], atan2(y[l], x[l]), 4.0 * DBL_EPSILON * fabs(angle[l]));
        }
    }
    CHECK(lanes_angle(lanes_all(0.0), lanes_all(0.0))[0] == 0.0);
}

static void a_nan_stays_one_and_stays_in_its_lane(void)
{
    lanes sine, cosine;
    const lanes x = {1.0, NAN, INFINITY, 2.0};
    lanes_sine_cosine(x, &sine, &cosine);
    const lanes angle = lanes_angle(x, lanes_all(1.0));
    CHECK(isnan(sine[1]) && isnan(cosine[1]) && isnan(angle[1]));
    CHECK(isnan(sine[2]) && isnan(cosine[2]));
    CHECK_NEAR(sine[0], sin(1.0), DBL_EPSILON);
    CHECK_NEAR(sine[3], sin(2.0), DBL_EPSILON);
    CHECK_NEAR(angle[3], atan(2.0), 2.0 * DBL_EPSILON);
}

static void whole_numbers_are_the_nearest(void)
{
    const lanes x = {0.4, -0.6, 2.5, -7.49};
    const lanes k = lanes_rounded(x);
    for (int l = 0; l < 4; l++) {
        CHECK(k[l] == rint(x[l]));
    }
}

static void run_tests(void)
{
    RUN_TEST(sine_and_cosine_are_those_of_libm);
    RUN_TEST(small_angles_keep_their_digits);
    RUN_TEST(angles_are_those_of_libm);
    RUN_TEST(a_nan_stays_one_and_stays_in_its_lane);
    RUN_TEST(whole_numbers_are_the_nearest);
}

const test_group lanes_tests = {.run = run_tests};
