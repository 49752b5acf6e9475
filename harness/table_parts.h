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
    char **cells;           // [cells_room] owned, of formats for people, row by row; NULL: missing
    size_t ncells, cells_room;
    char **notes; // [notes_room] owned
    size_t nnotes, notes_room;
    bool out_of_memory;
};

// A cell as its format writes it, NULL where missing; it is the next one. Of formats for programs.
void ss_table_print_cell(const ss_table *table, const char *value);
// Whatever is not printed yet.
void ss_table_print_rest(ss_table *table);
