// tests/support/program.h -- the program as its user sees it: words in, two streams and an exit code out.
//
// STICKSLIP in the environment is the program's path.
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#define OUTPUT_CAPACITY (1 << 16)

// What the last run printed.
extern char standard_out[OUTPUT_CAPACITY];
extern char standard_error[OUTPUT_CAPACITY];

// The exit code; words end with NULL. stdout goes to the file `to`, or into standard_out where that
// is NULL. Fails the test where the program was ended by a signal.
int run_program(const char *to, const char *const *words);

#define RUN(...)          run_program(NULL, (const char *const[]){__VA_ARGS__, NULL})
#define EXPECT(code, ...) TEST_ASSERT_EQUAL_INT_MESSAGE(code, RUN(__VA_ARGS__), standard_error)
#define SAYS(sentence)    TEST_ASSERT_EQUAL_STRING("stickslip " sentence "\n", standard_error)

// The part occurs in the text.
#define HOLDS(text, part) check_holds(text, part, __LINE__)
void check_holds(const char *text, const char *part, int line);

int count_lines(const char *text);
bool is_json(const char *text);

// Starts the program, which goes on by itself; its streams go to the files.
pid_t start_program(const char *out, const char *err, const char *const *words);
// Until the file holds something; at most a minute.
void wait_for_bytes(const char *path);
const char *file_text(const char *path); // in a static buffer

// The field in column `name` of line `row` (from 1, below the header) of a CSV text without quotes,
// in a static buffer; and as a number, which it must be.
const char *csv_field(const char *csv, int row, const char *name);
double csv_number(const char *csv, int row, const char *name);
