// harness/table.h -- a small table with footnotes, laid out for a terminal, a page or a program.
//
// Text, Markdown and LaTeX (booktabs) show numbers with a few significant digits and the footnotes
// below the table; CSV has a header of keys, numbers with 17 digits, and nothing else, so that
// other programs can read it. Missing numbers are "-", in LaTeX "--", in CSV nan.
#pragma once

#include <stdio.h>
#include "problems/status.h"

typedef enum ss_layout {
    SS_LAYOUT_TEXT,
    SS_LAYOUT_MARKDOWN,
    SS_LAYOUT_LATEX,
    SS_LAYOUT_CSV
} ss_layout;

extern const char *const ss_layout_names[]; // in the order of ss_layout; NULL-terminated

typedef struct ss_table_column {
    const char *key;     // in CSV
    const char *heading; // elsewhere
    int digits;          // significant digits of its numbers; 0: a column of texts
    const char *note;    // footnote, marked at the heading; NULL: none
} ss_table_column;

typedef struct ss_table ss_table;

// NULL without memory; every function here takes that NULL. Memory that is lacking later is told
// by ss_table_print. The strings of the columns are borrowed.
ss_table *ss_table_new(void);
void ss_table_free(ss_table *table);

// Columns first, then the cells, left to right and row by row, of the column's kind.
void ss_table_column_add(ss_table *table, const ss_table_column *column);
void ss_table_text(ss_table *table, const char *value);
void ss_table_real(ss_table *table, double value); // NaN: missing
// A sentence below the table that belongs to all of it.
void ss_table_note(ss_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

ss_status ss_table_print(const ss_table *table, FILE *out, ss_layout layout, ss_error *e);

// A number for people: `digits` significant ones, an exponent only below 1e-3 and from 1e7 on, "-"
// for NaN.
void ss_table_number(double value, int digits, char text[32]);
