// The solver splitting: its steps go downhill, its answers are those of sweeps, and threads change no bit.
#include "tests/support/make_problem.h"
#include "tests/support/solving.h"
#include "tests/support/one_problem.h"

static void its_answers_are_those_of_sweeps(void)
{
    static const char *const SPECS[] = {"splitting:form=explicit", "splitting:form=matrix-free",
                                        "splitting:step=masses"};
    for (int dim = 2; dim <= 3; dim++) {
        problem = full_rank_tangle(dim, 30, 11);
        solved sweeps = run(problem, "mfb+enum", 1e-11, 100000);
        for (int k = 0; k < 3; k++) {
            solved a = run(problem, SPECS[k], 1e-11, 100000);
            check_solved_run(&a, 1e-11);
            CHECK_LE(relative_difference(sweeps.r, a.r, components(problem)), 1e-7);
            CHECK_LE(relative_difference(sweeps.u, a.u, components(problem)), 1e-7);
            free_solved(&a);
        }
        free_solved(&sweeps);
        tear_down();
    }
}

static void the_answer_is_where_it_stays(void)
{
    problem = tangle(3, 60, 12);
    solved answer = run(problem, "mfb+enum", 1e-12, 100000);
    check_solved_run(&answer, 1e-12);
    ss_task task = {
        .problem = problem, .tolerance = 0.0, .max_iterations = 20, .clock = SS_CLOCK_WALL};
    solved a = run_task("splitting", task, answer.r);
    CHECK_LE(relative_difference(answer.r, a.r, components(problem)), 1e-9);
    free_solved(&a);
    free_solved(&answer);
}

// Steps by the last curvature alone run in cycles on some.
static void many_small_problems_are_solved(void)
{
    for (uint64_t seed = 100; seed < 130; seed++) {
        ss_tangle_settings settings = ss_tangle_defaults();
        settings.ncontacts = 40;
        settings.ends_per_rod = 8;
        settings.mu = 0.1 * (double)(seed % 10 + 1);
        settings.seed = seed;
        problem = tangle_of(&settings);
        solved a = run(problem, "splitting", 1e-5, 20000);
        check_solved_run(&a, 1e-5);
        free_solved(&a);
        tear_down();
    }
}

// ---- Downhill

typedef struct descent {
    const double *b; // velocities at r = 0
    double *u;
    double last;
    int steps, uphill;
} descent;

// r'W r/2 + b'r = r'(u + b)/2.
static void look(void *of, const ss_progress *progress)
{
    descent *d = of;
    judge(problem, progress->r, d->u);
    double energy = 0.0, size = 0.0;
    for (size_t k = 0; k < components(problem); k++) {
        energy += 0.5 * progress->r[k] * (d->u[k] + d->b[k]);
        size += 0.5 * fabs(progress->r[k] * (d->u[k] + d->b[k]));
    }
    d->uphill += energy > d->last + 1e-13 * size;
    d->last = energy;
    d->steps++;
}

// Hundreds of contacts on few rods, from r = 0, where undivided masses overshoot.
static void check_descent(const char *spec)
{
    const size_t size = components(problem);
    double *r = calloc(3 * size, sizeof *r);
    CHECK(r != NULL);
    descent d = {.b = r + size, .u = r + 2 * size, .last = INFINITY};
    judge(problem, r, r + size);
    const ss_task task = {.problem = problem,
                          .tolerance = 1e-12,
                          .max_iterations = 200,
                          .clock = SS_CLOCK_WALL,
                          .listen = look,
                          .listener = &d};
    solved a = run_task(spec, task, NULL);
    CHECK(d.steps > 100 && d.last < 0.0);
    CHECK(d.uphill == 0);
    free_solved(&a);
    free(r);
}

static void without_friction_divided_masses_always_go_downhill(void)
{
    problem = tangle(3, 300, 13);
    for (int i = 0; i < problem->ncontacts; i++) {
        problem->mu[i] = 0.0;
    }
    check_descent("splitting:step=masses,form=explicit");
    check_descent("splitting:step=masses,form=matrix-free");
}

// Two equal contacts in one point of a body with W_ii = I share it: W_ij = I, and each takes half.
static void contacts_that_share_a_body_share_its_mass(void)
{
    double W[36] = {0};
    const double b[] = {-1.0, 0.0, 0.0, -1.0, 0.0, 0.0}, mu[] = {0.5, 0.5};
    for (int k = 0; k < 6; k++) {
        W[7 * k] = 1.0;
        W[6 * k + (k + 3) % 6] = 1.0;
    }
    problem = dense_problem(3, 2, W, b, mu);
    solved a = run(problem, "splitting:step=masses", 1e-14, 10);
    check_solved_run(&a, 1e-14);
    CHECK_NEAR(a.r[0], 0.5, 1e-14);
    CHECK_NEAR(a.r[3], 0.5, 1e-14);
    free_solved(&a);
}

// ---- Threads

static void the_number_of_threads_changes_no_bit(void)
{
    static const char *const SPECS[] = {"splitting:form=explicit", "splitting:form=matrix-free"};
    problem = tangle(3, 3000, 14);
    for (int k = 0; k < 2; k++) {
        ss_task task = {
            .problem = problem, .tolerance = 1e-12, .max_iterations = 40, .clock = SS_CLOCK_WALL};
        solved alone = run_task(SPECS[k], task, NULL);
        for (task.threads = 1; task.threads <= 5; task.threads++) {
            solved shared = run_task(SPECS[k], task, NULL);
            CHECK(memcmp(alone.r, shared.r, components(problem) * sizeof *alone.r) == 0);
            CHECK(alone.result.own_error == shared.result.own_error);
            free_solved(&shared);
        }
        free_solved(&alone);
    }
}

static void run_tests(void)
{
    RUN_TEST(its_answers_are_those_of_sweeps);
    RUN_TEST(the_answer_is_where_it_stays);
    RUN_TEST(many_small_problems_are_solved);
    RUN_TEST(without_friction_divided_masses_always_go_downhill);
    RUN_TEST(contacts_that_share_a_body_share_its_mass);
    RUN_TEST(the_number_of_threads_changes_no_bit);
}

const test_group splitting_tests = {.run = run_tests, .set_up = set_up, .tear_down = tear_down};
