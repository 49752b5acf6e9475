// Table 2 of [D11]: what each local solver needs on a set of problems, and how often it fails.
//
// alt and fail are the paper's "percentage of calls to fail-safe" and "percentage of local
// problems that did not reach tolerance": totals over all problems, not means of percentages. Its
// smallest entries, 1e-6 %, are single failures among all local problems of the set.
#include "harness/table_kinds.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/paper.h"

enum { SOLVER, ALT, FAIL, OVER, ITERATIONS, MS, NVALUES };
#define PAPER (NVALUES - 1) // added to a column of ours: the paper's beside it

static const ss_table_column COLUMNS[] = {
    [SOLVER] = {"solver", "Local solver", 0, NULL},
    [ALT] = {"alt_percent", "%alt", 3, "Percentage of local solves that called the fail-safe."},
    [FAIL] = {"fail_percent", "%fail", 3,
              "Percentage of local solves that ended above the local tolerance."},
    [OVER] = {"over_tol_percent", "%>tol", 3,
              "Percentage of problems whose answer is not within the tolerance."},
    [ITERATIONS] = {"mean_iterations", "iters", 3,
                    "Mean number of Gauss-Seidel iterations, of unsolved problems too."},
    [MS] = {"mean_ms", "T (ms)", 3,
            "Mean time in the Gauss-Seidel loop, without the assembly of W, of unsolved problems "
            "too."},
    [ALT + PAPER] = {"paper_alt_percent", "[D11]", 3, NULL},
    [FAIL + PAPER] = {"paper_fail_percent", "[D11]", 3, NULL},
    [OVER + PAPER] = {"paper_over_tol_percent", "[D11]", 3, NULL},
    [ITERATIONS + PAPER] = {"paper_mean_iterations", "[D11]", 4, NULL},
    [MS + PAPER] = {"paper_mean_ms", "[D11]", 4, NULL},
};

// The same where not all iterations are sweeps.
static const ss_table_column OTHERS[] = {
    [SOLVER] = {"solver", "Solver", 0, NULL},
    [ITERATIONS] = {"mean_iterations", "iters", 3,
                    "Mean number of iterations, each solver's own, of unsolved problems too."},
    [MS] = {"mean_ms", "T (ms)", 3,
            "Mean time in the iterations, without the set-up, of unsolved problems too."},
};

static const ss_table_column *column(const ss_trials *t, int c)
{
    const bool other = c == SOLVER || c == ITERATIONS || c == MS;
    return other && !ss_trials_are_gauss_seidel(t) ? &OTHERS[c] : &COLUMNS[c];
}

// Means over the problems; values[SOLVER] is unused.
static void summarise(const ss_trials *t, const ss_entrant *entrant, double values[])
{
    double solves = 0.0, alt = 0.0, fail = 0.0, iterations = 0.0, seconds = 0.0;
    size_t over = 0, measured = 0;
    for (size_t k = 0; k < t->nproblems; k++) {
        const ss_trial *trial = &entrant->trials[k];
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
    values[ALT] = strchr(entrant->bare, '+') != NULL ? 100.0 * alt / solves : NAN;
    values[FAIL] = 100.0 * fail / solves; // NaN where no contact was ever solved
    values[OVER] = 100.0 * (double)over / (double)entrant->runs;
    values[ITERATIONS] = iterations / n;
    values[MS] = 1000.0 * seconds / n;
}

static void add_paper(const ss_entrant *entrant, double values[])
{
    const ss_paper_row *row = ss_paper_find(entrant->bare);
    values[ALT + PAPER] = row != NULL ? row->alt_percent : NAN;
    values[FAIL + PAPER] = row != NULL ? row->fail_percent : NAN;
    values[OVER + PAPER] = row != NULL ? row->over_tol_percent : NAN;
    values[ITERATIONS + PAPER] = row != NULL ? row->mean_iterations : NAN;
    values[MS + PAPER] = row != NULL ? row->mean_ms : NAN;
}

// Which columns, in which order; returns how many.
static size_t order_columns(bool paper, bool csv, int order[])
{
    size_t n = 0;
    order[n++] = SOLVER;
    for (int c = ALT; c < NVALUES; c++) {
        order[n++] = c;
        if (paper && !csv) {
            order[n++] = c + PAPER;
        }
    }
    for (int c = ALT; paper && csv && c < NVALUES; c++) {
        order[n++] = c + PAPER;
    }
    return n;
}

// The judge measures approximate solvers by a law they do not solve; what they believe of
// themselves is said beside.
static void note_own_rule(ss_table *table, const ss_trials *t)
{
    char shares[300] = "";
    for (size_t k = 0; k < t->nentrants; k++) {
        const ss_entrant *entrant = &t->entrants[k];
        size_t stopped = 0;
        for (size_t p = 0; p < t->nproblems; p++) {
            const ss_record_row *row = entrant->trials[p].row;
            stopped += row != NULL &&
                       (strcmp(row->status, "stopped") == 0 || strcmp(row->status, "solved") == 0);
        }
        const size_t used = strlen(shares);
        if (entrant->approximate && used < sizeof shares) {
            snprintf(shares + used, sizeof shares - used, "%s%s on %.3g %%", used > 0 ? ", " : "",
                     entrant->label, 100.0 * (double)stopped / (double)entrant->runs);
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

static void note_paper(ss_table *table)
{
    ss_table_note(
        table, "[D11]: Daviet, Bertails-Descoubes, Boissieux 2011, Table 2: 306 problems of "
               "its simulation Pony, whose steps have 9850 contacts on average, on a Core "
               "i7. It leaves out duriez06, which diverged. Its tolerance 1e-6 is in its internal "
               "units and means a relative error of 1e-3 to 1e-4 (its footnote 4). Compare the "
               "order of the solvers; the problems and the machine are others.");
}

ss_table *ss_table_solvers(const ss_trials *t, bool paper, bool csv)
{
    ss_table *table = ss_table_new();
    int order[NVALUES + PAPER];
    const size_t ncolumns = order_columns(paper, csv, order);
    for (size_t c = 0; c < ncolumns; c++) {
        ss_table_column_add(table, column(t, order[c]));
    }
    for (size_t k = 0; k < t->nentrants; k++) {
        double values[NVALUES + PAPER];
        summarise(t, &t->entrants[k], values);
        add_paper(&t->entrants[k], values);
        ss_table_text(table, t->entrants[k].label);
        for (size_t c = 1; c < ncolumns; c++) {
            ss_table_real(table, values[order[c]]);
        }
    }
    ss_table_conditions(table, t);
    if (t->from_histories) {
        ss_table_note(table, "%%alt and %%fail are those of the whole runs.");
    }
    note_own_rule(table, t);
    if (paper) {
        note_paper(table);
    }
    return table;
}
