// harness/report/strands_reading.h -- a strands file as the child that reads it has it (internal).
//
// Functions that return a bool return false after ss_page_refuse. Lacking memory, the child says so
// and ends.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "problems/store/h5_read.h"

// Numbers of an obstacle's pose; bytes of a contact in the body.
enum { SS_PAGE_POSE = 12, SS_PAGE_CONTACT = 5 };

// The datasets of a file. Those of obstacles and of contacts follow each other.
typedef enum ss_page_set {
    SS_PAGE_X,
    SS_PAGE_TIME,
    SS_PAGE_LENGTH,
    SS_PAGE_STRAND,
    SS_PAGE_KIND,
    SS_PAGE_SIZE,
    SS_PAGE_POSES,
    SS_PAGE_START,
    SS_PAGE_CONTACT_X,
    SS_PAGE_STATUS,
    SS_PAGE_IMPULSE,
    SS_PAGE_PAIR,
    SS_PAGE_SETS
} ss_page_set;

typedef struct ss_page_reading {
    const char *path;
    bool deflate;
    hid_t file;
    ss_allowance allowance;
    ss_value sets[SS_PAGE_SETS]; // as far as they are there
    char why[240];               // not read: the sentence
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
bool ss_page_read_rows(ss_page_reading *r, ss_page_set set, hid_t type, size_t from, size_t count,
                       void *values);

// All that is small of an open file: shapes, lines, times, obstacles, where contacts begin; checked.
// And which frames are kept, and the box of these.
bool ss_page_read_file(ss_page_reading *r, int file);
// The frames that are kept, packed as strands.h says.
bool ss_page_make_body(ss_page_reading *r);
