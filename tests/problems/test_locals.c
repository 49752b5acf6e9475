// tests/problems/test_locals.c -- every one-contact problem has the answer its generator claims.
#include "problems/tangle/locals.h"

#include <string.h>

#include <gsl/gsl_eigen.h>
#include <gsl/gsl_sort_vector.h>

#include "problems/coulomb.h"
#include "tests/support/support.h"

#define DRAWS     2000
#define CONDITION 1e4
#define MU_LOW    1e-3
#define MU_HIGH   10.0

// Rounding of u - W r and of the residual, against the scale below.
#define ROUNDING 1e-13

static double compliance(const ss_local *p)
{
    return (p->W[0] + p->W[4] + p->W[8]) / p->dim;
}

static double norm(const double x[3])
{
    return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

static void velocity(const ss_local *p, const double r[3], double u[3])
{
    for (int i = 0; i < 3; i++) {
        u[i] = p->b[i];
        for (int j = 0; j < 3; j++) {
            u[i] += p->W[3 * i + j] * r[j];
        }
    }
}

// The velocities that meet in the residual; mu multiplies r_N and |u_T| there.
static double scale(const ss_local *p, const double r[3], const double u[3])
{
    const double largest = fmax(norm(p->b), fmax(norm(u), compliance(p) * norm(r)));
    return largest * fmax(1.0, p->mu);
}

static double residual(const ss_local *p, const double r[3], const double u[3])
{
    double f[3];
    ss_coulomb_residual(p->mu, compliance(p), r, u, f);
    return norm(f);
}

// The draw with all that holds for every kind checked.
static ss_local drawn(ss_random *g, ss_local_kind kind, int dim, ss_local_answer *a)
{
    const ss_local p = ss_local_draw(g, kind, dim, CONDITION, MU_LOW, MU_HIGH, a);
    CHECK(p.dim == dim);
    CHECK(kind == SS_LOCAL_FRICTIONLESS ? p.mu == 0.0 : MU_LOW <= p.mu && p.mu <= MU_HIGH);
    CHECK(compliance(&p) >= 1e-3 * (1 - 1e-12) && compliance(&p) <= 1e3 * (1 + 1e-12));
    for (int k = 0; k < 3 && dim == 2; k++) {
        CHECK(p.W[6 + k] == 0.0 && p.W[3 * k + 2] == 0.0);
        CHECK(p.b[2] == 0.0 && a->r[2] == 0.0 && a->u[2] == 0.0 && a->other_r[2] == 0.0);
    }
    for (int k = 0; k < 9 && kind != SS_LOCAL_UNSYMMETRIC; k++) {
        CHECK(p.W[k] == p.W[3 * (k % 3) + k / 3]);
    }
    return p;
}

static void check_answer(const ss_local *p, const double r[3], const double u[3])
{
    double computed[3];
    velocity(p, r, computed);
    for (int i = 0; i < 3; i++) {
        CHECK_NEAR(computed[i], u[i], ROUNDING * scale(p, r, u));
    }
    CHECK_LE(residual(p, r, u), ROUNDING * scale(p, r, u));
    CHECK_LE(residual(p, r, computed), ROUNDING * scale(p, r, u));
}

static void known_answers_satisfy_the_law(void)
{
    ss_random g = ss_random_seeded(1);
    for (int kind = SS_LOCAL_TAKE_OFF; kind < SS_LOCAL_KINDS; kind++) {
        for (int k = 0; k < 2 * DRAWS && kind != SS_LOCAL_NO_SOLUTION; k++) {
            ss_local_answer a;
            const ss_local p = drawn(&g, (ss_local_kind)kind, 2 + k % 2, &a);
            CHECK(a.known && a.solvable);
            CHECK(a.has_other == (kind == SS_LOCAL_SEVERAL));
            check_answer(&p, a.r, a.u);
        }
    }
}

static void cases_are_what_their_names_say(void)
{
    ss_random g = ss_random_seeded(2);
    const double zero[3] = {0.0};
    for (int k = 0; k < 2 * DRAWS; k++) {
        ss_local_answer a;
        ss_local p = drawn(&g, SS_LOCAL_TAKE_OFF, 2 + k % 2, &a);
        CHECK(norm(a.r) == 0.0 && a.u[0] > 0.0 && memcmp(a.u, p.b, sizeof a.u) == 0);
        p = drawn(&g, SS_LOCAL_STICK, 2 + k % 2, &a);
        CHECK(memcmp(a.u, zero, sizeof zero) == 0 && a.r[0] > 0.0);
        CHECK(hypot(a.r[1], a.r[2]) < p.mu * a.r[0]);
        p = drawn(&g, SS_LOCAL_SLIDE, 2 + k % 2, &a);
        CHECK_NEAR(hypot(a.r[1], a.r[2]), p.mu * a.r[0], 1e-14 * p.mu * a.r[0]);
        CHECK(a.u[0] == 0.0 && a.u[1] * a.r[1] + a.u[2] * a.r[2] < 0.0);
        p = drawn(&g, SS_LOCAL_FRICTIONLESS, 2 + k % 2, &a);
        CHECK(a.r[1] == 0.0 && a.r[2] == 0.0 && (a.r[0] > 0.0) != (a.u[0] > 0.0));
    }
}

static bool is_near(const ss_local *p, const ss_local_answer *a)
{
    const double slip = norm(a->u), inside = 1.0 - hypot(a->r[1], a->r[2]) / (p->mu * a->r[0]);
    if (norm(a->r) == 0.0) {
        return a->u[0] == 1e-9;
    }
    return slip == 0.0 ? inside > 0.9e-9 && inside < 1.1e-9 : slip > 0.9e-9 && slip < 1.1e-9;
}

static void near_boundary_is_within_a_billionth_and_covers_all_cases(void)
{
    ss_random g = ss_random_seeded(3);
    int take_off = 0, stick = 0;
    for (int k = 0; k < 2 * DRAWS; k++) {
        ss_local_answer a;
        const ss_local p = drawn(&g, SS_LOCAL_NEAR_BOUNDARY, 2 + k % 2, &a);
        CHECK(is_near(&p, &a));
        take_off += norm(a.r) == 0.0;
        stick += norm(a.u) == 0.0;
    }
    CHECK_NEAR(take_off, 2 * DRAWS / 3, 200);
    CHECK_NEAR(stick, 2 * DRAWS / 3, 200);
}

static void several_has_two_different_answers(void)
{
    ss_random g = ss_random_seeded(4);
    for (int k = 0; k < 2 * DRAWS; k++) {
        ss_local_answer a;
        const ss_local p = drawn(&g, SS_LOCAL_SEVERAL, 2 + k % 2, &a);
        const double stuck[3] = {0.0};
        check_answer(&p, a.other_r, stuck);
        CHECK(norm(a.r) == 0.0 && a.u[0] > 0.0);
        CHECK(a.other_r[0] > 0.0);
        CHECK(hypot(a.other_r[1], a.other_r[2]) < p.mu * a.other_r[0]);
    }
}

static void no_solution_means_that_no_impulse_in_the_cone_comes_near(void)
{
    ss_random g = ss_random_seeded(5);
    for (int k = 0; k < DRAWS / 10; k++) {
        ss_local_answer a;
        const ss_local p = drawn(&g, SS_LOCAL_NO_SOLUTION, 2 + k % 2, &a);
        CHECK(!a.known && !a.solvable && p.b[0] < 0.0 && p.W[0] == 0.0);
        for (int i = 0; i < 1000; i++) {
            double r[3], u[3], t[3];
            ss_random_direction(&g, p.dim - 1, t);
            r[0] = ss_random_log_between(&g, 1e-4, 1e4) / compliance(&p);
            const double share = ss_random_below(&g, 2) == 0 ? 1.0 : ss_random_uniform(&g);
            r[1] = share * p.mu * r[0] * t[0];
            r[2] = share * p.mu * r[0] * t[1];
            velocity(&p, r, u);
            CHECK_LE(0.2 * fabs(p.b[0]), residual(&p, r, u));
        }
    }
}

static void wrong_answers_are_refused(void)
{
    ss_random g = ss_random_seeded(6);
    for (int k = 0; k < 2 * DRAWS; k++) {
        ss_local_answer a;
        const ss_local_kind kind = k % 4 < 2 ? SS_LOCAL_STICK : SS_LOCAL_SLIDE;
        const ss_local p = drawn(&g, kind, 2 + k % 2, &a);
        for (int factor = -1; factor <= 2; factor += 3) {
            const double r[3] = {factor * a.r[0], factor * a.r[1], factor * a.r[2]};
            double u[3];
            velocity(&p, r, u);
            // The condition cap keeps |W r| away from rounding.
            CHECK_LE(1e-9 * scale(&p, a.r, a.u), residual(&p, r, u));
        }
    }
}

// Eigenvalues of the symmetric part, ascending.
static void eigenvalues(const ss_local *p, double lambda[3])
{
    const size_t d = (size_t)p->dim;
    gsl_matrix *A = gsl_matrix_alloc(d, d);
    gsl_vector *values = gsl_vector_alloc(d);
    gsl_eigen_symm_workspace *space = gsl_eigen_symm_alloc(d);
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < d; j++) {
            gsl_matrix_set(A, i, j, 0.5 * (p->W[3 * i + j] + p->W[3 * j + i]));
        }
    }
    gsl_eigen_symm(A, values, space);
    gsl_sort_vector(values);
    for (size_t i = 0; i < d; i++) {
        lambda[i] = gsl_vector_get(values, i);
    }
    gsl_eigen_symm_free(space);
    gsl_vector_free(values);
    gsl_matrix_free(A);
}

static void condition_is_capped(void)
{
    ss_random g = ss_random_seeded(7);
    const ss_local_kind kinds[] = {SS_LOCAL_RANDOM, SS_LOCAL_STICK, SS_LOCAL_UNSYMMETRIC};
    double largest = 0.0;
    for (int k = 0; k < 6 * DRAWS; k++) {
        ss_local_answer a;
        const int dim = 2 + k % 2;
        const ss_local p = ss_local_draw(&g, kinds[k % 3], dim, 50.0, 0.1, 1.0, &a);
        double lambda[3];
        eigenvalues(&p, lambda);
        largest = fmax(largest, lambda[dim - 1] / lambda[0]);
        CHECK_LE(lambda[dim - 1], 50.0 * (1.0 + 1e-10) * lambda[0]);
    }
    CHECK_LE(50.0 * (1.0 - 1e-10), largest); // the cap is reached
}

static void singular_has_rank_one_or_two(void)
{
    ss_random g = ss_random_seeded(8);
    int seen[3] = {0}, flat = 0;
    for (int k = 0; k < 2 * DRAWS; k++) {
        ss_local_answer a;
        const ss_local p = drawn(&g, SS_LOCAL_SINGULAR, 2 + k % 2, &a);
        double lambda[3];
        eigenvalues(&p, lambda);
        int rank = 0;
        for (int i = 0; i < p.dim; i++) {
            rank += lambda[i] > 1e-13 * lambda[p.dim - 1];
        }
        CHECK(1 <= rank && rank < p.dim);
        seen[rank]++;
        flat += p.W[0] == 0.0;
    }
    CHECK(seen[1] > DRAWS && seen[2] > DRAWS / 4 && flat > DRAWS / 20);
}

static void unsymmetric_has_a_skew_part_and_slides_or_sticks(void)
{
    ss_random g = ss_random_seeded(9);
    int slides = 0;
    for (int k = 0; k < 2 * DRAWS; k++) {
        ss_local_answer a;
        const ss_local p = drawn(&g, SS_LOCAL_UNSYMMETRIC, 2 + k % 2, &a);
        const double skew = 0.5 * fabs(p.W[1] - p.W[3]);
        CHECK(skew > 0.0);
        CHECK_LE(skew, 0.5 * compliance(&p) * (1.0 + 1e-10));
        CHECK(a.r[0] > 0.0);
        slides += norm(a.u) > 0.0;
    }
    CHECK_NEAR(slides, DRAWS, 200);
}

static void random_is_positive_definite_and_claims_no_answer(void)
{
    ss_random g = ss_random_seeded(10);
    int pressed = 0;
    for (int k = 0; k < 2 * DRAWS; k++) {
        ss_local_answer a;
        const ss_local p = drawn(&g, SS_LOCAL_RANDOM, 2 + k % 2, &a);
        double lambda[3];
        eigenvalues(&p, lambda);
        CHECK(!a.known && a.solvable && lambda[0] > 0.0);
        pressed += p.b[0] < 0.0;
    }
    CHECK_NEAR(pressed, DRAWS, 200);
}

static void one_seed_gives_one_battery(void)
{
    ss_random g = ss_random_seeded(11), same = ss_random_seeded(11), other = ss_random_seeded(12);
    for (int kind = 0; kind < SS_LOCAL_KINDS; kind++) {
        ss_local_answer a;
        const ss_local p = drawn(&g, (ss_local_kind)kind, 3, &a);
        const ss_local q = drawn(&same, (ss_local_kind)kind, 3, &a);
        const ss_local r = drawn(&other, (ss_local_kind)kind, 3, &a);
        CHECK(memcmp(p.W, q.W, sizeof p.W) == 0 && memcmp(p.b, q.b, sizeof p.b) == 0);
        CHECK(p.mu == q.mu && memcmp(p.W, r.W, sizeof p.W) != 0);
    }
}

static void run_tests(void)
{
    RUN_TEST(known_answers_satisfy_the_law);
    RUN_TEST(cases_are_what_their_names_say);
    RUN_TEST(near_boundary_is_within_a_billionth_and_covers_all_cases);
    RUN_TEST(several_has_two_different_answers);
    RUN_TEST(no_solution_means_that_no_impulse_in_the_cone_comes_near);
    RUN_TEST(wrong_answers_are_refused);
    RUN_TEST(condition_is_capped);
    RUN_TEST(singular_has_rank_one_or_two);
    RUN_TEST(unsymmetric_has_a_skew_part_and_slides_or_sticks);
    RUN_TEST(random_is_positive_definite_and_claims_no_answer);
    RUN_TEST(one_seed_gives_one_battery);
}

const test_group locals_tests = {.run = run_tests};
