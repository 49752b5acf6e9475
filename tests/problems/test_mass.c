// Bodies and the factor of M: partitions known by hand, solutions checked by multiplying back.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problems/matrix/mass.h"
#include "base/random.h"
#include "tests/support/make_problem.h"
#include "tests/support/support.h"

static ss_error error;

static void set_up(void)
{
    error = (ss_error){0};
}

// A problem with the given M and H (triplets), zero loads, one contact in the plane a pair of
// columns.
static ss_problem *from_entries(int ndofs, int ncontacts, int mcount, const int *mrow,
                                const int *mcol, const double *mx, int hcount, const int *hrow,
                                const int *hcol, const double *hx)
{
    ss_problem *p = ss_problem_new();
    p->form = SS_GLOBAL;
    p->dim = 2;
    p->ncontacts = ncontacts;
    p->ndofs = ndofs;
    p->mu = calloc((size_t)ncontacts, sizeof *p->mu);
    p->f = calloc((size_t)ndofs, sizeof *p->f);
    p->w = calloc(2 * (size_t)ncontacts, sizeof *p->w);
    CHECK_OK(ss_sparse_from_triplets(&p->M, ndofs, ndofs, mcount, mrow, mcol, mx, &error));
    CHECK_OK(ss_sparse_from_triplets(&p->H, ndofs, 2 * ncontacts, hcount, hrow, hcol, hx, &error));
    return p;
}

static void bodies_are_the_components_of_the_pattern(void)
{
    // Dofs 0 and 3 are coupled, 1 and 4 are coupled by a stored zero, 2 is alone.
    const int row[] = {0, 1, 2, 3, 4, 0, 3, 1, 4}, col[] = {0, 1, 2, 3, 4, 3, 0, 4, 1};
    const double x[] = {4, 1, 2, 4, 1, 1, 1, 0, 0};
    const int hrow[] = {0}, hcol[] = {0};
    const double hx[] = {1};
    ss_problem *p = from_entries(5, 1, 9, row, col, x, 1, hrow, hcol, hx);
    int first[5];
    ss_components(&p->M, first);
    const int expected[] = {0, 1, 2, 0, 1};
    TEST_ASSERT_EQUAL_INT_ARRAY(expected, first, 5);
    ss_mass *mass;
    CHECK_OK(ss_mass_new(p, &mass, &error));
    CHECK(ss_mass_bodies(mass) == 3);
    CHECK(ss_mass_body_of(mass, 3) == 0 && ss_mass_place(mass, 3) == 1);
    CHECK(ss_mass_size(mass, 1) == 2 && ss_mass_dofs(mass, 1)[1] == 4);
    CHECK(ss_mass_size(mass, 2) == 1);
    ss_mass_free(mass);
    ss_problem_free(p);
}

static void diagonal_dofs_are_grouped_by_their_contacts(void)
{
    // M = I on 6 dofs. Contact 0 touches dofs 0 1 4, contact 1 touches 1 4 2; 3 and 5 are free.
    const int row[] = {0, 1, 2, 3, 4, 5};
    const double x[] = {1, 1, 1, 1, 1, 1};
    const int hrow[] = {0, 1, 4, 0, 1, 2, 4}, hcol[] = {0, 0, 1, 1, 2, 3, 3};
    const double hx[] = {1, 1, 1, 1, 1, 1, 1};
    ss_problem *p = from_entries(6, 2, 6, row, row, x, 7, hrow, hcol, hx);
    ss_mass *mass;
    CHECK_OK(ss_mass_new(p, &mass, &error));
    CHECK(ss_mass_bodies(mass) == 4); // {0} {1 4} {2} {3 5}
    CHECK(ss_mass_body_of(mass, 1) == ss_mass_body_of(mass, 4));
    CHECK(ss_mass_body_of(mass, 3) == ss_mass_body_of(mass, 5));
    CHECK(ss_mass_body_of(mass, 0) != ss_mass_body_of(mass, 1));
    CHECK(ss_mass_body_of(mass, 2) != ss_mass_body_of(mass, 1));
    CHECK(ss_mass_body_of(mass, 2) != ss_mass_body_of(mass, 3));
    ss_mass_free(mass);
    ss_problem_free(p);
}

// |M x - y|_inf for x = M^-1 y.
static double solve_error(const ss_problem *p, uint64_t seed)
{
    const size_t n = (size_t)p->ndofs;
    ss_mass *mass;
    CHECK_OK(ss_mass_new(p, &mass, &error));
    double *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y), *scratch = malloc(n * sizeof *x);
    ss_random g = ss_random_seeded(seed);
    for (size_t j = 0; j < n; j++) {
        x[j] = ss_random_normal(&g);
        y[j] = -x[j];
    }
    ss_mass_solve(mass, x, scratch);
    ss_sparse_add_product(&p->M, x, y);
    double worst = 0.0;
    for (size_t j = 0; j < n; j++) {
        worst = worst >= fabs(y[j]) ? worst : fabs(y[j]);
    }
    free(x);
    free(y);
    free(scratch);
    ss_mass_free(mass);
    return worst;
}

static void solve_inverts_m_for_small_and_large_bodies(void)
{
    const int largest[] = {1, 6, SS_DENSE_BODY, SS_DENSE_BODY + 1, 300};
    for (int k = 0; k < 5; k++) {
        ss_problem *p = random_problem(20 + (uint64_t)k, 3, 20, 7, largest[k]);
        CHECK_LE(solve_error(p, 5), 1e-13);
        ss_problem_free(p);
    }
}

static void solve_inverts_a_diagonal_m(void)
{
    ss_problem *p = random_diagonal_problem(31, 3, 10, 40, 6);
    CHECK_LE(solve_error(p, 6), 1e-14);
    ss_problem_free(p);
}

static void whitening_takes_m_to_the_identity(void)
{
    // x' M^-1 y = (L^-1 x)' (L^-1 y), on a dense and on a sparse body, two vectors at once.
    const int largest[] = {16, 100};
    for (int k = 0; k < 2; k++) {
        ss_problem *p = random_problem(41, 3, 5, 1, largest[k]);
        ss_mass *mass;
        CHECK_OK(ss_mass_new(p, &mass, &error));
        const int n = p->ndofs;
        double *X = malloc(2 * (size_t)n * sizeof *X), *solved = malloc((size_t)n * sizeof *X);
        double *x = malloc((size_t)n * sizeof *X), *scratch = malloc((size_t)n * sizeof *X);
        ss_random g = ss_random_seeded(9);
        for (int j = 0; j < n; j++) {
            const int dof = ss_mass_dofs(mass, 0)[j];
            X[2 * j] = x[dof] = ss_random_normal(&g);
            X[2 * j + 1] = solved[dof] = ss_random_normal(&g);
        }
        ss_mass_solve(mass, solved, scratch);
        ss_mass_whiten(mass, 0, X, 2);
        double inner = 0.0, expected = 0.0;
        for (int j = 0; j < n; j++) {
            inner += X[2 * j] * X[2 * j + 1];
            expected += x[j] * solved[j];
        }
        CHECK_NEAR(inner, expected, 1e-12);
        ss_mass_unwhiten(mass, 0, X, 2); // now M^-1 of both
        double worst = 0.0;
        for (int j = 0; j < n; j++) {
            const double difference = fabs(X[2 * j + 1] - solved[ss_mass_dofs(mass, 0)[j]]);
            worst = worst >= difference ? worst : difference; // a NaN stays
        }
        CHECK_LE(worst, 1e-13);
        free(X);
        free(solved);
        free(x);
        free(scratch);
        ss_mass_free(mass);
        ss_problem_free(p);
    }
}

static void expect_indefinite(ss_problem *p, const char *dof)
{
    ss_mass *mass = NULL;
    CHECK(ss_mass_new(p, &mass, &error) == SS_BAD_INPUT);
    CHECK(mass == NULL);
    CHECK(strstr(error.text, "not positive definite") != NULL);
    CHECK(strstr(error.text, dof) != NULL);
    ss_problem_free(p);
}

static void indefinite_m_is_refused_by_its_dof(void)
{
    // [2 3; 3 2] breaks at its second dof; a zero, a negative and a NaN diagonal at their own.
    const int row[] = {0, 1, 0, 1, 2}, col[] = {0, 1, 1, 0, 2};
    const int hrow[] = {0}, hcol[] = {0};
    const double hx[] = {1};
    expect_indefinite(
        from_entries(3, 1, 5, row, col, (const double[]){2, 2, 3, 3, 1}, 1, hrow, hcol, hx),
        "dof 1");
    const double bad[] = {0.0, -1.0, NAN};
    for (int k = 0; k < 3; k++) {
        expect_indefinite(from_entries(3, 1, 5, row, col, (const double[]){2, 2, 1, 1, bad[k]}, 1,
                                       hrow, hcol, hx),
                          "dof 2");
    }
}

// Of 80 dofs on their own, one has no entry in M.
static void m_without_a_diagonal_entry_is_refused_by_its_dof(void)
{
    for (int missing = 0; missing < 80; missing += 79) {
        int row[79];
        double x[79];
        for (int k = 0; k < 79; k++) {
            row[k] = k < missing ? k : k + 1;
            x[k] = 1.0;
        }
        const int hrow[] = {40}, hcol[] = {0};
        const double hx[] = {1};
        char dof[16];
        snprintf(dof, sizeof dof, "dof %d)", missing);
        expect_indefinite(from_entries(80, 1, 79, row, row, x, 1, hrow, hcol, hx), dof);
    }
}

static void semidefinite_m_is_refused(void)
{
    const int row[] = {0, 1, 0, 1}, col[] = {0, 1, 1, 0};
    const int hrow[] = {0}, hcol[] = {0};
    const double hx[] = {1};
    const double third = 1.0 / 3.0;
    expect_indefinite(from_entries(2, 1, 4, row, col, (const double[]){third, third, third, third},
                                   1, hrow, hcol, hx),
                      "dof 1");
}

static void set_diagonal(ss_problem *p, int dof, double value)
{
    for (int k = p->M.start[dof]; k < p->M.start[dof + 1]; k++) {
        if (p->M.row[k] == dof) {
            p->M.x[k] = value;
        }
    }
}

static void indefinite_large_body_is_refused(void)
{
    const double bad[] = {-5.0, 0.0, NAN};
    for (int k = 0; k < 3; k++) {
        ss_problem *p = random_problem(51, 3, 4, 1, 200);
        set_diagonal(p, 77, bad[k]);
        expect_indefinite(p, "dof ");
    }
}

// M is diagonal in this body, and N - i at dof i: three vectors at once.
static void check_roots(const ss_mass *mass, int body, int N)
{
    const int n = ss_mass_size(mass, body), *dofs = ss_mass_dofs(mass, body);
    double *X = malloc(3 * (size_t)n * sizeof *X);
    for (int k = 0; k < 3 * n; k++) {
        X[k] = 1.0 + k % 3;
    }
    ss_mass_whiten(mass, body, X, 3);
    for (int k = 0; k < 3 * n; k++) {
        CHECK_NEAR(X[k], (1.0 + k % 3) / sqrt(N - dofs[k / 3]), 1e-14);
    }
    ss_mass_unwhiten(mass, body, X, 3);
    for (int k = 0; k < 3 * n; k++) {
        CHECK_NEAR(X[k], (1.0 + k % 3) / (N - dofs[k / 3]), 1e-14);
    }
    free(X);
}

// Dofs that no contact touches and M couples to none are one body, however many they are.
static void large_diagonal_body_is_its_roots(void)
{
    enum { N = 2 * SS_DENSE_BODY };
    int row[N], col[N];
    double x[N], v[N], scratch[N];
    const int hrow[] = {0}, hcol[] = {0};
    const double hx[] = {1};
    for (int i = 0; i < N; i++) {
        row[i] = col[i] = N - 1 - i;
        x[i] = 1.0 + i;
        v[i] = i;
    }
    ss_problem *p = from_entries(N, 1, N, row, col, x, 1, hrow, hcol, hx);
    ss_mass *mass;
    CHECK_OK(ss_mass_new(p, &mass, &error));
    CHECK(ss_mass_bodies(mass) == 2 && ss_mass_size(mass, 1) == N - 1);
    ss_mass_solve(mass, v, scratch);
    for (int i = 0; i < N; i++) {
        CHECK_NEAR(v[i], (double)i / (N - i), 1e-14);
    }
    check_roots(mass, 1, N);
    ss_mass_free(mass);
    const double bad[] = {-5.0, 0.0, NAN};
    for (int k = 0; k < 3; k++) {
        set_diagonal(p, 77, bad[k]);
        ss_mass *none = NULL;
        CHECK(ss_mass_new(p, &none, &error) == SS_BAD_INPUT && none == NULL);
        CHECK(strstr(error.text, "dof 77") != NULL);
    }
    ss_problem_free(p);
}

// n masses in a row, each tied to the next by a spring of stiffness k and none to the ground: what
// is left of the last pivot is rounding, above zero for some k and below for others.
static void semidefinite_large_body_is_refused(void)
{
    enum { N = 3 * SS_DENSE_BODY };
    int row[3 * N], col[3 * N];
    double x[3 * N];
    const int hrow[] = {0}, hcol[] = {0};
    const double hx[] = {1};
    for (int trial = 1; trial < 20; trial++) {
        int count = 0;
        for (int i = 0; i < N; i++) {
            for (int j = i > 0 ? i - 1 : 0; j <= i + 1 && j < N; j++) {
                row[count] = i;
                col[count] = j;
                x[count++] = (i != j ? -1.0 : i == 0 || i == N - 1 ? 1.0 : 2.0) / trial;
            }
        }
        expect_indefinite(from_entries(N, 1, count, row, col, x, 1, hrow, hcol, hx), "dof ");
    }
}

static void a_factor_that_is_shared_is_made_once(void)
{
    ss_problem *p = random_problem(5, 3, 6, 4, 9);
    ss_mass *room = NULL, *first = NULL, *second = NULL;
    CHECK_OK(ss_mass_find(p, &room, &first, &error));
    CHECK_OK(ss_mass_find(p, &room, &second, &error));
    CHECK(first == room && second == room);
    ss_mass_free(room);
    ss_mass_free(first);
    CHECK(ss_mass_bodies(second) > 0); // its last owner still has it
    ss_mass_free(second);
    CHECK_OK(ss_mass_find(p, NULL, &first, &error));
    ss_mass_free(first);
    ss_problem_free(p);
}

// Whether L^-1 of a body does the same to a vector of ones.
static bool whiten_alike(const ss_mass *one, const ss_mass *other, int body)
{
    double x[SS_DENSE_BODY], y[SS_DENSE_BODY];
    for (int j = 0; j < SS_DENSE_BODY; j++) {
        x[j] = y[j] = 1.0;
    }
    ss_mass_whiten(one, body, x, 1);
    ss_mass_whiten(other, body, y, 1);
    return memcmp(x, y, (size_t)ss_mass_size(one, body) * sizeof *x) == 0;
}

static void factors_that_nobody_shares_are_forgotten(void)
{
    ss_problem *p = random_problem(6, 2, 400, 250, 60); // more than is forgotten at once
    ss_mass *mass, *whole;
    CHECK_OK(ss_mass_new(p, &mass, &error));
    CHECK_OK(ss_mass_new(p, &whole, &error));
    ss_mass *share = ss_mass_share(mass);
    const int n = ss_mass_bodies(mass);
    ss_mass_forget(mass, n);
    for (int k = 0; k < n; k++) {
        CHECK(whiten_alike(mass, whole, k));
    }
    ss_mass_free(share);
    for (int k = 0; k < n; k++) {
        CHECK(whiten_alike(mass, whole, k));
        ss_mass_forget(mass, k + 1);
    }
    CHECK(!whiten_alike(mass, whole, 20));
    ss_mass_free(mass);
    ss_mass_free(whole);
    ss_problem_free(p);
}

static void run_tests(void)
{
    RUN_TEST(bodies_are_the_components_of_the_pattern);
    RUN_TEST(diagonal_dofs_are_grouped_by_their_contacts);
    RUN_TEST(solve_inverts_m_for_small_and_large_bodies);
    RUN_TEST(solve_inverts_a_diagonal_m);
    RUN_TEST(whitening_takes_m_to_the_identity);
    RUN_TEST(indefinite_m_is_refused_by_its_dof);
    RUN_TEST(m_without_a_diagonal_entry_is_refused_by_its_dof);
    RUN_TEST(semidefinite_m_is_refused);
    RUN_TEST(indefinite_large_body_is_refused);
    RUN_TEST(semidefinite_large_body_is_refused);
    RUN_TEST(large_diagonal_body_is_its_roots);
    RUN_TEST(a_factor_that_is_shared_is_made_once);
    RUN_TEST(factors_that_nobody_shares_are_forgotten);
}

const test_group mass_tests = {.run = run_tests, .set_up = set_up};
