// base/field.h -- a struct as a table of its fields: whoever prints, stores or reads it loops.
//
// A table ends with a field without a name. The order of its lines is that of columns and
// attributes. Names in it are those of columns and attributes, and stay once files exist.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(default)

typedef enum ss_field_kind {
    SS_FIELD_TEXT,    // char [width], ended by a zero; "" if missing
    SS_FIELD_LINK,    // const char *; NULL or "" if missing
    SS_FIELD_INTEGER, // int or long, by its width; negative if missing
    SS_FIELD_SEED,    // uint64_t
    SS_FIELD_REAL,    // double; NaN if missing
    SS_FIELD_PART,    // a struct within the struct, or more fields of this one, by their own table
} ss_field_kind;

// The rank of a column: where a page is narrow, columns of the last rank are left out first.
typedef enum ss_rank {
    SS_RANK_KEY,     // subject of a row, and its answer
    SS_RANK_USEFUL,  // size, and wanted exactness
    SS_RANK_WHY,     // sentences
    SS_RANK_FURTHER, // other answers
    SS_RANK_PARTS,   // parts of another column
    SS_RANK_ORIGIN,  // origin of a row
} ss_rank;

typedef struct ss_field {
    const char *name; // NULL ends a table
    ss_field_kind kind;
    size_t offset, width; // place in the struct, in bytes
    double low, high;     // bounds of a number that is read; both 0 for any number
    const char *unit;     // "1" for a pure number; NULL if the field is no number
    unsigned groups;      // groups of the field; of a part: groups whose fields it takes, 0 for all
    const struct ss_field *part; // table of a part
    ss_rank rank;
} ss_field;

// A line of a table: SS_FIELD(ss_measures, fb, SS_FIELD_REAL, .unit = "1"), called like the field;
// SS_FIELD_AS for one with a name of its own.
#define SS_FIELD(type, field, kind, ...) SS_FIELD_AS(#field, type, field, kind, __VA_ARGS__)
#define SS_FIELD_AS(name_, type, field, kind_, ...)                                                \
    {                                                                                              \
        .name = (name_), .kind = (kind_), .offset = offsetof(type, field),                         \
        .width = sizeof(((type *)0)->field), __VA_ARGS__                                           \
    }

// A walk over a table in which parts are replaced by their fields.
enum { SS_FIELDS_DEPTH = 3 }; // most parts within parts
typedef struct ss_fields {
    const ss_field *at[SS_FIELDS_DEPTH]; // next field of each open table
    size_t offset[SS_FIELDS_DEPTH];      // place of its struct in the outermost one
    unsigned groups[SS_FIELDS_DEPTH];
    int depth;
} ss_fields;

ss_fields ss_fields_of(const ss_field *table); // NULL has no fields
// Takes the next field, its offset counted from the outermost struct. Returns false after the last.
bool ss_fields_next(ss_fields *walk, ss_field *field);

// Return the value in `object`, a struct of the table that the field came from.
const char *ss_field_text(const ss_field *field, const void *object);
long long ss_field_integer(const ss_field *field, const void *object);
double ss_field_number(const ss_field *field, const void *object); // NaN where missing

// Stores a number as an int, a long or a double; a NaN in an integer is -1, "missing".
void ss_field_set(const ss_field *field, void *object, double value);
// Stores a text, cut to the width of the field, with 0 behind it. NULL is stored as "".
void ss_field_set_text(const ss_field *field, void *object, const char *text);

// Makes every number missing, every text empty, and seeds 0.
void ss_fields_blank(const ss_field *table, void *object);

#pragma GCC visibility pop
