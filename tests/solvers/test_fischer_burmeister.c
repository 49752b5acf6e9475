// tests/solvers/test_fischer_burmeister.c -- the Jacobian of f against differences, and mfb's answers.
#include "solvers/local/fischer_burmeister.h"

#include "problems/coulomb.h"
#include "solvers/local/local.h"
#include "tests/support/local_battery.h"

#define POINTS 2000

// Fourth-order central differences: error of order STEP^4 and 1e-16/STEP.
#define STEP 1e-3

// J v = L_root^-1 M v, column by column.
static void explicit_jacobian(const ss_fb_jacobian *jacobian, double J[9])
{
    for (int c = 0; c < 3; c++) {
        const double column[3] = {jacobian->M[c], jacobian->M[3 + c], jacobian->M[6 + c]};
        double quotient[3];
        ss_fb_over_root(jacobian, column, quotient);
        for (int i = 0; i < 3; i++) {
            J[3 * i + c] = quotient[i];
        }
    }
}

// df/dx at any x, y: the block without response.
static void partial(const double x[3], const double y[3], double J[9])
{
    const ss_fb_block k = {.mu = 1.0, .scale = 1.0, .inverse = 1.0};
    ss_fb_point at = {.x = {x[0], x[1], x[2]}, .y = {y[0], y[1], y[2]}};
    ss_fb_jacobian jacobian;
    ss_fb_root(&at);
    ss_fb_linearise(&k, &at, &jacobian);
    explicit_jacobian(&jacobian, J);
}

// The judge's f of x + t e_c.
static void moved_f(const double x[3], const double y[3], int c, double t, double f[3])
{
    double at[3] = {x[0], x[1], x[2]};
    at[c] += t;
    ss_fischer_burmeister(at, y, f);
}

static void check_partial(const double x[3], const double y[3], double tolerance)
{
    double J[9];
    partial(x, y, J);
    for (int c = 0; c < 3; c++) {
        double f1[3], f2[3], m1[3], m2[3];
        moved_f(x, y, c, STEP, f1);
        moved_f(x, y, c, 2 * STEP, f2);
        moved_f(x, y, c, -STEP, m1);
        moved_f(x, y, c, -2 * STEP, m2);
        for (int i = 0; i < 3; i++) {
            const double slope = (8.0 * (f1[i] - m1[i]) - (f2[i] - m2[i])) / (12.0 * STEP);
            CHECK_NEAR(J[3 * i + c], slope, tolerance);
        }
    }
}

static void f_is_the_judges(void)
{
    ss_random g = ss_random_seeded(1);
    for (int k = 0; k < POINTS; k++) {
        const ss_local p = battery_draw(&g, k % 2 == 0 ? HARD : HARDER);
        const ss_fb_block block = ss_fb_hat(&p);
        const double r[3] = {ss_random_normal(&g) / block.scale, ss_random_normal(&g) / block.scale,
                             ss_random_normal(&g) / block.scale};
        double u[3], f[3];
        ss_local_velocity(&p, r, u);
        ss_coulomb_residual(p.mu, block.scale, r, u, f);
        ss_fb_iterate at = ss_fb_start(&block, r);
        ss_fb_evaluate(&block, at.X, &at.point);
        for (int i = 0; i < 3; i++) {
            CHECK_NEAR(at.point.f[i], f[i], SS_FB_ROUNDING * ss_fb_magnitude(&block, at.X));
        }
    }
}

static void partial_derivatives_agree_with_differences(void)
{
    ss_random g = ss_random_seeded(2);
    int checked = 0;
    for (int k = 0; k < POINTS; k++) {
        ss_fb_point at;
        for (int c = 0; c < 3; c++) {
            at.x[c] = ss_random_normal(&g);
            at.y[c] = ss_random_normal(&g);
        }
        ss_fb_root(&at);
        if (at.D > 0.5 * at.q[0] * at.q[0]) { // else the fifth derivative is felt
            check_partial(at.x, at.y, 1e-8);
            checked++;
        }
    }
    CHECK(checked > POINTS / 4);
}

static void partial_derivatives_agree_with_differences_where_one_side_is_on_the_cone(void)
{
    // x on the cone's boundary, y inside, and the other way round: z is inside, f is smooth.
    ss_random g = ss_random_seeded(3);
    for (int k = 0; k < POINTS; k++) {
        double w[3];
        ss_random_direction(&g, 2, w);
        const double edge[3] = {1.0, w[0], w[1]};
        const double inside[3] = {2.0, 0.5 * ss_random_uniform(&g), 0.5 * ss_random_uniform(&g)};
        check_partial(edge, inside, 1e-8);
        check_partial(inside, edge, 1e-8);
    }
}

static void whole_jacobian_agrees_with_differences(void)
{
    ss_random g = ss_random_seeded(4);
    int checked = 0;
    for (int k = 0; k < POINTS; k++) {
        const ss_local p = battery_draw(&g, MILD);
        const ss_fb_block block = ss_fb_hat(&p);
        double X[3] = {ss_random_normal(&g), ss_random_normal(&g), ss_random_normal(&g)}, J[9];
        ss_fb_point at, f1, f2, m1, m2;
        ss_fb_jacobian jacobian;
        ss_fb_evaluate(&block, X, &at);
        if (!(at.D > 0.5 * at.q[0] * at.q[0] && ss_length2(at.y[1], at.y[2]) > 0.2)) {
            continue;
        }
        checked++;
        ss_fb_linearise(&block, &at, &jacobian);
        explicit_jacobian(&jacobian, J);
        for (int c = 0; c < 3; c++) {
            const double here = X[c];
            X[c] = here + STEP;
            ss_fb_evaluate(&block, X, &f1);
            X[c] = here + 2 * STEP;
            ss_fb_evaluate(&block, X, &f2);
            X[c] = here - STEP;
            ss_fb_evaluate(&block, X, &m1);
            X[c] = here - 2 * STEP;
            ss_fb_evaluate(&block, X, &m2);
            X[c] = here;
            for (int i = 0; i < 3; i++) {
                const double slope =
                    (8.0 * (f1.f[i] - m1.f[i]) - (f2.f[i] - m2.f[i])) / (12.0 * STEP);
                CHECK_NEAR(J[3 * i + c], slope, 1e-8);
            }
        }
    }
    CHECK(checked > POINTS / 20);
}

static void boundary_element_is_a_limit_of_jacobians(void)
{
    // x = a v, y = b v with v = (1, w) + e (1, -w) have q = rho v, so that df/dx = (1 - a/rho) I
    // for every e > 0, by hand; e = 0 is the boundary.
    ss_random g = ss_random_seeded(5);
    for (int k = 0; k < POINTS; k++) {
        double w[3];
        ss_random_direction(&g, 2, w);
        const double a = ss_random_log_between(&g, 0.1, 10), b = ss_random_log_between(&g, 0.1, 10);
        const double e = k % 3 == 0 ? 0.0 : ss_random_log_between(&g, 1e-5, 0.5);
        const double v[3] = {1 + e, (1 - e) * w[0], (1 - e) * w[1]};
        const double x[3] = {a * v[0], a * v[1], a * v[2]}, y[3] = {b * v[0], b * v[1], b * v[2]};
        double J[9];
        partial(x, y, J);
        for (int i = 0; i < 9; i++) {
            const double expected = i % 4 == 0 ? 1.0 - a / ss_length2(a, b) : 0.0;
            CHECK_NEAR(J[i], expected, 1e-9);
        }
    }
}

static void without_slip_the_jacobian_is_between_two_limits(void)
{
    // t = 0 lies halfway between the limits t = +w and t = -w, at a point with v_T = 0 exactly.
    const ss_local p = {3, {2, 0.3, -0.2, 0, 1, 0.2, 0, 0.2, 1.5}, {-1, 0, 0}, 0.7};
    const ss_fb_block k = ss_fb_hat(&p);
    double sum[9] = {0.0}, J[9] = {0.0};
    for (int side = -1; side <= 1; side++) {
        const double X[3] = {1.3, side * 1e-9, side * 2e-9};
        ss_fb_point at;
        ss_fb_jacobian jacobian;
        ss_fb_evaluate(&k, X, &at);
        ss_fb_linearise(&k, &at, &jacobian);
        double here[9];
        explicit_jacobian(&jacobian, here);
        for (int i = 0; i < 9; i++) {
            sum[i] += side == 0 ? 0.0 : 0.5 * here[i];
        }
        CHECK((side == 0) == (at.t[0] == 0.0 && at.t[1] == 0.0));
        if (side == 0) {
            memcpy(J, here, sizeof J);
        }
    }
    for (int i = 0; i < 9; i++) {
        CHECK_NEAR(J[i], sum[i], 1e-8);
    }
}

static void at_the_apex_f_and_its_linearisation_are_zero(void)
{
    // b = 0, r = 0: the element that [D11] A.1 takes.
    const ss_local p = {3, {2, 0.3, 0, 0.3, 1, 0, 0, 0, 1}, {0, 0, 0}, 0.7};
    const ss_fb_block k = ss_fb_hat(&p);
    const double X[3] = {0.0};
    ss_fb_point at;
    ss_fb_jacobian jacobian;
    ss_fb_evaluate(&k, X, &at);
    ss_fb_linearise(&k, &at, &jacobian);
    for (int i = 0; i < 9; i++) {
        CHECK(jacobian.M[i] == 0.0 && at.f[i / 3] == 0.0);
    }
    const ss_local_goal goal = {.tolerance = 0.0};
    double r[3] = {0.0};
    CHECK(ss_mfb.solve(&p, &goal, ss_mfb.card.defaults, r).outcome == SS_CONVERGED);
}

static void near_the_apex_the_jacobian_depends_on_the_direction_alone(void)
{
    ss_random g = ss_random_seeded(6);
    for (int k = 0; k < POINTS; k++) {
        double x[3], y[3], tiny_x[3], tiny_y[3], J[9], tiny[9];
        for (int c = 0; c < 3; c++) {
            x[c] = ss_random_normal(&g);
            y[c] = ss_random_normal(&g);
            tiny_x[c] = ldexp(x[c], -60);
            tiny_y[c] = ldexp(y[c], -60);
        }
        partial(x, y, J);
        partial(tiny_x, tiny_y, tiny);
        CHECK(memcmp(J, tiny, sizeof J) == 0);
    }
}

static void known_answers_are_found(void)
{
    check_known(&ss_mfb);
}

static void a_start_at_the_answer_is_kept(void)
{
    const ss_local_goal goal = {.tolerance = 1e-12};
    double r[3] = {1.0, -0.5, 0.0};
    const ss_local_info info = ss_mfb.solve(&KNOWN[2].p, &goal, ss_mfb.card.defaults, r);
    CHECK(info.outcome == SS_CONVERGED && info.iterations == 0);
    CHECK(r[0] == 1.0 && r[1] == -0.5 && r[2] == 0.0);
}

static void batteries_are_solved_as_measured(void)
{
    CHECK_NEAR(percent_solved(&ss_mfb, MILD), 99.9, 0.2);
    CHECK_NEAR(percent_solved(&ss_mfb, HARD), 94.5, 1.5);
    CHECK_NEAR(percent_solved(&ss_mfb, HARDER), 87.0, 5.0);
}

static void the_plane_and_odd_blocks_are_solved_or_admitted(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        CHECK(percent_of_kind(&ss_mfb, SS_LOCAL_TAKE_OFF, dim, 1000) > 90.0);
        CHECK(percent_of_kind(&ss_mfb, SS_LOCAL_STICK, dim, 1000) > 90.0);
        CHECK(percent_of_kind(&ss_mfb, SS_LOCAL_SLIDE, dim, 1000) > 90.0);
        CHECK(percent_of_kind(&ss_mfb, SS_LOCAL_NEAR_BOUNDARY, dim, 1000) > 90.0);
        CHECK(percent_of_kind(&ss_mfb, SS_LOCAL_UNSYMMETRIC, dim, 1000) > 80.0);
        CHECK(percent_of_kind(&ss_mfb, SS_LOCAL_SINGULAR, dim, 1000) > 60.0);
    }
}

static void what_has_no_answer_is_never_claimed(void)
{
    check_nan_never_converges(&ss_mfb);
    check_unsolvable_is_never_claimed(&ss_mfb);
}

static void run_tests(void)
{
    RUN_TEST(f_is_the_judges);
    RUN_TEST(partial_derivatives_agree_with_differences);
    RUN_TEST(partial_derivatives_agree_with_differences_where_one_side_is_on_the_cone);
    RUN_TEST(whole_jacobian_agrees_with_differences);
    RUN_TEST(boundary_element_is_a_limit_of_jacobians);
    RUN_TEST(without_slip_the_jacobian_is_between_two_limits);
    RUN_TEST(at_the_apex_f_and_its_linearisation_are_zero);
    RUN_TEST(near_the_apex_the_jacobian_depends_on_the_direction_alone);
    RUN_TEST(known_answers_are_found);
    RUN_TEST(a_start_at_the_answer_is_kept);
    RUN_TEST(batteries_are_solved_as_measured);
    RUN_TEST(the_plane_and_odd_blocks_are_solved_or_admitted);
    RUN_TEST(what_has_no_answer_is_never_claimed);
}

const test_group fischer_burmeister_tests = {.run = run_tests};
