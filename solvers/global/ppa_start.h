// solvers/global/ppa_start.h -- the first proximal steps of ppa, by interior points.
//
// C (x - x') of ipm_newton.h, x' the impulse before the step, makes of its equations those of a proximal
// step of weight rho = 1/delta around x', on whose path one step is taken. Far from the answer that
// is far cheaper than the step that prox_step.h makes exactly: contacts that open, stick or slip anew are kinks
// there, a few at a time, and smooth here. Near the answer it is the reverse, as few contacts still change.
//
// Where the path of the answers has a fold (a step is short even to the centre, or det J < 0) the
// proximal problem of less weight has none: delta grows, and falls again as steps succeed. Where delta may not grow
// any more, only the contacts of the fold get more compliance. It gets stuck where friction is high; ppa begins
// with sweeps then.
#pragma once

#include "solvers/global/drive.h"
#include "solvers/global/ipm_newton.h"

typedef struct ss_ppa_start {
    ss_interior newton;
    ss_ipm_point shorter; // scratch
    double *plain;        // [n] compliance without folds
    double *part;         // [n] scratch
    bool by_contact;      // compliance grows by contact
    int tries;            // without a step, in a row
    bool is_short;        // factors in floats pay
    double least;         // estimate so far,
    int idle;             // steps since then
} ss_ppa_start;

// The system is borrowed. NULL without memory.
ss_ppa_start *ss_ppa_start_new(ss_implicit *system, const ss_drive *d);
void ss_ppa_start_free(ss_ppa_start *start);

typedef enum ss_ppa_start_state {
    SS_PPA_START_GOES_ON,
    SS_PPA_START_NEAR,
    SS_PPA_START_STUCK
} ss_ppa_start_state;

// One step, counted and judged where its estimate is near the tolerance. The impulses are those of the coupling.
ss_ppa_start_state ss_ppa_start_step(ss_ppa_start *start, ss_drive *d);
