// Rows in three formats, to the byte.
#include "tests/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/table.h"

static const ss_column COLUMNS[] = {
    {.key = "problem", .kind = SS_COLUMN_TEXT},
    {.key = "contacts", .kind = SS_COLUMN_INTEGER},
    {.key = "fb", .kind = SS_COLUMN_REAL},
    {.key = "detail", .kind = SS_COLUMN_TEXT},
    {.key = NULL},
};

typedef void (*fill)(ss_table *rows);

static char *printed; // by the last table; freed in tear_down

static const char *table(ss_format format, fill f)
{
    free(printed);
    size_t size = 0;
    FILE *out = open_memstream(&printed, &size);
    ss_table *rows = ss_table_of_columns(out, format, COLUMNS);
    f(rows);
    TEST_ASSERT_EQUAL_INT(SS_OK, ss_table_finish(rows, NULL));
    fclose(out);
    return printed;
}

static void row(ss_table *rows, const char *problem, int contacts, double fb, const char *detail)
{
    ss_table_text(rows, problem);
    ss_table_integer(rows, contacts);
    ss_table_real(rows, fb);
    ss_table_text(rows, detail);
}

static void nothing(ss_table *rows)
{
    (void)rows;
}

static void two(ss_table *rows)
{
    row(rows, "a.h5", 5, 0.1, "fine");
    row(rows, "longer.h5:one", 12345, NAN, NULL);
}

static void hostile(ss_table *rows)
{
    row(rows, "a,b\".h5", 1, -INFINITY, "say \"x\", then\n\tC:\\ \x01");
    row(rows, "\xc3\xa9\xff", 2, -NAN, "\xed\xa0\x80");
}

static void bare(ss_table *rows)
{
    row(rows, "a", 1, NAN, NULL);
    row(rows, "b", 2, NAN, "");
}

static void accents(ss_table *rows)
{
    row(rows, "\xc3\xa9t\xc3\xa9", 1, 0.5, "x");
    row(rows, "four", 2, 0.5, "y");
}

static void large(ss_table *rows)
{
    ss_table_text(rows, "a");
    ss_table_unsigned(rows, 18446744073709551615U);
    ss_table_real(rows, 1e300);
    ss_table_missing(rows);
}

static void many(ss_table *rows)
{
    for (int k = 0; k < 1000; k++) {
        row(rows, "a", k, 0.25, "");
    }
}

static void an_empty_table_is_a_table_for_programs_alone(void)
{
    TEST_ASSERT_EQUAL_STRING("problem,contacts,fb,detail\n", table(SS_FORMAT_CSV, nothing));
    TEST_ASSERT_EQUAL_STRING("[]\n", table(SS_FORMAT_JSON, nothing));
    TEST_ASSERT_EQUAL_STRING("", table(SS_FORMAT_TEXT, nothing));
}

static void text_is_aligned_numbers_to_the_right(void)
{
    TEST_ASSERT_EQUAL_STRING("problem        contacts   fb  detail\n"
                             "a.h5                  5  0.1  fine\n"
                             "longer.h5:one     12345    -  -\n",
                             table(SS_FORMAT_TEXT, two));
}

static void text_counts_characters_not_bytes(void)
{
    TEST_ASSERT_EQUAL_STRING("problem  contacts   fb  detail\n"
                             "\xc3\xa9t\xc3\xa9             1  0.5  x\n"
                             "four            2  0.5  y\n",
                             table(SS_FORMAT_TEXT, accents));
}

static void text_leaves_out_columns_without_values(void)
{
    TEST_ASSERT_EQUAL_STRING("problem  contacts\n"
                             "a               1\n"
                             "b               2\n",
                             table(SS_FORMAT_TEXT, bare));
}

static void text_holds_no_control_characters(void)
{
    const char *text = table(SS_FORMAT_TEXT, hostile);
    int lines = 0;
    for (const char *c = text; *c != '\0'; c++) {
        lines += *c == '\n';
        CHECK(*c == '\n' || (unsigned char)*c >= 0x20);
    }
    TEST_ASSERT_EQUAL_INT(3, lines);
}

static void csv_has_all_digits_and_names_what_is_missing(void)
{
    TEST_ASSERT_EQUAL_STRING("problem,contacts,fb,detail\n"
                             "a.h5,5,0.1,fine\n"
                             "longer.h5:one,12345,nan,\n",
                             table(SS_FORMAT_CSV, two));
}

static void csv_quotes_where_a_reader_needs_it(void)
{
    TEST_ASSERT_EQUAL_STRING("problem,contacts,fb,detail\n"
                             "\"a,b\"\".h5\",1,-inf,\"say \"\"x\"\", then\n\tC:\\ \x01\"\n"
                             "\xc3\xa9\xff,2,nan,\xed\xa0\x80\n",
                             table(SS_FORMAT_CSV, hostile));
}

static void json_is_an_array_of_objects(void)
{
    TEST_ASSERT_EQUAL_STRING(
        "[\n {\"problem\": \"a.h5\", \"contacts\": 5, \"fb\": 0.1, "
        "\"detail\": \"fine\"},\n"
        " {\"problem\": \"longer.h5:one\", \"contacts\": 12345, \"fb\": null, \"detail\": null}\n"
        "]\n",
        table(SS_FORMAT_JSON, two));
}

static void json_escapes_what_json_cannot_hold(void)
{
    TEST_ASSERT_EQUAL_STRING("[\n {\"problem\": \"a,b\\\".h5\", \"contacts\": 1, \"fb\": null, "
                             "\"detail\": \"say \\\"x\\\", then\\u000a\\u0009C:\\\\ \\u0001\"},\n"
                             " {\"problem\": \"\xc3\xa9\\ufffd\", \"contacts\": 2, \"fb\": null, "
                             "\"detail\": \"\\ufffd\\ufffd\\ufffd\"}\n]\n",
                             table(SS_FORMAT_JSON, hostile));
}

static void large_numbers_keep_their_digits(void)
{
    TEST_ASSERT_EQUAL_STRING("problem,contacts,fb,detail\n"
                             "a,18446744073709551615,1e+300,\n",
                             table(SS_FORMAT_CSV, large));
}

static void a_long_table_keeps_every_row(void)
{
    const char *text = table(SS_FORMAT_TEXT, many);
    int lines = 0;
    for (const char *c = text; *c != '\0'; c++) {
        lines += *c == '\n';
    }
    TEST_ASSERT_EQUAL_INT(1001, lines);
}

static void a_table_without_memory_says_so(void)
{
    TEST_ASSERT_EQUAL_INT(SS_SYSTEM, ss_table_finish(NULL, NULL));
}

static void tear_down(void)
{
    free(printed);
    printed = NULL;
}

static void run_tests(void)
{
    RUN_TEST(an_empty_table_is_a_table_for_programs_alone);
    RUN_TEST(text_is_aligned_numbers_to_the_right);
    RUN_TEST(text_counts_characters_not_bytes);
    RUN_TEST(text_leaves_out_columns_without_values);
    RUN_TEST(text_holds_no_control_characters);
    RUN_TEST(csv_has_all_digits_and_names_what_is_missing);
    RUN_TEST(csv_quotes_where_a_reader_needs_it);
    RUN_TEST(json_is_an_array_of_objects);
    RUN_TEST(json_escapes_what_json_cannot_hold);
    RUN_TEST(large_numbers_keep_their_digits);
    RUN_TEST(a_long_table_keeps_every_row);
    RUN_TEST(a_table_without_memory_says_so);
}

const test_group rows_tests = {.run = run_tests, .tear_down = tear_down};
