// harness/scene_file/scene_parts.h -- what a scene file holds, part by part (internal).
#pragma once

#include "harness/scene_file/json.h"
#include "strands/world.h"

// A line of a table of keys: the member of a struct that a key fills.
#define FIELD(type, word, member, what)                                                            \
    {                                                                                              \
        .key = word, .kind = SS_JSON_##what, .place = offsetof(type, member)                       \
    }
#define NEEDED(type, word, member, what)                                                           \
    {                                                                                              \
        .key = word, .kind = SS_JSON_##what, .place = offsetof(type, member), .required = true     \
    }

// ---- scene_solids.c

// Adds all bodies and obstacles of the file.
ss_status ss_scene_add_solids(const ss_json *root, ss_world *w, ss_error *e);

// Adds what the items of an array of the file say, if there is one.
typedef ss_status ss_scene_add_item(const ss_json *at, ss_world *w, ss_error *e);
ss_status ss_scene_add_all(const ss_json *root, const char *key, ss_scene_add_item *add,
                           ss_world *w, ss_error *e);

// The number of the body of that name, which is that of `key`; 0, the world, for NULL.
ss_status ss_scene_body(const ss_json *at, const char *key, const char *name, int *number,
                        ss_error *e);

// A pose as an object says it, by "position" and "rotation" or "turn".
typedef struct ss_scene_pose {
    ss_vec3 position;
    double rotation[4];
    ss_mat3 turn; // NaN: absent
} ss_scene_pose;
extern const ss_scene_pose SS_SCENE_POSE_NONE;
ss_status ss_scene_pose_of(const ss_json *at, const ss_scene_pose *given, ss_pose *pose,
                           ss_error *e);

// ---- scene_strands.c

// Adds all strands of the file to a world that has its bodies.
ss_status ss_scene_add_strands(const ss_json *root, const ss_model_choice *model, ss_world *w,
                               ss_error *e);

// ---- scene_winds.c

// Adds all winds of the file to a world that has its bodies.
ss_status ss_scene_add_winds(const ss_json *root, ss_world *w, ss_error *e);

// ---- scene_file.c

// The place of a word in a list; false, and a sentence, where it has none.
bool ss_scene_word(const ss_json *at, const char *key, const char *const *words, const char *word,
                   int *place, ss_error *e);
