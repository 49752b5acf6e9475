// harness/results/trials.h -- the rows of a record as a comparison sees them: problems x solvers at
// one tolerance.
//
// A run to a tighter tolerance also answers a looser one: its history tells the first iteration
// whose error (ss_measures_error) is at most the tolerance. Of several runs of one problem by one
// solver the one with the largest tolerance not above the asked one counts, and of those the last
// that was recorded.
#pragma once

#include "harness/record/record.h"
#include "harness/results/stats.h"

#include <stdbool.h>

// --solvers and --tol of a verb that reads records (harness/cli.h); NULL and NaN by default.
#define SS_OPT_RECORD_SOLVERS                                                                      \
    SS_OPT_TEXT("solvers", "LIST", solvers, "only these: specs as in the record, or names")
#define SS_OPT_RECORD_TOLERANCE                                                                    \
    SS_OPT_REAL("tol", "T", tolerance, 0, 1,                                                       \
                "the largest error that counts as solved; without it the record's")

typedef struct ss_trial {
    const ss_record_row *row; // NULL: not run
    bool met;    // by the solver's own word; what counts where it has a rule of its own
    bool solved; // ss_measures_pass
    // Until the tolerance is reached, or of the whole run if it is not. NaN if the run left no
    // numbers: it crashed, or its problem could not be read.
    double iterations;
    double seconds;       // with the set-up
    double sweep_seconds; // without, except for a run that was killed: its parts are not known
} ss_trial;

// The runs of one solver from one start.
typedef struct ss_solver_trials {
    char label[180];  // the bare spec; with its options or its start where that is ambiguous
    char bare[64];    // the spec without options
    const char *spec; // borrowed from the record, as is start
    const char *start;
    bool approximate;  // its law is not Coulomb's: it stops by its own rule
    bool own_rule;     // its spec asks for one (ss_method_has_own_rule)
    bool gauss_seidel; // its iterations are sweeps of the shared driver
    size_t runs;       // trials that were run
    ss_trial *trials;  // [nproblems] owned
} ss_solver_trials;

typedef struct ss_trials {
    double tolerance;
    bool from_histories;            // some run was made to a tighter tolerance
    size_t nproblems;               // in the order of the record
    const ss_record_row **problems; // [nproblems] a row of each, for its name and size
    size_t nsolvers;           // in the order of [D11] Table 2, others after them, name by name
    ss_solver_trials *solvers; // [nsolvers] owned
} ss_trials;

// tolerance NaN: that of the record, which must hold only one. SS_BAD_INPUT with a sentence where
// the record is empty or has no run to that tolerance. The record must outlive the trials.
ss_status ss_trials_new(const ss_record_rows *record, double tolerance, ss_trials **trials,
                        ss_error *e);
void ss_trials_free(ss_trials *trials);

// Whether some solver has a rule of its own.
bool ss_trials_have_own_rule(const ss_trials *trials);

// Whether all iterations are sweeps of the Gauss-Seidel driver.
bool ss_trials_are_gauss_seidel(const ss_trials *trials);

// Whether a history tells what happened between the start and the answer.
bool ss_history_tells_course(const ss_history *history);

// The place of the first entry of a run's history whose error is at most that; -1 if there is none.
int ss_history_first(const ss_history *history, double tolerance);
double ss_history_seconds(const ss_record_row *row, int k); // with the set-up

// The median of n values, which it sorts; infinities count. NaN for none.
double ss_median(double *values, size_t n);

// ---- Performance profiles (Dolan, More 2002)
//
// On problem p solver s takes the time T(p, s), infinite where it is not solved. Its ratio is
// T(p, s) / min_s T(p, s); its profile at x is the share of problems with a ratio of at most x.

// The ratio on problem p; infinite where the solver did not solve it.
double ss_profile_ratio(const ss_trials *trials, const ss_solver_trials *solver, size_t p);

// Over all problems of the comparison, run or not.
double ss_profile_percent(const ss_trials *trials, const ss_solver_trials *solver, double x);

// ---- What the papers print, to be shown beside what was measured here

// A row of [D11] Table 2: 306 one-step problems of its simulation "Pony", tolerance 1e-6 in the
// paper's internal units (4sides: a relative step of 5e-2), on a Core i7 of 2011.
typedef struct ss_paper_row {
    const char *solver; // as a bare solver spec; NULL ends the list
    double alt_percent; // calls to the fail-safe; NaN for a solver without one
    double fail_percent;
    double over_tol_percent;
    double mean_iterations;
    double mean_ms;
} ss_paper_row;

extern const ss_paper_row ss_paper_table2[]; // in the paper's order

const ss_paper_row *ss_paper_find(const char *solver); // NULL: not in the table

// Returns the rank of a solver in a table: the order of the paper, then duriez06 (which the paper
// leaves out, as it diverged on all of its problems), then all others, with one rank.
int ss_paper_rank(const char *solver);

// A row of [D11] Table 1: its simulations, on a quad core i7 of 2011; T in seconds a step.
typedef struct ss_paper_scene {
    const char *scene; // the scene here that stands for it; NULL ends the list
    const char *name;  // the paper's
    double rods, mu, mu_obstacle;
    double contacts_mean, contacts_max;
    double over_tol_percent, max_error, iterations;
    double gs_seconds, solve_seconds, step_seconds;
    double minutes_a_frame, hours;
} ss_paper_scene;

extern const ss_paper_scene ss_paper_table1[]; // in the paper's order

// ---- What a table or a figure is made of

typedef enum ss_needs {
    SS_NEEDS_RECORD, // the rows of a record
    SS_NEEDS_TRIALS, // a record at a tolerance
    SS_NEEDS_RUNS,   // the statistics of simulations, a file each
} ss_needs;

typedef struct ss_results {
    const char *path; // of the first file, borrowed
    ss_record_rows record;
    ss_trials *trials; // NULL: not needed
    size_t nruns;
    ss_stats *runs; // [nruns]
} ss_results;

// Reads the rows of a record, or its trials at a tolerance. After a failure the caller still frees
// what had been read.
ss_status ss_results_of_record(const char *path, ss_needs needs, double tolerance,
                               ss_results *results, ss_error *e);
ss_status ss_results_of_runs(char *const *paths, size_t count, ss_results *results, ss_error *e);
// Keeps the trials of the solvers in a list (harness/run.h). An element is a spec as in the record,
// or the name of a solver without options, which stands for all of its runs. SS_BAD_INPUT if an
// element matches none.
ss_status ss_results_choose(ss_results *results, const char *solvers, ss_error *e);
void ss_results_free(ss_results *results); // what it holds
// On stderr, if the trials are of several builds of the program: which, and how many of each.
void ss_results_warn(const char *verb, const ss_results *results);

// ---- For tests

// Seconds of iterations until entry k of a run's history, without the set-up. The history, which
// begins with the start, is that of one run of several with somebody listening: it is scaled to the
// sweep_seconds of the row.
double ss_history_sweep_seconds(const ss_record_row *row, int k);
