// as=printed: the sweeps of [D11] Algorithm 1, against a plain transcription of it on a dense W.
#include <stdio.h>

#include "problems/store/store.h"
#include "solvers/contact.h"
#include "solvers/residual.h"
#include "tests/support/solving.h"

#define N    40
#define SIZE (3 * N)

static ss_error error;

static void set_up(void)
{
    error = (ss_error){0};
}

// ---- Algorithm 1 (doc/formulation.md, "The experiment of [D11]")

typedef struct printed {
    double rho, tol, local_tol, eps; // the last three in cm/s and in [D11]'s unit of impulse
    int skip, limit;
} printed;

typedef struct dense {
    double W[SIZE][SIZE], b[SIZE], mu[N];
} dense;

static dense dense_of(const ss_problem *p)
{
    dense d = {0};
    for (int c = 0; c < SIZE; c++) {
        for (int k = p->W.start[c]; k < p->W.start[c + 1]; k++) {
            d.W[p->W.row[k]][c] = p->W.x[k];
        }
        d.b[c] = p->b[c];
    }
    memcpy(d.mu, p->mu, sizeof d.mu);
    return d;
}

static void velocity_of(const dense *d, const double *r, int i, double u[3])
{
    for (int k = 0; k < 3; k++) {
        u[k] = d->b[3 * i + k];
        for (int c = 0; c < SIZE; c++) {
            u[k] += d->W[3 * i + k][c] * r[c];
        }
    }
}

// max |f|_inf over all contacts with r' = 100 r/rho, u' = 100 u and rho = 1, squared.
static double squared_error(const dense *d, const double *r, double rho)
{
    double worst = 0.0;
    for (int i = 0; i < N; i++) {
        double u[3], f[3], r_D11[3], u_D11[3];
        velocity_of(d, r, i, u);
        for (int k = 0; k < 3; k++) {
            r_D11[k] = 100.0 * r[3 * i + k] / rho;
            u_D11[k] = 100.0 * u[k];
        }
        ss_coulomb_residual(d->mu[i], 1.0, r_D11, u_D11, f);
        worst = fmax(worst, ss_norm_inf3(f));
    }
    return worst * worst;
}

static double length(const double x[3])
{
    return sqrt(ss_dot3(x, x));
}

static void visit(const dense *d, const printed *s, const ss_method *m, int i, double *r,
                  ss_local_counters *counters)
{
    ss_local p = {.dim = 3, .mu = d->mu[i]};
    double u[3];
    velocity_of(d, r, i, u);
    for (int k = 0; k < 3; k++) {
        p.b[k] = u[k];
        for (int c = 0; c < 3; c++) {
            p.W[3 * k + c] = d->W[3 * i + k][3 * i + c];
            p.b[k] -= p.W[3 * k + c] * r[3 * i + c];
        }
    }
    const ss_local_goal goal = {
        .tolerance = 0.01 * s->local_tol, .scale = 1.0 / s->rho, .fixed = true};
    ss_contact_solve(m, &p, &goal, r + 3 * i, counters);
}

// r: in r^0, out the answer; returns the number of iterations.
static int algorithm_1(const dense *d, const printed *s, const ss_method *m, double *r,
                       ss_local_counters *counters)
{
    int disabled[N] = {0}, k = 0;
    for (; k < s->limit && squared_error(d, r, s->rho) > s->tol; k++) {
        for (int i = 0; i < N; i++) {
            if (disabled[i] > 0) {
                disabled[i]--;
                continue;
            }
            const double old[3] = {r[3 * i], r[3 * i + 1], r[3 * i + 2]};
            visit(d, s, m, i, r, counters);
            const double change[3] = {r[3 * i] - old[0], r[3 * i + 1] - old[1],
                                      r[3 * i + 2] - old[2]};
            const double unit = 100.0 / s->rho;
            if (unit * length(change) < s->eps || unit * length(r + 3 * i) < s->eps) {
                disabled[i] = s->skip;
            }
        }
    }
    return k;
}

static ss_problem *local_tangle(uint64_t seed)
{
    ss_tangle_settings set = ss_tangle_defaults();
    ss_problem *p, *local;
    set.ncontacts = N;
    set.seed = seed;
    set.ends_per_rod = 6; // W has full rank: r does not follow rounding
    CHECK_OK(ss_tangle_new(&set, &p, &error));
    CHECK_OK(ss_problem_to_local(p, &local, &error));
    ss_problem_free(p);
    return local;
}

static ss_method *parse(const char *spec)
{
    ss_method *m;
    CHECK_OK(ss_method_parse(spec, &m, &error));
    return m;
}

static ss_task task_of(const ss_problem *p, int limit)
{
    return (ss_task){
        .problem = p, .tolerance = 1e-4, .max_iterations = limit, .clock = SS_CLOCK_WALL};
}

static void expect_algorithm_1(const char *solver, uint64_t seed, const printed *s)
{
    char spec[160];
    snprintf(spec, sizeof spec, "%s:as=printed,rho=%g,tol=%g,ltol=%g,eps=%g,skip=%d", solver,
             s->rho, s->tol, s->local_tol, s->eps, s->skip);
    ss_problem *p = local_tangle(seed);
    const dense d = dense_of(p);
    solved a = run_task(spec, task_of(p, s->limit), NULL);
    double r[SIZE] = {0.0};
    ss_local_counters counters = {0};
    ss_method *m = parse(spec);
    const int iterations = algorithm_1(&d, s, m, r, &counters);
    TEST_ASSERT_EQUAL_INT(iterations, a.result.iterations);
    CHECK(iterations > 3 || s->limit < 4);
    TEST_ASSERT_EQUAL_INT64(counters.solves, a.result.local_solves);
    TEST_ASSERT_EQUAL_INT64(counters.failsafe_calls, a.result.failsafe_calls);
    TEST_ASSERT_EQUAL_INT(iterations < s->limit ? SS_CONVERGED : SS_MAX_ITER, a.result.outcome);
    CHECK_LE(relative_difference(r, a.r, SIZE), 1e-6);
    ss_method_free(m);
    free_solved(&a);
    ss_problem_free(p);
}

static void as_printed_is_algorithm_1(void)
{
    const printed loose = {
        .rho = 0.02, .tol = 1e-2, .local_tol = 1e-5, .eps = 1e-3, .skip = 4, .limit = 300};
    const printed tight = {
        .rho = 0.1, .tol = 1e-6, .local_tol = 1e-6, .eps = 1e-5, .skip = 10, .limit = 300};
    static const char *const solvers[] = {"enum", "mfb+enum", "pac+enum"};
    for (size_t k = 0; k < 3; k++) {
        expect_algorithm_1(solvers[k], 1 + k, &loose);
        expect_algorithm_1(solvers[k], 5 + k, &tight);
    }
}

// A rule that is never met, and contacts that freeze at once: nothing thaws them, and only the limit
// ends it.
static void nothing_but_the_rule_and_the_limit_ends_it(void)
{
    const printed frozen = {
        .rho = 0.1, .tol = 0.0, .local_tol = 1e-6, .eps = 1.0, .skip = 1000, .limit = 50};
    expect_algorithm_1("enum", 1, &frozen);
    const printed exact = {
        .rho = 0.1, .tol = 0.0, .local_tol = 1e-6, .eps = 1e-5, .skip = 3, .limit = 2000};
    expect_algorithm_1("enum", 1, &exact);
}

static void a_start_that_is_good_enough_takes_no_sweep(void)
{
    ss_problem *p = local_tangle(3);
    solved a = run_task("mfb+enum:as=printed,rho=0.02,tol=1e-2", task_of(p, 500), NULL);
    CHECK(a.result.iterations > 0);
    TEST_ASSERT_EQUAL_STRING("ended by its own rule, stop=squared", a.result.why);
    solved b = run_task("mfb+enum:as=printed,rho=0.02,tol=1e-2", task_of(p, 500), a.r);
    TEST_ASSERT_EQUAL_INT(0, b.result.iterations);
    TEST_ASSERT_EQUAL_INT(SS_CONVERGED, b.result.outcome);
    TEST_ASSERT_EQUAL_MEMORY(a.r, b.r, SIZE * sizeof *a.r);
    free_solved(&a);
    free_solved(&b);
    ss_problem_free(p);
}

// ---- Its parts, alone

// f of one contact at the scale 1/rho, as a function of r.
static void residual_at(const ss_local *p, double s, const double r[3], double f[3])
{
    double u[3];
    ss_local_velocity(p, r, u);
    ss_coulomb_residual(p->mu, s, r, u, f);
}

static void one_newton_step_is_that_in_the_unit_asked_for(void)
{
    const ss_local p = {
        .W = {2, 0.3, -0.2, 0.3, 1.5, 0.1, -0.2, 0.1, 1}, .b = {-1, 0.9, 0.4}, .mu = 0.4, .dim = 3};
    ss_method *m = parse("mfb+enum:steps=1");
    for (int k = 0; k < 3; k++) {
        const double s = (double[]){0.2, 1.0, 30.0}[k];
        double start[3] = {0.0}, f[3], J[9], step[3], r[3];
        m->failsafe->solve(&p, &(ss_local_goal){.tolerance = 1e-14}, m->failsafe_settings, start);
        for (int i = 0; i < 3; i++) {
            start[i] *= 1.02; // near enough for the step to bring f down
        }
        memcpy(r, start, sizeof r);
        residual_at(&p, s, start, f);
        for (int c = 0; c < 3; c++) {
            double more[3], less[3], at[3];
            memcpy(at, start, sizeof at);
            at[c] += 1e-6;
            residual_at(&p, s, at, more);
            at[c] -= 2e-6;
            residual_at(&p, s, at, less);
            for (int i = 0; i < 3; i++) {
                J[3 * i + c] = (more[i] - less[i]) / 2e-6;
            }
        }
        CHECK(ss_solve3(J, f, step));
        const ss_local_goal goal = {.tolerance = 0.0, .scale = s, .fixed = true};
        m->local->solve(&p, &goal, m->local_settings, r);
        for (int i = 0; i < 3; i++) {
            CHECK_NEAR(r[i], start[i] - step[i], 1e-7);
        }
    }
    ss_method_free(m);
}

static void the_local_error_is_that_of_the_scale_that_is_fixed(void)
{
    const ss_local p = {.W = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .b = {-1, 0.5, 0}, .mu = 0.5, .dim = 3};
    const double r[3] = {2, 0, 0};
    int smaller = 0;
    for (int k = 0; k < 2; k++) {
        const double s = k == 0 ? 0.01 : 100.0;
        const double both = ss_local_error(&p, &(ss_local_goal){.scale = s}, r);
        const double alone = ss_local_error(&p, &(ss_local_goal){.scale = s, .fixed = true}, r);
        double f[3];
        residual_at(&p, s, r, f);
        CHECK_NEAR(alone, ss_norm_inf3(f), 1e-14);
        smaller += alone < both;
    }
    TEST_ASSERT_EQUAL_INT(1, smaller); // than with the block's own scale, 1
}

// (-1, 0.9, 0.4) slides. From the sticking direction one pass is what duriez06 does.
static void duriez08_of_one_pass_from_sticking_is_duriez06(void)
{
    const ss_local p = {
        .W = {2, 0.3, -0.2, 0.3, 1.5, 0.1, -0.2, 0.1, 1}, .b = {-1, 0.9, 0.4}, .mu = 0.4, .dim = 3};
    const ss_local_goal goal = {.tolerance = 1e-12};
    ss_method *once = parse("duriez08:passes=1,from=sticking"), *six = parse("duriez06");
    ss_method *last = parse("duriez08:passes=1");
    double r[3] = {1, 0, 0.4}, known[3] = {1, 0, 0.4}, other[3] = {1, 0, 0.4};
    CHECK(once->local->solve(&p, &goal, once->local_settings, r).outcome == SS_MAX_ITER);
    six->local->solve(&p, &goal, six->local_settings, known);
    last->local->solve(&p, &goal, last->local_settings, other);
    for (int i = 0; i < 3; i++) {
        CHECK_NEAR(r[i], known[i], 1e-15);
    }
    CHECK(fabs(other[2] - known[2]) > 0.1); // from the direction of the start
    ss_method_free(once);
    ss_method_free(last);
    ss_method_free(six);
}

static void the_step_stops_an_exact_law_where_it_is_asked_to(void)
{
    ss_problem *p = local_tangle(2);
    solved a = run_task("mfb+enum:stop=step,step=1e-2", task_of(p, 500), NULL);
    const int k = a.result.iterations;
    CHECK(a.result.outcome == SS_CONVERGED && k > 2 && k < 500);
    solved before = run_task("mfb+enum:stop=step,step=0", task_of(p, k - 1), NULL);
    solved more = run_task("mfb+enum:stop=step,step=0", task_of(p, k - 2), NULL);
    double step[3] = {0.0}, size[3] = {0.0}; // of the last two sweeps
    for (size_t c = 0; c < SIZE; c++) {
        const double last = a.r[c] - before.r[c], one = before.r[c] - more.r[c];
        step[0] += last * last;
        step[1] += one * one;
        size[0] += a.r[c] * a.r[c];
        size[1] += before.r[c] * before.r[c];
    }
    CHECK_LE(sqrt(step[0]), 1e-2 * sqrt(size[0]));
    CHECK(sqrt(step[1]) > 1e-2 * sqrt(size[1]));
    free_solved(&a);
    free_solved(&before);
    free_solved(&more);
    ss_problem_free(p);
}

// ---- The shape of Table 2, on seven of the embedded problems

typedef struct shape {
    int left;                       // problems on which the rule was not met
    double iterations, alt_percent; // means
} shape;

static shape shape_of(const char *solver, ss_problem *const *problems, int count)
{
    char spec[64];
    snprintf(spec, sizeof spec, "%s:as=printed", solver);
    shape s = {0};
    double calls = 0.0, solves = 0.0;
    for (int k = 0; k < count; k++) {
        CHECK(problems[k]->nguesses > 0);
        solved a = run_task(spec, task_of(problems[k], 500), problems[k]->guesses[0].r);
        s.left += a.result.outcome != SS_CONVERGED;
        s.iterations += (double)a.result.iterations / count;
        calls += (double)a.result.failsafe_calls;
        solves += (double)a.result.local_solves;
        free_solved(&a);
    }
    s.alt_percent = 100.0 * calls / solves;
    return s;
}

enum { SHAPED = 7 };

static void load_calm(ss_problem *problems[SHAPED])
{
    static const char *const places[SHAPED][2] = {
        {"1", "step-0225"}, {"2", "step-0675"}, {"2", "step-1101"}, {"4", "step-0201"},
        {"4", "step-0651"}, {"4", "step-0876"}, {"4", "step-1326"}};
    const char *scripts = getenv("SCRIPTS");
    CHECK(scripts != NULL);
    for (int k = 0; k < SHAPED; k++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/../data/calm-%s.h5", scripts, places[k][0]);
        CHECK_OK(ss_store_read(path, places[k][1], &problems[k], &error));
    }
}

static void the_experiment_has_the_shape_of_the_papers_table(void)
{
    ss_problem *problems[SHAPED];
    load_calm(problems);
    static const char *const failing[] = {"duriez08", "pac", "mfb"};
    for (size_t k = 0; k < 3; k++) {
        CHECK(shape_of(failing[k], problems, SHAPED).left > 0);
    }
    const shape pyramid = shape_of("4sides", problems, SHAPED);
    TEST_ASSERT_EQUAL_INT(0, pyramid.left);
    static const char *const others[] = {"dac",      "enum",     "4sides+enum", "duriez08+enum",
                                         "pac+enum", "dac+enum", "mfb+enum"};
    for (size_t k = 0; k < 7; k++) {
        const shape s = shape_of(others[k], problems, SHAPED);
        TEST_ASSERT_EQUAL_INT(0, s.left);
        CHECK(s.iterations < pyramid.iterations);
        if (strcmp(others[k], "mfb+enum") == 0) {
            CHECK(s.alt_percent > 0.01 && s.alt_percent < 1.0);
        }
    }
    for (int k = 0; k < SHAPED; k++) {
        ss_problem_free(problems[k]);
    }
}

static void run_tests(void)
{
    RUN_TEST(as_printed_is_algorithm_1);
    RUN_TEST(nothing_but_the_rule_and_the_limit_ends_it);
    RUN_TEST(a_start_that_is_good_enough_takes_no_sweep);
    RUN_TEST(one_newton_step_is_that_in_the_unit_asked_for);
    RUN_TEST(the_local_error_is_that_of_the_scale_that_is_fixed);
    RUN_TEST(duriez08_of_one_pass_from_sticking_is_duriez06);
    RUN_TEST(the_experiment_has_the_shape_of_the_papers_table);
    RUN_TEST(the_step_stops_an_exact_law_where_it_is_asked_to);
}

const test_group printed_tests = {.run = run_tests, .set_up = set_up};
