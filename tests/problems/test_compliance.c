// tests/problems/test_compliance.c -- tr(W_ii)/d against the diagonal of W from the raw M and H.
#include <stdlib.h>

#include "problems/matrix/compliance.h"
#include "problems/matrix/delassus.h"
#include "tests/support/make_problem.h"
#include "tests/support/support.h"

static void check_traces(ss_problem *p)
{
    const int d = p->dim, size = d * p->ncontacts;
    double *W = malloc((size_t)size * (size_t)size * sizeof *W);
    double *compliance = malloc((size_t)p->ncontacts * sizeof *compliance);
    ss_mass *mass;
    ss_error error;
    CHECK_OK(ss_delassus_naive(p, W, &error));
    CHECK_OK(ss_mass_new(p, &mass, &error));
    CHECK(ss_compliance_find(p, mass, compliance));
    for (int i = 0; i < p->ncontacts; i++) {
        double trace = 0.0;
        for (int c = d * i; c < d * (i + 1); c++) {
            trace += W[c * size + c];
        }
        CHECK_NEAR(compliance[i], trace / d, 1e-12 * trace);
    }
    ss_mass_free(mass);
    free(compliance);
    free(W);
    ss_problem_free(p);
}

// More contacts to a body than are whitened at once, too.
static void compliance_is_the_trace_of_w(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        check_traces(random_problem(1, dim, 60, 5, 12));
        check_traces(random_problem(2, dim, 20, 4, 90));
        check_traces(random_diagonal_problem(3, dim, 12, 5, 6));
    }
}

// Contacts of a strand with itself are wider than the band where they are far apart.
static void compliance_of_bands_is_the_trace_of_w(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        check_traces(random_strand_problem(4, dim, 40, 4, 30));
    }
}

static void run_tests(void)
{
    RUN_TEST(compliance_is_the_trace_of_w);
    RUN_TEST(compliance_of_bands_is_the_trace_of_w);
}

const test_group compliance_tests = {.run = run_tests};
