// tests/reading.h -- what is read from the file under test. Included once by each program, whose
// setUp and tearDown are here.
#pragma once

#include "problems/store/store.h"
#include "tests/hdf5_files.h"
#include "tests/support.h"

static ss_problem *problem;
static ss_reader *reader;
static ss_report report;
static ss_error error;

void setUp(void)
{
    error = (ss_error){0};
}

void tearDown(void)
{
    ss_problem_free(problem);
    problem = NULL;
    ss_reader_close(reader);
    reader = NULL;
    ss_report_free(&report);
}
