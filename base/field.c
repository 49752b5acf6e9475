#include "base/field.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/assert.h"

ss_fields ss_fields_of(const ss_field *table)
{
    return (ss_fields){.at = {table}};
}

static void enter(ss_fields *walk, const ss_field *part)
{
    const size_t offset = walk->offset[walk->depth] + part->offset;
    ss_assert(walk->depth + 1 < SS_FIELDS_DEPTH);
    walk->depth++;
    walk->at[walk->depth] = part->part;
    walk->offset[walk->depth] = offset;
    walk->groups[walk->depth] = part->groups;
}

bool ss_fields_next(ss_fields *walk, ss_field *field)
{
    for (;;) {
        const int depth = walk->depth;
        const ss_field *at = walk->at[depth];
        const bool ended = at == NULL || at->name == NULL;
        if (ended && depth == 0) {
            return false;
        }
        if (ended) {
            walk->depth--;
            continue;
        }
        walk->at[depth]++;
        const unsigned groups = walk->groups[depth];
        if (groups != 0 && (groups & at->groups) == 0) {
            continue;
        }
        if (at->kind != SS_FIELD_PART) {
            *field = *at;
            field->offset += walk->offset[depth];
            return true;
        }
        enter(walk, at);
    }
}

const char *ss_field_text(const ss_field *field, const void *object)
{
    const char *place = (const char *)object + field->offset;
    if (field->kind == SS_FIELD_TEXT) {
        return place;
    }
    ss_assert(field->kind == SS_FIELD_LINK);
    const char *text;
    memcpy(&text, place, sizeof text);
    return text;
}

long long ss_field_integer(const ss_field *field, const void *object)
{
    const char *place = (const char *)object + field->offset;
    ss_assert(field->kind == SS_FIELD_INTEGER);
    int number;
    long large;
    if (field->width == sizeof number) {
        memcpy(&number, place, sizeof number);
        return number;
    }
    ss_assert(field->width == sizeof large);
    memcpy(&large, place, sizeof large);
    return large;
}

double ss_field_number(const ss_field *field, const void *object)
{
    if (field->kind == SS_FIELD_INTEGER) {
        const long long value = ss_field_integer(field, object);
        return value < 0 ? NAN : (double)value;
    }
    ss_assert(field->kind == SS_FIELD_REAL);
    double value;
    memcpy(&value, (const char *)object + field->offset, sizeof value);
    return value;
}

void ss_field_set(const ss_field *field, void *object, double value)
{
    char *place = (char *)object + field->offset;
    const double whole = isnan(value) ? -1.0 : value;
    if (field->kind == SS_FIELD_REAL) {
        memcpy(place, &value, sizeof value);
    } else if (field->width == sizeof(int)) {
        memcpy(place, &(int){(int)whole}, sizeof(int));
    } else {
        ss_assert(field->kind == SS_FIELD_INTEGER && field->width == sizeof(long));
        memcpy(place, &(long){(long)whole}, sizeof(long));
    }
}

void ss_field_set_text(const ss_field *field, void *object, const char *text)
{
    ss_assert(field->kind == SS_FIELD_TEXT);
    strncpy((char *)object + field->offset, text != NULL ? text : "", field->width - 1);
    ((char *)object)[field->offset + field->width - 1] = '\0';
}

void ss_fields_blank(const ss_field *table, void *object)
{
    ss_field field;
    for (ss_fields walk = ss_fields_of(table); ss_fields_next(&walk, &field);) {
        if (field.kind == SS_FIELD_INTEGER || field.kind == SS_FIELD_REAL) {
            ss_field_set(&field, object, NAN);
        } else {
            memset((char *)object + field.offset, 0, field.width);
        }
    }
}
