// `stickslip bench` while it runs: Ctrl-C, kill -9, and a second run on the same record.
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "tests/support/bench_inputs.h"

static pid_t start_bench(const char *err)
{
    const char *const words[] = {"stickslip",    "bench", many,    big,          "--solvers",
                                 "enum",         "--out", result,  "--max-iter", "1000000000",
                                 "--time-limit", "1000",  "--tol", "1e-15",      NULL};
    return start_program("/dev/null", err, words);
}

// Until the three small problems are done and the big one is worked on; at most a minute.
static void wait_for_the_big_one(const char *err)
{
    for (int k = 0; k < 6000 && strstr(file_text(err), "3/4 ") == NULL; k++) {
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    HOLDS(file_text(err), "3/4 ");
}

static int end_bench(pid_t child, int signal_number)
{
    int status = 0;
    kill(child, signal_number);
    TEST_ASSERT_EQUAL_INT(child, waitpid(child, &status, 0));
    return status;
}

// The end of a child that a killed parent leaves behind cannot be waited for; that it lets go of
// the record can be seen.
static void check_goes_on(void)
{
    rows_are(3);
    EXPECT(0, "bench", many, big, "--solvers", "enum", "--out", result, "--tol", "1e-15",
           "--max-iter", "2");
    HOLDS(standard_error, "1 row made, 3 were there");
    rows_are(4);
}

static void an_interrupt_is_exit_2_and_loses_nothing(void)
{
    char err[512];
    keep_path(err, "interrupt.err");
    const pid_t child = start_bench(err);
    wait_for_the_big_one(err);
    const int status = end_bench(child, SIGINT);
    CHECK(WIFEXITED(status));
    TEST_ASSERT_EQUAL_INT(2, WEXITSTATUS(status));
    HOLDS(file_text(err),
          "interrupted with 1 of 4 rows still to be made; the same command goes on");
    check_goes_on();
}

static void a_kill_loses_nothing(void)
{
    char err[512];
    keep_path(err, "kill.err");
    const pid_t child = start_bench(err);
    wait_for_the_big_one(err);
    CHECK(WIFSIGNALED(end_bench(child, SIGKILL)));
    check_goes_on();
}

static void a_second_run_on_the_same_record_says_so(void)
{
    char err[512];
    keep_path(err, "first.err");
    const pid_t child = start_bench(err);
    wait_for_the_big_one(err);
    const int code = RUN("bench", many, "--solvers", "mfb", "--out", result);
    const bool named = strstr(standard_error, result) != NULL;
    EXPECT(0, "bench", many, "--solvers", "mfb,enum", "--tol", "1e-15", "--out", result,
           "--dry-run");
    HOLDS(standard_error, "3 of 6 rows are missing");
    end_bench(child, SIGINT);
    TEST_ASSERT_EQUAL_INT(4, code);
    CHECK(named);
    rows_are(3);
}

static void run_tests(void)
{
    RUN_TEST(an_interrupt_is_exit_2_and_loses_nothing);
    RUN_TEST(a_kill_loses_nothing);
    RUN_TEST(a_second_run_on_the_same_record_says_so);
}

const test_group cli_bench_stopped_tests = {.run = run_tests, .set_up = set_up};
