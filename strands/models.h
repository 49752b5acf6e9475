// strands/models.h -- the strand models, as meson.build lists them (internal).
#pragma once

#include "strands/model.h"

#include "listed_strand_models.h"
