// The answers of the Gauss-Seidel driver: known ones, and the same ones by every route.
#include <stdio.h>

#include "problems/tangle/locals.h"
#include "tests/support/make_problem.h"
#include "tests/support/solving.h"

static ss_error error;

static void set_up(void)
{
    error = (ss_error){0};
}

// ---- Answers by hand

static void expect_one(int dim, const double *W, const double *b, double mu, const double *expected)
{
    ss_problem *p = one_contact(dim, W, b, mu);
    solved a = run(p, "mfb+enum", 1e-10, 100);
    check_solved_run(&a, 1e-10);
    for (int k = 0; k < dim; k++) {
        CHECK_NEAR(a.r[k], expected[k], 1e-9);
    }
    free_solved(&a);
    ss_problem_free(p);
}

// W = I: r = -b where that lies in the cone, else its normal part and mu times that against b_T.
static void one_contact_has_the_answer_of_its_case(void)
{
    const double I3[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, I2[4] = {1, 0, 0, 1};
    expect_one(3, I3, (const double[]){1, 2, -1}, 0.5, (const double[]){0, 0, 0});
    expect_one(3, I3, (const double[]){-1, 0.2, 0.1}, 0.5, (const double[]){1, -0.2, -0.1});
    expect_one(3, I3, (const double[]){-1, 3, 4}, 0.5, (const double[]){1, -0.3, -0.4});
    expect_one(3, I3, (const double[]){-2, 3, 4}, 0.0, (const double[]){2, 0, 0});
    expect_one(2, I2, (const double[]){1, 2}, 0.5, (const double[]){0, 0});
    expect_one(2, I2, (const double[]){-1, 0.2}, 0.5, (const double[]){1, -0.2});
    expect_one(2, I2, (const double[]){-1, 3}, 0.5, (const double[]){1, -0.5});
}

static void unsymmetric_w_is_taken_as_it_is(void)
{
    // W r = (3, 2c - 2, 0) for r = (2, -1, 0); u = (0, 1, 0) slides with mu = 1/2.
    for (int c = -1; c <= 1; c += 2) {
        const double W[9] = {2, 1, 0, c, 2, 0, 0, 0, 1};
        expect_one(3, W, (const double[]){-3, 3.0 - 2.0 * c, 0}, 0.5, (const double[]){2, -1, 0});
    }
}

// Mass 1 (m = 2) on the ground carries mass 2 (m = 1), which is pushed along a tangent by T.
// Momentum over the step: weight 2 g and g downwards. The upper contact bears g, the lower 3 g.
static ss_problem *stack(int dim, double g, double T, double mu)
{
    ss_problem *p = ss_problem_new();
    CHECK(p != NULL);
    p->form = SS_GLOBAL;
    p->dim = dim;
    p->ncontacts = 2;
    p->ndofs = 2 * dim;
    p->mu = calloc(2, sizeof *p->mu);
    p->f = calloc((size_t)(2 * dim), sizeof *p->f);
    p->w = calloc((size_t)(2 * dim), sizeof *p->w);
    p->mu[0] = p->mu[1] = mu;
    p->f[0] = -2.0 * g;
    p->f[dim] = -g;
    p->f[dim + 1] = T;
    int row[9], col[9], count = 0;
    double x[9];
    for (int k = 0; k < dim; k++) { // u_0 = v_1, u_1 = v_2 - v_1
        const int r[3] = {k, k, dim + k}, c[3] = {k, dim + k, dim + k};
        const double values[3] = {1, -1, 1};
        for (int j = 0; j < 3; j++) {
            row[count] = r[j];
            col[count] = c[j];
            x[count++] = values[j];
        }
    }
    CHECK_OK(ss_sparse_from_triplets(&p->H, 2 * dim, 2 * dim, count, row, col, x, &error));
    const int places[6] = {0, 1, 2, 3, 4, 5};
    double masses[6];
    for (int k = 0; k < 2 * dim; k++) {
        masses[k] = k < dim ? 2.0 : 1.0;
    }
    CHECK_OK(
        ss_sparse_from_triplets(&p->M, 2 * dim, 2 * dim, 2 * dim, places, places, masses, &error));
    return p;
}

static void expect_stack(int dim, double T, double upper_tangent, const char *form)
{
    char spec[64];
    snprintf(spec, sizeof spec, "secular:form=%s", form);
    ss_problem *p = stack(dim, 10.0, T, 0.5);
    solved a = run(p, spec, 1e-12, 1000);
    check_solved_run(&a, 1e-12);
    double expected[6] = {0};
    expected[0] = 30.0;
    expected[1] = upper_tangent;
    expected[dim] = 10.0;
    expected[dim + 1] = upper_tangent;
    for (int k = 0; k < 2 * dim; k++) {
        CHECK_NEAR(a.r[k], expected[k], 1e-9);
    }
    CHECK_NEAR(a.u[dim + 1], T + upper_tangent, 1e-9); // of mass 1 kg
    free_solved(&a);
    ss_problem_free(p);
}

static void a_stack_of_two_masses_sticks_and_slides(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        expect_stack(dim, 4.0, -4.0, "explicit");
        expect_stack(dim, 4.0, -4.0, "matrix-free");
        expect_stack(dim, 8.0, -5.0, "explicit"); // mu r_N = 5 holds the lower mass, not the upper
        expect_stack(dim, 8.0, -5.0, "matrix-free");
    }
}

// ---- The same by every route

// r after N sweeps and no test on the way.
static solved sweeps(const ss_problem *p, const char *local, const char *options, int count)
{
    char spec[128];
    snprintf(spec, sizeof spec, "%s:%s", local, options);
    return run(p, spec, 1e-300, count);
}

// Of the last iterate or the best one before it, whichever was kept: the same in both forms.
static double form_difference(const ss_problem *p, const char *local, int count)
{
    solved a = sweeps(p, local, "form=explicit", count);
    solved b = sweeps(p, local, "form=matrix-free", count);
    CHECK(a.result.iterations == b.result.iterations);
    const double difference = relative_difference(a.r, b.r, components(p));
    free_solved(&a);
    free_solved(&b);
    return difference;
}

static void both_forms_make_the_same_iterates(void)
{
    static const char *const locals[] = {"secular", "enum", "projection", "4sides", "duriez06"};
    for (int dim = 2; dim <= 3; dim++) {
        ss_problem *problems[] = {tangle(dim, 200, 5), full_rank_tangle(dim, 200, 5),
                                  random_problem(3, dim, 20, 8, 9)};
        for (int k = 0; k < 3; k++) {
            for (size_t j = 0; j < sizeof locals / sizeof locals[0]; j++) {
                for (int count = 1; count <= 30; count += k == 0 && j == 0 ? 1 : 29) {
                    CHECK_LE(form_difference(problems[k], locals[j], count), 1e-12);
                }
            }
            ss_problem_free(problems[k]);
        }
    }
}

static void check_same_velocities(const ss_problem *p, const char *spec, int threads,
                                  const solved *reference)
{
    const ss_task task = {.problem = p,
                          .tolerance = 1e-11,
                          .max_iterations = 20000,
                          .clock = SS_CLOCK_WALL,
                          .threads = threads};
    solved a = run_task(spec, task, NULL);
    check_solved_run(&a, 1e-11);
    CHECK_LE(relative_difference(reference->u, a.u, components(p)), 1e-6);
    free_solved(&a);
}

static void every_order_and_form_reaches_the_same_velocities(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        ss_problem *p = full_rank_tangle(dim, 150, 2), *local;
        CHECK_OK(ss_problem_to_local(p, &local, &error));
        solved reference = run(p, "secular:form=explicit", 1e-11, 20000);
        check_solved_run(&reference, 1e-11);
        check_same_velocities(p, "secular:form=matrix-free", 0, &reference);
        check_same_velocities(p, "secular:order=reverse", 0, &reference);
        check_same_velocities(p, "secular:order=random:7", 0, &reference);
        check_same_velocities(p, "secular:order=stripes", 0, &reference);
        check_same_velocities(p, "secular", 2, &reference);
        check_same_velocities(local, "secular", 0, &reference);
        check_same_velocities(local, "secular:order=random:7", 0, &reference);
        check_same_velocities(local, "secular:order=stripes", 0, &reference);
        free_solved(&reference);
        ss_problem_free(local);
        ss_problem_free(p);
    }
}

static void two_runs_have_the_same_bits(void)
{
    static const char *const specs[] = {"mfb+enum", "mfb+enum:order=random:7,freeze=on",
                                        "secular:form=matrix-free,order=stripes",
                                        "projection:form=explicit,order=reverse"};
    ss_problem *p = tangle(3, 300, 4);
    for (size_t k = 0; k < sizeof specs / sizeof specs[0]; k++) {
        solved a = run(p, specs[k], 1e-8, 50), b = run(p, specs[k], 1e-8, 50);
        CHECK(memcmp(a.r, b.r, components(p) * sizeof *a.r) == 0);
        CHECK(a.result.local_solves == b.result.local_solves);
        free_solved(&a);
        free_solved(&b);
    }
    ss_problem_free(p);
}

static void an_answer_is_not_solved_again(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        ss_problem *p = full_rank_tangle(dim, 100, 3);
        solved a = run(p, "secular", 1e-9, 20000);
        check_solved_run(&a, 1e-9);
        const ss_task task = {
            .problem = p, .tolerance = 1e-8, .max_iterations = 100, .clock = SS_CLOCK_WALL};
        solved b = run_task("secular", task, a.r);
        check_solved_run(&b, 1e-8);
        CHECK(b.result.iterations <= 2);
        free_solved(&a);
        free_solved(&b);
        ss_problem_free(p);
    }
}

static void unsymmetric_problems_are_solved(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        ss_tangle_settings settings = ss_tangle_defaults();
        settings.dim = dim;
        settings.ncontacts = 150;
        settings.ends_per_rod = 4;
        settings.unsymmetry = 0.05;
        ss_problem *p = tangle_of(&settings);
        CHECK(p->form == SS_LOCAL);
        solved a = run(p, "mfb+enum", 1e-8, 20000);
        check_solved_run(&a, 1e-8);
        free_solved(&a);
        ss_problem_free(p);
    }
}

// ---- Without friction: a linear complementarity problem

// A x = b, A n x n row-major and positive definite; both are overwritten.
static void eliminate(int n, double *A, double *b)
{
    for (int k = 0; k < n; k++) {
        for (int i = k + 1; i < n; i++) {
            const double factor = A[i * n + k] / A[k * n + k];
            for (int j = k; j < n; j++) {
                A[i * n + j] -= factor * A[k * n + j];
            }
            b[i] -= factor * b[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++) {
            b[k] -= A[k * n + j] * b[j];
        }
        b[k] /= A[k * n + k];
    }
}

// Whether the contacts of the set, and they alone, carry: then r holds the impulses.
static bool active_set_holds(int n, const double *W, const double *b, unsigned set, double *r)
{
    int member[8], count = 0;
    for (int i = 0; i < n; i++) {
        r[i] = 0.0;
        if ((set >> i & 1U) != 0) {
            member[count++] = i;
        }
    }
    double A[64], x[8];
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < count; j++) {
            A[i * count + j] = W[member[i] * n + member[j]];
        }
        x[i] = -b[member[i]];
    }
    eliminate(count, A, x);
    for (int i = 0; i < count; i++) {
        r[member[i]] = x[i];
    }
    bool holds = true;
    for (int i = 0; i < n; i++) {
        double u = b[i];
        for (int j = 0; j < n; j++) {
            u += W[i * n + j] * r[j];
        }
        holds = holds && r[i] >= 0.0 && u >= -1e-12;
    }
    return holds;
}

static void frictionless_problems_agree_with_all_active_sets(void)
{
    enum { N = 6 };
    for (uint64_t seed = 1; seed <= 20; seed++) {
        ss_random g = ss_random_seeded(seed);
        const int dim = 2 + (int)(seed % 2), size = dim * N;
        double A[18 * 18], W[18 * 18] = {0}, b[18], mu[N] = {0}, Wn[N * N], bn[N], r[N];
        for (int k = 0; k < size * size; k++) {
            A[k] = ss_random_normal(&g);
        }
        for (int k = 0; k < size * size; k++) {
            for (int j = 0; j < size; j++) {
                W[k] += A[k / size * size + j] * A[k % size * size + j];
            }
            W[k] += k / size == k % size ? 1.0 : 0.0;
        }
        for (int k = 0; k < size; k++) {
            b[k] = ss_random_normal(&g);
        }
        for (int k = 0; k < N * N; k++) {
            Wn[k] = W[k / N * dim * size + k % N * dim];
            bn[k / N] = b[k / N * dim];
        }
        unsigned set = 0;
        while (set < 1U << N && !active_set_holds(N, Wn, bn, set, r)) {
            set++;
        }
        CHECK(set < 1U << N);
        ss_problem *p = dense_problem(dim, N, W, b, mu);
        solved a = run(p, "secular", 1e-12, 100000);
        check_solved_run(&a, 1e-12);
        for (int i = 0; i < N; i++) {
            CHECK_NEAR(a.r[dim * i], r[i], 1e-9);
            CHECK(a.r[dim * i + 1] == 0.0 && (dim == 2 || a.r[dim * i + 2] == 0.0));
        }
        free_solved(&a);
        ss_problem_free(p);
    }
}

// ---- A contact that nothing can move

// Contact 1 has W_ii = 0 and b_N < 0: no impulse helps. Contact 0 is solved all the same.
static void a_rigid_contact_without_an_answer_is_counted_and_left_at_zero(void)
{
    static const char *const specs[] = {"mfb+enum", "secular", "projection", "pac", "4sides"};
    double W[36] = {0};
    W[0] = W[7] = W[14] = 1.0;
    const double b[6] = {-1, 2, 0, -1, 1, 0}, mu[2] = {0.5, 0.5};
    ss_problem *p = dense_problem(3, 2, W, b, mu);
    for (size_t k = 0; k < sizeof specs / sizeof specs[0]; k++) {
        solved a = run(p, specs[k], 1e-8, 2000);
        CHECK(a.result.outcome == (k == 4 ? SS_CONVERGED : SS_STALLED));
        CHECK(a.result.failures >= a.result.iterations);
        CHECK(a.r[3] == 0.0 && a.r[4] == 0.0 && a.r[5] == 0.0);
        CHECK(isfinite(a.r[0]) && a.r[0] > 0.5);
        CHECK(!(a.facts.fb <= 1e-3));
        free_solved(&a);
    }
    ss_problem_free(p);
}

// W_NN = 0 and b_N < 0 in a block whose trace is positive.
static void a_contact_without_normal_compliance_has_no_answer(void)
{
    const double W[9] = {0, 0, 0, 0, 1, 0, 0, 0, 1}, b[3] = {-1, 0.5, 0};
    ss_problem *p = one_contact(3, W, b, 0.5);
    solved a = run(p, "mfb+enum", 1e-8, 20);
    CHECK(a.result.outcome == SS_STALLED && a.result.failures == a.result.iterations);
    CHECK(a.r[0] == 0.0 && a.r[1] == 0.0 && a.r[2] == 0.0);
    free_solved(&a);
    ss_problem_free(p);
}

static void run_tests(void)
{
    RUN_TEST(one_contact_has_the_answer_of_its_case);
    RUN_TEST(unsymmetric_w_is_taken_as_it_is);
    RUN_TEST(a_stack_of_two_masses_sticks_and_slides);
    RUN_TEST(both_forms_make_the_same_iterates);
    RUN_TEST(every_order_and_form_reaches_the_same_velocities);
    RUN_TEST(two_runs_have_the_same_bits);
    RUN_TEST(an_answer_is_not_solved_again);
    RUN_TEST(unsymmetric_problems_are_solved);
    RUN_TEST(frictionless_problems_agree_with_all_active_sets);
    RUN_TEST(a_rigid_contact_without_an_answer_is_counted_and_left_at_zero);
    RUN_TEST(a_contact_without_normal_compliance_has_no_answer);
}

const test_group gauss_seidel_tests = {.run = run_tests, .set_up = set_up};
