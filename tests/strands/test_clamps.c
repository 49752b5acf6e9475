// tests/strands/test_clamps.c -- strands of the world whose ends are held by bodies, by one or none.
#include <stdlib.h>
#include <string.h>

#include "strands/band.h"
#include "tests/support/one_stepper.h"

static void set_up(void)
{
    begin_world();
    world->radius = 1e-4;
}

// The first of a test begin: by then the world is complete.
static void go_on(int count)
{
    if (stepper == NULL) {
        begin();
    }
    steps(count);
}

static ss_vec3 vertex(int k, int i)
{
    const double *q = world->now.q + world->strands[k].q + 4 * i;
    return ss_vec(q[0], q[1], q[2]);
}

static int turning_body(double size, double period)
{
    ss_motion m = ss_motion_still();
    m.angle = (ss_profile){.kind = SS_PROFILE_OSCILLATE, .size = size, .period = period};
    m.axis = ss_unit(ss_vec(1.0, 2.0, -1.0));
    m.shift = (ss_profile){.kind = SS_PROFILE_OSCILLATE, .size = 0.01, .period = period};
    int body = -1;
    CHECK_OK(ss_world_add_body(world, &m, &body, &error));
    return body;
}

static ss_vec3 carried(int body, ss_vec3 x)
{
    ss_motion_state at;
    ss_motion_at(&world->bodies[body], world->now.time, &at);
    return ss_pose_point(&at.pose, x);
}

static void both_ends_follow_their_bodies(void)
{
    const int first = turning_body(0.2, 0.3), second = turning_body(-0.1, 0.2);
    const ss_pose root = ss_pose_identity();
    tied_strand(world, first, &root, second, SS_CLAMP_BOTH);
    const ss_vec3 ends[4] = {vertex(0, 0), vertex(0, 1), vertex(0, 7), vertex(0, 8)};
    double farthest = 0.0;
    for (int i = 0; i < 50; i++) {
        go_on(1);
        farthest = fmax(farthest, ss_length(ss_minus(vertex(0, 8), ends[3])));
        CHECK_LE(ss_length(ss_minus(vertex(0, 0), carried(first, ends[0]))), 1e-15);
        CHECK_LE(ss_length(ss_minus(vertex(0, 1), carried(first, ends[1]))), 1e-15);
        CHECK_LE(ss_length(ss_minus(vertex(0, 7), carried(second, ends[2]))), 1e-15);
        CHECK_LE(ss_length(ss_minus(vertex(0, 8), carried(second, ends[3]))), 1e-15);
    }
    CHECK(farthest > 1e-3);
}

// The rows of the free dofs of the whole system hold with the velocities of the held ones in it.
static void free_rows_hold_with_the_held_velocities(void)
{
    const int first = turning_body(0.2, 0.3), second = turning_body(-0.1, 0.2);
    const ss_pose root = ss_pose_identity();
    tied_strand(world, first, &root, second, SS_CLAMP_BOTH);
    go_on(20);
    const ss_strand *s = &world->strands[0];
    const int nv = s->size.nv;
    ss_world_state before = {.time = world->now.time};
    CHECK(ss_world_state_init(&before, world));
    memcpy(before.q, world->now.q, (size_t)world->nq * sizeof *before.q);
    memcpy(before.v, world->now.v, (size_t)nv * sizeof *before.v);
    ss_placed at;
    CHECK(ss_placed_init(&at, &s->size));
    before.time = world->now.time;
    ss_strand_place(world, 0, &before, &at);
    go_on(1);
    ss_system_scratch *scratch = ss_system_scratch_new(world);
    ss_band M = {nv, s->size.half_bandwidth,
                 calloc((size_t)(nv * (s->size.half_bandwidth + 1)), sizeof(double))};
    double *f = calloc(2 * (size_t)nv, sizeof *f), *Mv = f + nv;
    const ss_iterate it = ss_iterate_first(&before, report.dt);
    CHECK(ss_strand_system(world, 0, &it, &at, scratch, &M, f));
    ss_band_add_product(&M, world->now.v, Mv);
    double largest = 0.0;
    for (int j = 0; j < nv; j++) {
        largest = fmax(largest, fabs(Mv[j]));
    }
    for (int j = 7; j < nv - 7; j++) {
        CHECK_NEAR(Mv[j], f[j], 1e-13 * largest);
    }
    free(M.x);
    free(f);
    ss_system_scratch_free(scratch);
    ss_placed_free(&at);
    ss_world_state_free(&before);
}

// Not a vertex moves against the others: backward Euler falls g h^2 n (n + 1) / 2.
static void a_free_strand_falls_like_a_stone(void)
{
    const ss_pose root = {ss_rotation(ss_vec(0.3, 1.2, -0.4)), {1.0, 2.0, 3.0}};
    tied_strand(world, 0, &root, 0, SS_CLAMP_NONE);
    ss_vec3 x[9];
    for (int i = 0; i < 9; i++) {
        x[i] = vertex(0, i);
    }
    go_on(20);
    for (int i = 0; i < 9; i++) {
        const ss_vec3 there = ss_along(x[i], 0.5 * 4e-6 * 20.0 * 21.0, world->gravity);
        CHECK_LE(ss_length(ss_minus(vertex(0, i), there)), 1e-12);
    }
}

// A body that falls with the strand: nothing is strained, whatever holds it.
static void a_strand_rests_on_bodies_that_fall_with_it(void)
{
    ss_motion m = ss_motion_still();
    m.shift = (ss_profile){.kind = SS_PROFILE_STEADY, .size = 0.1, .period = 0.05};
    int body = -1;
    CHECK_OK(ss_world_add_body(world, &m, &body, &error));
    world->gravity = ss_vec(0.0, 0.0, 0.0);
    const ss_pose root = ss_pose_identity();
    tied_strand(world, body, &root, body, SS_CLAMP_BOTH);
    go_on(200); // the body moves steadily from 0.05 s on
    CHECK_NEAR(report.energy.kinetic, 0.5 * 0.2 * 1320.0 * M_PI * 25e-10 * 4.0, 1e-7);
    CHECK_LE(report.max_speed, 1e-3); // against the body, which goes at 2 m/s
}

static void the_dump_holds_free_dofs_only(void)
{
    world->radius = 0.02;
    const ss_pose root = ss_pose_identity();
    const ss_pose across = pose_at(ss_vec(0.1, -0.1, 0.03), ss_vec(0.0, 0.0, 0.5 * M_PI));
    tied_strand(world, 0, &root, 0, SS_CLAMP_BOTH);
    tied_strand(world, 0, &across, 0, SS_CLAMP_ROOT);
    go_on(1);
    const double *r, *v;
    const ss_problem *p = ss_stepper_problem(stepper, &r, &v);
    CHECK(p != NULL && report.contacts > 0);
    TEST_ASSERT_EQUAL_INT(35 - 14 + 35 - 7, p->ndofs);
}

static void a_tip_on_no_body_is_refused(void)
{
    const ss_pose root = ss_pose_identity();
    tied_strand(world, 0, &root, 0, SS_CLAMP_BOTH);
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, ss_world_tie_tip(world, 0, 3, &error));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, "body 3"), error.text);
}

static void run_tests(void)
{
    RUN_TEST(both_ends_follow_their_bodies);
    RUN_TEST(free_rows_hold_with_the_held_velocities);
    RUN_TEST(a_free_strand_falls_like_a_stone);
    RUN_TEST(a_strand_rests_on_bodies_that_fall_with_it);
    RUN_TEST(the_dump_holds_free_dofs_only);
    RUN_TEST(a_tip_on_no_body_is_refused);
}

const test_group clamps_tests = {.run = run_tests, .set_up = set_up, .tear_down = tear_down};
