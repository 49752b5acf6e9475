// harness/run.h -- one problem, one solver, one row: solve, judge, and say what happened.
#pragma once

#include "problems/response.h"
#include "solvers/registry.h"
#include "problems/store/store.h"
#include "harness/cli.h"
#include "harness/record/record.h"
#include "harness/table.h"

// ---- judge

// claim against fact.
//
// An answer is whatever a solver or a file says it is until the velocities that its impulses cause
// have been computed afresh and measured (problems/response.h, problems/coulomb.h). The verdict is
// ss_measures_pass; the sentences say what a reader of fb alone would miss.

typedef struct ss_verdict {
    bool solved;
    double tolerance;
    ss_measures measures;
    double velocity_error; // max |u claimed - u| / V; NaN if no u is claimed
    char detail[400];      // sentences separated by "; ", or ""
} ss_verdict;

// answer->r is not NULL; answer->u may be. claimed: the error (ss_measures_error) that it is said
// to have, NaN if nothing is claimed. u [dim ncontacts] is scratch, and holds the velocities
// afterwards.
ss_verdict ss_judge(ss_response *response, const ss_state *answer, double claimed, double tolerance,
                    double *u);

// ---- specs

// a list of solver specs on one line.
//
// Blanks and ';' separate specs, and so does a ',', unless it belongs to the options of a spec: a
// ':' of that spec is open and the next piece is key=value ("mfb,enum:freeze=on,share=0.1,pac" are
// three). A piece with a ':' before its '=' begins a spec of its own.

typedef struct ss_specs {
    int count;
    char **text;        // [count] owned; without the "gs/" that a local solver's name goes without
    ss_method **method; // [count] owned; no two do the same
} ss_specs;

// Characters of the spec at the beginning of a list, and of what separates it from the next.
size_t ss_spec_length(const char *list);
size_t ss_spec_gap(const char *list);

// A solver that is spelled in two ways is one, under its first spelling, and a remark on stderr
// says so in the name of the verb. SS_BAD_INPUT with a sentence where a spec is wrong or there is
// none.
ss_status ss_specs_split(const char *verb, const char *list, ss_specs *specs, ss_error *e);
void ss_specs_free(ss_specs *specs);

// The value of --tol: numbers from 0 to 1 with commas or blanks between them, each once. Returns
// how many, 0 with a sentence on stderr in the name of the verb where one is wrong or there is
// none.
enum { SS_MOST_TOLERANCES = 16 };
int ss_tolerances_split(const char *verb, const char *list, double tolerances[SS_MOST_TOLERANCES]);

// ---- items

// the problems of files, one after the other, one in memory at a time.
//
//     ss_items it = ss_items_of(verb, count, paths, NULL);
//     for (ss_item item; ss_items_next(&it, &item);) { ... }
//     code = ss_larger_code(code, ss_items_end(&it));

// --problem of a verb (harness/cli.h).
#define SS_OPT_PROBLEM SS_OPT_TEXT("problem", "NAME", problem, "only this one of a collection")

// Borrowed until the next one. A file that cannot be opened is one item without a problem.
typedef struct ss_item {
    const char *file;
    const char *label;   // FILE, or FILE:NAME for a member of a collection
    const char *name;    // in the collection; "" if the file is one problem
    ss_problem *problem; // NULL if it could not be loaded
    const ss_report *report;
    const ss_error *error; // if problem is NULL
} ss_item;

// Problems number k, from 0 and over all files in their order, with k mod count = index; a file
// that cannot be opened counts as one. count 0: all.
typedef struct ss_shard {
    int index, count;
} ss_shard;

typedef struct ss_items {
    const char *verb; // in whose name it complains
    char *const *paths;
    int npaths;
    const char *chosen; // NULL: all problems
    ss_shard shard;     // may be set before the first; the problems of others are not loaded
    int code;           // exit code of what is no item: a chosen name that a file does not contain

    // The present place: problem k - 1 of file path - 1, the one before `number` of all.
    int path, k, end, number;
    ss_reader *reader;
    char *label;
    ss_problem *problem;
    ss_report report;
    ss_error error;
} ss_items;

// Returns the items of `count` files, all borrowed; only the problems called `chosen` if that is
// not NULL.
ss_items ss_items_of(const char *verb, int count, char *const *paths, const char *chosen);
// False after the last.
bool ss_items_next(ss_items *it, ss_item *item);
// Frees everything, wherever the loop ended; returns an exit code.
int ss_items_end(ss_items *it);

// Whether two names lead to one file, there or not yet; a name may be NULL.
bool ss_same_file(const char *a, const char *b);
// Before the problems of `in` (those called `chosen`, if that is not NULL) are written to `out`: if
// that is the same file, nothing else in it may get lost. An exit code, with a sentence.
int ss_items_check_target(const char *verb, const char *in, const char *chosen, const char *out);

// The remarks of a load, or why it failed, on stderr; the exit code that follows from it.
int ss_item_complain(const char *verb, const ss_item *item);

// Options of the verbs that run solvers or judge, with fields of these names in their settings.
#define SS_OPT_SOLVER                                                                              \
    SS_OPT_TEXT("solver", "SPEC", solver,                                                          \
                "[GLOBAL/]LOCAL[+FAILSAFE][:key=value,...] (default mfb+enum)")
#define SS_OPT_TOLERANCE                                                                           \
    SS_OPT_REAL("tol", "T", tolerance, 0, 1,                                                       \
                "the largest error, max(fb, normal/2), that counts as solved")
#define SS_OPT_MAX_ITERATIONS                                                                      \
    SS_OPT_INT("max-iter", "N", max_iterations, 0, 1000000000,                                     \
               "iterations (sweeps of Gauss-Seidel)")
#define SS_OPT_START                                                                               \
    SS_OPT_CHOICE("start", "START", start, ss_start_names, "impulses to start from")

enum { SS_START_ZERO, SS_START_GUESS };
extern const char *const ss_start_names[]; // zero, guess; NULL-terminated

// Result of one run.
typedef struct ss_run {
    ss_state answer;       // r, u and v as the judge computed them, v in global form only; owned
    ss_response *response; // the judge of the problem; owned
    struct ss_team *team;  // who helps it, as many as the task has threads; owned, NULL: nobody
    ss_result result;
    ss_verdict verdict;
    const char *status; // of the row: solved, stopped, max_iter ...; the judge's word
    char detail[600];
} ss_run;

// start: SIZE [dim ncontacts] or NULL for zero. The task's problem, method and limits are set; its
// listener may be.
ss_status ss_run_task(const ss_task *task, const double *start, ss_run *run, ss_error *e);
// The same with the solve in a process of its own (solvers/solve_in_child.h).
ss_status ss_run_contained(const ss_task *task, const double *start, ss_run *run, ss_error *e);
// Judges a task that was solved before, by its answer r and what the solver said.
ss_status ss_run_judged(const ss_task *task, const double *r, const ss_result *result, ss_run *run,
                        ss_error *e);
void ss_run_free(ss_run *run);
// A remark on stderr if --threads was asked for and has no effect on the method.
void ss_run_remark_threads(const char *verb, int threads, const ss_method *method);
// The impulses that `--start guess` means; NULL if the problem holds none.
const double *ss_run_guess(const ss_problem *p);

// Looks for a proof about a task that was not solved (problems/certificate.h), at a bounded cost:
// status becomes no_solution where nothing passes at the tolerance, undecided where the solver says
// so, or impulses would have to be very large, and nothing is proved, and stays otherwise; detail
// [room] says so. It is apart from ss_run_task, so that a caller can keep it out of what it
// measures.
ss_status ss_run_decide(const ss_task *task, const ss_result *result, const char **status,
                        char *detail, size_t room, ss_error *e);

// True if all x [count] are finite, or x is NULL.
bool ss_all_finite(const double *x, size_t count);

// Writes the result of the run into a row, but for the key and the problem, which the caller sets.
void ss_run_describe(const ss_run *run, ss_record_row *row);
