// tests/support/scene_run.c -- see the header.
#include "tests/support/scene_run.h"

#include <stdlib.h>

#include "tests/support/support.h"

static scene_run *new_run(const char *solver, double tolerance)
{
    ss_error error;
    scene_run *run = calloc(1, sizeof *run);
    CHECK(run != NULL);
    CHECK_OK(ss_method_parse(solver, &run->method, &error));
    run->solver =
        (ss_simulate_solver){.method = run->method, .tolerance = tolerance, .max_iterations = 2000};
    return run;
}

scene_run *open_run(const scene_choice *choice, const char *solver, double tolerance)
{
    scene_run *run = new_run(solver, tolerance);
    run->scene = open_scene(choice);
    return run;
}

scene_run *open_empty_run(const char *model, const char *solver, double tolerance)
{
    ss_error error;
    scene_run *run = new_run(solver, tolerance);
    CHECK_OK(ss_model_parse(model, &run->scene.model, &error));
    run->scene.world = ss_world_new();
    CHECK(run->scene.world != NULL);
    run->scene.options = ss_step_defaults();
    return run;
}

void start_run(scene_run *run)
{
    ss_error error = {.text = ""};
    const ss_step_solver solver = {.solve = ss_simulate_solve, .context = &run->solver};
    run->stepper = ss_stepper_new(run->scene.world, &run->scene.options, solver, &error);
    TEST_ASSERT_NOT_NULL_MESSAGE(run->stepper, error.text);
}

void close_run(scene_run *run)
{
    ss_stepper_free(run->stepper);
    ss_simulate_drop(&run->solver);
    close_scene(&run->scene);
    ss_method_free(run->method);
    free(run);
}

const ss_step_report *step_run(scene_run *run)
{
    ss_error error;
    CHECK_OK(ss_stepper_step(run->stepper, &run->last, &error));
    return &run->last;
}

void steps_of_run(scene_run *run, int count)
{
    for (int k = 0; k < count; k++) {
        step_run(run);
    }
}
