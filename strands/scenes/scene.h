// strands/scenes/scene.h -- scenes: worlds to be simulated, by name and options; read this before
// writing one.
#pragma once

#include "strands/step/step.h"

// A user may change this of a scene. ss_scene_build completes it for `build`.
typedef struct ss_scene_request {
    int rods;           // strands; 0: the scene's own number
    double mu;          // strand against strand; NaN: the scene's own
    double mu_obstacle; // strand against obstacles; ss_scene_build finds it from mu
    uint64_t seed;
    const ss_model_choice *model;
    const void *settings; // of the scene's keys; NULL: its defaults
} ss_scene_request;

typedef struct ss_scene {
    const char *name;      // [a-z0-9][a-z0-9-]*
    const char *model;     // its default spec
    const char *shows;     // one line: what it shows
    const char *reference; // paper and figure or table, or ""
    int rods,
        steps; // defaults; a scene of one or two strands, which it is about, takes no other number
    double dt; // s
    double mu, mu_obstacle; // friction by default, of strand against strand and against obstacles
    const ss_key *keys;     // NULL for none
    const void *defaults;   // settings_size bytes; NULL for none
    size_t settings_size;
    ss_key_needs *key_needs; // NULL: every key has an effect
    // Fills an empty world and adjusts the options of its steps (dt is the user's or the default).
    // The request is complete: call it by ss_scene_build.
    ss_status (*build)(const ss_scene_request *request, ss_world *world, ss_step_options *options,
                       ss_error *e);
} ss_scene;

// The entries of a table of keys, in a file where `settings` is the type of its settings
// (base/keys.h).
#define SS_SCENE_KEYS(table, values)                                                               \
    .keys = table, .defaults = &(values), .settings_size = sizeof(settings)

extern const ss_scene *const ss_scenes[];        // NULL-terminated, in the order of the papers
const ss_scene *ss_scene_find(const char *name); // NULL for none

// Builds a scene. SS_BAD_INPUT with a sentence for a number of strands or a friction that cannot
// be.
ss_status ss_scene_build(const ss_scene *scene, const ss_scene_request *request, ss_world *world,
                         ss_step_options *options, ss_error *e);

// A spec "NAME[:key=value,...]".
typedef struct ss_scene_choice {
    const ss_scene *scene;
    void *settings; // owned; NULL where the scene has none
    char spec[160]; // as given
} ss_scene_choice;
ss_status ss_scene_parse(const char *spec, ss_scene_choice *choice, ss_error *e);
void ss_scene_choice_free(ss_scene_choice *choice); // takes an empty one

#include "listed_scenes.h"

// ---- For tests (friction.c)

// Builds a straight rod on the plane through the origin that rises along +x with this slope, rad;
// the rod lies across the way down at an angle. The model needs a free root.
ss_status ss_incline_build(double slope, double mu, const ss_model_choice *model, ss_world *world,
                           ss_step_options *options, ss_error *e);
// Returns the unit vector down the plane.
ss_vec3 ss_incline_down(double slope);

// Builds a strand that touches a cylinder over the angle `wrap` (rad, 0 .. 2 pi) and leaves it on
// both sides in straight pieces, along which it is pulled with the forces `pull_root` and
// `pull_tip` (N). The model needs a free root; SS_CAPSTAN_PIECES pieces make its style.
#define SS_CAPSTAN_PIECES 24
ss_status ss_capstan_build(double wrap, double mu, double pull_root, double pull_tip,
                           const ss_model_choice *model, ss_world *world, ss_step_options *options,
                           ss_error *e);
