// All exact local solvers give one answer, and the approximate laws give another.
#include <stdio.h>

#include "problems/tangle/locals.h"
#include "problems/coulomb.h"
#include "base/random.h"
#include "solvers/contact.h"
#include "tests/support/make_problem.h"
#include "tests/support/solving.h"

// Other laws than Coulomb's: differences are expected, and their absence would be a failure. With
// its answer fed back sweep after sweep, duriez06-sofa comes to obey Coulomb's law in the end.
typedef struct deviation {
    const char *local;
    bool at_rest; // differs however many sweeps are made
} deviation;

static const deviation EXPECTED[] = {
    {"4sides", true}, {"duriez06", true}, {"duriez06-sofa", false}};

#define TOLERANCE 1e-10

static void fail(const char *what, const char *spec, double number)
{
    char message[200];
    snprintf(message, sizeof message, "%s %s: %g", spec, what, number);
    TEST_FAIL_MESSAGE(message);
}

// ---- Whole problems with W of full rank

static bool is_exact(const ss_local_solver *solver)
{
    return solver->card.law == SS_EXACT;
}

static void check_agrees(const ss_problem *p, const solved *reference, const char *spec,
                         bool must_solve)
{
    solved a = run(p, spec, TOLERANCE, 20000);
    const bool claims = a.result.outcome == SS_CONVERGED;
    if (claims != (a.facts.fb <= TOLERANCE)) {
        fail("is not honest; fb", spec, a.facts.fb);
    }
    if (must_solve && !claims) {
        fail("does not solve; fb", spec, a.facts.fb);
    }
    const double difference = relative_difference(reference->u, a.u, components(p));
    if (claims && !(difference <= 1e-6)) {
        fail("has other velocities; relative difference", spec, difference);
    }
    free_solved(&a);
}

// Nobody is its own fail-safe.
static const char *failsafe_of(const char *local)
{
    return strcmp(local, "enum") == 0 ? "secular" : "enum";
}

// The stable ones alone, the others, which may miss a contact, with a fail-safe.
static void check_problem(const ss_problem *p)
{
    solved reference = run(p, "secular", TOLERANCE, 20000);
    check_solved_run(&reference, TOLERANCE);
    for (int k = 0; ss_local_solvers[k] != NULL; k++) {
        const char *name = ss_local_solvers[k]->card.name;
        char hybrid[64];
        snprintf(hybrid, sizeof hybrid, "%s+%s", name, failsafe_of(name));
        check_agrees(p, &reference, hybrid, true);
        if (is_exact(ss_local_solvers[k])) {
            check_agrees(p, &reference, name, false);
        }
    }
    check_agrees(p, &reference, "enum", true);
    check_agrees(p, &reference, "enum:roots=gsl", true);
    check_agrees(p, &reference, "projection", true);
    free_solved(&reference);
}

static void exact_solvers_agree_on_tangles(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        for (uint64_t seed = 1; seed <= 3; seed++) {
            ss_problem *p = full_rank_tangle(dim, 60, seed);
            check_problem(p);
            ss_problem_free(p);
        }
    }
}

static void exact_solvers_agree_on_unsymmetric_tangles(void)
{
    ss_tangle_settings settings = ss_tangle_defaults();
    settings.ncontacts = 60;
    settings.ends_per_rod = 4;
    settings.unsymmetry = 0.05;
    ss_problem *p = tangle_of(&settings);
    check_problem(p);
    ss_problem_free(p);
}

static void check_differs(const ss_problem *p, const solved *reference, const char *local,
                          const char *step)
{
    char spec[64];
    snprintf(spec, sizeof spec, "%s:step=%s", local, step);
    solved a = run(p, spec, TOLERANCE, 20000);
    CHECK(a.result.outcome == SS_CONVERGED);
    if (!(a.facts.fb > 1e-4)) {
        fail("is expected to miss Coulomb's law; fb", spec, a.facts.fb);
    }
    CHECK_LE(1e-4, relative_difference(reference->u, a.u, components(p)));
    free_solved(&a);
}

static void approximate_laws_differ_on_tangles(void)
{
    const size_t count = sizeof EXPECTED / sizeof EXPECTED[0];
    ss_problem *p = full_rank_tangle(3, 100, 1);
    solved reference = run(p, "secular", TOLERANCE, 20000);
    check_solved_run(&reference, TOLERANCE);
    size_t approximate = 0;
    for (int k = 0; ss_local_solvers[k] != NULL; k++) {
        approximate += !is_exact(ss_local_solvers[k]);
    }
    CHECK(approximate == count);
    for (size_t k = 0; k < count; k++) {
        CHECK(!is_exact(ss_local_find(EXPECTED[k].local)));
        check_differs(p, &reference, EXPECTED[k].local, "0.05");
        if (EXPECTED[k].at_rest) {
            check_differs(p, &reference, EXPECTED[k].local, "1e-9");
        }
    }
    free_solved(&reference);
    ss_problem_free(p);
}

// ---- Batteries of one contact

static double residual(const ss_local *p, const double r[3])
{
    double u[3], f[3], worst = 0.0;
    ss_local_velocity(p, r, u);
    ss_coulomb_residual(p->mu, ss_local_own_scale(p), r, u, f);
    for (int c = 0; c < 3; c++) {
        worst = fabs(f[c]) <= worst ? worst : fabs(f[c]);
    }
    return worst;
}

// What agreement on a battery comes to.
typedef struct tally {
    int both;     // answered by both
    int apart;    // of those, answers that differ, both right
    int unsolved; // by the solver in question
} tally;

// Solvers that answer a contact directly give the same answer up to the condition of the block;
// iterative ones find one that is right to the goal. So answers are compared by |u - u'| / |b|.
static tally compare(const char *spec, ss_local_kind kind, int dim, int count)
{
    ss_error error;
    ss_method *method, *other;
    CHECK_OK(ss_method_parse("secular", &method, &error));
    CHECK_OK(ss_method_parse(spec, &other, &error));
    ss_random g = ss_random_seeded(300 + (uint64_t)kind);
    tally t = {0};
    for (int k = 0; k < count; k++) {
        ss_local_answer unused;
        ss_local p = ss_local_draw(&g, kind, dim, 1e2, 1e-2, 2.0, &unused);
        ss_local_embed(&p);
        const double size = sqrt(p.b[0] * p.b[0] + p.b[1] * p.b[1] + p.b[2] * p.b[2]);
        const ss_local_goal goal = {.tolerance = 1e-11 * size};
        double r[3] = {0.0}, s[3] = {0.0}, u[3], v[3];
        ss_local_counters counters = {0};
        const ss_local_info a = ss_contact_solve(method, &p, &goal, r, &counters);
        const ss_local_info b = ss_contact_solve(other, &p, &goal, s, &counters);
        if (a.outcome != SS_CONVERGED || b.outcome != SS_CONVERGED) {
            t.unsolved += b.outcome != SS_CONVERGED;
            continue;
        }
        CHECK_LE(residual(&p, r), 2e-11 * size);
        CHECK_LE(residual(&p, s), 2e-11 * size);
        ss_local_velocity(&p, r, u);
        ss_local_velocity(&p, s, v);
        t.both++;
        const double apart = fabs(u[0] - v[0]) + fabs(u[1] - v[1]) + fabs(u[2] - v[2]);
        t.apart += apart > 1e-6 * size;
    }
    ss_method_free(method);
    ss_method_free(other);
    return t;
}

static void exact_solvers_agree_on_batteries(void)
{
    enum { COUNT = 1000 };
    const ss_local_kind kinds[] = {SS_LOCAL_RANDOM, SS_LOCAL_TAKE_OFF,     SS_LOCAL_STICK,
                                   SS_LOCAL_SLIDE,  SS_LOCAL_FRICTIONLESS, SS_LOCAL_UNSYMMETRIC,
                                   SS_LOCAL_SEVERAL};
    for (size_t j = 0; j < sizeof kinds / sizeof kinds[0]; j++) {
        for (int k = 0; ss_local_solvers[k] != NULL; k++) {
            const char *name = ss_local_solvers[k]->card.name;
            char spec[64];
            snprintf(spec, sizeof spec, "%s+%s", name, failsafe_of(name));
            const tally t = compare(spec, kinds[j], 2 + (int)j % 2, COUNT);
            if (t.unsolved > COUNT / 100) {
                fail("leaves contacts unsolved", spec, t.unsolved);
            }
            // Take-off, stick and slide may coexist, by construction in SEVERAL.
            const int several = kinds[j] == SS_LOCAL_SEVERAL ? COUNT : COUNT * 3 / 100;
            if (t.apart > several) {
                fail("answers otherwise too often", spec, t.apart);
            }
            CHECK(t.both > COUNT / 2);
        }
    }
}

// ---- Friction that vanishes

static int iterations_at(const char *spec, double mu, double tolerance)
{
    ss_tangle_settings settings = ss_tangle_defaults();
    settings.ncontacts = 60;
    settings.ends_per_rod = 12;
    settings.seed = 5;
    settings.mu = mu;
    ss_problem *p = tangle_of(&settings);
    solved a = run(p, spec, tolerance, 3000);
    check_solved_run(&a, tolerance);
    CHECK_LE(a.facts.normal, 2.0 * tolerance);
    const int iterations = a.result.iterations;
    free_solved(&a);
    ss_problem_free(p);
    return iterations;
}

// Before the verdict had normal parts, gs/mfb called contacts solved that pushed and separated, with
// normal = 0.05 at mu = 1e-9.
static void small_friction_is_solved_as_none(void)
{
    static const char *const specs[] = {
        "mfb",  "mfb+enum", "secular",          "pac",        "dac",           "projection", "ppa",
        "apgd", "alm",      "anderson/secular", "newton-mfb", "prox/mfb+enum", "splitting",  "ipm"};
    for (size_t k = 0; k < sizeof specs / sizeof specs[0]; k++) {
        for (double tolerance = 1e-4; tolerance > 1e-9; tolerance *= 1e-4) {
            const int none = iterations_at(specs[k], 0.0, tolerance);
            for (double mu = 1e-9; mu < 1e-2; mu *= 1e3) {
                const int some = iterations_at(specs[k], mu, tolerance);
                if (!(some <= 4 * none)) {
                    fail("takes so many iterations", specs[k], some);
                }
            }
        }
    }
}

static void run_tests(void)
{
    RUN_TEST(exact_solvers_agree_on_tangles);
    RUN_TEST(exact_solvers_agree_on_unsymmetric_tangles);
    RUN_TEST(approximate_laws_differ_on_tangles);
    RUN_TEST(exact_solvers_agree_on_batteries);
    RUN_TEST(small_friction_is_solved_as_none);
}

const test_group agreement_tests = {.run = run_tests};
