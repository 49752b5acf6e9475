// strands/schemes/quasi_groups.h -- the strands of a world in groups of alike ones (quasi_group.h), and
// those that go alone (internal).
#pragma once

#include "strands/schemes/quasi_group.h"

// Strands side by side, or one alone.
typedef struct ss_quasi_item {
    const ss_quasi_group_model *model; // NULL: alone
    void *group;                       // owned
    int strand[SS_QUASI_LANES];
    int count;
    unsigned left; // bits of the strands that have left the group in this step
} ss_quasi_item;

typedef struct ss_quasi_groups {
    ss_quasi_item *items; // [count]
    int count;
    char *scratch; // of all threads
    size_t each;   // bytes of one
} ss_quasi_groups;

// Of all strands, in their order, for so many threads; `together` false: each alone. False without memory; free
// what it was given in every case.
bool ss_quasi_groups_init(ss_quasi_groups *g, const ss_world *w, bool together, int threads);
void ss_quasi_groups_free(ss_quasi_groups *g);
