// harness/record/record.h -- the results of many runs in one SQLite database.
//
//     runs       a row per run: `run`, its number, and the columns of ss_record_fields (row.h)
//     histories  run, and iteration, seconds, fb, normal as BLOBs of as many doubles
//     machines   what is known of the machines, by host and machine
//
// The key of a row is (problem_sha256, solver, tol, start, build). A number that is missing is
// NULL. Who deletes a row of runs deletes its history with it. application_id and user_version say
// that it is a record, and of which format.
//
// A row is in the database whole or not at all, and on the disk when ss_record_add returns: SQLite
// keeps a rollback journal beside the file while it writes, RECORD.db-journal, and whoever opens
// the record next undoes what a kill cut short. No write-ahead log: that needs memory which all
// users share, so that a record on a network file system could not be read from another machine.
// Locks are held during a write alone; two writers, and readers beside them, wait for each other.
//
// Anybody may have made the file. ss_record_open is the gate to it: a database with other tables,
// triggers or views, with damaged pages or with a journal that names a further file is refused, and
// a reader writes nothing but what undoes a write that was cut short.
#pragma once

#include "base/status.h"
#include "problems/coulomb.h"
#include "base/field.h"
#include "harness/record/machine.h"

#include <sqlite3.h>

// ---- row

// one run as a row of results: its fields and its history.

// The state after each iteration; fb and normal are those of the judge.
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

// Room for `count` entries; none if count is 0.
ss_status ss_history_new(int count, ss_history *history, ss_error *e);
void ss_history_free(ss_history *history);
// Its columns, in the order of the piece and of the files.
#define SS_HISTORY_COLUMNS 4
void ss_history_columns(const ss_history *history, double *columns[SS_HISTORY_COLUMNS]);
double ss_history_error(const ss_history *history, int k); // ss_measures_error of entry k

// ---- database

// SQLite as a record of runs uses it (internal).
//
// In the SQL of these functions {key} is the columns of the key, and of a table of fields {names}
// are the columns, {columns} the columns with their types, {places} ?1, ?2, ..., and {updates}
// name = excluded.name. A function that fails writes its sentence, which names the file.

struct ss_record {
    sqlite3 *db;
    char *path;
    bool writing;
    bool unlocked;      // the file system has no locks
    bool empty;         // a file without tables, as a kill at its beginning leaves it
    double patience;    // calls of the progress handler until the checks of the file take too long
    sqlite3_stmt *find; // prepared once
};

typedef struct ss_record ss_record; // an open database

typedef enum ss_record_mode {
    SS_RECORD_READ,
    SS_RECORD_WRITE, // made if it is missing; SS_SYSTEM if it could not take a row
} ss_record_mode;

// SS_BAD_INPUT if the file is no record or is damaged.
ss_status ss_record_open(const char *path, ss_record_mode mode, ss_record **record, ss_error *e);
void ss_record_close(ss_record *record); // takes NULL

// The sentence that users of the record should read, or NULL: on a file system without locks
// (Lustre that is mounted without them) no other process may use it meanwhile.
const char *ss_record_remark(const ss_record *record);

// The row with the key of `key`, without its history. A solver may be written with its "gs/".
ss_status ss_record_find(ss_record *record, const ss_record_row *key, bool *found,
                         ss_record_row *row, ss_error *e);

// A row with the same key is replaced, in its place; one that stood in for the problem while it
// could not be read goes. On failure the record is as it was.
ss_status ss_record_add(ss_record *record, const ss_record_row *row, ss_error *e);
ss_status ss_record_add_machine(ss_record *record, const ss_machine *machine, ss_error *e);

// All rows, with their histories, in the order of adding.
typedef struct ss_record_rows {
    size_t count;
    ss_record_row *rows; // [count] owned
} ss_record_rows;
ss_status ss_record_rows_read(const char *path, ss_record_rows *rows, ss_error *e);
void ss_record_rows_free(ss_record_rows *rows);

// ---- merge

// the rows of several records in one.
//
// If two rows have the same key, the one that says more stays:
//     a row of a run that hit no limit, before one of a run that did;
//     if both hit the same limit, the row with the larger limit;
//     if they hit different limits, the row with more iterations;
//     otherwise the row of the earlier record.
// A run that was interrupted says nothing. The rows are sorted by problem (numbers in its label by
// their value, strverscmp), solver (in the order in which solvers first appear), tolerance and
// start.

// Merges records into the record `out`, whose own rows count as those of the earliest record. told
// [count] gets what is wrong with each record; nothing is taken from a record with an error. Either
// all is written or nothing, and a new record is made only if one of `paths` could be read.
// *remark: what ss_record_remark says of `out`.
ss_status ss_record_merge(const char *out, int count, char *const *paths, ss_error *told,
                          const char **remark, ss_error *e);
