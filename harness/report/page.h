// harness/report/page.h -- one self-contained page from records, statistics and strands files.
//
// The page holds its data as JSON (data.js says what is in it), deflated and in base64, or plain.
// Strands are binary and stand beside it (strands.h).
#pragma once

#include <stdbool.h>

#include "base/status.h"

typedef struct ss_page_request {
    int count;          // of files
    char *const *paths; // records, statistics and strands files, known by their first bytes
    const char *out, *title;
    double tolerance; // that the page opens with; NaN: the loosest of the records
    bool no_histories, plain;
} ss_page_request;

// What was wrong with the files of a page that was written all the same.
typedef struct ss_page_findings {
    int count;
    ss_error *errors; // [files] of one each at most, in their order; owned
} ss_page_findings;

// Replaces the file `out` whole. A file that cannot be used is a finding, and the page says so; if
// none can be used, nothing is written and the first finding is the error.
ss_status ss_page_write(const ss_page_request *request, ss_page_findings *findings, ss_error *e);
void ss_page_findings_free(ss_page_findings *findings);
