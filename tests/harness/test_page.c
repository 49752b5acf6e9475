// The data of a page: numbers that do not pass a tolerance by rounding, texts that cannot leave
// their element, columns; and what `report` does with bad files.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/report/page.h"
#include "harness/record/record.h"
#include "base/random.h"
#include "tests/support/program.h"
#include "tests/support/results.h"
#include "tests/support/support.h"

static ss_page_json json;

// The text so far, ended by a zero.
static const char *text_of(void)
{
    static char text[4096];
    CHECK(!json.failed && json.length < sizeof text);
    memcpy(text, json.text, json.length);
    text[json.length] = '\0';
    return text;
}

static void clear(void)
{
    ss_page_json_free(&json);
}

static double rounded_up(double value, int digits)
{
    clear();
    ss_page_json_real_up(&json, value, digits);
    return strtod(text_of(), NULL);
}

static void reals_are_rounded_up_by_one_digit_at_most(void)
{
    ss_random random = ss_random_seeded(7);
    for (int k = 0; k < 20000; k++) {
        const double value = ss_random_log_between(&random, 1e-18, 1e2);
        const double up = rounded_up(value, 6);
        CHECK(up >= value);
        CHECK_LE(up, value * (1.0 + 1.1e-5));
    }
    CHECK(rounded_up(1e-6, 6) == 1e-6); // what has few digits stays as it is
    CHECK(rounded_up(0.0, 6) == 0.0);
    CHECK(rounded_up(9.9999999e-7, 6) == 1e-6);
    CHECK(rounded_up(1.0000001e-6, 6) == 1.00001e-6);
}

static void texts_cannot_end_their_element(void)
{
    clear();
    ss_page_json_begin(&json, '[');
    ss_page_json_text(&json, "</script><!-- \"\\\n");
    ss_page_json_text(&json, "\xc3\xa9 \xff\xed\xa0\x80");
    ss_page_json_real(&json, NAN, 9);
    ss_page_json_end(&json, ']');
    TEST_ASSERT_EQUAL_STRING("[\"\\u003c/script>\\u003c!-- \\\"\\\\\\u000a\",\"\xc3\xa9 "
                             "\\ufffd\\ufffd\\ufffd\\ufffd\",null]",
                             text_of());
}

static void columns_hold_distinct_texts_once(void)
{
    static const char *const STATUS[] = {"solved", "stalled", "solved", ""};
    static const ss_field FIELDS[] = {
        SS_FIELD(ss_record_row, status, SS_FIELD_TEXT, .unit = NULL),
        SS_FIELD(ss_record_row, iterations, SS_FIELD_INTEGER, .unit = "1"),
        SS_FIELD(ss_record_row, seconds, SS_FIELD_REAL, .unit = "s"),
        {.name = NULL},
    };
    ss_record_row rows[4];
    for (int k = 0; k < 4; k++) {
        rows[k] = ss_record_row_blank();
        strcpy(rows[k].status, STATUS[k]);
        rows[k].iterations = k - 1;
        rows[k].seconds = k == 2 ? NAN : 0.1 * k;
    }
    clear();
    ss_page_json_columns(&json, FIELDS, rows, 4, sizeof rows[0], 3, (const char *const[]){NULL});
    TEST_ASSERT_EQUAL_STRING("{\"status\":{\"v\":[\"solved\",\"stalled\",\"\"],\"i\":[0,1,0,2]},"
                             "\"iterations\":[null,0,1,2],\"seconds\":[0,0.1,null,0.3]}",
                             text_of());
}

static void base64_is_that_of_the_standard(void) // RFC 4648, section 10
{
    static const char *const PAIRS[][2] = {
        {"", ""},        {"f", "Zg=="},        {"fo", "Zm8="},
        {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"foobar", "Zm9vYmFy"}};
    for (size_t k = 0; k < sizeof PAIRS / sizeof PAIRS[0]; k++) {
        char *text = ss_pack_base64(PAIRS[k][0], strlen(PAIRS[k][0]));
        TEST_ASSERT_EQUAL_STRING(PAIRS[k][1], text);
        free(text);
    }
}

// ---- The verb

static const char *page(void)
{
    return scratch_path("page.html");
}

static void put_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
}

static void a_page_holds_the_tables_for_browsers_without_scripts(void)
{
    EXPECT(0, "report", results_file("page.db"), "--out", page(), "--title", "<b> & \"q\"");
    const char *html = file_text(page());
    HOLDS(html, "<title>&lt;b&gt; &amp; &quot;q&quot;</title>");
    HOLDS(html, "Percentage of local solves that called the fail-safe.");
    CHECK(strstr(html, "src=") == NULL && strstr(html, "@import") == NULL);
}

static void bad_files_are_findings(void)
{
    char record[400], other[400], strands[400];
    snprintf(record, sizeof record, "%s", results_file("good.db"));
    snprintf(other, sizeof other, "%s", scratch_path("other.txt"));
    snprintf(strands, sizeof strands, "%s", scratch_path("strands.h5"));
    put_file(other, "nothing of ours\n");
    put_file(strands, "\x89HDF\r\n\x1a\nand then nothing");
    unlink(page());
    EXPECT(3, "report", other, "--out", page());
    HOLDS(standard_error, "other.txt: is no record of bench, no statistics of simulate and no "
                          "strands file");
    CHECK(access(page(), F_OK) != 0);
    EXPECT(3, "report", record, other, "--strands", strands, "--out", page());
    HOLDS(standard_error, "strands.h5: damaged file: libhdf5 cannot open it");
    HOLDS(standard_error, "stickslip report: wrote ");
    HOLDS(file_text(page()), "other.txt: is no record of bench");
    EXPECT(3, "report", record, "--tol", "1e-9", "--out", page());
    HOLDS(standard_error, "holds no run to a tolerance of 1e-09 or tighter");
}

static void an_empty_record_is_a_page_that_says_so(void)
{
    char empty[400];
    snprintf(empty, sizeof empty, "%s", scratch_path("empty.db"));
    put_file(empty, "");
    EXPECT(3, "report", empty, "--out", page());
    HOLDS(standard_error, "the record holds no runs");
    HOLDS(file_text(page()), "the record holds no runs");
}

static void wrong_command_lines_are_exit_1(void)
{
    EXPECT(1, "report", "--out", "x.html");
    SAYS("report: needs a RECORD of bench, a STATS.csv or a strands file");
    EXPECT(1, "report", "x.db");
    HOLDS(standard_error, "report: needs --out");
    EXPECT(1, "report", "--strands", "--out", "x.html");
    HOLDS(standard_error, "--strands needs a value");
    EXPECT(1, "report", results_file("page.db"), "--out", scratch_path("page.db"));
    HOLDS(standard_error, "page.db is one of the files that the page is made of");
    EXPECT(4, "report", results_file("page.db"), "--out", scratch_path("missing/page.html"));
    EXPECT(3, "report", scratch_path("missing.db"), "--out", page());
}

static void run_tests(void)
{
    RUN_TEST(reals_are_rounded_up_by_one_digit_at_most);
    RUN_TEST(texts_cannot_end_their_element);
    RUN_TEST(columns_hold_distinct_texts_once);
    RUN_TEST(base64_is_that_of_the_standard);
    RUN_TEST(a_page_holds_the_tables_for_browsers_without_scripts);
    RUN_TEST(bad_files_are_findings);
    RUN_TEST(an_empty_record_is_a_page_that_says_so);
    RUN_TEST(wrong_command_lines_are_exit_1);
}

const test_group page_tests = {.run = run_tests, .tear_down = clear};
