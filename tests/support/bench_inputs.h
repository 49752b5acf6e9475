// tests/support/bench_inputs.h -- problems for `stickslip bench` and a record, new for each test. Included
// once by each program, whose set_up and tear_down are here.
#pragma once

#include <stdio.h>

#include "tests/support/results.h"
#include "tests/support/program.h"
#include "tests/support/support.h"

static char many[512];   // a collection of three
static char guess[512];  // a problem with a guess
static char big[512];    // one that takes minutes to solve
static char result[512]; // the record

static inline void keep_path(char *path, const char *name)
{
    snprintf(path, 512, "%s", scratch_path(name));
}

static void set_up(void)
{
    static int test;
    char name[32];
    snprintf(name, sizeof name, "results-%d.db", test++);
    keep_path(result, name);
    if (many[0] == '\0') {
        keep_path(many, "many.h5");
        keep_path(guess, "guess.h5");
        keep_path(big, "big.h5");
        EXPECT(0, "generate", "tangle", "--contacts", "20", "--per-rod", "4", "--count", "3",
               "--out", many);
        EXPECT(0, "generate", "tangle", "--contacts", "60", "--per-rod", "4", "--warm", "--out",
               guess);
        EXPECT(0, "generate", "tangle", "--contacts", "2000", "--out", big);
    }
}

static inline ss_record_rows read_results(const char *path)
{
    ss_error error;
    ss_record_rows results;
    CHECK_OK(ss_record_rows_read(path, &results, &error));
    return results;
}

static inline void rows_are(size_t count)
{
    ss_record_rows results = read_results(result);
    TEST_ASSERT_EQUAL_size_t(count, results.count);
    ss_record_rows_free(&results);
}
