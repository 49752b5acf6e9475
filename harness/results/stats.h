// harness/results/stats.h -- the statistics of a simulation: a CSV row per step, written and read.
//
// Seconds are wall time. fb_abs and natural are [D11]'s own measures in its units (dyn s, cm/s):
// they mix units, and a resting hair contact has some 1e-9 N s, so that in SI they say nothing
// (doc/formulation.md, "Measures"). fb is the judge's and has no unit. Cells of a step without
// contacts are missing where they speak of a solve.
#pragma once

#include <stdint.h>
#include "harness/table.h"
#include "strands/step/step.h"

// Properties of a run, the same in every row.
typedef struct ss_stats_run {
    char scene[160], model[160], scheme[160], solver[160];
    uint64_t seed;
    int rods;
    double mu, mu_obstacle; // the latter NaN without obstacles
    double tol;
    double gamma, bending_hz; // of the longest strand (material.h), else NaN
} ss_stats_run;

typedef struct ss_stats_row {
    int step;                       // from 1
    ss_step_report report;          // of the stepper; of a row that was read, what the columns say
    char reason[16];                // of the last rejection; "done" without
    char status[16];                // of the answer; "" without contacts
    char stiffness[16];             // kind of the last K that a strand needed
    double dispersion;              // m, mean distance between two tips
    double stretch_percent;         // of the length of all polylines against the start
    double tip[3], tip_velocity[3]; // m, m/s, of strand 0
    double tip_gap;                 // m, mean distance of a tip to the nearest other one
    double unrest;                  // m, rms distance to the natural shape (frames/trajectory.h)
} ss_stats_row;

// A line of the file, and its columns: a statistic is a field of the report and a line of this
// table.
typedef struct ss_stats_line {
    ss_stats_run run;
    ss_stats_row row;
} ss_stats_line;
extern const ss_field ss_stats_fields[];

// The row of a step; what is not the stepper's to say is missing.
ss_stats_row ss_stats_row_of(const ss_step_report *report, int step);
// rows: ss_table_of_fields with ss_stats_fields.
void ss_stats_print(ss_table *rows, const ss_stats_run *run, const ss_stats_row *row);

// A file of them. A last line that a kill cut short is left out.
typedef struct ss_stats {
    ss_stats_run run;
    size_t count;
    ss_stats_row *rows; // owned
} ss_stats;

// SS_BAD_INPUT with a sentence that names file, line and column where it is no such file, is empty,
// or holds the rows of two runs. Columns that are not ours are ignored.
ss_status ss_stats_read(const char *path, ss_stats *stats, ss_error *e);
void ss_stats_free(ss_stats *stats); // what it holds

// All files, in order; *stats is an array that ss_stats_free_all frees.
ss_status ss_stats_read_all(char *const *paths, size_t count, ss_stats **stats, ss_error *e);
void ss_stats_free_all(ss_stats *stats, size_t count);

// A run in numbers: the columns of [D11] Table 1.
typedef struct ss_stats_totals {
    int steps, solved_steps; // solved_steps: those with contacts
    int contacts_max, rejected;
    double time; // s simulated
    double contacts, hits, iterations;
    double over; // steps that the judge does not call solved
    double fb_max, fb_abs_max;
    double penetration_max;                                          // m
    double gs_seconds, solve_seconds, collide_seconds, step_seconds; // sums
} ss_stats_totals;

void ss_stats_total(ss_stats_totals *totals, const ss_stats_row *row);
