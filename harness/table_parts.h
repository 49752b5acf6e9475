// harness/table_parts.h -- what a table is made of, for the files that build and print it
// (internal).
#pragma once

#include <stdbool.h>
#include "harness/table.h"

#define MAX_COLUMNS 16
#define MAX_NOTES   16

typedef struct ss_table_cell {
    char *text; // owned; NULL in a column of numbers
    double number;
} ss_table_cell;

struct ss_table {
    ss_table_column columns[MAX_COLUMNS];
    size_t ncolumns;
    ss_table_cell *cells; // [capacity] owned
    size_t ncells, capacity;
    char *notes[MAX_NOTES]; // owned
    size_t nnotes;
    bool out_of_memory;
};

// What a cell shows in the layouts for people; row 0 is the heading. buffer serves numbers.
const char *ss_table_shown(const ss_table *table, size_t row, size_t column, char buffer[32]);
int ss_table_mark(const ss_table *table, size_t column); // number of its footnote; 0: none
size_t ss_table_rows(const ss_table *table);             // without the heading

// The layouts, each to the end of the footnotes.
void ss_table_print_text(const ss_table *table, FILE *out);
void ss_table_print_markdown(const ss_table *table, FILE *out);
void ss_table_print_latex(const ss_table *table, FILE *out);
void ss_table_print_csv(const ss_table *table, FILE *out);
