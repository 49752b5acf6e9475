// solvers/global/global.h -- the entries of the global solvers, for registry.c.
#pragma once

#include "solvers/solver.h"

extern const ss_global_solver ss_gauss_seidel;
extern const ss_global_solver ss_auto;
extern const ss_global_solver ss_anderson;
extern const ss_global_solver ss_nncg;
extern const ss_global_solver ss_apgd;
extern const ss_global_solver ss_admm;
extern const ss_global_solver ss_spg;
extern const ss_global_solver ss_alm;
extern const ss_global_solver ss_prox_sweeps;
extern const ss_global_solver ss_ppa;
extern const ss_global_solver ss_newton[3];  // mfb, pac, dac
extern const ss_global_solver ss_siconos[6]; // where the build has found Siconos
