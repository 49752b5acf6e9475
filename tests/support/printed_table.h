// tests/support/printed_table.h -- a table printed into memory.
#pragma once

#include "harness/table.h"

// A table, or the file of one; end_table returns what it printed, until the next one begins.
ss_table *begin_table(ss_format format);
FILE *table_file(void);
const char *end_table(ss_table *table);
// Of a table that is not printed.
void drop_table(ss_table *table);
void forget_table(void); // what end_table returned
