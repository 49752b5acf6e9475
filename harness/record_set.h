// harness/record_set.h -- rows in the order of adding, found by their key.
#pragma once

#include "harness/record_row.h"

typedef struct ss_record_set {
    ss_record_row **rows; // [count] owned, each at an address of its own that never changes
    size_t count, capacity;
    ss_record_row *spare; // for the next new row
    size_t *slots;        // [nslots] hash table: index into rows + 1, 0 where free
    size_t nslots;        // a power of two, at least twice the capacity
} ss_record_set;          // zero-initialised: empty

void ss_record_set_free(ss_record_set *set);
const ss_record_row *ss_record_set_find(const ss_record_set *set, const ss_record_row *key);

// Makes room, so that the next put cannot fail.
ss_status ss_record_set_reserve(ss_record_set *set, ss_error *e);
// After a reserve. Drops the "gs/" of the solver, takes over the history and leaves the row
// without; replaces a row of this key.
void ss_record_set_put(ss_record_set *set, ss_record_row *row);
