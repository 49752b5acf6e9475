// tests/support/hdf5_files.h -- small HDF5 files, right and wrong, for tests of reading.
//
// A file is made whole by small_local or small_global, changed by the put functions, which replace
// what is there, and closed. Any failure of libhdf5 fails the test.
#pragma once

#include <hdf5.h>

// Two contacts in three dimensions, no guesses, no solution. W = diag(2), by columns.
hid_t small_local(const char *path);
// Two bodies of three dofs, M = diag(2); contact i pushes body i, H = identity. By columns.
hid_t small_global(const char *path);
hid_t small_file(const char *path); // empty
void close_file(hid_t file);

// A matrix by columns, diag(x) of size n, in group `path` of `where`.
void put_diagonal(hid_t where, const char *path, int n, double x);
void put_int(hid_t where, const char *path, int value); // int32, shape (1)
void put_ints(hid_t where, const char *path, int count, const int *values);
void put_reals(hid_t where, const char *path, int count, const double *values);
void put_text(hid_t where, const char *path, const char *text);
void put_group(hid_t where, const char *path);
// With a type of its own; space H5S_ALL takes shape (count).
void put_typed(hid_t where, const char *path, hid_t type, hid_t space, int count, hid_t creation,
               const void *values);
void put_attribute(hid_t where, const char *path, const char *name); // of an object: a 7
void remove_object(hid_t where, const char *path);

// Writes both vectors u = r = value into a guess or solution group.
void put_state(hid_t where, const char *group, int count, double value);
