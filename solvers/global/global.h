// solvers/global/global.h -- the global solvers, as solvers/meson.build lists them (ss_ppa, ...).
#pragma once

#include "solvers/solver.h"

#include "listed_global_solvers.h"
