// harness/report/page.c -- see page.h: files are read, their data become JSON, and the page is put
// together.
#include "harness/report/page.h"

#include "base/field.h"
#include "base/status.h"
#include "harness/quote.h"
#include "harness/record/machine.h"
#include "harness/report/parts.h"
#include "harness/report/strands.h"
#include "harness/results/tables.h"
#include "harness/results/trials.h"
#include "base/save.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

// ---- Deflated bytes

#define LEVEL 6 // 9 takes three times as long for 1 % on the histories of a record

ss_status ss_pack_deflate(const void *bytes, size_t count, void **packed, size_t *length,
                          ss_error *e)
{
    uLongf room = compressBound((uLong)count);
    *packed = malloc(room);
    *length = 0;
    if (*packed == NULL || compress2(*packed, &room, bytes, (uLong)count, LEVEL) != Z_OK) {
        free(*packed);
        *packed = NULL;
        return ss_fail_memory(e, "the data of the page");
    }
    *length = room;
    return SS_OK;
}

char *ss_pack_base64(const void *bytes, size_t count)
{
    static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *in = bytes;
    char *text = malloc((count + 2) / 3 * 4 + 1), *out = text;
    if (text == NULL) {
        return NULL;
    }
    for (size_t k = 0; k < count; k += 3) {
        const size_t left = count - k;
        const unsigned b = left > 1 ? in[k + 1] : 0u, c = left > 2 ? in[k + 2] : 0u;
        const unsigned word = (unsigned)in[k] << 16 | b << 8 | c;
        *out++ = DIGITS[word >> 18];
        *out++ = DIGITS[word >> 12 & 63];
        *out++ = left > 1 ? DIGITS[word >> 6 & 63] : '=';
        *out++ = left > 2 ? DIGITS[word & 63] : '=';
    }
    *out = '\0';
    return text;
}

// ---- JSON

void ss_page_json_free(ss_page_json *json)
{
    free(json->text);
    *json = (ss_page_json){0};
}

static void append(ss_page_json *json, const char *text, size_t length)
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
    append(json, text, strlen(text));
}

// Before a value; after it the next one needs a comma.
static void separate(ss_page_json *json)
{
    if (json->comma) {
        append(json, ",", 1);
    }
    json->comma = true;
}

void ss_page_json_begin(ss_page_json *json, char bracket)
{
    separate(json);
    append(json, &bracket, 1);
    json->comma = false;
}

void ss_page_json_end(ss_page_json *json, char bracket)
{
    append(json, &bracket, 1);
    json->comma = true;
}

static void put_quoted(ss_page_json *json, const char *text)
{
    ss_quoted next;
    append(json, "\"", 1);
    while (ss_quote_next(SS_JSON, &text, &next)) {
        append(json, next.bytes, next.count);
    }
    append(json, "\"", 1);
}

void ss_page_json_text(ss_page_json *json, const char *text)
{
    separate(json);
    put_quoted(json, text);
}

void ss_page_json_key(ss_page_json *json, const char *key)
{
    ss_page_json_text(json, key);
    append(json, ":", 1);
    json->comma = false;
}

void ss_page_json_integer(ss_page_json *json, long long value)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", value);
    separate(json);
    put_text(json, text);
}

static void page_json_bool(ss_page_json *json, bool value)
{
    separate(json);
    put_text(json, value ? "true" : "false");
}

// A value that is JSON already.
static void page_json_raw(ss_page_json *json, const char *text, size_t length)
{
    separate(json);
    append(json, text, length);
}

static void put_real(ss_page_json *json, double value, int digits, bool up)
{
    char text[40] = "null";
    separate(json);
    if (isfinite(value)) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        // The nearest text is below the value: take one unit of the last digit more.
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

// -- Columns

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

// Writes a seed as a text, since a double does not hold all of them.
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

// ---- Records and statistics

#define ROW_DIGITS     9
#define HISTORY_DIGITS 6
// The columns that are compared with a tolerance (ss_measures_error).
static const char *const UP[] = {"fb", "normal", NULL};
// Steps of a simulation that a page holds at most.
#define MOST_STEPS 4000

// -- Histories

static void put_history(ss_page_json *json, const char *key, const ss_record_rows *rows,
                        void (*put)(ss_page_json *json, const ss_history *h, int k))
{
    ss_page_json_key(json, key);
    ss_page_json_begin(json, '[');
    for (size_t row = 0; row < rows->count; row++) {
        const ss_history *h = &rows->rows[row].history;
        for (int k = 0; k < h->count; k++) {
            put(json, h, k);
        }
    }
    ss_page_json_end(json, ']');
}

static void put_iteration(ss_page_json *json, const ss_history *h, int k)
{
    ss_page_json_real(json, h->iteration[k] - (k > 0 ? h->iteration[k - 1] : 0.0), 17);
}

static void put_seconds(ss_page_json *json, const ss_history *h, int k)
{
    ss_page_json_real(json, h->seconds[k], HISTORY_DIGITS);
}

static void put_error(ss_page_json *json, const ss_history *h, int k)
{
    ss_page_json_real_up(json, ss_history_error(h, k), HISTORY_DIGITS);
}

static void put_histories(ss_page_json *json, const ss_record_rows *rows)
{
    long long start = 0;
    ss_page_json_key(json, "history");
    ss_page_json_begin(json, '{');
    ss_page_json_key(json, "start");
    ss_page_json_begin(json, '[');
    for (size_t k = 0; k <= rows->count; k++) {
        ss_page_json_integer(json, start);
        start += k < rows->count ? rows->rows[k].history.count : 0;
    }
    ss_page_json_end(json, ']');
    put_history(json, "iteration", rows, put_iteration);
    put_history(json, "seconds", rows, put_seconds);
    put_history(json, "error", rows, put_error);
    ss_page_json_end(json, '}');
}

// -- Solvers and notes

static void put_solvers(ss_page_json *json, const ss_trials *t)
{
    ss_page_json_key(json, "solvers");
    ss_page_json_begin(json, '[');
    for (size_t k = 0; k < t->nsolvers; k++) {
        const ss_solver_trials *s = &t->solvers[k];
        ss_page_json_begin(json, '{');
        ss_page_json_key(json, "spec");
        ss_page_json_text(json, s->spec);
        ss_page_json_key(json, "start");
        ss_page_json_text(json, s->start);
        ss_page_json_key(json, "label");
        ss_page_json_text(json, s->label);
        ss_page_json_key(json, "approximate");
        page_json_bool(json, s->approximate);
        ss_page_json_key(json, "sweeps");
        page_json_bool(json, s->gauss_seidel);
        ss_page_json_key(json, "hybrid");
        page_json_bool(json, strchr(s->bare, '+') != NULL);
        ss_page_json_end(json, '}');
    }
    ss_page_json_end(json, ']');
}

// The sentences that stand below a table of these trials, a line each.
static ss_status put_notes(ss_page_json *json, const ss_trials *t, ss_error *e)
{
    ss_table *table = ss_table_new(stdout, SS_FORMAT_TEXT); // it is never printed
    ss_table_circumstances(table, t);
    size_t count;
    char *const *notes = ss_table_notes(table, &count);
    ss_page_json_key(json, "notes");
    ss_page_json_begin(json, '[');
    for (size_t k = 0; k < count; k++) {
        ss_page_json_text(json, notes[k]);
    }
    ss_page_json_end(json, ']');
    const ss_status status = table != NULL ? SS_OK : ss_fail_memory(e, "the notes of the page");
    ss_table_free(table);
    return status;
}

// -- Records

static double loosest(const ss_record_rows *rows)
{
    double tolerance = 0.0;
    for (size_t k = 0; k < rows->count; k++) {
        tolerance = fmax(tolerance, rows->rows[k].tolerance);
    }
    return tolerance;
}

// The keys rows, history, solvers, tolerance and notes of the object that is open.
//
//     rows      columns of ss_record_fields; reals with 9 digits, fb and normal rounded up
//     history   {start [rows + 1], iteration, seconds, error}: of row k from start[k] on, 6 digits,
//               error (ss_measures_error) rounded up; iterations are differences, from 0 in a row
//     solvers   in the order of `table`: {spec, start, label, approximate, sweeps, hybrid}
//     notes     sentences on the conditions of the runs, as below a table
// `tolerance` is what the page opens with; NaN: the loosest of the rows. *trials, which the caller
// frees, are those at this tolerance.
static ss_status page_put_records(ss_page_json *json, const ss_record_rows *rows, double tolerance,
                                  bool histories, ss_trials **trials, ss_error *e)
{
    ss_trials *all = NULL;
    const double chosen = isnan(tolerance) ? loosest(rows) : tolerance;
    ss_status status = ss_trials_new(rows, chosen, trials, e);
    if (status == SS_OK) {
        status = ss_trials_new(rows, 1.0, &all, e); // every solver, whatever its tolerance
    }
    if (status == SS_OK) {
        ss_page_json_key(json, "tolerance");
        ss_page_json_real(json, chosen, 17);
        ss_page_json_key(json, "rows");
        ss_page_json_columns(json, ss_record_fields, rows->rows, rows->count, sizeof *rows->rows,
                             ROW_DIGITS, UP);
        put_solvers(json, all);
        status = put_notes(json, *trials, e);
    }
    if (status == SS_OK && histories) {
        put_histories(json, rows);
    }
    ss_trials_free(all);
    return status;
}

// -- Simulations

// An object: file, run (columns of its first line), columns of the others, 6 digits, every
// `every`-th step.
static ss_status page_put_simulation(ss_page_json *json, const char *file, const ss_stats *stats,
                                     ss_error *e)
{
    const size_t every = (stats->count + MOST_STEPS - 1) / MOST_STEPS;
    const size_t count = (stats->count + every - 1) / every;
    ss_stats_line *lines = calloc(count, sizeof *lines);
    if (lines == NULL) {
        return ss_fail_memory(e, file);
    }
    for (size_t k = 0; k < count; k++) {
        lines[k] = (ss_stats_line){stats->run, stats->rows[k * every]};
    }
    ss_page_json_begin(json, '{');
    ss_page_json_key(json, "file");
    ss_page_json_text(json, file);
    ss_page_json_key(json, "every");
    ss_page_json_integer(json, (long long)every);
    ss_page_json_key(json, "steps");
    ss_page_json_integer(json, (long long)stats->count);
    ss_page_json_key(json, "columns");
    ss_page_json_columns(json, ss_stats_fields, lines, count, sizeof *lines, HISTORY_DIGITS, UP);
    ss_page_json_end(json, '}');
    free(lines);
    return SS_OK;
}

// ---- The page

// Version of the data; a script that reads another one says so.
#define VERSION 1

// Contents of the files; each array has at most `count` of the request.
typedef struct inputs {
    const ss_page_request *request;
    ss_record_rows rows; // of all records, one after the other
    int nrecords, nruns, nstrands;
    int nfull;                 // records that hold rows:
    const char **record_paths; // [nfull] borrowed
    size_t *record_rows;       // [nfull] how many rows are theirs
    ss_stats *runs;
    const char **run_paths; // [nruns] borrowed
    ss_page_strands *strands;
    ss_trials *trials; // at the tolerance of the page; NULL: none
} inputs;

// -- Reading

typedef enum file_kind { FILE_RECORD, FILE_RUN, FILE_STRANDS, FILE_OTHER } file_kind;

// A record that a kill left without tables is empty. A file that cannot be opened is left to the
// reader of records to complain about.
static file_kind kind_of(const char *path)
{
    static const char RECORD[] = "SQLite format 3", STRANDS[] = "\x89HDF\r\n\x1a\n";
    char bytes[64] = {0};
    FILE *file = fopen(path, "re");
    const size_t count = file != NULL ? fread(bytes, 1, sizeof bytes - 1, file) : 0;
    if (file != NULL) {
        fclose(file);
    }
    if (count == 0 || memcmp(bytes, RECORD, sizeof RECORD) == 0) {
        return FILE_RECORD;
    }
    return memcmp(bytes, STRANDS, sizeof STRANDS - 1) == 0 ? FILE_STRANDS
           : strncmp(bytes, "scene,", 6) == 0              ? FILE_RUN
                                                           : FILE_OTHER;
}

static ss_status add_record(inputs *in, const char *path, ss_error *e)
{
    ss_record_rows more;
    ss_status status = ss_record_rows_read(path, &more, e);
    if (status != SS_OK) {
        return status;
    }
    in->nrecords++;
    if (more.count == 0) {
        ss_record_rows_free(&more);
        return ss_fail(e, SS_BAD_INPUT, "%s: the record holds no runs", path);
    }
    ss_record_row *all =
        realloc(in->rows.rows, (in->rows.count + more.count) * sizeof *in->rows.rows);
    if (all == NULL) {
        ss_record_rows_free(&more);
        return ss_fail_memory(e, path);
    }
    memcpy(all + in->rows.count, more.rows, more.count * sizeof *all);
    in->rows = (ss_record_rows){.count = in->rows.count + more.count, .rows = all};
    free(more.rows);
    in->record_paths[in->nfull] = path;
    in->record_rows[in->nfull++] = more.count;
    return SS_OK;
}

static ss_status add_file(inputs *in, const char *path, ss_error *e)
{
    ss_status status = SS_OK;
    switch (kind_of(path)) {
    case FILE_RECORD:
        return add_record(in, path, e);
    case FILE_RUN:
        status = ss_stats_read(path, &in->runs[in->nruns], e);
        in->run_paths[in->nruns] = path;
        in->nruns += status == SS_OK;
        return status;
    case FILE_STRANDS:
        status = ss_page_strands_read(path, !in->request->plain, &in->strands[in->nstrands], e);
        in->nstrands += status == SS_OK;
        return status;
    case FILE_OTHER:
        break;
    }
    return ss_fail(e, SS_BAD_INPUT,
                   "%s: is no record of bench, no statistics of simulate and no strands file",
                   path);
}

static void inputs_free(inputs *in)
{
    for (int k = 0; in->strands != NULL && k < in->nstrands; k++) {
        ss_page_strands_free(&in->strands[k]);
    }
    for (int k = 0; in->runs != NULL && k < in->nruns; k++) {
        ss_stats_free(&in->runs[k]);
    }
    free(in->strands);
    free(in->runs);
    free(in->run_paths);
    free(in->record_paths);
    free(in->record_rows);
    ss_trials_free(in->trials);
    ss_record_rows_free(&in->rows);
}

static ss_status read_all(inputs *in, ss_page_findings *findings, ss_error *e)
{
    const size_t n = (size_t)in->request->count;
    in->runs = calloc(n, sizeof *in->runs);
    in->run_paths = calloc(n, sizeof *in->run_paths);
    in->record_paths = calloc(n, sizeof *in->record_paths);
    in->record_rows = calloc(n, sizeof *in->record_rows);
    in->strands = calloc(n, sizeof *in->strands);
    findings->errors = calloc(n, sizeof *findings->errors);
    if (in->runs == NULL || in->run_paths == NULL || in->record_paths == NULL ||
        in->record_rows == NULL || in->strands == NULL || findings->errors == NULL) {
        return ss_fail_memory(e, "the files of the page");
    }
    for (int k = 0; k < in->request->count; k++) {
        ss_error *told = &findings->errors[findings->count];
        const ss_status status = add_file(in, in->request->paths[k], told);
        if (status == SS_SYSTEM) {
            *e = *told;
            return status;
        }
        findings->count += status != SS_OK;
    }
    if (in->nrecords + in->nruns + in->nstrands == 0) { // an empty record is a record
        *e = findings->errors[0];
        return e->status;
    }
    return SS_OK;
}

// -- Data

static void put_findings(ss_page_json *json, const ss_page_findings *findings)
{
    ss_page_json_key(json, "problems");
    ss_page_json_begin(json, '[');
    for (int k = 0; k < findings->count; k++) {
        ss_page_json_text(json, findings->errors[k].text);
    }
    ss_page_json_end(json, ']');
}

static void put_head(ss_page_json *json, const ss_page_request *request)
{
    char date[32], build[64];
    ss_machine_date(date, sizeof date);
    ss_machine_build(build, sizeof build);
    ss_page_json_key(json, "version");
    ss_page_json_integer(json, VERSION);
    ss_page_json_key(json, "title");
    ss_page_json_text(json, request->title);
    ss_page_json_key(json, "made");
    ss_page_json_text(json, date);
    ss_page_json_key(json, "program");
    ss_page_json_text(json, build);
    ss_page_json_key(json, "files");
    ss_page_json_begin(json, '[');
    for (int k = 0; k < request->count; k++) {
        ss_page_json_text(json, request->paths[k]);
    }
    ss_page_json_end(json, ']');
}

static ss_status put_runs(ss_page_json *json, const inputs *in, ss_error *e)
{
    ss_status status = SS_OK;
    ss_page_json_key(json, "simulations");
    ss_page_json_begin(json, '[');
    for (int k = 0; status == SS_OK && k < in->nruns; k++) {
        status = page_put_simulation(json, in->run_paths[k], &in->runs[k], e);
    }
    ss_page_json_end(json, ']');
    ss_page_json_key(json, "strands");
    ss_page_json_begin(json, '[');
    for (int k = 0; k < in->nstrands; k++) {
        page_json_raw(json, in->strands[k].head, in->strands[k].head_length);
    }
    ss_page_json_end(json, ']');
    return status;
}

static void put_record_files(ss_page_json *json, const inputs *in)
{
    ss_page_json_key(json, "records");
    ss_page_json_begin(json, '[');
    for (int k = 0; k < in->nfull; k++) {
        ss_page_json_begin(json, '{');
        ss_page_json_key(json, "file");
        ss_page_json_text(json, in->record_paths[k]);
        ss_page_json_key(json, "rows");
        ss_page_json_integer(json, (long long)in->record_rows[k]);
        ss_page_json_end(json, '}');
    }
    ss_page_json_end(json, ']');
}

// Rows that cannot be compared at the tolerance (none is as tight) are a finding as well.
static ss_status make_data(inputs *in, ss_page_findings *findings, ss_page_json *json, ss_error *e)
{
    ss_error other;
    ss_status status = SS_OK;
    ss_page_json_begin(json, '{');
    put_head(json, in->request);
    if (in->rows.count > 0) {
        put_record_files(json, in);
        status = page_put_records(json, &in->rows, in->request->tolerance,
                                  !in->request->no_histories, &in->trials, &other);
    }
    if (status == SS_SYSTEM) {
        *e = other;
        return status;
    }
    if (status != SS_OK) {
        findings->errors[findings->count++] = other; // of a file that had none so far
    }
    put_findings(json, findings);
    status = put_runs(json, in, e);
    ss_page_json_end(json, '}');
    return status == SS_OK && json->failed ? ss_fail_memory(e, "the data of the page") : status;
}

// -- The page

static const ss_table_kind *find_kind(const char *name)
{
    const ss_table_kind *kind = ss_table_kinds;
    while (strcmp(kind->name, name) != 0) {
        kind++;
    }
    return kind;
}

// Writes the table that `table` prints, for browsers without scripts.
static ss_status put_table(FILE *out, const char *name, const ss_results *results, ss_error *e)
{
    char *text = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    if (memory == NULL) {
        return ss_fail_memory(e, "a table of the page");
    }
    ss_table *table = ss_table_new(memory, SS_FORMAT_TEXT);
    const ss_table_request request = {.results = results};
    ss_status status = find_kind(name)->make(&request, table, e);
    if (status == SS_OK) {
        status = ss_table_finish(table, e);
    } else {
        ss_table_free(table);
    }
    fclose(memory);
    if (status == SS_OK) {
        ss_quote(out, SS_HTML, text);
        fputs("\n", out);
    }
    free(text);
    return status;
}

static ss_status put_tables(FILE *out, const inputs *in, const ss_page_findings *findings,
                            ss_error *e)
{
    const ss_results results = {.path = "",
                                .record = in->rows,
                                .trials = in->trials,
                                .nruns = (size_t)in->nruns,
                                .runs = in->runs};
    ss_status status = SS_OK;
    for (int k = 0; k < findings->count; k++) {
        ss_quote(out, SS_HTML, findings->errors[k].text);
        fputs("\n\n", out);
    }
    if (in->trials != NULL) {
        status = put_table(out, "solvers", &results, e);
    }
    if (status == SS_OK && in->trials != NULL) {
        status = put_table(out, "profile", &results, e);
    }
    return status == SS_OK && in->nruns > 0 ? put_table(out, "simulation", &results, e) : status;
}

// An element of data: JSON, or what is in base64.
static ss_status put_element(FILE *out, const char *id, const char *type, const void *bytes,
                             size_t count, const char *packed, ss_error *e)
{
    char *text = NULL;
    if (packed != NULL) {
        text = ss_pack_base64(bytes, count);
        if (text == NULL) {
            return ss_fail_memory(e, "the data of the page");
        }
    }
    fprintf(out, "<script type=\"%s\" id=\"%s\" data-packed=\"%s\">", type, id,
            packed != NULL ? packed : "");
    fwrite(text != NULL ? (const void *)text : bytes, 1, text != NULL ? strlen(text) : count, out);
    fputs("</script>\n", out);
    free(text);
    return SS_OK;
}

static ss_status put_json(FILE *out, const ss_page_json *json, bool plain, ss_error *e)
{
    static const char TYPE[] = "application/json";
    if (plain) {
        return put_element(out, "data", TYPE, json->text, json->length, NULL, e);
    }
    void *packed;
    size_t length;
    ss_status status = ss_pack_deflate(json->text, json->length, &packed, &length, e);
    if (status == SS_OK) {
        status = put_element(out, "data", TYPE, packed, length, "deflate", e);
        free(packed);
    }
    return status;
}

static ss_status put_data(FILE *out, const inputs *in, const ss_page_json *json, ss_error *e)
{
    const bool plain = in->request->plain;
    ss_status status = put_json(out, json, plain, e);
    for (int k = 0; status == SS_OK && k < in->nstrands; k++) {
        char id[32];
        snprintf(id, sizeof id, "strands-%d", k);
        status = put_element(out, id, "application/octet-stream", in->strands[k].body,
                             in->strands[k].body_length, plain ? "none" : "deflate", e);
    }
    return status;
}

static void put_part(FILE *out, int k)
{
    fwrite(ss_page_parts[k].bytes, 1, ss_page_parts[k].length, out);
}

static ss_status put_page(FILE *out, const inputs *in, const ss_page_findings *findings,
                          const ss_page_json *json, ss_error *e)
{
    put_part(out, 0);
    ss_quote(out, SS_HTML, in->request->title);
    put_part(out, 1);
    ss_status status = put_tables(out, in, findings, e);
    if (status == SS_OK) {
        put_part(out, 2);
        status = put_data(out, in, json, e);
    }
    put_part(out, 3);
    return status;
}

static ss_status save_page(const inputs *in, const ss_page_findings *findings,
                           const ss_page_json *json, ss_error *e)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL) {
        return ss_fail_memory(e, "the page");
    }
    ss_status status = put_page(out, in, findings, json, e);
    const bool whole = ferror(out) == 0;
    if ((fclose(out) != 0 || !whole) && status == SS_OK) {
        status = ss_fail_memory(e, "the page");
    }
    if (status == SS_OK) {
        status = ss_save(in->request->out, text, length, e);
    }
    free(text);
    return status;
}

ss_status ss_page_write(const ss_page_request *request, ss_page_findings *findings, ss_error *e)
{
    *findings = (ss_page_findings){0};
    inputs in = {.request = request};
    ss_page_json json = {0};
    ss_status status = ss_save_try(request->out, e);
    if (status == SS_OK) {
        status = read_all(&in, findings, e);
    }
    if (status == SS_OK) {
        status = make_data(&in, findings, &json, e);
    }
    if (status == SS_OK) {
        status = save_page(&in, findings, &json, e);
    }
    ss_page_json_free(&json);
    inputs_free(&in);
    return status;
}

void ss_page_findings_free(ss_page_findings *findings)
{
    free(findings->errors);
    *findings = (ss_page_findings){0};
}
