// Coulomb's law: residuals known by hand, the spectral formula in long double as an oracle, and projections.
#include "problems/coulomb.h"
#include "base/random.h"
#include "tests/support/support.h"

static double size_of(const double f[3])
{
    return fmax(fabs(f[0]), fmax(fabs(f[1]), fabs(f[2])));
}

static void sliding_contact_known_answer_has_zero_residual(void)
{
    // W = I, b = (-1, 2, 0), mu = 1/2: r_N = 1, r_T = -mu e1, u = (0, 3/2, 0).
    const double r[3] = {1.0, -0.5, 0.0}, u[3] = {0.0, 1.5, 0.0};
    double f[3];
    ss_coulomb_residual(0.5, 1.0, r, u, f);
    CHECK_LE(size_of(f), 1e-15);
}

static void sticking_and_open_contacts_have_zero_residual(void)
{
    const double stuck[3] = {2.0, 0.3, -0.4}, rest[3] = {0.0, 0.0, 0.0};
    const double leaving[3] = {0.1, 5.0, -7.0};
    double f[3];
    ss_coulomb_residual(0.5, 3.0, stuck, rest, f);
    CHECK_LE(size_of(f), 1e-15);
    ss_coulomb_residual(0.5, 3.0, rest, leaving, f);
    CHECK_LE(size_of(f), 1e-14);
}

static void wrong_answers_have_a_residual_of_their_size(void)
{
    double f[3];
    const double none[3] = {0.0, 0.0, 0.0};
    // Approaching without an impulse: f = u + u = -2 on the normal.
    ss_coulomb_residual(0.5, 1.0, none, (const double[3]){-1.0, 0.0, 0.0}, f);
    CHECK_NEAR(f[0], -2.0, 1e-15);
    // Friction along the slip instead of against it.
    ss_coulomb_residual(0.5, 1.0, (const double[3]){1.0, 0.5, 0.0},
                        (const double[3]){0.0, 1.0, 0.0}, f);
    CHECK_NEAR(f[0], 1.0 - sqrt(0.5), 1e-15); // x^ = u^, so that f = (2 - sqrt 2) x^
    // Slipping with an impulse inside the cone.
    ss_coulomb_residual(0.5, 1.0, (const double[3]){1.0, -0.25, 0.0},
                        (const double[3]){0.0, 1.0, 0.0}, f);
    CHECK(size_of(f) > 0.1);
    // Outside the cone at rest.
    ss_coulomb_residual(0.5, 1.0, (const double[3]){1.0, 0.6, 0.0}, none, f);
    CHECK(size_of(f) > 0.05);
    // Pulling.
    ss_coulomb_residual(0.5, 1.0, (const double[3]){-1.0, 0.0, 0.0}, none, f);
    CHECK_NEAR(f[0], -1.0, 1e-15);
}

// f by the spectral decomposition as the definition states it, with 64 bits of mantissa.
static void oracle(const double x[3], const double y[3], double f[3])
{
    long double a[2], squares = 0.0L;
    for (int c = 0; c < 3; c++) {
        squares += (long double)x[c] * x[c] + (long double)y[c] * y[c];
    }
    a[0] = (long double)x[0] * x[1] + (long double)y[0] * y[1];
    a[1] = (long double)x[0] * x[2] + (long double)y[0] * y[2];
    const long double size = sqrtl(a[0] * a[0] + a[1] * a[1]);
    const long double root1 = sqrtl(fmaxl(0.0L, squares - 2.0L * size));
    const long double root2 = sqrtl(squares + 2.0L * size);
    const long double t = size > 0.0L ? (root2 - root1) / (2.0L * size) : 0.0L;
    f[0] = (double)((long double)x[0] + y[0] - (root1 + root2) / 2.0L);
    f[1] = (double)((long double)x[1] + y[1] - t * a[0]);
    f[2] = (double)((long double)x[2] + y[2] - t * a[1]);
}

static void residual_equals_the_spectral_definition(void)
{
    ss_random g = ss_random_seeded(11);
    for (int k = 0; k < 20000; k++) {
        double x[3], y[3], f[3], expected[3];
        for (int c = 0; c < 3; c++) {
            x[c] = ss_random_normal(&g);
            y[c] = ss_random_normal(&g) * ss_random_log_between(&g, 1e-3, 1e3);
        }
        ss_fischer_burmeister(x, y, f);
        oracle(x, y, expected);
        const double size = fmax(size_of(x), size_of(y));
        for (int c = 0; c < 3; c++) {
            CHECK_NEAR(f[c], expected[c], 2e-14 * size);
        }
    }
}

static void residual_does_not_cancel_on_the_cone(void)
{
    // x and y on opposite rays of the cone: f = 0, and l1 = 0 exactly. Computed as a difference, l1
    // would leave sqrt(eps) = 1e-8.
    ss_random g = ss_random_seeded(12);
    for (int k = 0; k < 5000; k++) {
        double t[3], f[3];
        ss_random_direction(&g, 2, t);
        const double a = ss_random_log_between(&g, 1e-4, 1e4);
        const double x[3] = {a, a * t[0], a * t[1]};
        const double y[3] = {1.0, -t[0], -t[1]};
        ss_fischer_burmeister(x, y, f);
        CHECK_LE(size_of(f), 1e-15 * fmax(a, 1.0));
    }
}

static void residual_is_homogeneous_at_any_size(void)
{
    const double x[3] = {1.0, 0.3, -2.0}, y[3] = {-0.7, 0.1, 0.4};
    double f[3];
    ss_fischer_burmeister(x, y, f);
    const double sizes[] = {1e-300, 1e-160, 1e160, 1e300};
    for (int k = 0; k < 4; k++) {
        double xs[3], ys[3], fs[3];
        for (int c = 0; c < 3; c++) {
            xs[c] = x[c] * sizes[k];
            ys[c] = y[c] * sizes[k];
        }
        ss_fischer_burmeister(xs, ys, fs);
        for (int c = 0; c < 3; c++) {
            CHECK_NEAR(fs[c], f[c] * sizes[k], 1e-14 * sizes[k]);
        }
    }
}

static void projection_leaves_the_cone_and_its_polar_alone(void)
{
    double p[3];
    ss_cone_project(0.5, (const double[3]){2.0, 0.6, 0.8}, p);
    CHECK(p[0] == 2.0 && p[1] == 0.6 && p[2] == 0.8);
    ss_cone_project(0.5, (const double[3]){-1.0, 2.0, 0.0}, p);
    CHECK(p[0] == 0.0 && p[1] == 0.0 && p[2] == 0.0);
    // mu = 1, x = (0, 2, 0): nearest point of the ray (1, 1, 0) is (1, 1, 0).
    ss_cone_project(1.0, (const double[3]){0.0, 2.0, 0.0}, p);
    CHECK_NEAR(p[0], 1.0, 1e-15);
    CHECK_NEAR(p[1], 1.0, 1e-15);
    // mu = 0: the cone is the normal ray.
    ss_cone_project(0.0, (const double[3]){3.0, 1.0, 1.0}, p);
    CHECK(p[0] == 3.0 && p[1] == 0.0 && p[2] == 0.0);
}

static void projection_may_take_the_place_of_its_argument(void)
{
    double x[3] = {0.0, 2.0, 0.0}; // the ray (1, 1, 0) again
    ss_cone_project(1.0, x, x);
    CHECK_NEAR(x[0], 1.0, 1e-15);
    CHECK_NEAR(x[1], 1.0, 1e-15);
    CHECK(x[2] == 0.0);
}

static void projection_is_the_nearest_point(void)
{
    // p in K, x - p in the polar cone, and orthogonal to p: the three conditions of a projection.
    ss_random g = ss_random_seeded(13);
    for (int k = 0; k < 5000; k++) {
        const double mu = ss_random_log_between(&g, 1e-3, 10.0);
        double x[3], p[3];
        for (int c = 0; c < 3; c++) {
            x[c] = ss_random_normal(&g);
        }
        ss_cone_project(mu, x, p);
        const double q[3] = {x[0] - p[0], x[1] - p[1], x[2] - p[2]};
        CHECK_LE(hypot(p[1], p[2]), mu * p[0] + 1e-14);
        CHECK_LE(mu * hypot(q[1], q[2]), -q[0] + 1e-14 * (1.0 + mu));
        CHECK_LE(fabs(p[0] * q[0] + p[1] * q[1] + p[2] * q[2]), 1e-13);
    }
}

static void frictionless_contact_is_judged_by_the_scalar_law(void)
{
    double f[3];
    ss_coulomb_residual(0.0, 2.0, (const double[3]){3.0, 0.0, 0.0},
                        (const double[3]){0.0, 9.0, -9.0}, f);
    CHECK_LE(size_of(f), 0.0);
    ss_coulomb_residual(0.0, 2.0, (const double[3]){3.0, 0.25, 0.0},
                        (const double[3]){0.0, 0.0, 0.0}, f);
    CHECK_NEAR(f[1], 0.5, 0.0);
    ss_coulomb_residual(0.0, 2.0, (const double[3]){1.5, 0.0, 0.0},
                        (const double[3]){4.0, 0.0, 0.0}, f);
    CHECK_NEAR(f[0], 2.0, 1e-15); // 3 + 4 - 5
    // |s r_T| of s r_T = (3, 4) is its length, in any tangent frame.
    ss_coulomb_residual(0.0, 2.0, (const double[3]){0.0, 1.5, 2.0},
                        (const double[3]){0.0, 0.0, 0.0}, f);
    CHECK_NEAR(f[1], 5.0, 1e-15);
    CHECK_NEAR(size_of(f), 5.0, 1e-15);
}

static void run_tests(void)
{
    RUN_TEST(sliding_contact_known_answer_has_zero_residual);
    RUN_TEST(sticking_and_open_contacts_have_zero_residual);
    RUN_TEST(wrong_answers_have_a_residual_of_their_size);
    RUN_TEST(residual_equals_the_spectral_definition);
    RUN_TEST(residual_does_not_cancel_on_the_cone);
    RUN_TEST(residual_is_homogeneous_at_any_size);
    RUN_TEST(projection_leaves_the_cone_and_its_polar_alone);
    RUN_TEST(projection_may_take_the_place_of_its_argument);
    RUN_TEST(projection_is_the_nearest_point);
    RUN_TEST(frictionless_contact_is_judged_by_the_scalar_law);
}

const test_group coulomb_tests = {.run = run_tests};
