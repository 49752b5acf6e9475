// problems/strands/step/stepper.h -- a stepper from the inside: what a try of a step works on
// (internal).
//
// The world is where `here` is, and is not touched before a try has succeeded; the try ends `there`
// with q and v of `trial`. Touches found there for the reach test are the next step's contacts, so
// that detection costs one search a step.
#pragma once

#include "problems/strands/step/batch.h"
#include "problems/strands/step/step_control.h"
#include "problems/strands/step/step_problem.h"

struct ss_stepper {
    ss_world *world; // the caller's
    ss_step_options options;
    ss_step_solver solver;
    double dt;
    int good, steps; // accepted ones: since dt was set, and in all

    // Where strands are stepped side by side, trial is all that is used of what follows.
    const ss_batch_model *batch; // NULL: strand by strand
    void *members;               // the batch's own; owned

    ss_snapshot here, there;
    ss_world_state trial; // q and v owned; those of the world where `placed`
    bool placed;          // here is where trial is
    ss_energy energy;     // here
    ss_systems systems;
    double *right;  // [nv] scratch
    ss_vec3 *moved; // [npoints] scratch: where a sweep ends

    ss_collider *collider;
    int *first, *body;     // [nstrands + 1] for ss_polylines
    double speed;          // m/s, largest |u_N| of the last step
    ss_buffer found;       // ss_touch: pairs near each other here
    int nfound;            // -1: not looked for yet
    const ss_touch *after; // [nafter] the same there, the collider's; NULL where not looked for
    int nafter;

    ss_track *track;
    ss_buffer contacts, frames, answers, velocities;
    ss_touch *touches; // [ncontacts] of the problem, in contacts
    ss_mat3 *E;        // [ncontacts] in frames
    double *r, *u;     // [3 ncontacts] in answers; u without gap terms
    double *v;         // [ndofs of the problem] in velocities
    int ncontacts;
    ss_step_problem formed;
};

double ss_step_clock(void); // s, monotonic

// A step of size h from the world's state. *reason: why it is no good, SS_STEP_DONE where it is.
// One that reached too far is complete all the same. A status other than SS_OK: no step of any size
// would help, or the solver's own failure with *reason SS_STEP_SOLVER.
ss_status ss_step_try(ss_stepper *s, double h, ss_step_report *report, ss_step_reason *reason,
                      ss_error *e);

// s->batch for a world that takes one. The same try by it, and the world moved to where it ended.
ss_status ss_step_batch_new(ss_stepper *s, ss_error *e);
void ss_step_batch_try(ss_stepper *s, double h, ss_step_report *report, ss_step_reason *reason);
void ss_step_batch_accept(ss_stepper *s);
