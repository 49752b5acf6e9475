// strands/schemes/schemes.h -- the schemes, as strands/meson.build lists them
// (internal).
#pragma once

#include "strands/schemes/scheme.h"

#include "listed_schemes.h"
