// Two records side by side: the runs that both hold, of one problem by one solver from one start.
//
// Times are compared where both runs solved their problem. The ratio is the geometric mean of
// A's time over B's, so that every problem counts the same and changing A and B inverts it.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/table_kinds.h"

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

static const ss_entrant *find_entrant(const ss_trials *t, const ss_entrant *same)
{
    for (size_t k = 0; k < t->nentrants; k++) {
        if (strcmp(t->entrants[k].spec, same->spec) == 0 &&
            strcmp(t->entrants[k].start, same->start) == 0) {
            return &t->entrants[k];
        }
    }
    return NULL;
}

// Problem p by one solver; sweeps: without the set-up.
static void add(pairing *pairs, const ss_entrant *a, const ss_entrant *b, size_t p, bool sweeps,
                sums *s)
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

static void add_columns(ss_table *table, const ss_table_column columns[], size_t n)
{
    for (size_t c = 0; c < n; c++) {
        ss_table_column_add(table, &columns[c]);
    }
}

static const char RATIO_NOTE[] =
    "Geometric mean of A's time over B's, of the runs that both solved.";

static ss_table *list_solvers(pairing *pairs)
{
    static const ss_table_column columns[] = {
        {"solver", "Solver", 0, NULL},
        {"runs", "runs", 9, "Problems that both records hold by this solver."},
        {"over_tol_percent", "%>tol A", 3, "Percentage of these above the tolerance."},
        {"other_over_tol_percent", "B", 3, NULL},
        {"mean_iterations", "iters A", 3, "Means over the problems that both solved."},
        {"other_mean_iterations", "B", 3, NULL},
        {"mean_ms", "T (ms) A", 3, "Mean time in the iterations, without the set-up, of the same."},
        {"other_mean_ms", "B", 3, NULL},
        {"time_ratio", "T A/B", 3, RATIO_NOTE},
    };
    ss_table *table = ss_table_new();
    add_columns(table, columns, sizeof columns / sizeof columns[0]);
    for (size_t k = 0; k < pairs->a->nentrants; k++) {
        const ss_entrant *a = &pairs->a->entrants[k], *b = find_entrant(pairs->b, a);
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
    return table;
}

static ss_table *list_problems(pairing *pairs)
{
    static const ss_table_column columns[] = {
        {"problem", "problem", 0, NULL},
        {"contacts", "contacts", 9, NULL},
        {"solvers", "solvers", 9, "That both records ran on this problem."},
        {"solved", "solved A", 9, NULL},
        {"other_solved", "B", 9, NULL},
        {"mean_ms", "T (ms) A", 3, "Mean time of the solve with its set-up, where both solved it."},
        {"other_mean_ms", "B", 3, NULL},
        {"time_ratio", "T A/B", 3, RATIO_NOTE},
    };
    ss_table *table = ss_table_new();
    add_columns(table, columns, sizeof columns / sizeof columns[0]);
    for (size_t p = 0; p < pairs->a->nproblems; p++) {
        sums s = {0};
        for (size_t k = 0; k < pairs->a->nentrants; k++) {
            const ss_entrant *a = &pairs->a->entrants[k];
            add(pairs, a, find_entrant(pairs->b, a), p, false, &s);
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
    return table;
}

static void note(ss_table *table, const pairing *pairs, const char *const names[2])
{
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

ss_status ss_table_compare(const ss_trials *a, const ss_trials *b, const char *const names[2],
                           bool by_problem, ss_table **table, ss_error *e)
{
    pairing pairs = {.a = a, .b = b};
    *table = NULL;
    if (!(fabs(a->tolerance - b->tolerance) <= 1e-9 * b->tolerance)) {
        return ss_fail(e, SS_BAD_INPUT,
                       "%s was made to a tolerance of %g and %s to %g; choose one with --tol",
                       names[0], a->tolerance, names[1], b->tolerance);
    }
    const ss_status status = find_places(&pairs, e);
    if (status != SS_OK) {
        return status;
    }
    ss_table *made = by_problem ? list_problems(&pairs) : list_solvers(&pairs);
    free(pairs.place);
    if (pairs.first[0] == NULL) {
        ss_table_free(made);
        return ss_fail(e, SS_BAD_INPUT, "%s and %s have no run of one problem by one solver",
                       names[0], names[1]);
    }
    note(made, &pairs, names);
    *table = made;
    return SS_OK;
}
