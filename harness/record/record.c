#include "harness/record/record.h"

#include <stdlib.h>
#include <string.h>

#include "harness/record/database.h"
#include "solvers/registry.h"

// ---- Rows to and from a statement

static const ss_field KEY_FIELDS[] = {
    SS_FIELD(ss_record_row, problem_sha256, SS_FIELD_TEXT, .unit = NULL),
    SS_FIELD(ss_record_row, solver, SS_FIELD_TEXT, .unit = NULL),
    SS_FIELD(ss_record_row, tolerance, SS_FIELD_REAL, .unit = "1"),
    SS_FIELD(ss_record_row, start, SS_FIELD_TEXT, .unit = NULL),
    SS_FIELD(ss_record_row, build, SS_FIELD_TEXT, .unit = NULL),
    {.name = NULL},
};

// The row as a record takes it: without the "gs/" of a local solver.
static ss_record_row bare(const ss_record_row *row)
{
    ss_record_row taken = *row;
    const char *spec = ss_spec_bare(row->solver);
    memmove(taken.solver, spec, strlen(spec) + 1);
    return taken;
}

static ss_status take_row(const ss_record *record, sqlite3_stmt *statement, ss_record_row *row,
                          ss_error *e)
{
    ss_error reason;
    *row = ss_record_row_blank();
    ss_status status = ss_database_take(record, statement, ss_record_fields, row, e);
    if (status == SS_OK && ss_record_check(row, &reason) != SS_OK) {
        status = ss_database_fail_damaged(record, reason.text, e);
    }
    return status;
}

// Its columns begin at `place`; all NULL: there is none.
static ss_status take_history(const ss_record *record, sqlite3_stmt *statement, int place,
                              ss_history *history, ss_error *e)
{
    bool same = true;
    for (int k = 0; k < SS_HISTORY_COLUMNS; k++) {
        const int type = sqlite3_column_type(statement, place + k);
        same = same && (type == SQLITE_BLOB || type == SQLITE_NULL);
    }
    const int bytes = sqlite3_column_bytes(statement, place);
    same = same && bytes % (int)sizeof(double) == 0;
    for (int k = 1; k < SS_HISTORY_COLUMNS; k++) {
        same = same && bytes == sqlite3_column_bytes(statement, place + k);
    }
    if (!same) {
        return ss_database_fail_damaged(record, "a history has columns that do not fit each other",
                                        e);
    }
    const ss_status status = ss_history_new(bytes / (int)sizeof(double), history, e);
    double *columns[SS_HISTORY_COLUMNS];
    ss_history_columns(history, columns);
    for (int k = 0; status == SS_OK && bytes > 0 && k < SS_HISTORY_COLUMNS; k++) {
        const void *blob = sqlite3_column_blob(statement, place + k);
        if (blob == NULL) {
            ss_history_free(history);
            return ss_fail_memory(e, record->path);
        }
        memcpy(columns[k], blob, (size_t)bytes);
    }
    return status;
}

// ---- Rows

ss_status ss_record_find(ss_record *record, const ss_record_row *key, bool *found,
                         ss_record_row *row, ss_error *e)
{
    *found = false;
    *row = ss_record_row_blank();
    if (record->empty) {
        return SS_OK;
    }
    static const char SQL[] = "select {names} from runs where ({key}) = (?1, ?2, ?3, ?4, ?5)";
    ss_status status = record->find == NULL
                           ? ss_database_prepare(record, SQL, ss_record_fields, &record->find, e)
                           : SS_OK;
    if (status != SS_OK) {
        return status;
    }
    const ss_record_row taken = bare(key);
    status = ss_database_bind(record, record->find, KEY_FIELDS, &taken, e);
    if (status == SS_OK) {
        status = ss_database_step(record, record->find, found, e);
    }
    if (status == SS_OK && *found) {
        status = take_row(record, record->find, row, e);
    }
    sqlite3_reset(record->find);
    sqlite3_clear_bindings(record->find);
    return status;
}

// A problem that could be read has no use for the row that says it could not.
static ss_status drop_stand_in(const ss_record *record, const ss_record_row *row, ss_error *e)
{
    sqlite3_stmt *statement = NULL;
    ss_record_row key = *row;
    ss_record_stand_in(row->problem, key.problem_sha256);
    if (strcmp(key.problem_sha256, row->problem_sha256) == 0) {
        return SS_OK;
    }
    ss_status status = ss_database_prepare(
        record, "delete from runs where ({key}) = (?1, ?2, ?3, ?4, ?5)", NULL, &statement, e);
    if (status == SS_OK) {
        status = ss_database_bind(record, statement, KEY_FIELDS, &key, e);
    }
    return ss_database_finish(record, statement, status, e);
}

// run: its number.
static ss_status put_row(const ss_record *record, const ss_record_row *row, sqlite3_int64 *run,
                         ss_error *e)
{
    static const char SQL[] = "insert into runs ({names}) values ({places})"
                              " on conflict ({key}) do update set {updates} returning run";
    sqlite3_stmt *statement = NULL;
    bool is_there;
    ss_status status = ss_database_prepare(record, SQL, ss_record_fields, &statement, e);
    if (status == SS_OK) {
        status = ss_database_bind(record, statement, ss_record_fields, row, e);
    }
    if (status == SS_OK) {
        status = ss_database_step(record, statement, &is_there, e);
    }
    *run = status == SS_OK ? sqlite3_column_int64(statement, 0) : 0;
    return ss_database_finish(record, statement, status, e);
}

static ss_status put_history(const ss_record *record, sqlite3_int64 run, const ss_history *history,
                             ss_error *e)
{
    static const char SQL[] = "insert or replace into histories"
                              " (run, iteration, seconds, fb, normal)"
                              " values (?1, ?2, ?3, ?4, ?5)";
    sqlite3_stmt *statement = NULL;
    double *columns[SS_HISTORY_COLUMNS];
    ss_history_columns(history, columns);
    ss_status status = ss_database_prepare(record, SQL, NULL, &statement, e);
    int code = status == SS_OK ? sqlite3_bind_int64(statement, 1, run) : SQLITE_OK;
    for (int k = 0; status == SS_OK && code == SQLITE_OK && k < SS_HISTORY_COLUMNS; k++) {
        const void *bytes = history->count > 0 ? (const void *)columns[k] : "";
        code = sqlite3_bind_blob(statement, k + 2, bytes, history->count * (int)sizeof(double),
                                 SQLITE_STATIC);
    }
    status = code == SQLITE_OK ? status : ss_database_fail(record, e);
    return ss_database_finish(record, statement, status, e);
}

ss_status ss_database_put_row(const ss_record *record, const void *what, ss_error *e)
{
    const ss_record_row row = bare(what);
    sqlite3_int64 run = 0;
    ss_status status = drop_stand_in(record, &row, e);
    if (status == SS_OK) {
        status = put_row(record, &row, &run, e);
    }
    return status == SS_OK ? put_history(record, run, &row.history, e) : status;
}

ss_status ss_record_add(ss_record *record, const ss_record_row *row, ss_error *e)
{
    return ss_database_write(record, ss_database_put_row, row, e);
}

ss_status ss_database_put_machine(const ss_record *record, const void *what, ss_error *e)
{
    static const char SQL[] = "insert or replace into machines ({names}) values ({places})";
    sqlite3_stmt *statement = NULL;
    ss_status status = ss_database_prepare(record, SQL, ss_machine_fields, &statement, e);
    if (status == SS_OK) {
        status = ss_database_bind(record, statement, ss_machine_fields, what, e);
    }
    return ss_database_finish(record, statement, status, e);
}

ss_status ss_record_add_machine(ss_record *record, const ss_machine *machine, ss_error *e)
{
    return ss_database_write(record, ss_database_put_machine, machine, e);
}

// ---- All rows

static ss_status grow(ss_record_rows *rows, size_t *capacity, ss_error *e)
{
    if (rows->count < *capacity) {
        return SS_OK;
    }
    const size_t larger = *capacity > 0 ? 2 * *capacity : 64;
    ss_record_row *moved = realloc(rows->rows, larger * sizeof *moved);
    if (moved == NULL) {
        return ss_fail_memory(e, "the rows of a record");
    }
    rows->rows = moved;
    *capacity = larger;
    return SS_OK;
}

static ss_status load(const ss_record *record, sqlite3_stmt *statement, ss_record_rows *rows,
                      ss_error *e)
{
    size_t capacity = 0;
    bool more = true;
    ss_status status = SS_OK;
    const int history = sqlite3_column_count(statement) - SS_HISTORY_COLUMNS;
    while (status == SS_OK && more) {
        status = ss_database_step(record, statement, &more, e);
        if (status == SS_OK && more) {
            status = grow(rows, &capacity, e);
        }
        if (status == SS_OK && more) {
            ss_record_row *row = &rows->rows[rows->count++];
            status = take_row(record, statement, row, e);
            status = status == SS_OK ? take_history(record, statement, history, &row->history, e)
                                     : status;
        }
    }
    return status;
}

ss_status ss_record_rows_of(const ss_record *record, ss_record_rows *rows, ss_error *e)
{
    static const char SQL[] = "with h (run, h_iteration, h_seconds, h_fb, h_normal) as"
                              " (select * from histories)"
                              " select {names}, h_iteration, h_seconds, h_fb, h_normal from runs"
                              " left join h using (run) order by run";
    sqlite3_stmt *statement = NULL;
    *rows = (ss_record_rows){0};
    if (record->empty) {
        return SS_OK;
    }
    ss_status status = ss_database_prepare(record, SQL, ss_record_fields, &statement, e);
    if (status == SS_OK) {
        status = load(record, statement, rows, e);
    }
    sqlite3_finalize(statement);
    if (status != SS_OK) {
        ss_record_rows_free(rows);
    }
    return status;
}

ss_status ss_record_rows_read(const char *path, ss_record_rows *rows, ss_error *e)
{
    ss_record *record = NULL;
    *rows = (ss_record_rows){0};
    ss_status status = ss_record_open(path, SS_RECORD_READ, &record, e);
    if (status == SS_OK) {
        status = ss_record_rows_of(record, rows, e);
    }
    ss_record_close(record);
    return status;
}

void ss_record_rows_free(ss_record_rows *rows)
{
    for (size_t k = 0; k < rows->count; k++) {
        ss_record_row_free(&rows->rows[k]);
    }
    free(rows->rows);
    *rows = (ss_record_rows){0};
}
