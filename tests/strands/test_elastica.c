// tests/strands/test_elastica.c -- strands under their own weight against the heavy elastica: a rod clamped
// horizontally, Gamma = weight L^3 / EI; places of its tip computed to 1e-9.
#include <gsl/gsl_linalg.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/one_strand.h"
#include "tests/support/support.h"

#define LENGTH 0.1 // m

typedef struct elastica {
    double gamma;
    double drop, reach; // of the tip, in lengths
    double angle;       // of its tangent below the horizon, rad
} elastica;

static const elastica TABLE[] = {
    {0.1, 0.012498, 0.999911, 0.016665},   {1.0, 0.123471, 0.991246, 0.165116},
    {5.0, 0.495905, 0.846657, 0.697005},   {5.31, 0.515145, 0.833206, 0.727467},
    {10.0, 0.700200, 0.656354, 1.052643},  {50.0, 0.907917, 0.245015, 1.526453},
    {100.0, 0.937524, 0.159223, 1.564107},
};

#define NTABLE (sizeof TABLE / sizeof TABLE[0])

static one_strand straight_strand(int elements)
{
    char spec[40];
    snprintf(spec, sizeof spec, "super-helix:elements=%d", elements);
    const ss_strand_design design = {
        .length = LENGTH, .material = ss_material_hair(), .nsegments = 1};
    return new_strand(spec, &design);
}

// R = elastic force + weight along -y, at q
static void residual(one_strand *s, double gravity, const double *q, double *R)
{
    const ss_pose root = ss_pose_identity();
    memset(R, 0, (size_t)s->size.nv * sizeof *R);
    place_strand(s, &root, q);
    s->model->force(s->self, q, s->v, R);
    for (int p = 0; p < s->size.nsamples; p++) {
        add_load(&s->samples[p], ss_vec(0.0, -gravity * s->mass[p], 0.0), R);
    }
}

// Row k: -dR / dq_k; symmetric, as R is a gradient.
static void slope(one_strand *s, double gravity, gsl_matrix *A)
{
    const int n = s->size.nv;
    const double h = 1e-4; // 1/m
    double *ahead = calloc(2 * (size_t)n, sizeof *ahead), *behind = ahead + n;
    for (int k = 0; k < n; k++) {
        const double q = s->q[k];
        s->q[k] = q + h;
        residual(s, gravity, s->q, ahead);
        s->q[k] = q - h;
        residual(s, gravity, s->q, behind);
        s->q[k] = q;
        for (int j = 0; j < n; j++) {
            gsl_matrix_set(A, (size_t)k, (size_t)j, (behind[j] - ahead[j]) / (2.0 * h));
        }
    }
    free(ahead);
}

// One step of Newton's method; returns the largest change of a curvature, 1/m.
static double newton_step(one_strand *s, double gravity)
{
    const size_t n = (size_t)s->size.nv;
    double *R = calloc(n, sizeof *R), most = 0.0;
    gsl_matrix *A = gsl_matrix_alloc(n, n);
    slope(s, gravity, A);
    residual(s, gravity, s->q, R);
    gsl_vector_view x = gsl_vector_view_array(R, n);
    gsl_linalg_cholesky_decomp1(A);
    gsl_linalg_cholesky_svx(A, &x.vector);
    for (size_t k = 0; k < n; k++) {
        s->q[k] += R[k];
        most = fabs(R[k]) > most ? fabs(R[k]) : most;
    }
    gsl_matrix_free(A);
    free(R);
    return most;
}

// Hangs the strand by raising gravity in steps, from where it is, each to its equilibrium.
static void hang(one_strand *s, double from, double gamma)
{
    const ss_material hair = ss_material_hair();
    const ss_rigidity r = ss_material_rigidity(&hair);
    const double unit = r.bend2 / (r.line_density * LENGTH * LENGTH * LENGTH);
    for (double at = from; at < gamma;) {
        at = fmin(gamma, fmax(1.0, 2.0 * at));
        double change = INFINITY;
        for (int k = 0; k < 50 && !(change <= 1e-8); k++) {
            change = newton_step(s, at * unit);
        }
        CHECK_LE(change, 1e-8);
    }
}

static elastica tip_of(one_strand *s, double gamma)
{
    const ss_pose root = ss_pose_identity();
    place_strand(s, &root, s->q);
    const ss_vec3 tip = s->points[1].x;
    double turn = 0.0;
    for (int k = 2; k < s->size.nv; k += 3) {
        turn += s->q[k] * LENGTH * 3.0 / s->size.nv;
    }
    CHECK_NEAR(tip.z, 0.0, 1e-12);
    return (elastica){gamma, -tip.y / LENGTH, tip.x / LENGTH, -turn};
}

static void sixteen_elements_hang_like_the_elastica_within_a_percent(void)
{
    one_strand s = straight_strand(16);
    double before = 0.0;
    for (size_t k = 0; k < NTABLE; k++) {
        const elastica *known = &TABLE[k];
        hang(&s, before, known->gamma);
        before = known->gamma;
        const elastica tip = tip_of(&s, known->gamma);
        CHECK_NEAR(tip.drop, known->drop, 0.01 * known->drop);
        CHECK_NEAR(tip.reach, known->reach, 0.01 * known->reach);
        CHECK_NEAR(tip.angle, known->angle, 0.01 * known->angle);
    }
    free_strand(&s);
}

static double drop_error(int elements, const elastica *known)
{
    one_strand s = straight_strand(elements);
    hang(&s, 0.0, known->gamma);
    const elastica tip = tip_of(&s, known->gamma);
    free_strand(&s);
    return fabs(tip.drop - known->drop);
}

static void errors_fall_with_the_square_of_the_elements(void)
{
    const int cases[] = {1, 2}; // Gamma 1 and 5
    for (int k = 0; k < 2; k++) {
        const elastica *known = &TABLE[cases[k]];
        double coarse = drop_error(4, known);
        for (int n = 8; n <= 16; n *= 2) {
            const double fine = drop_error(n, known);
            CHECK_NEAR(log2(coarse / fine), 2.0, 0.15);
            coarse = fine;
        }
    }
}

static void a_light_strand_drops_by_an_eighth_of_gamma(void)
{
    one_strand s = straight_strand(32);
    hang(&s, 0.0, 1e-3);
    CHECK_NEAR(tip_of(&s, 1e-3).drop, 0.125e-3, 1e-3 * 0.125e-3);
    free_strand(&s);
}

static void run_tests(void)
{
    RUN_TEST(sixteen_elements_hang_like_the_elastica_within_a_percent);
    RUN_TEST(errors_fall_with_the_square_of_the_elements);
    RUN_TEST(a_light_strand_drops_by_an_eighth_of_gamma);
}

const test_group elastica_tests = {.run = run_tests};
