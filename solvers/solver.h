// solvers/solver.h -- what a solver is; read this before writing one.
//
// A local solver answers one contact: u = W r + b with (r, u) in C(mu) (problems/coulomb.h). The
// shared Gauss-Seidel driver and the accelerated methods call it again and again. A global solver
// answers a whole problem. Both get a start in r and leave their answer there. What a solver
// believes of its answer is recorded and never decides: the judge computes u afresh.
//
// A solver keeps nothing between two calls: no file-scope state, so that two can run at once.
// Adding a local solver: one file in solvers/local that ends with its entry, one line in
// meson.build. The contract test runs on it automatically. A program that links the library may have one of
// its own: it parses the spec of another and puts its own in the place of method->local.
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include "base/keys.h"
#include "problems/problem.h"

#pragma GCC visibility push(default)

typedef enum ss_outcome {
    SS_UNSOLVED = 0, // nothing has run
    SS_CONVERGED,    // the solver's own test passed; the judge still checks
    SS_STEPPED,      // one step was all it takes; nothing is claimed
    SS_MAX_ITER,
    SS_TIME_LIMIT,
    SS_STALLED,     // at the rounding floor, or steps too small to change r
    SS_NO_SOLUTION, // the problem has none, and the solver can tell
    SS_NOT_COVERED, // outside the solver's domain; r untouched
    SS_INTERRUPTED,
    SS_CRASHED, // it died in a process of its own; what it left behind is judged like any answer
} ss_outcome;

// Its word: "converged", "max_iter"; "unknown" for a number that is none.
const char *ss_outcome_name(ss_outcome outcome);

// Exact: a converged answer satisfies Coulomb's law. Approximate: another law, and the measures say
// how far it is from Coulomb's.
typedef enum ss_law { SS_EXACT, SS_APPROXIMATE } ss_law;

// How both kinds are listed, found and set.
typedef struct ss_card {
    const char *name; // unique, [a-z0-9][a-z0-9-]*; never renamed once results exist
    ss_law law;
    const char *reference; // keys in REFERENCES.md
    const char *about;     // what it does, in some sentences
    const ss_key *keys;    // NULL for none
    const void *defaults;  // settings_size bytes; NULL for none
    size_t settings_size;
    const char *printed; // what as=printed sets, "key=value,..."; NULL for nothing
} ss_card;

// "key=low..high, key=choice|choice", the keys of a card, and what as=printed sets; "" for none. text
// holds `room` characters.
void ss_card_options(const ss_card *card, char *text, size_t room);

// ---- Local solvers

// What |f|_inf of an answer may be, in m/s, at both scales: the block's own tr(W)/d and the
// judge's.
typedef struct ss_local_goal {
    double tolerance;
    double scale; // the judge's s, 1/kg; 0: the block's own alone
    // What a solver wants to remember of W and mu of this contact from visit to visit: one number,
    // 0 at the first visit. NULL: nothing is remembered.
    double *memo;
    // f counts at `scale` alone, and Newton's methods iterate in X = scale r instead of tr(W)/d r:
    // [D11] with rho = 1/scale, whose iterates depend on the unit of r.
    bool fixed;
    // What |FB(s r_N, u_N)|/2 of it may be, in m/s, at the judge's scale; 0: not asked for. Local solvers
    // may ignore it: if an answer misses it, ss_contact_solve asks them for a smaller |f|_inf.
    double normal;
} ss_local_goal;

typedef struct ss_local_info {
    ss_outcome outcome;
    int iterations;
    double error;    // |f|_inf as ss_local_error measures it; NaN where the solver has not measured
    bool normal_met; // goal->normal is known to be met; false: nothing is claimed
} ss_local_info;

struct ss_sweeper;
struct ss_tally;

typedef struct ss_local_solver {
    ss_card card;
    bool one_step; // a step towards the answer, no solve: sweeps are many and cheap
    // p: mu > 0, tr W > 0, all finite; in the plane the third direction is decoupled (W[8] is the
    // mean of the other two, b[2] = r[2] = 0), so that one code serves both. W may be unsymmetric
    // and singular. r: in the start, out the answer; untouched for SS_NOT_COVERED, 0 for
    // SS_NO_SOLUTION, the best iterate otherwise.
    ss_local_info (*solve)(const ss_local *p, const ss_local_goal *goal, const void *settings,
                           double r[3]);
    // A loop of sweeps that has `solve` inlined (solvers/sweep/visits.h); NULL: the loop that all share.
    void (*visits)(struct ss_sweeper *sweeper, int begin, int end, struct ss_tally *tally);
} ss_local_solver;

// ---- A method: what a spec names

// "[GLOBAL/]LOCAL[+FAILSAFE][:key=value,...]", or "GLOBAL[:...]" for one without a local solver.
// as=printed sets many keys to what a paper's experiment has; those that are given override it.
typedef struct ss_method {
    char spec[160]; // as given
    char name[64];  // without the options
    const struct ss_global_solver *global;
    const ss_local_solver *local;    // NULL where the global solver uses none
    const ss_local_solver *failsafe; // NULL without
    void *global_settings;           // owned, as are the next two; NULL where there are none
    void *local_settings;
    void *failsafe_settings;
} ss_method;

// Its local answers obey Coulomb's law: a fail-safe sees to that where the local solver does not.
static inline bool ss_method_is_exact(const ss_method *m)
{
    return m->local == NULL || m->failsafe != NULL || m->local->card.law == SS_EXACT;
}

// ---- Global solvers

// What is known after an iteration; the callee may look at r and must not keep it.
typedef struct ss_progress {
    int iteration;
    double seconds; // since the start, without the time spent in the listener
    long local_solves;
    long visits;     // of contacts by sweeps, without those that rest; block steps in their unit
    double estimate; // of ss_measures_error; NaN where the solver has none
    const double *r;
    const char *note; // what the solver is at, for a reader; NULL mostly
} ss_progress;

// Whose seconds a time limit counts: the wall's, or the CPU time of the process.
typedef enum ss_clock { SS_CLOCK_WALL, SS_CLOCK_CPU } ss_clock;

typedef struct ss_task {
    const ss_problem *problem; // checked
    const ss_method *method;
    double tolerance;   // of ss_measures_error
    int max_iterations; // sweeps, or steps of a method without sweeps
    double time_limit;  // s, of the clock below; 0: none
    ss_clock clock;
    int threads;                              // 0: not asked for
    const volatile sig_atomic_t *interrupted; // NULL: never
    const volatile sig_atomic_t *recalled;    // as that, by a solver of which this is a part
    void (*listen)(void *listener, const ss_progress *progress); // NULL: none
    void *listener;
    const int *listen_from; // iterations before this one need not be reported; NULL: all are
    // NULL except for callers inside: room for the factor of M, empty or with that of this problem. A solver uses
    // what is there, and leaves what it has made, for the judge or another solver.
    struct ss_mass **factor;
} ss_task;

typedef struct ss_result {
    ss_outcome outcome;
    int iterations;
    long local_solves;   // calls of a local solver; contacts at rest have none
    long failsafe_calls; // of a hybrid
    long failures;       // local solves that ended without an answer
    long unanswered;     // of these, in the last iteration
    long frozen;         // visits that were skipped
    double own_error;    // what the solver believes ss_measures_error is; NaN until it has measured
    double seconds;      // all of it, without the listener
    double cpu_seconds;  // NaN of a part of a solver whose limit is of the wall's clock
    double setup_seconds; // W, whitening, factorisation
    double sweep_seconds; // iterations
    char why[160];        // of the outcome: a sentence that says more than its name, or ""
} ss_result;

typedef struct ss_global_solver {
    ss_card card;
    const struct ss_steps *steps; // of solve = ss_drive_solve (solvers/global/drive.h), else NULL
    bool takes_local;             // its spec is GLOBAL/LOCAL
    // What this key of the card does nothing without, in a method with these solvers and settings:
    // "freeze=on". NULL where it has an effect; no function: all have. A spec that sets a key in
    // vain is refused.
    const char *(*key_needs)(const ss_method *method, const char *key);
    // Whether the spec asks for a rule of its own that ends it, which the tolerance has no part in; no
    // function: it does not. Its outcome is SS_CONVERGED where that was met.
    bool (*own_rule)(const ss_method *method);
    // Whether ss_task.threads has an effect; no function: it has none.
    bool (*takes_threads)(const ss_method *method);
    // r [dim ncontacts]: in the start, out the best answer. Missing memory is SS_SYSTEM;
    // the result is filled in every case.
    ss_status (*solve)(const ss_task *task, double *r, ss_result *result, ss_error *e);
} ss_global_solver;

#pragma GCC visibility pop
