// harness/record/record.h -- the results of many runs in one SQLite database.
//
//     runs       a row per run: `run`, its number, and the columns of ss_record_fields (row.h)
//     histories  run, and iteration, seconds, fb, normal as BLOBs of as many doubles
//     machines   what is known of the machines, by host and machine
//
// The key of a row is (problem_sha256, solver, tol, start, build). A number that is missing is NULL.
// Who deletes a row of runs deletes its history with it. application_id and user_version say that
// it is a record, and of which format.
//
// A row is in the database whole or not at all, and on the disk when ss_record_add returns: SQLite
// keeps a rollback journal beside the file while it writes, RECORD.db-journal, and whoever opens
// the record next undoes what a kill cut short. No write-ahead log: that needs memory which all
// users share, so that a record on a network file system could not be read from another machine.
// Locks are held during a write alone; two writers, and readers beside them, wait for each other.
//
// Anybody may have made the file. ss_record_open is the gate to it: a database with other tables,
// triggers or views, with damaged pages or with a journal that names a further file is refused, and a
// reader writes nothing but what undoes a write that was cut short.
#pragma once

#include "harness/record/machine.h"
#include "harness/record/row.h"

typedef struct ss_record ss_record; // an open database

typedef enum ss_record_mode {
    SS_RECORD_READ,
    SS_RECORD_WRITE, // made if it is missing; SS_SYSTEM if it could not take a row
} ss_record_mode;

// SS_BAD_INPUT if the file is no record or is damaged.
ss_status ss_record_open(const char *path, ss_record_mode mode, ss_record **record, ss_error *e);
void ss_record_close(ss_record *record); // takes NULL

// The sentence that users of the record should read, or NULL: on a file system without locks (Lustre
// that is mounted without them) no other process may use it meanwhile.
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

ss_status ss_record_rows_of(const ss_record *record, ss_record_rows *rows, ss_error *e);
ss_status ss_record_rows_read(const char *path, ss_record_rows *rows, ss_error *e);
void ss_record_rows_free(ss_record_rows *rows);
