// tests/strands/test_scheme_order.c -- the schemes linear, newton and bdf2: how much energy they lose, and of
// which order their steps are.
#include "tests/support/one_stepper.h"
#include "tests/support/toy_strands.h"

static void set_up(void)
{
    begin_world();
    options.explosion = 0.0;
}

static double total(void)
{
    return report.energy.kinetic + report.energy.elastic;
}

static void run_until(const char *spec, double h, double time)
{
    options.contacts = false;
    options.dt = options.dt_min = h;
    world->gravity = ss_vec(0.0, 0.0, 0.0);
    begin_scheme(spec);
    while (world->now.time < time - 0.5 * h) {
        step();
    }
}

// The share of its energy that is left after 0.4 s to a straight strand of 0.1 m, without damping,
// weight and air, that was bent by 20/m at its root, as in its first mode, and let go.
static double mode_energy(const char *spec, double h)
{
    ss_strand_design design = {.length = 0.1, .material = ss_material_hair(), .nsegments = 10};
    const ss_pose root = ss_pose_identity();
    ss_model_choice choice;
    int number = -1;
    tear_down();
    set_up();
    design.material.relaxation = 0.0;
    CHECK_OK(ss_model_parse("super-helix", &choice, &error));
    CHECK_OK(ss_world_add_strand(world, &choice, &design, 0, &root, &number, &error));
    ss_model_choice_free(&choice);
    for (int e = 0; e < 5; e++) {
        const double left = 1.0 - (e + 0.5) / 5.0;
        world->now.q[3 * e + 1] = 20.0 * left * left;
    }
    const ss_strand *s = &world->strands[0];
    const double elastic = s->model->energy(s->self, world->now.q);
    run_until(spec, h, 0.4);
    return total() / elastic;
}

// It loses by the square of the step, linear and newton in proportion to it: 0.3 % and 18 % at 2 ms.
static void bdf2_keeps_the_energy_of_a_free_oscillation(void)
{
    const double coarse = 1.0 - mode_energy("bdf2", 2e-3), fine = 1.0 - mode_energy("bdf2", 1e-3);
    CHECK_LE(coarse, 0.005);
    CHECK(coarse / fine > 3.5);
    const double linear = 1.0 - mode_energy("linear", 2e-3);
    CHECK(linear > 0.15);
    CHECK_NEAR(1.0 - mode_energy("newton", 2e-3), linear, 0.001);
}

// Angle of a pendulum of the test models after 0.2 s, against that of small steps.
static double pendulum_angle(const char *spec, double h, bool uneven)
{
    tear_down();
    set_up();
    toy_stiffness = 2e-5;
    const ss_pose root = pose_at(ss_vec(0.0, 0.0, 0.0), ss_vec(0.0, 0.0, 0.4));
    toy_strand(world, &toy_pendulum, 0.3, 6, 0, &root);
    options.contacts = false;
    options.dt = h;
    options.dt_min = 0.25 * h;
    begin_scheme(spec);
    for (int i = 0; world->now.time < 0.2 - 0.1 * h; i++) {
        stepper->dt = uneven ? (i % 3 == 0 ? 1.0 : 0.5) * h : h;
        stepper->good = 0;
        step();
    }
    CHECK_NEAR(world->now.time, 0.2, 1e-12);
    return world->now.q[0];
}

static double order(const char *spec, bool uneven)
{
    const double exact = pendulum_angle("bdf2:tol=1e-12", 1e-4, false);
    const double coarse = pendulum_angle(spec, 4e-3, uneven) - exact;
    const double fine = pendulum_angle(spec, 2e-3, uneven) - exact;
    return log2(coarse / fine);
}

static void newton_is_of_first_and_bdf2_of_second_order(void)
{
    CHECK_NEAR(order("newton:tol=1e-12", false), 1.0, 0.1);
    CHECK_NEAR(order("bdf2:tol=1e-12", false), 2.0, 0.1);
    CHECK_NEAR(order("bdf2:tol=1e-12", true), 2.0, 0.1);
}

static void run_tests(void)
{
    RUN_TEST(bdf2_keeps_the_energy_of_a_free_oscillation);
    RUN_TEST(newton_is_of_first_and_bdf2_of_second_order);
}

const test_group scheme_order_tests = {.run = run_tests, .set_up = set_up, .tear_down = tear_down};
