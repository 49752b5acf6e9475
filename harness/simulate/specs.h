// harness/simulate/specs.h -- the specs of a simulation, from a command line and from a scene file.
#pragma once

#include "harness/scene_file/scene_file.h"
#include "harness/simulate/simulation.h"

typedef struct ss_simulate_specs {
    ss_scene_choice named;        // of a scene by its name, or
    ss_scene_file file;           // of one in a file
    const ss_scene_choice *scene; // that of these two
    ss_model_choice model;
    const char *scheme_spec; // NULL: the model's scheme
    ss_scheme_choice scheme;
    ss_method *method;
} ss_simulate_specs;

// The scene by its spec or path, and what the settings and it say of the rest. An exit code; unless that is
// SS_EXIT_OK, `verb` has said why. Freed in every case.
int ss_simulate_parse(const char *verb, const char *scene, const ss_simulate_settings *settings,
                      ss_simulate_specs *specs);
void ss_simulate_specs_free(ss_simulate_specs *specs); // takes empty ones
