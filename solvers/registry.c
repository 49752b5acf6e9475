// solvers/registry.c -- the lists of solvers. Add a line, nothing else.
#include "solvers/registry.h"

const ss_local_solver *const ss_local_solvers[] = {
    NULL,
};

const ss_global_solver *const ss_global_solvers[] = {
    NULL,
};
