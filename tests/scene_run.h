// tests/scene_run.h -- scenes that run with a solver of the registry, step by step.
#pragma once

#include "solvers/registry.h"
#include "tests/scene_world.h"

typedef struct scene_run {
    scene_world scene; // options may be changed before start_run
    ss_method *method;
    double tolerance; // of fb
    int max_iterations;
    ss_stepper *stepper;
    ss_step_report last;
} scene_run;

// Where the scene is to be changed first: open_run, the changes, start_run.
scene_run *open_run(const scene_choice *choice, const char *solver, double tolerance);
void start_run(scene_run *run);
void close_run(scene_run *run);

// One step; ends the test where it cannot be done.
const ss_step_report *step_run(scene_run *run);
void steps_of_run(scene_run *run, int count);

// A step solver that answers with the run's method, judged by problems/response.
ss_step_solver solver_of(scene_run *run);
