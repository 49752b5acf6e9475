// harness/record/database.h -- SQLite as a record of runs uses it (internal).
//
// In the SQL of these functions {key} is the columns of the key, and of a table of fields {names}
// are the columns, {columns} the columns with their types, {places} ?1, ?2, ..., and {updates}
// name = excluded.name. A function that fails writes its sentence, which names the file.
#pragma once

#include <sqlite3.h>

#include "base/field.h"
#include "harness/record/record.h"

struct ss_record {
    sqlite3 *db;
    char *path;
    bool writing;
    bool unlocked;      // the file system has no locks
    bool empty;         // a file without tables, as a kill at its beginning leaves it
    double patience;    // calls of the progress handler until the checks of the file take too long
    sqlite3_stmt *find; // prepared once
};

ss_status ss_database_fail(const ss_record *record, ss_error *e); // what SQLite said last
ss_status ss_database_fail_damaged(const ss_record *record, const char *what, ss_error *e);

ss_status ss_database_execute(const ss_record *record, const char *sql, ss_error *e);
ss_status ss_database_prepare(const ss_record *record, const char *sql, const ss_field *table,
                              sqlite3_stmt **statement, ss_error *e);
// *row: whether there is a row now.
ss_status ss_database_step(const ss_record *record, sqlite3_stmt *statement, bool *row,
                           ss_error *e);
// Steps to the end where the status so far is SS_OK; frees the statement in every case.
ss_status ss_database_finish(const ss_record *record, sqlite3_stmt *statement, ss_status status,
                             ss_error *e);
// The values of an object to the places of its fields, for as long as the object is there.
ss_status ss_database_bind(const ss_record *record, sqlite3_stmt *statement, const ss_field *table,
                           const void *object, ss_error *e);

// The first columns of the row that the statement is at into the fields of an object. SS_BAD_INPUT
// if a value does not fit.
ss_status ss_database_take(const ss_record *record, sqlite3_stmt *statement, const ss_field *table,
                           void *object, ss_error *e);

// All that `write` writes, or nothing.
typedef ss_status ss_database_writer(const ss_record *record, const void *what, ss_error *e);
ss_status ss_database_write(const ss_record *record, ss_database_writer *write, const void *what,
                            ss_error *e);

// What ss_record_add and ss_record_add_machine write: a row, with what it replaces; a machine.
ss_database_writer ss_database_put_row, ss_database_put_machine;
