// tests/strands/test_step_control.c -- rejected steps: each reason is provoked, and the world survives.
#include "strands/step/step.h"

#include <string.h>

#include "tests/support/one_stepper.h"

static void set_up(void)
{
    toy_stiffness = 1e-3;
    toy_chain_damping = 0.01;
    begin_world();
    world->radius = 0.01;
}

// A solver that misbehaves as long as steps are above `until`.
typedef struct naughty {
    enum { NAN_ANSWER, INFINITE_ANSWER, FAILURE, LACK_OF_MEMORY, HUGE_ANSWER } vice;
    double until; // s
    stepping good;
} naughty;

static ss_status misbehave(void *context, const ss_problem *p, double *r, ss_step_answer *answer,
                           ss_error *e)
{
    naughty *n = context;
    if (p->provenance.dt <= n->until) {
        return solve_step(&n->good, p, r, answer, e);
    }
    *answer = (ss_step_answer){.status = "naughty"};
    switch (n->vice) {
    case NAN_ANSWER:
        r[0] = NAN;
        return SS_OK;
    case INFINITE_ANSWER:
        r[1] = -INFINITY;
        return SS_OK;
    case HUGE_ANSWER:
        r[0] = 1.0; // N s on particles of 1 mg
        return SS_OK;
    case LACK_OF_MEMORY:
        return ss_fail_memory(e, "a naughty solver");
    case FAILURE:
        break;
    }
    return ss_fail(e, SS_BAD_INPUT, "the naughty solver does not like this problem");
}

static void begin_with(naughty *n)
{
    stepper =
        ss_stepper_new(world, &options, (ss_step_solver){.solve = misbehave, .context = n}, &error);
    TEST_ASSERT_NOT_NULL_MESSAGE(stepper, error.text);
}

static ss_status try_step(void)
{
    return ss_stepper_step(stepper, &report, &error);
}

// Two halvings until the solver behaves.
static void check_halved_twice(naughty n, ss_step_reason reason)
{
    crossing_chains(world, 0.015);
    n.until = 6e-4;
    begin_with(&n);
    CHECK_OK(try_step());
    CHECK(report.rejected == 2 && report.reason == reason);
    CHECK(report.dt == 5e-4 && report.time == 5e-4 && world->now.time == 5e-4);
    CHECK(report.contacts == 1 && n.good.calls == 1);
    CHECK_OK(try_step());
    CHECK(report.rejected == 0 && report.reason == SS_STEP_DONE && report.dt == 5e-4);
}

static void an_answer_that_is_no_number_is_rejected(void)
{
    check_halved_twice((naughty){.vice = NAN_ANSWER}, SS_STEP_SOLVER);
}

static void an_infinite_answer_is_rejected(void)
{
    check_halved_twice((naughty){.vice = INFINITE_ANSWER}, SS_STEP_SOLVER);
}

static void a_failed_solver_gets_a_smaller_step(void)
{
    check_halved_twice((naughty){.vice = FAILURE}, SS_STEP_SOLVER);
}

static void a_huge_answer_is_an_explosion(void)
{
    check_halved_twice((naughty){.vice = HUGE_ANSWER}, SS_STEP_EXPLOSION);
}

static void names_of_reasons_are_in_their_order(void)
{
    TEST_ASSERT_EQUAL_STRING("done", ss_step_reason_names[SS_STEP_DONE]);
    TEST_ASSERT_EQUAL_STRING("reach", ss_step_reason_names[SS_STEP_REACH]);
    TEST_ASSERT_EQUAL_STRING("explosion", ss_step_reason_names[SS_STEP_EXPLOSION]);
    TEST_ASSERT_EQUAL_STRING("solver", ss_step_reason_names[SS_STEP_SOLVER]);
    TEST_ASSERT_EQUAL_STRING("matrix", ss_step_reason_names[SS_STEP_MATRIX]);
    TEST_ASSERT_EQUAL_STRING("iterates", ss_step_reason_names[SS_STEP_ITERATES]);
    TEST_ASSERT_EQUAL_STRING("integrator", ss_step_reason_names[SS_STEP_INTEGRATOR]);
}

// No step succeeds: the sentence says `words`, and the world is as it was, to the bit.
static void check_given_up(naughty n, ss_status status, const char *words)
{
    crossing_chains(world, 0.015);
    world->now.v[2] = 0.1;
    begin_with(&n);
    double q[24], v[24];
    memcpy(q, world->now.q, sizeof q);
    memcpy(v, world->now.v, sizeof v);
    CHECK(try_step() == status);
    CHECK(strstr(error.text, words) != NULL);
    CHECK(memcmp(q, world->now.q, sizeof q) == 0 && memcmp(v, world->now.v, sizeof v) == 0);
    CHECK(world->now.time == 0.0);
    const double *r, *velocity;
    int count;
    TEST_ASSERT_NULL(ss_stepper_problem(stepper, &r, &velocity));
    ss_stepper_touches(stepper, &count);
    CHECK(count == 0 && r == NULL && velocity == NULL);
    n.until = 1.0; // the solver comes to its senses, and the stepper goes on
    CHECK_OK(try_step());
    CHECK(world->now.time == 1e-4 && report.contacts == 1);
}

static void the_world_survives_an_explosion(void)
{
    check_given_up((naughty){.vice = HUGE_ANSWER}, SS_BAD_INPUT, "explodes");
}

static void the_world_survives_answers_that_are_no_numbers(void)
{
    check_given_up((naughty){.vice = NAN_ANSWER}, SS_BAD_INPUT, "not finite");
}

static void the_solvers_own_sentence_is_kept(void)
{
    check_given_up((naughty){.vice = FAILURE}, SS_BAD_INPUT, "does not like");
}

static void lack_of_memory_ends_a_step_at_once(void)
{
    crossing_chains(world, 0.015);
    naughty n = {.vice = LACK_OF_MEMORY};
    begin_with(&n);
    CHECK(try_step() == SS_SYSTEM);
    CHECK(report.rejected == 0 && world->now.time == 0.0);
}

static void a_matrix_that_is_not_definite_asks_for_a_smaller_step(void)
{
    toy_chain_damping = 0.0;
    toy_stiffness = -1.0; // M = m - h^2 k with m = 0.75 mg: indefinite above some 0.4 ms
    crossing_chains(world, 1.0);
    naughty n = {.until = 1.0};
    begin_with(&n);
    CHECK_OK(try_step());
    CHECK(report.reason == SS_STEP_MATRIX && report.rejected >= 1);
    tear_down();
    set_up();
    toy_stiffness = -1e4;
    crossing_chains(world, 1.0);
    begin_with(&n);
    CHECK(try_step() == SS_BAD_INPUT);
    CHECK(strstr(error.text, "positive definite") != NULL && world->now.time == 0.0);
}

// The second chain flies at the first with `speed` from `apart`.
static void fly(double apart, double speed)
{
    crossing_chains(world, apart);
    for (int i = 0; i < 4; i++) {
        world->now.v[14 + 3 * i] = -speed;
    }
}

// How far the middle of the second chain is above that of the first.
static double height(double apart)
{
    const double *q = world->now.q;
    return apart + 0.5 * (q[17] + q[20]) - 0.5 * (q[5] + q[8]);
}

static naughty good = {.until = 1.0};

// 20 mm of radii, 3 mm apart; 16 mm a step: 13 mm deep, more than one radius.
static void a_deep_pair_that_was_no_contact_is_rejected(void)
{
    fly(0.023, 8.0);
    begin_with(&good);
    CHECK_OK(try_step());
    CHECK(report.rejected == 1 && report.reason == SS_STEP_REACH && report.dt == 1e-3);
}

// 30 mm a step: past each other, 7 mm on the other side.
static void strands_do_not_pass_through_each_other_unseen(void)
{
    fly(0.023, 15.0);
    begin_with(&good);
    CHECK_OK(try_step());
    CHECK(report.rejected >= 1 && report.reason == SS_STEP_REACH);
    for (int i = 0; i < 20; i++) {
        CHECK_OK(try_step());
        CHECK(height(0.023) > 0.0); // still above
    }
}

static void without_reach_nothing_is_rejected(void)
{
    fly(0.023, 15.0);
    options.reach = 0.0;
    begin_with(&good);
    CHECK_OK(try_step());
    CHECK(report.rejected == 0 && report.contacts == 0);
}

static void a_contact_that_goes_deep_is_no_reason(void)
{
    fly(0.021, 8.0); // within the margin of 2 mm: a contact, and it stops
    begin_with(&good);
    CHECK_OK(try_step());
    CHECK(report.rejected == 0 && report.contacts == 1 && report.active == 1);
}

static void the_smallest_step_is_taken_though_it_reached_too_far(void)
{
    fly(0.023, 15.0);
    options.dt_min = options.dt;
    begin_with(&good);
    CHECK_OK(try_step());
    CHECK(report.rejected == 0 && report.reason == SS_STEP_REACH && report.dt == 2e-3);
}

static void continuous_detection_sees_what_flies_through(void)
{
    fly(0.05, 100.0); // 200 mm a step
    options.continuous = true;
    begin_with(&good);
    CHECK_OK(try_step());
    CHECK(report.rejected == 0 && report.contacts == 1 && report.active == 1);
    CHECK_NEAR(height(0.05), 0.02, 1e-9);
    // The gap is what is between them, 30 mm, and closes: u_N = 0 counts it.
    const double *r, *v;
    const ss_problem *p = ss_stepper_problem(stepper, &r, &v);
    CHECK_NEAR(p->w[0], 0.03 / 2e-3, 1e-9);
}

static void a_step_that_was_reduced_grows_again_after_ten_good_ones(void)
{
    crossing_chains(world, 0.015);
    naughty n = {.vice = FAILURE, .until = 6e-4};
    begin_with(&n);
    CHECK_OK(try_step());
    CHECK(report.dt == 5e-4);
    n.until = 1.0;
    for (int i = 0; i < 9; i++) {
        CHECK_OK(try_step());
        CHECK(report.dt == 5e-4);
    }
    CHECK_OK(try_step());
    CHECK(report.dt == 7.5e-4);
    for (int i = 0; i < 34; i++) {
        CHECK_OK(try_step());
    }
    CHECK(report.dt == 2e-3); // and not above
}

static void the_margin_follows_the_motion(void)
{
    const double radius = 1e-4;
    CHECK(ss_step_margin(&options, radius, 1e-3, 0.0) == 0.2 * radius);
    CHECK_NEAR(ss_step_margin(&options, radius, 1e-3, 0.05), 0.5e-4, 1e-18);
    CHECK(ss_step_margin(&options, radius, 1e-3, 7.0) == radius);
    CHECK(ss_step_margin(&options, radius, 1e-3, INFINITY) == radius);
    CHECK(ss_step_margin(&options, radius, 1e-3, NAN) == 0.2 * radius);
    options.margin = 3e-4;
    CHECK(ss_step_margin(&options, radius, 1e-3, 7.0) == 3e-4);
}

// What moves with its body, however fast, is neither an explosion nor goes through anything.
static void a_fast_body_is_no_explosion(void)
{
    const ss_motion m = {.angle = {.kind = SS_PROFILE_STEADY, .size = 30.0, .period = 1e-3},
                         .axis = {0.0, 0.0, 1.0},
                         .shift = {.kind = SS_PROFILE_MOVE, .size = 1.0, .period = 5e-3},
                         .direction = {0.0, 1.0, 0.0}};
    int body;
    CHECK_OK(ss_world_add_body(world, &m, &body, &error));
    toy_stiffness = 1e3;
    const ss_pose root = ss_pose_identity();
    toy_strand(world, &toy_pendulum, 0.3, 4, body, &root);
    options.dt = 1e-4;
    begin_with(&good);
    for (int i = 0; i < 60; i++) {
        CHECK_OK(try_step());
        CHECK(report.rejected == 0);
    }
}

static void run_tests(void)
{
    RUN_TEST(an_answer_that_is_no_number_is_rejected);
    RUN_TEST(an_infinite_answer_is_rejected);
    RUN_TEST(a_failed_solver_gets_a_smaller_step);
    RUN_TEST(a_huge_answer_is_an_explosion);
    RUN_TEST(names_of_reasons_are_in_their_order);
    RUN_TEST(the_world_survives_an_explosion);
    RUN_TEST(the_world_survives_answers_that_are_no_numbers);
    RUN_TEST(the_solvers_own_sentence_is_kept);
    RUN_TEST(lack_of_memory_ends_a_step_at_once);
    RUN_TEST(a_matrix_that_is_not_definite_asks_for_a_smaller_step);
    RUN_TEST(a_deep_pair_that_was_no_contact_is_rejected);
    RUN_TEST(strands_do_not_pass_through_each_other_unseen);
    RUN_TEST(without_reach_nothing_is_rejected);
    RUN_TEST(a_contact_that_goes_deep_is_no_reason);
    RUN_TEST(the_smallest_step_is_taken_though_it_reached_too_far);
    RUN_TEST(continuous_detection_sees_what_flies_through);
    RUN_TEST(a_step_that_was_reduced_grows_again_after_ten_good_ones);
    RUN_TEST(the_margin_follows_the_motion);
    RUN_TEST(a_fast_body_is_no_explosion);
}

const test_group step_control_tests = {.run = run_tests, .set_up = set_up, .tear_down = tear_down};
