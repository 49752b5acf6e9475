// `stickslip bench` while it runs: Ctrl-C, kill -9, and a second run on the same record.
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/random.h"
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

// Both look at the record when they begin, so that what both find missing is made twice and kept
// once.
static void two_runs_share_a_record(void)
{
    char err[512];
    keep_path(err, "first.err");
    const pid_t child = start_bench(err);
    wait_for_the_big_one(err);
    EXPECT(0, "bench", many, "--solvers", "mfb,enum", "--tol", "1e-15", "--out", result,
           "--dry-run");
    HOLDS(standard_error, "3 of 6 rows are missing");
    EXPECT(0, "bench", many, "--solvers", "mfb,enum", "--tol", "1e-15", "--out", result);
    HOLDS(standard_error, "3 rows made, 3 were there");
    end_bench(child, SIGINT);
    rows_are(6);
}

// ---- Kills at random moments of a bench with two jobs: 6, or as many as STICKSLIP_KILLS says.

#define SOLVERS "mfb,enum,secular,pac,dac,projection,mfb+enum,pac+enum"
enum { ALL_ROWS = 3 * 8, MOST_LINES = 4 * ALL_ROWS };

static int kills_wanted(void)
{
    const char *wanted = getenv("STICKSLIP_KILLS");
    return wanted != NULL ? atoi(wanted) : 6;
}

// The rows that a run has reported, as problem and solver.
typedef struct reported {
    int count;
    char problem[MOST_LINES][600], solver[MOST_LINES][40];
} reported;

static void add_reports(const char *err, reported *all)
{
    const char *text = file_text(err);
    for (const char *end; (end = strchr(text, '\n')) != NULL; text = end + 1) {
        CHECK(all->count < MOST_LINES);
        all->count += sscanf(text, "%*d/%*d %599s %39s", all->problem[all->count],
                             all->solver[all->count]) == 2;
    }
}

// None that was reported is missing, and none is there twice. Their number.
static size_t check_rows(const reported *all)
{
    ss_record_rows results = read_results(result);
    for (int k = 0; k < all->count; k++) {
        int found = 0;
        for (size_t i = 0; i < results.count; i++) {
            found += strcmp(results.rows[i].problem, all->problem[k]) == 0 &&
                     strcmp(results.rows[i].solver, all->solver[k]) == 0;
        }
        TEST_ASSERT_EQUAL_INT_MESSAGE(1, found, all->solver[k]);
    }
    for (size_t i = 0; i < results.count; i++) {
        CHECK(strcmp(results.rows[i].status, "solved") == 0 && results.rows[i].history.count > 0);
        CHECK(find_row(&results, &results.rows[i]) == &results.rows[i]);
    }
    const size_t count = results.count;
    ss_record_rows_free(&results);
    return count;
}

static void pause_for(double seconds)
{
    nanosleep(&(struct timespec){(time_t)seconds, (long)(1e9 * (seconds - floor(seconds)))}, NULL);
}

// Whether it was killed before its end.
static bool run_and_kill(ss_random *random, reported *all)
{
    char err[512];
    keep_path(err, "killed.err");
    const char *const words[] = {"stickslip", "bench", many,       "--solvers", SOLVERS,
                                 "--jobs",    "2",     "--repeat", "1",         "--max-iter",
                                 "1000000",   "--out", result,     NULL};
    const pid_t child = start_program("/dev/null", err, words);
    pause_for(ss_random_between(random, 0.0, 1.2));
    const bool killed = WIFSIGNALED(end_bench(child, SIGKILL));
    add_reports(err, all);
    return killed;
}

static void kills_at_random_lose_no_row_and_make_none_twice(void)
{
    static reported all;
    ss_random random = ss_random_seeded(200);
    size_t rows = 0;
    int kills = 0, records = 1;
    while (kills < kills_wanted()) {
        kills += run_and_kill(&random, &all);
        const size_t before = rows;
        rows = access(result, F_OK) == 0 ? check_rows(&all) : 0;
        CHECK(rows >= before && rows <= ALL_ROWS);
        if (rows == ALL_ROWS) { // on with the next record
            unlink(result);
            all.count = 0;
            rows = 0;
            records++;
        }
    }
    EXPECT(0, "bench", many, "--solvers", SOLVERS, "--jobs", "2", "--repeat", "1", "--max-iter",
           "1000000", "--out", result);
    rows_are(ALL_ROWS);
    if (getenv("STICKSLIP_KILLS") != NULL) {
        printf("%d kills of %d records\n", kills, records);
    }
}

static void run_tests(void)
{
    RUN_TEST(an_interrupt_is_exit_2_and_loses_nothing);
    RUN_TEST(a_kill_loses_nothing);
    RUN_TEST(two_runs_share_a_record);
    RUN_TEST(kills_at_random_lose_no_row_and_make_none_twice);
}

const test_group cli_bench_stopped_tests = {.run = run_tests, .set_up = set_up};
