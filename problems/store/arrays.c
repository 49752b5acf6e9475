#include "problems/store/arrays.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/assert.h"

// Longer paths than this are no dataset of ours.
#define PATH_BYTES 4096

// First buffer of a message in bytes; it doubles as bytes arrive, so that a lie about the length
// costs no memory.
#define FIRST_BUFFER ((size_t)1 << 20)

// A header stands before path and data. `kind` is an ss_array_kind or one of the marks.
typedef struct header {
    uint32_t kind;
    uint32_t path_length;
    uint64_t count;
} header;

enum { MARK_END = 100, MARK_NO_MEMORY };

int ss_arrays_add(ss_arrays *arrays, const char *path, ss_array_kind kind, size_t count, void *data)
{
    if (arrays->count == arrays->capacity) {
        const size_t capacity = 2 * arrays->capacity + 32;
        ss_array *list = realloc(arrays->list, capacity * sizeof *list);
        if (list == NULL) {
            free(data);
            return -1;
        }
        arrays->list = list;
        arrays->capacity = capacity;
    }
    char *own_path = strdup(path);
    if (own_path == NULL) {
        free(data);
        return -1;
    }
    arrays->list[arrays->count++] =
        (ss_array){.path = own_path, .kind = kind, .count = count, .data = data};
    return 0;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const ss_array *)a)->path, ((const ss_array *)b)->path);
}

void ss_arrays_sort(ss_arrays *arrays)
{
    if (arrays->count > 1) {
        qsort(arrays->list, arrays->count, sizeof *arrays->list, by_path);
    }
}

const ss_array *ss_arrays_find(const ss_arrays *arrays, const char *path)
{
    size_t low = 0, high = arrays->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = strcmp(arrays->list[middle].path, path);
        if (order == 0) {
            return &arrays->list[middle];
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

void ss_arrays_free(ss_arrays *arrays)
{
    for (size_t k = 0; k < arrays->count; k++) {
        free(arrays->list[k].path);
        free(arrays->list[k].data);
    }
    free(arrays->list);
    *arrays = (ss_arrays){0};
}

static size_t element_size(uint32_t kind)
{
    switch (kind) {
    case SS_ARRAY_INTEGERS:
        return sizeof(int64_t);
    case SS_ARRAY_REALS:
    case SS_ARRAY_MATRIX:
        return sizeof(double);
    case SS_ARRAY_GROUP:
        return 0;
    default:
        return 1;
    }
}

static int send_bytes(int fd, const void *bytes, size_t count)
{
    const char *next = bytes;
    while (count > 0) {
        const ssize_t sent = send(fd, next, count, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) {
            continue;
        }
        if (sent <= 0) {
            return -1;
        }
        next += sent;
        count -= (size_t)sent;
    }
    return 0;
}

int ss_channel_send(int fd, const char *path, ss_array_kind kind, size_t count, const void *data)
{
    const header h = {
        .kind = (uint32_t)kind, .path_length = (uint32_t)strlen(path), .count = count};
    ss_assert(h.path_length < PATH_BYTES && kind <= SS_ARRAY_UNREADABLE);
    if (send_bytes(fd, &h, sizeof h) != 0 || send_bytes(fd, path, h.path_length) != 0) {
        return -1;
    }
    return send_bytes(fd, data, count * element_size(h.kind));
}

int ss_channel_send_end(int fd)
{
    return send_bytes(fd, &(header){.kind = MARK_END}, sizeof(header));
}

int ss_channel_send_no_memory(int fd)
{
    return send_bytes(fd, &(header){.kind = MARK_NO_MEMORY}, sizeof(header));
}

// Waits in slices of a second: a process that is stopped and continued has lost one slice only.
static ss_heard wait_for_bytes(int fd, const ss_silence *silence)
{
    for (int slice = 0; slice < silence->limit;) {
        struct pollfd wanted = {.fd = fd, .events = POLLIN};
        const int ready = poll(&wanted, 1, 1000);
        if (ready > 0) {
            return SS_HEARD_END;
        }
        if (ready == 0) {
            if (slice++ == 0 && silence->began != NULL) {
                silence->began(silence->context);
            }
        } else if (errno != EINTR) {
            return SS_HEARD_CLOSE;
        }
    }
    return SS_HEARD_SILENCE;
}

static ss_heard receive_bytes(int fd, const ss_silence *silence, void *bytes, size_t count)
{
    char *next = bytes;
    while (count > 0) {
        const ss_heard waited = wait_for_bytes(fd, silence);
        if (waited != SS_HEARD_END) {
            return waited;
        }
        const ssize_t got = recv(fd, next, count, 0);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return SS_HEARD_CLOSE;
        }
        next += got;
        count -= (size_t)got;
    }
    return SS_HEARD_END;
}

// `size` bytes and a NUL into *bytes, owned by the caller unless NULL.
static ss_heard receive_data(int fd, const ss_silence *silence, size_t size, char **bytes)
{
    size_t got = 0;
    ss_heard heard = SS_HEARD_END;
    *bytes = NULL;
    do {
        const size_t left = size - got;
        const size_t step = got < FIRST_BUFFER ? FIRST_BUFFER : got;
        const size_t next = left < step ? left : step;
        char *larger = realloc(*bytes, got + next + 1);
        if (larger == NULL) {
            heard = SS_HEARD_NO_MEMORY;
            break;
        }
        *bytes = larger;
        heard = receive_bytes(fd, silence, larger + got, next);
        got += next;
        larger[got] = '\0';
    } while (heard == SS_HEARD_END && got < size);
    if (heard != SS_HEARD_END) {
        free(*bytes);
        *bytes = NULL;
    }
    return heard;
}

static bool is_array(const header *h)
{
    const size_t size = element_size(h->kind);
    return h->kind <= SS_ARRAY_UNREADABLE && h->path_length < PATH_BYTES &&
           (size == 0 ? h->count == 0 : h->count < SIZE_MAX / 16 / size);
}

static ss_heard receive_array(int fd, const ss_silence *silence, const header *h, ss_arrays *arrays)
{
    char path[PATH_BYTES] = "";
    ss_heard heard = receive_bytes(fd, silence, path, h->path_length);
    if (heard != SS_HEARD_END) {
        return heard;
    }
    path[h->path_length] = '\0';
    char *data = NULL;
    if (h->kind != SS_ARRAY_GROUP) {
        heard = receive_data(fd, silence, h->count * element_size(h->kind), &data);
        if (heard != SS_HEARD_END) {
            return heard;
        }
    }
    const int added = ss_arrays_add(arrays, path, (ss_array_kind)h->kind, h->count, data);
    return added == 0 ? SS_HEARD_END : SS_HEARD_NO_MEMORY;
}

ss_heard ss_channel_receive(int fd, const ss_silence *silence, ss_arrays *arrays)
{
    for (;;) {
        header h = {0};
        ss_heard heard = receive_bytes(fd, silence, &h, sizeof h);
        if (heard != SS_HEARD_END) {
            return heard;
        }
        if (h.kind == MARK_NO_MEMORY) {
            return SS_HEARD_NO_MEMORY;
        }
        if (h.kind == MARK_END) {
            ss_arrays_sort(arrays);
            return SS_HEARD_END;
        }
        if (!is_array(&h)) {
            return SS_HEARD_NONSENSE;
        }
        heard = receive_array(fd, silence, &h, arrays);
        if (heard != SS_HEARD_END) {
            return heard;
        }
    }
}
