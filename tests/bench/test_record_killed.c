// The record among processes: killed writers, two writers, readers beside a writer, a full disk, a
// place that cannot be written.
#include <limits.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/random.h"
#include "tests/support/record_rows.h"

// Entries in every history here.
#define ENTRIES 20
// A writer closes its record and opens it again after so many rows, so that openings are hit too.
#define ROWS_PER_RUN 6

// In a child: goes on where the record ends, and reports the number of every row that was added.
static _Noreturn void write_for_ever(int report)
{
    for (;;) {
        ss_record *record = NULL;
        ss_record_rows results;
        if (ss_record_open(file, SS_RECORD_WRITE, &record, NULL) != SS_OK ||
            ss_record_rows_read(file, &results, NULL) != SS_OK) {
            _exit(1);
        }
        const int count = (int)results.count;
        ss_record_rows_free(&results);
        for (int k = count; k < count + ROWS_PER_RUN; k++) {
            if (add_row(record, k, ENTRIES, NULL) != SS_OK ||
                write(report, &k, sizeof k) != (ssize_t)sizeof k) {
                _exit(2);
            }
        }
        ss_record_close(record);
    }
}

// The child; *report is what it reports.
static pid_t start_writer(int *report)
{
    int ends[2];
    TEST_ASSERT_EQUAL_INT(0, pipe(ends));
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        write_for_ever(ends[1]);
    }
    close(ends[1]);
    *report = ends[0];
    return child;
}

// It must have lived until then.
static void kill_writer(pid_t child)
{
    int status = 0;
    kill(child, SIGKILL);
    TEST_ASSERT_EQUAL_INT(child, waitpid(child, &status, 0));
    TEST_ASSERT_TRUE_MESSAGE(WIFSIGNALED(status), "the writer failed by itself");
}

// All rows from 0 on without a gap; how many.
static int count_sound_rows(void)
{
    ss_record_rows results = read_results();
    const int count = (int)results.count;
    for (int k = 0; k < count; k++) {
        CHECK(holds_row(&results, k, ENTRIES));
    }
    ss_record_rows_free(&results);
    return count;
}

// Waits for so many reports, and fewer where the writer ends. The number of rows they speak of.
static int hear_reports(int report, int count)
{
    int rows = 0, k;
    while (count-- > 0 && read(report, &k, sizeof k) == (ssize_t)sizeof k) {
        rows = k + 1;
    }
    return rows;
}

// Killed some ms after up to eight rows, wherever it is then. The number of rows reported.
static int run_and_kill(ss_random *random)
{
    int report;
    const pid_t child = start_writer(&report);
    const int early = hear_reports(report, ss_random_below(random, 9));
    usleep((useconds_t)ss_random_between(random, 0.0, 8000.0));
    kill_writer(child);
    const int late = hear_reports(report, INT_MAX);
    close(report);
    return late > 0 ? late : early;
}

static bool exists(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0;
}

// Fifty, and as many more as it takes until ten have hit a writer in the middle of a row.
static void fifty_kills_lose_no_row_that_was_added(void)
{
    char journal[530];
    ss_random random = ss_random_seeded(50);
    int rows = 0, undone = 0;
    snprintf(journal, sizeof journal, "%s-journal", file);
    for (int k = 0; k < 50 || (undone < 10 && k < 1000); k++) {
        if (k % 10 == 0) { // a short record is opened quickly, so that more happens in a life
            unlink(file);
            unlink(journal);
            rows = 0;
        }
        const int reported = run_and_kill(&random);
        undone += exists(journal);
        rows = reported > rows ? reported : rows;
        if (rows > 0) {
            const int found = count_sound_rows();
            CHECK(found >= rows && found <= rows + 1); // one may be added and not yet reported
            rows = found;
        }
    }
    CHECK(rows > 0 && undone >= 10);
    ss_record *record = open_record();
    add(record, rows, ENTRIES);
    ss_record_close(record);
    TEST_ASSERT_EQUAL_INT(rows + 1, count_sound_rows());
    CHECK(!exists(journal));
}

static void a_reader_beside_a_writer_sees_every_row_so_far(void)
{
    int report, seen = 0;
    const pid_t child = start_writer(&report);
    for (int pass = 0; pass < 40; pass++) {
        const int rows = hear_reports(report, 1);
        const int count = count_sound_rows();
        CHECK(rows > 0 && count >= rows && count >= seen);
        seen = count;
    }
    kill_writer(child);
    close(report);
    CHECK(seen >= 40);
}

// ---- Several writers

static int wait_for(pid_t child)
{
    int status = -1;
    TEST_ASSERT_EQUAL_INT(child, waitpid(child, &status, 0));
    return status;
}

static void two_writers_wait_for_each_other(void)
{
    enum { ROWS = 20 };
    fflush(NULL);
    const pid_t child = fork(); // the two make the record at once, too
    ss_record *record = NULL;
    ss_status status = ss_record_open(file, SS_RECORD_WRITE, &record, &error);
    for (int k = 0; status == SS_OK && k < ROWS; k++) {
        status = add_row(record, 2 * k + (child == 0), ENTRIES, &error);
    }
    ss_record_close(record);
    if (child == 0) {
        _exit(status == SS_OK ? 0 : 1);
    }
    CHECK_OK(status);
    TEST_ASSERT_EQUAL_INT(0, wait_for(child));
    TEST_ASSERT_EQUAL_INT(2 * ROWS, count_sound_rows());
}

static int no_sleep(sqlite3_vfs *vfs, int microseconds)
{
    (void)vfs;
    return microseconds;
}

// SQLite counts its sleeps: without them a minute is over at once.
static void one_that_is_locked_for_too_long_is_told(void)
{
    write_record(1, ENTRIES);
    sqlite3_vfs hasty = *sqlite3_vfs_find(NULL);
    hasty.zName = "hasty";
    hasty.xSleep = no_sleep;
    sqlite3_vfs_register(&hasty, 1);
    ss_record *record = open_record();
    sqlite3 *other = NULL;
    CHECK(sqlite3_open(file, &other) == SQLITE_OK);
    CHECK(sqlite3_exec(other, "begin exclusive", NULL, NULL, NULL) == SQLITE_OK);
    TEST_ASSERT_EQUAL_INT(SS_SYSTEM, add_row(record, 1, ENTRIES, &error));
    CHECK(strstr(error.text, "another program keeps it locked for more than 60 s") != NULL);
    sqlite3_close(other);
    add(record, 1, ENTRIES);
    ss_record_close(record);
    sqlite3_vfs_unregister(&hasty);
    TEST_ASSERT_EQUAL_INT(2, count_sound_rows());
}

// ---- A full disk, which a limit on the size of files stands for, and one that is read-only. In a
// child, each: 0 when all went as it should.

static bool limit_files(size_t bytes)
{
    signal(SIGXFSZ, SIG_IGN);
    return setrlimit(RLIMIT_FSIZE, &(struct rlimit){bytes, bytes}) == 0;
}

static int add_more_than_fits(size_t limit)
{
    ss_record *record = NULL;
    ss_error e = {0};
    if (!limit_files(limit) || ss_record_open(file, SS_RECORD_WRITE, &record, &e) != SS_OK) {
        return 1;
    }
    if (add_row(record, 1000, 20000, &e) != SS_SYSTEM || strstr(e.text, file) == NULL ||
        strstr(e.text, "cannot be written: ") == NULL) {
        return 2;
    }
    // What fits is taken.
    const ss_status status = add_row(record, 50, ENTRIES, &e);
    ss_record_close(record);
    return status == SS_OK ? 0 : 3;
}

static int open_what_cannot_be_written(size_t unused)
{
    ss_record *record = NULL;
    ss_error e = {0};
    (void)unused;
    if (geteuid() == 0 && seteuid(65534) != 0) {
        return 1;
    }
    const ss_status status = ss_record_open(file, SS_RECORD_WRITE, &record, &e);
    ss_record_rows results;
    if (status != SS_SYSTEM || record != NULL || strstr(e.text, file) == NULL ||
        strstr(e.text, "cannot be written: ") == NULL) {
        fprintf(stderr, "%d: %s\n", (int)status, e.text);
        return 2;
    }
    return ss_record_rows_read(file, &results, &e) == SS_OK && results.count == 50 ? 0 : 3;
}

static int read_what_cannot_be_undone(size_t unused)
{
    ss_error e = {0};
    ss_record_rows results;
    (void)unused;
    if (geteuid() == 0 && seteuid(65534) != 0) {
        return 1;
    }
    return ss_record_rows_read(file, &results, &e) == SS_SYSTEM &&
                   strstr(e.text, "a run was killed while it wrote") != NULL
               ? 0
               : 2;
}

static void check_in_child(int (*function)(size_t limit), size_t limit)
{
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        _exit(function(limit));
    }
    TEST_ASSERT_EQUAL_INT(0, wait_for(child));
}

static void a_full_disk_costs_no_row_that_was_there(void)
{
    struct stat before;
    write_record(50, ENTRIES);
    CHECK(stat(file, &before) == 0);
    check_in_child(add_more_than_fits, (size_t)before.st_size + 16384);
    TEST_ASSERT_EQUAL_INT(51, count_sound_rows());
}

static void a_file_or_folder_that_is_read_only_is_told_before_the_work(void)
{
    char folder[512];
    snprintf(folder, sizeof folder, "%s", scratch_path(""));
    write_record(50, ENTRIES);
    chmod(file, 0444);
    chmod(folder, 0777);
    check_in_child(open_what_cannot_be_written, 0);
    chmod(file, 0666);
    chmod(folder, 0555);
    check_in_child(open_what_cannot_be_written, 0);
    chmod(folder, 0755);
}

// A writer that was killed between its journal and its commit.
static void leave_hot_journal(void)
{
    sqlite3 *db = NULL;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        sqlite3_open(file, &db);
        sqlite3_exec(db,
                     "pragma cache_size = 1; begin immediate; update runs set seconds = 1;"
                     "update histories set fb = zeroblob(100000)",
                     NULL, NULL, NULL);
        raise(SIGKILL);
    }
    CHECK(WIFSIGNALED(wait_for(child)));
}

static void what_a_kill_left_is_undone_by_who_can_write(void)
{
    char folder[512];
    snprintf(folder, sizeof folder, "%s", scratch_path(""));
    write_record(50, ENTRIES);
    leave_hot_journal();
    chmod(file, 0444);
    chmod(folder, 0555);
    check_in_child(read_what_cannot_be_undone, 0);
    chmod(folder, 0755);
    chmod(file, 0644);
    TEST_ASSERT_EQUAL_INT(50, count_sound_rows());
}

// As SQLite ends the journal of a change of several files, whose names are in the file `name`.
static void end_journal_with(const char *journal, const char *name)
{
    static const unsigned char END[] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
    const unsigned char no_page[] = {0, 4, 0, 1};
    const size_t length = strlen(name);
    unsigned sum = 0;
    for (size_t k = 0; k < length; k++) {
        sum += (unsigned char)name[k];
    }
    const unsigned char numbers[] = {0, 0, (unsigned char)(length >> 8), (unsigned char)length,
                                     0, 0, (unsigned char)(sum >> 8),    (unsigned char)sum};
    FILE *to = fopen(journal, "ab");
    CHECK(to != NULL);
    fwrite(no_page, 1, sizeof no_page, to);
    fwrite(name, 1, length, to);
    fwrite(numbers, 1, sizeof numbers, to);
    fwrite(END, 1, sizeof END, to);
    fclose(to);
}

static void a_journal_that_names_a_file_is_refused_and_the_file_stays(void)
{
    char journal[530], victim[530];
    ss_record *record = NULL;
    ss_record_rows results;
    snprintf(journal, sizeof journal, "%s-journal", file);
    snprintf(victim, sizeof victim, "%s-victim", file);
    write_bytes(victim, "precious", 8);
    write_record(50, ENTRIES);
    leave_hot_journal();
    end_journal_with(journal, victim);
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, ss_record_rows_read(file, &results, &error));
    CHECK(strstr(error.text, "its journal names another file, which undoing would delete") != NULL);
    error = (ss_error){0};
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, ss_record_open(file, SS_RECORD_WRITE, &record, &error));
    CHECK(strstr(error.text, "its journal names another file, which undoing would delete") != NULL);
    CHECK(exists(victim) && exists(journal));
    unlink(journal);
    CHECK(mkfifo(journal, 0600) == 0);
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, ss_record_open(file, SS_RECORD_WRITE, &record, &error));
    CHECK(strstr(error.text, "its journal is not a regular file") != NULL);
    unlink(journal);
    unlink(victim);
}

static void a_reader_undoes_what_a_kill_left_and_writes_nothing_else(void)
{
    char journal[530];
    size_t before, after;
    snprintf(journal, sizeof journal, "%s-journal", file);
    write_record(50, ENTRIES);
    char *was = read_bytes(file, &before);
    leave_hot_journal();
    CHECK(exists(journal));
    TEST_ASSERT_EQUAL_INT(50, count_sound_rows());
    char *is = read_bytes(file, &after);
    CHECK(!exists(journal) && before == after && memcmp(was, is, before) == 0);
    free(was);
    free(is);
}

static void run_tests(void)
{
    RUN_TEST(fifty_kills_lose_no_row_that_was_added);
    RUN_TEST(a_reader_beside_a_writer_sees_every_row_so_far);
    RUN_TEST(two_writers_wait_for_each_other);
    RUN_TEST(one_that_is_locked_for_too_long_is_told);
    RUN_TEST(a_full_disk_costs_no_row_that_was_there);
    RUN_TEST(a_file_or_folder_that_is_read_only_is_told_before_the_work);
    RUN_TEST(what_a_kill_left_is_undone_by_who_can_write);
    RUN_TEST(a_reader_undoes_what_a_kill_left_and_writes_nothing_else);
    RUN_TEST(a_journal_that_names_a_file_is_refused_and_the_file_stays);
}

const test_group record_killed_tests = {.run = run_tests, .set_up = set_up};
