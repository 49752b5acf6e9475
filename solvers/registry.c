// solvers/registry.c -- the lists of solvers, which meson makes from those in solvers/meson.build.
#include "solvers/registry.h"

#include <string.h>

#include "solvers/global/global.h"
#include "solvers/local/local.h"

const ss_local_solver *const ss_local_solvers[] = {SS_LISTED_LOCAL_SOLVERS, NULL};

const ss_global_solver *const ss_global_solvers[] = {SS_LISTED_GLOBAL_SOLVERS, NULL};

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
