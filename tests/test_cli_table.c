// `table` and `plot` from outside: formats, exit codes, sentences.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/program.h"
#include "tests/results.h"
#include "tests/support.h"

static char *results;

void setUp(void)
{
    free(results);
    results = strdup(results_file("results.h5"));
}

void tearDown(void)
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
    HOLDS(standard_out, "\nmfb+enum,0.59999999999999998,0,0,6,12\n");
}

static void every_kind_comes_in_every_format(void)
{
    static const char *const kinds[] = {"solvers", "problems", "profile", "local"};
    static const char *const formats[] = {"text", "markdown", "latex", "csv"};
    static const char *const marks[] = {"Tolerance: fb", "|:---|", "\\toprule", ","};
    for (int k = 0; k < 4; k++) {
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
    HOLDS(standard_out, "mfb+enum,0.59999999999999998,0,0,3,6");
}

static void a_journal_alone_is_a_record(void)
{
    ss_record_row row = result_row("mfb:freeze=paper", 1);
    const char *path = scratch_path("killed.h5");
    ss_error error;
    ss_record *record = NULL;
    CHECK_OK(ss_record_open(path, &record, &error));
    CHECK_OK(ss_record_add(record, &row, &error));
    // As after a kill: the record is still open and nothing was folded in.
    EXPECT(0, "table", path, "--format", "csv");
    HOLDS(standard_out, "mfb,nan,2,0,6,6");
    CHECK_OK(ss_record_close(record, &error));
}

static void mistakes_end_with_1_and_a_sentence(void)
{
    EXPECT(1, "table");
    EXPECT(1, "table", results, "--paper", "--kind", "local");
    SAYS("table: --paper goes with --kind solvers, not with --kind local");
    EXPECT(1, "table", results, "--kind", "nothing");
    EXPECT(1, "plot", results);
    SAYS("plot: plot needs --out FILE");
    EXPECT(1, "plot", results, "--out", "a.gif");
    SAYS("plot: --out takes a name that ends in .svg, .png or .pdf, not 'a.gif'");
    EXPECT(1, "plot", results, "--out", "a.svg", "--problem", "p");
    SAYS("plot: --problem goes with --figure convergence, not with --figure iterations");
}

static void what_is_no_record_ends_with_3(void)
{
    EXPECT(3, "table", scratch_path("absent.h5"));
    EXPECT(3, "table", results, "--tol", "1e-9");
    HOLDS(standard_error, "stickslip table: the record holds no run to a tolerance of 1e-09");
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
    static const char *const figures[] = {"iterations", "profile", "convergence", "work-precision"};
    for (int k = 0; k < 4; k++) {
        const char *picture = scratch_path("figure.svg");
        EXPECT(0, "plot", results, "--figure", figures[k], "--out", picture);
        TEST_ASSERT_EQUAL_STRING("", standard_error);
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
    HOLDS(standard_out, "solvers, problems, profile or local (default solvers)");
    EXPECT(0, "plot", "--help");
    HOLDS(standard_out, "iterations, profile, convergence or work-precision (default iterations)");
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(the_solvers_are_printed_in_the_papers_order);
    RUN_TEST(every_kind_comes_in_every_format);
    RUN_TEST(the_paper_and_a_tolerance_are_options);
    RUN_TEST(a_journal_alone_is_a_record);
    RUN_TEST(mistakes_end_with_1_and_a_sentence);
    RUN_TEST(what_is_no_record_ends_with_3);
    RUN_TEST(pictures_are_drawn_with_script_and_data_beside_them);
    RUN_TEST(without_gnuplot_a_plot_ends_with_4);
    RUN_TEST(help_shows_kinds_and_figures);
    return UNITY_END();
}
