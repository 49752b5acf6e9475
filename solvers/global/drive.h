// solvers/global/drive.h -- the loop around the steps of a global method. It makes the coupling or
// the sweeper, judges candidates, keeps the best one, serves limits and listener, ends at the
// rounding floor, and chooses the answer. A method is its set-up and its step.
//
// The loop ends if an answer that was judged is good enough, if a limit is met, or if the step says
// so. It is `stalled` if sweeps move nothing any more, or if the best answer is as good as rounding
// lets it be and eight evaluations in a row have brought no better one. Of the velocity u = W r + b
// and of s r nothing is known below
//
//     E = eps (max_i |s r_i|_inf + max_i t_i),  t_i the sum of the sizes of all products in u_i (1)
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

// Tells what ends sweeps before a limit does. Under the last two rules the last answer is handed
// back, whatever its error.
typedef enum ss_stop_rule {
    SS_STOP_JUDGED,  // the error of an answer that was judged, and rounding
    SS_STOP_STEP,    // |dr| <= least_step |r| in the 2-norm; the rule of other laws than Coulomb's
    SS_STOP_SQUARED, // [D11]: max |f|^2 <= squared over all contacts, in its units
} ss_stop_rule;

// Tells what a method moves impulses in.
typedef enum ss_moves {
    SS_MOVES_COUPLING, // a coupling; its settings begin with an int, the ss_coupling_form
    SS_MOVES_SWEEPER,  // a sweeper; its settings begin with the ss_sweep_settings
    SS_MOVES_OWN,      // a sweeper that its function `couple` makes
} ss_moves;

// A method that is one step again and again; its ss_global_solver has solve = ss_drive_solve.
typedef struct ss_steps {
    const void *kind; // tells methods that share their functions apart; the drive has no use for it
    ss_moves moves;
    bool whole; // no step looks at the limits (ss_limits_next)
    size_t state_size;
    // Makes d->sweeper; leaves it NULL if it is stopped. NULL unless SS_MOVES_OWN.
    ss_status (*couple)(void *state, ss_drive *d, const double *r, const ss_stop *stop,
                        ss_error *e);
    // Fills the state, which is zero, at the impulses of the coupling. If it is stopped, or refuses
    // the problem with a sentence in e, it returns SS_OK and sets d->halted.
    ss_status (*make)(void *state, ss_drive *d, ss_error *e);
    // Makes one iteration: counts it in d->iterations and judges when that is worth it. Returns
    // SS_UNSOLVED to go on. A failure is left in d->failed and d->error.
    ss_outcome (*step)(void *state, ss_drive *d);
    void (*release)(
        void *state); // frees what the state holds; takes half-built ones. NULL: nothing
} ss_steps;

// Members of a method's entry: the options of its card, and the loop of the drive.
#define SS_OPTIONS(table, values) .keys = table, .defaults = &values, .settings_size = sizeof values
#define SS_DRIVEN(table)          .steps = &table, .solve = ss_drive_solve

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
    // The listener hears these beside the impulses.
    double estimate; // of the residual
    long more_visits;
    const char *note;
    // The best answer.
    double *best; // [dim n] in the order of the coupling; the start until one is judged
    // ss_measures_error of the last answer that was judged, and of `best`; infinity before.
    double residual, best_residual;
    double floor;  // rounding of the residual at the best; NAN until asked for
    int idle;      // evaluations since then
    double *start; // [dim n]
    bool start_judged;
    // Sweeps are not judged one by one.
    ss_stop_rule rule;
    double least_step; // of SS_STOP_STEP
    double squared;    // of SS_STOP_SQUARED, (cm/s)^2, at the scale that the sweeper's goal fixes
    int still;         // sweeps that moved nothing
    bool unjudged;     // the present impulses are no answer that was judged
    // [dim n] the best by its estimate, but for a factor of two. It is r of the task, in the
    // problem's order, so that a process that dies leaves it behind.
    double *kept;
    double kept_estimate;
    // z of start and kept where ends are sparse, as z from r costs a solution with M there; else
    // NULL
    double *start_z, *kept_z;
    double near;    // an estimate below it, in m/s, is at the floor
    int near_until; // sweeps after which `near` is found again
    // The end.
    char why[sizeof((ss_result *)0)->why]; // as in ss_result
    ss_status failed;
    ss_error error;
};

// Solves as ss_global_solver.solve.
ss_status ss_drive_solve(const ss_task *task, double *r, ss_result *result, ss_error *e);

// True if this residual of the impulses that the coupling holds is so small that only rounding is
// left.
bool ss_drive_at_floor(const ss_coupling *c, double residual);

// ---- For steps

// Judges r [4 n], which the coupling then holds, and takes it as the best answer if it is.
void ss_drive_judge(ss_drive *d, const double *r);

// Passes an answer that need not be judged, as its estimate is far from the tolerance. At the end
// the best by this estimate, but for a factor of two, and the last are judged.
void ss_drive_pass(ss_drive *d, const double *r, double estimate);

// Makes one sweep. It is judged if its estimate is small enough, or as small as it gets, or if
// `look` asks for it. Returns SS_CONVERGED by a rule of its own, else SS_UNSOLVED.
ss_outcome ss_drive_sweep(ss_drive *d, bool look);

// Returns why a factorisation was not made: a limit, or the matrix is singular to rounding.
ss_outcome ss_drive_stopped(const ss_drive *d);

// Returns true: for methods whose loops over contacts, and factors, threads share
// (ss_global_solver.takes_threads).
bool ss_drive_takes_threads(const ss_method *method);

// Returns the number of iterations that the task has left, at most `most`.
int ss_drive_left(const ss_drive *d, int most);

// Finds all velocities at r: u [4 n], the fourth number 0. z [ss_drive_room] is left with the
// whitened velocity; explicit form does not touch it.
void ss_drive_velocity(const ss_drive *d, const double *r, double *z, double *u);
// Finds the weights [n] 1 / (tr W_ii / d); for W_ii = 0 the mean scale takes its place.
void ss_drive_weights(const ss_drive *d, double *weights);
size_t ss_drive_room(const ss_drive *d); // numbers in z; 1 in explicit form
