// harness/scene_file/json.h -- values of a JSON file that know where they are, so that what is
// wrong with one is a sentence that names file and key: "hair.json: strands[2].vertices[4]: ...".
#pragma once

#include "base/status.h"
#include "strands/geometry.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct ss_json {
    const char *file;
    const struct ss_json *parent; // NULL: the whole file
    const char *key;              // in an object; NULL: `index` in an array
    size_t index;
    json_t *value; // borrowed
} ss_json;

// The file; *root is the caller's to free by json_decref. Numbers that JSON has no word for, NaN
// and Infinity, are read as texts, so that they are refused where they are.
ss_status ss_json_read(const char *path, json_t **root, ss_error *e);

ss_json ss_json_item(const ss_json *array, size_t index);
ss_json ss_json_member(const ss_json *object, const char *key); // value NULL where it is absent

// SS_BAD_INPUT with file and key before the sentence.
ss_status ss_json_fail(const ss_json *at, ss_error *e, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Puts file and key before the sentence that *e holds.
ss_status ss_json_prefix(const ss_json *at, ss_status status, ss_error *e);

typedef enum ss_json_kind {
    SS_JSON_REAL,         // double, finite, as the next two
    SS_JSON_POSITIVE,     //
    SS_JSON_NOT_NEGATIVE, //
    SS_JSON_COUNT,        // int, above 0
    SS_JSON_WHOLE,        // int, 0 or more
    SS_JSON_FLAG,         // bool
    SS_JSON_TEXT,         // const char *, not empty; borrowed
    SS_JSON_VECTOR,       // ss_vec3
    SS_JSON_QUATERNION,   // double[4]
    SS_JSON_MATRIX,       // ss_mat3: three columns
    SS_JSON_VALUE,        // json_t *: anything; borrowed
} ss_json_kind;

typedef struct ss_json_field {
    const char *key; // NULL ends a table
    ss_json_kind kind;
    size_t place; // offsetof in the struct that is filled
    bool required;
} ss_json_field;

// An object whose keys are those of the table. Where a key is absent its field stays as it is.
ss_status ss_json_object(const ss_json *at, const ss_json_field *fields, void *to, ss_error *e);

// Numbers of the value, finite, `width` in each of its rows; a text names a CSV file of them beside
// the JSON file. *numbers [count][width] is the caller's to free. width 1: the array holds the
// numbers, and no file is taken.
ss_status ss_json_rows(const ss_json *at, size_t width, double **numbers, size_t *count,
                       ss_error *e);

// ---- json_write

// values and members of objects as JSON text, which json.h reads again.
//
// Numbers have the digits that give the same double again.

void ss_json_write_real(FILE *out, double x);
void ss_json_write_numbers(FILE *out, const double *x, size_t count);
void ss_json_write_vector(FILE *out, ss_vec3 x);
void ss_json_write_vectors(FILE *out, const ss_vec3 *x, int count);

// A member of an object, after a comma.
void ss_json_put_real(FILE *out, const char *key, double x);
void ss_json_put_text(FILE *out, const char *key, const char *text);
void ss_json_put_vector(FILE *out, const char *key, ss_vec3 x);

// The same on a line of its own, for long arrays.
void ss_json_put_numbers(FILE *out, const char *key, const double *x, int count);
void ss_json_put_vectors(FILE *out, const char *key, const ss_vec3 *x, int count);
