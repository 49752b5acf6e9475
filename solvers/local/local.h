// solvers/local/local.h -- the local solvers; registry.c lists them, nobody else names them.
#pragma once

#include "solvers/solver.h"

extern const ss_local_solver ss_four_sides;    // 4sides
extern const ss_local_solver ss_duriez06;      // duriez06
extern const ss_local_solver ss_duriez06_sofa; // duriez06-sofa
extern const ss_local_solver ss_duriez08;      // duriez08
extern const ss_local_solver ss_pac;           // pac
extern const ss_local_solver ss_dac;           // dac
extern const ss_local_solver ss_mfb;           // mfb
extern const ss_local_solver ss_enumerative;   // enum
extern const ss_local_solver ss_secular;       // secular
extern const ss_local_solver ss_projection;    // projection
