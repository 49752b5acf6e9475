// What all global methods promise, on problems small enough for each of them.
#include "solvers/global/drive.h"

#include <stdio.h>

#include "base/clock.h"
#include "tests/support/sanitizer.h"
#include "tests/support/solving.h"
#include "tests/support/one_problem.h"

// With both forms of W where there are two, and those that have one.
static const char *const FORMED[] = {
    "apgd",         "spg",       "admm", "alm", "ppa", "anderson/secular",
    "nncg/secular", "splitting", "ipm",  NULL};
static const char *const OTHERS[] = {"prox/secular", "auto", NULL};

// s, of what is tested here; sanitizers slow it down.
#define LONGEST_ITERATION (SS_HAS_ASAN ? 1.0 : 0.1)

typedef void (*check)(const char *spec);

static void each(const char *const *specs, check checked)
{
    for (int k = 0; specs[k] != NULL; k++) {
        checked(specs[k]);
    }
}

static void each_of_all(check checked)
{
    each(FORMED, checked);
    each(OTHERS, checked);
}

static void fail(const char *spec, const char *what, const solved *a)
{
    char text[400];
    snprintf(text, sizeof text, "%s %s: outcome %d after %d iterations, fb %.3g, believed %.3g, %s",
             spec, what, (int)a->result.outcome, a->result.iterations, a->facts.fb,
             a->result.own_error, a->result.why);
    TEST_FAIL_MESSAGE(text);
}

static void check_solved(const char *spec, const solved *a, double tolerance)
{
    if (a->result.outcome != SS_CONVERGED || !(a->facts.fb <= tolerance)) {
        fail(spec, "does not solve", a);
    }
}

static solved solve(const char *spec, double tolerance)
{
    solved a = run(problem, spec, tolerance, 200000);
    check_solved(spec, &a, tolerance);
    return a;
}

static void solves(const char *spec)
{
    solved a = solve(spec, 1e-9);
    free_solved(&a);
}

// ---- Problems

static void agrees_in_both_forms(const char *spec)
{
    char formed[2][80];
    const char *separator = strchr(spec, ':') != NULL ? "," : ":";
    snprintf(formed[0], sizeof formed[0], "%s%sform=explicit", spec, separator);
    snprintf(formed[1], sizeof formed[1], "%s%sform=matrix-free", spec, separator);
    solved a = solve(formed[0], 1e-10), b = solve(formed[1], 1e-10);
    CHECK_LE(relative_difference(a.u, b.u, components(problem)), 1e-6);
    solved reference = solve("mfb+enum", 1e-10);
    CHECK_LE(relative_difference(a.u, reference.u, components(problem)), 1e-6);
    free_solved(&a);
    free_solved(&b);
    free_solved(&reference);
}

static void explicit_and_matrix_free_forms_agree(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        problem = full_rank_tangle(dim, 24, 5);
        each(FORMED, agrees_in_both_forms);
        each(OTHERS, solves);
        tear_down();
    }
}

static void a_hyperstatic_problem_is_solved_in_space_and_in_the_plane(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        problem = tangle(dim, 40, 6);
        each_of_all(solves);
        tear_down();
    }
}

static void without_friction_only_the_normals_count(void)
{
    problem = full_rank_tangle(3, 24, 7);
    for (int i = 0; i < problem->ncontacts; i += 1) {
        problem->mu[i] = 0.0;
    }
    each_of_all(solves);
    problem->mu[3] = 0.4; // and beside others
    each_of_all(solves);
}

static void contacts_that_nothing_moves_do_no_harm(void)
{
    // Three contacts: W = I except for the second, whose W_ii is 0 and which opens by itself.
    double W[81] = {0};
    const double b[] = {-1, 0.1, 0, 0.5, 0.2, 0, -1, 2, 0}, mu[] = {0.5, 0.5, 0.5};
    for (int k = 0; k < 9; k++) {
        W[10 * k] = k / 3 == 1 ? 0.0 : 1.0;
    }
    problem = dense_problem(3, 3, W, b, mu);
    each_of_all(solves);
}

static void an_unsymmetric_w_is_solved_or_not_claimed_to_be(void)
{
    ss_tangle_settings settings = ss_tangle_defaults();
    settings.ncontacts = 30;
    settings.ends_per_rod = 4;
    settings.unsymmetry = 0.01;
    problem = tangle_of(&settings);
    each_of_all(solves);
    tear_down();
    settings.ends_per_rod = 25;
    settings.unsymmetry = 0.3;
    problem = tangle_of(&settings);
    for (int k = 0; FORMED[k] != NULL; k++) {
        solved a = run(problem, FORMED[k], 1e-8, 3000);
        if ((a.result.outcome == SS_CONVERGED) != (a.facts.fb <= 1e-8)) {
            fail(FORMED[k], "claims what is not so", &a);
        }
        free_solved(&a);
    }
}

// ---- Limits

// Hundreds of contacts, hyperstatic, to a tolerance that none of them reaches.
static ss_outcome outcome_in_time(const char *spec)
{
    const double limit = 0.2;
    ss_task task = {.problem = problem,
                    .tolerance = 0.0,
                    .max_iterations = 1000000000,
                    .time_limit = limit,
                    .clock = SS_CLOCK_CPU};
    const double before = ss_clock_cpu_seconds();
    solved a = run_task(spec, task, NULL);
    const double took = ss_clock_cpu_seconds() - before;
    if (a.result.outcome != SS_TIME_LIMIT && a.result.outcome != SS_STALLED) {
        fail(spec, "does not mind the time", &a);
    }
    if (!(a.result.cpu_seconds <= 1.05 * limit + LONGEST_ITERATION)) {
        char text[160];
        snprintf(text, sizeof text, "%s took %.3g s of %.3g (%.3g with all around it)", spec,
                 a.result.cpu_seconds, limit, took);
        TEST_FAIL_MESSAGE(text);
    }
    const ss_outcome outcome = a.result.outcome;
    free_solved(&a);
    return outcome;
}

static void keeps_its_time(const char *spec)
{
    outcome_in_time(spec);
}

static void time_is_kept_within_an_iteration(void)
{
    ss_tangle_settings settings = ss_tangle_defaults();
    settings.ncontacts = 500;
    settings.ends_per_rod = 59;
    settings.hyperstatic = true;
    problem = tangle_of(&settings);
    each_of_all(keeps_its_time);
}

static void a_factor_that_takes_too_long_is_left(void)
{
    // In explicit form the factor of 800 contacts on few rods takes seconds.
    ss_tangle_settings settings = ss_tangle_defaults();
    settings.ncontacts = 800;
    settings.ends_per_rod = 100;
    problem = tangle_of(&settings);
    CHECK(outcome_in_time("admm:form=explicit") == SS_TIME_LIMIT);
    CHECK(outcome_in_time("alm:form=explicit") == SS_TIME_LIMIT);
    CHECK(outcome_in_time("ppa:form=explicit,sweeps=0") == SS_TIME_LIMIT);
}

static void minds_interruption(const char *spec)
{
    volatile sig_atomic_t interrupted = 1;
    ss_task task = {.problem = problem,
                    .tolerance = 1e-12,
                    .max_iterations = 1000000000,
                    .clock = SS_CLOCK_WALL,
                    .interrupted = &interrupted};
    solved a = run_task(spec, task, NULL);
    if (a.result.outcome != SS_INTERRUPTED || a.result.iterations > 1) {
        fail(spec, "goes on after an interrupt", &a);
    }
    free_solved(&a);
}

static void minds_its_iterations(const char *spec)
{
    for (int most = 0; most <= 64; most = 2 * most + 1) {
        solved a = run(problem, spec, 1e-14, most);
        const bool ended = a.result.outcome == SS_MAX_ITER || a.result.outcome == SS_CONVERGED ||
                           a.result.outcome == SS_STALLED;
        if (!ended || a.result.iterations > most) {
            fail(spec, "does not mind its iterations", &a);
        }
        free_solved(&a);
    }
}

static void interrupts_and_iterations_end_a_solve(void)
{
    problem = tangle(3, 40, 8);
    each_of_all(minds_interruption);
    each_of_all(minds_its_iterations);
}

static void rests_at_the_floor(const char *spec)
{
    solved a = run(problem, spec, 0.0, 1000000);
    if (a.result.outcome != SS_STALLED && a.result.outcome != SS_CONVERGED) {
        fail(spec, "is busy for ever below the rounding", &a);
    }
    CHECK_LE(a.facts.fb, 1e-12);
    free_solved(&a);
}

static void below_the_rounding_floor_it_stalls(void)
{
    problem = full_rank_tangle(3, 10, 9);
    each_of_all(rests_at_the_floor);
}

// ---- What is told, and what is given back

typedef struct heard {
    int calls, iteration;
    double seconds;
    long local_solves;
    bool ordered;
} heard;

static void listen(void *of, const ss_progress *p)
{
    heard *h = of;
    h->ordered = h->ordered && p->iteration >= h->iteration && p->seconds >= h->seconds &&
                 p->local_solves >= h->local_solves && p->r != NULL &&
                 (h->calls > 0 || p->iteration == 0);
    h->iteration = p->iteration;
    h->seconds = p->seconds;
    h->local_solves = p->local_solves;
    h->calls++;
}

static void counts_upwards(const char *spec)
{
    heard h = {.ordered = true};
    ss_task task = {.problem = problem,
                    .tolerance = 1e-9,
                    .max_iterations = 100000,
                    .clock = SS_CLOCK_WALL,
                    .listen = listen,
                    .listener = &h};
    solved listened = run_task(spec, task, NULL), alone = run(problem, spec, 1e-9, 100000);
    CHECK(h.ordered && h.calls > 1);
    TEST_ASSERT_EQUAL_INT_MESSAGE(listened.result.iterations, h.iteration, spec);
    // To listen changes nothing.
    TEST_ASSERT_EQUAL_INT_MESSAGE(alone.result.iterations, listened.result.iterations, spec);
    CHECK(memcmp(alone.r, listened.r, components(problem) * sizeof(double)) == 0);
    free_solved(&listened);
    free_solved(&alone);
}

static void the_listener_hears_every_step_in_order(void)
{
    problem = tangle(3, 40, 10);
    each_of_all(counts_upwards);
}

static void keeps_a_better_start(const char *spec)
{
    solved good = run(problem, "mfb+enum", 1e-7, 100000);
    for (int most = 0; most <= 30; most = 3 * most + 1) {
        ss_task task = {
            .problem = problem, .tolerance = 1e-13, .max_iterations = most, .clock = SS_CLOCK_WALL};
        solved a = run_task(spec, task, good.r);
        if (!(a.facts.fb <= good.facts.fb * (1.0 + 1e-9))) {
            fail(spec, "gives back worse than it was given", &a);
        }
        free_solved(&a);
    }
    free_solved(&good);
}

static void an_answer_is_never_worse_than_the_start(void)
{
    problem = tangle(3, 40, 11);
    each_of_all(keeps_a_better_start);
}

// ---- Memory

static void a_factor_that_is_too_large_is_refused_by_name(void)
{
    problem = tangle(3, 40, 12);
    const char *const specs[] = {"ppa:memory=1e-6", "alm:memory=1e-6", "admm:memory=1e-6",
                                 "ipm:memory=1e-6"};
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        solved a = run(problem, specs[k], 1e-8, 1000);
        CHECK(a.result.outcome == SS_NOT_COVERED);
        CHECK(strstr(a.result.why, "GB of its option memory") != NULL);
        CHECK(a.result.iterations == 0 && a.result.seconds >= 0.0);
        for (size_t c = 0; c < components(problem); c++) {
            CHECK(a.r[c] == 0.0);
        }
        free_solved(&a);
    }
}

static void run_tests(void)
{
    RUN_TEST(explicit_and_matrix_free_forms_agree);
    RUN_TEST(a_hyperstatic_problem_is_solved_in_space_and_in_the_plane);
    RUN_TEST(without_friction_only_the_normals_count);
    RUN_TEST(contacts_that_nothing_moves_do_no_harm);
    RUN_TEST(an_unsymmetric_w_is_solved_or_not_claimed_to_be);
    RUN_TEST(time_is_kept_within_an_iteration);
    RUN_TEST(a_factor_that_takes_too_long_is_left);
    RUN_TEST(interrupts_and_iterations_end_a_solve);
    RUN_TEST(below_the_rounding_floor_it_stalls);
    RUN_TEST(the_listener_hears_every_step_in_order);
    RUN_TEST(an_answer_is_never_worse_than_the_start);
    RUN_TEST(a_factor_that_is_too_large_is_refused_by_name);
}

const test_group global_methods_tests = {
    .run = run_tests, .set_up = set_up, .tear_down = tear_down};
