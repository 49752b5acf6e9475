// The tables of a record.
#include "harness/results/tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "solvers/registry.h"

// ---- problems, and local: a row a problem, and a row a local solver

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
     .make = ss_table_solvers,
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
