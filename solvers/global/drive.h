// solvers/global/drive.h -- what every global method does around its own steps: candidates are
// evaluated in full, the best one is kept, the task's limits and listener are served.
//
// Vectors are those of ss_coupling, four numbers a contact.
#pragma once

#include "solvers/sweep/coupling.h"
#include "solvers/limits.h"
#include "solvers/sweep/order.h"

typedef struct ss_drive {
    ss_limits limits;
    ss_coupling *c;            // borrowed
    const ss_ordered *ordered; // of its contacts, borrowed; NULL: they stand as in the problem
    double *best;              // [dim n] in the order of the coupling
    double fb, best_fb;
    int iterations;
    bool whole;     // iterations are not ended half-way (ss_limits_next)
    int idle;       // evaluations since the best one
    double largest; // max |r| of the last candidate
} ss_drive;

// The coupling comes with ss_drive_begin, after the limits have been started.
ss_status ss_drive_begin(ss_drive *p, ss_coupling *c, ss_error *e);
void ss_drive_end(ss_drive *p); // frees what is its own

// All measures of r [4 n], which the coupling then holds; kept where it is the best so far.
void ss_drive_judge(ss_drive *p, const double *r);

// SS_UNSOLVED while the task may go on. SS_STALLED where the answer is at its rounding floor.
ss_outcome ss_drive_test(ss_drive *p);

// What is left of the task's iterations, at most `most`.
int ss_drive_left(const ss_drive *p, int most);

// r [dim n] is room for the listener's copy of the coupling's impulses, as the problem orders them.
void ss_drive_tell(ss_drive *p, double *r);

// The best answer into r, and the result's numbers.
void ss_drive_give(ss_drive *p, ss_outcome outcome, double *r, ss_result *result);

// SS_NOT_COVERED, with the reason, where nothing has been tried.
void ss_drive_refuse(ss_limits *limits, const ss_error *why, ss_result *result);

// ---- What several methods need

// All velocities at r: u [4 n], the fourth number 0. z: scratch as long as the coupling's z, with
// the whitened velocity out; NULL in explicit form.
void ss_drive_velocity(const ss_drive *p, const double *r, double *z, double *u);
// [n] 1 / (tr W_ii / d); for W_ii = 0 the mean scale takes its place.
void ss_drive_weights(const ss_drive *p, double *weights);
size_t ss_drive_room(const ss_drive *p); // numbers in z; 1 in explicit form

// ---- A method that is one step again and again

typedef struct ss_steps {
    // NULL with a sentence in e, whose status is SS_OK where the method refuses the problem; NULL
    // and no sentence where time is up.
    void *(*make)(const ss_drive *p, const void *settings, ss_error *e);
    void (*free)(void *state); // takes half-built ones
    // One iteration: counts it in p->iterations and calls ss_drive_judge when that is worth it.
    // SS_UNSOLVED to go on.
    ss_outcome (*step)(void *state, ss_drive *p);
    bool whole; // it does not look at the limits
} ss_steps;

// The whole solve. The settings of the method begin with an int, its ss_coupling_form: the option
// form= (SS_FORM_KEY).
ss_status ss_drive_solve(const ss_steps *steps, const ss_task *task, double *r, ss_result *result,
                         ss_error *e);
