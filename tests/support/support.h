// tests/support/support.h -- what every test file uses: Unity, checks that NaN cannot pass, scratch files.
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "tests/support/group.h"
#include "unity.h"

// Written as "what must hold", so that a NaN on either side fails.
#define CHECK(condition) check_true((condition), #condition, __LINE__)
#define CHECK_LE(actual, bound)                                                                    \
    check_ordered((double)(actual), (double)(bound), #actual " <= " #bound, __LINE__)
#define CHECK_NEAR(actual, expected, tolerance)                                                    \
    check_within((double)(actual), (double)(expected), (double)(tolerance),                        \
                 #actual " near " #expected, __LINE__)
#define CHECK_OK(call) check_status((int)(call), &error, #call, __LINE__)

// Begins the message of each check that fails in the rest of a test, with a model's spec for example;
// "" ends that.
void checks_are_about(const char *subject);

void check_true(bool holds, const char *text, int line);
void check_ordered(double small, double large, const char *text, int line);
void check_within(double actual, double expected, double tolerance, const char *text, int line);
// status 0, else the test fails with the sentence of `error` (an ss_error in scope).
void check_status(int status, const ss_error *error, const char *text, int line);

// A fresh directory for each group of tests, removed with its content at its end. scratch_path
// gives the path of a file in it, in one of eight rotating buffers.
const char *scratch_path(const char *name);
void remove_scratch(void);

// All bytes of a file, and a zero after them, which the caller frees; and a file of such bytes.
char *read_bytes(const char *path, size_t *count);
void write_bytes(const char *path, const void *bytes, size_t count);
const char *put_scratch(const char *name, const char *text); // its scratch_path

// The folder of shared FCLIB files, or NULL where it is not present.
const char *fclib_folder(void);

// Allocation failure: tests linked with the wrapped malloc only (tests/meson.build). The k-th
// allocation from now fails, counted from 1; 0 lets all succeed. Counts only allocations of code
// in libstickslip and the tests, not those inside other libraries.
void fail_allocation(long k);
long allocations_since(void); // since the last fail_allocation
// The operation with its first allocation failing, then the second, until one run makes fewer: each
// is SS_SYSTEM with a sentence in `error`, and there are some. `prepare`, which may be NULL, runs
// before each with all of its memory; `name` is for the message.
void fail_each_allocation(const char *name, ss_status (*operation)(void), void (*prepare)(void),
                          ss_error *error);
#define FAIL_EACH(operation, prepare) fail_each_allocation(#operation, operation, prepare, &error)

// The largest |x|; NaN where there is one.
double largest_of(const double *x, int count);
