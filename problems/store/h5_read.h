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

// Returns the address space that reading a file of this size may claim, in bytes.
uint64_t ss_h5_memory(uint64_t file_bytes);

// Opens the content of a file that is open for reading; returns < 0 if libhdf5 cannot open it. From
// here on the library of this process is without messages, plugins and links into other files.
hid_t ss_h5_open(int file);

typedef enum ss_link_kind {
    SS_LINK_NONE,
    SS_LINK_OBJECT,
    SS_LINK_EXTERNAL,
    SS_LINK_BROKEN
} ss_link_kind;

// Says where a path leads. A link to another file is reported, not followed.
ss_link_kind ss_h5_find_link(hid_t group, const char *path);
const char *ss_h5_why_no_object(ss_link_kind kind); // where opening it failed

// The bytes that the datasets of a file may unfold to: the file is too small for more, whatever its
// filters.
typedef struct ss_allowance {
    uint64_t file_bytes; // size on disk
    uint64_t budget;     // bytes that one problem may still unfold to; spent by each reading
    // Bytes that one dataset may unfold to: memory is bounded by the size of the file.
    uint64_t largest;
} ss_allowance;

ss_allowance ss_allowance_of_file(uint64_t file_bytes);

// A dataset or an attribute that is read.
typedef struct ss_value {
    hid_t object; // in: dataset or attribute
    bool is_attribute;
    ss_array_kind kind;      // in: one of the integers, reals, matrix and text
    int rank;                // in: 1 to 3 dimensions if it is read by rows; 0: the whole is read
    ss_allowance *allowance; // in
    size_t count, element;   // number of elements, and the bytes of one in the file
    size_t shape[3];         // lengths of the dimensions of a matrix, or of one read by rows
    void *data;              // [count] owned by the caller, also after a failure; in: NULL
    bool no_memory;
    char reason[160]; // says why there are no data
} ss_value;

// Reads the whole. False with a reason, or with no_memory.
bool ss_value_read(ss_value *v);

// Opens a dataset of v->rank dimensions, and reads rows of it, the first dimension, into memory of
// the caller's. False with a reason. The caller closes v->object.
bool ss_value_open_rows(ss_value *v, hid_t file, const char *path);
bool ss_value_read_rows(ss_value *v, hid_t memory_type, size_t from, size_t count, void *values);
