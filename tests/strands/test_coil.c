// tests/strands/test_coil.c -- the coil of [S23] springs back at 1/30 s, whatever the filter.
#include <stdio.h>
#include <string.h>

#include "strands/models/lifted_curls.h"
#include "strands/scenes/scene.h"
#include "tests/support/strand_run.h"
#include "tests/support/support.h"

#define VERTICES 101
#define RADIUS   0.005 // m

static ss_error error;
static int lifted; // systems whose diagonal was lifted, of a recovery

static void set_up(void)
{
    error = (ss_error){0};
}

static run new_coil(const char *options, const char *model, const char *scheme)
{
    char spec[80];
    ss_scene_choice scene;
    ss_model_choice choice;
    ss_scheme_choice steps = {0};
    ss_step_options o = ss_step_defaults();
    run r = {.w = ss_world_new()};
    snprintf(spec, sizeof spec, "coil:%s", options);
    CHECK_OK(ss_scene_parse(spec, &scene, &error));
    CHECK_OK(ss_model_parse(model, &choice, &error));
    if (scheme != NULL) {
        CHECK_OK(ss_scheme_parse(scheme, &steps, &error));
        o.scheme = &steps;
    }
    const ss_scene_request request = {.mu = NAN, .model = &choice, .settings = scene.settings};
    o.dt = scene.scene->dt;
    CHECK_OK(ss_scene_build(scene.scene, &request, r.w, &o, &error));
    r.s = ss_stepper_new(r.w, &o, (ss_step_solver){.solve = NULL}, &error);
    CHECK(r.s != NULL);
    ss_scene_choice_free(&scene);
    ss_model_choice_free(&choice);
    ss_scheme_choice_free(&steps);
    return r;
}

// Vertex i of the coil.
static ss_vec3 natural(int i)
{
    const double angle = 0.4 * M_PI * (i - 2);
    return i < 2 ? ss_vec(0.0, 0.011 - 0.001 * i, 0.0)
                 : ss_vec(RADIUS * cos(angle), -0.001 * (i - 2), RADIUS * sin(angle));
}

static double rms_off(const run *r)
{
    double sum = 0.0;
    for (int i = 0; i < VERTICES; i++) {
        const ss_vec3 off = ss_minus(ss_curl_vertex(r->w->now.q, i), natural(i));
        sum += ss_dot(off, off);
    }
    return sqrt(sum / VERTICES);
}

// The largest |I - 1| of an edge.
static double stretch_of(const run *r)
{
    double most = 0.0;
    for (int j = 0; j + 1 < VERTICES; j++) {
        const ss_vec3 e =
            ss_minus(ss_curl_vertex(r->w->now.q, j + 1), ss_curl_vertex(r->w->now.q, j));
        const double rest = ss_length(ss_minus(natural(j + 1), natural(j)));
        most = fmax(most, fabs(ss_length(e) / rest - 1.0));
    }
    return most;
}

// The step from which the rms distance stays below a thousandth of the radius; 0: never.
static int recovery(run *r, int steps)
{
    int stays = lifted = 0;
    for (int k = 1; k <= steps; k++) {
        CHECK_OK(ss_stepper_step(r->s, &r->report, &error));
        CHECK(r->report.rejected == 0 && r->report.stiffness == SS_STIFFNESS_FILTERED);
        lifted += r->report.lifted;
        const bool below = rms_off(r) < 1e-3 * RADIUS;
        stays = !below ? 0 : stays == 0 ? k : stays;
    }
    return stays;
}

// Against one and a half times the steps of the public code (doc/strands.md, "[S23]").
static void a_coil_springs_back_from_every_deformation(void)
{
    static const struct {
        const char *deformed;
        int three, twelve;
    } TABLE[] = {{"compress=0.7", 40, 10},  {"compress=0.4", 46, 33}, {"compress=1e-5", 84, 69},
                 {"jitter=0.5", 34, 33},    {"jitter=2", 40, 43},     {"jitter=5", 62, 62},
                 {"straighten=yes", 78, 60}};
    for (size_t k = 0; k < 2 * sizeof TABLE / sizeof TABLE[0]; k++) {
        const char *scheme = k % 2 == 0 ? NULL : "newton:iterations=12,growth=0";
        run r = new_coil(TABLE[k / 2].deformed, "lifted-curls", scheme);
        const int known = k % 2 == 0 ? TABLE[k / 2].three : TABLE[k / 2].twelve;
        const int stays = recovery(&r, 300);
        CHECK(stays > 0 && 2 * stays <= 3 * known);
        CHECK_LE(rms_off(&r), 1e-8);
        CHECK_LE(stretch_of(&r), 1e-6);
        // Flat, edges fold back, and what that makes of K swamps the mass.
        CHECK(k != 4 || lifted > 0);
        free_run(&r);
    }
}

// The two-step formula keeps more of the motion.
static void it_does_by_two_steps_too(void)
{
    run r = new_coil("compress=0.4", "lifted-curls", "bdf2:iterations=3,growth=0");
    const int stays = recovery(&r, 400);
    CHECK(stays > 46 && stays < 400);
    free_run(&r);
}

static void a_converged_step_is_the_same_with_every_filter(void)
{
    static const char *const FILTERS[] = {"filter=split", "filter=exact",
                                          "filter=text",  "filter=gn",
                                          "torsion=gn",   "stretch=gn,bending=exact,torsion=text"};
    double known[3 * VERTICES];
    for (size_t k = 0; k < sizeof FILTERS / sizeof FILTERS[0]; k++) {
        char model[80];
        snprintf(model, sizeof model, "lifted-curls:%s", FILTERS[k]);
        run r = new_coil("compress=0.4", model, "newton:iterations=200,tol=1e-11");
        recovery(&r, 10);
        for (int j = 0; j < 3 * VERTICES && k > 0; j++) {
            CHECK_NEAR(r.w->now.q[j], known[j], 1e-9);
        }
        memcpy(known, r.w->now.q, sizeof known);
        CHECK(rms_off(&r) > 1e-6);
        free_run(&r);
    }
}

// The natural shape is one of rest for any model of vertices.
static void a_coil_that_is_let_be_rests(void)
{
    const char *const models[] = {"lifted-curls", "der"};
    for (int k = 0; k < 2; k++) {
        run r = new_coil("compress=1", models[k], NULL);
        CHECK_OK(ss_stepper_step(r.s, &r.report, &error));
        CHECK_LE(r.report.max_speed, 1e-9);
        free_run(&r);
    }
}

// Of rods: frames go with their edges, as if the coil had been deformed in one motion.
static void frames_of_a_rod_are_carried_to_the_deformed_coil(void)
{
    run a = new_coil("compress=1", "der", NULL),
        b = new_coil("compress=0.6,jitter=0.2", "der", NULL);
    const ss_strand *s = &a.w->strands[0];
    double v[4 * VERTICES] = {0.0}, moved[8 * VERTICES];
    for (int j = 0; j < s->size.nv; j++) {
        v[j] = j % 4 == 3 ? 0.0 : b.w->now.q[j] - a.w->now.q[j];
    }
    s->model->advance(s->self, a.w->now.q, v, 1.0, moved);
    const double E = s->model->energy(s->self, moved);
    CHECK_NEAR(s->model->energy(b.w->strands[0].self, b.w->now.q), E, 1e-9 * E);
    free_run(&a);
    free_run(&b);
}

static void run_tests(void)
{
    RUN_TEST(a_coil_springs_back_from_every_deformation);
    RUN_TEST(it_does_by_two_steps_too);
    RUN_TEST(a_converged_step_is_the_same_with_every_filter);
    RUN_TEST(a_coil_that_is_let_be_rests);
    RUN_TEST(frames_of_a_rod_are_carried_to_the_deformed_coil);
}

const test_group coil_tests = {.run = run_tests, .set_up = set_up};
