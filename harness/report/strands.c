// harness/report/strands.c -- see strands.h: the head, and the child that reads a file.
#include "harness/report/strands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "harness/report/pack.h"
#include "harness/report/page_json.h"
#include "harness/report/strands_reading.h"
#include "problems/store/decode.h"

#define MEMORY   ((uint64_t)1 << 30)
#define PATIENCE 120.0 // s

// ---- The head

// Empty where it is absent, or not of this kind.
static void put_attribute(ss_page_reading *r, ss_page_json *json, const char *name,
                          ss_array_kind kind)
{
    char number[32] = "";
    const bool there = H5Aexists(r->file, name) > 0;
    ss_value v = {.object = there ? H5Aopen(r->file, name, H5P_DEFAULT) : -1,
                  .is_attribute = true,
                  .kind = kind,
                  .allowance = &r->allowance};
    const bool read = v.object >= 0 && ss_value_read(&v);
    if (read && kind == SS_ARRAY_INTEGERS) {
        snprintf(number, sizeof number, "%llu", *(unsigned long long *)v.data);
    } else if (read && kind == SS_ARRAY_REALS) {
        snprintf(number, sizeof number, "%.9g", *(double *)v.data);
    }
    ss_page_json_key(json, name);
    ss_page_json_text(json, read && kind == SS_ARRAY_TEXT ? v.data : number);
    free(v.data);
    H5Aclose(v.object);
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

static void make_head(ss_page_reading *r, ss_page_json *json)
{
    static const struct {
        const char *name;
        ss_array_kind kind;
    } ATTRIBUTES[] = {{"scene", SS_ARRAY_TEXT},   {"model", SS_ARRAY_TEXT},
                      {"scheme", SS_ARRAY_TEXT},  {"solver", SS_ARRAY_TEXT},
                      {"units", SS_ARRAY_TEXT},   {"seed", SS_ARRAY_INTEGERS},
                      {"radius", SS_ARRAY_REALS}, {"description", SS_ARRAY_TEXT}};
    ss_page_json_begin(json, '{');
    ss_page_json_key(json, "file");
    ss_page_json_text(json, r->path);
    for (size_t k = 0; k < sizeof ATTRIBUTES / sizeof ATTRIBUTES[0]; k++) {
        put_attribute(r, json, ATTRIBUTES[k].name, ATTRIBUTES[k].kind);
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
    if (!ss_page_read_file(r, SS_CHILD_FILE + 1) || !ss_page_make_body(r)) {
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

static ss_status read_open_file(ss_page_reading *r, int file, ss_page_strands *strands, ss_error *e)
{
    const ss_child_setup setup = {.work = read_in_child,
                                  .context = r,
                                  .speech = SS_CHILD_ON_CHANNEL,
                                  .files = {file},
                                  .nfiles = 1};
    ss_child child = {0};
    int ended = -1;
    ss_status status = ss_child_start(&child, &setup, e);
    if (status == SS_OK) {
        status = ss_child_wait(&child, 1, PATIENCE, NULL, &ended, e);
    }
    if (status == SS_OK && ended < 0) {
        ss_child_end(&child);
        status = ss_fail(e, SS_BAD_INPUT, "%s: damaged file: reading it took longer than %g s",
                         r->path, PATIENCE);
    }
    if (status == SS_OK) {
        status = take(&child, r->path, strands, e);
    }
    ss_child_clear(&child);
    return status;
}

ss_status ss_page_strands_read(const char *path, bool deflate, ss_page_strands *strands,
                               ss_error *e)
{
    *strands = (ss_page_strands){0};
    ss_page_reading r = {.path = path, .deflate = deflate, .file = -1};
    ss_error why;
    int file;
    ss_status status = ss_decoder_open_file(path, &file, &why);
    if (status != SS_OK) {
        return ss_fail(e, status, "%s: %s", path, why.text);
    }
    status = read_open_file(&r, file, strands, e);
    close(file);
    return status;
}

void ss_page_strands_free(ss_page_strands *strands)
{
    free(strands->head);
    free(strands->body);
    *strands = (ss_page_strands){0};
}
