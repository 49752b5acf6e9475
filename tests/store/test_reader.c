// Collections, and the child process behind a reader.
#include "problems/store/store.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/reading.h"

// ---- Collections.

static void write_collection(const char *path)
{
    const hid_t file = small_file(path);
    static const char *const NAMES[] = {"b", "a10", "a2"};
    for (int k = 0; k < 3; k++) {
        char name[64];
        snprintf(name, sizeof name, "problems/%s/fclib_local/W", NAMES[k]);
        put_diagonal(file, name, 3, k + 1.0);
        snprintf(name, sizeof name, "problems/%s/fclib_local/spacedim", NAMES[k]);
        put_int(file, name, 3);
        snprintf(name, sizeof name, "problems/%s/fclib_local/vectors/mu", NAMES[k]);
        put_reals(file, name, 1, (const double[]){k == 1 ? -1.0 : 0.5});
        snprintf(name, sizeof name, "problems/%s/fclib_local/vectors/q", NAMES[k]);
        put_reals(file, name, 3, (const double[]){0, 0, 0});
    }
    close_file(file);
}

// Its path.
static const char *open_collection(void)
{
    const char *path = scratch_path("collection.h5");
    write_collection(path);
    CHECK_OK(ss_reader_open(path, &reader, &error));
    return path;
}

static void a_collection_is_in_the_order_of_its_names(void)
{
    open_collection();
    CHECK(ss_reader_count(reader) == 3);
    TEST_ASSERT_EQUAL_STRING("a10", ss_reader_name(reader, 0));
    TEST_ASSERT_EQUAL_STRING("a2", ss_reader_name(reader, 1));
    TEST_ASSERT_EQUAL_STRING("b", ss_reader_name(reader, 2));
    CHECK(ss_reader_find(reader, "a2") == 1 && ss_reader_find(reader, "a") == -1);
    CHECK_OK(ss_reader_load(reader, 2, &problem, NULL, &error));
    CHECK(problem->W.x[0] == 1.0);
    ss_problem_free(problem);
    CHECK_OK(ss_reader_load(reader, 1, &problem, NULL, &error));
    CHECK(problem->W.x[0] == 3.0);
}

static void a_defect_names_its_problem_and_spares_the_others(void)
{
    const char *path = scratch_path("collection.h5");
    char expected[700];
    write_collection(path);
    CHECK_OK(ss_reader_open(path, &reader, &error));
    CHECK(ss_reader_load(reader, 0, &problem, &report, &error) == SS_BAD_INPUT);
    CHECK(problem == NULL && report.ndefects == 1);
    snprintf(expected, sizeof expected,
             "%s: problem a10: /fclib_local/vectors/mu[0] is negative (-1)", path);
    TEST_ASSERT_EQUAL_STRING(expected, error.text);
    CHECK_OK(ss_reader_load(reader, 1, &problem, NULL, &error));
}

static void one_problem_of_a_collection_is_named(void)
{
    const char *path = scratch_path("collection.h5");
    write_collection(path);
    CHECK_OK(ss_store_read(path, "b", &problem, &error));
    CHECK(problem->W.x[0] == 1.0);
    ss_problem_free(problem);
    CHECK(ss_store_read(path, NULL, &problem, &error) == SS_BAD_INPUT);
    CHECK(problem == NULL && strstr(error.text, "contains 3 problems") != NULL);
    CHECK(ss_store_read(path, "c", &problem, &error) == SS_BAD_INPUT);
    CHECK(strstr(error.text, "contains no problem named c") != NULL);
}

// ---- The child.

static int open_files(void)
{
    int count = 0;
    DIR *directory = opendir("/proc/self/fd");
    TEST_ASSERT_NOT_NULL(directory);
    while (readdir(directory) != NULL) {
        count++;
    }
    closedir(directory);
    return count;
}

static pid_t find_child(void)
{
    char path[64];
    int pid = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *file = fopen(path, "r");
    if (file != NULL) {
        if (fscanf(file, "%d", &pid) != 1) {
            pid = 0;
        }
        fclose(file);
    }
    return pid;
}

static pid_t require_child(void)
{
    const pid_t child = find_child();
    if (child == 0) {
        TEST_IGNORE_MESSAGE("this kernel does not list children");
    }
    return child;
}

static void no_file_and_no_child_is_left(void)
{
    const char *path = scratch_path("collection.h5");
    write_collection(path);
    const int before = open_files();
    for (int k = 0; k < 5; k++) {
        ss_problem_free(problem);
        CHECK_OK(ss_store_read(path, "b", &problem, &error));
        ss_problem *none = NULL;
        CHECK(ss_store_read(path, "a10", &none, &error) == SS_BAD_INPUT);
        CHECK(ss_store_read("/nonexistent", "a10", &none, &error) == SS_BAD_INPUT);
    }
    CHECK(open_files() == before);
    CHECK(waitpid(-1, NULL, WNOHANG) == -1); // no child, dead or alive
}

static void a_dead_decoder_is_told_and_replaced(void)
{
    open_collection();
    const pid_t child = require_child();
    kill(child, SIGSEGV);
    CHECK(ss_reader_load(reader, 2, &problem, &report, &error) == SS_BAD_INPUT);
    CHECK(strstr(error.text, "problem b: damaged file: libhdf5 died by signal 11") != NULL);
    CHECK(report.ndefects == 1);
    CHECK_OK(ss_reader_load(reader, 2, &problem, NULL, &error));
    CHECK(find_child() != child);
}

static void a_killed_decoder_is_not_the_file_s_fault(void)
{
    open_collection();
    const pid_t child = require_child();
    kill(child, SIGKILL);
    CHECK(ss_reader_load(reader, 2, &problem, NULL, &error) == SS_SYSTEM);
}

// /dev/stdin, or what bash puts in place of <(...): the decoder has neither.
static void a_descriptor_is_a_path(void)
{
    const char *path = scratch_path("collection.h5");
    char name[64];
    write_collection(path);
    const int fd = open(path, O_RDONLY);
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    CHECK_OK(ss_store_read(name, "b", &problem, &error));
    close(fd);
}

// The decoder and the one that replaces it see the file that was opened, whatever has its name now.
static void a_file_that_loses_its_name_is_read_to_the_end(void)
{
    const char *path = open_collection();
    CHECK(unlink(path) == 0);
    CHECK_OK(ss_reader_load(reader, 1, &problem, NULL, &error));
    const pid_t child = require_child();
    kill(child, SIGSEGV);
    ss_problem *none = NULL;
    CHECK(ss_reader_load(reader, 2, &none, NULL, &error) == SS_BAD_INPUT);
    ss_problem_free(problem);
    problem = NULL;
    CHECK_OK(ss_reader_load(reader, 2, &problem, NULL, &error));
}

static void the_interrupt_key_does_not_kill_the_decoder(void)
{
    open_collection();
    const pid_t child = require_child();
    kill(child, SIGINT);
    CHECK_OK(ss_reader_load(reader, 2, &problem, NULL, &error));
    CHECK(find_child() == child);
}

static void two_readers_work_side_by_side(void)
{
    const char *path = scratch_path("local.h5");
    close_file(small_local(path));
    ss_reader *other = NULL;
    CHECK_OK(ss_reader_open(path, &reader, &error));
    CHECK_OK(ss_reader_open(path, &other, &error));
    CHECK_OK(ss_reader_load(reader, 0, &problem, NULL, &error));
    ss_reader_close(reader);
    reader = NULL;
    ss_problem_free(problem);
    CHECK_OK(ss_reader_load(other, 0, &problem, NULL, &error));
    ss_reader_close(other);
}

// Whatever the number of files that may be open: the machine is at fault, never the file.
static void too_few_files_are_not_the_fault_of_the_file(void)
{
    struct rlimit before;
    getrlimit(RLIMIT_NOFILE, &before);
    const char *path = scratch_path("collection.h5");
    write_collection(path);
    int opened = 0, refused = 0;
    for (rlim_t most = 4; most < 32; most++) {
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){most, before.rlim_max});
        const ss_status status = ss_reader_open(path, &reader, &error);
        setrlimit(RLIMIT_NOFILE, &before);
        opened += status == SS_OK;
        refused += status == SS_SYSTEM;
        ss_reader_close(reader);
        reader = NULL;
    }
    CHECK(opened > 0 && refused > 0 && opened + refused == 28);
}

static void run_tests(void)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    RUN_TEST(a_collection_is_in_the_order_of_its_names);
    RUN_TEST(a_defect_names_its_problem_and_spares_the_others);
    RUN_TEST(one_problem_of_a_collection_is_named);
    RUN_TEST(no_file_and_no_child_is_left);
    RUN_TEST(a_dead_decoder_is_told_and_replaced);
    RUN_TEST(a_killed_decoder_is_not_the_file_s_fault);
    RUN_TEST(a_descriptor_is_a_path);
    RUN_TEST(a_file_that_loses_its_name_is_read_to_the_end);
    RUN_TEST(the_interrupt_key_does_not_kill_the_decoder);
    RUN_TEST(two_readers_work_side_by_side);
    RUN_TEST(too_few_files_are_not_the_fault_of_the_file);
}

const test_group reader_tests = {.run = run_tests, .set_up = set_up, .tear_down = tear_down};
