// How many times as fast as one of them the solvers of a record are.
//
// The ratio of a problem is the time of the reference over that of the solver, where both solved
// it: the geometric mean over the problems counts each the same, and swapping the two inverts it.
// What only one of them solves has no ratio and is counted beside. The ceiling is what the ratio
// would be if the solver took its set-up alone: on easy problems no way to solve can bring much.
#include <math.h>
#include <string.h>

#include "harness/table_kinds.h"
#include "solvers/registry.h"

typedef struct sums {
    size_t solved, both, alone, lost;
    double log_ratio, log_ceiling, least, most;
    size_t with_setup; // of both: those whose set-up has a time
} sums;

static const ss_entrant *find(const ss_trials *t, const char *reference)
{
    reference = ss_spec_bare(reference);
    for (size_t k = 0; k < t->nentrants; k++) {
        const ss_entrant *entrant = &t->entrants[k];
        if (strcmp(entrant->label, reference) == 0 || strcmp(entrant->spec, reference) == 0) {
            return entrant;
        }
    }
    return NULL;
}

static void add_ceiling(sums *s, const ss_trial *own, double seconds)
{
    const double setup = own->row->setup_seconds;
    if (setup > 0.0) {
        s->with_setup++;
        s->log_ceiling += log(seconds / setup);
    }
}

static sums compare(const ss_trials *t, const ss_entrant *entrant, const ss_entrant *reference)
{
    sums s = {.least = INFINITY, .most = -INFINITY};
    for (size_t p = 0; p < t->nproblems; p++) {
        const ss_trial *own = &entrant->trials[p], *other = &reference->trials[p];
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

static void add_row(ss_table *table, const ss_trials *t, const ss_entrant *entrant, const sums *s)
{
    const bool any = s->both > 0;
    ss_table_text(table, entrant->label);
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
static double find_best_ratio(const ss_trials *t, const ss_entrant *reference)
{
    double log_ratio = 0.0;
    size_t count = 0;
    for (size_t p = 0; p < t->nproblems; p++) {
        double least = INFINITY;
        for (size_t k = 0; k < t->nentrants; k++) {
            const ss_trial *trial = &t->entrants[k].trials[p];
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

ss_status ss_table_ratio(const ss_trials *t, const char *reference, ss_table **table, ss_error *e)
{
    static const ss_table_column columns[] = {
        {"solver", "Solver", 0, NULL},
        {"solved_percent", "%solved", 3, "Percentage of all problems, run or not."},
        {"both", "both", 9, "Problems that the solver and the reference both solved."},
        {"ratio", "ratio", 3,
         "Geometric mean over these of the reference's time over the solver's: above 1 the solver "
         "is faster. Time is the solve with its set-up."},
        {"least_ratio", "worst", 3, "The least and the largest of these ratios."},
        {"most_ratio", "best", 3, NULL},
        {"alone", "alone", 9, "Problems that the solver solved and the reference did not."},
        {"lost", "lost", 9, "Problems that the reference solved and the solver did not."},
        {"ceiling_ratio", "ceiling", 3,
         "The ratio if the solver took its set-up alone: the most that a faster way to solve can "
         "bring."},
    };
    *table = NULL;
    const ss_entrant *against = find(t, reference);
    if (against == NULL) {
        return ss_fail(e, SS_BAD_INPUT,
                       "the record has no runs of '%s' to this tolerance to compare with: name one "
                       "of its solvers with --against",
                       reference);
    }
    *table = ss_table_new();
    for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++) {
        ss_table_column_add(*table, &columns[c]);
    }
    for (size_t k = 0; k < t->nentrants; k++) {
        const sums s = compare(t, &t->entrants[k], against);
        add_row(*table, t, &t->entrants[k], &s);
    }
    ss_table_note(*table, "The reference is %s.", against->label);
    ss_table_note(*table, "The fastest solver of each problem together would have the ratio %.3g.",
                  find_best_ratio(t, against));
    ss_table_conditions(*table, t);
    return SS_OK;
}
