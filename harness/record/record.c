
#include "harness/record/record.h"

#include "base/field.h"
#include "base/sha256.h"
#include "base/status.h"
#include "harness/record/machine.h"
#include "harness/run.h"
#include "problems/coulomb.h"
#include "solvers/registry.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static ss_status load(const ss_record *record, sqlite3_stmt *statement, ss_record_rows *rows,
                      ss_error *e);

// ---- Rows

#define FIELD(name_, kind_, unit_, rank_)                                                          \
    SS_FIELD(ss_record_row, name_, kind_, .unit = unit_, .rank = rank_)
#define TEXT(name_, rank_)        FIELD(name_, SS_FIELD_TEXT, NULL, rank_)
#define INTEGER(name_, rank_)     FIELD(name_, SS_FIELD_INTEGER, "1", rank_)
#define REAL(name_, unit_, rank_) FIELD(name_, SS_FIELD_REAL, unit_, rank_)
#define BETWEEN(low_, high_)      .low = (low_), .high = (high_)

const ss_field ss_result_fields[] = {
    TEXT(problem, SS_RANK_KEY),
    INTEGER(contacts, SS_RANK_USEFUL),
    TEXT(solver, SS_RANK_KEY),
    SS_FIELD_AS("tol", ss_record_row, tolerance, SS_FIELD_REAL, .unit = "1", BETWEEN(0.0, 1.0),
                .rank = SS_RANK_USEFUL),
    TEXT(status, SS_RANK_KEY),
    INTEGER(iterations, SS_RANK_KEY),
    INTEGER(local_solves, SS_RANK_FURTHER),
    REAL(alt_percent, "%", SS_RANK_FURTHER),
    REAL(fail_percent, "%", SS_RANK_FURTHER),
    REAL(seconds, "s", SS_RANK_KEY),
    REAL(cpu_seconds, "s", SS_RANK_PARTS),
    REAL(setup_seconds, "s", SS_RANK_PARTS),
    REAL(sweep_seconds, "s", SS_RANK_PARTS),
    SS_FIELD(ss_record_row, measures, SS_FIELD_PART, .part = ss_measure_fields,
             .groups = SS_MEASURES_OF_ROWS),
    TEXT(detail, SS_RANK_WHY),
    {.name = NULL},
};

const ss_field ss_record_fields[] = {
    {.name = "result", .kind = SS_FIELD_PART, .part = ss_result_fields},
    TEXT(problem_sha256, SS_RANK_ORIGIN),
    TEXT(start, SS_RANK_ORIGIN),
    TEXT(build, SS_RANK_ORIGIN),
    TEXT(scene, SS_RANK_ORIGIN),
    INTEGER(dim, SS_RANK_ORIGIN),
    SS_FIELD(ss_record_row, max_iterations, SS_FIELD_INTEGER, .unit = "1", BETWEEN(0.0, INT_MAX),
             .rank = SS_RANK_ORIGIN),
    SS_FIELD(ss_record_row, time_limit, SS_FIELD_REAL, .unit = "s", BETWEEN(0.0, 1e9),
             .rank = SS_RANK_ORIGIN),
    REAL(seconds_median, "s", SS_RANK_ORIGIN),
    INTEGER(repeats, SS_RANK_ORIGIN),
    REAL(load, "1", SS_RANK_ORIGIN),
    TEXT(host, SS_RANK_ORIGIN),
    TEXT(machine, SS_RANK_ORIGIN),
    TEXT(date, SS_RANK_ORIGIN),
    TEXT(outcome, SS_RANK_ORIGIN),
    {.name = NULL},
};

ss_record_row ss_record_row_blank(void)
{
    ss_record_row row = {0};
    ss_fields_blank(ss_record_fields, &row);
    row.measures = ss_measures_none();
    row.repeats = 0;
    return row;
}

void ss_record_put_label(const char *label, char *text, size_t room)
{
    const size_t length = strlen(label);
    snprintf(text, room, "%s", length < room ? label : label + length - (room - 1));
}

void ss_record_stand_in(const char *label, char sha256[65])
{
    ss_sha256 hash;
    ss_sha256_init(&hash);
    ss_sha256_update(&hash, label, strlen(label));
    ss_sha256_hex(&hash, SS_SHA256_BYTES, sha256);
}

// SS_BAD_INPUT where a limit or the tolerance of the run is none that a run can have. They decide
// which runs are made again and which are compared.
static ss_status record_check(const ss_record_row *row, ss_error *e)
{
    ss_field field;
    for (ss_fields walk = ss_fields_of(ss_record_fields); ss_fields_next(&walk, &field);) {
        if (field.low == field.high) {
            continue;
        }
        const double value = field.kind == SS_FIELD_INTEGER ? (double)ss_field_integer(&field, row)
                                                            : ss_field_number(&field, row);
        if (!(value >= field.low && value <= field.high)) {
            return ss_fail(e, SS_BAD_INPUT,
                           "%s of %s by %s is %g, and must be from %g to %g; make the run anew in "
                           "another record",
                           field.name, row->problem, row->solver, value, field.low, field.high);
        }
    }
    return SS_OK;
}

// -- The history.

ss_status ss_history_new(int count, ss_history *history, ss_error *e)
{
    *history = (ss_history){0};
    if (count == 0) {
        return SS_OK;
    }
    const size_t n = (size_t)count;
    double *room = malloc(SS_HISTORY_COLUMNS * n * sizeof *room);
    if (room == NULL) {
        return ss_fail_memory(e, "the history of a run");
    }
    *history = (ss_history){.count = count,
                            .iteration = room,
                            .seconds = room + n,
                            .fb = room + 2 * n,
                            .normal = room + 3 * n};
    return SS_OK;
}

void ss_history_columns(const ss_history *history, double *columns[SS_HISTORY_COLUMNS])
{
    columns[0] = history->iteration;
    columns[1] = history->seconds;
    columns[2] = history->fb;
    columns[3] = history->normal;
}

double ss_history_error(const ss_history *history, int k)
{
    const ss_measures m = {.fb = history->fb[k], .normal = history->normal[k]};
    return ss_measures_error(&m);
}

void ss_history_free(ss_history *history)
{
    free(history->iteration);
    *history = (ss_history){0};
}

void ss_record_row_free(ss_record_row *row)
{
    if (row != NULL) {
        ss_history_free(&row->history);
    }
}

// ---- The database

// All that `write` writes, or nothing.
typedef ss_status ss_database_writer(const ss_record *record, const void *what, ss_error *e);

// "SSRU", and what grows when the tables change.
#define APPLICATION "1397969493"
#define FORMAT      "3"

// How long a writer waits for another, in ms: longer than any transaction here takes.
#define PATIENCE 60000

// -- Sentences

static ss_status database_fail_damaged(const ss_record *record, const char *what, ss_error *e)
{
    return ss_fail(e, SS_BAD_INPUT, "%s: damaged record: %s", record->path, what);
}

static ss_status fail_foreign(const ss_record *record, ss_error *e)
{
    static const char HDF5[] = "\211HDF\r\n\032\n", STATS[] = "scene,mo";
    char head[9] = "";
    FILE *file = fopen(record->path, "rb");
    if (file != NULL) {
        head[fread(head, 1, sizeof head - 1, file)] = '\0';
        fclose(file);
    }
    const char *what = strcmp(head, HDF5) == 0
                           ? "is an HDF5 file, and a record of runs is an SQLite database; name "
                             "another file"
                       : strcmp(head, STATS) == 0
                           ? "is a file of simulate --stats, and a record of runs is needed here; "
                             "table --kind simulation takes statistics"
                           : "is no record of runs, as bench --out makes them";
    return ss_fail(e, SS_BAD_INPUT, "%s: %s", record->path, what);
}

static ss_status fail_read_only(const ss_record *record, ss_error *e)
{
    const int code = sqlite3_extended_errcode(record->db);
    if (code == SQLITE_READONLY_ROLLBACK && record->unlocked) {
        return ss_fail(
            e, SS_SYSTEM,
            "%s cannot be read: it is being written, or a run was killed while it wrote, "
            "which the next bench undoes",
            record->path);
    }
    if (code == SQLITE_READONLY_ROLLBACK) {
        return ss_fail(
            e, SS_SYSTEM,
            "%s cannot be read: a run was killed while it wrote, which can be undone only "
            "where the file can be written",
            record->path);
    }
    if (code == SQLITE_READONLY && eaccess(record->path, W_OK) == 0) {
        return database_fail_damaged(record, "it is of an unknown format", e);
    }
    return ss_fail(e, SS_SYSTEM, "%s cannot be written: it is read-only", record->path);
}

static ss_status fail_system(const ss_record *record, ss_error *e)
{
    const int error = sqlite3_system_errno(record->db);
    return ss_fail(e, SS_SYSTEM, "%s cannot be %s: %s", record->path,
                   record->writing ? "written" : "read",
                   error != 0 ? strerror(error) : sqlite3_errmsg(record->db));
}

static ss_status database_fail(const ss_record *record, ss_error *e)
{
    switch (sqlite3_errcode(record->db) & 0xff) {
    case SQLITE_NOMEM:
        return ss_fail_memory(e, record->path);
    case SQLITE_NOTADB:
        return fail_foreign(record, e);
    case SQLITE_CORRUPT:
    case SQLITE_CONSTRAINT: // an index that does not know all rows
    case SQLITE_MISMATCH:
    case SQLITE_TOOBIG:
    case SQLITE_ERROR: // a table or a column is missing
        return database_fail_damaged(record, sqlite3_errmsg(record->db), e);
    case SQLITE_INTERRUPT: // by `tire`
        return database_fail_damaged(record, "looking through it does not end", e);
    case SQLITE_BUSY:
        return ss_fail(e, SS_SYSTEM, "%s: another program keeps it locked for more than %d s",
                       record->path, PATIENCE / 1000);
    case SQLITE_FULL:
        return ss_fail(e, SS_SYSTEM, "%s cannot be written: the disk is full", record->path);
    case SQLITE_READONLY:
        return fail_read_only(record, e);
    default:
        return fail_system(record, e);
    }
}

// -- Statements

static const char KEY[] = "problem_sha256, solver, tol, start, build";

static const char *type_of(const ss_field *field)
{
    return field->kind == SS_FIELD_TEXT      ? "text"
           : field->kind == SS_FIELD_INTEGER ? "integer"
                                             : "real";
}

// Writes one of these lists: "columns", with their types; "names"; "places", ?1, ?2, ...;
// "updates", a = excluded.a.
static void write_list(FILE *out, const char *kind, const ss_field *table)
{
    ss_field field;
    int k = 0;
    for (ss_fields walk = ss_fields_of(table); ss_fields_next(&walk, &field); k++) {
        fputs(k > 0 ? ", " : "", out);
        if (strcmp(kind, "columns") == 0) {
            fprintf(out, "%s %s", field.name, type_of(&field));
        } else if (strcmp(kind, "places") == 0) {
            fprintf(out, "?%d", k + 1);
        } else if (strcmp(kind, "updates") == 0) {
            fprintf(out, "%s = excluded.%s", field.name, field.name);
        } else {
            fputs(field.name, out);
        }
    }
}

// SQL in which {key} and {names}, {columns} ... of the table are written out; NULL without memory.
static char *expand(const char *sql, const ss_field *table)
{
    char *text = NULL, word[16];
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL) {
        return NULL;
    }
    for (const char *at = sql; *at != '\0'; at++) {
        if (*at != '{') {
            fputc(*at, out);
            continue;
        }
        snprintf(word, sizeof word, "%.*s", (int)strcspn(at + 1, "}"), at + 1);
        at += strlen(word) + 1;
        if (strcmp(word, "key") == 0) {
            fputs(KEY, out);
        } else {
            write_list(out, word, table);
        }
    }
    const bool failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed) {
        free(text);
        return NULL;
    }
    return text;
}

static ss_status database_execute(const ss_record *record, const char *sql, ss_error *e)
{
    char *text = expand(sql, ss_record_fields);
    if (text == NULL) {
        return ss_fail_memory(e, record->path);
    }
    const int code = sqlite3_exec(record->db, text, NULL, NULL, NULL);
    free(text);
    return code == SQLITE_OK ? SS_OK : database_fail(record, e);
}

static ss_status database_prepare(const ss_record *record, const char *sql, const ss_field *table,
                                  sqlite3_stmt **statement, ss_error *e)
{
    char *text = expand(sql, table);
    if (text == NULL) {
        return ss_fail_memory(e, record->path);
    }
    const int code = sqlite3_prepare_v2(record->db, text, -1, statement, NULL);
    free(text);
    return code == SQLITE_OK ? SS_OK : database_fail(record, e);
}

// *row: whether there is a row now.
static ss_status database_step(const ss_record *record, sqlite3_stmt *statement, bool *row,
                               ss_error *e)
{
    const int code = sqlite3_step(statement);
    *row = code == SQLITE_ROW;
    return code == SQLITE_ROW || code == SQLITE_DONE ? SS_OK : database_fail(record, e);
}

// Steps to the end where the status so far is SS_OK; frees the statement in every case.
static ss_status database_finish(const ss_record *record, sqlite3_stmt *statement, ss_status status,
                                 ss_error *e)
{
    bool row = true;
    while (status == SS_OK && row) {
        status = database_step(record, statement, &row, e);
    }
    sqlite3_finalize(statement);
    return status;
}

// -- Values and writes

// The object outlives the statement's use of it.
static int bind_field(sqlite3_stmt *statement, int place, const ss_field *field, const void *object)
{
    if (field->kind == SS_FIELD_TEXT) {
        const char *text = ss_field_text(field, object);
        return sqlite3_bind_text(statement, place, text, -1, SQLITE_STATIC);
    }
    if (field->kind == SS_FIELD_INTEGER && ss_field_integer(field, object) >= 0) {
        return sqlite3_bind_int64(statement, place, ss_field_integer(field, object));
    }
    return sqlite3_bind_double(statement, place, ss_field_number(field, object)); // NaN: NULL
}

// The values of an object to the places of its fields, for as long as the object is there.
static ss_status database_bind(const ss_record *record, sqlite3_stmt *statement,
                               const ss_field *table, const void *object, ss_error *e)
{
    ss_field field;
    int place = 1, code = SQLITE_OK;
    for (ss_fields walk = ss_fields_of(table); ss_fields_next(&walk, &field); place++) {
        code = code == SQLITE_OK ? bind_field(statement, place, &field, object) : code;
    }
    return code == SQLITE_OK ? SS_OK : database_fail(record, e);
}

static bool take_field(sqlite3_stmt *statement, int place, const ss_field *field, void *object)
{
    const int type = sqlite3_column_type(statement, place);
    if (field->kind == SS_FIELD_TEXT) {
        const char *text = (const char *)sqlite3_column_text(statement, place);
        const bool fits = type == SQLITE_TEXT && text != NULL && strlen(text) < field->width;
        ss_field_set_text(field, object, fits ? text : "");
        return fits;
    }
    const double value = sqlite3_column_double(statement, place);
    const bool integer = field->kind == SS_FIELD_INTEGER;
    const double most = !integer ? INFINITY : field->width == sizeof(int) ? INT_MAX : 0x1p53;
    ss_field_set(field, object, NAN);
    if (type == SQLITE_NULL) {
        return true;
    }
    if (!(type == SQLITE_INTEGER || (type == SQLITE_FLOAT && !integer)) || !(fabs(value) <= most)) {
        return false;
    }
    ss_field_set(field, object, value);
    return true;
}

// The first columns of the row that the statement is at into the fields of an object. SS_BAD_INPUT
// if a value does not fit.
static ss_status database_take(const ss_record *record, sqlite3_stmt *statement,
                               const ss_field *table, void *object, ss_error *e)
{
    char what[100];
    ss_field field;
    int place = 0;
    for (ss_fields walk = ss_fields_of(table); ss_fields_next(&walk, &field); place++) {
        if (!take_field(statement, place, &field, object)) {
            snprintf(what, sizeof what, "%s of a row is not what it must be", field.name);
            return sqlite3_errcode(record->db) == SQLITE_NOMEM
                       ? ss_fail_memory(e, record->path)
                       : database_fail_damaged(record, what, e);
        }
    }
    return SS_OK;
}

static ss_status database_write(const ss_record *record, ss_database_writer *write,
                                const void *what, ss_error *e)
{
    assert(record->writing);
    ss_status status = database_execute(record, "begin immediate", e);
    if (status != SS_OK) {
        return status;
    }
    status = write(record, what, e);
    if (status == SS_OK) {
        status = database_execute(record, "commit", e);
    }
    if (status != SS_OK) {
        database_execute(record, "rollback",
                         NULL); // nothing is left to undo where SQLite has done it
    }
    return status;
}

// -- Connecting

// Steps of SQLite's machine that the checks of a file may take, so many and more for each byte. A
// row has some hundred bytes and takes less than fifty steps.
#define STEPS          10000000
#define STEPS_PER_BYTE 16
#define STEPS_AT_ONCE  10000

// The last eight bytes of a journal that names another journal.
static const unsigned char NAMES_ANOTHER[] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};

static ss_status check_path(const char *path, bool writing, ss_error *e)
{
    struct stat file;
    if (stat(path, &file) == 0) {
        return S_ISREG(file.st_mode) ? SS_OK
                                     : ss_fail(e, SS_BAD_INPUT, "%s: is not a regular file", path);
    }
    if (errno == ENOENT && writing) {
        return SS_OK;
    }
    return ss_fail(e, SS_BAD_INPUT, "%s: %s", path,
                   errno == ENOENT ? "no such file" : strerror(errno));
}

// Bytes 18 and 19 are 2 where a write-ahead log belongs to the file: even a reader would make two
// files beside it.
static ss_status check_head(const char *path, ss_error *e)
{
    static const char SQLITE[] = "SQLite format 3";
    char head[20] = "";
    FILE *file = fopen(path, "rbe");
    const size_t count = file != NULL ? fread(head, 1, sizeof head, file) : 0;
    if (file != NULL) {
        fclose(file);
    }
    if (count == sizeof head && memcmp(head, SQLITE, sizeof SQLITE) == 0 &&
        (head[18] == 2 || head[19] == 2)) {
        return ss_fail(e, SS_BAD_INPUT,
                       "%s: is kept with a write-ahead log, as no record of runs is ('pragma "
                       "journal_mode = delete' in sqlite3 ends that)",
                       path);
    }
    return SS_OK;
}

// Undoing a change of several files at once deletes the journal that it names; such a change is not
// ours, and the name may be that of any file. A journal that cannot be opened, SQLite cannot open.
static ss_status check_journal(const ss_record *record, ss_error *e)
{
    unsigned char end[sizeof NAMES_ANOTHER];
    struct stat is;
    const char *path = sqlite3_filename_journal(sqlite3_db_filename(record->db, "main"));
    const int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) {
        return SS_OK;
    }
    const bool regular = fstat(file, &is) == 0 && S_ISREG(is.st_mode);
    const bool named =
        regular && is.st_size >= (off_t)sizeof end &&
        pread(file, end, sizeof end, is.st_size - (off_t)sizeof end) == (ssize_t)sizeof end &&
        memcmp(end, NAMES_ANOTHER, sizeof end) == 0;
    close(file);
    if (!regular) {
        return ss_fail(e, SS_BAD_INPUT, "%s: its journal is not a regular file", record->path);
    }
    return named ? ss_fail(e, SS_BAD_INPUT,
                           "%s: its journal names another file, which undoing would delete; no run "
                           "of bench leaves such a journal",
                           record->path)
                 : SS_OK;
}

static int tire(void *context)
{
    ss_record *record = context;
    return record->patience-- <= 0;
}

// A file may be made to harm who opens it. Nothing that it asks for is computed before check_tables
// has seen that it asks for nothing, and no check of it goes on without end.
static void tame(ss_record *record)
{
    static const int OPTIONS[][2] = {{SQLITE_DBCONFIG_DEFENSIVE, 1},
                                     {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                     {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
                                     {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0}};
    static const int LIMITS[][2] = {{SQLITE_LIMIT_SQL_LENGTH, 1 << 16},
                                    {SQLITE_LIMIT_EXPR_DEPTH, 50},
                                    {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
                                    {SQLITE_LIMIT_ATTACHED, 0}};
    struct stat file;
    const double bytes = stat(record->path, &file) == 0 ? (double)file.st_size : 0.0;
    for (size_t k = 0; k < sizeof OPTIONS / sizeof OPTIONS[0]; k++) {
        sqlite3_db_config(record->db, OPTIONS[k][0], OPTIONS[k][1], NULL);
    }
    for (size_t k = 0; k < sizeof LIMITS / sizeof LIMITS[0]; k++) {
        sqlite3_limit(record->db, LIMITS[k][0], LIMITS[k][1]);
    }
    sqlite3_busy_timeout(record->db, PATIENCE);
    record->patience = (STEPS + STEPS_PER_BYTE * bytes) / STEPS_AT_ONCE;
    sqlite3_progress_handler(record->db, STEPS_AT_ONCE, tire, record);
}

static void disconnect(ss_record *record)
{
    sqlite3_close(record->db);
    record->db = NULL;
}

// With "./" before it a name like ":memory:" has no meaning of its own.
static ss_status connect(ss_record *record, bool writing, ss_error *e)
{
    char *plain = NULL;
    if (asprintf(&plain, "%s%s", record->path[0] == '/' ? "" : "./", record->path) < 0) {
        return ss_fail_memory(e, record->path);
    }
    const int flags = !writing          ? SQLITE_OPEN_READONLY
                      : record->writing ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                        : SQLITE_OPEN_READWRITE;
    disconnect(record);
    const int code =
        sqlite3_open_v2(plain, &record->db, flags, record->unlocked ? "unix-none" : NULL);
    free(plain);
    if (record->db == NULL) {
        return ss_fail_memory(e, record->path);
    }
    if (code != SQLITE_OK) {
        return database_fail(record, e);
    }
    tame(record);
    return writing ? check_journal(record, e) : SS_OK;
}

// -- What a record holds

#define PRAGMA_FORMAT "pragma user_version = " FORMAT ";"

static const char CREATE[] =
    "create table runs (run integer primary key, {columns}, unique ({key}));"
    "create table histories (run integer primary key, iteration blob, seconds blob, fb blob,"
    " normal blob);"
    "create table machines (host text, machine text, system text, memory_gb real,"
    " primary key (host, machine));"
    "create trigger drop_history after delete on runs begin"
    " delete from histories where run = old.run; end;"
    "pragma application_id = " APPLICATION ";" PRAGMA_FORMAT;

// The first value of a statement that has one; NULL if it is not there. The caller frees it.
static ss_status ask(const ss_record *record, const char *sql, char **answer, ss_error *e)
{
    sqlite3_stmt *statement = NULL;
    bool row = false;
    *answer = NULL;
    ss_status status = database_prepare(record, sql, ss_record_fields, &statement, e);
    if (status == SS_OK) {
        status = database_step(record, statement, &row, e);
    }
    if (status == SS_OK && row) {
        const char *text = (const char *)sqlite3_column_text(statement, 0);
        *answer = strdup(text != NULL ? text : "");
        status = *answer != NULL && text != NULL ? SS_OK : ss_fail_memory(e, record->path);
    }
    sqlite3_finalize(statement);
    return status;
}

static ss_status ask_for(const ss_record *record, const char *sql, const char *expected, bool *same,
                         ss_error *e)
{
    char *answer = NULL;
    const ss_status status = ask(record, sql, &answer, e);
    *same = status == SS_OK && answer != NULL && strcmp(answer, expected) == 0;
    free(answer);
    return status;
}

static const char TABLES[] =
    "select group_concat(type || ' ' || name || ' ' || tbl_name || ' ' || ifnull(sql, ''), ';')"
    " from (select * from sqlite_schema order by name)";

// Others could hold triggers, constraints and indices that compute without end.
static ss_status check_tables(const ss_record *record, ss_error *e)
{
    ss_record fresh = {.path = record->path};
    char *made = NULL, *found = NULL;
    ss_status status = sqlite3_open(":memory:", &fresh.db) == SQLITE_OK
                           ? database_execute(&fresh, CREATE, e)
                           : ss_fail_memory(e, record->path);
    if (status == SS_OK) {
        status = ask(&fresh, TABLES, &made, e);
    }
    if (status == SS_OK) {
        status = ask(record, TABLES, &found, e);
    }
    if (status == SS_OK && strcmp(found, made) != 0) {
        status = database_fail_damaged(
            record, "its tables, triggers and views are not those that bench makes", e);
    }
    free(made);
    free(found);
    sqlite3_close(fresh.db);
    return status;
}

static ss_status check_format(ss_record *record, ss_error *e)
{
    bool ours = false, format = false;
    ss_status status =
        ask_for(record, "select count(*) from sqlite_schema", "0", &record->empty, e);
    if (status != SS_OK || record->empty) {
        return status;
    }
    status = ask_for(record, "pragma application_id", APPLICATION, &ours, e);
    if (status == SS_OK) {
        status = ask_for(record, "pragma user_version", FORMAT, &format, e);
    }
    if (status == SS_OK && !ours) {
        return ss_fail(
            e, SS_BAD_INPUT,
            "%s: is an SQLite database, but no record of runs, as bench --out makes them",
            record->path);
    }
    if (status == SS_OK && !format) {
        return ss_fail(e, SS_BAD_INPUT,
                       "%s: holds results of another version of stickslip; name another file",
                       record->path);
    }
    return status == SS_OK ? check_tables(record, e) : status;
}

// quick_check follows pages that lead to pages on the stack, however many they are; what walks
// along the rows refuses a tree that is too deep, so each is walked along before.
static ss_status check_pages(const ss_record *record, ss_error *e)
{
    static const char *const WALKS[] = {
        "select run from runs not indexed",
        "select problem_sha256 from runs indexed by sqlite_autoindex_runs_1",
        "select run from histories", "select host from machines not indexed",
        "select host from machines indexed by sqlite_autoindex_machines_1"};
    char *found = NULL;
    ss_status status = SS_OK;
    for (size_t k = 0; status == SS_OK && !record->empty && k < sizeof WALKS / sizeof WALKS[0];
         k++) {
        sqlite3_stmt *statement = NULL;
        status = database_prepare(record, WALKS[k], NULL, &statement, e);
        status = database_finish(record, statement, status, e);
    }
    if (status == SS_OK) {
        status = ask(record, "pragma quick_check(1)", &found, e);
    }
    if (status == SS_OK && (found == NULL || strcmp(found, "ok") != 0)) {
        status = database_fail_damaged(record, found != NULL ? found : "it has no pages", e);
    }
    free(found);
    return status;
}

// -- Opening

// A write that is undone shows before the work is done whether a row would be refused.
static ss_status make_or_try(ss_record *record, ss_error *e)
{
    ss_status status = database_execute(
        record, "pragma journal_mode = delete; pragma synchronous = extra; begin immediate", e);
    if (status != SS_OK) {
        return status;
    }
    status = check_format(record, e); // another writer may have made the tables meanwhile
    const bool fresh = status == SS_OK && record->empty;
    if (status == SS_OK) {
        status = database_execute(record, fresh ? CREATE : PRAGMA_FORMAT, e);
    }
    if (status == SS_OK) {
        status = database_execute(record, fresh ? "commit" : "rollback", e);
    }
    if (status != SS_OK) {
        database_execute(record, "rollback", NULL);
    }
    record->empty = record->empty && status != SS_OK;
    return status;
}

// Whether the last step failed because the file system knows no locks. One that has lost its lock
// daemon (ENOLCK) has them: it looks busy.
static bool lacks_locks(const ss_record *record)
{
    const int error = record->db != NULL ? sqlite3_system_errno(record->db) : 0;
    return record->db != NULL && sqlite3_extended_errcode(record->db) == SQLITE_IOERR_LOCK &&
           (error == ENOSYS || error == EOPNOTSUPP);
}

// Whether it failed because a kill cut a write short, which only a writer undoes. Without locks the
// journal may be that of a writer at work.
static bool lacks_undoing(const ss_record *record)
{
    return record->db != NULL && !record->unlocked && !record->writing &&
           sqlite3_extended_errcode(record->db) == SQLITE_READONLY_ROLLBACK;
}

static ss_status look_as(ss_record *record, bool writing, ss_error *e)
{
    const ss_status status = connect(record, writing, e);
    return status == SS_OK ? check_format(record, e) : status;
}

// A reader writes nothing but what undoes a write.
static ss_status look(ss_record *record, ss_error *e)
{
    ss_error why;
    ss_status status = look_as(record, record->writing, &why);
    if (status != SS_OK && lacks_locks(record)) {
        record->unlocked = true;
        status = look_as(record, record->writing, &why);
    }
    if (status != SS_OK && lacks_undoing(record)) {
        status = look_as(record, true, &why);
        status = status == SS_OK ? look_as(record, false, &why) : status;
    }
    return status == SS_OK ? SS_OK : ss_fail(e, status, "%s", why.text);
}

static ss_status open_record(ss_record *record, ss_error *e)
{
    ss_status status = check_path(record->path, record->writing, e);
    if (status == SS_OK) {
        status = check_head(record->path, e);
    }
    if (status == SS_OK) {
        status = look(record, e);
    }
    if (status == SS_OK) {
        status = check_pages(record, e);
    }
    if (status == SS_OK) {
        sqlite3_progress_handler(record->db, 0, NULL, NULL); // all in it has an end
    }
    return status == SS_OK && record->writing ? make_or_try(record, e) : status;
}

ss_status ss_record_open(const char *path, ss_record_mode mode, ss_record **record, ss_error *e)
{
    *record = NULL;
    ss_record *made = calloc(1, sizeof *made);
    char *copy = strdup(path);
    if (made == NULL || copy == NULL) {
        free(made);
        free(copy);
        return ss_fail_memory(e, path);
    }
    *made = (ss_record){.path = copy, .writing = mode == SS_RECORD_WRITE};
    const ss_status status = open_record(made, e);
    if (status != SS_OK) {
        ss_record_close(made);
        return status;
    }
    *record = made;
    return SS_OK;
}

const char *ss_record_remark(const ss_record *record)
{
    return record->unlocked
               ? "its file system has no locks: no other program may use the record meanwhile"
               : NULL;
}

void ss_record_close(ss_record *record)
{
    if (record != NULL) {
        sqlite3_finalize(record->find);
        disconnect(record);
        free(record->path);
        free(record);
    }
}

// ---- Records

// -- Rows to and from a statement

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
    ss_status status = database_take(record, statement, ss_record_fields, row, e);
    if (status == SS_OK && record_check(row, &reason) != SS_OK) {
        status = database_fail_damaged(record, reason.text, e);
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
        return database_fail_damaged(record, "a history has columns that do not fit each other", e);
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

// -- Rows

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
                           ? database_prepare(record, SQL, ss_record_fields, &record->find, e)
                           : SS_OK;
    if (status != SS_OK) {
        return status;
    }
    const ss_record_row taken = bare(key);
    status = database_bind(record, record->find, KEY_FIELDS, &taken, e);
    if (status == SS_OK) {
        status = database_step(record, record->find, found, e);
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
    ss_status status = database_prepare(
        record, "delete from runs where ({key}) = (?1, ?2, ?3, ?4, ?5)", NULL, &statement, e);
    if (status == SS_OK) {
        status = database_bind(record, statement, KEY_FIELDS, &key, e);
    }
    return database_finish(record, statement, status, e);
}

// run: its number.
static ss_status put_row(const ss_record *record, const ss_record_row *row, sqlite3_int64 *run,
                         ss_error *e)
{
    static const char SQL[] = "insert into runs ({names}) values ({places})"
                              " on conflict ({key}) do update set {updates} returning run";
    sqlite3_stmt *statement = NULL;
    bool is_there;
    ss_status status = database_prepare(record, SQL, ss_record_fields, &statement, e);
    if (status == SS_OK) {
        status = database_bind(record, statement, ss_record_fields, row, e);
    }
    if (status == SS_OK) {
        status = database_step(record, statement, &is_there, e);
    }
    *run = status == SS_OK ? sqlite3_column_int64(statement, 0) : 0;
    return database_finish(record, statement, status, e);
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
    ss_status status = database_prepare(record, SQL, NULL, &statement, e);
    int code = status == SS_OK ? sqlite3_bind_int64(statement, 1, run) : SQLITE_OK;
    for (int k = 0; status == SS_OK && code == SQLITE_OK && k < SS_HISTORY_COLUMNS; k++) {
        const void *bytes = history->count > 0 ? (const void *)columns[k] : "";
        code = sqlite3_bind_blob(statement, k + 2, bytes, history->count * (int)sizeof(double),
                                 SQLITE_STATIC);
    }
    status = code == SQLITE_OK ? status : database_fail(record, e);
    return database_finish(record, statement, status, e);
}

static ss_status database_put_row(const ss_record *record, const void *what, ss_error *e)
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
    return database_write(record, database_put_row, row, e);
}

static ss_status database_put_machine(const ss_record *record, const void *what, ss_error *e)
{
    static const char SQL[] = "insert or replace into machines ({names}) values ({places})";
    sqlite3_stmt *statement = NULL;
    ss_status status = database_prepare(record, SQL, ss_machine_fields, &statement, e);
    if (status == SS_OK) {
        status = database_bind(record, statement, ss_machine_fields, what, e);
    }
    return database_finish(record, statement, status, e);
}

ss_status ss_record_add_machine(ss_record *record, const ss_machine *machine, ss_error *e)
{
    return database_write(record, database_put_machine, machine, e);
}

// -- All rows

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
        status = database_step(record, statement, &more, e);
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

static ss_status record_rows_of(const ss_record *record, ss_record_rows *rows, ss_error *e)
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
    ss_status status = database_prepare(record, SQL, ss_record_fields, &statement, e);
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
        status = record_rows_of(record, rows, e);
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

// ---- Several records as one

// -- Which row says more

// 2: another run would say the same; 1: with larger limits it may say more; 0: it may in any case.
static int completeness(const ss_record_row *row)
{
    if (strcmp(row->status, "interrupted") == 0) {
        return 0;
    }
    return strcmp(row->status, "max_iter") != 0 && strcmp(row->status, "time_limit") != 0 ? 2 : 1;
}

static bool says_more(const ss_record_row *row, const ss_record_row *than)
{
    const int a = completeness(row), b = completeness(than);
    if (a != b || a != 1) {
        return a > b;
    }
    if (strcmp(row->status, than->status) != 0) {
        return row->iterations > than->iterations;
    }
    return strcmp(row->status, "max_iter") == 0 ? row->max_iterations > than->max_iterations
                                                : row->time_limit > than->time_limit;
}

// -- One record

static bool is_empty(const char *path)
{
    struct stat is;
    return stat(path, &is) == 0 && is.st_size == 0;
}

static ss_status take_rows(ss_record *into, const ss_record_rows *rows, ss_error *e)
{
    ss_status status = SS_OK;
    for (size_t k = 0; status == SS_OK && k < rows->count; k++) {
        const ss_record_row *row = &rows->rows[k];
        ss_record_row there;
        bool found;
        status = ss_record_find(into, row, &found, &there, e);
        if (status == SS_OK && (!found || says_more(row, &there))) {
            status = database_put_row(into, row, e);
        }
    }
    return status;
}

// Errors of the record that is read go to *told; those of the record that is written go to *e and
// are returned.
static ss_status take_machines(const ss_record *into, const ss_record *from, ss_error *told,
                               ss_error *e)
{
    sqlite3_stmt *statement = NULL;
    bool row = true;
    ss_status written = SS_OK;
    ss_status status =
        database_prepare(from, "select {names} from machines", ss_machine_fields, &statement, told);
    while (status == SS_OK && written == SS_OK && row) {
        ss_machine machine;
        status = database_step(from, statement, &row, told);
        if (status == SS_OK && row) {
            status = database_take(from, statement, ss_machine_fields, &machine, told);
        }
        if (status == SS_OK && row) {
            written = database_put_machine(into, &machine, e);
        }
    }
    sqlite3_finalize(statement);
    return written;
}

static ss_status take_record(ss_record *into, const char *path, ss_error *told, ss_error *e)
{
    ss_record_rows rows = {0};
    ss_record *from = NULL;
    ss_status written = SS_OK;
    *told = (ss_error){.status = SS_OK};
    if (ss_same_file(into->path, path)) { // its rows are there
        return SS_OK;
    }
    if (ss_record_open(path, SS_RECORD_READ, &from, told) == SS_OK && !from->empty) {
        written = take_machines(into, from, told, e);
    }
    if (told->status == SS_OK && written == SS_OK && record_rows_of(from, &rows, told) == SS_OK) {
        written = take_rows(into, &rows, e);
    }
    ss_record_rows_free(&rows);
    ss_record_close(from);
    return written;
}

// -- All

static int compare_labels(void *unused, int nfirst, const void *first, int nsecond,
                          const void *second)
{
    char a[sizeof((ss_record_row *)0)->problem], b[sizeof a];
    (void)unused;
    snprintf(a, sizeof a, "%.*s", nfirst, (const char *)first);
    snprintf(b, sizeof b, "%.*s", nsecond, (const char *)second);
    return strverscmp(a, b);
}

// Rows that stand in for problems that another record could read; then new numbers, by way of
// negative ones, so that no two rows have the same in between.
static const char SORT[] =
    "delete from runs where status = 'bad_input' and contacts is null and exists"
    " (select 1 from runs as r where r.contacts is not null and r.problem = runs.problem"
    " and (r.solver, r.tol, r.start, r.build) = (runs.solver, runs.tol, runs.start, runs.build));"
    "create temp table places (old integer primary key, new integer);"
    "insert into places select run, row_number() over"
    " (order by problem collate labels, first, tol, start, build) from"
    " (select *, min(run) over (partition by solver) as first from runs);"
    "update runs set run = -(select new from places where old = run);"
    "update histories set run = -(select new from places where old = run);"
    "update runs set run = -run; update histories set run = -run;"
    "drop table places";

typedef struct merging {
    int count;
    char *const *paths;
    ss_error *told;
    ss_record *into;
} merging;

static ss_status merge(const ss_record *into, const void *what, ss_error *e)
{
    const merging *m = what;
    ss_status status = SS_OK;
    for (int k = 0; status == SS_OK && k < m->count; k++) {
        status = take_record(m->into, m->paths[k], &m->told[k], e);
    }
    return status == SS_OK ? database_execute(into, SORT, e) : status;
}

static bool read_one(const merging *m)
{
    for (int k = 0; k < m->count; k++) {
        if (m->told[k].status == SS_OK) {
            return true;
        }
    }
    return false;
}

ss_status ss_record_merge(const char *out, int count, char *const *paths, ss_error *told,
                          const char **remark, ss_error *e)
{
    merging m = {.count = count, .paths = paths, .told = told};
    const bool is_new = access(out, F_OK) != 0;
    ss_status status = ss_record_open(out, SS_RECORD_WRITE, &m.into, e);
    if (status == SS_OK && sqlite3_create_collation(m.into->db, "labels", SQLITE_UTF8, NULL,
                                                    compare_labels) != SQLITE_OK) {
        status = database_fail(m.into, e);
    }
    if (status == SS_OK) {
        status = database_write(m.into, merge, &m, e);
    }
    *remark = status == SS_OK ? ss_record_remark(m.into) : NULL;
    const bool wrote = status == SS_OK && read_one(&m), opened = m.into != NULL;
    ss_record_close(m.into);
    if (is_new && !wrote && (opened || is_empty(out))) { // else another program has made it since
        unlink(out);
    }
    return status;
}
