
#include "harness/results/trials.h"

#include "harness/cli.h"
#include "harness/record/record.h"
#include "harness/run.h"
#include "harness/results/stats.h"
#include "solvers/registry.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Trials

// Tolerances that differ by less are one: they were typed, not computed.
#define SAME_TOLERANCE 1e-9

static bool same_tolerance(double a, double b)
{
    return fabs(a - b) <= SAME_TOLERANCE * fabs(b);
}

// Returns what tells problems apart: the checksum, or the name of a problem that could not be read.
static const char *identity(const ss_record_row *row)
{
    return row->problem_sha256[0] != '\0' ? row->problem_sha256 : row->problem;
}

// -- Which runs

static ss_status find_tolerance(const ss_record_rows *record, double *tolerance, ss_error *e)
{
    for (size_t k = 0; k < record->count; k++) {
        const double t = record->rows[k].tolerance;
        if (k > 0 && !same_tolerance(t, *tolerance)) {
            return ss_fail(e, SS_BAD_INPUT,
                           "the record holds runs to several tolerances (%g and %g among them); "
                           "choose one with --tol",
                           *tolerance, t);
        }
        *tolerance = t;
    }
    return SS_OK;
}

static bool counts(const ss_record_row *row, double tolerance)
{
    return row->tolerance <= tolerance || same_tolerance(row->tolerance, tolerance);
}

static ss_solver_trials *find_solver(const ss_trials *t, const ss_record_row *row)
{
    for (size_t k = 0; k < t->nsolvers; k++) {
        ss_solver_trials *solver = &t->solvers[k];
        if (strcmp(solver->spec, row->solver) == 0 && strcmp(solver->start, row->start) == 0) {
            return solver;
        }
    }
    return NULL;
}

static size_t find_problem(const ss_trials *t, const ss_record_row *row)
{
    size_t k = 0;
    while (k < t->nproblems && strcmp(identity(t->problems[k]), identity(row)) != 0) {
        k++;
    }
    return k;
}

static ss_status name_solver(ss_solver_trials *solver, ss_error *e)
{
    snprintf(solver->bare, sizeof solver->bare, "%.*s", (int)strcspn(solver->spec, ":"),
             solver->spec);
    // A solver that this build does not have is taken for an exact one.
    ss_method *method = NULL;
    const ss_status status = ss_method_parse(solver->spec, &method, e);
    if (status == SS_OK) {
        solver->approximate = !ss_method_is_exact(method);
        solver->own_rule = ss_method_has_own_rule(method);
        solver->gauss_seidel = strcmp(method->global->card.name, "gs") == 0;
    }
    ss_method_free(method);
    return status == SS_SYSTEM ? status : SS_OK;
}

// Lists the problems and the solvers of all rows that count.
static ss_status list(ss_trials *t, const ss_record_rows *record, ss_error *e)
{
    ss_status status = SS_OK;
    for (size_t k = 0; status == SS_OK && k < record->count; k++) {
        const ss_record_row *row = &record->rows[k];
        if (!counts(row, t->tolerance)) {
            continue;
        }
        if (find_problem(t, row) == t->nproblems) {
            t->problems[t->nproblems++] = row;
        }
        if (find_solver(t, row) == NULL) {
            ss_solver_trials *solver = &t->solvers[t->nsolvers++];
            *solver = (ss_solver_trials){.spec = row->solver, .start = row->start};
            status = name_solver(solver, e);
        }
    }
    return status;
}

static void label_solvers(ss_trials *t)
{
    for (size_t k = 0; k < t->nsolvers; k++) {
        ss_solver_trials *a = &t->solvers[k];
        bool same_name = false, same_spec = false;
        for (size_t j = 0; j < t->nsolvers; j++) {
            const ss_solver_trials *b = &t->solvers[j];
            same_name |= j != k && strcmp(a->bare, b->bare) == 0 && strcmp(a->spec, b->spec) != 0;
            same_spec |= j != k && strcmp(a->spec, b->spec) == 0;
        }
        snprintf(a->label, sizeof a->label, "%s%s%s", same_name ? a->spec : a->bare,
                 same_spec ? " from " : "", same_spec ? a->start : "");
    }
}

// Whether solver j comes after `moving`: by the paper's order, and where that has neither, those of
// one name stand together: runs at the same time are recorded in any order.
static bool comes_after(const ss_trials *t, size_t j, const ss_solver_trials *moving)
{
    const int rank = ss_paper_rank(t->solvers[j].bare), other = ss_paper_rank(moving->bare);
    bool named_before = false;
    for (size_t k = 0; k < j; k++) {
        named_before |= strcmp(t->solvers[k].bare, moving->bare) == 0;
    }
    return rank > other ||
           (rank == other && named_before && strcmp(t->solvers[j].bare, moving->bare) != 0);
}

// Insertion, because equals must keep their order.
static void sort_solvers(ss_trials *t)
{
    for (size_t k = 1; k < t->nsolvers; k++) {
        const ss_solver_trials moving = t->solvers[k];
        size_t j = k;
        for (; j > 0 && comes_after(t, j - 1, &moving); j--) {
            t->solvers[j] = t->solvers[j - 1];
        }
        t->solvers[j] = moving;
    }
}

// -- What they say

int ss_history_first(const ss_history *history, double tolerance)
{
    for (int k = 0; k < history->count; k++) {
        if (ss_history_error(history, k) <= tolerance) {
            return k;
        }
    }
    return -1;
}

double ss_history_sweep_seconds(const ss_record_row *row, int k)
{
    const ss_history *h = &row->history;
    const double whole = h->seconds[h->count - 1] - h->seconds[0];
    const double part = h->seconds[k] - h->seconds[0];
    if (!isfinite(row->sweep_seconds)) {
        return part;
    }
    return whole > 0.0 ? row->sweep_seconds * part / whole : 0.0;
}

double ss_history_seconds(const ss_record_row *row, int k)
{
    const double setup =
        isfinite(row->setup_seconds) ? row->setup_seconds : row->history.seconds[0];
    return setup + ss_history_sweep_seconds(row, k);
}

bool ss_history_tells_course(const ss_history *history)
{
    return history->count > 2 || (history->count == 2 && history->iteration[1] <= 1);
}

bool ss_trials_have_own_rule(const ss_trials *t)
{
    size_t k = 0;
    while (k < t->nsolvers && !t->solvers[k].own_rule) {
        k++;
    }
    return k < t->nsolvers;
}

bool ss_trials_are_gauss_seidel(const ss_trials *t)
{
    size_t k = 0;
    while (k < t->nsolvers && t->solvers[k].gauss_seidel) {
        k++;
    }
    return k == t->nsolvers;
}

static bool left_numbers(const ss_record_row *row)
{
    return strcmp(row->status, "crashed") != 0 && strcmp(row->status, "bad_input") != 0 &&
           isfinite(row->seconds);
}

static void judge(ss_trial *trial, double tolerance)
{
    const ss_record_row *row = trial->row;
    const bool numbers = left_numbers(row);
    trial->solved = numbers && ss_measures_pass(&row->measures, tolerance);
    trial->met = numbers && strcmp(row->outcome, "converged") == 0;
    trial->iterations = numbers ? (double)row->iterations : NAN;
    trial->seconds = numbers ? row->seconds : NAN;
    trial->sweep_seconds = isfinite(row->sweep_seconds) ? row->sweep_seconds : trial->seconds;
    if (!numbers || same_tolerance(row->tolerance, tolerance)) {
        return;
    }
    const int first = ss_history_first(&row->history, tolerance);
    if (first >= 0) {
        trial->solved = true;
        trial->iterations = row->history.iteration[first];
        trial->sweep_seconds = ss_history_sweep_seconds(row, first);
        trial->seconds = ss_history_seconds(row, first);
    }
}

static void fill(ss_trials *t, const ss_record_rows *record)
{
    for (size_t k = 0; k < record->count; k++) {
        const ss_record_row *row = &record->rows[k];
        if (!counts(row, t->tolerance)) {
            continue;
        }
        ss_solver_trials *solver = find_solver(t, row);
        ss_trial *trial = &solver->trials[find_problem(t, row)];
        solver->runs += trial->row == NULL;
        if (trial->row == NULL || row->tolerance >= trial->row->tolerance) {
            trial->row = row;
        }
    }
    for (size_t k = 0; k < t->nsolvers * t->nproblems; k++) {
        ss_trial *trial = &t->solvers[k / t->nproblems].trials[k % t->nproblems];
        if (trial->row != NULL) {
            judge(trial, t->tolerance);
            t->from_histories |= !same_tolerance(trial->row->tolerance, t->tolerance);
        }
    }
}

static ss_status build(ss_trials *t, const ss_record_rows *record, ss_error *e)
{
    t->problems = calloc(record->count, sizeof *t->problems);
    t->solvers = calloc(record->count, sizeof *t->solvers);
    if (t->problems == NULL || t->solvers == NULL) {
        return ss_fail_memory(e, "the comparison");
    }
    const ss_status status = list(t, record, e);
    if (status != SS_OK) {
        return status;
    }
    if (t->nproblems == 0) {
        return ss_fail(e, SS_BAD_INPUT,
                       "the record holds no run to a tolerance of %g or tighter; make one with "
                       "bench --tol %g",
                       t->tolerance, t->tolerance);
    }
    label_solvers(t);
    sort_solvers(t);
    for (size_t k = 0; k < t->nsolvers; k++) {
        t->solvers[k].trials = calloc(t->nproblems, sizeof(ss_trial));
        if (t->solvers[k].trials == NULL) {
            return ss_fail_memory(e, "the comparison");
        }
    }
    fill(t, record);
    return SS_OK;
}

ss_status ss_trials_new(const ss_record_rows *record, double tolerance, ss_trials **trials,
                        ss_error *e)
{
    *trials = NULL;
    if (record->count == 0) {
        return ss_fail(e, SS_BAD_INPUT, "the record holds no runs");
    }
    if (isnan(tolerance)) {
        const ss_status status = find_tolerance(record, &tolerance, e);
        if (status != SS_OK) {
            return status;
        }
    }
    ss_trials *t = calloc(1, sizeof *t);
    if (t == NULL) {
        return ss_fail_memory(e, "the comparison");
    }
    t->tolerance = tolerance;
    const ss_status status = build(t, record, e);
    if (status != SS_OK) {
        ss_trials_free(t);
        return status;
    }
    *trials = t;
    return SS_OK;
}

void ss_trials_free(ss_trials *t)
{
    if (t == NULL) {
        return;
    }
    for (size_t k = 0; k < t->nsolvers; k++) {
        free(t->solvers[k].trials);
    }
    free(t->solvers);
    free(t->problems);
    free(t);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double ss_median(double *values, size_t n)
{
    if (n == 0) {
        return NAN;
    }
    qsort(values, n, sizeof *values, compare);
    const double low = values[(n - 1) / 2], high = values[n / 2];
    return low == high ? low : low + (high - low) / 2.0; // the first also for two infinities
}

// -- Performance profiles

static double time_of(const ss_trial *trial)
{
    return trial->solved && trial->seconds > 0.0 ? trial->seconds : INFINITY;
}

double ss_profile_ratio(const ss_trials *t, const ss_solver_trials *solver, size_t p)
{
    double best = INFINITY;
    for (size_t k = 0; k < t->nsolvers; k++) {
        best = fmin(best, time_of(&t->solvers[k].trials[p]));
    }
    const double own = time_of(&solver->trials[p]);
    return isfinite(own) ? own / best : INFINITY;
}

double ss_profile_percent(const ss_trials *t, const ss_solver_trials *solver, double x)
{
    size_t within = 0;
    for (size_t p = 0; p < t->nproblems; p++) {
        within += ss_profile_ratio(t, solver, p) <= x;
    }
    return 100.0 * (double)within / (double)t->nproblems;
}

// ---- Records and solvers of a table or figure
//
// What a table or a figure is made of: a record and its trials, of all solvers or of chosen ones.

ss_status ss_results_of_record(const char *path, ss_needs needs, double tolerance,
                               ss_results *results, ss_error *e)
{
    *results = (ss_results){.path = path};
    ss_status status = ss_record_rows_read(path, &results->record, e);
    if (status != SS_OK) {
        return status;
    }
    if (needs == SS_NEEDS_TRIALS) {
        ss_error reason = {0};
        status = ss_trials_new(&results->record, tolerance, &results->trials, &reason);
        if (status != SS_OK) {
            ss_fail(e, status, "%s: %s", path, reason.text);
        }
    }
    return status;
}

ss_status ss_results_of_runs(char *const *paths, size_t count, ss_results *results, ss_error *e)
{
    *results = (ss_results){.path = paths[0], .nruns = count};
    return ss_stats_read_all(paths, count, &results->runs, e);
}

// -- Chosen solvers

static bool is_called(const ss_solver_trials *solver, const char *name, size_t length)
{
    char word[200];
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    const char *bare = ss_spec_bare(word);
    return strcmp(solver->label, bare) == 0 || strcmp(solver->spec, bare) == 0 ||
           strcmp(solver->bare, bare) == 0;
}

static bool is_in(const ss_solver_trials *solver, const char *list)
{
    for (list += ss_spec_gap(list); *list != '\0'; list += ss_spec_gap(list)) {
        const size_t length = ss_spec_length(list);
        if (is_called(solver, list, length)) {
            return true;
        }
        list += length;
    }
    return false;
}

// The first of the list that no solver is called.
static ss_status check_names(const ss_trials *t, const char *path, const char *list, ss_error *e)
{
    int count = 0;
    for (list += ss_spec_gap(list); *list != '\0'; list += ss_spec_gap(list)) {
        const size_t length = ss_spec_length(list);
        bool known = false;
        for (size_t k = 0; k < t->nsolvers; k++) {
            known = known || is_called(&t->solvers[k], list, length);
        }
        if (!known) {
            return ss_fail(e, SS_BAD_INPUT, "%s: --solvers: there are no runs of '%.*s'", path,
                           (int)length, list);
        }
        list += length;
        count++;
    }
    return count > 0 ? SS_OK : ss_fail(e, SS_BAD_INPUT, "--solvers: the list is empty");
}

ss_status ss_results_choose(ss_results *results, const char *list, ss_error *e)
{
    ss_trials *t = results->trials;
    const ss_status status = check_names(t, results->path, list, e);
    size_t kept = 0;
    for (size_t k = 0; status == SS_OK && k < t->nsolvers; k++) {
        if (is_in(&t->solvers[k], list)) {
            t->solvers[kept++] = t->solvers[k];
        } else {
            free(t->solvers[k].trials);
        }
    }
    t->nsolvers = status == SS_OK ? kept : t->nsolvers;
    return status;
}

void ss_results_free(ss_results *results)
{
    ss_trials_free(results->trials);
    ss_record_rows_free(&results->record);
    ss_stats_free_all(results->runs, results->nruns);
    *results = (ss_results){0};
}

static const ss_record_row *trial_row(const ss_trials *t, size_t k)
{
    return t->solvers[k / t->nproblems].trials[k % t->nproblems].row;
}

// Builds that are named.
#define NAMED_BUILDS 4

void ss_results_warn(const char *verb, const ss_results *results)
{
    const ss_trials *t = results->trials;
    const size_t n = t != NULL ? t->nsolvers * t->nproblems : 0;
    const char *builds[NAMED_BUILDS];
    int runs[NAMED_BUILDS] = {0}, nbuilds = 0, others = 0;
    for (size_t k = 0; k < n; k++) {
        const ss_record_row *row = trial_row(t, k);
        int b = 0;
        while (row != NULL && b < nbuilds && strcmp(builds[b], row->build) != 0) {
            b++;
        }
        if (row != NULL && b == nbuilds && b < NAMED_BUILDS) {
            builds[nbuilds++] = row->build;
        }
        if (row != NULL && b < NAMED_BUILDS) {
            runs[b]++;
        } else {
            others += row != NULL;
        }
    }
    char list[NAMED_BUILDS * 100] = "";
    for (int b = 0; b < nbuilds; b++) {
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s (%d)", b > 0 ? ", " : "", builds[b],
                 runs[b]);
    }
    if (nbuilds > 1) {
        ss_complain(verb, "%s: the runs are of several builds: %s%s", results->path, list,
                    others > 0 ? " and others" : "");
    }
}
