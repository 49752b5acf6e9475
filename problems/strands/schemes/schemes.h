// problems/strands/schemes/schemes.h -- the schemes, as problems/strands/meson.build lists them
// (internal).
#pragma once

#include "problems/strands/schemes/scheme.h"

#include "listed_schemes.h"
