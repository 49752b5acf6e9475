// strands/buffer.h -- memory that grows and is kept (internal).
#pragma once

#include <stdlib.h>

typedef struct ss_buffer {
    void *data; // owned
    size_t size;
} ss_buffer;

// Room for `size` bytes, keeping what is there; NULL without memory, the buffer being as before.
static inline void *ss_buffer_room(ss_buffer *b, size_t size)
{
    if (b->data == NULL || size > b->size) {
        const size_t larger = size > 2 * b->size ? size + 64 : 2 * b->size;
        void *data = realloc(b->data, larger);
        if (data == NULL) {
            return NULL;
        }
        *b = (ss_buffer){data, larger};
    }
    return b->data;
}

static inline void ss_buffer_free(ss_buffer *b)
{
    free(b->data);
    *b = (ss_buffer){0};
}
