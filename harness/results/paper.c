// What [D11] prints in its tables: the reference beside our rows.
#include <math.h>
#include <string.h>

#include "harness/results/trials.h"

// [D11] Table 2, section 7.3: "Performance comparison of various local solvers on a set of 306
// one-step problems".
const ss_paper_row ss_paper_table2[] = {
    {"4sides", NAN, 0, 0, 575, 6497},         {"duriez08", NAN, 2.45, 50, 267, 4336},
    {"pac", NAN, 0.43, 19.3, 163, 1265},      {"dac", NAN, 0.26, 0.33, 60, 874},
    {"mfb", NAN, 0.13, 4.9, 72, 484},         {"enum", NAN, 0.0005, 1, 67, 1044},
    {"4sides+enum", 38.7, 0.001, 0, 47, 763}, {"duriez08+enum", 51, 0.0007, 0.33, 90, 1447},
    {"pac+enum", 0.1, 1e-5, 0, 62, 543},      {"dac+enum", 0.09, 1e-6, 0, 57, 789},
    {"mfb+enum", 0.07, 1e-6, 0, 41, 312},     {.solver = NULL},
};

// [D11] Table 1, section 7.
const ss_paper_scene ss_paper_table1[] = {
    {"free-a", "Free/A", 1920, 0.3, 0.5, 24659, 46915, 0.056, 0.004, 136, 2.60, 4.06, 7.15, 2.09,
     25},
    {"free-b", "Free/B", 1920, 0.2, 0.3, 28153, 36287, 0.13, 0.037, 160, 5.3, 7.0, 11.1, 3.02, 36},
    {"pony", "Pony", 334, 0.3, 0.5, 9850, 16613, 0.42, 0.003, 301, 4.43, 5.25, 6.2, 2.47, 30},
    {"curly", "Curly", 1920, 0.3, 0.5, 21425, 33578, 0.013, 0.003, 118, 2.26, 3.39, 7.54, 4.15, 49},
    {.scene = NULL},
};

const ss_paper_row *ss_paper_find(const char *solver)
{
    for (const ss_paper_row *row = ss_paper_table2; row->solver != NULL; row++) {
        if (strcmp(row->solver, solver) == 0) {
            return row;
        }
    }
    return NULL;
}

int ss_paper_rank(const char *solver)
{
    const ss_paper_row *row = ss_paper_find(solver);
    if (row != NULL) {
        return (int)(row - ss_paper_table2);
    }
    const int last = (int)(sizeof ss_paper_table2 / sizeof ss_paper_table2[0]) - 1;
    return strcmp(solver, "duriez06") == 0 ? last : last + 1;
}
