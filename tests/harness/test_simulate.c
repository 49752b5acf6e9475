// What a simulation leaves behind: statistics, their totals, tables and curves, dumps.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/simulate/dump.h"
#include "harness/results/figures.h"
#include "harness/simulate/simulation.h"
#include "harness/results/tables.h"
#include "problems/response.h"
#include "problems/tangle/tangle.h"
#include "tests/support/make_problem.h"
#include "tests/support/program.h"
#include "tests/support/support.h"

static ss_error error;

// ---- Statistics

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
    CHECK_OK(ss_table_simulation(&request, table, &error));
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
    CHECK_OK(ss_figure_orbit(&request, &figure, &error));
    TEST_ASSERT_EQUAL_STRING("tip y (cm)", figure.x_label); // y moves twice as far as x
    TEST_ASSERT_EQUAL_STRING("mu 0.3", figure.curves[0].label);
    TEST_ASSERT_EQUAL_INT(5, figure.curves[0].count); // from 0.04 s of 0.08 on
    CHECK_NEAR(figure.curves[0].x[0], 800.0, 1e-9);
    CHECK_NEAR(figure.curves[0].y[0], 300.0, 1e-9);
    ss_figure_free(&figure);
    CHECK_OK(ss_figure_dispersion(&request, &figure, &error));
    TEST_ASSERT_EQUAL_INT(8, figure.curves[0].count);
    CHECK_NEAR(figure.curves[1].y[2], 3.0, 1e-12);
    CHECK_NEAR(figure.below->curves[1].y[2], 3.0, 1e-12); // uJ
    ss_figure_free(&figure);
    CHECK_OK(ss_figure_stretch(&request, &figure, &error));
    CHECK_NEAR(figure.curves[1].x[2], 0.03, 1e-12);
    CHECK_NEAR(figure.curves[1].y[2], 0.3, 1e-12);
    ss_figure_free(&figure);
    CHECK_OK(ss_figure_trajectory(&request, &figure, &error));
    TEST_ASSERT_EQUAL_STRING("tip x (cm)", figure.x_label); // z does not move
    TEST_ASSERT_EQUAL_STRING("tip y (cm)", figure.y_label);
    CHECK_NEAR(figure.curves[1].x[2], 300.0, 1e-9);
    CHECK_NEAR(figure.curves[1].y[2], 600.0, 1e-9);
    ss_figure_free(&figure);
    ss_stats_free_all(runs, 2);
    free(paths[0]);
    free(paths[1]);
}

// ---- Dumps

static const ss_dump_source SOURCE = {.scene = "pony", .description = "how", .seed = 5};

// Offers `steps` steps with these numbers of active contacts of 10; -1: no contact. The names of
// the problems in the file, each behind a blank.
static const char *dump_after(const char *path, int count, int from, int steps, const int *active)
{
    static char names[400];
    ss_problem *p = random_problem(1, 3, 10, 3, 4);
    ss_dump *a;
    CHECK_OK(ss_dump_open(path, count, from, steps, &SOURCE, &a, &error));
    for (int k = 1; k <= steps; k++) {
        CHECK_OK(ss_dump_offer(a, k, active[k - 1], active[k - 1] >= 0 ? p : NULL, &error));
    }
    CHECK_OK(ss_dump_close(a, &error));
    ss_problem_free(p);
    ss_reader *reader;
    CHECK_OK(ss_reader_open(path, &reader, &error));
    names[0] = '\0';
    for (int k = 0; k < ss_reader_count(reader); k++) {
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, " %s", ss_reader_name(reader, k));
    }
    ss_reader_close(reader);
    return names;
}

static const char *dump(const char *path, int count, int steps, const int *active)
{
    return dump_after(path, count, 0, steps, active);
}

static void steps_before_the_first_stretch_are_left_out(void)
{
    const int busy[] = {9, 9, 9, 9, 0, 9, 9, 0};
    const char *path = scratch_path("late_start.h5");
    TEST_ASSERT_EQUAL_STRING(" step-4 step-6 step-7", dump_after(path, 3, 3, 8, busy));
    TEST_ASSERT_EQUAL_STRING(" step-6 step-7", dump_after(path, 2, 4, 8, busy));
}

static void a_stretch_gives_its_first_busy_step_else_its_last(void)
{
    const char *path = scratch_path("busy.h5");
    const int first[] = {0, 3, 4, 9, 0, 0, 0, 0, 1, 2}; // 4 of 10 are more than 30 %
    TEST_ASSERT_EQUAL_STRING(" step-03 step-10", dump(path, 2, 10, first));
    const int quiet[] = {0, 0, 0, 0, 0, 0};
    TEST_ASSERT_EQUAL_STRING(" step-2 step-4 step-6", dump(path, 3, 6, quiet));
    const int busy[] = {9, 9, 9, 9, 9, 9};
    TEST_ASSERT_EQUAL_STRING(" step-1 step-3 step-5", dump(path, 3, 6, busy));
}

static void stretches_without_contact_are_made_up_for(void)
{
    const int late[] = {-1, -1, -1, -1, 0, 0, 0, 0};
    TEST_ASSERT_EQUAL_STRING(" step-6 step-8", dump(scratch_path("late.h5"), 2, 8, late));
}

// Busy are more than 3 of 10.
static void a_stretch_that_ends_without_contact_gives_its_best_step(void)
{
    const int early[] = {1, 3, 2, -1, -1, 0, 3, 0, 0, 1};
    const char *path = scratch_path("best.h5");
    TEST_ASSERT_EQUAL_STRING(" step-02 step-10", dump(path, 2, 10, early));
    ss_problem *p = random_problem(1, 3, 10, 3, 4), *stored;
    char expected[65], found[65];
    CHECK_OK(ss_store_read(path, "step-02", &stored, &error)); // was a copy meanwhile
    ss_problem_sha256(p, expected);
    ss_problem_sha256(stored, found);
    TEST_ASSERT_EQUAL_STRING(expected, found);
    TEST_ASSERT_EQUAL_STRING("how", stored->description);
    ss_problem_free(p);
    ss_problem_free(stored);
}

static void a_run_that_ends_early_gives_the_best_of_its_last_stretch(void)
{
    const int all[] = {9, 0, 0, 0, 0, 1, 3, 2, 0, 0};
    const char *path = scratch_path("early.h5");
    ss_problem *p = random_problem(1, 3, 10, 3, 4);
    ss_dump *a;
    CHECK_OK(ss_dump_open(path, 2, 0, 10, &SOURCE, &a, &error));
    for (int k = 1; k <= 8; k++) {
        CHECK_OK(ss_dump_offer(a, k, all[k - 1], p, &error));
    }
    CHECK(ss_dump_taken(a) == 1);
    CHECK_OK(ss_dump_finish(a, &error));
    CHECK(ss_dump_taken(a) == 2 && ss_dump_kept(a) == 2);
    CHECK_OK(ss_dump_close(a, &error));
    ss_problem_free(p);
    CHECK_OK(ss_store_read(path, "step-07", &p, &error));
    ss_problem_free(p);
}

static void a_dump_belongs_to_one_simulation(void)
{
    const char *path = scratch_path("shared.h5");
    ss_problem *p = random_problem(1, 3, 10, 3, 4);
    ss_dump *first, *second;
    CHECK_OK(ss_dump_open(path, 4, 0, 4, &SOURCE, &first, &error));
    CHECK_OK(ss_dump_offer(first, 1, 9, p, &error));
    CHECK(ss_dump_open(path, 4, 0, 4, &SOURCE, &second, &error) == SS_SYSTEM && second == NULL);
    HOLDS(error.text, "shared.h5: another simulation is writing it; name another file");
    CHECK_OK(ss_dump_offer(first, 2, 9, p, &error));
    CHECK_OK(ss_dump_close(first, &error));
    CHECK_OK(ss_dump_open(path, 1, 0, 1, &SOURCE, &second, &error));
    CHECK_OK(ss_dump_close(second, &error)); // without problems: the file is as it was
    ss_problem_free(p);
    CHECK_OK(ss_store_read(path, "step-2", &p, &error));
    ss_problem_free(p);
}

static void a_dump_leaves_alone_what_another_program_wrote(void)
{
    const char *path = scratch_path("foreign.h5");
    ss_problem *p = random_problem(1, 3, 10, 3, 4);
    ss_dump *a;
    CHECK_OK(ss_dump_open(path, 4, 0, 4, &SOURCE, &a, &error));
    write_bytes(path, "theirs", 6);
    CHECK(ss_dump_offer(a, 1, 9, p, &error) == SS_SYSTEM && ss_dump_failed(a));
    HOLDS(error.text, "foreign.h5: another program has written it since the simulation began");
    CHECK_OK(ss_dump_close(a, &error));
    ss_problem_free(p);
    TEST_ASSERT_EQUAL_STRING("theirs", file_text(path));
}

static void a_dump_says_where_its_problems_come_from(void)
{
    const int one[] = {9};
    const char *path = scratch_path("from.h5");
    dump(path, 1, 1, one);
    ss_problem *p;
    CHECK_OK(ss_store_read(path, "step-1", &p, &error));
    const ss_provenance *from = &p->provenance;
    TEST_ASSERT_EQUAL_STRING("pony", from->scene);
    CHECK(from->has_seed && from->seed == 5 && from->step == 1);
    CHECK(strncmp(from->producer, "stickslip ", 10) == 0 && from->commit[0] != '\0');
    TEST_ASSERT_EQUAL_STRING("how", p->description);
    ss_problem_free(p);
}

static void a_dump_is_valid_from_its_first_problem_on(void)
{
    const char *path = scratch_path("killed.h5");
    ss_problem *p = random_problem(1, 3, 10, 3, 4), *read;
    ss_dump *a;
    CHECK_OK(ss_dump_open(path, 4, 0, 4, &SOURCE, &a, &error));
    CHECK_OK(ss_dump_offer(a, 1, 9, p, &error));
    CHECK_OK(ss_store_read(path, "step-1", &read, &error)); // a kill would come here
    ss_problem_free(read);
    CHECK_OK(ss_dump_close(a, &error));
    ss_problem_free(p);
}

static void a_dump_without_problems_leaves_the_disk_as_it_was(void)
{
    ss_dump *a;
    CHECK_OK(ss_dump_open(scratch_path("none.h5"), 1, 0, 2, &SOURCE, &a, &error));
    CHECK_OK(ss_dump_offer(a, 1, 0, NULL, &error));
    CHECK_OK(ss_dump_close(a, &error));
    FILE *file = fopen(scratch_path("none.h5"), "r");
    CHECK(file == NULL);
}

// ---- The solver of a step

// A solve of one M leaves its factor; an answer about another M is judged by its own.
static void the_judge_does_not_take_the_factor_of_another_matrix(void)
{
    ss_tangle_settings tangle = ss_tangle_defaults();
    tangle.ncontacts = 12;
    tangle.ends_per_rod = 4;
    ss_problem *p;
    CHECK_OK(ss_tangle_new(&tangle, &p, &error));
    double r[36] = {0.0};
    ss_method *method;
    CHECK_OK(ss_method_parse("mfb+enum", &method, &error));
    ss_simulate_solver after = {.method = method, .tolerance = 1e-6, .max_iterations = 5000};
    ss_simulate_solver alone = after;
    ss_step_answer with, without;
    CHECK_OK(ss_simulate_solve(&after, p, r, &with, &error));
    CHECK(after.factor != NULL);
    for (int k = 0; k < ss_sparse_count(&p->M); k++) {
        p->M.x[k] *= 4.0;
    }
    CHECK_OK(ss_simulate_judge(&after, p, r, &with, &error));
    CHECK_OK(ss_simulate_judge(&alone, p, r, &without, &error));
    CHECK(with.fb == without.fb);
    CHECK(with.fb > 1e-6);
    ss_simulate_drop(&after);
    ss_simulate_drop(&alone);
    ss_method_free(method);
    ss_problem_free(p);
}

static void measures_of_a_step_are_those_of_the_judge_in_cgs(void)
{
    ss_tangle_settings tangle = ss_tangle_defaults();
    tangle.ncontacts = 12;
    tangle.ends_per_rod = 4;
    ss_problem *p;
    CHECK_OK(ss_tangle_new(&tangle, &p, &error));
    const size_t n = 36;
    double r[36] = {0.0}, u[36], b[36];
    ss_method *method;
    CHECK_OK(ss_method_parse("mfb+enum", &method, &error));
    ss_simulate_solver solver = {.method = method, .tolerance = 1e-3, .max_iterations = 5000};
    ss_step_answer answer;
    CHECK_OK(ss_simulate_solve(&solver, p, r, &answer, &error));
    CHECK(answer.left > 0.0 && answer.left <= 1e-3);
    CHECK_OK(ss_simulate_judge(&solver, p, r, &answer, &error));
    TEST_ASSERT_EQUAL_STRING("solved", answer.status);
    ss_response *judge;
    CHECK_OK(ss_response_new(p, &judge, &error));
    const ss_measures si = ss_response_judge(judge, r, u);
    CHECK_NEAR(answer.fb, si.fb, 1e-12 * si.fb);
    for (size_t k = 0; k < n; k++) {
        r[k] *= 1e5;
        u[k] *= 1e2;
        b[k] = 1e2 * judge->b[k];
    }
    const ss_measures cgs = ss_measure(3, p->ncontacts, judge->compliance, b, p->mu, r, u);
    CHECK_NEAR(answer.fb_abs, cgs.fb_abs, 1e-9 * cgs.fb_abs);
    CHECK_NEAR(answer.natural, cgs.natural, 1e-9 * cgs.natural);
    CHECK(fabs(cgs.fb_abs - si.fb_abs) > 0.1 * cgs.fb_abs); // or nothing was tested
    ss_response_free(judge);
    ss_method_free(method);
    ss_problem_free(p);
}

// ---- A run that explodes

static ss_status build_explosive(const ss_scene_request *request, ss_world *w,
                                 ss_step_options *options, ss_error *e)
{
    const ss_strand_design design = {.length = 0.1, .material = ss_material_hair(), .nsegments = 4};
    const ss_pose root = ss_pose_identity();
    int number;
    options->explosion = 1e-30; // any motion is too much
    w->gravity.y = -1e6;
    return ss_world_add_strand(w, request->model, &design, 0, &root, &number, e);
}

static void an_explosion_is_a_sentence_and_no_row(void)
{
    static const ss_scene SCENE = {
        .name = "bang", .steps = 5, .dt = 1e-3, .build = build_explosive};
    char path[400];
    snprintf(path, sizeof path, "%s", scratch_path("bang.csv"));
    const ss_simulate_settings settings = {
        .mu = NAN, .dt = NAN, .tolerance = 1e-4, .max_iterations = 10, .stats = path};
    ss_model_choice model;
    ss_method *method;
    CHECK_OK(ss_model_parse("super-helix", &model, &error));
    CHECK_OK(ss_method_parse("mfb+enum", &method, &error));
    const ss_scene_choice scene = {.scene = &SCENE, .spec = "bang"};
    const ss_simulate_choices choices = {.scene = &scene, .model = &model, .method = method};
    ss_simulation a = {.choices = &choices, .settings = &settings, .steps = 5};
    CHECK_OK(ss_simulation_open(&a, &error));
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, ss_simulation_run(&a, &error));
    CHECK(strlen(error.text) > 20);
    TEST_ASSERT_EQUAL_INT(0, a.totals.steps);
    CHECK_OK(ss_simulation_close(&a, &error));
    TEST_ASSERT_EQUAL_INT(1, count_lines(file_text(path))); // the header
    ss_method_free(method);
    ss_model_choice_free(&model);
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
    RUN_TEST(steps_before_the_first_stretch_are_left_out);
    RUN_TEST(a_stretch_gives_its_first_busy_step_else_its_last);
    RUN_TEST(stretches_without_contact_are_made_up_for);
    RUN_TEST(a_stretch_that_ends_without_contact_gives_its_best_step);
    RUN_TEST(a_run_that_ends_early_gives_the_best_of_its_last_stretch);
    RUN_TEST(a_dump_belongs_to_one_simulation);
    RUN_TEST(a_dump_leaves_alone_what_another_program_wrote);
    RUN_TEST(a_dump_says_where_its_problems_come_from);
    RUN_TEST(a_dump_is_valid_from_its_first_problem_on);
    RUN_TEST(a_dump_without_problems_leaves_the_disk_as_it_was);
    RUN_TEST(the_judge_does_not_take_the_factor_of_another_matrix);
    RUN_TEST(measures_of_a_step_are_those_of_the_judge_in_cgs);
    RUN_TEST(an_explosion_is_a_sentence_and_no_row);
}

const test_group simulate_tests = {.run = run_tests};
