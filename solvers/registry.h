// solvers/registry.h -- the two lists of solvers, in the order of the papers' tables.
#pragma once

#include "solvers/solver.h"

extern const ss_local_solver *const ss_local_solvers[];   // NULL-terminated
extern const ss_global_solver *const ss_global_solvers[]; // NULL-terminated
