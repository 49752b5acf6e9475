// problems/strands/step/schemes.h -- the schemes there are (internal): a line for each.
#pragma once

#include "problems/strands/step/scheme.h"

extern const ss_scheme ss_scheme_linear;
