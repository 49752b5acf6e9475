// tests/strands/test_ida_contacts.c -- the scheme ida with the impacts and forces of contacts between its steps.
#include <stdlib.h>
#include <string.h>

#include "tests/support/landing.h"

static void a_tip_leaves_a_wall_with_the_share_of_restitution(void)
{
    for (int k = 1; k <= 4; k++) {
        const double e = 0.25 * k;
        swing_against_wall("ida:rtol=1e-9,eps=0", e);
        double fastest = 0.0;
        for (int i = 0; i < 400; i++) {
            fastest = fmax(fastest, world->now.v[0]);
            step();
        }
        CHECK_NEAR(fastest, 1.0, 1e-6);
        CHECK_NEAR(world->now.v[0], -e, 1e-6);
    }
}

static void a_strand_comes_to_rest_on_the_ground(void)
{
    add_falling_strand();
    start_by("ida:rtol=1e-5", 2e-3);
    int least = 1000000, most = 0;
    for (int k = 0; k < 500; k++) {
        step();
        least = report.nonlinear_least < least ? report.nonlinear_least : least;
        most = report.nonlinear_most > most ? report.nonlinear_most : most;
    }
    CHECK_LE(report.max_speed, 1e-4);
    CHECK(report.contacts > 0 && report.active > 0);
    CHECK_LE(report.penetration, 0.1 * world->radius);
    CHECK(least < most); // iterations are counted with contacts
}

// What is left behind is the problem of the step with the impulses that were held.
static void steps_leave_their_problem(void)
{
    add_falling_strand();
    start_by("ida:rtol=1e-4", 2e-3);
    int met = 0;
    for (int k = 0; k < 80; k++) {
        const double *r, *v;
        step();
        const ss_problem *p = ss_stepper_problem(stepper, &r, &v);
        if (p != NULL) {
            CHECK_LE(replay_error(p, r, v), 1e-12);
            met++;
        }
    }
    CHECK(met > 0);
}

static void without_contacts_it_falls_through(void)
{
    add_falling_strand();
    start_by("ida:contacts=off", 2e-3);
    for (int k = 0; k < 60; k++) {
        step();
        CHECK(report.contacts == 0);
    }
    ss_placed at;
    CHECK(ss_placed_init(&at, &world->strands[0].size));
    ss_strand_place(world, 0, &world->now, &at);
    CHECK(at.points[world->strands[0].size.npoints - 1].x.y < -world->radius);
    ss_placed_free(&at);
}

// A link without a spring falls from the horizontal to where its joint may turn no more; a torque holds it there.
static void a_joint_stops_at_its_limit_and_holds_there(void)
{
    world->gravity = ss_vec(0.0, -9.81, 0.0);
    add_pendulum(0.5 * M_PI, 0.0, 1e-12);
    start_by("ida:limit=0.5,eps=0", 1e-3);
    double most = 0.0;
    for (int k = 0; k < 400; k++) {
        step();
        const ss_quat q = ss_quat_unit(ss_quat_read(world->now.q));
        most = fmax(most, ss_length(ss_quat_log(q)));
    }
    const ss_quat q = ss_quat_unit(ss_quat_read(world->now.q));
    CHECK_LE(most, 0.51);
    CHECK_NEAR(ss_length(ss_quat_log(q)), 0.5, 1e-3);
    CHECK_LE(report.max_speed, 1e-3);
}

static void keys_without_effect_are_refused(void)
{
    static const char *const BAD[] = {"ida:contacts=off,stick=1", "ida:sliding=0.5,contacts=off",
                                      "ida:contacts=off,eps=0.1", "ida:kp=3"};
    for (size_t k = 0; k < sizeof BAD / sizeof BAD[0]; k++) {
        ss_scheme_choice choice;
        CHECK(ss_scheme_parse(BAD[k], &choice, &error) == SS_BAD_INPUT);
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, "does nothing in"), error.text);
    }
    ss_scheme_choice choice;
    CHECK_OK(ss_scheme_parse("ida:contacts=off,limit=0.5,eps=0.1", &choice, &error));
    ss_scheme_choice_free(&choice);
}

static void run_tests(void)
{
    RUN_TEST(a_tip_leaves_a_wall_with_the_share_of_restitution);
    RUN_TEST(a_strand_comes_to_rest_on_the_ground);
    RUN_TEST(steps_leave_their_problem);
    RUN_TEST(a_joint_stops_at_its_limit_and_holds_there);
    RUN_TEST(without_contacts_it_falls_through);
    RUN_TEST(keys_without_effect_are_refused);
}

const test_group ida_contacts_tests = {
    .run = run_tests, .set_up = begin_world, .tear_down = tear_down};
