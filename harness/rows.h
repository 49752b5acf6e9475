// harness/rows.h -- a table of results on its way out: text for people, CSV and JSON for programs.
//
// Text: aligned, reals short, missing values "-", columns that hold nothing but missing values
//   left out, names cleared of control characters. It is held back until the end, to be aligned.
// CSV:  a header line; reals with 17 digits, so that reading gives the same bits; missing numbers
//   nan, missing text empty; quotes only where RFC 4180 asks for them: an ordinary name has none.
// JSON: an array of objects; missing values, NaN and infinities null; bytes that are not UTF-8 are
//   replaced by U+FFFD.
#pragma once

#include <stddef.h>
#include <stdio.h>
#include "problems/field.h"
#include "problems/status.h"

typedef enum ss_format { SS_FORMAT_TEXT, SS_FORMAT_CSV, SS_FORMAT_JSON } ss_format;

extern const char *const ss_format_names[]; // in the order of ss_format; NULL-terminated

typedef enum ss_column_kind { SS_TEXT, SS_INTEGER, SS_REAL } ss_column_kind;

typedef struct ss_column {
    const char *name; // NULL ends a list
    ss_column_kind kind;
} ss_column;

typedef struct ss_rows ss_rows;

// columns is borrowed. NULL without memory.
ss_rows *ss_rows_new(FILE *out, ss_format format, const ss_column *columns);

// The same with a column for each field of a table, and one row, of the struct that the table is
// of.
ss_rows *ss_rows_of_fields(FILE *out, ss_format format, const ss_field *table);
void ss_rows_struct(ss_rows *rows, const void *object);

// The cells of a row, left to right; the last column ends the row. The kinds must be the columns'.
void ss_rows_text(ss_rows *rows, const char *value); // NULL or "": missing
void ss_rows_integer(ss_rows *rows, long long value);
void ss_rows_unsigned(ss_rows *rows, unsigned long long value);
void ss_rows_real(ss_rows *rows, double value); // NaN: missing
void ss_rows_missing(ss_rows *rows);

// Prints what is held back and frees. Errors of `out` are left to be found in it. rows may be
// NULL: no memory.
ss_status ss_rows_finish(ss_rows *rows);
