// strands/scenes/scenes.h -- the scenes, as strands/meson.build lists them
// (internal).
#pragma once

#include "strands/scenes/scene.h"

#include "listed_scenes.h"
