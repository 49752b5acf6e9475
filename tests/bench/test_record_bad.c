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

static void a_record_with_wrong_tables_is_refused(void)
{
    check_changed("alter table runs drop column fb", "damaged record: no such column: fb");
    check_changed("drop table histories", "damaged record: no such table: histories");
    check_changed("drop table runs", "damaged record: no such table: runs");
    check_changed("update runs set contacts = 'many'", "contacts of a row is not what it must be");
    check_changed("update runs set contacts = 1e12", "contacts of a row is not what it must be");
    check_changed("update runs set fb = x'00'", "fb of a row is not what it must be");
    check_changed("update runs set solver = x'00'", "solver of a row is not what it must be");
    check_changed("update runs set solver = printf('%0500d', 1)",
                  "solver of a row is not what it must be");
    check_changed("update runs set solver = null where run = 2",
                  "solver of a row is not what it must be");
    check_changed("update histories set fb = x'00'", "a history has columns of several lengths");
    check_changed("update histories set iteration = x'00', seconds = x'00', fb = x'00',"
                  " normal = x'00'",
                  "a history has columns of several lengths");
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
    RUN_TEST(a_record_with_wrong_tables_is_refused);
    RUN_TEST(settings_that_no_run_can_have_are_refused);
    RUN_TEST(a_damaged_file_never_brings_the_reader_down);
}

const test_group record_bad_tests = {.run = run_tests, .set_up = set_up};
