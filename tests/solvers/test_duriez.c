// tests/solvers/test_duriez.c -- the frozen direction, the projections of SOFA's form, the fixed point.
#include "solvers/local/local.h"
#include "tests/support/local_battery.h"

static ss_local_info solve(const ss_local_solver *solver, const ss_local *p, double r[3])
{
    const ss_local_goal goal = battery_goal(p);
    return solver->solve(p, &goal, solver->card.defaults, r);
}

static void known_answers_are_found(void)
{
    // W = I: the direction of sticking is that of sliding, so the frozen one is exact as well.
    check_known(&ss_duriez06);
    check_known(&ss_duriez08);
}

static void a_frozen_direction_is_that_of_the_sticking_impulse(void)
{
    // W = diag(1, 1, 4), b = (-1, 2, 4): -W^-1 b = (1, -2, -1), t = -(2, 1)/sqrt 5, r_N = 1.
    const ss_local p = {3, {1, 0, 0, 0, 1, 0, 0, 0, 4}, {-1, 2, 4}, 0.5};
    double r[3] = {0.0};
    CHECK(solve(&ss_duriez06, &p, r).outcome == SS_CONVERGED);
    CHECK_NEAR(r[0], 1.0, 1e-14);
    CHECK_NEAR(r[1], -1.0 / sqrt(5.0), 1e-14);
    CHECK_NEAR(r[2], -0.5 / sqrt(5.0), 1e-14);
}

static void the_frozen_law_stops_the_normal_velocity_on_the_cone(void)
{
    ss_random g = ss_random_seeded(1);
    int slid = 0;
    for (int k = 0; k < 2000; k++) {
        const ss_local p = battery_draw(&g, HARD);
        double r[3] = {0.0}, u[3];
        const ss_local_info info = solve(&ss_duriez06, &p, r);
        const double size = ss_local_own_scale(&p) * sqrt(ss_dot3(r, r));
        ss_local_velocity(&p, r, u);
        CHECK_LE(ss_length2(r[1], r[2]), p.mu * r[0] * (1 + 1e-12));
        CHECK(info.outcome == SS_CONVERGED || (r[0] == 0.0 && r[1] == 0.0 && r[2] == 0.0));
        if (info.outcome == SS_CONVERGED) {
            CHECK_NEAR(u[0], 0.0, 1e-12 * (size + 1));
            slid += info.error > 1e-6;
        }
    }
    CHECK(slid > 1000); // where the law differs from Coulomb's
}

static void without_normal_response_there_is_no_impulse(void)
{
    // Elsewhere W_NN + mu w.t > 0, as t comes from an impulse that gives u_N = 0.
    const ss_local p = {3, {0, 0, 0, 0, 1, 0, 0, 0, 1}, {-1, 0.5, 0}, 0.5};
    const ss_local_solver *const solvers[2] = {&ss_duriez06, &ss_duriez08};
    for (int k = 0; k < 2; k++) {
        double r[3] = {0.0};
        CHECK(solve(solvers[k], &p, r).outcome == SS_STALLED);
        CHECK(r[0] == 0.0 && r[1] == 0.0 && r[2] == 0.0);
    }
}

static void one_pass_of_projections_is_as_computed_by_hand(void)
{
    // W = [2 1 0; 1 1 0; 0 0 3], b = (-4, 1, 2), r = 0: r_N = 2, u_T = (1 + 2, 2), p_T = 1/2,
    // r_T = -(1.5, 1), and mu r_N = 0.8 clips it to 0.8/|(1.5, 1)| of that.
    const ss_local p = {3, {2, 1, 0, 1, 1, 0, 0, 0, 3}, {-4, 1, 2}, 0.4};
    double r[3] = {0.0};
    CHECK(solve(&ss_duriez06_sofa, &p, r).outcome == SS_CONVERGED);
    const double clip = 0.8 / sqrt(3.25);
    CHECK_NEAR(r[0], 2.0, 1e-14);
    CHECK_NEAR(r[1], -1.5 * clip, 1e-14);
    CHECK_NEAR(r[2], -1.0 * clip, 1e-14);
}

static void in_the_plane_the_tangent_has_its_own_stiffness(void)
{
    // W = diag(4, 1), b = (-4, 1), r = 0: r_N = 1, u_T = 1, p_T = 1/W_11 = 1, r_T = -1, inside the
    // cone of mu = 2.
    ss_local p = {2, {4, 0, 0, 0, 1, 0, 0, 0, 0}, {-4, 1, 0}, 2.0};
    ss_local_embed(&p);
    double r[3] = {0.0};
    solve(&ss_duriez06_sofa, &p, r);
    CHECK_NEAR(r[0], 1.0, 1e-15);
    CHECK_NEAR(r[1], -1.0, 1e-15);
    CHECK(r[2] == 0.0);
}

static void projections_repeated_end_at_coulombs_law(void)
{
    double r[3] = {0.0};
    for (int k = 0; k < 200; k++) {
        solve(&ss_duriez06_sofa, &KNOWN[2].p, r);
    }
    for (int c = 0; c < 3; c++) {
        CHECK_NEAR(r[c], KNOWN[2].r[c], 1e-12);
    }
}

static void projections_without_normal_response_are_not_covered(void)
{
    const ss_local p = {3, {0, 0, 0, 0, 1, 0, 0, 0, 1}, {-1, 0, 0}, 0.5};
    double r[3] = {1, 2, 3};
    CHECK(solve(&ss_duriez06_sofa, &p, r).outcome == SS_NOT_COVERED);
    CHECK(r[0] == 1.0 && r[1] == 2.0 && r[2] == 3.0);
}

static void batteries_are_solved_as_measured(void)
{
    CHECK_NEAR(percent_solved(&ss_duriez08, MILD), 99.5, 0.5);
    CHECK_NEAR(percent_solved(&ss_duriez08, HARD), 99.3, 0.7);
    CHECK_NEAR(percent_solved(&ss_duriez08, HARDER), 93.9, 3.0);
    CHECK_NEAR(percent_solved(&ss_duriez06, MILD), 53.0, 2.0);
    CHECK_NEAR(percent_solved(&ss_duriez06, HARD), 16.0, 3.0);
    CHECK_NEAR(percent_solved(&ss_duriez06, HARDER), 16.0, 3.0);
}

static void a_start_near_the_answer_saves_passes(void)
{
    ss_random g = ss_random_seeded(2);
    long cold = 0, warm = 0;
    for (int k = 0; k < 1000; k++) {
        ss_local_answer answer;
        const ss_local p = ss_local_draw(&g, SS_LOCAL_SLIDE, 3, 1e2, 0.1, 1.0, &answer);
        double from_zero[3] = {0.0};
        cold += solve(&ss_duriez08, &p, from_zero).iterations;
        warm += solve(&ss_duriez08, &p, answer.r).iterations;
    }
    CHECK_LE(warm, 1100);
    CHECK(cold > 2 * warm);
}

static void the_plane_and_odd_blocks_are_solved_or_admitted(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        CHECK(percent_of_kind(&ss_duriez08, SS_LOCAL_TAKE_OFF, dim, 1000) > 90.0);
        CHECK(percent_of_kind(&ss_duriez08, SS_LOCAL_STICK, dim, 1000) > 90.0);
        CHECK(percent_of_kind(&ss_duriez08, SS_LOCAL_SLIDE, dim, 1000) > 90.0);
        CHECK(percent_of_kind(&ss_duriez08, SS_LOCAL_NEAR_BOUNDARY, dim, 1000) > 90.0);
        CHECK(percent_of_kind(&ss_duriez08, SS_LOCAL_UNSYMMETRIC, dim, 1000) > 80.0);
        CHECK(percent_of_kind(&ss_duriez08, SS_LOCAL_SINGULAR, dim, 1000) > 70.0);
        CHECK(percent_of_kind(&ss_duriez06, SS_LOCAL_STICK, dim, 1000) > 95.0);
        CHECK(percent_of_kind(&ss_duriez06, SS_LOCAL_SINGULAR, dim, 1000) > 30.0);
        CHECK(percent_of_kind(&ss_duriez06_sofa, SS_LOCAL_TAKE_OFF, dim, 1000) > 95.0);
    }
    CHECK(percent_of_kind(&ss_duriez06, SS_LOCAL_SLIDE, 2, 1000) > 95.0); // one direction only
}

static void what_has_no_answer_is_never_claimed(void)
{
    check_nan_never_converges(&ss_duriez08);
    check_unsolvable_is_never_claimed(&ss_duriez08);
    check_unsolvable_is_never_claimed(&ss_duriez06);
}

static void run_tests(void)
{
    RUN_TEST(known_answers_are_found);
    RUN_TEST(a_frozen_direction_is_that_of_the_sticking_impulse);
    RUN_TEST(the_frozen_law_stops_the_normal_velocity_on_the_cone);
    RUN_TEST(without_normal_response_there_is_no_impulse);
    RUN_TEST(one_pass_of_projections_is_as_computed_by_hand);
    RUN_TEST(in_the_plane_the_tangent_has_its_own_stiffness);
    RUN_TEST(projections_repeated_end_at_coulombs_law);
    RUN_TEST(projections_without_normal_response_are_not_covered);
    RUN_TEST(batteries_are_solved_as_measured);
    RUN_TEST(a_start_near_the_answer_saves_passes);
    RUN_TEST(the_plane_and_odd_blocks_are_solved_or_admitted);
    RUN_TEST(what_has_no_answer_is_never_claimed);
}

const test_group duriez_tests = {.run = run_tests};
