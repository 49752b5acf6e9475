// problems/store/decode_value.h -- one dataset or attribute of a hostile HDF5 file, as plain memory.
//
// Refuses what a file can use to reach outside itself (external storage, virtual datasets) and
// what unfolds to more memory than its bytes can honestly hold. Only for the child of decode.h.
#pragma once

#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>

#include "problems/store/arrays.h"

// The file is too small for more than this, whatever its filters: the bytes that its datasets may
// unfold to.
typedef struct ss_allowance {
    uint64_t file_bytes; // size on disk
    uint64_t budget;     // bytes that one problem may still unfold to; spent by each reading
    uint64_t largest; // bytes that one dataset may unfold to: memory is bounded by the file's size
} ss_allowance;

ss_allowance ss_allowance_of_file(uint64_t file_bytes);

typedef struct ss_value {
    hid_t object; // in: dataset or attribute
    bool is_attribute;
    ss_array_kind kind; // in: SS_ARRAY_INTEGERS, SS_ARRAY_REALS, SS_ARRAY_MATRIX or SS_ARRAY_TEXT
    size_t count;
    size_t shape[2]; // of a matrix
    void *data;      // [count] owned by the caller, also after a failure
    bool no_memory;
    char reason[160]; // why there are no data
} ss_value;

// False with a reason, or with no_memory.
bool ss_value_read(ss_value *v, ss_allowance *allowance);
