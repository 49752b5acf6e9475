// What the Gauss-Seidel driver does besides answering: how it ends, what it counts and tells, whom
// it lets rest, and what it says of laws that are not Coulomb's.
#include <stdio.h>
#include <time.h>

#include "tests/support/make_problem.h"
#include "tests/support/solving.h"

static ss_error error;

static void set_up(void)
{
    error = (ss_error){0};
}

static ss_task task_of(const ss_problem *p, double tolerance, int max_iterations)
{
    return (ss_task){.problem = p,
                     .tolerance = tolerance,
                     .max_iterations = max_iterations,
                     .clock = SS_CLOCK_WALL};
}

static double fb_of_zero(const ss_problem *p)
{
    double *r = calloc(components(p), sizeof *r), *u = calloc(components(p), sizeof *u);
    const double fb = judge(p, r, u).fb;
    free(r);
    free(u);
    return fb;
}

// ---- How it ends

static void the_limit_of_sweeps_is_kept(void)
{
    ss_problem *p = tangle(3, 200, 1);
    for (int sweeps = 0; sweeps < 6; sweeps++) {
        solved a = run(p, "mfb+enum", 1e-12, sweeps);
        CHECK(a.result.outcome == SS_MAX_ITER && a.result.iterations == sweeps);
        CHECK_LE(a.facts.fb, fb_of_zero(p));
        CHECK_NEAR(a.result.own_error, ss_measures_error(&a.facts),
                   1e-9 * ss_measures_error(&a.facts));
        free_solved(&a);
    }
    ss_problem_free(p);
}

static void the_time_limit_is_kept_on_either_clock(void)
{
    ss_problem *p = tangle(3, 2000, 1);
    const ss_clock clocks[2] = {SS_CLOCK_WALL, SS_CLOCK_CPU};
    for (int k = 0; k < 2; k++) {
        ss_task task = task_of(p, 1e-15, 1000000000);
        task.time_limit = 0.2;
        task.clock = clocks[k];
        solved a = run_task("mfb+enum", task, NULL);
        CHECK(a.result.outcome == SS_TIME_LIMIT);
        CHECK_LE(0.2, a.result.seconds * 1.05); // the last sweep begins before the limit
        CHECK_LE(a.result.seconds, 10.0);
        CHECK_LE(a.facts.fb, fb_of_zero(p));
        free_solved(&a);
    }
    ss_problem_free(p);
}

// Listens, and interrupts after some iterations.
typedef struct witness {
    volatile sig_atomic_t interrupted;
    int interrupt_at; // 0: never
    int calls, last_iteration;
    double last_seconds;
    bool in_order, has_estimates;
    double *r; // [size] of the last call; owned, NULL where it is not wanted
    size_t size;
} witness;

static void watch(void *listener, const ss_progress *progress)
{
    witness *w = listener;
    w->in_order = w->in_order && progress->seconds >= w->last_seconds &&
                  progress->iteration == (w->calls == 0 ? 0 : w->last_iteration + 1);
    w->has_estimates = w->has_estimates && (w->calls == 0) == isnan(progress->estimate);
    w->last_seconds = progress->seconds;
    w->last_iteration = progress->iteration;
    w->calls++;
    if (w->r != NULL) {
        memcpy(w->r, progress->r, w->size * sizeof *w->r);
    }
    w->interrupted = w->interrupt_at > 0 && progress->iteration >= w->interrupt_at;
}

static void an_interrupt_ends_the_run_after_the_sweep(void)
{
    ss_problem *p = tangle(3, 200, 1);
    witness w = {.in_order = true, .has_estimates = true, .interrupt_at = 5};
    ss_task task = task_of(p, 1e-15, 1000000000);
    task.interrupted = &w.interrupted;
    task.listen = watch;
    task.listener = &w;
    solved a = run_task("secular", task, NULL);
    CHECK(a.result.outcome == SS_INTERRUPTED && a.result.iterations == 5);
    CHECK_LE(a.facts.fb, fb_of_zero(p));
    free_solved(&a);
    ss_problem_free(p);
}

// W = [1 3; -3 1] in the normals: sweeps lead away from r = (1, 1), nine times as far each time.
static void a_start_that_sweeps_spoil_is_kept(void)
{
    double W[36] = {0};
    W[0] = W[7] = W[14] = W[21] = W[28] = W[35] = 1.0;
    W[3] = 3.0;
    W[18] = -3.0;
    const double b[6] = {-4, 0, 0, 2, 0, 0}, mu[2] = {0.5, 0.5};
    const double start[6] = {1.0, 0, 0, 1.0 + 1e-6, 0, 0};
    ss_problem *p = dense_problem(3, 2, W, b, mu);
    double u[6];
    const double before = judge(p, start, u).fb;
    for (int sweeps = 1; sweeps < 20; sweeps++) {
        solved a = run_task("secular", task_of(p, 1e-9, sweeps), start);
        CHECK(a.result.outcome == SS_MAX_ITER);
        CHECK_LE(a.facts.fb, before);
        CHECK_NEAR(a.result.own_error, ss_measures_error(&a.facts), 1e-12);
        free_solved(&a);
    }
    ss_problem_free(p);
}

static void a_tolerance_below_rounding_ends_stalled(void)
{
    static const char *const specs[] = {"secular:form=explicit",
                                        "secular:form=matrix-free",
                                        "mfb+enum",
                                        "enum",
                                        "secular:form=explicit,freeze=on",
                                        "duriez08"};
    for (int dim = 2; dim <= 3; dim++) {
        ss_problem *p = full_rank_tangle(dim, 100, 2);
        for (size_t k = 0; k < sizeof specs / sizeof specs[0]; k++) {
            solved a = run(p, specs[k], 1e-17, 100000);
            if (a.result.outcome != SS_STALLED) {
                char message[200];
                snprintf(message, sizeof message, "%s: outcome %d after %d sweeps, fb %g", specs[k],
                         (int)a.result.outcome, a.result.iterations, a.facts.fb);
                TEST_FAIL_MESSAGE(message);
            }
            CHECK_LE(a.facts.fb, 1e-12);
            free_solved(&a);
        }
        ss_problem_free(p);
    }
}

// ---- What it counts and tells

static void counters_count(void)
{
    ss_problem *p = tangle(3, 150, 6);
    solved a = run(p, "secular:visit=all", 1e-15, 7);
    CHECK(a.result.iterations == 7 && a.result.local_solves == 7 * 150);
    CHECK(a.result.failsafe_calls == 0 && a.result.frozen == 0 && a.result.failures == 0);
    CHECK_LE(0.0, a.result.setup_seconds);
    CHECK_LE(0.0, a.result.sweep_seconds);
    CHECK_NEAR(a.result.seconds, a.result.setup_seconds + a.result.sweep_seconds, 1e-9);
    free_solved(&a);
    // A primary that takes one step and measures nothing is followed by its fail-safe nearly
    // always.
    solved b = run(p, "projection+secular:visit=all", 1e-15, 7);
    CHECK(b.result.local_solves == 7 * 150);
    CHECK(b.result.failsafe_calls > 150 && b.result.failsafe_calls <= 7 * 150);
    free_solved(&b);
    // One Newton step does not do; the same solver with all its steps does.
    solved c = run(p, "mfb:steps=1", 1e-10, 7), d = run(p, "mfb+enum:mfb.steps=1", 1e-10, 7);
    CHECK(c.result.failures > 100 && c.result.failsafe_calls == 0);
    CHECK(d.result.failures < c.result.failures / 10 && d.result.failsafe_calls > 100);
    free_solved(&c);
    free_solved(&d);
    ss_problem_free(p);
}

static void the_listener_hears_every_sweep_in_the_order_of_the_problem(void)
{
    static const char *const specs[] = {"secular", "secular:order=random:3",
                                        "secular:order=stripes",
                                        "mfb+enum:freeze=on,order=reverse"};
    ss_problem *p = full_rank_tangle(3, 100, 3);
    for (size_t k = 0; k < sizeof specs / sizeof specs[0]; k++) {
        witness w = {.in_order = true, .has_estimates = true, .size = components(p)};
        w.r = calloc(w.size, sizeof *w.r);
        ss_task task = task_of(p, 1e-9, 20000);
        task.listen = watch;
        task.listener = &w;
        solved a = run_task(specs[k], task, NULL);
        check_solved_run(&a, 1e-9);
        CHECK(w.calls == a.result.iterations + 1 && w.last_iteration == a.result.iterations);
        CHECK(w.in_order && w.has_estimates);
        CHECK(memcmp(w.r, a.r, w.size * sizeof *w.r) == 0);
        free_solved(&a);
        free(w.r);
    }
    ss_problem_free(p);
}

// Knows the array of the answer, and which iterate should be in it.
typedef struct onlooker {
    const double *r;
    double *kept, estimate;
    size_t size;
    bool same;
} onlooker;

static void look_on(void *listener, const ss_progress *progress)
{
    onlooker *o = listener;
    if (progress->estimate < 0.5 * o->estimate) {
        o->estimate = progress->estimate;
        memcpy(o->kept, progress->r, o->size * sizeof *o->kept);
    }
    o->same = o->same && memcmp(o->kept, o->r, o->size * sizeof *o->kept) == 0;
}

// What a process leaves behind that dies.
static void while_it_works_the_best_by_its_estimate_is_in_the_answer(void)
{
    static const char *const specs[] = {"secular", "secular:order=random:3", "anderson/secular"};
    ss_problem *p = full_rank_tangle(3, 100, 3);
    for (size_t k = 0; k < sizeof specs / sizeof specs[0]; k++) {
        ss_task task = task_of(p, 1e-9, 20000);
        ss_method *method;
        CHECK_OK(ss_method_parse(specs[k], &method, &error));
        double *r = calloc(components(p), sizeof *r), *kept = calloc(components(p), sizeof *kept);
        onlooker o = {
            .r = r, .kept = kept, .estimate = INFINITY, .size = components(p), .same = true};
        task.method = method;
        task.listen = look_on;
        task.listener = &o;
        ss_result result;
        CHECK_OK(ss_solve(&task, r, &result, &error));
        CHECK(o.same && o.estimate < 1e-6);
        free(r);
        free(kept);
        ss_method_free(method);
    }
    ss_problem_free(p);
}

// Wants to hear of an iteration at least twice as late as the last.
typedef struct dozer {
    int from, calls;
    bool left_alone;
} dozer;

static void doze(void *listener, const ss_progress *progress)
{
    dozer *d = listener;
    d->left_alone = d->left_alone && progress->iteration >= d->from;
    d->from = 2 * progress->iteration + 1;
    d->calls++;
}

static void a_listener_is_left_alone_until_the_iteration_that_it_wants(void)
{
    static const char *const specs[] = {"secular", "anderson/secular", "auto", "apgd", "splitting",
                                        "ipm",     "newton-mfb"};
    ss_problem *p = full_rank_tangle(3, 60, 3);
    for (size_t k = 0; k < sizeof specs / sizeof specs[0]; k++) {
        dozer d = {.left_alone = true};
        ss_task task = task_of(p, 1e-13, 300);
        task.listen = doze;
        task.listener = &d;
        task.listen_from = &d.from;
        solved a = run_task(specs[k], task, NULL);
        int expected = 0; // calls: at 0, 1, 3, 7, ...
        for (int at = 0; at <= a.result.iterations; at = 2 * at + 1) {
            expected++;
        }
        CHECK(d.left_alone && d.calls > 1);
        CHECK_LE(d.calls, expected);
        free_solved(&a);
    }
    ss_problem_free(p);
}

static void dawdle(void *listener, const ss_progress *progress)
{
    *(double *)listener = progress->seconds;
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
}

static void time_spent_listening_is_not_counted(void)
{
    ss_problem *p = tangle(3, 20, 3);
    double heard = 0.0;
    ss_task task = task_of(p, 1e-15, 10);
    task.time_limit = 1.0;
    task.listen = dawdle;
    task.listener = &heard;
    solved a = run_task("secular", task, NULL);
    CHECK(a.result.outcome == SS_MAX_ITER); // 1.1 s pass in the listener
    CHECK_LE(a.result.seconds, 1.0);
    CHECK_LE(heard, 1.0);
    free_solved(&a);
    ss_problem_free(p);
}

// ---- Rest

static void freezing_solves_with_fewer_local_solves(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        ss_problem *p = full_rank_tangle(dim, 300, 4);
        solved off = run(p, "secular:visit=all", 1e-8, 20000);
        check_solved_run(&off, 1e-8);
        static const char *const specs[] = {"secular:freeze=on", "secular:freeze=on,wake=neighbour",
                                            "secular:freeze=on,form=explicit,wake=neighbour",
                                            "secular:freeze=on,order=stripes,wake=neighbour",
                                            "secular:freeze=on,skip=3,share=0.05"};
        for (size_t k = 0; k < sizeof specs / sizeof specs[0]; k++) {
            solved on = run(p, specs[k], 1e-8, 20000);
            check_solved_run(&on, 1e-8);
            CHECK(on.result.frozen > 0);
            CHECK(on.result.local_solves + on.result.frozen == 300L * on.result.iterations);
            if (k == 0) {
                CHECK(on.result.local_solves < off.result.local_solves);
            }
            CHECK_LE(relative_difference(off.u, on.u, components(p)), 1e-4);
            free_solved(&on);
        }
        free_solved(&off);
        ss_problem_free(p);
    }
}

static void the_papers_freezing_solves_or_says_that_it_did_not(void)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        ss_problem *p = tangle(2 + (int)seed % 2, 200, seed);
        solved a = run(p, "mfb+enum:freeze=paper", 1e-6, 3000);
        CHECK(a.result.frozen > 0);
        CHECK((a.result.outcome == SS_CONVERGED) == (a.facts.fb <= 1e-6));
        CHECK_LE(a.facts.fb, fb_of_zero(p));
        free_solved(&a);
        ss_problem_free(p);
    }
}

// With a rule that freezes every contact at once, only the full evaluation can tell.
static void frozen_contacts_are_judged_too(void)
{
    ss_problem *p = tangle(3, 100, 3);
    solved a = run(p, "secular:freeze=paper,share=1,skip=50", 1e-6, 2000);
    CHECK(a.result.frozen > a.result.local_solves / 2);
    CHECK((a.result.outcome == SS_CONVERGED) == (a.facts.fb <= 1e-6));
    CHECK_NEAR(a.result.own_error, ss_measures_error(&a.facts), 1e-9);
    free_solved(&a);
    ss_problem_free(p);
}

// ---- Other laws

static void approximate_laws_end_by_their_step_and_are_judged(void)
{
    static const char *const specs[] = {"4sides", "duriez06"};
    for (size_t k = 0; k < 2; k++) {
        ss_problem *p = tangle(3, 200, 2);
        solved a = run(p, specs[k], 1e-6, 2000);
        CHECK(a.result.outcome == SS_CONVERGED && a.result.iterations < 2000);
        CHECK_LE(1e-4, a.facts.fb); // contacts slide here
        // A smaller step asks for more sweeps, and is no better an answer to Coulomb's law.
        char spec[64];
        snprintf(spec, sizeof spec, "%s:step=1e-3", specs[k]);
        solved b = run(p, spec, 1e-6, 2000);
        CHECK(b.result.iterations > a.result.iterations);
        CHECK_LE(1e-4, b.facts.fb);
        free_solved(&a);
        free_solved(&b);
        ss_problem_free(p);
    }
}

static void an_approximate_law_with_a_failsafe_is_exact(void)
{
    ss_problem *p = full_rank_tangle(3, 100, 2);
    solved a = run(p, "4sides+enum", 1e-8, 20000);
    check_solved_run(&a, 1e-8);
    CHECK(a.result.failsafe_calls > 0);
    free_solved(&a);
    ss_problem_free(p);
}

static void run_tests(void)
{
    RUN_TEST(the_limit_of_sweeps_is_kept);
    RUN_TEST(the_time_limit_is_kept_on_either_clock);
    RUN_TEST(an_interrupt_ends_the_run_after_the_sweep);
    RUN_TEST(a_start_that_sweeps_spoil_is_kept);
    RUN_TEST(a_tolerance_below_rounding_ends_stalled);
    RUN_TEST(counters_count);
    RUN_TEST(the_listener_hears_every_sweep_in_the_order_of_the_problem);
    RUN_TEST(while_it_works_the_best_by_its_estimate_is_in_the_answer);
    RUN_TEST(a_listener_is_left_alone_until_the_iteration_that_it_wants);
    RUN_TEST(time_spent_listening_is_not_counted);
    RUN_TEST(freezing_solves_with_fewer_local_solves);
    RUN_TEST(the_papers_freezing_solves_or_says_that_it_did_not);
    RUN_TEST(frozen_contacts_are_judged_too);
    RUN_TEST(approximate_laws_end_by_their_step_and_are_judged);
    RUN_TEST(an_approximate_law_with_a_failsafe_is_exact);
}

const test_group driver_tests = {.run = run_tests, .set_up = set_up};
