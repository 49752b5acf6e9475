// The record keeps every finished row, and other programs can read it.
#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <time.h>

#include "tests/support/record_rows.h"

// ---- Rows.

// Every value that a field may have; of a NaN its being one.
static ss_record_row make_odd_row(void)
{
    ss_record_row row = make_row(1, 4);
    row.measures.fb = NAN;
    row.measures.fb_contact = INFINITY;
    row.measures.natural = -INFINITY;
    row.measures.normal = DBL_EPSILON;
    row.load = DBL_TRUE_MIN;
    row.seconds = DBL_MAX;
    row.tolerance = 0.1 + 0.2;
    row.contacts = INT_MAX;
    row.iterations = -1; // missing
    row.local_solves = 1L << 53;
    row.history.fb[0] = NAN;
    row.history.fb[1] = -INFINITY;
    row.history.seconds[2] = -0.0;
    row.history.iteration[3] = -1;
    strcpy(row.detail, "a tab\t, a line\nbreak, a \\backslash\\t, a 'quote', \r and \xc3\xa9 ");
    strcpy(row.start, "");
    memset(row.status, 's', sizeof row.status - 1);
    memset(row.problem, 'p', sizeof row.problem - 1);
    return row;
}

static void every_value_survives(void)
{
    ss_record_row row = make_odd_row(), found;
    bool there = false;
    ss_record *record = open_record();
    CHECK_OK(ss_record_add(record, &row, &error));
    CHECK_OK(ss_record_find(record, &row, &there, &found, &error));
    found.history = row.history; // which a search leaves out
    CHECK(there && same_row(&found, &row));
    ss_record_rows results = read_results(); // beside the writer
    CHECK(results.count == 1 && same_row(&results.rows[0], &row));
    ss_record_rows_free(&results);
    ss_record_close(record);
    results = read_results();
    CHECK(results.count == 1 && same_row(&results.rows[0], &row));
    ss_record_rows_free(&results);
    ss_record_row_free(&row);
}

static void rows_keep_the_order_of_adding_over_several_runs(void)
{
    enum { ROWS = 10 }; // a run; each costs a write to the disk
    for (int run = 0; run < 3; run++) {
        ss_record *record = open_record();
        for (int k = 0; k < ROWS; k++) {
            add(record, ROWS * run + ROWS - 1 - k, k % 3);
        }
        ss_record_close(record);
    }
    ss_record_rows results = read_results();
    TEST_ASSERT_EQUAL_INT(3 * ROWS, results.count);
    for (int k = 0; k < 3 * ROWS; k++) {
        const int number = k / ROWS * ROWS + ROWS - 1 - k % ROWS;
        CHECK(results.rows[k].contacts == 100 + number);
        CHECK(holds_row(&results, number, k % ROWS % 3));
    }
    ss_record_rows_free(&results);
}

static void a_row_of_the_same_key_replaces_in_its_place(void)
{
    write_record(3, 5);
    ss_record *record = open_record();
    ss_record_row row = make_row(1, 2);
    row.seconds = 42.0;
    CHECK_OK(ss_record_add(record, &row, &error));
    ss_record_close(record);
    ss_record_rows results = read_results();
    TEST_ASSERT_EQUAL_INT(3, results.count);
    CHECK(same_row(&results.rows[1], &row) && holds_row(&results, 0, 5) &&
          holds_row(&results, 2, 5));
    ss_record_rows_free(&results);
    ss_record_row_free(&row);
}

// A row that says that problem 1 cannot be read goes when problem 1 has one that says more.
static void what_stood_in_for_a_problem_goes_when_it_is_read(void)
{
    ss_record *record = open_record();
    ss_record_row stand_in = make_row(1, 0);
    ss_record_stand_in(stand_in.problem, stand_in.problem_sha256);
    snprintf(stand_in.status, sizeof stand_in.status, "bad_input");
    add(record, 0, 3);
    CHECK_OK(ss_record_add(record, &stand_in, &error));
    add(record, 2, 3);
    ss_record_rows results = read_results();
    CHECK(results.count == 3 && find_row(&results, &stand_in) != NULL);
    ss_record_rows_free(&results);
    add(record, 1, 3);
    results = read_results();
    CHECK(results.count == 3 && find_row(&results, &stand_in) == NULL);
    CHECK(holds_row(&results, 0, 3) && holds_row(&results, 1, 3) && holds_row(&results, 2, 3));
    ss_record_rows_free(&results);
    ss_record_close(record);
}

static void each_part_of_the_key_tells_rows_apart(void)
{
    ss_record *record = open_record();
    for (int part = 0; part < 6; part++) {
        bool found;
        ss_record_row row = make_row(0, 0), unused;
        CHECK_OK(ss_record_find(record, &row, &found, &unused, &error));
        CHECK(found == (part > 0));
        strcpy(part == 1   ? row.solver
               : part == 2 ? row.start
               : part == 3 ? row.build
               : part == 4 ? row.problem_sha256
                           : row.detail,
               "other");
        row.tolerance = part == 5 ? 1e-6 : row.tolerance;
        CHECK_OK(ss_record_find(record, &row, &found, &unused, &error));
        CHECK(part == 0 || !found);
        CHECK_OK(ss_record_add(record, &row, &error));
    }
    ss_record_close(record);
    ss_record_rows results = read_results();
    TEST_ASSERT_EQUAL_INT(6, results.count);
    ss_record_rows_free(&results);
}

static void a_solver_has_one_spelling(void)
{
    bool found;
    ss_record *record = open_record();
    ss_record_row row = make_row(0, 0), other;
    strcpy(row.solver, "gs/mfb+enum");
    CHECK_OK(ss_record_add(record, &row, &error));
    CHECK_OK(ss_record_find(record, &row, &found, &other, &error));
    CHECK(found && strcmp(other.solver, "mfb+enum") == 0);
    add(record, 0, 0);
    ss_record_close(record);
    ss_record_rows results = read_results();
    TEST_ASSERT_EQUAL_INT(1, results.count);
    ss_record_rows_free(&results);
}

static void a_record_without_rows_is_a_record(void)
{
    ss_record_close(open_record());
    ss_record_rows results = read_results();
    CHECK(results.count == 0);
    ss_record_rows_free(&results);
    ss_record_close(NULL);
}

// As a kill at the very beginning leaves it.
static void an_empty_file_is_a_record_without_rows(void)
{
    write_bytes(file, "", 0);
    ss_record_rows results = read_results();
    CHECK(results.count == 0);
    ss_record_rows_free(&results);
    write_record(2, 1);
    results = read_results();
    CHECK(results.count == 2);
    ss_record_rows_free(&results);
}

static void nothing_is_written_where_nothing_is_new(void)
{
    size_t before, after;
    write_record(1, 1);
    char *old = read_bytes(file, &before);
    struct stat first, second;
    stat(file, &first);
    ss_record_close(open_record());
    ss_record_rows results = read_results();
    ss_record_rows_free(&results);
    stat(file, &second);
    char *now = read_bytes(file, &after);
    CHECK(before == after && memcmp(old, now, before) == 0);
    CHECK(first.st_mtim.tv_sec == second.st_mtim.tv_sec &&
          first.st_mtim.tv_nsec == second.st_mtim.tv_nsec);
    free(old);
    free(now);
}

// ---- As other programs see it.

static sqlite3 *connect_file(void)
{
    sqlite3 *db = NULL;
    CHECK(sqlite3_open_v2(file, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK);
    return db;
}

static void execute(const char *sql)
{
    sqlite3 *db = connect_file();
    TEST_ASSERT_EQUAL_STRING_MESSAGE(
        "not an error",
        sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? "not an error" : sqlite3_errmsg(db),
        sql);
    sqlite3_close(db);
}

static double number(const char *sql)
{
    sqlite3 *db = connect_file();
    sqlite3_stmt *statement = NULL;
    CHECK(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK);
    CHECK(sqlite3_step(statement) == SQLITE_ROW);
    const double value = sqlite3_column_type(statement, 0) == SQLITE_NULL
                             ? NAN
                             : sqlite3_column_double(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return value;
}

// One second is what it takes; the bound is for sanitizers and slow machines.
static void ten_thousand_rows_with_histories_are_read(void)
{
    write_record(1, 100);
    execute("create temp table copies as"
            " with recursive n(k) as (select 2 union all select k + 1 from n where k < 10000)"
            " select k, runs.* from n, runs;"
            "update copies set run = k, contacts = 99 + k,"
            " problem_sha256 = printf('%064x', k - 1);"
            "alter table copies drop column k;"
            "insert into runs select * from copies;"
            "insert into histories select runs.run, iteration, histories.seconds, histories.fb,"
            " histories.normal"
            " from runs, histories where runs.run > 1 and histories.run = 1");
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    ss_record_rows results = read_results();
    clock_gettime(CLOCK_MONOTONIC, &end);
    CHECK_LE((double)(end.tv_sec - begin.tv_sec), 30.0);
    TEST_ASSERT_EQUAL_INT(10000, results.count);
    for (int k = 0; k < 10000; k += 777) {
        CHECK(results.rows[k].contacts == 100 + k && results.rows[k].history.count == 100);
        CHECK(results.rows[k].history.fb[99] == results.rows[0].history.fb[99]);
    }
    ss_record_rows_free(&results);
}

static void the_tables_are_those_of_the_header(void)
{
    const ss_machine machine = {.host = "h", .machine = "m", .system = "s", .memory_gb = 8.0};
    ss_record *record = open_record();
    add(record, 0, 2);
    add(record, 1, 3);
    CHECK_OK(ss_record_add_machine(record, &machine, &error));
    CHECK_OK(ss_record_add_machine(record, &machine, &error));
    ss_record_close(record);
    CHECK(number("select count(*) from runs where solver = 'mfb+enum' and tol = 1e-4") == 2.0);
    CHECK(number("select seconds from runs where contacts = 101") == 0.25);
    CHECK(isnan(number("select fail_percent from runs where contacts = 101")));
    CHECK(number("select length(histories.fb) from histories join runs using (run)"
                 " where contacts = 101") == 3.0 * sizeof(double));
    CHECK(number("select count(*) from machines where host = 'h' and memory_gb = 8") == 1.0);
    CHECK(number("pragma application_id") == 0x53535255);
    CHECK(number("select length(histories.normal) from histories join runs using (run)"
                 " where contacts = 101") == 3.0 * sizeof(double));
    CHECK(number("pragma user_version") == 3.0);
}

// The columns that solve prints come first and in its order.
static void a_row_begins_as_solve_prints_it(void)
{
    write_record(1, 0);
    sqlite3 *db = connect_file();
    sqlite3_stmt *statement = NULL;
    CHECK(sqlite3_prepare_v2(db, "select * from runs", -1, &statement, NULL) == SQLITE_OK);
    ss_field field;
    int k = 1; // after the number
    for (ss_fields walk = ss_fields_of(ss_result_fields); ss_fields_next(&walk, &field); k++) {
        TEST_ASSERT_EQUAL_STRING(field.name, sqlite3_column_name(statement, k));
    }
    CHECK(k == 20);
    sqlite3_finalize(statement);
    sqlite3_close(db);
}

static void who_deletes_a_row_deletes_its_history(void)
{
    write_record(3, 4);
    execute("delete from runs where contacts = 101");
    CHECK(number("select count(*) from histories") == 2.0);
    ss_record_rows results = read_results();
    CHECK(results.count == 2 && holds_row(&results, 0, 4) && holds_row(&results, 2, 4));
    ss_record_rows_free(&results);
}

// ---- Names.

static void a_link_is_another_name(void)
{
    char target[512];
    snprintf(target, sizeof target, "%s", scratch_path("target.db"));
    TEST_ASSERT_EQUAL_INT(0, symlink("target.db", file));
    write_record(1, 1);
    ss_record *record = NULL;
    CHECK_OK(ss_record_open(target, SS_RECORD_WRITE, &record, &error));
    add(record, 1, 1);
    ss_record_close(record);
    ss_record_rows results = read_results();
    CHECK(results.count == 2);
    ss_record_rows_free(&results);
    unlink(target);
}

static void names_have_no_meaning_for_sqlite(void)
{
    static const char *const NAMES[] = {":memory:", "file:odd.db?mode=memory"};
    char before[512];
    CHECK(getcwd(before, sizeof before) != NULL);
    CHECK(chdir(scratch_path("")) == 0);
    for (int k = 0; k < 2; k++) {
        ss_record *record = NULL;
        CHECK_OK(ss_record_open(NAMES[k], SS_RECORD_WRITE, &record, &error));
        ss_record_close(record);
        CHECK(access(NAMES[k], F_OK) == 0);
        unlink(NAMES[k]);
    }
    CHECK(chdir(before) == 0);
}

// ---- File systems without locks.

static int lock_calls;

static int refuse_locks(int descriptor, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (command == F_SETLK || command == F_GETLK) {
        lock_calls++;
        errno = ENOSYS;
        return -1;
    }
    return fcntl(descriptor, command, argument);
}

// As on Lustre that is mounted without locks: SQLite's own hook for its system calls.
static void lose_locks(bool lost)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    const sqlite3_syscall_ptr call = lost ? (sqlite3_syscall_ptr)refuse_locks : NULL;
    CHECK(vfs->xSetSystemCall(vfs, "fcntl", call) == SQLITE_OK);
}

static void without_locks_a_record_is_used_and_says_so(void)
{
    lose_locks(true);
    ss_record *record = open_record();
    const bool told = ss_record_remark(record) != NULL;
    add(record, 0, 2);
    add(record, 1, 3);
    ss_record_close(record);
    ss_record_rows results = read_results();
    lose_locks(false);
    CHECK(told && lock_calls > 0 && error.status == SS_OK);
    CHECK(results.count == 2 && holds_row(&results, 0, 2) && holds_row(&results, 1, 3));
    ss_record_rows_free(&results);
    record = open_record();
    CHECK(ss_record_remark(record) == NULL);
    ss_record_close(record);
}

// In a process of its own: SQLite knows of the locks that its own process holds.
static int read_without_locks(int begun)
{
    char byte;
    ss_record_rows rows;
    if (read(begun, &byte, 1) != 1) {
        return 1;
    }
    lose_locks(true);
    return ss_record_rows_read(file, &rows, &error) == SS_SYSTEM &&
                   strstr(error.text, "it is being written, or a run was killed") != NULL
               ? 0
               : 2;
}

// A journal means that somebody was killed, or is at work: without locks a reader cannot know.
static void without_locks_a_reader_does_not_disturb_a_writer(void)
{
    int begun[2], status = -1;
    write_record(200, 20);
    CHECK(pipe(begun) == 0);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        _exit(read_without_locks(begun[0]));
    }
    sqlite3 *writer = connect_file();
    CHECK(sqlite3_exec(writer,
                       "pragma cache_size = 1; begin immediate;"
                       " update runs set detail = hex(randomblob(200))",
                       NULL, NULL, NULL) == SQLITE_OK);
    CHECK(write(begun[1], "", 1) == 1);
    waitpid(child, &status, 0);
    close(begun[0]);
    close(begun[1]);
    TEST_ASSERT_EQUAL_INT(0, status);
    CHECK(sqlite3_exec(writer, "commit", NULL, NULL, NULL) == SQLITE_OK);
    sqlite3_close(writer);
    CHECK(number("select count(*) from runs where length(detail) = 400") == 200.0);
}

static void run_tests(void)
{
    RUN_TEST(every_value_survives);
    RUN_TEST(rows_keep_the_order_of_adding_over_several_runs);
    RUN_TEST(a_row_of_the_same_key_replaces_in_its_place);
    RUN_TEST(what_stood_in_for_a_problem_goes_when_it_is_read);
    RUN_TEST(each_part_of_the_key_tells_rows_apart);
    RUN_TEST(a_solver_has_one_spelling);
    RUN_TEST(a_record_without_rows_is_a_record);
    RUN_TEST(an_empty_file_is_a_record_without_rows);
    RUN_TEST(nothing_is_written_where_nothing_is_new);
    RUN_TEST(ten_thousand_rows_with_histories_are_read);
    RUN_TEST(the_tables_are_those_of_the_header);
    RUN_TEST(a_row_begins_as_solve_prints_it);
    RUN_TEST(who_deletes_a_row_deletes_its_history);
    RUN_TEST(a_link_is_another_name);
    RUN_TEST(names_have_no_meaning_for_sqlite);
    RUN_TEST(without_locks_a_record_is_used_and_says_so);
    RUN_TEST(without_locks_a_reader_does_not_disturb_a_writer);
}

const test_group record_tests = {.run = run_tests, .set_up = set_up};
