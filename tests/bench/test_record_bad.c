// Files that are no record, or a damaged one, are refused with a sentence.
#include <sqlite3.h>

#include "base/random.h"
#include "tests/support/hdf5_files.h"
#include "tests/support/record_rows.h"

static void check_refused(const char *reason)
{
    ss_record *record = NULL;
    ss_record_rows results;
    for (int writing = 0; writing < 2; writing++) {
        error = (ss_error){0};
        const ss_status status = writing != 0
                                     ? ss_record_open(file, SS_RECORD_WRITE, &record, &error)
                                     : ss_record_rows_read(file, &results, &error);
        TEST_ASSERT_EQUAL_INT_MESSAGE(SS_BAD_INPUT, status, reason);
        CHECK(record == NULL && strstr(error.text, file) != NULL);
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, reason), error.text);
    }
}

static void change(const char *sql)
{
    sqlite3 *db = NULL;
    CHECK(sqlite3_open(file, &db) == SQLITE_OK);
    const int code = sqlite3_exec(db, sql, NULL, NULL, NULL);
    TEST_ASSERT_EQUAL_INT_MESSAGE(SQLITE_OK, code, sqlite3_errmsg(db));
    sqlite3_close(db);
}

static void what_is_no_record_is_refused_with_a_sentence(void)
{
    ss_record_rows results;
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, ss_record_rows_read(file, &results, &error));
    CHECK(strstr(error.text, "no such file") != NULL && access(file, F_OK) != 0);
    write_bytes(file, "solver,seconds\nmfb,1\n", 21);
    check_refused("is no record of runs");
    write_bytes(file, "scene,model,solver\n", 19);
    check_refused("is a file of simulate --stats, and a record of runs is needed here");
    unlink(file);
    close_file(small_local(file)); // as records were once
    check_refused("is an HDF5 file, and a record of runs is an SQLite database; name another file");
    unlink(file);
    change("create table t (x)");
    check_refused("is an SQLite database, but no record of runs");
    unlink(file);
    write_record(1, 0);
    change("pragma user_version = 1");
    check_refused("holds results of another version of stickslip; name another file");
    unlink(file);
    TEST_ASSERT_EQUAL_INT(0, mkdir(file, 0777));
    check_refused("is not a regular file");
    rmdir(file);
}

// Reading is refused; a writer that never looks at the row may go on.
static void check_changed(const char *sql, const char *reason)
{
    ss_record_rows results;
    write_record(2, 2);
    change(sql);
    TEST_ASSERT_EQUAL_INT_MESSAGE(SS_BAD_INPUT, ss_record_rows_read(file, &results, &error), sql);
    CHECK(results.count == 0 && results.rows == NULL && strstr(error.text, file) != NULL);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, reason), error.text);
    unlink(file);
}

// Some of them would have SQLite compute for ever, or write what nobody asked for.
static void a_record_with_other_tables_is_refused(void)
{
    static const char *const CHANGES[] = {
        "alter table runs drop column fb",
        "alter table runs add column more real",
        "drop table histories",
        "drop table runs",
        "drop table machines",
        "drop trigger drop_history",
        "create table notes (note text)",
        "create index by_seconds on runs (seconds)",
        "create trigger forever after insert on runs begin update runs set detail = (with recursive"
        " c (x) as (select 1 union all select x + 1 from c) select count(*) from c); end",
        "alter table runs rename to others; create view runs as with recursive c (x) as"
        " (select 1 union all select x + 1 from c) select others.* from others, c",
        "pragma writable_schema = on; update sqlite_schema set sql = replace(sql, 'fb real',"
        " 'fb real check (length(hex(zeroblob(400000000))))') where name = 'runs'",
    };
    for (size_t k = 0; k < sizeof CHANGES / sizeof CHANGES[0]; k++) {
        write_record(2, 2);
        change(CHANGES[k]);
        check_refused("damaged record: its tables, triggers and views are not those that bench "
                      "makes");
        unlink(file);
    }
}

static void a_record_with_wrong_values_is_refused(void)
{
    check_changed("update runs set contacts = 'many'", "contacts of a row is not what it must be");
    check_changed("update runs set contacts = 1e12", "contacts of a row is not what it must be");
    check_changed("update runs set fb = x'00'", "fb of a row is not what it must be");
    check_changed("update runs set solver = x'00'", "solver of a row is not what it must be");
    check_changed("update runs set solver = printf('%0500d', 1)",
                  "solver of a row is not what it must be");
    check_changed("update runs set solver = null where run = 2",
                  "solver of a row is not what it must be");
    check_changed("update histories set fb = x'00'",
                  "a history has columns that do not fit each other");
    check_changed("update histories set iteration = x'00', seconds = x'00', fb = x'00',"
                  " normal = x'00'",
                  "a history has columns that do not fit each other");
    check_changed("update histories set iteration = 12345678, seconds = 12345678, fb = 12345678,"
                  " normal = 12345678",
                  "a history has columns that do not fit each other");
}

// ---- Pages that lead to pages

enum { PAGE = 512 };

static void put_number(unsigned char *at, size_t count, uint32_t value)
{
    for (size_t k = 0; k < count; k++) {
        at[k] = (unsigned char)(value >> 8 * (count - 1 - k));
    }
}

// The table of runs is `n` pages behind the others, each with so many ways to the next; the last is
// a row. See "B-tree Pages" in the description of SQLite's file format.
static void put_tower(uint32_t n, uint32_t ways)
{
    char sql[200];
    size_t size;
    write_record(1, 0);
    change("pragma page_size = 512; vacuum");
    char *head = read_bytes(file, &size);
    const uint32_t first = (uint32_t)(size / PAGE) + 1;
    free(head);
    snprintf(sql, sizeof sql,
             "pragma writable_schema = on; update sqlite_schema set rootpage = %u"
             " where type = 'table' and name = 'runs'",
             first);
    change(sql);
    head = read_bytes(file, &size);
    unsigned char *bytes = calloc(size + (size_t)n * PAGE, 1);
    memcpy(bytes, head, size);
    free(head);
    put_number(bytes + 28, 4, first + n - 1); // pages in all
    for (uint32_t k = 0; k < n; k++) {
        unsigned char *page = bytes + size + (size_t)k * PAGE;
        const bool last = k == n - 1;
        const uint32_t cells = last ? 1 : ways - 1, length = last ? 4 : 5;
        page[0] = last ? 13 : 5;
        put_number(page + 3, 2, cells);
        put_number(page + 5, 2, PAGE - cells * length);
        put_number(page + 8, 4, last ? 0 : first + k + 1);
        for (uint32_t c = 0; c < cells; c++) {
            const uint32_t at = PAGE - (c + 1) * length;
            put_number(page + (last ? 8 : 12) + 2 * c, 2, at);
            if (last) {
                memcpy(page + at, (const unsigned char[]){2, 1, 2, 0}, 4); // row 1 of one NULL
            } else {
                put_number(page + at, 4, first + k + 1);
                page[at + 4] = 1;
            }
        }
    }
    write_bytes(file, (const char *)bytes, size + (size_t)n * PAGE);
    free(bytes);
}

// Following them needs a stack as high, or 60^18 steps.
static void towers_of_pages_are_refused(void)
{
    put_tower(60000, 1);
    check_refused("damaged record: database disk image is malformed");
    unlink(file);
    put_tower(19, 60);
    check_refused("damaged record: looking through it does not end");
}

static void a_record_with_a_write_ahead_log_is_refused_and_none_is_made(void)
{
    char log[530];
    write_record(1, 0);
    change("pragma journal_mode = wal");
    check_refused("is kept with a write-ahead log, as no record of runs is");
    snprintf(log, sizeof log, "%s-wal", file);
    CHECK(access(log, F_OK) != 0);
    change("pragma journal_mode = delete");
    ss_record_rows results = read_results();
    CHECK(results.count == 1);
    ss_record_rows_free(&results);
}

static void check_settings(const char *sql, const char *reason)
{
    check_changed(sql, reason);
    // The writer refuses it where it looks for the row.
    bool found;
    ss_record_row row, key = make_row(1, 0);
    write_record(2, 0);
    change(sql);
    ss_record *record = open_record();
    sscanf(strstr(sql, "tol = ") != NULL ? sql + strlen("update runs set tol = ") : "1e-4", "%lf",
           &key.tolerance);
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, ss_record_find(record, &key, &found, &row, &error));
    ss_record_close(record);
    unlink(file);
}

// A NaN would be made again for ever, and compared with nothing.
static void settings_that_no_run_can_have_are_refused(void)
{
    check_settings("update runs set tol = -1e-6",
                   "tol of tangle.h5:0 by mfb+enum is -1e-06, and must be from 0 to 1; make the "
                   "run anew in another record");
    check_settings("update runs set tol = 2.5", "tol of tangle.h5:0 by mfb+enum is 2.5");
    check_settings("update runs set time_limit = null",
                   "time_limit of tangle.h5:0 by mfb+enum is nan");
    check_settings("update runs set time_limit = -1",
                   "time_limit of tangle.h5:0 by mfb+enum is -1");
    check_settings("update runs set max_iterations = null",
                   "max_iterations of tangle.h5:0 by mfb+enum is -1");
    check_changed("update runs set tol = null", "tol of tangle.h5:0 by mfb+enum is nan");
}

// A sentence, or rows; and for a writer a sentence, or one row more.
static int try_damaged(void)
{
    ss_record_rows results;
    ss_record *record = NULL;
    error = (ss_error){0};
    const ss_status read = ss_record_rows_read(file, &results, &error);
    CHECK(read == SS_OK || (read == SS_BAD_INPUT && error.text[0] != '\0'));
    ss_record_rows_free(&results);
    error = (ss_error){0};
    ss_status written = ss_record_open(file, SS_RECORD_WRITE, &record, &error);
    if (written == SS_OK) {
        written = add_row(record, 100, 50, &error);
    }
    TEST_ASSERT_TRUE_MESSAGE(written == SS_OK || (written == SS_BAD_INPUT && error.text[0] != 0),
                             error.text);
    ss_record_close(record);
    return read != SS_OK;
}

static void a_damaged_file_never_brings_the_reader_down(void)
{
    write_record(20, 50);
    size_t count;
    char *bytes = read_bytes(file, &count);
    ss_random random = ss_random_seeded(5);
    int refused = 0;
    for (int k = 0; k < 300; k++) {
        const size_t at = (size_t)(ss_random_uniform(&random) * (double)(k % 2 ? count : 4096));
        const size_t run = k % 3 == 0 ? 64 : 1;
        char *copy = malloc(count + run);
        memcpy(copy, bytes, count);
        for (size_t i = at; i < at + run && i < count; i++) {
            copy[i] = (char)(copy[i] ^ (1 << k % 8));
        }
        write_bytes(file, copy, k % 10 == 0 ? at : count);
        refused += try_damaged();
        free(copy);
    }
    CHECK(refused >= 60);
    free(bytes);
}

static void run_tests(void)
{
    RUN_TEST(what_is_no_record_is_refused_with_a_sentence);
    RUN_TEST(a_record_with_other_tables_is_refused);
    RUN_TEST(a_record_with_wrong_values_is_refused);
    RUN_TEST(towers_of_pages_are_refused);
    RUN_TEST(a_record_with_a_write_ahead_log_is_refused_and_none_is_made);
    RUN_TEST(settings_that_no_run_can_have_are_refused);
    RUN_TEST(a_damaged_file_never_brings_the_reader_down);
}

const test_group record_bad_tests = {.run = run_tests, .set_up = set_up};
