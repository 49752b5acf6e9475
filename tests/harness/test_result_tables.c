// What a record is taken to say: the tables of its kinds.
#include "tests/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results/tables.h"
#include "tests/support/printed_table.h"
#include "tests/support/program.h"
#include "tests/support/results.h"

static ss_record_rows record;
static ss_trials *trials;

static void tear_down(void)
{
    forget_table();
    ss_trials_free(trials);
    trials = NULL;
    ss_record_rows_free(&record);
}

static const ss_table_kind *find_kind(const char *name)
{
    const ss_table_kind *kind = ss_table_kinds;
    while (kind->name != NULL && strcmp(kind->name, name) != 0) {
        kind++;
    }
    TEST_ASSERT_NOT_NULL_MESSAGE(kind->name, name);
    return kind;
}

// The table of a kind that the trials make.
static const char *print_asked(const char *kind, ss_table_request request, ss_format format)
{
    const ss_results results = {.record = record, .trials = trials};
    request.results = &results;
    request.for_programs = !ss_format_is_for_people(format);
    ss_table *table = begin_table(format);
    ss_error error;
    CHECK_OK(find_kind(kind)->make(&request, table, &error));
    return end_table(table);
}

static const char *print(const char *kind, ss_format format)
{
    return print_asked(kind, (ss_table_request){.paper = false}, format);
}

static const char *print_with_paper(ss_format format)
{
    return print_asked("solvers", (ss_table_request){.paper = true}, format);
}

static const ss_trials *compare(const char *path, double tolerance)
{
    ss_error error;
    CHECK_OK(ss_record_rows_read(path, &record, &error));
    CHECK_OK(ss_trials_new(&record, tolerance, &trials, &error));
    return trials;
}

// ---- The paper

static void the_papers_table_has_eleven_rows_and_its_hybrid_is_the_fastest(void)
{
    int rows = 0;
    for (const ss_paper_row *row = ss_paper_table2; row->solver != NULL; row++) {
        TEST_ASSERT_EQUAL_INT(rows, ss_paper_rank(row->solver));
        CHECK_LE(312, row->mean_ms);
        CHECK_LE(41, row->mean_iterations);
        rows++;
    }
    TEST_ASSERT_EQUAL_INT(11, rows);
    CHECK_NEAR(ss_paper_find("mfb+enum")->mean_ms, 312, 0);
    CHECK(ss_paper_find("duriez06") == NULL);
    TEST_ASSERT_EQUAL_INT(11, ss_paper_rank("duriez06"));
    TEST_ASSERT_EQUAL_INT(12, ss_paper_rank("secular"));
}

// ---- What a record says

static void percentages_are_totals_over_totals(void)
{
    compare(results_file("totals.h5"), NAN);
    TEST_ASSERT_EQUAL_STRING("solver,alt_percent,fail_percent,over_tol_percent,mean_iterations,"
                             "mean_ms\n"
                             "4sides,nan,0,100,10,10\n"
                             "mfb,nan,9.766990291262136,50,53,203\n"
                             "mfb+enum,0.6,0,0,6,12\n",
                             print("solvers", SS_FORMAT_CSV));
}

static void the_papers_columns_stand_beside_ours_or_after_them_in_csv(void)
{
    compare(results_file("paper.h5"), NAN);
    const char *text = print_with_paper(SS_FORMAT_TEXT);
    HOLDS(text, "%alt [1]  [D11]  %fail [2]  [D11]");
    HOLDS(text, "mfb+enum           0.6   0.07          0   1e-6");
    HOLDS(text, "306 problems");
    text = print_with_paper(SS_FORMAT_CSV);
    HOLDS(text, ",mean_ms,paper_alt_percent,paper_fail_percent,paper_over_tol_percent,"
                "paper_mean_iterations,paper_mean_ms\n");
    HOLDS(text, "mfb+enum,0.6,0,0,6,12,0.07,");
}

static void footnotes_say_how_it_was_measured(void)
{
    compare(results_file("notes.h5"), NAN);
    const char *text = print("solvers", SS_FORMAT_MARKDOWN);
    HOLDS(text, "max(fb, normal/2) \\<= 1e-4");
    CHECK(strstr(text, "footnote 4") == NULL); // of the paper, which is not shown
    HOLDS(text, "Problems: 2 of the scene hair, of 100 to 200 contacts, from hair.h5.");
    HOLDS(text, "Limits of a run: 100 iterations, 60 CPU seconds.");
    HOLDS(text, "freeze=paper");
    HOLDS(text, "they stopped: 4sides on 50 % of the problems.");
    HOLDS(text, "no part in means: 4sides 1 crashed.");
    HOLDS(print_with_paper(SS_FORMAT_MARKDOWN), "(its footnote 4)");
}

// A second run like that of mfb+enum, except for its normal parts.
static void a_run_whose_normal_parts_fail_is_not_solved(void)
{
    ss_record_row rows[2] = {result_row("mfb+enum:freeze=paper", 1),
                             result_row("mfb+enum:freeze=paper", 1)};
    strcpy(rows[1].solver, "enum");
    rows[1].measures.normal = 2.1e-4; // a bit more than twice the tolerance
    for (int k = 0; k < rows[1].history.count; k++) {
        rows[1].history.normal[k] = 0.1;
    }
    const ss_trials *t = compare(results_file_of("normal.h5", rows, 2), NAN);
    CHECK(t->solvers[0].trials[0].solved != t->solvers[1].trials[0].solved);
    tear_down();
    t = compare(scratch_path("normal.h5"), 1e-2);
    for (size_t k = 0; k < 2; k++) {
        const bool pushes = strcmp(t->solvers[k].label, "enum") == 0;
        CHECK_NEAR(t->solvers[k].trials[0].iterations, pushes ? rows[1].iterations : 2, 0);
    }
}

static void a_looser_tolerance_is_read_from_the_histories(void)
{
    const ss_trials *t = compare(results_file("loose.h5"), 1e-2);
    CHECK(t->from_histories);
    TEST_ASSERT_EQUAL_INT(3, t->nsolvers);
    const ss_solver_trials *mfb = &t->solvers[1], *hybrid = &t->solvers[2];
    TEST_ASSERT_EQUAL_STRING("mfb", mfb->label);
    CHECK(mfb->trials[0].solved && mfb->trials[1].solved);
    CHECK_NEAR(mfb->trials[0].iterations, 4, 0);
    CHECK_NEAR(mfb->trials[0].sweep_seconds, 0.004, 1e-12);
    CHECK_NEAR(mfb->trials[1].iterations, 100, 0);
    CHECK_NEAR(hybrid->trials[0].iterations, 2, 0);
    CHECK_NEAR(hybrid->trials[1].iterations, 4, 0);
    CHECK_NEAR(hybrid->trials[1].sweep_seconds, 0.008, 1e-12);
    HOLDS(print("solvers", SS_FORMAT_TEXT), "read from their histories");
}

static void seconds_of_a_history_are_scaled_to_the_best_run(void)
{
    ss_record_row row = result_row("mfb:freeze=paper", 1);
    row.sweep_seconds /= 2.0;
    CHECK_NEAR(ss_history_sweep_seconds(&row, 6), 0.003, 1e-12);
    CHECK_NEAR(ss_history_sweep_seconds(&row, 2), 0.001, 1e-12);
    CHECK_NEAR(ss_history_sweep_seconds(&row, 0), 0.0, 0);
    ss_record_row_free(&row);
}

static void a_tighter_tolerance_than_any_run_is_refused(void)
{
    ss_error error;
    CHECK_OK(ss_record_rows_read(results_file("tight.h5"), &record, &error));
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, ss_trials_new(&record, 1e-6, &trials, &error));
    TEST_ASSERT_EQUAL_STRING("the record holds no run to a tolerance of 1e-06 or tighter; make one "
                             "with bench --tol 1e-06",
                             error.text);
    CHECK(trials == NULL);
}

static void several_tolerances_ask_for_a_choice(void)
{
    ss_record_row rows[2] = {result_row("mfb:freeze=paper", 1), result_row("mfb:freeze=paper", 1)};
    rows[1].tolerance = 1e-6;
    rows[1].iterations = 60;
    const char *path = results_file_of("several.h5", rows, 2);
    ss_error error;
    CHECK_OK(ss_record_rows_read(path, &record, &error));
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, ss_trials_new(&record, NAN, &trials, &error));
    HOLDS(error.text, "choose one with --tol");
    CHECK_OK(ss_trials_new(&record, 1e-4, &trials, &error));
    CHECK_NEAR(trials->solvers[0].trials[0].iterations, 6, 0);
    ss_trials_free(trials);
    CHECK_OK(ss_trials_new(&record, 1e-6, &trials, &error));
    CHECK_NEAR(trials->solvers[0].trials[0].iterations, 60, 0);
    CHECK(!trials->solvers[0].trials[0].solved); // fb is 5e-5
}

static void nan_is_never_within_a_tolerance(void)
{
    ss_record_row row = result_row("mfb:freeze=paper", 1);
    row.measures.fb = NAN;
    compare(results_file_of("nan.h5", &row, 1), NAN);
    CHECK(!trials->solvers[0].trials[0].solved);
    HOLDS(print("solvers", SS_FORMAT_CSV), "mfb,nan,2,100,");
}

static void solvers_of_one_name_differ_by_their_options_or_starts(void)
{
    ss_record_row rows[3];
    for (int k = 0; k < 3; k++) {
        rows[k] = result_row("mfb:freeze=paper", 1);
    }
    strcpy(rows[1].solver, "gs/mfb");
    strcpy(rows[2].start, "guess");
    compare(results_file_of("names.h5", rows, 3), NAN);
    TEST_ASSERT_EQUAL_INT(3, trials->nsolvers);
    TEST_ASSERT_EQUAL_STRING("mfb:freeze=paper from zero", trials->solvers[0].label);
    TEST_ASSERT_EQUAL_STRING("mfb", trials->solvers[1].label);
    TEST_ASSERT_EQUAL_STRING("mfb:freeze=paper from guess", trials->solvers[2].label);
    HOLDS(print("solvers", SS_FORMAT_TEXT), "in some solvers only");
}

static void solvers_that_the_paper_lacks_stand_together_by_name(void)
{
    static const char *const SPECS[] = {"auto", "secular", "secular", "auto", "mfb"};
    static const char *const LABELS[] = {"mfb", "auto from zero", "auto from guess",
                                         "secular from zero", "secular from guess"};
    ss_record_row rows[5];
    for (int k = 0; k < 5; k++) {
        rows[k] = result_row("mfb:freeze=paper", 1);
        strcpy(rows[k].solver, SPECS[k]);
        strcpy(rows[k].start, k == 2 || k == 3 ? "guess" : "zero");
    }
    compare(results_file_of("together.h5", rows, 5), NAN);
    for (int k = 0; k < 5; k++) {
        TEST_ASSERT_EQUAL_STRING(LABELS[k], trials->solvers[k].label);
    }
}

static void options_that_names_leave_out_are_listed(void)
{
    ss_record_row rows[2] = {result_row("mfb:freeze=paper", 1),
                             result_row("mfb+enum:freeze=paper", 1)};
    strcpy(rows[0].solver, "mfb:freeze=on");
    compare(results_file_of("options.h5", rows, 2), NAN);
    HOLDS(print("solvers", SS_FORMAT_TEXT),
          "With their options: mfb:freeze=on, mfb+enum:freeze=paper.");
}

static void options_of_all_are_said_once(void)
{
    ss_record_row row = result_row("mfb:freeze=paper", 1);
    strcpy(row.solver, "mfb:ltol=0");
    compare(results_file_of("common.h5", &row, 1), NAN);
    HOLDS(print("solvers", SS_FORMAT_TEXT), "Options of all solvers: ltol=0.");
}

static void iterations_are_sweeps_only_where_all_solvers_sweep(void)
{
    ss_record_row rows[2] = {result_row("mfb:freeze=paper", 1), result_row("mfb:freeze=paper", 1)};
    strcpy(rows[1].solver, "apgd");
    compare(results_file_of("global.h5", rows, 2), NAN);
    const char *text = print("solvers", SS_FORMAT_TEXT);
    HOLDS(text, "iterations, each solver's own");
    CHECK(strstr(text, "Gauss-Seidel") == NULL && strncmp(text, "Solver", 6) == 0);
}

// Its set-up and its sweeps are not known apart.
static void a_killed_run_counts_with_the_seconds_of_its_history(void)
{
    ss_record_row row = result_row("mfb:freeze=paper", 2);
    strcpy(row.status, "time_limit");
    row.setup_seconds = row.sweep_seconds = NAN;
    compare(results_file_of("killed.h5", &row, 1), 2e-2);
    const ss_trial *trial = &trials->solvers[0].trials[0];
    CHECK(trial->solved);
    CHECK_NEAR(trial->seconds, 0.204, 1e-12);
    CHECK_NEAR(trial->sweep_seconds, 0.2, 1e-12);
    CHECK(strstr(print("solvers", SS_FORMAT_TEXT), "without numbers") == NULL);
}

static void what_could_not_be_read_is_no_crash_and_has_no_size(void)
{
    ss_record_row rows[2] = {result_row("mfb:freeze=paper", 1),
                             result_row("4sides:freeze=paper", 2)};
    strcpy(rows[1].solver, "mfb:freeze=paper");
    strcpy(rows[1].status, "bad_input");
    rows[1].contacts = 0;
    rows[1].scene[0] = '\0';
    compare(results_file_of("unread.h5", rows, 2), NAN);
    const char *text = print("solvers", SS_FORMAT_MARKDOWN);
    HOLDS(text, "Problems: 2 (1 of them could not be read), of 100 contacts, from hair.h5.");
    HOLDS(text, "means: mfb 1 bad\\_input.");
}

static void runs_of_several_builds_are_told(void)
{
    ss_record_row rows[2] = {result_row("mfb:freeze=paper", 1), result_row("mfb:freeze=paper", 2)};
    strcpy(rows[1].build, "another");
    compare(results_file_of("builds.h5", rows, 2), NAN);
    HOLDS(print("solvers", SS_FORMAT_TEXT), "Runs were made by several builds of the program.");
}

// hosts [problem][solver]
static const char *print_of_hosts(const char *const hosts[2][2])
{
    ss_record_row rows[4];
    for (int k = 0; k < 4; k++) {
        rows[k] = result_row(k % 2 == 0 ? "mfb:freeze=paper" : "4sides:freeze=paper", 1 + k / 2);
        strcpy(rows[k].host, hosts[k / 2][k % 2]);
    }
    compare(results_file_of("hosts.db", rows, 4), NAN);
    return print("solvers", SS_FORMAT_TEXT);
}

static void several_machines_are_told_and_whether_one_ran_all_of_a_problem(void)
{
    CHECK(strstr(print_of_hosts((const char *const[2][2]){{"n1", "n1"}, {"n1", "n1"}}),
                 "Runs were made") == NULL);
    tear_down();
    HOLDS(print_of_hosts((const char *const[2][2]){{"n1", "n1"}, {"n2", "n2"}}),
          "Runs were made on several machines, each problem on one machine.");
    tear_down();
    HOLDS(print_of_hosts((const char *const[2][2]){{"n1", "n2"}, {"n1", "n1"}}),
          "Runs were made on several machines.");
}

static void profiles_count_those_within_a_factor_of_the_fastest(void)
{
    const ss_trials *t = compare(results_file("profile.h5"), NAN);
    CHECK_NEAR(ss_profile_ratio(t, &t->solvers[2], 0), 1.25, 1e-12);
    CHECK(isinf(ss_profile_ratio(t, &t->solvers[1], 1)));
    const char *text = print("profile", SS_FORMAT_CSV);
    HOLDS(text, "solver,within_1.2_percent,within_2_percent,within_5_percent,within_10_percent,"
                "within_100_percent\n");
    HOLDS(text, "4sides,0,0,0,0,0\nmfb,50,50,50,50,50\nmfb+enum,50,100,100,100,100\n");
}

static void ratios_are_those_of_what_both_solved(void)
{
    compare(results_file("ratio.h5"), NAN);
    const char *text = print("ratio", SS_FORMAT_CSV);
    HOLDS(text,
          "solver,solved_percent,both,ratio,least_ratio,most_ratio,alone,lost,ceiling_ratio\n");
    HOLDS(text, "4sides,0,0,nan,nan,nan,0,2,nan\n");
    HOLDS(text, "mfb,50,1,"); // 10 ms over 8
    CHECK_NEAR(csv_number(text, 2, "ratio"), 1.25, 1e-12);
    CHECK_NEAR(csv_number(text, 2, "most_ratio"), 1.25, 1e-12);
    CHECK(csv_number(text, 2, "lost") == 1.0);
    CHECK_NEAR(csv_number(text, 2, "ceiling_ratio"), 5.0, 1e-12); // 10 ms over a set-up of 2
    HOLDS(text, "mfb+enum,100,2,1,1,1,0,0,");
    text = print_asked("ratio", (ss_table_request){.against = "mfb+enum"}, SS_FORMAT_TEXT);
    HOLDS(text, "together would have the ratio 1.12."); // sqrt(10 / 8)
    text = print_asked("ratio", (ss_table_request){.against = "mfb"}, SS_FORMAT_CSV);
    CHECK_NEAR(csv_number(text, 3, "ratio"), 0.8, 1e-12);
    CHECK(csv_number(text, 3, "alone") == 1.0);
    const ss_results results = {.record = record, .trials = trials};
    const ss_table_request request = {.results = &results, .against = "nobody"};
    ss_error error;
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, find_kind("ratio")->make(&request, NULL, &error));
    HOLDS(error.text, "no runs of 'nobody'");
}

static void problems_name_their_best_solvers(void)
{
    compare(results_file("problems.h5"), NAN);
    TEST_ASSERT_EQUAL_STRING(
        "problem,contacts,solvers,solved,fastest,fastest_ms,fewest,fewest_iterations\n"
        "data/hair.h5:p1,100,3,2,mfb,8,mfb+enum,4\n"
        "data/hair.h5:p2,200,3,1,mfb+enum,20,mfb+enum,8\n",
        print("problems", SS_FORMAT_CSV));
}

static void local_solves_have_a_price(void)
{
    compare(results_file("local.h5"), NAN);
    const char *text = print("local", SS_FORMAT_CSV);
    HOLDS(text, "solver,local_solves,alt_percent,fail_percent,ns_per_solve\n4sides,1000,nan,0,");
    HOLDS(text, "mfb+enum,2000,0.6,0,12000");
}

// Problem 1: met by its own rule, not by the judge. Problem 2: at the limit, and good enough.
static void a_rule_of_its_own_has_a_column_beside_the_judges(void)
{
    ss_record_row rows[2] = {result_row("mfb+enum:freeze=paper", 1),
                             result_row("mfb+enum:freeze=paper", 2)};
    for (int k = 0; k < 2; k++) {
        strcpy(rows[k].solver, "mfb+enum:as=printed");
        strcpy(rows[k].outcome, k == 0 ? "converged" : "max_iter");
        rows[k].measures.fb = k == 0 ? 0.01 : 5e-5;
    }
    compare(results_file_of("own.h5", rows, 2), NAN);
    const char *text = print_with_paper(SS_FORMAT_CSV);
    HOLDS(text, "solver,alt_percent,fail_percent,over_tol_percent,mean_iterations,mean_ms,"
                "own_over_tol_percent,paper_alt_percent,");
    HOLDS(text, "\nmfb+enum,0.6,0,50,6,");
    text = print_with_paper(SS_FORMAT_TEXT);
    HOLDS(text, "%>own");
    HOLDS(text, "as=printed is gs:rho=");
    HOLDS(text, "(125: 1 g over rho)");
    HOLDS(text, "Contacts are frozen as in [D11], below an absolute epsilon");
    TEST_ASSERT_NULL(strstr(text, "By their own rule"));
}

static void rows_are_the_record_as_it_is(void)
{
    compare(results_file("rows.h5"), NAN);
    const char *text = print("rows", SS_FORMAT_CSV);
    HOLDS(text, "problem,contacts,solver,tol,status,iterations,local_solves,alt_percent,"
                "fail_percent,seconds,cpu_seconds,setup_seconds,sweep_seconds,fb,fb_contact,fb_abs,"
                "natural,normal,detail,problem_sha256,start,build,scene,dim,");
    int lines = 0;
    for (const char *c = text; *c != '\0'; c++) {
        lines += *c == '\n';
    }
    TEST_ASSERT_EQUAL_INT(1 + (int)record.count, lines);
    TEST_ASSERT_EQUAL_STRING("data/hair.h5:p1", csv_field(text, 1, "problem"));
    CHECK(csv_number(text, 1, "tol") == 1e-4 && csv_number(text, 1, "dim") == 3.0);
}

static void medians_take_infinities(void)
{
    double odd[] = {3, 1, INFINITY}, even[] = {4, 1, 2, 3}, lost[] = {INFINITY, INFINITY};
    CHECK_NEAR(ss_median(odd, 3), 3, 0);
    CHECK_NEAR(ss_median(even, 4), 2.5, 0);
    CHECK(isinf(ss_median(lost, 2)));
    CHECK(isnan(ss_median(odd, 0)));
}

static void run_tests(void)
{
    RUN_TEST(the_papers_table_has_eleven_rows_and_its_hybrid_is_the_fastest);
    RUN_TEST(percentages_are_totals_over_totals);
    RUN_TEST(the_papers_columns_stand_beside_ours_or_after_them_in_csv);
    RUN_TEST(footnotes_say_how_it_was_measured);
    RUN_TEST(a_run_whose_normal_parts_fail_is_not_solved);
    RUN_TEST(a_looser_tolerance_is_read_from_the_histories);
    RUN_TEST(seconds_of_a_history_are_scaled_to_the_best_run);
    RUN_TEST(a_tighter_tolerance_than_any_run_is_refused);
    RUN_TEST(several_tolerances_ask_for_a_choice);
    RUN_TEST(nan_is_never_within_a_tolerance);
    RUN_TEST(solvers_of_one_name_differ_by_their_options_or_starts);
    RUN_TEST(solvers_that_the_paper_lacks_stand_together_by_name);
    RUN_TEST(options_that_names_leave_out_are_listed);
    RUN_TEST(options_of_all_are_said_once);
    RUN_TEST(iterations_are_sweeps_only_where_all_solvers_sweep);
    RUN_TEST(a_killed_run_counts_with_the_seconds_of_its_history);
    RUN_TEST(what_could_not_be_read_is_no_crash_and_has_no_size);
    RUN_TEST(runs_of_several_builds_are_told);
    RUN_TEST(several_machines_are_told_and_whether_one_ran_all_of_a_problem);
    RUN_TEST(profiles_count_those_within_a_factor_of_the_fastest);
    RUN_TEST(ratios_are_those_of_what_both_solved);
    RUN_TEST(problems_name_their_best_solvers);
    RUN_TEST(local_solves_have_a_price);
    RUN_TEST(a_rule_of_its_own_has_a_column_beside_the_judges);
    RUN_TEST(rows_are_the_record_as_it_is);
    RUN_TEST(medians_take_infinities);
}

const test_group result_tables_tests = {.run = run_tests, .tear_down = tear_down};
