// problems/strands/scenes/scenes.h -- the scenes, as problems/strands/meson.build lists them
// (internal).
#pragma once

#include "problems/strands/scenes/scene.h"

#include "listed_scenes.h"
