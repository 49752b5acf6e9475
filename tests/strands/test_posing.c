// tests/strands/test_posing.c -- time scale, local dynamics and poses of strands.
#include <string.h>

#include "strands/world.h"
#include "tests/support/strand_run.h"

#define SECONDS 0.4
#define LENGTH  0.1

static ss_error error;

static void set_up(void)
{
    error = (ss_error){0};
}

// A motion of the base that turns and shifts.
static ss_motion brisk(double size)
{
    ss_motion m = ss_motion_still();
    m.angle = (ss_profile){SS_PROFILE_OSCILLATE, size, 0.3, 0.0};
    m.axis = ss_vec(0.0, 1.0, 0.0);
    m.centre = ss_vec(0.1, 0.0, 0.05);
    m.shift = (ss_profile){SS_PROFILE_OSCILLATE, 0.1 * size, 0.2, 0.0};
    m.direction = ss_vec(0.0, 1.0, 0.0);
    return m;
}

// A settled curl whose root the body carries.
static run posed_run(const char *model, const ss_motion *motion, double beta, double gamma,
                     bool own)
{
    const double style[1][3] = {{10.0, 20.0, 40.0}};
    const ss_strand_design design = {.length = LENGTH,
                                     .material = ss_material_hair(),
                                     .npieces = 1,
                                     .style = style,
                                     .nsegments = 12};
    ss_model_choice choice;
    ss_step_options options = ss_step_defaults();
    run r = {.w = ss_world_new()};
    const ss_pose root = ss_pose_identity();
    int body, number;
    CHECK_OK(ss_model_parse(model, &choice, &error));
    CHECK_OK(ss_world_add_body(r.w, motion, &body, &error));
    CHECK_OK(ss_world_add_strand(r.w, &choice, &design, body, &root, &number, &error));
    CHECK_OK(ss_world_settle(r.w, &error));
    CHECK_OK(ss_world_scale_motion(r.w, 0, beta, gamma, own ? body : 0, &error));
    options.contacts = false;
    options.dt = 2e-3;
    r.s = ss_stepper_new(r.w, &options, (ss_step_solver){.solve = NULL}, &error);
    CHECK(r.s != NULL);
    ss_model_choice_free(&choice);
    return r;
}

// The largest |q - q of the start| after SECONDS, every number of it.
static double moved(const run *r, const double *start)
{
    double most = 0.0;
    for (int k = 0; k < r->w->nq; k++) {
        most = fmax(most, fabs(r->w->now.q[k] - start[k]));
    }
    return most;
}

static double moves(const char *model, const ss_motion *motion, double beta, double gamma, bool own)
{
    run r = posed_run(model, motion, beta, gamma, own);
    double start[200];
    memcpy(start, r.w->now.q, (size_t)r.w->nq * sizeof *start);
    go_to(&r, SECONDS);
    const double way = moved(&r, start);
    free_run(&r);
    return way;
}

// Turning about the vertical leaves weight as it is seen from the base.
static void at_time_scale_zero_a_settled_strand_is_static(void)
{
    const ss_motion motion = brisk(0.5);
    CHECK(moves("oriented-strands", &motion, 1.0, 0.0, false) > 0.1);
    CHECK_LE(moves("oriented-strands", &motion, 0.0, 0.0, false), 1e-10);
}

static void against_its_own_base_a_strand_moves_as_if_that_rested(void)
{
    const ss_motion motion = brisk(0.5), still = ss_motion_still();
    CHECK_LE(moves("oriented-strands", &motion, 1.0, 1.0, true), 1e-10);
    // The same from a start that is not at rest, step by step.
    run a = posed_run("oriented-strands", &motion, 1.0, 1.0, true);
    run b = posed_run("oriented-strands", &still, 1.0, 0.0, false);
    for (int k = 0; k < a.w->nv; k++) {
        a.w->now.v[k] = b.w->now.v[k] = sin(k);
    }
    go_to(&a, SECONDS);
    go_to(&b, SECONDS);
    CHECK_LE(moved(&a, b.w->now.q), 1e-9);
    free_run(&a);
    free_run(&b);
}

// Forces are linear in velocity and acceleration where the base only shifts.
static void a_strand_feels_its_base_by_the_time_scale(void)
{
    ss_motion full = brisk(0.01), half = brisk(0.005);
    full.angle = half.angle = ss_motion_still().angle;
    static const char *const models[] = {"super-helix", "tmf"};
    for (size_t k = 0; k < sizeof models / sizeof models[0]; k++) {
        run a = posed_run(models[k], &full, 0.5, 0.0, false);
        run b = posed_run(models[k], &half, 1.0, 0.0, false);
        go_to(&a, SECONDS);
        go_to(&b, SECONDS);
        CHECK_LE(moved(&a, b.w->now.q), 1e-9);
        free_run(&a);
        free_run(&b);
    }
}

static void a_model_of_the_world_has_no_time_scale(void)
{
    const ss_motion still = ss_motion_still();
    run r = posed_run("der", &still, 1.0, 0.0, false);
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, ss_world_scale_motion(r.w, 0, 0.5, 0.0, 0, &error));
    TEST_ASSERT_NOT_NULL(strstr(error.text, "moves in the world"));
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, ss_world_scale_motion(r.w, 0, NAN, 0.0, 0, &error));
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, ss_world_scale_motion(r.w, 0, 1.0, 0.0, 7, &error));
    run links = posed_run("oriented-strands", &still, 1.0, 0.0, false);
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, ss_world_scale_motion(links.w, 0, 1.0, 0.5, 0, &error));
    TEST_ASSERT_NOT_NULL(strstr(error.text, "the motion of the world, which never moves"));
    free_run(&links);
    free_run(&r);
}

// ---- Poses

static ss_vec3 place_now(const run *r, int i)
{
    ss_placed at;
    CHECK(ss_placed_init(&at, &r->w->strands[0].size));
    ss_strand_place(r->w, 0, &r->w->now, &at);
    const ss_vec3 x = ss_pose_back(&at.carrier.pose, at.points[i].x);
    ss_placed_free(&at);
    return x;
}

// A pose that the strand can take: the present one, turned about y, reached within 0.1 s.
static void turned_pose(const run *r, double angle, ss_vec3 *place)
{
    const ss_mat3 turn = ss_rotation(ss_vec(0.0, angle, 0.0));
    for (int i = 0; i < r->w->strands[0].size.npoints; i++) {
        place[i] = ss_turned(&turn, place_now(r, i));
    }
}

static double from_pose(const char *model, double strength)
{
    const ss_motion still = ss_motion_still();
    run r = posed_run(model, &still, 1.0, 0.0, false);
    ss_vec3 place[40];
    turned_pose(&r, 0.4, place);
    const ss_posing_key keys[2] = {{.time = 0.0, .strength = strength, .damping = 0.02 * strength},
                                   {0.1, strength, 0.02 * strength, place}};
    CHECK_OK(ss_world_pose_strand(r.w, 0, 2, keys, &error));
    go_to(&r, 1.5);
    const int tip = r.w->strands[0].size.npoints - 1;
    const double far = ss_length(ss_minus(place_now(&r, tip), place[tip]));
    free_run(&r);
    return far;
}

// EI/L^3 is 2e-5 N/m.
static void a_strand_comes_nearer_to_its_pose_as_the_pose_is_stronger(void)
{
    static const char *const MODELS[] = {"oriented-strands", "super-helix", "der"};
    for (int k = 0; k < 3; k++) {
        const double weak = from_pose(MODELS[k], 1e-6), strong = from_pose(MODELS[k], 1e-3);
        CHECK(weak > 5.0 * strong && weak > 1e-3);
        CHECK_LE(strong, 2e-3);
    }
}

// In its own pose a settled strand stays where it is, whatever the base does, if it is held hard.
static void a_pose_moves_with_its_body(void)
{
    const ss_motion motion = brisk(0.5);
    double far[2];
    for (int k = 0; k < 2; k++) {
        run r = posed_run("oriented-strands", &motion, 1.0, 0.0, false);
        const ss_posing_key key = {0.0, k == 0 ? 0.0 : 10.0, k == 0 ? 0.0 : 0.1, NULL};
        CHECK_OK(ss_world_pose_strand(r.w, 0, 1, &key, &error));
        const int tip = r.w->strands[0].size.npoints - 1;
        const ss_vec3 start = place_now(&r, tip);
        go_to(&r, SECONDS);
        far[k] = ss_length(ss_minus(place_now(&r, tip), start));
        free_run(&r);
    }
    CHECK(far[0] > 1e-2);
    CHECK_LE(far[1], 1e-4);
}

// Half of the way between two keys strength, damping and places are half of each.
static void between_keys_a_pose_is_between_them(void)
{
    const ss_vec3 from[1] = {{1.0, 2.0, 3.0}}, to[1] = {{3.0, 2.0, 1.0}};
    ss_posing_key keys[2] = {{1.0, 2.0, 4.0, from}, {3.0, 6.0, 0.0, to}};
    const struct ss_posing p = {2, 1, keys};
    const ss_posing_at half = ss_posing_find(&p, 2.0), before = ss_posing_find(&p, 0.0);
    const ss_posing_at after = ss_posing_find(&p, 9.0);
    CHECK(half.strength == 4.0 && half.damping == 2.0 && half.share == 0.5 && half.rate == 0.5);
    CHECK(before.strength == 2.0 && before.share == 0.0 && before.rate == 0.0);
    CHECK(after.strength == 6.0 && after.from == to && after.rate == 0.0);
}

static void a_pose_that_cannot_be_is_refused_with_a_sentence(void)
{
    const ss_motion still = ss_motion_still();
    run r = posed_run("oriented-strands", &still, 1.0, 0.0, false);
    ss_posing_key keys[2] = {{.time = 1.0, .strength = 1.0}, {.time = 1.0, .strength = 1.0}};
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, ss_world_pose_strand(r.w, 0, 2, keys, &error));
    TEST_ASSERT_NOT_NULL(strstr(error.text, "keys increase in time"));
    keys[0].strength = -1.0;
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, ss_world_pose_strand(r.w, 0, 1, keys, &error));
    TEST_ASSERT_NOT_NULL(strstr(error.text, "the strength -1 N/m"));
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, ss_world_pose_strand(r.w, 0, 0, keys, &error));
    free_run(&r);
}

static void run_tests(void)
{
    RUN_TEST(at_time_scale_zero_a_settled_strand_is_static);
    RUN_TEST(against_its_own_base_a_strand_moves_as_if_that_rested);
    RUN_TEST(a_strand_feels_its_base_by_the_time_scale);
    RUN_TEST(a_model_of_the_world_has_no_time_scale);
    RUN_TEST(a_strand_comes_nearer_to_its_pose_as_the_pose_is_stronger);
    RUN_TEST(a_pose_moves_with_its_body);
    RUN_TEST(between_keys_a_pose_is_between_them);
    RUN_TEST(a_pose_that_cannot_be_is_refused_with_a_sentence);
}

const test_group posing_tests = {.run = run_tests, .set_up = set_up};
