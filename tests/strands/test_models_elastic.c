// tests/strands/test_models_elastic.c -- what every strand model owes of energy, force, stiffness and
// damping, where it has them. Written against model.h alone; each test runs on every model, with
// each value of its options.
#include "problems/strands/model.h"

#include <stdlib.h>
#include <string.h>

#include "problems/strands/band.h"
#include "tests/support/one_strand.h"
#include "tests/support/support.h"

static ss_error error;
static ss_random g;

static void set_up(void)
{
    error = (ss_error){0};
    g = ss_random_seeded(17);
}

// Models without elasticity have none of these functions.
static property *holds_with_elasticity;

static void check_elasticity(one_strand *s)
{
    const bool elastic = s->model->energy != NULL;
    CHECK(elastic == (s->model->force != NULL) && elastic == (s->model->stiffness != NULL));
    CHECK(elastic == (s->model->damping != NULL) && elastic == (s->model->balance != NULL));
    if (elastic) {
        holds_with_elasticity(s);
    }
}

static void on_every_elastic_model(property *holds)
{
    holds_with_elasticity = holds;
    on_every_model(&g, check_elasticity);
}

// ---- Elasticity

static void force_is_minus_the_gradient(one_strand *s)
{
    disturb(s, &g);
    const int nv = s->size.nv;
    double *F = calloc((size_t)nv, sizeof *F);
    double *moved = calloc((size_t)s->size.nq, sizeof *moved);
    s->model->force(s->self, s->q, s->rest, F);
    const double E = s->model->energy(s->self, s->q);
    CHECK(E > 0.0);
    for (int k = 0; k < nv; k++) {
        const double h = 1e-4 * strand_length(s) / column_size(s, k);
        advance_dof(s, k, h, moved);
        const double ahead = s->model->energy(s->self, moved);
        advance_dof(s, k, -h, moved);
        const double slope = (ahead - s->model->energy(s->self, moved)) / (2.0 * h);
        CHECK_NEAR(F[k], -slope, 1e-6 * fabs(F[k]) + 1e-12 * E / h);
    }
    free(F);
    free(moved);
}

static void force_of_every_model_is_minus_the_gradient(void)
{
    on_every_elastic_model(force_is_minus_the_gradient);
}

static void force_adds_to_what_is_there(one_strand *s)
{
    disturb(s, &g);
    const int nv = s->size.nv;
    double *F = calloc(2 * (size_t)nv, sizeof *F);
    s->model->force(s->self, s->q, s->rest, F);
    memcpy(F + nv, F, (size_t)nv * sizeof *F);
    s->model->force(s->self, s->q, s->rest, F + nv);
    for (int k = 0; k < nv; k++) {
        CHECK_NEAR(F[nv + k], 2.0 * F[k], 0.0);
    }
    free(F);
}

static void force_of_every_model_adds_to_what_is_there(void)
{
    on_every_elastic_model(force_adds_to_what_is_there);
}

static double form(const ss_band *A, const double *v)
{
    double *Av = calloc((size_t)A->n, sizeof *Av), sum = 0.0;
    ss_band_add_product(A, v, Av);
    for (int k = 0; k < A->n; k++) {
        sum += v[k] * Av[k];
    }
    free(Av);
    return sum;
}

// In the natural shape, where K may not be filtered: K v = -dF.
static void stiffness_is_minus_the_slope_of_force(one_strand *s)
{
    const int nv = s->size.nv;
    random_velocity(s, &g, s->v);
    ss_band K = new_band(s);
    double *moved = calloc((size_t)s->size.nq, sizeof *moved);
    double *ahead = calloc(3 * (size_t)nv, sizeof *ahead), *behind = ahead + nv, *Kv = behind + nv;
    const double h = 1e-6; // s
    s->model->stiffness(s->self, s->q, SS_STIFFNESS_EXACT, 1.0, &K);
    ss_band_add_product(&K, s->v, Kv);
    s->model->advance(s->self, s->q, s->v, h, moved);
    s->model->force(s->self, moved, s->rest, ahead);
    s->model->advance(s->self, s->q, s->v, -h, moved);
    s->model->force(s->self, moved, s->rest, behind);
    for (int k = 0; k < nv; k++) {
        CHECK_NEAR((behind[k] - ahead[k]) / (2.0 * h), Kv[k], 1e-6 * fabs(Kv[k]) + 1e-15);
    }
    free(K.x);
    free(moved);
    free(ahead);
}

static void stiffness_of_every_model_is_minus_the_slope_of_force(void)
{
    on_every_elastic_model(stiffness_is_minus_the_slope_of_force);
}

static void stiffness_and_damping_are_never_negative(one_strand *s)
{
    ss_band K = new_band(s), C = new_band(s);
    disturb(s, &g);
    s->model->stiffness(s->self, s->q, SS_STIFFNESS_EXACT, 2.0, &K);
    s->model->damping(s->self, s->q, 2.0, &C);
    for (int trial = 0; trial < 20; trial++) {
        random_velocity(s, &g, s->v);
        CHECK(form(&K, s->v) >= 0.0);
        CHECK(form(&C, s->v) >= 0.0);
    }
    free(K.x);
    free(C.x);
}

static void stiffness_and_damping_of_every_model_are_never_negative(void)
{
    on_every_elastic_model(stiffness_and_damping_are_never_negative);
}

static void the_style_is_natural(one_strand *s)
{
    double *F = calloc((size_t)s->size.nv, sizeof *F);
    s->model->force(s->self, s->q, s->rest, F);
    for (int k = 0; k < s->size.nv; k++) {
        CHECK_NEAR(F[k], 0.0, 0.0);
    }
    CHECK_NEAR(s->model->energy(s->self, s->q), 0.0, 0.0);
    free(F);
}

static void the_style_of_every_model_is_natural(void)
{
    on_every_elastic_model(the_style_is_natural);
}

// The elastic force elsewhere is a load that a strand can bear, whatever its root does.
static void balance_makes_the_force_minus_the_load(one_strand *s)
{
    const int nv = s->size.nv;
    double *load = calloc(2 * (size_t)nv, sizeof *load), *F = load + nv;
    double *style = calloc((size_t)s->size.nq, sizeof *style);
    memcpy(style, s->q, (size_t)s->size.nq * sizeof *style);
    disturb(s, &g);
    s->model->force(s->self, s->q, s->rest, load);
    CHECK_OK(s->model->balance(s->self, style, load, &error));
    s->model->force(s->self, style, s->rest, F);
    for (int k = 0; k < nv; k++) {
        CHECK_NEAR(F[k], -load[k], 1e-12 * fabs(load[k]));
    }
    free(load);
    free(style);
}

static void balance_of_every_model_makes_the_force_minus_the_load(void)
{
    on_every_elastic_model(balance_makes_the_force_minus_the_load);
}

static void run_tests(void)
{
    RUN_TEST(force_of_every_model_is_minus_the_gradient);
    RUN_TEST(force_of_every_model_adds_to_what_is_there);
    RUN_TEST(stiffness_of_every_model_is_minus_the_slope_of_force);
    RUN_TEST(stiffness_and_damping_of_every_model_are_never_negative);
    RUN_TEST(the_style_of_every_model_is_natural);
    RUN_TEST(balance_of_every_model_makes_the_force_minus_the_load);
}

const test_group models_elastic_tests = {.run = run_tests, .set_up = set_up};
