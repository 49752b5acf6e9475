// harness/simulate/simulation.h -- a scene that runs: its world, its stepper, and where the results
// go.
#pragma once

#include <signal.h>

#include "harness/frames/frames.h"
#include "harness/frames/trajectory.h"
#include "harness/simulate/dump.h"
#include "harness/simulate/iterates.h"
#include "harness/simulate/stats.h"
#include "harness/simulate/step_solver.h"
#include "strands/scenes/scene.h"
#include "strands/step/step.h"
#include "solvers/registry.h"

// What a user asks for; NaN, 0 and NULL where the scene decides or nothing is wanted.
typedef struct ss_simulate_settings {
    const char *model, *scheme, *solver;
    int rods, steps, max_iterations, count, dump_from, threads;
    double dt, mu, tolerance, time_limit, until_rest;
    uint64_t seed;
    const char *dump, *stats, *iterates, *frames, *trajectory;
    const char *camera;   // of the frames; NULL: SS_CAMERA
    const char *write;    // a scene file, in place of a run
    ss_table_style style; // of the row at the end
} ss_simulate_settings;

// What the specs of these say.
typedef struct ss_simulate_choices {
    const ss_scene_choice *scene;
    const ss_model_choice *model;
    const ss_scheme_choice *scheme; // NULL: the model's
    const ss_method *method;
} ss_simulate_choices;

// What an interrupt finds: nothing to lose; a step that is not taken; files that are being completed.
typedef enum ss_simulation_phase {
    SS_PHASE_BUILD,
    SS_PHASE_STEP,
    SS_PHASE_END
} ss_simulation_phase;

typedef struct ss_simulation {
    const ss_simulate_choices *choices;
    const ss_simulate_settings *settings;
    int steps;                         // at most
    bool rests;                        // until_rest is reached
    double speed;                      // m/s, the largest at the end of the last step
    volatile sig_atomic_t interrupted; // the last step is taken, or being taken
    volatile sig_atomic_t phase;       // an ss_simulation_phase
    bool scheme_unfit; // --scheme does not fit the strands: why it could not be opened
    bool finished;     // see contained.h
    int kept;          // problems of the dump that are on disk
    ss_simulate_solver solver;
    ss_world *world;
    ss_stepper *stepper;
    ss_stats_run run;
    ss_stats_totals totals;
    ss_strands *strands; // NULL where nothing looks at the strands
    ss_dump *dump;       // NULL without, as the next ones
    FILE *stats_file;
    long stats_bytes; // of whole rows
    ss_table *stats;
    ss_frames *frames;
    ss_trajectory *trajectory;
} ss_simulation;

// The world and all files; nothing has moved. Bad options of the scene are SS_BAD_INPUT.
ss_status ss_simulation_open(ss_simulation *simulation, ss_error *e);
// The scene alone, into the file that `write` asks for.
ss_status ss_simulation_write(ss_simulation *simulation, ss_error *e);
// All steps, until rest, an interrupt or a failure. SS_BAD_INPUT: an explosion. The
// sentence says at which step; what was written before it stays.
ss_status ss_simulation_run(ss_simulation *simulation, ss_error *e);
// Completes the files and frees everything; tells whether all of it was written.
ss_status ss_simulation_close(ss_simulation *simulation, ss_error *e);
