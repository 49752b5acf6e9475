// What is left of a journal that was damaged or cut short.
#include "harness/journal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/record_file.h"

// Rows 0 .. n - 1 in a journal without a file, as a killed run leaves them. Its bytes.
static char *leave_journal(int n, int nhistory, size_t *count)
{
    ss_record *record = open_record();
    for (int k = 0; k < n; k++) {
        add(record, k, nhistory);
    }
    char *bytes = read_bytes(journal, count);
    close_record(record);
    unlink(file);
    write_bytes(journal, bytes, *count);
    return bytes;
}

static void a_line_cut_short_is_dropped_and_the_next_run_goes_on(void)
{
    size_t count;
    char *bytes = leave_journal(3, 2, &count);
    for (size_t cut = 0; cut < count / 3; cut += 7) {
        write_bytes(journal, bytes, count - cut);
        unlink(file);
        const int whole = cut == 0 ? 3 : 2;
        ss_record *reader = read_record();
        TEST_ASSERT_EQUAL_INT(whole, ss_record_count(reader));
        close_record(reader);
        ss_record *record = open_record();
        TEST_ASSERT_EQUAL_INT(whole, ss_record_count(record));
        add(record, 9, 1);
        reader = read_record(); // the new line stands on its own
        CHECK(holds_row(reader, 0, 2) && holds_row(reader, 1, 2) && holds_row(reader, 9, 1));
        TEST_ASSERT_EQUAL_INT(whole + 1, ss_record_count(reader));
        close_record(reader);
        close_record(record);
    }
    free(bytes);
}

static void damage_is(const ss_record *record, const char *expected)
{
    char told[700] = "", whole[700];
    TEST_ASSERT_TRUE(ss_record_damage(record, told, sizeof told));
    snprintf(whole, sizeof whole, "%s: %s", journal, expected);
    TEST_ASSERT_EQUAL_STRING(whole, told);
}

static void a_damaged_line_is_told_with_its_number(void)
{
    size_t count;
    char told[700], *bytes = leave_journal(4, 2, &count);
    ss_record *record = read_record();
    CHECK(!ss_record_damage(record, told, sizeof told));
    close_record(record);
    char *second = strchr(bytes, '\n') + 1, *third = strchr(second, '\n') + 1;
    second[60] ^= 1;
    write_bytes(journal, bytes, count);
    record = read_record();
    damage_is(record, "line 2 is damaged and dropped; bench makes its run again");
    close_record(record);
    // Who reads may see a line that is being written; who resumes cannot.
    third[60] ^= 1;
    write_bytes(journal, bytes, count - 1);
    record = read_record();
    damage_is(
        record,
        "2 lines are damaged and dropped, line 2 the first of them; bench makes their runs again");
    close_record(record);
    record = open_record();
    damage_is(
        record,
        "3 lines are damaged and dropped, line 2 the first of them; bench makes their runs again");
    TEST_ASSERT_EQUAL_INT(1, ss_record_count(record));
    close_record(record);
    record = open_record(); // what is left is whole
    CHECK(!ss_record_damage(record, told, sizeof told) && ss_record_count(record) == 1);
    close_record(record);
    free(bytes);
}

// Even that of a line break, and of a byte that becomes one.
static void a_changed_byte_costs_its_line_at_most(void)
{
    enum { LINES = 4 };
    size_t count, ends[LINES] = {0};
    char *bytes = leave_journal(LINES, 1, &count);
    for (size_t at = 0, line = 0; at < count; at++) {
        if (bytes[at] == '\n') {
            ends[line++] = at;
        }
    }
    for (size_t at = 0; at < count; at++) {
        const char kept = bytes[at];
        bytes[at] = (char)(at % 3 == 0 && kept != '\n' ? '\n' : kept ^ (1 << at % 8));
        write_bytes(journal, bytes, count);
        bytes[at] = kept;
        ss_record *reader = NULL;
        CHECK_OK(ss_record_read(file, &reader, &error));
        for (int k = 0; k < LINES; k++) {
            const bool hit = at <= ends[k] && (k == 0 || at > ends[k - 1]);
            CHECK(hit || holds_row(reader, k, 1));
        }
        CHECK(ss_record_count(reader) >= LINES - 1);
        close_record(reader);
    }
    free(bytes);
}

static void garbage_between_lines_is_passed_over(void)
{
    static const char *const garbage[] = {
        "\n\n\n",
        "no line\n",
        "18446744073709551616 0123456789abcdef x\n",
        "5 \n",
        "-1 0 \n",
        "3 0123456789abcdef abc\n",
        "\x01\xff\x80 \n",
        "12",
    };
    const size_t kinds = sizeof garbage / sizeof garbage[0];
    size_t count;
    char *bytes = leave_journal((int)kinds, 1, &count);
    FILE *stream = fopen(journal, "wb");
    const char *line = bytes;
    for (size_t k = 0; k < kinds; k++) {
        const char *end = strchr(line, '\n') + 1;
        fwrite(line, 1, (size_t)(end - line), stream);
        fwrite("\0\n", 1, 2, stream);
        fputs(garbage[k], stream);
        line = end;
    }
    fclose(stream);
    ss_record *record = open_record();
    TEST_ASSERT_EQUAL_INT(kinds, ss_record_count(record));
    close_record(record);
    free(bytes);
}

static void a_journal_of_another_version_is_refused_and_kept(void)
{
    ss_journal lines;
    ss_record *record = NULL;
    CHECK_OK(ss_journal_open(journal, file, &lines, &error));
    CHECK_OK(ss_journal_append(&lines, "7\tnew", 5, &error));
    ss_journal_close(&lines);
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, ss_record_open(file, &record, &error));
    CHECK(record == NULL && strstr(error.text, "another version") != NULL);
    CHECK(strstr(error.text, journal) != NULL && exists(journal) && !exists(file));
}

static void run_tests(void)
{
    RUN_TEST(a_line_cut_short_is_dropped_and_the_next_run_goes_on);
    RUN_TEST(a_damaged_line_is_told_with_its_number);
    RUN_TEST(a_changed_byte_costs_its_line_at_most);
    RUN_TEST(garbage_between_lines_is_passed_over);
    RUN_TEST(a_journal_of_another_version_is_refused_and_kept);
}

const test_group record_journal_tests = {.run = run_tests, .set_up = set_up};
