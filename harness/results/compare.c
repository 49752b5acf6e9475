// Two records side by side: the runs that both hold, of one problem by one solver from one start.
//
// Times are compared where both runs solved their problem. The ratio is the geometric mean of
// A's time over B's, so that every problem counts the same and changing A and B inverts it.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results/tables.h"

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

static const ss_solver_trials *find_solver(const ss_trials *t, const ss_solver_trials *same)
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
        const ss_solver_trials *a = &pairs->a->solvers[k], *b = find_solver(pairs->b, a);
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
            add(pairs, a, find_solver(pairs->b, a), p, false, &s);
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
    ss_table_note_tolerance(table, pairs->a);
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
        const ss_solver_trials *a = &pairs->a->solvers[k], *b = find_solver(pairs->b, a);
        for (size_t p = 0; p < pairs->a->nproblems; p++) {
            add(pairs, a, b, p, true, &s);
        }
    }
    return s.runs > 0;
}

static ss_status compare(const ss_table_request *request,
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

ss_status ss_table_compare_solvers(const ss_table_request *request, ss_table *table, ss_error *e)
{
    return compare(request, list_solvers, table, e);
}

ss_status ss_table_compare_problems(const ss_table_request *request, ss_table *table, ss_error *e)
{
    return compare(request, list_problems, table, e);
}
