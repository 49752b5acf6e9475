// tests/solvers/test_alart_curnier.c -- the Jacobian of F against differences, and the answers of pac, dac.
#include "solvers/local/alart_curnier.h"

#include "solvers/local/local.h"
#include "tests/support/local_battery.h"

#define POINTS 4000

// Fourth-order central differences: error of order STEP^4 and 1e-16/STEP.
#define STEP 1e-3

// No difference is taken across a kink: points are this far from all of them, or chosen on one.
#define CLEARANCE 0.05

static const ss_ac_law LAWS[2] = {{0.6, 0.7, 1.3, false}, {0.6, 0.7, 1.3, true}};

// F at (r, u) with component c of the six moved by t.
static void moved_F(const ss_ac_law *law, const double ru[6], int c, double t, double F[3])
{
    double at[6];
    ss_ac_point point;
    memcpy(at, ru, sizeof at);
    at[c] += t;
    ss_ac_evaluate(law, at, at + 3, &point);
    memcpy(F, point.F, sizeof point.F);
}

// The six columns of (dF/dr, dF/du) side by side, [3][6].
static void explicit_jacobian(const ss_ac_law *law, const double ru[6], double J[3][6])
{
    double dr[9], du[9];
    ss_ac_point at;
    ss_ac_evaluate(law, ru, ru + 3, &at);
    ss_ac_linearise(law, ru, &at, dr, du);
    for (int i = 0; i < 3; i++) {
        for (int c = 0; c < 3; c++) {
            J[i][c] = dr[3 * i + c];
            J[i][3 + c] = du[3 * i + c];
        }
    }
}

static void check_jacobian(const ss_ac_law *law, const double ru[6])
{
    double J[3][6];
    explicit_jacobian(law, ru, J);
    for (int c = 0; c < 6; c++) {
        double f1[3], f2[3], m1[3], m2[3];
        moved_F(law, ru, c, STEP, f1);
        moved_F(law, ru, c, 2 * STEP, f2);
        moved_F(law, ru, c, -STEP, m1);
        moved_F(law, ru, c, -2 * STEP, m2);
        for (int i = 0; i < 3; i++) {
            const double slope = (8.0 * (f1[i] - m1[i]) - (f2[i] - m2[i])) / (12.0 * STEP);
            CHECK_NEAR(J[i][c], slope, 1e-8);
        }
    }
}

static bool clear_of_kinks(const ss_ac_law *law, const double ru[6])
{
    ss_ac_point at;
    ss_ac_evaluate(law, ru, ru + 3, &at);
    const bool normal = fabs(at.y[0]) > CLEARANCE && fabs(ru[0]) > CLEARANCE;
    return normal && fabs(at.length - at.R) > CLEARANCE && at.length > 0.5;
}

static void jacobian_agrees_with_differences(void)
{
    ss_random g = ss_random_seeded(1);
    int checked = 0;
    for (int k = 0; k < POINTS; k++) {
        double ru[6];
        for (int c = 0; c < 6; c++) {
            ru[c] = ss_random_normal(&g);
        }
        if (clear_of_kinks(&LAWS[k % 2], ru)) {
            check_jacobian(&LAWS[k % 2], ru);
            checked++;
        }
    }
    CHECK(checked > POINTS / 2);
}

// The Jacobian at `ru` is that of points near it in one direction.
static void check_limit(const ss_ac_law *law, const double ru[6], const double towards[6])
{
    double J[3][6], near[3][6], moved[6];
    for (int c = 0; c < 6; c++) {
        moved[c] = ru[c] + 1e-10 * towards[c];
    }
    explicit_jacobian(law, ru, J);
    explicit_jacobian(law, moved, near);
    for (int i = 0; i < 18; i++) {
        CHECK_NEAR(J[i / 6][i % 6], near[i / 6][i % 6], 1e-8);
    }
}

static void on_a_kink_the_jacobian_is_that_of_one_side(void)
{
    // u = 0, so y = r: on the edge of the disc |y_T| = 5 = mu r_N, and at the apex y = 0.
    const ss_ac_law law[2] = {{0.5, 1.0, 1.0, false}, {0.5, 1.0, 1.0, true}};
    const double edge[6] = {10, 3, 4, 0, 0, 0}, inwards[6] = {1, -1, -1, 0, 0, 0};
    const double no_normal[6] = {0, 3, 4, 0, 0, 0}, apart[6] = {-1, 0, 0, 0, 0, 0};
    const double apex[6] = {0.0};
    for (int k = 0; k < 2; k++) {
        ss_ac_point at;
        ss_ac_evaluate(&law[k], edge, edge + 3, &at);
        CHECK(at.length == 5.0 && at.R == 5.0);
        check_limit(&law[k], edge, inwards);
        check_limit(&law[k], no_normal, apart);
        check_limit(&law[k], apex, apart);
    }
}

static void without_tension_F_is_the_impulse(void)
{
    // y_N = 1 - 0.7 * 5 < 0: F = r and J = (I, 0).
    const double ru[6] = {1, 0.2, -0.3, 5, 1, 2};
    double J[3][6];
    ss_ac_point at;
    ss_ac_evaluate(&LAWS[0], ru, ru + 3, &at);
    explicit_jacobian(&LAWS[0], ru, J);
    for (int i = 0; i < 3; i++) {
        CHECK(at.F[i] == ru[i]);
        for (int c = 0; c < 6; c++) {
            CHECK(J[i][c] == (i == c ? 1.0 : 0.0));
        }
    }
}

static void F_is_zero_at_known_answers_for_any_steps(void)
{
    ss_random g = ss_random_seeded(2);
    for (int k = 0; k < 300; k++) {
        const known_contact *known = &KNOWN[k % 3];
        const ss_ac_law law = {0.5, ss_random_log_between(&g, 0.01, 100),
                               ss_random_log_between(&g, 0.01, 100), k % 2 == 1};
        double u[3];
        ss_ac_point at;
        ss_local_velocity(&known->p, known->r, u);
        ss_ac_evaluate(&law, known->r, u, &at);
        CHECK_LE(ss_norm_inf3(at.F), 1e-13);
    }
}

static void known_answers_are_found(void)
{
    check_known(&ss_pac);
    check_known(&ss_dac);
}

static void batteries_are_solved_as_measured(void)
{
    CHECK_NEAR(percent_solved(&ss_pac, MILD), 98.4, 1.0);
    CHECK_NEAR(percent_solved(&ss_pac, HARD), 96.4, 1.5);
    CHECK_NEAR(percent_solved(&ss_pac, HARDER), 91.9, 3.0);
    CHECK_NEAR(percent_solved(&ss_dac, MILD), 99.6, 0.5);
    CHECK_NEAR(percent_solved(&ss_dac, HARD), 98.5, 1.0);
    CHECK_NEAR(percent_solved(&ss_dac, HARDER), 97.9, 1.0);
}

// The settings that a spec with `key` set to `value` leads to.
static void solve_with(const ss_local_solver *solver, const char *key, int value, const ss_local *p,
                       double r[3], ss_local_info *info)
{
    _Alignas(double) char settings[64];
    CHECK(solver->card.settings_size <= sizeof settings);
    memcpy(settings, solver->card.defaults, solver->card.settings_size);
    const ss_key *at = solver->card.keys;
    while (at->name != NULL && strcmp(at->name, key) != 0) {
        at++;
    }
    CHECK(at->name != NULL);
    memcpy(settings + at->place, &value, sizeof value);
    const ss_local_goal goal = battery_goal(p);
    *info = solver->solve(p, &goal, settings, r);
}

static void the_other_variant_solves_most(void)
{
    const ss_local_solver *const solvers[2] = {&ss_pac, &ss_dac};
    for (int k = 0; k < 2; k++) {
        ss_random g = ss_random_seeded(3);
        int solved = 0;
        for (int i = 0; i < 2000; i++) {
            const ss_local p = battery_draw(&g, HARD);
            double r[3] = {0.0};
            ss_local_info info;
            solve_with(solvers[k], "variant", 1, &p, r, &info);
            const ss_local_goal goal = battery_goal(&p);
            check_claim(solvers[k], &p, &goal, r, info);
            solved += info.outcome == SS_CONVERGED;
        }
        CHECK(solved > 1500);
    }
}

static void no_steps_leave_the_start(void)
{
    double r[3] = {0.25, 0.0, 0.0};
    ss_local_info info;
    solve_with(&ss_pac, "steps", 0, &KNOWN[2].p, r, &info);
    CHECK(info.outcome == SS_MAX_ITER && info.iterations == 0);
    CHECK(r[0] == 0.25 && r[1] == 0.0 && r[2] == 0.0);
}

static void the_plane_and_odd_blocks_are_solved_or_admitted(void)
{
    const ss_local_solver *const solvers[2] = {&ss_pac, &ss_dac};
    for (int k = 0; k < 2; k++) {
        for (int dim = 2; dim <= 3; dim++) {
            CHECK(percent_of_kind(solvers[k], SS_LOCAL_TAKE_OFF, dim, 1000) > 90.0);
            CHECK(percent_of_kind(solvers[k], SS_LOCAL_STICK, dim, 1000) > 90.0);
            CHECK(percent_of_kind(solvers[k], SS_LOCAL_SLIDE, dim, 1000) > 90.0);
            CHECK(percent_of_kind(solvers[k], SS_LOCAL_NEAR_BOUNDARY, dim, 1000) > 90.0);
            CHECK(percent_of_kind(solvers[k], SS_LOCAL_UNSYMMETRIC, dim, 1000) > 70.0);
            CHECK(percent_of_kind(solvers[k], SS_LOCAL_SINGULAR, dim, 1000) > 50.0);
        }
    }
}

static void what_has_no_answer_is_never_claimed(void)
{
    check_nan_never_converges(&ss_pac);
    check_nan_never_converges(&ss_dac);
    check_unsolvable_is_never_claimed(&ss_pac);
    check_unsolvable_is_never_claimed(&ss_dac);
}

static void run_tests(void)
{
    RUN_TEST(jacobian_agrees_with_differences);
    RUN_TEST(on_a_kink_the_jacobian_is_that_of_one_side);
    RUN_TEST(without_tension_F_is_the_impulse);
    RUN_TEST(F_is_zero_at_known_answers_for_any_steps);
    RUN_TEST(known_answers_are_found);
    RUN_TEST(batteries_are_solved_as_measured);
    RUN_TEST(the_other_variant_solves_most);
    RUN_TEST(no_steps_leave_the_start);
    RUN_TEST(the_plane_and_odd_blocks_are_solved_or_admitted);
    RUN_TEST(what_has_no_answer_is_never_claimed);
}

const test_group alart_curnier_tests = {.run = run_tests};
