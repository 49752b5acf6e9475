// `table` and `plot` from outside: formats, exit codes, sentences.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/program.h"
#include "tests/support/results.h"
#include "tests/support/support.h"

static char *results;

static void set_up(void)
{
    free(results);
    results = strdup(results_file("results.h5"));
}

static void tear_down(void)
{
    free(results);
    results = NULL;
}

static void the_solvers_are_printed_in_the_papers_order(void)
{
    EXPECT(0, "table", results, "--format", "csv");
    TEST_ASSERT_EQUAL_STRING("", standard_error);
    HOLDS(standard_out, "solver,alt_percent,fail_percent,over_tol_percent,mean_iterations,mean_ms\n"
                        "4sides,nan,0,100,10,10\n"
                        "mfb,nan,");
    HOLDS(standard_out, "\nmfb+enum,0.6,0,0,6,12\n");
}

static void every_kind_comes_in_every_format(void)
{
    static const char *const kinds[] = {"solvers", "problems", "profile", "local", "ratio"};
    static const char *const formats[] = {"text", "markdown", "latex", "csv"};
    static const char *const marks[] = {"Tolerance: max(fb, normal/2) <= ", "|:---|", "\\toprule",
                                        ","};
    for (int k = 0; k < 5; k++) {
        for (int f = 0; f < 4; f++) {
            EXPECT(0, "table", results, "--kind", kinds[k], "--format", formats[f]);
            HOLDS(standard_out, marks[f]);
        }
    }
}

static void the_paper_and_a_tolerance_are_options(void)
{
    EXPECT(0, "table", results, "--paper", "--tol", "1e-2", "--format", "csv");
    HOLDS(standard_out, ",paper_mean_ms\n");
    HOLDS(standard_out, "mfb+enum,0.6,0,0,3,6");
}

// Beside the first record: mfb+enum twice and half as slow on problems 1 and 2, mfb unsolved on 1,
// a solver and a problem that only this one holds.
static const char *other_results(void)
{
    ss_record_row rows[] = {result_row("mfb+enum:freeze=paper", 1),
                            result_row("mfb+enum:freeze=paper", 2),
                            result_row("mfb:freeze=paper", 1), result_row("mfb:freeze=paper", 1),
                            result_row("mfb:freeze=paper", 2)};
    rows[0].sweep_seconds *= 2.0;
    rows[0].seconds = 0.040;
    rows[0].iterations = 12;
    rows[1].sweep_seconds *= 0.5;
    rows[2].measures.fb = 1.0;
    snprintf(rows[3].solver, sizeof rows[3].solver, "enum");
    memset(rows[4].problem_sha256, 'f', sizeof rows[4].problem_sha256 - 1);
    snprintf(rows[4].build, sizeof rows[4].build, "another build");
    return results_file_of("other.h5", rows, 5);
}

static void two_records_are_compared_where_both_hold_a_run(void)
{
    char *other = strdup(other_results());
    EXPECT(0, "table", results, "--compare", other, "--format", "csv");
    // Means of 8 and 16 ms, of 16 and 8; the ratios 1/2 and 2 have the mean 1.
    TEST_ASSERT_EQUAL_STRING(
        "solver,runs,over_tol_percent,other_over_tol_percent,mean_iterations,other_mean_iterations,"
        "mean_ms,other_mean_ms,time_ratio\n"
        "mfb,1,0,100,nan,nan,nan,nan,nan\n"
        "mfb+enum,2,0,0,6,10,12,12,1\n",
        standard_out);
    EXPECT(0, "table", results, "--compare", other, "--kind", "problems", "--format", "csv");
    TEST_ASSERT_EQUAL_STRING(
        "problem,contacts,solvers,solved,other_solved,mean_ms,other_mean_ms,time_ratio\n"
        "data/hair.h5:p1,100,2,2,1,10,40,0.25\n"
        "data/hair.h5:p2,200,1,1,1,20,20,1\n",
        standard_out);
    EXPECT(0, "table", results, "--compare", other);
    HOLDS(standard_out, "A: /");
    HOLDS(standard_out, "results.h5, build test, on");
    HOLDS(standard_out, "other.h5, build test, on");
    free(other);
}

static void records_that_cannot_be_compared_say_why(void)
{
    ss_record_row rows[] = {result_row("mfb+enum:freeze=paper", 1)};
    snprintf(rows[0].solver, sizeof rows[0].solver, "enum");
    char *stranger = strdup(results_file_of("stranger.h5", rows, 1));
    EXPECT(3, "table", results, "--compare", stranger);
    HOLDS(standard_error, "stranger.h5 have no run of one problem by one solver");
    rows[0] = result_row("mfb+enum:freeze=paper", 1);
    rows[0].tolerance = 1e-6;
    free(stranger);
    stranger = strdup(results_file_of("tighter.h5", rows, 1));
    EXPECT(3, "table", results, "--compare", stranger);
    HOLDS(standard_error, "tighter.h5 to 1e-06; choose one with --tol");
    EXPECT(0, "table", results, "--compare", stranger, "--tol", "1e-4");
    free(stranger);
    EXPECT(3, "table", results, "--compare", scratch_path("absent.h5"));
    HOLDS(standard_error, "absent.h5");
    EXPECT(1, "table", results, "--compare", results, "--kind", "local");
    SAYS("table: --compare goes with --kind solvers or problems, not with --kind local");
    EXPECT(1, "table", results, "--compare", results, "--paper");
    SAYS("table: --compare and --paper are two tables: leave one out");
}

// The program between the marks of the README, in the folder of a record called results.db.
static void the_readme_reads_a_record_in_python(void)
{
    char path[600], command[1300], line[500] = "";
    size_t size;
    if (system("python3 -c 'import sqlite3' 2>/dev/null") != 0) {
        TEST_IGNORE_MESSAGE("python3 is absent");
    }
    snprintf(path, sizeof path, "%s/../README.md", getenv("SCRIPTS"));
    char *readme = read_bytes(path, &size);
    char *code = strstr(readme, "```python\nimport sqlite3\n");
    TEST_ASSERT_NOT_NULL(code);
    code += strlen("```python\n");
    TEST_ASSERT_EQUAL_INT(3, count_lines(code) - count_lines(strstr(code, "```")));
    write_bytes(scratch_path("readme.py"), code, (size_t)(strstr(code, "```") - code));
    results_file("results.db");
    snprintf(command, sizeof command, "cd '%s' && python3 readme.py", scratch_path(""));
    FILE *said = popen(command, "r");
    CHECK(fgets(line, sizeof line, said) != NULL);
    TEST_ASSERT_EQUAL_STRING("mfb+enum:freeze=paper data/hair.h5:p1 0.01 5e-05\n", line);
    int more = 0;
    while (fgets(line, sizeof line, said) != NULL) {
        more++;
    }
    CHECK(pclose(said) == 0 && more == 5);
    free(readme);
}

static void columns_are_chosen_by_name(void)
{
    EXPECT(0, "table", results, "--columns", "mean_ms,solver", "--format", "csv");
    TEST_ASSERT_EQUAL_STRING("mean_ms,solver\n10,4sides\n203,mfb\n12,mfb+enum\n", standard_out);
    EXPECT(1, "table", results, "--columns", "mean_m");
    SAYS("table: --columns: there is no column 'mean_m'; did you mean 'mean_ms'?");
    TEST_ASSERT_EQUAL_STRING("", standard_out);
}

static void runs_of_several_builds_are_warned_about(void)
{
    ss_record_row rows[] = {result_row("mfb:freeze=paper", 1), result_row("mfb:freeze=paper", 2)};
    strcpy(rows[1].build, "another");
    const char *path = results_file_of("builds.db", rows, 2);
    EXPECT(0, "table", path, "--format", "csv");
    HOLDS(standard_error, "builds.db: the runs are of several builds: test (1), another (1)");
    EXPECT(0, "table", path, "--kind", "rows", "--format", "csv"); // each says its own
    TEST_ASSERT_EQUAL_STRING("", standard_error);
}

static void mistakes_end_with_1_and_a_sentence(void)
{
    EXPECT(1, "table");
    SAYS("table: needs RESULTS: a record of bench, or a file of simulate --stats");
    EXPECT(1, "table", results, "--paper", "--kind", "local");
    SAYS("table: --paper goes with --kind solvers or simulation, not with --kind local");
    EXPECT(1, "table", results, "--against", "mfb");
    SAYS("table: --against goes with --kind ratio, not with --kind solvers");
    EXPECT(3, "table", results, "--kind", "ratio", "--against", "nobody");
    EXPECT(1, "table", results, "--kind", "nothing");
    EXPECT(1, "plot", results);
    SAYS("plot: needs --out FILE");
    EXPECT(1, "plot", results, "--out", "a.gif");
    SAYS("plot: --out takes a name that ends in .svg, .png or .pdf, not 'a.gif'");
    EXPECT(1, "plot", results, "--out", "a.svg", "--problem", "p");
    SAYS("plot: --problem goes with --figure convergence or convergence-time, not with --figure "
         "iterations");
    EXPECT(3, "plot", results, "--figure", "orbit", "--out", "a.svg");
    HOLDS(standard_error, ": is a record of bench, and a file of simulate --stats is needed here");
}

static void a_plot_shows_the_solvers_that_are_asked_for(void)
{
    if (system("gnuplot --version >/dev/null 2>&1") != 0) {
        TEST_IGNORE_MESSAGE("gnuplot is not installed");
    }
    char picture[500], script[520];
    size_t size;
    snprintf(picture, sizeof picture, "%s", scratch_path("chosen.svg"));
    EXPECT(0, "plot", results, "--out", picture, "--solvers", "4sides,mfb+enum");
    snprintf(script, sizeof script, "%s.gp", picture);
    char *text = read_bytes(script, &size);
    HOLDS(text, "title \"mfb+enum\"");
    HOLDS(text, " samplen 3 width 2 "); // or a long name ends at the next sample
    CHECK(strstr(text, "title \"mfb\"") == NULL);
    free(text);
    EXPECT(0, "plot", results, "--out", picture, "--figure", "profile", "--tol", "1e-3,1e-4");
    text = read_bytes(script, &size);
    HOLDS(text, "set multiplot layout 2,1");
    HOLDS(text, "problems, tolerance 0.001\"");
    HOLDS(text, "problems, tolerance 1e-4\"");
    free(text);
    EXPECT(1, "plot", results, "--out", picture, "--tol", "tight");
    SAYS("plot: --tol takes a number from 0 to 1, or several with commas, not 'tight'");
    EXPECT(3, "plot", results, "--out", picture, "--solvers", "mfb+enum nobody");
    HOLDS(standard_error, ": --solvers: there are no runs of 'nobody'");
}

static void what_is_no_record_ends_with_3(void)
{
    EXPECT(3, "table", scratch_path("absent.h5"));
    EXPECT(3, "table", results, "--tol", "1e-9");
    HOLDS(standard_error, "the record holds no run to a tolerance of 1e-09");
    EXPECT(3, "plot", scratch_path("absent.h5"), "--out", scratch_path("x.svg"));
    EXPECT(3, "plot", results, "--figure", "convergence", "--problem", "nobody", "--out",
           scratch_path("x.svg"));
    SAYS("plot: the record holds no history of nobody");
}

static void pictures_are_drawn_with_script_and_data_beside_them(void)
{
    if (system("gnuplot --version >/dev/null 2>&1") != 0) {
        TEST_IGNORE_MESSAGE("gnuplot is not installed");
    }
    static const char *const figures[] = {"iterations", "profile", "convergence", "work-precision",
                                          "assembly"};
    for (int k = 0; k < 5; k++) {
        const char *picture = scratch_path("figure.svg");
        EXPECT(0, "plot", results, "--figure", figures[k], "--out", picture);
        HOLDS(standard_error, "stickslip plot: wrote ");
        TEST_ASSERT_EQUAL_INT(0, access(picture, R_OK));
        TEST_ASSERT_EQUAL_INT(0, access(scratch_path("figure.svg.gp"), R_OK));
        TEST_ASSERT_EQUAL_INT(0, access(scratch_path("figure.svg.dat"), R_OK));
        remove(picture);
    }
}

static void without_gnuplot_a_plot_ends_with_4(void)
{
    char *path = strdup(getenv("PATH"));
    setenv("PATH", scratch_path(""), 1);
    const int code = RUN("plot", results, "--out", scratch_path("x.svg"));
    setenv("PATH", path, 1);
    free(path);
    TEST_ASSERT_EQUAL_INT(4, code);
    SAYS("plot: gnuplot could not be started; figures need it (Debian: gnuplot-nox)");
}

static void help_shows_kinds_and_figures(void)
{
    EXPECT(0, "table", "--help");
    HOLDS(standard_out, "solvers, problems, profile, local, ratio");
    EXPECT(0, "plot", "--help");
    HOLDS(standard_out, "iterations, profile, convergence,");
    HOLDS(standard_out, "trajectory (default iterations)");
}

static void run_tests(void)
{
    RUN_TEST(the_solvers_are_printed_in_the_papers_order);
    RUN_TEST(every_kind_comes_in_every_format);
    RUN_TEST(the_paper_and_a_tolerance_are_options);
    RUN_TEST(two_records_are_compared_where_both_hold_a_run);
    RUN_TEST(records_that_cannot_be_compared_say_why);
    RUN_TEST(the_readme_reads_a_record_in_python);
    RUN_TEST(columns_are_chosen_by_name);
    RUN_TEST(runs_of_several_builds_are_warned_about);
    RUN_TEST(mistakes_end_with_1_and_a_sentence);
    RUN_TEST(a_plot_shows_the_solvers_that_are_asked_for);
    RUN_TEST(what_is_no_record_ends_with_3);
    RUN_TEST(pictures_are_drawn_with_script_and_data_beside_them);
    RUN_TEST(without_gnuplot_a_plot_ends_with_4);
    RUN_TEST(help_shows_kinds_and_figures);
}

const test_group cli_table_tests = {.run = run_tests, .set_up = set_up, .tear_down = tear_down};
