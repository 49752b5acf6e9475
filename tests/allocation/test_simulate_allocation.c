// Every allocation of a simulation fails once: the k-th, for all k. Each comes back as SS_SYSTEM
// with a sentence, leaks nothing and leaves whole files or none.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness/scene_file/scene_file.h"
#include "harness/simulate/simulation.h"
#include "tests/support/support.h"

static ss_error error;
static char dump[512], stats[512], strands[512];

static void set_up(void)
{
    snprintf(dump, sizeof dump, "%s", scratch_path("dump.h5"));
    snprintf(stats, sizeof stats, "%s", scratch_path("stats.csv"));
    snprintf(strands, sizeof strands, "%s", scratch_path("strands.h5"));
}

static void remove_dump(void)
{
    unlink(dump);
}

// A strand that lies on a plane.
static ss_status build(const ss_scene_request *request, ss_world *w, ss_step_options *options,
                       ss_error *e)
{
    const ss_strand_design design = {
        .length = 0.05, .material = ss_material_hair(), .nsegments = 2};
    const ss_obstacle ground = {
        .kind = SS_OBSTACLE_PLANE,
        .pose = {{{{0.0, 0.0, 1.0}, {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}}}, {0.0, -5.5e-5, 0.0}},
        .mu = 0.3};
    const ss_pose root = ss_pose_identity();
    int number;
    (void)options;
    const ss_status status = ss_world_add_obstacle(w, &ground, e);
    return status == SS_OK ? ss_world_add_strand(w, request->model, &design, 0, &root, &number, e)
                           : status;
}

// Three strands side by side.
static ss_status build_batch(const ss_scene_request *request, ss_world *w, ss_step_options *options,
                             ss_error *e)
{
    const ss_strand_design design = {
        .length = 0.05, .material = ss_material_hair(), .nsegments = 2};
    const ss_pose root = ss_pose_identity();
    ss_status status = SS_OK;
    options->contacts = false;
    for (int k = 0, number; status == SS_OK && k < 3; k++) {
        status = ss_world_add_strand(w, request->model, &design, 0, &root, &number, e);
    }
    return status;
}

static const ss_scene GROUND = {.name = "ground", .steps = 2, .dt = 1e-3, .build = build};
static const ss_scene BATCH = {.name = "batch", .steps = 2, .dt = 1e-3, .build = build_batch};

static ss_status run_all(const ss_scene *scene, const ss_model_choice *model,
                         const ss_scheme_choice *scheme, const ss_method *method, ss_error *e)
{
    const bool touching = scene == &GROUND;
    const ss_simulate_settings settings = {.mu = NAN,
                                           .dt = NAN,
                                           .tolerance = 1e-4,
                                           .max_iterations = 10,
                                           .dump = touching ? dump : NULL,
                                           .count = 2,
                                           .trajectory = touching ? strands : NULL,
                                           .stats = stats};
    const ss_scene_choice chosen = {.scene = scene, .spec = "scene"};
    const ss_simulate_choices choices = {
        .given = "scene", .scene = &chosen, .model = model, .scheme = scheme, .method = method};
    ss_simulation a = {.choices = &choices, .settings = &settings, .steps = 2};
    ss_status status = ss_simulation_open(&a, e);
    if (status == SS_OK) {
        status = ss_simulation_run(&a, e);
    }
    CHECK(status != SS_OK || !touching || ss_dump_taken(a.dump) == 2);
    ss_error other;
    const ss_status closed = ss_simulation_close(&a, status == SS_OK ? e : &other);
    return status == SS_OK ? closed : status;
}

static ss_status simulate_scene(const ss_scene *scene, const char *spec, const char *steps)
{
    ss_model_choice model = {0};
    ss_scheme_choice scheme = {0};
    ss_method *method = NULL;
    ss_status status = ss_model_parse(spec, &model, &error);
    if (status == SS_OK) {
        status = ss_method_parse("mfb+enum", &method, &error);
    }
    if (status == SS_OK) {
        status = ss_scheme_parse(steps, &scheme, &error);
    }
    if (status == SS_OK) {
        status = run_all(scene, &model, &scheme, method, &error);
    }
    ss_method_free(method);
    ss_scheme_choice_free(&scheme);
    ss_model_choice_free(&model);
    return status;
}

static ss_status simulate(void)
{
    return simulate_scene(&GROUND, "super-helix:elements=2", "linear");
}

static ss_status simulate_newton(void)
{
    return simulate_scene(&GROUND, "super-helix:elements=2", "bdf2:iterations=2");
}

static ss_status simulate_batch(void)
{
    return simulate_scene(&BATCH, "tmf", "linear");
}

static ss_status read_statistics(void)
{
    ss_stats read;
    const ss_status status = ss_stats_read(stats, &read, &error);
    ss_stats_free(&read);
    return status;
}

static void simulating_survives_every_failing_allocation(void)
{
    FAIL_EACH(simulate, remove_dump);
    CHECK(access(dump, R_OK) == 0);
}

static void simulating_side_by_side_survives_every_failing_allocation(void)
{
    FAIL_EACH(simulate_batch, NULL);
    FAIL_EACH(simulate_newton, NULL);
}

static void reading_statistics_survives_every_failing_allocation(void)
{
    CHECK_OK(simulate());
    FAIL_EACH(read_statistics, remove_dump);
}

static const char *copied_model;

// The scene file with this model, read and written.
static ss_status copy_scene_file(void)
{
    const ss_step_options options = ss_step_defaults();
    const ss_scene_run run = {
        .title = "copy", .model = copied_model, .steps = 1, .options = &options};
    ss_scene_file file;
    ss_model_choice model = {0};
    ss_status status = ss_scene_file_read(scratch_path("scene.json"), &file, &error);
    ss_world *w = status == SS_OK ? ss_world_new() : NULL;
    if (status == SS_OK && w == NULL) {
        status = ss_fail_memory(&error, "the world");
    }
    status = status == SS_OK ? ss_model_parse(copied_model, &model, &error) : status;
    if (status == SS_OK) {
        ss_step_options unused = options;
        const ss_scene_request request = {
            .mu = NAN, .model = &model, .settings = file.choice.settings};
        w->keeps_designs = true;
        status = ss_scene_build(&file.scene, &request, w, &unused, &error);
    }
    if (status == SS_OK) {
        status = ss_scene_file_write(scratch_path("copy.json"), w, &run, &error);
    }
    ss_world_free(w);
    ss_model_choice_free(&model);
    ss_scene_file_free(&file);
    return status;
}

// With a body, an obstacle, rows in a CSV file and a settled rod with directors.
static void copying_a_scene_file_survives_every_failing_allocation(void)
{
    static const char ROWS[] = "0,0,0\n0.01,0,0\n0.02,0,0\n";
    static const char SCENE[] =
        "{\"materials\": {\"h\": {\"E\": 3e9, \"nu\": 0.4, \"rho\": 1300, \"a\": 5e-5}}, "
        "\"bodies\": [{\"name\": \"b\", \"motion\": [{\"time\": 0}, {\"time\": 1, "
        "\"position\": [1, 0, 0]}]}], \"settled\": true, \"model\": \"corde\", "
        "\"obstacles\": [{\"kind\": \"plane\", \"position\": [0, -1, 0], \"normal\": [0, 1, 0]}], "
        "\"strands\": [{\"material\": \"h\", \"body\": \"b\", \"vertices\": \"rows.csv\", "
        "\"theta\": [0, 1], \"velocity\": [[0, 0, 0], [0, 0, 0], [1, 0, 0]]}, "
        "{\"material\": \"h\", \"curvatures\": [[0, 0, 1]], \"length\": 0.1, \"segments\": 3}]}";
    write_bytes(scratch_path("rows.csv"), ROWS, sizeof ROWS - 1);
    write_bytes(scratch_path("scene.json"), SCENE, sizeof SCENE - 1);
    copied_model = "corde";
    FAIL_EACH(copy_scene_file, NULL);
}

static void copying_a_posed_tree_survives_every_failing_allocation(void)
{
    static const char SCENE[] =
        "{\"materials\": {\"h\": {\"E\": 3e9, \"nu\": 0.4, \"rho\": 1300, \"a\": 5e-5}}, "
        "\"settled\": true, \"model\": \"oriented-strands\", \"strands\": [{\"material\": \"h\", "
        "\"vertices\": [[0, 0, 0], [0.01, 0, 0], [0.02, 0, 0], [0.01, 0.01, 0]], "
        "\"parent\": [-1, 0, 1, 1], \"parts\": [[1, 1, 1, 1, 1], [2, 1, 1, 1, 1], [1, 1, 3, 1, "
        "0]], "
        "\"pose\": [{\"time\": 0, \"strength\": 1}, {\"time\": 1, \"strength\": 2, \"vertices\": "
        "[[0, 0, 0], "
        "[0.01, 0, 0], [0.02, 0, 0], [0.01, 0, 0], [0.01, 0.02, 0]]}]}]}";
    write_bytes(scratch_path("scene.json"), SCENE, sizeof SCENE - 1);
    copied_model = "oriented-strands";
    FAIL_EACH(copy_scene_file, NULL);
}

static void run_tests(void)
{
    RUN_TEST(copying_a_scene_file_survives_every_failing_allocation);
    RUN_TEST(copying_a_posed_tree_survives_every_failing_allocation);
    RUN_TEST(simulating_survives_every_failing_allocation);
    RUN_TEST(simulating_side_by_side_survives_every_failing_allocation);
    RUN_TEST(reading_statistics_survives_every_failing_allocation);
}

const test_group simulate_allocation_tests = {.run = run_tests, .set_up = set_up};
