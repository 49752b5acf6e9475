// Dolan and More's performance profile in numbers: the share of problems that a solver solves
// within a factor of the time of whoever was fastest on that problem.
#include "harness/table_kinds.h"

#include <math.h>

#include "harness/profile.h"

ss_table *ss_table_profile(const ss_trials *t)
{
    static const double factors[] = {1.2, 2, 5, 10, 100};
    static const ss_table_column columns[] = {
        {"solver", "Solver", 0, NULL},
        {"within_1.2_percent", "<= 1.2", 3,
         "Percentage of problems solved within this factor of the time of the fastest solver of "
         "each problem. Time is the solve with its set-up."},
        {"within_2_percent", "<= 2", 3, NULL},
        {"within_5_percent", "<= 5", 3, NULL},
        {"within_10_percent", "<= 10", 3, NULL},
        {"within_100_percent", "<= 100", 3, NULL},
    };
    ss_table *table = ss_table_new();
    for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++) {
        ss_table_column_add(table, &columns[c]);
    }
    for (size_t k = 0; k < t->nentrants; k++) {
        ss_table_text(table, t->entrants[k].label);
        for (size_t f = 0; f < sizeof factors / sizeof factors[0]; f++) {
            ss_table_real(table, ss_profile_percent(t, &t->entrants[k], factors[f]));
        }
    }
    ss_table_conditions(table, t);
    return table;
}
