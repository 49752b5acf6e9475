// `stickslip bench --shard` and `merge`: the parts of a benchmark make the whole.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/bench_inputs.h"

#define SOLVERS "mfb+enum,secular,pac"

static char whole[512]; // a plain bench of many and guess: four problems

static void set_up_whole(void)
{
    set_up();
    if (whole[0] == '\0') {
        keep_path(whole, "whole.db");
        EXPECT(0, "bench", many, guess, "--solvers", SOLVERS, "--out", whole);
    }
}

static const char *shard_path(int index, int count)
{
    static char path[512];
    char name[40];
    snprintf(name, sizeof name, "shard-%d-%d.db", index, count);
    keep_path(path, name);
    return path;
}

static void run_shard(int index, int count)
{
    char shard[40];
    snprintf(shard, sizeof shard, "%d/%d", index, count);
    EXPECT(0, "bench", many, guess, "--solvers", SOLVERS, "--shard", shard, "--base", result,
           "--out", shard_path(index, count));
}

static void merge_shard(int code, int index, int count)
{
    EXPECT(code, "merge", shard_path(index, count), "--out", result);
}

static void remove_shards(int count)
{
    for (int k = 0; k < count; k++) {
        unlink(shard_path(k, count));
    }
}

static void check_whole(void)
{
    ss_record_rows one = read_results(whole), two = read_results(result);
    TEST_ASSERT_EQUAL_size_t(12, one.count);
    check_same_records(&one, &two);
    ss_record_rows_free(&one);
    ss_record_rows_free(&two);
}

static void the_rows_of_all_shards_are_those_of_a_plain_bench(void)
{
    static const int COUNTS[] = {1, 2, 5}; // of four problems: the fifth shard has none
    for (int c = 0; c < 3; c++) {
        unlink(result);
        for (int k = 0; k < COUNTS[c]; k++) {
            run_shard(k, COUNTS[c]);
        }
        for (int k = 0; k < COUNTS[c]; k++) {
            merge_shard(0, k, COUNTS[c]);
        }
        check_whole();
        remove_shards(COUNTS[c]);
    }
}

static void a_shard_has_every_nth_problem_with_all_its_solvers(void)
{
    run_shard(1, 3); // problem 1 of many; with the next file, problem 3 is the first again
    ss_record_rows rows = read_results(shard_path(1, 3));
    TEST_ASSERT_EQUAL_size_t(3, rows.count);
    for (size_t k = 0; k < 3; k++) {
        TEST_ASSERT_EQUAL_STRING("tangle-0002", strchr(rows.rows[k].problem, ':') + 1);
    }
    ss_record_rows_free(&rows);
    run_shard(0, 3);
    rows = read_results(shard_path(0, 3));
    TEST_ASSERT_EQUAL_size_t(6, rows.count);
    TEST_ASSERT_EQUAL_STRING(guess, rows.rows[5].problem);
    ss_record_rows_free(&rows);
    remove_shards(3);
}

// A file that cannot be opened is a problem of one shard, and the others go on counting after it.
static void a_bad_file_is_in_one_shard(void)
{
    char bad[512];
    keep_path(bad, "damaged.h5");
    write_bytes(bad, "\211HDF\r\n\032\n and no more", 20);
    EXPECT(3, "bench", bad, many, "--solvers", "enum", "--shard", "0/2", "--out", result);
    HOLDS(standard_error, "damaged.h5: damaged file");
    ss_record_rows rows = read_results(result);
    TEST_ASSERT_EQUAL_size_t(2, rows.count); // and the second of many
    TEST_ASSERT_EQUAL_STRING("bad_input", rows.rows[0].status);
    CHECK(strstr(rows.rows[1].problem, ":tangle-0002") != NULL);
    ss_record_rows_free(&rows);
    EXPECT(0, "bench", bad, many, "--solvers", "enum", "--shard", "1/2", "--out", shard_path(1, 2));
    CHECK(strstr(standard_error, "damaged") == NULL);
    merge_shard(0, 1, 2);
    rows_are(4);
    // What the base holds counts for the exit code as well.
    EXPECT(3, "bench", bad, many, "--solvers", "enum", "--base", result, "--out", shard_path(0, 2));
    HOLDS(standard_error, "0 rows made, 4 were there");
    EXPECT(3, "bench", bad, many, "--solvers", "enum", "--dry-run", "--out", result);
    remove_shards(2);
}

static void what_the_base_holds_is_not_made_again(void)
{
    char base[512];
    keep_path(base, "base.db");
    unlink(base);
    EXPECT(0, "bench", many, "--solvers", "enum", "--base", base, "--out", result);
    HOLDS(standard_error, "3 rows made, 0 were there"); // there is no base yet
    CHECK(access(base, F_OK) != 0);
    CHECK(rename(result, base) == 0);
    size_t before, after;
    char *old = read_bytes(base, &before);
    EXPECT(0, "bench", many, "--solvers", "enum,pac", "--base", base, "--dry-run", "--out", result);
    HOLDS(standard_error, "3 of 6 rows are missing");
    EXPECT(0, "bench", many, "--solvers", "enum,pac", "--base", base, "--out", result);
    HOLDS(standard_error, "3 rows made, 3 were there");
    rows_are(3);
    EXPECT(0, "bench", many, "--solvers", "enum,pac", "--base", base, "--out", result);
    HOLDS(standard_error, "0 rows made, 6 were there");
    char *now = read_bytes(base, &after);
    CHECK(before == after && memcmp(old, now, before) == 0);
    free(old);
    free(now);
}

static void a_row_of_the_base_that_hit_a_smaller_limit_is_made_again_and_replaces_it(void)
{
    char base[512];
    keep_path(base, "limited.db");
    unlink(base);
    EXPECT(0, "bench", guess, "--solvers", "enum", "--max-iter", "2", "--out", base);
    EXPECT(0, "bench", guess, "--solvers", "enum", "--max-iter", "2", "--base", base, "--out",
           result);
    HOLDS(standard_error, "0 rows made, 1 was there");
    EXPECT(0, "bench", guess, "--solvers", "enum", "--base", base, "--out", result);
    HOLDS(standard_error, "1 row made, 0 were there");
    EXPECT(0, "merge", result, "--out", base);
    ss_record_rows rows = read_results(base);
    TEST_ASSERT_EQUAL_size_t(1, rows.count);
    TEST_ASSERT_EQUAL_STRING("solved", rows.rows[0].status);
    ss_record_rows_free(&rows);
}

static void a_damaged_shard_is_left_out_of_the_merge_and_can_be_made_again(void)
{
    for (int k = 0; k < 2; k++) {
        run_shard(k, 2);
    }
    CHECK(truncate(shard_path(0, 2), 5000) == 0);
    char first[512];
    snprintf(first, sizeof first, "%s", shard_path(0, 2));
    EXPECT(3, "merge", first, shard_path(1, 2), "--out", result);
    HOLDS(standard_error, "shard-0-2.db: damaged record");
    rows_are(6);
    unlink(first);
    run_shard(0, 2);
    merge_shard(0, 0, 2);
    check_whole();
    remove_shards(2);
}

static int fetch(const char *folder)
{
    char command[1200];
    snprintf(command, sizeof command, "'%s/fetch-fclib' '%s' 2>'%s.said'", getenv("SCRIPTS"),
             folder, folder);
    const int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Of a copy of the collection: problems, what git-lfs keeps in the place of one, and a wrong file.
static void the_list_of_a_collection_names_what_is_there(void)
{
    char folder[512], path[600], at[600];
    keep_path(folder, "fclib");
    CHECK(mkdir(folder, 0777) == 0);
    TEST_ASSERT_EQUAL_INT(3, fetch(folder));
    snprintf(path, sizeof path, "%s/p10.hdf5", folder);
    CHECK(link(guess, path) == 0);
    snprintf(path, sizeof path, "%s/a scene", folder);
    CHECK(mkdir(path, 0777) == 0);
    snprintf(path, sizeof path, "%s/a scene/many.hdf5", folder);
    CHECK(link(many, path) == 0);
    TEST_ASSERT_EQUAL_INT(0, fetch(folder));
    static const char POINTER[] = "version https://git-lfs.github.com/spec/v1\noid sha256:12\n";
    snprintf(path, sizeof path, "%s/p11.hdf5", folder);
    write_bytes(path, POINTER, strlen(POINTER));
    TEST_ASSERT_EQUAL_INT(2, fetch(folder));
    snprintf(path, sizeof path, "%s/p12.hdf5", folder);
    write_bytes(path, "not HDF5", 8);
    TEST_ASSERT_EQUAL_INT(3, fetch(folder));
    snprintf(path, sizeof path, "%s.said", folder);
    HOLDS(file_text(path), "p12.hdf5 is no HDF5 file");
    HOLDS(file_text(path), "2 of 4 problems are there");
    HOLDS(file_text(path), "not downloaded: 1; get them with");
    snprintf(at, sizeof at, "@%s/list.txt", folder);
    EXPECT(0, "bench", at, "--solvers", "enum", "--dry-run", "--out", result);
    HOLDS(standard_error, "4 of 4 rows are missing");
}

static void a_wrong_shard_is_exit_1(void)
{
    static const char *const WRONG[] = {"2/2", "-1/2",  "1",     "/2",    "1/",           "0/0",
                                        "a/b", "1/2/3", "1 / 2", "0x0/2", "1/99999999999"};
    for (int k = 0; k < 11; k++) {
        EXPECT(1, "bench", many, "--solvers", "enum", "--shard", WRONG[k], "--out", result);
        HOLDS(standard_error, "--shard takes I/N");
        HOLDS(standard_error, WRONG[k]);
    }
    CHECK(access(result, F_OK) != 0);
}

static void a_base_that_is_no_record_is_exit_3(void)
{
    EXPECT(3, "bench", many, "--solvers", "enum", "--base", many, "--out", result);
    HOLDS(standard_error, "many.h5: is an HDF5 file, and a record of runs is an SQLite database");
    CHECK(access(result, F_OK) != 0);
}

static void run_tests(void)
{
    RUN_TEST(the_rows_of_all_shards_are_those_of_a_plain_bench);
    RUN_TEST(a_shard_has_every_nth_problem_with_all_its_solvers);
    RUN_TEST(a_bad_file_is_in_one_shard);
    RUN_TEST(what_the_base_holds_is_not_made_again);
    RUN_TEST(a_row_of_the_base_that_hit_a_smaller_limit_is_made_again_and_replaces_it);
    RUN_TEST(a_damaged_shard_is_left_out_of_the_merge_and_can_be_made_again);
    RUN_TEST(the_list_of_a_collection_names_what_is_there);
    RUN_TEST(a_wrong_shard_is_exit_1);
    RUN_TEST(a_base_that_is_no_record_is_exit_3);
}

const test_group cli_shards_tests = {.run = run_tests, .set_up = set_up_whole};
