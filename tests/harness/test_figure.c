// Curves with points known by hand, and what gnuplot makes of them.
#include "tests/support/support.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/results/figures.h"
#include "tests/support/program.h"
#include "tests/support/results.h"

enum { FOUR_SIDES, MFB, HYBRID };

static ss_record_rows record;
static ss_trials *trials;
static ss_figure figure;

static void set_up(void)
{
    ss_error error;
    CHECK_OK(ss_record_rows_read(results_file("figure.h5"), &record, &error));
    CHECK_OK(ss_trials_new(&record, NAN, &trials, &error));
}

static void tear_down(void)
{
    ss_figure_free(&figure);
    ss_trials_free(trials);
    trials = NULL;
    ss_record_rows_free(&record);
}

// The figure of a kind that the trials make.
static ss_status make(const char *name, const char *problem, ss_error *e)
{
    const ss_results results = {.record = record, .trials = trials};
    const ss_figure_request request = {.results = &results, .problem = problem};
    const ss_figure_kind *kind = ss_figure_kinds;
    while (kind->name != NULL && strcmp(kind->name, name) != 0) {
        kind++;
    }
    TEST_ASSERT_NOT_NULL_MESSAGE(kind->name, name);
    return kind->make(&request, &figure, e);
}

static void expect_curve(size_t k, size_t count, const double x[], const double y[])
{
    const ss_curve *curve = &figure.curves[k];
    TEST_ASSERT_EQUAL_INT(count, curve->count);
    for (size_t i = 0; i < count; i++) {
        CHECK_NEAR(curve->x[i], x[i], 1e-9 * x[i]);
        CHECK_NEAR(curve->y[i], y[i], 1e-9);
    }
}

// The text of a file, freed at the next call.
static const char *content(const char *path, const char *ending)
{
    static char text[20000];
    char name[400];
    snprintf(name, sizeof name, "%s%s", path, ending);
    FILE *in = fopen(name, "re");
    TEST_ASSERT_NOT_NULL_MESSAGE(in, name);
    text[fread(text, 1, sizeof text - 1, in)] = '\0';
    fclose(in);
    return text;
}

static bool have_gnuplot(void)
{
    return system("gnuplot --version >/dev/null 2>&1") == 0;
}

// ---- Curves

static void iterations_fall_from_all_to_the_unsolved(void)
{
    ss_error error;
    CHECK_OK(make("iterations", NULL, &error));
    // Never solved: all need more than any number. The end is 1.1 times the largest, here 10.
    expect_curve(FOUR_SIDES, 2, (double[]){1, 11}, (double[]){100, 100});
    expect_curve(MFB, 3, (double[]){1, 6, 11}, (double[]){100, 50, 50});
    expect_curve(HYBRID, 4, (double[]){1, 4, 8, 11}, (double[]){100, 50, 0, 0});
}

static void profiles_rise_to_the_share_that_is_solved(void)
{
    ss_error error;
    CHECK_OK(make("profile", NULL, &error));
    expect_curve(FOUR_SIDES, 2, (double[]){1, 11}, (double[]){0, 0});
    expect_curve(MFB, 2, (double[]){1, 11}, (double[]){50, 50});
    expect_curve(HYBRID, 3, (double[]){1, 1.25, 11}, (double[]){50, 100, 100});
}

static void convergence_of_one_problem_is_its_history(void)
{
    ss_error error;
    CHECK_OK(make("convergence", "data/hair.h5:p1", &error));
    expect_curve(HYBRID, 4, (double[]){1, 2, 3, 4}, (double[]){0.1, 0.01, 1e-3, 5e-5});
}

static void convergence_is_the_median_and_ended_runs_keep_their_last(void)
{
    ss_error error;
    CHECK_OK(make("convergence", NULL, &error));
    // p1 ends at 4 with 5e-5; p2 goes on to 8.
    const double p2[] = {0.5, 0.1, 0.05, 0.01, 5e-3, 1e-3, 5e-4, 9e-5};
    const double p1[] = {0.1, 0.01, 1e-3, 5e-5, 5e-5, 5e-5, 5e-5, 5e-5};
    double x[8], y[8];
    for (int k = 0; k < 8; k++) {
        x[k] = k + 1;
        y[k] = (p1[k] + p2[k]) / 2.0;
    }
    expect_curve(HYBRID, 8, x, y);
    // The last iteration of a long run has its point, too.
    CHECK_NEAR(figure.curves[MFB].x[figure.curves[MFB].count - 1], 100, 0);
}

static void convergence_is_the_best_so_far_over_iterations_and_time(void)
{
    ss_error error;
    ss_record_row *row = NULL;
    for (size_t k = 0; k < record.count; k++) {
        if (trials->solvers[HYBRID].trials[0].row == &record.rows[k]) {
            row = &record.rows[k];
        }
    }
    TEST_ASSERT_NOT_NULL(row);
    row->history.fb[3] = 0.2; // worse than the 0.01 before it
    CHECK_OK(make("convergence", row->problem, &error));
    expect_curve(HYBRID, 4, (double[]){1, 2, 3, 4}, (double[]){0.1, 0.01, 0.01, 5e-5});
    ss_figure_free(&figure);
    CHECK_OK(make("convergence-time", row->problem, &error));
    // From the start, after the set-up of 2 ms, to the end at 10 ms; never up.
    const ss_curve *curve = &figure.curves[HYBRID];
    CHECK_NEAR(curve->x[0], 2.0, 1e-9);
    CHECK_NEAR(curve->x[curve->count - 1], 10.0, 1e-9);
    CHECK_NEAR(curve->y[curve->count - 1], 5e-5, 1e-15);
    for (size_t i = 1; i < curve->count; i++) {
        CHECK(curve->y[i] <= curve->y[i - 1]);
    }
}

static void an_unknown_problem_has_no_history(void)
{
    ss_error error;
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, make("convergence", "nobody", &error));
    TEST_ASSERT_EQUAL_STRING("the record holds no history of nobody", error.text);
}

static void work_precision_is_the_median_time_to_a_residual(void)
{
    ss_error error;
    CHECK_OK(make("work-precision", NULL, &error));
    const ss_curve *curve = &figure.curves[HYBRID];
    // fb <= 1: at the start, after the set-up of 2 and 4 ms.
    CHECK_NEAR(curve->x[0], 3.0, 1e-9);
    CHECK_NEAR(curve->y[0], 1.0, 0);
    // fb <= 1e-4: at the end, after 10 and 20 ms.
    CHECK_NEAR(curve->x[curve->count - 1], 15.0, 1e-9);
    CHECK_NEAR(curve->y[curve->count - 1], 1e-4, 1e-15);
    TEST_ASSERT_EQUAL_INT(17, curve->count);
}

// ---- Pictures

static void every_ending_that_is_offered_is_drawn(void)
{
    if (!have_gnuplot()) {
        TEST_IGNORE_MESSAGE("gnuplot is not installed");
    }
    static const char *const names[] = {"a.svg", "b.png", "it's -c.pdf"};
    static const char *const starts[] = {"<?xml", "\x89PNG", "%PDF"};
    ss_error error;
    CHECK_OK(make("iterations", NULL, &error));
    for (int k = 0; k < 3; k++) {
        const char *path = scratch_path(names[k]);
        CHECK(ss_figure_can_draw(path));
        CHECK_OK(ss_figure_draw(&figure, path, &error));
        TEST_ASSERT_EQUAL_STRING_LEN(starts[k], content(path, ""), strlen(starts[k]));
        HOLDS(content(path, ".dat"), "# mfb+enum\n1 100\n4 50\n8 0\n11 0\n");
        HOLDS(content(path, ".gp"), "lc rgb \"#D55E00\" dt solid");
    }
    CHECK(!ss_figure_can_draw("a.gif"));
    CHECK(!ss_figure_can_draw("svg"));
}

// To be freed.
static char *script_of_iterations(void)
{
    char *script = NULL;
    size_t size = 0;
    ss_error error;
    CHECK_OK(make("iterations", NULL, &error));
    FILE *out = open_memstream(&script, &size);
    ss_figure_script(&figure, "x.svg", out);
    fclose(out);
    return script;
}

// The hybrid is drawn last, so that no other curve hides it.
static void only_the_papers_hybrid_is_solid(void)
{
    char *script = script_of_iterations();
    // Its curve, its marks and its entry of the key.
    int count = 0;
    for (const char *at = script; (at = strstr(at, "dt solid")) != NULL; at++) {
        count++;
    }
    TEST_ASSERT_EQUAL_INT(3, count);
    const char *solid =
        strstr(script, "data index 2 using 1:2 with steps lc rgb \"#D55E00\" dt solid");
    TEST_ASSERT_NOT_NULL(solid);
    CHECK(strstr(solid, "with steps lc") == strstr(solid, "with steps"));
    CHECK(strstr(solid + 1, "index 0 using") == NULL && strstr(solid + 1, "index 1 using") == NULL);
    HOLDS(script, "data index 2 every 1::0 using 1:2 with points lc rgb \"#D55E00\" dt solid");
    HOLDS(script, " pt 8 ps 0.5 title \"mfb+enum\"");
    free(script);
}

// 4sides needs most and stands highest, then mfb, then mfb+enum.
static void the_key_is_in_the_order_of_the_curves_and_the_picture_says_of_what(void)
{
    char *script = script_of_iterations();
    HOLDS(script, "set label 1 \"2 problems, tolerance 1e-4\" at graph");
    const char *first = strstr(script, "title \"4sides\""),
               *second = strstr(script, "title \"mfb\"");
    const char *third = strstr(script, "title \"mfb+enum\"");
    CHECK(first != NULL && second > first && third > second);
    free(script);
}

// The style of the k-th curve of a script: what stands before its title.
static const char *style_at(const char *script, int k)
{
    static char styles[2][100];
    char *style = styles[k % 2];
    for (const char *at = script; (at = strstr(at, "lc rgb \"")) != NULL; at++) {
        const char *end = strstr(at, " title \"");
        if (end != NULL && end < strchr(at, '\n') && k-- == 0) {
            snprintf(style, sizeof styles[0], "%.*s", (int)(end - at), at);
            return style;
        }
    }
    return "";
}

static void no_two_solvers_look_alike(void)
{
    static const char *const specs[] = {"mfb",
                                        "mfb:freeze=on",
                                        "mfb+enum",
                                        "mfb+enum:freeze=paper",
                                        "mfb+enum:order=reverse",
                                        "alm",
                                        "admm",
                                        "auto",
                                        "anderson/mfb",
                                        "apgd",
                                        "ppa",
                                        "spg",
                                        "newton-mfb",
                                        "splitting",
                                        "psor"};
    enum { COUNT = sizeof specs / sizeof specs[0] };
    ss_record_row rows[COUNT];
    for (size_t k = 0; k < COUNT; k++) {
        rows[k] = result_row("mfb:freeze=paper", 1);
        strcpy(rows[k].solver, specs[k]);
    }
    const char *path = results_file_of("alike.h5", rows, COUNT);
    tear_down();
    char *script = NULL;
    size_t size = 0;
    ss_error error;
    CHECK_OK(ss_record_rows_read(path, &record, &error));
    CHECK_OK(ss_trials_new(&record, NAN, &trials, &error));
    CHECK_OK(make("convergence", NULL, &error));
    FILE *out = open_memstream(&script, &size);
    ss_figure_script(&figure, "x.svg", out);
    fclose(out);
    HOLDS(script, "set xlabel \"iterations\"");
    for (int k = 1; k < COUNT; k++) {
        char own[100];
        snprintf(own, sizeof own, "%s", style_at(script, k));
        CHECK(own[0] != '\0');
        for (int j = 0; j < k; j++) {
            CHECK(strcmp(own, style_at(script, j)) != 0);
        }
    }
    free(script);
}

// The curves of rows with these specs and numbers of iterations, of problem 1; fb of the judge.
static void make_runs(size_t count, const char *const specs[], const int iterations[], double fb)
{
    ss_record_row rows[8];
    for (size_t k = 0; k < count; k++) {
        rows[k] = result_row("mfb+enum:freeze=paper", 1);
        strcpy(rows[k].solver, specs[k]);
        strcpy(rows[k].outcome, iterations[k] < 100 ? "converged" : "max_iter");
        rows[k].iterations = iterations[k];
        rows[k].measures.fb = fb;
    }
    const char *path = results_file_of(count == 2 ? "own.h5" : "runs.h5", rows, count);
    tear_down();
    ss_error error;
    CHECK_OK(ss_record_rows_read(path, &record, &error));
    CHECK_OK(ss_trials_new(&record, NAN, &trials, &error));
    CHECK_OK(make("iterations", NULL, &error));
}

static void curves_that_coincide_share_an_entry_of_the_key(void)
{
    make_runs(5, (const char *[]){"mfb", "enum", "mfb+enum", "pac", "pac+enum"},
              (const int[]){9, 9, 9, 70, 9}, 5e-5);
    static const char *const names[] = {"pac", "mfb", "enum", "pac+enum", "mfb+enum"};
    static const char *const labels[] = {"pac", "", "", "", "mfb+enum, mfb, enum, pac+enum"};
    for (size_t k = 0; k < 5; k++) {
        TEST_ASSERT_EQUAL_STRING(names[k], figure.curves[k].bare);
        TEST_ASSERT_EQUAL_STRING(labels[k], figure.curves[k].label);
    }
    char *script = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&script, &size);
    ss_figure_script(&figure, "x.svg", out);
    fclose(out);
    HOLDS(script, " title \"mfb+enum, mfb, enum, pac+enum\" noenhanced");
    HOLDS(script, "dt (8,4) lw 1.1 notitle"); // of mfb, which is still drawn
    free(script);
}

static void a_rule_of_its_own_says_when_a_run_is_at_its_end(void)
{
    make_runs(2, (const char *[]){"mfb:as=printed", "mfb+enum:as=printed"}, (const int[]){100, 9},
              0.01); // far above the tolerance of the judge
    expect_curve(0, 2, (double[]){1, 11}, (double[]){100, 100});
    expect_curve(1, 3, (double[]){1, 9, 11}, (double[]){100, 0, 0});
}

// Between the start and the answer nothing is known.
static void a_history_without_a_course_has_no_convergence(void)
{
    ss_record_row rows[2] = {result_row("mfb:freeze=paper", 1), result_row("mfb:freeze=paper", 1)};
    strcpy(rows[1].solver, "siconos/prox");
    rows[1].history.count = 2;
    rows[1].history.iteration[1] = 6;
    rows[1].history.fb[1] = 5e-5;
    const char *path = results_file_of("course.h5", rows, 2);
    tear_down();
    ss_error error;
    CHECK_OK(ss_record_rows_read(path, &record, &error));
    CHECK_OK(ss_trials_new(&record, NAN, &trials, &error));
    CHECK_OK(make("convergence", NULL, &error));
    TEST_ASSERT_EQUAL_INT(6, figure.curves[0].count);
    TEST_ASSERT_EQUAL_INT(0, figure.curves[1].count);
}

static void a_folder_that_is_not_there_is_said(void)
{
    ss_error error;
    CHECK_OK(make("iterations", NULL, &error));
    TEST_ASSERT_EQUAL_INT(SS_SYSTEM, ss_figure_draw(&figure, "/nowhere/x.svg", &error));
    TEST_ASSERT_EQUAL_STRING("cannot write /nowhere/x.svg.dat: No such file or directory",
                             error.text);
}

static void a_missing_gnuplot_is_said(void)
{
    char *path = strdup(getenv("PATH"));
    setenv("PATH", scratch_path(""), 1);
    ss_error error;
    CHECK_OK(make("iterations", NULL, &error));
    const ss_status status = ss_figure_draw(&figure, scratch_path("none.svg"), &error);
    setenv("PATH", path, 1);
    free(path);
    TEST_ASSERT_EQUAL_INT(SS_SYSTEM, status);
    TEST_ASSERT_EQUAL_STRING("gnuplot could not be started; figures need it (Debian: gnuplot-nox)",
                             error.text);
}

static void a_figure_without_a_point_is_said(void)
{
    ss_error error;
    CHECK_OK(make("iterations", NULL, &error));
    for (size_t k = 0; k < figure.ncurves; k++) {
        figure.curves[k].count = 0;
    }
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, ss_figure_draw(&figure, scratch_path("x.svg"), &error));
    HOLDS(error.text, "there is nothing to draw");
}

// Draws by a shell script in place of gnuplot.
static ss_status draw_by(const char *script, const char *picture, ss_error *e)
{
    FILE *out = fopen(scratch_path("gnuplot"), "we");
    fprintf(out, "#!/bin/sh\n%s\n", script);
    fclose(out);
    chmod(scratch_path("gnuplot"), 0700);
    char *path = strdup(getenv("PATH")), *first = NULL;
    CHECK(asprintf(&first, "%s:%s", scratch_path(""), path) > 0);
    setenv("PATH", first, 1);
    ss_status status = make("iterations", NULL, e);
    if (status == SS_OK) {
        status = ss_figure_draw(&figure, scratch_path(picture), e);
    }
    setenv("PATH", path, 1);
    free(first);
    free(path);
    remove(scratch_path("gnuplot"));
    return status;
}

static void a_failing_gnuplot_is_quoted(void)
{
    ss_error error;
    const char *script = "echo\necho 'line 1: undefined variable: x'\nseq 100000\nexit 3";
    TEST_ASSERT_EQUAL_INT(SS_SYSTEM, draw_by(script, "failed.svg", &error));
    TEST_ASSERT_EQUAL_STRING("gnuplot failed: line 1: undefined variable: x", error.text);
}

// As on a full disk, which gnuplot does not notice.
static void half_a_picture_is_said_and_removed(void)
{
    ss_error error;
    TEST_ASSERT_EQUAL_INT(SS_SYSTEM,
                          draw_by("echo '<svg >1234567890123456' >half.svg", "half.svg", &error));
    HOLDS(error.text, "half.svg: gnuplot could not write all of it; is the disk full?");
    CHECK(access(scratch_path("half.svg"), F_OK) != 0);
}

// Of a file that is too large for the disk the old one stays, whole.
static void data_that_find_no_room_leave_the_old_file(void)
{
    ss_error error;
    struct rlimit before;
    CHECK_OK(make("iterations", NULL, &error));
    CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
    static const struct {
        const char *ending;
        rlim_t room; // the script is the larger one
    } FILES[] = {{".dat", 64}, {".gp", 1000}};
    for (int k = 0; k < 2; k++) {
        char name[20];
        const struct rlimit narrow = {.rlim_cur = FILES[k].room, .rlim_max = before.rlim_max};
        snprintf(name, sizeof name, "narrow.svg%s", FILES[k].ending);
        put_scratch(name, "as it was");
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &narrow);
        const ss_status status = ss_figure_draw(&figure, scratch_path("narrow.svg"), &error);
        setrlimit(RLIMIT_FSIZE, &before);
        signal(SIGXFSZ, SIG_DFL);
        TEST_ASSERT_EQUAL_INT(SS_SYSTEM, status);
        HOLDS(error.text, name);
        HOLDS(error.text, "File too large");
        TEST_ASSERT_EQUAL_STRING("as it was", content(scratch_path("narrow.svg"), FILES[k].ending));
    }
}

// ---- Hostile names

#define COMMAND "\n!touch PWNED\n`touch PWNED`$(touch PWNED)'\"; system('touch PWNED') #"

static void check_harmless(const char *picture)
{
    char command[700];
    TEST_ASSERT_TRUE_MESSAGE(access(scratch_path("PWNED"), F_OK) != 0, picture);
    snprintf(command, sizeof command,
             "python3 -c 'import sys, xml.dom.minidom as x; "
             "t = x.parse(sys.argv[1]); "
             "assert not [e for n in (\"script\", \"a\", \"image\") for e in "
             "t.getElementsByTagName(n)]' '%s'",
             picture);
    CHECK(system(command) == 0);
}

static void names_in_a_figure_are_no_commands(void)
{
    static const char *const NAMES[] = {
        COMMAND,
        ("'" COMMAND),
        "</text><script>alert(1)</script><a href='x'>b</a> & &lt;",
        "\\",
        "@a \033[31m \344 \302\233",
    };
    ss_error error;
    for (size_t k = 0; k < sizeof NAMES / sizeof NAMES[0]; k++) {
        CHECK_OK(make("iterations", NULL, &error));
        snprintf(figure.title, sizeof figure.title, "%s", NAMES[k]);
        for (size_t c = 0; c < figure.ncurves; c++) {
            snprintf(figure.curves[c].label, sizeof figure.curves[c].label, "%s", NAMES[k]);
            figure.plain = c % 2 == 0;
        }
        figure.x_label = figure.y_label = NAMES[k];
        CHECK_OK(ss_figure_draw(&figure, scratch_path("hostile.svg"), &error));
        check_harmless(scratch_path("hostile.svg"));
        ss_figure_free(&figure);
    }
}

static void a_picture_may_be_named_as_a_command(void)
{
    static const char *const FILES[] = {
        "|touch PWNED;.svg",  "<touch PWNED;.svg",     "-.svg",  "~.svg",  "`touch PWNED`.svg",
        "$(touch PWNED).svg", "a\";!touch PWNED;.svg", "\\.svg", "@a.svg", "%s.svg"};
    ss_error error;
    for (size_t k = 0; k < sizeof FILES / sizeof FILES[0]; k++) {
        CHECK_OK(make("iterations", NULL, &error));
        CHECK_OK(ss_figure_draw(&figure, scratch_path(FILES[k]), &error));
        check_harmless(scratch_path(FILES[k]));
        ss_figure_free(&figure);
    }
}

static void run_tests(void)
{
    RUN_TEST(iterations_fall_from_all_to_the_unsolved);
    RUN_TEST(profiles_rise_to_the_share_that_is_solved);
    RUN_TEST(convergence_of_one_problem_is_its_history);
    RUN_TEST(convergence_is_the_median_and_ended_runs_keep_their_last);
    RUN_TEST(an_unknown_problem_has_no_history);
    RUN_TEST(work_precision_is_the_median_time_to_a_residual);
    RUN_TEST(every_ending_that_is_offered_is_drawn);
    RUN_TEST(the_key_is_in_the_order_of_the_curves_and_the_picture_says_of_what);
    RUN_TEST(convergence_is_the_best_so_far_over_iterations_and_time);
    RUN_TEST(only_the_papers_hybrid_is_solid);
    RUN_TEST(no_two_solvers_look_alike);
    RUN_TEST(curves_that_coincide_share_an_entry_of_the_key);
    RUN_TEST(a_rule_of_its_own_says_when_a_run_is_at_its_end);
    RUN_TEST(a_history_without_a_course_has_no_convergence);
    RUN_TEST(a_folder_that_is_not_there_is_said);
    RUN_TEST(a_figure_without_a_point_is_said);
    RUN_TEST(a_missing_gnuplot_is_said);
    RUN_TEST(a_failing_gnuplot_is_quoted);
    RUN_TEST(half_a_picture_is_said_and_removed);
    RUN_TEST(data_that_find_no_room_leave_the_old_file);
    RUN_TEST(names_in_a_figure_are_no_commands);
    RUN_TEST(a_picture_may_be_named_as_a_command);
}

const test_group figure_tests = {.run = run_tests, .set_up = set_up, .tear_down = tear_down};
