// harness/report/page.c -- see page.h: files are read, their data become JSON, and the page is put
// together.
#include "harness/report/page.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/save.h"
#include "harness/quote.h"
#include "harness/record/machine.h"
#include "harness/report/pack.h"
#include "harness/report/parts.h"
#include "harness/report/records.h"
#include "harness/report/strands.h"
#include "harness/results/tables.h"

// Of the data; a script that reads another one says so.
#define VERSION 1

// What the files hold; [count] of the request at most.
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

// ---- Reading

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

// ---- Data

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
        status = ss_page_put_simulation(json, in->run_paths[k], &in->runs[k], e);
    }
    ss_page_json_end(json, ']');
    ss_page_json_key(json, "strands");
    ss_page_json_begin(json, '[');
    for (int k = 0; k < in->nstrands; k++) {
        ss_page_json_raw(json, in->strands[k].head, in->strands[k].head_length);
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
        status = ss_page_put_records(json, &in->rows, in->request->tolerance,
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

// ---- The page

static const ss_table_kind *find_kind(const char *name)
{
    const ss_table_kind *kind = ss_table_kinds;
    while (strcmp(kind->name, name) != 0) {
        kind++;
    }
    return kind;
}

// What `table` prints, for browsers without scripts.
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
