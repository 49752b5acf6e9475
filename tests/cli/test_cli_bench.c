// `stickslip bench` from outside: its rows, resuming, its exit codes.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/bench_inputs.h"

// ---- The product

static void every_pair_is_a_row(void)
{
    EXPECT(0, "bench", many, "--solvers", "mfb+enum,enum:freeze=on,skip=3", "--out", result);
    TEST_ASSERT_EQUAL_STRING("", standard_out);
    HOLDS(standard_error, "6/6 ");
    HOLDS(standard_error, "6 rows made, 0 were there");
    ss_record_rows record = read_results(result);
    TEST_ASSERT_EQUAL_size_t(6, record.count);
    for (size_t k = 0; k < 6; k++) {
        const ss_record_row *row = &record.rows[k];
        TEST_ASSERT_EQUAL_STRING(k % 2 == 0 ? "mfb+enum" : "enum:freeze=on,skip=3", row->solver);
        TEST_ASSERT_EQUAL_STRING("solved", row->status);
        CHECK(strncmp(row->problem, many, strlen(many)) == 0 && row->problem[strlen(many)] == ':');
        CHECK(strlen(row->problem_sha256) == 64 && strlen(row->date) == 20);
        CHECK(row->contacts == 20 && row->dim == 3 && row->repeats == 3);
        CHECK_LE(row->measures.fb, 1e-6);
        CHECK(row->seconds > 0.0 && row->seconds <= row->seconds_median && row->load >= 0.0);
        const ss_history *h = &row->history;
        CHECK(h->count > 1 && h->iteration[0] == 0);
        CHECK(h->iteration[h->count - 1] == row->iterations &&
              h->fb[h->count - 1] == row->measures.fb);
    }
    ss_record_rows_free(&record);
}

static void the_same_command_goes_on(void)
{
    EXPECT(0, "bench", many, "--solvers", "enum", "--out", result);
    ss_record_rows before = read_results(result);
    EXPECT(0, "bench", many, "--solvers", "enum mfb", "--out", result);
    HOLDS(standard_error, "3 rows made, 3 were there");
    EXPECT(0, "bench", many, "--solvers", "enum;mfb", "--out", result);
    HOLDS(standard_error, "0 rows made, 6 were there");
    ss_record_rows after = read_results(result);
    TEST_ASSERT_EQUAL_size_t(6, after.count);
    for (size_t k = 0; k < 3; k++) {
        const ss_record_row *row = &before.rows[k];
        const ss_record_row *kept = find_row(&after, row);
        CHECK(kept != NULL && kept->seconds == row->seconds);
    }
    ss_record_rows_free(&before);
    ss_record_rows_free(&after);
}

static void tolerance_and_start_make_other_rows(void)
{
    EXPECT(0, "bench", guess, "--solvers", "enum", "--out", result);
    EXPECT(0, "bench", guess, "--solvers", "enum", "--out", result, "--tol", "1e-4");
    EXPECT(0, "bench", guess, "--solvers", "enum", "--out", result, "--start", "guess");
    ss_record_rows record = read_results(result);
    TEST_ASSERT_EQUAL_size_t(3, record.count);
    const ss_record_row *cold = &record.rows[0], *warm = &record.rows[2];
    CHECK(record.rows[1].iterations < cold->iterations);
    TEST_ASSERT_EQUAL_STRING("guess", warm->start);
    CHECK(warm->history.fb[0] < cold->history.fb[0]);
    ss_record_rows_free(&record);
}

static void a_dry_run_makes_nothing(void)
{
    EXPECT(0, "bench", many, "--solvers", "mfb,enum", "--dry-run", "--out", result);
    TEST_ASSERT_EQUAL_INT(7, count_lines(standard_out));
    HOLDS(standard_error, "6 of 6 rows are missing");
    EXPECT(0, "bench", many, "--solvers", "mfb,enum", "--tol", "1e-4,1e-8,1e-4", "--dry-run",
           "--out", result);
    HOLDS(standard_error, "12 of 12 rows are missing");
    HOLDS(standard_out, " enum    1e-8  missing");
    EXPECT(1, "bench", many, "--solvers", "enum", "--tol", "1e-4,tight", "--out", result);
    SAYS("bench: --tol takes a number from 0 to 1, or several with commas, not 'tight'");
    EXPECT(1, "bench", many, "--solvers", "enum", "--tol", ",", "--out", result);
    SAYS("bench: --tol is an empty list; write one as 1e-4,1e-8");
    CHECK(access(result, F_OK) != 0);
    // As a run that was killed at its beginning leaves it.
    fclose(fopen(result, "w"));
    EXPECT(0, "bench", many, "--solvers", "enum", "--dry-run", "--out", result);
    HOLDS(standard_error, "3 of 3 rows are missing");
    EXPECT(0, "bench", many, "--solvers", "enum", "--out", result);
    EXPECT(0, "bench", many, "--solvers", "mfb,enum", "--dry-run", "--out", result);
    HOLDS(standard_out, "present");
    HOLDS(standard_error, "3 of 6 rows are missing");
    rows_are(3);
}

static void the_number_of_jobs_does_not_change_the_findings(void)
{
    EXPECT(0, "bench", many, guess, "--solvers", "mfb+enum,4sides", "--out", result);
    ss_record_rows one = read_results(result);
    const char *path = scratch_path("jobs.db");
    EXPECT(0, "bench", many, guess, "--solvers", "mfb+enum,4sides", "--out", path, "--jobs", "2");
    ss_record_rows two = read_results(path);
    TEST_ASSERT_EQUAL_size_t(8, one.count);
    TEST_ASSERT_EQUAL_size_t(8, two.count);
    for (size_t k = 0; k < 8; k++) {
        const ss_record_row *row = &one.rows[k];
        CHECK(find_row(&two, row) != NULL);
        check_same_findings(row, find_row(&two, row));
    }
    ss_record_rows_free(&one);
    ss_record_rows_free(&two);
}

static void a_problem_named_twice_is_run_once(void)
{
    EXPECT(0, "bench", guess, guess, "--solvers", "enum", "--out", result);
    HOLDS(standard_error, "is the same problem as");
    rows_are(1);
}

static void a_solver_spelled_twice_is_run_once(void)
{
    EXPECT(0, "bench", guess, "--solvers", "gs/enum,enum", "--out", result);
    HOLDS(standard_error, "stickslip bench: enum is the same solver as gs/enum: it is run once");
    HOLDS(standard_error, "1 row made, 0 were there");
    EXPECT(0, "bench", guess, "--solvers", "enum", "--out", result);
    HOLDS(standard_error, "0 rows made, 1 was there");
}

static void a_missing_guess_is_told_and_recorded(void)
{
    EXPECT(0, "bench", many, guess, "--solvers", "enum", "--start", "guess", "--out", result);
    char told[700];
    snprintf(told, sizeof told,
             "--start guess: 3 of 4 problems hold no guess and start from zero, %s", many);
    HOLDS(standard_error, told);
    ss_record_rows record = read_results(result);
    for (size_t k = 0; k < 4; k++) {
        const ss_record_row *row = &record.rows[k];
        TEST_ASSERT_EQUAL_STRING(k < 3 ? "the problem holds no guess: the start is zero" : "",
                                 row->detail);
    }
    ss_record_rows_free(&record);
    EXPECT(0, "bench", big, guess, "--solvers", "enum", "--start", "guess", "--dry-run", "--out",
           result);
    snprintf(told, sizeof told, "--start guess: %s holds no guess and starts from zero", big);
    HOLDS(standard_error, told);
    EXPECT(0, "bench", guess, "--solvers", "enum", "--start", "guess", "--dry-run", "--out",
           result);
    CHECK(strstr(standard_error, "--start guess") == NULL);
}

static void more_jobs_than_cores_are_told(void)
{
    EXPECT(0, "bench", guess, "--solvers", "enum", "--jobs", "1000", "--out", result);
    HOLDS(standard_error, "--jobs 1000 is more than the ");
    HOLDS(standard_error, " at a time");
}

// A run ends by its CPU time, on a busy machine too; an iteration that would end late is not begun.
static bool limit_ended(const ss_record_row *row)
{
    return row->cpu_seconds >= 0.5 * row->time_limit;
}

static void the_time_limit_is_a_status(void)
{
    EXPECT(0, "bench", big, "--solvers", "mfb", "--tol", "1e-15", "--time-limit", "0.1", "--out",
           result);
    ss_record_rows record = read_results(result);
    const ss_record_row *row = &record.rows[0];
    TEST_ASSERT_EQUAL_STRING("time_limit", row->status);
    CHECK(limit_ended(row) && isfinite(row->measures.fb));
    ss_record_rows_free(&record);
}

static const char *only_status(void)
{
    static char status[16];
    ss_record_rows record = read_results(result);
    TEST_ASSERT_EQUAL_size_t(1, record.count);
    snprintf(status, sizeof status, "%s", record.rows[0].status);
    ss_record_rows_free(&record);
    return status;
}

static void a_row_that_met_a_limit_is_made_again_for_a_larger_one(void)
{
    EXPECT(0, "bench", guess, "--solvers", "enum", "--out", result, "--max-iter", "2");
    TEST_ASSERT_EQUAL_STRING("max_iter", only_status());
    EXPECT(0, "bench", guess, "--solvers", "enum", "--out", result, "--max-iter", "1");
    HOLDS(standard_error, "0 rows made, 1 was there");
    EXPECT(0, "bench", guess, "--solvers", "enum", "--out", result);
    HOLDS(standard_error, "1 row made, 0 were there");
    TEST_ASSERT_EQUAL_STRING("solved", only_status());
    // What was solved within a limit says all, whatever the next limit.
    EXPECT(0, "bench", guess, "--solvers", "enum", "--out", result, "--max-iter", "1000000",
           "--time-limit", "1000");
    HOLDS(standard_error, "0 rows made, 1 was there");
}

static void a_row_that_met_the_time_limit_is_made_again_for_a_larger_one(void)
{
    static const char *const limits[] = {"0.05", "0.05", "0.1"};
    for (int k = 0; k < 3; k++) {
        EXPECT(0, "bench", big, "--solvers", "mfb", "--tol", "1e-15", "--time-limit", limits[k],
               "--out", result);
        HOLDS(standard_error, k == 1 ? "0 rows made, 1 was" : "1 row made, 0 were");
        TEST_ASSERT_EQUAL_STRING("time_limit", only_status());
    }
    ss_record_rows record = read_results(result);
    CHECK(record.rows[0].time_limit == 0.1);
    CHECK(limit_ended(&record.rows[0]));
    ss_record_rows_free(&record);
}

static void write_damaged(const char *path)
{
    write_bytes(path, "\211HDF\r\n\032\n and no more", 20);
}

static void a_file_that_can_be_read_again_replaces_its_bad_row(void)
{
    char mended[512];
    keep_path(mended, "mended.h5");
    write_damaged(mended);
    EXPECT(3, "bench", mended, "--solvers", "enum", "--out", result);
    TEST_ASSERT_EQUAL_STRING("bad_input", only_status());
    remove(mended);
    TEST_ASSERT_EQUAL_INT(0, link(guess, mended));
    EXPECT(0, "bench", mended, "--solvers", "enum", "--out", result);
    TEST_ASSERT_EQUAL_STRING("solved", only_status());
    // Broken once more, and mended: the row that was there is made again, the bad one goes.
    remove(mended);
    write_damaged(mended);
    EXPECT(3, "bench", mended, "--solvers", "enum", "--out", result);
    rows_are(2);
    remove(mended);
    TEST_ASSERT_EQUAL_INT(0, link(guess, mended));
    EXPECT(0, "bench", mended, "--solvers", "enum", "--out", result);
    HOLDS(standard_error, "1 row made, 0 were there");
    TEST_ASSERT_EQUAL_STRING("solved", only_status());
}

// ---- Exit codes

static void bad_files_are_rows_and_exit_3_and_the_rest_runs(void)
{
    char bad[512];
    keep_path(bad, "damaged.h5");
    write_damaged(bad);
    EXPECT(3, "bench", bad, many, "--solvers", "enum", "--out", result);
    HOLDS(standard_error, "damaged.h5: damaged file");
    ss_record_rows record = read_results(result);
    TEST_ASSERT_EQUAL_size_t(4, record.count);
    const ss_record_row *row = &record.rows[0];
    TEST_ASSERT_EQUAL_STRING("bad_input", row->status);
    TEST_ASSERT_EQUAL_STRING(bad, row->problem);
    HOLDS(row->detail, "damaged file");
    CHECK(row->iterations == -1 && isnan(row->measures.fb) && isnan(row->seconds));
    CHECK(row->contacts == -1 && row->dim == -1);
    TEST_ASSERT_EQUAL_STRING("solved", record.rows[1].status);
    ss_record_rows_free(&record);
    EXPECT(3, "bench", bad, many, "--solvers", "enum", "--out", result);
    HOLDS(standard_error, "0 rows made, 4 were there");
}

// As `bench set/*` with a README, a folder and a misspelt name.
static void what_is_no_problem_file_is_reported_and_not_recorded(void)
{
    char text[512], nowhere[512];
    keep_path(text, "README");
    keep_path(nowhere, "nowhere.h5");
    write_bytes(text, "not HDF5", 8);
    EXPECT(3, "bench", text, nowhere, "--solvers", "enum", "--out", result);
    HOLDS(standard_error, "README: is not an HDF5 file");
    HOLDS(standard_error, "nowhere.h5: no such file");
    CHECK(access(result, F_OK) != 0);
    EXPECT(3, "bench", text, many, nowhere, "--solvers", "enum", "--out", result);
    rows_are(3);
    EXPECT(3, "bench", text, many, "--solvers", "enum", "--out", result);
    HOLDS(standard_error, "0 rows made, 3 were there");
}

static void a_folder_means_its_problem_files_in_order(void)
{
    char folder[512], path[600];
    keep_path(folder, "set");
    CHECK(mkdir(folder, 0777) == 0);
    EXPECT(3, "bench", folder, "--solvers", "enum", "--out", result);
    HOLDS(standard_error, "set: contains no *.h5 and no *.hdf5");
    static const char *const NAMES[] = {"p10.h5", "p9.hdf5", "README", "p11.h5.old"};
    for (int k = 0; k < 4; k++) {
        snprintf(path, sizeof path, "%s/%s", folder, NAMES[k]);
        CHECK(link(k % 2 == 0 ? guess : many, path) == 0);
    }
    EXPECT(0, "bench", folder, "--solvers", "enum", "--out", result);
    ss_record_rows record = read_results(result);
    TEST_ASSERT_EQUAL_size_t(4, record.count); // three of many, then guess
    snprintf(path, sizeof path, "%s/p9.hdf5:", folder);
    CHECK(strncmp(record.rows[0].problem, path, strlen(path)) == 0);
    snprintf(path, sizeof path, "%s/p10.h5", folder);
    TEST_ASSERT_EQUAL_STRING(path, record.rows[3].problem);
    ss_record_rows_free(&record);
}

static void a_list_means_the_operands_in_its_lines(void)
{
    char list[512], at[520], lines[2000];
    keep_path(list, "list.txt");
    snprintf(at, sizeof at, "@%s", list);
    EXPECT(3, "bench", at, "--solvers", "enum", "--out", result);
    HOLDS(standard_error, "list.txt: No such file");
    snprintf(lines, sizeof lines, "# problems\n%s\n\n%s\r\n/nowhere.h5", guess, many);
    write_bytes(list, lines, strlen(lines));
    EXPECT(3, "bench", at, "--solvers", "enum", "--out", result);
    HOLDS(standard_error, "/nowhere.h5: no such file");
    ss_record_rows record = read_results(result);
    TEST_ASSERT_EQUAL_size_t(4, record.count);
    TEST_ASSERT_EQUAL_STRING(guess, record.rows[0].problem);
    ss_record_rows_free(&record);
}

static void a_wrong_command_line_is_exit_1_with_a_sentence(void)
{
    EXPECT(1, "bench", many, "--out", result);
    HOLDS(standard_error, "bench: needs --solvers LIST");
    EXPECT(1, "bench", many, "--solvers", "enum");
    HOLDS(standard_error, "bench: needs --out RESULTS.db");
    EXPECT(1, "bench", "--solvers", "enum", "--out", result);
    HOLDS(standard_error, "bench: needs a FILE");
    EXPECT(1, "bench", many, "--solvers", "enum,nobody", "--out", result);
    HOLDS(standard_error, "--solvers: nobody: unknown solver 'nobody'");
    EXPECT(1, "bench", many, "--solvers", "enum", "--repeat", "0", "--out", result);
    EXPECT(1, "bench", many, "--solvers", "enum", "--time-limit", "0", "--out", result);
    EXPECT(1, "bench", many, "--solvers", "enum", "--jobs", "0", "--out", result);
    CHECK(access(result, F_OK) != 0);
}

static void the_verb_explains_itself_and_hides_its_child(void)
{
    EXPECT(0, "bench", "--help");
    HOLDS(standard_out, "--solvers LIST");
    HOLDS(standard_out, "Exit codes");
    EXPECT(0, "--help");
    HOLDS(standard_out, "  bench ");
    CHECK(strstr(standard_out, "run-one") == NULL);
}

static void a_record_that_cannot_be_written_is_exit_4(void)
{
    EXPECT(4, "bench", many, "--solvers", "enum", "--out", "/nonexistent/r.db");
    HOLDS(standard_error, "/nonexistent/r.db");
}

static void run_tests(void)
{
    RUN_TEST(every_pair_is_a_row);
    RUN_TEST(the_same_command_goes_on);
    RUN_TEST(tolerance_and_start_make_other_rows);
    RUN_TEST(a_dry_run_makes_nothing);
    RUN_TEST(the_number_of_jobs_does_not_change_the_findings);
    RUN_TEST(a_problem_named_twice_is_run_once);
    RUN_TEST(a_solver_spelled_twice_is_run_once);
    RUN_TEST(a_missing_guess_is_told_and_recorded);
    RUN_TEST(more_jobs_than_cores_are_told);
    RUN_TEST(the_time_limit_is_a_status);
    RUN_TEST(a_row_that_met_a_limit_is_made_again_for_a_larger_one);
    RUN_TEST(a_row_that_met_the_time_limit_is_made_again_for_a_larger_one);
    RUN_TEST(a_file_that_can_be_read_again_replaces_its_bad_row);
    RUN_TEST(bad_files_are_rows_and_exit_3_and_the_rest_runs);
    RUN_TEST(what_is_no_problem_file_is_reported_and_not_recorded);
    RUN_TEST(a_folder_means_its_problem_files_in_order);
    RUN_TEST(a_list_means_the_operands_in_its_lines);
    RUN_TEST(a_wrong_command_line_is_exit_1_with_a_sentence);
    RUN_TEST(the_verb_explains_itself_and_hides_its_child);
    RUN_TEST(a_record_that_cannot_be_written_is_exit_4);
}

const test_group cli_bench_tests = {.run = run_tests, .set_up = set_up};
