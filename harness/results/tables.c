// The tables of a record.
#include "harness/results/tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/registry.h"

// ---- solvers: Table 2 of [D11], what each local solver needs, and how often it fails
//
// alt and fail are the paper's "percentage of calls to fail-safe" and "percentage of local
// problems that did not reach tolerance": totals over all problems, not means of percentages. Its
// smallest entries, 1e-6 %, are single failures among all local problems of the set.

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
        "Not told by [D11], and chosen here after results had been seen: how many hairs a "
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

static ss_status make_solvers(const ss_table_request *request, ss_table *table, ss_error *e)
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

// ---- problems, and local: a row a problem, and a row a local solver

// The solver with the smallest value among those that solved problem p; NULL if nobody did.
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
    ss_table_conditions(table, t);
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
    ss_table_conditions(table, t);
    return SS_OK;
}

// ---- profile: the share of problems that a solver solves within a factor of the time of whoever
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
    ss_table_conditions(table, t);
    return SS_OK;
}

// ---- ratio: how many times as fast as one of them the solvers of a record are
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

static const ss_solver_trials *find_solver(const ss_trials *t, const char *reference)
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

static ratios compare(const ss_trials *t, const ss_solver_trials *solver,
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
    const ss_solver_trials *against = find_solver(t, reference);
    if (against == NULL) {
        return ss_fail(e, SS_BAD_INPUT,
                       "the record has no runs of '%s' to this tolerance to compare with: name one "
                       "of its solvers with --against",
                       reference);
    }
    ss_table_columns(table, columns);
    for (size_t k = 0; k < t->nsolvers; k++) {
        const ratios s = compare(t, &t->solvers[k], against);
        add_ratio(table, t, &t->solvers[k], &s);
    }
    ss_table_note(table, "The reference is %s.", against->label);
    ss_table_note(table, "The fastest solver of each problem together would have the ratio %.3g.",
                  find_best_ratio(t, against));
    ss_table_conditions(table, t);
    return SS_OK;
}

// ---- rows: the record as it is

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

// ---- The registry

const ss_table_kind ss_table_kinds[] = {
    {.name = "solvers",
     .needs = SS_NEEDS_TRIALS,
     .takes_paper = true,
     .make = make_solvers,
     .compare = ss_table_compare_solvers},
    {.name = "problems",
     .needs = SS_NEEDS_TRIALS,
     .make = make_problems,
     .compare = ss_table_compare_problems},
    {.name = "profile", .needs = SS_NEEDS_TRIALS, .make = make_profile},
    {.name = "local", .needs = SS_NEEDS_TRIALS, .make = make_local},
    {.name = "ratio", .needs = SS_NEEDS_TRIALS, .takes_against = true, .make = make_ratio},
    {.name = "rows", .needs = SS_NEEDS_RECORD, .make = make_rows},
    {.name = "simulation",
     .needs = SS_NEEDS_RUNS,
     .takes_paper = true,
     .make = ss_table_simulation},
    {.name = NULL},
};
