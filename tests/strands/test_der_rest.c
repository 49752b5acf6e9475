// tests/strands/test_der_rest.c -- rods at rest against the heavy elastica and against Kirchhoff's rod.
//
// The free length of a rod begins in the middle of the edge that its clamp holds.
#include <gsl/gsl_eigen.h>
#include <stdlib.h>
#include <string.h>

#include "strands/band.h"
#include "tests/support/resting.h"
#include "tests/support/rod_errors.h"
#include "tests/support/support.h"

#define LENGTH ROD_LENGTH

// The errors of the discrete equilibrium, which was solved apart from this code: doc/strands.md,
// "Reference solutions".
static void rods_hang_like_the_heavy_elastica_with_the_known_errors(void)
{
    const struct {
        int n;
        double light, heavy; // Gamma 5.31 and 143
    } known[] = {{16, 0.00261, 0.0162}, {32, 0.00064, 0.00453}, {64, 0.00016, 0.00117}};
    for (int k = 0; k < 3; k++) {
        const double light = elastica_error("der", known[k].n, 5.31, 0.515145, 0.833206);
        const double heavy = elastica_error("der", known[k].n, 143.0, 0.948406, 0.129459);
        CHECK_NEAR(light, known[k].light, 0.02 * known[k].light);
        CHECK_NEAR(heavy, known[k].heavy, 0.01 * known[k].heavy);
    }
}

static void rods_of_51_vertices_hang_within_a_thousandth(void)
{
    CHECK_LE(elastica_error("der", 50, 5.31, 0.515145, 0.833206), 0.001);
    CHECK_LE(elastica_error("der:bending=two-frame", 50, 5.31, 0.515145, 0.833206), 0.001);
    CHECK_LE(elastica_error("der", 50, 50.0, 0.907917, 0.245015), 0.0013);
    CHECK_LE(elastica_error("der", 50, 143.0, 0.948406, 0.129459), 0.002);
}

// ---- Kirchhoff's rod

static void a_natural_helix_hangs_like_kirchhoffs(void)
{
    const char *const specs[] = {"der", "der:bending=two-frame"};
    for (int k = 0; k < 2; k++) {
        const double coarse = helix_error(specs[k], 32), fine = helix_error(specs[k], 64);
        const double finest = helix_error(specs[k], 128);
        CHECK_NEAR(log2(coarse / fine), 2.0, 0.3);
        CHECK_NEAR(log2(fine / finest), 2.0, 0.1);
        CHECK_LE(finest, 1e-3);
    }
}

static void a_flat_twisted_rod_between_clamps_is_kirchhoffs(void)
{
    const char *const specs[] = {"der", "der:bending=two-frame"};
    for (int k = 0; k < 2; k++) {
        const double coarse = between_clamps_error(specs[k], 16);
        const double fine = between_clamps_error(specs[k], 32);
        const double finest = between_clamps_error(specs[k], 64);
        CHECK_NEAR(log2(coarse / fine), 2.0, 0.4);
        CHECK_NEAR(log2(fine / finest), 2.0, 0.25);
        CHECK_LE(finest, 1e-3);
    }
}

// ---- Instabilities

#define MOST 130

// Vertices, and angles that twist the rod by `twist` per joint; naturally straight.
typedef struct twisted {
    ss_vec3 x[MOST], rest[MOST];
    double theta[MOST], rest_theta[MOST]; // rest_theta is 0
    ss_strand_design design;
} twisted;

static one_strand twisted_strand(twisted *t, int n, double l, double twist, ss_clamp clamp)
{
    for (int i = 0; i <= n; i++) {
        t->rest[i] = ss_vec(i * l, 0.0, 0.0);
        t->theta[i] = i * twist;
    }
    t->design = (ss_strand_design){.material = ss_material_hair(),
                                   .nvertices = n + 1,
                                   .vertices = t->x,
                                   .rest = t->rest,
                                   .theta = t->theta,
                                   .rest_theta = t->rest_theta,
                                   .director = ss_vec(0.0, 0.0, 1.0),
                                   .clamp = clamp};
    t->design.material.stretch = 0.01;
    return new_strand("der", &t->design);
}

// The largest x in [low, high] for which `stable` holds, by bisection.
static double last_stable(bool (*stable)(int n, double x), int n, double low, double high)
{
    CHECK(stable(n, low));
    CHECK(!stable(n, high));
    for (int k = 0; k < 16; k++) {
        const double middle = 0.5 * (low + high);
        if (stable(n, middle)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return 0.5 * (low + high);
}

static bool clamped_is_stable(int n, double twist)
{
    static twisted t;
    const double l = LENGTH / (n - 1);
    for (int i = 0; i <= n; i++) {
        t.x[i] = ss_vec(i * l, 0.0, 0.0);
    }
    one_strand s = twisted_strand(&t, n, l, twist / (n - 1), SS_CLAMP_BOTH);
    ss_band K = new_band(&s);
    double *D = calloc((size_t)s.size.nv, sizeof *D);
    free_stiffness(&s, s.q, &K);
    const bool definite = ss_band_factor(&K, D);
    free(K.x);
    free(D);
    free_strand(&s);
    return definite;
}

// Critical torque, in EI/L. The tangents u_j of the edges have the modes 1, j and exp(i lambda j) with
// torque l/EI = 2 tan(lambda/2) cos^2(m/2), m the twist of a joint, as kappa is measured in
// the mean of frames that are turned by m; u vanishes in both clamps and in the sum, so that
// tan(n lambda/2) = n tan(lambda/2), n = joints.
static double discrete_torque(int joints, double ratio)
{
    const double n = joints;
    double x = 8.98682, torque = 8.98682;
    for (int k = 0; k < 60; k++) {
        x = 2.0 * (atan(n * tan(0.5 * x / n)) + M_PI);
        const double c = cos(0.5 * torque * ratio / n);
        torque = 2.0 * n * tan(0.5 * x / n) * c * c;
    }
    return torque;
}

static void a_clamped_rod_buckles_at_the_known_torque(void)
{
    const ss_material hair = ss_material_hair();
    const ss_rigidity r = ss_material_rigidity(&hair);
    for (int n = 20; n <= 80; n *= 2) {
        const double torque = last_stable(clamped_is_stable, n, 1.0, 20.0) * r.twist / r.bend1;
        const double known = discrete_torque(n - 1, r.bend1 / r.twist);
        CHECK_NEAR(torque, known, 3e-4 * known);
        CHECK_LE(fabs(torque / 8.98682 - 1.0), 38.0 / (n * n));
    }
}

// Row and column of the closed ring that a dof of the open one is: the last two vertices and the last
// angle are the first.
static int ring_dof(int n, int dof)
{
    return dof % (4 * n);
}

static bool ring_is_stable(int n, double twist)
{
    static twisted t;
    const double l = 2.0 * LENGTH * sin(M_PI / n);
    for (int i = 0; i <= n + 1; i++) {
        t.x[i] = ss_vec(LENGTH * cos(2.0 * M_PI * i / n), LENGTH * sin(2.0 * M_PI * i / n), 0.0);
    }
    one_strand s = twisted_strand(&t, n + 1, l, twist / n, SS_CLAMP_NONE);
    ss_band K = new_band(&s);
    const size_t count = 4 * (size_t)n;
    gsl_matrix *A = gsl_matrix_calloc(count, count);
    gsl_vector *values = gsl_vector_alloc(count);
    gsl_eigen_symm_workspace *room = gsl_eigen_symm_alloc(count);
    s.model->stiffness(s.self, s.q, SS_STIFFNESS_EXACT, 1.0, &K);
    for (int j = 0; j < K.n; j++) {
        for (int i = j; i < K.n && i <= j + K.half; i++) {
            const size_t a = (size_t)ring_dof(n, i), b = (size_t)ring_dof(n, j);
            const double k = *ss_band_at(&K, i, j);
            *gsl_matrix_ptr(A, a, b) += k;
            *gsl_matrix_ptr(A, b, a) += i == j ? 0.0 : k;
        }
    }
    gsl_eigen_symm(A, values, room);
    const ss_rigidity r = ss_material_rigidity(&t.design.material);
    const bool stable = gsl_vector_min(values) > -1e-4 * r.bend1 / (LENGTH * LENGTH * LENGTH);
    gsl_eigen_symm_free(room);
    gsl_vector_free(values);
    gsl_matrix_free(A);
    free(K.x);
    free_strand(&s);
    return stable;
}

static void a_ring_buckles_at_michells_twist(void)
{
    const ss_material hair = ss_material_hair();
    const ss_rigidity r = ss_material_rigidity(&hair);
    const double known = 2.0 * M_PI * sqrt(3.0) * r.bend1 / r.twist;
    const double coarse = last_stable(ring_is_stable, 20, 5.0, 25.0) / known - 1.0;
    const double fine = last_stable(ring_is_stable, 40, 5.0, 25.0) / known - 1.0;
    CHECK_LE(fabs(coarse), 0.05);
    CHECK_LE(fabs(fine), 0.01);
}

static void a_straight_rod_twists_with_its_torque(void)
{
    static twisted t;
    const int n = 40;
    const double l = LENGTH / (n - 1), phi = 9.0;
    for (int i = 0; i <= n; i++) {
        t.x[i] = ss_vec(i * l, 0.0, 0.0);
    }
    one_strand s = twisted_strand(&t, n, l, phi / (n - 1), SS_CLAMP_BOTH);
    double *F = calloc((size_t)s.size.nv, sizeof *F);
    const ss_rigidity r = ss_material_rigidity(&t.design.material);
    s.model->force(s.self, s.q, s.rest, F);
    for (int j = 0; j < n; j++) {
        const double torque = j == 0 ? 1.0 : j == n - 1 ? -1.0 : 0.0;
        CHECK_NEAR(F[4 * j + 3], torque * r.twist * phi / LENGTH, 1e-12 * r.twist * phi / LENGTH);
    }
    free(F);
    free_strand(&s);
}

static void run_tests(void)
{
    RUN_TEST(rods_hang_like_the_heavy_elastica_with_the_known_errors);
    RUN_TEST(rods_of_51_vertices_hang_within_a_thousandth);
    RUN_TEST(a_natural_helix_hangs_like_kirchhoffs);
    RUN_TEST(a_flat_twisted_rod_between_clamps_is_kirchhoffs);
    RUN_TEST(a_clamped_rod_buckles_at_the_known_torque);
    RUN_TEST(a_ring_buckles_at_michells_twist);
    RUN_TEST(a_straight_rod_twists_with_its_torque);
}

const test_group der_rest_tests = {.run = run_tests};
