// tests/solvers/test_projection.c -- projection: its step, its fixed points, and where it goes.
#include "problems/coulomb.h"
#include "base/spectrum.h"
#include "solvers/local/local.h"
#include "tests/support/local_battery.h"

static ss_local_info solve(const ss_local *p, double r[3])
{
    const ss_local_goal goal = battery_goal(p);
    return ss_projection.solve(p, &goal, ss_projection.card.defaults, r);
}

static void one_step_is_as_computed_by_hand(void)
{
    // W = diag(2, 1, 1), b = (-1, 3, 0), mu = 1/2, r = 0: u~ = (1/2, 3, 0), p = 1/2,
    // x = -(1/4, 3/2, 0): n = (-1/4 + 3/4)/(5/4) = 2/5, r = (2/5, -1/5, 0).
    const ss_local p = {3, {2, 0, 0, 0, 1, 0, 0, 0, 1}, {-1, 3, 0}, 0.5};
    double r[3] = {0.0};
    const ss_local_info info = solve(&p, r);
    CHECK(info.outcome == SS_STEPPED && info.iterations == 1 && isnan(info.error));
    CHECK_NEAR(r[0], 0.4, 1e-6);
    CHECK_NEAR(r[1], -0.2, 1e-6);
    CHECK(r[2] == 0.0);
}

static void the_step_is_one_over_the_largest_eigenvalue(void)
{
    // A start far inside the cone moves by -p u~ exactly, which shows p.
    ss_random g = ss_random_seeded(1);
    for (int k = 0; k < 3000; k++) {
        ss_local p = battery_draw(&g, (battery)(k % 3));
        if (k % 4 == 0) { // two equal eigenvalues, or three
            const double value = k % 8 == 0 ? 1.0 : 0.3;
            p = (ss_local){3, {1, 0, 0, 0, value, 0, 0, 0, value}, {-1, 1, 1}, p.mu};
        }
        const double s = ss_local_own_scale(&p), mu = p.mu;
        double r[3] = {1e4 / (s * mu), 0.0, 0.0}, u[3];
        p.b[0] -= p.W[0] * r[0];
        p.b[1] -= p.W[3] * r[0];
        p.b[2] -= p.W[6] * r[0];
        const double before = r[0];
        ss_local_velocity(&p, r, u);
        const double highest = ss_spectrum_of(3, p.W).highest * (mu > 1.0 ? 1.0 + mu : 1.0);
        solve(&p, r);
        const double step = (before - r[0]) * highest;
        CHECK_NEAR(step, u[0] + mu * ss_length2(u[1], u[2]), 1e-5 + 1e-9 * before * highest);
        CHECK_NEAR(-r[1] * highest, u[1], 1e-5);
    }
}

static void answers_stay_and_nothing_is_claimed(void)
{
    for (int k = 0; k < 3; k++) {
        double r[3] = {KNOWN[k].r[0], KNOWN[k].r[1], KNOWN[k].r[2]};
        const ss_local_goal goal = {.tolerance = 1e-12};
        for (int i = 0; i < 100; i++) { // rounding settles
            ss_projection.solve(&KNOWN[k].p, &goal, ss_projection.card.defaults, r);
        }
        CHECK_LE(ss_local_error(&KNOWN[k].p, &goal, r), 1e-12);
    }
    double zero[3] = {0.0};
    CHECK(solve(&KNOWN[0].p, zero).outcome == SS_STEPPED);
}

static void steps_repeated_solve_moderate_friction(void)
{
    ss_random g = ss_random_seeded(2);
    int solved = 0;
    for (int k = 0; k < 1000; k++) {
        const ss_local p = battery_draw(&g, MILD);
        const ss_local_goal goal = battery_goal(&p);
        double r[3] = {0.0};
        for (int i = 0; i < 5000 && !(ss_local_error(&p, &goal, r) <= goal.tolerance); i++) {
            check_claim(&ss_projection, &p, &goal, r,
                        ss_projection.solve(&p, &goal, ss_projection.card.defaults, r));
        }
        solved += ss_local_error(&p, &goal, r) <= goal.tolerance;
    }
    CHECK(solved > 980);
}

static void one_step_solves_take_off_and_claims_nothing_else(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        CHECK_LE(percent_of_kind(&ss_projection, SS_LOCAL_SLIDE, dim, 1000), 5.0);
        CHECK(percent_of_kind(&ss_projection, SS_LOCAL_TAKE_OFF, dim, 1000) == 100.0);
        percent_of_kind(&ss_projection, SS_LOCAL_SINGULAR, dim, 1000);
        percent_of_kind(&ss_projection, SS_LOCAL_UNSYMMETRIC, dim, 1000);
    }
    check_nan_never_converges(&ss_projection);
    check_unsolvable_is_never_claimed(&ss_projection);
}

static void run_tests(void)
{
    RUN_TEST(one_step_is_as_computed_by_hand);
    RUN_TEST(the_step_is_one_over_the_largest_eigenvalue);
    RUN_TEST(answers_stay_and_nothing_is_claimed);
    RUN_TEST(steps_repeated_solve_moderate_friction);
    RUN_TEST(one_step_solves_take_off_and_claims_nothing_else);
}

const test_group projection_tests = {.run = run_tests};
