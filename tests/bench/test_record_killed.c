// The record among processes: killed writers, two writers, readers beside a writer, a full disk.
#include "harness/record.h"

#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "problems/tangle/random.h"
#include "tests/support/record_file.h"

// Entries in every history here.
#define ENTRIES 20
// A writer closes its record and opens it again after so many rows, so that folds are hit too.
#define ROWS_A_RUN 6

// In a child: goes on where the record ends, and reports the number of every row that was added.
static _Noreturn void write_for_ever(int report)
{
    for (;;) {
        ss_record *record = NULL;
        if (ss_record_open(file, &record, NULL) != SS_OK) {
            _exit(1);
        }
        for (int added = 0; added < ROWS_A_RUN; added++) {
            const int k = (int)ss_record_count(record);
            if (add_row(record, k, ENTRIES, NULL) != SS_OK ||
                write(report, &k, sizeof k) != (ssize_t)sizeof k) {
                _exit(2);
            }
        }
        if (ss_record_close(record, NULL) != SS_OK) {
            _exit(3);
        }
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
    ss_record *reader = NULL;
    CHECK_OK(ss_record_read(file, &reader, &error));
    const int count = (int)ss_record_count(reader);
    for (int k = 0; k < count; k++) {
        CHECK(holds_row(reader, k, ENTRIES));
    }
    CHECK_OK(ss_record_close(reader, &error));
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

// Killed some ms after up to eight rows, wherever it is then: at a row, a fold or the next opening.
// The number of rows reported.
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

static bool has_lines(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && status.st_size > 0;
}

static void fifty_kills_lose_no_row_that_was_added(void)
{
    ss_random random = ss_random_seeded(50);
    int rows = 0, unfolded = 0;
    for (int k = 0; k < 50; k++) {
        if (k % 10 == 0) { // a short record is folded quickly, so that more happens in a life
            unlink(file);
            unlink(journal);
            rows = 0;
        }
        const int reported = run_and_kill(&random);
        unfolded += has_lines(journal);
        rows = reported > rows ? reported : rows;
        if (rows > 0) {
            const int found = count_sound_rows();
            CHECK(found >= rows && found <= rows + 1); // one may be added and not yet reported
            rows = found;
        }
    }
    CHECK(rows >= 30 && unfolded >= 10); // the kills hit writers at work
    ss_record *record = NULL;
    CHECK_OK(ss_record_open(file, &record, &error));
    TEST_ASSERT_EQUAL_INT(rows, ss_record_count(record));
    CHECK_OK(add_row(record, rows, ENTRIES, &error));
    CHECK_OK(ss_record_close(record, &error));
    TEST_ASSERT_EQUAL_INT(rows + 1, count_sound_rows());
    CHECK(!has_lines(journal));
}

static void a_reader_beside_a_writer_sees_every_row_so_far(void)
{
    int report, seen = 0;
    const pid_t child = start_writer(&report);
    for (int pass = 0; pass < 60; pass++) {
        const int rows = hear_reports(report, 1);
        const int count = count_sound_rows();
        CHECK(rows > 0 && count >= rows && count >= seen);
        seen = count;
    }
    kill_writer(child);
    close(report);
    CHECK(seen >= 60);
}

static void check_busy(void)
{
    ss_record *second = NULL;
    TEST_ASSERT_EQUAL_INT(SS_SYSTEM, ss_record_open(file, &second, &error));
    CHECK(second == NULL && strstr(error.text, file) != NULL);
    CHECK(strstr(error.text, "is being written by another program") != NULL);
}

static void a_second_writer_is_refused_by_name(void)
{
    ss_record *record = NULL;
    CHECK_OK(ss_record_open(file, &record, &error));
    check_busy();
    CHECK_OK(add_row(record, 0, ENTRIES, &error)); // the first is not disturbed
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        ss_record *second = NULL;
        _exit(ss_record_open(file, &second, NULL) == SS_SYSTEM ? 0 : 1);
    }
    int status = -1;
    TEST_ASSERT_EQUAL_INT(child, waitpid(child, &status, 0));
    TEST_ASSERT_EQUAL_INT(0, status);
    CHECK_OK(ss_record_close(record, &error));
    CHECK_OK(ss_record_open(file, &record, &error));
    CHECK_OK(ss_record_close(record, &error));
    TEST_ASSERT_EQUAL_INT(1, count_sound_rows());
}

// ---- A full disk, which a limit on the size of files stands for.

static bool limit_files(size_t bytes)
{
    signal(SIGXFSZ, SIG_IGN);
    return setrlimit(RLIMIT_FSIZE, &(struct rlimit){bytes, bytes}) == 0;
}

// In a child, each: 0 when all went as it should.
static int add_more_than_fits(size_t limit)
{
    ss_record *record = NULL;
    ss_error e = {0};
    if (!limit_files(limit) || ss_record_open(file, &record, &e) != SS_OK) {
        return 1;
    }
    const size_t count = ss_record_count(record);
    ss_record_row row = make_row(1000, 20000);
    if (ss_record_add(record, &row, &e) != SS_SYSTEM || strstr(e.text, journal) == NULL ||
        ss_record_count(record) != count || row.history.count != 20000) {
        return 2;
    }
    ss_record_row_free(&row);
    return ss_record_close(record, &e) == SS_OK ? 0 : 3;
}

static int fold_more_than_fits(size_t limit)
{
    ss_record *record = NULL;
    ss_error e = {0};
    if (!limit_files(limit) || ss_record_open(file, &record, &e) != SS_OK ||
        add_row(record, 50, ENTRIES, &e) != SS_OK) {
        return 1;
    }
    return ss_record_close(record, &e) == SS_SYSTEM && strstr(e.text, file) != NULL &&
                   strstr(e.text, "the results are safe in") != NULL
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
    int status = -1;
    TEST_ASSERT_EQUAL_INT(child, waitpid(child, &status, 0));
    TEST_ASSERT_EQUAL_INT(0, status);
}

static void a_full_disk_leaves_the_file_and_every_row_whole(void)
{
    ss_record *record = NULL;
    CHECK_OK(ss_record_open(file, &record, &error));
    for (int k = 0; k < 50; k++) {
        CHECK_OK(add_row(record, k, ENTRIES, &error));
    }
    CHECK_OK(ss_record_close(record, &error));
    size_t before, after;
    char *old = read_bytes(file, &before);
    check_in_child(add_more_than_fits, 2 * before);
    check_in_child(fold_more_than_fits, before / 2);
    char *now = read_bytes(file, &after);
    CHECK(before == after && memcmp(old, now, before) == 0);
    free(old);
    free(now);
    TEST_ASSERT_EQUAL_INT(51, count_sound_rows()); // the last one from the journal
    CHECK_OK(ss_record_open(file, &record, &error));
    CHECK_OK(ss_record_close(record, &error));
    TEST_ASSERT_EQUAL_INT(51, count_sound_rows());
}

static void run_tests(void)
{
    RUN_TEST(fifty_kills_lose_no_row_that_was_added);
    RUN_TEST(a_reader_beside_a_writer_sees_every_row_so_far);
    RUN_TEST(a_second_writer_is_refused_by_name);
    RUN_TEST(a_full_disk_leaves_the_file_and_every_row_whole);
}

const test_group record_killed_tests = {.run = run_tests, .set_up = set_up};
