// tests/strands/test_system.c -- one implicit step without contacts, on models whose motion is known.
#include "strands/system.h"

#include <stdlib.h>
#include <string.h>

#include "strands/band.h"
#include "tests/support/support.h"
#include "tests/support/toy_strands.h"

#define MOST 30 // dofs of a strand here

static ss_world *world;
static ss_error error;

static void set_up(void)
{
    error = (ss_error){0};
    toy_stiffness = 1.0;
    toy_chain_damping = 0.0;
    world = ss_world_new();
}

static void tear_down(void)
{
    ss_world_free(world);
}

// M and f of strand k now; M.x is the caller's to free.
static void assemble(int k, double h, double theta, ss_band *M, double *f)
{
    const ss_strand *s = &world->strands[k];
    ss_placed at;
    CHECK(ss_placed_init(&at, &s->size));
    ss_system_scratch *scratch = ss_system_scratch_new(world);
    CHECK(scratch != NULL);
    *M = (ss_band){s->size.nv, s->size.half_bandwidth, NULL};
    M->x = calloc((size_t)M->n * (size_t)(M->half + 1), sizeof *M->x);
    ss_strand_place(world, k, &world->now, &at);
    theta_system(world, k, &at, h, theta, scratch, M, f);
    ss_system_scratch_free(scratch);
    ss_placed_free(&at);
}

// All strands, by the theta scheme.
static void step(double h, double theta)
{
    for (int k = 0; k < world->nstrands; k++) {
        const ss_strand *s = &world->strands[k];
        double v[MOST], mean[MOST], q[MOST], D[MOST];
        ss_band M;
        assemble(k, h, theta, &M, v);
        CHECK(ss_band_factor(&M, D));
        ss_band_solve(&M, D, v);
        free(M.x);
        for (int j = 0; j < s->size.nv; j++) {
            mean[j] = theta * v[j] + (1.0 - theta) * world->now.v[s->v + j];
        }
        s->model->advance(s->self, world->now.q + s->q, mean, h, q);
        memcpy(world->now.q + s->q, q, (size_t)s->size.nq * sizeof *q);
        memcpy(world->now.v + s->v, v, (size_t)s->size.nv * sizeof *v);
    }
    world->now.time += h;
}

static void run(double time, int steps, double theta)
{
    for (int i = 0; i < steps; i++) {
        step(time / steps, theta);
    }
}

static ss_energy energy_of(int k)
{
    ss_placed at;
    CHECK(ss_placed_init(&at, &world->strands[k].size));
    ss_strand_place(world, k, &world->now, &at);
    ss_energy energy;
    ss_strand_energy(world, k, &world->now, &at, &energy);
    ss_placed_free(&at);
    return energy;
}

static ss_vec3 point_of(int k, int i)
{
    ss_placed at;
    CHECK(ss_placed_init(&at, &world->strands[k].size));
    ss_strand_place(world, k, &world->now, &at);
    const ss_vec3 x = at.points[i].x;
    ss_placed_free(&at);
    return x;
}

// ---- Matrices

static void the_factor_solves(void)
{
    const int n = 7, half = 2;
    double A[7 * 3], L[7 * 3], D[7], x[7], b[7] = {0.0};
    for (int j = 0; j < n; j++) {
        A[3 * j] = pow(10.0, j) * 4.0;
        A[3 * j + 1] = sqrt(10.0) * pow(10.0, j);
        A[3 * j + 2] = -10.0 * pow(10.0, j) * 0.9;
        x[j] = 1.0 + j;
    }
    memcpy(L, A, sizeof L);
    const ss_band M = {n, half, A};
    ss_band factor = {n, half, L};
    ss_band_add_product(&M, x, b);
    CHECK_NEAR(b[0], 4.0 + sqrt(10.0) * 2.0 - 9.0 * 3.0, 1e-14);
    CHECK(ss_band_factor(&factor, D));
    ss_band_solve(&factor, D, b);
    for (int j = 0; j < n; j++) {
        CHECK_NEAR(b[j], x[j], 1e-12);
    }
}

// Bit by bit, in a band and in a full matrix.
static void four_solutions_are_those_of_one_after_the_other(void)
{
    for (int half = 3; half <= 8; half += 5) {
        enum { N = 9 };
        double numbers[4][N * N], scales[4][N], x[4][N], expected[4][N];
        ss_band L[4];
        const double *D[4];
        double *at[4];
        for (int b = 0; b < 4; b++) {
            L[b] = (ss_band){N, half, numbers[b]};
            for (int j = 0; j < N; j++) {
                for (int i = 0; i <= half; i++) {
                    numbers[b][(half + 1) * j + i] = i == 0 ? 20.0 + b + j : sin(b + 3.0 * i + j);
                }
                x[b][j] = expected[b][j] = cos(2.0 * b + j);
            }
            CHECK(ss_band_factor(&L[b], scales[b]));
            ss_band_solve(&L[b], scales[b], expected[b]);
            D[b] = scales[b];
            at[b] = x[b];
        }
        ss_band_solve_four(L, D, at);
        CHECK(memcmp(x, expected, sizeof x) == 0);
    }
}

static void a_matrix_that_is_not_definite_has_no_factor(void)
{
    double D[2];
    double indefinite[] = {1.0, 2.0, 1.0, 0.0}, singular[] = {1.0, 1.0, 1.0, 0.0};
    double unknown[] = {1.0, NAN, 1.0, 0.0}, negative[] = {-1.0, 0.0, 1.0, 0.0};
    double *all[] = {indefinite, singular, unknown, negative};
    for (int k = 0; k < 4; k++) {
        ss_band A = {2, 1, all[k]};
        CHECK(!ss_band_factor(&A, D));
    }
}

static void mass_alone_is_that_of_the_particles(void)
{
    world->gravity = ss_vec(0.0, 0.0, 0.0);
    toy_stiffness = 0.0;
    const ss_pose root = {ss_rotation(ss_vec(0.3, 1.2, -0.4)), {0.0, 0.0, 0.0}};
    toy_strand(world, &toy_chain, 0.5, 4, 0, &root);
    toy_strand(world, &toy_pendulum, 0.5, 4, 0, &root);
    double f[MOST];
    ss_band M;
    assemble(0, 1e-3, 1.0, &M, f);
    for (int i = 0; i < M.n; i++) {
        for (int j = i - M.half > 0 ? i - M.half : 0; j <= i; j++) {
            CHECK_NEAR(*ss_band_at(&M, i, j), i == j ? 1e-6 : 0.0, 1e-21);
        }
    }
    free(M.x);
    assemble(1, 1e-3, 1.0, &M, f);
    // sum of m s^2 over s = 0, 1/8, .., 1/2
    CHECK_NEAR(M.x[0], 1e-6 * (1.0 + 4.0 + 9.0 + 16.0) / 64.0, 1e-20);
    free(M.x);
}

static void M_is_definite_for_every_step_and_theta(void)
{
    world->drag = 3e-5;
    toy_chain_damping = 0.01;
    const ss_pose root = {ss_rotation(ss_vec(0.3, 1.2, -0.4)), {0.0, 0.0, 0.0}};
    toy_strand(world, &toy_chain, 0.5, 9, 0, &root);
    for (double h = 1e-5; h < 0.1; h *= 10.0) {
        for (double theta = 0.5; theta <= 1.0; theta += 0.25) {
            double f[MOST], D[MOST];
            ss_band M;
            assemble(0, h, theta, &M, f);
            CHECK(ss_band_factor(&M, D));
            free(M.x);
        }
    }
}

// ---- Motions known by hand

static void a_free_chain_falls_like_a_stone(void)
{
    const ss_pose root = {ss_rotation(ss_vec(0.3, 1.2, -0.4)), {1.0, 2.0, 3.0}};
    toy_stiffness = 0.0;
    toy_strand(world, &toy_chain, 0.5, 4, 0, &root);
    const ss_vec3 from = point_of(0, 3);
    run(0.1, 100, 1.0);
    // backward Euler: x = g h^2 (1 + 2 + .. + 100), v = g t exactly
    const ss_vec3 moved = ss_minus(point_of(0, 3), from);
    CHECK_NEAR(moved.y, -9.81 * 1e-6 * 5050.0, 1e-14);
    CHECK_NEAR(moved.x, 0.0, 1e-14);
    const ss_energy e = energy_of(0);
    CHECK_NEAR(e.kinetic, 0.5 * 5e-6 * 0.981 * 0.981, 1e-18);
    CHECK(e.elastic == 0.0);
}

// The implicit drag alone: v_{n+1} = v_n / (1 + h drag / line density).
static void drag_slows_by_its_rate(void)
{
    const ss_pose root = ss_pose_identity();
    world->gravity = ss_vec(0.0, 0.0, 0.0);
    world->drag = 3e-5;
    toy_stiffness = 0.0;
    toy_strand(world, &toy_chain, 0.5, 4, 0, &root);
    world->now.v[4] = 1.0;
    step(0.01, 1.0);
    CHECK_NEAR(world->now.v[4], 1.0 / (1.0 + 0.01 * 3.0), 1e-14);
    world->now.v[4] = 1.0;
    step(0.01, 0.5);
    CHECK_NEAR(world->now.v[4], (1.0 - 0.005 * 3.0) / (1.0 + 0.005 * 3.0), 1e-14);
}

static void pulls_act_at_both_ends(void)
{
    const ss_pose root = {ss_rotation(ss_vec(0.3, 1.2, -0.4)), {0.0, 0.0, 0.0}};
    world->gravity = ss_vec(0.0, 0.0, 0.0);
    toy_stiffness = 0.0;
    toy_strand(world, &toy_chain, 0.5, 4, 0, &root);
    world->strands[0].pull_root = ss_vec(1e-6, 0.0, 0.0);
    world->strands[0].pull_tip = ss_vec(0.0, 2e-6, 0.0);
    const ss_vec3 first = point_of(0, 0), middle = point_of(0, 2), last = point_of(0, 4);
    const double before = energy_of(0).potential;
    step(0.1, 1.0);
    CHECK_NEAR(ss_minus(point_of(0, 0), first).x, 0.01, 1e-14);
    CHECK_NEAR(ss_minus(point_of(0, 4), last).y, 0.02, 1e-14);
    CHECK_LE(ss_length(ss_minus(point_of(0, 2), middle)), 1e-15);
    CHECK_NEAR(energy_of(0).potential - before, -1e-6 * 0.01 - 2e-6 * 0.02, 1e-20);
}

// Free particles with a turning, shifting root: q moves, the particles rest in the world.
static double drift_of_resting_particles(int steps)
{
    ss_world_free(world);
    world = ss_world_new();
    world->gravity = ss_vec(0.0, 0.0, 0.0);
    toy_stiffness = 0.0;
    const ss_motion m = {
        .angle = {.kind = SS_PROFILE_OSCILLATE, .size = 0.8, .period = 0.5},
        .axis = ss_unit(ss_vec(1.0, -2.0, 0.5)),
        .centre = ss_vec(0.1, 0.2, -0.3),
        .shift = {.kind = SS_PROFILE_STEADY, .size = 0.3, .period = 0.2},
        .direction = ss_unit(ss_vec(0.0, 1.0, 3.0)),
    };
    int body;
    CHECK_OK(ss_world_add_body(world, &m, &body, &error));
    const ss_pose root = {ss_rotation(ss_vec(0.3, 1.2, -0.4)), {1.0, 0.0, 0.3}};
    toy_strand(world, &toy_chain, 0.5, 4, body, &root);
    const ss_vec3 from = point_of(0, 3);
    run(0.6, steps, 1.0);
    CHECK_LE(energy_of(0).kinetic, 1e-3 * 5e-6);
    return ss_length(ss_minus(point_of(0, 3), from));
}

static void scripted_roots_make_the_forces_of_moving_frames(void)
{
    const double coarse = drift_of_resting_particles(2000), fine = drift_of_resting_particles(4000);
    CHECK_LE(fine, 0.01); // the body itself travels 0.75 m and turns back and forth
    CHECK_NEAR(coarse / fine, 2.0, 0.1);
}

// A pendulum that hangs still on a turning body is pushed out by m w^2 r alone.
static void a_pendulum_on_a_turntable_feels_the_centrifugal_force(void)
{
    world->gravity = ss_vec(0.0, 0.0, 0.0);
    const ss_motion m = {.angle = {.kind = SS_PROFILE_STEADY, .size = 5.0, .period = 1.0},
                         .axis = {0.0, 0.0, 1.0},
                         .direction = {1.0, 0.0, 0.0}};
    int body;
    CHECK_OK(ss_world_add_body(world, &m, &body, &error));
    const ss_pose root = {ss_mat3_identity(), {0.0, -0.7, 0.0}};
    toy_stiffness = 0.0;
    toy_strand(world, &toy_pendulum, 0.5, 4, body, &root);
    world->now.time = 2.0; // turning steadily by 5 rad/s
    double f[MOST];
    ss_band M;
    assemble(0, 1e-3, 1.0, &M, f);
    free(M.x);
    // points (s, -0.7) in the body's frame; the lever of the force w^2 (s, -0.7) m is (0, s)
    const double sum_s = (1.0 + 2.0 + 3.0 + 4.0) / 8.0;
    CHECK_NEAR(f[0], 1e-3 * 1e-6 * 25.0 * -0.7 * sum_s, 1e-18);
}

static void moving_roots_drag_through_the_air(void)
{
    world->gravity = ss_vec(0.0, 0.0, 0.0);
    world->drag = 3e-5;
    const ss_motion m = {.shift = {.kind = SS_PROFILE_STEADY, .size = 2.0, .period = 1.0},
                         .axis = {0.0, 0.0, 1.0},
                         .direction = {0.0, 1.0, 0.0}};
    int body;
    CHECK_OK(ss_world_add_body(world, &m, &body, &error));
    const ss_pose root = ss_pose_identity();
    toy_stiffness = 0.0;
    toy_strand(world, &toy_chain, 0.5, 4, body, &root);
    world->now.time = 2.0;
    double f[MOST];
    ss_band M;
    assemble(0, 1e-3, 1.0, &M, f);
    free(M.x);
    CHECK_NEAR(f[4], -1e-3 * 3e-5 * 0.1 * 2.0, 1e-20);
    CHECK_NEAR(f[3], 0.0, 1e-20);
    CHECK_NEAR(energy_of(0).kinetic, 0.5 * 5e-6 * 4.0, 1e-16);
}

// ---- Orders

// Two particles on a spring, 1e-6 kg each, 1e-4 N/m: the relative motion is cos(w t), w^2 = 200.
static double spring_error(int steps, double theta)
{
    ss_world_free(world);
    world = ss_world_new();
    world->gravity = ss_vec(0.0, 0.0, 0.0);
    toy_stiffness = 1e-4;
    const ss_pose root = ss_pose_identity();
    toy_strand(world, &toy_chain, 0.2, 1, 0, &root);
    run(0.1, steps, theta);
    return fabs(world->now.q[3] - world->now.q[0] - 0.2 * cos(sqrt(200.0) * 0.1));
}

static void theta_one_is_of_first_order(void)
{
    CHECK_NEAR(spring_error(1000, 1.0) / spring_error(2000, 1.0), 2.0, 0.05);
}

static void theta_one_half_is_of_second_order(void)
{
    CHECK_NEAR(spring_error(100, 0.5) / spring_error(200, 0.5), 4.0, 0.05);
    CHECK_LE(spring_error(1000, 0.5), 1e-5 * spring_error(10, 1.0) * 100.0);
}

static void theta_one_half_keeps_the_energy_of_a_spring(void)
{
    spring_error(1, 0.5);
    const ss_energy e = energy_of(0);
    CHECK_NEAR(e.kinetic + e.elastic, 0.5 * 1e-4 * 0.04, 1e-20);
}

// x'' + 2 z x' + w^2 x = 0 with C = tau K: z = tau w^2 / 2.
static double damped_error(int steps, double theta)
{
    toy_chain_damping = 0.02;
    spring_error(steps, theta);
    const double z = 0.02 * 200.0 / 2.0, w = sqrt(200.0 - z * z), t = 0.1;
    const double expected = 0.2 * exp(-z * t) * (cos(w * t) + z / w * sin(w * t));
    return fabs(world->now.q[3] - world->now.q[0] - expected);
}

static void damping_has_the_order_of_theta_too(void)
{
    CHECK_NEAR(damped_error(1000, 1.0) / damped_error(2000, 1.0), 2.0, 0.05);
    CHECK_NEAR(damped_error(100, 0.5) / damped_error(200, 0.5), 4.0, 0.05);
}

// A swinging rod on a weak spring: energy is kept to first order, with the convective term in it.
static double pendulum_drift(int steps)
{
    ss_world_free(world);
    world = ss_world_new();
    toy_stiffness = 1e-9;
    const ss_pose root = {ss_rotation(ss_vec(0.0, 0.4, 0.0)), {0.0, 0.0, 0.0}};
    toy_strand(world, &toy_pendulum, 0.3, 5, 0, &root);
    const ss_energy start = energy_of(0);
    run(0.5, steps, 1.0);
    const ss_energy end = energy_of(0);
    return fabs(end.kinetic + end.elastic + end.potential - start.potential - start.elastic);
}

static void a_pendulum_keeps_its_energy_to_first_order(void)
{
    const double fine = pendulum_drift(4000), weight = 3e-6 * 9.81 * 0.15;
    CHECK_LE(fine, 0.02 * weight);
    CHECK_NEAR(pendulum_drift(2000) / fine, 2.0, 0.1);
}

static void a_settled_pendulum_stays(void)
{
    const ss_pose root = ss_pose_identity();
    toy_stiffness = 1e-4;
    toy_strand(world, &toy_pendulum, 0.3, 5, 0, &root);
    CHECK_OK(ss_world_settle(world, &error));
    run(1.0, 300, 1.0);
    CHECK_LE(fabs(world->now.v[0]), 1e-10);
}

static void run_tests(void)
{
    RUN_TEST(the_factor_solves);
    RUN_TEST(four_solutions_are_those_of_one_after_the_other);
    RUN_TEST(a_matrix_that_is_not_definite_has_no_factor);
    RUN_TEST(mass_alone_is_that_of_the_particles);
    RUN_TEST(M_is_definite_for_every_step_and_theta);
    RUN_TEST(a_free_chain_falls_like_a_stone);
    RUN_TEST(drag_slows_by_its_rate);
    RUN_TEST(pulls_act_at_both_ends);
    RUN_TEST(scripted_roots_make_the_forces_of_moving_frames);
    RUN_TEST(a_pendulum_on_a_turntable_feels_the_centrifugal_force);
    RUN_TEST(moving_roots_drag_through_the_air);
    RUN_TEST(theta_one_is_of_first_order);
    RUN_TEST(theta_one_half_is_of_second_order);
    RUN_TEST(theta_one_half_keeps_the_energy_of_a_spring);
    RUN_TEST(damping_has_the_order_of_theta_too);
    RUN_TEST(a_pendulum_keeps_its_energy_to_first_order);
    RUN_TEST(a_settled_pendulum_stays);
}

const test_group system_tests = {.run = run_tests, .set_up = set_up, .tear_down = tear_down};
