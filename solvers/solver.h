// solvers/solver.h -- what a solver is; read this before writing one.
//
// A local solver answers one contact: u = W r + b with (r, u) in C(mu) (problems/coulomb.h). The
// shared Gauss-Seidel driver and the accelerated methods call it again and again. A global solver
// answers a whole problem. Both get a start in r and leave their answer there. A solver's own error
// is recorded and never decides: the judge computes u afresh.
//
// A solver keeps nothing between two calls: no file-scope state, so that two can run at once. A
// local solver is added by one file in solvers/local that ends with its entry, and one line in
// meson.build. The contract test runs on it automatically. A program that links the library may
// have one of its own: it parses the spec of another solver and sets method->local to its own.
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
    SS_STEPPED,      // it has made its one step; nothing is claimed
    SS_MAX_ITER,
    SS_TIME_LIMIT,
    SS_STALLED,     // at the rounding floor, or steps are too small to change r
    SS_NO_SOLUTION, // the problem has none, and the solver can tell
    SS_NOT_COVERED, // the problem is outside the solver's domain; r is untouched
    SS_INTERRUPTED,
    SS_CRASHED, // it died in a process of its own; the r that it left is judged like any answer
} ss_outcome;

// Returns its word: "converged", "max_iter"; "unknown" for a number that is no outcome.
const char *ss_outcome_name(ss_outcome outcome);

// A converged answer of an exact solver satisfies Coulomb's law. That of an approximate one
// satisfies another law, and the measures say how far it is from Coulomb's.
typedef enum ss_law { SS_EXACT, SS_APPROXIMATE } ss_law;

// The part that is the same for both kinds: name, description and options.
typedef struct ss_card {
    const char *name; // unique, [a-z0-9][a-z0-9-]*; never renamed once results exist
    ss_law law;
    const char *reference; // keys in REFERENCES.md
    const char *about;     // says in some sentences what it does
    const ss_key *keys;    // NULL for none
    const void *defaults;  // settings_size bytes; NULL for none
    size_t settings_size;
    const char *printed; // options that as=printed sets, "key=value,..."; NULL for none
} ss_card;

// Writes "key=low..high, key=choice|choice", the keys of a card, and the options that as=printed
// sets; "" for none. text holds `room` characters.
void ss_card_options(const ss_card *card, char *text, size_t room);

// ---- Local solvers

typedef struct ss_local_goal {
    // Largest |f|_inf of an answer, in m/s, at both scales: the block's own tr(W)/d and the
    // judge's.
    double tolerance;
    double scale; // s of the judge, 1/kg; 0 for the block's own scale alone
    // A number that a solver may keep about W and mu of this contact from visit to visit, 0 at
    // the first visit. NULL if nothing is kept.
    double *memo;
    // If true, f counts at `scale` alone, and Newton's methods iterate in X = scale r instead of
    // tr(W)/d r: this is [D11] with rho = 1/scale, whose iterates depend on the unit of r.
    bool fixed;
    // Largest |FB(s r_N, u_N)|/2 of an answer, in m/s, at the judge's scale; 0 if not asked for.
    // Local solvers may ignore it: if an answer misses it, ss_contact_solve asks them for a smaller
    // |f|_inf.
    double normal;
} ss_local_goal;

typedef struct ss_local_info {
    ss_outcome outcome;
    int iterations;
    double error;    // |f|_inf as ss_local_error measures it; NaN where the solver has not measured
    bool normal_met; // true if goal->normal is known to be met; false claims nothing
} ss_local_info;

struct ss_sweeper;
struct ss_tally;

typedef struct ss_local_solver {
    ss_card card;
    bool one_step; // true if it makes a step towards the answer only: sweeps are many and cheap
    // p has mu > 0, tr W > 0, and all is finite. In the plane the third direction is decoupled
    // (W[8] is the mean of the other two, b[2] = r[2] = 0), so that one code serves both. W may be
    // unsymmetric and singular. r is the start, and becomes the answer; it is untouched for
    // SS_NOT_COVERED, 0 for SS_NO_SOLUTION, and the best iterate otherwise.
    ss_local_info (*solve)(const ss_local *p, const ss_local_goal *goal, const void *settings,
                           double r[3]);
    // A loop of sweeps that has `solve` inlined (solvers/sweep/visits.h); NULL for the common loop.
    void (*visits)(struct ss_sweeper *sweeper, int begin, int end, struct ss_tally *tally);
} ss_local_solver;

// ---- A method, which a spec names

// A spec is "[GLOBAL/]LOCAL[+FAILSAFE][:key=value,...]", or "GLOBAL[:...]" for a solver without
// local ones. as=printed sets many keys as in a paper's experiment; keys that are given override
// it.
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

// Returns whether its local answers obey Coulomb's law: a fail-safe ensures it where the local
// solver does not.
static inline bool ss_method_is_exact(const ss_method *m)
{
    return m->local == NULL || m->failsafe != NULL || m->local->card.law == SS_EXACT;
}

// ---- Global solvers

// The state after an iteration; the listener may look at r and must not keep it.
typedef struct ss_progress {
    int iteration;
    double seconds; // since the start, without the time spent in the listener
    long local_solves;
    long visits;     // visits by sweeps, without contacts at rest; block steps count in this unit
    double estimate; // estimate of ss_measures_error; NaN where the solver has none
    const double *r;
    const char *note; // tells a reader what the solver does; mostly NULL
} ss_progress;

// A time limit counts seconds of the wall's clock, or CPU seconds of the process.
typedef enum ss_clock { SS_CLOCK_WALL, SS_CLOCK_CPU } ss_clock;

typedef struct ss_task {
    const ss_problem *problem; // checked
    const ss_method *method;
    double tolerance;   // largest ss_measures_error
    int max_iterations; // sweeps, or steps of a method without sweeps
    double time_limit;  // s, of the clock below; 0 for none
    ss_clock clock;
    int threads;                              // 0 if not asked for
    const volatile sig_atomic_t *interrupted; // ends the solve when it is not 0; NULL for never
    const volatile sig_atomic_t *recalled;    // the same, set by a solver of which this is a part
    void (*listen)(void *listener, const ss_progress *progress); // NULL for none
    void *listener;
    const int *listen_from; // iterations before this one need not be told; NULL if all are
    // Room for the factor of M, empty or with that of this problem; NULL except for internal
    // callers. A solver uses a factor that is there, and leaves one that it has made, for the judge
    // or another solver.
    struct ss_mass **factor;
} ss_task;

typedef struct ss_result {
    ss_outcome outcome;
    int iterations;
    long local_solves;    // calls of a local solver; contacts at rest have none
    long failsafe_calls;  // calls of the fail-safe of a hybrid
    long failures;        // local solves that ended without an answer
    long unanswered;      // failures in the last iteration
    long frozen;          // visits that were skipped
    double own_error;     // ss_measures_error as the solver knows it; NaN until it has measured
    double seconds;       // all of the time, without the listener
    double cpu_seconds;   // NaN in a part of a solver whose limit is of the wall's clock
    double setup_seconds; // time of W, whitening, factorisation
    double sweep_seconds; // time of the iterations
    char why[160];        // says more about the outcome than its name, in a sentence; or ""
} ss_result;

typedef struct ss_global_solver {
    ss_card card;
    const struct ss_steps *steps; // of ss_drive_solve (solvers/global/drive.h), else NULL
    bool takes_local;             // true if its spec is GLOBAL/LOCAL
    // Returns the option, such as "freeze=on", without which this key of the card has no effect in
    // a method with these solvers and settings, or NULL where it has one. Without this function all
    // keys have an effect. A spec that sets a key without effect is refused.
    const char *(*key_needs)(const ss_method *method, const char *key);
    // Returns whether the spec asks for a rule of its own that ends it whatever the tolerance; its
    // outcome is SS_CONVERGED where that rule was met. Without this function it does not.
    bool (*own_rule)(const ss_method *method);
    // Returns whether ss_task.threads has an effect. Without this function it has none.
    bool (*takes_threads)(const ss_method *method);
    // r [dim ncontacts] is the start, and becomes the best answer. Missing memory is SS_SYSTEM; the
    // result is filled in every case.
    ss_status (*solve)(const ss_task *task, double *r, ss_result *result, ss_error *e);
} ss_global_solver;

#pragma GCC visibility pop
