// Every allocation of the record's paths fails once: the k-th, for all k. Each comes back as
// SS_SYSTEM with a sentence, loses no row that was there, and leaves nothing behind.
#include "harness/record.h"

#include <unistd.h>

#include "tests/support/record_file.h"

// The rows that the next operation adds; no allocation of theirs is to fail.
static ss_record_row given[3];

static void tear_down(void)
{
    for (int k = 0; k < 3; k++) {
        ss_record_row_free(&given[k]);
    }
}

static void make_given(void)
{
    for (int k = 0; k < 3; k++) {
        ss_record_row_free(&given[k]);
        given[k] = make_row(k, 2);
    }
}

static ss_status add_rows(ss_record *record)
{
    ss_status status = SS_OK;
    for (int k = 0; status == SS_OK && k < 3; k++) {
        status = ss_record_add(record, &given[k], &error);
        CHECK((given[k].history.count == 0) == (status == SS_OK));
    }
    return status;
}

static ss_status write_record(void)
{
    ss_record *record = NULL;
    ss_status status = ss_record_open(file, &record, &error);
    CHECK((record == NULL) == (status != SS_OK));
    status = status == SS_OK ? add_rows(record) : status;
    ss_error late = {0};
    const ss_status closed = ss_record_close(record, &late);
    if (status == SS_OK) {
        status = closed;
        error = late;
    }
    return status;
}

static ss_status write_afresh(void)
{
    unlink(file);
    unlink(journal);
    return write_record();
}

static ss_status read_rows(void)
{
    ss_record *record = NULL;
    const ss_status status = ss_record_read(file, &record, &error);
    CHECK((record == NULL) == (status != SS_OK));
    CHECK(record == NULL || ss_record_count(record) == 3);
    ss_record_close(record, NULL);
    return status;
}

static void writing_survives_every_failing_allocation(void)
{
    FAIL_EACH(write_afresh, make_given);
    CHECK_OK(read_rows());
}

static void reading_survives_every_failing_allocation(void)
{
    make_given();
    CHECK_OK(write_record());
    FAIL_EACH(read_rows, make_given); // from the file
    unlink(file);
    ss_record *record = NULL;
    make_given();
    CHECK_OK(ss_record_open(file, &record, &error));
    CHECK_OK(add_rows(record));
    FAIL_EACH(read_rows, make_given); // from the journal
    CHECK_OK(ss_record_close(record, &error));
}

static ss_status resume(void)
{
    ss_record *record = NULL;
    const ss_status status = ss_record_open(file, &record, &error);
    CHECK(record == NULL || ss_record_count(record) == 3);
    ss_error late = {0};
    const ss_status closed = ss_record_close(record, &late);
    error = status == SS_OK ? late : error;
    return status == SS_OK ? closed : status;
}

// The journal of a killed run is there until it has been folded in.
static void resuming_survives_every_failing_allocation(void)
{
    size_t count;
    ss_record *record = NULL;
    make_given();
    CHECK_OK(ss_record_open(file, &record, &error));
    CHECK_OK(add_rows(record));
    char *bytes = read_bytes(journal, &count);
    CHECK_OK(ss_record_close(record, &error));
    unlink(file);
    write_bytes(journal, bytes, count);
    free(bytes);
    FAIL_EACH(resume, make_given);
    CHECK_OK(read_rows());
}

static void run_tests(void)
{
    RUN_TEST(writing_survives_every_failing_allocation);
    RUN_TEST(reading_survives_every_failing_allocation);
    RUN_TEST(resuming_survives_every_failing_allocation);
}

const test_group record_allocation_tests = {
    .run = run_tests, .set_up = set_up, .tear_down = tear_down};
