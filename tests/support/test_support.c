// The checks themselves: each is made to fail, in a child whose report goes nowhere, and must be
// seen to fail.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/status.h"
#include "tests/support/support.h"

static bool fails(void (*check)(void), const char *out)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        if (freopen(out, "w", stdout) == NULL) {
            _exit(2);
        }
        if (TEST_PROTECT()) {
            check();
        }
        fflush(stdout);
        _exit(Unity.CurrentTestFailed ? 1 : 0);
    }
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

static void nan_below_a_bound(void)
{
    CHECK_LE(NAN, 1e9);
}

static void number_below_nan(void)
{
    CHECK_LE(1.0, NAN);
}

static void larger_than_the_bound(void)
{
    CHECK_LE(2.0, 1.0);
}

static void nan_near_a_number(void)
{
    CHECK_NEAR(NAN, 0.0, INFINITY);
}

static void a_false_condition(void)
{
    CHECK(1 > 2);
}

static void a_status_that_is_not_ok(void)
{
    ss_error error = {0};
    CHECK_OK(ss_fail(&error, SS_BAD_INPUT, "as it must"));
}

static void one_below_two(void)
{
    CHECK_LE(1.0, 2.0);
}

static void checks_that_must_fail_are_seen_to_fail(void)
{
    TEST_ASSERT_TRUE(fails(nan_below_a_bound, "/dev/null"));
    TEST_ASSERT_TRUE(fails(number_below_nan, "/dev/null"));
    TEST_ASSERT_TRUE(fails(larger_than_the_bound, "/dev/null"));
    TEST_ASSERT_TRUE(fails(nan_near_a_number, "/dev/null"));
    TEST_ASSERT_TRUE(fails(a_false_condition, "/dev/null"));
    TEST_ASSERT_TRUE(fails(a_status_that_is_not_ok, "/dev/null"));
}

static void a_strain_of_der(void)
{
    checks_are_about("der:torsion=off");
    CHECK_NEAR(1.0, 3.0, 0.5);
}

static void a_failure_names_its_subject_and_both_numbers(void)
{
    const char *path = scratch_path("said");
    TEST_ASSERT_TRUE(fails(a_strain_of_der, path));
    size_t count;
    char *said = read_bytes(path, &count);
    CHECK(strstr(said, ":FAIL: der:torsion=off: 1.0 near 3.0: 1 against 3, which is 2 apart, not "
                       "0.5") != NULL);
    free(said);
}

static void a_check_that_holds_passes(void)
{
    TEST_ASSERT_FALSE(fails(one_below_two, "/dev/null"));
}

static void failure_returns_its_status_and_takes_no_error(void)
{
    ss_error error = {0};
    CHECK(ss_fail(&error, SS_BAD_INPUT, "%s has %d entries", "p", 3) == SS_BAD_INPUT);
    CHECK(error.status == SS_BAD_INPUT);
    TEST_ASSERT_EQUAL_STRING("p has 3 entries", error.text);
    CHECK(ss_fail(NULL, SS_SYSTEM, "nobody listens") == SS_SYSTEM);
    CHECK(ss_fail_memory(&error, "W") == SS_SYSTEM);
    TEST_ASSERT_EQUAL_STRING("not enough memory for W", error.text);
}

// ---- Signals

// Returns as exit code the number of signals that a test program finds ignored.
static int count_ignored(char **argv)
{
    (void)argv;
    int ignored = 0;
    const int signals[] = {SIGINT, SIGQUIT, SIGHUP, SIGTERM, SIGPIPE, SIGCHLD};
    for (int k = 0; k < 6; k++) {
        struct sigaction now;
        ignored += sigaction(signals[k], NULL, &now) != 0 || now.sa_handler == SIG_IGN;
    }
    return ignored;
}

// As nohup and shells without job control start it.
static void signals_that_the_parent_ignores_reach_what_tests_start(void)
{
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGINT, SIG_IGN);
        signal(SIGHUP, SIG_IGN);
        setenv("TEST_AS", "support", 1);
        execl("/proc/self/exe", "test_support", (char *)NULL);
        _exit(100);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
    TEST_ASSERT_EQUAL_INT(0, WEXITSTATUS(status));
}

static void run_tests(void)
{
    RUN_TEST(checks_that_must_fail_are_seen_to_fail);
    RUN_TEST(a_failure_names_its_subject_and_both_numbers);
    RUN_TEST(a_check_that_holds_passes);
    RUN_TEST(failure_returns_its_status_and_takes_no_error);
    RUN_TEST(signals_that_the_parent_ignores_reach_what_tests_start);
}

const test_group support_tests = {.run = run_tests, .as_program = count_ignored};
