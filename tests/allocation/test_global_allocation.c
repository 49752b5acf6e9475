// Every allocation of every global solver fails once: the k-th, for all k. Each must come back as
// SS_SYSTEM with a sentence, leave r as it was and nothing behind (LeakSanitizer looks); auto may
// pass its turn on instead, and then solves; and a block step of Gauss-Seidel is left out.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problems/certificate.h"
#include "problems/tangle/tangle.h"
#include "solvers/registry.h"
#include "tests/support/support.h"

#define CONTACTS 8

static ss_error error;
static ss_problem *problem;
static int gone_on; // runs that solved it without an allocation that they asked for

static void make_tangle(int ends_per_rod)
{
    ss_tangle_settings settings = ss_tangle_defaults();
    settings.ncontacts = CONTACTS;
    settings.ends_per_rod = ends_per_rod;
    CHECK_OK(ss_tangle_new(&settings, &problem, &error));
}

static void set_up(void)
{
    error = (ss_error){0};
    gone_on = 0;
    make_tangle(4);
}

static void tear_down(void)
{
    ss_problem_free(problem);
}

static void fail(const char *spec, long k, ss_status status, const char *what)
{
    char message[900];
    snprintf(message, sizeof message, "%s, allocation %ld: %s: status %d, \"%s\"", spec, k, what,
             (int)status, error.text);
    TEST_FAIL_MESSAGE(message);
}

// Whether the k-th allocation was made.
static bool solve_failing(const char *spec, const ss_task *task, long k, bool may_go_on)
{
    double r[3 * CONTACTS] = {0};
    ss_result result;
    error = (ss_error){0};
    fail_allocation(k);
    const ss_status status = ss_solve(task, r, &result, &error);
    const long made = allocations_since();
    fail_allocation(0);
    if (made < k) {
        if (status != SS_OK) {
            fail(spec, k, status, "fails with all of its memory");
        }
        return false;
    }
    if (status == SS_OK && may_go_on) {
        if (result.outcome != SS_CONVERGED) {
            fail(spec, k, status, "goes on and does not get there");
        }
        gone_on++;
        return true;
    }
    if (status != SS_SYSTEM || error.text[0] == '\0') {
        fail(spec, k, status, "is not told");
    }
    for (int c = 0; c < 3 * CONTACTS; c++) {
        if (r[c] != 0.0) {
            fail(spec, k, status, "changes r");
        }
    }
    return true;
}

static void check(const char *spec, bool may_go_on)
{
    ss_method *method;
    CHECK_OK(ss_method_parse(spec, &method, &error));
    const ss_task task = {.problem = problem,
                          .method = method,
                          .tolerance = 1e-8,
                          .max_iterations = 20000,
                          .clock = SS_CLOCK_WALL};
    long k = 1;
    while (solve_failing(spec, &task, k, may_go_on)) {
        k++;
    }
    CHECK(k > 5);
    ss_method_free(method);
}

// Those of the registry but Siconos', which allocate in a process and a library of their own.
static void check_all(const char *options)
{
    for (int k = 0; ss_global_solvers[k] != NULL; k++) {
        const ss_global_solver *solver = ss_global_solvers[k];
        bool has_form = false;
        for (const ss_key *key = solver->card.keys; key != NULL && key->name != NULL; key++) {
            has_form = has_form || strcmp(key->name, "form") == 0;
        }
        if (strncmp(solver->card.name, "siconos", 7) == 0 || (options[0] != '\0' && !has_form)) {
            continue;
        }
        char spec[120];
        snprintf(spec, sizeof spec, "%s%s%s", solver->card.name,
                 solver->takes_local ? "/mfb+enum" : "", options);
        check(spec, strcmp(spec, "auto") == 0);
    }
}

static void each_global_solver_tells_that_memory_is_lacking(void)
{
    check_all("");
}

static void and_so_in_explicit_form(void)
{
    check_all(":form=explicit");
}

// What is slow enough for block steps. Their allocations are not told: sweeps go on.
static void a_block_step_without_memory_is_left_out(void)
{
    ss_problem_free(problem);
    make_tangle(8);
    check("gs/mfb+enum:focus=on,form=explicit", true);
    CHECK(gone_on > 20);
    gone_on = 0;
    check("gs/mfb+enum:focus=on,form=matrix-free", true);
    CHECK(gone_on > 20);
    gone_on = 0;
    check("gs/mfb+enum", true);
    CHECK(gone_on == 0);
}

static void a_certificate_tells_that_memory_is_lacking(void)
{
    ss_problem *local;
    CHECK_OK(ss_problem_to_local(problem, &local, &error));
    problem->w[0] = -1.0;
    const ss_problem *const problems[] = {problem, local};
    for (int i = 0; i < 2; i++) {
        for (long k = 1;; k++) {
            ss_certificate found;
            fail_allocation(k);
            const ss_status status = ss_certificate_find(problems[i], 1e-8, true, &found, &error);
            const long made = allocations_since();
            fail_allocation(0);
            ss_certificate_free(&found);
            if (made < k) {
                CHECK(status == SS_OK && k > 5);
                break;
            }
            CHECK(status == SS_SYSTEM);
        }
    }
    ss_problem_free(local);
}

static void run_tests(void)
{
    RUN_TEST(each_global_solver_tells_that_memory_is_lacking);
    RUN_TEST(and_so_in_explicit_form);
    RUN_TEST(a_block_step_without_memory_is_left_out);
    RUN_TEST(a_certificate_tells_that_memory_is_lacking);
}

const test_group global_allocation_tests = {
    .run = run_tests, .set_up = set_up, .tear_down = tear_down};
