// harness/record_row.c -- the columns of a row, its key, and its text.
//
// The text: the version, then every column, then the number of entries of the history and the
// entries, all separated by tabs. In a text field a tab, a line break and a backslash are written
// \t, \n and \\.
#include "harness/record_row.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problems/sha256.h"

// Grows when the columns change; stands before the first tab.
#define TEXT_VERSION "3"
// Bytes of the shortest entry of a history: an int and three reals, a tab before each.
#define ENTRY_BYTES_MIN (2 + 3 * 17)

#define TEXT(name_)          SS_FIELD(ss_record_row, name_, SS_FIELD_TEXT, .unit = NULL)
#define INTEGER(name_)       SS_FIELD(ss_record_row, name_, SS_FIELD_INTEGER, .unit = "1")
#define REAL(name_, unit_)   SS_FIELD(ss_record_row, name_, SS_FIELD_REAL, .unit = unit_)
#define BETWEEN(low_, high_) .low = (low_), .high = (high_)

const ss_field ss_result_fields[] = {
    TEXT(problem),
    INTEGER(contacts),
    TEXT(solver),
    SS_FIELD_AS("tol", ss_record_row, tolerance, SS_FIELD_REAL, .unit = "1", BETWEEN(0.0, 1.0)),
    TEXT(status),
    INTEGER(iterations),
    INTEGER(local_solves),
    REAL(alt_percent, "%"),
    REAL(fail_percent, "%"),
    REAL(seconds, "s"),
    REAL(cpu_seconds, "s"),
    REAL(setup_seconds, "s"),
    REAL(sweep_seconds, "s"),
    SS_FIELD(ss_record_row, measures, SS_FIELD_PART, .part = ss_measure_fields,
             .groups = SS_MEASURES_OF_ROWS),
    TEXT(detail),
    {.name = NULL},
};

const ss_field ss_record_fields[] = {
    {.name = "result", .kind = SS_FIELD_PART, .part = ss_result_fields},
    TEXT(problem_sha256),
    TEXT(start),
    TEXT(build),
    TEXT(scene),
    INTEGER(dim),
    SS_FIELD(ss_record_row, max_iterations, SS_FIELD_INTEGER, .unit = "1", BETWEEN(0.0, INT_MAX)),
    SS_FIELD(ss_record_row, time_limit, SS_FIELD_REAL, .unit = "s", BETWEEN(0.0, 1e9)),
    REAL(seconds_median, "s"),
    INTEGER(repeats),
    REAL(load, "1"),
    TEXT(machine),
    TEXT(date),
    {.name = NULL},
};

ss_record_row ss_record_row_blank(void)
{
    ss_record_row row = {0};
    ss_fields_blank(ss_record_fields, &row);
    row.measures = ss_measures_none();
    row.repeats = 0;
    return row;
}

void ss_record_put_label(const char *label, char *text, size_t room)
{
    const size_t length = strlen(label);
    snprintf(text, room, "%s", length < room ? label : label + length - (room - 1));
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

// ---- The key.

bool ss_record_same_key(const ss_record_row *a, const ss_record_row *b)
{
    return strcmp(a->problem_sha256, b->problem_sha256) == 0 && strcmp(a->solver, b->solver) == 0 &&
           bits_of(a->tolerance) == bits_of(b->tolerance) && strcmp(a->start, b->start) == 0 &&
           strcmp(a->build, b->build) == 0;
}

// FNV-1a; the final zero of a text is mixed in, so that the texts do not run together.
static uint64_t mix(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    for (size_t k = 0; k < count; k++) {
        hash = (hash ^ at[k]) * 0x100000001b3u;
    }
    return hash;
}

uint64_t ss_record_hash_key(const ss_record_row *row)
{
    uint64_t hash = mix(0xcbf29ce484222325u, row->problem_sha256, strlen(row->problem_sha256) + 1);
    hash = mix(hash, row->solver, strlen(row->solver) + 1);
    hash = mix(hash, &row->tolerance, sizeof row->tolerance);
    hash = mix(hash, row->start, strlen(row->start) + 1);
    return mix(hash, row->build, strlen(row->build) + 1);
}

void ss_record_stand_in(const char *label, char sha256[65])
{
    ss_sha256 hash;
    uint8_t digest[SS_SHA256_BYTES];
    ss_sha256_init(&hash);
    ss_sha256_update(&hash, label, strlen(label));
    ss_sha256_final(&hash, digest);
    for (size_t k = 0; k < SS_SHA256_BYTES; k++) {
        snprintf(sha256 + 2 * k, 3, "%02x", (unsigned)digest[k]);
    }
}

ss_status ss_record_check(const ss_record_row *row, ss_error *e)
{
    ss_field field;
    for (ss_fields walk = ss_fields_of(ss_record_fields); ss_fields_next(&walk, &field);) {
        if (field.low == field.high) {
            continue;
        }
        const double value = field.kind == SS_FIELD_INTEGER ? (double)ss_field_integer(&field, row)
                                                            : ss_field_number(&field, row);
        if (!(value >= field.low && value <= field.high)) {
            return ss_fail(e, SS_BAD_INPUT,
                           "%s of %s by %s is %g, and must be from %g to %g; make the run anew in "
                           "another record",
                           field.name, row->problem, row->solver, value, field.low, field.high);
        }
    }
    return SS_OK;
}

// ---- The history.

ss_status ss_history_new(int count, ss_history *history, ss_error *e)
{
    *history = (ss_history){0};
    if (count == 0) {
        return SS_OK;
    }
    const size_t n = (size_t)count;
    *history = (ss_history){
        .count = count,
        .iteration = malloc(n * sizeof(int)),
        .seconds = malloc(n * sizeof(double)),
        .local_solves = malloc(n * sizeof(double)),
        .fb = malloc(n * sizeof(double)),
    };
    if (history->iteration == NULL || history->seconds == NULL || history->local_solves == NULL ||
        history->fb == NULL) {
        ss_history_free(history);
        return ss_fail_memory(e, "the history of a run");
    }
    return SS_OK;
}

void ss_history_free(ss_history *history)
{
    free(history->iteration);
    free(history->seconds);
    free(history->local_solves);
    free(history->fb);
    *history = (ss_history){0};
}

void ss_record_row_free(ss_record_row *row)
{
    if (row != NULL) {
        ss_history_free(&row->history);
    }
}

// ---- To text.

static void print_int(FILE *out, long long value)
{
    fprintf(out, "\t%lld", value);
}

static void print_real(FILE *out, double value)
{
    fprintf(out, "\t%016" PRIx64, bits_of(value));
}

static void print_text(FILE *out, const char *text)
{
    fputc('\t', out);
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '\t':
            fputs("\\t", out);
            break;
        case '\n':
            fputs("\\n", out);
            break;
        case '\\':
            fputs("\\\\", out);
            break;
        default:
            fputc(*text, out);
        }
    }
}

static void print_field(FILE *out, const ss_record_row *row, const ss_field *field)
{
    if (field->kind == SS_FIELD_TEXT) {
        print_text(out, ss_field_text(field, row));
    } else if (field->kind == SS_FIELD_INTEGER) {
        print_int(out, ss_field_integer(field, row));
    } else {
        print_real(out, ss_field_number(field, row));
    }
}

static void print_history(FILE *out, const ss_history *history)
{
    print_int(out, history->count);
    for (int k = 0; k < history->count; k++) {
        fprintf(out, "\t%d\t%016" PRIx64 "\t%016" PRIx64 "\t%016" PRIx64, history->iteration[k],
                bits_of(history->seconds[k]), bits_of(history->local_solves[k]),
                bits_of(history->fb[k]));
    }
}

ss_status ss_record_print(const ss_record_row *row, char **text, size_t *length, ss_error *e)
{
    *text = NULL;
    FILE *out = open_memstream(text, length);
    if (out == NULL) {
        return ss_fail_memory(e, "a row of results");
    }
    fputs(TEXT_VERSION, out);
    ss_field field;
    for (ss_fields walk = ss_fields_of(ss_record_fields); ss_fields_next(&walk, &field);) {
        print_field(out, row, &field);
    }
    print_history(out, &row->history);
    const bool failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed) {
        free(*text);
        *text = NULL;
        return ss_fail_memory(e, "a row of results");
    }
    return SS_OK;
}

// ---- From text. A function takes the field after the next tab and returns what follows it; NULL,
// which is passed on, where there is no such field.

static bool ends_field(const char *at)
{
    return *at == '\t' || *at == '\0';
}

static const char *take_whole(const char *at, long *value)
{
    if (at == NULL || *at != '\t') {
        return NULL;
    }
    char *end;
    errno = 0;
    *value = strtol(at + 1, &end, 10);
    return errno != 0 || end == at + 1 || !ends_field(end) ? NULL : end;
}

static const char *take_int(const char *at, int *value)
{
    long number;
    at = take_whole(at, &number);
    if (at == NULL || number < INT_MIN || number > INT_MAX) {
        return NULL;
    }
    *value = (int)number;
    return at;
}

static const char *take_real(const char *at, double *value)
{
    if (at == NULL || *at != '\t') {
        return NULL;
    }
    char *end;
    const uint64_t bits = strtoull(at + 1, &end, 16);
    if (end != at + 17 || !ends_field(end)) {
        return NULL;
    }
    memcpy(value, &bits, sizeof bits);
    return end;
}

static const char *take_text(const char *at, char *text, size_t capacity)
{
    if (at == NULL || *at != '\t') {
        return NULL;
    }
    size_t length = 0;
    for (at++; !ends_field(at); at++) {
        char letter = *at;
        if (letter == '\\') {
            at++;
            letter = (char)(*at == 't' ? '\t' : *at == 'n' ? '\n' : *at);
        }
        if (length + 1 >= capacity || letter == '\0') {
            return NULL;
        }
        text[length++] = letter;
    }
    text[length] = '\0';
    return at;
}

static const char *take_field(const char *at, ss_record_row *row, const ss_field *field)
{
    char *place = (char *)row + field->offset;
    if (field->kind == SS_FIELD_TEXT) {
        return take_text(at, place, field->width);
    }
    int integer = 0;
    long large = 0;
    double real = 0.0;
    const void *value = &real;
    if (field->kind == SS_FIELD_REAL) {
        at = take_real(at, &real);
    } else if (field->width == sizeof integer) {
        at = take_int(at, &integer);
        value = &integer;
    } else {
        at = take_whole(at, &large);
        value = &large;
    }
    memcpy(place, value, field->width);
    return at;
}

static const char *take_entries(const char *at, ss_history *history)
{
    for (int k = 0; k < history->count; k++) {
        at = take_int(at, &history->iteration[k]);
        at = take_real(at, &history->seconds[k]);
        at = take_real(at, &history->local_solves[k]);
        at = take_real(at, &history->fb[k]);
    }
    return at;
}

static ss_status fail_version(ss_error *e)
{
    return ss_fail(e, SS_BAD_INPUT, "holds a row of another version of stickslip");
}

ss_status ss_record_parse(const char *text, ss_record_row *row, ss_error *e)
{
    static const char START[] = TEXT_VERSION "\t";
    *row = ss_record_row_blank();
    const char *at = text + strlen(TEXT_VERSION);
    if (strncmp(text, START, strlen(START)) != 0) {
        return fail_version(e);
    }
    ss_field field;
    for (ss_fields walk = ss_fields_of(ss_record_fields); ss_fields_next(&walk, &field);) {
        at = take_field(at, row, &field);
    }
    int count = -1;
    at = take_int(at, &count);
    if (at == NULL || count < 0 || (size_t)count > strlen(at) / ENTRY_BYTES_MIN) {
        return fail_version(e);
    }
    const ss_status status = ss_history_new(count, &row->history, e);
    if (status != SS_OK) {
        return status;
    }
    at = take_entries(at, &row->history);
    if (at == NULL || *at != '\0') {
        ss_record_row_free(row);
        return fail_version(e);
    }
    return SS_OK;
}
