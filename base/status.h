// base/status.h -- how functions of this library report failure.
//
// Nothing here exits or prints: a function that can fail returns a status and, where the caller
// gave an ss_error, writes one sentence into it. The values equal the program's exit codes.
#pragma once

#pragma GCC visibility push(default)

typedef enum ss_status {
    SS_OK = 0,
    SS_BAD_INPUT = 3, // bad data: a file, a dataset, a value
    SS_SYSTEM = 4,    // system error: memory, disk, processes
} ss_status;

typedef struct ss_error {
    ss_status status;
    char text[640]; // one sentence, no newline at its end
} ss_error;

// Writes the sentence and returns the status, so that a failure is one line. e may be NULL.
ss_status ss_fail(ss_error *e, ss_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Returns SS_SYSTEM, with "not enough memory for <what>".
ss_status ss_fail_memory(ss_error *e, const char *what);

#pragma GCC visibility pop
