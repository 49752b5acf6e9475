// solvers/local/local.h -- the local solvers, as solvers/meson.build lists them (ss_mfb, ...).
#pragma once

#include "solvers/solver.h"

#include "listed_local_solvers.h"
