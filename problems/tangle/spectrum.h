// problems/tangle/spectrum.h -- moved to base/spectrum.h; this file goes once all includes name that.
#pragma once
#include "base/spectrum.h"
