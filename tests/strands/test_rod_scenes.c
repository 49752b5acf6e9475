// tests/strands/test_rod_scenes.c -- the scenes of single rods end where their closed forms say.
#include "strands/scenes/scene.h"
#include "tests/support/strand_run.h"
#include "tests/support/support.h"

static ss_error error;

static void set_up(void)
{
    error = (ss_error){0};
}

static run new_rod(const char *spec, const char *model)
{
    ss_scene_choice scene;
    ss_model_choice choice;
    ss_step_options options = ss_step_defaults();
    run r = {.w = ss_world_new()};
    CHECK_OK(ss_scene_parse(spec, &scene, &error));
    CHECK_OK(ss_model_parse(model, &choice, &error));
    const ss_scene_request request = {.mu = NAN, .model = &choice, .settings = scene.settings};
    options.dt = scene.scene->dt;
    CHECK_OK(ss_scene_build(scene.scene, &request, r.w, &options, &error));
    r.s = ss_stepper_new(r.w, &options, (ss_step_solver){.solve = NULL}, &error);
    CHECK(r.s != NULL);
    ss_scene_choice_free(&scene);
    ss_model_choice_free(&choice);
    return r;
}

static void rest(run *r)
{
    int steps = 0;
    do {
        CHECK_OK(ss_stepper_step(r->s, &r->report, &error));
    } while (++steps < 20 || (r->report.max_speed > 1e-6 && steps < 5000));
    CHECK_LE(r->report.max_speed, 1e-6);
}

// Errors of 51 vertices and of 16 elements, in lengths.
static void a_cantilever_rests_where_the_elastica_does(void)
{
    const char *const models[] = {"der", "super-helix:elements=16", "lifted-curls"};
    const double bounds[] = {3e-4, 6e-4, 3e-4};
    for (int k = 0; k < 3; k++) {
        run r = new_rod("cantilever:gamma=5.31,vertices=51", models[k]);
        rest(&r);
        const ss_vec3 known = ss_vec(0.0833206, -0.0515145, 0.0), tip = tip_of(&r);
        CHECK_LE(ss_length(ss_minus(tip, known)), bounds[k] * 0.1);
        free_run(&r);
    }
}

// Of the inextensible equilibrium with this clamp, which was solved for apart (doc/strands.md, "Reference
// solutions"): lengths of 32 and of 64 edges.
static void lifted_curls_under_their_weight_are_of_second_order(void)
{
    const char *const scenes[] = {"cantilever:gamma=143,vertices=35",
                                  "cantilever:gamma=143,vertices=67"};
    const double errors[] = {0.00181, 0.00045};
    for (int k = 0; k < 2; k++) {
        run r = new_rod(scenes[k], "lifted-curls");
        rest(&r);
        const ss_vec3 known = ss_vec(0.0129459, -0.0948406, 0.0), tip = tip_of(&r);
        CHECK_NEAR(ss_length(ss_minus(tip, known)) / 0.1, errors[k], 2e-5);
        free_run(&r);
    }
}

// Shares of the length. Lifted curls do not see the twist of an edge, and torsion is that of its ends.
static void a_helix_hangs_alike_by_three_models(void)
{
    const char *const models[] = {"der", "lifted-curls"};
    const double bounds[] = {0.005, 0.02};
    run b = new_rod("helix:turns=2,vertices=101", "super-helix:elements=16");
    rest(&b);
    for (int k = 0; k < 2; k++) {
        run a = new_rod("helix:turns=2,vertices=101", models[k]);
        rest(&a);
        CHECK_LE(ss_length(ss_minus(tip_of(&a), tip_of(&b))), bounds[k] * b.w->strands[0].length);
        free_run(&a);
    }
    free_run(&b);
}

static void a_twisted_rod_has_the_energy_of_its_turn(void)
{
    const ss_material hair = ss_material_hair();
    const ss_rigidity stiff = ss_material_rigidity(&hair);
    run r = new_rod("twist:turn=9,rate=20", "der");
    go_to(&r, 1.5);
    const double known = 0.5 * stiff.twist * 9.0 * 9.0 / 0.1;
    CHECK_NEAR(r.report.energy.elastic, known, 1e-5 * known);
    free_run(&r);
}

static void a_ring_stays_flat_up_to_michells_twist(void)
{
    double lost[2];
    for (int k = 0; k < 2; k++) {
        run r = new_rod(k == 0 ? "ring:critical=0.9" : "ring:critical=1.2", "der");
        CHECK_OK(ss_stepper_step(r.s, &r.report, &error));
        const double before = r.report.energy.elastic;
        go_to(&r, 6.0);
        lost[k] = 1.0 - r.report.energy.elastic / before;
        free_run(&r);
    }
    CHECK_LE(lost[0], 1e-4);
    CHECK(lost[1] > 0.2);
}

static void a_released_rod_loses_little(void)
{
    run r = new_rod("release", "der");
    CHECK_OK(ss_stepper_step(r.s, &r.report, &error));
    const ss_energy *e = &r.report.energy;
    const double start = e->kinetic + e->elastic + e->potential;
    go_to(&r, 0.1);
    CHECK(e->kinetic + e->elastic + e->potential < start);
    CHECK_LE(start - (e->kinetic + e->elastic + e->potential),
             0.05 * e->kinetic + 0.05 * e->elastic);
    free_run(&r);
}

static void run_tests(void)
{
    RUN_TEST(a_cantilever_rests_where_the_elastica_does);
    RUN_TEST(lifted_curls_under_their_weight_are_of_second_order);
    RUN_TEST(a_helix_hangs_alike_by_three_models);
    RUN_TEST(a_twisted_rod_has_the_energy_of_its_turn);
    RUN_TEST(a_ring_stays_flat_up_to_michells_twist);
    RUN_TEST(a_released_rod_loses_little);
}

const test_group rod_scenes_tests = {.run = run_tests, .set_up = set_up};
