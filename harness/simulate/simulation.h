// harness/simulate/simulation.h -- a scene that runs: its world, its stepper, and where the results
// go.
#pragma once

#include "harness/simulate/outputs.h"
#include "strands/step/step.h"
#include "solvers/registry.h"
#include "strands/scenes/scene.h"
#include "harness/frames/frames.h"
#include "harness/frames/trajectory.h"
#include "harness/results/stats.h"
#include "harness/scene_file/scene_file.h"
#include "harness/simulate/physics.h"
#include "harness/table.h"

#include <signal.h>
#include <stdint.h>

// ---- step_solver

// the solver of the steps of a simulation: any spec, and the judge's word.

typedef struct ss_simulate_solver {
    const ss_method *method;
    double tolerance;
    int max_iterations;
    double time_limit;                        // s a solve; 0: none
    int threads;                              // of the task
    const volatile sig_atomic_t *interrupted; // a solve ends soon after this is set; NULL: never
    volatile int solves;                      // begun and ended: odd during a solve
    ss_result result;                         // of the last solve, for the judge
    ss_iterates *iterates;                    // NULL: not wanted
    int step;                                 // the present one, from 1
    struct ss_mass *factor; // of M, that the last solve made, for the judge; NULL: none
    uint64_t factored;      // the print of this M
} ss_simulate_solver;

// Wishes of a user; NaN, 0 and NULL where the scene decides or nothing is wanted.
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

// Choices that the specs of the settings stand for.
typedef struct ss_simulate_choices {
    const char *given; // the scene as the command line names it, which its spec may hold cut
    const ss_scene_choice *scene;
    const ss_model_choice *model;
    const ss_scheme_choice *scheme; // NULL: the model's
    const ss_method *method;
} ss_simulate_choices;

// Phase in which an interrupt finds a run: nothing to lose, a step that is not taken yet, or files
// that are being completed.
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
    bool finished;     // the run has come to its end by itself
    int kept;          // problems of the dump that are on disk
    ss_simulate_solver solver;
    ss_world *world;
    ss_stepper *stepper;
    ss_stats_run run;
    ss_stats_totals totals;
    ss_physics physics;
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

// ---- specs

// the specs of a simulation, from a command line and from a scene file.

typedef struct ss_simulate_specs {
    ss_scene_choice named;        // of a scene by its name, or
    ss_scene_file file;           // of one in a file
    const ss_scene_choice *scene; // that of these two
    ss_model_choice model;
    const char *scheme_spec; // NULL: the model's scheme
    ss_scheme_choice scheme;
    ss_method *method;
} ss_simulate_specs;

// The scene by its spec or path, and what the settings and it say of the rest. An exit code; unless
// that is SS_EXIT_OK, `verb` has said why. Freed in every case.
int ss_simulate_parse(const char *verb, const char *scene, const ss_simulate_settings *settings,
                      ss_simulate_specs *specs);
void ss_simulate_specs_free(ss_simulate_specs *specs); // takes empty ones

// ---- summary

// the row that a run prints at its end.

extern const ss_column ss_summary_columns[];

// Adds the row of a run that ended with this status: "done", "exploded", ...
void ss_summary_row(ss_table *rows, const ss_simulation *a, const char *status);

// ---- contained

// a simulation in a process of its own.
//
// A simulation calls its solver thousands of times, so that a process for each would be felt: one
// process takes all steps, with the files and streams of this one, and another watches it. What the
// simulation finds out lies in memory that both share. It costs nothing per step.

// How the process of a simulation ended.
typedef enum ss_simulation_end {
    SS_SIMULATION_ENDED,       // its work returned
    SS_SIMULATION_DIED,        // the sentence says how
    SS_SIMULATION_KILLED,      // a solve did not keep its time limit (base/child.h)
    SS_SIMULATION_INTERRUPTED, // it was still building its scene, or took too long for its step
} ss_simulation_end;

// Calls work(context) in a child and waits for its end. The simulation and what else the work
// leaves to this process lie in shared memory (mmap). ss_interrupted is passed on to the
// simulation; one that builds its scene is killed then, and one that is still within a step after
// half a second, unless it keeps its strands in memory: these are to be written. why [room]: who
// did what, where its work did not return.
ss_status ss_simulation_contain(void (*work)(void *context), void *context,
                                ss_simulation *simulation, ss_simulation_end *end, char *why,
                                size_t room, ss_error *e);

// ---- For tests

// For ss_step_solver: ss_simulate_solve and ss_simulate_judge with an ss_simulate_solver as their
// context. An interrupted solve is SS_SYSTEM: the step that it is of is not taken. After the judge
// answer->status is its word, fb and normal are its measures. fb_abs and natural are [D11]'s
// measures in its own units, cm and dyn s.
ss_status ss_simulate_solve(void *context, const ss_problem *p, double *r, ss_step_answer *answer,
                            ss_error *e);
ss_status ss_simulate_judge(void *context, const ss_problem *p, const double *r,
                            ss_step_answer *answer, ss_error *e);
// Frees the factor, as the judge does and the next solve.
void ss_simulate_drop(ss_simulate_solver *solver);
