// The portfolio: who has the turn, what turns are taken to cost, and where it begins again.
#include "base/random.h"
#include "solvers/global/auto.h"
#include "solvers/global/ipm.h"
#include "tests/support/make_problem.h"
#include "tests/support/solving.h"
#include "tests/support/one_problem.h"

#define TOLERANCE 1e-8

// Which turns were told of, by a word of their note.
typedef struct turns {
    bool carried, went_on, swept, mixed, unmixed, inside, pushed;
} turns;

static void note_turn(void *listener, const ss_progress *p)
{
    turns *seen = listener;
    if (p->note != NULL) {
        seen->carried |= strstr(p->note, ": alternating directions") != NULL;
        seen->swept |= strcmp(p->note, "plain sweeps") == 0;
        seen->went_on |= strstr(p->note, "alternating directions got stuck") != NULL;
        seen->mixed |= strstr(p->note, ": mixed sweeps") != NULL;
        seen->inside |= strcmp(p->note, "sweeps were too slow: interior points") == 0;
        seen->pushed |= strstr(p->note, ": proximal Newton") != NULL;
        seen->unmixed |= strstr(p->note, "mixing was no gain") != NULL;
    }
}

// From the impulses `start`; NULL: from nothing.
static turns solve_from(const ss_tangle_settings *settings, ss_form form, double tolerance,
                        const double *start)
{
    turns seen = {0};
    tear_down();
    problem = tangle_of(settings);
    if (form == SS_LOCAL) {
        ss_problem *local = NULL;
        CHECK_OK(ss_problem_to_local(problem, &local, &error));
        tear_down();
        problem = local;
    }
    const ss_task task = {.problem = problem,
                          .tolerance = tolerance,
                          .max_iterations = 100000,
                          .clock = SS_CLOCK_CPU,
                          .listen = note_turn,
                          .listener = &seen};
    solved a = run_task("auto", task, start);
    check_solved_run(&a, tolerance);
    free_solved(&a);
    return seen;
}

static turns solve_with_auto(const ss_tangle_settings *settings, ss_form form)
{
    return solve_from(settings, form, TOLERANCE, NULL);
}

// Ten layers of four contacts a face.
static ss_tangle_settings planks(uint64_t seed)
{
    ss_tangle_settings settings = ss_tangle_defaults();
    settings.tower = 1.0;
    settings.planks = 2;
    settings.ncontacts = 152;
    settings.ends_per_rod = 15;
    settings.seed = seed;
    return settings;
}

static void a_tower_that_stands_is_given_to_alternating_directions(void)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        const ss_tangle_settings settings = planks(seed);
        const turns seen = solve_with_auto(&settings, SS_GLOBAL);
        CHECK(seen.carried && !seen.went_on);
    }
    const ss_tangle_settings settings = planks(4);
    CHECK(solve_with_auto(&settings, SS_LOCAL).carried);
}

static void hair_is_not(void)
{
    for (int per_rod = 4; per_rod <= 25; per_rod += 7) {
        ss_tangle_settings settings = ss_tangle_defaults();
        settings.ncontacts = 200;
        settings.ends_per_rod = per_rod;
        CHECK(!solve_with_auto(&settings, SS_GLOBAL).carried);
    }
}

static ss_tangle_settings busy(int ncontacts, int per_rod, double mu, uint64_t seed)
{
    ss_tangle_settings settings = ss_tangle_defaults();
    settings.ncontacts = ncontacts;
    settings.ends_per_rod = per_rod;
    settings.mu = mu;
    settings.seed = seed;
    return settings;
}

// One on the other, on random gaps.
static ss_tangle_settings boxes(double ratio, int ncontacts, int per_box, double mu, uint64_t seed)
{
    ss_tangle_settings settings = busy(ncontacts, per_box, mu, seed);
    settings.tower = ratio;
    return settings;
}

static void where_they_get_stuck_the_others_find_the_answer(void)
{
    int stuck = 0;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        const ss_tangle_settings settings = boxes(1.0, 100, 8, 0.5, seed);
        stuck += solve_with_auto(&settings, SS_GLOBAL).went_on;
    }
    CHECK(stuck > 0);
}

static void interior_points_solve_towers_of_growing_mass(void)
{
    for (uint64_t seed = 9111; seed <= 9114; seed++) {
        const ss_tangle_settings settings = boxes(10.0, 24, 16, 0.3, seed);
        const turns seen = solve_with_auto(&settings, SS_GLOBAL);
        CHECK(seen.inside && !seen.pushed);
    }
}

static void slow_but_steady_sweeps_are_mixed(void)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        const ss_tangle_settings settings = busy(200, 16, 0.1, seed);
        const turns seen = solve_with_auto(&settings, SS_GLOBAL);
        CHECK(seen.mixed && !seen.unmixed);
    }
    const ss_tangle_settings settings = busy(200, 4, 0.5, 1); // where sweeps end soon
    CHECK(!solve_with_auto(&settings, SS_GLOBAL).mixed);
}

static void where_mixing_is_no_gain_the_others_find_the_answer(void)
{
    int unmixed = 0;
    for (uint64_t seed = 9081; seed <= 9084; seed++) {
        ss_tangle_settings settings = busy(80, 30, 0.5, seed);
        settings.unsymmetry = 0.02;
        unmixed += solve_with_auto(&settings, SS_GLOBAL).unmixed;
    }
    CHECK(unmixed > 0);
}

static void near_the_answer_proximal_steps_follow_sweeps(void)
{
    ss_tangle_settings settings = busy(80, 30, 0.5, 9082);
    settings.unsymmetry = 0.02;
    const turns seen = solve_with_auto(&settings, SS_GLOBAL);
    CHECK(!seen.inside && seen.pushed);
}

// Nothing but what does not grow with the size of the factor.
static void one_contact_costs_the_fixed_parts(void)
{
    tear_down();
    ss_tangle_settings settings = ss_tangle_defaults();
    settings.tower = 1.0;
    settings.ncontacts = 1;
    problem = tangle_of(&settings);
    const ss_prices prices = ss_prices_of(problem);
    CHECK_NEAR(prices.ppa, 30.0 * 15.0, 30.0);
    CHECK_NEAR(prices.admm, 20.0 + 20.0 * 1.5, 20.0);
    CHECK_NEAR(prices.admm_step, 1.5, 0.5);
}

static void a_coupling_of_all_costs_more_than_bodies_do(void)
{
    const ss_tangle_settings settings = planks(1);
    tear_down();
    problem = tangle_of(&settings);
    const ss_prices bodies = ss_prices_of(problem);
    ss_problem *local = NULL;
    CHECK_OK(ss_problem_to_local(problem, &local, &error));
    const ss_prices contacts = ss_prices_of(local);
    ss_problem_free(local);
    CHECK(contacts.ppa > bodies.ppa);
    CHECK(contacts.admm > bodies.admm);
    CHECK(contacts.admm_step > bodies.admm_step);
}

// 1000 contacts of dense hair.
static bool interior_is_favoured(int ends_per_rod, double mu, double light)
{
    tear_down();
    ss_tangle_settings settings = ss_tangle_defaults();
    settings.ncontacts = 1000;
    settings.ends_per_rod = ends_per_rod;
    settings.mu = mu;
    settings.light[0] = light > 1.0 ? 0.3 : 0.0;
    settings.light[1] = light;
    problem = tangle_of(&settings);
    ss_mass *factor = NULL;
    const bool favoured = ss_ipm_leads(problem, &factor);
    ss_mass_free(factor);
    return favoured;
}

static void interior_points_come_first_in_dense_hair_alone(void)
{
    CHECK(interior_is_favoured(25, 0.3, 1.0));
    CHECK(interior_is_favoured(59, 0.3, 1.0));  // a factor of two visits
    CHECK(!interior_is_favoured(16, 0.3, 1.0)); // W has more than half its rank
    CHECK(interior_is_favoured(25, 1.2, 1.0));  // whatever the friction
    CHECK(!interior_is_favoured(25, 0.3, 1e3)); // light among heavy
}

// As tr W_ii of all contacts say.
static void some_contacts_tell_whether_hair_is_even(void)
{
    for (int k = 0; k < 4; k++) {
        const bool expected = interior_is_favoured(k % 2 == 0 ? 25 : 50, 0.3, k < 2 ? 1.0 : 1e3);
        ss_coupling *c = NULL;
        CHECK_OK(ss_coupling_new(problem, SS_FORM_AUTO, false, NULL, &c, &error));
        CHECK(ss_ipm_suits(problem, c) == expected);
        ss_coupling_free(c);
    }
    const ss_tangle_settings settings = planks(1); // even, but rigid
    tear_down();
    problem = tangle_of(&settings);
    CHECK(!ss_ipm_leads(problem, NULL));
}

static void dense_hair_is_not_swept_from_nothing(void)
{
    ss_tangle_settings settings = ss_tangle_defaults();
    settings.ncontacts = 300;
    settings.ends_per_rod = 50;
    CHECK(!solve_from(&settings, SS_GLOBAL, 1e-6, NULL).swept);
    CHECK(solve_from(&settings, SS_GLOBAL, 1e-2, NULL).swept);
    settings.mu = 0.8;
    CHECK(!solve_from(&settings, SS_GLOBAL, 1e-6, NULL).swept);
    double *start = calloc(900, sizeof *start);
    start[0] = 1e-6;
    CHECK(solve_from(&settings, SS_GLOBAL, 1e-6, start).swept);
    free(start);
    settings.ends_per_rod = 16;
    CHECK(solve_from(&settings, SS_GLOBAL, 1e-6, NULL).swept);
}

static void the_lengths_are_those_of_luby(void)
{
    static const int lengths[] = {1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8};
    for (int k = 0; k < 15; k++) {
        CHECK(ss_luby(k + 1) == lengths[k]);
    }
}

static void one_start_in_four_is_nothing_and_the_others_keep_the_signs(void)
{
    ss_random g = ss_random_seeded(1);
    for (int k = 1; k <= 8; k++) {
        double r[3] = {1.0, -2.0, 0.0};
        ss_start_elsewhere(&g, k, 3, r);
        if (k % 4 == 0) {
            CHECK(r[0] == 0.0 && r[1] == 0.0);
        } else {
            CHECK(r[0] > 0.0 && r[0] != 1.0 && r[1] < 0.0 && r[1] != -2.0);
        }
        CHECK(r[2] == 0.0);
    }
}

static void run_tests(void)
{
    RUN_TEST(a_tower_that_stands_is_given_to_alternating_directions);
    RUN_TEST(hair_is_not);
    RUN_TEST(where_they_get_stuck_the_others_find_the_answer);
    RUN_TEST(interior_points_solve_towers_of_growing_mass);
    RUN_TEST(slow_but_steady_sweeps_are_mixed);
    RUN_TEST(near_the_answer_proximal_steps_follow_sweeps);
    RUN_TEST(where_mixing_is_no_gain_the_others_find_the_answer);
    RUN_TEST(one_contact_costs_the_fixed_parts);
    RUN_TEST(a_coupling_of_all_costs_more_than_bodies_do);
    RUN_TEST(interior_points_come_first_in_dense_hair_alone);
    RUN_TEST(some_contacts_tell_whether_hair_is_even);
    RUN_TEST(dense_hair_is_not_swept_from_nothing);
    RUN_TEST(the_lengths_are_those_of_luby);
    RUN_TEST(one_start_in_four_is_nothing_and_the_others_keep_the_signs);
}

const test_group auto_tests = {.run = run_tests, .set_up = set_up, .tear_down = tear_down};
