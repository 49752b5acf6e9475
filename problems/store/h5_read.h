// problems/store/h5_read.h -- the one gate to what is in HDF5 files, which anybody may have
// written.
//
// Refuses what a file can use to reach outside itself (external links and storage, virtual
// datasets, plugins) and what unfolds to more memory than its bytes can honestly hold. libhdf5
// itself may crash or spin on a damaged file, so all of this is for a child process.
#pragma once

#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>

#include "problems/store/arrays.h"

#define SS_H5_NAME 1024 // longest name that is followed

// The address space that reading a file of this size may claim, in bytes.
uint64_t ss_h5_memory(uint64_t file_bytes);

// The content of a file that is open for reading, < 0 if libhdf5 cannot open it. From here on the
// library of this process is without messages, plugins and links into other files.
hid_t ss_h5_open(int file);

typedef enum ss_link_kind {
    SS_LINK_NONE,
    SS_LINK_OBJECT,
    SS_LINK_EXTERNAL,
    SS_LINK_BROKEN
} ss_link_kind;

ss_link_kind ss_h5_find_link(hid_t group, const char *path);
const char *ss_h5_why_no_object(ss_link_kind kind); // where opening it failed

// The file is too small for more than this, whatever its filters: the bytes that its datasets may
// unfold to.
typedef struct ss_allowance {
    uint64_t file_bytes; // size on disk
    uint64_t budget;     // bytes that one problem may still unfold to; spent by each reading
    uint64_t largest; // bytes that one dataset may unfold to: memory is bounded by the file's size
} ss_allowance;

ss_allowance ss_allowance_of_file(uint64_t file_bytes);

// One dataset or attribute.
typedef struct ss_value {
    hid_t object; // in: dataset or attribute
    bool is_attribute;
    ss_array_kind kind; // in: SS_ARRAY_INTEGERS, SS_ARRAY_REALS, SS_ARRAY_MATRIX or SS_ARRAY_TEXT
    int rank;           // in: dimensions of one that is read by rows, 1 to 3; 0: the whole is read
    ss_allowance *allowance; // in
    size_t count, element;   // how many, and the bytes of one in the file
    size_t shape[3];         // of a matrix; of one that is read by rows
    void *data;              // [count] owned by the caller, also after a failure
    bool no_memory;
    char reason[160]; // why there are no data
} ss_value;

// The whole. False with a reason, or with no_memory.
bool ss_value_read(ss_value *v);

// A dataset of v->rank dimensions, of which rows are read, the first dimension, into memory of the
// caller's. False with a reason. Its object is the caller's to close.
bool ss_value_open_rows(ss_value *v, hid_t file, const char *path);
bool ss_value_read_rows(ss_value *v, hid_t memory_type, size_t from, size_t count, void *values);
