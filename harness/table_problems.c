// One row a problem, and one row a local solver.
#include "harness/table_kinds.h"

#include <math.h>
#include <string.h>

// The entrant with the smallest value among those that solved problem p; NULL if nobody did.
static const ss_entrant *best(const ss_trials *t, size_t p, size_t offset)
{
    const ss_entrant *winner = NULL;
    double smallest = INFINITY;
    for (size_t k = 0; k < t->nentrants; k++) {
        const ss_trial *trial = &t->entrants[k].trials[p];
        double value;
        memcpy(&value, (const char *)trial + offset, sizeof value);
        if (trial->solved && value < smallest) {
            smallest = value;
            winner = &t->entrants[k];
        }
    }
    return winner;
}

static void add_problem(ss_table *table, const ss_trials *t, size_t p)
{
    size_t run = 0, solved = 0;
    for (size_t k = 0; k < t->nentrants; k++) {
        run += t->entrants[k].trials[p].row != NULL;
        solved += t->entrants[k].trials[p].solved;
    }
    const ss_entrant *fastest = best(t, p, offsetof(ss_trial, seconds));
    const ss_entrant *fewest = best(t, p, offsetof(ss_trial, iterations));
    ss_table_text(table, t->problems[p]->problem);
    ss_table_real(table, t->problems[p]->contacts);
    ss_table_real(table, (double)run);
    ss_table_real(table, (double)solved);
    ss_table_text(table, fastest != NULL ? fastest->label : "-");
    ss_table_real(table, fastest != NULL ? 1000.0 * fastest->trials[p].seconds : NAN);
    ss_table_text(table, fewest != NULL ? fewest->label : "-");
    ss_table_real(table, fewest != NULL ? fewest->trials[p].iterations : NAN);
}

ss_table *ss_table_problems(const ss_trials *t)
{
    static const ss_table_column columns[] = {
        {"problem", "problem", 0, NULL},
        {"contacts", "contacts", 9, NULL},
        {"solvers", "solvers", 9, NULL},
        {"solved", "solved", 9, "Solvers that reached the tolerance."},
        {"fastest", "fastest", 0, "Of the solvers that reached the tolerance."},
        {"fastest_ms", "ms", 3, "The solve with its set-up."},
        {"fewest", "fewest iterations", 0, NULL},
        {"fewest_iterations", "iters", 9, NULL},
    };
    ss_table *table = ss_table_new();
    for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++) {
        ss_table_column_add(table, &columns[c]);
    }
    for (size_t p = 0; p < t->nproblems; p++) {
        add_problem(table, t, p);
    }
    ss_table_conditions(table, t);
    return table;
}

static void add_local(ss_table *table, const ss_trials *t, const ss_entrant *entrant)
{
    double solves = 0.0, alt = 0.0, fail = 0.0, seconds = 0.0;
    for (size_t p = 0; p < t->nproblems; p++) {
        const ss_trial *trial = &entrant->trials[p];
        if (trial->row != NULL && !isnan(trial->seconds) && trial->row->local_solves > 0) {
            const double count = (double)trial->row->local_solves;
            solves += count;
            alt += count * trial->row->alt_percent / 100.0;
            fail += count * trial->row->fail_percent / 100.0;
            seconds += trial->row->sweep_seconds;
        }
    }
    const bool hybrid = strchr(entrant->bare, '+') != NULL;
    ss_table_text(table, entrant->label);
    ss_table_real(table, solves);
    ss_table_real(table, hybrid ? 100.0 * alt / solves : NAN);
    ss_table_real(table, 100.0 * fail / solves);
    ss_table_real(table, 1e9 * seconds / solves);
}

ss_table *ss_table_local(const ss_trials *t)
{
    static const ss_table_column columns[] = {
        {"solver", "Local solver", 0, NULL},
        {"local_solves", "local solves", 9, "Over all problems and whole runs."},
        {"alt_percent", "%alt", 3, "Percentage of local solves that called the fail-safe."},
        {"fail_percent", "%fail", 3,
         "Percentage of local solves that ended above the local tolerance."},
        {"ns_per_solve", "ns", 3,
         "Time of the sweeps over local solves: the coupling of the contacts is in it, and the "
         "passing of those at rest."},
    };
    ss_table *table = ss_table_new();
    for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++) {
        ss_table_column_add(table, &columns[c]);
    }
    for (size_t k = 0; k < t->nentrants; k++) {
        add_local(table, t, &t->entrants[k]);
    }
    ss_table_conditions(table, t);
    return table;
}
