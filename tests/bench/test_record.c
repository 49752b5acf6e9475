// The record keeps every finished row, bit for bit, through its journal and its file.
#include "harness/record.h"

#include <float.h>
#include <hdf5.h>
#include <limits.h>
#include <time.h>

#include "tests/support/record_file.h"

// ---- Rows.

static double from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static ss_record_row make_odd_row(void)
{
    ss_record_row row = make_row(1, 4);
    row.measures.fb = from_bits(0x7ff8000000000123); // a NaN with a payload
    row.measures.fb_abs = from_bits(0xfff8000000000000);
    row.measures.fb_contact = INFINITY;
    row.measures.natural = -INFINITY;
    row.measures.normal = -0.0;
    row.load = DBL_TRUE_MIN;
    row.seconds = DBL_MAX;
    row.tolerance = 0.1 + 0.2;
    row.contacts = INT_MAX;
    row.iterations = INT_MIN;
    row.history.fb[0] = NAN;
    row.history.fb[1] = -INFINITY;
    row.history.iteration[3] = -1;
    strcpy(row.detail, "a tab\t, a line\nbreak, a \\backslash\\t, \r and \xc3\xa9 ");
    strcpy(row.start, "");
    memset(row.status, 's', sizeof row.status - 1);
    return row;
}

static void every_value_survives_journal_and_file_bit_for_bit(void)
{
    ss_record_row row = make_odd_row(), given = make_odd_row();
    ss_record *record = open_record();
    CHECK_OK(ss_record_add(record, &given, &error));
    TEST_ASSERT_NULL(given.history.fb); // taken over
    CHECK(!exists(file));
    ss_record *reader = read_record(); // from the journal
    CHECK(ss_record_count(reader) == 1 && same_row(ss_record_row_at(reader, 0), &row));
    close_record(reader);
    close_record(record);
    CHECK(exists(file) && !exists(journal));
    reader = read_record(); // from the file
    CHECK(ss_record_count(reader) == 1 && same_row(ss_record_row_at(reader, 0), &row));
    close_record(reader);
    ss_record_row_free(&row);
}

static void rows_keep_the_order_of_adding_over_several_runs(void)
{
    enum { ROWS = 40 }; // a run; each costs a write to the disk
    for (int run = 0; run < 3; run++) {
        ss_record *record = open_record();
        TEST_ASSERT_EQUAL_INT(ROWS * run, ss_record_count(record));
        for (int k = 0; k < ROWS; k++) {
            add(record, ROWS * run + ROWS - 1 - k, k % 3);
        }
        close_record(record);
    }
    ss_record *reader = read_record();
    TEST_ASSERT_EQUAL_INT(3 * ROWS, ss_record_count(reader));
    for (int k = 0; k < 3 * ROWS; k++) {
        const int number = k / ROWS * ROWS + ROWS - 1 - k % ROWS;
        CHECK(ss_record_row_at(reader, (size_t)k)->contacts == 100 + number);
        CHECK(holds_row(reader, number, k % ROWS % 3));
    }
    close_record(reader);
}

static void a_row_of_the_same_key_replaces(void)
{
    ss_record *record = open_record();
    for (int k = 0; k < 3; k++) {
        add(record, k, 5);
    }
    ss_record_row row = make_row(1, 2);
    row.seconds = 42.0;
    CHECK_OK(ss_record_add(record, &row, &error));
    TEST_ASSERT_EQUAL_INT(3, ss_record_count(record));
    ss_record *reader = read_record();
    close_record(record);
    for (int pass = 0; pass < 2; pass++) {
        TEST_ASSERT_EQUAL_INT(3, ss_record_count(reader));
        const ss_record_row *found = ss_record_row_at(reader, 1);
        CHECK(found->seconds == 42.0 && found->history.count == 2);
        close_record(reader);
        reader = read_record();
    }
    close_record(reader);
}

static void check_without_stand_in(const ss_record *record, const ss_record_row *stand_in)
{
    TEST_ASSERT_EQUAL_size_t(3, ss_record_count(record));
    CHECK(ss_record_find(record, stand_in) == NULL);
    CHECK(holds_row(record, 0, 3) && holds_row(record, 1, 3) && holds_row(record, 2, 3));
}

// A row that says that problem 1 cannot be read goes when problem 1 has one that says more.
static void what_stood_in_for_a_problem_goes_when_it_is_read(void)
{
    ss_record *record = open_record();
    ss_record_row stand_in = make_row(1, 0), copy;
    ss_record_stand_in(stand_in.problem, stand_in.problem_sha256);
    snprintf(stand_in.status, sizeof stand_in.status, "bad_input");
    copy = stand_in;
    add(record, 0, 3);
    CHECK_OK(ss_record_add(record, &copy, &error));
    add(record, 2, 3);
    CHECK(ss_record_find(record, &stand_in) != NULL);
    add(record, 1, 3);
    check_without_stand_in(record, &stand_in);
    ss_record *reader = read_record(); // from the journal
    check_without_stand_in(reader, &stand_in);
    close_record(reader);
    close_record(record);
    reader = read_record();
    check_without_stand_in(reader, &stand_in);
    close_record(reader);
}

static void each_part_of_the_key_tells_rows_apart(void)
{
    ss_record *record = open_record();
    for (int part = 0; part < 6; part++) {
        ss_record_row row = make_row(0, 0);
        CHECK((ss_record_find(record, &row) != NULL) == (part > 0));
        strcpy(part == 1   ? row.solver
               : part == 2 ? row.start
               : part == 3 ? row.build
               : part == 4 ? row.problem_sha256
                           : row.detail,
               "other");
        row.tolerance = part == 5 ? 1e-6 : row.tolerance;
        CHECK(part == 0 || ss_record_find(record, &row) == NULL);
        CHECK_OK(ss_record_add(record, &row, &error));
    }
    TEST_ASSERT_EQUAL_INT(6, ss_record_count(record));
    close_record(record);
}

static void a_solver_has_one_spelling(void)
{
    ss_record *record = open_record();
    ss_record_row row = make_row(0, 0);
    strcpy(row.solver, "gs/mfb+enum");
    CHECK_OK(ss_record_add(record, &row, &error));
    for (int pass = 0; pass < 2; pass++) {
        ss_record_row key = make_row(0, 0);
        TEST_ASSERT_EQUAL_INT(1, ss_record_count(record));
        CHECK(ss_record_find(record, &key) != NULL);
        add(record, 0, 0);
    }
    close_record(record);
}

static void a_record_without_rows_is_a_record(void)
{
    close_record(open_record());
    CHECK(exists(file) && !exists(journal));
    ss_record *reader = read_record();
    ss_record_row key = make_row(0, 0);
    CHECK(ss_record_count(reader) == 0 && ss_record_find(reader, &key) == NULL);
    close_record(reader);
    CHECK(ss_record_close(NULL, &error) == SS_OK);
}

static void nothing_is_written_where_nothing_is_new(void)
{
    ss_record *record = open_record();
    add(record, 0, 1);
    close_record(record);
    struct stat before, after;
    stat(file, &before);
    close_record(open_record());
    stat(file, &after);
    CHECK(before.st_ino == after.st_ino && before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
}

static void a_long_journal_is_folded_in(void)
{
    ss_record *record = open_record();
    int n = 0;
    while (!exists(file) && n < 100) { // a row is some 580 kB of journal
        add(record, n++, 10000);
    }
    CHECK(n > 5 && n < 20);
    size_t count;
    free(read_bytes(journal, &count));
    TEST_ASSERT_EQUAL_INT(0, count);
    ss_record *reader = read_record();
    TEST_ASSERT_EQUAL_INT(n, ss_record_count(reader));
    close_record(reader);
    close_record(record);
}

// One second is what it takes; the bound is for sanitizers and slow machines.
static void ten_thousand_rows_with_histories_are_handled(void)
{
    ss_record *record = open_record();
    for (int k = 0; k < 10000; k++) {
        add(record, k, 100);
    }
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    close_record(record);
    record = read_record();
    clock_gettime(CLOCK_MONOTONIC, &end);
    CHECK_LE((double)(end.tv_sec - begin.tv_sec), 30.0);
    TEST_ASSERT_EQUAL_INT(10000, ss_record_count(record));
    for (int k = 0; k < 10000; k += 777) {
        CHECK(holds_row(record, k, 100));
    }
    close_record(record);
}

// As h5py reads it: f['rows/solver'][:] and f['history/start'][:].
static void the_file_is_plain_columns(void)
{
    ss_record *record = open_record();
    add(record, 0, 2);
    add(record, 1, 3);
    close_record(record);
    const hid_t h5 = H5Fopen(file, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t dataset = H5Dopen2(h5, "rows/solver", H5P_DEFAULT);
    hid_t type = H5Dget_type(dataset);
    char solvers[2][9] = {""};
    CHECK(H5Tget_class(type) == H5T_STRING && H5Tget_size(type) == 9); // mfb+enum and a zero
    CHECK(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, solvers) >= 0);
    TEST_ASSERT_EQUAL_STRING("mfb+enum", solvers[1]);
    H5Tclose(type);
    H5Dclose(dataset);
    int start[3] = {-1};
    dataset = H5Dopen2(h5, "history/start", H5P_DEFAULT);
    CHECK(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, start) >= 0);
    CHECK(start[0] == 0 && start[1] == 2 && start[2] == 5);
    H5Dclose(dataset);
    CHECK(H5Fclose(h5) >= 0);
}

// ---- Names.

static void a_link_is_followed_unless_it_leads_nowhere(void)
{
    char target[512];
    snprintf(target, sizeof target, "%s", scratch_path("target.h5"));
    ss_record *record = NULL;
    TEST_ASSERT_EQUAL_INT(0, symlink("target.h5", file));
    TEST_ASSERT_EQUAL_INT(SS_SYSTEM, ss_record_open(file, &record, &error));
    CHECK(strstr(error.text, "a link that leads nowhere") != NULL && !exists(journal));
    unlink(file);
    record = open_record();
    add(record, 0, 1);
    close_record(record);
    TEST_ASSERT_EQUAL_INT(0, rename(file, target));
    TEST_ASSERT_EQUAL_INT(0, symlink("target.h5", file));
    record = open_record();
    ss_record *second = NULL; // by its other name
    TEST_ASSERT_EQUAL_INT(SS_SYSTEM, ss_record_open(target, &second, &error));
    add(record, 1, 1);
    close_record(record);
    CHECK(!exists(journal));
    CHECK_OK(ss_record_read(target, &record, &error));
    TEST_ASSERT_EQUAL_INT(2, ss_record_count(record));
    close_record(record);
    unlink(target);
}

static void run_tests(void)
{
    RUN_TEST(every_value_survives_journal_and_file_bit_for_bit);
    RUN_TEST(rows_keep_the_order_of_adding_over_several_runs);
    RUN_TEST(a_row_of_the_same_key_replaces);
    RUN_TEST(what_stood_in_for_a_problem_goes_when_it_is_read);
    RUN_TEST(each_part_of_the_key_tells_rows_apart);
    RUN_TEST(a_solver_has_one_spelling);
    RUN_TEST(a_record_without_rows_is_a_record);
    RUN_TEST(nothing_is_written_where_nothing_is_new);
    RUN_TEST(a_long_journal_is_folded_in);
    RUN_TEST(the_file_is_plain_columns);
    RUN_TEST(a_link_is_followed_unless_it_leads_nowhere);
    RUN_TEST(ten_thousand_rows_with_histories_are_handled);
}

const test_group record_tests = {.run = run_tests, .set_up = set_up};
