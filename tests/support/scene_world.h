// tests/support/scene_world.h -- scenes as tests see them: a world of a scene, and where its strands are.
#pragma once

#include "strands/scenes/scene.h"
#include "strands/system.h"

// What a test asks of a scene, NAME[:key=value,...]. mu NaN and rods 0: the scene's own; model NULL: its default.
typedef struct scene_choice {
    const char *scene;
    int rods;
    double mu;
    uint64_t seed;
    const char *model;
} scene_choice;

// A built scene and the options of its steps. Ends the test where it cannot be built.
typedef struct scene_world {
    ss_model_choice model;
    ss_world *world;
    ss_step_options options;
} scene_world;
scene_world open_scene(const scene_choice *choice);
void close_scene(scene_world *s);

// The vertices of all strands at `state`; lines points into it.
typedef struct scene_lines {
    ss_polylines lines;
    int *first;
    ss_vec3 *x;
} scene_lines;
scene_lines lines_of(const ss_world *w, const ss_world_state *state);
void free_lines(scene_lines *l);

// The least gap, in m, between segments of two strands, by looking at all pairs; and between a
// segment and an obstacle, at the time of `state`.
double least_strand_gap(const ss_polylines *lines);
double least_obstacle_gap(const ss_world *w, const ss_world_state *state,
                          const ss_polylines *lines);
