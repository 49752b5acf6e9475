// The linear system of Newton's methods on all contacts: its Jacobian, its solutions, its products.
#include "base/random.h"
#include "solvers/global/newton.h"
#include "tests/support/make_problem.h"
#include "tests/support/solving.h"

static ss_error error;

static void set_up(void)
{
    error = (ss_error){0};
}

typedef struct whole {
    ss_coupling *c;
    ss_newton_system *system;
    ss_newton_contact *contact;
    ss_newton_block *block;
    size_t size;
    double *unit, *X, *F;
} whole;

static whole whole_of(const ss_problem *p, ss_coupling_form form, uint64_t seed)
{
    ss_random g = ss_random_seeded(seed);
    const size_t n = (size_t)p->ncontacts;
    whole a = {.size = components(p)};
    CHECK_OK(ss_coupling_new(p, form, false, NULL, &a.c, &error));
    a.contact = calloc(n, sizeof *a.contact);
    a.block = calloc(n, sizeof *a.block);
    a.unit = calloc(n, sizeof *a.unit);
    a.X = calloc(a.size, sizeof *a.X);
    a.F = calloc(a.size, sizeof *a.F);
    for (size_t i = 0; i < n; i++) {
        a.unit[i] = a.c->compliance[i];
        a.contact[i].law = (ss_ac_law){.mu = p->mu[i], .p_N = 0.7, .p_T = 1.3};
    }
    for (size_t k = 0; k < a.size; k++) {
        a.X[k] = 0.1 * a.c->V * (ss_random_normal(&g) + (k % (size_t)p->dim == 0 ? 1.0 : 0.0));
    }
    CHECK_OK(ss_newton_system_new(a.c, a.unit, NULL, &a.system, &error));
    CHECK_OK(ss_newton_system_analyse(a.system, &error));
    return a;
}

static void free_whole(whole *a)
{
    ss_newton_system_free(a->system);
    ss_coupling_free(a->c);
    free(a->contact);
    free(a->block);
    free(a->unit);
    free(a->X);
    free(a->F);
}

// F at X, the velocity computed by the coupling; the derivatives where they are wanted.
static void evaluate_whole(const whole *a, const ss_newton_function *function, const double *X,
                           double *F, bool linearise)
{
    const size_t dim = (size_t)a->c->dim;
    double *r = calloc(a->size, sizeof *r);
    for (size_t k = 0; k < a->size; k++) {
        r[k] = X[k] / a->unit[k / dim];
    }
    ss_coupling_set(a->c, r);
    for (size_t i = 0; i < (size_t)a->c->n; i++) {
        double Xi[3] = {0.0}, u[3], Fi[3];
        memcpy(Xi, X + dim * i, dim * sizeof *Xi);
        ss_coupling_velocity(a->c, (int)i, u);
        function->evaluate(&a->contact[i], Xi, u, Fi);
        memcpy(F + dim * i, Fi, dim * sizeof *F);
        if (linearise) {
            function->linearise(&a->contact[i], Xi, u, &a->block[i]);
        }
    }
    free(r);
}

// (A + B W D^-1) d.
static void multiply_whole(const whole *a, const double *d, double *y)
{
    const size_t dim = (size_t)a->c->dim;
    double *du = calloc(a->size, sizeof *du);
    ss_newton_velocity(a->system, d, du);
    for (size_t i = 0; i < (size_t)a->c->n; i++) {
        for (size_t j = 0; j < dim; j++) {
            double sum = 0.0;
            for (size_t k = 0; k < dim; k++) {
                sum += a->block[i].A[3 * j + k] * d[dim * i + k] +
                       a->block[i].B[3 * j + k] * du[dim * i + k];
            }
            y[dim * i + j] = sum;
        }
    }
    free(du);
}

static double norm(const double *x, size_t n)
{
    double sum = 0.0;
    for (size_t k = 0; k < n; k++) {
        sum += x[k] * x[k];
    }
    return sqrt(sum);
}

static void check_differences(const ss_problem *p, ss_coupling_form form,
                              const ss_newton_function *function)
{
    whole a = whole_of(p, form, 11);
    double *e = calloc(a.size, sizeof *e), *Je = calloc(a.size, sizeof *Je);
    double *X = calloc(a.size, sizeof *X), *other = calloc(a.size, sizeof *other);
    evaluate_whole(&a, function, a.X, a.F, true);
    const double h = 1e-6 * a.c->V;
    for (size_t j = 0; j < a.size; j++) {
        e[j] = 1.0;
        multiply_whole(&a, e, Je);
        e[j] = 0.0;
        memcpy(X, a.X, a.size * sizeof *X);
        X[j] += h;
        evaluate_whole(&a, function, X, other, false);
        X[j] = a.X[j] - h;
        evaluate_whole(&a, function, X, a.F, false);
        for (size_t k = 0; k < a.size; k++) {
            CHECK_NEAR((other[k] - a.F[k]) / (2.0 * h), Je[k], 1e-5 * (1.0 + fabs(Je[k])));
        }
    }
    free(e);
    free(Je);
    free(X);
    free(other);
    free_whole(&a);
}

static void check_solution(const ss_problem *p, ss_coupling_form form,
                           const ss_newton_function *function)
{
    whole a = whole_of(p, form, 12);
    double *d = calloc(a.size, sizeof *d), *Jd = calloc(a.size, sizeof *Jd);
    evaluate_whole(&a, function, a.X, a.F, true);
    bool found = false;
    CHECK_OK(ss_newton_system_solve(a.system, a.block, 0.0, a.F, d, &found, &error));
    CHECK(found);
    multiply_whole(&a, d, Jd);
    for (size_t k = 0; k < a.size; k++) {
        CHECK_NEAR(Jd[k], -a.F[k], 1e-8 * (norm(a.F, a.size) + norm(d, a.size)));
    }
    // With a shift: W_ii + shift s_i I, so that B d more comes out.
    CHECK_OK(ss_newton_system_solve(a.system, a.block, 0.25, a.F, d, &found, &error));
    CHECK(found);
    multiply_whole(&a, d, Jd);
    const size_t dim = (size_t)p->dim;
    for (size_t k = 0; k < a.size; k++) {
        const double *B = a.block[k / dim].B + 3 * (k % dim);
        for (size_t j = 0; j < dim; j++) {
            Jd[k] += 0.25 * B[j] * d[k / dim * dim + j];
        }
        CHECK_NEAR(Jd[k], -a.F[k], 1e-8 * (norm(a.F, a.size) + norm(d, a.size)));
    }
    free(d);
    free(Jd);
    free_whole(&a);
}

static void check_transpose(const ss_problem *p, ss_coupling_form form)
{
    whole a = whole_of(p, form, 13);
    double *y = calloc(a.size, sizeof *y), *z = calloc(a.size, sizeof *z);
    evaluate_whole(&a, &ss_newton_fischer_burmeister, a.X, a.F, false);
    ss_newton_velocity(a.system, a.X, y);
    ss_newton_velocity_transposed(a.system, a.F, z);
    double left = 0.0, right = 0.0;
    for (size_t k = 0; k < a.size; k++) {
        left += y[k] * a.F[k];
        right += z[k] * a.X[k];
    }
    CHECK_NEAR(left, right, 1e-12 * norm(y, a.size) * norm(a.F, a.size));
    free(y);
    free(z);
    free_whole(&a);
}

static void the_jacobian_is_the_derivative_and_is_solved(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        ss_tangle_settings settings = ss_tangle_defaults();
        settings.dim = dim;
        settings.ncontacts = 8;
        settings.ends_per_rod = 4;
        settings.unsymmetry = 0.2;
        ss_problem *problems[] = {random_problem(3, dim, 6, 5, 9), full_rank_tangle(dim, 10, 3),
                                  tangle_of(&settings)};
        for (int k = 0; k < 3; k++) {
            problems[k]->mu[1] = 0.0;
            for (int form = SS_FORM_EXPLICIT; form <= (k < 2 ? SS_FORM_MATRIX_FREE : 1); form++) {
                const ss_coupling_form f = (ss_coupling_form)form;
                check_differences(problems[k], f, &ss_newton_fischer_burmeister);
                check_differences(problems[k], f, &ss_newton_alart_curnier);
                check_solution(problems[k], f, &ss_newton_fischer_burmeister);
                check_transpose(problems[k], f);
            }
            ss_problem_free(problems[k]);
        }
    }
}

// At the apex all derivatives are those along x = y = e.
static void the_apex_has_a_derivative(void)
{
    const ss_newton_contact k = {.law = {.mu = 0.5, .p_N = 1.0, .p_T = 1.0}},
                            smooth = {.rigid = false};
    const double zero[3] = {0.0}, share = 1.0 - sqrt(0.5);
    ss_newton_block block;
    ss_newton_fischer_burmeister.linearise(&k, zero, zero, &block);
    for (int j = 0; j < 9; j++) {
        const double on = j % 4 == 0 ? share : 0.0;
        CHECK_NEAR(block.A[j], j == 0 ? 0.5 * on : on, 1e-15);
        CHECK_NEAR(block.B[j], j == 0 ? on : 0.5 * on, 1e-15);
    }
    ss_newton_fischer_burmeister.linearise(&smooth, zero, zero, &block);
    CHECK_NEAR(block.A[0], share, 1e-15);
    CHECK_NEAR(block.B[0], share, 1e-15);
    CHECK(block.A[4] == 1.0 && block.B[4] == 0.0);
}

static void run_tests(void)
{
    RUN_TEST(the_jacobian_is_the_derivative_and_is_solved);
    RUN_TEST(the_apex_has_a_derivative);
}

const test_group newton_system_tests = {.run = run_tests, .set_up = set_up};
