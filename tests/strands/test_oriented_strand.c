// tests/strands/test_oriented_strand.c -- strands of rigid links: against their samples, at rest, and beside
// other models.
#include <gsl/gsl_linalg.h>
#include <stdlib.h>
#include <string.h>

#include "strands/models/oriented.h"
#include "tests/support/kirchhoff.h"
#include "tests/support/one_strand.h"
#include "tests/support/rod_errors.h"
#include "tests/support/stepping.h"
#include "tests/support/strand_run.h"
#include "tests/support/support.h"

static ss_random g;
static ss_error error;

static void set_up(void)
{
    g = ss_random_seeded(29);
    error = (ss_error){0};
}

static const ss_oriented *tree_of(const void *strand)
{
    return ((const ss_oriented_strand *)strand)->tree;
}

// ---- The residual and the sums over samples of model.h are one dynamics

static void check_forces(const char *spec)
{
    const double style[2][3] = {{20.0, -10.0, 30.0}, {-15.0, 25.0, 5.0}};
    const ss_strand_design design = {.length = 0.2,
                                     .material = ss_material_hair(),
                                     .npieces = 2,
                                     .style = style,
                                     .nsegments = 7};
    ss_pose root = random_pose(&g);
    run r = new_run(spec, "linear", &design, &root, ss_vec(1.0, -9.81, 2.0), 1e-3);
    ss_strand *s = &r.w->strands[0];
    const int nv = s->size.nv;
    double *F = calloc(2 * (size_t)nv, sizeof *F), *rs = F + nv;
    for (int k = 0; k < nv; k++) {
        r.w->now.v[k] = 5.0 * ss_random_normal(&g);
    }
    s->model->advance(s->self, r.w->now.q, r.w->now.v, 0.05, r.w->now.q);
    ss_placed at;
    CHECK(ss_placed_init(&at, &s->size));
    ss_strand_place(r.w, 0, &r.w->now, &at);
    ss_system_scratch *scratch = ss_system_scratch_new(r.w);
    ss_strand_forces(r.w, 0, &r.w->now, &at, scratch, F);
    const ss_oriented_strand *own = s->self;
    const ss_oriented_base base = {.pose = ss_pose_product(&root, &own->home),
                                   .acceleration = ss_scaled(-1.0, r.w->gravity)};
    ss_oriented_residual(own->tree, &base, r.w->now.q, r.w->now.v, NULL, NULL, rs);
    const double most = largest_of(F, nv);
    for (int k = 0; k < nv; k++) {
        CHECK_NEAR(F[k], -rs[k], 1e-13 * most);
    }
    ss_system_scratch_free(scratch);
    ss_placed_free(&at);
    free(F);
    free_run(&r);
}

static void the_forces_of_the_samples_are_minus_the_residual(void)
{
    check_forces("oriented-strands");
    check_forces("oriented-strands:root=free");
}

// ---- Places

static void links_end_at_the_vertices_of_their_design(void)
{
    ss_vec3 vertices[6];
    for (int i = 0; i < 6; i++) {
        vertices[i] = ss_vec(0.01 * i, 0.004 * ss_random_normal(&g), 0.004 * ss_random_normal(&g));
    }
    ss_strand_design design = {
        .material = ss_material_hair(), .nvertices = 6, .vertices = vertices};
    for (int k = 0; k < 2; k++) {
        design.clamp = k == 0 ? SS_CLAMP_ROOT : SS_CLAMP_NONE;
        one_strand s = new_strand("oriented-strands", &design);
        const ss_pose root = random_pose(&g);
        TEST_ASSERT_EQUAL_INT(6, s.size.npoints);
        TEST_ASSERT_EQUAL_INT(k == 0 ? 4 : 5, tree_of(s.self)->n);
        place_strand(&s, &root, s.q);
        for (int i = 0; i < 6; i++) {
            const ss_vec3 there = ss_pose_point(&root, vertices[i]);
            CHECK_LE(ss_length(ss_minus(s.points[i].x, there)), 1e-15);
        }
        free_strand(&s);
    }
}

// A natural curvature (c0, c1, c2) is exp(l (c2, c0, c1)/2) at a joint, up to the tilt of chords.
static void joints_rest_at_the_curvature_of_the_design(void)
{
    const double style[1][3] = {{2.0, 3.0, 4.0}};
    ss_strand_design design = {.length = 0.1,
                               .material = ss_material_hair(),
                               .npieces = 1,
                               .style = style,
                               .nsegments = 100};
    design.material.ellipticity = 1.5;
    one_strand s = new_strand("oriented-strands", &design);
    const ss_oriented *tree = tree_of(s.self);
    for (int j = 1; j < tree->n; j++) {
        const ss_vec3 turn = ss_quat_log(tree->link[j].rest);
        CHECK_LE(ss_length(ss_minus(ss_scaled(1e3, turn), ss_vec(4.0, 2.0, 3.0))), 1e-4);
    }
    const ss_rigidity rigidity = ss_material_rigidity(&design.material);
    const ss_vec3 first = tree->link[0].spring, next = tree->link[1].spring;
    CHECK_NEAR(first.x, 4.0 * rigidity.bend2 / 1e-3, 1e-4 * first.x);
    CHECK_NEAR(first.z, 4.0 * rigidity.bend1 / 1e-3, 1e-4 * first.z);
    CHECK_NEAR(next.x, 2.0 * rigidity.bend2 / 1e-3, 1e-4 * next.x);
    CHECK_NEAR(next.y, 2.0 * rigidity.twist / 1e-3, 1e-4 * next.y);
    free_strand(&s);
}

static void a_clamped_tip_is_refused(void)
{
    ss_strand_design design = random_design(&g, 2, 10.0);
    design.clamp = SS_CLAMP_BOTH;
    check_refused_design("oriented-strands", &design, "cannot be clamped at its tip");
}

// ---- Rest

// Newton's method on the static residual, its slope by differences; the largest change of an angle.
static double newton_step(const ss_oriented *tree, const ss_oriented_base *base, double *q)
{
    const int nv = ss_oriented_nv(tree);
    const size_t n = (size_t)nv;
    double *rs = calloc(3 * n, sizeof *rs), *ahead = rs + n, *still = ahead + n, most = 0.0;
    gsl_matrix *A = gsl_matrix_alloc(n, n);
    ss_oriented_residual(tree, base, q, still, NULL, NULL, rs);
    for (size_t j = 0; j < n; j++) {
        double *turn = q + 4 * (j / 3);
        const ss_quat at = ss_quat_read(turn);
        const double h = 1e-6;
        const ss_vec3 by = ss_vec(j % 3 == 0 ? h : 0.0, j % 3 == 1 ? h : 0.0, j % 3 == 2 ? h : 0.0);
        ss_quat_write(ss_quat_product(at, ss_quat_exp(by)), turn);
        ss_oriented_residual(tree, base, q, still, NULL, NULL, ahead);
        ss_quat_write(at, turn);
        for (size_t i = 0; i < n; i++) {
            gsl_matrix_set(A, i, j, (ahead[i] - rs[i]) / h);
        }
    }
    gsl_permutation *order = gsl_permutation_alloc(n);
    gsl_vector_view x = gsl_vector_view_array(rs, n);
    int sign;
    gsl_linalg_LU_decomp(A, order, &sign);
    gsl_linalg_LU_svx(A, order, &x.vector);
    for (int j = 0; j < tree->n; j++) {
        const ss_vec3 by = ss_vec(-rs[3 * j], -rs[3 * j + 1], -rs[3 * j + 2]);
        const ss_quat turned = ss_quat_product(ss_quat_read(q + 4 * j), ss_quat_exp(by));
        ss_quat_write(ss_quat_unit(turned), q + 4 * j);
        most = fmax(most, ss_length(by));
    }
    gsl_permutation_free(order);
    gsl_matrix_free(A);
    free(rs);
    return most;
}

// The tip of a strand that hangs, in lengths. Gravity, along -y, rises from `first` to `most` in steps by 1.5.
static ss_vec3 hanging_tip(const ss_strand_design *design, double first, double most)
{
    one_strand s = new_strand("oriented-strands", design);
    const ss_oriented_strand *own = s.self;
    for (double at = 0.0; at < most;) {
        at = fmin(most, fmax(first, 1.5 * at));
        const ss_oriented_base base = {.pose = own->home, .acceleration = ss_vec(0.0, at, 0.0)};
        double change = INFINITY;
        for (int k = 0; k < 30 && !(change <= 1e-9); k++) {
            change = newton_step(own->tree, &base, s.q);
        }
        CHECK_LE(change, 1e-9);
    }
    const ss_pose root = ss_pose_identity();
    place_strand(&s, &root, s.q);
    const ss_vec3 tip = ss_scaled(1.0 / ROD_LENGTH, s.points[s.size.npoints - 1].x);
    free_strand(&s);
    return tip;
}

// The tip of a level straight strand of n links from that of the heavy elastica, in lengths.
static double hanging_error(int n, double gamma, double drop, double reach)
{
    const ss_strand_design design = {
        .length = ROD_LENGTH, .material = ss_material_hair(), .nsegments = n};
    const ss_rigidity r = ss_material_rigidity(&design.material);
    const double unit = r.bend1 / (r.line_density * ROD_LENGTH * ROD_LENGTH * ROD_LENGTH);
    const ss_vec3 tip = hanging_tip(&design, unit, gamma * unit);
    CHECK_NEAR(tip.z, 0.0, 1e-9);
    return hypot(tip.x - reach, tip.y + drop);
}

// doc/strands.md, "Reference solutions", has these errors from a code of its own.
static void strands_hang_like_the_heavy_elastica_with_the_known_errors(void)
{
    CHECK_NEAR(hanging_error(16, 5.31, 0.515145, 0.833206), 0.151e-2, 0.001e-2);
    CHECK_NEAR(hanging_error(32, 5.31, 0.515145, 0.833206), 0.037e-2, 0.001e-2);
    CHECK_NEAR(hanging_error(64, 5.31, 0.515145, 0.833206), 0.009e-2, 0.001e-2);
    CHECK_NEAR(hanging_error(16, 143.0, 0.948406, 0.129459), 0.615e-2, 0.003e-2);
    CHECK_NEAR(hanging_error(32, 143.0, 0.948406, 0.129459), 0.143e-2, 0.003e-2);
}

static ss_material flat_hair(void)
{
    ss_material m = ss_material_hair();
    m.ellipticity = 1.6;
    return m;
}

// How far the tip of a natural helix that hangs is from Kirchhoff's, in lengths.
static double helix_error_of(ss_material material, int n)
{
    const double style[1][3] = {{60.0, 40.0, 90.0}};
    const ss_strand_design design = {
        .length = ROD_LENGTH, .material = material, .npieces = 1, .style = style, .nsegments = n};
    kirchhoff k = {.length = ROD_LENGTH,
                   .rigidity = ss_material_rigidity(&design.material),
                   .natural = ss_vec(60.0, 40.0, 90.0),
                   .root = ss_pose_identity()};
    k.weight = ss_vec(0.0, -9.81 * k.rigidity.line_density, 0.0);
    const ss_vec3 known = ss_scaled(1.0 / ROD_LENGTH, kirchhoff_at(&k, 1.0, 4).place);
    return ss_length(ss_minus(hanging_tip(&design, 3.0, 9.81), known));
}

// Joints have the axes of their child, half a link ahead of them: errors are of the second order where all
// rigidities are alike, and of the first where they are not ("Joint stiffness").
static void a_helix_hangs_like_kirchhoffs_rod(void)
{
    ss_material alike = ss_material_hair();
    alike.poisson = 0.0;
    const double coarse = helix_error_of(alike, 32), fine = helix_error_of(alike, 64);
    CHECK_LE(fine, 1e-4);
    CHECK_NEAR(2.0, log2(coarse / fine), 0.15);
    const double flat_coarse = helix_error_of(flat_hair(), 32);
    const double flat_fine = helix_error_of(flat_hair(), 64);
    CHECK_LE(flat_fine, 3e-3);
    CHECK_NEAR(1.0, log2(flat_coarse / flat_fine), 0.15);
}

// "Zero-gravity rest shape": at the pose nothing accelerates, and the strand stays there.
static void check_rest(ss_material material)
{
    const double style[3][3] = {{40.0, 10.0, 60.0}, {-20.0, 30.0, 50.0}, {10.0, -60.0, 20.0}};
    const ss_strand_design design = {
        .length = 0.15, .material = material, .npieces = 3, .style = style, .nsegments = 15};
    const ss_pose root = random_pose(&g);
    run r = new_run("oriented-strands", "newton", &design, &root, ss_vec(0.0, -9.81, 0.0), 4e-3);
    CHECK_OK(ss_world_settle(r.w, &error));
    const ss_strand *s = &r.w->strands[0];
    const ss_oriented_strand *own = s->self;
    const int nv = s->size.nv;
    const ss_oriented_base base = {.pose = ss_pose_product(&root, &own->home),
                                   .acceleration = ss_vec(0.0, 9.81, 0.0)};
    double *rs = calloc((size_t)nv, sizeof *rs);
    ss_oriented_residual(own->tree, &base, r.w->now.q, r.w->now.v, NULL, NULL, rs);
    CHECK_LE(largest_of(rs, nv), 1e-12 * own->mass * 9.81 * 0.075);
    const ss_vec3 before = tip_of(&r);
    go_to(&r, 1.2);
    CHECK_LE(ss_length(ss_minus(tip_of(&r), before)), 1e-10);
    CHECK_LE(largest_of(r.w->now.v, nv), 1e-7);
    free(rs);
    free_run(&r);
}

static void a_settled_strand_rests_in_its_pose(void)
{
    check_rest(ss_material_hair());
    check_rest(flat_hair());
}

// ---- Frames

#define STEPS 20000
#define H     1e-3                           // s
#define TURN  (0.3 * 3.14159265358979323846) // rad/s

// Step k: the base turns about x, and the joints somehow.
static void turn_joints(one_strand *s, int k, double h)
{
    for (int i = 0; i < s->size.nv; i++) {
        s->v[i] = 0.5 * sin(1e-3 * k * (1 + i % 5)); // rad/s
    }
    s->model->advance(s->self, s->q, s->v, h, s->q);
}

static const ss_oriented_motion *tip_at(const one_strand *s, int k)
{
    const ss_oriented *tree = tree_of(s->self);
    const ss_oriented_base base = {
        .pose = {ss_rotation(ss_vec(k * H * TURN, 0.0, 0.0)), {0.0, 0.0, 0.0}},
        .spin = ss_vec(TURN, 0.0, 0.0)};
    ss_oriented_move(tree, &base, s->q, s->v, NULL);
    return &tree->motion[tree->n - 1];
}

static double turned_apart(const ss_mat3 *a, const ss_mat3 *b)
{
    double most = 0.0;
    for (int c = 0; c < 3; c++) {
        most = fmax(most, ss_length(ss_minus(a->c[c], b->c[c])));
    }
    return most;
}

// Over 20 s in which the base turns round three times and all joints move, the frame at the tip turns in a step
// by what its spin says, up to the second order of the step, and it is back where it was when all motions are
// undone.
static void frames_along_the_strand_do_not_jump(void)
{
    const ss_strand_design design = {
        .length = 0.1, .material = ss_material_hair(), .nsegments = 24};
    one_strand s = new_strand("oriented-strands", &design);
    const ss_mat3 first = tip_at(&s, 0)->turn;
    ss_mat3 before = first;
    for (int k = 1; k <= STEPS; k++) {
        turn_joints(&s, k, H);
        const ss_oriented_motion *tip = tip_at(&s, k);
        const ss_mat3 back = ss_rotation(ss_scaled(-H, tip->spin));
        const ss_mat3 expected = ss_mat3_product(&back, &tip->turn);
        double rate = TURN; // rad/s, of all that turn one after another
        for (int j = 0; j < s.size.nv; j += 3) {
            rate += ss_length(ss_vec(s.v[j], s.v[j + 1], s.v[j + 2]));
        }
        CHECK_LE(turned_apart(&expected, &before), 0.5 * H * H * rate * rate);
        before = tip->turn;
    }
    for (int k = STEPS; k >= 1; k--) {
        turn_joints(&s, k, -H);
    }
    const ss_mat3 last = tip_at(&s, 0)->turn;
    CHECK_LE(turned_apart(&first, &last), 1e-9);
    free_strand(&s);
}

// ---- Impacts

// A straight free strand that falls level on a plane, 2 cm below it. It leaves with the share of its speed.
static void a_free_strand_bounces_with_the_share_of_restitution(void)
{
    for (int k = 0; k < 3; k++) {
        const double share = 0.5 * k;
        const ss_strand_design design = {
            .length = 0.1, .material = ss_material_hair(), .nsegments = 4, .clamp = SS_CLAMP_NONE};
        ss_obstacle floor = {
            .kind = SS_OBSTACLE_PLANE,
            .pose = {ss_rotation(ss_vec(-0.5 * 3.14159265358979, 0, 0)), {0.0, -0.02, 0.0}},
            .mu = 0.3,
            .restitution = share};
        ss_model_choice choice;
        ss_step_options options = ss_step_defaults();
        stepping solver = {0};
        const ss_pose root = ss_pose_identity();
        run r = {.w = ss_world_new()};
        int number;
        CHECK_OK(ss_model_parse("oriented-strands", &choice, &error));
        CHECK_OK(ss_world_add_strand(r.w, &choice, &design, 0, &root, &number, &error));
        const ss_motion still = ss_motion_still(); // a root segment may be inside what carries it
        CHECK_OK(ss_world_add_body(r.w, &still, &floor.body, &error));
        CHECK_OK(ss_world_add_obstacle(r.w, &floor, &error));
        options.dt = 1e-3;
        options.margin = 2e-3; // m: it is seen before it touches
        r.s = ss_stepper_new(r.w, &options, (ss_step_solver){.solve = solve_step, &solver}, &error);
        CHECK(r.s != NULL);
        double fastest = 0.0, leaves = 0.0;
        for (int step = 0; step < 100; step++) { // the first three velocities are the place's
            CHECK_OK(ss_stepper_step(r.s, &r.report, &error));
            const ss_vec3 v =
                ss_turned(&((const ss_oriented_strand *)r.w->strands[0].self)->home.turn,
                          ss_vec(r.w->now.v[0], r.w->now.v[1], r.w->now.v[2]));
            fastest = fmin(fastest, v.y);
            leaves = fmax(leaves, v.y);
        }
        CHECK_NEAR(fastest, -sqrt(2.0 * 9.81 * 0.02), 0.02);
        CHECK_NEAR(leaves, -share * fastest, 0.02);
        ss_model_choice_free(&choice);
        free_run(&r);
    }
}

// ---- The same strand by other models

// A natural curl that is let go level, its free length beginning at the origin along x.
static run curl(const char *spec, ss_material material, bool rod, int n, double dt)
{
    const double style[1][3] = {{20.0, 10.0, 60.0}}, l = rod ? ROD_LENGTH / (n - 0.5) : 0.0;
    ss_strand_design design = {.length = ROD_LENGTH + 0.5 * l,
                               .material = material,
                               .npieces = 1,
                               .style = style,
                               .nsegments = n};
    design.material.relaxation = 0.05;
    const ss_pose home = ss_pose_identity();
    const ss_pose clamp = kirchhoff_natural(ss_vec(20.0, 10.0, 60.0), 0.5 * l, &home);
    const ss_pose root = kirchhoff_inverse(&clamp);
    return new_run(spec, "newton", &design, &root, ss_vec(0.0, -9.81, 0.0), dt);
}

static double apart(const run *a, const run *b)
{
    return ss_length(ss_minus(tip_of(a), tip_of(b))) / ROD_LENGTH;
}

static void check_alike(ss_material material, double until)
{
    run a = curl("super-helix:elements=12", material, false, 12, 5e-3);
    run b = curl("der", material, true, 64, 5e-3);
    run c = curl("oriented-strands", material, false, 64, 5e-3);
    for (double t = 0.05; t < until + 0.01; t += 0.05) {
        go_to(&a, t);
        go_to(&b, t);
        go_to(&c, t);
        CHECK_LE(apart(&a, &c), 0.01);
        CHECK_LE(apart(&b, &c), 0.01);
    }
    free_run(&a);
    free_run(&b);
    free_run(&c);
}

static void super_helix_der_and_links_move_alike(void)
{
    check_alike(ss_material_hair(), 0.5);
    check_alike(flat_hair(), 0.1);
}

static void run_tests(void)
{
    RUN_TEST(the_forces_of_the_samples_are_minus_the_residual);
    RUN_TEST(links_end_at_the_vertices_of_their_design);
    RUN_TEST(joints_rest_at_the_curvature_of_the_design);
    RUN_TEST(a_clamped_tip_is_refused);
    RUN_TEST(strands_hang_like_the_heavy_elastica_with_the_known_errors);
    RUN_TEST(a_helix_hangs_like_kirchhoffs_rod);
    RUN_TEST(a_settled_strand_rests_in_its_pose);
    RUN_TEST(frames_along_the_strand_do_not_jump);
    RUN_TEST(a_free_strand_bounces_with_the_share_of_restitution);
    RUN_TEST(super_helix_der_and_links_move_alike);
}

const test_group oriented_strand_tests = {.run = run_tests, .set_up = set_up};
