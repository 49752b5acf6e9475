// tests/support/reading.h -- what is read from the file under test. Included once by each file, whose
// set_up and tear_down are here.
#pragma once

#include "problems/store/store.h"
#include "tests/support/hdf5_files.h"
#include "tests/support/support.h"

static ss_problem *problem;
static ss_reader *reader;
static ss_report report;
static ss_error error;

static void set_up(void)
{
    error = (ss_error){0};
}

static void tear_down(void)
{
    ss_problem_free(problem);
    problem = NULL;
    ss_reader_close(reader);
    reader = NULL;
    ss_report_free(&report);
}
