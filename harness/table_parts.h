// harness/table_parts.h -- what a table is made of, for the files that build and print it
// (internal).
#pragma once

#include "harness/table.h"

struct ss_table {
    FILE *out;
    ss_format format;
    ss_column *columns; // [columns_room] owned
    size_t ncolumns, columns_room;
    const ss_field *fields; // that the columns are from; NULL: none
    size_t column;          // of the next cell
    size_t nrows;           // begun
    char *
        *cells; // [cells_room] owned, row by row; NULL: missing. Of a table whose rows are printed
                // at once those of the row that is begun
    size_t ncells, cells_room;
    size_t *shown; // [ncolumns] owned: the columns that are printed, in their order; NULL: all
    size_t nshown;
    size_t width; // of a line of text; 0: any
    bool at_once; // its rows are printed when they are complete
    char **notes; // [notes_room] owned
    size_t nnotes, notes_room;
    bool out_of_memory;
};

// The first row of `cells`, which is row number `row` of the table, from 1. Of formats for programs.
void ss_table_print_row(const ss_table *table, char *const *cells, size_t row);
// Whatever is not printed yet, and of that the text (table_text.c).
void ss_table_print_rest(ss_table *table);
void ss_table_print_text(ss_table *table);

// ---- What the formats share

static inline const char *ss_heading_of(const ss_column *column)
{
    return column->heading != NULL ? column->heading : column->key;
}

// What a cell shows; row 0 is the heading.
static inline const char *ss_shown(const ss_table *t, size_t row, size_t column)
{
    if (row == 0) {
        return ss_heading_of(&t->columns[column]);
    }
    const char *cell = t->cells[(row - 1) * t->ncolumns + column];
    return cell != NULL ? cell : "-";
}

static inline bool ss_shows_number(const ss_table *t, size_t column)
{
    return t->columns[column].kind != SS_COLUMN_TEXT;
}

static inline size_t ss_shown_count(const ss_table *t)
{
    return t->shown != NULL ? t->nshown : t->ncolumns;
}

// The column in place k of those that are shown.
static inline size_t ss_shown_at(const ss_table *t, size_t k)
{
    return t->shown != NULL ? t->shown[k] : k;
}

// The number of the footnote of the column in place k, 0 without one.
static inline int ss_mark_at(const ss_table *t, size_t k)
{
    int number = 0;
    for (size_t i = 0; i <= k; i++) {
        number += t->columns[ss_shown_at(t, i)].note != NULL;
    }
    return t->columns[ss_shown_at(t, k)].note != NULL ? number : 0;
}
