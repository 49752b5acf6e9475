// Files from outside: converted, split, hostile, cut, read from stdin, and those that cannot be
// written.
#include "tests/support/support.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "problems/store/store.h"
#include "tests/support/hdf5_files.h"
#include "tests/support/make_problem.h"
#include "tests/support/program.h"

static char one[512];       // a tangle in global form
static char one_local[512]; // the same in local form
static char many[512];      // a collection of three, with guesses
static char warm[512];      // one with a guess

static void set_up(void)
{
    if (one[0] != '\0') {
        return;
    }
    snprintf(one, sizeof one, "%s", scratch_path("one.h5"));
    snprintf(one_local, sizeof one_local, "%s", scratch_path("one-local.h5"));
    snprintf(many, sizeof many, "%s", scratch_path("many.h5"));
    EXPECT(0, "generate", "tangle", "--contacts", "40", "--seed", "7", "--out", one);
    EXPECT(0, "convert", one, one_local, "--form", "local");
    snprintf(warm, sizeof warm, "%s", scratch_path("warm.h5"));
    EXPECT(0, "generate", "tangle", "--contacts", "10", "--count", "3", "--warm", "--out", many);
    EXPECT(0, "generate", "tangle", "--contacts", "10", "--warm", "--out", warm);
}

static void convert_makes_local_of_global_and_not_back(void)
{
    char out[512];
    snprintf(out, sizeof out, "%s", scratch_path("made-local.h5"));
    EXPECT(0, "convert", one, out, "--form", "local");
    HOLDS(standard_error, "made-local.h5: 1 problem\n");
    EXPECT(0, "inspect", out, "--format", "csv");
    HOLDS(standard_out, "made-local.h5,local,40,3,");
    snprintf(out, sizeof out, "%s", scratch_path("made-global.h5"));
    EXPECT(3, "convert", one_local, out, "--form", "global");
    HOLDS(standard_error, "without M and H");
    TEST_ASSERT_EQUAL_INT(-1, access(out, F_OK));
}

static void convert_keeps_takes_and_splits_collections(void)
{
    char out[512], path[600];
    snprintf(out, sizeof out, "%s", scratch_path("kept.h5"));
    EXPECT(0, "convert", many, out);
    HOLDS(standard_error, "3 problems\n");
    EXPECT(0, "inspect", out, "--format", "csv");
    HOLDS(standard_out, "kept.h5:tangle-0002,");
    EXPECT(0, "convert", many, out, "--problem", "tangle-0002");
    EXPECT(0, "inspect", out, "--format", "csv");
    HOLDS(standard_out, "kept.h5,global,10,");
    EXPECT(3, "convert", many, out, "--problem", "tangle-02");
    HOLDS(standard_error, "contains no problem named 'tangle-02'; did you mean 'tangle-0");
    snprintf(out, sizeof out, "%s", scratch_path("parts"));
    EXPECT(0, "convert", many, "--split", out);
    snprintf(path, sizeof path, "%s/tangle-0003.h5", out);
    EXPECT(0, "check", path);
    EXPECT(0, "convert", one, "--split", out);
    snprintf(path, sizeof path, "%s/one.h5", out);
    EXPECT(0, "check", path);
}

static void convert_thins_a_collection_out(void)
{
    char out[300];
    snprintf(out, sizeof out, "%s", scratch_path("thinned.h5"));
    EXPECT(0, "convert", many, out, "--every", "2");
    EXPECT(0, "inspect", out, "--format", "csv");
    HOLDS(standard_out, "tangle-0001");
    HOLDS(standard_out, "tangle-0003");
    CHECK(strstr(standard_out, "tangle-0002") == NULL);
    EXPECT(3, "convert", out, out, "--every", "2");
    HOLDS(standard_error, "--every 2 would lose problems of ");
    EXPECT(1, "convert", many, out, "--every", "2", "--problem", "tangle-0002");
    HOLDS(standard_error, "convert: --problem tangle-0002 takes one problem: leave --every 2 out");
    EXPECT(0, "convert", one, out, "--every", "7"); // a file of one problem has a first
}

static void convert_can_replace_its_input(void)
{
    char path[512];
    snprintf(path, sizeof path, "%s", scratch_path("replaced.h5"));
    EXPECT(0, "convert", one, path);
    EXPECT(0, "convert", path, path, "--form", "local");
    EXPECT(0, "inspect", path, "--format", "csv");
    HOLDS(standard_out, "replaced.h5,local,");
}

// Each put there by another program, alone, into a single problem and into a collection.
static void nothing_of_others_is_lost_in_place(void)
{
    static const struct {
        const char *object, *attribute, *told;
    } cases[] = {
        {"notes", NULL, "/notes"},
        {"fclib_global/vectors/extra", NULL, "/fclib_global/vectors/extra"},
        {"guesses/1/l", NULL, "/guesses/1/l"},
        {"fclib_global/M/x", "unit", "/fclib_global/M/x@unit"},
        {"/", "history", "/@history"},
    };
    char path[512], copy[512], sentence[700];
    snprintf(path, sizeof path, "%s", scratch_path("foreign.h5"));
    snprintf(copy, sizeof copy, "%s", scratch_path("foreign-copy.h5"));
    for (int k = 0; k < 2 * 5; k++) {
        char object[80];
        const bool single = k < 5;
        EXPECT(0, "convert", single ? warm : many, path);
        const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
        snprintf(object, sizeof object, "%s%s", single ? "" : "problems/tangle-0002/",
                 cases[k % 5].object);
        if (cases[k % 5].attribute != NULL) {
            put_attribute(file, object, cases[k % 5].attribute);
        } else {
            put_int(file, object, 7);
        }
        close_file(file);
        size_t before, after;
        char *bytes = read_bytes(path, &before);
        snprintf(sentence, sizeof sentence, "foreign.h5 contains %s%s, which would be lost",
                 single ? "" : "/problems/tangle-0002", cases[k % 5].told);
        EXPECT(3, "convert", path, path);
        HOLDS(standard_error, sentence);
        EXPECT(3, "solve", path, "--out", path);
        HOLDS(standard_error, sentence);
        char *unchanged = read_bytes(path, &after);
        CHECK(before == after && memcmp(bytes, unchanged, before) == 0);
        free(bytes);
        free(unchanged);
        EXPECT(0, "convert", path, copy); // elsewhere nothing is lost
        EXPECT(0, "convert", copy, copy);
    }
}

static void other_problems_are_not_lost_in_place(void)
{
    char path[512];
    snprintf(path, sizeof path, "%s", scratch_path("three.h5"));
    EXPECT(0, "convert", many, path);
    EXPECT(3, "solve", path, "--problem", "tangle-0002", "--out", path);
    HOLDS(standard_error, "three.h5 contains 2 other problems, which would be lost");
    EXPECT(3, "convert", path, path, "--problem", "tangle-0002");
    EXPECT(0, "solve", path, "--out", path, "--tol", "1e-4"); // what we wrote is ours
    EXPECT(0, "solve", path, "--out", path, "--tol", "1e-5");
    EXPECT(0, "inspect", path, "--format", "csv");
    TEST_ASSERT_EQUAL_INT(4, count_lines(standard_out));
}

static void split_refuses_to_replace_its_input(void)
{
    char folder[512], path[600], link[600];
    snprintf(folder, sizeof folder, "%s", scratch_path("apart"));
    snprintf(path, sizeof path, "%s/tangle-0002.h5", folder);
    snprintf(link, sizeof link, "%s/other.h5", folder);
    CHECK(mkdir(folder, 0777) == 0);
    EXPECT(0, "convert", many, path);
    EXPECT(3, "convert", path, "--split", folder);
    HOLDS(standard_error, "tangle-0002.h5, the file that is read: give --split another folder");
    snprintf(path, sizeof path, "%s/tangle-0001.h5", folder);
    TEST_ASSERT_EQUAL_INT(-1, access(path, F_OK)); // nothing is written before the refusal
    EXPECT(0, "convert", one, path);
    CHECK(symlink("tangle-0001.h5", link) == 0);
    EXPECT(3, "convert", link, "--split", folder, "--form", "local");
    EXPECT(3, "convert", path, "--split", folder, "--form", "local");
    EXPECT(0, "inspect", path, "--format", "csv");
    HOLDS(standard_out, "tangle-0001.h5,global,40,");
}

// M = 1e-10 I and H = 1e160 I are finite; W = 1e330 I is not.
static void write_overflowing(const char *path)
{
    const int place[] = {0, 1, 2};
    ss_error error;
    ss_problem *p = ss_problem_new();
    p->form = SS_GLOBAL;
    p->dim = p->ndofs = 3;
    p->ncontacts = 1;
    CHECK_OK(ss_sparse_from_triplets(&p->M, 3, 3, 3, place, place,
                                     (const double[]){1e-10, 1e-10, 1e-10}, &error));
    CHECK_OK(ss_sparse_from_triplets(&p->H, 3, 3, 3, place, place,
                                     (const double[]){1e160, 1e160, 1e160}, &error));
    p->mu = calloc(1, sizeof *p->mu);
    p->f = calloc(3, sizeof *p->f);
    p->w = calloc(3, sizeof *p->w);
    CHECK_OK(ss_store_write(path, p, &error));
    ss_problem_free(p);
}

static void a_local_form_that_is_not_finite_is_refused(void)
{
    char path[512], out[512];
    snprintf(path, sizeof path, "%s", scratch_path("overflowing.h5"));
    snprintf(out, sizeof out, "%s", scratch_path("overflown.h5"));
    write_overflowing(path);
    EXPECT(3, "convert", path, out, "--form", "local");
    HOLDS(standard_error, "W = H' M^-1 H is ");
    TEST_ASSERT_EQUAL_INT(-1, access(out, F_OK));
    EXPECT(0, "inspect", path, "--format", "csv");
    HOLDS(standard_out, ",global,1,3,3,1,1,1,0,0,nan,3,"); // no rank
}

static void convert_writes_nothing_where_a_problem_is_defective(void)
{
    char out[512], defective[512];
    ss_error error;
    snprintf(out, sizeof out, "%s", scratch_path("never.h5"));
    snprintf(defective, sizeof defective, "%s", scratch_path("defective.h5"));
    ss_problem *p = one_contact(3, (const double[]){1, 0, 0, 0, 1, 0, 0, 0, 1},
                                (const double[]){-1.0, 2.0, 0.0}, -0.5);
    CHECK_OK(ss_store_write(defective, p, &error));
    ss_problem_free(p);
    EXPECT(3, "convert", defective, out);
    HOLDS(standard_error, "mu");
    TEST_ASSERT_EQUAL_INT(-1, access(out, F_OK));
    EXPECT(3, "convert", defective, "--split", out);
    TEST_ASSERT_EQUAL_INT(-1, access(out, F_OK));
}

static void every_verb_refuses(const char *path)
{
    char out[512];
    snprintf(out, sizeof out, "%s", scratch_path("refused.h5"));
    EXPECT(3, "inspect", path);
    HOLDS(standard_error, path);
    TEST_ASSERT_EQUAL_INT(1, count_lines(standard_error));
    EXPECT(3, "check", path, "--format", "csv");
    HOLDS(standard_out, ",defect,");
    EXPECT(3, "verify", path);
    HOLDS(standard_error, path);
    EXPECT(3, "convert", path, out);
    HOLDS(standard_error, path);
    TEST_ASSERT_EQUAL_INT(-1, access(out, F_OK));
}

static void hostile_files_are_refused_with_a_sentence(void)
{
    char path[512], bytes[4096];
    every_verb_refuses("no-such-file.h5");
    every_verb_refuses(scratch_path("."));
    every_verb_refuses("/dev/null");
    snprintf(path, sizeof path, "%s", scratch_path("empty.h5"));
    write_bytes(path, "", 0);
    every_verb_refuses(path);
    snprintf(path, sizeof path, "%s", scratch_path("text.h5"));
    write_bytes(path, "problem,contacts\n", 17);
    every_verb_refuses(path);
    unsigned state = 1;
    for (size_t k = 0; k < sizeof bytes; k++) {
        state = state * 1103515245u + 12345u;
        bytes[k] = (char)(state >> 24);
    }
    snprintf(path, sizeof path, "%s", scratch_path("noise.h5"));
    write_bytes(path, bytes, sizeof bytes);
    every_verb_refuses(path);
}

static void a_truncated_file_is_refused_at_any_length(void)
{
    char path[512];
    size_t count;
    char *bytes = read_bytes(one, &count);
    snprintf(path, sizeof path, "%s", scratch_path("cut.h5"));
    for (size_t k = 1; k < 8; k++) {
        write_bytes(path, bytes, count * k / 8);
        EXPECT(3, "inspect", path);
        HOLDS(standard_error, "cut.h5");
    }
    free(bytes);
}

// FCLIB files carry such left-overs; only verify needs an answer.
static void a_broken_answer_is_a_remark(void)
{
    char path[512], copy[512];
    snprintf(path, sizeof path, "%s", scratch_path("left-over.h5"));
    snprintf(copy, sizeof copy, "%s", scratch_path("without.h5"));
    const hid_t file = small_local(path);
    put_state(file, "solution", 6, NAN);
    put_int(file, "guesses/number_of_guesses", 1);
    put_state(file, "guesses/1", 2, 0.0);
    close_file(file);
    EXPECT(0, "solve", path);
    HOLDS(standard_error, "/solution/r[0] is nan (6 such entries); the answer is left out\n");
    HOLDS(standard_error, "/guesses/1/r has 2 entries, it needs 6; the guess is left out\n");
    EXPECT(0, "inspect", path, "--format", "csv");
    CHECK(csv_number(standard_out, 1, "guesses") == 0.0);
    TEST_ASSERT_EQUAL_STRING("", csv_field(standard_out, 1, "solution"));
    EXPECT(0, "check", path, "--format", "csv");
    HOLDS(standard_out, "left-over.h5,remark,");
    EXPECT(3, "verify", path);
    HOLDS(standard_error, "left-over.h5 contains no answer that can be judged");
    EXPECT(0, "convert", path, copy);
    EXPECT(0, "check", copy, "--format", "csv");
    HOLDS(standard_out, "without.h5,ok,");
}

// The start is the guess r = 1e300 of a W with entries 1e300: u overflows.
static void an_answer_that_is_not_finite_is_not_stored(void)
{
    char path[512], out[512];
    snprintf(path, sizeof path, "%s", scratch_path("huge.h5"));
    snprintf(out, sizeof out, "%s", scratch_path("huge-answer.h5"));
    ss_error error;
    ss_problem *p = one_contact(3, (const double[]){1e300, 0, 0, 0, 1e300, 0, 0, 0, 1e300},
                                (const double[]){-1.0, 2.0, 0.0}, 0.5);
    p->guesses = calloc(1, sizeof *p->guesses);
    p->nguesses = 1;
    p->guesses[0].r = calloc(3, sizeof(double));
    p->guesses[0].r[0] = 1e300;
    CHECK_OK(ss_store_write(path, p, &error));
    ss_problem_free(p);
    const char *const targets[] = {out, path}; // beside it, and in place
    for (int k = 0; k < 2; k++) {
        EXPECT(2, "solve", path, "--start", "guess", "--max-iter", "0", "--out", targets[k]);
        HOLDS(standard_error,
              "huge.h5: the answer contains numbers that are not finite; it is not stored\n");
        EXPECT(0, "inspect", targets[k], "--format", "csv");
        CHECK(csv_number(standard_out, 1, "guesses") == 1.0);
        TEST_ASSERT_EQUAL_STRING("", csv_field(standard_out, 1, "solution"));
    }
}

static void what_cannot_be_written_ends_with_4(void)
{
    char path[600];
    snprintf(path, sizeof path, "%s/x.h5", scratch_path("missing-folder"));
    EXPECT(4, "generate", "tangle", "--contacts", "5", "--out", path);
    HOLDS(standard_error, path);
    EXPECT(4, "convert", one, path);
    HOLDS(standard_error, path);
    EXPECT(4, "convert", one, "--split", path);
    HOLDS(standard_error, path);
    EXPECT(4, "generate", "tangle", "--contacts", "5", "--out", "/dev/full");
    HOLDS(standard_error, "/dev/full");
    struct stat status;
    CHECK(stat("/dev/full", &status) == 0 && S_ISCHR(status.st_mode));
}

static int code_under(__rlimit_resource_t resource, rlim_t most, const char *const *words)
{
    struct rlimit before;
    CHECK(getrlimit(resource, &before) == 0);
    CHECK(setrlimit(resource, &(struct rlimit){most, before.rlim_max}) == 0);
    const int code = run_program(NULL, words);
    CHECK(setrlimit(resource, &before) == 0);
    return code;
}

static void a_file_that_may_not_grow_ends_with_4(void)
{
    char path[512];
    snprintf(path, sizeof path, "%s", scratch_path("too-large.h5"));
    const char *const words[] = {"generate", "tangle", "--contacts", "50", "--out", path, NULL};
    TEST_ASSERT_EQUAL_INT(4, code_under(RLIMIT_FSIZE, 4096, words));
    HOLDS(standard_error, "too-large.h5: File too large");
    TEST_ASSERT_EQUAL_INT(-1, access(path, F_OK));
}

static void a_file_may_come_as_stdin(void)
{
    const int held = dup(STDIN_FILENO), file = open(one, O_RDONLY);
    CHECK(held >= 0 && file >= 0 && dup2(file, STDIN_FILENO) == STDIN_FILENO);
    const int code = RUN("inspect", "/dev/stdin", "--format", "csv");
    dup2(held, STDIN_FILENO);
    close(held);
    close(file);
    TEST_ASSERT_EQUAL_INT(0, code);
    HOLDS(standard_out, "/dev/stdin,global,40,3,");
}

// A program of its own needs ten files or so; with fewer each run ends in one sentence about the
// system, and no row says that the problem is bad.
static void without_files_no_problem_is_called_bad(void)
{
    const char *const words[] = {"solve", one, "--format", "csv", NULL};
    int failures = 0;
    for (rlim_t most = 5; most < 14; most++) {
        const int code = code_under(RLIMIT_NOFILE, most, words);
        failures += code == 4;
        CHECK(code == 4 || code == 0);
        TEST_ASSERT_EQUAL_INT(code == 4 ? 1 : 2, count_lines(standard_out));
        TEST_ASSERT_EQUAL_INT(code == 4 ? 1 : 0, count_lines(standard_error));
    }
    CHECK(failures > 0 && failures < 9);
}

static void a_dump_on_a_full_disk_is_one_sentence(void)
{
    const char *dump = scratch_path("full.h5");
    const char *const words[] = {"simulate", "pony", "--rods",   "5",   "--steps", "20",
                                 "--dump",   dump,   "--format", "csv", NULL};
    TEST_ASSERT_EQUAL_INT(4, code_under(RLIMIT_FSIZE, 4096, words));
    TEST_ASSERT_EQUAL_INT(1, count_lines(standard_error));
    HOLDS(standard_error, "full.h5: File too large\n");
    TEST_ASSERT_EQUAL_STRING("failed", csv_field(standard_out, 1, "status"));
    CHECK(access(dump, F_OK) != 0);
}

static void statistics_on_a_full_disk_end_with_a_whole_row(void)
{
    const char *stats = scratch_path("full.csv");
    const char *const words[] = {"simulate", "pony", "--rods",   "3",   "--steps", "40",
                                 "--stats",  stats,  "--format", "csv", NULL};
    TEST_ASSERT_EQUAL_INT(4, code_under(RLIMIT_FSIZE, 8192, words));
    TEST_ASSERT_EQUAL_INT(1, count_lines(standard_error));
    HOLDS(standard_error, "full.csv: cannot be written: File too large\n");
    const char *text = file_text(stats);
    const int rows = count_lines(text) - 1;
    CHECK(rows > 2 && rows < 40 && text[strlen(text) - 1] == '\n');
    CHECK(csv_number(text, rows, "step") == rows);
    CHECK(csv_number(standard_out, 1, "steps") >= rows);
}

static void a_full_disk_under_stdout_ends_with_4(void)
{
    const char *const inspect[] = {"inspect", one, NULL};
    TEST_ASSERT_EQUAL_INT(4, run_program("/dev/full", inspect));
    HOLDS(standard_error, "could not be written to stdout: No space left on device");
    const char *const help[] = {"--help", NULL};
    TEST_ASSERT_EQUAL_INT(4, run_program("/dev/full", help));
}

static void run_tests(void)
{
    RUN_TEST(convert_makes_local_of_global_and_not_back);
    RUN_TEST(convert_keeps_takes_and_splits_collections);
    RUN_TEST(convert_thins_a_collection_out);
    RUN_TEST(convert_can_replace_its_input);
    RUN_TEST(nothing_of_others_is_lost_in_place);
    RUN_TEST(other_problems_are_not_lost_in_place);
    RUN_TEST(split_refuses_to_replace_its_input);
    RUN_TEST(a_local_form_that_is_not_finite_is_refused);
    RUN_TEST(convert_writes_nothing_where_a_problem_is_defective);
    RUN_TEST(hostile_files_are_refused_with_a_sentence);
    RUN_TEST(a_truncated_file_is_refused_at_any_length);
    RUN_TEST(a_broken_answer_is_a_remark);
    RUN_TEST(an_answer_that_is_not_finite_is_not_stored);
    RUN_TEST(what_cannot_be_written_ends_with_4);
    RUN_TEST(a_file_that_may_not_grow_ends_with_4);
    RUN_TEST(a_file_may_come_as_stdin);
    RUN_TEST(without_files_no_problem_is_called_bad);
    RUN_TEST(a_dump_on_a_full_disk_is_one_sentence);
    RUN_TEST(statistics_on_a_full_disk_end_with_a_whole_row);
    RUN_TEST(a_full_disk_under_stdout_ends_with_4);
}

const test_group cli_files_tests = {.run = run_tests, .set_up = set_up};
