// When moving segments first come within reach: sampling, crossings made on purpose.
#include "strands/contact/proximity.h"

#include "tests/support/random_points.h"
#include "tests/support/support.h"

static ss_random g;

static void set_up(void)
{
    g = ss_random_seeded(11);
}

// The least distance over the motion, by sampling; *first: the first sample well within reach.
static double sampled_distance(const ss_vec3 x[4], const ss_vec3 moved[4], double reach,
                               double *first)
{
    enum { N = 2000 };
    double least = INFINITY;
    *first = INFINITY;
    for (int i = 0; i <= N; i++) {
        const double t = (double)i / N;
        double a, b;
        const double distance =
            ss_segments_exact(ss_between(x[0], moved[0], t), ss_between(x[1], moved[1], t),
                              ss_between(x[2], moved[2], t), ss_between(x[3], moved[3], t), &a, &b);
        least = fmin(least, distance);
        *first = distance <= 0.98 * reach && t < *first ? t : *first;
    }
    return least;
}

static void swept_segments_are_those_that_sampling_finds(void)
{
    int found = 0, missed = 0;
    for (int k = 0; k < 400; k++) {
        ss_vec3 x[4], moved[4];
        const double reach = pow(10.0, -1 - k % 3);
        for (int i = 0; i < 4; i++) {
            x[i] = random_point(&g, 1);
            moved[i] = random_point(&g, 1);
        }
        double time, first;
        const bool meets = ss_swept_segments(x, moved, reach, &time);
        const double least = sampled_distance(x, moved, reach, &first);
        CHECK(meets || least > 0.98 * reach);
        CHECK(!meets || least <= reach + ss_swept_speed(x, moved) / 4000);
        CHECK(!meets || time <= first);
        found += meets;
        missed += !meets;
    }
    CHECK(found > 50 && missed > 50);
}

// A sign change of the volume that the four points span, with lines that cross inside both
// segments, is a crossing whatever the radius.
static void no_crossing_of_centre_lines_is_missed(void)
{
    for (int k = 0; k < 2000; k++) {
        ss_vec3 x[4], moved[4], then[4];
        const double at = ss_random_uniform(&g);
        for (int i = 0; i < 4; i++) {
            moved[i] = random_point(&g, 1);
            x[i] = random_point(&g, 1);
        }
        // Shift the first segment so that the two meet at abscissae 0.3 and 0.6 at that time.
        for (int i = 0; i < 4; i++) {
            then[i] = ss_between(x[i], moved[i], at);
        }
        const ss_vec3 shift =
            ss_minus(ss_between(then[2], then[3], 0.6), ss_between(then[0], then[1], 0.3));
        for (int i = 0; i < 2; i++) {
            x[i] = ss_plus(x[i], shift);
            moved[i] = ss_plus(moved[i], shift);
        }
        double time;
        CHECK(ss_swept_segments(x, moved, 1e-4, &time));
        CHECK_LE(time, at);
    }
}

static void run_tests(void)
{
    RUN_TEST(swept_segments_are_those_that_sampling_finds);
    RUN_TEST(no_crossing_of_centre_lines_is_missed);
}

const test_group swept_tests = {.run = run_tests, .set_up = set_up};
