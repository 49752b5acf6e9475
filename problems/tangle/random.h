// problems/tangle/random.h -- moved to base/random.h; this file goes once all includes name that.
#pragma once
#include "base/random.h"
