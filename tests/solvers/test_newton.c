// Newton's methods on all contacts at once: answers known by hand, what they solve, and what they
// do where they do not.
#include <stdio.h>

#include "problems/store/store.h"
#include "tests/support/local_battery.h"
#include "tests/support/make_problem.h"
#include "tests/support/solving.h"

static ss_error error;

static const char *const METHODS[3] = {"newton-mfb", "newton-pac", "newton-dac"};

// [D11]'s own: no shift, and the descent safeguard of one contact.
static const char *const PLAIN[3] = {"newton-mfb:shift=0,sigma=1e-3", "newton-pac:shift=0",
                                     "newton-dac:shift=0"};

static void set_up(void)
{
    error = (ss_error){0};
}

// ---- Answers by hand

static void expect(ss_problem *p, const double *expected)
{
    for (int m = 0; m < 6; m++) {
        solved a = run(p, m < 3 ? METHODS[m] : PLAIN[m - 3], 1e-12, 200);
        check_solved_run(&a, 1e-12);
        for (size_t k = 0; k < components(p); k++) {
            CHECK_NEAR(a.r[k], expected[k], 1e-9);
        }
        free_solved(&a);
    }
    ss_problem_free(p);
}

static void one_contact_has_the_answer_of_its_case(void)
{
    for (int k = 0; k < 3; k++) {
        expect(one_contact(3, KNOWN[k].p.W, KNOWN[k].p.b, KNOWN[k].p.mu), KNOWN[k].r);
    }
    const double I3[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, I2[4] = {1, 0, 0, 1};
    expect(one_contact(3, I3, (const double[]){-2, 3, 4}, 0.0), (const double[]){2, 0, 0});
    expect(one_contact(3, I3, (const double[]){2, 3, 4}, 0.0), (const double[]){0, 0, 0});
    expect(one_contact(2, I2, (const double[]){1, 2}, 0.5), (const double[]){0, 0});
    expect(one_contact(2, I2, (const double[]){-1, 0.2}, 0.5), (const double[]){1, -0.2});
    expect(one_contact(2, I2, (const double[]){-1, 3}, 0.5), (const double[]){1, -0.5});
    expect(one_contact(2, I2, (const double[]){-1, 3}, 0.0), (const double[]){1, 0});
}

// W = [2 1; c 2] in each component, symmetric or not; b = u - W r.
static ss_problem *pair(double c, double mu, const double r[6], const double u[6])
{
    double W[36] = {0}, b[6];
    for (int k = 0; k < 3; k++) {
        W[7 * k] = W[7 * (k + 3)] = 2.0;
        W[7 * k + 3] = 1.0;
        W[7 * k + 18] = c;
        b[k] = u[k] - 2.0 * r[k] - r[k + 3];
        b[k + 3] = u[k + 3] - c * r[k] - 2.0 * r[k + 3];
    }
    return dense_problem(3, 2, W, b, (const double[]){mu, mu});
}

static void two_contacts_have_the_answers_of_their_cases(void)
{
    const double none[6] = {0};
    for (int k = 0; k < 2; k++) {
        const double c = k == 0 ? 1.0 : 0.5;
        const double sticking[6] = {1, 0.1, 0, 1, -0.1, 0.2};
        expect(pair(c, 0.5, sticking, none), sticking);
        const double sliding[6] = {1, -0.3, 0.4, 2, 0.5, 0}, slip[6] = {0, 3, -4, 0, 0, 0};
        expect(pair(c, 0.5, sliding, slip), sliding);
        const double leaving[6] = {0, 0, 0, 1, -0.5, 0}, away[6] = {1, 2, 3, 0, 0.5, 0};
        expect(pair(c, 0.5, leaving, away), leaving);
        const double slippery[6] = {1, 0, 0, 3, 0, 0}, glide[6] = {0, 1, -2, 0, 3, 1};
        expect(pair(c, 0.0, slippery, glide), slippery);
    }
}

// Two contacts at one place: only the sum of their impulses is known.
static void contacts_at_one_place_share_the_impulse(void)
{
    double W[36] = {0};
    for (int k = 0; k < 6; k++) {
        W[6 * k + k % 3] = W[6 * k + k % 3 + 3] = 1.0;
    }
    const double b[6] = {-1, 0.2, 0.1, -1, 0.2, 0.1}, mu[2] = {0.5, 0.5};
    ss_problem *p = dense_problem(3, 2, W, b, mu);
    for (int m = 0; m < 3; m++) {
        solved a = run(p, METHODS[m], 1e-10, 200);
        check_solved_run(&a, 1e-10);
        for (int k = 0; k < 3; k++) {
            CHECK_NEAR(a.r[k] + a.r[k + 3], -b[k], 1e-9);
        }
        free_solved(&a);
        // J is singular at every solution: a status, whether it gets there or not.
        solved plain = run(p, PLAIN[m], 1e-10, 200);
        CHECK((plain.result.outcome == SS_CONVERGED) == (plain.facts.fb <= 1e-10));
        CHECK_LE(plain.facts.fb, 1.0);
        free_solved(&plain);
    }
    ss_problem_free(p);
}

// ---- Contacts that nothing can move

// Contact 1 has W_ii = 0. Contact 0 slides whatever b_1 is.
static void a_rigid_contact_has_no_impulse(void)
{
    double W[36] = {0};
    W[0] = W[7] = W[14] = 1.0;
    const double mu[2] = {0.5, 0.5}, start[6] = {0, 0, 0, 1, 1, 1};
    for (int m = 0; m < 3; m++) {
        for (int k = 0; k < 2; k++) {
            const double b[6] = {-1, 2, 0, k == 0 ? 1 : -1, 1, 0};
            ss_problem *p = dense_problem(3, 2, W, b, mu);
            const ss_task task = {
                .problem = p, .tolerance = 1e-10, .max_iterations = 500, .clock = SS_CLOCK_WALL};
            solved a = run_task(METHODS[m], task, start);
            CHECK(a.result.outcome == (k == 0 ? SS_CONVERGED : SS_STALLED));
            CHECK((a.facts.fb <= 1e-10) == (k == 0));
            CHECK(a.r[3] == 0.0 && a.r[4] == 0.0 && a.r[5] == 0.0);
            CHECK(k == 1 || fabs(a.r[0] - 1.0) + fabs(a.r[1] + 0.5) <= 1e-8);
            free_solved(&a);
            ss_problem_free(p);
        }
    }
}

static void a_contact_without_normal_compliance_is_not_claimed(void)
{
    const double W[9] = {0, 0, 0, 0, 1, 0, 0, 0, 1}, b[3] = {-1, 0.5, 0};
    ss_problem *p = one_contact(3, W, b, 0.5);
    for (int m = 0; m < 6; m++) {
        solved a = run(p, m < 3 ? METHODS[m] : PLAIN[m - 3], 1e-8, 1000);
        CHECK(a.result.outcome == SS_STALLED || a.result.outcome == SS_MAX_ITER);
        CHECK(isfinite(a.r[0]) && isfinite(a.r[1]) && isfinite(a.r[2]));
        CHECK(!(a.facts.fb <= 1e-3));
        free_solved(&a);
    }
    ss_problem_free(p);
}

// ---- What is solved

// Of 200 blocks of a battery, from zero to 1e-8.
static int battery_solved(const char *spec, battery which)
{
    ss_random g = ss_random_seeded(20 + (uint64_t)which);
    int count = 0;
    for (int k = 0; k < 200; k++) {
        const ss_local b = battery_draw(&g, which);
        ss_problem *p = one_contact(3, b.W, b.b, b.mu);
        solved a = run(p, spec, 1e-8, 100);
        CHECK((a.result.outcome == SS_CONVERGED) == (a.facts.fb <= 1e-8));
        count += a.result.outcome == SS_CONVERGED;
        free_solved(&a);
        ss_problem_free(p);
    }
    return count;
}

// Bounds are what was measured, less a little.
static void batteries_of_one_contact_are_solved(void)
{
    static const int mild[3] = {198, 196, 196}, hard[3] = {186, 192, 196};
    for (int m = 0; m < 3; m++) {
        CHECK_LE(mild[m], battery_solved(METHODS[m], MILD));
        CHECK_LE(hard[m], battery_solved(METHODS[m], HARD));
    }
}

typedef struct share {
    const char *spec;
    int loose, tight; // of 10, at least
} share;

// Problems of 5, 10 .. 50 contacts; 25 ends a rod, or 59 in tight bunches.
static int tangles_solved(const char *spec, bool tight)
{
    int count = 0;
    for (int n = 5; n <= 50; n += 5) {
        ss_tangle_settings settings = ss_tangle_defaults();
        settings.ncontacts = n;
        settings.seed = (uint64_t)n;
        settings.ends_per_rod = tight ? 59 : 25;
        settings.hyperstatic = tight;
        ss_problem *p = tangle_of(&settings);
        solved a = run(p, spec, 1e-8, 300);
        CHECK((a.result.outcome == SS_CONVERGED) == (a.facts.fb <= 1e-8));
        CHECK(a.result.outcome == SS_CONVERGED || a.result.outcome == SS_STALLED ||
              a.result.outcome == SS_MAX_ITER);
        CHECK(a.result.outcome == SS_CONVERGED || a.result.why[0] != '\0');
        CHECK_NEAR(a.result.own_error, ss_measures_error(&a.facts),
                   1e-9 * ss_measures_error(&a.facts) + 1e-12);
        count += a.result.outcome == SS_CONVERGED;
        free_solved(&a);
        ss_problem_free(p);
    }
    return count;
}

static void small_tangles_are_solved(void)
{
    static const share shares[] = {
        {"newton-mfb", 9, 8}, {"newton-pac", 5, 8}, {"newton-dac", 8, 2}};
    for (size_t k = 0; k < sizeof shares / sizeof shares[0]; k++) {
        CHECK_LE(shares[k].loose, tangles_solved(shares[k].spec, false));
        CHECK_LE(shares[k].tight, tangles_solved(shares[k].spec, true));
    }
}

// W of full rank: the velocities are unique.
static void check_same_velocities(const ss_problem *p, const char *options)
{
    solved reference = run(p, "secular", 1e-11, 20000);
    check_solved_run(&reference, 1e-11);
    for (int m = 0; m < 3; m++) {
        char spec[64];
        snprintf(spec, sizeof spec, "%s%s", METHODS[m], options);
        solved a = run(p, spec, 1e-10, 300);
        check_solved_run(&a, 1e-10);
        CHECK_LE(relative_difference(reference.u, a.u, components(p)), 1e-6);
        free_solved(&a);
    }
    free_solved(&reference);
}

static void every_form_agrees_with_gauss_seidel(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        ss_problem *p = full_rank_tangle(dim, 60, 2), *local;
        CHECK_OK(ss_problem_to_local(p, &local, &error));
        check_same_velocities(p, "");
        check_same_velocities(p, ":form=explicit");
        check_same_velocities(p, ":form=matrix-free");
        check_same_velocities(local, "");
        for (int i = 0; i < p->ncontacts; i += 2) {
            p->mu[i] = 0.0;
        }
        check_same_velocities(p, "");
        ss_problem_free(local);
        ss_problem_free(p);
    }
}

static void unsymmetric_problems_are_solved(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        ss_tangle_settings settings = ss_tangle_defaults();
        settings.dim = dim;
        settings.ncontacts = 50;
        settings.ends_per_rod = 4;
        settings.unsymmetry = 0.05;
        ss_problem *p = tangle_of(&settings);
        for (int m = 0; m < 3; m++) {
            solved a = run(p, METHODS[m], 1e-10, 200);
            check_solved_run(&a, 1e-10);
            free_solved(&a);
        }
        ss_problem_free(p);
    }
}

// Files that other codes wrote, hyperstatic all but one.
static void public_files_are_solved(void)
{
    static const char *const names[] = {"Box_Stacks-i0122-82-5", "Capsules-i125-1213",
                                        "LMGC_100_PR_PerioBox-i00361-60-03000",
                                        "Spheres-i099-356-679"};
    if (fclib_folder() == NULL) {
        TEST_IGNORE_MESSAGE("no FCLIB files");
    }
    int count = 0;
    for (int k = 0; k < 4; k++) {
        char path[600];
        ss_problem *p;
        snprintf(path, sizeof path, "%s/%s.hdf5", fclib_folder(), names[k]);
        CHECK_OK(ss_store_read(path, NULL, &p, &error));
        for (int m = 0; m < 3; m++) {
            solved a = run(p, METHODS[m], 1e-8, 300);
            CHECK((a.result.outcome == SS_CONVERGED) == (a.facts.fb <= 1e-8));
            count += a.result.outcome == SS_CONVERGED;
            free_solved(&a);
        }
        ss_problem_free(p);
    }
    CHECK(count >= 10); // 12, but the last bits are those of the BLAS
}

// ---- Limits

static void the_limit_of_steps_is_kept(void)
{
    ss_problem *p = tangle(3, 30, 1);
    for (int steps = 0; steps < 4; steps++) {
        for (int m = 0; m < 3; m++) {
            solved a = run(p, METHODS[m], 1e-12, steps);
            CHECK(a.result.outcome == SS_MAX_ITER && a.result.iterations == steps);
            CHECK_NEAR(a.result.own_error, ss_measures_error(&a.facts),
                       1e-9 * ss_measures_error(&a.facts));
            CHECK(a.result.local_solves == 0);
            CHECK_NEAR(a.result.seconds, a.result.setup_seconds + a.result.sweep_seconds, 1e-9);
            free_solved(&a);
        }
    }
    ss_problem_free(p);
}

static void the_time_limit_is_kept(void)
{
    ss_problem *p = tangle(3, 300, 1);
    for (int m = 0; m < 3; m++) {
        ss_task task = {.problem = p,
                        .tolerance = 1e-300,
                        .max_iterations = 1000000000,
                        .clock = SS_CLOCK_CPU,
                        .time_limit = 0.1};
        solved a = run_task(METHODS[m], task, NULL);
        CHECK(a.result.outcome == SS_TIME_LIMIT || a.result.outcome == SS_STALLED);
        CHECK_LE(a.result.cpu_seconds, 5.0);
        task.time_limit = 1e-9; // a factorisation cannot be made in that
        solved b = run_task(METHODS[m], task, NULL);
        CHECK(b.result.outcome == SS_TIME_LIMIT && b.result.iterations == 0);
        free_solved(&a);
        free_solved(&b);
    }
    ss_problem_free(p);
}

// Listens, and interrupts at the third step.
typedef struct witness {
    volatile sig_atomic_t interrupted;
    int calls;
    bool in_order;
} witness;

static void watch(void *listener, const ss_progress *progress)
{
    witness *w = listener;
    w->in_order = w->in_order && progress->iteration == w->calls && isfinite(progress->estimate) &&
                  progress->r != NULL;
    w->calls++;
    w->interrupted = progress->iteration >= 3;
}

static void the_listener_hears_every_step_and_may_interrupt(void)
{
    ss_problem *p = tangle(3, 30, 1);
    for (int m = 0; m < 3; m++) {
        witness w = {.in_order = true};
        const ss_task task = {.problem = p,
                              .tolerance = 1e-300,
                              .max_iterations = 1000,
                              .clock = SS_CLOCK_WALL,
                              .interrupted = &w.interrupted,
                              .listen = watch,
                              .listener = &w};
        solved a = run_task(METHODS[m], task, NULL);
        CHECK(a.result.outcome == SS_INTERRUPTED && a.result.iterations == 3);
        CHECK(w.calls == 4 && w.in_order);
        free_solved(&a);
    }
    ss_problem_free(p);
}

static void a_tolerance_below_rounding_ends_stalled(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        ss_problem *p = full_rank_tangle(dim, 40, 2);
        for (int m = 0; m < 3; m++) {
            solved a = run(p, METHODS[m], 1e-18, 100000);
            CHECK(a.result.outcome == SS_STALLED);
            CHECK_LE(a.facts.fb, 1e-12);
            free_solved(&a);
        }
        ss_problem_free(p);
    }
}

static void an_answer_is_not_solved_again(void)
{
    ss_problem *p = full_rank_tangle(3, 40, 3);
    solved a = run(p, "secular", 1e-9, 20000);
    const ss_task task = {
        .problem = p, .tolerance = 1e-8, .max_iterations = 100, .clock = SS_CLOCK_WALL};
    for (int m = 0; m < 3; m++) {
        solved b = run_task(METHODS[m], task, a.r);
        check_solved_run(&b, 1e-8);
        CHECK(b.result.iterations == 0);
        free_solved(&b);
    }
    free_solved(&a);
    ss_problem_free(p);
}

static void two_runs_have_the_same_bits(void)
{
    static const char *const specs[] = {"newton-mfb:form=matrix-free", "newton-mfb", "newton-pac",
                                        "newton-dac"};
    ss_problem *p = tangle(3, 40, 4);
    for (size_t k = 0; k < sizeof specs / sizeof specs[0]; k++) {
        solved a = run(p, specs[k], 1e-8, 20), b = run(p, specs[k], 1e-8, 20);
        CHECK(memcmp(a.r, b.r, components(p) * sizeof *a.r) == 0);
        free_solved(&a);
        free_solved(&b);
    }
    ss_problem_free(p);
}

static void run_tests(void)
{
    RUN_TEST(one_contact_has_the_answer_of_its_case);
    RUN_TEST(two_contacts_have_the_answers_of_their_cases);
    RUN_TEST(contacts_at_one_place_share_the_impulse);
    RUN_TEST(a_rigid_contact_has_no_impulse);
    RUN_TEST(a_contact_without_normal_compliance_is_not_claimed);
    RUN_TEST(batteries_of_one_contact_are_solved);
    RUN_TEST(small_tangles_are_solved);
    RUN_TEST(every_form_agrees_with_gauss_seidel);
    RUN_TEST(unsymmetric_problems_are_solved);
    RUN_TEST(public_files_are_solved);
    RUN_TEST(the_limit_of_steps_is_kept);
    RUN_TEST(the_time_limit_is_kept);
    RUN_TEST(the_listener_hears_every_step_and_may_interrupt);
    RUN_TEST(a_tolerance_below_rounding_ends_stalled);
    RUN_TEST(an_answer_is_not_solved_again);
    RUN_TEST(two_runs_have_the_same_bits);
}

const test_group newton_tests = {.run = run_tests, .set_up = set_up};
