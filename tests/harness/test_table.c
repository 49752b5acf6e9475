// Tables as text, CSV, JSON, Markdown and LaTeX, to the byte.
#include "tests/support/support.h"

#include "harness/record/record.h"
#include "tests/support/printed_table.h"
#include "tests/support/program.h"
#include "tests/support/results.h"

static const char *number(double value, int digits)
{
    static char text[32];
    ss_table_number(value, digits, text);
    return text;
}

static ss_table *small_table(ss_format format)
{
    static const ss_column columns[] = {
        {"solver", SS_COLUMN_TEXT, "Solver", 0, NULL},
        {"fail_percent", SS_COLUMN_REAL, "%fail", 3, "Share <= all."},
        {"mean_ms", SS_COLUMN_REAL, "ms", 3, NULL},
        {.key = NULL},
    };
    ss_table *table = begin_table(format);
    ss_table_columns(table, columns);
    ss_table_text(table, "a+b");
    ss_table_real(table, 1e-6);
    ss_table_real(table, 12.3456);
    ss_table_text(table, "under_score,long");
    ss_table_real(table, NAN);
    ss_table_real(table, 0.5);
    ss_table_note(table, "Set of %d_x.", 7);
    return table;
}

static void text_is_aligned_and_notes_follow(void)
{
    TEST_ASSERT_EQUAL_STRING("Solver            %fail [1]    ms\n"
                             "a+b                    1e-6  12.3\n"
                             "under_score,long          -   0.5\n"
                             "\n"
                             "[1] Share <= all.\n"
                             "Set of 7_x.\n",
                             end_table(small_table(SS_FORMAT_TEXT)));
}

static void markdown_is_escaped(void)
{
    TEST_ASSERT_EQUAL_STRING("| Solver | %fail<sup>1</sup> | ms |\n"
                             "|:---|---:|---:|\n"
                             "| a+b | 1e-6 | 12.3 |\n"
                             "| under\\_score,long | - | 0.5 |\n"
                             "\n"
                             "<sup>1</sup> Share \\<= all.\n"
                             "\n"
                             "Set of 7\\_x.\n",
                             end_table(small_table(SS_FORMAT_MARKDOWN)));
}

static void latex_is_booktabs_and_escaped(void)
{
    TEST_ASSERT_EQUAL_STRING("% needs \\usepackage{booktabs}\n"
                             "\\begin{tabular}{@{}lrr@{}}\n"
                             "\\toprule\n"
                             "Solver & \\%fail\\textsuperscript{1} & ms \\\\\n"
                             "\\midrule\n"
                             "a+b & $10^{-6}$ & $12.3$ \\\\\n"
                             "under\\_score,long & -- & $0.5$ \\\\\n"
                             "\\bottomrule\n"
                             "\\end{tabular}\n"
                             "\n"
                             "\\smallskip\n"
                             "{\\footnotesize\\parindent=0pt\n"
                             "\\textsuperscript{1}~Share $\\leq$ all.\\par\n"
                             "Set of 7\\_x.\\par\n"
                             "}\n",
                             end_table(small_table(SS_FORMAT_LATEX)));
}

static void csv_has_keys_all_digits_and_no_notes(void)
{
    TEST_ASSERT_EQUAL_STRING("solver,fail_percent,mean_ms\n"
                             "a+b,1e-06,12.3456\n"
                             "\"under_score,long\",nan,0.5\n",
                             end_table(small_table(SS_FORMAT_CSV)));
}

static void json_has_the_keys_of_csv(void)
{
    TEST_ASSERT_EQUAL_STRING(
        "[\n {\"solver\": \"a+b\", \"fail_percent\": 1e-06, \"mean_ms\": 12.3456},\n"
        " {\"solver\": \"under_score,long\", \"fail_percent\": null, \"mean_ms\": 0.5}\n]\n",
        end_table(small_table(SS_FORMAT_JSON)));
}

static void long_notes_are_broken_between_words(void)
{
    ss_table *table = small_table(SS_FORMAT_TEXT);
    ss_table_note(
        table, "%s",
        "one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen");
    HOLDS(end_table(table), "fifteen sixteen\nseventeen\n");
}

static const ss_column WIDE[] = {
    {"name", SS_COLUMN_TEXT, NULL, 0, NULL},
    {"first", SS_COLUMN_REAL, "first", 3, "One."},
    {"second", SS_COLUMN_REAL, "second", 3, "Two."},
    {"words", SS_COLUMN_TEXT, NULL, 0, NULL},
    {.key = NULL},
};

static ss_table *wide_table(ss_format format)
{
    ss_table *table = begin_table(format);
    ss_table_columns(table, WIDE);
    ss_table_text(table, "a");
    ss_table_real(table, 1.5);
    ss_table_real(table, 2.5);
    ss_table_text(table, "one two three four five six seven");
    return table;
}

static void a_last_column_of_texts_is_broken_where_it_does_not_fit(void)
{
    ss_table *table = wide_table(SS_FORMAT_TEXT);
    ss_table_fit(table, 53);
    TEST_ASSERT_EQUAL_STRING("name  first [1]  second [2]  words\n"
                             "a           1.5         2.5  one two three four five\n"
                             "                             six seven\n"
                             "\n"
                             "[1] One.\n"
                             "[2] Two.\n",
                             end_table(table));
}

static void columns_that_do_not_fit_are_left_out_with_their_notes_and_named(void)
{
    ss_table *table = wide_table(SS_FORMAT_TEXT);
    ss_table_fit(table, 20);
    TEST_ASSERT_EQUAL_STRING("name  first [1]\n"
                             "a           1.5\n"
                             "\n"
                             "[1] One.\n"
                             "Hidden to fit the\n"
                             "terminal: words,\n"
                             "second; --columns\n"
                             "all shows them.\n",
                             end_table(table));
}

static void columns_are_chosen_in_any_order_and_format(void)
{
    ss_error error;
    ss_table *table = wide_table(SS_FORMAT_TEXT);
    CHECK_OK(ss_table_choose(table, "second,name", &error));
    TEST_ASSERT_EQUAL_STRING("second [1]  name\n"
                             "       2.5  a\n"
                             "\n"
                             "[1] Two.\n",
                             end_table(table));
    table = wide_table(SS_FORMAT_CSV);
    CHECK_OK(ss_table_choose(table, "words,first", &error));
    TEST_ASSERT_EQUAL_STRING("words,first\none two three four five six seven,1.5\n",
                             end_table(table));
    table = wide_table(SS_FORMAT_JSON);
    CHECK_OK(ss_table_choose(table, "first", &error));
    TEST_ASSERT_EQUAL_STRING("[\n {\"first\": 1.5}\n]\n", end_table(table));
    table = wide_table(SS_FORMAT_MARKDOWN);
    CHECK_OK(ss_table_choose(table, "second,words", &error));
    HOLDS(end_table(table), "| second<sup>1</sup> | words |\n|---:|:---|\n| 2.5 | one ");
}

static void columns_that_are_not_there_are_refused(void)
{
    ss_error error;
    ss_table *table = wide_table(SS_FORMAT_CSV);
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, ss_table_choose(table, "name,secnd", &error));
    TEST_ASSERT_EQUAL_STRING("--columns: there is no column 'secnd'; did you mean 'second'?",
                             error.text);
    drop_table(table);
    table = wide_table(SS_FORMAT_CSV);
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, ss_table_choose(table, "name,name", &error));
    TEST_ASSERT_EQUAL_STRING("--columns names 'name' twice", error.text);
    drop_table(table);
}

// Of the columns of a result the parts of the seconds go first, the answer last.
static void the_last_rank_of_fields_goes_first(void)
{
    const ss_record_row row = result_row("mfb:freeze=paper", 1);
    ss_table *table = ss_table_of_fields(table_file(), SS_FORMAT_TEXT, ss_result_fields);
    ss_table_row(table, &row);
    ss_table_fit(table, 100);
    ss_record_row gone = row;
    ss_record_row_free(&gone);
    const char *text = end_table(table);
    HOLDS(text, "problem          contacts  solver             tol  status  iterations");
    HOLDS(text, "Hidden to fit the terminal: sweep_seconds, setup_seconds, cpu_seconds, normal");
}

static void numbers_are_short(void)
{
    TEST_ASSERT_EQUAL_STRING("0", number(0.0, 3));
    TEST_ASSERT_EQUAL_STRING("38.7", number(38.7, 3));
    TEST_ASSERT_EQUAL_STRING("50", number(50.0, 3));
    TEST_ASSERT_EQUAL_STRING("6497", number(6497.0, 3));
    TEST_ASSERT_EQUAL_STRING("0.0123", number(0.01234, 3));
    TEST_ASSERT_EQUAL_STRING("1e-5", number(1e-5, 3));
    TEST_ASSERT_EQUAL_STRING("2.35e-12", number(2.345678e-12, 3));
    TEST_ASSERT_EQUAL_STRING("1e-4", number(1e-4, 3));
    TEST_ASSERT_EQUAL_STRING("1.23e7", number(12345678.0, 3));
    TEST_ASSERT_EQUAL_STRING("100", number(99.96, 3));
    TEST_ASSERT_EQUAL_STRING("-", number(NAN, 3));
    TEST_ASSERT_EQUAL_STRING("inf", number(INFINITY, 3));
}

static void no_memory_is_said(void)
{
    ss_error error;
    TEST_ASSERT_EQUAL_INT(SS_SYSTEM, ss_table_finish(NULL, &error));
    TEST_ASSERT_EQUAL_STRING("not enough memory for the table", error.text);
}

static void run_tests(void)
{
    RUN_TEST(text_is_aligned_and_notes_follow);
    RUN_TEST(markdown_is_escaped);
    RUN_TEST(latex_is_booktabs_and_escaped);
    RUN_TEST(csv_has_keys_all_digits_and_no_notes);
    RUN_TEST(json_has_the_keys_of_csv);
    RUN_TEST(long_notes_are_broken_between_words);
    RUN_TEST(a_last_column_of_texts_is_broken_where_it_does_not_fit);
    RUN_TEST(columns_that_do_not_fit_are_left_out_with_their_notes_and_named);
    RUN_TEST(columns_are_chosen_in_any_order_and_format);
    RUN_TEST(columns_that_are_not_there_are_refused);
    RUN_TEST(the_last_rank_of_fields_goes_first);
    RUN_TEST(numbers_are_short);
    RUN_TEST(no_memory_is_said);
}

const test_group table_tests = {.run = run_tests, .tear_down = forget_table};
