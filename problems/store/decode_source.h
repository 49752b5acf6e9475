// problems/store/decode_source.h -- what the child of decode.h sends of a file (internal).
#pragma once

#include <hdf5.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "problems/store/arrays.h"
#include "problems/store/h5_read.h"

// What is being served.
typedef struct ss_source {
    int fd;                 // the other side
    hid_t file;             // < 0 where libhdf5 could not open it
    uint64_t file_bytes;    // size on disk
    ss_allowance allowance; // of the present request
    ss_arrays names;        // the problems, sorted
} ss_source;

// The child has no use without a listener, and says so when memory runs out.
void ss_source_send(const ss_source *s, const char *path, ss_array_kind kind, size_t count,
                    const void *data);
void ss_source_send_reason(const ss_source *s, const char *path, const char *reason);
_Noreturn void ss_source_leave_without_memory(const ss_source *s);

// True where there is an object; if there is something else, that is reported under `path`.
bool ss_source_leads_on(const ss_source *s, hid_t group, const char *object, const char *path);
// Names of all links of a group, as far as libhdf5 can list them; false where it fails.
bool ss_source_list_names(const ss_source *s, hid_t group, ss_arrays *names);
// The group of a problem, < 0 after a reason has been sent; "" if the file is one problem.
hid_t ss_source_open_problem(const ss_source *s, const char *name);

// decode_foreign.c: SS_DECODE_FOREIGN of decode.h.
void ss_source_send_foreign(const ss_source *s);
