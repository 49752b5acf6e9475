// tests/strands/test_corde_rest.c -- rods with directors at rest: the heavy elastica, Kirchhoff's rod, pure
// twist, and how the directors lie along their edges; and other models' rods.
#include <stdlib.h>
#include <string.h>

#include "strands/models/corde.h"
#include "tests/support/kirchhoff.h"
#include "tests/support/resting.h"
#include "tests/support/rod_errors.h"
#include "tests/support/strand_run.h"
#include "tests/support/support.h"

static ss_error error;

static void set_up(void)
{
    error = (ss_error){0};
}

// ---- The elastica and Kirchhoff's rod

// The errors of the discrete equilibrium, which was solved apart from this code with rigid kappa_p:
// doc/strands.md, "Reference solutions".
static void rods_hang_like_the_heavy_elastica_with_the_known_errors(void)
{
    const struct {
        int n;
        double light, heavy; // Gamma 5.31 and 143
    } known[] = {{16, 0.00062, 0.00489}, {32, 0.00015, 0.00116}};
    for (int k = 0; k < 2; k++) {
        const double light = elastica_error("corde", known[k].n, 5.31, 0.515145, 0.833206);
        const double heavy = elastica_error("corde", known[k].n, 143.0, 0.948406, 0.129459);
        CHECK_NEAR(light, known[k].light, 0.02 * known[k].light + 5e-6);
        CHECK_NEAR(heavy, known[k].heavy, 0.01 * known[k].heavy + 1e-5);
    }
}

static void rods_of_50_edges_hang_within_a_thousandth(void)
{
    CHECK_LE(elastica_error("corde", 50, 5.31, 0.515145, 0.833206), 0.001);
    CHECK_LE(elastica_error("corde", 50, 50.0, 0.907917, 0.245015), 0.001);
    CHECK_LE(elastica_error("corde", 50, 143.0, 0.948406, 0.129459), 0.001);
}

static void a_natural_helix_hangs_like_kirchhoffs(void)
{
    const double coarse = helix_error("corde", 32), fine = helix_error("corde", 64);
    const double finest = helix_error("corde", 128);
    CHECK_NEAR(log2(coarse / fine), 2.0, 0.3);
    CHECK_NEAR(log2(fine / finest), 2.0, 0.1);
    CHECK_LE(finest, 1e-3);
}

static void a_flat_twisted_rod_between_clamps_is_kirchhoffs(void)
{
    const double coarse = between_clamps_error("corde", 16);
    const double fine = between_clamps_error("corde", 32);
    const double finest = between_clamps_error("corde", 64);
    CHECK_NEAR(log2(coarse / fine), 2.0, 0.4);
    CHECK_NEAR(log2(fine / finest), 2.0, 0.25);
    CHECK_LE(finest, 1e-3);
}

// ---- Twist and directors

#define EDGES 40

// A straight rod whose joints are twisted by phi each.
static one_strand twisted(double phi)
{
    static ss_vec3 x[EDGES + 1];
    static double theta[EDGES], rest_theta[EDGES];
    for (int i = 0; i <= EDGES; i++) {
        x[i] = ss_vec(i * ROD_LENGTH / (EDGES - 1), 0.0, 0.0);
    }
    for (int j = 0; j < EDGES; j++) {
        theta[j] = j * phi;
    }
    const ss_strand_design design = {.material = ss_material_hair(),
                                     .nvertices = EDGES + 1,
                                     .vertices = x,
                                     .theta = theta,
                                     .rest_theta = rest_theta,
                                     .director = ss_vec(0.0, 0.0, 1.0),
                                     .clamp = SS_CLAMP_BOTH};
    return new_strand("corde", &design);
}

static void a_straight_rod_twists_with_the_torque_of_its_joints(void)
{
    const double turn = 9.0, phi = turn / (EDGES - 1), l = ROD_LENGTH / (EDGES - 1);
    one_strand s = twisted(phi);
    const ss_corde *d = s.self;
    double *F = calloc((size_t)s.size.nv, sizeof *F);
    const double known = d->rigidity.twist / l * sin(phi), unit = fabs(known);
    s.model->force(s.self, s.q, s.rest, F);
    for (int j = 0; j < EDGES; j++) {
        const double torque = j == 0 ? known : j == EDGES - 1 ? -known : 0.0;
        CHECK_NEAR(F[6 * j + 5], torque, 1e-12 * unit);
        CHECK_NEAR(F[6 * j + 3], 0.0, 1e-15 * d->parallel * l);
        CHECK_NEAR(F[6 * j], 0.0, 1e-15 * d->parallel);
    }
    CHECK_NEAR(known, d->rigidity.twist * turn / ROD_LENGTH, 0.01 * known);
    free(F);
    free_strand(&s);
}

// sin of the largest angle between d_3 and its edge of a rod that hangs from a level clamp.
static double misalignment(const char *spec)
{
    const ss_strand_design design = {
        .length = ROD_LENGTH, .material = ss_material_hair(), .nsegments = 8};
    one_strand s = new_strand(spec, &design);
    double most = 0.0;
    hang_strand(&s, ss_vec(0.0, -9.81, 0.0), 4);
    for (int j = 0; j < 8; j++) {
        const ss_vec3 e = ss_minus(ss_corde_vertex(s.q, j + 1), ss_corde_vertex(s.q, j));
        const ss_vec3 d3 = ss_quat_turned(ss_corde_turn(s.q, j), ss_vec(0.0, 0.0, 1.0));
        most = fmax(most, ss_length(ss_cross(ss_unit(e), d3)));
    }
    free_strand(&s);
    return most;
}

// The force across an edge over kappa_p.
static void directors_come_along_their_edges_as_they_are_held_harder(void)
{
    const double soft = misalignment("corde:parallel=0.01");
    const double harder = misalignment("corde:parallel=0.1"), own = misalignment("corde");
    CHECK_LE(own, 1e-5);
    CHECK_NEAR(soft / harder, 10.0, 0.1);
    CHECK_NEAR(harder / own, 10.0, 0.1);
}

static void directors_stay_of_unit_length_for_a_hundred_thousand_steps(void)
{
    const ss_strand_design design = {
        .length = ROD_LENGTH, .material = ss_material_hair(), .nsegments = 4};
    one_strand s = new_strand("corde", &design);
    ss_random g = ss_random_seeded(1);
    for (int step = 0; step < 100000; step++) {
        for (int k = 0; k < s.size.nv; k++) {
            s.v[k] = ss_random_between(&g, -0.1, 0.1);
        }
        s.model->advance(s.self, s.q, s.v, 1.0, s.q);
    }
    for (int j = 0; j < 4; j++) {
        const ss_quat p = ss_corde_turn(s.q, j);
        CHECK_NEAR(p.w * p.w + p.x * p.x + p.y * p.y + p.z * p.z, 1.0, 1e-12);
    }
    free_strand(&s);
}

static void a_difference_is_what_advances(void)
{
    const ss_strand_design design = {
        .length = ROD_LENGTH, .material = ss_material_hair(), .nsegments = 4};
    one_strand s = new_strand("corde", &design);
    ss_random g = ss_random_seeded(2);
    double moved[31], v[27];
    for (int k = 0; k < s.size.nv; k++) {
        s.v[k] = ss_random_between(&g, -30.0, 30.0);
    }
    s.model->advance(s.self, s.q, s.v, 0.05, moved); // by at most 2.6 rad
    s.model->difference(s.self, s.q, moved, 0.05, v);
    for (int k = 0; k < s.size.nv; k++) {
        CHECK_NEAR(v[k], s.v[k], 1e-12 * 30.0);
    }
    free_strand(&s);
}

// ---- The same strand by other models

// A natural curl that is let go level, its clamp at the origin along x, of n edges or elements.
static run curl(const char *spec, bool rod, int n, double dt, double relaxation)
{
    const double style[1][3] = {{20.0, 10.0, 60.0}}, l = rod ? ROD_LENGTH / (n - 0.5) : 0.0;
    ss_strand_design design = {.length = ROD_LENGTH + 0.5 * l,
                               .material = ss_material_hair(),
                               .npieces = 1,
                               .style = style,
                               .nsegments = n};
    design.material.relaxation = relaxation;
    const ss_pose home = ss_pose_identity();
    const ss_pose clamp = kirchhoff_natural(ss_vec(20.0, 10.0, 60.0), 0.5 * l, &home);
    const ss_pose root = kirchhoff_inverse(&clamp);
    return new_run(spec, "newton", &design, &root, ss_vec(0.0, -9.81, 0.0), dt);
}

static double apart(const run *a, const run *b)
{
    return ss_length(ss_minus(tip_of(a), tip_of(b))) / ROD_LENGTH;
}

// The first second of dynamics, after which damping has all but brought them to rest.
static void super_helix_der_and_corde_move_and_rest_alike(void)
{
    run a = curl("super-helix:elements=12", false, 12, 5e-3, 0.05);
    run b = curl("der", true, 64, 5e-3, 0.05), c = curl("corde", true, 64, 5e-3, 0.05);
    for (double t = 0.05; t < 1.01; t += 0.05) {
        go_to(&a, t);
        go_to(&b, t);
        go_to(&c, t);
        CHECK_LE(apart(&a, &c), 0.01);
        CHECK_LE(apart(&b, &c), 0.01);
    }
    CHECK_LE(c.report.max_speed, 0.01);
    free_run(&a);
    free_run(&b);
    free_run(&c);
}

static void run_tests(void)
{
    RUN_TEST(rods_hang_like_the_heavy_elastica_with_the_known_errors);
    RUN_TEST(rods_of_50_edges_hang_within_a_thousandth);
    RUN_TEST(a_natural_helix_hangs_like_kirchhoffs);
    RUN_TEST(a_flat_twisted_rod_between_clamps_is_kirchhoffs);
    RUN_TEST(a_straight_rod_twists_with_the_torque_of_its_joints);
    RUN_TEST(directors_come_along_their_edges_as_they_are_held_harder);
    RUN_TEST(directors_stay_of_unit_length_for_a_hundred_thousand_steps);
    RUN_TEST(a_difference_is_what_advances);
    RUN_TEST(super_helix_der_and_corde_move_and_rest_alike);
}

const test_group corde_rest_tests = {.run = run_tests, .set_up = set_up};
