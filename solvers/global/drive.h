// solvers/global/drive.h -- what every global method does around its own steps: the coupling or the
// sweeper is made, candidates are judged, the best one is kept, limits, listener and rounding are
// looked after, and what is handed back is chosen. A method is its set-up and its step.
//
// When it ends: an answer that was judged is good enough; a limit is met; the step says so; or
// `stalled`, where sweeps move nothing any more, or where the best answer is as good as rounding lets
// it be and eight evaluations in a row have brought no better one. Of the velocity u = W r + b and of s r
// nothing is known below
//
//     E = eps (max_i |s r_i|_inf + max_i t_i),   t_i the sum of the sizes of all products in u_i   (1)
//
// (ss_coupling_rounding). Methods that solve a problem end with |f|_inf between 0.1 and 50 E, and
// there the best of them wander: below 64 E an answer is as good as it gets. Where contacts are
// many to a body or the terms of b cancel, t is far above s |r|: on the embedded problems the same
// answers have |f| of 3 to 400 eps max |s r|.
//
// Vectors are those of ss_coupling, four numbers a contact.
#pragma once

#include "solvers/limits.h"
#include "solvers/sweep/sweep.h"

typedef struct ss_drive ss_drive;

// What ends sweeps before a limit does.
typedef enum ss_stop_rule {
    SS_STOP_JUDGED, // the error of an answer that was judged, and rounding
    // Rules of their own, under which the last answer is handed back, whatever it is worth:
    SS_STOP_STEP, // |dr| <= least_step |r| in the 2-norm; the rule for another law than Coulomb's
    SS_STOP_SQUARED, // [D11]: max |f|^2 <= squared over all contacts, those at rest too, in its units
} ss_stop_rule;

// A method that is one step again and again; its ss_global_solver has solve = ss_drive_solve.
typedef struct ss_steps {
    const void *kind; // what tells methods that share their functions apart; the drive has no use
    // What it moves impulses in: a sweeper of its own into d->sweeper, NULL where it is stopped;
    ss_status (*couple)(void *state, ss_drive *d, const double *r, const ss_stop *stop,
                        ss_error *e);
    bool sweeps; // or, without this function, the sweeper that its settings begin with;
    size_t form; // or a coupling, the ss_coupling_form at this place of its settings
    bool whole;  // no step looks at the limits (ss_limits_next)
    size_t state_size;
    // Fills the state, which is zero, at the impulses of the coupling. What makes a part of it and
    // was stopped, or refuses the problem with a sentence in e: SS_OK and d->halted.
    ss_status (*make)(void *state, ss_drive *d, ss_error *e);
    // One iteration: counts it in d->iterations and judges when that is worth it. SS_UNSOLVED to go
    // on. What fails fills d->failed and d->error.
    ss_outcome (*step)(void *state, ss_drive *d);
    void (*release)(void *state); // what the state holds; takes half-built ones. NULL: nothing
} ss_steps;

struct ss_drive {
    const ss_task *task;
    const ss_steps *steps;
    const void *settings; // of the method
    ss_limits limits;
    ss_sweeper *sweeper; // NULL for methods without sweeps
    ss_coupling *c;      // the sweeper's where there is one
    ss_team *team;       // of a method that does not sweep; NULL: one thread, or the sweeper's
    bool halted;         // see ss_steps.make
    int iterations;
    // What the listener hears beside the impulses.
    double estimate; // of the residual
    long more_visits;
    const char *note;
    // The best answer.
    double *best; // [dim n] in the order of the coupling; the start until one is judged
    // ss_measures_error of the last answer that was judged, and of `best`; infinity before.
    double residual, best_residual;
    double floor;  // of the residual at the best; NAN until asked for
    int idle;      // evaluations since then
    double *start; // [dim n]
    bool start_judged;
    // Of sweeps, which are not judged one by one.
    ss_stop_rule rule;
    double least_step; // of the rules
    double squared;    // (cm/s)^2, at the scale that the sweeper's goal fixes
    int still;         // sweeps that moved nothing
    bool unjudged;     // the present impulses are no answer that was judged
    // [dim n] the best by its estimate, but for a factor of two: in r of the task, in the problem's order, so that it
    // is what a process leaves behind that dies
    double *kept;
    double kept_estimate;
    // z of both where ends are sparse, for which z from r costs a solution with M; else NULL.
    double *start_z, *kept_z;
    double near;    // below this an estimate is at the floor, m/s,
    int near_until; // until so many sweeps
    // Of the end.
    char why[sizeof((ss_result *)0)->why]; // as in ss_result
    ss_status failed;
    ss_error error;
};

// As ss_global_solver.solve.
ss_status ss_drive_solve(const ss_task *task, double *r, ss_result *result, ss_error *e);

// Whether this residual of the impulses that the coupling holds is so small that only rounding is left.
bool ss_drive_at_floor(const ss_coupling *c, double residual);

// ---- For steps

// All measures of r [4 n], which the coupling then holds; kept where it is the best so far.
void ss_drive_judge(ss_drive *d, const double *r);

// The same of an answer that need not be judged, as its estimate is far from the tolerance. At the end the best by
// this estimate, but for a factor of two, and the last are judged.
void ss_drive_pass(ss_drive *d, const double *r, double estimate);

// One sweep. Judged where its estimate is small enough, or as small as it gets, or where `look` asks
// for it. SS_CONVERGED by a rule of its own, else SS_UNSOLVED.
ss_outcome ss_drive_sweep(ss_drive *d, bool look);

// Whether the present impulses obey SS_STOP_SQUARED.
bool ss_drive_meets_squared(const ss_drive *d);

// Why a factorisation was not made: a limit, or the matrix is singular to rounding.
ss_outcome ss_drive_stopped(const ss_drive *d);

// For methods whose loops over contacts, and factors, threads share: as ss_global_solver.takes_threads.
bool ss_drive_takes_threads(const ss_method *method);

// What is left of the task's iterations, at most `most`.
int ss_drive_left(const ss_drive *d, int most);

// All velocities at r: u [4 n], the fourth number 0. z: scratch as long as the coupling's z, with
// the whitened velocity out; NULL in explicit form.
void ss_drive_velocity(const ss_drive *d, const double *r, double *z, double *u);
// [n] 1 / (tr W_ii / d); for W_ii = 0 the mean scale takes its place.
void ss_drive_weights(const ss_drive *d, double *weights);
size_t ss_drive_room(const ss_drive *d); // numbers in z; 1 in explicit form
