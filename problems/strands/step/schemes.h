// problems/strands/step/schemes.h -- the schemes, as problems/strands/meson.build lists them
// (internal).
#pragma once

#include "problems/strands/step/scheme.h"

#include "listed_schemes.h"
