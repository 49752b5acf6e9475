// problems/store/arrays.h -- the arrays of a problem as a flat list, and a channel that carries it.
//
// The child that decodes a file sends arrays; the parent that checks them receives. Neither HDF5
// nor the meaning of an array is known here. What arrives may come from a child whose memory a
// hostile file has overwritten: lengths are believed only as far as bytes follow.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef enum ss_array_kind {
    SS_ARRAY_INTEGERS,
    SS_ARRAY_REALS,
    SS_ARRAY_MATRIX, // reals: the numbers of rows and columns, then the entries row by row
    SS_ARRAY_TEXT,
    SS_ARRAY_GROUP,      // it is present; no data
    SS_ARRAY_UNREADABLE, // it is present, and the text says why it was not read
} ss_array_kind;

typedef struct ss_array {
    char *path; // "fclib_local/W/p", from the problem's group; "solution@fb" is an attribute; owned
    ss_array_kind kind;
    size_t count; // elements; bytes of a text without the NUL that follows it
    union {
        void *data; // [count] owned; NULL for SS_ARRAY_GROUP
        int64_t *integers;
        double *reals;
        char *text;
    };
} ss_array;

typedef struct ss_arrays {
    size_t count, capacity;
    ss_array *list; // [capacity] owned
} ss_arrays;

// The list owns a copy of path, and data from here on, even when the call fails: -1 without memory.
int ss_arrays_add(ss_arrays *arrays, const char *path, ss_array_kind kind, size_t count,
                  void *data);
void ss_arrays_sort(ss_arrays *arrays);                                    // by path; find needs it
const ss_array *ss_arrays_find(const ss_arrays *arrays, const char *path); // or NULL
void ss_arrays_free(ss_arrays *arrays);                                    // leaves none

// Each writes one message and returns 0, or -1 once the reader is gone.
int ss_channel_send(int fd, const char *path, ss_array_kind kind, size_t count, const void *data);
int ss_channel_send_end(int fd);
int ss_channel_send_no_memory(int fd);

typedef enum ss_heard {
    SS_HEARD_END,       // a whole list
    SS_HEARD_CLOSE,     // the sender closed in the middle
    SS_HEARD_NONSENSE,  // what came is no array
    SS_HEARD_SILENCE,   // no byte for the time limit
    SS_HEARD_NO_MEMORY, // here or at the sender
} ss_heard;

// How long a receiver waits for the next byte.
typedef struct ss_silence {
    int limit;                    // s
    void (*began)(void *context); // called when a second has passed without one; NULL: nothing is
    void *context;
} ss_silence;

// Appends arrays up to the end mark, and sorts.
ss_heard ss_channel_receive(int fd, const ss_silence *silence, ss_arrays *arrays);
