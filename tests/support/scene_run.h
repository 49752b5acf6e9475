// tests/support/scene_run.h -- scenes that run with a solver of the registry, step by step.
#pragma once

#include "harness/simulate/simulation.h"
#include "tests/support/scene_world.h"

typedef struct scene_run {
    scene_world scene; // options may be changed before start_run
    ss_method *method;
    ss_simulate_solver solver; // 2000 iterations
    ss_stepper *stepper;
    ss_step_report last;
} scene_run;

// fb to `tolerance`. What is to be changed of the scene is changed between these two.
scene_run *open_run(const scene_choice *choice, const char *solver, double tolerance);
void start_run(scene_run *run);
void close_run(scene_run *run);

// A run without a scene: its empty world is to be filled.
scene_run *open_empty_run(const char *model, const char *solver, double tolerance);

// One step; ends the test where it cannot be done.
const ss_step_report *step_run(scene_run *run);
void steps_of_run(scene_run *run, int count);
