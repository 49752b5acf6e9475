// The contract of a local solver (solvers/solver.h), for every one that is registered: what it may
// claim, what it may not touch, and that it is complete.
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "problems/tangle/locals.h"
#include "problems/coulomb.h"
#include "base/random.h"
#include "solvers/contact.h"
#include "solvers/registry.h"
#include "tests/support/support.h"

// Solvers of another law than Coulomb's: what they say of their answers is said of that law.
static const char *const APPROXIMATE[] = {"4sides", "duriez06", "duriez06-sofa", NULL};

static const ss_local_solver *solver; // under test

static void fail(const char *what, const ss_local *p, const double r[3], const ss_local_info *info)
{
    char message[900];
    const double *W = p->W, *b = p->b;
    snprintf(message, sizeof message,
             "%s %s: outcome %d, error %.3g, r %.17g %.17g %.17g; dim %d, mu %.17g, b %.17g %.17g "
             "%.17g, W %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g",
             solver->card.name, what, (int)info->outcome, info->error, r[0], r[1], r[2], p->dim,
             p->mu, b[0], b[1], b[2], W[0], W[1], W[2], W[3], W[4], W[5], W[6], W[7], W[8]);
    TEST_FAIL_MESSAGE(message);
}

// |f|_inf of the judge's own function, which no solver uses, at the worse of the goal's scales.
static double judged(const ss_local *p, const ss_local_goal *goal, const double r[3])
{
    double u[3], f[3], worst = 0.0;
    const double scales[2] = {ss_local_own_scale(p), goal->scale};
    ss_local_velocity(p, r, u);
    for (int k = 0; k < (goal->scale > 0.0 ? 2 : 1); k++) {
        ss_coulomb_residual(p->mu, scales[k], r, u, f);
        for (int c = 0; c < 3; c++) {
            worst = fabs(f[c]) <= worst ? worst : fabs(f[c]);
        }
    }
    return worst;
}

// The judge rounds, too: f is a sum of numbers of these sizes.
static double rounding(const ss_local *p, const ss_local_goal *goal, const double r[3])
{
    double u[3], largest = 0.0;
    ss_local_velocity(p, r, u);
    const double s = fmax(ss_local_own_scale(p), goal->scale) * fmax(1.0, p->mu);
    for (int c = 0; c < 3; c++) {
        const double size = s * fabs(r[c]) + (1.0 + p->mu) * (fabs(u[c]) + fabs(p->b[c]));
        largest = size <= largest ? largest : size;
    }
    return 1e-14 * largest;
}

// |FB(s r_N, u_N)|/2, as x + y - |(x, y)| = 2xy / (x + y + |(x, y)|) for x >= 0, which does not cancel.
static double missed_normal(const ss_local *p, const ss_local_goal *goal, const double r[3])
{
    double u[3];
    ss_local_velocity(p, r, u);
    const double x = goal->scale * r[0], y = u[0], h = hypot(x, y);
    if (r[0] < 0.0) {
        return INFINITY;
    }
    return x + y + h > 0.0 ? fabs(x * y / (x + y + h)) : fabs(y);
}

static double length(const double x[3])
{
    return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

static void check_answer(const ss_local *p, const ss_local_goal *goal, const double start[3],
                         const double r[3], const ss_local_info *info)
{
    if (!(isfinite(r[0]) && isfinite(r[1]) && isfinite(r[2]))) {
        fail("leaves an impulse that is not finite", p, r, info);
    }
    if (p->dim == 2 && r[2] != 0.0) {
        fail("leaves the plane", p, r, info);
    }
    if (info->outcome == SS_UNSOLVED || info->iterations < 0) {
        fail("says nothing", p, r, info);
    }
    if (info->outcome == SS_NOT_COVERED && memcmp(r, start, 3 * sizeof *r) != 0) {
        fail("touches what it does not cover", p, r, info);
    }
    if (info->outcome == SS_NO_SOLUTION && (r[0] != 0.0 || r[1] != 0.0 || r[2] != 0.0)) {
        fail("keeps an impulse where there is no solution", p, r, info);
    }
    if (solver->card.law == SS_EXACT && info->outcome == SS_CONVERGED &&
        !(judged(p, goal, r) <= goal->tolerance + rounding(p, goal, r))) {
        fail("claims what the judge refuses", p, r, info);
    }
    if (solver->card.law == SS_EXACT && isfinite(info->error) &&
        fabs(info->error - judged(p, goal, r)) > 1e-9 * info->error + rounding(p, goal, r) &&
        info->outcome == SS_CONVERGED) {
        fail("measures another error than the judge", p, r, info);
    }
    if (info->normal_met && !(missed_normal(p, goal, r) <= goal->normal)) {
        fail("claims a normal part that is farther from its law than the goal allows", p, r, info);
    }
}

// Solves twice, with copies of the settings and of the problem that nothing may write to.
static ss_local_info solve(const ss_local *p, const ss_local_goal *goal, const double start[3],
                           double r[3])
{
    const ss_card *card = &solver->card;
    _Alignas(max_align_t) unsigned char settings[512];
    CHECK(card->settings_size <= sizeof settings);
    if (card->settings_size > 0) {
        memcpy(settings, card->defaults, card->settings_size);
    }
    const ss_local before = *p;
    double again[3];
    memcpy(r, start, 3 * sizeof *r);
    memcpy(again, start, sizeof again);
    const void *given = card->settings_size > 0 ? settings : NULL;
    const ss_local_info info = solver->solve(p, goal, given, r);
    const ss_local_info same = solver->solve(p, goal, given, again);
    if (memcmp(r, again, sizeof again) != 0 || info.outcome != same.outcome ||
        info.iterations != same.iterations) {
        fail("answers the same problem in two ways", p, r, &info);
    }
    CHECK(memcmp(&before, p, sizeof before) == 0);
    CHECK(card->settings_size == 0 || memcmp(settings, card->defaults, card->settings_size) == 0);
    check_answer(p, goal, start, r, &info);
    return info;
}

typedef struct battery {
    ss_local_kind kind;
    int dim;
    double condition, mu_low, mu_high;
    double W_unit, b_unit; // factors on W and b
    int count;
} battery;

// Starts from zero, from something small, and from far away.
static void draw_start(ss_random *g, const ss_local *p, int k, double start[3])
{
    const double size = length(p->b) / ss_local_own_scale(p);
    const double factor = k % 3 == 0 ? 0.0 : k % 3 == 1 ? size : 1e3 * size;
    for (int c = 0; c < 3; c++) {
        start[c] = c < p->dim ? factor * ss_random_normal(g) : 0.0;
    }
}

static void check_battery(const battery *a)
{
    ss_random g = ss_random_seeded(1000 + 10 * (uint64_t)a->kind + (uint64_t)a->dim);
    for (int k = 0; k < a->count; k++) {
        ss_local_answer answer;
        ss_local p =
            ss_local_draw(&g, a->kind, a->dim, a->condition, a->mu_low, a->mu_high, &answer);
        for (int c = 0; c < 9; c++) {
            p.W[c] *= a->W_unit;
        }
        for (int c = 0; c < 3; c++) {
            p.b[c] *= a->b_unit;
        }
        ss_local_embed(&p);
        if (!(p.mu > 0.0) || !(ss_local_own_scale(&p) > 0.0)) {
            continue; // answered by ss_contact_solve
        }
        ss_local_goal goal = {.tolerance = (k % 2 == 0 ? 1e-7 : 1e-10) * length(p.b),
                              .normal = (k % 3 == 0 ? 1e-10 : 1e-16) * length(p.b)};
        if (k % 4 >= 2) {
            goal.scale = ss_local_own_scale(&p) * ss_random_log_between(&g, 1e-3, 1e3);
        }
        double start[3], r[3];
        draw_start(&g, &p, k, start);
        const ss_local_info info = solve(&p, &goal, start, r);
        if (info.outcome == SS_NO_SOLUTION && answer.solvable && solver->card.law == SS_EXACT) {
            fail("denies a solution that exists", &p, r, &info);
        }
        if (info.outcome == SS_CONVERGED && !answer.solvable && solver->card.law == SS_EXACT) {
            fail("claims a solution that does not exist", &p, r, &info);
        }
    }
}

static void every_card_is_complete(void)
{
    const ss_card *card = &solver->card;
    CHECK(card->name != NULL && card->name[0] != '\0');
    CHECK(card->reference != NULL && card->reference[0] != '\0');
    CHECK(card->law == SS_EXACT || card->law == SS_APPROXIMATE);
    CHECK(solver->solve != NULL);
    CHECK((card->settings_size > 0) == (card->defaults != NULL));
    CHECK(card->keys == NULL || card->settings_size > 0);
    for (const ss_key *key = card->keys; key != NULL && key->name != NULL; key++) {
        const size_t size = key->kind == SS_KEY_REAL ? sizeof(double) : sizeof(int);
        CHECK(key->place + size <= card->settings_size);
        CHECK(key->kind != SS_KEY_CHOICE || (key->choices != NULL && key->choices[0] != NULL));
        CHECK(key->kind == SS_KEY_CHOICE || key->low < key->high);
        for (const ss_key *other = card->keys; other != key; other++) {
            CHECK(strcmp(other->name, key->name) != 0);
        }
    }
    for (int k = 0; ss_local_solvers[k] != solver; k++) {
        CHECK(strcmp(ss_local_solvers[k]->card.name, card->name) != 0);
    }
}

static void the_approximate_laws_are_those_listed(void)
{
    bool listed = false;
    for (int k = 0; APPROXIMATE[k] != NULL; k++) {
        listed = listed || strcmp(APPROXIMATE[k], solver->card.name) == 0;
    }
    CHECK(listed == (solver->card.law == SS_APPROXIMATE));
}

static void claims_are_true_on_every_kind(void)
{
    for (int kind = 0; kind < SS_LOCAL_KINDS; kind++) {
        for (int dim = 2; dim <= 3; dim++) {
            check_battery(&(battery){(ss_local_kind)kind, dim, 1e4, 1e-3, 10.0, 1.0, 1.0, 1500});
        }
    }
}

static void claims_are_true_for_ill_conditioned_blocks(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        check_battery(&(battery){SS_LOCAL_RANDOM, dim, 1e6, 1e-3, 10.0, 1.0, 1.0, 3000});
        check_battery(&(battery){SS_LOCAL_SLIDE, dim, 1e10, 1e-3, 10.0, 1.0, 1.0, 1000});
    }
}

static void claims_are_true_in_any_units(void)
{
    const double units[][2] = {{1e-9, 1.0}, {1e9, 1.0}, {1.0, 1e6}, {1e-9, 1e6}, {1e9, 1e-6}};
    for (size_t k = 0; k < sizeof units / sizeof units[0]; k++) {
        for (int kind = 0; kind < SS_LOCAL_KINDS; kind++) {
            check_battery(&(battery){(ss_local_kind)kind, 2 + kind % 2, 1e4, 1e-3, 10.0,
                                     units[k][0], units[k][1], 150});
        }
    }
}

// Most blocks from zero are within reach of every exact solver, whatever the units.
static void units_do_not_decide_what_is_solved(void)
{
    const double units[][2] = {{1.0, 1.0}, {1e-9, 1.0}, {1.0, 1e6}, {1e9, 1e-6}};
    int solved[4] = {0};
    for (int k = 0; k < 4; k++) {
        ss_random g = ss_random_seeded(5);
        for (int j = 0; j < 500; j++) {
            ss_local_answer unused;
            ss_local p = ss_local_draw(&g, SS_LOCAL_RANDOM, 3, 1e2, 0.1, 1.0, &unused);
            for (int c = 0; c < 9; c++) {
                p.W[c] *= units[k][0];
            }
            for (int c = 0; c < 3; c++) {
                p.b[c] *= units[k][1];
            }
            const ss_local_goal goal = {.tolerance = 1e-7 * length(p.b)};
            const double zero[3] = {0.0};
            double r[3];
            solved[k] += solve(&p, &goal, zero, r).outcome == SS_CONVERGED;
        }
    }
    for (int k = 1; k < 4; k++) {
        CHECK_NEAR(solved[k], solved[0], 5);
    }
    const bool one_step = solved[0] == 0; // SS_STEPPED: claims nothing
    CHECK(one_step || solved[0] > 450 || solver->card.law == SS_APPROXIMATE);
}

// By hand: W_NN = 0 with b_N < 0, in blocks where an impulse would run away.
static void a_contact_without_normal_compliance_is_not_claimed(void)
{
    static const double tangential[][4] = {{1, 0, 0, 1}, {1, 0.5, 0.5, 2}, {1e6, 0, 0, 1e-6}};
    for (size_t k = 0; k < sizeof tangential / sizeof tangential[0]; k++) {
        for (int j = 0; j < 4; j++) {
            const double *T = tangential[k];
            const ss_local p = {3,
                                {0, 0, 0, 0, T[0], T[1], 0, T[2], T[3]},
                                {-1.0, 0.5 * (j % 2), 0.3 * (j / 2)},
                                0.5};
            const ss_local_goal goal = {.tolerance = 1e-9, .scale = 0.5};
            const double zero[3] = {0.0};
            double r[3];
            const ss_local_info info = solve(&p, &goal, zero, r);
            if (info.outcome == SS_CONVERGED && solver->card.law == SS_EXACT) {
                fail("claims an answer where u_N = -1 whatever r is", &p, r, &info);
            }
        }
    }
}

static void run_tests(void)
{
    for (int k = 0; ss_local_solvers[k] != NULL; k++) {
        solver = ss_local_solvers[k];
        RUN_TEST(every_card_is_complete);
        RUN_TEST(the_approximate_laws_are_those_listed);
        RUN_TEST(claims_are_true_on_every_kind);
        RUN_TEST(claims_are_true_for_ill_conditioned_blocks);
        RUN_TEST(claims_are_true_in_any_units);
        RUN_TEST(units_do_not_decide_what_is_solved);
        RUN_TEST(a_contact_without_normal_compliance_is_not_claimed);
    }
}

const test_group contract_tests = {.run = run_tests};
