// problems/strands/scenes/scene.h -- scenes: worlds to be simulated, by name.
#pragma once

#include "problems/strands/step/step.h"

// What a user may change of a scene.
typedef struct ss_scene_request {
    int rods;  // strands; 0: the scene's own number
    double mu; // strand against strand, and against obstacles in the scene's ratio; NaN: own
    uint64_t seed;
    const ss_model_choice *model;
} ss_scene_request;

typedef struct ss_scene {
    const char *name;      // [a-z0-9][a-z0-9-]*
    const char *model;     // its default spec
    const char *shows;     // one line: what it shows
    const char *reference; // paper and figure or table, or ""
    int rods, steps;       // defaults
    double dt;             // s
    // Fills an empty world and adjusts the options of its steps (dt is the user's or the default).
    ss_status (*build)(const ss_scene_request *request, ss_world *world, ss_step_options *options,
                       ss_error *e);
} ss_scene;

extern const ss_scene *const ss_scenes[];        // NULL-terminated, in the order of the papers
const ss_scene *ss_scene_find(const char *name); // NULL for none
