#include "harness/record/merge.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/items.h"
#include "harness/record/database.h"

// ---- Which row says more

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

// ---- One record

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
            status = ss_database_put_row(into, row, e);
        }
    }
    return status;
}

// Errors of the record that is read go to *told; those of the record that is written go to *e and are returned.
static ss_status take_machines(const ss_record *into, const ss_record *from, ss_error *told,
                               ss_error *e)
{
    sqlite3_stmt *statement = NULL;
    bool row = true;
    ss_status written = SS_OK;
    ss_status status = ss_database_prepare(from, "select {names} from machines", ss_machine_fields,
                                           &statement, told);
    while (status == SS_OK && written == SS_OK && row) {
        ss_machine machine;
        status = ss_database_step(from, statement, &row, told);
        if (status == SS_OK && row) {
            status = ss_database_take(from, statement, ss_machine_fields, &machine, told);
        }
        if (status == SS_OK && row) {
            written = ss_database_put_machine(into, &machine, e);
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
    if (told->status == SS_OK && written == SS_OK &&
        ss_record_rows_of(from, &rows, told) == SS_OK) {
        written = take_rows(into, &rows, e);
    }
    ss_record_rows_free(&rows);
    ss_record_close(from);
    return written;
}

// ---- All

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
    return status == SS_OK ? ss_database_execute(into, SORT, e) : status;
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
        status = ss_database_fail(m.into, e);
    }
    if (status == SS_OK) {
        status = ss_database_write(m.into, merge, &m, e);
    }
    *remark = status == SS_OK ? ss_record_remark(m.into) : NULL;
    const bool wrote = status == SS_OK && read_one(&m), opened = m.into != NULL;
    ss_record_close(m.into);
    if (is_new && !wrote && (opened || is_empty(out))) { // else another program has made it since
        unlink(out);
    }
    return status;
}
