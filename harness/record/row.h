// harness/record/row.h -- one run as a row of results: its fields and its history.
#pragma once

#include "base/status.h"
#include "problems/coulomb.h"

// What happened after each iteration; fb and normal as the judge finds them.
typedef struct ss_history {
    int count;
    double *iteration;             // [count] owned, as one piece with the next three
    double *seconds, *fb, *normal; // [count]
} ss_history;

typedef struct ss_record_row {
    char problem[1024]; // FILE or FILE:NAME as given
    int contacts;
    char solver[160]; // spec; "gs/" before a local solver is dropped when a record takes it
    double tolerance;
    char status[16];
    int iterations;
    long local_solves;
    double alt_percent, fail_percent; // of the local solves
    double seconds;                   // of the best repeat, as are the next three
    double cpu_seconds, setup_seconds, sweep_seconds;
    ss_measures measures;
    char detail[600];
    // In records alone. The key is problem_sha256, solver, tolerance, start and build.
    char problem_sha256[65];
    char outcome[16]; // the solver's word of how it ended; "" where it left none
    char start[8];    // zero, guess
    char build[64];   // version, commit and flags
    char scene[48];   // that made it; "" where the file does not say
    int dim;
    int max_iterations;    // limits of the run: iterations, and
    double time_limit;     // CPU seconds
    double seconds_median; // of the repeats
    int repeats;
    double load; // load average of the machine, one minute
    char host[64], machine[96], date[32];
    ss_history history;
} ss_record_row;

// The columns that solve prints, whose names and order other programs rely on; and all, the same
// first. The history is in neither.
extern const ss_field ss_result_fields[], ss_record_fields[];

ss_record_row ss_record_row_blank(void);     // nothing is known: "", NaN, -1; no repeats
void ss_record_row_free(ss_record_row *row); // its history
// A label into text [room]; of one that is too long its end.
void ss_record_put_label(const char *label, char *text, size_t room);

// The checksum of a problem that cannot be read, and so has none: that of its label.
void ss_record_stand_in(const char *label, char sha256[65]);

// SS_BAD_INPUT where a limit or the tolerance of the run is none that a run can have. They decide
// which runs are made again and which are compared.
ss_status ss_record_check(const ss_record_row *row, ss_error *e);

// Room for `count` entries; none if count is 0.
ss_status ss_history_new(int count, ss_history *history, ss_error *e);
void ss_history_free(ss_history *history);
// Its columns, in the order of the piece and of the files.
#define SS_HISTORY_COLUMNS 4
void ss_history_columns(const ss_history *history, double *columns[SS_HISTORY_COLUMNS]);
double ss_history_error(const ss_history *history, int k); // ss_measures_error of entry k
