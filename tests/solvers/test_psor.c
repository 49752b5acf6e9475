// The solver psor: the box law of [H06] against enumeration of its cases, and what it is to Coulomb's.
#include <gsl/gsl_linalg.h>

#include "problems/matrix/delassus.h"
#include "tests/support/make_problem.h"
#include "tests/support/solving.h"
#include "tests/support/one_problem.h"

#define CONTACTS 3
#define NUMBERS  (2 * CONTACTS)

// ---- The box law in the plane, by its cases: x_n = 0 or u_N = 0, and x_t = 0, u.t = 0 or x_t = mu x_n

typedef struct box {
    double W[NUMBERS][NUMBERS], b[NUMBERS]; // of n and t of each contact, t against the motion
    double mu;
} box;

// Row k of the case says x_k = 0, u_k = 0, or x_k = mu x_{k-1}.
static void put_row(const box *p, int k, int which, gsl_matrix *A, gsl_vector *right)
{
    for (int j = 0; j < NUMBERS; j++) {
        const double free = which == 1 ? p->W[k][j] : j == k ? 1.0 : 0.0;
        gsl_matrix_set(A, (size_t)k, (size_t)j, free);
    }
    if (which == 2) {
        gsl_matrix_set(A, (size_t)k, (size_t)k - 1, -p->mu);
    }
    gsl_vector_set(right, (size_t)k, which == 1 ? -p->b[k] : 0.0);
}

static bool obeys(const box *p, const double *x)
{
    bool holds = true;
    for (int k = 0; k < NUMBERS; k++) {
        double u = p->b[k];
        for (int j = 0; j < NUMBERS; j++) {
            u += p->W[k][j] * x[j];
        }
        const double tiny = 1e-10, most = k % 2 == 1 ? p->mu * x[k - 1] : INFINITY;
        holds = holds && x[k] >= -tiny && x[k] <= most + tiny;
        holds = holds && (u >= -tiny || x[k] >= most - tiny);
        holds = holds && (u <= tiny || x[k] <= tiny);
    }
    return holds;
}

// How many of the 6^3 cases give an answer; the last of them.
static int enumerate(const box *p, double *answer)
{
    int found = 0;
    gsl_matrix *A = gsl_matrix_alloc(NUMBERS, NUMBERS);
    gsl_vector *right = gsl_vector_alloc(NUMBERS);
    gsl_permutation *order = gsl_permutation_alloc(NUMBERS);
    for (int which = 0; which < 6 * 6 * 6; which++) {
        int sign, rest = which;
        for (int i = 0; i < CONTACTS; i++, rest /= 6) {
            put_row(p, 2 * i, rest % 2, A, right);
            put_row(p, 2 * i + 1, rest % 6 / 2, A, right);
        }
        double x[NUMBERS];
        gsl_vector_view view = gsl_vector_view_array(x, NUMBERS);
        gsl_linalg_LU_decomp(A, order, &sign);
        if (fabs(gsl_linalg_LU_det(A, sign)) < 1e-12) {
            continue;
        }
        gsl_linalg_LU_solve(A, order, right, &view.vector);
        if (obeys(p, x)) {
            double apart = 0.0;
            for (int k = 0; k < NUMBERS; k++) {
                apart = fmax(apart, found > 0 ? fabs(x[k] - answer[k]) : 0.0);
            }
            CHECK_LE(apart, 1e-8); // another case of the same answer
            memcpy(answer, x, sizeof x);
            found++;
        }
    }
    gsl_permutation_free(order);
    gsl_vector_free(right);
    gsl_matrix_free(A);
    return found;
}

// The same problem for the enumeration: columns and rows of t turned against b_T.
static box box_of(const ss_problem *p, ss_response *response)
{
    box of = {.mu = p->mu[0]};
    double r[NUMBERS] = {0.0}, u[NUMBERS], sign[NUMBERS];
    ss_response_judge(response, r, of.b);
    for (int k = 0; k < NUMBERS; k++) {
        sign[k] = k % 2 == 1 && of.b[k] > 0.0 ? -1.0 : 1.0;
    }
    for (int j = 0; j < NUMBERS; j++) {
        r[j] = sign[j];
        ss_response_judge(response, r, u);
        r[j] = 0.0;
        for (int k = 0; k < NUMBERS; k++) {
            of.W[k][j] = sign[k] * (u[k] - of.b[k]);
        }
    }
    for (int k = 0; k < NUMBERS; k++) {
        of.b[k] *= sign[k];
    }
    return of;
}

static void answers_are_those_of_the_enumeration_of_its_cases(void)
{
    int pushing = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        ss_response *response;
        problem = random_problem(seed, 2, CONTACTS, 2, 4);
        for (int i = 0; i < CONTACTS; i++) {
            problem->mu[i] = 0.3;
        }
        CHECK_OK(ss_response_new(problem, &response, &error));
        const box p = box_of(problem, response);
        double x[NUMBERS], none[NUMBERS] = {0.0}, b[NUMBERS];
        ss_response_judge(response, none, b);
        CHECK(enumerate(&p, x) > 0);
        solved a = run(problem, "psor:sweeps=100000,eps=0", 0.0, 100000);
        TEST_ASSERT_EQUAL_INT(SS_CONVERGED, a.result.outcome);
        for (int k = 0; k < NUMBERS; k++) {
            const double sign = k % 2 == 1 && b[k] > 0.0 ? -1.0 : 1.0;
            CHECK_NEAR(a.r[k], sign * x[k], 1e-8 * (1.0 + largest_of(x, NUMBERS)));
            pushing += x[k] > 0.0;
        }
        free_solved(&a);
        ss_response_free(response);
        tear_down();
    }
    CHECK(pushing > 60);
}

// ---- A particle on a plane

// Steps of h under its weight, sliding along a direction between the tangents; how long it slides.
static double slides(const char *spec, double speed, double mu, double h)
{
    const double m = 0.1, weight = 9.81, W[9] = {1.0 / m, 0, 0, 0, 1.0 / m, 0, 0, 0, 1.0 / m};
    double v[3] = {0.0, 0.6 * speed, 0.8 * speed}, time = 0.0;
    while (time < 2.0 && hypot(v[1], v[2]) > 1e-6) {
        const double b[3] = {v[0] - h * weight, v[1], v[2]};
        problem = one_contact(3, W, b, mu);
        solved a = run(problem, spec, 1e-12, 100);
        memcpy(v, a.u, sizeof v);
        CHECK_NEAR(v[0], 0.0, 1e-4);
        free_solved(&a);
        tear_down();
        time += h;
    }
    return time;
}

// From 1 m/s with mu = 0.5: 0.204 s. As printed, with t along the motion, it would keep its speed.
static void a_particle_slides_until_friction_has_stopped_it(void)
{
    CHECK_NEAR(slides("psor", 1.0, 0.5, 1e-3), 1.0 / (0.5 * 9.81), 2e-3);
    CHECK_NEAR(slides("psor:omega=1.3", 1.0, 0.25, 1e-3), 1.0 / (0.25 * 9.81), 2e-3);
    CHECK_NEAR(slides("secular", 1.0, 0.5, 1e-3), 1.0 / (0.5 * 9.81), 2e-3);
    // A square in place of the cone: up to sqrt 2 times the friction, 1.4 along (0.6, 0.8).
    CHECK_NEAR(slides("psor:tangents=2", 1.0, 0.5, 1e-3), 0.8 / (0.5 * 9.81), 2e-3);
}

// On a slope, from rest, for 0.1 s: its speed downwards.
static double speed_on_slope(const char *spec, double degrees, double mu)
{
    const double m = 0.1, h = 1e-3, slope = degrees * M_PI / 180.0;
    const double W[9] = {1.0 / m, 0, 0, 0, 1.0 / m, 0, 0, 0, 1.0 / m};
    double v[3] = {0.0};
    for (int k = 0; k < 100; k++) {
        const double b[3] = {v[0] - h * 9.81 * cos(slope), v[1] + h * 9.81 * sin(slope), v[2]};
        problem = one_contact(3, W, b, mu);
        solved a = run(problem, spec, 1e-12, 100);
        memcpy(v, a.u, sizeof v);
        free_solved(&a);
        tear_down();
    }
    return v[1];
}

// tan 20 = 0.36, tan 30 = 0.58: static friction holds on the one, dynamic friction brakes on the other.
static void friction_holds_below_its_angle_and_brakes_above(void)
{
    CHECK_NEAR(speed_on_slope("psor:eps=0", 20.0, 0.5), 0.0, 1e-12);
    const double a = 9.81 * (sin(M_PI / 6.0) - 0.5 * cos(M_PI / 6.0));
    CHECK_NEAR(speed_on_slope("psor:eps=0", 30.0, 0.5), 0.1 * a, 1e-12);
}

// ---- Its law and Coulomb's

static void without_friction_its_law_is_coulombs(void)
{
    problem = full_rank_tangle(3, 30, 11);
    for (int i = 0; i < problem->ncontacts; i++) {
        problem->mu[i] = 0.0;
    }
    solved a = run(problem, "psor:sweeps=100000,eps=0", 0.0, 100000);
    CHECK_LE(ss_measures_error(&a.facts), 1e-10);
    free_solved(&a);
}

// Where W couples normal and tangents it is another one, in space; the judge says so.
static void with_friction_the_judge_finds_another_law(void)
{
    problem = full_rank_tangle(3, 30, 11);
    solved a = run(problem, "psor:sweeps=100000,eps=0", 1e-10, 100000);
    CHECK(ss_measures_error(&a.facts) > 1e-3);
    TEST_ASSERT_EQUAL_INT(SS_CONVERGED, a.result.outcome); // by its own rule
    free_solved(&a);
}

static void it_ends_after_the_sweeps_that_it_is_given(void)
{
    problem = full_rank_tangle(3, 60, 3);
    solved a = run(problem, "psor", 1e-10, 100000),
           b = run(problem, "psor:sweeps=7", 1e-10, 100000);
    TEST_ASSERT_EQUAL_INT(50, a.result.iterations);
    TEST_ASSERT_EQUAL_INT(7, b.result.iterations);
    TEST_ASSERT_EQUAL_INT(SS_MAX_ITER, a.result.outcome);
    free_solved(&a);
    free_solved(&b);
}

static void run_tests(void)
{
    RUN_TEST(answers_are_those_of_the_enumeration_of_its_cases);
    RUN_TEST(a_particle_slides_until_friction_has_stopped_it);
    RUN_TEST(friction_holds_below_its_angle_and_brakes_above);
    RUN_TEST(without_friction_its_law_is_coulombs);
    RUN_TEST(with_friction_the_judge_finds_another_law);
    RUN_TEST(it_ends_after_the_sweeps_that_it_is_given);
}

const test_group psor_tests = {.run = run_tests, .set_up = set_up, .tear_down = tear_down};
