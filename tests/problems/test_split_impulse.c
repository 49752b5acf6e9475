// The impulse that one contact asks for by itself: known answers, and where passes of it end.
#include <string.h>

#include "problems/coulomb.h"
#include "problems/split_impulse.h"
#include "base/random.h"
#include "tests/support/support.h"

static void velocity(const double W[9], const double b[3], const double r[3], double u[3])
{
    for (int i = 0; i < 3; i++) {
        u[i] = b[i] + W[3 * i] * r[0] + W[3 * i + 1] * r[1] + W[3 * i + 2] * r[2];
    }
}

// |f|_inf over the largest velocity.
static double violation(const double W[9], const double b[3], double mu, const double r[3])
{
    double u[3], f[3];
    velocity(W, b, r, u);
    ss_coulomb_residual(mu, (W[0] + W[4] + W[8]) / 3.0, r, u, f);
    return largest_of(f, 3) / largest_of(b, 3);
}

static void an_impulse_in_the_cone_is_not_cut(void)
{
    double y[3] = {2.0, 0.6, -0.8};
    ss_impulse_cut(0.5, y);
    CHECK(y[0] == 2.0 && y[1] == 0.6 && y[2] == -0.8);
}

static void an_impulse_outside_is_cut_along_its_own_direction(void)
{
    double y[3] = {2.0, 6.0, -8.0};
    ss_impulse_cut(0.5, y);
    CHECK_NEAR(y[0], 2.0, 0.0);
    CHECK_NEAR(y[1], 0.6, 1e-15);
    CHECK_NEAR(y[2], -0.8, 1e-15);
}

static void a_pull_is_cut_to_nothing(void)
{
    double y[3] = {-1e-3, 6.0, -8.0};
    ss_impulse_cut(0.5, y);
    CHECK(y[0] == 0.0 && y[1] == 0.0 && y[2] == 0.0);
}

static void a_cut_keeps_a_nan(void)
{
    double normal[3] = {NAN, 1.0, 0.0}, tangent[3] = {1.0, NAN, 0.0};
    ss_impulse_cut(0.5, normal);
    ss_impulse_cut(0.5, tangent);
    CHECK(isnan(normal[0]));
    CHECK(isnan(tangent[1]));
}

// A free mass: (4) is Coulomb's answer after one pass, from any r, and so is (2) from 0.
static void a_free_mass_has_its_answer_after_one_pass(void)
{
    ss_random g = ss_random_seeded(1);
    for (int k = 0; k < 200; k++) {
        const double mass = 0.1 + ss_random_uniform(&g), mu = ss_random_uniform(&g);
        const double W[9] = {1.0 / mass, 0, 0, 0, 1.0 / mass, 0, 0, 0, 1.0 / mass};
        double b[3], u[3], dr[3], r[3];
        for (int c = 0; c < 3; c++) {
            b[c] = ss_random_normal(&g);
            r[c] = ss_random_normal(&g);
        }
        ss_impulse_printed(mu, mass, b, dr);
        CHECK_LE(violation(W, b, mu, dr), 1e-14);
        velocity(W, b, r, u);
        ss_impulse_repaired(mu, mass, u, r);
        CHECK_LE(violation(W, b, mu, r), 1e-14);
    }
}

// W = diag(1, 3/2, 3/2), b = (-1, 1/10, 0), m_loc = 1: the first increment is (1, -1/10, 0), which
// leaves u = (0, -1/20, 0), and the normal velocity asks for no more.
static void the_printed_law_stops_while_a_contact_slips_inside_its_cone(void)
{
    const double W[9] = {1.0, 0.0, 0.0, 0.0, 1.5, 0.0, 0.0, 0.0, 1.5}, b[3] = {-1.0, 0.1, 0.0};
    double r[3] = {0.0, 0.0, 0.0}, u[3], dr[3];
    for (int pass = 0; pass < 50; pass++) {
        velocity(W, b, r, u);
        ss_impulse_printed(0.5, 1.0, u, dr);
        for (int c = 0; c < 3; c++) {
            r[c] += dr[c];
        }
    }
    CHECK_NEAR(r[0], 1.0, 1e-15);
    CHECK_NEAR(r[1], -0.1, 1e-15);
    CHECK_NEAR(u[1], -0.05, 1e-15);
    CHECK(violation(W, b, 0.5, r) > 0.01);
    memset(r, 0, sizeof r);
    for (int pass = 0; pass < 60; pass++) {
        velocity(W, b, r, u);
        ss_impulse_repaired(0.5, 1.0, u, r);
    }
    CHECK_NEAR(r[0], 1.0, 1e-15);
    CHECK_NEAR(r[1], -0.1 / 1.5, 1e-15);
    CHECK_LE(violation(W, b, 0.5, r), 1e-15);
}

// W = A A' + I / 10 of a random A; m_loc = 1 / tr W is below 1 / lambda_max.
static void passes_of_the_repaired_law_end_at_coulomb(void)
{
    ss_random g = ss_random_seeded(2);
    for (int k = 0; k < 100; k++) {
        double A[9], W[9], b[3], u[3], r[3] = {0.0, 0.0, 0.0};
        const double mu = ss_random_uniform(&g);
        for (int c = 0; c < 9; c++) {
            A[c] = ss_random_normal(&g);
        }
        for (int c = 0; c < 3; c++) {
            b[c] = ss_random_normal(&g);
        }
        for (int i = 0; i < 9; i++) {
            const double *x = A + 3 * (i / 3), *y = A + 3 * (i % 3);
            W[i] = x[0] * y[0] + x[1] * y[1] + x[2] * y[2] + (i % 4 == 0 ? 0.1 : 0.0);
        }
        for (int pass = 0; pass < 20000; pass++) {
            velocity(W, b, r, u);
            ss_impulse_repaired(mu, 1.0 / (W[0] + W[4] + W[8]), u, r);
        }
        CHECK_LE(violation(W, b, mu, r), 1e-12);
    }
}

// A rod of the mass m that is hit in its middle answers as a particle; at its end 1/m along it, 4/m
// across.
static void a_rod_answers_a_hit_as_mechanics_says(void)
{
    const double t[3] = {0.0, 0.6, 0.8}, across[3] = {0.0, -0.8, 0.6};
    double middle[9] = {0.0}, end[9] = {0.0};
    ss_impulse_add_rod(2.0, 0.5, t, middle);
    ss_impulse_add_rod(2.0, 1.0, t, end);
    for (int i = 0; i < 3; i++) {
        const double *K = end + 3 * i;
        CHECK_NEAR(middle[4 * i], 0.5, 1e-15);
        CHECK_NEAR(K[0] * t[0] + K[1] * t[1] + K[2] * t[2], 0.5 * t[i], 1e-15);
        CHECK_NEAR(K[0] * across[0] + K[1] * across[1] + K[2] * across[2], 2.0 * across[i], 1e-15);
    }
    CHECK(middle[1] == 0.0 && middle[2] == 0.0 && middle[5] == 0.0);
}

// K dr = -u where the cone does not cut.
static void the_rigid_law_stops_the_rods_where_they_meet(void)
{
    const double t[3] = {0.0, 1.0, 0.0}, s[3] = {0.0, 0.6, 0.8}, u[3] = {-1.0, 0.2, -0.3};
    double K[9] = {0.0}, dr[3];
    ss_impulse_add_rod(2.0, 0.1, t, K);
    ss_impulse_add_rod(3.0, 0.7, s, K);
    ss_impulse_rigid(0.9, K, u, dr);
    for (int i = 0; i < 3; i++) {
        const double *row = K + 3 * i;
        CHECK_NEAR(row[0] * dr[0] + row[1] * dr[1] + row[2] * dr[2], -u[i], 1e-15);
    }
    ss_impulse_rigid(0.01, K, u, dr);
    CHECK_NEAR(hypot(dr[1], dr[2]), 0.01 * dr[0], 1e-16);
}

static void run_tests(void)
{
    RUN_TEST(an_impulse_in_the_cone_is_not_cut);
    RUN_TEST(an_impulse_outside_is_cut_along_its_own_direction);
    RUN_TEST(a_pull_is_cut_to_nothing);
    RUN_TEST(a_cut_keeps_a_nan);
    RUN_TEST(a_free_mass_has_its_answer_after_one_pass);
    RUN_TEST(the_printed_law_stops_while_a_contact_slips_inside_its_cone);
    RUN_TEST(passes_of_the_repaired_law_end_at_coulomb);
    RUN_TEST(a_rod_answers_a_hit_as_mechanics_says);
    RUN_TEST(the_rigid_law_stops_the_rods_where_they_meet);
}

const test_group split_impulse_tests = {.run = run_tests};
