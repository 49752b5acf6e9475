// solvers/sweep/sweep_keys.h -- moved to solvers/sweep/sweep.h; this file goes once all includes
// name that.
#pragma once
#include "solvers/sweep/sweep.h"
