// tests/support/record_rows.h -- numbered rows of results, every field a function of the number.
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/record.h"
#include "tests/support/support.h"

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
        row.history.local_solves[i] = i * 100.0 / (k + 7.0);
        row.history.fb[i] = 1.0 / (i * i + k + 0.1);
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
    const size_t n = same ? (size_t)a->history.count : 0;
    return same && same_bits(a->history.iteration, b->history.iteration, n * sizeof(int)) &&
           same_bits(a->history.seconds, b->history.seconds, n * sizeof(double)) &&
           same_bits(a->history.local_solves, b->history.local_solves, n * sizeof(double)) &&
           same_bits(a->history.fb, b->history.fb, n * sizeof(double));
}

// Whether row k of make_row is there, unchanged.
static inline bool holds_row(const ss_record *record, int k, int nhistory)
{
    ss_record_row row = make_row(k, nhistory);
    const ss_record_row *found = ss_record_find(record, &row);
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
