// Block steps of Gauss-Seidel: the problem of some contacts is the whole one seen from them, and
// focus=on reaches the same kind of answer in fewer sweeps, whatever the form, W and the limits.
#include <stdio.h>

#include "base/random.h"
#include "problems/store/store.h"
#include "solvers/sweep/block_step.h"
#include "tests/support/make_problem.h"
#include "tests/support/solving.h"
#include "tests/support/one_problem.h"

#define FOCUSED "gs/secular:focus=on"

static void make_tangle(int dim, int ncontacts, int per_rod, double mu, double unsymmetry)
{
    ss_tangle_settings settings = ss_tangle_defaults();
    settings.dim = dim;
    settings.ncontacts = ncontacts;
    settings.ends_per_rod = per_rod;
    settings.mu = mu;
    settings.unsymmetry = unsymmetry;
    tear_down();
    problem = tangle_of(&settings);
}

// ---- The problem of a cluster

#define CONTACTS 40
#define SIZE     (3 * CONTACTS)

// Some contacts of `problem`, in any order, at impulses that are anything.
typedef struct cut {
    ss_random g;
    ss_coupling *c;
    int k, member[CONTACTS + 1], place[CONTACTS];
    ss_problem *part;
    double W[SIZE * SIZE], expected[SIZE * SIZE]; // the part's, and the oracle's: [dim k] square
} cut;

static void densify(const ss_sparse *A, double *W) // row-major
{
    memset(W, 0, (size_t)A->nrows * (size_t)A->ncols * sizeof *W);
    for (int j = 0; j < A->ncols; j++) {
        for (int k = A->start[j]; k < A->start[j + 1]; k++) {
            W[A->row[k] * A->ncols + j] += A->x[k];
        }
    }
}

// The component of the problem that component i of the part is.
static int whole(const cut *a, int i)
{
    return a->c->dim * a->member[i / a->c->dim] + i % a->c->dim;
}

static void find_matrices(cut *a)
{
    static double all[SIZE * SIZE];
    const int size = (int)components(problem), n = a->c->dim * a->k;
    densify(&a->part->W, a->W);
    densify(&problem->W, all);
    if (problem->form == SS_GLOBAL) {
        CHECK_OK(ss_delassus_naive(problem, all, &error));
    }
    for (int i = 0; i < n * n; i++) {
        a->expected[i] = all[whole(a, i / n) * size + whole(a, i % n)];
    }
}

static void move_anywhere(cut *a, int i)
{
    double r[3] = {0};
    for (int k = 0; k < a->c->dim; k++) {
        r[k] = ss_random_normal(&a->g) * a->c->V / a->c->s;
    }
    ss_coupling_move(a->c, i, r);
}

// Of an unsymmetric local problem, of a global one in both forms, and of strands; in the plane and in space.
#define CUTS 36

static cut make_cut(int number)
{
    static const ss_coupling_form forms[] = {SS_FORM_AUTO, SS_FORM_EXPLICIT, SS_FORM_MATRIX_FREE,
                                             SS_FORM_SWEEPS};
    const int seed = 1 + number / 4, dim = 2 + seed % 2;
    make_tangle(dim, CONTACTS, 25, 0.3, 0.3);
    if (number % 4 > 0) {
        tear_down();
        problem = number % 4 == 3 ? random_strand_problem((uint64_t)seed, dim, CONTACTS, 12, 17)
                                  : random_problem((uint64_t)seed, dim, CONTACTS, 12, 1 + seed % 9);
    }
    cut a = {.g = ss_random_seeded((uint64_t)number)};
    CHECK_OK(ss_coupling_new(problem, forms[number % 4], true, NULL, &a.c, &error));
    for (int i = 0; i < CONTACTS; i++) {
        move_anywhere(&a, i);
        a.place[i] = -1;
        if (i == 0 || ss_random_below(&a.g, 3) == 0) {
            const int other = ss_random_below(&a.g, a.k + 1);
            a.member[a.k++] = a.member[other];
            a.member[other] = i;
        }
    }
    a.part = ss_block_problem_new(a.c, a.k, a.member, a.place);
    CHECK(a.part != NULL && a.part->form == SS_LOCAL && a.part->ncontacts == a.k);
    find_matrices(&a);
    return a;
}

static void check_and_free(cut *a)
{
    for (int i = 0; i < CONTACTS; i++) {
        CHECK(a->place[i] == -1);
    }
    ss_problem_free(a->part);
    ss_coupling_free(a->c);
}

// u_A = W_AA r_A + b_A at any r_A of its own: u from the problem's own data, and from the coupling.
static void check_velocities(const cut *a)
{
    const int dim = a->c->dim, n = dim * a->k;
    double r[SIZE], u[SIZE];
    ss_coupling_get(a->c, r);
    judge(problem, r, u);
    for (int i = 0; i < n; i++) {
        CHECK(a->part->mu[i / dim] == problem->mu[a->member[i / dim]]);
        double seen[3], told = a->part->b[i];
        for (int j = 0; j < n; j++) {
            told += a->W[i * n + j] * r[whole(a, j)];
        }
        ss_coupling_velocity(a->c, a->member[i / dim], seen);
        CHECK_NEAR(told, u[whole(a, i)], 1e-10 * a->c->V);
        CHECK_NEAR(told, seen[i % dim], 1e-10 * a->c->V);
    }
}

static void the_problem_of_a_cluster_is_the_whole_one_seen_from_it(void)
{
    for (int number = 0; number < CUTS; number++) {
        cut a = make_cut(number);
        const size_t n = components(a.part);
        CHECK_LE(relative_difference(a.expected, a.W, n * n), 1e-12);
        check_velocities(&a);
        for (int m = 0; m < a.k; m++) {
            move_anywhere(&a, a.member[m]);
        }
        check_velocities(&a);
        check_and_free(&a);
    }
}

// A pair with two bodies in common, as each contact of two bodies has with itself, counts twice in
// matrix-free form.
static void the_blocks_of_a_cluster_are_counted_without_making_it(void)
{
    for (int number = 0; number < CUTS; number++) {
        cut a = make_cut(number);
        const double blocks = ss_block_problem_blocks(a.c, a.k, a.member, a.place);
        int stored = 0;
        for (int i = 0; i < a.k * a.k; i++) {
            stored += a.expected[(i / a.k * a.c->dim * a.k + i % a.k) * a.c->dim] != 0.0;
        }
        CHECK(a.c->is_explicit ? blocks == stored : stored < blocks && blocks <= 2 * stored);
        check_and_free(&a);
    }
}

// ---- Fewer sweeps

static void load_slow_hair(void)
{
    char path[4096];
    const char *scripts = getenv("SCRIPTS");
    CHECK(scripts != NULL);
    snprintf(path, sizeof path, "%s/../data/calm-4.h5", scripts);
    CHECK_OK(ss_store_read(path, "step-0426", &problem, &error));
}

// Of `without`, a third is more than it takes with focus=on.
static void check_fewer(const char *spec, const char *without, double tolerance)
{
    solved a = run(problem, spec, tolerance, 100000), b = run(problem, without, tolerance, 100000);
    check_solved_run(&a, tolerance);
    check_solved_run(&b, tolerance);
    CHECK_LE(3 * a.result.iterations, b.result.iterations);
    CHECK(a.result.local_solves < b.result.local_solves);
    free_solved(&a);
    free_solved(&b);
}

static void hair_that_crawls_takes_less_than_a_third_of_the_sweeps(void)
{
    load_slow_hair();
    check_fewer(FOCUSED, "gs/secular", 1e-6);
    check_fewer(FOCUSED, "gs/secular", 1e-8);
    check_fewer("mfb+enum:focus=on", "mfb+enum", 1e-6);
    check_fewer("gs/secular:focus=on,form=explicit", "gs/secular:form=explicit", 1e-6);
    check_fewer("gs/secular:focus=on,form=matrix-free", "gs/secular:form=matrix-free", 1e-6);
    check_fewer("gs/secular:focus=on,order=stripes", "gs/secular:order=stripes", 1e-6);
}

static void the_plane_an_unsymmetric_w_and_no_friction_are_solved_in_fewer_sweeps(void)
{
    make_tangle(2, 120, 16, 0.3, 0.0);
    check_fewer(FOCUSED, "gs/secular", 1e-8);
    make_tangle(3, 120, 12, 0.5, 0.02);
    check_fewer(FOCUSED, "gs/secular", 1e-8);
    check_fewer("mfb+enum:focus=on", "mfb+enum", 1e-8);
    make_tangle(2, 20, 20, 0.0, 0.1);
    check_fewer(FOCUSED, "gs/secular", 1e-8);
}

// ---- The same bits

static ss_task task_of(double tolerance, int sweeps)
{
    return (ss_task){.problem = problem,
                     .tolerance = tolerance,
                     .max_iterations = sweeps,
                     .clock = SS_CLOCK_WALL};
}

static void check_same_bits(const char *spec, ss_task task, const char *other, ss_task others)
{
    solved a = run_task(spec, task, NULL), b = run_task(other, others, NULL);
    CHECK(memcmp(a.r, b.r, components(problem) * sizeof *a.r) == 0);
    CHECK(a.result.iterations == b.result.iterations);
    CHECK(a.result.local_solves == b.result.local_solves);
    free_solved(&a);
    free_solved(&b);
}

static void the_number_of_threads_changes_no_bit(void)
{
    load_slow_hair();
    ss_task one = task_of(1e-6, 1000), two = one;
    one.threads = 1;
    two.threads = 2;
    check_same_bits(FOCUSED, one, FOCUSED, two); // with block steps, by check_fewer
}

static void off_is_what_happens_unasked(void)
{
    load_slow_hair();
    const ss_task task = task_of(1e-6, 700);
    check_same_bits("gs/secular", task, "gs/secular:focus=off", task);
    check_same_bits("projection", task, "projection:focus=off", task);
}

// Those whose impulse is another after a sweep, except for rounding.
static void a_sweeper_notes_who_moves_while_somebody_looks(void)
{
    make_tangle(3, 100, 25, 0.3, 0.0);
    ss_method *method;
    ss_sweeper *a;
    ss_block_steps *focus;
    CHECK_OK(ss_method_parse("secular", &method, &error));
    ss_task task = task_of(1e-3, 0);
    task.method = method;
    const ss_limits watch = ss_limits_start(&task);
    double before[300] = {0};
    CHECK_OK(ss_sweeper_new(&task, &(ss_sweep_settings){.visit = SS_VISIT_ALL}, before, NULL, &a,
                            &error));
    CHECK(a->moved_at == NULL);
    CHECK_OK(ss_block_steps_new(a, &watch, &focus, &error));
    a->estimates = true;
    int moved = 0;
    for (int sweep = 0; sweep < 60; sweep++) {
        ss_sweep_get(a, before);
        ss_sweep(a);
        for (int i = 0; i < a->coupling->n; i++) {
            const double change = relative_difference(a->coupling->r + 4 * i, before + 3 * i, 3);
            CHECK(a->moved_at[i] == sweep ? change > 0.0 : change <= 1e-14);
            moved += a->moved_at[i] == sweep;
        }
    }
    CHECK(600 < moved && moved < 5400);
    ss_block_steps_free(focus);
    CHECK(a->moved_at == NULL);
    ss_sweeper_free(a);
    ss_method_free(method);
}

// ---- Limits

// Of the first block step, which counts for 1000 visits and more: the sweep before it, and when it
// began and ended. A flag is raised after one sweep.
typedef struct diary {
    long visits;
    double seconds, from, until;
    int step, raise_after;
    volatile sig_atomic_t raised;
} diary;

static void write_down(void *of, const ss_progress *progress)
{
    diary *d = of;
    if (d->step == 0 && progress->visits > d->visits + 1000) {
        d->step = progress->iteration - 1;
        d->from = d->seconds;
        d->until = progress->seconds;
    }
    d->visits = progress->visits;
    d->seconds = progress->seconds;
    d->raised = d->raised || progress->iteration == d->raise_after;
}

static ss_task task_with_diary(diary *d, ss_clock clock)
{
    ss_task task = task_of(1e-8, 4000);
    task.clock = clock;
    task.listen = write_down;
    task.listener = d;
    solved a = run_task(FOCUSED, task, NULL);
    check_solved_run(&a, 1e-8);
    CHECK(0 < d->step && d->step < a.result.iterations);
    free_solved(&a);
    return task;
}

static void a_block_step_that_is_interrupted_or_recalled_moves_nothing(void)
{
    make_tangle(3, 8, 8, 0.3, 0.0);
    diary d = {.raise_after = -1};
    ss_task task = task_with_diary(&d, SS_CLOCK_WALL);
    const int sweep = d.step;
    for (int k = 0; k < 2; k++) {
        d = (diary){.raise_after = sweep};
        task.interrupted = k == 0 ? &d.raised : NULL;
        task.recalled = k == 1 ? &d.raised : NULL;
        check_same_bits(FOCUSED, task, "secular", task_of(1e-8, sweep));
    }
}

static void a_block_step_ends_when_time_is_up(void)
{
    make_tangle(3, 300, 25, 0.3, 0.0);
    diary d = {.raise_after = -1};
    ss_task task = task_with_diary(&d, SS_CLOCK_CPU);
    const double from = d.from, took = d.until - d.from;
    for (int k = 1; k < 3; k++) {
        task.time_limit = from + 0.2 * k * took;
        solved a = run_task(FOCUSED, task, NULL);
        CHECK(a.result.outcome == SS_TIME_LIMIT || a.result.cpu_seconds <= task.time_limit);
        CHECK_LE(a.result.cpu_seconds, task.time_limit + 0.3 * took);
        free_solved(&a);
    }
}

// ---- In vain

static void expect_refusal(const char *spec, const char *sentence)
{
    ss_method *m = NULL;
    error = (ss_error){0};
    CHECK(ss_method_parse(spec, &m, &error) == SS_BAD_INPUT && m == NULL);
    if (strstr(error.text, sentence) == NULL) {
        TEST_FAIL_MESSAGE(error.text);
    }
}

static void focus_is_refused_where_it_does_nothing(void)
{
    expect_refusal("mfb:focus=on,freeze=on", "focus does nothing in 'mfb' without freeze=off");
    expect_refusal("mfb:freeze=paper,focus=on", "focus does nothing in 'mfb' without freeze=off");
    expect_refusal("4sides:focus=on", "without a local solver of Coulomb's law");
    expect_refusal("anderson/mfb:focus=on", "'anderson/mfb' has no option 'focus'");
}

static void run_tests(void)
{
    RUN_TEST(the_problem_of_a_cluster_is_the_whole_one_seen_from_it);
    RUN_TEST(the_blocks_of_a_cluster_are_counted_without_making_it);
    RUN_TEST(hair_that_crawls_takes_less_than_a_third_of_the_sweeps);
    RUN_TEST(the_plane_an_unsymmetric_w_and_no_friction_are_solved_in_fewer_sweeps);
    RUN_TEST(the_number_of_threads_changes_no_bit);
    RUN_TEST(off_is_what_happens_unasked);
    RUN_TEST(a_sweeper_notes_who_moves_while_somebody_looks);
    RUN_TEST(a_block_step_that_is_interrupted_or_recalled_moves_nothing);
    RUN_TEST(a_block_step_ends_when_time_is_up);
    RUN_TEST(focus_is_refused_where_it_does_nothing);
}

const test_group block_step_tests = {.run = run_tests, .set_up = set_up, .tear_down = tear_down};
