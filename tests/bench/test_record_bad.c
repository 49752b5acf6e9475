// Files that are no record, or a damaged one, are refused with a sentence.
#include "harness/record.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/probe.h"
#include "problems/tangle/random.h"
#include "tests/support/hdf5_files.h"
#include "tests/support/record_file.h"

// libhdf5 1.10.8 itself leaks when it gives up on some damaged files. What our own code keeps open
// is counted below, in nothing_of_hdf5_stays_open.
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libhdf5";
}

static void write_record(int n, int nhistory)
{
    ss_record *record = NULL;
    CHECK_OK(ss_record_open(file, &record, &error));
    for (int k = 0; k < n; k++) {
        CHECK_OK(add_row(record, k, nhistory, &error));
    }
    CHECK_OK(ss_record_close(record, &error));
}

static void check_refused(const char *reason)
{
    ss_record *record = NULL;
    for (int writing = 0; writing < 2; writing++) {
        error = (ss_error){0};
        const ss_status status = writing != 0 ? ss_record_open(file, &record, &error)
                                              : ss_record_read(file, &record, &error);
        TEST_ASSERT_EQUAL_INT_MESSAGE(SS_BAD_INPUT, status, reason);
        CHECK(record == NULL && strstr(error.text, file) != NULL);
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, reason), error.text);
        CHECK(!exists(journal));
    }
}

static void what_is_no_record_is_refused_with_a_sentence(void)
{
    ss_record *record = NULL;
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, ss_record_read(file, &record, &error));
    CHECK(strstr(error.text, "no such file") != NULL && !exists(journal));
    write_bytes(file, "", 0);
    check_refused("is an empty file");
    write_bytes(file, "solver,seconds\nmfb,1\n", 21);
    check_refused("is not an HDF5 file");
    close_file(small_local(file));
    check_refused("is an HDF5 file, but not one of results");
    unlink(file);
    TEST_ASSERT_EQUAL_INT(0, mkdir(file, 0777));
    check_refused("is not a regular file");
    rmdir(file);
}

static void check_changed(const char *remove, const char *put, const char *reason)
{
    write_record(1, 2);
    const hid_t h5 = H5Fopen(file, H5F_ACC_RDWR, H5P_DEFAULT);
    if (remove != NULL) {
        remove_object(h5, remove);
    }
    if (put != NULL) {
        put_ints(h5, put, 3, (const int[]){0, 3, 2});
    }
    close_file(h5);
    check_refused(reason);
    unlink(file);
}

static void a_file_with_wrong_columns_is_refused(void)
{
    check_changed("rows/fb", NULL, "rows/fb is missing");
    check_changed("history/seconds", NULL, "history/seconds is missing");
    check_changed(NULL, "rows/solver", "rows/solver is of another type");
    check_changed(NULL, "rows/fb", "rows/fb is of another type");
    check_changed(NULL, "rows/dim", "rows/dim has a wrong length");
    check_changed(NULL, "history/start", "history/start has a wrong length");
    check_changed(NULL, "history/iteration", "history/iteration has a wrong length");
    check_changed("rows", NULL, "rows/problem_sha256 is missing");
}

static void check_settings(double tolerance, double time_limit, int max_iterations,
                           const char *reason)
{
    for (int folded = 0; folded < 2; folded++) {
        ss_record *record = NULL;
        ss_record_row row = make_row(7, 1);
        row.tolerance = tolerance;
        row.time_limit = time_limit;
        row.max_iterations = max_iterations;
        CHECK_OK(ss_record_open(file, &record, &error));
        CHECK_OK(ss_record_add(record, &row, &error));
        size_t count;
        char *bytes = read_bytes(journal, &count);
        CHECK_OK(ss_record_close(record, &error));
        if (folded == 0) { // as a kill leaves it
            unlink(file);
            write_bytes(journal, bytes, count);
        }
        free(bytes);
        TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, ss_record_read(file, &record, &error));
        CHECK(strstr(error.text, folded == 0 ? "damaged journal" : "damaged results file") != NULL);
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, reason), error.text);
        unlink(file);
        unlink(journal);
    }
}

// A NaN would be made again for ever, and compared with nothing.
static void settings_that_no_run_can_have_are_refused(void)
{
    check_settings(NAN, 60.0, 10,
                   "tol of tangle.h5:7 by mfb+enum is nan, and must be from 0 to 1; make the "
                   "run anew in another record");
    check_settings(-1e-6, 60.0, 10, "tol of tangle.h5:7 by mfb+enum is -1e-06");
    check_settings(INFINITY, 60.0, 10, "is inf, and must be from 0 to 1");
    check_settings(1e-6, NAN, 10, "time_limit of tangle.h5:7 by mfb+enum is nan");
    check_settings(1e-6, -1.0, 10, "time_limit of tangle.h5:7 by mfb+enum is -1");
    check_settings(1e-6, 60.0, -1, "max_iterations of tangle.h5:7 by mfb+enum is -1");
}

// Wherever the damage is: a sentence, or rows.
static void a_damaged_file_never_brings_the_reader_down(void)
{
    ss_record *record = NULL;
    write_record(20, 50);
    size_t count;
    char *bytes = read_bytes(file, &count);
    ss_random random = ss_random_seeded(5);
    int refused = 0;
    for (int k = 0; k < 200; k++) {
        const size_t at = (size_t)(ss_random_uniform(&random) * (double)(k % 2 ? count : 4096));
        const char kept = bytes[at];
        bytes[at] = (char)(kept ^ (1 << k % 8));
        write_bytes(file, bytes, k % 10 == 0 ? at : count);
        bytes[at] = kept;
        error = (ss_error){0};
        const ss_status status = ss_record_read(file, &record, &error);
        CHECK(status == SS_OK || (status == SS_BAD_INPUT && error.text[0] != '\0'));
        refused += status != SS_OK;
        ss_record_close(record, &error);
    }
    CHECK(refused >= 20);
    free(bytes);
}

// What may happen in the child.
static void nothing_of_hdf5_stays_open(void)
{
    const ssize_t before = H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL);
    write_record(5, 10);
    check_changed("rows/fb", NULL, "rows/fb is missing");
    ss_record *record = NULL;
    write_record(5, 10);
    CHECK_OK(ss_record_read(file, &record, &error));
    CHECK_OK(ss_record_close(record, &error));
    TEST_ASSERT_EQUAL_INT(before, H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL));
}

static void come_back(void *context)
{
    *(int *)context = 1;
}

static void abort_at_once(void *context)
{
    (void)context;
    abort();
}

static void be_killed(void *context)
{
    (void)context;
    raise(SIGKILL);
}

static void what_kills_a_child_is_told_of_the_file(void)
{
    int touched = 0;
    CHECK_OK(ss_probe(come_back, &touched, "a.h5", &error));
    CHECK(touched == 0);
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, ss_probe(abort_at_once, NULL, "a.h5", &error));
    TEST_ASSERT_EQUAL_STRING("a.h5: damaged file: libhdf5 died while reading it", error.text);
    TEST_ASSERT_EQUAL_INT(SS_SYSTEM, ss_probe(be_killed, NULL, "a.h5", &error));
}

static void run_tests(void)
{
    RUN_TEST(what_is_no_record_is_refused_with_a_sentence);
    RUN_TEST(a_file_with_wrong_columns_is_refused);
    RUN_TEST(settings_that_no_run_can_have_are_refused);
    RUN_TEST(a_damaged_file_never_brings_the_reader_down);
    RUN_TEST(nothing_of_hdf5_stays_open);
    RUN_TEST(what_kills_a_child_is_told_of_the_file);
}

const test_group record_bad_tests = {.run = run_tests, .set_up = set_up};
