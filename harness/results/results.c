// What a table or a figure is made of: a record and its trials, of all solvers or of chosen ones.
#include <stdlib.h>
#include <string.h>

#include "harness/complain.h"
#include "harness/results/trials.h"
#include "harness/specs.h"
#include "solvers/registry.h"

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

// ---- Chosen solvers

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
