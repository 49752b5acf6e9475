// tests/solvers/test_four_sides.c -- 4sides solves the pyramid's law, which is not Coulomb's.
#include "solvers/local/local.h"
#include "tests/support/local_battery.h"

static ss_local_info solve(const ss_local *p, double r[3])
{
    const ss_local_goal goal = battery_goal(p);
    return ss_four_sides.solve(p, &goal, ss_four_sides.card.defaults, r);
}

static void answers_along_a_tangent_are_coulombs(void)
{
    check_known(&ss_four_sides);
}

static void sliding_across_the_tangents_leaves_the_cone(void)
{
    // W = I, b = (-1, 2, -2): r = (1, -1/2, 1/2), |r_T| = mu r_N sqrt 2.
    const ss_local p = {3, {1, 0, 0, 0, 1, 0, 0, 0, 1}, {-1, 2, -2}, 0.5};
    double r[3] = {0.0};
    const ss_local_info info = solve(&p, r);
    CHECK(info.outcome == SS_CONVERGED);
    CHECK(info.error > 0.1);
    CHECK_NEAR(r[0], 1.0, 1e-14);
    CHECK_NEAR(r[1], -0.5, 1e-14);
    CHECK_NEAR(r[2], 0.5, 1e-14);
}

static void one_tangent_slides_while_the_other_sticks(void)
{
    // W = I, b = (-1, 2, 0.3): r = (1, -1/2, -0.3), u = (0, 3/2, 0).
    const ss_local p = {3, {1, 0, 0, 0, 1, 0, 0, 0, 1}, {-1, 2, 0.3}, 0.5};
    double r[3] = {0.0};
    CHECK(solve(&p, r).outcome == SS_CONVERGED);
    CHECK_NEAR(r[0], 1.0, 1e-14);
    CHECK_NEAR(r[1], -0.5, 1e-14);
    CHECK_NEAR(r[2], -0.3, 1e-14);
}

// How far (r, u) is from one tangent's complementarity, |r_k| <= R, with velocities over V.
static double tangent_miss(double r, double u, double R, double s, double V)
{
    const double inside = (R - fabs(r)) * s / V, speed = fabs(u) / V;
    const double aligned = r * u > 0.0 ? speed : 0.0;
    return fmax(-inside, fmax(fmin(inside, speed), aligned));
}

static double pyramid_miss(const ss_local *p, const double r[3])
{
    const double s = ss_local_own_scale(p), V = sqrt(ss_dot3(p->b, p->b));
    double u[3];
    ss_local_velocity(p, r, u);
    const double normal = fmax(fmax(-r[0] * s, -u[0]), fmin(r[0] * s, u[0])) / V;
    return fmax(normal, fmax(tangent_miss(r[1], u[1], p->mu * r[0], s, V),
                             tangent_miss(r[2], u[2], p->mu * r[0], s, V)));
}

static void every_answer_satisfies_the_pyramids_law(void)
{
    ss_random g = ss_random_seeded(1);
    int outside = 0;
    for (int k = 0; k < 3000; k++) {
        const ss_local p = battery_draw(&g, (battery)(k % 3));
        double r[3] = {0.0};
        CHECK(solve(&p, r).outcome == SS_CONVERGED);
        CHECK_LE(pyramid_miss(&p, r), 1e-8);
        outside += k % 3 == 0 && ss_length2(r[1], r[2]) > p.mu * r[0] * (1 + 1e-9);
    }
    CHECK_NEAR(outside, 430, 50); // of the 1000 mild ones
}

// The problem in a frame turned by 45 degrees, and its answer turned back.
static void turn(const double x[3], double sign, double turned[3])
{
    const double h = sqrt(0.5);
    turned[0] = x[0];
    turned[1] = h * (x[1] + sign * x[2]);
    turned[2] = h * (x[2] - sign * x[1]);
}

static ss_local turned_problem(const ss_local *p)
{
    ss_local q = *p;
    double half[9], column[3], turned[3];
    for (int i = 0; i < 3; i++) { // rows turned: W Q'
        turn(p->W + 3 * i, 1.0, half + 3 * i);
    }
    for (int c = 0; c < 3; c++) { // then columns: Q W Q'
        for (int i = 0; i < 3; i++) {
            column[i] = half[3 * i + c];
        }
        turn(column, 1.0, turned);
        for (int i = 0; i < 3; i++) {
            q.W[3 * i + c] = turned[i];
        }
    }
    turn(p->b, 1.0, q.b);
    return q;
}

static double difference_in_turned_frame(const ss_local_solver *solver, const ss_local *p)
{
    const ss_local q = turned_problem(p);
    const ss_local_goal goal = {.tolerance = 1e-13};
    double r[3] = {0.0}, there[3] = {0.0}, back[3];
    solver->solve(p, &goal, solver->card.defaults, r);
    solver->solve(&q, &goal, solver->card.defaults, there);
    turn(there, -1.0, back);
    return ss_length2(back[1] - r[1], back[2] - r[2]) + fabs(back[0] - r[0]);
}

static void the_answer_depends_on_the_frame(void)
{
    const ss_local p = KNOWN[2].p; // slides along the first tangent
    CHECK_NEAR(difference_in_turned_frame(&ss_four_sides, &p), 0.5 * (sqrt(2.0) - 1.0), 1e-12);
    CHECK_LE(difference_in_turned_frame(&ss_mfb, &p), 1e-9);
}

static void batteries_are_solved_as_measured(void)
{
    CHECK_NEAR(percent_solved(&ss_four_sides, MILD), 53.0, 2.0);
    CHECK_NEAR(percent_solved(&ss_four_sides, HARD), 16.0, 3.0);
    CHECK_NEAR(percent_solved(&ss_four_sides, HARDER), 16.0, 3.0);
}

static void in_the_plane_the_pyramid_is_the_cone(void)
{
    CHECK(percent_of_kind(&ss_four_sides, SS_LOCAL_STICK, 2, 1000) > 95.0);
    CHECK(percent_of_kind(&ss_four_sides, SS_LOCAL_SLIDE, 2, 1000) > 95.0);
    CHECK(percent_of_kind(&ss_four_sides, SS_LOCAL_UNSYMMETRIC, 2, 1000) > 90.0);
    CHECK(percent_of_kind(&ss_four_sides, SS_LOCAL_SINGULAR, 2, 1000) > 60.0);
}

static void what_has_no_answer_is_told(void)
{
    check_nan_never_converges(&ss_four_sides);
    check_unsolvable_is_never_claimed(&ss_four_sides);
    const ss_local p = {3, {0, 0, 0, 0, 1, 0, 0, 0, 1}, {-1, 0.5, 0}, 0.5};
    double r[3] = {1, 1, 1};
    CHECK(solve(&p, r).outcome == SS_NO_SOLUTION);
    CHECK(r[0] == 0.0 && r[1] == 0.0 && r[2] == 0.0);
}

static void run_tests(void)
{
    RUN_TEST(answers_along_a_tangent_are_coulombs);
    RUN_TEST(sliding_across_the_tangents_leaves_the_cone);
    RUN_TEST(one_tangent_slides_while_the_other_sticks);
    RUN_TEST(every_answer_satisfies_the_pyramids_law);
    RUN_TEST(the_answer_depends_on_the_frame);
    RUN_TEST(batteries_are_solved_as_measured);
    RUN_TEST(in_the_plane_the_pyramid_is_the_cone);
    RUN_TEST(what_has_no_answer_is_told);
}

const test_group four_sides_tests = {.run = run_tests};
