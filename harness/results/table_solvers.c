// The table of solvers: Table 2 of [D11], what each local solver needs, and how often it fails.
//
// alt and fail are the paper's "percentage of calls to fail-safe" and "percentage of local
// problems that did not reach tolerance": totals over all problems, not means of percentages. Its
// smallest entries, 1e-6 %, are single failures among all local problems of the set.
#include "harness/results/tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/registry.h"

enum { SOLVER, ALT, FAIL, OVER, ITERATIONS, MS, NVALUES, OWN = 2 * NVALUES };
#define PAPER (NVALUES - 1) // added to a column of ours: the paper's beside it
#define NMOST (OWN + 1)

static const ss_column COLUMNS[] = {
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
    return other && !ss_trials_are_gauss_seidel(t) ? &OTHERS[c] : &COLUMNS[c];
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

static void add_paper(const ss_solver_trials *solver, double values[])
{
    const ss_paper_row *row = ss_paper_find(solver->bare);
    values[ALT + PAPER] = row != NULL ? row->alt_percent : NAN;
    values[FAIL + PAPER] = row != NULL ? row->fail_percent : NAN;
    values[OVER + PAPER] = row != NULL ? row->over_tol_percent : NAN;
    values[ITERATIONS + PAPER] = row != NULL ? row->mean_iterations : NAN;
    values[MS + PAPER] = row != NULL ? row->mean_ms : NAN;
}

// Which columns, in which order; returns how many. Where solvers have rules of their own, that column
// is the one that the paper has.
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

// What as=printed sets, and what of it the paper does not say.
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

static void note_paper(ss_table *table)
{
    ss_table_note(
        table, "[D11]: Daviet, Bertails-Descoubes, Boissieux 2011, Table 2: 306 problems of "
               "its simulation Pony, whose steps have 9850 contacts on average, on a Core "
               "i7. It leaves out duriez06, which diverged. Its tolerance 1e-6 is in its internal "
               "units and means a relative error of 1e-3 to 1e-4 (its footnote 4). Compare the "
               "order of the solvers; the problems and the machine are others.");
}

ss_status ss_table_solvers(const ss_table_request *request, ss_table *table, ss_error *e)
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
        add_paper(&t->solvers[k], values);
        ss_table_text(table, t->solvers[k].label);
        for (size_t c = 1; c < ncolumns; c++) {
            ss_table_real(table, values[order[c]]);
        }
    }
    ss_table_conditions(table, t);
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
        note_paper(table);
    }
    return SS_OK;
}
