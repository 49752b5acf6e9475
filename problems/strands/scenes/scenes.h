// problems/strands/scenes/scenes.h -- the entries of the scenes, for scenes.c.
#pragma once

#include "problems/strands/scenes/scene.h"

extern const ss_scene ss_scene_free_a, ss_scene_free_b, ss_scene_pony, ss_scene_curly;
extern const ss_scene ss_scene_orbit, ss_scene_turn, ss_scene_incline, ss_scene_capstan;
extern const ss_scene ss_scene_swing, ss_scene_fur;
