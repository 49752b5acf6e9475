// solvers/global/global.h -- the entries of the global solvers, for registry.c.
#pragma once

#include "solvers/solver.h"

extern const ss_global_solver ss_gauss_seidel;
