// harness/record_row.h -- one row: its columns, its key, and the text of it that the journal keeps.
#pragma once

#include <stdint.h>
#include "harness/record.h"

typedef enum ss_record_kind { SS_RECORD_TEXT, SS_RECORD_INT, SS_RECORD_REAL } ss_record_kind;

typedef struct ss_record_column {
    const char *name; // of the field and of its dataset
    ss_record_kind kind;
    size_t offset, width; // of the field in ss_record_row, in bytes
    double low, high;     // what a row that is read may hold; both 0: anything
} ss_record_column;

// All fields but the history, in the order of the struct; the last has name NULL.
extern const ss_record_column ss_record_columns[];

bool ss_record_same_key(const ss_record_row *a, const ss_record_row *b);
uint64_t ss_record_hash_key(const ss_record_row *row);

// SS_BAD_INPUT where a limit or the tolerance of the run is none that a run can have. They decide
// which runs are made again and which are compared.
ss_status ss_record_check(const ss_record_row *row, ss_error *e);

// Arrays of `count` entries; none where count is 0.
ss_status ss_history_new(int count, ss_history *history, ss_error *e);
void ss_history_free(ss_history *history);

// The row as one text without a line break; the caller frees it. A real is the sixteen hexadecimal
// digits of its bits, so that every NaN survives.
ss_status ss_record_print(const ss_record_row *row, char **text, size_t *length, ss_error *e);
// SS_BAD_INPUT where the text is of another version of this program. Owns its history on success.
ss_status ss_record_parse(const char *text, ss_record_row *row, ss_error *e);
