// harness/report/page_json.c -- see page_json.h.
#include "harness/report/page_json.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/quote.h"

void ss_page_json_free(ss_page_json *json)
{
    free(json->text);
    *json = (ss_page_json){0};
}

static void put(ss_page_json *json, const char *text, size_t length)
{
    if (json->length + length > json->capacity) {
        const size_t capacity = 2 * (json->length + length) + 4096;
        char *grown = json->failed ? NULL : realloc(json->text, capacity);
        if (grown == NULL) {
            json->failed = true;
            return;
        }
        json->text = grown;
        json->capacity = capacity;
    }
    memcpy(json->text + json->length, text, length);
    json->length += length;
}

static void put_text(ss_page_json *json, const char *text)
{
    put(json, text, strlen(text));
}

// Before a value; after it the next one needs a comma.
static void separate(ss_page_json *json)
{
    if (json->comma) {
        put(json, ",", 1);
    }
    json->comma = true;
}

void ss_page_json_begin(ss_page_json *json, char bracket)
{
    separate(json);
    put(json, &bracket, 1);
    json->comma = false;
}

void ss_page_json_end(ss_page_json *json, char bracket)
{
    put(json, &bracket, 1);
    json->comma = true;
}

static void put_quoted(ss_page_json *json, const char *text)
{
    ss_quoted next;
    put(json, "\"", 1);
    while (ss_quote_next(SS_JSON, &text, &next)) {
        put(json, next.bytes, next.count);
    }
    put(json, "\"", 1);
}

void ss_page_json_text(ss_page_json *json, const char *text)
{
    separate(json);
    put_quoted(json, text);
}

void ss_page_json_key(ss_page_json *json, const char *key)
{
    ss_page_json_text(json, key);
    put(json, ":", 1);
    json->comma = false;
}

void ss_page_json_integer(ss_page_json *json, long long value)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", value);
    separate(json);
    put_text(json, text);
}

void ss_page_json_bool(ss_page_json *json, bool value)
{
    separate(json);
    put_text(json, value ? "true" : "false");
}

void ss_page_json_raw(ss_page_json *json, const char *text, size_t length)
{
    separate(json);
    put(json, text, length);
}

static void put_real(ss_page_json *json, double value, int digits, bool up)
{
    char text[40] = "null";
    separate(json);
    if (isfinite(value)) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        // One unit of the last digit above, where the nearest is below.
        if (up && strtod(text, NULL) < value) {
            const double unit = pow(10.0, floor(log10(fabs(value))) - digits + 1);
            snprintf(text, sizeof text, "%.*g", digits, value + 0.5 * unit);
        }
        // Rounding at a power of ten may still miss it.
        if (up && strtod(text, NULL) < value) {
            snprintf(text, sizeof text, "%.17g", value);
        }
    }
    put_text(json, text);
}

void ss_page_json_real(ss_page_json *json, double value, int digits)
{
    put_real(json, value, digits, false);
}

void ss_page_json_real_up(ss_page_json *json, double value, int digits)
{
    put_real(json, value, digits, true);
}

// ---- Columns

// The distinct texts of a column: an open hash of places.
typedef struct texts {
    const ss_field *field;
    const char *objects;
    size_t stride, capacity; // a power of two
    size_t *slots;           // [capacity] 1 + the first object with that text; 0: empty
    size_t *place;           // [capacity] of that text among the distinct ones
    size_t count;
} texts;

static const char *text_of(const texts *t, size_t k)
{
    const char *text = ss_field_text(t->field, t->objects + k * t->stride);
    return text != NULL ? text : "";
}

// The slot of the text of object k: where it is, or an empty one.
static size_t find_slot(const texts *t, size_t k)
{
    uint64_t hash = 14695981039346656037u; // FNV-1a
    for (const char *c = text_of(t, k); *c != '\0'; c++) {
        hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    }
    size_t slot = (size_t)hash & (t->capacity - 1);
    while (t->slots[slot] != 0 && strcmp(text_of(t, t->slots[slot] - 1), text_of(t, k)) != 0) {
        slot = (slot + 1) & (t->capacity - 1);
    }
    return slot;
}

static void put_distinct(ss_page_json *json, texts *t, size_t count)
{
    ss_page_json_begin(json, '{');
    ss_page_json_key(json, "v");
    ss_page_json_begin(json, '[');
    for (size_t k = 0; k < count; k++) {
        const size_t slot = find_slot(t, k);
        if (t->slots[slot] == 0) {
            t->slots[slot] = k + 1;
            t->place[slot] = t->count++;
            ss_page_json_text(json, text_of(t, k));
        }
    }
    ss_page_json_end(json, ']');
    ss_page_json_key(json, "i");
    ss_page_json_begin(json, '[');
    for (size_t k = 0; k < count; k++) {
        ss_page_json_integer(json, (long long)t->place[find_slot(t, k)]);
    }
    ss_page_json_end(json, ']');
    ss_page_json_end(json, '}');
}

static void put_texts(ss_page_json *json, const ss_field *field, const void *objects, size_t count,
                      size_t stride)
{
    texts t = {.field = field, .objects = objects, .stride = stride, .capacity = 16};
    while (t.capacity < 2 * count) {
        t.capacity *= 2;
    }
    t.slots = calloc(2 * t.capacity, sizeof *t.slots);
    if (t.slots == NULL) {
        json->failed = true;
        return;
    }
    t.place = t.slots + t.capacity;
    put_distinct(json, &t, count);
    free(t.slots);
}

// As a text: a double does not hold all of them.
static void put_seed(ss_page_json *json, const ss_field *field, const void *object)
{
    char text[32];
    uint64_t seed;
    memcpy(&seed, (const char *)object + field->offset, sizeof seed);
    snprintf(text, sizeof text, "%llu", (unsigned long long)seed);
    ss_page_json_text(json, text);
}

static void put_numbers(ss_page_json *json, const ss_field *field, const char *objects,
                        size_t count, size_t stride, int digits, bool up)
{
    ss_page_json_begin(json, '[');
    for (size_t k = 0; k < count; k++) {
        const void *object = objects + k * stride;
        if (field->kind == SS_FIELD_REAL) {
            put_real(json, ss_field_number(field, object), digits, up);
        } else if (field->kind == SS_FIELD_SEED) {
            put_seed(json, field, object);
        } else {
            ss_page_json_real(json, ss_field_number(field, object), 17); // a whole number, or null
        }
    }
    ss_page_json_end(json, ']');
}

static bool is_among(const char *name, const char *const *names)
{
    while (*names != NULL && strcmp(name, *names) != 0) {
        names++;
    }
    return *names != NULL;
}

void ss_page_json_columns(ss_page_json *json, const ss_field *table, const void *objects,
                          size_t count, size_t stride, int digits, const char *const *up)
{
    ss_field field;
    ss_page_json_begin(json, '{');
    for (ss_fields walk = ss_fields_of(table); ss_fields_next(&walk, &field);) {
        ss_page_json_key(json, field.name);
        if (field.kind == SS_FIELD_TEXT || field.kind == SS_FIELD_LINK) {
            put_texts(json, &field, objects, count, stride);
        } else {
            put_numbers(json, &field, objects, count, stride, digits, is_among(field.name, up));
        }
    }
    ss_page_json_end(json, '}');
}
