// The cases of the law and the equation of a sliding contact, solved by `secular`.
#include "solvers/local/local.h"
#include "tests/support/direct_battery.h"

static const ss_local_solver *const SECULAR = &ss_secular;

static void answers_by_hand_are_found(void)
{
    check_known_cases(SECULAR, NULL);
    check_known_with_coupling(SECULAR, NULL);
}

static void every_positive_definite_block_is_solved(void)
{
    check_kind(SECULAR, NULL, SS_LOCAL_RANDOM, 40000);
    check_harder(SECULAR, NULL, 40000);
}

static void every_case_is_solved(void)
{
    check_kind(SECULAR, NULL, SS_LOCAL_TAKE_OFF, 2000);
    check_kind(SECULAR, NULL, SS_LOCAL_STICK, 10000);
    check_kind(SECULAR, NULL, SS_LOCAL_SLIDE, 20000);
    check_kind(SECULAR, NULL, SS_LOCAL_NEAR_BOUNDARY, 20000);
    check_kind(SECULAR, NULL, SS_LOCAL_SEVERAL, 5000);
}

static void every_unsymmetric_block_is_solved(void)
{
    check_kind(SECULAR, NULL, SS_LOCAL_UNSYMMETRIC, 20000);
}

static void every_solvable_singular_block_is_solved(void)
{
    ss_random g = ss_random_seeded(5);
    for (int k = 0; k < 40000; k++) {
        ss_local_answer known;
        ss_local p = ss_local_draw(&g, SS_LOCAL_SINGULAR, 2 + k % 2, 1e6, 1e-3, 10.0, &known);
        ss_local_embed(&p);
        const ss_local_goal goal = {.tolerance = DIRECT_TOLERANCE * largest_velocity(&p, known.r)};
        double r[3] = {0.0};
        CHECK(SECULAR->solve(&p, &goal, NULL, r).outcome == SS_CONVERGED);
        CHECK_LE(ss_local_error(&p, &goal, r), goal.tolerance);
    }
}

static void nearly_singular_blocks_are_not_denied_their_answer(void)
{
    check_nearly_singular(SECULAR, NULL);
}

static void no_solution_is_said_where_there_is_none(void)
{
    check_no_solution_is_said(SECULAR, NULL);
}

static void nan_never_converges(void)
{
    check_nan_never_converges(SECULAR);
}

// Of 0 nothing but take-off and luck is within reach: the answer stays as good as it can be.
static void below_the_rounding_floor_it_stalls_with_its_best(void)
{
    ss_random g = ss_random_seeded(6);
    int stalled = 0;
    for (int k = 0; k < 3000; k++) {
        const ss_local p = battery_draw(&g, HARDER);
        const ss_local_goal none = {0};
        double r[3] = {0.0};
        const ss_local_info info = SECULAR->solve(&p, &none, NULL, r);
        const double error = ss_local_error(&p, &none, r);
        CHECK((info.outcome == SS_CONVERGED) == (error == 0.0));
        CHECK_LE(error, DIRECT_TOLERANCE * largest_velocity(&p, r));
        stalled += info.outcome == SS_STALLED;
    }
    CHECK(stalled > 2500);
}

// Two powers of two as far from one as double goes change no bit of the answer.
static void units_do_not_matter(void)
{
    const double units[] = {0x1p-500, 0x1p-100, 0x1p-3, 0x1p90, 0x1p400};
    ss_random g = ss_random_seeded(7);
    for (int k = 0; k < 2000; k++) {
        const ss_local p = battery_draw(&g, HARDER);
        const ss_local_goal goal = battery_goal(&p);
        double r[3] = {0.0};
        SECULAR->solve(&p, &goal, NULL, r);
        const double of_W = units[k % 5], of_b = units[k / 5 % 5];
        ss_local other = p;
        for (int i = 0; i < 9; i++) {
            other.W[i] *= of_W;
        }
        for (int i = 0; i < 3; i++) {
            other.b[i] *= of_b;
        }
        const ss_local_goal same = {.tolerance = goal.tolerance * of_b};
        double scaled[3] = {0.0};
        SECULAR->solve(&other, &same, NULL, scaled);
        for (int c = 0; c < 3; c++) {
            CHECK(scaled[c] / of_b * of_W == r[c] || !isfinite(r[c] * of_b / of_W));
        }
    }
}

// A block drawn until it slides: G(0) < 0.
static ss_local draw_sliding(ss_random *g, ss_slip *k)
{
    for (;;) {
        const ss_local p = battery_draw(g, HARDER);
        if (ss_slip_eliminate(&p, k) && !ss_slip_sticks(k)) {
            return p;
        }
    }
}

static void any_start_leads_to_a_root(void)
{
    ss_random g = ss_random_seeded(8);
    int far = 0;
    for (int k = 0; k < 5000; k++) {
        ss_slip slip;
        const ss_local p = draw_sliding(&g, &slip);
        slip.p = &p;
        const double starts[] = {0.0,  1e-300, 1e-9,     1.0,  ss_random_log_between(&g, 1e-6, 1e6),
                                 1e12, 1e300,  INFINITY, -1.0, NAN};
        for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
            int steps;
            ss_slip_point at;
            const double a = ss_slip_bracketed(&slip, starts[i], 0.0, &steps);
            ss_slip_evaluate(&slip, a, &at);
            CHECK(a > 0.0);
            CHECK_LE(fabs(at.G), 1e-10 * p.W[0] * at.length);
            far = steps > far ? steps : far;
        }
    }
    CHECK_LE(far, 90);
}

static void the_step_is_newtons(void)
{
    ss_random g = ss_random_seeded(9);
    for (int k = 0; k < 1000; k++) {
        ss_slip slip;
        const ss_local p = draw_sliding(&g, &slip);
        slip.p = &p;
        const double a = ss_random_log_between(&g, 0.1, 10.0), h = 1e-4 * a;
        double values[3];
        ss_slip_point at;
        for (int i = 0; i < 3; i++) {
            ss_slip_evaluate(&slip, a + (i - 1) * h, &at);
            values[i] = p.mu * at.N / at.length - p.W[0];
        }
        ss_slip_evaluate(&slip, a, &at);
        const double slope = (values[2] - values[0]) / (2.0 * h);
        const double newton = -values[1] / slope;
        CHECK_NEAR(ss_slip_step(&slip, a, &at), newton, 1e-4 * fabs(newton) + 1e-9 * a);
    }
}

static void a_start_near_the_answer_takes_few_steps(void)
{
    ss_random g = ss_random_seeded(10);
    int total = 0;
    for (int k = 0; k < 2000; k++) {
        ss_slip slip;
        const ss_local p = draw_sliding(&g, &slip);
        const ss_local_goal goal = battery_goal(&p);
        double r[3] = {0.0};
        SECULAR->solve(&p, &goal, NULL, r);
        for (int c = 0; c < 3; c++) {
            r[c] *= 1.0 + 1e-4 * ss_random_normal(&g);
        }
        const ss_local_info info = SECULAR->solve(&p, &goal, NULL, r);
        CHECK(info.outcome == SS_CONVERGED);
        total += info.iterations;
    }
    CHECK_LE(total, 2 * 2000 + 500);
}

// An answer that is wrong by any amount, of either case, and at the boundary between them.
static void the_bound_is_never_below_the_judge(void)
{
    ss_random g = ss_random_seeded(11);
    double ratio = 0.0;
    for (int k = 0; k < 200000; k++) {
        ss_local_answer known;
        const ss_local_kind kind = k % 2 == 0 ? SS_LOCAL_STICK : SS_LOCAL_SLIDE;
        const ss_local p = ss_local_draw(&g, kind, 3, 1e3, 1e-3, 10.0, &known);
        ss_candidate c = {.slides = kind == SS_LOCAL_SLIDE};
        const double spread = ss_random_log_between(&g, 1e-12, 10.0);
        for (int i = 0; i < 3; i++) {
            const double size = k % 3 == 0 ? known.r[i] : known.r[0];
            c.r[i] = known.r[i] + spread * ss_random_normal(&g) * size;
        }
        if (c.slides) {
            c.a = ss_length2(known.u[1], known.u[2]) / ss_length2(known.r[1], known.r[2]);
            c.a *= 1.0 + spread * ss_random_normal(&g);
        }
        const ss_local_goal goal = {.scale = k % 5 == 0 ? 3.0 * ss_local_own_scale(&p) : 0.0};
        double u[3];
        ss_local_velocity(&p, c.r, u);
        const double bound = ss_candidate_bound(&p, ss_candidate_scale(&p, &goal), &c, u);
        const double error = ss_local_error(&p, &goal, c.r);
        CHECK_LE(error, bound);
        ratio = fmax(ratio, error / bound);
    }
    CHECK(ratio > 0.1); // it is of use
}

// To 1e-4 and to 1e-12 of the velocities.
static void few_digits_take_fewer_steps(void)
{
    ss_random g = ss_random_seeded(14);
    int few = 0, many = 0;
    for (int k = 0; k < 3000; k++) {
        ss_slip slip;
        const ss_local p = draw_sliding(&g, &slip);
        const double size = ss_norm_inf3(p.b);
        const ss_local_goal loose = {.tolerance = 1e-4 * size}, tight = {.tolerance = 1e-12 * size};
        double r[3] = {0.0}, same[3] = {0.0};
        few += SECULAR->solve(&p, &loose, NULL, r).iterations;
        many += SECULAR->solve(&p, &tight, NULL, same).iterations;
        CHECK_LE(ss_local_error(&p, &loose, r), loose.tolerance);
    }
    CHECK_LE(few, 0.9 * many);
    CHECK(few > 0);
}

static double misleading(const ss_slip *k, const void *settings, const double start[3],
                         const ss_local_goal *goal, int *steps)
{
    (void)k;
    (void)start;
    (void)goal;
    (void)steps;
    return *(const double *)settings;
}

static void a_wrong_slip_ratio_is_not_believed(void)
{
    const double ratios[] = {0.0, 1e-20, 1.0, 1e20, -1.0, NAN, INFINITY};
    ss_random g = ss_random_seeded(12);
    for (int k = 0; k < 7000; k++) {
        const ss_local p = battery_draw(&g, HARDER);
        const ss_local_goal goal = battery_goal(&p);
        double r[3] = {0.0};
        const ss_local_info info = ss_cases_solve(&p, &goal, misleading, &ratios[k % 7], r);
        CHECK(info.outcome == SS_CONVERGED);
        CHECK_LE(ss_local_error(&p, &goal, r), goal.tolerance);
    }
}

// Out of reach and misled: what is kept is the best that was tried, never a NaN.
static void a_nan_never_replaces_an_answer(void)
{
    ss_random g = ss_random_seeded(13);
    const double nan = NAN;
    for (int k = 0; k < 3000; k++) {
        const ss_local p = battery_draw(&g, HARDER);
        const ss_local_goal none = {0};
        double r[3] = {0.0};
        ss_cases_solve(&p, &none, misleading, &nan, r);
        CHECK_LE(ss_local_error(&p, &none, r), DIRECT_TOLERANCE * largest_velocity(&p, r));
    }
}

// A push that is lost beside b_T: r = 0, and its error is that of the problem, not of a scaled one.
static void errors_have_the_units_of_the_problem(void)
{
    ss_random g = ss_random_seeded(14);
    for (int k = 0; k < 100; k++) {
        ss_local p = battery_draw(&g, MILD);
        p.b[0] = -1e-100;
        p.b[1] *= 1e30;
        p.b[2] *= 1e30;
        const ss_local_goal none = {0};
        double r[3] = {0.0};
        const double seen = SECULAR->solve(&p, &none, NULL, r).error;
        CHECK(r[0] == 0.0 && r[1] == 0.0 && r[2] == 0.0);
        CHECK(seen == ss_local_error(&p, &none, r));
    }
}

static void answers_have_golden_bits(void)
{
    TEST_ASSERT_EQUAL_HEX64(UINT64_C(0x6a5169865cc71611), hash_of_answers(SECULAR, NULL));
}

static void run_tests(void)
{
    RUN_TEST(answers_by_hand_are_found);
    RUN_TEST(every_positive_definite_block_is_solved);
    RUN_TEST(every_case_is_solved);
    RUN_TEST(every_unsymmetric_block_is_solved);
    RUN_TEST(every_solvable_singular_block_is_solved);
    RUN_TEST(nearly_singular_blocks_are_not_denied_their_answer);
    RUN_TEST(no_solution_is_said_where_there_is_none);
    RUN_TEST(nan_never_converges);
    RUN_TEST(below_the_rounding_floor_it_stalls_with_its_best);
    RUN_TEST(units_do_not_matter);
    RUN_TEST(any_start_leads_to_a_root);
    RUN_TEST(the_step_is_newtons);
    RUN_TEST(a_start_near_the_answer_takes_few_steps);
    RUN_TEST(few_digits_take_fewer_steps);
    RUN_TEST(the_bound_is_never_below_the_judge);
    RUN_TEST(a_wrong_slip_ratio_is_not_believed);
    RUN_TEST(a_nan_never_replaces_an_answer);
    RUN_TEST(errors_have_the_units_of_the_problem);
    RUN_TEST(answers_have_golden_bits);
}

const test_group secular_tests = {.run = run_tests};
