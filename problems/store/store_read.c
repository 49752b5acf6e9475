#include "problems/store/store.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "problems/store/decode.h"
#include "problems/store/read.h"

// Of a long path its end is shown: the sentence must fit into an ss_error.
#define PATH_SHOWN 200

// Of objects that a writer would not write again.
#define FOREIGN_SHOWN 3

struct ss_reader {
    char *path; // owned
    int file;   // open for reading: what was looked at is what is decoded, and decoded again
    ss_decoder decoder;
    ss_arrays list; // the problems by name
};

// ---- Sentences that name the file.

static const char *reader_shown(const char *path)
{
    const size_t length = strlen(path);
    return length == 0 ? "''" : length <= PATH_SHOWN ? path : path + length - PATH_SHOWN;
}

// "FILE: what", or "FILE: problem NAME: what".
static ss_status prefix_error(ss_error *e, ss_status status, const char *path, const char *name)
{
    const ss_error plain = *e;
    if (name[0] == '\0') {
        return ss_fail(e, status, "%s: %s", reader_shown(path), plain.text);
    }
    return ss_fail(e, status, "%s: problem %s: %s", reader_shown(path), reader_shown(name),
                   plain.text);
}

// ---- The reader.

static ss_status reader_open_file(const char *path, int *file, ss_error *e)
{
    if (path == NULL) {
        return ss_fail(e, SS_BAD_INPUT, "no file is named");
    }
    const ss_status status = ss_decoder_open_file(path, file, e);
    return status == SS_OK ? SS_OK : prefix_error(e, status, path, "");
}

ss_status ss_reader_look(const char *path, ss_error *e)
{
    int file;
    ss_error own;
    const ss_status status = reader_open_file(path, &file, e != NULL ? e : &own);
    if (status == SS_OK) {
        close(file);
    }
    return status;
}

static ss_status reader_start(ss_reader *reader, ss_arrays *list, ss_error *e)
{
    ss_status status = ss_decoder_start(&reader->decoder, reader->file, list, e);
    if (status == SS_OK && (list->count == 0 || list->list[0].kind == SS_ARRAY_UNREADABLE)) {
        status = ss_fail(e, SS_BAD_INPUT, "%s",
                         list->count > 0 ? list->list[0].text : "damaged file: it lists nothing");
    }
    return status;
}

ss_status ss_reader_open(const char *path, ss_reader **reader, ss_error *e)
{
    *reader = NULL;
    ss_error own;
    e = e != NULL ? e : &own;
    int file;
    ss_status status = reader_open_file(path, &file, e);
    if (status != SS_OK) {
        return status;
    }
    ss_reader *made = calloc(1, sizeof *made);
    char *own_path = malloc(strlen(path) + 1);
    if (made == NULL || own_path == NULL) {
        free(made);
        free(own_path);
        close(file);
        return ss_fail_memory(e, reader_shown(path));
    }
    made->path = strcpy(own_path, path);
    made->file = file;
    status = reader_start(made, &made->list, e);
    if (status != SS_OK) {
        status = prefix_error(e, status, path, "");
        ss_reader_close(made);
        return status;
    }
    *reader = made;
    return SS_OK;
}

void ss_reader_close(ss_reader *reader)
{
    if (reader != NULL) {
        ss_decoder_stop(&reader->decoder);
        ss_arrays_free(&reader->list);
        close(reader->file);
        free(reader->path);
        free(reader);
    }
}

int ss_reader_count(const ss_reader *reader)
{
    return reader != NULL ? (int)reader->list.count : 0;
}

const char *ss_reader_name(const ss_reader *reader, int k)
{
    return k >= 0 && k < ss_reader_count(reader) ? reader->list.list[k].path : "";
}

int ss_reader_find(const ss_reader *reader, const char *name)
{
    if (reader == NULL || name == NULL) {
        return -1;
    }
    const ss_array *found = ss_arrays_find(&reader->list, name);
    return found != NULL ? (int)(found - reader->list.list) : -1;
}

static bool same_names(const ss_arrays *a, const ss_arrays *b)
{
    bool same = a->count == b->count;
    for (size_t k = 0; same && k < a->count; k++) {
        same = strcmp(a->list[k].path, b->list[k].path) == 0;
    }
    return same;
}

// A decoder that died on another problem is replaced: the rest of a collection may be sound.
static ss_status restart(ss_reader *reader, ss_error *e)
{
    ss_arrays list = {0};
    ss_status status = reader_start(reader, &list, e);
    if (status == SS_OK && !same_names(&reader->list, &list)) {
        status = ss_fail(e, SS_BAD_INPUT, "the file was changed while it was read");
    }
    if (status != SS_OK) {
        ss_decoder_stop(&reader->decoder);
    }
    ss_arrays_free(&list);
    return status;
}

static ss_status request(ss_reader *reader, int k, ss_arrays *arrays, ss_error *e)
{
    ss_status status = reader->decoder.child.pid == 0 ? restart(reader, e) : SS_OK;
    if (status == SS_OK) {
        status = ss_decoder_request(&reader->decoder, k, arrays, e);
    }
    return status;
}

static ss_status reader_load(ss_reader *reader, int k, ss_problem **problem, ss_report *report,
                             ss_error *e)
{
    ss_arrays arrays = {0};
    ss_status status = request(reader, k, &arrays, e);
    if (status == SS_BAD_INPUT) {
        ss_report_add(report, SS_DEFECT, "%s", e->text);
    } else if (status == SS_OK) {
        status = ss_problem_from_arrays(&arrays, report, problem, e);
    }
    ss_arrays_free(&arrays);
    return status;
}

ss_status ss_reader_load(ss_reader *reader, int k, ss_problem **problem, ss_report *report,
                         ss_error *e)
{
    ss_report own_report = {0};
    ss_error own;
    e = e != NULL ? e : &own;
    report = report != NULL ? report : &own_report;
    *problem = NULL;
    if (k < 0 || k >= ss_reader_count(reader)) {
        return ss_fail(e, SS_BAD_INPUT, "there is no problem %d among %d", k,
                       ss_reader_count(reader));
    }
    ss_status status = reader_load(reader, k, problem, report, e);
    if (status != SS_OK) {
        const int others = report->ndefects - 1;
        if (status == SS_BAD_INPUT && others > 0) {
            const ss_error first = *e;
            ss_fail(e, status, "%s (and %d more)", first.text, others);
        }
        prefix_error(e, status, reader->path, ss_reader_name(reader, k));
    }
    ss_report_free(&own_report);
    return status;
}

ss_status ss_reader_foreign(ss_reader *reader, char *names, size_t room, ss_error *e)
{
    ss_error own;
    e = e != NULL ? e : &own;
    ss_arrays found = {0};
    if (room > 0) {
        names[0] = '\0';
    }
    if (reader == NULL || room == 0) {
        return ss_fail(e, SS_BAD_INPUT, "there is no file, or no room for names");
    }
    const ss_status status = request(reader, SS_DECODE_FOREIGN, &found, e);
    int shown = 0;
    for (size_t k = 0; status == SS_OK && k < found.count; k++) {
        const size_t used = strlen(names);
        if (found.list[k].kind != SS_ARRAY_GROUP) {
            continue; // a problem that cannot be opened: loading it says so
        }
        if (shown++ == FOREIGN_SHOWN) {
            snprintf(names + used, room - used, " and more");
            break;
        }
        snprintf(names + used, room - used, "%s%s", used > 0 ? ", " : "", found.list[k].path);
    }
    ss_arrays_free(&found);
    return status == SS_OK ? SS_OK : prefix_error(e, status, reader->path, "");
}

static ss_status reader_find_problem(const ss_reader *reader, const char *name, int *k, ss_error *e)
{
    const int count = ss_reader_count(reader);
    *k = name != NULL ? ss_reader_find(reader, name) : 0;
    if (name == NULL && count > 1) {
        return ss_fail(e, SS_BAD_INPUT, "%s: contains %d problems; choose one by its name",
                       reader_shown(reader->path), count);
    }
    return *k >= 0 ? SS_OK
                   : ss_fail(e, SS_BAD_INPUT, "%s: contains no problem named %s",
                             reader_shown(reader->path), reader_shown(name));
}

ss_status ss_store_read(const char *path, const char *name, ss_problem **problem, ss_error *e)
{
    ss_reader *reader = NULL;
    int k = 0;
    *problem = NULL;
    ss_status status = ss_reader_open(path, &reader, e);
    if (status == SS_OK) {
        status = reader_find_problem(reader, name, &k, e);
    }
    if (status == SS_OK) {
        status = ss_reader_load(reader, k, problem, NULL, e);
    }
    ss_reader_close(reader);
    return status;
}
