// `stickslip solve` from outside: its row, its exit codes, its files, and Ctrl-C.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "problems/store/store.h"
#include "tests/support/make_problem.h"
#include "tests/support/program.h"
#include "tests/support/support.h"

#define HEADER                                                                                     \
    "problem,contacts,solver,tol,status,iterations,local_solves,alt_percent,fail_percent,seconds," \
    "cpu_seconds,setup_seconds,sweep_seconds,fb,fb_contact,fb_abs,natural,normal,detail"

static char one[512];  // a tangle with a guess
static char many[512]; // a collection of three
static char big[512];  // one that takes minutes to solve

static void set_up(void)
{
    if (one[0] != '\0') {
        return;
    }
    snprintf(one, sizeof one, "%s", scratch_path("one.h5"));
    snprintf(many, sizeof many, "%s", scratch_path("many.h5"));
    snprintf(big, sizeof big, "%s", scratch_path("big.h5"));
    EXPECT(0, "generate", "tangle", "--contacts", "60", "--per-rod", "4", "--seed", "3", "--warm",
           "--out", one);
    EXPECT(0, "generate", "tangle", "--contacts", "20", "--per-rod", "4", "--count", "3", "--out",
           many);
    EXPECT(0, "generate", "tangle", "--contacts", "3000", "--seed", "1", "--out", big);
}

// ---- Reading tables

static void text_is(int row, const char *name, const char *expected)
{
    TEST_ASSERT_EQUAL_STRING(expected, csv_field(standard_out, row, name));
}

static ss_problem *load(const char *path, const char *name)
{
    ss_error error;
    ss_problem *p;
    CHECK_OK(ss_store_read(path, name, &p, &error));
    return p;
}

// ---- Rows

static void a_solved_problem_is_one_row(void)
{
    EXPECT(0, "solve", one, "--format", "csv");
    TEST_ASSERT_EQUAL_INT(2, count_lines(standard_out));
    TEST_ASSERT_EQUAL_INT(strlen(HEADER), strcspn(standard_out, "\n"));
    CHECK(strncmp(standard_out, HEADER "\n", strlen(HEADER) + 1) == 0);
    text_is(1, "problem", one);
    text_is(1, "solver", "mfb+enum");
    text_is(1, "status", "solved");
    text_is(1, "detail", "");
    const char *out = standard_out;
    CHECK(csv_number(out, 1, "contacts") == 60.0 && csv_number(out, 1, "tol") == 1e-6);
    const double iterations = csv_number(out, 1, "iterations");
    CHECK(iterations > 1.0);
    CHECK_LE(csv_number(out, 1, "local_solves"), 60.0 * iterations);
    CHECK_LE(csv_number(out, 1, "fb"), 1e-6);
    CHECK_LE(0.0, csv_number(out, 1, "alt_percent"));
    CHECK(csv_number(out, 1, "fail_percent") == 0.0);
    CHECK_NEAR(csv_number(out, 1, "seconds"),
               csv_number(out, 1, "setup_seconds") + csv_number(out, 1, "sweep_seconds"), 1e-9);
    TEST_ASSERT_EQUAL_STRING("", standard_error);
}

static void every_row_of_a_collection_is_solved(void)
{
    EXPECT(0, "solve", many, "--format", "csv", "--solver", "gs/secular");
    TEST_ASSERT_EQUAL_INT(4, count_lines(standard_out));
    for (int row = 1; row <= 3; row++) {
        text_is(row, "status", "solved");
        HOLDS(csv_field(standard_out, row, "problem"), "many.h5:");
    }
    char name[512];
    snprintf(name, sizeof name, "%s", strrchr(csv_field(standard_out, 2, "problem"), ':') + 1);
    EXPECT(0, "solve", many, "--problem", name, "--format", "csv");
    TEST_ASSERT_EQUAL_INT(2, count_lines(standard_out));
    HOLDS(csv_field(standard_out, 1, "problem"), name);
    EXPECT(3, "solve", many, "--problem", "nobody");
    HOLDS(standard_error, "contains no problem named 'nobody'");
    TEST_ASSERT_EQUAL_STRING("", standard_out);
}

static void json_is_json(void)
{
    EXPECT(0, "solve", many, "--format", "json");
    CHECK(is_json(standard_out));
    HOLDS(standard_out, "\"status\": \"solved\"");
    HOLDS(standard_out, "\"fb\": ");
}

static void text_is_a_table(void)
{
    EXPECT(0, "solve", one);
    TEST_ASSERT_EQUAL_INT(2, count_lines(standard_out));
    HOLDS(standard_out, "solved");
}

static void a_table_of_several_ends_with_how_many_are_solved(void)
{
    const char *answers = scratch_path("some.h5");
    EXPECT(2, "solve", many, "--max-iter", "0", "--out", answers);
    HOLDS(standard_out, "\n\n0 of 3 solved.\n");
    EXPECT(0, "solve", many, "--out", answers);
    HOLDS(standard_out, "\n\n3 of 3 solved.\n");
    EXPECT(0, "verify", answers);
    HOLDS(standard_out, "\n\n3 of 3 solved.\n");
}

static void columns_are_chosen_and_a_wrong_one_is_told_before_the_solve(void)
{
    EXPECT(0, "solve", many, "--columns", "fb,problem", "--format", "csv");
    TEST_ASSERT_EQUAL_STRING_LEN("fb,problem\n", standard_out, 11);
    TEST_ASSERT_EQUAL_INT(4, count_lines(standard_out));
    const char *out = scratch_path("never.h5");
    EXPECT(1, "solve", many, "--columns", "fb,nothing", "--out", out);
    HOLDS(standard_error, "solve: --columns: there is no column 'nothing'; they are problem, ");
    HOLDS(standard_error, ", normal, detail\n");
    CHECK(access(out, F_OK) != 0);
    EXPECT(0, "solve", one, "--columns", "all");
}

// ---- Exit codes

static void an_unsolved_problem_is_exit_2_and_says_why(void)
{
    EXPECT(2, "solve", one, "--max-iter", "1", "--format", "csv");
    text_is(1, "status", "max_iter");
    CHECK(csv_number(standard_out, 1, "iterations") == 1.0);
    CHECK(csv_number(standard_out, 1, "fb") > 1e-6);
    EXPECT(2, "solve", one, "--max-iter", "0", "--format", "csv");
    text_is(1, "status", "max_iter");
    EXPECT(2, "solve", one, "--tol", "1e-17", "--format", "csv");
    text_is(1, "status", "stalled");
    EXPECT(2, "solve", one, "--solver", "4sides", "--format", "csv");
    text_is(1, "status", "stopped");
    EXPECT(2, "solve", big, "--time-limit", "0.05", "--tol", "1e-14", "--format", "csv");
    text_is(1, "status", "time_limit");
    EXPECT(2, "solve", many, "--max-iter", "1", "--format", "csv");
    TEST_ASSERT_EQUAL_INT(4, count_lines(standard_out));
}

static void solve_one_contact(const double W[4], const double b[2])
{
    ss_error error;
    const char *path = scratch_path("contact.h5");
    ss_problem *p = one_contact(2, W, b, 0.5);
    CHECK_OK(ss_store_write(path, p, &error));
    ss_problem_free(p);
    EXPECT(2, "solve", path, "--max-iter", "50", "--format", "csv");
}

static void no_solution_takes_a_proof(void)
{
    // Nothing moves the normal, and it closes.
    const double fixed[] = {0, 0, 0, 1}, closing[] = {-1, 0};
    solve_one_contact(fixed, closing);
    text_is(1, "status", "no_solution");
    HOLDS(standard_out, "no velocity opens all contacts: contact 0");
    // u_N = r_T / 10 - 1 needs r_T = 10, where u_T = 10 has the wrong sign: no solution. But
    // u_N >= 0 alone can be had, and so nothing proves it.
    const double pushed[] = {0, 0.1, 0, 1};
    solve_one_contact(pushed, closing);
    text_is(1, "status", "undecided");
}

// r = 2^34 (1, 0, 0, 1, 0, 0) has u = 0. Most solvers end far from it; none may say that there is
// no answer.
static void a_solution_with_large_impulses_is_not_denied(void)
{
    static const char *const specs[] = {"mfb+enum", "secular", "newton-mfb", "ipm", NULL};
    ss_error error;
    char path[512];
    snprintf(path, sizeof path, "%s", scratch_path("squeeze.h5"));
    ss_problem *p = squeeze(3, 0x1p-34, -1.0, -1.0);
    CHECK_OK(ss_store_write(path, p, &error));
    ss_problem_free(p);
    for (int s = 0; specs[s] != NULL; s++) {
        for (int t = 0; t < 3; t++) {
            const char *const tolerances[] = {"1e-4", "1e-6", "1e-12"};
            EXPECT(2, "solve", path, "--solver", specs[s], "--tol", tolerances[t], "--max-iter",
                   "200", "--format", "csv");
            text_is(1, "status", "undecided");
            HOLDS(standard_out, "any solution has impulses of 1.7e+10 V/s or more");
        }
    }
    EXPECT(0, "solve", path, "--solver", "auto", "--tol", "1e-4", "--format", "csv");
}

static void a_wrong_command_line_is_exit_1_with_a_sentence(void)
{
    EXPECT(1, "solve", one, "--solver", "nobody");
    HOLDS(standard_error, "--solver nobody: unknown solver 'nobody'; there are 4sides, duriez06");
    EXPECT(1, "solve", one, "--solver", "mfb+enum:frezee=on");
    HOLDS(standard_error, "has no option 'frezee'; it has form, order, ");
    EXPECT(1, "solve", one, "--solver", "mfb:freeze=maybe");
    HOLDS(standard_error, "freeze takes one of off, on, paper, absolute, not 'maybe'");
    EXPECT(1, "solve", one, "--tol", "-1");
    EXPECT(1, "solve", one, "--threads", "-1");
    EXPECT(1, "solve", one, "--start", "somewhere");
    EXPECT(1, "solve", one, "--max-iter", "many");
    EXPECT(1, "solve");
    HOLDS(standard_error, "needs a FILE");
    EXPECT(1, "solve", one, many);
    TEST_ASSERT_EQUAL_STRING("", standard_out);
}

static void a_bad_file_is_exit_3(void)
{
    EXPECT(3, "solve", scratch_path("nowhere.h5"), "--format", "csv");
    text_is(1, "status", "bad_input");
    HOLDS(standard_error, "no such file");
    const char *path = scratch_path("text.h5");
    FILE *file = fopen(path, "w");
    fputs("not HDF5", file);
    fclose(file);
    EXPECT(3, "solve", path, "--format", "csv");
    text_is(1, "status", "bad_input");
    CHECK(csv_field(standard_out, 1, "detail")[0] != '\0');
}

static void form_matrix_free_of_a_local_problem_is_refused(void)
{
    const char *local = scratch_path("local.h5");
    EXPECT(0, "convert", one, local, "--form", "local");
    EXPECT(3, "solve", local, "--solver", "secular:form=matrix-free", "--format", "csv");
    HOLDS(standard_error, "matrix-free needs a problem in global form");
    TEST_ASSERT_EQUAL_INT(2, count_lines(standard_out));
    text_is(1, "status", "bad_input");
    HOLDS(csv_field(standard_out, 1, "detail"), "form=matrix-free needs a problem in global form");
    EXPECT(0, "solve", local, "--solver", "secular");
}

static void files_that_cannot_be_written_are_exit_4(void)
{
    EXPECT(4, "solve", one, "--out", "/nonexistent/answer.h5");
    HOLDS(standard_error, "/nonexistent/answer.h5");
    EXPECT(4, "solve", one, "--trace", "/nonexistent/trace.csv");
    HOLDS(standard_error, "/nonexistent/trace.csv");
    TEST_ASSERT_EQUAL_INT(4, run_program("/dev/full", (const char *const[]){"solve", one, NULL}));
}

// ---- Files

static void a_trace_overwrites_neither_the_problems_nor_the_answers(void)
{
    const char *answer = scratch_path("answer.h5");
    EXPECT(1, "solve", one, "--trace", one);
    HOLDS(standard_error, "would overwrite the problems");
    EXPECT(0, "check", one);
    EXPECT(1, "solve", one, "--trace", answer, "--out", answer);
    HOLDS(standard_error, "would overwrite the file of --out");
}

static void a_folder_that_is_missing_is_told_before_the_solve(void)
{
    EXPECT(4, "solve", one, "--out", scratch_path("missing/answer.h5"), "--format", "csv");
    HOLDS(standard_error, "cannot write");
    TEST_ASSERT_EQUAL_STRING("", standard_out);
    char within[600];
    snprintf(within, sizeof within, "%s/answer.h5", one);
    EXPECT(4, "solve", one, "--out", within);
    HOLDS(standard_error, "answer.h5: Not a directory");
}

static void the_answer_is_a_file_that_verify_accepts(void)
{
    const char *answer = scratch_path("answer.h5");
    EXPECT(0, "solve", one, "--solver", "gs/secular:freeze=on", "--tol", "1e-9", "--out", answer);
    EXPECT(0, "verify", answer, "--tol", "1e-9");
    EXPECT(0, "check", answer);
    ss_problem *p = load(answer, NULL), *given = load(one, NULL);
    CHECK(p->has_solution && p->solution.r != NULL && p->solution.u != NULL);
    CHECK(p->solution.v != NULL && p->nguesses == given->nguesses);
    TEST_ASSERT_EQUAL_STRING("gs/secular:freeze=on", p->claim.solver);
    CHECK(p->claim.tolerance == 1e-9);
    CHECK_LE(p->claim.measures.fb, 1e-9);
    CHECK(strlen(p->claim.date) == 20 && p->claim.date[19] == 'Z');
    CHECK(p->claim.host[0] != '\0');
    char hash[65], given_hash[65];
    ss_problem_sha256(p, hash);
    ss_problem_sha256(given, given_hash);
    TEST_ASSERT_EQUAL_STRING(given_hash, hash);
    ss_problem_free(p);
    ss_problem_free(given);
}

static void a_collection_stays_one(void)
{
    const char *answers = scratch_path("answers.h5");
    EXPECT(0, "solve", many, "--out", answers);
    EXPECT(0, "verify", answers, "--format", "csv");
    TEST_ASSERT_EQUAL_INT(4, count_lines(standard_out));
}

static void an_unsolved_answer_is_kept_and_not_accepted(void)
{
    const char *answer = scratch_path("unsolved.h5");
    EXPECT(2, "solve", one, "--max-iter", "2", "--out", answer);
    EXPECT(2, "verify", answer);
    ss_problem *p = load(answer, NULL);
    CHECK(p->has_solution && p->claim.measures.fb > 1e-6);
    ss_problem_free(p);
}

static void the_trace_has_a_row_a_sweep_and_the_start(void)
{
    char trace[512];
    snprintf(trace, sizeof trace, "%s", scratch_path("trace.csv"));
    EXPECT(0, "solve", one, "--solver", "mfb+enum:visit=all", "--trace", trace, "--format", "csv");
    const char *rows = file_text(trace);
    const int sweeps = (int)csv_number(standard_out, 1, "iterations");
    TEST_ASSERT_EQUAL_INT(sweeps + 2, count_lines(rows));
    double seconds = 0.0;
    for (int row = 1; row <= sweeps + 1; row++) {
        CHECK(csv_number(rows, row, "iteration") == row - 1.0);
        CHECK(csv_number(rows, row, "local_solves") == 60.0 * (row - 1));
        CHECK_LE(seconds, csv_number(rows, row, "seconds"));
        seconds = csv_number(rows, row, "seconds");
        CHECK(row == 1 || isfinite(csv_number(rows, row, "estimate")));
        CHECK(isfinite(csv_number(rows, row, "slip_angle")));
    }
    CHECK_NEAR(csv_number(rows, sweeps + 1, "fb"), csv_number(standard_out, 1, "fb"), 0.0);
    CHECK_NEAR(csv_number(rows, sweeps + 1, "normal"), csv_number(standard_out, 1, "normal"), 0.0);
}

// auto adds up the iterations of its members, and a trace has a row for each.
static void a_trace_changes_no_count_of_iterations(void)
{
    char trace[512], dense[512];
    snprintf(trace, sizeof trace, "%s", scratch_path("auto.csv"));
    snprintf(dense, sizeof dense, "%s", scratch_path("dense.h5"));
    EXPECT(0, "generate", "tangle", "--contacts", "300", "--per-rod", "20", "--mu", "0.3", "--seed",
           "3", "--out", dense);
    EXPECT(0, "solve", dense, "--solver", "auto", "--tol", "1e-8", "--format", "csv");
    const double alone = csv_number(standard_out, 1, "iterations");
    EXPECT(0, "solve", dense, "--solver", "auto", "--tol", "1e-8", "--format", "csv", "--trace",
           trace);
    CHECK(csv_number(standard_out, 1, "iterations") == alone);
    CHECK(alone > 50.0); // sweeps, then proximal steps
}

static void a_trace_of_a_collection_names_the_problems(void)
{
    char trace[512];
    snprintf(trace, sizeof trace, "%s", scratch_path("traces.csv"));
    EXPECT(2, "solve", many, "--trace", trace, "--max-iter", "2");
    const char *rows = file_text(trace);
    TEST_ASSERT_EQUAL_INT(1 + 3 * 3, count_lines(rows));
    for (int row = 1; row <= 9; row++) {
        CHECK(csv_number(rows, row, "iteration") == (row - 1) % 3);
    }
    CHECK(strcmp(csv_field(rows, 1, "problem"), "many.h5") != 0);
}

static void a_guess_is_a_better_start_than_zero(void)
{
    EXPECT(0, "solve", one, "--tol", "1e-4", "--format", "csv");
    const double cold = csv_number(standard_out, 1, "iterations");
    EXPECT(0, "solve", one, "--tol", "1e-4", "--format", "csv", "--start", "guess");
    CHECK(csv_number(standard_out, 1, "iterations") < cold);
    EXPECT(0, "solve", many, "--start", "guess");
    HOLDS(standard_error, "contains no guess; the start is zero");
}

static void the_number_of_threads_does_not_change_the_answer(void)
{
    const char *paths[2] = {scratch_path("threads-1.h5"), scratch_path("threads-2.h5")};
    EXPECT(2, "solve", big, "--max-iter", "20", "--threads", "1", "--out", paths[0]);
    EXPECT(2, "solve", big, "--max-iter", "20", "--threads", "2", "--out", paths[1]);
    ss_problem *a = load(paths[0], NULL), *b = load(paths[1], NULL);
    CHECK(memcmp(a->solution.r, b->solution.r, 9000 * sizeof(double)) == 0);
    ss_problem_free(a);
    ss_problem_free(b);
}

// ---- Ctrl-C

static void an_interrupt_keeps_the_best_iterate(void)
{
    char out[512], err[512], trace[512], answer[512];
    snprintf(out, sizeof out, "%s", scratch_path("interrupted.csv"));
    snprintf(err, sizeof err, "%s", scratch_path("interrupted.err"));
    snprintf(trace, sizeof trace, "%s", scratch_path("interrupted-trace.csv"));
    snprintf(answer, sizeof answer, "%s", scratch_path("interrupted.h5"));
    const char *const words[] = {"stickslip", "solve",      big,          "--tol",
                                 "1e-15",     "--out",      answer,       "--trace",
                                 trace,       "--format",   "csv",        "--time-limit",
                                 "0",         "--max-iter", "1000000000", NULL};
    const pid_t child = start_program(out, err, words);
    wait_for_bytes(trace);
    kill(child, SIGINT);
    int status = 0;
    waitpid(child, &status, 0);
    TEST_ASSERT_TRUE(WIFEXITED(status));
    TEST_ASSERT_EQUAL_INT(2, WEXITSTATUS(status));
    const char *row = file_text(out);
    TEST_ASSERT_EQUAL_STRING("interrupted", csv_field(row, 1, "status"));
    CHECK_LE(csv_number(row, 1, "fb"), 10.0);
    HOLDS(file_text(err), "interrupted; the best iterate of ");
    EXPECT(0, "check", answer);
    EXPECT(2, "verify", answer, "--tol", "1e-15");
}

static void a_limit_says_which_contact_is_worst_and_what_to_try(void)
{
    EXPECT(2, "solve", one, "--max-iter", "2", "--solver", "enum", "--tol", "1e-10", "--format",
           "csv");
    HOLDS(standard_out, "fb is worst at contact ");
    HOLDS(standard_out, "; the solver auto may solve it");
    EXPECT(2, "solve", one, "--max-iter", "2", "--solver", "auto", "--tol", "1e-10", "--format",
           "csv");
    HOLDS(standard_out, "fb is worst at contact ");
    CHECK(strstr(standard_out, "may solve it") == NULL);
}

static void run_tests(void)
{
    RUN_TEST(a_limit_says_which_contact_is_worst_and_what_to_try);
    RUN_TEST(a_solved_problem_is_one_row);
    RUN_TEST(every_row_of_a_collection_is_solved);
    RUN_TEST(json_is_json);
    RUN_TEST(text_is_a_table);
    RUN_TEST(a_table_of_several_ends_with_how_many_are_solved);
    RUN_TEST(columns_are_chosen_and_a_wrong_one_is_told_before_the_solve);
    RUN_TEST(an_unsolved_problem_is_exit_2_and_says_why);
    RUN_TEST(no_solution_takes_a_proof);
    RUN_TEST(a_solution_with_large_impulses_is_not_denied);
    RUN_TEST(a_wrong_command_line_is_exit_1_with_a_sentence);
    RUN_TEST(a_bad_file_is_exit_3);
    RUN_TEST(form_matrix_free_of_a_local_problem_is_refused);
    RUN_TEST(files_that_cannot_be_written_are_exit_4);
    RUN_TEST(a_trace_overwrites_neither_the_problems_nor_the_answers);
    RUN_TEST(a_folder_that_is_missing_is_told_before_the_solve);
    RUN_TEST(the_answer_is_a_file_that_verify_accepts);
    RUN_TEST(a_collection_stays_one);
    RUN_TEST(an_unsolved_answer_is_kept_and_not_accepted);
    RUN_TEST(the_trace_has_a_row_a_sweep_and_the_start);
    RUN_TEST(a_trace_changes_no_count_of_iterations);
    RUN_TEST(a_trace_of_a_collection_names_the_problems);
    RUN_TEST(a_guess_is_a_better_start_than_zero);
    RUN_TEST(the_number_of_threads_does_not_change_the_answer);
    RUN_TEST(an_interrupt_keeps_the_best_iterate);
}

const test_group cli_solve_tests = {.run = run_tests, .set_up = set_up};
