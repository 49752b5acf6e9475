// tests/strands/test_step.c -- the one-step problem of a world against differences, and steps of it.
#include "strands/step/step.h"

#include <stdlib.h>
#include <string.h>

#include "problems/check.h"
#include "strands/models.h"
#include "tests/support/landing.h"
#include "tests/support/scene_world.h"

static void set_up(void)
{
    toy_stiffness = 1e-3;
    toy_chain_damping = 0.01;
    begin_world();
    world->radius = 0.01;
}

static const ss_problem *problem(void)
{
    const double *r, *v;
    return ss_stepper_problem(stepper, &r, &v);
}

// ---- The problem

static ss_vec3 point_of(const ss_snapshot *at, int k, int segment, double a)
{
    return ss_segment_point(world, at->x, k, segment, a);
}

// The relative place of the two material points of a contact, which were at `from`.
static ss_vec3 apart(const ss_snapshot *from, const ss_snapshot *at, const ss_touch *t)
{
    const ss_vec3 a = point_of(at, t->strand_a, t->segment_a, t->a);
    if (t->strand_b < 0) {
        return ss_minus(a, ss_carried(from, at, world->obstacles[t->segment_b].body, t->y));
    }
    return ss_minus(a, point_of(at, t->strand_b, t->segment_b, t->b));
}

// Impacts would give velocities that change much within the difference.
static ss_status push_nothing(void *context, const ss_problem *p, double *r, ss_step_answer *answer,
                              ss_error *e)
{
    (void)context;
    (void)e;
    memset(r, 0, 3 * (size_t)p->ncontacts * sizeof *r);
    *answer = (ss_step_answer){.status = "nothing"};
    return SS_OK;
}

static void velocities_of_contacts_are_those_of_differences(void)
{
    crowd(world, 4.0);
    options.gap = SS_GAP_NONE;
    options.dt = options.dt_min = 1e-8;
    stepper = ss_stepper_new(world, &options,
                             (ss_step_solver){.solve = push_nothing, .context = NULL}, &error);
    step();
    CHECK(report.contacts >= 8 && report.contacts_obstacle >= 1);
    const ss_snapshot *from = &stepper->there, *to = &stepper->here; // the step exchanged them
    double largest = 0.0;
    for (int i = 0; i < report.contacts; i++) {
        const ss_touch *t = &stepper->touches[i];
        const ss_vec3 moved = ss_minus(apart(from, to, t), apart(from, from, t));
        const ss_vec3 u = ss_turned_back(&stepper->E[i], ss_scaled(1e8, moved));
        const double *computed = stepper->u + 3 * i;
        CHECK_NEAR(computed[0], u.x, 1e-6);
        CHECK_NEAR(computed[1], u.y, 1e-6);
        CHECK_NEAR(computed[2], u.z, 1e-6);
        largest = fmax(largest, ss_length(u));
    }
    CHECK(largest > 0.5);
}

// u = H' v + w of the problem is that of the step: w is the script's part where there is no gap.
static void w_is_the_scripts_velocity(void)
{
    crowd(world, 4.0);
    options.gap = SS_GAP_NONE;
    begin();
    step();
    double largest = 0.0;
    for (int j = 0; j < 3 * report.contacts; j++) {
        CHECK(problem()->w[j] == stepper->formed.scripted[j]);
        largest = fmax(largest, fabs(problem()->w[j]));
    }
    CHECK(largest > 0.1);
}

static void the_problem_is_one_that_solvers_accept(void)
{
    crowd(world, 0.1);
    begin();
    step();
    ss_problem copy = *problem();
    ss_report findings = {0};
    CHECK_OK(ss_check_values(&copy, &findings, &error));
    TEST_ASSERT_NULL(ss_report_first_defect(&findings));
    CHECK(findings.count == 0);
    ss_report_free(&findings);
    const ss_sparse *H = &problem()->H, *M = &problem()->M;
    for (int j = 0; j < H->ncols; j++) {
        for (int k = H->start[j] + 1; k < H->start[j + 1]; k++) {
            CHECK(H->row[k] > H->row[k - 1]);
        }
    }
    ss_sparse transposed;
    CHECK_OK(ss_sparse_transpose(M, &transposed, &error));
    CHECK(ss_sparse_unsymmetry(M, &transposed) == 0.0);
    ss_sparse_free(&transposed);
    const ss_provenance *from = &problem()->provenance;
    CHECK(from->step == 0 && from->time == 0.0 && from->dt == 2e-3);
    TEST_ASSERT_EQUAL_STRING("SI", from->units);
}

static void a_replay_gives_the_velocities_of_the_step(void)
{
    crowd(world, 0.1);
    options.reach = 0.0;
    begin();
    for (int i = 0; i < 20; i++) {
        step();
        const double *r, *v;
        const ss_problem *p = ss_stepper_problem(stepper, &r, &v);
        CHECK(p != NULL);
        CHECK_LE(replay_error(p, r, v), 1e-14);
        for (int k = 0; k < world->nstrands; k++) {
            const int row = stepper->formed.row[k], at = world->strands[k].v;
            CHECK(row < 0 || v[row] == world->now.v[at + stepper->systems.free[at]]);
        }
    }
}

// On chains, whose dofs are those of points, H r is the force itself.
static void impulses_keep_momentum(void)
{
    crossing_chains(world, 0.015);
    options.gap = SS_GAP_NONE;
    begin();
    stir(world, 0.2);
    step();
    CHECK(report.contacts == 1);
    double r[3] = {0.3, -0.7, 1.1}, force[24] = {0.0};
    ss_sparse_add_product(&problem()->H, r, force);
    const ss_vec3 pushed = ss_turned(&stepper->E[0], ss_vec(r[0], r[1], r[2]));
    const ss_touch *t = ss_stepper_touches(stepper, &report.contacts);
    for (int k = 0; k < 2; k++) {
        const ss_mat3 turn = world->strands[k].root.turn;
        const ss_vec3 x = point_of(&stepper->there, k, k == 0 ? t->segment_a : t->segment_b,
                                   k == 0 ? t->a : t->b);
        ss_vec3 sum = {0}, moment = {0};
        for (int i = 0; i < 4; i++) {
            const double *f = force + 12 * k + 3 * i;
            const ss_vec3 one = ss_turned(&turn, ss_vec(f[0], f[1], f[2]));
            sum = ss_plus(sum, one);
            moment =
                ss_plus(moment, ss_cross(point_of(&stepper->there, k, i < 3 ? i : 2, i == 3), one));
        }
        const double sign = k == 0 ? 1.0 : -1.0;
        CHECK_LE(ss_length(ss_along(sum, -sign, pushed)), 1e-15);
        CHECK_LE(ss_length(ss_along(moment, -sign, ss_cross(x, pushed))), 1e-15);
    }
}

static void gaps_enter_as_the_options_say(void)
{
    const struct {
        double apart;
        ss_gap gap;
        double expected; // of w_N at h = 1 ms; the sum of radii is 20 mm
    } cases[] = {
        {0.021, SS_GAP_POSITIVE, 1.0},    {0.021, SS_GAP_BAUMGARTE, 1.0},
        {0.0199, SS_GAP_POSITIVE, 0.0},   {0.0199, SS_GAP_BAUMGARTE, -0.2 * 0.1},
        {0.0150, SS_GAP_BAUMGARTE, -0.1}, // capped
        {0.0199, SS_GAP_NONE, 0.0},
    };
    options.dt = 1e-3;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        tear_down();
        world = ss_world_new();
        world->radius = 0.01;
        crossing_chains(world, cases[k].apart);
        options.gap = cases[k].gap;
        begin();
        step();
        CHECK(report.contacts == 1);
        CHECK_NEAR(problem()->w[0], cases[k].expected, 1e-12);
        CHECK(problem()->w[1] == 0.0 && problem()->w[2] == 0.0);
    }
}

static void without_a_gap_term_open_contacts_are_left_out(void)
{
    crossing_chains(world, 0.021);
    options.gap = SS_GAP_NONE;
    begin();
    step();
    CHECK(report.contacts == 0 && problem() == NULL && secular.calls == 0);
    TEST_ASSERT_EQUAL_STRING("", report.answer.status);
}

// Two chains in free fall side by side stay as deep in each other as they were put.
static void the_deepest_overlap_at_the_end_is_reported(void)
{
    world->mu = 0.0;
    crossing_chains(world, 0.015);
    options.gap = SS_GAP_POSITIVE;
    options.reach = 0.0;
    begin();
    step();
    CHECK_NEAR(report.penetration, 2.0 * world->radius - 0.015, 1e-9);
    tear_down();
    begin_world();
    crossing_chains(world, 0.015);
    options.contacts = false;
    begin();
    step();
    CHECK(isnan(report.penetration));
}

static void strands_without_contact_are_left_out(void)
{
    const ss_pose away = pose_at(ss_vec(1.0, 0.0, 0.0), ss_vec(0.0, 0.0, 0.0));
    toy_strand(world, &toy_pendulum, 0.3, 3, 0, &away);
    crossing_chains(world, 0.015);
    begin();
    step();
    CHECK(report.contacts == 1 && problem()->ndofs == 24);
    CHECK(stepper->formed.row[0] == -1 && stepper->formed.row[1] == 0);
    CHECK(world->now.v[0] < 0.0); // but it fell
}

static void friction_is_that_of_the_pair(void)
{
    crowd(world, 0.1);
    world->mu = 0.25;
    begin();
    step();
    for (int i = 0; i < report.contacts; i++) {
        CHECK(problem()->mu[i] == (stepper->touches[i].strand_b < 0 ? 0.5 : 0.25));
    }
}

// ---- Steps

static void no_contacts_when_none_are_wanted(void)
{
    crowd(world, 0.1);
    options.contacts = false;
    begin();
    steps(3);
    CHECK(report.contacts == 0 && secular.calls == 0 && problem() == NULL);
    CHECK_NEAR(world->now.time, 6e-3, 1e-15);
}

// A rod of 11 vertices that nothing holds lies on a plane of the world, which carries it too.
static void lay_rod(ss_gap gap)
{
    ss_vec3 vertices[11];
    for (int i = 0; i < 11; i++) {
        vertices[i] = ss_vec(0.01 * i, 1e-3, 0.0);
    }
    const ss_strand_design design = {.material = ss_material_hair(),
                                     .nvertices = 11,
                                     .vertices = vertices,
                                     .nsegments = 10,
                                     .clamp = SS_CLAMP_NONE};
    const ss_obstacle floor = {.kind = SS_OBSTACLE_PLANE,
                               .pose =
                                   pose_at(ss_vec(0.0, 0.0, 0.0), ss_vec(-0.5 * M_PI, 0.0, 0.0)),
                               .mu = 0.5};
    const ss_pose root = ss_pose_identity();
    begin_again();
    world->radius = 1e-3;
    options.gap = gap;
    CHECK_OK(ss_world_add_obstacle(world, &floor, &error));
    add_strand("der", &design, &root);
    begin();
}

static void a_level_rod_rests_on_a_plane_by_all_its_vertices(void)
{
    static const ss_gap GAPS[] = {SS_GAP_POSITIVE, SS_GAP_BAUMGARTE};
    for (size_t k = 0; k < sizeof GAPS / sizeof GAPS[0]; k++) {
        lay_rod(GAPS[k]);
        for (int i = 0; i < 100; i++) {
            step();
            CHECK(report.contacts == 11);
            CHECK_LE(report.penetration, 1e-9);
            CHECK_LE(report.max_speed, 1e-6);
        }
    }
}

// ---- What nothing holds falls, by every model, and stays out of what it falls on, root and tip and all

#define FALLING 0.1 // m

// Above an obstacle of a body, whose top is at the origin, with its root or its tip first.
static void drop_strand(const char *model, ss_obstacle_kind kind, const ss_motion *motion,
                        double pitch)
{
    const ss_strand_design design = {
        .length = FALLING, .material = ss_material_hair(), .nsegments = 10, .clamp = SS_CLAMP_NONE};
    const ss_pose turned = pose_at(ss_vec(0.0, 0.0, 0.0), ss_vec(0.0, 0.0, pitch));
    ss_obstacle o = {.kind = kind,
                     .size = {0.02, 0.02, 0.02},
                     .pose = pose_at(ss_vec(0.0, 0.0, 0.0), ss_vec(-0.5 * M_PI, 0.0, 0.0)),
                     .mu = 0.5};
    o.pose.place.y = kind == SS_OBSTACLE_PLANE ? 0.0 : kind == SS_OBSTACLE_CAPSULE ? -0.04 : -0.02;
    ss_pose root = turned;
    root.place = ss_along(ss_vec(0.0, 2e-3 + 0.5 * FALLING * fabs(sin(pitch)), 0.0), -0.5 * FALLING,
                          turned.turn.c[0]);
    begin_again();
    world->radius = 1e-3;
    if (motion != NULL) {
        CHECK_OK(ss_world_add_body(world, motion, &o.body, &error));
    }
    CHECK_OK(ss_world_add_obstacle(world, &o, &error));
    add_strand(model, &design, &root);
}

// In 80 steps of 1 ms no vertex and no edge overlaps the obstacle by more than a share of the radius. Chains move again
// after their contacts were solved, and round obstacles turn edges about them: the next step takes that back.
static void check_stays_out(double share)
{
    int touched = 0;
    options.dt = 1e-3;
    begin();
    for (int k = 0; k < 80; k++) {
        step();
        scene_lines l = lines_of(world, &world->now);
        CHECK_LE(-least_obstacle_gap(world, &world->now, &l.lines), share * world->radius);
        free_lines(&l);
        touched += report.active > 0;
    }
    CHECK(touched > 10);
}

static void a_free_strand_stays_out_of_what_it_falls_on(void)
{
    for (int k = 0; ss_strand_models[k] != NULL; k++) {
        const bool chain = ss_strand_models[k]->energy == NULL;
        for (int kind = SS_OBSTACLE_SPHERE; kind <= SS_OBSTACLE_CAPSULE; kind++) {
            for (int side = -1; side <= 1; side += 2) {
                drop_strand(ss_strand_models[k]->name, (ss_obstacle_kind)kind, NULL, 0.4 * side);
                check_stays_out(chain ? 0.5 : 0.2);
            }
        }
    }
}

static void a_free_strand_stays_out_of_what_it_falls_on_where_steps_look(void)
{
    for (int kind = SS_OBSTACLE_SPHERE; kind <= SS_OBSTACLE_CAPSULE; kind++) {
        for (int side = -1; side <= 1; side += 2) {
            drop_strand("der", (ss_obstacle_kind)kind, NULL, 0.4 * side);
            options.looks = 50;
            check_stays_out(0.06);
        }
    }
}

// It rises by 2 cm and falls again, as fast as 0.6 m/s.
static void a_free_strand_stays_out_of_what_moves_up(void)
{
    ss_motion up = ss_motion_still();
    up.direction = ss_vec(0.0, 1.0, 0.0);
    up.shift = (ss_profile){.kind = SS_PROFILE_OSCILLATE, .size = 0.02, .period = 0.2};
    for (int k = 0; ss_strand_models[k] != NULL; k++) {
        const bool chain = ss_strand_models[k]->energy == NULL;
        for (int side = -1; side <= 1; side += 2) {
            drop_strand(ss_strand_models[k]->name, SS_OBSTACLE_PLANE, &up, 0.1 * side);
            check_stays_out(chain ? 0.5 : 0.2);
        }
    }
}

// A rod whose ends are held in the middles of two balls: nothing can take them out, and nothing is to be tried again.
static void ends_that_are_held_inside_obstacles_reject_no_step(void)
{
    const ss_strand_design design = {
        .length = FALLING, .material = ss_material_hair(), .nsegments = 20, .clamp = SS_CLAMP_BOTH};
    const ss_pose root = ss_pose_identity();
    world->radius = 1e-3;
    for (int k = 0; k < 2; k++) {
        const ss_obstacle ball = {.kind = SS_OBSTACLE_SPHERE,
                                  .size = {4e-3, 0.0, 0.0},
                                  .pose = pose_at(ss_vec(k * FALLING, 0.0, 0.0), ss_vec(0, 0, 0))};
        CHECK_OK(ss_world_add_obstacle(world, &ball, &error));
    }
    add_strand("der", &design, &root);
    begin();
    for (int k = 0; k < 20; k++) {
        step();
        CHECK(report.rejected == 0);
    }
}

// The lower of two loose particles lands on a plane, slides, and friction stops it after v / (mu
// g). The upper one is held by its weight.
static void a_particle_lands_slides_and_stops(void)
{
    toy_stiffness = 0.0;
    world->radius = 1e-3;
    const ss_motion still = ss_motion_still(); // a root segment may be inside what carries it
    int body;
    CHECK_OK(ss_world_add_body(world, &still, &body, &error));
    const ss_obstacle floor = {.kind = SS_OBSTACLE_PLANE,
                               .body = body,
                               .size = {1.0, 1.0, 1.0},
                               .pose =
                                   pose_at(ss_vec(0.0, 0.0, 0.0), ss_vec(-0.5 * M_PI, 0.0, 0.0)),
                               .mu = 0.5};
    CHECK_OK(ss_world_add_obstacle(world, &floor, &error));
    const ss_pose root = pose_at(ss_vec(0.0, 0.302, 0.0), ss_vec(0.0, 0.0, -0.5 * M_PI));
    toy_strand(world, &toy_chain, 0.3, 1, 0, &root);
    world->strands[0].pull_root = ss_vec(0.0, world->mass[0] * 9.81, 0.0);
    world->now.v[4] = 0.2; // the root's y axis is the world's x axis
    begin();
    double worst = 0.0;
    while (world->now.time < 0.03) {
        step();
        worst = fmax(worst, report.dissipation);
    }
    CHECK_LE(worst, 1e-15);
    CHECK(report.contacts == 1 && report.contacts_obstacle == 1 && report.active == 1);
    // v - mu g t, except for what of the landing's 2 ms fell into one step
    const double landed = sqrt(2.0 * 1e-3 / 9.81);
    CHECK_NEAR(world->now.v[4], 0.2 - 0.5 * 9.81 * landed - 0.5 * 9.81 * (0.03 - landed), 0.02);
    CHECK_LE(fabs(world->now.v[3]), 1e-9);
    steps(20);
    CHECK(report.hits == 1 && report.active == 1);
    CHECK_LE(report.max_speed, 1e-9);
    CHECK_NEAR(world->now.q[3], 0.301, 1e-9); // the radius above the plane
    CHECK_LE(report.energy.kinetic, 1e-20);
}

static void contacts_only_dissipate(void)
{
    crowd(world, 0.1);
    options.gap = SS_GAP_POSITIVE;
    options.reach = 0.0;
    begin();
    double least = 0.0;
    for (int i = 0; i < 30; i++) {
        step();
        CHECK_LE(report.dissipation, 1e-12);
        least = fmin(least, report.dissipation);
    }
    CHECK(least < -1e-9);
}

static void theta_one_half_moves_by_the_mean_velocity(void)
{
    ss_scheme_choice half;
    CHECK_OK(ss_scheme_parse("linear:theta=0.5", &half, &error));
    options.scheme = &half;
    options.contacts = false;
    toy_stiffness = 0.0;
    crossing_chains(world, 1.0);
    begin();
    ss_scheme_choice_free(&half);
    steps(50);
    CHECK_NEAR(world->now.q[1], -0.5 * 9.81 * 0.1 * 0.1, 1e-14);
}

// Of 7 points in 6 steps of 0.1 m, that from 3 to 4 is no segment: the twig begins at 4.
static void a_twig_is_a_polyline_of_its_own(void)
{
    toy_chain_twig = 4;
    toy_stiffness = 0.0;
    const ss_pose root = pose_at(ss_vec(0.0, 0.0, 0.0), ss_vec(0.0, 0.0, 0.0));
    const ss_pose across = pose_at(ss_vec(0.35, -0.15, 0.0), ss_vec(0.0, 0.0, 0.5 * M_PI));
    toy_strand(world, &toy_chain, 0.6, 6, 0, &root);
    toy_chain_twig = 0;
    toy_strand(world, &toy_chain, 0.3, 3, 0, &across);
    toy_chain_twig = 4;
    begin();
    step();
    const int contacts = report.contacts;
    const double length = report.length;
    toy_chain_twig = 0;
    CHECK(contacts == 0); // the second strand crosses where there is no segment
    CHECK_NEAR(length, 0.5 + 0.3, 1e-12);
}

static void a_world_that_was_moved_is_looked_at_again(void)
{
    crossing_chains(world, 0.015);
    begin();
    step();
    CHECK(report.contacts == 1);
    for (int i = 0; i < 4; i++) {
        world->now.q[14 + 3 * i] += 0.5; // the second chain, along z
    }
    step();
    CHECK(report.contacts == 0);
}

static void two_runs_have_the_same_bits(void)
{
    double *q[2];
    int nq = 0;
    for (int k = 0; k < 2; k++) {
        tear_down();
        set_up();
        crowd(world, 0.1);
        options.reach = 0.0;
        begin();
        steps(10);
        CHECK(report.contacts > 0);
        nq = world->nq;
        q[k] = malloc((size_t)nq * sizeof(double));
        memcpy(q[k], world->now.q, (size_t)nq * sizeof(double));
    }
    CHECK(memcmp(q[0], q[1], (size_t)nq * sizeof(double)) == 0);
    free(q[0]);
    free(q[1]);
}

static void bad_options_are_refused(void)
{
    crossing_chains(world, 0.015);
    const ss_step_solver solver = {.solve = solve_step, .context = &secular};
    ss_step_options bad[5];
    for (int k = 0; k < 5; k++) {
        bad[k] = ss_step_defaults();
    }
    bad[0].dt_min = 0.0;
    bad[1].dt = 1e-5;
    bad[2].reach = -1.0;
    bad[3].margin = NAN;
    bad[4].beta = 2.0;
    for (int k = 0; k < 5; k++) {
        error.text[0] = '\0';
        TEST_ASSERT_NULL(ss_stepper_new(world, &bad[k], solver, &error));
        CHECK(error.text[0] != '\0');
    }
    ss_world *empty = ss_world_new();
    TEST_ASSERT_NULL(ss_stepper_new(empty, &options, solver, &error));
    CHECK(strstr(error.text, "no strand") != NULL);
    ss_world_free(empty);
}

static void run_tests(void)
{
    RUN_TEST(velocities_of_contacts_are_those_of_differences);
    RUN_TEST(w_is_the_scripts_velocity);
    RUN_TEST(the_problem_is_one_that_solvers_accept);
    RUN_TEST(a_replay_gives_the_velocities_of_the_step);
    RUN_TEST(impulses_keep_momentum);
    RUN_TEST(gaps_enter_as_the_options_say);
    RUN_TEST(without_a_gap_term_open_contacts_are_left_out);
    RUN_TEST(the_deepest_overlap_at_the_end_is_reported);
    RUN_TEST(strands_without_contact_are_left_out);
    RUN_TEST(friction_is_that_of_the_pair);
    RUN_TEST(no_contacts_when_none_are_wanted);
    RUN_TEST(a_level_rod_rests_on_a_plane_by_all_its_vertices);
    RUN_TEST(a_free_strand_stays_out_of_what_it_falls_on);
    RUN_TEST(a_free_strand_stays_out_of_what_it_falls_on_where_steps_look);
    RUN_TEST(a_free_strand_stays_out_of_what_moves_up);
    RUN_TEST(ends_that_are_held_inside_obstacles_reject_no_step);
    RUN_TEST(a_particle_lands_slides_and_stops);
    RUN_TEST(contacts_only_dissipate);
    RUN_TEST(theta_one_half_moves_by_the_mean_velocity);
    RUN_TEST(a_twig_is_a_polyline_of_its_own);
    RUN_TEST(a_world_that_was_moved_is_looked_at_again);
    RUN_TEST(two_runs_have_the_same_bits);
    RUN_TEST(bad_options_are_refused);
}

const test_group step_tests = {.run = run_tests, .set_up = set_up, .tear_down = tear_down};
