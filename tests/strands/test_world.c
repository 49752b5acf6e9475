// tests/strands/test_world.c -- how a world is filled, and what it refuses.
#include "strands/world.h"

#include <string.h>

#include "strands/system.h"
#include "tests/support/support.h"
#include "tests/support/toy_strands.h"

static ss_error error;
static ss_world *world;

static void set_up(void)
{
    error = (ss_error){0};
    toy_stiffness = 1.0;
    world = ss_world_new();
    CHECK(world != NULL);
}

static void tear_down(void)
{
    ss_world_free(world);
}

static void an_empty_world_is_as_the_header_says(void)
{
    CHECK(world->nbodies == 1 && world->nstrands == 0 && world->nobstacles == 0);
    CHECK(world->gravity.y == -9.81 && world->drag == 0.0);
    CHECK(world->radius == 55e-6 && world->mu == 0.3);
    ss_motion_state at;
    ss_motion_at(&world->bodies[0], 3.0, &at);
    CHECK(ss_length(at.pose.place) == 0.0);
    ss_world_free(NULL);
}

static void strands_lie_one_after_the_other(void)
{
    const ss_pose root = ss_pose_identity();
    for (int k = 0; k < 37; k++) {
        const bool even = k % 2 == 0;
        CHECK(toy_strand(world, even ? &toy_chain : &toy_pendulum, 0.1 * (k + 1), 3 + k % 5, 0,
                         &root) == k);
    }
    int nq = 0, nv = 0, points = 0, samples = 0;
    for (int k = 0; k < 37; k++) {
        const ss_strand *s = &world->strands[k];
        CHECK(s->q == nq && s->v == nv && s->point == points && s->sample == samples);
        nq += s->size.nq;
        nv += s->size.nv;
        points += s->size.npoints;
        samples += s->size.nsamples;
    }
    CHECK(world->nq == nq && world->nv == nv);
    CHECK(world->npoints == points && world->nsamples == samples);
    for (int k = 0; k < 37; k += 2) { // the chains' styles have outlived all growth
        const ss_strand *s = &world->strands[k];
        CHECK_NEAR(world->now.q[s->q + 3 * (s->size.npoints - 1)], 0.1 * (k + 1), 1e-15);
        CHECK_NEAR(world->mass[s->sample], 1e-5 * world->length[s->sample], 1e-20);
    }
}

static void a_body_with_a_bad_motion_is_refused(void)
{
    int body = -1;
    ss_motion m = ss_motion_still();
    m.axis = ss_vec(0.0, 0.0, 2.0);
    CHECK(ss_world_add_body(world, &m, &body, &error) == SS_BAD_INPUT);
    CHECK(strstr(error.text, "unit length") != NULL);
    m = ss_motion_still();
    m.shift = (ss_profile){.kind = SS_PROFILE_MOVE, .size = 1.0, .period = 0.0};
    CHECK(ss_world_add_body(world, &m, &body, &error) == SS_BAD_INPUT);
    m.shift.period = NAN;
    CHECK(ss_world_add_body(world, &m, &body, &error) == SS_BAD_INPUT);
    CHECK(world->nbodies == 1);
    m.shift.period = 1.0;
    CHECK_OK(ss_world_add_body(world, &m, &body, &error));
    CHECK(body == 1 && world->nbodies == 2);
}

static void what_rides_on_no_body_is_refused(void)
{
    const ss_obstacle ball = {
        .kind = SS_OBSTACLE_SPHERE, .size = {1.0, 1.0, 1.0}, .body = 1, .mu = 0.5};
    CHECK(ss_world_add_obstacle(world, &ball, &error) == SS_BAD_INPUT);
    CHECK(strstr(error.text, "body 1") != NULL);
    const ss_model_choice choice = {.model = &toy_chain};
    const ss_strand_design design = {.length = 1.0, .nsegments = 2};
    const ss_pose root = ss_pose_identity();
    int number;
    CHECK(ss_world_add_strand(world, &choice, &design, -1, &root, &number, &error) == SS_BAD_INPUT);
    CHECK(world->nstrands == 0 && world->nobstacles == 0);
}

static void an_obstacle_needs_a_coefficient_of_friction(void)
{
    ss_obstacle ball = {.kind = SS_OBSTACLE_SPHERE, .size = {1.0, 1.0, 1.0}, .mu = NAN};
    CHECK(ss_world_add_obstacle(world, &ball, &error) == SS_BAD_INPUT);
    ball.mu = 0.0;
    CHECK_OK(ss_world_add_obstacle(world, &ball, &error));
    CHECK(world->nobstacles == 1);
}

// One step from rest of a settled strand: f = 0.
static void a_settled_strand_feels_nothing(void)
{
    const ss_pose root = {ss_rotation(ss_vec(0.3, -0.2, 0.9)), {1.0, 2.0, 3.0}};
    toy_strand(world, &toy_chain, 0.5, 4, 0, &root);
    toy_strand(world, &toy_pendulum, 0.5, 4, 0, &root);
    world->strands[1].pull_tip = ss_vec(0.0, 0.0, 1e-5);
    CHECK_OK(ss_world_settle(world, &error));
    for (int k = 0; k < 2; k++) {
        const ss_strand *s = &world->strands[k];
        double load[15] = {0.0}, F[15] = {0.0};
        ss_placed at;
        CHECK(ss_placed_init(&at, &s->size));
        ss_strand_place(world, k, &world->now, &at);
        ss_strand_load(world, k, &at, load);
        s->model->force(s->self, world->now.q + s->q, world->now.v + s->v, F);
        for (int j = 0; j < s->size.nv; j++) {
            CHECK_NEAR(F[j], -load[j], 1e-16);
        }
        ss_placed_free(&at);
    }
}

static void run_tests(void)
{
    RUN_TEST(an_empty_world_is_as_the_header_says);
    RUN_TEST(strands_lie_one_after_the_other);
    RUN_TEST(a_body_with_a_bad_motion_is_refused);
    RUN_TEST(what_rides_on_no_body_is_refused);
    RUN_TEST(an_obstacle_needs_a_coefficient_of_friction);
    RUN_TEST(a_settled_strand_feels_nothing);
}

const test_group world_tests = {.run = run_tests, .set_up = set_up, .tear_down = tear_down};
