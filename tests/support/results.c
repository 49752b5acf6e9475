#include "tests/support/results.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/support.h"

// What distinguishes the rows; seconds are those of the whole solve.
typedef struct facts {
    const char *solver, *status;
    int problem, iterations;
    double local_solves, alt_percent, fail_percent, seconds, setup_seconds, fb;
    int count; // of the history
    int iteration[9];
    double fbs[9];
} facts;

static const facts FACTS[] = {
    {"mfb+enum:freeze=paper",
     "solved",
     1,
     4,
     400,
     1,
     0,
     0.010,
     0.002,
     5e-5,
     5,
     {0, 1, 2, 3, 4},
     {1, 0.1, 0.01, 1e-3, 5e-5}},
    {"mfb+enum:freeze=paper",
     "solved",
     2,
     8,
     1600,
     0.5,
     0,
     0.020,
     0.004,
     9e-5,
     9,
     {0, 1, 2, 3, 4, 5, 6, 7, 8},
     {1, 0.5, 0.1, 0.05, 0.01, 5e-3, 1e-3, 5e-4, 9e-5}},
    {"mfb:freeze=paper",
     "solved",
     1,
     6,
     600,
     0,
     2,
     0.008,
     0.002,
     5e-5,
     7,
     {0, 1, 2, 3, 4, 5, 6},
     {1, 0.3, 0.1, 0.03, 9e-3, 1e-3, 5e-5}},
    {"mfb:freeze=paper",
     "max_iter",
     2,
     100,
     20000,
     0,
     10,
     0.404,
     0.004,
     1e-2,
     3,
     {0, 50, 100},
     {1, 2e-2, 1e-2}},
    {"4sides:freeze=paper",
     "stopped",
     1,
     10,
     1000,
     0,
     0,
     0.012,
     0.002,
     0.3,
     3,
     {0, 5, 10},
     {1, 0.4, 0.3}},
    {"4sides:freeze=paper", "crashed", 2, -1, NAN, NAN, NAN, NAN, NAN, NAN, 0, {0}, {0}},
};

#define NFACTS (sizeof FACTS / sizeof FACTS[0])

static const facts *find(const char *solver, int problem)
{
    for (size_t k = 0; k < NFACTS; k++) {
        if (strcmp(FACTS[k].solver, solver) == 0 && FACTS[k].problem == problem) {
            return &FACTS[k];
        }
    }
    TEST_FAIL_MESSAGE("no such row");
    return NULL;
}

// The seconds of a history: the set-up, then equal iterations.
static void fill_history(const facts *f, ss_history *h)
{
    TEST_ASSERT_EQUAL_INT(SS_OK, ss_history_new(f->count, h, NULL));
    for (int k = 0; k < f->count; k++) {
        const double share = (double)f->iteration[k] / f->iterations;
        h->iteration[k] = f->iteration[k];
        h->seconds[k] = f->setup_seconds + share * (f->seconds - f->setup_seconds);
        h->fb[k] = f->fbs[k];
        h->normal[k] = 0.1 * f->fbs[k];
    }
}

ss_record_row result_row(const char *solver, int problem)
{
    const facts *f = find(solver, problem);
    ss_record_row row = {
        .tolerance = 1e-4,
        .contacts = 100 * problem,
        .dim = 3,
        .max_iterations = 100,
        .time_limit = 60.0,
        .iterations = f->iterations,
        .local_solves = (long)f->local_solves,
        .alt_percent = f->alt_percent,
        .fail_percent = f->fail_percent,
        .seconds = f->seconds,
        .seconds_median = f->seconds,
        .cpu_seconds = f->seconds,
        .setup_seconds = f->setup_seconds,
        .sweep_seconds = f->seconds - f->setup_seconds,
        .repeats = 1,
        .measures =
            {.fb = f->fb, .fb_contact = f->fb, .fb_abs = f->fb, .natural = f->fb, .normal = f->fb},
        .load = 0.5,
    };
    memset(row.problem_sha256, 'a' + problem, sizeof row.problem_sha256 - 1);
    snprintf(row.solver, sizeof row.solver, "%s", solver);
    snprintf(row.start, sizeof row.start, "zero");
    snprintf(row.build, sizeof row.build, "test");
    snprintf(row.problem, sizeof row.problem, "data/hair.h5:p%d", problem);
    snprintf(row.scene, sizeof row.scene, "hair");
    snprintf(row.status, sizeof row.status, "%s", f->status);
    fill_history(f, &row.history);
    return row;
}

const char *results_file_of(const char *name, ss_record_row *rows, size_t count)
{
    const char *path = scratch_path(name);
    ss_error error;
    ss_record *record = NULL;
    CHECK_OK(ss_record_open(path, SS_RECORD_WRITE, &record, &error));
    for (size_t k = 0; k < count; k++) {
        CHECK_OK(ss_record_add(record, &rows[k], &error));
        ss_record_row_free(&rows[k]);
    }
    ss_record_close(record);
    return path;
}

const char *results_file(const char *name)
{
    ss_record_row rows[NFACTS];
    for (size_t k = 0; k < NFACTS; k++) {
        rows[k] = result_row(FACTS[k].solver, FACTS[k].problem);
    }
    return results_file_of(name, rows, NFACTS);
}

const ss_record_row *find_row(const ss_record_rows *results, const ss_record_row *key)
{
    for (size_t k = 0; k < results->count; k++) {
        const ss_record_row *row = &results->rows[k];
        if (strcmp(row->problem_sha256, key->problem_sha256) == 0 &&
            strcmp(row->solver, key->solver) == 0 && row->tolerance == key->tolerance &&
            strcmp(row->start, key->start) == 0 && strcmp(row->build, key->build) == 0) {
            return row;
        }
    }
    return NULL;
}

static bool same_bits(const void *a, const void *b, size_t count)
{
    return count == 0 || memcmp(a, b, count) == 0;
}

static bool is_of_the_moment(const char *name)
{
    static const char *const NAMES[] = {
        "seconds",        "cpu_seconds", "setup_seconds", "sweep_seconds",
        "seconds_median", "load",        "date",          "host"};
    bool found = false;
    for (size_t k = 0; k < sizeof NAMES / sizeof NAMES[0]; k++) {
        found = found || strcmp(name, NAMES[k]) == 0;
    }
    return found;
}

void check_same_findings(const ss_record_row *one, const ss_record_row *two)
{
    ss_field field;
    for (ss_fields walk = ss_fields_of(ss_record_fields); ss_fields_next(&walk, &field);) {
        const char *x = (const char *)one + field.offset, *y = (const char *)two + field.offset;
        if (field.kind == SS_FIELD_TEXT && !is_of_the_moment(field.name)) {
            TEST_ASSERT_EQUAL_STRING_MESSAGE(x, y, field.name);
        } else if (!is_of_the_moment(field.name)) {
            TEST_ASSERT_TRUE_MESSAGE(same_bits(x, y, field.width), field.name);
        }
    }
    TEST_ASSERT_EQUAL_INT(one->history.count, two->history.count);
    const size_t bytes = (size_t)one->history.count * sizeof(double);
    CHECK(same_bits(one->history.iteration, two->history.iteration, bytes));
    CHECK(same_bits(one->history.fb, two->history.fb, bytes));
}

void check_same_records(const ss_record_rows *one, const ss_record_rows *two)
{
    TEST_ASSERT_EQUAL_size_t(one->count, two->count);
    for (size_t k = 0; k < one->count; k++) {
        const ss_record_row *row = find_row(two, &one->rows[k]);
        CHECK(row != NULL);
        check_same_findings(&one->rows[k], row);
    }
}
