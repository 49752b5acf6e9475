// tests/strands/test_chain_steps.c -- chains in worlds: what contacts find when they push one, steps that
// cannot be, and chains on scripted bodies.
#include "strands/models/chain.h"

#include <stdlib.h>
#include <string.h>

#include "strands/band.h"
#include "strands/scenes/scene.h"
#include "tests/support/one_stepper.h"
#include "tests/support/one_strand.h"
#include "tests/support/scene_run.h"

static ss_random g;

static void set_up(void)
{
    g = ss_random_seeded(23);
    begin_world();
}

static const char *const SPECS[] = {"tmf", "tmf:root=free", "tmf:mass=nodal",
                                    "pbd:root=free,mass=nodal", "dftl"};
#define NSPECS (sizeof SPECS / sizeof SPECS[0])

// ---- What impulses do

// M of a step of 1 ms from where the strand is; x is the caller's to free.
static ss_band step_matrix(one_strand *s)
{
    const int n = s->size.nv;
    ss_band M = new_band(s);
    double *dense = calloc((size_t)(n * n) + 2 * (size_t)n, sizeof *dense);
    mass_matrix(s, s->q, dense);
    for (int j = 0; j < n; j++) {
        for (int i = j; i < n && i <= j + M.half; i++) {
            *ss_band_at(&M, i, j) = dense[i * n + j];
        }
    }
    // The method has nothing to do, so that G is that of q.
    s->model->project(s->self, s->q, 1e-3, dense + n * n, dense + n * n + n, &M);
    free(dense);
    return M;
}

static void check_response(one_strand *s)
{
    const int n = s->size.nv;
    ss_band M = step_matrix(s);
    double *D = calloc(3 * (size_t)n, sizeof *D), *stiff = D + n, *exact = stiff + n;
    CHECK(ss_band_factor(&M, D));
    for (int k = 0; k < n; k++) {
        memset(stiff, 0, 2 * (size_t)n * sizeof *stiff);
        stiff[k] = exact[k] = 1.0;
        ss_band_solve(&M, D, stiff);
        ss_chain_respond(s->self, s->q, exact);
        for (int j = 0; j < n; j++) {
            CHECK_NEAR(stiff[j], exact[j], 1e-5 / s->mass[s->size.nsamples - 1]);
        }
    }
    free(D);
    free(M.x);
}

static void the_compliant_form_responds_as_the_exact_one(void)
{
    for (size_t k = 0; k < NSPECS; k++) {
        ss_strand_design design = random_design(&g, 7, 30.0);
        design.nsegments = 50;
        one_strand s = new_strand(SPECS[k], &design);
        const ss_pose root = random_pose(&g);
        place_strand(&s, &root, s.q);
        check_response(&s);
        free_strand(&s);
    }
}

static ss_vec3 vertex(const double *x, int i)
{
    return i >= 0 ? ss_vec(x[3 * i], x[3 * i + 1], x[3 * i + 2]) : ss_vec(0.0, 0.0, 0.0);
}

// Chains that a contact pushes keep their lengths, and a held root takes what is left; impulses
// along a straight chain meet all of it.
static void impulses_do_not_stretch_a_chain(void)
{
    const ss_strand_design design = random_design(&g, 7, 30.0);
    one_strand s = new_strand("tmf:mass=nodal", &design);
    double *x = calloc((size_t)s.size.nv, sizeof *x);
    for (int j = 0; j < s.size.nv; j++) {
        x[j] = ss_random_normal(&g);
    }
    ss_chain_respond(s.self, s.q, x);
    double most = 0.0;
    for (int j = 0; j < s.size.nv; j++) {
        most = fmax(most, fabs(x[j]));
    }
    for (int i = 0; i < design.nsegments; i++) {
        const ss_vec3 edge = ss_unit(ss_minus(vertex(s.q, i), vertex(s.q, i - 1)));
        const double rate = ss_dot(edge, ss_minus(vertex(x, i), vertex(x, i - 1)));
        CHECK_NEAR(rate, 0.0, 1e-12 * most);
    }
    free(x);
    free_strand(&s);
}

static void a_push_along_a_straight_chain_meets_all_of_it(void)
{
    const ss_strand_design design = {
        .length = 0.2, .material = ss_material_hair(), .nsegments = 10};
    one_strand s = new_strand("tmf:root=free", &design);
    double x[33] = {0.0}, mass = 0.0;
    for (int i = 0; i < s.size.nsamples; i++) {
        mass += s.mass[i];
    }
    x[30] = mass; // the tip, along the chain
    ss_chain_respond(s.self, s.q, x);
    for (int i = 0; i < 11; i++) {
        CHECK_NEAR(x[3 * i], 1.0, 1e-12);
    }
    free_strand(&s);
}

static void particles_respond_alone(void)
{
    const ss_strand_design design = random_design(&g, 7, 30.0);
    one_strand s = new_strand("tmf:contact=particles", &design);
    const ss_pose root = random_pose(&g);
    place_strand(&s, &root, s.q);
    ss_band M = step_matrix(&s);
    CHECK(M.half == 2);
    for (int j = 0; j < M.n; j++) {
        for (int i = j; i < M.n && i <= j + M.half; i++) {
            CHECK_NEAR(*ss_band_at(&M, i, j), i == j ? s.mass[0] : 0.0, 1e-15 * s.mass[0]);
        }
    }
    free(M.x);
    free_strand(&s);
}

// ---- Worlds

static int add_chain(const char *spec, const ss_strand_design *design, int body,
                     const ss_pose *root)
{
    ss_model_choice choice = {0};
    int number = -1;
    CHECK_OK(ss_model_parse(spec, &choice, &error));
    CHECK_OK(ss_world_add_strand(world, &choice, design, body, root, &number, &error));
    ss_model_choice_free(&choice);
    return number;
}

static ss_strand_design straight(double length, int nsegments)
{
    return (ss_strand_design){
        .length = length, .material = ss_material_hair(), .nsegments = nsegments};
}

static double stretch_percent(double length)
{
    double sum = 0.0;
    for (int i = 0; i < world->nv / 3; i++) {
        sum += ss_length(ss_minus(vertex(world->now.q, i), vertex(world->now.q, i - 1)));
    }
    return 100.0 * (sum / length - 1.0);
}

// A chain falls across a bar, which its tip winds around.
static double most_stretch_on_a_bar(const char *spec)
{
    const ss_strand_design design = straight(0.2, 40);
    const ss_pose root = ss_pose_identity();
    const ss_obstacle bar = {.kind = SS_OBSTACLE_CYLINDER,
                             .size = {0.01, 0.0, 0.1},
                             .pose = pose_at(ss_vec(0.06, -0.06, 0.0), ss_vec(0.0, 0.0, 0.0)),
                             .mu = 0.3};
    world->radius = 5e-4;
    CHECK_OK(ss_world_add_obstacle(world, &bar, &error));
    add_chain(spec, &design, 0, &root);
    options.dt = 2e-3;
    begin();
    double most = 0.0;
    int touching = 0;
    for (int k = 0; k < 100; k++) {
        steps(1);
        most = fmax(most, stretch_percent(0.2));
        touching += report.active > 0;
    }
    CHECK(touching > 20);
    return most;
}

static void a_chain_on_a_bar_does_not_stretch(void)
{
    CHECK_LE(most_stretch_on_a_bar("tmf"), 0.05);
}

static void particles_on_a_bar_stretch(void)
{
    CHECK_LE(0.2, most_stretch_on_a_bar("tmf:contact=particles"));
}

// M v = f + H r of the stored problem, which holds the method's outcome.
static void the_problem_of_a_chain_replays(void)
{
    most_stretch_on_a_bar("tmf");
    const double *r, *v;
    const ss_problem *p = ss_stepper_problem(stepper, &r, &v);
    CHECK(p != NULL);
    double *left = calloc(2 * (size_t)p->ndofs, sizeof *left), *size = left + p->ndofs;
    for (int j = 0; j < p->ndofs; j++) {
        for (int k = p->M.start[j]; k < p->M.start[j + 1]; k++) {
            left[p->M.row[k]] += p->M.x[k] * v[j];
            size[p->M.row[k]] += fabs(p->M.x[k] * v[j]);
        }
    }
    for (int c = 0; c < 3 * p->ncontacts; c++) {
        for (int k = p->H.start[c]; k < p->H.start[c + 1]; k++) {
            left[p->H.row[k]] -= p->H.x[k] * r[c];
            size[p->H.row[k]] += fabs(p->H.x[k] * r[c]);
        }
    }
    for (int j = 0; j < p->ndofs; j++) {
        CHECK_NEAR(left[j], p->f[j], 1e-14 * (size[j] + fabs(p->f[j])));
    }
    free(left);
}

// ---- Friction travels along a chain

#define PULL 1e-4 // N

static double capstan_speed(double ratio)
{
    const char *const model = "tmf:root=free";
    ss_model_choice choice;
    CHECK_OK(ss_model_parse(model, &choice, &error));
    options.dt = 1e-3;
    CHECK_OK(ss_capstan_build(M_PI, 0.3, PULL, ratio * PULL, &choice, world, &options, &error));
    ss_model_choice_free(&choice);
    begin();
    steps(60);
    return fabs(world->now.v[0]);
}

// A polygon's friction adds up corner by corner to less than that of the arc.
static void a_capstan_holds_a_chain(void)
{
    CHECK_LE(capstan_speed(0.9 * exp(0.3 * M_PI)), 1e-4);
}

static void a_capstan_lets_a_chain_slip(void)
{
    CHECK_LE(1e-3, capstan_speed(1.1 * exp(0.3 * M_PI)));
}

// ---- Scripted roots

// One segment on a turntable: at tan a = w^2 (R + l sin a) / g it hangs still against it.
static void a_pendulum_on_a_turntable_hangs_outwards(void)
{
    const double R = 0.1, l = 0.05, a = 0.6, rate = sqrt(9.81 * tan(a) / (R + l * sin(a)));
    const ss_motion turning = {
        .angle = {.kind = SS_PROFILE_STEADY,
                  .size = 2.0 * M_PI,
                  .period = 2.0 * M_PI / rate,
                  .start = -10.0},
        .axis = {0.0, 1.0, 0.0},
        .direction = {1.0, 0.0, 0.0},
    };
    int body;
    CHECK_OK(ss_world_add_body(world, &turning, &body, &error));
    const ss_strand_design design = straight(l, 1);
    const ss_pose root = pose_at(ss_vec(R, 0.0, 0.0), ss_vec(0.0, 0.0, a - 0.5 * M_PI));
    add_chain("tmf", &design, body, &root);
    options.contacts = false;
    begin();
    steps(50);
    CHECK_LE(fabs(world->now.q[1]), 1e-9);
    CHECK_LE(fabs(world->now.q[2]), 1e-9);
}

// ---- What cannot be

static void a_style_without_lengths_is_refused(void)
{
    const double turn = 2.0 * M_PI / 0.05;
    const double style[4][3] = {{0.0, 0.0, 0.0}, {0.0, 0.0, turn}, {0.0}, {0.0}};
    ss_strand_design design = straight(0.2, 4);
    design.npieces = 4;
    design.style = style;
    ss_model_choice choice;
    CHECK_OK(ss_model_parse("pbd:iterations=3", &choice, &error));
    void *rod;
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, choice.model->make(&design, choice.settings, &rod, &error));
    CHECK(rod == NULL);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, "vertices 1 and 2"), error.text);
    ss_model_choice_free(&choice);
}

static void free_flight(void)
{
    const ss_strand_design design = straight(0.1, 4);
    const ss_pose root = ss_pose_identity();
    world->gravity = ss_vec(0.0, 0.0, 0.0);
    add_chain("tmf", &design, 0, &root);
    options.contacts = false;
    options.dt = 0.0009765625; // 2^-10 s, so that h v is exact
    options.dt_min = options.dt / 4.0;
}

static void a_step_onto_one_place_is_rejected(void)
{
    free_flight();
    begin();
    // In a step of dt, vertex 4 would come to where vertex 3 rests.
    double *q = world->now.q, *v = world->now.v;
    v[9] = (q[6] - q[9]) / options.dt;
    q[9] = q[6] - v[9] * options.dt;
    steps(1);
    CHECK(report.rejected == 1 && report.reason == SS_STEP_EXPLOSION);
    CHECK_NEAR(report.dt, options.dt / 2.0, 0.0);
}

static void vertices_on_one_place_end_a_run(void)
{
    free_flight();
    begin();
    steps(1);
    world->now.q[9] = world->now.q[6];
    double before[12];
    memcpy(before, world->now.q, sizeof before);
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, ss_stepper_step(stepper, &report, &error));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, "explodes"), error.text);
    CHECK(memcmp(before, world->now.q, sizeof before) == 0);
}

static void theta_below_1_is_refused(void)
{
    free_flight();
    ss_scheme_choice scheme;
    CHECK_OK(ss_scheme_parse("linear:theta=0.6", &scheme, &error));
    options.scheme = &scheme;
    stepper = ss_stepper_new(world, &options,
                             (ss_step_solver){.solve = solve_step, .context = &secular}, &error);
    ss_scheme_choice_free(&scheme);
    CHECK(stepper == NULL);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, "model tmf"), error.text);
}

static void settling_leaves_a_chain_as_it_is(void)
{
    free_flight();
    double before[12];
    memcpy(before, world->now.q, sizeof before);
    CHECK_OK(ss_world_settle(world, &error));
    CHECK(memcmp(before, world->now.q, sizeof before) == 0);
}

static void run_tests(void)
{
    RUN_TEST(the_compliant_form_responds_as_the_exact_one);
    RUN_TEST(impulses_do_not_stretch_a_chain);
    RUN_TEST(a_push_along_a_straight_chain_meets_all_of_it);
    RUN_TEST(particles_respond_alone);
    RUN_TEST(a_chain_on_a_bar_does_not_stretch);
    RUN_TEST(particles_on_a_bar_stretch);
    RUN_TEST(the_problem_of_a_chain_replays);
    RUN_TEST(a_capstan_holds_a_chain);
    RUN_TEST(a_capstan_lets_a_chain_slip);
    RUN_TEST(a_pendulum_on_a_turntable_hangs_outwards);
    RUN_TEST(a_style_without_lengths_is_refused);
    RUN_TEST(a_step_onto_one_place_is_rejected);
    RUN_TEST(vertices_on_one_place_end_a_run);
    RUN_TEST(theta_below_1_is_refused);
    RUN_TEST(settling_leaves_a_chain_as_it_is);
}

const test_group chain_steps_tests = {.run = run_tests, .set_up = set_up, .tear_down = tear_down};
