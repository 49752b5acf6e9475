// Tables in three formats, to the byte.
#include "tests/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/rows.h"

static const ss_column COLUMNS[] = {
    {"problem", SS_TEXT}, {"contacts", SS_INTEGER}, {"fb", SS_REAL},
    {"detail", SS_TEXT},  {.name = NULL},
};

typedef void (*fill)(ss_rows *rows);

static char *printed; // by the last table; freed in tear_down

static const char *table(ss_format format, fill f)
{
    free(printed);
    size_t size = 0;
    FILE *out = open_memstream(&printed, &size);
    ss_rows *rows = ss_rows_new(out, format, COLUMNS);
    f(rows);
    TEST_ASSERT_EQUAL_INT(SS_OK, ss_rows_finish(rows));
    fclose(out);
    return printed;
}

static void row(ss_rows *rows, const char *problem, int contacts, double fb, const char *detail)
{
    ss_rows_text(rows, problem);
    ss_rows_integer(rows, contacts);
    ss_rows_real(rows, fb);
    ss_rows_text(rows, detail);
}

static void nothing(ss_rows *rows)
{
    (void)rows;
}

static void two(ss_rows *rows)
{
    row(rows, "a.h5", 5, 0.1, "fine");
    row(rows, "longer.h5:one", 12345, NAN, NULL);
}

static void hostile(ss_rows *rows)
{
    row(rows, "a,b\".h5", 1, -INFINITY, "say \"x\", then\n\tC:\\ \x01");
    row(rows, "\xc3\xa9\xff", 2, -NAN, "\xed\xa0\x80");
}

static void bare(ss_rows *rows)
{
    row(rows, "a", 1, NAN, NULL);
    row(rows, "b", 2, NAN, "");
}

static void accents(ss_rows *rows)
{
    row(rows, "\xc3\xa9t\xc3\xa9", 1, 0.5, "x");
    row(rows, "four", 2, 0.5, "y");
}

static void large(ss_rows *rows)
{
    ss_rows_text(rows, "a");
    ss_rows_unsigned(rows, 18446744073709551615U);
    ss_rows_real(rows, 1e300);
    ss_rows_missing(rows);
}

static void many(ss_rows *rows)
{
    for (int k = 0; k < 1000; k++) {
        row(rows, "a", k, 0.25, "");
    }
}

static void an_empty_table_is_still_a_table(void)
{
    TEST_ASSERT_EQUAL_STRING("problem,contacts,fb,detail\n", table(SS_FORMAT_CSV, nothing));
    TEST_ASSERT_EQUAL_STRING("[]\n", table(SS_FORMAT_JSON, nothing));
    TEST_ASSERT_EQUAL_STRING("problem  contacts  fb  detail\n", table(SS_FORMAT_TEXT, nothing));
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

static void csv_has_17_digits_and_names_what_is_missing(void)
{
    TEST_ASSERT_EQUAL_STRING("problem,contacts,fb,detail\n"
                             "a.h5,5,0.10000000000000001,fine\n"
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
        "[\n {\"problem\": \"a.h5\", \"contacts\": 5, \"fb\": 0.10000000000000001, "
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
                             "a,18446744073709551615,1.0000000000000001e+300,\n",
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
    TEST_ASSERT_EQUAL_INT(SS_SYSTEM, ss_rows_finish(NULL));
}

static void tear_down(void)
{
    free(printed);
    printed = NULL;
}

static void run_tests(void)
{
    RUN_TEST(an_empty_table_is_still_a_table);
    RUN_TEST(text_is_aligned_numbers_to_the_right);
    RUN_TEST(text_counts_characters_not_bytes);
    RUN_TEST(text_leaves_out_columns_without_values);
    RUN_TEST(text_holds_no_control_characters);
    RUN_TEST(csv_has_17_digits_and_names_what_is_missing);
    RUN_TEST(csv_quotes_where_a_reader_needs_it);
    RUN_TEST(json_is_an_array_of_objects);
    RUN_TEST(json_escapes_what_json_cannot_hold);
    RUN_TEST(large_numbers_keep_their_digits);
    RUN_TEST(a_long_table_keeps_every_row);
    RUN_TEST(a_table_without_memory_says_so);
}

const test_group rows_tests = {.run = run_tests, .tear_down = tear_down};
