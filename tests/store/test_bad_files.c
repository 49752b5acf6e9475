// Files that are wrong: each is refused with SS_BAD_INPUT and a sentence that names the dataset.
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/bad_file.h"

// ---- What is no file of problems.

static void what_is_no_hdf5_file_is_told(void)
{
    expect_no_reader(scratch_path("absent.h5"), "no such file");
    expect_no_reader("/", "is a directory");
    expect_no_reader("/dev/null", "is not a regular file");
    write_bytes(path, "", 0);
    expect_no_reader(path, "is an empty file");
    write_bytes(path, "spacedim = 3\n", 13);
    expect_no_reader(path, "is not an HDF5 file");
    CHECK(mkfifo(scratch_path("pipe"), 0600) == 0);
    expect_no_reader(scratch_path("pipe"), "is not a regular file");
}

static void a_file_that_may_not_be_read_is_told(void)
{
    if (geteuid() == 0) {
        TEST_IGNORE_MESSAGE("root may read everything");
    }
    close_file(small_local(path));
    CHECK(chmod(path, 0) == 0);
    expect_no_reader(path, "cannot be read: Permission denied");
    CHECK(chmod(path, 0600) == 0);
}

static void a_long_path_is_shown_by_its_end(void)
{
    char directory[600], file[700];
    ss_reader *reader = NULL;
    memset(directory, 'd', sizeof directory);
    directory[sizeof directory - 1] = '\0';
    snprintf(file, sizeof file, "/%s/end.h5", directory);
    CHECK(ss_reader_open(file, &reader, &error) == SS_BAD_INPUT);
    CHECK(strstr(error.text, "ddd/end.h5: ") != NULL);
}

static void a_file_without_problems_is_told(void)
{
    close_file(small_file(path));
    expect_no_reader(path, "contains no /fclib_local, /fclib_global or /problems group");
    hid_t file = small_file(path);
    put_group(file, "problems");
    close_file(file);
    expect_no_reader(path, "/problems is empty");
    file = small_local(path);
    put_group(file, "problems/a");
    close_file(file);
    expect_no_reader(path, "contains both a problem and a collection (/problems)");
}

static void what_is_no_problem_is_named(void)
{
    hid_t file = small_file(path);
    put_int(file, "problems/a", 1);
    expect(file, "problem a: /problems/a is not a group");
    file = small_file(path);
    put_group(file, "problems");
    H5Lcreate_soft("/nowhere", file, "problems/a", H5P_DEFAULT, H5P_DEFAULT);
    expect(file, "problem a: /problems/a is a dangling link");
    file = small_file(path);
    put_group(file, "problems");
    H5Lcreate_external("other.h5", "/", file, "problems/a", H5P_DEFAULT, H5P_DEFAULT);
    expect(file, "problem a: /problems/a is an external link");
    file = small_file(path);
    put_int(file, "fclib_local", 1);
    expect(file, "/fclib_local cannot be read: it is not a group");
}

static void an_empty_path_is_shown_in_quotes(void)
{
    ss_reader *reader = NULL;
    CHECK(ss_reader_open("", &reader, &error) == SS_BAD_INPUT);
    TEST_ASSERT_EQUAL_STRING("'': no such file", error.text);
}

static void a_truncated_file_is_damaged_wherever_it_is_cut(void)
{
    size_t size;
    close_file(small_local(path));
    char *bytes = read_bytes(path, &size);
    for (size_t cut = 16; cut < size; cut += 512) {
        write_bytes(path, bytes, cut);
        expect_no_reader(path, "damaged file: libhdf5 cannot open it");
    }
    free(bytes);
}

// ---- What is not supported, or missing.

static void unsupported_problems_are_named(void)
{
    hid_t file = small_file(path);
    put_group(file, "fclib_global_rolling/W");
    expect(file, "rolling friction (/fclib_global_rolling) is not supported yet");
    file = small_local(path);
    put_group(file, "fclib_local_rolling");
    expect(file, "rolling friction (/fclib_local_rolling) is not supported yet");
    file = small_global(path);
    put_group(file, "fclib_global/G");
    expect(file, "equality constraints (/fclib_global/G) are not supported yet");
    file = small_local(path);
    put_group(file, "fclib_local/V");
    expect(file, "equality constraints (/fclib_local/V) are not supported yet");
}

static void a_problem_has_one_form(void)
{
    hid_t file = small_local(path);
    put_group(file, "fclib_global");
    expect(file, "contains both /fclib_local and /fclib_global; a problem has one of them");
    file = small_file(path);
    put_group(file, "problems/a/info");
    close_file(file);
    load_bad();
    CHECK(report_says("contains no /fclib_local or /fclib_global group"));
}

static void each_missing_dataset_is_named(void)
{
    static const char *const LOCAL[] = {"spacedim", "W/m", "W/n",        "W/nz",     "W/p",
                                        "W/i",      "W/x", "vectors/mu", "vectors/q"};
    for (size_t k = 0; k < sizeof LOCAL / sizeof LOCAL[0]; k++) {
        char dataset[64], text[96];
        const hid_t file = small_local(path);
        snprintf(dataset, sizeof dataset, "fclib_local/%s", LOCAL[k]);
        remove_object(file, dataset);
        snprintf(text, sizeof text, "/%s is missing", dataset);
        expect(file, text);
    }
}

static void all_defects_are_told_at_once(void)
{
    const hid_t file = small_global(path);
    remove_object(file, "fclib_global/H");
    remove_object(file, "fclib_global/vectors/w");
    put_int(file, "fclib_global/spacedim", 4);
    close_file(file);
    load_bad();
    CHECK(report_says("/fclib_global/spacedim is 4, it must be 2 or 3"));
    CHECK(report_says("/fclib_global/H/m is missing"));
    CHECK(report_says("/fclib_global/H/x is missing"));
    CHECK(report_says("/fclib_global/vectors/w is missing"));
    TEST_ASSERT_EQUAL_INT(8, report.ndefects);
    CHECK(strstr(error.text, ": /fclib_global/spacedim is 4, it must be 2 or 3 (and 7 more)") !=
          NULL);
}

// ---- Sizes and indices.

static void sizes_must_agree(void)
{
    hid_t file = small_local(path);
    put_int(file, "fclib_local/W/m", 5);
    expect(file, "/fclib_local/W is 5 x 6, 2 contacts in 3 dimensions need 6 x 6");
    file = small_local(path);
    put_int(file, "fclib_local/W/n", -6);
    expect(file, "/fclib_local/W/n is negative (-6)");
    file = small_local(path);
    put_reals(file, "fclib_local/vectors/q", 5, (const double[]){1, 2, 3, 4, 5});
    expect(file, "/fclib_local/vectors/q has 5 entries, it needs 6");
    file = small_local(path);
    put_reals(file, "fclib_local/vectors/mu", 0, NULL);
    expect(file, "/fclib_local/vectors/mu is empty, a problem has at least one contact");
    file = small_global(path);
    put_reals(file, "fclib_global/vectors/w", 7, (const double[]){1, 2, 3, 4, 5, 6, 7});
    expect(file, "/fclib_global/vectors/w has 7 entries, it needs 6");
    file = small_global(path);
    put_int(file, "fclib_global/H/n", 9);
    put_ints(file, "fclib_global/H/p", 10, (const int[]){0, 1, 2, 3, 4, 5, 6, 6, 6, 6});
    expect(file, "/fclib_global/H is 6 x 9, 2 contacts in 3 dimensions need 6 columns "
                 "(and 6 dofs as many rows)");
    file = small_global(path);
    put_int(file, "fclib_global/M/m", 7);
    expect(file, "/fclib_global/M is 7 x 6, the 6 entries of /fclib_global/vectors/f need 6 x 6");
}

static void numbers_must_be_single_and_fit(void)
{
    hid_t file = small_local(path);
    put_ints(file, "fclib_local/spacedim", 2, (const int[]){3, 3});
    expect(file, "/fclib_local/spacedim has 2 entries, it must be one number");
    file = small_local(path);
    put_typed(file, "fclib_local/W/nz", H5T_NATIVE_LONG, H5S_ALL, 1, H5P_DEFAULT,
              (const long[]){5000000000});
    expect(file, "/fclib_local/W/nz is 5000000000, out of range");
    file = small_local(path);
    put_int(file, "fclib_local/W/nz", -7);
    expect(file, "/fclib_local/W/nz is -7, neither -1 (by columns), -2 (by rows) nor a number of "
                 "triplets");
}

static void lengths_must_suffice(void)
{
    hid_t file = small_local(path);
    put_ints(file, "fclib_local/W/p", 5, (const int[]){0, 1, 2, 3, 4});
    expect(file, "/fclib_local/W/p has 5 entries, storage by columns with n = 6 needs 7");
    file = small_local(path);
    put_int(file, "fclib_local/W/nz", -2);
    put_ints(file, "fclib_local/W/p", 8, (const int[]){0, 1, 2, 3, 4, 5, 6, 6});
    expect(file, "/fclib_local/W/p has 8 entries, storage by rows with m = 6 needs 7");
    file = small_local(path);
    put_reals(file, "fclib_local/W/x", 3, (const double[]){1, 2, 3});
    expect(file, "/fclib_local/W/x has 3 entries, p[6] = 6 needs 6");
    file = small_local(path);
    put_int(file, "fclib_local/W/nz", 7);
    close_file(file);
    load_bad();
    CHECK(report_says("/fclib_local/W/i has 6 entries, nz = 7 needs 7"));
    CHECK(report_says("/fclib_local/W/x has 6 entries, nz = 7 needs 7"));
    CHECK(report.ndefects == 2);
}

static void starts_must_rise_from_zero(void)
{
    hid_t file = small_local(path);
    put_ints(file, "fclib_local/W/p", 7, (const int[]){1, 1, 2, 3, 4, 5, 6});
    expect(file, "/fclib_local/W/p[0] is 1, it must be 0");
    file = small_local(path);
    put_ints(file, "fclib_local/W/p", 7, (const int[]){0, 1, 5, 3, 4, 5, 6});
    expect(file, "/fclib_local/W/p[3] is 3, less than p[2] = 5");
    file = small_local(path);
    put_ints(file, "fclib_local/W/p", 7, (const int[]){0, 1, 2, 3, 4, 5, 2147483647});
    close_file(file);
    load_bad();
    CHECK(report_says("/fclib_local/W/x has 6 entries, p[6] = 2147483647 needs 2147483647"));
}

static void indices_must_be_in_range(void)
{
    hid_t file = small_local(path);
    put_ints(file, "fclib_local/W/i", 6, (const int[]){0, 1, 6, 3, 4, 5});
    expect(file, "/fclib_local/W/i[2] is 6, it must be in 0 .. 5");
    file = small_local(path);
    put_ints(file, "fclib_local/W/i", 6, (const int[]){0, -1, 2, 3, -4, 5});
    expect(file, "/fclib_local/W/i[1] is -1, it must be in 0 .. 5 (2 such entries)");
    file = small_local(path);
    put_int(file, "fclib_local/W/nz", 6);
    put_ints(file, "fclib_local/W/p", 6, (const int[]){0, 1, 2, 3, 4, 99});
    expect(file, "/fclib_local/W/p[5] is 99, it must be in 0 .. 5");
}

// ---- Guesses and answers, which a problem can do without.

// Closes the file; its problem is loaded, and its only remark is `text`. The problem is the caller's.
static ss_problem *expect_remark(hid_t file, const char *text)
{
    ss_reader *reader = NULL;
    ss_problem *problem = NULL;
    close_file(file);
    ss_report_free(&report);
    CHECK_OK(ss_reader_open(path, &reader, &error));
    CHECK_OK(ss_reader_load(reader, 0, &problem, &report, &error));
    ss_reader_close(reader);
    TEST_ASSERT_EQUAL_INT(1, report.count);
    TEST_ASSERT_EQUAL_INT(SS_REMARK, report.findings[0].severity);
    TEST_ASSERT_EQUAL_STRING(text, report.findings[0].text);
    return problem;
}

static void guesses_that_do_not_fit_are_left_out(void)
{
    hid_t file = small_local(path);
    put_int(file, "guesses/number_of_guesses", 2);
    put_state(file, "guesses/1", 6, 0.0);
    ss_problem *p = expect_remark(file, "/guesses/number_of_guesses is 2, but /guesses/2 is "
                                        "missing; the guesses are left out");
    CHECK(p->nguesses == 0);
    ss_problem_free(p);
    file = small_local(path);
    put_int(file, "guesses/number_of_guesses", -1);
    ss_problem_free(expect_remark(
        file, "/guesses/number_of_guesses is negative (-1); the guesses are left out"));
    file = small_local(path);
    put_state(file, "guesses/1", 6, 0.0);
    ss_problem_free(
        expect_remark(file, "/guesses/number_of_guesses is missing; the guesses are left out"));
    file = small_local(path);
    put_int(file, "guesses/number_of_guesses", 2);
    put_state(file, "guesses/1", 6, 0.0);
    put_reals(file, "guesses/1/u", 1, (const double[]){0});
    put_state(file, "guesses/2", 6, 7.0);
    p = expect_remark(file, "/guesses/1/u has 1 entry, it needs 6; the guess is left out");
    CHECK(p->nguesses == 2 && p->guesses[0].r == NULL && p->guesses[1].r[5] == 7.0);
    ss_problem_free(p);
    file = small_local(path);
    put_int(file, "guesses/number_of_guesses", 1);
    put_state(file, "guesses/1", 6, NAN);
    remove_object(file, "guesses/1/u");
    p = expect_remark(file, "/guesses/1/r[0] is nan (6 such entries); the guess is left out");
    CHECK(p->nguesses == 1 && p->guesses[0].r == NULL);
    ss_problem_free(p);
}

static void an_answer_that_does_not_fit_is_left_out(void)
{
    hid_t file = small_global(path);
    put_state(file, "solution", 6, 0.0);
    put_reals(file, "solution/r", 5, (const double[]){0, 1, 2, 3, 4});
    ss_problem *p =
        expect_remark(file, "/solution/r has 5 entries, it needs 6; the answer is left out");
    CHECK(!p->has_solution && p->solution.r == NULL && p->solution.u == NULL);
    ss_problem_free(p);
    file = small_local(path);
    put_state(file, "solution", 6, 0.0);
    remove_object(file, "solution/r");
    ss_problem_free(expect_remark(file, "/solution/r is missing; the answer is left out"));
    file = small_local(path);
    put_state(file, "solution", 6, 0.0);
    put_text(file, "solution/u", "fast");
    ss_problem_free(expect_remark(
        file, "/solution/u cannot be read: it does not contain numbers; the answer is left out"));
}

static void remarks_of_many_guesses_do_not_flood(void)
{
    const hid_t file = small_local(path);
    put_int(file, "guesses/number_of_guesses", 200);
    for (int k = 1; k <= 200; k++) {
        char group[32];
        snprintf(group, sizeof group, "guesses/%d", k);
        put_state(file, group, 1, 0.0);
    }
    close_file(file);
    ss_reader *reader = NULL;
    ss_problem *problem = NULL;
    CHECK_OK(ss_reader_open(path, &reader, &error));
    CHECK_OK(ss_reader_load(reader, 0, &problem, &report, &error));
    ss_problem_free(problem);
    ss_reader_close(reader);
    CHECK(report.count == 21 && report.ndefects == 0);
    TEST_ASSERT_EQUAL_STRING("the guesses after /guesses/10 are left out unread",
                             report.findings[20].text);
}

// ---- Values.

static void values_must_be_finite_and_friction_positive(void)
{
    hid_t file = small_local(path);
    put_reals(file, "fclib_local/vectors/mu", 2, (const double[]){0.3, -0.1});
    expect(file, "/fclib_local/vectors/mu[1] is negative (-0.1)");
    file = small_local(path);
    put_reals(file, "fclib_local/vectors/q", 6, (const double[]){0, 0, NAN, 0, NAN, 0});
    expect(file, "/fclib_local/vectors/q[2] is nan (2 such entries)");
    file = small_global(path);
    put_reals(file, "fclib_global/M/x", 6, (const double[]){2, 2, 2, -2, 2, 2});
    close_file(file);
    load_bad();
    CHECK(strstr(report.findings[0].text, "/fclib_global/M is not positive definite") != NULL);
    CHECK(report.ndefects == 1);
}

static void run_tests(void)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    RUN_TEST(what_is_no_hdf5_file_is_told);
    RUN_TEST(a_file_that_may_not_be_read_is_told);
    RUN_TEST(a_long_path_is_shown_by_its_end);
    RUN_TEST(a_file_without_problems_is_told);
    RUN_TEST(what_is_no_problem_is_named);
    RUN_TEST(an_empty_path_is_shown_in_quotes);
    RUN_TEST(a_truncated_file_is_damaged_wherever_it_is_cut);
    RUN_TEST(unsupported_problems_are_named);
    RUN_TEST(a_problem_has_one_form);
    RUN_TEST(each_missing_dataset_is_named);
    RUN_TEST(all_defects_are_told_at_once);
    RUN_TEST(sizes_must_agree);
    RUN_TEST(numbers_must_be_single_and_fit);
    RUN_TEST(lengths_must_suffice);
    RUN_TEST(starts_must_rise_from_zero);
    RUN_TEST(indices_must_be_in_range);
    RUN_TEST(guesses_that_do_not_fit_are_left_out);
    RUN_TEST(an_answer_that_does_not_fit_is_left_out);
    RUN_TEST(remarks_of_many_guesses_do_not_flood);
    RUN_TEST(values_must_be_finite_and_friction_positive);
}

const test_group bad_files_tests = {.run = run_tests, .set_up = set_up, .tear_down = tear_down};
