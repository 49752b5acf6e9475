// solvers/clock.h -- moved to base/clock.h; this file goes once all includes name that.
#pragma once
#include "base/clock.h"
