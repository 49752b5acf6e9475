// What rests rests: the bounds of solvers/sweep/coupling.h against the residuals themselves, and
// sweeps that leave resting contacts alone against sweeps that visit all.
#include <stdlib.h>

#include "problems/tangle/locals.h"
#include "base/random.h"
#include "solvers/residual.h"
#include "solvers/sweep/sweep.h"
#include "tests/support/make_problem.h"
#include "tests/support/solving.h"

static ss_error error;

static void set_up(void)
{
    error = (ss_error){0};
}

static double drawn(ss_random *g, double spread)
{
    return exp(spread * ss_random_normal(g));
}

// ---- The constant

// Near the kinks too: on the cone's edge, without slip, and with slip against the impulse.
static void draw_kinked(ss_random *g, double mu, double r[3], double u[3])
{
    const double a = drawn(g, 3.0), b = drawn(g, 3.0);
    for (int k = 0; k < 3; k++) {
        r[k] = a * ss_random_normal(g);
        u[k] = b * ss_random_normal(g);
    }
    const int kind = ss_random_below(g, 5);
    const double tangential = ss_length2(r[1], r[2]);
    if (kind < 2) {
        r[0] = tangential / mu;
    }
    if (kind == 1) {
        u[0] = 0.0;
        u[1] = -b * r[1] / tangential;
        u[2] = -b * r[2] / tangential;
    }
    if (kind == 2) {
        u[1] = u[2] = 0.0;
    }
    if (kind == 3) {
        r[1] = r[2] = 0.0;
    }
}

static void the_residual_follows_the_velocity_with_constant_l(void)
{
    static const double MU[] = {0.01, 0.3, 1.0, 5.0};
    ss_random g = ss_random_seeded(1);
    for (int m = 0; m < 4; m++) {
        const double mu = MU[m], L = 2.0 * sqrt(1.0 + mu * mu);
        double worst = 0.0;
        for (int k = 0; k < 100000; k++) {
            double r[3], u[3], v[3], square = 0.0;
            draw_kinked(&g, mu, r, u);
            const double step = 1e-3 * ss_norm_inf3(u) * drawn(&g, 3.0);
            for (int c = 0; c < 3; c++) {
                const double d = step * ss_random_normal(&g);
                v[c] = u[c] + d;
                square += d * d;
            }
            const double change = fabs(ss_fb_size(mu, 1.0, r, u) - ss_fb_size(mu, 1.0, r, v));
            const double rounding = 1e-15 * (ss_norm_inf3(r) + ss_norm_inf3(u)) * (1.0 + mu);
            CHECK_LE(change, L * sqrt(square) + rounding);
            worst = fmax(worst, (change - rounding) / sqrt(square));
        }
        CHECK_LE(0.8 * L, worst); // it is no idle bound
    }
}

// ---- The bounds

static double residual_of(const ss_coupling *c, int i, double u[3])
{
    ss_coupling_velocity(c, i, u);
    double f[3];
    ss_coulomb_residual(c->mu[i], c->s, c->r + 4 * (size_t)i, u, f);
    return ss_norm_inf3(f);
}

static void see_all(ss_coupling *c)
{
    for (int i = 0; i < c->n; i++) {
        double u[3];
        const double residual = residual_of(c, i, u), *r = c->r + 4 * (size_t)i;
        const bool open = r[0] == 0.0 && r[1] == 0.0 && r[2] == 0.0 && u[0] > 0.0;
        ss_resting_see(c->resting, i, open, u[0], residual);
    }
}

static long count_resting(const ss_coupling *c, double most)
{
    long resting = 0;
    for (int i = 0; i < c->n; i++) {
        if (ss_resting_rests(c->resting, i, most)) {
            double u[3];
            CHECK_LE(residual_of(c, i, u), most * (1.0 + 1e-9) + 1e-12 * c->V);
            resting++;
        }
    }
    return resting;
}

static ss_coupling *coupled(const ss_problem *p, ss_coupling_form form, ss_random *g)
{
    ss_coupling *c;
    CHECK_OK(ss_coupling_new(p, form, true, NULL, &c, &error));
    double *r = calloc((size_t)(p->dim * p->ncontacts), sizeof *r);
    for (int i = 0; i < p->dim * p->ncontacts; i++) {
        r[i] = i / p->dim % 2 == 0 ? 0.0 : ss_random_normal(g) * c->V / c->s;
    }
    ss_coupling_set(c, r);
    free(r);
    return c;
}

// Moves of every size; `most` above and below the residuals.
static void bounds_hold(const ss_problem *p, ss_coupling_form form, uint64_t seed, long *resting)
{
    ss_random g = ss_random_seeded(seed);
    ss_coupling *c = coupled(p, form, &g);
    see_all(c);
    for (int move = 0; move < 60; move++) {
        const int i = ss_random_below(&g, c->n);
        const double size = 0.01 * c->V / c->s * drawn(&g, 2.0);
        double r[3] = {0};
        for (int k = 0; k < p->dim; k++) {
            r[k] = c->r[4 * (size_t)i + (size_t)k] + size * ss_random_normal(&g);
        }
        ss_coupling_move(c, i, r);
        CHECK(!ss_resting_rests(c->resting, i, 1e300));
        *resting += count_resting(c, 0.0) + count_resting(c, 0.3 * c->V) + count_resting(c, c->V);
    }
    ss_coupling_refresh(c);
    CHECK(count_resting(c, 1e300) == 0);
    ss_coupling_free(c);
}

static void what_rests_has_the_residual_it_is_said_to_have(void)
{
    long resting = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        for (int dim = 2; dim <= 3; dim++) {
            ss_problem *p = random_problem(seed, dim, 40, 12, 1 + (int)seed % 9);
            p->mu[3] = 0.0;
            bounds_hold(p, SS_FORM_MATRIX_FREE, seed, &resting);
            bounds_hold(p, SS_FORM_EXPLICIT, seed, &resting);
            ss_problem *strands = random_strand_problem(seed, dim, 40, 4, 18);
            bounds_hold(strands, SS_FORM_SWEEPS, seed, &resting);
            ss_problem_free(strands);
            ss_problem_free(p);
        }
    }
    CHECK_LE(20000, resting);
}

static void a_leap_counts_as_the_way_it_went(void)
{
    long resting = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        ss_random g = ss_random_seeded(seed);
        ss_problem *p = random_problem(seed, 3, 40, 12, 6);
        ss_coupling *c = coupled(p, SS_FORM_MATRIX_FREE, &g);
        const size_t nz = (size_t)c->white->body_start[c->white->nbodies], nr = 4 * (size_t)c->n;
        double *r = malloc(nr * sizeof *r), *z = malloc(nz * sizeof *z);
        see_all(c);
        for (int leap = 0; leap < 5; leap++) {
            memcpy(r, c->r, nr * sizeof *r);
            memcpy(z, c->z, nz * sizeof *z);
            for (int i = leap; i < c->n; i += 7) {
                const double dr[3] = {0.01 * c->V / c->s * ss_random_normal(&g), 0.0, 0.0};
                ss_coupling_push(c, i, dr, c->z);
                c->r[4 * (size_t)i] += dr[0];
            }
            ss_coupling_leapt(c, r, z);
            CHECK(!ss_resting_rests(c->resting, leap, 1e300));
            resting += count_resting(c, 0.3 * c->V);
        }
        free(r);
        free(z);
        ss_coupling_free(c);
        ss_problem_free(p);
    }
    CHECK_LE(200, resting);
}

// ---- Sweeps

// r = 0 answers an open contact whatever the law: the driver does not ask.
static void every_local_solver_leaves_an_open_contact_open(void)
{
    for (int k = 0; ss_local_solvers[k] != NULL; k++) {
        ss_method *method;
        CHECK_OK(ss_method_parse(ss_local_solvers[k]->card.name, &method, &error));
        ss_random g = ss_random_seeded(7);
        for (int draw = 0; draw < 4000; draw++) {
            const ss_local_kind kind = draw % 4 < 2 ? SS_LOCAL_TAKE_OFF : SS_LOCAL_SEVERAL;
            ss_local_answer answer;
            const ss_local p = ss_local_draw(&g, kind, 2 + draw % 2, 1e4, 1e-2, 5.0, &answer);
            CHECK(p.b[0] > 0.0);
            double memo = 0.0, r[3] = {0};
            const ss_local_goal goal = {
                .tolerance = 1e-9, .scale = ss_local_own_scale(&p), .memo = &memo};
            ss_local_counters counters = {0};
            ss_contact_solve(method, &p, &goal, r, &counters);
            TEST_ASSERT_TRUE_MESSAGE(r[0] == 0.0 && r[1] == 0.0 && r[2] == 0.0,
                                     ss_local_solvers[k]->card.name);
        }
        ss_method_free(method);
    }
}

static void expect_same_answer(const ss_problem *p, const char *lazy, const char *all)
{
    solved a = run(p, lazy, 1e-9, 100000), b = run(p, all, 1e-9, 100000);
    check_solved_run(&a, 1e-9);
    check_solved_run(&b, 1e-9);
    CHECK_LE(a.result.iterations, 1.2 * b.result.iterations + 5);
    CHECK(a.result.local_solves < (long)a.result.iterations * p->ncontacts); // some rest
    CHECK(b.result.local_solves == (long)b.result.iterations * p->ncontacts);
    free_solved(&a);
    free_solved(&b);
}

static void sweeps_that_visit_what_needs_it_take_as_many_as_others(void)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        ss_problem *p = full_rank_tangle(2 + (int)seed % 2, 120, seed);
        expect_same_answer(p, "mfb+enum", "mfb+enum:visit=all");
        expect_same_answer(p, "secular:form=explicit", "secular:form=explicit,visit=all");
        expect_same_answer(p, "secular:form=matrix-free", "secular:form=matrix-free,visit=all");
        ss_problem_free(p);
    }
}

// Light contacts that rest with half the tolerance each would keep the others going in a circle.
static void resting_contacts_do_not_hold_up_the_others(void)
{
    for (uint64_t seed = 1; seed <= 2; seed++) {
        ss_tangle_settings settings = ss_tangle_defaults();
        settings.ncontacts = 300;
        settings.light[0] = 0.3;
        settings.light[1] = seed == 1 ? 1e6 : 1e4;
        ss_problem *p = tangle_of(&settings);
        solved a = run(p, "mfb+enum", 1e-3, 2000);
        check_solved_run(&a, 1e-3);
        free_solved(&a);
        ss_problem_free(p);
    }
}

static void run_tests(void)
{
    RUN_TEST(the_residual_follows_the_velocity_with_constant_l);
    RUN_TEST(what_rests_has_the_residual_it_is_said_to_have);
    RUN_TEST(a_leap_counts_as_the_way_it_went);
    RUN_TEST(every_local_solver_leaves_an_open_contact_open);
    RUN_TEST(sweeps_that_visit_what_needs_it_take_as_many_as_others);
    RUN_TEST(resting_contacts_do_not_hold_up_the_others);
}

const test_group resting_tests = {.run = run_tests, .set_up = set_up};
