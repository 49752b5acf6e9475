// A table printed into memory (printed_table.h).
#include "tests/support/printed_table.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/support/support.h"

static char *printed; // by the last table
static char *room;    // of printed, while a table is written
static size_t size;
static FILE *file;

void forget_table(void)
{
    free(printed);
    printed = NULL;
}

FILE *table_file(void)
{
    forget_table();
    file = open_memstream(&room, &size);
    return file;
}

ss_table *begin_table(ss_format format)
{
    return ss_table_new(table_file(), format);
}

const char *end_table(ss_table *table)
{
    ss_error error;
    CHECK_OK(ss_table_finish(table, &error));
    fclose(file);
    printed = room;
    return printed;
}

void drop_table(ss_table *table)
{
    ss_table_free(table);
    fclose(file);
    free(room);
}
