// harness/results/paper.h -- what the papers print, to be shown beside what was measured here.
#pragma once

// A row of [D11] Table 2: 306 one-step problems of its simulation "Pony", tolerance 1e-6 in the
// paper's internal units (4sides: a relative step of 5e-2), on a Core i7 of 2011.
typedef struct ss_paper_row {
    const char *solver; // as a bare solver spec; NULL ends the list
    double alt_percent; // calls to the fail-safe; NaN for a solver without one
    double fail_percent;
    double over_tol_percent;
    double mean_iterations;
    double mean_ms;
} ss_paper_row;

extern const ss_paper_row ss_paper_table2[]; // in the paper's order

const ss_paper_row *ss_paper_find(const char *solver); // NULL: not in the table

// Where a solver stands in a table: the paper's order, then duriez06 (which the paper leaves out:
// it diverged on all of its problems), then any other, all with the same rank.
int ss_paper_rank(const char *solver);

// A row of [D11] Table 1: its simulations, on a quad core i7 of 2011; T in seconds a step.
typedef struct ss_paper_scene {
    const char *scene; // the scene here that stands for it; NULL ends the list
    const char *name;  // the paper's
    double rods, mu, mu_obstacle;
    double contacts_mean, contacts_max;
    double over_tol_percent, max_error, iterations;
    double gs_seconds, solve_seconds, step_seconds;
    double minutes_a_frame, hours;
} ss_paper_scene;

extern const ss_paper_scene ss_paper_table1[]; // in the paper's order
