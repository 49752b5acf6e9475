// harness/scene_file/scene_file.h -- scenes in JSON files, read and written; doc/scene-file.md is
// the format.
#pragma once

#include "harness/scene_file/json.h"
#include "strands/world.h"
#include "strands/scenes/scene.h"

// True if a spec on the command line is the path of such a file, by its ending.
bool ss_scene_file_is(const char *spec);

// A file as a scene: model, steps and dt are those of the file, and `build` makes its world. The
// choice is freed by ss_scene_file_free. SS_BAD_INPUT with a sentence that names file and key.
typedef struct ss_scene_file {
    ss_scene scene;
    ss_scene_choice choice; // of this scene
    const char *scheme;     // its spec; NULL: the model's
    void *content;          // of the file; owned
} ss_scene_file;
ss_status ss_scene_file_read(const char *path, ss_scene_file *file, ss_error *e);
void ss_scene_file_free(ss_scene_file *file); // takes an empty one

// Contents of the file beside the world.
typedef struct ss_scene_run {
    const char *title, *model, *scheme; // scheme NULL: the model's
    int steps;
    const ss_step_options *options;
} ss_scene_run;
// The world as it starts. Its strands have their designs (world.h). The file makes it again bit by
// bit.
ss_status ss_scene_file_write(const char *path, const ss_world *w, const ss_scene_run *run,
                              ss_error *e);

// The names of the kinds of obstacles, by ss_obstacle_kind, of clamps, by ss_clamp, of gap terms,
// by ss_gap, and of profiles, by ss_profile_kind; NULL after the last.
extern const char *const ss_scene_obstacles[],
    *const ss_scene_clamps[], *const ss_scene_gaps[], *const ss_scene_profiles[];
