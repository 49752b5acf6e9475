// problems/store/h5_write.h -- writing groups, arrays and attributes of an HDF5 file.
//
// Arrays above some hundred bytes are shuffled and deflated. No object carries the time at which
// it was made. A function returns false, or a handle -1, when HDF5 refused; handles of its own are
// closed then too.
#pragma once

#include <hdf5.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// HDF5 prints its error stack unless told not to; the caller's choice is given back at the end.
typedef struct ss_h5_quiet {
    H5E_auto2_t report;
    void *data;
    bool saved;
} ss_h5_quiet;

ss_h5_quiet ss_h5_begin_quiet(void);
void ss_h5_end_quiet(ss_h5_quiet before);

// Makes a file that exists in memory only. The name keeps two of them apart; it is not used as a
// path.
hid_t ss_h5_create_in_memory(const char *name);
// Returns the bytes of a file, which the caller frees; NULL on failure.
void *ss_h5_take_image(hid_t file, size_t *count);

hid_t ss_h5_create_group(hid_t where, const char *name);
// `ok` is true if all went well inside the group, which may be -1. True if all is well still.
bool ss_h5_close_group(hid_t group, bool ok);

// Each writes a dataset. An int is an array of one, as FCLIB has it; a text that is NULL is empty.
bool ss_h5_write_doubles(hid_t where, const char *name, size_t count, const double *values);
bool ss_h5_write_ints(hid_t where, const char *name, size_t count, const int *values);
bool ss_h5_write_int(hid_t where, const char *name, int value);
bool ss_h5_write_text(hid_t where, const char *name, const char *text);

// Each writes an attribute. A value that is not known (NaN, an empty text, no pairs) is left out.
bool ss_h5_put_int(hid_t group, const char *name, int value);
bool ss_h5_put_seed(hid_t group, const char *name, uint64_t value);
bool ss_h5_put_double(hid_t group, const char *name, double value);
bool ss_h5_put_text(hid_t group, const char *name, const char *text);
bool ss_h5_put_pairs(hid_t group, const char *name, int count, const int *pairs); // [count, 2]
