// solvers/registry.c -- the lists of solvers. Add a line, nothing else.
#include "solvers/registry.h"

#include <string.h>

#include "solvers/global/global.h"
#include "solvers/local/local.h"

const ss_local_solver *const ss_local_solvers[] = {
    &ss_four_sides, &ss_duriez06,    &ss_duriez06_sofa, &ss_duriez08,   &ss_pac, &ss_dac,
    &ss_mfb,        &ss_enumerative, &ss_secular,       &ss_projection, NULL,
};

const ss_global_solver *const ss_global_solvers[] = {
    &ss_gauss_seidel,
    &ss_auto,
    &ss_anderson,
    &ss_nncg,
    &ss_apgd,
    &ss_spg,
    &ss_admm,
    &ss_alm,
    &ss_prox_sweeps,
    &ss_ppa,
    &ss_newton[0],
    &ss_newton[1],
    &ss_newton[2],
#ifdef SS_WITH_SICONOS
    &ss_siconos[0],
    &ss_siconos[1],
    &ss_siconos[2],
    &ss_siconos[3],
    &ss_siconos[4],
    &ss_siconos[5],
#endif
    NULL,
};

const ss_local_solver *ss_local_find(const char *name)
{
    for (int k = 0; ss_local_solvers[k] != NULL; k++) {
        if (strcmp(ss_local_solvers[k]->card.name, name) == 0) {
            return ss_local_solvers[k];
        }
    }
    return NULL;
}

const ss_global_solver *ss_global_find(const char *name)
{
    for (int k = 0; ss_global_solvers[k] != NULL; k++) {
        if (strcmp(ss_global_solvers[k]->card.name, name) == 0) {
            return ss_global_solvers[k];
        }
    }
    return NULL;
}
