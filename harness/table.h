// harness/table.h -- a table on its way out: for a terminal, a page or a program.
//
// Text:     aligned; columns without a heading of their own are left out where they hold nothing,
//           and on a terminal those that do not fit; the last column, of texts, is broken into
//           lines.
//           A table without rows has no headings either: the reason stands on stderr.
// CSV:      a header of keys, quotes only where RFC 4180 asks for them: an ordinary name has none.
// JSON:     an array of objects; bytes that are not UTF-8 are replaced by U+FFFD. Markdown: a table
// of GitHub's. LaTeX: booktabs. Text, Markdown and LaTeX are for people: names are cleared of
// control characters, numbers have a few significant digits, footnotes follow, and what is missing
// is "-", in LaTeX "--". CSV and JSON are for programs: numbers have as many digits as give the
// same double again, there are no footnotes, and what is missing is null in JSON, in CSV nan or, of
// a text, empty; their rows are printed when they are complete, the others at the end.
//
// A user chooses columns, or all, by ss_table_style.
#pragma once

#include "base/field.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdio.h>

typedef enum ss_format {
    SS_FORMAT_TEXT,
    SS_FORMAT_CSV,
    SS_FORMAT_JSON,
    SS_FORMAT_MARKDOWN,
    SS_FORMAT_LATEX,
} ss_format;

extern const char *const ss_format_names[]; // in the order of ss_format; NULL-terminated
bool ss_format_is_for_people(ss_format format);

typedef enum ss_column_kind { SS_COLUMN_TEXT, SS_COLUMN_INTEGER, SS_COLUMN_REAL } ss_column_kind;

typedef struct ss_column {
    const char *key; // for programs; NULL ends a list
    ss_column_kind kind;
    const char *heading; // for people; NULL: the key
    int digits;          // significant ones of a real, for people; 0: 4
    const char *note;    // footnote, marked at the heading; NULL: none
} ss_column;

// How a user wants a table.
typedef struct ss_table_style {
    int format;          // an ss_format
    const char *columns; // "all", or keys with commas; NULL: all, or in text those that fit
} ss_table_style;

typedef struct ss_table ss_table;

// NULL without memory; every function here takes that NULL. ss_table_finish reports if memory was
// short later. The strings of the columns are borrowed. This one is printed as a whole, by
// ss_table_finish, whatever its format.
ss_table *ss_table_new(FILE *out, ss_format format);
// Columns first: one, those of a list, or one for each field of a table of fields.
void ss_table_column(ss_table *table, const ss_column *column);
void ss_table_columns(ss_table *table, const ss_column *list);
void ss_table_fields(ss_table *table, const ss_field *fields);

// Both at once.
ss_table *ss_table_of_columns(FILE *out, ss_format format, const ss_column *list);
ss_table *ss_table_of_fields(FILE *out, ss_format format, const ss_field *fields);

// Once there are all columns, and before a row is printed: which ones. SS_BAD_INPUT where one is
// unknown.
ss_status ss_table_choose(ss_table *table, const char *columns, ss_error *e);

// Then cells, left to right and row by row, of their column's kind.
void ss_table_text(ss_table *table, const char *value); // NULL or "": missing
void ss_table_integer(ss_table *table, long long value);
void ss_table_unsigned(ss_table *table, unsigned long long value);
void ss_table_real(ss_table *table, double value); // NaN: missing
void ss_table_reals(ss_table *table, const double *values, size_t count);
void ss_table_missing(ss_table *table);
// A row from the struct that the table of fields is of.
void ss_table_row(ss_table *table, const void *object);
// A sentence below the table that belongs to all of it.
void ss_table_note(ss_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Returns the sentences [*count], which the table owns.
char *const *ss_table_notes(const ss_table *table, size_t *count);

// Prints what is held back, and frees. Errors of `out` are left to be found in it.
ss_status ss_table_finish(ss_table *table, ss_error *e);
void ss_table_free(ss_table *table); // without printing what is held back

// A number for people: `digits` significant ones, an exponent only below 1e-3 and from 1e7 on, "-"
// for NaN.
void ss_table_number(double value, int digits, char text[32]);

// ---- table_parts

// what a table is made of, for the files that build and print it
// (internal).

struct ss_table {
    FILE *out;
    ss_format format;
    ss_column *columns; // [columns_room] owned
    size_t ncolumns, columns_room;
    const ss_field *fields; // that the columns are from; NULL: none
    size_t column;          // of the next cell
    size_t nrows;           // begun
    // [cells_room] owned, row by row; NULL: missing. If rows are printed at once, only those of the
    // row that is begun.
    char **cells;
    size_t ncells, cells_room;
    size_t *shown; // [ncolumns] owned: the columns that are printed, in their order; NULL: all
    size_t nshown;
    size_t width; // of a line of text; 0: any
    bool at_once; // its rows are printed when they are complete
    char **notes; // [notes_room] owned
    size_t nnotes, notes_room;
    bool out_of_memory;
};

// ---- What the formats share

// ---- For tests

void ss_table_fit(ss_table *table, size_t width); // in text, into lines of so many characters
