// Values that make a problem unfit, and those that are only worth a remark.
#include "problems/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/sample.h"
#include "tests/support/support.h"

static ss_problem *problem;
static ss_report report;
static ss_error error;

static void set_up(void)
{
    report = (ss_report){0};
    error = (ss_error){0};
}

static void tear_down(void)
{
    ss_problem_free(problem);
    problem = NULL;
    ss_report_free(&report);
}

static bool report_says(ss_severity severity, const char *text)
{
    for (int k = 0; k < report.count; k++) {
        if (report.findings[k].severity == severity &&
            strstr(report.findings[k].text, text) != NULL) {
            return true;
        }
    }
    return false;
}

static void expect_defect(const char *text)
{
    CHECK(ss_check_values(problem, &report, &error) == SS_BAD_INPUT);
    TEST_ASSERT_EQUAL_STRING(text, ss_report_first_defect(&report));
    TEST_ASSERT_EQUAL_STRING(text, error.text);
}

static void sound_problems_have_no_finding(void)
{
    problem = sample_problem(SS_GLOBAL, 3, 4);
    CHECK_OK(ss_check_values(problem, &report, &error));
    ss_problem_free(problem);
    problem = sample_problem(SS_GLOBAL, 2, 1);
    CHECK_OK(ss_check_values(problem, &report, &error));
    CHECK(report.count == 0);
}

static void huge_friction_is_a_remark(void)
{
    problem = sample_problem(SS_GLOBAL, 3, 4);
    problem->mu[1] = 999999.0;
    CHECK_OK(ss_check_values(problem, &report, &error));
    CHECK(report.count == 0);
    problem->mu[2] = 1e6;
    problem->mu[3] = 1e300;
    CHECK_OK(ss_check_values(problem, &report, &error));
    CHECK(report.count == 1);
    CHECK(report_says(SS_REMARK,
                      "/fclib_global/vectors/mu[2] is 1e+06 (2 such entries): with friction "
                      "of 1e+06 or more, no tolerance below the rounding of mu |u_T|"));
}

static void negative_friction_is_a_defect(void)
{
    problem = sample_problem(SS_LOCAL, 3, 4);
    problem->mu[2] = -0.1;
    expect_defect("/fclib_local/vectors/mu[2] is negative (-0.1)");
}

static void several_wrong_entries_are_one_sentence(void)
{
    problem = sample_problem(SS_GLOBAL, 3, 4);
    problem->mu[1] = problem->mu[3] = -2.0;
    expect_defect("/fclib_global/vectors/mu[1] is negative (-2) (2 such entries)");
    CHECK(report.ndefects == 1);
}

static void zero_friction_is_sound(void)
{
    problem = sample_problem(SS_GLOBAL, 3, 2);
    problem->mu[0] = 0.0;
    problem->mu[1] = -0.0;
    CHECK_OK(ss_check_values(problem, &report, &error));
}

static void nan_friction_is_a_defect(void)
{
    problem = sample_problem(SS_LOCAL, 2, 3);
    problem->mu[0] = NAN;
    expect_defect("/fclib_local/vectors/mu[0] is nan");
}

static void every_vector_must_be_finite(void)
{
    problem = sample_problem(SS_GLOBAL, 3, 3);
    problem->f[5] = INFINITY;
    problem->w[8] = NAN;
    expect_defect("/fclib_global/vectors/f[5] is inf");
    CHECK(report_says(SS_DEFECT, "/fclib_global/vectors/w[8] is nan"));
    CHECK(report.ndefects == 2);
}

static void guesses_and_answers_that_are_not_finite_are_left_out(void)
{
    problem = sample_problem(SS_GLOBAL, 3, 3);
    problem->guesses[0].u[0] = problem->guesses[0].u[1] = NAN;
    problem->solution.v[2] = -INFINITY;
    CHECK_OK(ss_check_values(problem, &report, &error));
    CHECK(report_says(SS_REMARK, "/guesses/1/u[0] is nan (2 such entries); the guess is left out"));
    CHECK(report_says(SS_REMARK, "/solution/v[2] is -inf; the answer is left out"));
    CHECK(report.count == 2);
    CHECK(problem->nguesses == 2 && problem->guesses[0].r == NULL && problem->guesses[1].r != NULL);
    CHECK(!problem->has_solution && problem->solution.r == NULL &&
          problem->claim.solver[0] == '\0');
}

static void every_matrix_must_be_finite(void)
{
    problem = sample_problem(SS_GLOBAL, 3, 3);
    problem->H.x[0] = NAN;
    problem->M.x[0] = NAN;
    CHECK(ss_check_values(problem, &report, &error) == SS_BAD_INPUT);
    CHECK(report_says(SS_DEFECT, "/fclib_global/H/x is nan at row 0, column 0"));
    CHECK(report_says(SS_DEFECT, "/fclib_global/M/x is nan at row 0, column 0"));
    ss_problem_free(problem);
    problem = sample_problem(SS_LOCAL, 2, 1);
    problem->W.x[3] = -INFINITY;
    CHECK(ss_check_values(problem, &report, &error) == SS_BAD_INPUT);
    CHECK(report_says(SS_DEFECT, "/fclib_local/W/x is -inf at row 1, column 1"));
}

static void unsymmetric_W_is_a_remark_with_its_size(void)
{
    // W = [4 0.02; 0 4]: off by 0.02 of 4, 0.5 %.
    problem = sample_problem(SS_LOCAL, 2, 1);
    memcpy(problem->W.x, (const double[]){4, 0, 0.02, 4}, 4 * sizeof(double));
    CHECK_OK(ss_check_values(problem, &report, &error));
    CHECK(report.count == 1);
    CHECK(report_says(SS_REMARK, "/fclib_local/W is unsymmetric by 0.5 % of its largest entry"));
}

static void a_large_share_is_told_in_plain_digits(void)
{
    // W = [1 1; -0.9 1]: off by 1.9 of 1.
    problem = sample_problem(SS_LOCAL, 2, 1);
    memcpy(problem->W.x, (const double[]){1, -0.9, 1, 1}, 4 * sizeof(double));
    CHECK_OK(ss_check_values(problem, &report, &error));
    CHECK(report_says(SS_REMARK, "/fclib_local/W is unsymmetric by 190 % of its largest entry"));
}

static void a_diagonal_that_no_mass_has_is_a_remark(void)
{
    problem = sample_problem(SS_LOCAL, 2, 1);
    memcpy(problem->W.x, (const double[]){4, 1, 1, -2}, 4 * sizeof(double));
    CHECK_OK(ss_check_values(problem, &report, &error));
    CHECK(report_says(SS_REMARK, "/fclib_local/W has a negative diagonal entry (-2 in column 1)"));
    memcpy(problem->W.x, (const double[]){0, 1, 1, 4}, 4 * sizeof(double));
    CHECK_OK(ss_check_values(problem, &report, &error));
    CHECK(report_says(SS_REMARK, "W has a zero on the diagonal in column 0, which has other"));
    ss_report_free(&report);
    report = (ss_report){0};
    memset(problem->W.x, 0, 4 * sizeof(double));
    CHECK_OK(ss_check_values(problem, &report, &error));
    CHECK(report.count == 0);
}

static void rounding_of_W_is_not_told(void)
{
    problem = sample_problem(SS_LOCAL, 2, 1);
    memcpy(problem->W.x, (const double[]){4, 1, 1 + 1e-15, 4}, 4 * sizeof(double));
    CHECK_OK(ss_check_values(problem, &report, &error));
    CHECK(report.count == 0);
}

static void singular_W_is_no_defect(void)
{
    problem = sample_problem(SS_LOCAL, 2, 1);
    memset(problem->W.x, 0, 4 * sizeof(double));
    CHECK_OK(ss_check_values(problem, &report, &error));
    CHECK(report.count == 0);
}

// M <- the 2 x 2 matrix (a, c; b, d) given by triplets, in a problem of one contact.
static void two_dofs(int count, const int *row, const int *col, const double *x)
{
    problem = sample_problem(SS_GLOBAL, 2, 1);
    ss_sparse_free(&problem->M);
    ss_sparse_free(&problem->H);
    problem->ndofs = 2;
    for (int k = 0; k < problem->nguesses; k++) {
        ss_state_free(&problem->guesses[k]);
    }
    ss_state_free(&problem->solution);
    CHECK_OK(ss_sparse_from_triplets(&problem->M, 2, 2, count, row, col, x, &error));
    CHECK_OK(ss_sparse_from_triplets(&problem->H, 2, 2, 2, (const int[]){0, 1}, (const int[]){0, 1},
                                     (const double[]){1, 1}, &error));
}

static const int ROW[4] = {0, 1, 0, 1}, COL[4] = {0, 0, 1, 1};

static void slightly_unsymmetric_M_is_made_symmetric(void)
{
    two_dofs(4, ROW, COL, (const double[]){2, 1, 1 + 1e-6, 2});
    CHECK_OK(ss_check_values(problem, &report, &error));
    CHECK(report.count == 1);
    CHECK(report_says(SS_REMARK, "/fclib_global/M is unsymmetric by 5e-07"));
    CHECK(problem->M.x[1] == problem->M.x[2]);
    CHECK_NEAR(problem->M.x[1], 1 + 5e-7, 1e-15);
    CHECK(problem->M.x[0] == 2.0 && problem->M.x[3] == 2.0);
}

static void one_sided_zeros_of_M_get_their_partner(void)
{
    two_dofs(3, ROW, (const int[]){0, 0, 1}, (const double[]){2, 0, 3});
    // Rows 0 1 0 and columns 0 0 1: M = (2 3; 0 0) is far from symmetric.
    CHECK(ss_check_values(problem, &report, &error) == SS_BAD_INPUT);
    ss_problem_free(problem);
    two_dofs(3, (const int[]){0, 1, 1}, (const int[]){0, 0, 1}, (const double[]){2, 0, 3});
    ss_report_free(&report);
    CHECK_OK(ss_check_values(problem, &report, &error));
    CHECK(report.count == 0);
    CHECK(ss_sparse_count(&problem->M) == 4);
    CHECK(problem->M.x[0] == 2.0 && problem->M.x[3] == 3.0);
}

static void unsymmetric_M_is_a_defect(void)
{
    two_dofs(4, ROW, COL, (const double[]){2, 1, 1.5, 2});
    expect_defect("/fclib_global/M is unsymmetric by 0.25 of its largest entry, more than 1e-05");
    CHECK(problem->M.x[2] == 1.5);
}

static void indefinite_M_is_a_defect(void)
{
    two_dofs(4, ROW, COL, (const double[]){1, 2, 2, 1});
    CHECK(ss_check_values(problem, &report, &error) == SS_BAD_INPUT);
    CHECK(report_says(SS_DEFECT, "/fclib_global/M is not positive definite"));
    CHECK(report_says(SS_DEFECT, "dof 1"));
}

static void huge_entries_of_opposite_sign_are_unsymmetric(void)
{
    two_dofs(4, ROW, COL, (const double[]){1e308, 1e308, -1e308, 1e308});
    CHECK(ss_check_values(problem, &report, &error) == SS_BAD_INPUT);
    CHECK(report_says(SS_DEFECT, "/fclib_global/M is unsymmetric by"));
}

static void long_sentences_are_cut_and_ended(void)
{
    char word[1000];
    memset(word, 'x', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    ss_report_add(&report, SS_REMARK, "%s", word);
    CHECK(strlen(report.findings[0].text) == sizeof report.findings[0].text - 1);
    CHECK(ss_report_first_defect(&report) == NULL);
    ss_report_free(&report);
    CHECK(report.count == 0 && report.findings == NULL);
}

static void run_tests(void)
{
    RUN_TEST(sound_problems_have_no_finding);
    RUN_TEST(huge_friction_is_a_remark);
    RUN_TEST(negative_friction_is_a_defect);
    RUN_TEST(several_wrong_entries_are_one_sentence);
    RUN_TEST(zero_friction_is_sound);
    RUN_TEST(nan_friction_is_a_defect);
    RUN_TEST(every_vector_must_be_finite);
    RUN_TEST(guesses_and_answers_that_are_not_finite_are_left_out);
    RUN_TEST(every_matrix_must_be_finite);
    RUN_TEST(unsymmetric_W_is_a_remark_with_its_size);
    RUN_TEST(a_large_share_is_told_in_plain_digits);
    RUN_TEST(a_diagonal_that_no_mass_has_is_a_remark);
    RUN_TEST(rounding_of_W_is_not_told);
    RUN_TEST(singular_W_is_no_defect);
    RUN_TEST(slightly_unsymmetric_M_is_made_symmetric);
    RUN_TEST(one_sided_zeros_of_M_get_their_partner);
    RUN_TEST(unsymmetric_M_is_a_defect);
    RUN_TEST(indefinite_M_is_a_defect);
    RUN_TEST(huge_entries_of_opposite_sign_are_unsymmetric);
    RUN_TEST(long_sentences_are_cut_and_ended);
}

const test_group check_tests = {.run = run_tests, .set_up = set_up, .tear_down = tear_down};
