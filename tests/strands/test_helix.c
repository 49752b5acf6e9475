// tests/strands/test_helix.c -- a piece of helix: its place, frame and derivatives
// against limits, integrals and differences.
#include "strands/helix.h"

#include <string.h>

#include "strands/models/super_helix.h"

#include "base/random.h"
#include "tests/support/support.h"

static ss_random g;

static void set_up(void)
{
    g = ss_random_seeded(5);
}

// ---- Terms

static void check_terms(const ss_helix_terms *t, const ss_helix_terms *known, double tolerance)
{
    CHECK_NEAR(t->b, known->b, tolerance);
    CHECK_NEAR(t->c, known->c, tolerance);
    CHECK_NEAR(t->b1, known->b1, tolerance);
    CHECK_NEAR(t->c1, known->c1, tolerance);
    CHECK_NEAR(t->b2, known->b2, tolerance);
    CHECK_NEAR(t->c2, known->c2, tolerance);
}

static void terms_at_0_are_their_limits(void)
{
    const ss_helix_terms t = ss_helix_terms_at(0.0);
    check_terms(&t, &(ss_helix_terms){0.5, 1.0 / 6, -1.0 / 12, -1.0 / 60, 1.0 / 90, 1.0 / 630},
                1e-17);
}

static void terms_at_pi_are_known(void)
{
    const double pi = 3.14159265358979323846, p2 = pi * pi, p4 = p2 * p2, p6 = p4 * p2;
    const ss_helix_terms t = ss_helix_terms_at(p2);
    const ss_helix_terms known = {2.0 / p2,  1.0 / p2,         -4.0 / p4,
                                  -1.0 / p4, (16.0 - p2) / p6, 1.0 / p6};
    check_terms(&t, &known, 1e-15);
}

static void series_and_closed_forms_meet(void)
{
    const double switch_at = SS_HELIX_SERIES_BELOW * SS_HELIX_SERIES_BELOW;
    const ss_helix_terms below = ss_helix_terms_at(switch_at * (1.0 - 1e-16));
    const ss_helix_terms above = ss_helix_terms_at(switch_at);
    CHECK(memcmp(&below, &above, sizeof below) != 0); // not the same branch twice
    CHECK_NEAR(below.b, above.b, 1e-15);
    CHECK_NEAR(below.c, above.c, 2e-15);
    CHECK_NEAR(below.b1, above.b1, 1e-14);
    CHECK_NEAR(below.c1, above.c1, 1e-14);
    CHECK_NEAR(below.b2, above.b2, 2e-13);
    CHECK_NEAR(below.c2, above.c2, 2e-13);
}

// ---- One element

// p = integral of exp([s q]x) e0 by Simpson's rule on 2000 pieces
static ss_vec3 integrated(ss_vec3 q, double sigma)
{
    const int n = 2000;
    ss_vec3 sum = {0.0, 0.0, 0.0};
    for (int k = 0; k <= n; k++) {
        const double weight = k == 0 || k == n ? 1.0 : k % 2 == 1 ? 4.0 : 2.0;
        const ss_mat3 R = ss_rotation(ss_scaled(sigma * k / n, q));
        sum = ss_along(sum, weight * sigma / (3.0 * n), R.c[0]);
    }
    return sum;
}

static ss_vec3 random_curvature(double size)
{
    double d[3];
    ss_random_direction(&g, 3, d);
    return ss_scaled(size, ss_vec(d[0], d[1], d[2]));
}

static void an_element_is_the_integral_of_its_tangent(void)
{
    for (double size = 1e-3; size < 300.0; size *= 3.0) {
        const ss_vec3 q = random_curvature(size);
        const ss_vec3 wrong = ss_minus(ss_helix_arc_at(q, 0.05).p, integrated(q, 0.05));
        CHECK_LE(ss_length(wrong), 1e-13);
    }
}

// With p = sigma P(sigma q): dp/dsigma = (p + (dp/dq) q) / sigma.
static void the_tangent_is_the_first_axis_and_a_unit(void)
{
    for (double size = 1e-3; size < 300.0; size *= 2.0) {
        const ss_vec3 q = random_curvature(size);
        const double sigma = ss_random_between(&g, 0.01, 0.05);
        const ss_helix_arc arc = ss_helix_arc_at(q, sigma);
        const ss_vec3 tangent = ss_scaled(1.0 / sigma, ss_plus(arc.p, ss_turned(&arc.dp, q)));
        const ss_mat3 turn = ss_helix_joint_at(q, sigma).turn;
        CHECK_NEAR(ss_length(tangent), 1.0, 1e-12);
        CHECK_LE(ss_length(ss_minus(tangent, turn.c[0])), 1e-12);
    }
}

static void frames_are_rotations(void)
{
    for (double size = 1e-3; size < 300.0; size *= 2.0) {
        const ss_vec3 q = random_curvature(size);
        const ss_mat3 turn = ss_helix_joint_at(q, 0.05).turn;
        const ss_mat3 known = ss_rotation(ss_scaled(0.05, q));
        for (int k = 0; k < 3; k++) {
            CHECK_LE(ss_length(ss_minus(turn.c[k], known.c[k])), 1e-14);
            CHECK_NEAR(ss_dot(turn.c[k], turn.c[(k + 1) % 3]), 0.0, 1e-14);
            CHECK_NEAR(ss_length(turn.c[k]), 1.0, 1e-14);
        }
    }
}

static ss_vec3 unit_axis(int k)
{
    return ss_vec(k == 0, k == 1, k == 2);
}

// d exp[phi] exp[phi]' = [spin]x: column j turned by the difference, crossed back, is the spin.
static void check_spin(ss_vec3 q, int k, double h)
{
    const ss_helix_joint joint = ss_helix_joint_at(q, 0.05);
    const ss_mat3 ahead = ss_helix_joint_at(ss_along(q, h, unit_axis(k)), 0.05).turn;
    const ss_mat3 behind = ss_helix_joint_at(ss_along(q, -h, unit_axis(k)), 0.05).turn;
    for (int j = 0; j < 3; j++) {
        const ss_vec3 rate = ss_scaled(0.5 / h, ss_minus(ahead.c[j], behind.c[j]));
        const ss_vec3 known = ss_cross(joint.spin.c[k], joint.turn.c[j]);
        CHECK_LE(ss_length(ss_minus(rate, known)), 1e-10);
    }
}

static void derivatives_of_an_element_agree_with_differences(void)
{
    const double h = 1e-3; // 1/m
    for (double size = 1e-3; size < 300.0; size *= 3.0) {
        const ss_vec3 q = random_curvature(size);
        const ss_helix_arc arc = ss_helix_arc_at(q, 0.05);
        for (int k = 0; k < 3; k++) {
            const ss_vec3 ahead = ss_helix_arc_at(ss_along(q, h, unit_axis(k)), 0.05).p;
            const ss_vec3 behind = ss_helix_arc_at(ss_along(q, -h, unit_axis(k)), 0.05).p;
            const ss_vec3 slope = ss_scaled(0.5 / h, ss_minus(ahead, behind));
            CHECK_LE(ss_length(ss_minus(slope, arc.dp.c[k])), 1e-12);
            check_spin(q, k, h);
        }
    }
}

static void motion_of_an_element_agrees_with_differences(void)
{
    const double h = 1e-5; // s
    for (double size = 1e-3; size < 300.0; size *= 3.0) {
        const ss_vec3 q = random_curvature(size), rate = random_curvature(100.0);
        const ss_helix_motion m = ss_helix_motion_at(q, rate, 0.05);
        const ss_helix_motion ahead = ss_helix_motion_at(ss_along(q, h, rate), rate, 0.05);
        const ss_helix_motion behind = ss_helix_motion_at(ss_along(q, -h, rate), rate, 0.05);
        ss_vec3 spin, spin_rate, spin_ahead, spin_behind, unused;
        ss_helix_spin_at(q, rate, 0.05, &spin, &spin_rate);
        ss_helix_spin_at(ss_along(q, h, rate), rate, 0.05, &spin_ahead, &unused);
        ss_helix_spin_at(ss_along(q, -h, rate), rate, 0.05, &spin_behind, &unused);
        const double scale = 0.5 / h;
        const ss_vec3 velocity = ss_scaled(scale, ss_minus(ahead.p, behind.p));
        const ss_vec3 acceleration = ss_scaled(scale, ss_minus(ahead.velocity, behind.velocity));
        const ss_vec3 turning = ss_scaled(scale, ss_minus(spin_ahead, spin_behind));
        const ss_mat3 spins = ss_helix_joint_at(q, 0.05).spin;
        CHECK_LE(ss_length(ss_minus(velocity, m.velocity)), 1e-9);
        CHECK_LE(ss_length(ss_minus(acceleration, m.acceleration)), 1e-8);
        CHECK_LE(ss_length(ss_minus(turning, spin_rate)), 1e-7);
        CHECK_LE(ss_length(ss_minus(ss_turned(&spins, rate), spin)), 1e-13);
    }
}

// ---- Points side by side

static void check_same(ss_vec3 a, ss_vec3 b)
{
    CHECK(memcmp(&a, &b, sizeof a) == 0);
}

static ss_vec3 of_row(double x[3][SS_HELIX_ROW], int l)
{
    return ss_vec(x[0][l], x[1][l], x[2][l]);
}

// Some of them by the series and some beyond it.
static void points_side_by_side_have_the_bits_of_single_ones(void)
{
    for (double size = 1e-3; size < 300.0; size *= 3.0) {
        const ss_vec3 q = random_curvature(size), rate = random_curvature(100.0);
        const ss_vec3 r = random_curvature(1.0);
        const ss_mat3 R = ss_rotation(random_curvature(3.0));
        const ss_helix_carrier c = {random_curvature(5.0), random_curvature(50.0),
                                    random_curvature(9.0)};
        double sigma[SS_HELIX_ROW];
        ss_vec3 a[SS_HELIX_ROW];
        for (int l = 0; l < SS_HELIX_ROW; l++) {
            sigma[l] = l / 100.0;
        }
        ss_helix_row row;
        ss_helix_row_at(q, sigma, &R, r, &row);
        ss_helix_row_carried(q, rate, sigma, &R, &c, a);
        for (int l = 0; l < SS_HELIX_ROW; l++) {
            const ss_helix_arc arc = ss_helix_arc_at(q, sigma[l]);
            const ss_helix_motion m = ss_helix_motion_at(q, rate, sigma[l]);
            check_same(of_row(row.x, l), ss_plus(r, ss_turned(&R, arc.p)));
            for (int i = 0; i < 3; i++) {
                check_same(of_row(row.own[i], l), ss_turned(&R, arc.dp.c[i]));
            }
            check_same(a[l], ss_turned(&R, ss_helix_carried(&c, &m)));
        }
    }
}

static void run_tests(void)
{
    RUN_TEST(terms_at_0_are_their_limits);
    RUN_TEST(terms_at_pi_are_known);
    RUN_TEST(series_and_closed_forms_meet);
    RUN_TEST(an_element_is_the_integral_of_its_tangent);
    RUN_TEST(the_tangent_is_the_first_axis_and_a_unit);
    RUN_TEST(frames_are_rotations);
    RUN_TEST(derivatives_of_an_element_agree_with_differences);
    RUN_TEST(motion_of_an_element_agrees_with_differences);
    RUN_TEST(points_side_by_side_have_the_bits_of_single_ones);
}

const test_group helix_tests = {.run = run_tests, .set_up = set_up};
