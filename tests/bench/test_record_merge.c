// Several records become one: which rows, in which order, and what happens to bad ones.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "harness/record/record.h"
#include "tests/support/program.h"
#include "tests/support/record_rows.h"

static char parts[3][512];
static ss_error told[3];
static const char *remark;

static void set_up_parts(void)
{
    char name[32];
    set_up();
    for (int k = 0; k < 3; k++) {
        snprintf(name, sizeof name, "part-%d.db", k);
        snprintf(parts[k], sizeof parts[k], "%s", scratch_path(name));
        unlink(parts[k]);
    }
}

static void add_to(const char *path, const ss_record_row *row)
{
    ss_record *record = NULL;
    CHECK_OK(ss_record_open(path, SS_RECORD_WRITE, &record, &error));
    CHECK_OK(ss_record_add(record, row, &error));
    ss_record_close(record);
}

static void add_numbered(const char *path, int k, int nhistory)
{
    ss_record_row row = make_row(k, nhistory);
    add_to(path, &row);
    ss_record_row_free(&row);
}

static ss_status merge(int count)
{
    char *const paths[] = {parts[0], parts[1], parts[2]};
    return ss_record_merge(file, count, paths, told, &remark, &error);
}

static void merge_well(int count)
{
    CHECK_OK(merge(count));
    for (int k = 0; k < count; k++) {
        TEST_ASSERT_EQUAL_STRING_MESSAGE("", told[k].status == SS_OK ? "" : told[k].text, parts[k]);
    }
}

static void the_rows_of_all_are_there_sorted_by_problem_with_their_histories(void)
{
    static const int ORDER[] = {10, 2, 9, 0, 33, 1};
    for (int k = 0; k < 6; k++) {
        add_numbered(parts[k % 3], ORDER[k], k);
    }
    merge_well(3);
    ss_record_rows rows = read_results();
    TEST_ASSERT_EQUAL_INT(6, rows.count);
    static const int SORTED[] = {0, 1, 2, 9, 10, 33}; // not 0, 1, 10, 2: labels hold numbers
    for (int k = 0; k < 6; k++) {
        TEST_ASSERT_EQUAL_INT(100 + SORTED[k], rows.rows[k].contacts);
    }
    for (int k = 0; k < 6; k++) {
        CHECK(holds_row(&rows, ORDER[k], k));
    }
    ss_record_rows_free(&rows);
}

static ss_record_row row_by(const char *solver, double tolerance)
{
    ss_record_row row = make_row(0, 0);
    snprintf(row.solver, sizeof row.solver, "%s", solver);
    row.tolerance = tolerance;
    return row;
}

static void solvers_keep_the_order_of_their_first_appearance(void)
{
    static const char *const SOLVERS[] = {"zebra", "mfb", "enum"};
    for (int k = 0; k < 3; k++) {
        for (int tight = 0; tight < 2; tight++) {
            const ss_record_row row = row_by(SOLVERS[k], tight == 0 ? 1e-4 : 1e-6);
            add_to(parts[k % 2], &row);
        }
    }
    merge_well(2); // zebra and enum, then mfb
    ss_record_rows rows = read_results();
    static const char *const EXPECTED[] = {"zebra", "zebra", "enum", "enum", "mfb", "mfb"};
    TEST_ASSERT_EQUAL_INT(6, rows.count);
    for (int k = 0; k < 6; k++) {
        TEST_ASSERT_EQUAL_STRING(EXPECTED[k], rows.rows[k].solver);
        CHECK(rows.rows[k].tolerance == (k % 2 == 0 ? 1e-6 : 1e-4));
    }
    ss_record_rows_free(&rows);
}

// seconds tells which of the two stays.
static double kept(const char *first, double limit, int sweeps, const char *second,
                   double other_limit, int other_sweeps)
{
    ss_record_row a = make_row(0, 1), b = make_row(0, 2);
    set_up_parts();
    snprintf(a.status, sizeof a.status, "%s", first);
    snprintf(b.status, sizeof b.status, "%s", second);
    a.time_limit = limit;
    b.time_limit = other_limit;
    a.max_iterations = sweeps;
    b.max_iterations = other_sweeps;
    a.seconds = 1.0;
    b.seconds = 2.0;
    add_to(parts[0], &a);
    add_to(parts[1], &b);
    merge_well(2);
    ss_record_rows rows = read_results();
    CHECK(rows.count == 1);
    const double seconds = rows.rows[0].seconds;
    CHECK(rows.rows[0].history.count == (seconds == 1.0 ? 1 : 2));
    ss_record_rows_free(&rows);
    ss_record_row_free(&a);
    ss_record_row_free(&b);
    return seconds;
}

static void of_two_rows_of_a_key_the_one_that_says_more_stays(void)
{
    CHECK(kept("solved", 1, 1, "solved", 9, 9) == 1.0); // the earlier record's
    CHECK(kept("time_limit", 9, 9, "solved", 1, 1) == 2.0);
    CHECK(kept("max_iter", 9, 9, "stopped", 1, 1) == 2.0);
    CHECK(kept("solved", 1, 1, "max_iter", 9, 9) == 1.0);
    CHECK(kept("time_limit", 1, 1, "time_limit", 2, 1) == 2.0);
    CHECK(kept("time_limit", 2, 1, "time_limit", 1, 9) == 1.0);
    CHECK(kept("max_iter", 1, 1, "max_iter", 1, 2) == 2.0);
    CHECK(kept("max_iter", 1, 2, "max_iter", 1, 2) == 1.0);
    CHECK(kept("interrupted", 9, 9, "time_limit", 1, 1) == 2.0);
    CHECK(kept("crashed", 1, 1, "solved", 1, 1) == 1.0);
}

// Else a bench with other limits would make the row again and again, and merge would drop it.
static void the_limit_that_was_hit_is_the_one_that_counts(void)
{
    CHECK(kept("max_iter", 60, 100, "max_iter", 10, 1000) == 2.0);
    CHECK(kept("max_iter", 10, 1000, "max_iter", 60, 100) == 1.0);
    CHECK(kept("time_limit", 10, 1000, "time_limit", 60, 100) == 2.0);
    CHECK(kept("max_iter", 60, 9, "time_limit", 10, 1000) == 1.0); // both after as many iterations
}

static void the_record_itself_comes_first_and_a_second_merge_changes_nothing(void)
{
    size_t before, after;
    ss_record_row row = make_row(1, 0);
    row.seconds = 42.0;
    add_to(file, &row);
    for (int k = 0; k < 3; k++) {
        add_numbered(parts[0], k, 4);
    }
    snprintf(parts[1], sizeof parts[1], "%s", file); // as an operand, too
    char *old = read_bytes(parts[0], &before);
    merge_well(2);
    ss_record_rows rows = read_results();
    CHECK(rows.count == 3 && rows.rows[1].seconds == 42.0 && holds_row(&rows, 2, 4));
    ss_record_rows_free(&rows);
    merge_well(2);
    rows = read_results();
    CHECK(rows.count == 3 && rows.rows[1].seconds == 42.0 && holds_row(&rows, 0, 4));
    ss_record_rows_free(&rows);
    char *now = read_bytes(parts[0], &after);
    CHECK(before == after && memcmp(old, now, before) == 0); // operands are read only
    free(old);
    free(now);
}

static void what_stood_in_for_a_problem_goes_when_another_record_read_it(void)
{
    ss_record_row stand_in = make_row(1, 0);
    ss_record_stand_in(stand_in.problem, stand_in.problem_sha256);
    snprintf(stand_in.status, sizeof stand_in.status, "bad_input");
    stand_in.contacts = -1;
    add_numbered(parts[0], 1, 1);
    add_to(parts[1], &stand_in);
    snprintf(stand_in.problem, sizeof stand_in.problem, "another");
    ss_record_stand_in(stand_in.problem, stand_in.problem_sha256);
    add_to(parts[1], &stand_in);
    merge_well(2);
    ss_record_rows rows = read_results();
    CHECK(rows.count == 2 && holds_row(&rows, 1, 1) && find_row(&rows, &stand_in) != NULL);
    ss_record_rows_free(&rows);
}

static void a_bad_record_is_told_and_the_others_are_merged(void)
{
    add_numbered(parts[0], 0, 1);
    write_bytes(parts[1], "no record, I am afraid", 22);
    add_numbered(parts[2], 2, 1);
    CHECK_OK(merge(3));
    CHECK(told[0].status == SS_OK && told[1].status == SS_BAD_INPUT && told[2].status == SS_OK);
    CHECK(strstr(told[1].text, parts[1]) != NULL);
    ss_record_rows rows = read_results();
    CHECK(rows.count == 2 && holds_row(&rows, 0, 1) && holds_row(&rows, 2, 1));
    ss_record_rows_free(&rows);
    write_bytes(parts[1], "", 0); // as a shard that was killed at its beginning
    merge_well(3);
    CHECK(remark == NULL);
}

static void no_record_is_left_where_none_could_be_read(void)
{
    write_bytes(parts[0], "no record, I am afraid", 22);
    unlink(file);
    CHECK_OK(merge(2));
    CHECK(told[0].status == SS_BAD_INPUT && told[1].status == SS_BAD_INPUT);
    CHECK(access(file, F_OK) != 0);
    add_numbered(file, 7, 3);
    CHECK_OK(merge(2));
    ss_record_rows rows = read_results();
    CHECK(rows.count == 1 && holds_row(&rows, 7, 3));
    ss_record_rows_free(&rows);
}

// In a child: the limit on the size of files stands for a full disk.
static void a_new_record_is_gone_where_the_disk_is_full(void)
{
    for (int k = 0; k < 3; k++) {
        add_numbered(parts[k], k, 5000);
    }
    for (rlim_t most = 0; most <= 200000; most += 200000) {
        unlink(file);
        fflush(NULL);
        const pid_t child = fork();
        if (child == 0) {
            signal(SIGXFSZ, SIG_IGN);
            setrlimit(RLIMIT_FSIZE, &(struct rlimit){most, most});
            _exit(merge(3) == SS_SYSTEM ? 0 : 1);
        }
        int status = -1;
        waitpid(child, &status, 0);
        TEST_ASSERT_EQUAL_INT(0, status);
        CHECK(access(file, F_OK) != 0);
    }
}

// The same.
static void all_is_written_or_nothing(void)
{
    struct stat before;
    add_numbered(file, 7, 3);
    for (int k = 0; k < 3; k++) {
        add_numbered(parts[k], k, 5000);
    }
    CHECK(stat(file, &before) == 0);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        const rlim_t most = (rlim_t)before.st_size + 200000;
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){most, most});
        _exit(merge(3) == SS_SYSTEM && strstr(error.text, file) != NULL ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    TEST_ASSERT_EQUAL_INT(0, status);
    ss_record_rows rows = read_results();
    CHECK(rows.count == 1 && holds_row(&rows, 7, 3));
    ss_record_rows_free(&rows);
    merge_well(3);
    rows = read_results();
    CHECK(rows.count == 4 && holds_row(&rows, 2, 5000));
    ss_record_rows_free(&rows);
}

static void the_verb_tells_what_it_could_not_read(void)
{
    add_numbered(parts[0], 0, 1);
    EXPECT(0, "merge", parts[0], "--out", file);
    HOLDS(standard_error, "results.db: the rows of 1 record\n");
    EXPECT(3, "merge", parts[0], parts[1], "--out", file);
    HOLDS(standard_error, "part-1.db: no such file");
    EXPECT(1, "merge", "--out", file);
    EXPECT(1, "merge", parts[0]);
    EXPECT(4, "merge", parts[0], "--out", "/nonexistent/all.db");
    ss_record_rows rows = read_results();
    CHECK(rows.count == 1);
    ss_record_rows_free(&rows);
}

static void run_tests(void)
{
    RUN_TEST(the_rows_of_all_are_there_sorted_by_problem_with_their_histories);
    RUN_TEST(solvers_keep_the_order_of_their_first_appearance);
    RUN_TEST(of_two_rows_of_a_key_the_one_that_says_more_stays);
    RUN_TEST(the_limit_that_was_hit_is_the_one_that_counts);
    RUN_TEST(the_record_itself_comes_first_and_a_second_merge_changes_nothing);
    RUN_TEST(what_stood_in_for_a_problem_goes_when_another_record_read_it);
    RUN_TEST(a_bad_record_is_told_and_the_others_are_merged);
    RUN_TEST(no_record_is_left_where_none_could_be_read);
    RUN_TEST(a_new_record_is_gone_where_the_disk_is_full);
    RUN_TEST(all_is_written_or_nothing);
    RUN_TEST(the_verb_tells_what_it_could_not_read);
}

const test_group record_merge_tests = {.run = run_tests, .set_up = set_up_parts};
