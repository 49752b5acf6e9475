// harness/report/strands_reading.h -- a strands file as the child that reads it has it (internal).
//
// Functions that return a bool return false after ss_page_refuse. Lacking memory, the child says so
// and ends.
#pragma once

#include <hdf5.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Numbers of an obstacle's pose; bytes of a contact in the body.
enum { SS_PAGE_POSE = 12, SS_PAGE_CONTACT = 5 };

typedef struct ss_page_reading {
    const char *path;
    bool deflate;
    hid_t file;
    char why[200]; // not read: the sentence
    size_t frames, vertices, lines, strands, obstacles, contacts, every, kept;
    int *length, *strand, *kind; // of lines, lines, obstacles
    double *size, *time;
    int64_t *start; // [frames + 1] of contacts
    size_t *begin;  // [strands + 1] first vertex of each strand
    bool *ends;     // [vertices] the last of its polyline
    double *row;    // [3 vertices] a frame
    double low[3], step;
    double impulse[2];
    uint8_t *body;
    size_t body_length;
} ss_page_reading;

// False, with the sentence in `why`.
bool ss_page_refuse(ss_page_reading *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// Zeros; never NULL.
void *ss_page_room(size_t count, size_t size);
// Rows from .. from + count - 1 of a dataset.
bool ss_page_read_rows(ss_page_reading *r, const char *name, hid_t type, size_t from, size_t count,
                       void *values);

// All that is small: shapes, lines, times, obstacles, where contacts begin; checked. And which frames
// are kept, and the box of these.
bool ss_page_read_file(ss_page_reading *r);
// The frames that are kept, packed as strands.h says.
bool ss_page_make_body(ss_page_reading *r);
