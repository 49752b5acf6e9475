// The solvers of Siconos from outside: the verbs solvers, solve and bench, and
// scripts/compare-siconos. SCRIPTS in the environment is the folder of scripts.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/record/record.h"
#include "tests/support/program.h"
#include "tests/support/support.h"

static char hair[512];
static bool built; // with Siconos

static void set_up(void)
{
    if (hair[0] == '\0') {
        snprintf(hair, sizeof hair, "%s", scratch_path("hair.h5"));
        EXPECT(0, "generate", "tangle", "--contacts", "20", "--per-rod", "4", "--seed", "3",
               "--out", hair);
        EXPECT(0, "solvers");
        built = strstr(standard_out, "siconos/") != NULL;
    }
}

static void ask_for_siconos(void)
{
    if (!built) {
        TEST_IGNORE_MESSAGE("built without Siconos (libsiconos-numerics-dev)");
    }
}

// The exit code of the script with these arguments; what it prints is in `text`.
static int compare(const char *arguments, char text[OUTPUT_CAPACITY])
{
    char command[3000], out[512];
    snprintf(out, sizeof out, "%s", scratch_path("printed"));
    snprintf(command, sizeof command, "'%s/compare-siconos' %s >'%s' 2>&1", getenv("SCRIPTS"),
             arguments, out);
    const int status = system(command);
    FILE *file = fopen(out, "r");
    TEST_ASSERT_NOT_NULL(file);
    text[fread(text, 1, OUTPUT_CAPACITY - 1, file)] = '\0';
    fclose(file);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static char printed[OUTPUT_CAPACITY];

static void the_verb_solvers_lists_all_six(void)
{
    ask_for_siconos();
    static const char *const NAMES[] = {"nsgs-hybrid", "nsgs-quartic-nu", "prox",
                                        "nsn-ac",      "nsn-fb",          "admm"};
    EXPECT(0, "solvers", "--format", "csv");
    for (int k = 0; k < 6; k++) {
        char row[80];
        snprintf(row, sizeof row, "\nsiconos/%s,global,exact,S,", NAMES[k]);
        HOLDS(standard_out, row);
    }
}

static void without_siconos_its_name_tells_the_package(void)
{
    if (built) {
        TEST_IGNORE_MESSAGE("built with Siconos");
    }
    EXPECT(1, "solve", hair, "--solver", "siconos/prox");
    HOLDS(standard_error, "siconos/prox: this program was built without Siconos (Debian: "
                          "libsiconos-numerics-dev)");
    TEST_ASSERT_EQUAL_INT(4, compare(hair, printed));
    HOLDS(printed, "was built without Siconos");
}

static void solve_prints_one_row_and_nothing_of_theirs(void)
{
    ask_for_siconos();
    EXPECT(0, "solve", hair, "--solver", "siconos/nsgs-hybrid", "--format", "csv");
    TEST_ASSERT_EQUAL_INT(2, count_lines(standard_out));
    HOLDS(standard_out, ",siconos/nsgs-hybrid,");
    HOLDS(standard_out, ",solved,");
    TEST_ASSERT_EQUAL_STRING("", standard_error);
}

static void what_siconos_cannot_take_is_a_row_with_a_sentence(void)
{
    ask_for_siconos();
    const char *plane = scratch_path("plane.h5");
    EXPECT(0, "generate", "tangle", "--contacts", "10", "--per-rod", "4", "--dim", "2", "--out",
           plane);
    EXPECT(2, "solve", plane, "--solver", "siconos/prox", "--format", "csv");
    HOLDS(standard_out, ",stopped,");
    HOLDS(standard_out, "siconos/prox solves problems in space only");
}

static void a_crash_of_theirs_is_one_row_of_a_benchmark(void)
{
    ask_for_siconos();
    if (fclib_folder() == NULL) {
        TEST_IGNORE_MESSAGE("STICKSLIP_FCLIB_DATA is not set");
    }
    char file[600], result[512];
    snprintf(file, sizeof file, "%s/LMGC_100_PR_PerioBox-i00361-60-03000.hdf5", fclib_folder());
    snprintf(result, sizeof result, "%s", scratch_path("crash.h5"));
    EXPECT(0, "bench", file, "--solvers", "siconos/nsn-fb,siconos/nsgs-hybrid", "--repeat", "1",
           "--out", result);
    ss_error error;
    ss_record_rows record;
    CHECK_OK(ss_record_rows_read(result, &record, &error));
    TEST_ASSERT_EQUAL_size_t(2, record.count);
    const ss_record_row *row = &record.rows[0];
    CHECK(isfinite(row->measures.fb) && row->iterations >= 0);
    if (strcmp(row->status, "crashed") == 0) { // as version 4.4 does here
        HOLDS(row->detail, "siconos/nsn-fb died by signal");
    }
    TEST_ASSERT_EQUAL_STRING("solved", record.rows[1].status);
    ss_record_rows_free(&record);
}

static void the_script_prints_the_table_of_ratios_and_goes_on_where_it_was(void)
{
    ask_for_siconos();
    char arguments[2000], folder[512], path[600];
    snprintf(folder, sizeof folder, "%s", scratch_path("compared"));
    snprintf(arguments, sizeof arguments, "--time-limit 1 --out '%s' '%s'", folder, hair);
    TEST_ASSERT_EQUAL_INT(0, compare(arguments, printed));
    HOLDS(printed, "  a  secular\n");
    HOLDS(printed, "  A  siconos/nsgs-hybrid\n");
    HOLDS(printed, "\nhair.h5 ");
    HOLDS(printed, "Geometric mean of the ratio over the 1 problems that both sides solved: ");
    for (int k = 0; k < 3; k++) {
        static const char *const NAMES[] = {"table.txt", "ratios.csv", "runs.csv"};
        snprintf(path, sizeof path, "%s/%s", folder, NAMES[k]);
        CHECK(access(path, R_OK) == 0);
    }
    TEST_ASSERT_EQUAL_INT(0, compare(arguments, printed));
    HOLDS(printed, "0 rows made, 1 was there");
    HOLDS(printed, "Geometric mean");
}

static void the_script_tells_what_is_wrong(void)
{
    TEST_ASSERT_EQUAL_INT(1, compare("", printed));
    HOLDS(printed, "usage: scripts/compare-siconos");
    TEST_ASSERT_EQUAL_INT(1, compare("--speed 9 x.h5", printed));
    HOLDS(printed, "unknown option --speed");
    TEST_ASSERT_EQUAL_INT(1, compare("--tol", printed));
    HOLDS(printed, "--tol needs a value");
    ask_for_siconos();
    char arguments[2000];
    snprintf(arguments, sizeof arguments, "--out '%s' /nowhere.h5", scratch_path("nothing"));
    TEST_ASSERT_EQUAL_INT(3, compare(arguments, printed));
    HOLDS(printed, "/nowhere.h5");
}

static void run_tests(void)
{
    RUN_TEST(the_verb_solvers_lists_all_six);
    RUN_TEST(without_siconos_its_name_tells_the_package);
    RUN_TEST(solve_prints_one_row_and_nothing_of_theirs);
    RUN_TEST(what_siconos_cannot_take_is_a_row_with_a_sentence);
    RUN_TEST(a_crash_of_theirs_is_one_row_of_a_benchmark);
    RUN_TEST(the_script_prints_the_table_of_ratios_and_goes_on_where_it_was);
    RUN_TEST(the_script_tells_what_is_wrong);
}

const test_group cli_siconos_tests = {.run = run_tests, .set_up = set_up};
