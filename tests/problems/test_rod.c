// tests/problems/test_rod.c -- a rod's shape, kinematics and mass, and the eigenvalues they rest on.
#include "problems/tangle/tangle.h"

#include <gsl/gsl_eigen.h>

#include "base/spectrum.h"
#include "tests/support/support.h"
#include "tests/support/turned_chain.h"

#define RODS 50

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void extremes(size_t n, const double *A, double *lowest, double *highest)
{
    gsl_matrix *copy = gsl_matrix_alloc(n, n);
    gsl_vector *values = gsl_vector_alloc(n);
    gsl_eigen_symm_workspace *space = gsl_eigen_symm_alloc(n);
    for (size_t i = 0; i < n * n; i++) {
        gsl_matrix_set(copy, i / n, i % n, A[i]);
    }
    gsl_eigen_symm(copy, values, space);
    gsl_vector_minmax(values, lowest, highest);
    gsl_eigen_symm_free(space);
    gsl_vector_free(values);
    gsl_matrix_free(copy);
}

static void spectrum_of_a_matrix_known_by_hand(void)
{
    // (2 1; 1 2) has 1 along (1, -1) and 3 along (1, 1); 1e-3 stands alone.
    const double A[9] = {2, 1, 0, 1, 2, 0, 0, 0, 1e-3};
    const ss_spectrum s = ss_spectrum_of(3, A);
    CHECK_NEAR(s.lowest, 1e-3, 1e-18);
    CHECK_NEAR(s.highest, 3.0, 1e-15);
    // (3 + a) / (1e-3 + a) = 100 has a = (3 - 0.1) / 99.
    CHECK_NEAR(ss_spectrum_shift(&s, 100.0), 2.9 / 99.0, 1e-16);
    double again[9];
    ss_spectrum_matrix(&s, s.lambda, again);
    for (int k = 0; k < 9; k++) {
        CHECK_NEAR(again[k], A[k], 1e-15);
    }
}

static void spectrum_agrees_with_gsl(void)
{
    ss_random g = ss_random_seeded(1);
    for (int n = 1; n <= SS_SPECTRUM_LARGEST; n++) {
        double A[256], low, high;
        for (int i = 0; i < n; i++) {
            for (int j = 0; j <= i; j++) {
                A[i * n + j] = A[j * n + i] = ss_random_normal(&g);
            }
        }
        const ss_spectrum s = ss_spectrum_of(n, A);
        extremes((size_t)n, A, &low, &high);
        CHECK_NEAR(s.lowest, low, 1e-13);
        CHECK_NEAR(s.highest, high, 1e-13);
    }
}

static void spectrum_of_a_nan_ends(void)
{
    const double A[4] = {1.0, NAN, NAN, 1.0};
    const ss_spectrum s = ss_spectrum_of(2, A);
    CHECK(isnan(s.lambda[0]));
}

static void links_hang_together_and_axes_are_perpendicular_to_them(void)
{
    ss_random g = ss_random_seeded(2);
    for (int k = 0; k < RODS; k++) {
        const ss_rod rod = ss_rod_drawn(&g, 2 + k % 2);
        const double length = 0.25 / rod.nlinks;
        CHECK(rod.nlinks * rod.joint_axes == 16 && rod.nlinks == (rod.dim == 2 ? 16 : 8));
        for (int j = 0; j < 16; j++) {
            const int e = j / rod.joint_axes;
            CHECK_NEAR(dot(rod.axis[j], rod.axis[j]), 1.0, 1e-15);
            CHECK_NEAR(dot(rod.axis[j], rod.direction[e]), 0.0, 1e-15);
            double end[3];
            ss_rod_point(&rod, (e + 1) * length * (1.0 - 1e-15), end);
            for (int i = 0; i < 3 && e + 1 < rod.nlinks; i++) {
                CHECK_NEAR(end[i], rod.joint[e + 1][i], 1e-15);
            }
            CHECK(rod.dim == 3 || rod.direction[e][2] == 0.0);
        }
    }
}

static void rods_are_curled_gently_and_each_in_its_own_way(void)
{
    ss_random g = ss_random_seeded(3);
    double growth[3], tip[3], other[3];
    for (int dim = 2; dim <= 3; dim++) {
        ss_rod_growth(dim, growth);
        for (int k = 0; k < RODS; k++) {
            const ss_rod rod = ss_rod_drawn(&g, dim), another = ss_rod_drawn(&g, dim);
            ss_rod_point(&rod, 0.25, tip);
            ss_rod_point(&another, 0.25, other);
            CHECK_LE(0.15, dot(tip, growth));
            CHECK_LE(dot(tip, growth), 0.2499);
            CHECK(tip[0] != other[0]);
        }
    }
}

static void jacobian_is_the_derivative_of_the_turned_chain(void)
{
    ss_random g = ss_random_seeded(4);
    for (int k = 0; k < RODS; k++) {
        const ss_rod rod = ss_rod_drawn(&g, 2 + k % 2);
        const double s = ss_random_between(&g, 0.0, 0.25);
        double v[16], expected[3], velocity[3] = {0.0}, J[SS_ROD_DOFS][3];
        for (int j = 0; j < 16; j++) {
            v[j] = ss_random_normal(&g);
        }
        const int reach = ss_rod_jacobian(&rod, s, J);
        CHECK(reach == ss_rod_reach(&rod, s));
        for (int j = 0; j < reach; j++) {
            for (int i = 0; i < 3; i++) {
                velocity[i] += J[j][i] * v[j];
            }
        }
        turned_velocity(&rod, s, v, expected);
        for (int i = 0; i < 3; i++) {
            CHECK_NEAR(velocity[i], expected[i], TURNED_ERROR);
        }
    }
}

static void the_tip_is_reached_by_all_joints_and_the_first_link_by_the_first(void)
{
    ss_random g = ss_random_seeded(5);
    const ss_rod space = ss_rod_drawn(&g, 3), plane = ss_rod_drawn(&g, 2);
    CHECK(ss_rod_reach(&space, 0.25) == 16 && ss_rod_reach(&plane, 0.25) == 16);
    CHECK(ss_rod_reach(&space, 0.03) == 2 && ss_rod_reach(&plane, 0.015) == 1);
    CHECK(ss_rod_reach(&space, 0.0) == 2 && ss_rod_reach(&plane, 0.0) == 1);
}

static void mass_has_the_condition_asked_for(void)
{
    const double conditions[] = {10, 1e3, 1e4, 1e5, 1e6, 1e8};
    ss_random g = ss_random_seeded(6);
    for (int k = 0; k < RODS; k++) {
        const ss_rod rod = ss_rod_drawn(&g, 2 + k % 2);
        for (int c = 0; c < 6; c++) {
            double M[SS_ROD_DOFS][SS_ROD_DOFS], low, high;
            ss_rod_mass(&rod, conditions[c], M);
            extremes(16, M[0], &low, &high);
            CHECK_NEAR(high / low, conditions[c], 1e-2 * conditions[c]);
            for (int i = 0; i < 256; i++) {
                CHECK(M[i / 16][i % 16] == M[i % 16][i / 16]);
            }
        }
    }
}

// v' M v less the stiffness, which is the same alpha on every joint, is the chain's m |xdot|^2.
static void mass_is_the_kinetic_energy_of_the_chain(void)
{
    ss_random g = ss_random_seeded(7);
    const int points = 4000;
    for (int dim = 2; dim <= 3; dim++) {
        const ss_rod rod = ss_rod_drawn(&g, dim);
        double M[SS_ROD_DOFS][SS_ROD_DOFS], v[16], energy[2] = {0.0}, alpha[2];
        ss_rod_mass(&rod, 1e3, M);
        for (int k = 0; k < 2; k++) {
            alpha[k] = 0.0;
            for (int j = 0; j < 16; j++) {
                v[j] = ss_random_normal(&g);
                alpha[k] += v[j] * v[j];
            }
            for (int i = 0; i < points; i++) {
                double velocity[3];
                turned_velocity(&rod, 0.25 * (i + 0.5) / points, v, velocity);
                energy[k] -= 6.5e-6 * 0.25 / points * dot(velocity, velocity);
            }
            for (int i = 0; i < 256; i++) {
                energy[k] += v[i / 16] * M[i / 16][i % 16] * v[i % 16];
            }
        }
        // What is left over is alpha |v|^2, for both v with the same alpha.
        CHECK_LE(0.0, energy[0] / alpha[0]);
        CHECK_NEAR(energy[0] / alpha[0], energy[1] / alpha[1], 1e-4 * energy[1] / alpha[1]);
    }
}

static void weight_is_what_gravity_does_to_the_joints(void)
{
    // A uniform field does work m a . dx_centre: the sum over points of m a . xdot.
    ss_random g = ss_random_seeded(8);
    const double a[3] = {1.0, -2.0, 0.5};
    const int points = 4000;
    const ss_rod rod = ss_rod_drawn(&g, 3);
    double torque[SS_ROD_DOFS], v[16], power = 0.0, expected = 0.0;
    ss_rod_weight(&rod, a, torque);
    for (int j = 0; j < 16; j++) {
        v[j] = ss_random_normal(&g);
        power += torque[j] * v[j];
    }
    for (int i = 0; i < points; i++) {
        double velocity[3];
        turned_velocity(&rod, 0.25 * (i + 0.5) / points, v, velocity);
        expected += 6.5e-6 * 0.25 / points * dot(a, velocity);
    }
    CHECK_NEAR(power, expected, 1e-6 * fabs(expected));
}

static void run_tests(void)
{
    RUN_TEST(spectrum_of_a_matrix_known_by_hand);
    RUN_TEST(spectrum_agrees_with_gsl);
    RUN_TEST(spectrum_of_a_nan_ends);
    RUN_TEST(links_hang_together_and_axes_are_perpendicular_to_them);
    RUN_TEST(rods_are_curled_gently_and_each_in_its_own_way);
    RUN_TEST(jacobian_is_the_derivative_of_the_turned_chain);
    RUN_TEST(the_tip_is_reached_by_all_joints_and_the_first_link_by_the_first);
    RUN_TEST(mass_has_the_condition_asked_for);
    RUN_TEST(mass_is_the_kinetic_energy_of_the_chain);
    RUN_TEST(weight_is_what_gravity_does_to_the_joints);
}

const test_group rod_tests = {.run = run_tests};
