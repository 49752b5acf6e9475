// The parent of a benchmark, with children that behave as badly as solvers can: whatever they do is
// one row. The child is this program itself, told so by TEST_AS; the solver it is asked for says how it
// behaves.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "harness/bench/bench.h"
#include "problems/store/store.h"
#include "tests/support/solving.h"

#define MYSELF "/proc/self/exe"

static char file[512];   // a problem
static char result[512]; // a record, new for each test

static void set_up(void)
{
    static int test;
    char name[32];
    setenv("TEST_AS", "bench_run", 1);
    snprintf(file, sizeof file, "%s", scratch_path("problem.h5"));
    snprintf(name, sizeof name, "results-%d.db", test++);
    snprintf(result, sizeof result, "%s", scratch_path(name));
    if (access(file, F_OK) != 0) {
        ss_error error;
        ss_problem *p = full_rank_tangle(3, 20, 3);
        CHECK_OK(ss_store_write(file, p, &error));
        ss_problem_free(p);
    }
}

static void tear_down(void)
{
    unsetenv("TEST_AS");
}

// ---- The child

static bool has_word(char **argv, const char *word)
{
    for (; *argv != NULL; argv++) {
        if (strncmp(*argv, word, strlen(word)) == 0) {
            return true;
        }
    }
    return false;
}

// A sanitizer would turn the signal into an exit code.
static void die_by(int signal_number)
{
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

// A row as it should be, except for its problem where that is not the one that was asked for.
static void send_row(const char *path, bool of_another_problem)
{
    ss_problem *p;
    ss_record_row row = ss_record_row_blank();
    if (ss_store_read(path, NULL, &p, NULL) == SS_OK) {
        ss_problem_sha256(p, row.problem_sha256);
        row.problem_sha256[0] ^= of_another_problem;
        snprintf(row.status, sizeof row.status, "solved");
        row.iterations = 17;
        row.seconds = 0.25;
        ss_bench_send(SS_CHILD_FILE, &row, NULL);
        ss_problem_free(p);
    }
}

static void hang(void)
{
    for (;;) {
        sleep(1000);
    }
}

// As Ctrl-Z or a closed lid does; for longer than a sleep may last.
static void be_stopped_for_a_while(void)
{
    const pid_t me = getpid();
    if (fork() == 0) {
        sleep(4);
        kill(me, SIGCONT);
        _exit(0);
    }
    raise(SIGSTOP);
}

static int behave(char **argv)
{
    const char *path = argv[0];
    for (int k = 0; argv[k] != NULL; k++) {
        path = argv[k];
    }
    if (has_word(argv, "--solver=mfb")) {
        die_by(SIGSEGV);
    } else if (has_word(argv, "--solver=enum")) {
        hang();
    } else if (has_word(argv, "--solver=pac")) {
        _exit(9);
    } else if (has_word(argv, "--solver=dac")) {
        die_by(SIGXCPU);
    } else if (has_word(argv, "--solver=4sides")) {
        if (write(SS_CHILD_FILE, "nonsense", 8) < 0) {
            _exit(99);
        }
    } else if (has_word(argv, "--solver=duriez08")) {
        send_row(path, true);
    } else if (has_word(argv, "--solver=duriez06-sofa")) {
        die_by(SIGTERM);
    } else if (has_word(argv, "--solver=duriez06")) {
        kill(getppid(), SIGINT);
        hang();
    } else if (has_word(argv, "--solver=projection")) {
        be_stopped_for_a_while();
        send_row(path, false);
    } else {
        send_row(path, false);
    }
    return 0;
}

// ---- The parent

// A child may sleep for 2.15 s.
static const ss_bench_settings SETTINGS = {
    .tolerance = 1e-6, .time_limit = 0.05, .max_iterations = 10000, .repeats = 1};

static int rows_made; // by the last bench

// Plans, runs and closes; the exit code.
static int bench_by(const char *program, const char *list, int jobs)
{
    ss_error error;
    ss_specs specs;
    ss_record *record;
    ss_bench_plan plan;
    char *files[] = {file};
    const ss_bench_orders orders = {.verb = "test", .program = program, .jobs = jobs};
    CHECK_OK(ss_specs_split("bench", list, &specs, &error));
    CHECK_OK(ss_record_open(result, SS_RECORD_WRITE, &record, &error));
    TEST_ASSERT_EQUAL_INT(0, ss_bench_plan_begin("test", 1, files, &SETTINGS, &plan));
    TEST_ASSERT_EQUAL_INT(0, ss_bench_plan_load(&plan, &specs, (ss_shard){0}));
    CHECK_OK(ss_bench_plan_compare(&plan, record, &error));
    rows_made = plan.missing;
    const int code = ss_bench_run(&plan, &orders, record);
    ss_bench_plan_free(&plan);
    ss_specs_free(&specs);
    ss_record_close(record);
    return code;
}

static int bench(const char *list, int jobs)
{
    return bench_by(MYSELF, list, jobs);
}

static ss_record_rows read_results(void)
{
    ss_error error;
    ss_record_rows results;
    CHECK_OK(ss_record_rows_read(result, &results, &error));
    return results;
}

static size_t count_rows(void)
{
    ss_record_rows results = read_results();
    const size_t count = results.count;
    ss_record_rows_free(&results);
    return count;
}

static void row_is(const char *solver, const char *status, const char *detail)
{
    ss_record_rows results = read_results();
    const ss_record_row *row = NULL;
    for (size_t k = 0; row == NULL && k < results.count; k++) {
        row = strcmp(results.rows[k].solver, solver) == 0 ? &results.rows[k] : NULL;
    }
    CHECK(row != NULL);
    TEST_ASSERT_EQUAL_STRING_MESSAGE(status, row->status, solver);
    TEST_ASSERT_EQUAL_STRING_MESSAGE(detail, row->detail, solver);
    TEST_ASSERT_EQUAL_STRING(file, row->problem);
    const bool same = strcmp(status, "bad_input") != 0; // it is the problem that was planned
    CHECK(row->contacts == (same ? 20 : -1) && row->dim == (same ? 3 : -1));
    CHECK(row->tolerance == 1e-6);
    CHECK(row->max_iterations == 10000 && row->time_limit == 0.05);
    TEST_ASSERT_EQUAL_STRING("tangle", row->scene);
    CHECK(strlen(row->problem_sha256) == 64 && row->build[0] != '\0');
    CHECK(strlen(row->date) == 20 && row->machine[0] != '\0' && row->host[0] != '\0' &&
          row->load >= 0.0);
    TEST_ASSERT_EQUAL_STRING("zero", row->start);
    const bool whole = strcmp(status, "solved") == 0;
    CHECK(whole ? row->iterations == 17 : row->iterations == -1 && isnan(row->seconds));
    ss_record_rows_free(&results);
}

static void whatever_a_child_does_is_one_row(void)
{
    TEST_ASSERT_EQUAL_INT(0, bench("mfb,secular,pac,dac,4sides,duriez08", 2));
    TEST_ASSERT_EQUAL_size_t(6, count_rows());
    row_is("mfb", "crashed", "signal 11 (Segmentation fault)");
    row_is("dac", "time_limit", "killed: exceeded the time limit");
    row_is("pac", "crashed", "it exited with code 9");
    row_is("4sides", "crashed", "it ended without a result");
    row_is("duriez08", "bad_input", "the file was changed during the benchmark");
    row_is("secular", "solved", "");
}

static void a_sleeper_is_ended_and_made_again(void)
{
    for (int k = 0; k < 2; k++) {
        TEST_ASSERT_EQUAL_INT(0, bench("enum,secular", 2));
        TEST_ASSERT_EQUAL_size_t(2, count_rows());
        row_is("enum", "interrupted", "killed: slept for 2.15 s; bench makes this run again");
        row_is("secular", "solved", "");
    }
    TEST_ASSERT_EQUAL_INT(1, rows_made);
}

// As the child of a job that a batch system ends.
static void one_that_is_terminated_from_outside_is_made_again(void)
{
    for (int k = 0; k < 2; k++) {
        TEST_ASSERT_EQUAL_INT(0, bench("duriez06-sofa", 1));
        row_is("duriez06-sofa", "interrupted",
               "signal 15 (Terminated); bench makes this run again");
        TEST_ASSERT_EQUAL_INT(1, rows_made);
    }
}

static void a_run_that_is_stopped_for_a_while_is_finished(void)
{
    TEST_ASSERT_EQUAL_INT(0, bench("projection", 1));
    row_is("projection", "solved", "");
}

// The child of duriez06 interrupts us and hangs.
static void an_interrupt_kills_children_and_keeps_rows(void)
{
    TEST_ASSERT_EQUAL_INT(2, bench("secular,duriez06,enum", 1));
    TEST_ASSERT_EQUAL_size_t(1, count_rows());
    row_is("secular", "solved", "");
    // What was there is not made again; the signal's old effect is back.
    TEST_ASSERT_EQUAL_INT(0, bench("secular,enum", 1));
    TEST_ASSERT_EQUAL_size_t(2, count_rows());
    struct sigaction now;
    sigaction(SIGINT, NULL, &now);
    CHECK(now.sa_handler == SIG_DFL);
}

static void a_program_that_cannot_be_executed_makes_no_row(void)
{
    TEST_ASSERT_EQUAL_INT(4, bench_by("/nonexistent/program", "mfb,enum", 2));
    TEST_ASSERT_EQUAL_size_t(0, count_rows());
}

static void run_tests(void)
{
    RUN_TEST(whatever_a_child_does_is_one_row);
    RUN_TEST(a_sleeper_is_ended_and_made_again);
    RUN_TEST(one_that_is_terminated_from_outside_is_made_again);
    RUN_TEST(a_run_that_is_stopped_for_a_while_is_finished);
    RUN_TEST(an_interrupt_kills_children_and_keeps_rows);
    RUN_TEST(a_program_that_cannot_be_executed_makes_no_row);
}

const test_group bench_run_tests = {
    .run = run_tests, .set_up = set_up, .tear_down = tear_down, .as_program = behave};
