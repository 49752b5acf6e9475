// strands/scenes/scene.h -- scenes: worlds to be simulated, by name and options.
#pragma once

#include "strands/step/step.h"

// What a user may change of a scene.
typedef struct ss_scene_request {
    int rods;  // strands; 0: the scene's own number
    double mu; // strand against strand, and against obstacles in the scene's ratio; NaN: own
    uint64_t seed;
    const ss_model_choice *model;
    const void *settings; // of the scene's keys; NULL: its defaults
} ss_scene_request;

typedef struct ss_scene {
    const char *name;      // [a-z0-9][a-z0-9-]*
    const char *model;     // its default spec
    const char *shows;     // one line: what it shows
    const char *reference; // paper and figure or table, or ""
    int rods, steps;       // defaults
    double dt;             // s
    const ss_key *keys;    // NULL for none
    const void *defaults;  // settings_size bytes; NULL for none
    size_t settings_size;
    ss_key_needs *key_needs; // NULL: every key has an effect
    // Fills an empty world and adjusts the options of its steps (dt is the user's or the default).
    ss_status (*build)(const ss_scene_request *request, ss_world *world, ss_step_options *options,
                       ss_error *e);
} ss_scene;

extern const ss_scene *const ss_scenes[];        // NULL-terminated, in the order of the papers
const ss_scene *ss_scene_find(const char *name); // NULL for none

// A spec "NAME[:key=value,...]".
typedef struct ss_scene_choice {
    const ss_scene *scene;
    void *settings; // owned; NULL where the scene has none
    char spec[160]; // as given
} ss_scene_choice;
ss_status ss_scene_parse(const char *spec, ss_scene_choice *choice, ss_error *e);
void ss_scene_choice_free(ss_scene_choice *choice); // takes an empty one
