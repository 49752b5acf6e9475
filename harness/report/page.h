// harness/report/page.h -- one self-contained page from records, statistics and strands files.
//
// The page holds its data as JSON (data.js says what is in it), deflated and in base64, or plain.
// Strands are binary and stand beside it (strands.h).
#pragma once

#include "base/status.h"
#include "base/field.h"
#include "harness/results/trials.h"

#include <stddef.h>
#include <stdbool.h>

// ---- pack

// bytes as a page holds them: deflated (zlib's format) and in base64.

// *packed [*length], which the caller frees: `bytes` deflated.
ss_status ss_pack_deflate(const void *bytes, size_t count, void **packed, size_t *length,
                          ss_error *e);

// ---- page_json

// JSON text that grows in memory.
//
// Commas are put where they belong. In texts `<` is \u003c, so that no text ends the script element
// that holds it, and bytes that are not UTF-8 are U+FFFD. Missing memory is reported at the end.

typedef struct ss_page_json {
    char *text; // [length] owned
    size_t length, capacity;
    bool comma; // the next value follows another one
    bool failed;
} ss_page_json; // zero-initialised: empty

void ss_page_json_begin(ss_page_json *json, char bracket); // '{' or '['
void ss_page_json_end(ss_page_json *json, char bracket);
void ss_page_json_key(ss_page_json *json, const char *key);
void ss_page_json_text(ss_page_json *json, const char *text);
void ss_page_json_integer(ss_page_json *json, long long value);
// `digits` significant ones; null where it is not finite.
void ss_page_json_real(ss_page_json *json, double value, int digits);

typedef struct ss_page_request {
    int count;          // of files
    char *const *paths; // records, statistics and strands files, known by their first bytes
    const char *out, *title;
    double tolerance; // that the page opens with; NaN: the loosest of the records
    bool no_histories, plain;
} ss_page_request;

// Defects of the files of a page that was written all the same.
typedef struct ss_page_findings {
    int count;
    ss_error *errors; // [files] of one each at most, in their order; owned
} ss_page_findings;

// Replaces the file `out` whole. A file that cannot be used is a finding, and the page says so; if
// none can be used, nothing is written and the first finding is the error.
ss_status ss_page_write(const ss_page_request *request, ss_page_findings *findings, ss_error *e);
void ss_page_findings_free(ss_page_findings *findings);

// ---- For tests

// The text of `bytes` in base64, ended by a zero, which the caller frees; NULL without memory.
char *ss_pack_base64(const void *bytes, size_t count);

void ss_page_json_free(ss_page_json *json);
// The same, but never below the value: what is compared with a tolerance must not pass by rounding.
void ss_page_json_real_up(ss_page_json *json, double value, int digits);

// The objects [count], `stride` bytes apart, of a table of fields, as an object of columns: a text
// is {"v": distinct texts, "i": place of each}, a number an array with null where it is missing.
// The fields called `up` [up to NULL] are rounded up.
void ss_page_json_columns(ss_page_json *json, const ss_field *table, const void *objects,
                          size_t count, size_t stride, int digits, const char *const *up);
