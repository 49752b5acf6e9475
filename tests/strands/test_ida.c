// tests/strands/test_ida.c -- the scheme ida, and the residual of strands of links that it integrates.
#include <stdlib.h>
#include <string.h>

#include "strands/world.h"
#include "strands/system.h"
#include "tests/support/one_strand.h"
#include "tests/support/random_tree.h"
#include "tests/support/strand_run.h"
#include "tests/support/support.h"

static ss_random g;
static ss_error error;
static const ss_vec3 WEIGHT = {0.0, -9.81, 0.0};

static void set_up(void)
{
    g = ss_random_seeded(31);
    error = (ss_error){0};
}

// ---- The residual in linear time is that of the sums over samples

static const double STYLE[2][3] = {{20.0, -10.0, 30.0}, {-15.0, 25.0, 5.0}};

static ss_strand_design wavy(int n)
{
    return (ss_strand_design){.length = 0.2,
                              .material = ss_material_hair(),
                              .npieces = 2,
                              .style = STYLE,
                              .nsegments = n};
}

static void set_motion(run *r, bool turns)
{
    ss_motion *body = &r->w->bodies[r->w->strands[0].carrier];
    ss_strand *s = &r->w->strands[0];
    body->shift = (ss_profile){.kind = SS_PROFILE_OSCILLATE, .size = 0.05, .period = 0.3};
    if (turns) {
        body->angle = (ss_profile){.kind = SS_PROFILE_OSCILLATE, .size = 0.5, .period = 0.4};
    }
    s->pull_root = random_vector(&g, 1e-5);
    s->pull_tip = random_vector(&g, 1e-5);
    r->w->drag = 3e-5;
    r->w->now.time = 0.2;
    for (int k = 0; k < s->size.nv; k++) {
        r->w->now.v[k] = 5.0 * ss_random_normal(&g);
    }
    s->model->advance(s->self, r->w->now.q, r->w->now.v, 0.05, r->w->now.q);
}

static void check_residual(const char *spec, bool turns, double bound)
{
    const ss_strand_design design = wavy(7);
    const ss_pose root = random_pose(&g);
    run r = new_run(spec, "linear", &design, &root, ss_vec(1.0, -9.81, 2.0), 1e-3);
    set_motion(&r, turns);
    const ss_strand *s = &r.w->strands[0];
    const int nv = s->size.nv;
    double *sums = calloc(4 * (size_t)nv, sizeof *sums), *rs = sums + nv, *vdot = rs + nv;
    double *past = vdot + nv;
    for (int k = 0; k < nv; k++) {
        vdot[k] = 100.0 * ss_random_normal(&g);
        past[k] = r.w->now.v[k] - vdot[k];
    }
    ss_placed at;
    CHECK(ss_placed_init(&at, &s->size));
    ss_strand_place(r.w, 0, &r.w->now, &at);
    ss_system_scratch *scratch = ss_system_scratch_new(r.w);
    ss_iterate it = ss_iterate_first(&r.w->now, 1.0);
    it.past = past;
    ss_strand_residual(r.w, 0, &it, &at, scratch, sums);
    const ss_surroundings around = ss_strand_surroundings(r.w, 0, r.w->now.time);
    s->model->residual(s->self, &around, r.w->now.q, r.w->now.v, vdot, rs);
    const double most = largest_of(sums, nv);
    for (int k = 0; k < nv; k++) {
        CHECK_NEAR(sums[k], rs[k], bound * most);
    }
    ss_system_scratch_free(scratch);
    ss_placed_free(&at);
    free(sums);
    free_run(&r);
}

static void the_residual_is_that_of_the_samples(void)
{
    check_residual("oriented-strands", false, 1e-12);
    check_residual("oriented-strands:root=free", false, 1e-12);
}

// What a turning base does to the spins about the links, of the order (radius/length)^2, is left out by the
// sums over samples.
static void on_a_turning_base_the_spins_make_the_difference(void)
{
    check_residual("oriented-strands", true, 1e-5);
}

// Forces at all points of the polyline: -J'f in the residual.
static void forces_at_points_act_by_their_jacobians(void)
{
    const ss_strand_design design = wavy(7);
    const ss_pose root = random_pose(&g);
    run r = new_run("oriented-strands", "linear", &design, &root, WEIGHT, 1e-3);
    set_motion(&r, true);
    const ss_strand *s = &r.w->strands[0];
    ss_vec3 push[8];
    double vdot[21], with[21], without[21];
    for (int i = 0; i < 8; i++) {
        push[i] = random_vector(&g, 1e-4);
    }
    for (int k = 0; k < 21; k++) {
        vdot[k] = 100.0 * ss_random_normal(&g);
    }
    ss_surroundings around = ss_strand_surroundings(r.w, 0, r.w->now.time);
    s->model->residual(s->self, &around, r.w->now.q, r.w->now.v, vdot, without);
    around.push = push;
    s->model->residual(s->self, &around, r.w->now.q, r.w->now.v, vdot, with);
    ss_placed at;
    CHECK(ss_placed_init(&at, &s->size));
    ss_strand_place(r.w, 0, &r.w->now, &at);
    for (int i = 0; i < 8; i++) {
        const ss_strand_point *p = &at.points[i];
        for (int j = 0; j < p->count; j++) {
            const double *J = p->J + j;
            without[ss_point_dof(p, j)] -=
                J[0] * push[i].x + J[p->count] * push[i].y + J[2 * p->count] * push[i].z;
        }
    }
    const double most = largest_of(with, 21);
    for (int k = 0; k < 21; k++) {
        CHECK_NEAR(with[k], without[k], 1e-13 * most);
    }
    ss_placed_free(&at);
    free_run(&r);
}

static void velocities_come_back_from_their_rates(void)
{
    const ss_strand_design design = wavy(5);
    one_strand s = new_strand("oriented-strands:root=free", &design);
    double v[18], back[18], qdot[23];
    for (int k = 0; k < s.size.nv; k++) {
        v[k] = ss_random_normal(&g);
    }
    for (int k = 3; k < s.size.nq; k++) {
        s.q[k] *= 1.1;
    }
    s.model->rate(s.self, s.q, v, qdot);
    s.model->unrate(s.self, s.q, qdot, back);
    for (int k = 0; k < s.size.nv; k++) {
        CHECK_NEAR(v[k], back[k], 1e-14);
    }
    free_strand(&s);
}

// ---- Motions

// A chain of n links without damping, its root at the origin, at an angle to the vertical.
static run hanging(const char *model, const char *scheme, int n, double young, double angle,
                   double dt)
{
    ss_strand_design design = {.length = 0.1, .material = ss_material_hair(), .nsegments = n};
    const ss_vec3 along = ss_vec(sin(angle), -cos(angle), 0.0), side = ss_vec(0.0, 0.0, 1.0);
    const ss_pose root = {.turn = {{along, ss_cross(side, along), side}}};
    design.material.relaxation = 0.0;
    design.material.young *= young;
    return new_run(model, scheme, &design, &root, WEIGHT, dt);
}

// One link without a spring: it swings as a rod about its end.
static void one_link_has_the_period_of_a_rod(void)
{
    const double angle = 0.02, g0 = 9.81, l = 0.1;
    const double period = 2.0 * M_PI * sqrt(2.0 * l / (3.0 * g0)) * (1.0 + angle * angle / 16.0);
    run r = hanging("oriented-strands", "ida:rtol=1e-10", 1, 1e-12, angle, 0.25 * period);
    const double share[4] = {0.0, -1.0, 0.0, 1.0};
    for (int quarter = 0; quarter < 8; quarter++) {
        CHECK_OK(ss_stepper_step(r.s, &r.report, &error));
        CHECK_NEAR(share[quarter % 4] * l * sin(angle), tip_of(&r).x, 1e-5 * l * angle);
    }
    free_run(&r);
}

static void check_energy(const char *model, const char *scheme, int n, double young)
{
    run r = hanging(model, scheme, n, young, 1.5, 0.01);
    double most = 0.0;
    CHECK_OK(ss_stepper_step(r.s, &r.report, &error));
    const double start = energy_of(&r);
    for (int i = 0; i < 40; i++) {
        CHECK_OK(ss_stepper_step(r.s, &r.report, &error));
        most = fmax(most, r.report.energy.kinetic);
        CHECK_LE(fabs(energy_of(&r) - start), 1e-6 * most);
    }
    CHECK(r.report.rejected == 0 && r.report.nonlinear_least > 0 && r.report.formula_steps > 0);
    free_run(&r);
}

static void energy_is_kept_at_a_tolerance_of_1e_8(void)
{
    check_energy("oriented-strands", "ida:rtol=1e-8,jacobian=dense", 4, 1e-9);
    check_energy("oriented-strands", "ida:rtol=1e-8,jacobian=own", 4, 1e-9);
    check_energy("oriented-strands", "ida:rtol=1e-8,jacobian=own", 8, 1e-2);
    check_energy("super-helix:elements=3", "ida:rtol=1e-8,jacobian=own", 3, 1e-2);
}

static ss_vec3 tip_after(const char *scheme, int n, double time, double dt)
{
    run r = hanging("oriented-strands", scheme, n, 1.0, 1.5, dt);
    r.w->drag = 1e-5;
    go_to(&r, time);
    const ss_vec3 tip = tip_of(&r);
    free_run(&r);
    return tip;
}

static void dense_and_own_matrices_give_one_motion(void)
{
    const ss_vec3 dense = tip_after("ida:rtol=1e-7,jacobian=dense", 6, 0.1, 0.01);
    const ss_vec3 own = tip_after("ida:rtol=1e-7,jacobian=own", 6, 0.1, 0.01);
    CHECK_LE(ss_length(ss_minus(dense, own)), 1e-6);
}

// Two codes, and a formula of order 2 whose error falls with its step.
static void bdf2_comes_to_the_same_tip(void)
{
    const ss_vec3 tip = tip_after("ida:rtol=1e-8", 3, 0.05, 0.005);
    const double coarse = ss_length(ss_minus(tip, tip_after("bdf2", 3, 0.05, 4e-4)));
    const double fine = ss_length(ss_minus(tip, tip_after("bdf2", 3, 0.05, 2e-4)));
    CHECK_LE(fine, 1e-6);
    CHECK(coarse / fine > 3.0 && coarse / fine < 5.0);
}

// A posed strand on a base that moves, of which its forces know a part.
static ss_vec3 posed_tip(const char *scheme, double dt)
{
    run r = hanging("oriented-strands", scheme, 3, 1.0, 1.0, dt);
    const ss_posing_key key = {.time = 0.0, .strength = 1e-3, .damping = 1e-5};
    r.w->bodies[0].shift = (ss_profile){SS_PROFILE_OSCILLATE, 0.02, 0.1, 0.0};
    CHECK_OK(ss_world_scale_motion(r.w, 0, 0.5, 0.0, 0, &error));
    CHECK_OK(ss_world_pose_strand(r.w, 0, 1, &key, &error));
    go_to(&r, 0.05);
    const ss_vec3 tip = tip_of(&r);
    free_run(&r);
    return tip;
}

static void poses_and_time_scales_are_felt(void)
{
    const ss_vec3 a = posed_tip("ida:rtol=1e-7", 0.005), b = posed_tip("bdf2", 2e-4);
    CHECK_LE(ss_length(ss_minus(a, b)), 1e-6);
}

// ---- The stepper

static void a_world_that_was_moved_is_begun_anew(void)
{
    run r = hanging("oriented-strands", "ida", 3, 1.0, 1.0, 0.005);
    run other = hanging("oriented-strands", "ida", 3, 1.0, 1.0, 0.005);
    CHECK_OK(ss_stepper_step(r.s, &r.report, &error));
    for (int k = 0; k < r.w->nv; k++) {
        other.w->now.v[k] = r.w->now.v[k] = 0.1 * k;
    }
    memcpy(other.w->now.q, r.w->now.q, (size_t)r.w->nq * sizeof *r.w->now.q);
    other.w->now.time = r.w->now.time;
    CHECK_OK(ss_stepper_step(r.s, &r.report, &error));
    CHECK_OK(ss_stepper_step(other.s, &other.report, &error));
    CHECK(memcmp(r.w->now.q, other.w->now.q, (size_t)r.w->nq * sizeof *r.w->now.q) == 0);
    CHECK(memcmp(r.w->now.v, other.w->now.v, (size_t)r.w->nv * sizeof *r.w->now.v) == 0);
    free_run(&other);
    free_run(&r);
}

static run with_few_steps(double dt_min)
{
    const ss_strand_design design = {.length = 0.1, .material = ss_material_hair(), .nsegments = 3};
    const ss_pose root = ss_pose_identity();
    return new_run_down_to("oriented-strands", "ida:steps=12", &design, &root, WEIGHT, 0.02,
                           dt_min);
}

static void a_failure_cuts_the_step(void)
{
    run r = with_few_steps(1e-8);
    CHECK_OK(ss_stepper_step(r.s, &r.report, &error));
    CHECK(r.report.rejected > 0 && r.report.reason == SS_STEP_INTEGRATOR);
    free_run(&r);
}

static void a_failure_of_the_smallest_step_is_a_sentence(void)
{
    run r = with_few_steps(0.02);
    CHECK(ss_stepper_step(r.s, &r.report, &error) == SS_BAD_INPUT);
    TEST_ASSERT_NOT_NULL(
        strstr(error.text, "could not integrate the motion from t = 0 s on, not even for 0.02 s"));
    CHECK(r.w->now.time == 0.0);
    free_run(&r);
}

static void models_without_rates_are_refused(void)
{
    const ss_strand_design design = wavy(5);
    const ss_pose root = ss_pose_identity();
    const char *const models[] = {"der", "lifted-curls"};
    const char *const words[] = {"clamped by holding", "clamped by holding"};
    for (int k = 0; k < 2; k++) {
        run r = {.w = ss_world_new()};
        ss_model_choice model;
        ss_scheme_choice scheme;
        ss_step_options options = ss_step_defaults();
        int number;
        CHECK_OK(ss_model_parse(models[k], &model, &error));
        CHECK_OK(ss_scheme_parse("ida", &scheme, &error));
        CHECK_OK(ss_world_add_strand(r.w, &model, &design, 0, &root, &number, &error));
        options.scheme = &scheme;
        r.s = ss_stepper_new(r.w, &options, (ss_step_solver){.solve = NULL}, &error);
        TEST_ASSERT_NULL(r.s);
        TEST_ASSERT_NOT_NULL(strstr(error.text, words[k]));
        ss_model_choice_free(&model);
        ss_scheme_choice_free(&scheme);
        free_run(&r);
    }
}

static void run_tests(void)
{
    RUN_TEST(the_residual_is_that_of_the_samples);
    RUN_TEST(on_a_turning_base_the_spins_make_the_difference);
    RUN_TEST(forces_at_points_act_by_their_jacobians);
    RUN_TEST(velocities_come_back_from_their_rates);
    RUN_TEST(one_link_has_the_period_of_a_rod);
    RUN_TEST(energy_is_kept_at_a_tolerance_of_1e_8);
    RUN_TEST(dense_and_own_matrices_give_one_motion);
    RUN_TEST(bdf2_comes_to_the_same_tip);
    RUN_TEST(poses_and_time_scales_are_felt);
    RUN_TEST(a_world_that_was_moved_is_begun_anew);
    RUN_TEST(a_failure_cuts_the_step);
    RUN_TEST(a_failure_of_the_smallest_step_is_a_sentence);
    RUN_TEST(models_without_rates_are_refused);
}

const test_group ida_tests = {.run = run_tests, .set_up = set_up};
