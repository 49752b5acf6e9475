// strands/contact/found.h -- touches as they are found, and their order (internal).
#pragma once

#include <stddef.h>
#include "strands/contact/collide.h"

typedef struct ss_found {
    ss_touch touch;
    int key[2]; // a's segment among all; the obstacle, or their count + b's segment among all
} ss_found;

// order [2 n], of which the first half lists what was found: by their keys, those with equal ones as they were. Keys
// are 0 .. nkeys - 1; count [nkeys + 1] is scratch.
void ss_found_sort(const ss_found **order, size_t n, int nkeys, int *count);
