// What ends work half-way: functions that are stopped at any moment, set-ups that time or a caller
// ends, iterations that are not begun, and matrices that are singular or too large.
#include <stdio.h>
#include <time.h>

#include "problems/matrix/delassus.h"
#include "base/clock.h"
#include "solvers/linear/block_lu.h"
#include "solvers/global/newton.h"
#include "solvers/limits.h"
#include "solvers/sweep/sweep.h"
#include "tests/support/make_problem.h"
#include "tests/support/solving.h"
#include "tests/support/one_problem.h"

static const char *const SOLVERS[] = {"gs/secular",
                                      "gs/secular:focus=on",
                                      "gs/secular:form=explicit",
                                      "mfb+enum:order=stripes",
                                      "anderson/secular",
                                      "nncg/projection",
                                      "prox/secular",
                                      "apgd",
                                      "apgd:form=explicit",
                                      "spg",
                                      "splitting",
                                      "psor",
                                      "admm:form=explicit",
                                      "admm:form=matrix-free",
                                      "alm",
                                      "ipm",
                                      "ppa:form=explicit",
                                      "ppa:form=matrix-free",
                                      "newton-mfb:form=explicit",
                                      "newton-pac:form=matrix-free",
                                      "newton-dac",
                                      "auto"};
#define COUNT ((int)(sizeof SOLVERS / sizeof SOLVERS[0]))

// Of those that factorise a matrix, with the paper's newtons.
static const char *const FACTORISE[] = {"admm:form=explicit",
                                        "admm:form=matrix-free",
                                        "alm:form=explicit",
                                        "alm:form=matrix-free",
                                        "ppa:form=explicit,sweeps=0",
                                        "ppa:form=matrix-free,sweeps=0",
                                        "newton-mfb:form=explicit,shift=0",
                                        "newton-mfb:form=matrix-free,shift=0",
                                        "newton-pac:form=explicit,shift=0",
                                        "newton-pac:form=matrix-free,shift=0",
                                        "newton-dac:form=explicit,shift=0",
                                        "newton-dac:form=matrix-free,shift=0"};
#define FACTORISE_COUNT ((int)(sizeof FACTORISE / sizeof FACTORISE[0]))

static ss_problem *hair(int ncontacts, int per_rod)
{
    ss_tangle_settings settings = ss_tangle_defaults();
    settings.ncontacts = ncontacts;
    settings.ends_per_rod = per_rod;
    return tangle_of(&settings);
}

// ---- Functions that are stopped

// Says no so many times, and then yes for ever.
typedef struct patience {
    long left;
} patience;

static bool has_ended(const void *of)
{
    patience *p = *(patience *const *)of;
    return p->left-- <= 0;
}

// Whether it came to its end; what it made is freed here.
typedef bool (*work)(const ss_stop *stop);

static bool whiten(const ss_stop *stop)
{
    ss_whitened *white;
    CHECK_OK(ss_whitened_until(stop, problem, NULL, NULL, &white, &error));
    const bool made = white != NULL;
    ss_whitened_free(white);
    return made;
}

static bool made_blocks(ss_blocks *W)
{
    const bool made = W->start != NULL;
    CHECK(made == (W->x != NULL));
    ss_blocks_free(W);
    return made;
}

static bool assemble(const ss_stop *stop)
{
    ss_whitened *white;
    ss_blocks W;
    CHECK_OK(ss_whitened_new(problem, &white, &error));
    CHECK_OK(ss_blocks_assemble_until(stop, white, NULL, &W, &error));
    ss_whitened_free(white);
    return made_blocks(&W);
}

static bool assemble_naively(const ss_stop *stop)
{
    ss_whitened *white;
    ss_blocks W;
    CHECK_OK(ss_whitened_new(problem, &white, &error));
    CHECK_OK(ss_blocks_assemble_naive(stop, problem, white, &W, &error));
    ss_whitened_free(white);
    return made_blocks(&W);
}

static bool take_over(const ss_stop *stop)
{
    ss_blocks W;
    CHECK_OK(ss_blocks_from_sparse_until(stop, &problem->M, 1, &W, &error));
    return made_blocks(&W);
}

static bool couple(const ss_stop *stop)
{
    ss_coupling *c;
    CHECK_OK(ss_coupling_new(problem, SS_FORM_EXPLICIT, true, stop, &c, &error));
    const bool made = c != NULL;
    ss_coupling_free(c);
    return made;
}

static bool lay_out_newton(const ss_stop *stop)
{
    ss_coupling *c;
    ss_newton_system *system;
    CHECK_OK(ss_coupling_new(problem, SS_FORM_MATRIX_FREE, false, NULL, &c, &error));
    CHECK_OK(ss_newton_system_new(c, c->compliance, stop, &system, &error));
    const bool made = system != NULL;
    ss_newton_system_free(system);
    ss_coupling_free(c);
    return made;
}

// A chain of blocks, its analysis and two factorisations.
static bool factorise(const ss_stop *stop)
{
    enum { NODES = 200 };
    int room[NODES], pairs[NODES - 1][2];
    for (int k = 0; k < NODES; k++) {
        room[k] = 4;
    }
    for (int k = 0; k < NODES - 1; k++) {
        pairs[k][0] = k;
        pairs[k][1] = k + 1;
    }
    ss_block_lu *lu;
    CHECK_OK(ss_block_lu_new(NODES, room, NODES - 1, (const int(*)[2])pairs, stop, &lu, &error));
    bool made = lu != NULL && ss_block_lu_reserve(lu, NULL) && ss_block_lu_clear(lu);
    for (int k = 0; made && k < NODES; k++) {
        for (int j = 0; j < 4; j++) {
            ss_block_lu_values(lu)[ss_block_lu_place(lu, k, k) + (size_t)(5 * j)] = 1.0;
        }
    }
    made = made && ss_block_lu_factor(lu) && ss_block_lu_factor_short(lu);
    ss_block_lu_free(lu);
    return made;
}

// At each question in turn. The number of questions.
static int stop_everywhere(work f)
{
    for (int asked = 0; asked < 100000; asked++) {
        patience p = {asked}, *of = &p;
        const ss_stop stop = {has_ended, &of};
        if (f(&stop)) {
            return asked;
        }
        CHECK(p.left < 0);
    }
    return 0;
}

static void what_is_stopped_at_any_moment_leaves_nothing_behind(void)
{
    problem = random_problem(1, 3, 200, 12, 9);
    const work works[] = {whiten, assemble,       assemble_naively, take_over,
                          couple, lay_out_newton, factorise};
    const int least[] = {10, 10, 500, 3, 20, 3, 100}; // questions
    for (int k = 0; k < 7; k++) {
        CHECK(works[k](NULL));
        CHECK(stop_everywhere(works[k]) >= least[k]);
    }
}

// ---- Set-ups

static void is_start(const solved *a, const char *spec)
{
    for (size_t k = 0; k < components(problem); k++) {
        if (a->r[k] != 0.25) {
            TEST_FAIL_MESSAGE(spec);
        }
    }
}

static double *start_of_quarters(void)
{
    double *r = malloc(components(problem) * sizeof *r);
    CHECK(r != NULL);
    for (size_t k = 0; k < components(problem); k++) {
        r[k] = 0.25;
    }
    return r;
}

static void no_solver_sets_up_longer_than_it_may(void)
{
    problem = hair(400, 40);
    double *start = start_of_quarters();
    for (int k = 0; k < COUNT; k++) {
        const ss_task task = {.problem = problem,
                              .tolerance = 1e-12,
                              .max_iterations = 1000000,
                              .time_limit = 1e-6,
                              .clock = SS_CLOCK_CPU};
        solved a = run_task(SOLVERS[k], task, start);
        if (a.result.outcome != SS_TIME_LIMIT || a.result.iterations != 0) {
            TEST_FAIL_MESSAGE(SOLVERS[k]);
        }
        CHECK(a.result.seconds >= 0.0 && a.result.setup_seconds >= 0.0);
        is_start(&a, SOLVERS[k]);
        free_solved(&a);
    }
    free(start);
}

static void a_naive_assembly_is_left_when_time_is_up(void)
{
    problem = hair(3000, 59); // seconds
    const ss_task task = {.problem = problem,
                          .tolerance = 1e-12,
                          .max_iterations = 1000000,
                          .time_limit = 0.2,
                          .clock = SS_CLOCK_CPU};
    solved a = run_task("gs/secular:form=explicit,assembly=naive", task, NULL);
    CHECK(a.result.outcome == SS_TIME_LIMIT && a.result.iterations == 0);
    CHECK_LE(a.result.cpu_seconds, 0.3);
    free_solved(&a);
}

static void whoever_is_interrupted_or_recalled_sets_nothing_up(void)
{
    problem = hair(100, 20);
    double *start = start_of_quarters();
    volatile sig_atomic_t raised = 1;
    for (int k = 0; k < 2 * COUNT; k++) {
        ss_task task = {.problem = problem,
                        .tolerance = 1e-12,
                        .max_iterations = 1000000,
                        .clock = SS_CLOCK_WALL};
        *(k < COUNT ? &task.interrupted : &task.recalled) = &raised;
        solved a = run_task(SOLVERS[k % COUNT], task, start);
        if (a.result.outcome != SS_INTERRUPTED || a.result.iterations != 0) {
            TEST_FAIL_MESSAGE(SOLVERS[k % COUNT]);
        }
        is_start(&a, SOLVERS[k % COUNT]);
        free_solved(&a);
    }
    free(start);
}

// ---- Iterations

static void let_an_iteration_take(ss_limits *w, double seconds)
{
    w->asked -= seconds;
    w->seen -= seconds;
}

static void an_iteration_that_would_end_late_is_not_begun(void)
{
    const ss_task task = {.time_limit = 1000.0, .max_iterations = 10, .clock = SS_CLOCK_WALL};
    ss_limits w = ss_limits_start(&task);
    CHECK(ss_limits_next(&w, 0) == SS_UNSOLVED);
    let_an_iteration_take(&w, 2000.0); // but the one before did not
    CHECK(ss_limits_next(&w, 1) == SS_UNSOLVED);
    let_an_iteration_take(&w, 2000.0);
    CHECK(ss_limits_test(&w, 2) == SS_UNSOLVED);
    CHECK(ss_limits_next(&w, 2) == SS_TIME_LIMIT);
    let_an_iteration_take(&w, 2000.0);
    w.start = w.wall = w.wall - 1500.0;
    CHECK(ss_limits_test(&w, 2) == SS_TIME_LIMIT);
}

// As on a machine that hardly serves the process: what counts are CPU seconds.
static void an_iteration_that_waits_is_not_long(void)
{
    const ss_task task = {.time_limit = 0.05, .max_iterations = 10, .clock = SS_CLOCK_CPU};
    ss_limits w = ss_limits_start(&task);
    for (int k = 0; k < 5; k++) {
        CHECK(ss_limits_next(&w, k) == SS_UNSOLVED);
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    const double begin = ss_clock_cpu_seconds();
    while (ss_clock_cpu_seconds() < begin + 0.05) {
    }
    CHECK(ss_limits_next(&w, 5) == SS_TIME_LIMIT);
}

static void listen_for_long(void *of, const ss_progress *progress)
{
    (void)progress;
    const double until = ss_clock_now() + *(const double *)of;
    while (ss_clock_now() < until) {
    }
}

static void an_iteration_does_not_last_longer_for_being_listened_to(void)
{
    double seconds = 0.05;
    const ss_task task = {.time_limit = 1000.0,
                          .max_iterations = 10,
                          .clock = SS_CLOCK_WALL,
                          .listen = listen_for_long,
                          .listener = &seconds};
    ss_limits w = ss_limits_start(&task);
    ss_limits_next(&w, 0);
    const double before = w.asked;
    ss_limits_tell(&w, (ss_progress){.iteration = 1});
    CHECK(w.asked >= before + seconds);
}

// ---- Memory, and singular matrices

static void a_newton_whose_factor_may_be_too_large_is_refused_by_name(void)
{
    problem = hair(40, 10);
    const char *const specs[] = {"newton-mfb:memory=1e-6", "newton-pac:memory=1e-6",
                                 "newton-dac:memory=1e-6,form=matrix-free"};
    for (int k = 0; k < 3; k++) {
        solved a = run(problem, specs[k], 1e-8, 1000);
        CHECK(a.result.outcome == SS_NOT_COVERED && a.result.iterations == 0);
        CHECK(strstr(a.result.why, "GB of its option memory") != NULL);
        free_solved(&a);
    }
}

static void each_that_factorises_ends_in_a_status(void)
{
    for (int k = 0; k < FACTORISE_COUNT; k++) {
        if (problem->form == SS_LOCAL && strstr(FACTORISE[k], "matrix-free") != NULL) {
            continue;
        }
        solved a = run(problem, FACTORISE[k], 1e-10, 300);
        const bool claimed = a.result.outcome == SS_CONVERGED;
        bool finite = true;
        for (size_t c = 0; c < components(problem); c++) {
            finite = finite && isfinite(a.r[c]);
        }
        const bool ended =
            claimed || a.result.outcome == SS_STALLED || a.result.outcome == SS_MAX_ITER;
        if (!ended || !finite || (claimed && !(a.facts.fb <= 1e-9))) {
            TEST_FAIL_MESSAGE(FACTORISE[k]);
        }
        free_solved(&a);
    }
}

// Contact i is a copy of contact i - 1 for odd i: H has every column twice, W half its rank.
static void contacts_that_are_copies_end_in_a_status(void)
{
    problem = random_problem(3, 3, 20, 4, 6);
    ss_sparse *H = &problem->H;
    const int count = ss_sparse_count(H);
    int *row = malloc(2 * (size_t)count * sizeof *row),
        *col = malloc(2 * (size_t)count * sizeof *col);
    double *x = malloc(2 * (size_t)count * sizeof *x);
    CHECK(row != NULL && col != NULL && x != NULL);
    int n = 0;
    for (int c = 0; c < H->ncols; c++) {
        const int of = c / 6 * 6 + c % 3; // the column of its original
        for (int k = H->start[of]; k < H->start[of + 1]; k++) {
            row[n] = H->row[k];
            col[n] = c;
            x[n++] = H->x[k];
        }
        problem->w[c] = problem->w[of];
    }
    ss_sparse twice;
    CHECK_OK(ss_sparse_from_triplets(&twice, H->nrows, H->ncols, n, row, col, x, &error));
    ss_sparse_free(H);
    *H = twice;
    for (int i = 1; i < problem->ncontacts; i += 2) {
        problem->mu[i] = problem->mu[i - 1];
    }
    free(row);
    free(col);
    free(x);
    each_that_factorises_ends_in_a_status();
}

static void a_w_of_rank_one_or_none_ends_in_a_status(void)
{
    double W[81] = {0};
    const double b[] = {-1, 0.5, 0, -1, 0, 0.25, -0.5, 1, 1}, mu[] = {0.5, 0.0, 2.0};
    for (int rank = 0; rank < 2; rank++) {
        for (int k = 0; k < 81; k++) {
            W[k] = rank;
        }
        problem = dense_problem(3, 3, W, b, mu);
        each_that_factorises_ends_in_a_status();
        tear_down();
    }
}

// Skew to rounding: no pivot of the blocks is sound where the rates of several rho meet them.
static void a_w_that_is_skew_ends_in_a_status(void)
{
    double W[36] = {0};
    const double b[] = {-1, 0.5, 0, -1, 0, 0.25}, mu[] = {0.5, 0.5};
    for (int k = 0; k < 3; k++) {
        W[6 * k + 3 + k] = 1.0;
        W[6 * (3 + k) + k] = -1.0;
    }
    problem = dense_problem(3, 2, W, b, mu);
    each_that_factorises_ends_in_a_status();
}

static void run_tests(void)
{
    RUN_TEST(what_is_stopped_at_any_moment_leaves_nothing_behind);
    RUN_TEST(no_solver_sets_up_longer_than_it_may);
    RUN_TEST(a_naive_assembly_is_left_when_time_is_up);
    RUN_TEST(whoever_is_interrupted_or_recalled_sets_nothing_up);
    RUN_TEST(an_iteration_that_would_end_late_is_not_begun);
    RUN_TEST(an_iteration_that_waits_is_not_long);
    RUN_TEST(an_iteration_does_not_last_longer_for_being_listened_to);
    RUN_TEST(a_newton_whose_factor_may_be_too_large_is_refused_by_name);
    RUN_TEST(contacts_that_are_copies_end_in_a_status);
    RUN_TEST(a_w_of_rank_one_or_none_ends_in_a_status);
    RUN_TEST(a_w_that_is_skew_ends_in_a_status);
}

const test_group limits_tests = {.run = run_tests, .set_up = set_up, .tear_down = tear_down};
