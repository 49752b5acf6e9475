// Scenes that are written to files: they are read with the same bits.
#include <stdio.h>
#include <string.h>

#include "strands/world.h"
#include "tests/support/built_scene.h"
#include "tests/support/program.h"
#include "tests/support/support.h"

static void every_scene_is_read_as_it_was_written(void)
{
    char path[400];
    snprintf(path, sizeof path, "%s", scratch_path("scene.json"));
    for (int k = 0; ss_scenes[k] != NULL; k++) {
        const ss_scene *scene = ss_scenes[k];
        built first, second, third;
        CHECK_OK(build(scene, NULL, NULL, scene->rods > 2 ? 7 : 0, &first));
        const ss_scene_run run = {
            .title = "\"a\\b\"\t", .model = scene->model, .steps = 5, .options = &first.options};
        CHECK_OK(ss_scene_file_write(path, first.world, &run, &error));
        CHECK_OK(build_file(path, NULL, &second));
        check_same_world(&first, &second);
        // And a file of that.
        CHECK_OK(ss_scene_file_write(path, second.world, &run, &error));
        CHECK_OK(build_file(path, NULL, &third));
        check_same_world(&first, &third);
        ss_world_free(first.world);
        ss_world_free(second.world);
        ss_world_free(third.world);
    }
}

// A stem with a twig, of links that vary: its parents and parts are in the file.
static void a_tree_is_read_as_it_was_written(void)
{
    static const int PARENT[] = {-1, 0, 1, 1, 3};
    static const ss_vec3 VERTICES[] = {
        {0.0, 0.0, 0.0}, {0.1, 0.0, 0.0}, {0.2, 0.0, 0.01}, {0.1, 0.1, 0.0}, {0.1, 0.2, 0.0}};
    static const ss_strand_part PARTS[] = {{1.0, 2.0, 1.0, 1.0, 1.0},
                                           {1.5, 1.0, 3.0, 0.1, 1.0},
                                           {1.0, 0.5, 1.0, 1.0, 0.0},
                                           {9.0, 0.3, 1.0, 1.0, 2.0}};
    const ss_strand_design design = {.material = ss_material_hair(),
                                     .nvertices = 5,
                                     .vertices = VERTICES,
                                     .parent = PARENT,
                                     .nparts = 4,
                                     .parts = PARTS};
    const ss_pose root = ss_pose_identity();
    ss_model_choice choice;
    built first = {.world = ss_world_new(), .options = ss_step_defaults()}, second;
    int number;
    char path[400];
    snprintf(path, sizeof path, "%s", scratch_path("tree.json"));
    first.world->keeps_designs = true;
    CHECK_OK(ss_model_parse("oriented-strands", &choice, &error));
    CHECK_OK(ss_world_add_strand(first.world, &choice, &design, 0, &root, &number, &error));
    const ss_motion turning = {.axis = {0.0, 1.0, 0.0},
                               .direction = {1.0, 0.0, 0.0},
                               .angle = {SS_PROFILE_STEADY, 1.0, 1.0, 0.0}};
    static const ss_vec3 POSED[6] = {{0.0, 0.0, 0.0}, {0.1, 0.0, 0.0}, {0.2, 0.0, 0.0},
                                     {0.1, 0.0, 0.0}, {0.1, 0.1, 0.1}, {0.1, 0.2, 0.1}};
    const ss_posing_key keys[2] = {{.time = 0.0, .strength = 0.1}, {0.5, 0.2, 1e-3, POSED}};
    int body;
    CHECK_OK(ss_world_add_body(first.world, &turning, &body, &error));
    CHECK_OK(ss_world_scale_motion(first.world, 0, 0.5, 0.7, body, &error));
    CHECK_OK(ss_world_pose_strand(first.world, 0, 2, keys, &error));
    const ss_obstacle ball = {.kind = SS_OBSTACLE_SPHERE,
                              .size = {0.1, 0.1, 0.1},
                              .pose = {{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, {0.0, 1.0, 0.0}},
                              .sliding_loss = 0.375,
                              .restitution = 0.25};
    CHECK_OK(ss_world_add_obstacle(first.world, &ball, &error));
    const ss_scene_run run = {
        .title = "tree", .model = "oriented-strands", .steps = 5, .options = &first.options};
    CHECK_OK(ss_scene_file_write(path, first.world, &run, &error));
    CHECK_OK(build_file(path, NULL, &second));
    check_same_world(&first, &second);
    TEST_ASSERT_EQUAL_INT(0, memcmp(second.world->strands[0].design->parts, PARTS, sizeof PARTS));
    TEST_ASSERT_EQUAL_INT(0,
                          memcmp(second.world->strands[0].design->parent, PARENT, sizeof PARENT));
    const ss_strand *read = &second.world->strands[0];
    CHECK(read->time_scale == 0.5 && read->local == 0.7 && read->reference == body);
    TEST_ASSERT_EQUAL_INT(2, read->posing->nkeys);
    for (int k = 0; k < 2; k++) {
        const ss_posing_key *own = &first.world->strands[0].posing->keys[k];
        const ss_posing_key *its = &read->posing->keys[k];
        CHECK(own->time == its->time && own->strength == its->strength);
        CHECK(own->damping == its->damping);
        TEST_ASSERT_EQUAL_INT(0, memcmp(own->place, its->place, sizeof POSED));
    }
    ss_model_choice_free(&choice);
    ss_world_free(first.world);
    ss_world_free(second.world);
}

static void run_tests(void)
{
    RUN_TEST(every_scene_is_read_as_it_was_written);
    RUN_TEST(a_tree_is_read_as_it_was_written);
}

const test_group scene_write_tests = {.run = run_tests, .tear_down = remove_scratch};
