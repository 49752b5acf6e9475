// problems/store/layout.h -- the names of the datasets and attributes of a problem in a file.
//
// FCLIB's, and ours in /stickslip and in the attributes of /solution. ARCHITECTURE.md, "The store",
// shows them as a tree. Paths begin at the group of the problem; "object@name" is an attribute.
#pragma once

#include <stdbool.h>

#include "problems/store/arrays.h"

typedef struct ss_layout_entry {
    const char *path;   // NULL ends the table
    ss_array_kind kind; // SS_ARRAY_MATRIX: of a dataset; it is mostly a group, of the next entries
} ss_layout_entry;

// What is read, except for guesses/N/{r,u,v} and the attributes of solution (ss_claim_fields).
extern const ss_layout_entry ss_layout[];

// Whether ss_writer_add would write it again: a dataset, an attribute, or a group of such.
bool ss_layout_knows(const char *path);
