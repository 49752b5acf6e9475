// Anderson mixing on fixed-point iterations whose answer is known.
#include <string.h>

#include "solvers/linear/mixing.h"
#include "tests/support/support.h"

#define SIZE 6

// g(x) = c + A x with |A| near 1: plain iteration needs thousands of steps.
static void iterate_plainly(const double *x, double *g)
{
    for (int i = 0; i < SIZE; i++) {
        g[i] = 1.0 + (0.99 - 0.15 * i) * x[i] + (i > 0 ? 0.05 * x[i - 1] : 0.0);
    }
}

static double residual(const double *x, double *f)
{
    double g[SIZE], worst = 0.0;
    iterate_plainly(x, g);
    for (int i = 0; i < SIZE; i++) {
        f[i] = g[i] - x[i];
        worst = fabs(f[i]) <= worst ? worst : fabs(f[i]);
    }
    return worst;
}

// As GMRES does, mixing ends a linear iteration of n unknowns in n + 1 steps.
static void a_linear_iteration_ends_after_as_many_steps_as_unknowns(void)
{
    ss_mixing *a = ss_mixing_new(SIZE, 0, SIZE, 1e-12);
    double x[SIZE] = {0}, f[SIZE];
    for (int k = 0; k < SIZE + 2; k++) {
        double g[SIZE];
        iterate_plainly(x, g);
        residual(x, f);
        ss_mixing_step(a, f, g, NULL);
        memcpy(x, g, sizeof x);
    }
    CHECK_LE(residual(x, f), 1e-10);
    ss_mixing_free(a);
}

// A shallow memory that drops its oldest column goes on converging, and what goes along (here
// 2 x + 1) is mixed with the same weights.
static void what_goes_along_stays_affine(void)
{
    ss_mixing *a = ss_mixing_new(SIZE, SIZE, 3, 1e-12);
    double x[SIZE] = {0}, f[SIZE];
    for (int k = 0; k < 200; k++) {
        double g[SIZE], h[SIZE];
        iterate_plainly(x, g);
        for (int i = 0; i < SIZE; i++) {
            h[i] = 2.0 * g[i] + 1.0;
        }
        residual(x, f);
        ss_mixing_step(a, f, g, h);
        for (int i = 0; i < SIZE; i++) {
            CHECK_NEAR(h[i], 2.0 * g[i] + 1.0, 1e-9 * (1.0 + fabs(g[i])));
        }
        memcpy(x, g, sizeof x);
    }
    CHECK_LE(residual(x, f), 1e-9);
    ss_mixing_free(a);
}

static void the_first_step_after_forgetting_is_plain(void)
{
    ss_mixing *a = ss_mixing_new(2, 0, 4, 1e-12);
    for (int k = 0; k < 2; k++) {
        double g[] = {3.0, -1.0};
        const double f[] = {1.0, 2.0};
        ss_mixing_step(a, f, g, NULL);
        CHECK(g[0] == 3.0 && g[1] == -1.0);
        double other[] = {4.0, 1.0};
        const double smaller[] = {0.5, 1.0};
        ss_mixing_step(a, smaller, other, NULL); // gamma = -1: x = g + dG
        CHECK_NEAR(other[0], 5.0, 1e-14);
        CHECK_NEAR(other[1], 3.0, 1e-14);
        ss_mixing_forget(a);
    }
    ss_mixing_free(a);
}

// A step that repeats the last one adds nothing, and must not divide by it.
static void a_repeated_step_is_left_out(void)
{
    ss_mixing *a = ss_mixing_new(2, 0, 4, 1e-12);
    for (int k = 0; k < 4; k++) {
        double g[] = {3.0, -1.0};
        const double f[] = {1.0, 2.0};
        ss_mixing_step(a, f, g, NULL);
        CHECK(g[0] == 3.0 && g[1] == -1.0);
    }
    ss_mixing_free(a);
}

static void run_tests(void)
{
    RUN_TEST(a_linear_iteration_ends_after_as_many_steps_as_unknowns);
    RUN_TEST(what_goes_along_stays_affine);
    RUN_TEST(the_first_step_after_forgetting_is_plain);
    RUN_TEST(a_repeated_step_is_left_out);
}

const test_group mixing_tests = {.run = run_tests};
