// The tables of a record.
#include "harness/results/tables.h"

#include "harness/cli.h"
#include "harness/results/trials.h"
#include "harness/table.h"
#include "solvers/registry.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const ss_solver_trials *best(const ss_trials *t, size_t p, size_t offset);

// ---- Footnotes
//
// Under which conditions the numbers of a table were measured, in sentences.

// More files than these are counted instead of named.
#define NAMED_FILES 6

// Appends to a list with commas what fits.
__attribute__((format(printf, 3, 4))) static void append(char *list, size_t room,
                                                         const char *format, ...)
{
    va_list arguments;
    size_t used = strlen(list);
    snprintf(list + used, room - used, "%s", used > 0 ? ", " : "");
    used = strlen(list);
    va_start(arguments, format);
    vsnprintf(list + used, room - used, format, arguments);
    va_end(arguments);
}

// Solvers that tell nothing on the way to their answer, such as those of Siconos.
static void note_whole_runs(ss_table *table, const ss_trials *t)
{
    char names[400] = "";
    for (size_t k = 0; k < t->nsolvers; k++) {
        bool told = true;
        for (size_t p = 0; p < t->nproblems; p++) {
            const ss_trial *trial = &t->solvers[k].trials[p];
            told &= trial->row == NULL || !trial->solved ||
                    ss_history_tells_course(&trial->row->history);
        }
        if (!told) {
            append(names, sizeof names, "%s", t->solvers[k].label);
        }
    }
    if (names[0] != '\0') {
        ss_table_note(table,
                      "Only the final answer was recorded, so that whole runs are counted: %s.",
                      names);
    }
}

// Notes the tolerance of a table.
static void table_note_tolerance(ss_table *table, const ss_trials *t)
{
    char tolerance[32];
    ss_table_number(t->tolerance, 3, tolerance);
    ss_table_note(
        table, "Tolerance: max(fb, normal/2) <= %s, dimensionless, computed afresh by the judge.",
        tolerance);
    if (t->from_histories) {
        ss_table_note(
            table,
            "Runs were made to a tighter tolerance; iterations and times are those "
            "until it was %s first, read from their histories, which keep every iteration "
            "up to the fiftieth and then one in a few percent.",
            tolerance);
        note_whole_runs(table, t);
    }
}

// The name of a row's file, without folder and without the problem of a collection.
static int file_of(const ss_record_row *row, const char **name)
{
    const char *slash = strrchr(row->problem, '/');
    *name = slash != NULL ? slash + 1 : row->problem;
    return (int)strcspn(*name, ":");
}

// "" where it is unknown or several.
static const char *common_scene(const ss_trials *t)
{
    const char *scene = t->problems[0]->scene;
    for (size_t k = 1; k < t->nproblems; k++) {
        scene = strcmp(t->problems[k]->scene, scene) == 0 ? scene : "";
    }
    return scene;
}

// " (1 of them could not be read), of 60 to 200 contacts": one that could not be read has none.
static void describe_sizes(const ss_trials *t, char *text, size_t room)
{
    int unread = 0, smallest = INT_MAX, largest = 0;
    for (size_t k = 0; k < t->nproblems; k++) {
        const int contacts = t->problems[k]->contacts;
        unread += contacts <= 0;
        smallest = contacts > 0 && contacts < smallest ? contacts : smallest;
        largest = contacts > largest ? contacts : largest;
    }
    char not_read[60] = "", range[60] = "";
    if (unread > 0) {
        snprintf(not_read, sizeof not_read, " (%d of them could not be read)", unread);
    }
    if (smallest < largest) {
        snprintf(range, sizeof range, ", of %d to %d contacts", smallest, largest);
    } else if (smallest == largest) {
        snprintf(range, sizeof range, ", of %d contact%s", smallest, ss_plural(smallest));
    }
    const char *scene = common_scene(t);
    snprintf(text, room, "%s%s%s%s", not_read, scene[0] != '\0' ? " of the scene " : "", scene,
             range);
}

static void note_problems(ss_table *table, const ss_trials *t)
{
    char names[400] = "", sizes[300];
    int files = 0;
    for (size_t k = 0; k < t->nproblems; k++) {
        const char *name, *before = "";
        const int length = file_of(t->problems[k], &name);
        const int before_length = k > 0 ? file_of(t->problems[k - 1], &before) : -1;
        if (length != before_length || strncmp(name, before, (size_t)length) != 0) {
            append(names, sizeof names, "%.*s", length, name);
            files++;
        }
    }
    if (files > NAMED_FILES) {
        snprintf(names, sizeof names, "%d files", files);
    }
    describe_sizes(t, sizes, sizeof sizes);
    ss_table_note(table, "Problems: %zu%s, from %s.", t->nproblems, sizes, names);
}

// Whether the options of a spec hold this one.
static bool has_option(const char *spec, const char *option)
{
    const char *options = strchr(spec, ':');
    const char *found = options != NULL ? strstr(options, option) : NULL;
    return found != NULL && strchr(":,.", found[-1]) != NULL &&
           strchr(",", found[strlen(option)]) != NULL;
}

static void note_freezing(ss_table *table, const ss_trials *t)
{
    size_t paper = 0, absolute = 0, off = 0;
    for (size_t k = 0; k < t->nsolvers; k++) {
        const char *spec = t->solvers[k].spec;
        paper += has_option(spec, "freeze=paper");
        const bool printed = has_option(spec, "freeze=absolute") || has_option(spec, "as=printed");
        absolute += printed;
        off += !printed && !has_option(spec, "freeze=paper") && !has_option(spec, "freeze=on");
    }
    if (paper == t->nsolvers) {
        ss_table_note(table, "Contacts are frozen as in [D11] (freeze=paper).");
    } else if (absolute == t->nsolvers) {
        ss_table_note(table, "Contacts are frozen as in [D11], below an absolute epsilon "
                             "(freeze=absolute).");
    } else if (off == t->nsolvers) {
        ss_table_note(table, "No contact is frozen.");
    } else {
        ss_table_note(table, "Contacts are frozen in some solvers only, as their specs say.");
    }
}

// Options that the names in the table leave out.
static void note_options(ss_table *table, const ss_trials *t)
{
    char specs[600] = "";
    const char *first = NULL;
    bool common = true;
    for (size_t k = 0; k < t->nsolvers; k++) {
        const char *options = strchr(t->solvers[k].spec, ':');
        first = k == 0 ? options : first;
        common &= options != NULL && first != NULL && strcmp(options, first) == 0;
        if (options != NULL && strchr(t->solvers[k].label, ':') == NULL) {
            append(specs, sizeof specs, "%s", t->solvers[k].spec);
        }
    }
    if (common && strcmp(first, ":freeze=paper") != 0) {
        ss_table_note(table, "Options of all solvers: %s.", first + 1);
    } else if (!common && specs[0] != '\0') {
        ss_table_note(table, "With their options: %s.", specs);
    }
}

// Why a run has no numbers; in the order of the footnote.
static const char *const SILENT[] = {"crashed", "time_limit", "stopped", "bad_input"};

static void list_silent(const ss_trials *t, const ss_solver_trials *solver, char *list, size_t room)
{
    for (size_t s = 0; s < sizeof SILENT / sizeof SILENT[0]; s++) {
        size_t count = 0;
        for (size_t p = 0; p < t->nproblems; p++) {
            const ss_trial *trial = &solver->trials[p];
            count += trial->row != NULL && isnan(trial->seconds) &&
                     strcmp(trial->row->status, SILENT[s]) == 0;
        }
        if (count > 0) {
            append(list, room, "%s %zu %s", solver->label, count, SILENT[s]);
        }
    }
}

// Solvers that were not run on every problem, and runs without numbers.
static void note_gaps(ss_table *table, const ss_trials *t)
{
    char partial[300] = "", silent[300] = "";
    for (size_t k = 0; k < t->nsolvers; k++) {
        const ss_solver_trials *solver = &t->solvers[k];
        if (solver->runs < t->nproblems) {
            append(partial, sizeof partial, "%s on %zu", solver->label, solver->runs);
        }
        list_silent(t, solver, silent, sizeof silent);
    }
    if (partial[0] != '\0') {
        ss_table_note(table, "Not run on all problems: %s.", partial);
    }
    if (silent[0] != '\0') {
        ss_table_note(table,
                      "Runs without numbers, which count as unsolved and have no part in means: "
                      "%s.",
                      silent);
    }
}

// At which limits runs ended, where these were the same for all.
static void note_limits(ss_table *table, const ss_trials *t)
{
    const ss_record_row *first = NULL;
    for (size_t k = 0; k < t->nsolvers * t->nproblems; k++) {
        const ss_record_row *row = t->solvers[k / t->nproblems].trials[k % t->nproblems].row;
        first = first == NULL ? row : first;
        if (row != NULL && !(row->max_iterations == first->max_iterations &&
                             row->time_limit == first->time_limit)) {
            return;
        }
    }
    ss_table_note(table, "Limits of a run: %d iteration%s, %g CPU second%s.", first->max_iterations,
                  ss_plural(first->max_iterations), first->time_limit,
                  ss_plural(first->time_limit));
}

// How many runs were timed, and on which processor; that of the first row where they differ.
static void note_machine(ss_table *table, const ss_trials *t)
{
    const char *machine = t->problems[0]->machine;
    char best[40] = "";
    int repeats = 0;
    double load = 0.0;
    for (size_t k = 0; k < t->nsolvers * t->nproblems; k++) {
        const ss_record_row *row = t->solvers[k / t->nproblems].trials[k % t->nproblems].row;
        repeats = row != NULL && row->repeats > repeats ? row->repeats : repeats;
        load = row != NULL ? fmax(load, row->load) : load;
    }
    if (repeats > 1) {
        snprintf(best, sizeof best, ", the best of %d runs", repeats);
    }
    if (machine[0] != '\0') {
        ss_table_note(table, "Times: by the wall clock%s, on %s, load up to %.2g.", best, machine,
                      load);
    }
}

static bool same_machine(const ss_record_row *row, const ss_record_row *other)
{
    return strcmp(row->host, other->host) == 0 && strcmp(row->machine, other->machine) == 0;
}

// Runs that do not quite compare: another program, another machine. Ratios of times are taken
// within a problem: they compare if each problem was run on one machine.
static void note_mixture(ss_table *table, const ss_trials *t)
{
    const ss_record_row *first = NULL;
    bool builds = false, machines = false, apart = false;
    for (size_t p = 0; p < t->nproblems; p++) {
        const ss_record_row *of_problem = NULL;
        for (size_t k = 0; k < t->nsolvers; k++) {
            const ss_record_row *row = t->solvers[k].trials[p].row;
            first = first == NULL ? row : first;
            of_problem = of_problem == NULL ? row : of_problem;
            builds |= row != NULL && strcmp(row->build, first->build) != 0;
            machines |= row != NULL && !same_machine(row, first);
            apart |= row != NULL && !same_machine(row, of_problem);
        }
    }
    if (builds || machines) {
        ss_table_note(table, "Runs were made %s%s%s%s.",
                      builds ? "by several builds of the program" : "",
                      builds && machines ? " and " : "", machines ? "on several machines" : "",
                      machines && !apart ? ", each problem on one machine" : "");
    }
}

// The notes that every table of trials has: the tolerance, the problems, freezing, runs without
// numbers.
static void table_conditions(ss_table *table, const ss_trials *trials)
{
    table_note_tolerance(table, trials);
    ss_table_circumstances(table, trials);
}

void ss_table_circumstances(ss_table *table, const ss_trials *trials)
{
    note_problems(table, trials);
    note_limits(table, trials);
    note_freezing(table, trials);
    note_options(table, trials);
    note_machine(table, trials);
    note_mixture(table, trials);
    note_gaps(table, trials);
}

// ---- Numbers of [D11]
//
// What [D11] prints in its tables: the reference beside our rows.

// [D11] Table 2, section 7.3: "Performance comparison of various local solvers on a set of 306
// one-step problems".
const ss_paper_row ss_paper_table2[] = {
    {"4sides", NAN, 0, 0, 575, 6497},         {"duriez08", NAN, 2.45, 50, 267, 4336},
    {"pac", NAN, 0.43, 19.3, 163, 1265},      {"dac", NAN, 0.26, 0.33, 60, 874},
    {"mfb", NAN, 0.13, 4.9, 72, 484},         {"enum", NAN, 0.0005, 1, 67, 1044},
    {"4sides+enum", 38.7, 0.001, 0, 47, 763}, {"duriez08+enum", 51, 0.0007, 0.33, 90, 1447},
    {"pac+enum", 0.1, 1e-5, 0, 62, 543},      {"dac+enum", 0.09, 1e-6, 0, 57, 789},
    {"mfb+enum", 0.07, 1e-6, 0, 41, 312},     {.solver = NULL},
};

// [D11] Table 1, section 7.
const ss_paper_scene ss_paper_table1[] = {
    {"free-a", "Free/A", 1920, 0.3, 0.5, 24659, 46915, 0.056, 0.004, 136, 2.60, 4.06, 7.15, 2.09,
     25},
    {"free-b", "Free/B", 1920, 0.2, 0.3, 28153, 36287, 0.13, 0.037, 160, 5.3, 7.0, 11.1, 3.02, 36},
    {"pony", "Pony", 334, 0.3, 0.5, 9850, 16613, 0.42, 0.003, 301, 4.43, 5.25, 6.2, 2.47, 30},
    {"curly", "Curly", 1920, 0.3, 0.5, 21425, 33578, 0.013, 0.003, 118, 2.26, 3.39, 7.54, 4.15, 49},
    {.scene = NULL},
};

const ss_paper_row *ss_paper_find(const char *solver)
{
    for (const ss_paper_row *row = ss_paper_table2; row->solver != NULL; row++) {
        if (strcmp(row->solver, solver) == 0) {
            return row;
        }
    }
    return NULL;
}

int ss_paper_rank(const char *solver)
{
    const ss_paper_row *row = ss_paper_find(solver);
    if (row != NULL) {
        return (int)(row - ss_paper_table2);
    }
    const int last = (int)(sizeof ss_paper_table2 / sizeof ss_paper_table2[0]) - 1;
    return strcmp(solver, "duriez06") == 0 ? last : last + 1;
}

// ---- Two records side by side
//
// Two records side by side: the runs that both hold, of one problem by one solver from one start.
//
// Times are compared where both runs solved their problem. The ratio is the geometric mean of
// A's time over B's, so that every problem counts the same and changing A and B inverts it.

typedef struct pairing {
    const ss_trials *a, *b;
    size_t *place;            // [a->nproblems] of the same problem in b, or b->nproblems; owned
    const ss_trial *first[2]; // of the runs that both hold; NULL: there is none
} pairing;

// Over the runs that both hold; means and the ratio over those that both solved.
typedef struct sums {
    size_t runs, solved_both, solved[2];
    double iterations[2], seconds[2], log_ratio;
} sums;

static size_t find_problem(const ss_trials *t, const ss_record_row *row)
{
    size_t k = 0;
    while (k < t->nproblems && strcmp(t->problems[k]->problem_sha256, row->problem_sha256) != 0) {
        k++;
    }
    return k;
}

static const ss_solver_trials *find_compared_solver(const ss_trials *t,
                                                    const ss_solver_trials *same)
{
    for (size_t k = 0; k < t->nsolvers; k++) {
        if (strcmp(t->solvers[k].spec, same->spec) == 0 &&
            strcmp(t->solvers[k].start, same->start) == 0) {
            return &t->solvers[k];
        }
    }
    return NULL;
}

// Problem p by one solver; sweeps: without the set-up.
static void add(pairing *pairs, const ss_solver_trials *a, const ss_solver_trials *b, size_t p,
                bool sweeps, sums *s)
{
    const size_t place = pairs->place[p];
    if (b == NULL || place == pairs->b->nproblems || a->trials[p].row == NULL ||
        b->trials[place].row == NULL) {
        return;
    }
    const ss_trial *both[2] = {&a->trials[p], &b->trials[place]};
    if (pairs->first[0] == NULL) {
        memcpy(pairs->first, both, sizeof both);
    }
    s->runs++;
    s->solved[0] += both[0]->solved;
    s->solved[1] += both[1]->solved;
    if (!both[0]->solved || !both[1]->solved) {
        return;
    }
    double seconds[2];
    s->solved_both++;
    for (int k = 0; k < 2; k++) {
        seconds[k] = sweeps ? both[k]->sweep_seconds : both[k]->seconds;
        s->seconds[k] += seconds[k];
        s->iterations[k] += both[k]->iterations;
    }
    s->log_ratio += log(seconds[0] / seconds[1]);
}

static double ratio(const sums *s)
{
    return s->solved_both > 0 ? exp(s->log_ratio / (double)s->solved_both) : NAN;
}

static void add_means(ss_table *table, const double sum[2], double scale, size_t n)
{
    for (int k = 0; k < 2; k++) {
        ss_table_real(table, n > 0 ? scale * sum[k] / (double)n : NAN);
    }
}

static const char RATIO_NOTE[] =
    "Geometric mean of A's time over B's, of the runs that both solved.";

static void list_solvers(pairing *pairs, ss_table *table)
{
    static const ss_column columns[] = {
        {"solver", SS_COLUMN_TEXT, "Solver", 0, NULL},
        {"runs", SS_COLUMN_REAL, "runs", 9, "Problems that both records hold by this solver."},
        {"over_tol_percent", SS_COLUMN_REAL, "%>tol A", 3,
         "Percentage of these above the tolerance."},
        {"other_over_tol_percent", SS_COLUMN_REAL, "B", 3, NULL},
        {"mean_iterations", SS_COLUMN_REAL, "iters A", 3,
         "Means over the problems that both solved."},
        {"other_mean_iterations", SS_COLUMN_REAL, "B", 3, NULL},
        {"mean_ms", SS_COLUMN_REAL, "T (ms) A", 3,
         "Mean time in the iterations, without the set-up, of the same."},
        {"other_mean_ms", SS_COLUMN_REAL, "B", 3, NULL},
        {"time_ratio", SS_COLUMN_REAL, "T A/B", 3, RATIO_NOTE},
        {.key = NULL},
    };
    ss_table_columns(table, columns);
    for (size_t k = 0; k < pairs->a->nsolvers; k++) {
        const ss_solver_trials *a = &pairs->a->solvers[k], *b = find_compared_solver(pairs->b, a);
        sums s = {0};
        for (size_t p = 0; p < pairs->a->nproblems; p++) {
            add(pairs, a, b, p, true, &s);
        }
        if (s.runs > 0) {
            ss_table_text(table, a->label);
            ss_table_real(table, (double)s.runs);
            ss_table_real(table, 100.0 * (double)(s.runs - s.solved[0]) / (double)s.runs);
            ss_table_real(table, 100.0 * (double)(s.runs - s.solved[1]) / (double)s.runs);
            add_means(table, s.iterations, 1.0, s.solved_both);
            add_means(table, s.seconds, 1e3, s.solved_both);
            ss_table_real(table, ratio(&s));
        }
    }
}

static void list_problems(pairing *pairs, ss_table *table)
{
    static const ss_column columns[] = {
        {"problem", SS_COLUMN_TEXT, "problem", 0, NULL},
        {"contacts", SS_COLUMN_REAL, "contacts", 9, NULL},
        {"solvers", SS_COLUMN_REAL, "solvers", 9, "That both records ran on this problem."},
        {"solved", SS_COLUMN_REAL, "solved A", 9, NULL},
        {"other_solved", SS_COLUMN_REAL, "B", 9, NULL},
        {"mean_ms", SS_COLUMN_REAL, "T (ms) A", 3,
         "Mean time of the solve with its set-up, where both solved it."},
        {"other_mean_ms", SS_COLUMN_REAL, "B", 3, NULL},
        {"time_ratio", SS_COLUMN_REAL, "T A/B", 3, RATIO_NOTE},
        {.key = NULL},
    };
    ss_table_columns(table, columns);
    for (size_t p = 0; p < pairs->a->nproblems; p++) {
        sums s = {0};
        for (size_t k = 0; k < pairs->a->nsolvers; k++) {
            const ss_solver_trials *a = &pairs->a->solvers[k];
            add(pairs, a, find_compared_solver(pairs->b, a), p, false, &s);
        }
        if (s.runs > 0) {
            ss_table_text(table, pairs->a->problems[p]->problem);
            ss_table_real(table, pairs->a->problems[p]->contacts);
            ss_table_real(table, (double)s.runs);
            ss_table_real(table, (double)s.solved[0]);
            ss_table_real(table, (double)s.solved[1]);
            add_means(table, s.seconds, 1e3, s.solved_both);
            ss_table_real(table, ratio(&s));
        }
    }
}

static void note(ss_table *table, const pairing *pairs, const ss_table_request *request)
{
    const char *const names[] = {request->results->path, request->other->path};
    table_note_tolerance(table, pairs->a);
    ss_table_note(table, "Compared are the runs that both records hold: one problem by its "
                         "checksum, one solver with its options, one start.");
    for (int k = 0; k < 2; k++) {
        const ss_record_row *row = pairs->first[k]->row;
        ss_table_note(table, "%s: %s, build %s, on %s, load %.2g.", k == 0 ? "A" : "B", names[k],
                      row->build, row->machine[0] != '\0' ? row->machine : "an unknown machine",
                      row->load);
    }
}

static ss_status find_places(pairing *pairs, ss_error *e)
{
    pairs->place = malloc(pairs->a->nproblems * sizeof *pairs->place);
    if (pairs->place == NULL) {
        return ss_fail_memory(e, "the comparison");
    }
    for (size_t p = 0; p < pairs->a->nproblems; p++) {
        pairs->place[p] = find_problem(pairs->b, pairs->a->problems[p]);
    }
    return SS_OK;
}

static bool have_a_run_in_common(pairing *pairs)
{
    sums s = {0};
    for (size_t k = 0; k < pairs->a->nsolvers; k++) {
        const ss_solver_trials *a = &pairs->a->solvers[k], *b = find_compared_solver(pairs->b, a);
        for (size_t p = 0; p < pairs->a->nproblems; p++) {
            add(pairs, a, b, p, true, &s);
        }
    }
    return s.runs > 0;
}

static ss_status compare_records(const ss_table_request *request,
                                 void (*list)(pairing *pairs, ss_table *table), ss_table *table,
                                 ss_error *e)
{
    const ss_results *first = request->results, *second = request->other;
    pairing pairs = {.a = first->trials, .b = second->trials};
    if (!(fabs(pairs.a->tolerance - pairs.b->tolerance) <= 1e-9 * pairs.b->tolerance)) {
        return ss_fail(e, SS_BAD_INPUT,
                       "%s was made to a tolerance of %g and %s to %g; choose one with --tol",
                       first->path, pairs.a->tolerance, second->path, pairs.b->tolerance);
    }
    ss_status status = find_places(&pairs, e);
    if (status == SS_OK && !have_a_run_in_common(&pairs)) {
        status = ss_fail(e, SS_BAD_INPUT, "%s and %s have no run of one problem by one solver",
                         first->path, second->path);
    }
    if (status == SS_OK) {
        pairs.first[0] = NULL; // of the list
        list(&pairs, table);
        note(table, &pairs, request);
    }
    free(pairs.place);
    return status;
}

static ss_status compare_solvers(const ss_table_request *request, ss_table *table, ss_error *e)
{
    return compare_records(request, list_solvers, table, e);
}

static ss_status compare_problems(const ss_table_request *request, ss_table *table, ss_error *e)
{
    return compare_records(request, list_problems, table, e);
}

// ---- Solvers, [D11] Table 2
//
// The table of solvers: Table 2 of [D11], what each local solver needs, and how often it fails.
//
// alt and fail are the paper's "percentage of calls to fail-safe" and "percentage of local
// problems that did not reach tolerance": totals over all problems, not means of percentages. Its
// smallest entries, 1e-6 %, are single failures among all local problems of the set.

enum { SOLVER, ALT, FAIL, OVER, ITERATIONS, MS, NVALUES, OWN = 2 * NVALUES };
#define PAPER (NVALUES - 1) // added to a column of ours: the paper's beside it
#define NMOST (OWN + 1)

static const ss_column SOLVER_COLUMNS[] = {
    [SOLVER] = {"solver", SS_COLUMN_TEXT, "Local solver", 0, NULL},
    [ALT] = {"alt_percent", SS_COLUMN_REAL, "%alt", 3,
             "Percentage of local solves that called the fail-safe."},
    [FAIL] = {"fail_percent", SS_COLUMN_REAL, "%fail", 3,
              "Percentage of local solves that ended above the local tolerance."},
    [OVER] = {"over_tol_percent", SS_COLUMN_REAL, "%>tol", 3,
              "Percentage of problems whose answer is not within the tolerance."},
    [ITERATIONS] = {"mean_iterations", SS_COLUMN_REAL, "iters", 3,
                    "Mean number of Gauss-Seidel iterations, of unsolved problems too."},
    [MS] = {"mean_ms", SS_COLUMN_REAL, "T (ms)", 3,
            "Mean time in the Gauss-Seidel loop, without the assembly of W, of unsolved problems "
            "too."},
    [OWN] = {"own_over_tol_percent", SS_COLUMN_REAL, "%>own", 3,
             "Percentage of problems on which the rule that the spec asks for was not met: [D11]'s "
             "tolerance on |f|^2 (stop=squared), or a relative step."},
    [ALT + PAPER] = {"paper_alt_percent", SS_COLUMN_REAL, "[D11]", 3, NULL},
    [FAIL + PAPER] = {"paper_fail_percent", SS_COLUMN_REAL, "[D11]", 3, NULL},
    [OVER + PAPER] = {"paper_over_tol_percent", SS_COLUMN_REAL, "[D11]", 3, NULL},
    [ITERATIONS + PAPER] = {"paper_mean_iterations", SS_COLUMN_REAL, "[D11]", 4, NULL},
    [MS + PAPER] = {"paper_mean_ms", SS_COLUMN_REAL, "[D11]", 4, NULL},
};

// The same where not all iterations are sweeps.
static const ss_column OTHERS[] = {
    [SOLVER] = {"solver", SS_COLUMN_TEXT, "Solver", 0, NULL},
    [ITERATIONS] = {"mean_iterations", SS_COLUMN_REAL, "iters", 3,
                    "Mean number of iterations, each solver's own, of unsolved problems too."},
    [MS] = {"mean_ms", SS_COLUMN_REAL, "T (ms)", 3,
            "Mean time in the iterations, without the set-up, of unsolved problems too."},
};

static const ss_column *column(const ss_trials *t, int c)
{
    const bool other = c == SOLVER || c == ITERATIONS || c == MS;
    return other && !ss_trials_are_gauss_seidel(t) ? &OTHERS[c] : &SOLVER_COLUMNS[c];
}

// Means over the problems; values[SOLVER] is unused.
static void summarise(const ss_trials *t, const ss_solver_trials *solver, double values[])
{
    double solves = 0.0, alt = 0.0, fail = 0.0, iterations = 0.0, seconds = 0.0;
    size_t over = 0, own = 0, measured = 0;
    for (size_t k = 0; k < t->nproblems; k++) {
        const ss_trial *trial = &solver->trials[k];
        own += trial->row != NULL && !(solver->own_rule ? trial->met : trial->solved);
        over += trial->row != NULL && !trial->solved;
        if (trial->row == NULL || isnan(trial->seconds)) {
            continue;
        }
        const ss_record_row *row = trial->row;
        const double share = row->local_solves > 0 ? (double)row->local_solves / 100.0 : 0.0;
        solves += 100.0 * share;
        alt += share > 0.0 ? share * row->alt_percent : 0.0;
        fail += share > 0.0 ? share * row->fail_percent : 0.0;
        iterations += trial->iterations;
        seconds += trial->sweep_seconds;
        measured++;
    }
    const double n = (double)measured;
    values[ALT] = strchr(solver->bare, '+') != NULL ? 100.0 * alt / solves : NAN;
    values[FAIL] = 100.0 * fail / solves; // NaN where no contact was ever solved
    values[OVER] = 100.0 * (double)over / (double)solver->runs;
    values[OWN] = 100.0 * (double)own / (double)solver->runs;
    values[ITERATIONS] = iterations / n;
    values[MS] = 1000.0 * seconds / n;
}

static void add_table2_of_paper(const ss_solver_trials *solver, double values[])
{
    const ss_paper_row *row = ss_paper_find(solver->bare);
    values[ALT + PAPER] = row != NULL ? row->alt_percent : NAN;
    values[FAIL + PAPER] = row != NULL ? row->fail_percent : NAN;
    values[OVER + PAPER] = row != NULL ? row->over_tol_percent : NAN;
    values[ITERATIONS + PAPER] = row != NULL ? row->mean_iterations : NAN;
    values[MS + PAPER] = row != NULL ? row->mean_ms : NAN;
}

// Chooses the columns and their order; returns how many there are. If solvers have rules of their
// own, that column is the one that the paper has.
static size_t order_columns(bool paper, bool own, bool for_programs, int order[])
{
    const bool beside = paper && !for_programs;
    size_t n = 0;
    order[n++] = SOLVER;
    for (int c = ALT; c < NVALUES; c++) {
        if (c == OVER && own && !for_programs) {
            order[n++] = OWN;
            if (beside) {
                order[n++] = OVER + PAPER;
            }
        }
        order[n++] = c;
        if (beside && !(c == OVER && own)) {
            order[n++] = c + PAPER;
        }
    }
    if (own && for_programs) {
        order[n++] = OWN;
    }
    for (int c = ALT; paper && for_programs && c < NVALUES; c++) {
        order[n++] = c + PAPER;
    }
    return n;
}

// The judge measures approximate solvers by a law they do not solve; what they believe of
// themselves is said beside.
static void note_own_rule(ss_table *table, const ss_trials *t)
{
    char shares[300] = "";
    for (size_t k = 0; k < t->nsolvers; k++) {
        const ss_solver_trials *solver = &t->solvers[k];
        size_t stopped = 0;
        for (size_t p = 0; p < t->nproblems; p++) {
            const ss_record_row *row = solver->trials[p].row;
            stopped += row != NULL &&
                       (strcmp(row->status, "stopped") == 0 || strcmp(row->status, "solved") == 0);
        }
        const size_t used = strlen(shares);
        if (solver->approximate && used < sizeof shares) {
            snprintf(shares + used, sizeof shares - used, "%s%s on %.3g %%", used > 0 ? ", " : "",
                     solver->label, 100.0 * (double)stopped / (double)solver->runs);
        }
    }
    if (shares[0] != '\0') {
        ss_table_note(table,
                      "Solvers of another law than Coulomb's are judged by Coulomb's like the "
                      "others; [D11] measures 4sides by its own step. By their own rule (relative "
                      "step <= 5e-2 unless the spec says otherwise) they stopped: %s of the "
                      "problems.",
                      shares);
    }
}

static const char *printed_of(const char *local)
{
    return ss_local_find(local)->card.printed;
}

// Notes what as=printed sets, and which part of that the paper does not state.
static void note_printed(ss_table *table, const ss_trials *t)
{
    for (size_t k = 0; k < t->nsolvers; k++) {
        if (strstr(t->solvers[k].spec, "as=printed") == NULL) {
            return;
        }
    }
    const char *gs = ss_global_find("gs")->card.printed;
    ss_table_note(table,
                  "as=printed is gs:%s, mfb, pac and dac:%s, duriez08:%s, 4sides:%s, unless a spec "
                  "says otherwise; 'stickslip solvers gs' explains the options.",
                  gs, printed_of("mfb"), printed_of("duriez08"), printed_of("4sides"));
    ss_table_note(
        table,
        "Not stated in [D11], and chosen here after results had been seen: how many hairs a "
        "strand stands for (%.3g: 1 g over rho), which with the number of Newton steps "
        "alone decides how often mfb fails; that number; the passes of duriez08; the "
        "epsilons and sweeps of freezing; the limit of sweeps, for which the means of its "
        "pac, mfb and duriez08 imply 585, 674 and 444.",
        1e-3 / strtod(strstr(gs, "rho=") + 4, NULL));
    ss_table_note(table,
                  "4sides ends on its relative step, at which mfb+enum takes as many sweeps as "
                  "by its residual (footnote 5 of [D11]); its answers obey another law.");
}

static void note_table2_of_paper(ss_table *table)
{
    ss_table_note(
        table, "[D11]: Daviet, Bertails-Descoubes, Boissieux 2011, Table 2: 306 problems of "
               "its simulation Pony, whose steps have 9850 contacts on average, on a Core "
               "i7. It leaves out duriez06, which diverged. Its tolerance 1e-6 is in its internal "
               "units and means a relative error of 1e-3 to 1e-4 (its footnote 4). Compare the "
               "order of the solvers; the problems and the machine are others.");
}

static ss_status table_of_solvers(const ss_table_request *request, ss_table *table, ss_error *e)
{
    (void)e;
    const ss_trials *t = request->results->trials;
    const bool own = ss_trials_have_own_rule(t);
    int order[NMOST];
    const size_t ncolumns = order_columns(request->paper, own, request->for_programs, order);
    for (size_t c = 0; c < ncolumns; c++) {
        ss_table_column(table, column(t, order[c]));
    }
    for (size_t k = 0; k < t->nsolvers; k++) {
        double values[NMOST];
        summarise(t, &t->solvers[k], values);
        add_table2_of_paper(&t->solvers[k], values);
        ss_table_text(table, t->solvers[k].label);
        for (size_t c = 1; c < ncolumns; c++) {
            ss_table_real(table, values[order[c]]);
        }
    }
    table_conditions(table, t);
    if (t->from_histories) {
        ss_table_note(table, "%%alt and %%fail are those of the whole runs.");
    }
    if (!own) {
        note_own_rule(table, t);
    }
    if (own && request->paper) {
        note_printed(table, t);
    }
    if (request->paper) {
        note_table2_of_paper(table);
    }
    return SS_OK;
}

// ---- Simulations, [D11] Table 1
//
// Table 1 of [D11]: what the one-step problems of a simulation are like and what its steps cost.

// The paper's frame.
#define FRAME_SECONDS (1.0 / 25.0)

static const ss_column SIMULATION_COLUMNS[] = {
    {"scene", SS_COLUMN_TEXT, "Scene", 0, NULL},
    {"rods", SS_COLUMN_REAL, "Rods", 5, NULL},
    {"mu", SS_COLUMN_REAL, "mu", 3, NULL},
    {"mu_obstacle", SS_COLUMN_REAL, "mu obst.", 3, NULL},
    {"contacts_mean", SS_COLUMN_REAL, "Contacts", 5, "Mean over the steps."},
    {"contacts_max", SS_COLUMN_REAL, "max", 6, NULL},
    {"over_tol_percent", SS_COLUMN_REAL, "%>tol", 3,
     "Percentage of one-step problems whose answer is not within the tolerance."},
    {"max_error", SS_COLUMN_REAL, "max err", 2,
     "The largest residual of a step in the measure and the units of [D11]: fb_abs, cm/s."},
    {"mean_iterations", SS_COLUMN_REAL, "iters", 4, "Mean over the steps with contacts."},
    {"gs_seconds", SS_COLUMN_REAL, "T_GS (s)", 3,
     "Iterations alone; T_solv with their set-up, of which W is the most; T_dt the whole step; "
     "means over the steps (the first two over those with contacts)."},
    {"solve_seconds", SS_COLUMN_REAL, "T_solv (s)", 3, NULL},
    {"step_seconds", SS_COLUMN_REAL, "T_dt (s)", 3, NULL},
    {"minutes_a_frame", SS_COLUMN_REAL, "min/frame", 3, "Of 1/25 s of simulated time."},
    {"hours", SS_COLUMN_REAL, "total (h)", 3, NULL},
    {.key = NULL},
};

static void add_run(ss_table *table, const ss_stats *stats, ss_stats_totals *totals)
{
    const ss_stats_run *run = &stats->run;
    *totals = (ss_stats_totals){0};
    for (size_t k = 0; k < stats->count; k++) {
        ss_stats_total(totals, &stats->rows[k]);
    }
    const double steps = totals->steps, solved = totals->solved_steps; // x / 0.0: missing
    const double frames = totals->time / FRAME_SECONDS;
    const double values[] = {run->rods,
                             run->mu,
                             run->mu_obstacle,
                             totals->contacts / steps,
                             totals->contacts_max,
                             100.0 * totals->over / solved,
                             totals->fb_abs_max,
                             totals->iterations / solved,
                             totals->gs_seconds / solved,
                             totals->solve_seconds / solved,
                             totals->step_seconds / steps,
                             totals->step_seconds / 60.0 / frames,
                             totals->step_seconds / 3600.0};
    ss_table_text(table, run->scene);
    ss_table_reals(table, values, sizeof values / sizeof values[0]);
}

static void add_table1_of_paper(ss_table *table, const char *scene)
{
    for (const ss_paper_scene *p = ss_paper_table1; p->scene != NULL; p++) {
        if (strcmp(p->scene, scene) == 0) {
            const double values[] = {p->rods,          p->mu,           p->mu_obstacle,
                                     p->contacts_mean, p->contacts_max, p->over_tol_percent,
                                     p->max_error,     p->iterations,   p->gs_seconds,
                                     p->solve_seconds, p->step_seconds, p->minutes_a_frame,
                                     p->hours};
            char name[64];
            snprintf(name, sizeof name, "[D11] %s", p->name);
            ss_table_text(table, name);
            ss_table_reals(table, values, sizeof values / sizeof values[0]);
        }
    }
}

// Describes one run in a sentence of its own.
static void note_run(ss_table *table, const ss_stats *stats, const ss_stats_totals *totals)
{
    char tol[32], time[32], step[32], overlap[32];
    ss_table_number(1e6 * totals->penetration_max, 3, overlap);
    ss_table_number(stats->run.tol, 3, tol);
    ss_table_number(totals->time, 3, time);
    ss_table_number(1e3 * totals->time / totals->steps, 3, step);
    ss_table_note(
        table,
        "%s: %d steps of %s ms on average (%s s), %d tries were rejected; %s, solver %s, "
        "tolerance %s; collision detection took %.1f %% of the time, %.1f %% of the contacts "
        "were known from the step before; the deepest overlap at the end of a step: %s um.",
        stats->run.scene, totals->steps, step, time, totals->rejected, stats->run.model,
        stats->run.solver, tol, 100.0 * totals->collide_seconds / totals->step_seconds,
        totals->contacts > 0.0 ? 100.0 * totals->hits / totals->contacts : 0.0, overlap);
}

static void note_table1_of_paper(ss_table *table)
{
    ss_table_note(table,
                  "[D11]: Daviet, Bertails-Descoubes, Boissieux 2011, Table 1, on a quad core i7; "
                  "its tolerance 1e-6 is in its internal units and stands for a relative error of "
                  "1e-3 to 1e-4 (its footnote 4).");
}

static ss_status table_of_simulations(const ss_table_request *request, ss_table *table, ss_error *e)
{
    (void)e;
    const ss_results *all = request->results;
    ss_table_columns(table, SIMULATION_COLUMNS);
    for (size_t k = 0; k < all->nruns; k++) {
        ss_stats_totals totals;
        add_run(table, &all->runs[k], &totals);
        note_run(table, &all->runs[k], &totals);
        if (request->paper) {
            add_table1_of_paper(table, all->runs[k].run.scene);
        }
    }
    if (request->paper) {
        note_table1_of_paper(table);
    }
    return SS_OK;
}

// ---- The tables

// -- problems, and local: a row a problem, and a row a local solver

// The solver with the smallest value among those that solved problem p; NULL if none did.
static const ss_solver_trials *best(const ss_trials *t, size_t p, size_t offset)
{
    const ss_solver_trials *winner = NULL;
    double smallest = INFINITY;
    for (size_t k = 0; k < t->nsolvers; k++) {
        const ss_trial *trial = &t->solvers[k].trials[p];
        double value;
        memcpy(&value, (const char *)trial + offset, sizeof value);
        if (trial->solved && value < smallest) {
            smallest = value;
            winner = &t->solvers[k];
        }
    }
    return winner;
}

static void add_problem(ss_table *table, const ss_trials *t, size_t p)
{
    size_t run = 0, solved = 0;
    for (size_t k = 0; k < t->nsolvers; k++) {
        run += t->solvers[k].trials[p].row != NULL;
        solved += t->solvers[k].trials[p].solved;
    }
    const ss_solver_trials *fastest = best(t, p, offsetof(ss_trial, seconds));
    const ss_solver_trials *fewest = best(t, p, offsetof(ss_trial, iterations));
    ss_table_text(table, t->problems[p]->problem);
    ss_table_real(table, t->problems[p]->contacts);
    ss_table_real(table, (double)run);
    ss_table_real(table, (double)solved);
    ss_table_text(table, fastest != NULL ? fastest->label : NULL);
    ss_table_real(table, fastest != NULL ? 1000.0 * fastest->trials[p].seconds : NAN);
    ss_table_text(table, fewest != NULL ? fewest->label : NULL);
    ss_table_real(table, fewest != NULL ? fewest->trials[p].iterations : NAN);
}

static ss_status make_problems(const ss_table_request *request, ss_table *table, ss_error *e)
{
    (void)e;
    static const ss_column columns[] = {
        {"problem", SS_COLUMN_TEXT, "problem", 0, NULL},
        {"contacts", SS_COLUMN_REAL, "contacts", 9, NULL},
        {"solvers", SS_COLUMN_REAL, "solvers", 9, NULL},
        {"solved", SS_COLUMN_REAL, "solved", 9, "Solvers that reached the tolerance."},
        {"fastest", SS_COLUMN_TEXT, "fastest", 0, "Of the solvers that reached the tolerance."},
        {"fastest_ms", SS_COLUMN_REAL, "ms", 3, "The solve with its set-up."},
        {"fewest", SS_COLUMN_TEXT, "fewest iterations", 0, NULL},
        {"fewest_iterations", SS_COLUMN_REAL, "iters", 9, NULL},
        {.key = NULL},
    };
    const ss_trials *t = request->results->trials;
    ss_table_columns(table, columns);
    for (size_t p = 0; p < t->nproblems; p++) {
        add_problem(table, t, p);
    }
    table_conditions(table, t);
    return SS_OK;
}

static void add_local(ss_table *table, const ss_trials *t, const ss_solver_trials *solver)
{
    double solves = 0.0, alt = 0.0, fail = 0.0, seconds = 0.0;
    for (size_t p = 0; p < t->nproblems; p++) {
        const ss_trial *trial = &solver->trials[p];
        if (trial->row != NULL && !isnan(trial->seconds) && trial->row->local_solves > 0) {
            const double count = (double)trial->row->local_solves;
            solves += count;
            alt += count * trial->row->alt_percent / 100.0;
            fail += count * trial->row->fail_percent / 100.0;
            seconds += trial->row->sweep_seconds;
        }
    }
    const bool hybrid = strchr(solver->bare, '+') != NULL;
    ss_table_text(table, solver->label);
    ss_table_real(table, solves);
    ss_table_real(table, hybrid ? 100.0 * alt / solves : NAN);
    ss_table_real(table, 100.0 * fail / solves);
    ss_table_real(table, 1e9 * seconds / solves);
}

static ss_status make_local(const ss_table_request *request, ss_table *table, ss_error *e)
{
    (void)e;
    static const ss_column columns[] = {
        {"solver", SS_COLUMN_TEXT, "Local solver", 0, NULL},
        {"local_solves", SS_COLUMN_REAL, "local solves", 9, "Over all problems and whole runs."},
        {"alt_percent", SS_COLUMN_REAL, "%alt", 3,
         "Percentage of local solves that called the fail-safe."},
        {"fail_percent", SS_COLUMN_REAL, "%fail", 3,
         "Percentage of local solves that ended above the local tolerance."},
        {"ns_per_solve", SS_COLUMN_REAL, "ns", 3,
         "Time of the sweeps over local solves: the coupling of the contacts is in it, and the "
         "passing of those at rest."},
        {.key = NULL},
    };
    const ss_trials *t = request->results->trials;
    ss_table_columns(table, columns);
    for (size_t k = 0; k < t->nsolvers; k++) {
        add_local(table, t, &t->solvers[k]);
    }
    table_conditions(table, t);
    return SS_OK;
}

// -- profile: the share of problems that a solver solves within a factor of the time of whoever
// was fastest on that problem (Dolan, More 2002)

static ss_status make_profile(const ss_table_request *request, ss_table *table, ss_error *e)
{
    (void)e;
    static const double factors[] = {1.2, 2, 5, 10, 100};
    static const ss_column columns[] = {
        {"solver", SS_COLUMN_TEXT, "Solver", 0, NULL},
        {"within_1.2_percent", SS_COLUMN_REAL, "<= 1.2", 3,
         "Percentage of problems solved within this factor of the time of the fastest solver of "
         "each problem. Time is the solve with its set-up."},
        {"within_2_percent", SS_COLUMN_REAL, "<= 2", 3, NULL},
        {"within_5_percent", SS_COLUMN_REAL, "<= 5", 3, NULL},
        {"within_10_percent", SS_COLUMN_REAL, "<= 10", 3, NULL},
        {"within_100_percent", SS_COLUMN_REAL, "<= 100", 3, NULL},
        {.key = NULL},
    };
    const ss_trials *t = request->results->trials;
    ss_table_columns(table, columns);
    for (size_t k = 0; k < t->nsolvers; k++) {
        ss_table_text(table, t->solvers[k].label);
        for (size_t f = 0; f < sizeof factors / sizeof factors[0]; f++) {
            ss_table_real(table, ss_profile_percent(t, &t->solvers[k], factors[f]));
        }
    }
    table_conditions(table, t);
    return SS_OK;
}

// -- ratio: how many times as fast as one of them the solvers of a record are
//
// The ratio of a problem is the time of the reference over that of the solver, where both solved
// it: the geometric mean over the problems counts each the same, and swapping the two inverts it.
// What only one of them solves has no ratio and is counted beside. The ceiling is what the ratio
// would be if the solver took its set-up alone: on easy problems no way to solve can bring much.

#define BEST_OF_PAPER "mfb+enum"

typedef struct ratios {
    size_t solved, both, alone, lost;
    double log_ratio, log_ceiling, least, most;
    size_t with_setup; // of both: those whose set-up has a time
} ratios;

static const ss_solver_trials *find_table_solver(const ss_trials *t, const char *reference)
{
    reference = ss_spec_bare(reference);
    for (size_t k = 0; k < t->nsolvers; k++) {
        const ss_solver_trials *solver = &t->solvers[k];
        if (strcmp(solver->label, reference) == 0 || strcmp(solver->spec, reference) == 0) {
            return solver;
        }
    }
    return NULL;
}

static void add_ceiling(ratios *s, const ss_trial *own, double seconds)
{
    const double setup = own->row->setup_seconds;
    if (setup > 0.0) {
        s->with_setup++;
        s->log_ceiling += log(seconds / setup);
    }
}

static ratios compare_names(const ss_trials *t, const ss_solver_trials *solver,
                            const ss_solver_trials *reference)
{
    ratios s = {.least = INFINITY, .most = -INFINITY};
    for (size_t p = 0; p < t->nproblems; p++) {
        const ss_trial *own = &solver->trials[p], *other = &reference->trials[p];
        s.solved += own->solved;
        s.alone += own->solved && !other->solved;
        s.lost += !own->solved && other->solved;
        if (own->solved && other->solved && own->seconds > 0.0 && other->seconds > 0.0) {
            const double ratio = other->seconds / own->seconds;
            s.both++;
            s.log_ratio += log(ratio);
            s.least = fmin(s.least, ratio);
            s.most = fmax(s.most, ratio);
            add_ceiling(&s, own, other->seconds);
        }
    }
    return s;
}

static void add_ratio(ss_table *table, const ss_trials *t, const ss_solver_trials *solver,
                      const ratios *s)
{
    const bool any = s->both > 0;
    ss_table_text(table, solver->label);
    ss_table_real(table, 100.0 * (double)s->solved / (double)t->nproblems);
    ss_table_real(table, (double)s->both);
    ss_table_real(table, any ? exp(s->log_ratio / (double)s->both) : NAN);
    ss_table_real(table, any ? s->least : NAN);
    ss_table_real(table, any ? s->most : NAN);
    ss_table_real(table, (double)s->alone);
    ss_table_real(table, (double)s->lost);
    ss_table_real(table, s->with_setup > 0 ? exp(s->log_ceiling / (double)s->with_setup) : NAN);
}

// The fastest solver of each problem in the place of one solver: NaN where no problem was solved.
static double find_best_ratio(const ss_trials *t, const ss_solver_trials *reference)
{
    double log_ratio = 0.0;
    size_t count = 0;
    for (size_t p = 0; p < t->nproblems; p++) {
        double least = INFINITY;
        for (size_t k = 0; k < t->nsolvers; k++) {
            const ss_trial *trial = &t->solvers[k].trials[p];
            least = trial->solved && trial->seconds > 0.0 ? fmin(least, trial->seconds) : least;
        }
        const ss_trial *other = &reference->trials[p];
        if (other->solved && isfinite(least)) {
            log_ratio += log(other->seconds / least);
            count++;
        }
    }
    return count > 0 ? exp(log_ratio / (double)count) : NAN;
}

static ss_status make_ratio(const ss_table_request *request, ss_table *table, ss_error *e)
{
    static const ss_column columns[] = {
        {"solver", SS_COLUMN_TEXT, "Solver", 0, NULL},
        {"solved_percent", SS_COLUMN_REAL, "%solved", 3, "Percentage of all problems, run or not."},
        {"both", SS_COLUMN_REAL, "both", 9,
         "Problems that the solver and the reference both solved."},
        {"ratio", SS_COLUMN_REAL, "ratio", 3,
         "Geometric mean over these of the reference's time over the solver's: above 1 the solver "
         "is faster. Time is the solve with its set-up."},
        {"least_ratio", SS_COLUMN_REAL, "worst", 3, "The least and the largest of these ratios."},
        {"most_ratio", SS_COLUMN_REAL, "best", 3, NULL},
        {"alone", SS_COLUMN_REAL, "alone", 9,
         "Problems that the solver solved and the reference did not."},
        {"lost", SS_COLUMN_REAL, "lost", 9,
         "Problems that the reference solved and the solver did not."},
        {"ceiling_ratio", SS_COLUMN_REAL, "ceiling", 3,
         "The ratio if the solver took its set-up alone: the most that a faster way to solve can "
         "bring."},
        {.key = NULL},
    };
    const ss_trials *t = request->results->trials;
    const char *reference = request->against != NULL ? request->against : BEST_OF_PAPER;
    const ss_solver_trials *against = find_table_solver(t, reference);
    if (against == NULL) {
        return ss_fail(e, SS_BAD_INPUT,
                       "the record has no runs of '%s' to this tolerance to compare with: name one "
                       "of its solvers with --against",
                       reference);
    }
    ss_table_columns(table, columns);
    for (size_t k = 0; k < t->nsolvers; k++) {
        const ratios s = compare_names(t, &t->solvers[k], against);
        add_ratio(table, t, &t->solvers[k], &s);
    }
    ss_table_note(table, "The reference is %s.", against->label);
    ss_table_note(table, "The fastest solver of each problem together would have the ratio %.3g.",
                  find_best_ratio(t, against));
    table_conditions(table, t);
    return SS_OK;
}

// -- rows: the record as it is

static ss_status make_rows(const ss_table_request *request, ss_table *table, ss_error *e)
{
    (void)e;
    const ss_record_rows *record = &request->results->record;
    ss_table_fields(table, ss_record_fields);
    for (size_t k = 0; k < record->count; k++) {
        ss_table_row(table, &record->rows[k]);
    }
    return SS_OK;
}

// -- The registry

const ss_table_kind ss_table_kinds[] = {
    {.name = "solvers",
     .needs = SS_NEEDS_TRIALS,
     .takes_paper = true,
     .make = table_of_solvers,
     .compare = compare_solvers},
    {.name = "problems",
     .needs = SS_NEEDS_TRIALS,
     .make = make_problems,
     .compare = compare_problems},
    {.name = "profile", .needs = SS_NEEDS_TRIALS, .make = make_profile},
    {.name = "local", .needs = SS_NEEDS_TRIALS, .make = make_local},
    {.name = "ratio", .needs = SS_NEEDS_TRIALS, .takes_against = true, .make = make_ratio},
    {.name = "rows", .needs = SS_NEEDS_RECORD, .make = make_rows},
    {.name = "simulation",
     .needs = SS_NEEDS_RUNS,
     .takes_paper = true,
     .make = table_of_simulations},
    {.name = NULL},
};
