// The measures of an answer: known by hand, and every way in which a bad answer might pass.
#include <string.h>

#include "base/random.h"
#include "problems/coulomb.h"
#include "problems/response.h"
#include "tests/support/make_problem.h"
#include "tests/support/support.h"

// Two contacts with W = diag: the first slides as known above, the second is open.
static const double two_b[6] = {-1.0, 2.0, 0.0, 3.0, 1.0, -1.0};
static const double two_mu[2] = {0.5, 0.3};
static const double two_r[6] = {1.0, -0.5, 0.0, 0.0, 0.0, 0.0};
static const double two_u[6] = {0.0, 1.5, 0.0, 3.0, 1.0, -1.0};
static const double two_compliance[2] = {1.0, 1.0};

static void measures_of_a_solution_are_zero(void)
{
    const ss_measures m = ss_measure(3, 2, two_compliance, two_b, two_mu, two_r, two_u);
    CHECK_LE(m.fb, 1e-15);
    CHECK_LE(m.fb_contact, 1e-15);
    CHECK_LE(m.fb_abs, 3e-15);
    CHECK_LE(m.natural, 1e-15);
    CHECK_LE(m.normal, 1e-15);
    CHECK_LE(m.penetration, 0.0);
    CHECK_LE(m.cone_excess, 1e-15);
    CHECK_LE(m.slip_angle, 1e-15);
    CHECK_LE(m.power, 1e-15);
    CHECK_NEAR(m.velocity_scale, sqrt(11.0), 1e-15);
    CHECK_NEAR(m.compliance_scale, 1.0, 0.0);
    CHECK(ss_measures_pass(&m, 1e-12));
}

static void measures_of_a_wrong_answer_are_known_by_hand(void)
{
    // One contact, W = 2 I, b = (-4, 0, 3), r = 0: u = b.
    const double compliance = 2.0, mu = 0.5;
    const double b[3] = {-4.0, 0.0, 3.0}, r[3] = {0.0, 0.0, 0.0};
    const ss_measures m = ss_measure(3, 1, &compliance, b, &mu, r, b);
    // u^ = (-4 + 1.5, 0, 1.5): spectral values of u^ o u^ are (2.5 -/+ 1.5)^2, so its root is
    // (2.5, 0, -1.5) and f = u^ - root = (-5, 0, 3).
    CHECK_NEAR(m.fb, 5.0 / 5.0, 1e-15);
    CHECK_NEAR(m.fb_abs, 5.0, 1e-14);
    CHECK_NEAR(m.normal, 8.0 / 5.0, 1e-15);
    CHECK_NEAR(m.penetration, 4.0, 0.0);
    // x = -u~ = (2.5, 0, -3): beyond the cone, projection n = (2.5 + 1.5)/1.25 = 3.2, (3.2, 0,
    // -1.6).
    CHECK_NEAR(m.natural, sqrt(3.2 * 3.2 + 1.6 * 1.6) / 5.0, 1e-15);
    CHECK(!ss_measures_pass(&m, 0.9));
    CHECK(m.worst_contact == 0);
}

static void slip_angle_is_between_friction_and_slip(void)
{
    const double compliance = 1.0, mu = 0.5, b[3] = {-1.0, 0.0, 0.0};
    const double r[3] = {1.0, -0.5, 0.0}, u[3] = {0.0, 0.2, 0.2};
    const ss_measures m = ss_measure(3, 1, &compliance, b, &mu, r, u);
    CHECK_NEAR(m.slip_angle, atan(1.0), 1e-15);
    const double along[3] = {0.0, -0.2, 0.0};
    const ss_measures reversed = ss_measure(3, 1, &compliance, b, &mu, r, along);
    CHECK_NEAR(reversed.slip_angle, 4.0 * atan(1.0), 1e-15);
}

// s r_T and mu u_T that are as small as the residual may point anywhere.
static void slip_angle_of_a_good_answer_is_small(void)
{
    const double compliance[2] = {1.0, 1.0}, mu[2] = {0.5, 0.5};
    const double b[6] = {-1.0, 0.0, 0.0, -1.0, 0.0, 0.0};
    // The first contact slides along its friction by 4e-6; the second opposes it, except for 1e-3.
    const double r[6] = {1.0, -0.3, 0.0, 1.0, -0.5, 0.0};
    const double u[6] = {0.0, -4e-6, 0.0, 0.0, 0.2, 0.2e-3};
    const ss_measures m = ss_measure(3, 2, compliance, b, mu, r, u);
    CHECK_LE(1e-6, m.fb);
    CHECK_NEAR(m.slip_angle, 1e-3, 1e-8);
}

// u_N + mu |u_T| has lost u_N.
static void large_friction_excuses_no_velocity(void)
{
    const double compliance = 1.0, mu = 1e20, b[3] = {-1.0, 0.0, 0.0};
    const double r[3] = {0.0, 0.0, 0.0}, u[3] = {-1.0, 1.0, 0.0};
    const ss_measures m = ss_measure(3, 1, &compliance, b, &mu, r, u);
    CHECK(!ss_measures_pass(&m, 1.0));
}

static void cone_excess_and_power_are_measured(void)
{
    const double compliance = 1.0, mu = 0.5, b[3] = {-1.0, 0.0, 0.0};
    const double r[3] = {3.0, 4.0, 0.0}, u[3] = {1.0, 0.0, 0.0};
    const ss_measures m = ss_measure(3, 1, &compliance, b, &mu, r, u);
    CHECK_NEAR(m.cone_excess, (4.0 - 1.5) / 5.0, 1e-15);
    CHECK_NEAR(m.power, 3.0, 1e-15);
}

static void nan_never_passes(void)
{
    // A NaN in any number of either contact, with friction and without.
    for (int frictionless = 0; frictionless < 2; frictionless++) {
        for (int place = 0; place < 16; place++) {
            double b[6], mu[2], r[6], u[6], compliance[2];
            memcpy(b, two_b, sizeof b);
            memcpy(r, two_r, sizeof r);
            memcpy(u, two_u, sizeof u);
            memcpy(mu, two_mu, sizeof mu);
            memcpy(compliance, two_compliance, sizeof compliance);
            if (frictionless) {
                mu[0] = mu[1] = 0.0;
                u[0] = 1.0;
                memset(r, 0, sizeof r);
            }
            double *const target = place < 6    ? &r[place]
                                   : place < 12 ? &u[place - 6]
                                   : place < 14 ? &mu[place - 12]
                                                : &compliance[place - 14];
            *target = NAN;
            const ss_measures m = ss_measure(3, 2, compliance, b, mu, r, u);
            CHECK(isnan(m.fb));
            CHECK(isnan(ss_measures_error(&m)));
            CHECK(!ss_measures_pass(&m, 1e300));
            CHECK(!ss_measures_pass(&m, INFINITY));
        }
    }
    const ss_measures no_normal = {.fb = 0.0, .normal = NAN}, no_fb = {.fb = NAN, .normal = 0.0};
    CHECK(!ss_measures_pass(&no_normal, INFINITY) && !ss_measures_pass(&no_fb, INFINITY));
}

static void nan_in_b_never_passes(void)
{
    double b[6];
    memcpy(b, two_b, sizeof b);
    b[4] = NAN;
    const ss_measures m = ss_measure(3, 2, two_compliance, b, two_mu, two_r, two_u);
    CHECK(!ss_measures_pass(&m, INFINITY));
}

static void infinite_impulse_never_passes(void)
{
    double r[6];
    memcpy(r, two_r, sizeof r);
    r[3] = INFINITY;
    const ss_measures m = ss_measure(3, 2, two_compliance, two_b, two_mu, r, two_u);
    CHECK(!ss_measures_pass(&m, 1e300));
}

static void a_wrong_answer_of_any_size_is_refused(void)
{
    // The contact opens as fast as it pushes, too small or too large for a square.
    const double sizes[] = {1e-300, 1e-170, 1.0, 1e170, 1e300}, compliance = 1.0;
    for (int k = 0; k < 10; k++) {
        const double size = sizes[k / 2], mu = k % 2 == 0 ? 0.0 : 0.5;
        const double b[3] = {-size, 0.0, 0.0}, r[3] = {size, 0.0, 0.0};
        const ss_measures m = ss_measure(3, 1, &compliance, b, &mu, r, r);
        CHECK_NEAR(m.normal, 2.0 - sqrt(2.0), 1e-15);
        CHECK(m.fb > 0.3);
    }
}

static void pulling_is_refused_where_w_has_a_negative_trace(void)
{
    const double compliance = -1.0, mu = 0.5;
    const double b[3] = {-1.0, 0.0, 0.0}, r[3] = {-1.0, 0.0, 0.0}, u[3] = {0.0, 0.0, 0.0};
    const ss_measures m = ss_measure(3, 1, &compliance, b, &mu, r, u);
    CHECK_NEAR(m.compliance_scale, 1.0, 0.0);
    CHECK(!ss_measures_pass(&m, 0.1));
}

static void nan_tolerance_passes_nothing(void)
{
    const ss_measures m = ss_measure(3, 2, two_compliance, two_b, two_mu, two_r, two_u);
    CHECK(!ss_measures_pass(&m, NAN));
    const ss_measures none = ss_measures_none();
    CHECK(!ss_measures_pass(&none, INFINITY));
}

static void verdict_does_not_depend_on_units(void)
{
    // (W, b) -> (a W, c b) turns r into (c/a) r and u into c u.
    ss_random g = ss_random_seeded(14);
    for (int k = 0; k < 200; k++) {
        double b[6], r[6], u[6], bs[6], rs[6], us[6];
        const double compliance[2] = {ss_random_log_between(&g, 0.01, 100.0), 1.0};
        const double a = ss_random_log_between(&g, 1e-12, 1e12);
        const double c = ss_random_log_between(&g, 1e-12, 1e12);
        for (int j = 0; j < 6; j++) {
            b[j] = ss_random_normal(&g);
            r[j] = ss_random_normal(&g);
            u[j] = ss_random_normal(&g);
            bs[j] = b[j] * c;
            rs[j] = r[j] * c / a;
            us[j] = u[j] * c;
        }
        const double scaled[2] = {compliance[0] * a, compliance[1] * a};
        const ss_measures m = ss_measure(3, 2, compliance, b, two_mu, r, u);
        const ss_measures n = ss_measure(3, 2, scaled, bs, two_mu, rs, us);
        CHECK_NEAR(n.fb, m.fb, 1e-13 * m.fb);
        CHECK_NEAR(n.fb_contact, m.fb_contact, 1e-13 * m.fb_contact);
        CHECK_NEAR(n.normal, m.normal, 1e-13 * m.normal);
        CHECK_NEAR(n.cone_excess, m.cone_excess, 1e-13 * fabs(m.cone_excess));
        CHECK_NEAR(n.slip_angle, m.slip_angle, 1e-12);
        const ss_measures mixed = ss_measure_in_units(c / a, c, 3, 2, b, two_mu, r, u);
        CHECK_NEAR(mixed.fb_abs, n.fb_abs, 1e-13 * n.fb_abs);
        CHECK_NEAR(mixed.natural, n.natural, 1e-13 * n.natural);
    }
}

static void verdict_does_not_depend_on_the_tangent_frame(void)
{
    ss_random g = ss_random_seeded(15);
    for (int k = 0; k < 200; k++) {
        double b[3], r[3], u[3], turned[3][3], t[3];
        const double compliance = 1.0, mu = ss_random_log_between(&g, 0.01, 10.0);
        for (int c = 0; c < 3; c++) {
            b[c] = ss_random_normal(&g);
            r[c] = ss_random_normal(&g);
            u[c] = ss_random_normal(&g);
        }
        ss_random_direction(&g, 2, t);
        const double *vectors[3] = {b, r, u};
        for (int v = 0; v < 3; v++) {
            turned[v][0] = vectors[v][0];
            turned[v][1] = t[0] * vectors[v][1] - t[1] * vectors[v][2];
            turned[v][2] = t[1] * vectors[v][1] + t[0] * vectors[v][2];
        }
        double f[3], g3[3];
        ss_coulomb_residual(mu, compliance, r, u, f);
        ss_coulomb_residual(mu, compliance, turned[1], turned[2], g3);
        CHECK_NEAR(g3[0], f[0], 1e-13);
        CHECK_NEAR(hypot(g3[1], g3[2]), hypot(f[1], f[2]), 1e-13);
    }
}

static void plane_contact_is_a_space_contact_without_its_last_component(void)
{
    const double b2[4] = {-1.0, 2.0, 0.5, 0.1}, r2[4] = {1.0, -0.4, 0.2, 0.0};
    const double u2[4] = {0.1, 1.5, -0.2, 0.3};
    const double b3[6] = {-1.0, 2.0, 0.0, 0.5, 0.1, 0.0}, r3[6] = {1.0, -0.4, 0.0, 0.2, 0.0, 0.0};
    const double u3[6] = {0.1, 1.5, 0.0, -0.2, 0.3, 0.0};
    const ss_measures m = ss_measure(2, 2, two_compliance, b2, two_mu, r2, u2);
    const ss_measures n = ss_measure(3, 2, two_compliance, b3, two_mu, r3, u3);
    CHECK(memcmp(&m, &n, offsetof(ss_measures, worst_contact)) == 0); // all numbers
    CHECK(m.worst_contact == n.worst_contact);
}

// a + b - |(a, b)| of (207, -1e-13) is b (1 - b / (2 a) ..): all its digits are known.
static void an_overlap_under_a_large_impulse_is_measured_to_its_last_digit(void)
{
    double f[3];
    ss_coulomb_residual(0.0, 1.0, (const double[3]){207.0, 0.0, 0.0},
                        (const double[3]){-1e-13, 0.0, 0.0}, f);
    CHECK_NEAR(f[0], -1e-13, 1e-28);
    ss_coulomb_residual(0.0, 1.0, (const double[3]){-1e-13, 0.0, 0.0},
                        (const double[3]){207.0, 0.0, 0.0}, f);
    CHECK_NEAR(f[0], -1e-13, 1e-28);
    ss_coulomb_residual(0.0, 1.0, (const double[3]){3.0, 0.0, 0.0},
                        (const double[3]){-4.0, 0.0, 0.0}, f);
    CHECK_NEAR(f[0], -6.0, 1e-15);
}

static void normal_measure_sees_what_fb_misses_at_tiny_friction(void)
{
    const double compliance = 1.0, mu = 1e-9, b[3] = {0.0, 0.0, 1.0};
    const double r[3] = {1.0, 0.0, 0.0}, u[3] = {1.0, 0.0, 0.0};
    const ss_measures m = ss_measure(3, 1, &compliance, b, &mu, r, u);
    CHECK_LE(m.fb, 2e-9);
    CHECK(m.normal > 0.5);
    CHECK_NEAR(ss_measures_error(&m), 0.5 * (2.0 - sqrt(2.0)), 1e-15);
    CHECK(!ss_measures_pass(&m, 0.25));
}

// ---- The error, from mu = 0 on

// A contact of which r, u and V are known: r_T in the cone or, far outside, of any size; V = 1, s = 1.
static ss_measures draw_measures(ss_random *g, double mu, bool admissible, double r[3], double u[3])
{
    const double compliance = 1.0, b[3] = {1.0, 0.0, 0.0};
    double share = ss_random_uniform(g);
    const double turn = 6.28 * ss_random_uniform(g);
    for (int c = 0; c < 3; c++) {
        r[c] = ss_random_normal(g) * ss_random_log_between(g, 1e-6, 1e3);
        u[c] = ss_random_normal(g) * ss_random_log_between(g, 1e-6, 1e3);
    }
    if (admissible) {
        share *= mu * fabs(r[0]);
        r[0] = fabs(r[0]);
        r[1] = share * cos(turn);
        r[2] = share * sin(turn);
    }
    return ss_measure(3, 1, &compliance, b, &mu, r, u);
}

static void the_error_bounds_the_normal_condition_at_any_friction(void)
{
    static const double frictions[] = {0.0, 1e-300, 1e-9, 1e-3, 0.3, 1.0, 1e4, 1e20};
    ss_random g = ss_random_seeded(3);
    for (int k = 0; k < 80000; k++) {
        double r[3], u[3];
        const ss_measures m = draw_measures(&g, frictions[k % 8], k % 3 == 0, r, u);
        const double T = 2.0 * ss_measures_error(&m), rounding = 1e-14 * (fabs(r[0]) + fabs(u[0]));
        CHECK_LE(-T, u[0] + rounding);
        CHECK_LE(-T, r[0] + rounding);
        CHECK(r[0] <= 0.0 || u[0] <= 0.0 || r[0] * u[0] <= (T + rounding) * (r[0] + u[0]));
        CHECK_LE(m.fb, ss_measures_error(&m));
    }
}

// The factors of doc/formulation.md, "The verdict": from a half to two for impulses in their cone.
static void friction_that_vanishes_is_judged_as_none(void)
{
    ss_random g = ss_random_seeded(4), again;
    double least = INFINITY, most = 0.0;
    for (int k = 0; k < 40000; k++) {
        double r[3], u[3];
        again = g;
        const ss_measures tiny = draw_measures(&g, 1e-12, true, r, u);
        const ss_measures none = draw_measures(&again, 0.0, true, r, u);
        const double ratio = ss_measures_error(&tiny) / ss_measures_error(&none);
        least = ratio < least ? ratio : least;
        most = ratio > most ? ratio : most;
    }
    CHECK_LE(0.5 - 1e-6, least);
    CHECK_LE(most, 2.0 + 1e-6);
    CHECK(least < 0.51 && most > 1.99); // the factors are attained
}

// normal <= max(2/mu, 5) fb.
static void fb_alone_bounds_the_normal_parts_by_the_friction(void)
{
    static const double frictions[] = {1e-6, 1e-2, 0.3, 0.7, 1.0, 10.0, 1e3};
    ss_random g = ss_random_seeded(5);
    for (int k = 0; k < 70000; k++) {
        double r[3], u[3];
        const double mu = frictions[k % 7];
        const ss_measures m = draw_measures(&g, mu, k % 3 == 0, r, u);
        const double bound = 2.0 / mu > 5.0 ? 2.0 / mu : 5.0;
        CHECK_LE(m.normal, 1.0001 * bound * m.fb);
    }
}

static void light_contact_is_seen_beside_a_heavy_one(void)
{
    // The second contact is 1e6 times heavier: with the mean scale its error in r counts a million
    // times, with its own scale once.
    const double compliance[2] = {1.0, 1e-6}, mu[2] = {0.5, 0.5};
    const double b[6] = {-1.0, 0.0, 0.0, -1.0, 0.0, 0.0};
    const double r[6] = {1.0, 0.0, 0.0, 0.5e6, 0.0, 0.0};
    const double u[6] = {0.0, 0.0, 0.0, -0.5, 0.0, 0.0};
    const ss_measures m = ss_measure(3, 2, compliance, b, mu, r, u);
    CHECK(m.worst_contact == 1);
    CHECK_NEAR(m.compliance_scale, 0.5000005, 1e-15);
    CHECK(m.fb_contact > 0.4 && m.fb_contact < 1.1);
}

static void huge_impulse_excuses_no_velocity(void)
{
    // W = diag(0, 1, 1): no impulse changes u_N = -1. Beside 1e20 the velocity has no digits in f.
    const double compliance = 2.0 / 3.0, mu = 0.5, b[3] = {-1.0, 0.0, 0.0};
    const double r[3] = {1e20, 0.0, 0.0}, u[3] = {-1.0, 0.0, 0.0};
    const ss_measures m = ss_measure(3, 1, &compliance, b, &mu, r, u);
    CHECK(m.fb > 1.0 && m.fb_contact > 1.0 && m.fb_abs > 1.0 && m.normal > 1.0);
}

// Two contacts that stick by r_N = 2^k, the first with the velocity u_N that is too much in b_N.
static ss_measures judge_squeeze(int k, double u_N)
{
    ss_error error;
    ss_response *judge;
    ss_problem *p = squeeze(3, ldexp(1.0, -k), -1.0 + u_N, -1.0);
    const double r[6] = {ldexp(1.0, k), 0, 0, ldexp(1.0, k), 0, 0};
    double u[6];
    CHECK_OK(ss_response_new(p, &judge, &error));
    const ss_measures m = ss_response_judge(judge, r, u);
    CHECK(u[0] == u_N && u[3] == 0.0);
    ss_response_free(judge);
    ss_problem_free(p);
    return m;
}

static void the_judge_sees_small_velocities_beside_large_impulses(void)
{
    for (int k = 0; k <= 40; k++) { // 2^-40 is 1e-16 of the impulses and less
        const ss_measures over = judge_squeeze(k, -0x1p-40), opens = judge_squeeze(k, 0x1p-40);
        const ss_measures exact = judge_squeeze(k, 0.0);
        CHECK_NEAR(over.fb, 0x1p-40, 1e-3 * 0x1p-40);
        CHECK_NEAR(opens.fb, 0x1p-40, 1e-3 * 0x1p-40);
        CHECK_NEAR(opens.normal, 0x1p-40, 1e-3 * 0x1p-40);
        CHECK_LE(exact.fb, 1e-15);
        CHECK_NEAR(opens.fb_contact, opens.fb, 1e-3 * opens.fb);
        CHECK_NEAR(opens.fb_abs, opens.fb, 1e-3 * opens.fb);
    }
}

static void impulses_beyond_forty_bits_are_no_answer(void)
{
    for (int k = 41; k <= 52; k++) {
        const ss_measures m = judge_squeeze(k, 0.0);
        CHECK_LE(ldexp(1.0, k - 52), m.fb);
        CHECK(!ss_measures_pass(&m, 0x1p-12));
    }
    CHECK_NEAR(ss_impulse_most(1e-8), 0x1p40, 0.0);
    CHECK_NEAR(ss_impulse_most(0.25), 0x1p50, 0.0);
}

static void scales_fall_back_to_one(void)
{
    const double zero[3] = {0.0, 0.0, 0.0}, mu = 0.5, compliance = 0.0;
    const ss_measures m = ss_measure(3, 1, &compliance, zero, &mu, zero, zero);
    CHECK_NEAR(m.velocity_scale, 1.0, 0.0);
    CHECK_NEAR(m.compliance_scale, 1.0, 0.0);
    CHECK_LE(m.fb, 0.0);
}

static void run_tests(void)
{
    RUN_TEST(measures_of_a_solution_are_zero);
    RUN_TEST(measures_of_a_wrong_answer_are_known_by_hand);
    RUN_TEST(slip_angle_is_between_friction_and_slip);
    RUN_TEST(slip_angle_of_a_good_answer_is_small);
    RUN_TEST(large_friction_excuses_no_velocity);
    RUN_TEST(cone_excess_and_power_are_measured);
    RUN_TEST(nan_never_passes);
    RUN_TEST(nan_in_b_never_passes);
    RUN_TEST(infinite_impulse_never_passes);
    RUN_TEST(a_wrong_answer_of_any_size_is_refused);
    RUN_TEST(pulling_is_refused_where_w_has_a_negative_trace);
    RUN_TEST(nan_tolerance_passes_nothing);
    RUN_TEST(verdict_does_not_depend_on_units);
    RUN_TEST(verdict_does_not_depend_on_the_tangent_frame);
    RUN_TEST(plane_contact_is_a_space_contact_without_its_last_component);
    RUN_TEST(an_overlap_under_a_large_impulse_is_measured_to_its_last_digit);
    RUN_TEST(normal_measure_sees_what_fb_misses_at_tiny_friction);
    RUN_TEST(the_error_bounds_the_normal_condition_at_any_friction);
    RUN_TEST(friction_that_vanishes_is_judged_as_none);
    RUN_TEST(fb_alone_bounds_the_normal_parts_by_the_friction);
    RUN_TEST(light_contact_is_seen_beside_a_heavy_one);
    RUN_TEST(huge_impulse_excuses_no_velocity);
    RUN_TEST(the_judge_sees_small_velocities_beside_large_impulses);
    RUN_TEST(impulses_beyond_forty_bits_are_no_answer);
    RUN_TEST(scales_fall_back_to_one);
}

const test_group measures_tests = {.run = run_tests};
