// Statistics of simulations: files, totals, tables and curves.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results/figures.h"
#include "harness/results/tables.h"
#include "harness/results/stats.h"
#include "tests/support/program.h"
#include "tests/support/support.h"

static ss_error error;

static const ss_stats_run RUN_A = {.scene = "pony",
                                   .model = "super-helix:root=free,elements=5",
                                   .solver = "mfb+enum",
                                   .seed = UINT64_MAX,
                                   .rods = 7,
                                   .mu = 0.3,
                                   .mu_obstacle = NAN,
                                   .tol = 1e-4};

// Step k of a run: k contacts, half of them active, fb = k tol / 2, tip at (k, 2 k, 0).
static ss_stats_row row_at(int k)
{
    ss_stats_row row = {
        .step = k,
        .report = {.time = 0.01 * k,
                   .dt = 0.01,
                   .rejected = k == 2,
                   .contacts = k,
                   .active = k / 2,
                   .hits = k - 1,
                   .answer = {.iterations = 10 * k,
                              .fb = 0.5e-4 * k,
                              .fb_abs = 1e-3 / k,
                              .natural = 0.1,
                              .sweep_seconds = 1.0,
                              .seconds = 2.0},
                   .collide_seconds = 0.5,
                   .seconds = 4.0,
                   .penetration = k == 2 ? NAN : 1e-6 * k,
                   .energy = {.kinetic = 1e-6 * k}},
        .reason = "done",
        .dispersion = 0.01 * k,
        .stretch_percent = 0.1 * k,
        .tip = {1.0 * k, 2.0 * k, 0.0},
        .tip_velocity = {0.5, 3.0, 0.0},
    };
    snprintf(row.status, sizeof row.status, "%s", k == 3 ? "max_iter" : "solved");
    return row;
}

// A file of steps 1 .. count.
static const char *stats_file(const char *name, const ss_stats_run *run, int count)
{
    const char *path = scratch_path(name);
    FILE *out = fopen(path, "w");
    TEST_ASSERT_NOT_NULL(out);
    ss_table *rows = ss_table_of_fields(out, SS_FORMAT_CSV, ss_stats_fields);
    for (int k = 1; k <= count; k++) {
        const ss_stats_row row = row_at(k);
        ss_stats_print(rows, run, &row);
    }
    ss_table_finish(rows, NULL);
    fclose(out);
    return path;
}

static void statistics_are_read_as_they_were_written(void)
{
    ss_stats stats;
    CHECK_OK(ss_stats_read(stats_file("a.csv", &RUN_A, 3), &stats, &error));
    TEST_ASSERT_EQUAL_INT(3, stats.count);
    TEST_ASSERT_EQUAL_STRING(RUN_A.model, stats.run.model); // quoted: it holds a comma
    CHECK(stats.run.seed == UINT64_MAX && stats.run.mu == 0.3 && isnan(stats.run.mu_obstacle));
    for (int k = 1; k <= 3; k++) {
        const ss_stats_row expected = row_at(k), *row = &stats.rows[k - 1];
        CHECK(row->step == k && row->report.time == expected.report.time);
        CHECK(row->tip[1] == expected.tip[1] && row->tip_velocity[1] == 3.0);
        CHECK(row->report.answer.fb == expected.report.answer.fb);
        CHECK(row->report.rejected == (k == 2) && row->report.hits == k - 1);
        TEST_ASSERT_EQUAL_STRING(expected.status, row->status);
    }
    ss_stats_free(&stats);
}

// The file with `from` replaced by `to` once.
static const char *edited(const char *path, const char *from, const char *to)
{
    const char *text = file_text(path), *at = strstr(text, from);
    TEST_ASSERT_NOT_NULL(at);
    const char *other = scratch_path("edited.csv");
    FILE *out = fopen(other, "w");
    TEST_ASSERT_NOT_NULL(out);
    fprintf(out, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    fclose(out);
    return other;
}

static void a_line_that_was_cut_short_is_left_out(void)
{
    ss_stats stats;
    const char *path = stats_file("cut.csv", &RUN_A, 2);
    FILE *out = fopen(path, "a");
    TEST_ASSERT_NOT_NULL(out);
    fputs("pony,\"super", out);
    fclose(out);
    CHECK_OK(ss_stats_read(path, &stats, &error));
    TEST_ASSERT_EQUAL_INT(2, stats.count);
    ss_stats_free(&stats);
}

static void a_column_that_came_later_may_be_missing(void)
{
    ss_stats stats;
    ss_stats_run run = RUN_A;
    run.gamma = 2.0;
    run.bending_hz = 3.0;
    CHECK_OK(ss_stats_read(edited(stats_file("new.csv", &run, 2), "bending_hz", "another"), &stats,
                           &error));
    CHECK(stats.count == 2 && stats.run.gamma == 2.0 && isnan(stats.run.bending_hz));
    ss_stats_free(&stats);
}

static void refuse(const char *path, const char *because)
{
    ss_stats stats;
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, ss_stats_read(path, &stats, &error));
    HOLDS(error.text, because);
    CHECK(stats.rows == NULL);
}

static void files_that_are_no_statistics_are_refused_with_a_sentence(void)
{
    const char *good = stats_file("good.csv", &RUN_A, 2);
    char cells[40];
    int columns = 0;
    while (ss_stats_fields[columns].name != NULL) {
        columns++;
    }
    snprintf(cells, sizeof cells, "line 2 has %d cells", columns - 1);
    refuse(scratch_path("absent.csv"), "absent.csv: cannot be read");
    refuse(edited(good, "dispersion", "distance"), "there is no column dispersion");
    refuse(edited(good, ",0.01,0.01,", ",0.01,much,"), "line 2 holds 'much' in column dt");
    refuse(edited(good, ",0.01,0.01,", ",0.01,0x1,"), "line 2 holds '0x1' in column dt");
    refuse(edited(good, ",7,", ",nan,"), "line 2 holds 'nan' in column rods");
    refuse(edited(good, ",0.01,0.01,", ",0.01,"), cells);
    refuse(edited(good, "\npony,", "\ncurly,"), "line 3 belongs to another run");
    refuse(stats_file("empty.csv", &RUN_A, 0), "holds no step of a simulation");
}

static void totals_are_sums_over_the_steps_that_solved_something(void)
{
    ss_stats_totals t = {0};
    for (int k = 0; k <= 3; k++) {
        ss_stats_row row = row_at(k);
        if (k == 0) {
            row.report.answer.fb = row.report.answer.fb_abs = NAN; // a step without contacts
        }
        ss_stats_total(&t, &row);
    }
    CHECK(t.steps == 4 && t.solved_steps == 3 && t.contacts_max == 3 && t.rejected == 1);
    CHECK(t.contacts == 6.0 && t.iterations == 60.0);
    CHECK(t.over == 1.0); // step 3 alone is not solved
    CHECK_NEAR(t.fb_max, 1.5e-4, 1e-18);
    CHECK_NEAR(t.fb_abs_max, 1e-3, 1e-18);
    CHECK_NEAR(t.penetration_max, 3e-6, 1e-18);
    CHECK(t.gs_seconds == 3.0 && t.step_seconds == 16.0);
}

static void a_step_that_is_not_solved_counts_whatever_its_fb(void)
{
    ss_stats_totals t = {0};
    ss_stats_row row = row_at(1);
    row.report.answer.fb = 0.0;
    snprintf(row.status, sizeof row.status, "stalled");
    ss_stats_total(&t, &row);
    CHECK(t.over == 1.0);
}

static const ss_table_kind *table_named(const char *name)
{
    const ss_table_kind *kind = ss_table_kinds;
    while (kind->name != NULL && strcmp(kind->name, name) != 0) {
        kind++;
    }
    TEST_ASSERT_NOT_NULL(kind->name);
    return kind;
}

static const ss_figure_kind *figure_named(const char *name)
{
    const ss_figure_kind *kind = ss_figure_kinds;
    while (kind->name != NULL && strcmp(kind->name, name) != 0) {
        kind++;
    }
    TEST_ASSERT_NOT_NULL(kind->name);
    return kind;
}

static void the_table_has_the_papers_columns_and_its_row(void)
{
    ss_stats *runs;
    char *paths[] = {strdup(stats_file("t.csv", &RUN_A, 3))};
    CHECK_OK(ss_stats_read_all(paths, 1, &runs, &error));
    const ss_results results = {.nruns = 1, .runs = runs};
    const ss_table_request request = {.results = &results, .paper = true};
    const char *path = scratch_path("table.csv");
    FILE *out = fopen(path, "w");
    TEST_ASSERT_NOT_NULL(out);
    ss_table *table = ss_table_new(out, SS_FORMAT_CSV);
    CHECK_OK(table_named("simulation")->make(&request, table, &error));
    CHECK_OK(ss_table_finish(table, &error));
    fclose(out);
    const char *text = file_text(path);
    TEST_ASSERT_EQUAL_STRING("pony", csv_field(text, 1, "scene"));
    CHECK_NEAR(csv_number(text, 1, "contacts_mean"), 2.0, 1e-15);
    CHECK_NEAR(csv_number(text, 1, "over_tol_percent"), 100.0 / 3.0, 1e-12);
    CHECK_NEAR(csv_number(text, 1, "mean_iterations"), 20.0, 1e-13);
    CHECK_NEAR(csv_number(text, 1, "step_seconds"), 4.0, 1e-15);
    CHECK_NEAR(csv_number(text, 1, "minutes_a_frame"), 12.0 / 60.0 * 0.04 / 0.03, 1e-12);
    TEST_ASSERT_EQUAL_STRING("[D11] Pony", csv_field(text, 2, "scene"));
    CHECK_NEAR(csv_number(text, 2, "step_seconds"), 6.2, 1e-15);
    ss_stats_free_all(runs, 1);
    free(paths[0]);
}

static void curves_of_runs_are_their_rows(void)
{
    ss_stats_run other = RUN_A;
    other.mu = 0.0;
    char *paths[] = {strdup(stats_file("c1.csv", &RUN_A, 8)),
                     strdup(stats_file("c2.csv", &other, 3))};
    ss_stats *runs;
    ss_figure figure = {0};
    CHECK_OK(ss_stats_read_all(paths, 2, &runs, &error));
    const ss_results results = {.nruns = 2, .runs = runs};
    const ss_figure_request request = {.results = &results};
    CHECK_OK(figure_named("orbit")->make(&request, &figure, &error));
    TEST_ASSERT_EQUAL_STRING("tip y (cm)", figure.x_label); // y moves twice as far as x
    TEST_ASSERT_EQUAL_STRING("mu 0.3", figure.curves[0].label);
    TEST_ASSERT_EQUAL_INT(5, figure.curves[0].count); // from 0.04 s of 0.08 on
    CHECK_NEAR(figure.curves[0].x[0], 800.0, 1e-9);
    CHECK_NEAR(figure.curves[0].y[0], 300.0, 1e-9);
    ss_figure_free(&figure);
    CHECK_OK(figure_named("dispersion")->make(&request, &figure, &error));
    TEST_ASSERT_EQUAL_INT(8, figure.curves[0].count);
    CHECK_NEAR(figure.curves[1].y[2], 3.0, 1e-12);
    CHECK_NEAR(figure.below->curves[1].y[2], 3.0, 1e-12); // uJ
    ss_figure_free(&figure);
    CHECK_OK(figure_named("stretch")->make(&request, &figure, &error));
    CHECK_NEAR(figure.curves[1].x[2], 0.03, 1e-12);
    CHECK_NEAR(figure.curves[1].y[2], 0.3, 1e-12);
    ss_figure_free(&figure);
    CHECK_OK(figure_named("trajectory")->make(&request, &figure, &error));
    TEST_ASSERT_EQUAL_STRING("tip x (cm)", figure.x_label); // z does not move
    TEST_ASSERT_EQUAL_STRING("tip y (cm)", figure.y_label);
    CHECK_NEAR(figure.curves[1].x[2], 300.0, 1e-9);
    CHECK_NEAR(figure.curves[1].y[2], 600.0, 1e-9);
    ss_figure_free(&figure);
    ss_stats_free_all(runs, 2);
    free(paths[0]);
    free(paths[1]);
}

static void run_tests(void)
{
    RUN_TEST(statistics_are_read_as_they_were_written);
    RUN_TEST(a_line_that_was_cut_short_is_left_out);
    RUN_TEST(a_column_that_came_later_may_be_missing);
    RUN_TEST(files_that_are_no_statistics_are_refused_with_a_sentence);
    RUN_TEST(totals_are_sums_over_the_steps_that_solved_something);
    RUN_TEST(a_step_that_is_not_solved_counts_whatever_its_fb);
    RUN_TEST(the_table_has_the_papers_columns_and_its_row);
    RUN_TEST(curves_of_runs_are_their_rows);
}

const test_group stats_tests = {.run = run_tests};
