// tests/strands/test_models_elastic.c -- what every strand model owes of energy, force, stiffness and
// damping, where it has them. Written against model.h alone; each test runs on every model, with
// each value of its options.
#include "strands/model.h"

#include <stdlib.h>
#include <string.h>

#include "strands/band.h"
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
    CHECK(elastic == (s->model->damping != NULL) && (elastic || s->model->balance == NULL));
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

static double energy_along(const one_strand *s, int k, double h, double *moved)
{
    advance_dof(s, k, h, moved);
    return s->model->energy(s->self, moved);
}

// By the difference of fourth order.
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
        const double h = 2e-5 * dof_size(s, k);
        const double near = energy_along(s, k, h, moved) - energy_along(s, k, -h, moved);
        const double far = energy_along(s, k, 2.0 * h, moved) - energy_along(s, k, -2.0 * h, moved);
        const double slope = (8.0 * near - far) / (12.0 * h);
        CHECK_NEAR(F[k], -slope, 1e-7 * fabs(F[k]) + 1e-12 * E / h);
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
    double largest = 0.0;
    for (int k = 0; k < nv; k++) {
        largest = fmax(largest, fabs(F[k]));
    }
    for (int k = 0; k < nv; k++) {
        CHECK_NEAR(F[nv + k], 2.0 * F[k], 1e-14 * largest);
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

// slope -= weight F(q (+) h v)
static void take_force(const one_strand *s, const double *v, double h, double weight, double *slope)
{
    double *moved = calloc((size_t)s->size.nq, sizeof *moved);
    double *F = calloc((size_t)s->size.nv, sizeof *F);
    s->model->advance(s->self, s->q, v, h, moved);
    s->model->force(s->self, moved, s->rest, F);
    for (int k = 0; k < s->size.nv; k++) {
        slope[k] -= weight * F[k];
    }
    free(moved);
    free(F);
}

// -dF along v, by the difference of fourth order with steps h.
static void slope_of_force(const one_strand *s, const double *v, double h, double *slope)
{
    memset(slope, 0, (size_t)s->size.nv * sizeof *slope);
    for (int side = -1; side <= 1; side += 2) {
        take_force(s, v, side * h, side * 8.0 / (12.0 * h), slope);
        take_force(s, v, 2.0 * side * h, -side / (12.0 * h), slope);
    }
}

static double *magnitudes(const double *x, int count)
{
    double *size = calloc((size_t)count, sizeof *size);
    for (int k = 0; k < count; k++) {
        size[k] = fabs(x[k]);
    }
    return size;
}

// In the natural shape, where all kinds of K are one: K v = -dF, to a millionth of |K||v|.
static void stiffness_is_minus_the_slope_of_force(one_strand *s)
{
    const int nv = s->size.nv;
    double *slope = calloc((size_t)nv, sizeof *slope);
    random_velocity(s, &g, s->v);
    slope_of_force(s, s->v, 3e-7, slope);
    for (int kind = 0; kind < SS_STIFFNESS_KINDS; kind++) {
        double *Kv = calloc(2 * (size_t)nv, sizeof *Kv), *size = Kv + nv;
        ss_band K = new_band(s);
        const bool has = s->model->stiffness(s->self, s->q, (ss_stiffness)kind, 1.0, &K);
        CHECK(has || kind != SS_STIFFNESS_EXACT);
        const ss_band magnitude = {K.n, K.half, magnitudes(K.x, K.n * (K.half + 1))};
        double *speed = magnitudes(s->v, nv);
        ss_band_add_product(&K, s->v, Kv);
        ss_band_add_product(&magnitude, speed, size);
        for (int k = 0; k < nv && has; k++) {
            CHECK_NEAR(slope[k], Kv[k], 1e-6 * size[k]);
        }
        free(Kv);
        free(K.x);
        free(magnitude.x);
        free(speed);
    }
    free(slope);
}

static void stiffness_of_every_model_is_minus_the_slope_of_force(void)
{
    on_every_elastic_model(stiffness_is_minus_the_slope_of_force);
}

// Anywhere: v'Kv = -v'dF, to a millionth of |v|'|K||v|. Of forces that rest with their frames the
// symmetric part of the slope counts alone.
static void exact_stiffness_is_the_slope_along_a_line(one_strand *s)
{
    const int nv = s->size.nv;
    disturb(s, &g);
    for (int trial = 0; trial < 5; trial++) {
        double *slope = calloc((size_t)nv, sizeof *slope), sum = 0.0;
        ss_band K = new_band(s);
        random_velocity(s, &g, s->v);
        slope_of_force(s, s->v, 1e-5, slope);
        CHECK(s->model->stiffness(s->self, s->q, SS_STIFFNESS_EXACT, 1.0, &K));
        const ss_band magnitude = {K.n, K.half, magnitudes(K.x, K.n * (K.half + 1))};
        double *speed = magnitudes(s->v, nv);
        for (int k = 0; k < nv; k++) {
            sum += s->v[k] * slope[k];
        }
        CHECK_NEAR(sum, form(&K, s->v), 1e-6 * form(&magnitude, speed));
        free(slope);
        free(K.x);
        free(magnitude.x);
        free(speed);
    }
}

static void exact_stiffness_of_every_model_is_the_slope_along_a_line(void)
{
    on_every_elastic_model(exact_stiffness_is_the_slope_along_a_line);
}

// v'Av >= 0 except for the rounding of its parts.
static void is_never_negative(one_strand *s, const ss_band *A)
{
    const ss_band magnitude = {A->n, A->half, magnitudes(A->x, A->n * (A->half + 1))};
    for (int trial = 0; trial < 20; trial++) {
        random_velocity(s, &g, s->v);
        double *speed = magnitudes(s->v, A->n);
        CHECK(form(A, s->v) >= -1e-14 * form(&magnitude, speed));
        free(speed);
    }
    free(magnitude.x);
}

// The exact K may be, where there is another, and so may one with a filter that leaves an energy exact.
static void stiffness_and_damping_are_never_negative(one_strand *s)
{
    const bool unfiltered = strstr(s->choice.spec, "=exact") != NULL;
    int kinds = 0;
    disturb(s, &g);
    for (int kind = SS_STIFFNESS_KINDS - 1; kind >= 0; kind--) {
        ss_band K = new_band(s);
        if (s->model->stiffness(s->self, s->q, (ss_stiffness)kind, 2.0, &K) &&
            (kind != SS_STIFFNESS_EXACT || kinds == 0) &&
            (kind != SS_STIFFNESS_FILTERED || !unfiltered)) {
            is_never_negative(s, &K);
            kinds++;
        }
        free(K.x);
    }
    CHECK(kinds > 0);
    ss_band C = new_band(s);
    s->model->damping(s->self, s->q, 2.0, &C);
    is_never_negative(s, &C);
    free(C.x);
}

// A kind that a model has not leaves the matrix as it is.
static void stiffness_adds_or_does_nothing(one_strand *s)
{
    for (int kind = 0; kind < SS_STIFFNESS_KINDS; kind++) {
        ss_band K = new_band(s), twice = new_band(s);
        const bool has = s->model->stiffness(s->self, s->q, (ss_stiffness)kind, 1.0, &K);
        s->model->stiffness(s->self, s->q, (ss_stiffness)kind, 1.0, &twice);
        s->model->stiffness(s->self, s->q, (ss_stiffness)kind, 1.0, &twice);
        double largest = 0.0;
        for (int k = 0; k < K.n * (K.half + 1); k++) {
            CHECK_NEAR(twice.x[k], 2.0 * K.x[k], 1e-12 * fabs(K.x[k]) + 1e-300);
            largest = fmax(largest, fabs(K.x[k]));
        }
        CHECK(has == (largest > 0.0));
        free(K.x);
        free(twice.x);
    }
}

static void stiffness_of_every_model_adds_or_does_nothing(void)
{
    on_every_elastic_model(stiffness_adds_or_does_nothing);
}

static void stiffness_and_damping_of_every_model_are_never_negative(void)
{
    on_every_elastic_model(stiffness_and_damping_are_never_negative);
}

// Up to rounding: a strain is a difference of numbers of the size of what moves the strand by its
// length.
static void the_style_is_natural(one_strand *s)
{
    const int nv = s->size.nv;
    double *F = calloc((size_t)nv, sizeof *F), work = 0.0;
    ss_band K = new_band(s);
    s->model->force(s->self, s->q, s->rest, F);
    s->model->stiffness(s->self, s->q, SS_STIFFNESS_EXACT, 1.0, &K);
    for (int k = 0; k < nv; k++) {
        const double stiff = *ss_band_at(&K, k, k), way = dof_size(s, k);
        CHECK_NEAR(F[k], 0.0, 1e-13 * stiff * way);
        work += stiff * way * way;
    }
    CHECK_NEAR(s->model->energy(s->self, s->q), 0.0, 1e-26 * work);
    free(F);
    free(K.x);
}

static void the_style_of_every_model_is_natural(void)
{
    on_every_elastic_model(the_style_is_natural);
}

// A thousandth of the elastic force elsewhere is a load that a strand can bear, whatever its root
// does; what clamps hold bears any. Up to rounding, as above: that of quaternions exceeds the load of a
// long link by 1e-11.
static void balance_makes_the_force_minus_the_load(one_strand *s)
{
    if (s->model->balance == NULL) {
        return;
    }
    const int nv = s->size.nv;
    double *load = calloc(2 * (size_t)nv, sizeof *load), *F = load + nv, most = 0.0;
    double *style = calloc((size_t)s->size.nq, sizeof *style);
    memcpy(style, s->q, (size_t)s->size.nq * sizeof *style);
    disturb(s, &g);
    s->model->force(s->self, s->q, s->rest, load);
    for (int k = 0; k < nv; k++) {
        load[k] *= 1e-3;
        most = fmax(most, fabs(load[k]) * dof_size(s, k));
    }
    ss_band K = new_band(s);
    CHECK_OK(s->model->balance(s->self, style, load, &error));
    s->model->force(s->self, style, s->rest, F);
    s->model->stiffness(s->self, style, SS_STIFFNESS_EXACT, 1.0, &K);
    for (int k = 0; k < nv; k++) {
        const double way = dof_size(s, k), rounding = 1e-15 * fabs(*ss_band_at(&K, k, k)) * way;
        CHECK(is_held(s, k) || fabs(F[k] + load[k]) <= 1e-12 * most / way + rounding);
    }
    free(K.x);
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
    RUN_TEST(exact_stiffness_of_every_model_is_the_slope_along_a_line);
    RUN_TEST(stiffness_of_every_model_adds_or_does_nothing);
    RUN_TEST(stiffness_and_damping_of_every_model_are_never_negative);
    RUN_TEST(the_style_of_every_model_is_natural);
    RUN_TEST(balance_of_every_model_makes_the_force_minus_the_load);
}

const test_group models_elastic_tests = {.run = run_tests, .set_up = set_up};
