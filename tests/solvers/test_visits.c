// The loops of sweeps that have a local solver inlined, against the loop that calls it.
#include <stdlib.h>

#include "solvers/contact.h"
#include "tests/support/make_problem.h"
#include "tests/support/solving.h"

static ss_error error;

static void set_up(void)
{
    error = (ss_error){0};
}

enum { SWEEPS = 25 };

// The method of `spec`; without the loop of its own if `called`.
static ss_result sweep(const ss_problem *p, const char *spec, bool called, double *r)
{
    ss_method *method;
    ss_result result;
    CHECK_OK(ss_method_parse(spec, &method, &error));
    CHECK(method->local->visits != NULL);
    ss_local_solver plain = *method->local;
    plain.visits = NULL;
    if (called) {
        method->local = &plain;
    }
    const ss_task task = {
        .problem = p, .method = method, .tolerance = 1e-300, .max_iterations = SWEEPS};
    CHECK_OK(ss_solve(&task, r, &result, &error));
    ss_method_free(method);
    return result;
}

static void check_same(const ss_problem *p, const char *spec)
{
    const size_t n = components(p);
    double *one = calloc(2 * n, sizeof *one), *other = one + n;
    const ss_result a = sweep(p, spec, false, one), b = sweep(p, spec, true, other);
    TEST_ASSERT_EQUAL_MEMORY_MESSAGE(one, other, n * sizeof *one, spec);
    CHECK(a.iterations == b.iterations && a.local_solves == b.local_solves);
    CHECK(a.failures == b.failures && a.frozen == b.frozen && a.unanswered == b.unanswered);
    CHECK(a.local_solves > 0);
    free(one);
}

static const char *const LOCALS[] = {"secular", "projection"};
static const char *const OPTIONS[] = {
    "visit=all",
    "form=explicit",
    "form=matrix-free",
    "form=explicit,visit=all",
    "form=matrix-free,visit=all",
    "form=matrix-free,freeze=on,wake=neighbour",
    "form=explicit,freeze=paper",
    "form=matrix-free,freeze=absolute,rho=1e-5",
};

static void check_all(const ss_problem *p)
{
    for (size_t k = 0; k < sizeof OPTIONS / sizeof OPTIONS[0]; k++) {
        for (int l = 0; l < 2; l++) {
            char spec[128];
            snprintf(spec, sizeof spec, "%s:%s", LOCALS[l], OPTIONS[k]);
            check_same(p, spec);
        }
    }
}

static void an_inlined_solver_has_the_bits_of_one_that_is_called(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        ss_problem *p = tangle(dim, 150, 7);
        check_all(p);
        ss_problem_free(p);
        p = random_strand_problem(5, dim, 60, 4, 20);
        check_all(p);
        ss_problem_free(p);
    }
}

// Among others mu = 0, blocks of rank one and W_ii = 0.
static void special_contacts_are_those_of_every_loop(void)
{
    ss_problem *p = tangle(3, 150, 8);
    for (int i = 0; i < p->ncontacts; i++) {
        const int kind = i % 6, columns = kind == 2 ? 2 : kind == 4 ? 3 : 0;
        p->mu[i] = kind == 0 ? 0.0 : p->mu[i];
        for (int k = p->H.start[3 * (i + 1) - columns]; k < p->H.start[3 * (i + 1)]; k++) {
            p->H.x[k] = 0.0;
        }
    }
    check_all(p);
    ss_problem_free(p);
}

static void run_tests(void)
{
    RUN_TEST(an_inlined_solver_has_the_bits_of_one_that_is_called);
    RUN_TEST(special_contacts_are_those_of_every_loop);
}

const test_group visits_tests = {.run = run_tests, .set_up = set_up};
