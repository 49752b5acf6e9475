// tests/support/bad_file.h -- the file under test, and what is expected of reading it. Included once by
// each program, whose set_up and tear_down are here.
#pragma once

#include <stdio.h>
#include <string.h>

#include "problems/store/store.h"
#include "tests/support/hdf5_files.h"
#include "tests/support/support.h"

static ss_report report;
static ss_error error;
static const char *path;

static void set_up(void)
{
    error = (ss_error){0};
    path = scratch_path("bad.h5");
}

static void tear_down(void)
{
    ss_report_free(&report);
}

// Loads the first problem, which must fail and leave nothing.
static inline void load_bad(void)
{
    ss_reader *reader = NULL;
    ss_problem *problem = NULL;
    ss_report_free(&report);
    CHECK_OK(ss_reader_open(path, &reader, &error));
    CHECK(ss_reader_load(reader, 0, &problem, &report, &error) == SS_BAD_INPUT);
    CHECK(problem == NULL && error.status == SS_BAD_INPUT);
    ss_reader_close(reader);
}

static inline bool report_says(const char *text)
{
    for (int k = 0; k < report.count; k++) {
        if (report.findings[k].severity == SS_DEFECT &&
            strcmp(report.findings[k].text, text) == 0) {
            return true;
        }
    }
    return false;
}

// Closes the file; its only defect is `text`.
static inline void expect(hid_t file, const char *text)
{
    char sentence[700];
    close_file(file);
    load_bad();
    snprintf(sentence, sizeof sentence, "%s: %s", path, text);
    TEST_ASSERT_EQUAL_STRING(sentence, error.text);
    TEST_ASSERT_EQUAL_INT(1, report.ndefects);
}

// The file cannot even be opened.
static inline void expect_no_reader(const char *file, const char *text)
{
    ss_reader *reader = NULL;
    char sentence[700];
    CHECK(ss_reader_open(file, &reader, &error) == SS_BAD_INPUT);
    CHECK(reader == NULL);
    snprintf(sentence, sizeof sentence, "%s: %s", file, text);
    TEST_ASSERT_EQUAL_STRING(sentence, error.text);
}
