// tests/scene_run.c -- see the header.
#include "tests/scene_run.h"

#include <stdlib.h>

#include "problems/response.h"
#include "tests/support.h"

static ss_status judge_answer(const ss_problem *p, const double *r, double tolerance,
                              ss_step_answer *answer, ss_error *e)
{
    ss_response *response;
    double *u = malloc((size_t)p->dim * (size_t)p->ncontacts * sizeof *u);
    ss_status status = ss_response_new(p, &response, e);
    if (status == SS_OK && u != NULL) {
        const ss_measures m = ss_response_judge(response, r, u);
        answer->fb = m.fb;
        answer->fb_abs = m.fb_abs;
        answer->natural = m.natural;
        answer->solved = ss_measures_pass(&m, tolerance);
        answer->status = answer->solved ? "solved" : "max_iter";
    }
    ss_response_free(response);
    free(u);
    return status;
}

static ss_status solve(void *context, const ss_problem *p, double *r, ss_step_answer *answer,
                       ss_error *e)
{
    const scene_run *run = context;
    const ss_task task = {.problem = p,
                          .method = run->method,
                          .tolerance = run->tolerance,
                          .max_iterations = run->max_iterations,
                          .clock = CLOCK_MONOTONIC};
    ss_result result;
    const ss_status status = ss_solve(&task, r, &result, e);
    if (status != SS_OK) {
        return status;
    }
    *answer = (ss_step_answer){.iterations = result.iterations,
                               .seconds = result.seconds,
                               .setup_seconds = result.setup_seconds,
                               .sweep_seconds = result.sweep_seconds};
    return judge_answer(p, r, run->tolerance, answer, e);
}

ss_step_solver solver_of(scene_run *run)
{
    return (ss_step_solver){.solve = solve, .context = run};
}

scene_run *open_run(const scene_choice *choice, const char *solver, double tolerance)
{
    ss_error error;
    scene_run *run = calloc(1, sizeof *run);
    CHECK(run != NULL);
    run->scene = open_scene(choice);
    run->tolerance = tolerance;
    run->max_iterations = 2000;
    CHECK_OK(ss_method_parse(solver, &run->method, &error));
    return run;
}

void start_run(scene_run *run)
{
    ss_error error = {0};
    run->stepper =
        ss_stepper_new(run->scene.world, &run->scene.options, solver_of(run), &error);
    TEST_ASSERT_NOT_NULL_MESSAGE(run->stepper, error.text);
}

void close_run(scene_run *run)
{
    ss_stepper_free(run->stepper);
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
