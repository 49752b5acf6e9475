// tests/strands/test_shape.c -- vertices, frames and curvatures of designs, each from the other.
#include "strands/shape.h"

#include <string.h>

#include "strands/system.h"

#include "tests/support/one_strand.h"
#include "tests/support/support.h"
#include "tests/support/twisting_chain.h"

#define MOST 401

static ss_error error;

static void set_up(void)
{
    error = (ss_error){0};
}

// A strand of 0.2 m with these curvatures everywhere.
static ss_strand_design helix(const double (*style)[3])
{
    return (ss_strand_design){.length = 0.2,
                              .material = ss_material_hair(),
                              .npieces = 1,
                              .style = style,
                              .nsegments = 20};
}

// The same by n vertices, with the angles of its material frames.
typedef struct by_vertices {
    ss_vec3 x[MOST];
    double theta[MOST];
    ss_strand_design design;
} by_vertices;

static void take_vertices(const ss_strand_design *d, int n, by_vertices *v)
{
    ss_mat3 F[MOST], parallel[MOST];
    ss_shape_vertices(d, SS_SHAPE_START, n, v->x);
    ss_shape_frames(d, SS_SHAPE_START, n, v->x, F);
    v->design = (ss_strand_design){
        .material = ss_material_hair(), .nvertices = n, .vertices = v->x, .director = F[0].c[1]};
    ss_shape_frames(&v->design, SS_SHAPE_START, n, v->x, parallel);
    for (int j = 0; j < n - 1; j++) {
        v->theta[j] =
            atan2(ss_dot(F[j].c[1], parallel[j].c[2]), ss_dot(F[j].c[1], parallel[j].c[1]));
    }
    v->design.theta = v->theta;
}

// A helix of curvature k and torsion t has its vertices on a cylinder of radius k / (k^2 + t^2).
static void vertices_of_curvatures_are_on_the_curve(void)
{
    const double style[1][3] = {{30.0, 0.0, 40.0}};
    const ss_strand_design d = helix(style);
    ss_vec3 x[21];
    ss_shape_vertices(&d, SS_SHAPE_START, 21, x);
    // The axis goes through the point 40 / 2500 along n1 of the beginning, along (30, 0, 40) / 50.
    const ss_vec3 axis = ss_vec(0.6, 0.0, 0.8), centre = ss_vec(0.0, 0.016, 0.0);
    for (int i = 0; i <= 20; i++) {
        const ss_vec3 arm = ss_minus(x[i], centre);
        const double along = ss_dot(arm, axis);
        CHECK_NEAR(ss_length(ss_along(arm, -along, axis)), 0.016, 1e-15);
        CHECK_NEAR(along, 0.6 * 0.01 * i, 1e-15);
    }
}

static void frames_are_orthonormal_and_along_the_edges(void)
{
    const double style[1][3] = {{30.0, -20.0, 40.0}};
    const ss_strand_design d = helix(style);
    by_vertices v;
    take_vertices(&d, 21, &v);
    for (int which = 0; which < 2; which++) {
        ss_mat3 F[20];
        ss_shape_frames(which == 0 ? &d : &v.design, SS_SHAPE_START, 21, v.x, F);
        for (int j = 0; j < 20; j++) {
            const ss_vec3 t = ss_unit(ss_minus(v.x[j + 1], v.x[j]));
            CHECK_LE(ss_length(ss_minus(F[j].c[0], t)), 1e-15);
            CHECK_LE(fabs(ss_dot(F[j].c[0], F[j].c[1])), 1e-15);
            CHECK_LE(ss_length(ss_minus(F[j].c[2], ss_cross(t, F[j].c[1]))), 1e-15);
            CHECK_NEAR(ss_length(F[j].c[1]), 1.0, 1e-14);
        }
    }
}

// The error of the curvatures that n vertices give back.
static double curvature_error(const double (*style)[3], int n)
{
    const ss_strand_design d = helix(style);
    double back[5][3], unrest[5][3], worst = 0.0;
    by_vertices v;
    take_vertices(&d, n, &v);
    ss_shape_curvatures(&v.design, false, 5, back, unrest);
    for (int e = 0; e < 5; e++) {
        for (int i = 0; i < 3; i++) {
            worst = fmax(worst, fabs(back[e][i] - style[0][i]));
            CHECK_NEAR(unrest[e][i], 0.0, 0.0);
        }
    }
    return worst;
}

static void vertices_give_curvatures_back_to_second_order(void)
{
    const double style[1][3] = {{30.0, -20.0, 40.0}};
    const double coarse = curvature_error(style, 51), fine = curvature_error(style, 101);
    CHECK_LE(coarse, 0.1);
    CHECK_NEAR(log2(coarse / fine), 2.0, 0.1);
}

// theta = s x 3/m on a straight line is a twist of 3/m.
static void angles_are_twist(void)
{
    by_vertices v = {.design = {.material = ss_material_hair(), .nvertices = 11}};
    for (int i = 0; i <= 10; i++) {
        v.x[i] = ss_vec(0.0, 0.02 * i, 0.0);
        v.theta[i] = 3.0 * 0.02 * (i + 0.5);
    }
    v.design.vertices = v.x;
    v.design.rest_theta = v.theta;
    double style[4][3], unrest[4][3];
    ss_shape_curvatures(&v.design, false, 4, style, unrest);
    for (int e = 0; e < 4; e++) {
        CHECK_NEAR(style[e][0], 0.0, 1e-15);
        CHECK_NEAR(unrest[e][0], 3.0, 1e-13);
        CHECK_NEAR(unrest[e][1], 0.0, 1e-13);
    }
}

static void another_number_of_vertices_is_equal_steps(void)
{
    const ss_vec3 corner[4] = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {1.0, 1.0, 0.0}, {1.0, 3.0, 0.0}};
    const ss_strand_design d = {.material = ss_material_hair(), .nvertices = 4, .vertices = corner};
    ss_vec3 x[9];
    ss_shape_vertices(&d, SS_SHAPE_START, 9, x);
    for (int i = 0; i <= 8; i++) {
        const ss_vec3 there = i <= 2 ? ss_vec(0.5 * i, 0.0, 0.0) : ss_vec(1.0, 0.5 * i - 1.0, 0.0);
        CHECK_LE(ss_length(ss_minus(x[i], there)), 1e-15);
    }
    CHECK_NEAR(ss_shape_length(&d), 4.0, 0.0);
}

// The largest distance between the points of a strand by vertices and these vertices, from `first` on.
static double fit_error(const char *model, int n, int first)
{
    const double style[1][3] = {{10.0, -8.0, 12.0}};
    const ss_strand_design d = helix(style);
    by_vertices v;
    take_vertices(&d, n, &v);
    const ss_pose away = {ss_rotation(ss_vec(1.0, 2.0, 0.5)), {1.0, -2.0, 3.0}};
    for (int i = 0; i < n; i++) {
        v.x[i] = ss_pose_point(&away, v.x[i]);
    }
    v.design.director = ss_turned(&away.turn, v.design.director);
    one_strand s = new_strand(model, &v.design);
    const ss_pose home = ss_pose_identity();
    place_strand(&s, &home, s.q);
    TEST_ASSERT_EQUAL_INT(n, s.size.npoints);
    double worst = 0.0;
    for (int i = first; i < n; i++) {
        worst = fmax(worst, ss_length(ss_minus(s.points[i].x, v.x[i])));
    }
    free_strand(&s);
    return worst;
}

static void particles_are_at_the_vertices(void)
{
    CHECK_LE(fit_error("tmf", 21, 0), 0.0);
    CHECK_LE(fit_error("pbd:root=free", 21, 0), 0.0);
    CHECK_LE(fit_error("twisting-chain", 21, 0), 0.0);
}

static void a_super_helix_fits_the_vertices_to_second_order(void)
{
    const char *const specs[] = {"super-helix:root=free", "super-helix"};
    for (int k = 0; k < 2; k++) { // a clamped one begins in the middle of the first edge
        const double coarse = fit_error(specs[k], 21, k), fine = fit_error(specs[k], 41, k);
        CHECK_LE(coarse, 3e-4);
        CHECK_NEAR(log2(coarse / fine), 2.0, 0.2);
    }
}

// Both q^n of a super-helix: where it starts and where it would rest.
static void the_natural_shape_is_that_of_rest(void)
{
    const double bent[1][3] = {{0.0, 0.0, 12.0}};
    const ss_strand_design d = helix(bent);
    by_vertices v;
    take_vertices(&d, 41, &v);
    ss_vec3 straight[41];
    for (int i = 0; i <= 40; i++) {
        straight[i] = ss_vec(0.005 * i, 0.0, 0.0);
    }
    v.design.rest = v.x;
    v.design.vertices = straight;
    v.design.rest_theta = v.theta;
    v.design.theta = NULL;
    one_strand s = new_strand("super-helix", &v.design);
    const ss_rigidity r = ss_material_rigidity(&v.design.material);
    CHECK_NEAR(s.model->energy(s.self, s.q), 0.5 * 0.1975 * r.bend2 * 144.0, 1e-2 * r.bend2);
    free_strand(&s);
}

// The largest difference between the velocity of a strand's points and u + w x X of its vertices.
static double velocity_error(const ss_model_choice *choice, const ss_strand_design *d, ss_vec3 u,
                             ss_vec3 w)
{
    ss_vec3 velocity[MOST];
    ss_strand_design moving = *d;
    const ss_pose root = {ss_rotation(ss_vec(0.3, -1.0, 0.4)), {1.0, 2.0, 3.0}};
    for (int i = 0; i < d->nvertices; i++) {
        velocity[i] = ss_plus(u, ss_cross(w, d->vertices[i]));
    }
    moving.velocity = velocity;
    ss_world *world = ss_world_new();
    int number;
    CHECK_OK(ss_world_add_strand(world, choice, &moving, 0, &root, &number, &error));
    ss_placed at;
    double worst = 0.0;
    CHECK(ss_placed_init(&at, &world->strands[0].size));
    ss_strand_place(world, 0, &world->now, &at);
    for (int i = 0; i < d->nvertices; i++) {
        const ss_vec3 rate = ss_point_rate(&at.points[i], world->now.v);
        const ss_vec3 wrong = ss_minus(rate, ss_turned(&root.turn, velocity[i]));
        worst = fmax(worst, ss_length(wrong));
    }
    ss_placed_free(&at);
    ss_world_free(world);
    return worst;
}

static void strands_start_with_the_velocities_of_their_vertices(void)
{
    const double bent[1][3] = {{3.0, -8.0, 12.0}};
    const ss_strand_design d = helix(bent);
    by_vertices v;
    take_vertices(&d, 21, &v);
    const ss_vec3 u = {1.0, -2.0, 0.5}, w = {3.0, 1.0, -2.0}, none = {0.0, 0.0, 0.0};
    const ss_model_choice example = {.model = &twisting_chain};
    CHECK_LE(velocity_error(&example, &v.design, u, w), 1e-10);
    ss_model_choice choice;
    CHECK_OK(ss_model_parse("pbd:root=free", &choice, &error));
    CHECK_LE(velocity_error(&choice, &v.design, u, w), 1e-10);
    ss_model_choice_free(&choice);
    // A super-helix bends and is fitted to vertices: a motion of its own it has to the same error.
    CHECK_OK(ss_model_parse("super-helix:root=free", &choice, &error));
    CHECK_LE(velocity_error(&choice, &v.design, u, none), 1e-3);
    CHECK_LE(velocity_error(&choice, &v.design, u, w), 5e-3);
    ss_model_choice_free(&choice);
}

static void check_refused(const ss_strand_design *d, const char *word)
{
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, ss_strand_design_check(d, &error));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, word), error.text);
}

static void vertices_that_are_no_strand_are_refused(void)
{
    ss_vec3 x[4] = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {2.0, 0.0, 0.0}, {3.0, 0.0, 0.0}};
    const double theta[3] = {0.0, NAN, 0.0};
    ss_strand_design d = {.material = ss_material_hair(), .nvertices = 4, .vertices = x};
    CHECK_OK(ss_strand_design_check(&d, &error));
    d.nvertices = 2;
    check_refused(&d, "3 to 16385 vertices, not 2");
    d.nvertices = 4;
    d.theta = theta;
    check_refused(&d, "angle");
    d.theta = NULL;
    x[2].x = 1.0;
    check_refused(&d, "vertices[1] and [2] of a strand are on one place");
    x[2].x = 0.5;
    check_refused(&d, "folds back on itself at vertices[1]");
    x[2] = ss_vec(0.0, NAN, 0.0);
    check_refused(&d, "vertices[2] of a strand is not finite");
    const ss_vec3 sound[4] = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {2.0, 0.0, 0.0}, {3.0, 0.0, 0.0}};
    d.vertices = sound;
    d.rest = x;
    check_refused(&d, "rest[2] of a strand is not finite");
}

static void run_tests(void)
{
    RUN_TEST(vertices_of_curvatures_are_on_the_curve);
    RUN_TEST(frames_are_orthonormal_and_along_the_edges);
    RUN_TEST(vertices_give_curvatures_back_to_second_order);
    RUN_TEST(angles_are_twist);
    RUN_TEST(another_number_of_vertices_is_equal_steps);
    RUN_TEST(particles_are_at_the_vertices);
    RUN_TEST(a_super_helix_fits_the_vertices_to_second_order);
    RUN_TEST(the_natural_shape_is_that_of_rest);
    RUN_TEST(strands_start_with_the_velocities_of_their_vertices);
    RUN_TEST(vertices_that_are_no_strand_are_refused);
}

const test_group shape_tests = {.run = run_tests, .set_up = set_up};
