// The proximal step: its Jacobian against differences, its answers by the one-contact solver.
#include "solvers/global/prox.h"
#include "tests/support/make_problem.h"
#include "tests/support/solving.h"

static ss_error error;

static void set_up(void)
{
    error = (ss_error){0};
}

static ss_prox *prox_of(const ss_problem *p, ss_coupling_form form, double rho)
{
    ss_coupling *c;
    ss_prox *prox;
    CHECK_OK(ss_coupling_new(p, form, false, NULL, &c, &error));
    CHECK_OK(ss_prox_new(c, INFINITY, NULL, &prox, &error));
    for (int i = 0; i < c->n; i++) {
        prox->R[i] = rho / c->compliance[i];
    }
    ss_prox_start(prox);
    return prox;
}

static void free_prox(ss_prox *prox)
{
    ss_coupling_free(prox->c);
    ss_prox_free(prox);
}

// Where the step has been found, r_i answers the contact whose other forces are u_i and whose own
// compliance is I / R_i around l: u_i + (r_i - l_i) / R_i takes the place of W r + b.
static void the_answer_of_a_step_solves_each_contact(void)
{
    for (int form = SS_FORM_EXPLICIT; form <= SS_FORM_MATRIX_FREE; form++) {
        ss_problem *p = tangle(3, 60, 3);
        ss_prox *prox = prox_of(p, (ss_coupling_form)form, 3.0);
        const ss_prox_info info = ss_prox_solve(prox, 1e-12, 100);
        CHECK(info.reached);
        ss_coupling *c = prox->c;
        memcpy(c->r, prox->phi, 4 * (size_t)c->n * sizeof *c->r);
        ss_coupling_refresh(c);
        for (int i = 0; i < c->n; i++) {
            double u[3], f[3], shifted[3];
            ss_coupling_velocity(c, i, u);
            for (int k = 0; k < 3; k++) {
                const size_t at = 4 * (size_t)i + (size_t)k;
                shifted[k] = u[k] + (prox->phi[at] - prox->l[at]) / prox->R[i];
            }
            ss_coulomb_residual(c->mu[i], c->s, prox->phi + 4 * (size_t)i, shifted, f);
            for (int k = 0; k < 3; k++) {
                CHECK_LE(fabs(f[k]), 1e-9 * c->V);
            }
        }
        free_prox(prox);
        ss_problem_free(p);
    }
}

// The two forms are one step.
static void expect_the_same_impulses(ss_problem *p)
{
    ss_prox *a = prox_of(p, SS_FORM_EXPLICIT, 10.0), *b = prox_of(p, SS_FORM_MATRIX_FREE, 10.0);
    CHECK(ss_prox_solve(a, 1e-13, 100).reached && ss_prox_solve(b, 1e-13, 100).reached);
    CHECK_LE(relative_difference(a->phi, b->phi, 4 * (size_t)p->ncontacts), 1e-9);
    free_prox(a);
    free_prox(b);
    ss_problem_free(p);
}

static void both_forms_give_the_same_impulses(void)
{
    expect_the_same_impulses(full_rank_tangle(3, 40, 5));
}

// A super-helix of 30 elements has 90 dofs.
static void bodies_may_have_any_number_of_dofs(void)
{
    expect_the_same_impulses(random_diagonal_problem(9, 3, 12, 4, 90));
    expect_the_same_impulses(random_diagonal_problem(9, 2, 12, 4, 301));
}

// Newton's last steps on a problem without corners near its answer: quadratic.
static void newton_converges_quadratically(void)
{
    ss_problem *p = tangle(3, 30, 8);
    ss_prox *prox = prox_of(p, SS_FORM_MATRIX_FREE, 1.0);
    double before = INFINITY;
    int quadratic = 0;
    for (int k = 0; k < 30; k++) {
        const ss_prox_info info = ss_prox_solve(prox, 0.0, 1);
        if (info.last < 1e-3 * prox->scale && info.last > 0.0) {
            const double was = info.first / prox->scale, is = info.last / prox->scale;
            quadratic += is <= 100.0 * was * was || is < 1e-13;
        }
        before = info.last;
        if (info.last <= 1e-13 * prox->scale) {
            break;
        }
    }
    CHECK_LE(before, 1e-12 * prox->scale);
    CHECK(quadratic >= 2);
    free_prox(prox);
    ss_problem_free(p);
}

// ---- The price

// In the form that is preferred.
static double work_of(const ss_problem *p)
{
    ss_coupling *c;
    ss_implicit *system;
    const bool global = p->form == SS_GLOBAL;
    const ss_coupling_form form = global ? SS_FORM_MATRIX_FREE : SS_FORM_EXPLICIT;
    CHECK_OK(ss_coupling_new(p, form, false, NULL, &c, &error));
    if (global && !ss_implicit_prefers_bodies(c->white)) {
        ss_coupling_free(c);
        CHECK_OK(ss_coupling_new(p, SS_FORM_EXPLICIT, false, NULL, &c, &error));
    }
    CHECK_OK(ss_implicit_new(c, INFINITY, NULL, &system, &error));
    const double work = ss_block_lu_work(system->lu);
    ss_implicit_free(system);
    ss_coupling_free(c);
    return work;
}

static void the_work_of_a_factor_is_guessed_within_a_factor_of_five(void)
{
    static const struct {
        int contacts, ends;
        double unsymmetry;
    } KINDS[] = {{300, 59, 0.0}, {2000, 59, 0.0}, {1000, 16, 0.0}, {1000, 8, 0.0},
                 {1000, 4, 0.0}, {60, 30, 0.02},  {120, 12, 0.02}, {300, 8, 0.02}};
    for (size_t k = 0; k < sizeof KINDS / sizeof KINDS[0]; k++) {
        ss_tangle_settings settings = ss_tangle_defaults();
        settings.ncontacts = KINDS[k].contacts;
        settings.ends_per_rod = KINDS[k].ends;
        settings.unsymmetry = KINDS[k].unsymmetry;
        ss_problem *p = tangle_of(&settings);
        const double ratio = ss_implicit_guess(p) / work_of(p);
        CHECK_LE(ratio, 5.0);
        CHECK_LE(0.2, ratio);
        ss_problem_free(p);
    }
}

static void expect_solved(ss_problem *p, const char *spec, double tolerance)
{
    solved a = run(p, spec, tolerance, 5000);
    check_solved_run(&a, tolerance);
    free_solved(&a);
    ss_problem_free(p);
}

static void ppa_solves_what_sweeps_do_not(void)
{
    ss_tangle_settings settings = ss_tangle_defaults();
    settings.ncontacts = 600;
    settings.ends_per_rod = 59;
    settings.condition = 1e4;
    settings.seed = 2;
    ss_problem *p = tangle_of(&settings);
    solved a = run(p, "secular", 1e-8, 500);
    CHECK(a.result.outcome == SS_MAX_ITER);
    free_solved(&a);
    expect_solved(p, "ppa:start=sweeps", 1e-10);
}

static ss_problem *dense_hair(int ncontacts, double mu)
{
    ss_tangle_settings settings = ss_tangle_defaults();
    settings.ncontacts = ncontacts;
    settings.ends_per_rod = 59;
    settings.mu = mu;
    settings.seed = 1;
    return tangle_of(&settings);
}

static void interior_points_start_ppa_in_dense_hair(void)
{
    ss_problem *p = dense_hair(600, 0.3);
    solved inside = run(p, "ppa", 1e-8, 40);
    check_solved_run(&inside, 1e-8);
    CHECK(inside.result.local_solves == 0);
    solved swept = run(p, "ppa:start=sweeps", 1e-8, 5000);
    check_solved_run(&swept, 1e-8);
    CHECK(swept.result.iterations > 60);
    CHECK_LE(relative_difference(swept.u, inside.u, components(p)), 1e-6);
    free_solved(&swept);
    // Sweeps go on from impulses, and do at a rough tolerance.
    inside.r[0] *= 2.0;
    const ss_task task = {.problem = p, .tolerance = 1e-8, .max_iterations = 5000};
    solved warm = run_task("ppa", task, inside.r), rough = run(p, "ppa", 1e-3, 50);
    CHECK(warm.result.local_solves > 0 && rough.result.local_solves > 0);
    free_solved(&warm);
    free_solved(&rough);
    free_solved(&inside);
    ss_problem_free(p);
}

// Three of these 60 tangles have folds that the path passes only if their contacts alone get more compliance.
static void interior_points_of_ppa_pass_folds(void)
{
    ss_tangle_settings settings = ss_tangle_defaults();
    settings.ncontacts = 300;
    settings.ends_per_rod = 59;
    settings.mu = 0.7;
    int inside = 0;
    for (int k = 0; k < 60; k++) {
        settings.seed = 601 + (uint64_t)k;
        ss_problem *p = tangle_of(&settings);
        solved a = run(p, "ppa", 1e-8, 5000);
        check_solved_run(&a, 1e-8);
        inside += a.result.local_solves == 0;
        free_solved(&a);
        ss_problem_free(p);
    }
    CHECK(inside >= 59);
}

// Interior points get stuck where friction is as high, or are ended: nothing is left of them then.
static void without_interior_points_ppa_goes_on_as_from_nothing(void)
{
    ss_problem *p = dense_hair(150, 2.0);
    static const char *const specs[] = {"ppa", "ppa:start=interior"};
    solved swept = run(p, "ppa:start=sweeps", 1e-8, 5000);
    check_solved_run(&swept, 1e-8);
    for (int k = 0; k < 2; k++) {
        solved a = run(p, specs[k], 1e-8, 5000);
        CHECK(a.result.iterations > swept.result.iterations);
        CHECK(memcmp(a.r, swept.r, components(p) * sizeof *a.r) == 0);
        free_solved(&a);
    }
    free_solved(&swept);
    ss_problem_free(p);
}

static void ppa_takes_every_kind_of_problem(void)
{
    expect_solved(tangle(2, 50, 1), "ppa", 1e-9);
    expect_solved(full_rank_tangle(3, 50, 1), "ppa", 1e-9);
    expect_solved(full_rank_tangle(3, 50, 1), "ppa:form=explicit", 1e-9);
    ss_tangle_settings settings = ss_tangle_defaults();
    settings.ncontacts = 80;
    settings.unsymmetry = 1e-3;
    settings.seed = 4;
    expect_solved(tangle_of(&settings), "ppa", 1e-9);
    const double I3[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    expect_solved(dense_problem(3, 1, I3, (const double[]){-1, 3, 4}, (const double[]){0.5}), "ppa",
                  1e-12);
    expect_solved(dense_problem(3, 1, I3, (const double[]){-1, 3, 4}, (const double[]){0.0}), "ppa",
                  1e-12);
    expect_solved(dense_problem(3, 1, I3, (const double[]){1, 3, 4}, (const double[]){0.5}), "ppa",
                  1e-12);
}

static void accelerated_sweeps_reach_the_same_velocities(void)
{
    ss_problem *p = full_rank_tangle(3, 60, 9);
    solved plain = run(p, "secular", 1e-11, 100000);
    const char *specs[] = {"anderson/secular", "anderson/mfb+enum:depth=3",         "nncg/secular",
                           "nncg/projection",  "anderson/projection:form=explicit", "ppa"};
    for (int k = 0; k < 6; k++) {
        solved a = run(p, specs[k], 1e-11, 100000);
        check_solved_run(&a, 1e-11);
        CHECK_LE(relative_difference(plain.u, a.u, components(p)), 1e-7);
        free_solved(&a);
    }
    free_solved(&plain);
    ss_problem_free(p);
}

static void acceleration_saves_sweeps(void)
{
    ss_problem *p = full_rank_tangle(3, 300, 9);
    solved plain = run(p, "secular", 1e-10, 100000);
    solved mixed = run(p, "anderson/secular", 1e-10, 100000);
    check_solved_run(&plain, 1e-10);
    check_solved_run(&mixed, 1e-10);
    CHECK_LE(mixed.result.iterations, 0.7 * plain.result.iterations);
    free_solved(&plain);
    free_solved(&mixed);
    ss_problem_free(p);
}

static void run_tests(void)
{
    RUN_TEST(the_answer_of_a_step_solves_each_contact);
    RUN_TEST(both_forms_give_the_same_impulses);
    RUN_TEST(bodies_may_have_any_number_of_dofs);
    RUN_TEST(newton_converges_quadratically);
    RUN_TEST(the_work_of_a_factor_is_guessed_within_a_factor_of_five);
    RUN_TEST(ppa_solves_what_sweeps_do_not);
    RUN_TEST(interior_points_start_ppa_in_dense_hair);
    RUN_TEST(interior_points_of_ppa_pass_folds);
    RUN_TEST(without_interior_points_ppa_goes_on_as_from_nothing);
    RUN_TEST(ppa_takes_every_kind_of_problem);
    RUN_TEST(accelerated_sweeps_reach_the_same_velocities);
    RUN_TEST(acceleration_saves_sweeps);
}

const test_group prox_step_tests = {.run = run_tests, .set_up = set_up};
