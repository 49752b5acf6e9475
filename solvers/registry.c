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

const char *ss_outcome_name(ss_outcome outcome)
{
    static const char *const NAMES[] = {
        [SS_UNSOLVED] = "unsolved",       [SS_CONVERGED] = "converged",
        [SS_STEPPED] = "stepped",         [SS_MAX_ITER] = "max_iter",
        [SS_TIME_LIMIT] = "time_limit",   [SS_STALLED] = "stalled",
        [SS_NO_SOLUTION] = "no_solution", [SS_NOT_COVERED] = "not_covered",
        [SS_INTERRUPTED] = "interrupted", [SS_CRASHED] = "crashed",
    };
    const size_t k = (size_t)outcome;
    return k < sizeof NAMES / sizeof NAMES[0] ? NAMES[k] : "unknown";
}
