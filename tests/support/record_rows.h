// tests/support/record_rows.h -- the record under test, and numbered rows, every field of which is a
// function of the number. Included once by each file, whose set_up is here.
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/results.h"
#include "tests/support/support.h"

static ss_error error;
static char file[512];

static void set_up(void)
{
    char journal[530];
    error = (ss_error){0};
    snprintf(file, sizeof file, "%s", scratch_path("results.db"));
    snprintf(journal, sizeof journal, "%s-journal", file);
    unlink(file);
    unlink(journal);
}

// Owns its history.
static inline ss_record_row make_row(int k, int nhistory)
{
    ss_record_row row = {.tolerance = 1e-4,
                         .contacts = 100 + k,
                         .dim = 3,
                         .max_iterations = 1000,
                         .time_limit = 60.5,
                         .iterations = 7 * k,
                         .local_solves = 1000000L * k,
                         .alt_percent = 0.1 * k,
                         .fail_percent = NAN,
                         .seconds = 1.0 / (k + 3),
                         .measures = {.fb = exp(-k)},
                         .repeats = 3};
    snprintf(row.problem_sha256, sizeof row.problem_sha256, "%064x", (unsigned)k);
    snprintf(row.solver, sizeof row.solver, "mfb+enum");
    snprintf(row.start, sizeof row.start, "zero");
    snprintf(row.build, sizeof row.build, "0.1.0 abc -O2");
    snprintf(row.problem, sizeof row.problem, "tangle.h5:%d", k);
    snprintf(row.scene, sizeof row.scene, "tangle");
    snprintf(row.status, sizeof row.status, "solved");
    TEST_ASSERT_EQUAL_INT(SS_OK, ss_history_new(nhistory, &row.history, NULL));
    for (int i = 0; i < nhistory; i++) {
        row.history.iteration[i] = i + k;
        row.history.seconds[i] = (i + 1) / (k + 3.0);
        row.history.fb[i] = 1.0 / (i * i + k + 0.1);
        row.history.normal[i] = 0.5 / (i + k + 0.1);
    }
    return row;
}

static inline bool same_bits(const void *a, const void *b, size_t count)
{
    return count == 0 || memcmp(a, b, count) == 0;
}

static inline bool same_row(const ss_record_row *a, const ss_record_row *b)
{
    bool same = a->history.count == b->history.count;
    ss_field field;
    for (ss_fields walk = ss_fields_of(ss_record_fields); ss_fields_next(&walk, &field);) {
        const char *x = (const char *)a + field.offset, *y = (const char *)b + field.offset;
        same = same &&
               (field.kind == SS_FIELD_TEXT ? strcmp(x, y) == 0 : same_bits(x, y, field.width));
    }
    const size_t bytes = same ? (size_t)a->history.count * sizeof(double) : 0;
    return same && same_bits(a->history.iteration, b->history.iteration, bytes) &&
           same_bits(a->history.seconds, b->history.seconds, bytes) &&
           same_bits(a->history.fb, b->history.fb, bytes) &&
           same_bits(a->history.normal, b->history.normal, bytes);
}

// Whether row k of make_row is there, unchanged.
static inline bool holds_row(const ss_record_rows *results, int k, int nhistory)
{
    ss_record_row row = make_row(k, nhistory);
    const ss_record_row *found = find_row(results, &row);
    const bool holds = found != NULL && same_row(found, &row);
    ss_record_row_free(&row);
    return holds;
}

static inline ss_status add_row(ss_record *record, int k, int nhistory, ss_error *e)
{
    ss_record_row row = make_row(k, nhistory);
    const ss_status status = ss_record_add(record, &row, e);
    ss_record_row_free(&row);
    return status;
}

static inline void add(ss_record *record, int k, int nhistory)
{
    CHECK_OK(add_row(record, k, nhistory, &error));
}

static inline ss_record *open_record(void)
{
    ss_record *record = NULL;
    CHECK_OK(ss_record_open(file, SS_RECORD_WRITE, &record, &error));
    return record;
}

static inline ss_record_rows read_results(void)
{
    ss_record_rows results;
    CHECK_OK(ss_record_rows_read(file, &results, &error));
    return results;
}

// Rows 0 .. n - 1 in a record of their own.
static inline void write_record(int n, int nhistory)
{
    ss_record *record = open_record();
    for (int k = 0; k < n; k++) {
        add(record, k, nhistory);
    }
    ss_record_close(record);
}
