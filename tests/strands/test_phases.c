// tests/strands/test_phases.c -- contacts by impacts and forces: the scheme phases, and its rows.
#include <stdlib.h>
#include <string.h>

#include "tests/support/oriented_rows.h"
#include "strands/models/oriented.h"
#include "strands/world.h"
#include "strands/scenes/scene.h"
#include "strands/schemes/phases.h"
#include "base/random.h"
#include "tests/support/landing.h"
#include "tests/support/toy_strands.h"

#define GRAVITY 9.81 // m/s^2

static ss_random g;

static void set_up(void)
{
    g = ss_random_seeded(19);
    begin_world();
}

// ---- One link: a rod that turns about its end, without a spring

static void a_tip_leaves_a_wall_with_the_share_of_restitution(void)
{
    for (int k = 0; k <= 4; k++) {
        const double e = 0.25 * k;
        swing_against_wall("phases:eps=0", e);
        double before = 0.0;
        for (int i = 0; i < 400; i++) {
            const double v = world->now.v[0];
            step();
            if (report.contacts > 0 && before == 0.0) {
                before = v;
            }
        }
        CHECK_NEAR(before, 1.0, 1e-9);
        CHECK_NEAR(world->now.v[0], -e, 1e-9);
    }
}

// ---- A rod on a slope

static const double SLOPE = 0.4; // rad

static double speed_down(void)
{
    const ss_strand *s = &world->strands[0];
    const double *v = world->now.v; // the velocity of the root comes first
    return ss_dot(ss_turned(&s->root.turn, ss_vec(v[0], v[1], v[2])), ss_incline_down(SLOPE));
}

// m/s down the slope after 50 steps of 2 ms from `start`.
static double speed_after(double mu, double loss, const char *scheme, double start)
{
    ss_model_choice choice;
    begin_again();
    CHECK_OK(ss_model_parse("super-helix:root=free,elements=1", &choice, &error));
    CHECK_OK(ss_incline_build(SLOPE, mu, &choice, world, &options, &error));
    world->obstacles[0].sliding_loss = loss;
    ss_model_choice_free(&choice);
    const ss_strand *s = &world->strands[0];
    const ss_vec3 v = ss_turned_back(&s->root.turn, ss_scaled(start, ss_incline_down(SLOPE)));
    world->now.v[0] = v.x;
    world->now.v[1] = v.y;
    world->now.v[2] = v.z;
    start_by(scheme, 2e-3);
    steps(50);
    const double speed = speed_down();
    return speed;
}

// It slides if tan > mu and only then; what slides is braked by the share of mu alone, even where mu would hold it.
static void a_rod_sticks_by_mu_and_slides_by_a_share_of_it(void)
{
    static const char *const PHASES = "phases:eps=0,sweeps=20000,sliding=0.5";
    const double tangent = tan(SLOPE), t = 0.1, steep = GRAVITY * sin(SLOPE);
    CHECK_NEAR(speed_after(1.02 * tangent, 0.0, PHASES, 0.0), 0.0, 1e-9);
    CHECK_LE(1e-3, speed_after(0.98 * tangent, 0.0, PHASES, 0.0));
    const double slides = steep - 0.5 * 1.2 * tangent * GRAVITY * cos(SLOPE);
    CHECK_NEAR(speed_after(1.2 * tangent, 0.0, PHASES, 0.5), 0.5 + t * slides, 1e-5);
    CHECK_NEAR(speed_after(1.2 * tangent, 0.5, "phases:eps=0,sweeps=20000", 0.5), 0.5 + t * slides,
               1e-5);
    const double stops = steep - 1.2 * tangent * GRAVITY * cos(SLOPE);
    CHECK_NEAR(speed_after(1.2 * tangent, 0.0, "phases:eps=0,sweeps=20000", 0.5), 0.5 + t * stops,
               1e-5);
}

// ---- Limits and goals

// A link that falls from the horizontal stops where its joint may turn no more, and its torque holds the weight.
static void a_joint_stops_at_its_limit_and_holds_there(void)
{
    world->gravity = ss_vec(0.0, -GRAVITY, 0.0);
    add_pendulum(0.5 * M_PI, 0.0, 1e-12);
    start_by("phases:limit=0.5,eps=0", 1e-3);
    double most = 0.0;
    for (int k = 0; k < 1000; k++) {
        step();
        const ss_quat q = ss_quat_read(world->now.q);
        most = fmax(most, ss_length(ss_quat_log(ss_quat_unit(q))));
    }
    CHECK_NEAR(most, 0.5, 1e-6);
    const ss_quat q = ss_quat_unit(ss_quat_read(world->now.q));
    CHECK_NEAR(ss_length(ss_quat_log(q)), 0.5, 1e-9);
    CHECK_LE(report.max_speed, 1e-9);
}

static void a_joint_beyond_its_limit_comes_back_at_a_rate_that_no_step_changes(void)
{
    for (double h = 1e-3; h > 1e-7; h *= 0.1) {
        begin_again();
        world->gravity = ss_vec(0.0, 0.0, 0.0);
        add_pendulum(0.0, 0.0, 1e-12);
        start_by("phases:limit=0.5,eps=0", h);
        ss_quat_write((ss_quat){cos(0.255), sin(0.255), 0.0, 0.0}, world->now.q); // 0.51 rad
        step();
        const double *w = world->now.v;
        CHECK_NEAR(ss_length(ss_vec(w[0], w[1], w[2])), (0.51 - 0.5) / 0.02, 1e-6);
    }
}

static double largest_turn(void)
{
    double most = 0.0;
    for (int j = 0; j < world->nq; j += 4) {
        most = fmax(most, ss_length(ss_quat_log(ss_quat_unit(ss_quat_read(world->now.q + j)))));
    }
    return most;
}

// A joint turns by far more than its limit within a step, to and fro and about all axes.
static void small_limits_hold_in_a_chain_that_is_thrown(void)
{
    add_falling_strand();
    for (int j = 0; j < world->nv; j++) {
        world->now.v[j] = 12.0 * sin(5.0 * j);
    }
    start_by("phases:limit=0.02", 5e-3);
    double most = 0.0;
    for (int k = 0; k < 100; k++) {
        step();
        most = fmax(most, largest_turn());
    }
    CHECK_LE(most, 0.025);
}

// How far the tip is from its pose at 0.1 s, by steps of h; it began 1e-4 m beside it.
static double left_of_goal(double h)
{
    begin_again();
    world->gravity = ss_vec(0.0, 0.0, 0.0);
    add_pendulum(0.0, 0.0, 1e-12);
    const ss_vec3 pose[2] = {{0.0, 0.0, 0.0}, {0.0, -PENDULUM_LENGTH, 0.0}};
    const ss_posing_key key = {.time = 0.0, .place = pose};
    CHECK_OK(ss_world_pose_strand(world, 0, 1, &key, &error));
    world->now.v[0] = 1e-3; // moved aside by a first advance
    const ss_strand *s = &world->strands[0];
    s->model->advance(s->self, world->now.q, world->now.v, 1.0, world->now.q);
    world->now.v[0] = 0.0;
    start_by("phases:goal=tip,kp=400,kd=50,eps=0", h);
    while (world->now.time < 0.1 - 0.5 * h) {
        step();
    }
    ss_placed at;
    CHECK(ss_placed_init(&at, &s->size));
    ss_strand_place(world, 0, &world->now, &at);
    const double left = ss_length(ss_minus(at.points[1].x, pose[1]));
    ss_placed_free(&at);
    return left;
}

// e'' = -kp e - kd e', e(0) = 1e-4 m at rest: with the roots -10 and -40, e = (40 exp(-10 t) - 10 exp(-40 t))/30 e(0).
static void a_goal_is_approached_as_its_equation_says(void)
{
    const double known = 1e-4 * (40.0 * exp(-1.0) - 10.0 * exp(-4.0)) / 30.0;
    const double coarse = left_of_goal(2e-3) - known, fine = left_of_goal(1e-3) - known;
    CHECK_LE(fabs(fine), 0.03 * known);
    CHECK(coarse / fine > 1.8 && coarse / fine < 2.2);
}

// ---- Rows

#define ROWS 5

static ss_factors factors(void)
{
    return (ss_factors){stepper->systems.L, stepper->systems.D};
}

// K by test impulses on M is that of test forces on articulated bodies where nothing but inertia is in M.
static void test_impulses_give_the_matrix_of_test_forces(void)
{
    const double style[2][3] = {{20.0, -10.0, 30.0}, {-15.0, 25.0, 5.0}};
    ss_strand_design design = {.length = 0.2,
                               .material = ss_material_hair(),
                               .npieces = 2,
                               .style = style,
                               .nsegments = 7};
    design.material.relaxation = 0.0;
    design.material.young *= 1e-14;
    const ss_pose root = ss_pose_identity();
    add_strand("oriented-strands", &design, &root);
    start_by("phases", 1e-3);
    const ss_iterate it = ss_iterate_first(&world->now, 1e-3);
    step();
    ss_step_begin(stepper, 1e-3, 1.0, NULL);
    CHECK(ss_step_form(stepper, &it, &stepper->here, &report));
    const ss_oriented_strand *own = world->strands[0].self;
    const ss_oriented *tree = own->tree;
    const ss_oriented_state state = {
        .tree = tree, .base = {.pose = own->home}, .q = world->now.q, .w = world->now.v};
    ss_oriented_row rows[ROWS];
    ss_oriented_load load[7];
    double wdot[21], a0[ROWS], K[ROWS * ROWS];
    ss_rows mine = {0};
    for (int i = 0; i < ROWS; i++) {
        const int link = ss_random_below(&g, 7);
        const ss_vec3 along = ss_unit(ss_vec(ss_random_normal(&g), ss_random_normal(&g), 0.3));
        const ss_strand_point *p = &stepper->here.all.points[link + 1]; // its far end
        rows[i] = (ss_oriented_row){.link = link,
                                    .at = ss_vec(0.0, tree->link[link].length, 0.0),
                                    .along = along,
                                    .normal = -1};
        const ss_row row = {.low = -INFINITY, .high = INFINITY, .normal = -1};
        CHECK(ss_rows_add(&mine, &row));
        double *x = ss_rows_add_end(&mine, 0, 21);
        for (int j = 0; j < p->count; j++) {
            const double *J = p->J + j;
            x[ss_point_dof(p, j)] =
                along.x * J[0] + along.y * J[p->count] + along.z * J[2 * p->count];
        }
    }
    ss_oriented_rows_measure(&state, ROWS, rows, wdot, load, a0, K);
    CHECK(ss_rows_measure(&mine, world, &stepper->systems, factors()));
    for (int j = 0; j < ROWS; j++) { // column j: u of all rows under a unit of x_j
        for (int i = 0; i < ROWS; i++) {
            ss_row *row = ss_rows_at(&mine, i);
            row->low = row->high = i == j ? 1.0 : 0.0;
        }
        ss_rows_relax(&mine, 1, 1.0, 0.0);
        double v[21] = {0.0}, moved[21];
        ss_rows_push(&mine, world, j, 1.0, v);
        ss_systems_solve(&stepper->systems, world, 0, v, moved);
        CHECK_NEAR(ss_rows_at(&mine, j)->diagonal, K[j * ROWS + j], 1e-9 * K[j * ROWS + j]);
        for (int i = 0; i < ROWS; i++) {
            CHECK_NEAR(ss_rows_velocity(&mine, world, i, moved), K[i * ROWS + j],
                       1e-9 * sqrt(K[i * ROWS + i] * K[j * ROWS + j]));
        }
    }
    ss_rows_free(&mine);
}

// Rows over two strands: at the answer each is where its law allows it to be, by velocities that are formed anew.
static void the_box_law_holds_to_rounding(void)
{
    crossing_chains(world, 0.01);
    const int n = world->strands[0].size.nv;
    start_by("phases", 1e-3);
    step();
    for (int trial = 0; trial < 20; trial++) {
        ss_rows rows = {0};
        double impulses[64] = {0.0}, v[64], *x;
        for (int i = 0; i < 6; i++) {
            const bool friction = i == 1 || i == 3, bound = i == 4;
            const ss_row row = {.b = ss_random_normal(&g),
                                .low = bound ? -0.01 : 0.0,
                                .high = bound ? 0.02 : INFINITY,
                                .normal = friction ? i - 1 : -1,
                                .mu = 0.5};
            CHECK(ss_rows_add(&rows, &row));
            for (int k = 0; k < 2; k++) {
                x = ss_rows_add_end(&rows, k, n);
                for (int j = 0; j < n; j++) {
                    x[j] = ss_random_normal(&g);
                }
            }
        }
        CHECK(ss_rows_measure(&rows, world, &stepper->systems, factors()));
        ss_rows_relax(&rows, 20000, 1.0, 0.0);
        for (int i = 0; i < 6; i++) {
            ss_rows_push(&rows, world, i, ss_rows_at(&rows, i)->x, impulses);
        }
        for (int k = 0; k < 2; k++) {
            const int at = world->strands[k].v;
            ss_systems_solve(&stepper->systems, world, k, impulses + at, v + at);
        }
        for (int i = 0; i < 6; i++) {
            const ss_row *row = ss_rows_at(&rows, i);
            const double u = row->b + ss_rows_velocity(&rows, world, i, v);
            const double high =
                row->normal >= 0 ? row->mu * ss_rows_at(&rows, row->normal)->x : row->high;
            const double low = row->normal >= 0 ? 0.0 : row->low;
            CHECK(row->x >= low - 1e-9 && row->x <= high + 1e-9);
            CHECK(row->x <= low + 1e-9 || u <= 1e-9);
            CHECK(row->x >= high - 1e-9 || u >= -1e-9);
        }
        ss_rows_free(&rows);
    }
}

// ---- Problems

// What a step leaves is a problem of the testbed: M v = f + H r, and the box law's r within its own cones.
static void steps_leave_problems_with_the_friction_that_was_taken(void)
{
    crossing_chains(world, 0.01);
    world->radius = 0.006;
    world->mu = 0.5;
    stir(world, 0.1);
    start_by("phases:sliding=0.6", 1e-3);
    int slid = 0;
    for (int k = 0; k < 200; k++) {
        const double *r, *v;
        step();
        const ss_problem *p = ss_stepper_problem(stepper, &r, &v);
        if (p == NULL) {
            continue;
        }
        CHECK_LE(replay_error(p, r, v), 1e-12);
        CHECK(p->has_solution && strcmp(p->claim.solver, "phases:sliding=0.6") == 0);
        for (int i = 0; i < p->ncontacts; i++) {
            CHECK(p->mu[i] == 0.5 || p->mu[i] == 0.6 * 0.5);
            slid += p->mu[i] < 0.5;
            CHECK_LE(hypot(r[3 * i + 1], r[3 * i + 2]), p->mu[i] * r[3 * i] * (1.0 + 1e-12));
        }
    }
    CHECK(slid > 0);
}

// ---- Rest and bad input

static void a_strand_comes_to_rest_on_the_ground(void)
{
    add_falling_strand();
    start_by("phases", 2e-3);
    double deepest = 0.0;
    for (int k = 0; k < 1000; k++) {
        step();
        deepest = fmax(deepest, report.penetration);
    }
    CHECK_LE(report.max_speed, 1e-6);
    CHECK(report.active > 0);
    CHECK_LE(deepest, world->radius);
}

static void check_refused(const char *spec, const char *words)
{
    ss_scheme_choice choice;
    CHECK_OK(ss_scheme_parse(spec, &choice, &error));
    options.scheme = &choice;
    const ss_stepper *none =
        ss_stepper_new(world, &options, (ss_step_solver){.solve = NULL}, &error);
    TEST_ASSERT_NULL(none);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, words), error.text);
    ss_scheme_choice_free(&choice);
}

static void limits_without_joints_and_goals_without_poses_are_refused(void)
{
    const ss_strand_design design = {.length = 0.1, .material = ss_material_hair(), .nsegments = 4};
    const ss_pose root = ss_pose_identity();
    add_strand("super-helix", &design, &root);
    check_refused("phases:limit=0.5", "limit=0.5 is for joints");
    check_refused("phases:goal=tip", "none of these is");
}

// z^2 - (2 - h^2 kp - h kd) z + 1 - h kd has the root -1 at h kd + h^2 kp/2 = 2, here kd = 1990 for kp = 2e4.
static void gains_that_would_overshoot_further_in_each_step_are_refused(void)
{
    world->gravity = ss_vec(0.0, 0.0, 0.0);
    add_pendulum(0.0, 0.0, 1e-12);
    const ss_vec3 pose[2] = {{0.0, 0.0, 0.0}, {0.0, -PENDULUM_LENGTH, 0.0}};
    const ss_posing_key key = {.time = 0.0, .place = pose};
    CHECK_OK(ss_world_pose_strand(world, 0, 1, &key, &error));
    options.dt = 1e-3;
    check_refused("phases:goal=tip,kp=2e4,kd=1991", "overshot further in every step of 0.001 s");
    check_refused("phases:goal=tip,kd=1e6", "such as kd=200,kp=1e+04");
    start_by("phases:goal=tip,kp=2e4,kd=1989", 1e-3);
}

static void check_without_effect(const char *spec, const char *words)
{
    ss_scheme_choice choice;
    CHECK(ss_scheme_parse(spec, &choice, &error) == SS_BAD_INPUT);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, words), error.text);
}

static void keys_without_effect_are_refused(void)
{
    check_without_effect("phases:goal=off,kp=3", "kp does nothing");
    check_without_effect("phases:kd=3", "without goal=tip");
    static const char *const GOOD[] = {"phases:kp=3,goal=tip", "phases:goal=tip,kd=3",
                                       "phases:sweeps=9,omega=1.2,eps=0.1,stick=1,sliding=0.5"};
    for (size_t k = 0; k < sizeof GOOD / sizeof GOOD[0]; k++) {
        ss_scheme_choice choice;
        CHECK_OK(ss_scheme_parse(GOOD[k], &choice, &error));
        ss_scheme_choice_free(&choice);
    }
}

static void run_tests(void)
{
    RUN_TEST(a_tip_leaves_a_wall_with_the_share_of_restitution);
    RUN_TEST(a_rod_sticks_by_mu_and_slides_by_a_share_of_it);
    RUN_TEST(a_joint_stops_at_its_limit_and_holds_there);
    RUN_TEST(a_joint_beyond_its_limit_comes_back_at_a_rate_that_no_step_changes);
    RUN_TEST(small_limits_hold_in_a_chain_that_is_thrown);
    RUN_TEST(a_goal_is_approached_as_its_equation_says);
    RUN_TEST(test_impulses_give_the_matrix_of_test_forces);
    RUN_TEST(the_box_law_holds_to_rounding);
    RUN_TEST(steps_leave_problems_with_the_friction_that_was_taken);
    RUN_TEST(a_strand_comes_to_rest_on_the_ground);
    RUN_TEST(limits_without_joints_and_goals_without_poses_are_refused);
    RUN_TEST(gains_that_would_overshoot_further_in_each_step_are_refused);
    RUN_TEST(keys_without_effect_are_refused);
}

const test_group phases_tests = {.run = run_tests, .set_up = set_up, .tear_down = tear_down};
