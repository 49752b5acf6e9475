// harness/report/strands.c -- see strands.h: the head, and the child that reads a file.
#include "harness/report/strands.h"

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "harness/report/pack.h"
#include "harness/report/page_json.h"
#include "harness/report/strands_reading.h"

#define MEMORY   ((uint64_t)1 << 30)
#define PATIENCE 120.0 // s

// ---- The head

static void put_attribute(const ss_page_reading *r, ss_page_json *json, const char *name)
{
    char text[2048] = "";
    const hid_t attribute = H5Aexists(r->file, name) > 0 ? H5Aopen(r->file, name, H5P_DEFAULT) : -1;
    const hid_t type = attribute >= 0 ? H5Aget_type(attribute) : -1;
    if (type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 &&
        H5Tget_size(type) < sizeof text) {
        H5Aread(attribute, type, text);
    } else if (type >= 0 && H5Tget_class(type) == H5T_INTEGER) {
        uint64_t number = 0;
        H5Aread(attribute, H5T_NATIVE_UINT64, &number);
        snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    } else if (type >= 0 && H5Tget_class(type) == H5T_FLOAT) {
        double number = NAN;
        H5Aread(attribute, H5T_NATIVE_DOUBLE, &number);
        snprintf(text, sizeof text, "%.9g", number);
    }
    H5Tclose(type);
    H5Aclose(attribute);
    ss_page_json_key(json, name);
    ss_page_json_text(json, text);
}

static void put_ints(ss_page_json *json, const char *key, const int *values, size_t count)
{
    ss_page_json_key(json, key);
    ss_page_json_begin(json, '[');
    for (size_t k = 0; k < count; k++) {
        ss_page_json_integer(json, values[k]);
    }
    ss_page_json_end(json, ']');
}

static void put_reals(ss_page_json *json, const char *key, const double *values, size_t count,
                      size_t every)
{
    ss_page_json_key(json, key);
    ss_page_json_begin(json, '[');
    for (size_t k = 0; k < count; k += every) {
        ss_page_json_real(json, values[k], 9);
    }
    ss_page_json_end(json, ']');
}

static void put_count(ss_page_json *json, const char *key, size_t count)
{
    ss_page_json_key(json, key);
    ss_page_json_integer(json, (long long)count);
}

static void make_head(const ss_page_reading *r, ss_page_json *json)
{
    static const char *const ATTRIBUTES[] = {"scene", "model", "scheme", "solver",
                                             "units", "seed",  "radius", "description"};
    ss_page_json_begin(json, '{');
    ss_page_json_key(json, "file");
    ss_page_json_text(json, r->path);
    for (size_t k = 0; k < sizeof ATTRIBUTES / sizeof ATTRIBUTES[0]; k++) {
        put_attribute(r, json, ATTRIBUTES[k]);
    }
    put_count(json, "frames", r->frames);
    put_count(json, "every", r->every);
    put_count(json, "vertices", r->vertices);
    put_count(json, "strands", r->strands);
    put_ints(json, "length", r->length, r->lines);
    put_ints(json, "strand", r->strand, r->lines);
    put_reals(json, "low", r->low, 3, 1);
    ss_page_json_key(json, "step");
    ss_page_json_real(json, r->step, 17);
    put_reals(json, "time", r->time, r->frames, r->every);
    ss_page_json_key(json, "contacts");
    ss_page_json_begin(json, '[');
    for (size_t f = 0; f < r->frames; f += r->every) {
        ss_page_json_integer(json, r->start[f + 1] - r->start[f]);
    }
    ss_page_json_end(json, ']');
    put_reals(json, "impulse", r->impulse, 2, 1);
    put_ints(json, "kind", r->kind, r->obstacles);
    put_reals(json, "size", r->size, 3 * r->obstacles, 1);
    ss_page_json_end(json, '}');
}

// ---- The child

static void say(const void *bytes, size_t count)
{
    for (const char *at = bytes; count > 0;) {
        const ssize_t written = write(SS_CHILD_FILE, at, count);
        if (written <= 0) {
            _exit(1);
        }
        at += written;
        count -= (size_t)written;
    }
}

static void read_in_child(void *context)
{
    ss_page_reading *r = context;
    ss_child_limit_memory(MEMORY);
    if (!ss_page_read_file(r) || !ss_page_make_body(r)) {
        say("E", 1);
        say(r->why, strlen(r->why));
        return;
    }
    ss_page_json head = {0};
    make_head(r, &head);
    void *body = r->body;
    size_t length = r->body_length;
    ss_error e;
    if (head.failed ||
        (r->deflate && ss_pack_deflate(r->body, r->body_length, &body, &length, &e) != SS_OK)) {
        say("Enot enough memory", 18);
        return;
    }
    const uint64_t sizes[] = {head.length, length};
    say("O", 1);
    say(sizes, sizeof sizes);
    say(head.text, head.length);
    say(body, length);
}

// ---- The parent

static ss_status take(const ss_child *child, const char *path, ss_page_strands *strands,
                      ss_error *e)
{
    uint64_t sizes[2] = {0};
    const size_t begin = 1 + sizeof sizes;
    if (child->ending == SS_ENDED_BY_CODE && child->length > 0 && child->said[0] == 'E') {
        return ss_fail(e, SS_BAD_INPUT, "%s: %.*s", path, (int)child->length - 1, child->said + 1);
    }
    if (child->length > begin) {
        memcpy(sizes, child->said + 1, sizeof sizes);
    }
    if (child->ending != SS_ENDED_BY_CODE || child->number != 0 ||
        child->length != begin + sizes[0] + sizes[1] || sizes[0] == 0) {
        return ss_fail(e, SS_BAD_INPUT, "%s: damaged file: reading it ended by %s %d", path,
                       child->ending == SS_ENDED_BY_SIGNAL ? "signal" : "code", child->number);
    }
    strands->head = malloc(sizes[0]);
    strands->body = malloc(sizes[1] + 1);
    if (strands->head == NULL || strands->body == NULL) {
        ss_page_strands_free(strands);
        return ss_fail_memory(e, path);
    }
    strands->head_length = sizes[0];
    strands->body_length = sizes[1];
    memcpy(strands->head, child->said + begin, sizes[0]);
    memcpy(strands->body, child->said + begin + sizes[0], sizes[1]);
    return SS_OK;
}

ss_status ss_page_strands_read(const char *path, bool deflate, ss_page_strands *strands,
                               ss_error *e)
{
    *strands = (ss_page_strands){0};
    ss_page_reading r = {.path = path, .deflate = deflate, .file = -1};
    const ss_child_setup setup = {
        .work = read_in_child, .context = &r, .speech = SS_CHILD_ON_CHANNEL};
    ss_child child = {0};
    int ended = -1;
    ss_status status = ss_child_start(&child, &setup, e);
    if (status == SS_OK) {
        status = ss_child_wait(&child, 1, PATIENCE, NULL, &ended, e);
    }
    if (status == SS_OK && ended < 0) {
        ss_child_end(&child);
        status = ss_fail(e, SS_BAD_INPUT, "%s: damaged file: reading it took longer than %g s",
                         path, PATIENCE);
    }
    if (status == SS_OK) {
        status = take(&child, path, strands, e);
    }
    ss_child_clear(&child);
    return status;
}

void ss_page_strands_free(ss_page_strands *strands)
{
    free(strands->head);
    free(strands->body);
    *strands = (ss_page_strands){0};
}
