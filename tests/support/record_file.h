// tests/support/record_file.h -- the record under test. Included once by each file, whose set_up is here.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/record_rows.h"

static ss_error error;
static char file[512], journal[520];

static void set_up(void)
{
    error = (ss_error){0};
    snprintf(file, sizeof file, "%s", scratch_path("results.h5"));
    snprintf(journal, sizeof journal, "%s.journal", file);
    unlink(file);
    unlink(journal);
}

static inline bool exists(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

static inline ss_record *open_record(void)
{
    ss_record *record = NULL;
    CHECK_OK(ss_record_open(file, &record, &error));
    return record;
}

static inline ss_record *read_record(void)
{
    ss_record *record = NULL;
    CHECK_OK(ss_record_read(file, &record, &error));
    return record;
}

static inline void add(ss_record *record, int k, int nhistory)
{
    CHECK_OK(add_row(record, k, nhistory, &error));
}

static inline void close_record(ss_record *record)
{
    CHECK_OK(ss_record_close(record, &error));
}
