// tests/strands/test_motion.c -- scripted motions: derivatives, and how a body carries its points.
#include "strands/motion.h"

#include <string.h>

#include "tests/support/support.h"

static const ss_profile profiles[] = {
    {.kind = SS_PROFILE_STILL, .size = 1.0, .period = 1.0},
    {.kind = SS_PROFILE_OSCILLATE, .size = 0.7, .period = 0.4, .start = 0.1},
    {.kind = SS_PROFILE_MOVE, .size = -2.0, .period = 0.5, .start = 0.2},
    {.kind = SS_PROFILE_STEADY, .size = 3.0, .period = 0.3, .start = 0.1},
};
#define PROFILES (sizeof profiles / sizeof profiles[0])

static void derivatives_are_those_of_the_value(void)
{
    const double d = 1e-5;
    for (size_t k = 0; k < PROFILES; k++) {
        for (double t = 0.013; t < 1.5; t += 0.0171) {
            double at[3], before[3], after[3];
            ss_profile_at(&profiles[k], t, at);
            ss_profile_at(&profiles[k], t - d, before);
            ss_profile_at(&profiles[k], t + d, after);
            CHECK_NEAR((after[0] - before[0]) / (2.0 * d), at[1], 1e-5);
            CHECK_NEAR((after[1] - before[1]) / (2.0 * d), at[2], 1e-2);
        }
    }
}

static void the_largest_acceleration_of_a_start_is_known(void)
{
    for (size_t k = 0; k < PROFILES; k++) {
        double most = 0.0;
        for (double t = 0.1; t < 0.8; t += 1e-4) {
            double at[3];
            ss_profile_at(&profiles[k], t, at);
            most = fmax(most, fabs(at[2]));
        }
        const bool starts =
            profiles[k].kind == SS_PROFILE_MOVE || profiles[k].kind == SS_PROFILE_STEADY;
        CHECK_NEAR(starts ? most : 0.0, ss_profile_start(&profiles[k]), 1e-5 * most);
    }
}

static void profiles_begin_at_rest(void)
{
    for (size_t k = 0; k < PROFILES; k++) {
        double at[3];
        ss_profile_at(&profiles[k], profiles[k].start, at);
        CHECK(at[0] == 0.0 && at[1] == 0.0 && at[2] == 0.0);
        ss_profile_at(&profiles[k], profiles[k].start + 1e-9, at);
        CHECK_LE(fabs(at[2]), 1e-4);
    }
}

static void a_move_ends_at_its_size_and_stays(void)
{
    double at[3];
    ss_profile_at(&profiles[2], 5.0, at);
    CHECK(at[0] == -2.0 && at[1] == 0.0 && at[2] == 0.0);
}

static void a_steady_motion_reaches_its_speed(void)
{
    double at[3];
    ss_profile_at(&profiles[3], 5.0, at);
    CHECK_NEAR(at[1], 10.0, 1e-12);
    CHECK(at[2] == 0.0);
    CHECK_NEAR(at[0], 10.0 * (5.0 - 0.1 - 0.15), 1e-12);
}

static void an_oscillation_has_its_size_and_period(void)
{
    double at[3], later[3];
    ss_profile_at(&profiles[1], 0.1 + 0.4 * 2.25, at); // a quarter past the second period
    CHECK_NEAR(at[0], 0.7, 1e-12);
    ss_profile_at(&profiles[1], 0.1 + 0.4 * 3.25, later);
    CHECK_NEAR(later[0], at[0], 1e-12);
}

static ss_motion waving(void)
{
    return (ss_motion){.angle = profiles[1],
                       .axis = ss_unit(ss_vec(1.0, -2.0, 0.5)),
                       .centre = ss_vec(0.1, 0.2, -0.3),
                       .shift = profiles[3],
                       .direction = ss_unit(ss_vec(0.0, 1.0, 3.0))};
}

static void check_vectors(ss_vec3 a, ss_vec3 b, double tolerance)
{
    CHECK_LE(ss_length(ss_minus(a, b)), tolerance);
}

// Against differences of the place of a point that the body carries.
static void carried_points_have_the_velocity_and_acceleration_of_the_header(void)
{
    const ss_motion m = waving();
    const ss_vec3 fixed = {0.4, -0.2, 0.7}; // in the body's frame
    const double d = 1e-4;
    for (double t = 0.05; t < 1.2; t += 0.11) {
        ss_motion_state at, before, after;
        ss_motion_at(&m, t, &at);
        ss_motion_at(&m, t - d, &before);
        ss_motion_at(&m, t + d, &after);
        const ss_vec3 x0 = ss_pose_point(&before.pose, fixed), x = ss_pose_point(&at.pose, fixed),
                      x1 = ss_pose_point(&after.pose, fixed);
        const ss_vec3 arm = ss_minus(x, at.pose.place);
        const ss_vec3 v = ss_plus(at.velocity, ss_cross(at.spin, arm));
        const ss_vec3 a = ss_plus(ss_plus(at.acceleration, ss_cross(at.spin_rate, arm)),
                                  ss_cross(at.spin, ss_cross(at.spin, arm)));
        check_vectors(v, ss_scaled(0.5 / d, ss_minus(x1, x0)), 2e-4);
        check_vectors(a, ss_scaled(1.0 / (d * d), ss_minus(ss_plus(x0, x1), ss_scaled(2.0, x))),
                      0.1);
    }
}

static void the_centre_only_shifts(void)
{
    const ss_motion m = waving();
    ss_motion_state at;
    ss_motion_at(&m, 0.9, &at);
    double shift[3];
    ss_profile_at(&m.shift, 0.9, shift);
    check_vectors(ss_pose_point(&at.pose, m.centre), ss_along(m.centre, shift[0], m.direction),
                  1e-15);
}

static void a_still_body_stands_exactly_still(void)
{
    const ss_motion m = ss_motion_still();
    ss_motion_state at;
    ss_motion_at(&m, 3.7, &at);
    const ss_vec3 x = {0.1, 0.7, -0.3}, carried = ss_pose_point(&at.pose, x);
    CHECK(carried.x == x.x && carried.y == x.y && carried.z == x.z);
    CHECK(ss_length(at.velocity) == 0.0 && ss_length(at.acceleration) == 0.0);
}

// ---- Through keys

#define KEYS 6

// Turns about several axes, one pause, uneven times.
static void put_keys(ss_motion_key keys[KEYS])
{
    static const double TIMES[KEYS] = {0.1, 0.3, 0.35, 0.6, 0.9, 1.0};
    static const ss_vec3 PLACES[KEYS] = {{0.0, 0.0, 0.0}, {0.1, 0.0, -0.1}, {0.2, 0.1, -0.1},
                                         {0.2, 0.3, 0.1}, {0.2, 0.3, 0.1},  {0.3, 0.0, 0.0}};
    static const ss_vec3 TURNS[KEYS] = {{0.0, 0.0, 0.0},  {0.5, 0.1, -0.3}, {0.8, 0.2, -0.9},
                                        {1.5, -0.4, 0.3}, {1.5, -0.4, 0.3}, {3.0, 0.0, 0.5}};
    for (int k = 0; k < KEYS; k++) {
        keys[k] =
            (ss_motion_key){.time = TIMES[k], .place = PLACES[k], .turn = ss_quat_exp(TURNS[k])};
    }
    ss_motion_keys_join(KEYS, keys);
}

static void a_body_passes_through_its_keys_and_rests_outside(void)
{
    ss_motion_key keys[KEYS];
    put_keys(keys);
    ss_motion m = ss_motion_still();
    m.nkeys = KEYS;
    m.keys = keys;
    for (int k = 0; k < KEYS; k++) {
        ss_motion_state at, before;
        ss_motion_at(&m, keys[k].time, &at);
        ss_motion_at(&m, keys[k].time - 1e-12, &before);
        const ss_mat3 R = ss_quat_matrix(keys[k].turn);
        check_vectors(at.pose.place, keys[k].place, 1e-14);
        for (int c = 0; c < 3; c++) {
            check_vectors(at.pose.turn.c[c], R.c[c], 1e-14);
            check_vectors(before.pose.turn.c[c], R.c[c], 1e-9);
        }
        check_vectors(before.velocity, at.velocity, 1e-9);
        check_vectors(before.spin, at.spin, 1e-8);
        check_vectors(before.acceleration, at.acceleration, 1e-6);
        check_vectors(before.spin_rate, at.spin_rate, 1e-5);
    }
    for (int side = 0; side < 2; side++) {
        ss_motion_state at;
        ss_motion_at(&m, side == 0 ? -3.0 : 3.0, &at);
        check_vectors(at.pose.place, keys[side * (KEYS - 1)].place, 0.0);
        CHECK(ss_length(at.velocity) == 0.0 && ss_length(at.spin) == 0.0);
    }
}

static void velocities_between_keys_are_those_of_the_poses(void)
{
    ss_motion_key keys[KEYS];
    put_keys(keys);
    ss_motion m = ss_motion_still();
    m.nkeys = KEYS;
    m.keys = keys;
    const double d = 1e-6;
    for (double t = 0.1013; t < 1.0; t += 0.0237) {
        ss_motion_state at, before, after;
        ss_motion_at(&m, t, &at);
        ss_motion_at(&m, t - d, &before);
        ss_motion_at(&m, t + d, &after);
        check_vectors(at.velocity,
                      ss_scaled(0.5 / d, ss_minus(after.pose.place, before.pose.place)), 1e-7);
        check_vectors(at.acceleration,
                      ss_scaled(0.5 / d, ss_minus(after.velocity, before.velocity)), 1e-5);
        check_vectors(at.spin_rate, ss_scaled(0.5 / d, ss_minus(after.spin, before.spin)), 1e-4);
        for (int c = 0; c < 3; c++) {
            check_vectors(ss_cross(at.spin, at.pose.turn.c[c]),
                          ss_scaled(0.5 / d, ss_minus(after.pose.turn.c[c], before.pose.turn.c[c])),
                          1e-6);
        }
    }
}

// To first order in the time between two keys, and in the mean far better.
static void keys_of_a_smooth_motion_give_its_accelerations(void)
{
    const ss_motion smooth = {.angle = {SS_PROFILE_OSCILLATE, 0.7, 0.4, 0.1},
                              .axis = ss_unit(ss_vec(1.0, -2.0, 0.5)),
                              .shift = {SS_PROFILE_OSCILLATE, 0.1, 0.5, 0.0},
                              .direction = ss_vec(0.0, 0.0, 1.0)};
    double worst[2] = {0.0, 0.0};
    for (int fine = 0; fine < 2; fine++) {
        ss_motion_key keys[161];
        const int n = fine ? 161 : 81;
        for (int k = 0; k < n; k++) {
            ss_motion_state at;
            keys[k].time = 0.8 * k / (n - 1);
            ss_motion_at(&smooth, keys[k].time, &at);
            keys[k].place = at.pose.place;
            keys[k].turn = ss_quat_of_matrix(&at.pose.turn);
        }
        ss_motion_keys_join(n, keys);
        ss_motion m = ss_motion_still();
        m.nkeys = n;
        m.keys = keys;
        for (double t = 0.5001; t < 0.75; t += 0.0037) {
            ss_motion_state at, known;
            ss_motion_at(&m, t, &at);
            ss_motion_at(&smooth, t, &known);
            worst[fine] =
                fmax(worst[fine], ss_length(ss_minus(at.acceleration, known.acceleration)));
            worst[fine] = fmax(worst[fine], ss_length(ss_minus(at.spin_rate, known.spin_rate)));
        }
    }
    CHECK_LE(worst[0], 0.2 * 0.7 * 247.0); // 0.7 (2 pi/0.4)^2, rad/s^2
    CHECK_LE(worst[1], 0.55 * worst[0]);
}

static ss_motion through(int n, ss_motion_key *keys)
{
    ss_motion m = ss_motion_still();
    ss_motion_keys_join(n, keys);
    m.nkeys = n;
    m.keys = keys;
    return m;
}

// A place on a parabola of time and a turn about one axis at a constant rate: both are found again between the
// inner keys, with their derivatives.
static void a_parabola_and_a_constant_spin_are_interpolated_exactly(void)
{
    static const double TIMES[7] = {0.0, 0.1, 0.15, 0.3, 0.5, 0.55, 0.7};
    const ss_vec3 v = ss_vec(1.0, -2.0, 0.5), a = ss_vec(-3.0, 1.0, 4.0);
    const ss_vec3 spin = ss_vec(2.0, -1.0, 3.0);
    ss_motion_key keys[7];
    for (int k = 0; k < 7; k++) {
        const double t = TIMES[k];
        keys[k] = (ss_motion_key){.time = t,
                                  .place = ss_along(ss_scaled(t, v), 0.5 * t * t, a),
                                  .turn = ss_quat_exp(ss_scaled(t, spin))};
    }
    const ss_motion m = through(7, keys);
    for (double t = 0.1; t < 0.55; t += 0.003) {
        ss_motion_state at;
        ss_motion_at(&m, t, &at);
        const ss_mat3 R = ss_rotation(ss_scaled(t, spin));
        check_vectors(at.pose.place, ss_along(ss_scaled(t, v), 0.5 * t * t, a), 1e-14);
        check_vectors(at.velocity, ss_along(v, t, a), 1e-12);
        check_vectors(at.acceleration, a, 1e-10);
        check_vectors(at.pose.turn.c[0], R.c[0], 1e-14);
        check_vectors(at.spin, spin, 1e-12);
        check_vectors(at.spin_rate, ss_vec(0.0, 0.0, 0.0), 1e-10);
    }
}

// Between keys 2 and 3 the keys 1 to 4 count, and key 0 and 5 do not.
static void a_motion_between_two_keys_depends_on_four(void)
{
    ss_motion_key keys[KEYS], other[KEYS];
    for (int changed = 0; changed < KEYS; changed++) {
        put_keys(keys);
        put_keys(other);
        keys[4].place.x = other[4].place.x = 0.4; // no pause
        other[changed].place.y += 0.1;
        other[changed].turn =
            ss_quat_product(other[changed].turn, ss_quat_exp(ss_vec(0.1, 0.0, 0.2)));
        const ss_motion a = through(KEYS, keys), b = through(KEYS, other);
        double most = 0.0;
        for (double t = keys[2].time; t < keys[3].time; t += 0.01) {
            ss_motion_state at, there;
            ss_motion_at(&a, t, &at);
            ss_motion_at(&b, t, &there);
            most = fmax(most, ss_length(ss_minus(at.acceleration, there.acceleration)));
            most = fmax(most, ss_length(ss_minus(at.spin_rate, there.spin_rate)));
        }
        CHECK((most > 0.1) == (changed >= 1 && changed <= 4));
        CHECK(most > 0.1 || most == 0.0);
    }
}

static void check_jump(int n, ss_motion_key *keys, const char *word)
{
    ss_error error = {0};
    const ss_motion m = through(n, keys);
    CHECK(ss_motion_keys_check(&m, &error) == (word == NULL ? SS_OK : SS_BAD_INPUT));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, word == NULL ? "" : word), error.text);
}

// 24 frames a second of a walk, one of which is elsewhere or turned.
static void a_script_that_jumps_is_refused(void)
{
    ss_motion_key keys[48];
    for (int fault = 0; fault < 4; fault++) {
        for (int k = 0; k < 48; k++) {
            const double t = k / 24.0;
            keys[k] = (ss_motion_key){.time = t,
                                      .place = ss_vec(1.5 * t, 0.05 * sin(10.0 * t), 0.0),
                                      .turn = ss_quat_exp(ss_vec(0.0, sin(5.0 * t), 0.0))};
        }
        if (fault == 1) {
            keys[30].place.z = 1.0;
        } else if (fault == 2) {
            keys[30].turn = ss_quat_exp(ss_vec(0.0, 0.0, 2.9));
        } else if (fault == 3) {
            keys[30].turn = ss_quat_product(keys[29].turn, ss_quat_exp(ss_vec(3.1, 0.0, 0.0)));
        }
        static const char *const WORDS[] = {NULL, "jumps between its keys 30 and 31 (1.25 s",
                                            "rad/s^2, and at most 1000 and 3000 are taken",
                                            "turns by 3.1 rad between its keys 29 and 30"};
        check_jump(48, keys, WORDS[fault]);
    }
    // All the way at once, at rest before and after: 10/sqrt(3) of way/time^2 at most.
    keys[1] = (ss_motion_key){.time = 0.1, .place = {0.0, 0.0, 1.7}, .turn = keys[0].turn};
    keys[0].place = ss_vec(0.0, 0.0, 0.0);
    check_jump(2, keys, NULL);
    keys[1].place.z = 1.75;
    check_jump(2, keys, "jumps between its keys 0 and 1 (0 s and 0.1 s)");
}

// The square of the time between the keys is 0 or infinite, or that time is.
static void keys_that_no_finite_acceleration_joins_are_refused(void)
{
    static const double TIMES[][2] = {{0.0, 1e-300}, {0.0, 1e308}, {-1e308, 1e308}};
    for (size_t k = 0; k < sizeof TIMES / sizeof TIMES[0]; k++) {
        const ss_quat turn = {1.0, 0.0, 0.0, 0.0};
        ss_motion_key keys[2] = {
            {.time = TIMES[k][0], .turn = turn},
            {.time = TIMES[k][1], .place = {1e-3, 0.0, 0.0}, .turn = turn},
        };
        check_jump(2, keys, "between its keys 0 and 1 (");
    }
}

static void a_body_that_pauses_between_keys_stays_where_it_is(void)
{
    ss_motion_key keys[KEYS];
    put_keys(keys);
    ss_motion m = ss_motion_still();
    m.nkeys = KEYS;
    m.keys = keys;
    for (double t = 0.6; t < 0.9; t += 0.01) {
        ss_motion_state at;
        ss_motion_at(&m, t, &at);
        check_vectors(at.pose.place, keys[3].place, 1e-15);
        CHECK_LE(ss_length(at.spin), 1e-14);
    }
}

static void run_tests(void)
{
    RUN_TEST(a_body_passes_through_its_keys_and_rests_outside);
    RUN_TEST(velocities_between_keys_are_those_of_the_poses);
    RUN_TEST(a_parabola_and_a_constant_spin_are_interpolated_exactly);
    RUN_TEST(a_motion_between_two_keys_depends_on_four);
    RUN_TEST(a_script_that_jumps_is_refused);
    RUN_TEST(keys_that_no_finite_acceleration_joins_are_refused);
    RUN_TEST(a_body_that_pauses_between_keys_stays_where_it_is);
    RUN_TEST(keys_of_a_smooth_motion_give_its_accelerations);
    RUN_TEST(derivatives_are_those_of_the_value);
    RUN_TEST(the_largest_acceleration_of_a_start_is_known);
    RUN_TEST(profiles_begin_at_rest);
    RUN_TEST(a_move_ends_at_its_size_and_stays);
    RUN_TEST(a_steady_motion_reaches_its_speed);
    RUN_TEST(an_oscillation_has_its_size_and_period);
    RUN_TEST(carried_points_have_the_velocity_and_acceleration_of_the_header);
    RUN_TEST(the_centre_only_shifts);
    RUN_TEST(a_still_body_stands_exactly_still);
}

const test_group motion_tests = {.run = run_tests};
