// base/merge.h -- ascending lists of indices (internal).
#pragma once

#include <stddef.h>
#include <string.h>

// The union of two ascending lists without repetitions, ascending, into out (which is neither of
// them and has room for both); returns its length.
static inline size_t merge_ascending(const int *a, size_t na, const int *b, size_t nb, int *out)
{
    size_t i = 0, j = 0, n = 0;
    while (i < na && j < nb) {
        const int next = a[i] < b[j] ? a[i] : b[j];
        i += a[i] == next;
        j += b[j] == next;
        out[n++] = next;
    }
    memcpy(out + n, a + i, (na - i) * sizeof *out);
    n += na - i;
    memcpy(out + n, b + j, (nb - j) * sizeof *out);
    return n + (nb - j);
}
