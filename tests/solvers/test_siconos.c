// The solvers of Siconos, where the program was built with them: they solve what they can, their
// claims are the judge's, and a death of theirs is an outcome of ours.
#include <stdio.h>
#include <string.h>

#include "problems/store/store.h"
#include "base/clock.h"
#include "tests/support/solving.h"

static const char *const SPECS[] = {"siconos/nsgs-hybrid", "siconos/nsgs-quartic-nu",
                                    "siconos/prox",        "siconos/nsn-ac",
                                    "siconos/nsn-fb",      "siconos/admm"};

enum { NSPECS = sizeof SPECS / sizeof SPECS[0] };

// Those that solve hair-like problems; the others of Siconos 4.4 do not, whatever the limits.
static const char *const STRONG[] = {"siconos/nsgs-hybrid", "siconos/prox", "siconos/nsn-ac", NULL};

static ss_error error;
static const char *spec; // under test

static void set_up(void)
{
    error = (ss_error){0};
    if (ss_global_find(SPECS[0]) == NULL) {
        TEST_IGNORE_MESSAGE("built without Siconos (libsiconos-numerics-dev)");
    }
}

// Solved and converged, or neither; a sentence where the outcome's name does not say all.
static void check_honest(const solved *a, double tolerance)
{
    CHECK((a->result.outcome == SS_CONVERGED) == (a->facts.fb <= tolerance));
    CHECK(a->result.outcome != SS_UNSOLVED && a->result.outcome != SS_STEPPED);
    CHECK((a->result.outcome == SS_CRASHED) <= (a->result.why[0] != '\0'));
    CHECK_NEAR(a->result.own_error, ss_measures_error(&a->facts),
               1e-9 * ss_measures_error(&a->facts));
}

static bool is_strong(void)
{
    int k = 0;
    while (STRONG[k] != NULL && strcmp(STRONG[k], spec) != 0) {
        k++;
    }
    return STRONG[k] != NULL;
}

static solved solve_file(const char *name, double tolerance)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", fclib_folder(), name);
    ss_problem *p;
    CHECK_OK(ss_store_read(path, NULL, &p, &error));
    const ss_task task = {.problem = p,
                          .tolerance = tolerance,
                          .max_iterations = 10000,
                          .time_limit = 60.0,
                          .clock = SS_CLOCK_WALL};
    const solved a = run_task(spec, task, NULL);
    ss_problem_free(p);
    return a;
}

static void all_six_are_registered_as_exact_solvers_of_whole_problems(void)
{
    for (int k = 0; k < NSPECS; k++) {
        const ss_global_solver *solver = ss_global_find(SPECS[k]);
        CHECK(solver != NULL && !solver->takes_local && solver->card.law == SS_EXACT);
        ss_method *m;
        CHECK_OK(ss_method_parse(SPECS[k], &m, &error));
        CHECK(m->global == solver && m->local == NULL && m->failsafe == NULL);
        TEST_ASSERT_EQUAL_STRING(SPECS[k], m->name);
        ss_method_free(m);
    }
}

static void a_small_tangle_is_solved_or_not_but_nothing_is_claimed(void)
{
    ss_problem *p = full_rank_tangle(3, 20, 3);
    solved a = run(p, spec, 1e-6, 500);
    check_honest(&a, 1e-6);
    CHECK(a.result.outcome == SS_CONVERGED || !is_strong());
    CHECK(a.result.iterations > 0);
    CHECK(a.result.setup_seconds > 0.0 && a.result.sweep_seconds > 0.0);
    CHECK_NEAR(a.result.seconds, a.result.setup_seconds + a.result.sweep_seconds, 1e-9);
    CHECK(a.result.cpu_seconds > 0.0);
    free_solved(&a);
    ss_problem_free(p);
}

static void a_file_of_fclib_is_solved(void)
{
    if (fclib_folder() == NULL) {
        TEST_IGNORE_MESSAGE("STICKSLIP_FCLIB_DATA is not set");
    }
    solved a = solve_file("Spheres-i099-356-679.hdf5", 1e-6);
    check_honest(&a, 1e-6);
    CHECK(a.result.outcome == SS_CONVERGED);
    free_solved(&a);
}

// The file on which Siconos 4.4's Newton of Fischer and Burmeister aborts.
static void a_hard_file_is_solved_or_not_but_nothing_is_claimed(void)
{
    if (fclib_folder() == NULL) {
        TEST_IGNORE_MESSAGE("STICKSLIP_FCLIB_DATA is not set");
    }
    solved a = solve_file("LMGC_100_PR_PerioBox-i00361-60-03000.hdf5", 1e-6);
    check_honest(&a, 1e-6);
    free_solved(&a);
}

// By hand: the second contact has no compliance at all, so that its blocks do not exist.
static void a_contact_that_nothing_moves_does_no_harm_here(void)
{
    const double W[36] = {[0] = 1.0, [7] = 1.0, [14] = 1.0};
    const double b[6] = {-1.0, 0.2, 0.0, 1.0, 0.0, 0.0}, mu[2] = {0.5, 0.5};
    ss_problem *p = dense_problem(3, 2, W, b, mu);
    for (int k = 0; k < 3; k++) { // and still solves the next one, and so on
        solved a = run(p, spec, 1e-6, 1000);
        check_honest(&a, 1e-6);
        free_solved(&a);
    }
    ss_problem_free(p);
}

// By hand: nothing moves the first contact along T2, where it slides at 0.1; the normal parts are those of a system of
// two, and the second contact sticks. Siconos 4.4 puts a number of the column behind it into an empty one.
static void an_empty_column_stays_empty(void)
{
    const double W[36] = {
        [0] = 1.0, [3] = 0.5, [7] = 1.0, [18] = 0.5, [21] = 2.0, [28] = 1.0, [35] = 1.0};
    const double b[6] = {-1.0, 0.0, 0.1, -1.0, 0.0, 0.0}, mu[2] = {0.5, 0.5};
    const double r[6] = {6.0 / 7.0, 0.0, -3.0 / 7.0, 2.0 / 7.0, 0.0, 0.0};
    ss_problem *p = dense_problem(3, 2, W, b, mu);
    solved a = run(p, spec, 1e-6, 10000);
    check_honest(&a, 1e-6);
    const bool found = a.result.outcome == SS_CONVERGED;
    CHECK(found || strcmp(spec, "siconos/nsn-ac") == 0); // its matrix is singular here
    for (int k = 0; k < 6 && found; k++) {
        CHECK_NEAR(a.r[k], r[k], 1e-5);
    }
    free_solved(&a);
    ss_problem_free(p);
}

static void the_plane_is_not_covered(void)
{
    ss_problem *p = tangle(2, 10, 3);
    solved a = run(p, spec, 1e-6, 1000);
    CHECK(a.result.outcome == SS_NOT_COVERED);
    CHECK(strstr(a.result.why, "in space only") != NULL);
    for (size_t k = 0; k < components(p); k++) {
        CHECK(a.r[k] == 0.0);
    }
    free_solved(&a);
    ss_problem_free(p);
}

static void the_answer_is_never_worse_than_the_start(void)
{
    ss_problem *p = full_rank_tangle(3, 20, 3);
    solved first = run(p, "secular", 1e-10, 100000);
    CHECK_LE(first.facts.fb, 1e-10);
    const ss_task task = {
        .problem = p, .tolerance = 1e-6, .max_iterations = 100, .clock = SS_CLOCK_WALL};
    solved a = run_task(spec, task, first.r);
    CHECK(a.result.outcome == SS_CONVERGED || !is_strong());
    CHECK_LE(a.facts.fb, first.facts.fb);
    free_solved(&first);
    free_solved(&a);
    ss_problem_free(p);
}

static void limits_are_kept(void)
{
    ss_problem *p = tangle(3, 600, 5);
    ss_task task = {.problem = p, .tolerance = 1e-12, .max_iterations = 1, .clock = SS_CLOCK_WALL};
    solved a = run_task(spec, task, NULL);
    CHECK(a.result.outcome == SS_MAX_ITER || a.result.outcome == SS_STALLED);
    free_solved(&a);
    task.max_iterations = 1000000000;
    task.time_limit = 0.05;
    task.clock = SS_CLOCK_CPU;
    const double begin = ss_clock_now();
    a = run_task(spec, task, NULL);
    CHECK_LE(ss_clock_now() - begin, 30.0);
    CHECK(a.result.outcome == SS_TIME_LIMIT);
    check_honest(&a, task.tolerance);
    free_solved(&a);
    ss_problem_free(p);
}

static void tight_tolerances_are_asked_for_until_the_judge_is_satisfied(void)
{
    spec = "siconos/nsgs-hybrid";
    ss_problem *p = full_rank_tangle(3, 20, 3);
    double last = INFINITY;
    for (double tolerance = 1e-3; tolerance > 1e-11; tolerance *= 1e-2) {
        solved a = run(p, spec, tolerance, 100000);
        CHECK(a.result.outcome == SS_CONVERGED);
        CHECK_LE(a.facts.fb, tolerance);
        CHECK_LE(a.facts.fb, last);
        last = a.facts.fb;
        free_solved(&a);
    }
    ss_problem_free(p);
}

static void run_tests(void)
{
    RUN_TEST(all_six_are_registered_as_exact_solvers_of_whole_problems);
    RUN_TEST(tight_tolerances_are_asked_for_until_the_judge_is_satisfied);
    for (int k = 0; k < NSPECS && ss_global_find(SPECS[k]) != NULL; k++) {
        spec = SPECS[k];
        RUN_TEST(a_small_tangle_is_solved_or_not_but_nothing_is_claimed);
        RUN_TEST(a_file_of_fclib_is_solved);
        RUN_TEST(a_hard_file_is_solved_or_not_but_nothing_is_claimed);
        RUN_TEST(a_contact_that_nothing_moves_does_no_harm_here);
        RUN_TEST(an_empty_column_stays_empty);
        RUN_TEST(the_plane_is_not_covered);
        RUN_TEST(the_answer_is_never_worse_than_the_start);
        RUN_TEST(limits_are_kept);
    }
}

const test_group siconos_tests = {.run = run_tests, .set_up = set_up};
