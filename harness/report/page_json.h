// harness/report/page_json.h -- JSON text that grows in memory.
//
// Commas are put where they belong. In texts `<` is \u003c, so that no text ends the script element
// that holds it, and bytes that are not UTF-8 are U+FFFD. Missing memory is reported at the end.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/field.h"

typedef struct ss_page_json {
    char *text; // [length] owned
    size_t length, capacity;
    bool comma; // the next value follows another one
    bool failed;
} ss_page_json; // zero-initialised: empty

void ss_page_json_free(ss_page_json *json);

void ss_page_json_begin(ss_page_json *json, char bracket); // '{' or '['
void ss_page_json_end(ss_page_json *json, char bracket);
void ss_page_json_key(ss_page_json *json, const char *key);
void ss_page_json_text(ss_page_json *json, const char *text);
void ss_page_json_integer(ss_page_json *json, long long value);
void ss_page_json_bool(ss_page_json *json, bool value);
// `digits` significant ones; null where it is not finite.
void ss_page_json_real(ss_page_json *json, double value, int digits);
// The same, but never below the value: what is compared with a tolerance must not pass by rounding.
void ss_page_json_real_up(ss_page_json *json, double value, int digits);
// A value that is JSON already.
void ss_page_json_raw(ss_page_json *json, const char *text, size_t length);

// The objects [count], `stride` bytes apart, of a table of fields, as an object of columns: a text
// is {"v": distinct texts, "i": place of each}, a number an array with null where it is missing. The
// fields called `up` [up to NULL] are rounded up.
void ss_page_json_columns(ss_page_json *json, const ss_field *table, const void *objects,
                          size_t count, size_t stride, int digits, const char *const *up);
