// solvers/global/ppa_start.h -- the first proximal steps of ppa, by interior points.
//
// The equations of ipm.c with C (x - x'), where x' is the impulse before the step, are those of a
// proximal step of weight rho = 1/delta around x'. One step is taken on the path of each. Where
// contacts open, stick or slip anew the exact step of prox.h has kinks, which Newton's method
// passes a few at a time; here all is smooth, and far from the answer far cheaper. Near the answer
// few contacts still change, and exact steps are cheaper.
//
// Where the path of the answers has a fold (a step is short even to the centre, or det J < 0), the
// proximal problem of less weight has none: delta grows, and falls again as steps succeed. If delta
// may grow no more, only the contacts of the fold get more compliance. Where friction is high these
// steps may lead nowhere; ppa then begins with sweeps.
#pragma once

#include "solvers/global/drive.h"
#include "solvers/global/ipm.h"

typedef struct ss_ppa_start {
    ss_interior newton;
    double *plain;   // [n] compliance without folds
    double *part;    // [n] scratch
    bool by_contact; // compliance grows by contact
    int tries;       // without a step, in a row
    bool is_short;   // factors in floats pay
    double least;    // estimate so far,
    int idle;        // steps since then
} ss_ppa_start;

// The system is borrowed. NULL without memory.
ss_ppa_start *ss_ppa_start_new(ss_implicit *system, const ss_drive *d);
void ss_ppa_start_free(ss_ppa_start *start);

typedef enum ss_ppa_start_state {
    SS_PPA_START_GOES_ON,
    SS_PPA_START_NEAR,
    SS_PPA_START_STUCK
} ss_ppa_start_state;

// One step, counted and judged where its estimate is near the tolerance. The impulses are those of
// the coupling.
ss_ppa_start_state ss_ppa_start_step(ss_ppa_start *start, ss_drive *d);
