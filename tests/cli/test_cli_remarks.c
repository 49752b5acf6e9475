// An option that has no effect causes one remark on stderr; what was done despite it can be repeated.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "problems/store/store.h"
#include "tests/support/program.h"
#include "tests/support/results.h"
#include "tests/support/support.h"

static char one[512];

static void set_up(void)
{
    if (one[0] == '\0') {
        snprintf(one, sizeof one, "%s", scratch_path("one.h5"));
        EXPECT(0, "generate", "tangle", "--contacts", "40", "--per-rod", "4", "--out", one);
    }
}

static void threads_that_a_solver_has_no_use_for_are_told(void)
{
    EXPECT(0, "solve", one, "--solver", "newton-mfb", "--threads", "2");
    SAYS("solve: --threads 2 has no effect on newton-mfb, which uses one thread");
    EXPECT(0, "solve", one, "--solver", "mfb:order=reverse", "--threads", "1");
    SAYS("solve: --threads 1 has no effect on mfb:order=reverse, which uses one thread");
    EXPECT(0, "simulate", "orbit", "--steps", "2", "--solver", "apgd", "--threads", "2");
    HOLDS(standard_error, "simulate: --threads 2 has no effect on apgd");
    static const char *const fine[] = {
        "mfb",  "mfb:order=stripes", "ppa", "ppa:sweeps=0", "ipm", "alm", "admm",
        "auto", "prox/enum"};
    for (size_t k = 0; k < sizeof fine / sizeof fine[0]; k++) {
        EXPECT(0, "solve", one, "--solver", fine[k], "--threads", "2");
        TEST_ASSERT_EQUAL_STRING("", standard_error);
    }
}

static void a_run_without_contacts_tells_what_it_leaves_undone(void)
{
    const char *dump = scratch_path("empty.h5");
    EXPECT(1, "simulate", "swing", "--steps", "2", "--dump", dump);
    HOLDS(standard_error, "empty.h5 is not written: no step from 1 to ");
    CHECK(access(dump, F_OK) != 0);
    EXPECT(0, "simulate", "swing", "--steps", "2", "--mu", "0.2");
    SAYS(
        "simulate: swing: no step had a contact: --mu and the options of the solver had no effect");
    EXPECT(0, "simulate", "swing", "--steps", "2", "--solver", "enum");
    HOLDS(standard_error, "no step had a contact");
    EXPECT(0, "simulate", "swing", "--steps", "2");
    TEST_ASSERT_EQUAL_STRING("", standard_error);
}

static void a_scheme_without_a_solver_leaves_its_options_undone(void)
{
    EXPECT(0, "simulate", "pair", "--steps", "2", "--scheme", "thesis", "--solver", "enum");
    SAYS("simulate: pair: the scheme thesis finds impulses without a solver: --solver, --max-iter "
         "and --time-limit have no effect");
    HOLDS(standard_out, "  thesis  ");
    EXPECT(0, "simulate", "pair", "--steps", "2", "--scheme", "phases", "--max-iter", "50");
    HOLDS(standard_error, "the scheme phases finds impulses without a solver");
    EXPECT(0, "simulate", "pair", "--steps", "2", "--scheme", "thesis");
    TEST_ASSERT_EQUAL_STRING("", standard_error);
}

// The words of a description, which begins with the program's name, and a dump beside them.
static int replay(char *recipe, const char *dump)
{
    const char *words[40];
    int n = 0;
    strtok(recipe, " ");
    for (char *word = strtok(NULL, " "); word != NULL && n < 35; word = strtok(NULL, " ")) {
        words[n++] = word;
    }
    words[n++] = "--dump";
    words[n++] = dump;
    words[n++] = "--count";
    words[n++] = "2";
    words[n] = NULL;
    return run_program(NULL, words);
}

static char *checksums(const char *path)
{
    EXPECT(0, "inspect", path, "--format", "csv");
    char *sums = strdup(csv_field(standard_out, 1, "sha256"));
    char *both = NULL;
    CHECK(asprintf(&both, "%s %s", sums, csv_field(standard_out, 2, "sha256")) > 0);
    free(sums);
    return both;
}

// Three sweeps and a step size of many digits: with the defaults the problems are others.
static void a_build_without_ida_says_so(void)
{
    if (RUN("simulate", "coil", "--steps", "1", "--model", "oriented-strands", "--scheme",
            "ida:rtol=1e-5") == 1) {
        SAYS("simulate: --scheme ida:rtol=1e-5: this program was built without the scheme ida, "
             "which "
             "takes SUNDIALS 6 (Debian: libsundials-dev)");
    } else {
        TEST_ASSERT_EQUAL_STRING("", standard_error);
    }
}

static void a_scheme_that_does_not_fit_a_scene_file_is_an_option(void)
{
    const char *path = scratch_path("pair.json");
    EXPECT(0, "simulate", "pair", "--write", path);
    EXPECT(1, "simulate", path, "--steps", "1", "--scheme", "phases:limit=0.3");
    HOLDS(standard_error, "simulate: --scheme phases:limit=0.3: limit=0.3 is for joints");
    EXPECT(1, "simulate", "pair", "--steps", "1", "--scheme", "phases:goal=tip");
    HOLDS(standard_error, "simulate: --scheme phases:goal=tip: goal=tip is for strands");
}

static void a_strand_whose_only_link_is_clamped_is_told(void)
{
    EXPECT(1, "simulate", "coil", "--steps", "1", "--model", "oriented-strands:links=1");
    SAYS("simulate: coil: a strand of 1 link whose clamped root holds the first has none that "
         "moves: take more links");
}

static void a_dump_knows_the_command_that_made_it(void)
{
    char first[400], second[400];
    snprintf(first, sizeof first, "%s", scratch_path("first.h5"));
    snprintf(second, sizeof second, "%s", scratch_path("second.h5"));
    EXPECT(0, "simulate", "pony", "--rods", "9", "--steps", "8", "--seed", "4", "--dt",
           "0.00123456789012", "--max-iter", "3", "--time-limit", "50", "--dump", first, "--count",
           "2");
    ss_problem *p;
    ss_error error;
    ss_reader *reader;
    CHECK_OK(ss_reader_open(first, &reader, &error));
    CHECK_OK(ss_reader_load(reader, 0, &p, NULL, &error));
    ss_reader_close(reader);
    HOLDS(p->description, " --max-iter 3 --time-limit 50");
    char *sums = checksums(first), *recipe = strdup(p->description);
    ss_problem_free(p);
    TEST_ASSERT_EQUAL_INT(0, replay(recipe, second));
    char *again = checksums(second);
    TEST_ASSERT_EQUAL_STRING(sums, again);
    free(again);
    free(recipe);
    free(sums);
}

static void a_tower_has_no_condition(void)
{
    const char *tower = scratch_path("tower.h5");
    EXPECT(0, "generate", "tangle", "--tower", "2", "--contacts", "20", "--per-rod", "8", "--out",
           tower);
    CHECK(strstr(standard_error, "does nothing") == NULL);
    EXPECT(0, "generate", "tangle", "--tower", "2", "--contacts", "20", "--cond", "1e5", "--out",
           tower);
    HOLDS(standard_error, "--cond 100000 has no effect with --tower: its boxes are rigid");
    EXPECT(1, "generate", "tangle", "--tower", "2", "--contacts", "20", "--light", "0.5", "--out",
           tower);
    HOLDS(standard_error, "--light takes SHARE:FACTOR, two numbers");
}

static void a_file_in_the_place_of_a_folder_is_told(void)
{
    EXPECT(4, "simulate", "orbit", "--steps", "2", "--frames", one);
    HOLDS(standard_error, "one.h5: is a file, not a folder");
    EXPECT(4, "convert", one, "--split", one);
    HOLDS(standard_error, "one.h5: is a file, not a folder");
}

static void a_label_of_a_table_is_no_file(void)
{
    char many[400], label[450];
    snprintf(many, sizeof many, "%s", scratch_path("many.h5"));
    snprintf(label, sizeof label, "%s:tangle-0001", many);
    EXPECT(0, "generate", "tangle", "--contacts", "10", "--per-rod", "4", "--count", "2", "--out",
           many);
    EXPECT(3, "solve", label);
    HOLDS(standard_error, "many.h5 write --problem tangle-0001");
    EXPECT(3, "solve", "nowhere.h5:tangle-0001");
    SAYS("solve: nowhere.h5:tangle-0001: no such file");
}

static void run_tests(void)
{
    RUN_TEST(threads_that_a_solver_has_no_use_for_are_told);
    RUN_TEST(a_run_without_contacts_tells_what_it_leaves_undone);
    RUN_TEST(a_scheme_without_a_solver_leaves_its_options_undone);
    RUN_TEST(a_build_without_ida_says_so);
    RUN_TEST(a_scheme_that_does_not_fit_a_scene_file_is_an_option);
    RUN_TEST(a_strand_whose_only_link_is_clamped_is_told);
    RUN_TEST(a_dump_knows_the_command_that_made_it);
    RUN_TEST(a_tower_has_no_condition);
    RUN_TEST(a_label_of_a_table_is_no_file);
    RUN_TEST(a_file_in_the_place_of_a_folder_is_told);
}

const test_group cli_remarks_tests = {.run = run_tests, .set_up = set_up};
